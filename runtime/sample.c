#include "config.h"
#include "runtime/sample.h"

struct key sample_key(const struct mscache_loader *l, uint64_t id)
{
    return source_keys(l->source)[id];
}

void sample_loaded(struct worker *w, const struct ticket *t)
{
    w->load_ns = stats_now() - t->begun;
}

uint64_t sample_mean_decode(struct mscache_loader *l)
{
    uint64_t mean;

    pthread_mutex_lock(&l->lock);
    mean = l->stats.decodes ? (l->stats.read_ns + l->stats.decode_ns) / l->stats.decodes : 0;
    pthread_mutex_unlock(&l->lock);
    return mean;
}

void sample_wait_stored(struct mscache_loader *l, uint32_t ms)
{
    uint64_t until = stats_now() + (uint64_t)ms * 1000000u;
    struct timespec deadline = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

    pthread_mutex_lock(&l->lock);
    if (!l->stop)
        pthread_cond_timedwait(&l->stored, &l->lock, &deadline);
    pthread_mutex_unlock(&l->lock);
}

struct plan_draw sample_draw(const struct mscache_loader *l, const struct ticket *t)
{
    return (struct plan_draw){ .seed = l->run.seed, .sample = t->id, .epoch = l->run.epoch };
}

int sample_transform(struct worker *w, const struct ticket *t, const struct image *image, char *text, size_t text_size)
{
    struct mscache_loader *l = w->loader;
    struct plan_draw draw = sample_draw(l, t);
    struct plan_shape shape;
    uint32_t index;
    struct slot *s = workers_slot(l, t, &index);
    void *out;
    int r;

    r = plan_shape(l->plan, image, &shape, text, text_size);
    if (!r)
        r = slot_place(s, index, &shape, &out);
    if (!r)
        r = plan_suffix(l->plan, w->plan, image, &draw, out, text, text_size);
    return r;
}

void sample_deliver(struct worker *w, const struct ticket *t, const struct image *image)
{
    uint64_t clock = stats_now();
    char text[SAMPLE_ERROR_TEXT] = "";
    int r = sample_transform(w, t, image, text, sizeof text);

    w->part.transform_ns += sample_lap(&clock);
    workers_finish(w, t, r, text[0] ? text : mscache_strerror(r));
}
