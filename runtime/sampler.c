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

static struct order_domain domain_of(uint64_t n)
{
    unsigned bits = n > 4 ? 64 - (unsigned)__builtin_clzll(n - 1) : 2;

    return (struct order_domain){ .n = n, .low_bits = bits / 2, .high_bits = bits - bits / 2 };
}

void order_init(struct order *o, uint64_t n, uint64_t seed, uint64_t epoch, bool shuffle, const struct order_window *window)
{
    uint64_t state = mix(seed + GOLDEN) ^ mix(mix(epoch + 1) + 2 * GOLDEN);

    *o = (struct order){ .n = n, .shuffle = shuffle, .all = domain_of(n) };
    for (unsigned i = 0; i < ORDER_ROUNDS; i++)
        o->keys[i] = mix(state += GOLDEN);
    if (!window || !window->samples || window->samples >= n)
        return;
    o->window = *window;
    o->begin = mix(state + GOLDEN) % n;
    o->all = domain_of(n / window->block);
    o->full = domain_of(window->samples);
    o->last = domain_of(n % window->samples);
}

/* One pass over the domain. The halves change places, and so sizes, in each round; the number of rounds is even. */
static uint64_t feistel(const struct order *o, const struct order_domain *d, uint64_t tweak, uint64_t v)
{
    unsigned low_bits = d->low_bits, high_bits = d->high_bits;

    for (unsigned i = 0; i < ORDER_ROUNDS; i++) {
        uint64_t low = v & (((uint64_t)1 << low_bits) - 1), high = v >> low_bits;
        uint64_t changed = (high ^ mix(low ^ o->keys[i] ^ tweak)) & (((uint64_t)1 << high_bits) - 1);
        unsigned bits = low_bits;

        v = low << high_bits | changed;
        low_bits = high_bits;
        high_bits = bits;
    }
    return v;
}

/* Walk the cycle until it comes back below n: under two steps on average, because the domain is smaller than 2n (four at
 * most where n is below 4). */
static uint64_t permute(const struct order *o, const struct order_domain *d, uint64_t tweak, uint64_t v)
{
    if (d->n < 2)
        return v;
    do {
        v = feistel(o, d, tweak, v);
    } while (v >= d->n);
    return v;
}

/* The last block is not whole where blocks do not divide the samples; it stays the last, wherever the ring is cut. */
static uint64_t in_window(const struct order *o, uint64_t position)
{
    uint64_t window = position / o->window.samples, first = window * o->window.samples;
    const struct order_domain *d = o->n - first < o->window.samples ? &o->last : &o->full;
    uint64_t place = first + permute(o, d, mix(window + GOLDEN), position - first);
    uint64_t block = place / o->window.block;

    if (block < o->all.n)
        place += (permute(o, &o->all, 0, block) - block) * o->window.block;
    place += o->begin;
    return place < o->n ? place : place - o->n;
}

uint64_t order_at(const struct order *o, uint64_t position)
{
    if (!o->shuffle || o->n < 2)
        return position;
    return o->window.samples ? in_window(o, position) : permute(o, &o->all, 0, position);
}

struct order_window order_window(uint64_t n, uint64_t window_bytes, uint64_t sample_bytes)
{
    uint64_t each = sample_bytes ? sample_bytes : 1, samples = window_bytes / each, block = ORDER_BLOCK_BYTES / each;

    samples = samples ? samples : 1;
    block = block ? block : 1;
    block = block < samples ? block : samples;
    return samples < n ? (struct order_window){ samples - samples % block, block } : (struct order_window){ 0, 0 };
}

double order_quality(uint64_t n, const struct order_window *window, uint64_t batch)
{
    double p, q;

    if (!window->samples || n < 2 || batch < 2)
        return 1;
    q = (double)(window->block - 1) / (double)(n - 1);
    p = window->block > 1 ? (double)(window->block - 1) / (double)(window->samples - 1) : 0;
    return 1 / (1 + (double)(batch - 1) * (p - q) / (1 - q));
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
