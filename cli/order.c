#include "config.h"
#include "cli/order.h"

#include "cli/say.h"
#include "common/units.h"
#include "runtime/window.h"

#define BATCH 64

struct told {
    uint64_t sample_bytes, batch;
    struct order_window window;
    double quality;
};

/* The samples are those of the listing, if the daemon heard of one. */
static bool tell(const struct wire_row *row, const struct options *o, struct told *ret)
{
    uint64_t n = row->listed ? row->listed : row->num_samples;
    struct plan *plan;
    char unused[256];

    if (plan_new(&plan, row->pipeline.s, unused, sizeof unused) != 0)
        return false;
    ret->batch = o->batch ? o->batch : BATCH;
    ret->sample_bytes = window_sample_bytes(plan);
    ret->window = window_of(plan, n, o->window);
    ret->quality = order_quality(n, &ret->window, ret->batch);
    if (!ret->window.samples)
        ret->window = (struct order_window){ n, n ? 1 : 0 };
    plan_free(plan);
    return true;
}

json_t *order_json(const struct wire_row *row, const struct options *o)
{
    struct told t;
    json_t *object;

    if (!tell(row, o, &t))
        return json_null();
    object = json_object();
    say_number(object, "window_bytes", o->window);
    say_number(object, "window_samples", t.window.samples);
    say_number(object, "block_samples", t.window.block);
    say_number(object, "sample_bytes", t.sample_bytes);
    say_number(object, "batch", t.batch);
    say_real(object, "quality", t.quality);
    return object;
}

void order_print(const struct wire_row *row, const struct options *o)
{
    struct told t;
    char size[32];

    if (!tell(row, o, &t))
        return;
    printf("%-18s %llu (%s): %llu samples of %llu bytes, in blocks of %llu\n", "window", (unsigned long long)o->window,
           units_size(o->window, size, sizeof size), (unsigned long long)t.window.samples,
           (unsigned long long)t.sample_bytes, (unsigned long long)t.window.block);
    printf("%-18s %.3f for batches of %llu; 1 is a full shuffle\n", "order_quality", t.quality,
           (unsigned long long)t.batch);
}
