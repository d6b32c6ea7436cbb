#ifndef MSCACHE_PIPELINE_RANDOM_H
#define MSCACHE_PIPELINE_RANDOM_H

#include <stdint.h>

/* Counter-based random numbers (Philox4x32-10, Salmon et al., SC 2011): a stream is named by numbers, not by what was
 * drawn before, so any thread on any machine draws the same values for (seed, epoch, sample, operator). Only
 * arithmetic that IEEE 754 rounds exactly is used, no libm function whose last bit depends on the CPU. */

/* One block: ret = philox4x32-10(counter, key). */
void random_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t ret[4]);

struct random {
    uint32_t counter[4], key[2];
    uint32_t block[4];
    int left; /* unused words of block */
};

/* The stream of one operator for one sample. op_index counts the random operators before it, < 256; a stream gives 2^26
 * words before it repeats. */
void random_start(struct random *r, uint64_t seed, uint64_t epoch, uint64_t sample, unsigned op_index);

uint32_t random_u32(struct random *r);

/* Uniform in [0, 1), a multiple of 2^-53. */
double random_unit(struct random *r);

/* Uniform in [low, high). */
double random_between(struct random *r, double low, double high);

/* exp of a number uniform in [log low, log high); 0 < low <= high. */
double random_log_between(struct random *r, double low, double high);

/* Standard normal (Marsaglia's polar method). */
double random_normal(struct random *r);

/* Gamma of shape alpha > 0, scale 1 (Marsaglia and Tsang, ACM TOMS 26, 2000). Not 0. */
double random_gamma(struct random *r, double alpha);

/* Beta(a, b): a gamma's part of two. In [0, 1]. */
double random_beta(struct random *r, double a, double b);

/* Uniform in 0 .. n - 1, every value exactly as likely; n >= 1. */
uint32_t random_below(struct random *r, uint32_t n);

#endif
