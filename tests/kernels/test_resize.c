#include <criterion/criterion.h>

#include "kernels/resize.h"
#include "tests/kernels/check.h"

enum { FILL = 0x5a };

struct request {
    int in;
    double box0, box1;
    int full_out, begin, out;
    enum resize_filter filter;
};

static void *axis_new(struct resize_axis *axis, struct request r)
{
    void *memory = malloc(resize_axis_size(r.filter, r.in, r.box0, r.box1, r.full_out, r.out));

    cr_assert_not_null(memory);
    resize_axis_init(axis, memory, r.filter, r.in, r.box0, r.box1, r.full_out, r.begin, r.out);
    return memory;
}

static struct request filtered(int in, int out, enum resize_filter filter)
{
    return (struct request){in, 0, in, out, 0, out, filter};
}

/* dst: h.out x v.out pixels, packed. */
static void run(const struct kernels *k, uint8_t *dst, uint8_t *src, int channels, struct request h_request,
                struct request v_request)
{
    struct resize_axis h, v;
    void *h_memory = axis_new(&h, h_request), *v_memory = axis_new(&v, v_request);
    struct guarded scratch = guarded_new(resize_scratch_size(&h, &v, channels), FILL);
    const struct resize_image to = {dst, (ptrdiff_t)h.out * channels, h.out, v.out};
    const struct resize_image from = {src, (ptrdiff_t)h_request.in * channels, h_request.in, v_request.in};

    resize_run(k, to, from, channels, &h, &v, scratch.data);
    cr_assert(guarded_intact(&scratch, FILL));
    guarded_free(&scratch);
    free(v_memory);
    free(h_memory);
}

static void same_h(const struct kernels *c, const struct kernels *k, int channels, int rows, struct request r,
                   int skew)
{
    struct resize_axis axis;
    void *memory = axis_new(&axis, r);
    const size_t in_row = (size_t)r.in * channels, in_stride = in_row + skew;
    const size_t out_row = (size_t)r.out * channels, out_stride = out_row + skew;
    const size_t out_bytes = out_stride * (rows - 1) + out_row;
    uint8_t *src = random_bytes(in_stride * (rows - 1) + in_row, (uint32_t)(r.in * 7 + r.out));
    struct guarded want = guarded_new(out_bytes, FILL), got = guarded_new(out_bytes, FILL);

    c->resize_h(want.data, (ptrdiff_t)out_stride, src, (ptrdiff_t)in_stride, rows, channels, &axis);
    k->resize_h(got.data, (ptrdiff_t)out_stride, src, (ptrdiff_t)in_stride, rows, channels, &axis);
    cr_assert(!memcmp(want.data, got.data, out_bytes) && guarded_intact(&got, FILL),
              "horizontal %d to %d of %d, filter %d, %d rows, %d channels, skew %d", r.in, r.out, r.full_out,
              (int)r.filter, rows, channels, skew);
    guarded_free(&want);
    guarded_free(&got);
    free(src);
    free(memory);
}

static void small_h(const struct kernels *c, const struct kernels *k, int channels, enum resize_filter filter)
{
    static const int big[][2] = {{500, 341}, {341, 500}, {1000, 33}, {33, 1000},
                                 {4000, 3},  {127, 127}, {70000, 9}, {9, 70000}};

    for (int in = 1; in <= 33; in++)
        for (int out = 1; out <= 33; out++)
            same_h(c, k, channels, (in + out) % 7 + 1, filtered(in, out, filter), (in * out) % 3);
    for (size_t i = 0; i < sizeof(big) / sizeof(*big); i++)
        same_h(c, k, channels, 5, filtered(big[i][0], big[i][1], filter), 1);
    for (int begin = 0; begin < 40; begin += 3)
        for (int out = 1; begin + out <= 60; out += 5)
            same_h(c, k, channels, 3, (struct request){90, 3.25, 77.5, 60, begin, out, filter}, 2);
}

static void all_small_h(const struct kernels *c, const struct kernels *k)
{
    for (int channels = 1; channels <= 4; channels++)
        for (int filter = 0; filter < RESIZE_FILTERS; filter++)
            small_h(c, k, channels, filter);
}

Test(resize, every_level_gives_the_horizontal_pass_of_plain_c)
{
    for_each_level("horizontal", all_small_h);
}

