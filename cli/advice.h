#ifndef MSCACHE_CLI_ADVICE_H
#define MSCACHE_CLI_ADVICE_H

/* What somebody can do about a file, in a sentence or two. */

/* For an error of a file (common/error.h); NULL for 0 and for errors that no file has. */
const char *advice_error(int error);

/* For one warning (enum decode_warning): what it means for the pixels, and what can be done; never NULL. */
const char *advice_warning(unsigned warning);

#endif
