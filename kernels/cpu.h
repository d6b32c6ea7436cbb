#ifndef MSCACHE_KERNELS_CPU_H
#define MSCACHE_KERNELS_CPU_H

/* Instruction sets that kernels exist for. A level includes everything that its kernels use:
 * CPU_AVX2 stands for AVX2 + FMA + F16C. */
enum {
    CPU_AVX2 = 1 << 0,
};

/* What this machine can run (with the operating system's consent). */
unsigned cpu_flags(void);

/* The flags named by a mask text: "c" or "none" (plain C), "avx2", "all", or a number; case does not matter.
 * NULL and "" mean all. What is not understood means all, too. The caller passes getenv("MSCACHE_CPU"). */
unsigned cpu_mask(const char *text);

#endif
