#ifndef MSCACHE_FUZZ_FUZZ_H
#define MSCACHE_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Each fuzz_NAME.c is one target: this function, called with any bytes. It ends the process by fuzz_require() or by a
 * sanitizer where something is wrong, and returns 0. The same source is linked with libFuzzer (configure --with-fuzzer) and
 * with replay.c, which runs the committed corpus in `make check`. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Abort with the text unless it holds. */
#define fuzz_require(what) ((what) ? (void)0 : fuzz_failed(#what, __FILE__, __LINE__))
_Noreturn void fuzz_failed(const char *what, const char *file, int line);

/* Decode an image twice, and a part of it, into memory that was filled with different bytes, with guard bytes around each row,
 * and compare. The last byte gives the decoder's options; the image is what is before it. */
void fuzz_decode(const uint8_t *bytes, size_t n);

#endif
