#ifndef MSCACHE_CACHED_DETACH_H
#define MSCACHE_CACHED_DETACH_H

/* Go on in a process of its own, which has nothing of its starter's: session, directory, descriptors, signals,
 * niceness, affinity, limits. Returns in that process, with *ret_pipe for detach_report. The starter's process
 * waits for that report, prints its text and exits with its code; it never returns, except with
 * MSCACHE_ESYSTEM when there can be no other process. */
int detach_start(int *ret_pipe);

/* Tell the starter: exit code, and a text for standard error where there is one (NULL: none). */
void detach_report(int pipe, int code, const char *text);

/* From now on standard error goes to the log file NAME in the directory, with what was written to it since
 * detach_start; an old file that is large is moved to NAME.old. */
int detach_log(int root_fd, const char *name);

#endif
