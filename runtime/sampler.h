#ifndef MSCACHE_RUNTIME_SAMPLER_H
#define MSCACHE_RUNTIME_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define ORDER_ROUNDS 8

/* The global order of one epoch: a permutation of 0 ... n-1 that is a function of (seed, epoch) only, computed at any
 * position without memory. Not for cryptography. */
struct order {
    uint64_t n;
    bool shuffle;
    unsigned low_bits, high_bits; /* the two halves of the Feistel network's domain, 2^(low + high) >= n */
    uint64_t keys[ORDER_ROUNDS];
};

/* n up to 2^62. Without shuffle the order is 0, 1, 2 ... */
void order_init(struct order *o, uint64_t n, uint64_t seed, uint64_t epoch, bool shuffle);

/* The sample at a position, position < n. */
uint64_t order_at(const struct order *o, uint64_t position);

/* How many of the positions base ... n-1 belong to a shard: it has base + shard, base + shard + num_shards, ... */
uint64_t shard_count(uint64_t n, uint64_t base, uint32_t shard, uint32_t num_shards);

/* Position (over all shards) after each shard has taken `taken` samples from base on: where to resume. */
uint64_t shard_position(uint64_t n, uint64_t base, uint64_t taken, uint32_t num_shards);

#endif
