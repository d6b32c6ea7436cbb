#include "config.h"
#include "cached/policy.h"

#include <sys/statvfs.h>

#include "cached/space.h"
#include "common/units.h"

#define LOOK_EVERY_MS 1000

uint64_t policy_cache_budget(const struct store *s, const struct cache *c)
{
    uint64_t own = c->budget ? c->budget : s->dataset_budget;

    return own && own < s->budget ? own : s->budget;
}

void policy_look_at_disk(struct store *s)
{
    uint64_t now = store_clock_ms(), asked = atomic_load(&s->free_asked);
    struct statvfs fs;

    if (asked && now - asked < LOOK_EVERY_MS)
        return;
    if (fstatvfs(s->root_fd, &fs) == 0) {
        atomic_store(&s->free_bytes, (uint64_t)fs.f_bavail * fs.f_frsize);
        atomic_store(&s->free_asked, now);
    }
}

void policy_disk_full(struct store *s)
{
    atomic_store(&s->free_bytes, 0);
    atomic_store(&s->free_asked, store_clock_ms());
}

/* Does the disk have room? The reserve stays free. */
static bool disk_has(const struct store *s, uint64_t bytes)
{
    uint64_t available = atomic_load(&s->free_bytes);

    return available >= s->reserve && available - s->reserve >= bytes;
}

enum wire_reason policy_room(struct store *s, struct cache *c, uint64_t bytes)
{
    if (c->size + bytes > policy_cache_budget(s, c)) {
        c->own_full = c->full = true;
        return REASON_FULL;
    }
    if (s->size + bytes > s->budget) {
        c->full = true;
        return REASON_FULL;
    }
    return disk_has(s, bytes) ? REASON_STORED : REASON_NO_SPACE;
}

static bool evictable(const struct store *s, const struct cache *c, uint64_t now)
{
    uint64_t used = atomic_load_explicit(&c->last_used, memory_order_relaxed);

    return c->sessions == 0 && c->size && (used >= now ? s->in_use_s == 0 : now - used >= s->in_use_s);
}

/* The idle cache that was used longest ago. */
static struct cache *next_victim(const struct store *s, const struct cache *for_whom)
{
    uint64_t now = store_clock_s();
    struct cache *victim = NULL;

    for (size_t i = 0; i < s->catalog.n; i++) {
        struct cache *c = s->catalog.all[i];

        if (c != for_whom && evictable(s, c, now) && (!victim || c->last_used < victim->last_used))
            victim = c;
    }
    return victim;
}

enum wire_reason policy_would_take(struct store *s, struct cache *c)
{
    uint64_t n = c->num_samples + c->bad, sample = n ? c->size / n : RECORD_HEAD_SIZE;

    if (c->own_full)
        return REASON_FULL;
    if (s->size + sample > s->budget && c->size + sample <= policy_cache_budget(s, c) && next_victim(s, c))
        return REASON_STORED;
    return policy_room(s, c, sample);
}

/* Do so many bytes more not fit, even when the retired segments are let go? */
static bool too_small(struct store *s, uint64_t bytes)
{
    bool small;

    pthread_mutex_lock(&s->state);
    small = s->size - s->retired + bytes > s->budget;
    pthread_mutex_unlock(&s->state);
    return small;
}

/* Bytes of retired segments come back on their own when their holders let go: nothing is evicted in their place. */
bool policy_evict(struct store *s, const struct cache *for_whom, uint64_t bytes, struct store_retired **retired)
{
    struct cache *victim;
    bool evicted = false;

    while (too_small(s, bytes) && (victim = next_victim(s, for_whom))) {
        char size[32];
        uint64_t freed;

        store_log(s, LOG_INFO, "evicting dataset '%s' (%s), idle, for dataset '%s'", victim->dataset,
                  units_size(victim->size, size, sizeof size), for_whom->dataset);
        if (space_remove(s, victim, &freed, retired) != 0)
            break;
        evicted = true;
    }
    return evicted;
}