static void same_v(const struct kernels *c, const struct kernels *k, int row_bytes, struct request r,
                   int skew)
{
    struct resize_axis axis;
    void *memory = axis_new(&axis, r);
    const size_t stride = (size_t)row_bytes + skew;
    const size_t out_bytes = stride * (r.out - 1) + row_bytes;
    uint8_t *src = random_bytes(stride * (r.in - 1) + row_bytes, (uint32_t)(r.in * 7 + row_bytes));
    struct guarded want = guarded_new(out_bytes, FILL), got = guarded_new(out_bytes, FILL);

    c->resize_v(want.data, (ptrdiff_t)stride, src, (ptrdiff_t)stride, row_bytes, &axis);
    k->resize_v(got.data, (ptrdiff_t)stride, src, (ptrdiff_t)stride, row_bytes, &axis);
    cr_assert(!memcmp(want.data, got.data, out_bytes) && guarded_intact(&got, FILL),
              "vertical %d to %d of %d, filter %d, rows of %d bytes, skew %d", r.in, r.out, r.full_out,
              (int)r.filter, row_bytes, skew);
    guarded_free(&want);
    guarded_free(&got);
    free(src);
    free(memory);
}

static void all_small_v(const struct kernels *c, const struct kernels *k)
{
    for (int filter = 0; filter < RESIZE_FILTERS; filter++) {
        for (int bytes = 1; bytes <= 140; bytes++)
            for (int in = 1; in <= 29; in += 4)
                for (int out = 1; out <= 19; out += 2)
                    same_v(c, k, bytes, filtered(in, out, filter), (in + out) % 4);
        same_v(c, k, 100, filtered(4000, 3, filter), 0);
        same_v(c, k, 40, filtered(70000, 3, filter), 0);
        same_v(c, k, 70001, filtered(5, 3, filter), 0);
        same_v(c, k, 1023, (struct request){375, 1.5, 370.25, 256, 16, 224, filter}, 5);
    }
}

Test(resize, every_level_gives_the_vertical_pass_of_plain_c)
{
    for_each_level("vertical", all_small_v);
}

/* White and black in turn drive the sums to their ends. */
static void same_whole(const struct kernels *c, const struct kernels *k)
{
    for (int n = 0; n < 1000; n++) {
        const enum resize_filter filter = n % RESIZE_FILTERS;
        const int in_w = n * 13 % 61 + 1, in_h = n * 7 % 43 + 1, out_w = n * 11 % 59 + 1,
                  out_h = n * 5 % 47 + 1;
        const int channels = n % 4 + 1;
        const size_t bytes = (size_t)out_w * out_h * channels;
        uint8_t *src = random_bytes((size_t)in_w * in_h * channels, (uint32_t)n);
        struct guarded want = guarded_new(bytes, FILL), got = guarded_new(bytes, FILL);

        for (int i = 0; n % 3 == 0 && i < in_w * in_h * channels; i++)
            src[i] = src[i] & 0x80 ? 255 : 0;
        run(c, want.data, src, channels, filtered(in_w, out_w, filter), filtered(in_h, out_h, filter));
        run(k, got.data, src, channels, filtered(in_w, out_w, filter), filtered(in_h, out_h, filter));
        cr_assert(!memcmp(want.data, got.data, bytes) && guarded_intact(&got, FILL) &&
                      guarded_intact(&want, FILL),
                  "%dx%d to %dx%d, %d channels, filter %d", in_w, in_h, out_w, out_h, channels, (int)filter);
        guarded_free(&want);
        guarded_free(&got);
        free(src);
    }
}

Test(resize, every_level_resizes_as_plain_c_does)
{
    for_each_level("resize", same_whole);
}

Test(resize, a_constant_image_stays_constant)
{
    struct kernels k;
    uint8_t src[37 * 23 * 3], dst[50 * 50 * 3];

    kernels_init(&k, cpu_flags());
    for (int value = 0; value <= 255; value += 5) {
        memset(src, value, sizeof(src));
        for (int size = 1; size <= 50; size++) {
            const enum resize_filter filter = (value + size) % RESIZE_FILTERS;

            run(&k, dst, src, 3, filtered(37, size, filter), filtered(23, 51 - size, filter));
            for (int i = 0; i < size * (51 - size) * 3; i++)
                cr_assert_eq(dst[i], value, "size %d, filter %d, byte %d", size, (int)filter, i);
        }
    }
}

Test(resize, the_same_size_is_a_copy)
{
    struct kernels k;
    uint8_t *src = random_bytes(29 * 17 * 3, 1), dst[29 * 17 * 3];

    kernels_init(&k, cpu_flags());
    for (int filter = 0; filter < RESIZE_FILTERS; filter++) {
        memset(dst, 0, sizeof(dst));
        run(&k, dst, src, 3, filtered(29, 29, filter), filtered(17, 17, filter));
        cr_assert_arr_eq(dst, src, sizeof(dst), "filter %d", filter);
    }
    free(src);
}

