/* Compares the NEON kernels with plain C, byte for byte, on images of random bytes. Needs nothing but
 * kernels/, so that test_neon.sh can build it for another machine and run it in an emulator. Says what it
 * compared; exits with 1 after the first difference. */
#include <math.h>

#include "kernels/resize.h"
#include "tests/kernels/check.h"

enum { FILL = 0xa5, WIDEST = 130, SLACK = 5 };

static struct kernels c, neon;
static long compared;

/* Of usual images; such as give infinities, no numbers and the smallest ones; such as make 255 a tie of
 * rounding. */
enum { KINDS = 3 };
static const float means[KINDS][4] = {
    {0.485f, 0.456f, 0.406f, -3.0e-5f}, {0.0f, 1.0f, NAN, INFINITY}, {0.0f}};
static const float inv_stds[KINDS][4] = {{1.0f / 0.229f, 1.0f / 0.224f, -7.0e4f, 1.0e-6f},
                                         {3e38f, INFINITY, 1.0f, 1e-41f},
                                         {0x1.01p0f, 0x1.03p0f, 0x1.8p-24f, 65520.0f}};

static const struct type {
    const char *name;
    size_t size, emit; /* offset of the kernel */
} types[] = {
    {"uint8", 1, offsetof(struct kernels, emit_u8)},
    {"float32", 4, offsetof(struct kernels, emit_f32)},
    {"float16", 2, offsetof(struct kernels, emit_f16)},
    {"bfloat16", 2, offsetof(struct kernels, emit_bf16)},
};

static emit_fn emit_of(const struct kernels *k, const struct type *type)
{
    return *(const emit_fn *)(const void *)((const char *)k + type->emit);
}

static void compare(struct guarded *want, struct guarded *got, const char *what, int a, int b, int channels,
                    int more)
{
    if (memcmp(want->data, got->data, want->n) || !guarded_intact(got, FILL)) {
        printf("%s differs: %d, %d, %d channels, variant %d\n", what, a, b, channels, more);
        exit(1);
    }
    compared++;
    guarded_free(want);
    guarded_free(got);
}

static void check_emit(const struct type *type, int width, int channels, int variant)
{
    const int height = 3, flip = variant & 1, planar = variant >> 1 & 1, skew = (variant >> 2 & 1) * 7,
              kind = width % KINDS;
    const size_t row = (size_t)width * channels, stride = row + skew, gap = planar ? SLACK : 0,
                 plane = (size_t)width * height + gap, bytes = (plane * channels - gap) * type->size;
    uint8_t *src = random_bytes(stride * (height - 1) + row, (uint32_t)(width * 31 + channels));
    struct guarded want = guarded_new(bytes, FILL), got = guarded_new(bytes, FILL);
    const struct emit e = {.src = src,
                           .src_stride = (ptrdiff_t)stride,
                           .width = width,
                           .height = height,
                           .channels = channels,
                           .flip = flip,
                           .mean = means[kind],
                           .inv_std = inv_stds[kind],
                           .plane = planar ? plane : 0};

    emit_of(&c, type)(want.data, &e);
    emit_of(&neon, type)(got.data, &e);
    compare(&want, &got, type->name, width, height, channels, variant);
    free(src);
}

static void check_emits(const struct type *type)
{
    compared = 0;
    for (int width = 1; width <= WIDEST; width++)
        for (int channels = 1; channels <= 4; channels++)
            for (int variant = 0; variant < 8; variant++)
                check_emit(type, width, channels, variant);
    printf("emit %s: %ld images of widths 1 to %d are the same\n", type->name, compared, WIDEST);
}

static void *axis_new(struct resize_axis *axis, int filter, int in, int out)
{
    void *memory = malloc(resize_axis_size(filter, in, 0, in, out, out));

    if (!memory)
        abort();
    resize_axis_init(axis, memory, filter, in, 0, in, out, 0, out);
    return memory;
}

static void check_h(int filter, int in, int out, int channels)
{
    const int rows = in % 4 + 1;
    struct resize_axis axis;
    void *memory = axis_new(&axis, filter, in, out);
    const size_t in_row = (size_t)in * channels, out_row = (size_t)out * channels;
    uint8_t *src = random_bytes(in_row * rows, (uint32_t)(in * 7 + out));
    struct guarded want = guarded_new(out_row * rows, FILL), got = guarded_new(out_row * rows, FILL);

    c.resize_h(want.data, (ptrdiff_t)out_row, src, (ptrdiff_t)in_row, rows, channels, &axis);
    neon.resize_h(got.data, (ptrdiff_t)out_row, src, (ptrdiff_t)in_row, rows, channels, &axis);
    compare(&want, &got, "horizontal", in, out, channels, filter);
    free(src);
    free(memory);
}

static void check_v(int filter, int in, int out, int row_bytes)
{
    struct resize_axis axis;
    void *memory = axis_new(&axis, filter, in, out);
    uint8_t *src = random_bytes((size_t)row_bytes * in, (uint32_t)(in * 7 + row_bytes));
    struct guarded want = guarded_new((size_t)row_bytes * out, FILL),
                   got = guarded_new((size_t)row_bytes * out, FILL);

    c.resize_v(want.data, row_bytes, src, row_bytes, row_bytes, &axis);
    neon.resize_v(got.data, row_bytes, src, row_bytes, row_bytes, &axis);
    compare(&want, &got, "vertical", in, out, row_bytes, filter);
    free(src);
    free(memory);
}

static void check_resizes(void)
{
    compared = 0;
    for (int in = 1; in <= WIDEST; in += 1 + in / 20)
        for (int out = 1; out <= WIDEST; out += 1 + out / 10)
            for (int channels = 1; channels <= 4; channels++)
                check_h((in + out) % RESIZE_FILTERS, in, out, channels);
    printf("horizontal: %ld resizings are the same\n", compared);
    compared = 0;
    for (int row_bytes = 1; row_bytes <= WIDEST; row_bytes++)
        for (int in = 1; in <= 29; in += 4)
            for (int out = 1; out <= 19; out += 3)
                check_v((in + out) % RESIZE_FILTERS, in, out, row_bytes);
    printf("vertical: %ld resizings are the same\n", compared);
}

int main(void)
{
    if (!(cpu_flags() & CPU_NEON)) {
        puts("no NEON on this machine");
        return 77;
    }
    kernels_init(&c, 0);
    kernels_init(&neon, CPU_NEON);
    if (c.emit_f32 == neon.emit_f32 || c.resize_h == neon.resize_h || c.resize_v == neon.resize_v) {
        puts("the level neon has no kernels");
        return 1;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        check_emits(&types[i]);
    check_resizes();
    return 0;
}
