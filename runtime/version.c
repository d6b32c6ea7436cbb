#include "config.h"
#include "client/mscache.h"

const char *mscache_version(void)
{
    return MSCACHE_VERSION;
}
