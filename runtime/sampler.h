#ifndef MSCACHE_RUNTIME_SAMPLER_H
#define MSCACHE_RUNTIME_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_ROUNDS 8

/* The global order of one epoch: a permutation of 0 ... n-1 that is a function of (seed, epoch) and the window only, computed
 * at any position without memory. Not for cryptography.
 *
 * Without a window each sample may follow each other one. With a window the listing, which is taken to be a ring and cut at a
 * place that is drawn, falls into blocks of neighbours; the blocks are shuffled; so many as fill a window are taken together
 * and their samples shuffled. It is the order of L. Xu et al., In-Database Machine Learning with CorgiPile, SIGMOD 2022
 * (arXiv:2206.05830). */
struct order_window {
    uint64_t samples; /* a multiple of `block`; 0: no window */
    uint64_t block;   /* samples */
};

/* Numbers below `n`, for a Feistel network over 2^(low_bits + high_bits) >= n. */
struct order_domain {
    uint64_t n;
    unsigned low_bits, high_bits;
};

struct order {
    uint64_t n;
    bool shuffle;
    struct order_window window;
    struct order_domain all;        /* samples; with a window, whole blocks */
    struct order_domain full, last; /* samples of each window but the last, and of the last */
    uint64_t begin;                 /* sample where the ring is cut */
    uint64_t keys[ORDER_ROUNDS];
};

/* n up to 2^62. Without shuffle the order is 0, 1, 2 ... and the window does not matter; NULL is none. */
void order_init(struct order *o, uint64_t n, uint64_t seed, uint64_t epoch, bool shuffle, const struct order_window *window);

/* The sample at a position, position < n. */
uint64_t order_at(const struct order *o, uint64_t position);

/* The window of so many bytes over n samples that take sample_bytes each, in blocks of about ORDER_BLOCK_BYTES. One that holds
 * them all is no window. */
#define ORDER_BLOCK_BYTES ((uint64_t)1 << 20)
struct order_window order_window(uint64_t n, uint64_t window_bytes, uint64_t sample_bytes);

/* How near the order is to a full shuffle, from 1 (it is one) down to 1 / batch (block after block): the share of a batch
 * that counts when all samples of a block are alike, which is the worst that neighbours in the listing can be. That is
 * 1 / (1 + (batch - 1) r), the inverse of the design effect of samples drawn in clusters (L. Kish, Survey Sampling, 1965),
 * r = (p - q) / (1 - q), with p the chance that two samples of a batch are of one block, and q the same of a full shuffle. */
double order_quality(uint64_t n, const struct order_window *window, uint64_t batch);

/* How many of the positions base ... n-1 belong to a shard: it has base + shard, base + shard + num_shards, ... */
uint64_t shard_count(uint64_t n, uint64_t base, uint32_t shard, uint32_t num_shards);

/* Position (over all shards) after each shard has taken `taken` samples from base on: where to resume. */
uint64_t shard_position(uint64_t n, uint64_t base, uint64_t taken, uint32_t num_shards);

#endif
