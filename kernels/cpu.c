#include "config.h"
#include "kernels/cpu.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

#if ARCH_X86
#include <cpuid.h>
#endif

static const struct {
    const char *name;
    unsigned flags;
} masks[] = {
    {"c", 0},
    {"none", 0},
    {"avx2", CPU_AVX2},
    {"all", ~0u},
};

#if ARCH_X86
/* clang 14 knows no "f16c" in __builtin_cpu_supports. The operating system's part (saved YMM registers) is
 * the same as for AVX2, which the builtin checks. */
static int has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}
#endif

unsigned cpu_flags(void)
{
    unsigned flags = 0;

#if ARCH_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c())
        flags |= CPU_AVX2;
#endif
    return flags;
}

unsigned cpu_mask(const char *text)
{
    char *end;
    unsigned long n;

    if (!text || !*text)
        return ~0u;
    for (size_t i = 0; i < sizeof(masks) / sizeof(*masks); i++)
        if (!strcasecmp(text, masks[i].name))
            return masks[i].flags;

    errno = 0;
    n = strtoul(text, &end, 0);
    return *end || errno || n > UINT_MAX ? ~0u : (unsigned)n;
}
