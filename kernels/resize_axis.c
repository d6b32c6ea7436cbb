#include "kernels/resize.h"

#include <math.h>

#include "kernels/resize16.h"

#define PI 3.14159265358979323846

/* A filter's weight at x, and how far from 0 that is not 0. The sines and cosines of two of them are libm's,
 * once for each weight: they end in RESIZE_BITS bits, which the last bit of a double does not reach. */
struct filter {
    double support;
    double (*weight)(double x);
};

/* How an axis maps outputs to inputs. */
struct mapping {
    const struct filter *filter;
    double origin, scale, stretch, support;
    int in_size, taps;
};

static double box(double x)
{
    return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
}

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static double sinc(double x)
{
    return x == 0.0 ? 1.0 : sin(x * PI) / (x * PI);
}

/* Pillow has the window's two numbers in single precision. */
static double hamming(double x)
{
    x = fabs(x);
    if (x == 0.0)
        return 1.0;
    return x < 1.0 ? sinc(x) * (0.54f + 0.46f * cos(x * PI)) : 0.0;
}

/* Keys' cubic convolution with a = -1/2. */
static double bicubic(double x)
{
    x = fabs(x);
    if (x < 1.0)
        return (1.5 * x - 2.5) * x * x + 1.0;
    return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * -0.5 : 0.0;
}

static double lanczos(double x)
{
    return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
}

static const struct filter filters[] = {
    [RESIZE_BILINEAR] = {1.0, bilinear}, [RESIZE_BOX] = {0.5, box},         [RESIZE_HAMMING] = {1.0, hamming},
    [RESIZE_BICUBIC] = {2.0, bicubic},   [RESIZE_LANCZOS] = {3.0, lanczos},
};

/* Pillow keeps the box in single precision, and so the difference is rounded to it. Where pixels stay as they
 * are, every filter gives weight 1 to one input, and box reads no others. */
static struct mapping mapping_of(enum resize_filter filter, int in_size, double box0, double box1,
                                 int full_out)
{
    const float in0 = (float)box0, in1 = (float)box1;
    struct mapping m = {.filter = &filters[filter], .origin = in0, .in_size = in_size};

    m.scale = (double)(in1 - in0) / full_out;
    if (m.scale == 1.0 && in0 == floorf(in0))
        m.filter = &filters[RESIZE_BOX];
    m.stretch = m.scale < 1.0 ? 1.0 : m.scale;
    m.support = m.filter->support * m.stretch;
    m.taps = (int)ceil(m.support) * 2 + 1;
    return m;
}

/* How many inputs an output reads, none where rounding leaves nothing of a narrow filter; *ret_first is the
 * first of them. */
static int output_inputs(const struct mapping *m, double center, int *ret_first)
{
    int first = (int)(center - m->support + 0.5), end = (int)(center + m->support + 0.5);

    first = first < 0 ? 0 : first >= m->in_size ? m->in_size - 1 : first;
    end = end > m->in_size ? m->in_size : end;
    *ret_first = first;
    return end > first ? end - first : 0;
}

static double center_of(const struct mapping *m, int index)
{
    return m->origin + (index + 0.5) * m->scale;
}

void resize_axis_inputs(enum resize_filter filter, int in_size, double box0, double box1, int full_out,
                        int begin, int out, int *ret_first, int *ret_end)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);
    int last, count;

    output_inputs(&m, center_of(&m, begin), ret_first);
    count = output_inputs(&m, center_of(&m, begin + out - 1), &last);
    *ret_end = last + (count > 1 ? count : 1);
}

/* Weights of output `index` of the full result, m->taps of them with zeros at the end; returns how many are
 * to be used, at least one. */
static int output_weights(const struct mapping *m, int index, int *ret_first, double *weight)
{
    const double center = center_of(m, index);
    const int count = output_inputs(m, center, ret_first);
    double sum = 0.0;

    for (int k = 0; k < count; k++) {
        weight[k] = m->filter->weight((*ret_first + k - center + 0.5) * (1.0 / m->stretch));
        sum += weight[k];
    }
    for (int k = 0; k < count && sum != 0.0; k++)
        weight[k] /= sum;
    for (int k = count; k < m->taps; k++)
        weight[k] = 0.0;
    return count > 1 ? count : 1;
}

/* To fixed point; returns how many are left without the zeros at the end. */
static int round_weights(int32_t *weight, const double *exact, int taps, int count)
{
    for (int k = 0; k < taps; k++) {
        const double w = exact[k] * (1 << RESIZE_BITS);

        weight[k] = (int32_t)(w < 0 ? w - 0.5 : w + 0.5);
    }
    while (count > 1 && !weight[count - 1])
        count--;
    return count;
}

static void split_weights(struct resize_block *block, const int32_t *weight, int taps)
{
    for (int k = 0; k < resize_blocks(taps) * 4; k++) {
        const int32_t w = k < taps ? weight[k] : 0;
        const int16_t low = (int16_t)(w & 0xffff);

        block[k / 4].low[k % 4] = low;
        block[k / 4].high[k % 4] = (int16_t)((w - low) >> 16);
    }
}

/* The memory holds one output's exact weights, then the arrays of the axis. */
size_t resize_axis_size(enum resize_filter filter, int in_size, double box0, double box1, int full_out,
                        int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);

    return (size_t)m.taps * sizeof(double) +
           (size_t)out *
               ((2 + (size_t)m.taps) * sizeof(int32_t) + resize_blocks(m.taps) * sizeof(struct resize_block));
}

void resize_axis_init(struct resize_axis *axis, void *memory, enum resize_filter filter, int in_size,
                      double box0, double box1, int full_out, int begin, int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);
    double *exact = memory;
    int32_t *first = (int32_t *)(exact + m.taps), *count = first + out, *weight = count + out;
    struct resize_block *block = (struct resize_block *)(weight + (size_t)out * m.taps);

    *axis = (struct resize_axis){
        .out = out, .taps = m.taps, .first = first, .count = count, .weight = weight, .block = block};
    for (int i = 0; i < out; i++, weight += m.taps, block += resize_blocks(m.taps)) {
        count[i] = output_weights(&m, begin + i, &first[i], exact);
        count[i] = round_weights(weight, exact, m.taps, count[i]);
        split_weights(block, weight, m.taps);
        if (first[i] + count[i] > axis->end)
            axis->end = first[i] + count[i];
    }
}

size_t resize16_axis_size(enum resize_filter filter, int in_size, double box0, double box1, int full_out,
                          int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);

    return (size_t)out * (2 * sizeof(int32_t) + (size_t)m.taps * sizeof(double));
}

void resize16_axis_init(struct resize16_axis *axis, void *memory, enum resize_filter filter, int in_size,
                        double box0, double box1, int full_out, int begin, int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);
    double *weight = memory;
    int32_t *first = (int32_t *)(weight + (size_t)out * m.taps), *count = first + out;

    *axis =
        (struct resize16_axis){.out = out, .taps = m.taps, .first = first, .count = count, .weight = weight};
    for (int i = 0; i < out; i++, weight += m.taps) {
        count[i] = output_weights(&m, begin + i, &first[i], weight);
        if (first[i] + count[i] > axis->end)
            axis->end = first[i] + count[i];
    }
}
