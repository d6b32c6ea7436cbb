#include "config.h"
#include "common/error.h"

#include <errno.h>

const char *mscache_strerror(int err)
{
    switch (err) {
    case MSCACHE_OK: return "success";
    case MSCACHE_END: return "end of epoch";
#define XX(name, code, kind, text) case MSCACHE_E##name: return text;
    MSCACHE_ERROR_MAP(XX)
#undef XX
    default: return "unknown error";
    }
}

const char *mscache_error_kind(int err)
{
    switch (err) {
    case MSCACHE_OK: return "ok";
    case MSCACHE_END: return "end";
#define XX(name, code, kind, text) case MSCACHE_E##name: return kind;
    MSCACHE_ERROR_MAP(XX)
#undef XX
    default: return "unknown";
    }
}

int error_from_errno(int err)
{
    switch (err) {
    case ENOMEM: return MSCACHE_ENOMEM;
    case EINVAL: return MSCACHE_EINVAL;
    case EIO: return MSCACHE_EIO;
    case ENOENT: case ENOTDIR: case ELOOP: return MSCACHE_ENOENT;
    case EACCES: case EPERM: case EROFS: return MSCACHE_EACCESS;
    case ENOSPC: case EDQUOT: case EFBIG: return MSCACHE_ENOSPC;
    case EMFILE: case ENFILE: return MSCACHE_ELIMIT;
    case EISDIR: case ENXIO: return MSCACHE_ENOTREG;
    case ECONNREFUSED: case ECONNRESET: case EPIPE: return MSCACHE_ENODAEMON;
    case ETIMEDOUT: return MSCACHE_ETIMEOUT;
    case EBUSY: return MSCACHE_EBUSY;
    default: return MSCACHE_ESYSTEM;
    }
}

bool error_is_format(int err)
{
    return err <= MSCACHE_EEMPTYFILE && err >= MSCACHE_ERESOURCE;
}