Test(resize, a_box_of_whole_pixels_at_scale_one_is_a_crop)
{
    struct kernels k;
    uint8_t *src = random_bytes(40 * 30 * 3, 2), dst[10 * 8 * 3];

    kernels_init(&k, cpu_flags());
    for (int filter = 0; filter < RESIZE_FILTERS; filter++) {
        run(&k, dst, src, 3, (struct request){40, 7, 17, 10, 0, 10, filter},
            (struct request){30, 20, 28, 8, 0, 8, filter});
        for (int y = 0; y < 8; y++)
            cr_assert_arr_eq(dst + y * 10 * 3, src + ((20 + y) * 40 + 7) * 3, 10 * 3);
    }
    free(src);
}

/* Resize to 61x47 (sometimes an axis stays as it is) and compare the window with the same part of the full
 * result. */
static void check_window(const struct kernels *k, int in_w, int in_h, int x, int y, int w, int h)
{
    const enum resize_filter filter = (x + y) % RESIZE_FILTERS;
    uint8_t *src = random_bytes((size_t)in_w * in_h * 3, 3), full[61 * 47 * 3], part[61 * 47 * 3];

    run(k, full, src, 3, filtered(in_w, 61, filter), filtered(in_h, 47, filter));
    run(k, part, src, 3, (struct request){in_w, 0, in_w, 61, x, w, filter},
        (struct request){in_h, 0, in_h, 47, y, h, filter});
    for (int row = 0; row < h; row++)
        cr_assert_arr_eq(part + row * w * 3, full + ((y + row) * 61 + x) * 3, w * 3);
    free(src);
}

Test(resize, a_window_equals_that_part_of_the_full_result)
{
    static const int sizes[][2] = {{100, 90}, {61, 90}, {100, 47}, {61, 47}, {20, 10}, {700, 3}};
    struct kernels k;

    kernels_init(&k, cpu_flags());
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (int x = 0; x < 61; x += 12)
            for (int y = 0; y < 47; y += 9)
                check_window(&k, sizes[i][0], sizes[i][1], x, y, (x * 7 + y) % (61 - x) + 1,
                             (x + y * 5) % (47 - y) + 1);
}

/* Also for the largest sum that the weights can make: the passes add in 32 bits. */
static void check_weights(struct request r)
{
    struct resize_axis axis;
    void *memory = axis_new(&axis, r);

    cr_assert_leq(axis.end, r.in);
    for (int x = 0; x < axis.out; x++) {
        const int32_t *weight = axis.weight + (size_t)x * axis.taps;
        int64_t sum = 0, positive = 0;

        cr_assert(axis.first[x] >= 0 && axis.count[x] >= 1 && axis.first[x] + axis.count[x] <= axis.end);
        cr_assert(axis.count[x] <= axis.taps && (!x || axis.first[x] >= axis.first[x - 1]));
        for (int k = 0; k < axis.taps; k++) {
            sum += weight[k];
            positive += weight[k] > 0 ? weight[k] : 0;
            cr_assert(k < axis.count[x] || !weight[k]);
        }
        cr_assert_leq(llabs(sum - (1 << RESIZE_BITS)), axis.taps, "%d to %d, filter %d", r.in, r.full_out,
                      (int)r.filter);
        cr_assert_lt(positive * 255 + (1 << (RESIZE_BITS - 1)), INT32_MAX);
        cr_assert_lt((positive - sum) * 255, INT32_MAX);
    }
    free(memory);
}

Test(resize, weights_of_an_output_stay_inside_the_input_and_sum_to_one)
{
    static const struct request requests[] = {
        {1, 0, 1, 1, 0, 1, 0},
        {1, 0, 1, 300, 0, 300, 0},
        {10000, 0, 10000, 1, 0, 1, 0},
        {500, 0, 500, 341, 58, 224, 0},
        {100, 99.5, 100, 224, 0, 224, 0},
        {100, 0.001, 0.002, 5, 0, 5, 0},
        {640, 13.7, 601.2, 77, 3, 70, 0},
        {70000, 0, 70000, 3, 0, 3, 0},
        {3, 0, 3, 70000, 0, 70000, 0},
    };

    for (int filter = 0; filter < RESIZE_FILTERS; filter++) {
        for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
            struct request r = requests[i];

            r.filter = filter;
            check_weights(r);
        }
        for (int in = 1; in < 60; in++)
            for (int out = 1; out < 60; out++)
                check_weights(filtered(in, out, filter));
    }
}
