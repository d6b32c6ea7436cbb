#ifndef MSCACHE_COMMON_ERROR_H
#define MSCACHE_COMMON_ERROR_H

#include <stdbool.h>

/* Every failure the project can report. One row gives its name, number, kind and text.
 * The number never changes; the kind is the word that scripts see (`mscache probe`: error:KIND).
 * The installed mscache.h gets its enum from this list when it is made. */
#define MSCACHE_ERROR_MAP(XX)                                                          \
    XX(NOMEM,       -1,  "out-of-memory",       "out of memory")                       \
    XX(INVAL,       -2,  "invalid-argument",    "invalid argument")                    \
    XX(SYSTEM,      -3,  "system-error",        "the operating system refused")        \
    XX(IO,          -4,  "io-error",            "input/output error")                  \
    XX(NOENT,       -5,  "not-found",           "no such file or directory")           \
    XX(ACCESS,      -6,  "not-permitted",       "permission denied")                   \
    XX(NOSPC,       -7,  "no-space",            "no space left on the device")         \
    XX(LIMIT,       -8,  "limit-reached",       "a limit of the system is reached")    \
    XX(NOTREG,      -9,  "not-a-regular-file",  "not a regular file")                  \
    XX(SYNTAX,      -10, "syntax",              "the text cannot be understood")       \
    XX(RANGE,       -11, "out-of-range",        "a value is out of range")             \
    XX(NOSAMPLES,   -12, "no-samples",          "no samples found")                    \
    XX(EMPTYFILE,   -20, "empty-file",          "the file is empty")                   \
    XX(NOTIMAGE,    -21, "not-an-image",        "not an image")                        \
    XX(FORMAT,      -22, "unsupported-format",  "image format not supported")          \
    XX(FEATURE,     -23, "unsupported-feature", "feature of the format not supported") \
    XX(TRUNCATED,   -24, "truncated",           "image data ends too early")           \
    XX(CORRUPT,     -25, "corrupt",             "image data is corrupt")               \
    XX(TOOLARGE,    -26, "too-large",           "image is too large")                  \
    XX(RESOURCE,    -27, "resource-limit",      "image needs too much work")           \
    XX(SHAPE,       -30, "shape-mismatch",      "samples of a batch differ in shape")  \
    XX(CHANGED,     -31, "changed",             "the file changed while it was read")  \
    XX(FORKED,      -32, "forked",              "opened before fork(): open it again in the child") \
    XX(CLOSED,      -33, "closed",              "already closed")                      \
    XX(NODAEMON,    -40, "no-daemon",           "no daemon answers")                   \
    XX(PROTOCOL,    -41, "protocol-error",      "message violates the protocol")       \
    XX(VERSION,     -42, "version",             "no common protocol version")          \
    XX(TIMEOUT,     -43, "timeout",             "no answer in time")                   \
    XX(BUSY,        -44, "busy",                "busy")                                \
    XX(FULL,        -45, "full",                "the budget is used up")               \
    XX(LOCKED,      -46, "locked",              "another daemon owns the store")       \
    XX(DAMAGED,     -47, "damaged",             "stored data is damaged")              \
    XX(NETFS,       -48, "network-filesystem",  "a store on a network filesystem is refused") \
    XX(OWNER,       -49, "wrong-owner",         "belongs to another user")             \
    XX(INUSE,       -50, "in-use",              "in use")                              \
    XX(INCOMPATIBLE, -51, "incompatible",       "written by a version that this one cannot read")

enum mscache_error {
    MSCACHE_OK = 0,
    MSCACHE_END = 1, /* not an error: the epoch has no further batch */
#define XX(name, code, kind, text) MSCACHE_E##name = code,
    MSCACHE_ERROR_MAP(XX)
#undef XX
};

/* Text of a code, static, never NULL. Public: mscache.h declares it too. */
__attribute__((visibility("default"))) const char *mscache_strerror(int err);

/* Kind of a code ("corrupt"), static, never NULL; "ok" for 0. Public: mscache.h declares it too. */
__attribute__((visibility("default"))) const char *mscache_error_kind(int err);

/* The code for an errno value; never 0. */
int error_from_errno(int err);

/* Does the code speak of the content of a completely read file, so that reading it again cannot help?
 * Only such outcomes are kept by the daemon as BAD. */
bool error_is_format(int err);

#endif
