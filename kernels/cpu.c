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

const struct cpu_level cpu_levels[] = {
    {"avx2", CPU_AVX2},
    {"avx512", CPU_AVX2 | CPU_AVX512},
    {"neon", CPU_NEON},
    {NULL, 0},
};

static const struct cpu_level masks[] = {
    {"c", 0},
    {"none", 0},
    {"all", ~0u},
    {NULL, 0},
};

/* The builtins also ask whether the operating system saves the registers (XCR0). */
#if ARCH_X86
/* clang 14 knows no "f16c" in __builtin_cpu_supports. The operating system's part (saved YMM registers) is
 * the same as for AVX2, which the builtin checks. */
static int has_f16c(void)
{
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi");
}
#endif

unsigned cpu_flags(void)
{
    unsigned flags = 0;

#if ARCH_X86
    if (has_avx2())
        flags |= CPU_AVX2;
    if (has_avx2() && has_avx512())
        flags |= CPU_AVX512;
#elif ARCH_ARM64
    flags |= CPU_NEON; /* a part of every 64-bit ARM */
#endif
    return flags;
}

/* The row of that name, the nameless one if there is none. */
static const struct cpu_level *find_level(const struct cpu_level *level, const char *name)
{
    while (level->name && strcasecmp(level->name, name))
        level++;
    return level;
}

unsigned cpu_mask(const char *text)
{
    const struct cpu_level *level;
    char *end;
    unsigned long n;

    if (!text || !*text)
        return ~0u;
    level = find_level(cpu_levels, text);
    if (!level->name)
        level = find_level(masks, text);
    if (level->name)
        return level->flags;

    errno = 0;
    n = strtoul(text, &end, 0);
    return *end || errno || n > UINT_MAX ? ~0u : (unsigned)n;
}
