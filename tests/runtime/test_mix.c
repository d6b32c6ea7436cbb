/* Batches that mixup and cutmix mix, and samples of several crops. */
#include "config.h"

#include "tests/runtime/util.h"

#define FLOATS "decode | resize([40,48]) | cache | random_horizontal_flip | to(float32, chw)"
#define CUT " | cutmix(1, p=1)"
#define MIX " | mixup(0.4, p=1)"

enum { BATCHES = 5 }; /* of 5 samples, the last of 4 */

struct copy {
    float *data;
    int64_t labels[5], mix_labels[5], ids[5], size;
    bool mixes;
    double weight;
};


/* The first epoch's batches. */
static void read_epoch(const mscache_loader_options *o, struct copy *ret)
{
    mscache_loader *l = must_open(NULL, o);

    for (int i = 0; i < BATCHES; i++) {
        size_t labels;
        mscache_batch *b;

        cr_assert_eq(mscache_loader_next(l, &b), 0, "%s", mscache_loader_error(l));
        labels = (size_t)b->size * sizeof *b->labels;
        ret[i] = (struct copy){ .data = malloc(batch_bytes(b)), .size = b->size, .weight = b->mix_weight,
                                .mixes = b->mix_labels != NULL };
        memcpy(ret[i].data, b->data, batch_bytes(b));
        memcpy(ret[i].labels, b->labels, labels);
        memcpy(ret[i].ids, b->ids, labels);
        if (b->mix_labels)
            memcpy(ret[i].mix_labels, b->mix_labels, labels);
        mscache_batch_release(b);
    }
    mscache_loader_close(l);
}

Test(mix, mixup_blends_each_sample_with_the_one_before_it_and_says_the_weight)
{
    enum { FLOATS_OF_SAMPLE = 3 * 40 * 48 };
    mscache_loader_options o = photo_options(FLOATS);
    struct copy plain[BATCHES], mixed[BATCHES];

    read_epoch(&o, plain);
    o.pipeline = FLOATS MIX;
    read_epoch(&o, mixed);
    for (int i = 0; i < BATCHES; i++) {
        float own = (float)mixed[i].weight, rest = (float)(1 - mixed[i].weight);

        cr_assert(mixed[i].mixes && !plain[i].mixes);
        cr_assert(mixed[i].weight > 0 && mixed[i].weight < 1, "%g", mixed[i].weight);
        cr_assert(i == 0 || mixed[i].weight != mixed[i - 1].weight);
        cr_assert_eq(plain[i].weight, 1);
        for (int64_t s = 0; s < plain[i].size; s++) {
            int64_t partner = s ? s - 1 : plain[i].size - 1;
            const float *a = plain[i].data + s * FLOATS_OF_SAMPLE, *b = plain[i].data + partner * FLOATS_OF_SAMPLE;

            cr_assert_eq(mixed[i].labels[s], plain[i].labels[s]);
            cr_assert_eq(mixed[i].mix_labels[s], plain[i].labels[partner]);
            for (int k = 0; k < FLOATS_OF_SAMPLE; k++) {
                float x = a[k] * own, y = b[k] * rest;

                cr_assert_eq(mixed[i].data[s * FLOATS_OF_SAMPLE + k], x + y, "batch %d sample %d", i, (int)s);
            }
        }
    }
}

Test(mix, batches_are_mixed_the_same_with_any_number_of_threads)
{
    static const char *const pipelines[] = { FLOATS MIX, FLOATS CUT, FLOATS " | mixup(0.2, p=0.5) | cutmix(1, p=0.5)",
                                             "decode | resize([40,48]) | to(float16) | mixup | cutmix" };

    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        mscache_loader_options o = photo_options(pipelines[i]);
        struct key want = { { 0 } };

        for (uint32_t threads = 1; threads <= 5; threads += 2) {
            mscache_loader *l;
            struct key got;

            o.threads = threads;
            l = must_open(NULL, &o);
            got = hash_epoch(l);
            if (threads == 1)
                want = got;
            cr_assert(key_equal(got, want), "%s: %u threads", pipelines[i], threads);
            mscache_loader_close(l);
        }
    }
}

Test(mix, a_chance_of_none_leaves_batches_as_they_are)
{
    mscache_loader_options o = photo_options(FLOATS);
    struct copy plain[BATCHES], mixed[BATCHES];

    read_epoch(&o, plain);
    o.pipeline = FLOATS " | mixup(p=0) | cutmix(p=0)";
    read_epoch(&o, mixed);
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(mixed[i].weight, 1);
        cr_assert_arr_eq(mixed[i].data, plain[i].data, (size_t)plain[i].size * 3 * 40 * 48 * sizeof(float));
    }
}

/* Samples that are left out have no part in the mix. */
Test(mix, failed_samples_are_left_out_before_the_batch_is_mixed)
{
    static const char *paths[3];
    static char good[2][4200];
    mscache_loader_options o = photo_options(FLOATS MIX);
    mscache_loader *l;
    mscache_batch *b;

    snprintf(good[0], sizeof good[0], "%s/animal/animal_00.jpg", photos());
    snprintf(good[1], sizeof good[1], "%s/animal/animal_01.jpg", photos());
    paths[0] = good[0];
    paths[1] = "/nonexistent/b.jpg";
    paths[2] = good[1];
    o.directory = NULL;
    o.paths = paths;
    o.num_paths = 3;
    o.labels = (const int64_t[]){ 7, 8, 9 };
    o.shuffle = 0;
    o.on_error = MSCACHE_ON_ERROR_SKIP;
    l = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0);
    cr_assert_eq(b->size, 2);
    cr_assert_eq(b->labels[0], 7);
    cr_assert_eq(b->mix_labels[0], 9);
    cr_assert_eq(b->labels[1], 9);
    cr_assert_eq(b->mix_labels[1], 7);
    cr_assert(b->mix_weight > 0 && b->mix_weight < 1);
    mscache_batch_release(b);
    mscache_loader_close(l);
}

Test(mix, a_sample_of_several_crops_is_a_dimension_more)
{
    mscache_loader_options o = photo_options("decode | resize(64) | cache | five_crop([20,30]) | to(float32, chw)");
    mscache_loader *l = must_open(NULL, &o), *middle;
    mscache_batch *b, *m;
    size_t crop = sizeof(float) * 3 * 20 * 30;

    o.pipeline = "decode | resize(64) | center_crop([20,30]) | to(float32, chw)";
    middle = must_open(NULL, &o);
    cr_assert_eq(mscache_loader_next(l, &b), 0, "%s", mscache_loader_error(l));
    cr_assert_eq(mscache_loader_next(middle, &m), 0);
    cr_assert_eq(b->ndim, 5);
    cr_assert_arr_eq(b->shape, ((int64_t[]){ 5, 5, 3, 20, 30 }), sizeof b->shape);
    cr_assert_arr_eq(b->strides, ((int64_t[]){ 9000, 1800, 600, 30, 1 }), sizeof b->strides);
    for (size_t i = 0; i < 5; i++)
        cr_assert_arr_eq((char *)b->data + (i * 5 + 4) * crop, (char *)m->data + i * crop, crop);
    mscache_batch_release(b);
    mscache_batch_release(m);
    mscache_loader_close(l);
    mscache_loader_close(middle);
}
