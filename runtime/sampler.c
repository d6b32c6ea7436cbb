#include "config.h"
#include "runtime/sampler.h"

#define GOLDEN 0x9e3779b97f4a7c15u /* 2^64 / golden ratio */

/* The finalizer of splitmix64: every bit of v reaches every bit of the result. */
static uint64_t mix(uint64_t v)
{
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
    return v ^ (v >> 31);
}

void order_init(struct order *o, uint64_t n, uint64_t seed, uint64_t epoch, bool shuffle)
{
    unsigned bits = n > 4 ? 64 - (unsigned)__builtin_clzll(n - 1) : 2;
    uint64_t state = mix(seed + GOLDEN) ^ mix(mix(epoch + 1) + 2 * GOLDEN);

    *o = (struct order){ .n = n, .shuffle = shuffle, .low_bits = bits / 2, .high_bits = bits - bits / 2 };
    for (unsigned i = 0; i < ORDER_ROUNDS; i++)
        o->keys[i] = mix(state += GOLDEN);
}

/* One pass over the domain. The halves change places, and so sizes, in each round; the number of rounds is even. */
static uint64_t feistel(const struct order *o, uint64_t v)
{
    unsigned low_bits = o->low_bits, high_bits = o->high_bits;

    for (unsigned i = 0; i < ORDER_ROUNDS; i++) {
        uint64_t low = v & (((uint64_t)1 << low_bits) - 1), high = v >> low_bits;
        uint64_t changed = (high ^ mix(low ^ o->keys[i])) & (((uint64_t)1 << high_bits) - 1);
        unsigned bits = low_bits;

        v = low << high_bits | changed;
        low_bits = high_bits;
        high_bits = bits;
    }
    return v;
}

/* Walk the cycle until it comes back below n: under two steps on average, because the domain is smaller than 2n. */
uint64_t order_at(const struct order *o, uint64_t position)
{
    uint64_t v = position;

    if (!o->shuffle || o->n < 2)
        return position;
    do {
        v = feistel(o, v);
    } while (v >= o->n);
    return v;
}

uint64_t shard_count(uint64_t n, uint64_t base, uint32_t shard, uint32_t num_shards)
{
    uint64_t rest = n > base ? n - base : 0;

    return rest > shard ? (rest - shard - 1) / num_shards + 1 : 0;
}

uint64_t shard_position(uint64_t n, uint64_t base, uint64_t taken, uint32_t num_shards)
{
    uint64_t rest = n > base ? n - base : 0;

    return taken > rest / num_shards ? base + rest : base + taken * num_shards;
}
