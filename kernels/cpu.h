#ifndef MSCACHE_KERNELS_CPU_H
#define MSCACHE_KERNELS_CPU_H

/* Instruction sets that kernels exist for. Each stands for everything that its kernels use:
 * CPU_AVX2 for AVX2 + FMA + F16C, CPU_AVX512 for AVX-512 F + BW + DQ + VL + VBMI. */
enum {
    CPU_AVX2 = 1 << 0,
    CPU_AVX512 = 1 << 1,
    CPU_NEON = 1 << 2,
};

/* The levels beyond plain C, each with all sets that it includes. The last one has no name. */
struct cpu_level {
    const char *name;
    unsigned flags;
};
extern const struct cpu_level cpu_levels[];

/* What this machine can run (with the operating system's consent). */
unsigned cpu_flags(void);

/* The flags named by a mask text: "c" or "none" (plain C), the name of a level, "all", or a number; case does
 * not matter. NULL and "" mean all. What is not understood means all, too. The caller passes
 * getenv("MSCACHE_CPU"). */
unsigned cpu_mask(const char *text);

#endif
