#include "config.h"
#include "runtime/stats.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/paths.h"

/* What adds up; all u64. */
#define STATS_SUMS(XX)                                                                                  \
    XX(samples) XX(batches) XX(bytes_out) XX(hits) XX(decodes) XX(duplicates) XX(stored) XX(failed)     \
    XX(warnings) XX(source_bytes) XX(read_ns) XX(decode_ns) XX(transform_ns) XX(fetch_ns) XX(page_in_ns) \
    XX(put_ns) XX(pending_ns) XX(full_ns) XX(wait_ns) XX(caller_ns) XX(bytes_viewed)

/* Below this share of its time the caller does not notice that it waits. */
#define WAIT_NOTICED 0.05

uint64_t stats_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void stats_add(mscache_stats *sum, const mscache_stats *part)
{
#define XX(name) sum->name += part->name;
    STATS_SUMS(XX)
#undef XX
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static double waited(const mscache_stats *s)
{
    return share(s->wait_ns, s->wait_ns + s->caller_ns);
}

static uint64_t busy(const mscache_stats *s)
{
    return s->read_ns + s->decode_ns + s->transform_ns + s->fetch_ns + s->page_in_ns + s->put_ns;
}

/* Is this stage the largest part of what the threads did? */
static bool leads(const mscache_stats *s, uint64_t stage)
{
    const uint64_t all[] = { s->read_ns, s->decode_ns, s->transform_ns, s->fetch_ns, s->page_in_ns, s->put_ns };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] > stage)
            return false;
    }
    return stage > 0;
}

typedef bool (*rule_fn)(const mscache_stats *s, const struct stats_context *c);

static bool nothing_loaded(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return !s->samples;
}

static bool caller_is_slower(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return waited(s) < WAIT_NOTICED;
}

static bool others_decode(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return s->pending_ns > busy(s);
}

static bool source_is_slow(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return leads(s, s->read_ns);
}

static bool decodes_without_cache(const mscache_stats *s, const struct stats_context *c)
{
    return leads(s, s->decode_ns) && !c->cached;
}

static bool decodes_without_daemon(const mscache_stats *s, const struct stats_context *c)
{
    return leads(s, s->decode_ns) && !c->connected;
}

static bool decodes_what_is_refused(const mscache_stats *s, const struct stats_context *c)
{
    return leads(s, s->decode_ns) && 2 * c->refused > s->decodes;
}

static bool decodes_to_fill(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return leads(s, s->decode_ns);
}

static bool put_is_slow(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return leads(s, s->put_ns);
}

static bool fetch_is_slow(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return leads(s, s->fetch_ns);
}

static bool store_is_slow_in_windows(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return s->window_samples && leads(s, s->page_in_ns);
}

static bool store_is_slow(const mscache_stats *s, const struct stats_context *c)
{
    (void)c;
    return leads(s, s->page_in_ns);
}

static bool otherwise(const mscache_stats *s, const struct stats_context *c)
{
    (void)s;
    (void)c;
    return true;
}

/* The first rule that applies is the advice. */
static const struct rule {
    rule_fn applies;
    const char *advice; /* %s: where the images are */
} rules[] = {
    { nothing_loaded, "nothing was loaded yet" },
    { caller_is_slower, "loading is fast enough, nothing to change" },
    { others_decode, "most of the wait is for samples that other jobs decode: it ends when the cache is filled" },
    { source_is_slow, "reading the image files takes longest: the storage of %s is slow, fill the cache first" },
    { decodes_without_cache, "decoding takes longest: give a dataset name to cache it, or more threads" },
    { decodes_without_daemon, "decoding takes longest because no daemon answers: see mscache ping" },
    { decodes_what_is_refused, "decoding takes longest because the budget is used up: raise it, or mscache clean others" },
    { decodes_to_fill, "decoding takes longest while the cache is filled: later epochs read it" },
    { put_is_slow, "storing takes longest: the disk of the cache is slow; later epochs read it" },
    { fetch_is_slow, "asking the daemon takes longest: it is busy, see mscache ping" },
    { store_is_slow_in_windows, "bringing the cache in takes longest: give more threads, or the cache a faster disk" },
    { store_is_slow, "reading the cache from its disk takes longest: it does not fit into memory, see window_bytes" },
    { otherwise, "transforming takes longest: give more threads, or move operators before the cache" },
};

const char *stats_report(const mscache_stats *s, const struct stats_context *c, char *buf, size_t size)
{
    char path[200], advice[400], order[80] = "";
    const struct rule *rule = rules;
    double seconds = c->seconds > 0 ? c->seconds : 1e-9;

    while (!rule->applies(s, c))
        rule++;
    snprintf(advice, sizeof advice, rule->advice, paths_escape(c->path, path, sizeof path));
    if (s->window_samples)
        snprintf(order, sizeof order, "; shuffled in windows of %llu samples, quality %.2f",
                 (unsigned long long)s->window_samples, s->order_quality);
    snprintf(buf, size,
             "%llu samples in %.1f s (%.0f/s): %.0f %% from the cache; the caller waited %.0f %% of the time; %s%s",
             (unsigned long long)s->samples, c->seconds, (double)s->samples / seconds,
             100 * share(s->hits, s->hits + s->decodes), 100 * waited(s), advice, order);
    return buf;
}
