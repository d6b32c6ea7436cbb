#include "kernels/resize.h"

#include <math.h>

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

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

static const struct filter filters[] = {
    [RESIZE_BILINEAR] = {1.0, bilinear},
};

/* Pillow keeps the box in single precision, and so the difference is rounded to it. */
static struct mapping mapping_of(enum resize_filter filter, int in_size, double box0, double box1,
                                 int full_out)
{
    const float in0 = (float)box0, in1 = (float)box1;
    struct mapping m = {.filter = &filters[filter], .origin = in0, .in_size = in_size};

    m.scale = (double)(in1 - in0) / full_out;
    m.stretch = m.scale < 1.0 ? 1.0 : m.scale;
    m.support = m.filter->support * m.stretch;
    m.taps = (int)ceil(m.support) * 2 + 1;
    return m;
}

static double tap_weight(const struct mapping *m, double center, int input)
{
    return m->filter->weight((input - center + 0.5) * (1.0 / m->stretch));
}

/* Weights of output `index` of the full result; returns how many are used. */
static int output_weights(const struct mapping *m, int index, int32_t *ret_first, int32_t *weight)
{
    const double center = m->origin + (index + 0.5) * m->scale;
    int first = (int)(center - m->support + 0.5), end = (int)(center + m->support + 0.5), count;
    double sum = 0.0;

    first = first < 0 ? 0 : first;
    end = end > m->in_size ? m->in_size : end;
    count = end - first;
    for (int k = 0; k < count; k++)
        sum += tap_weight(m, center, first + k);

    for (int k = 0; k < m->taps; k++) {
        double w = k < count ? tap_weight(m, center, first + k) : 0.0;

        w = (sum != 0.0 ? w / sum : w) * (1 << RESIZE_BITS);
        weight[k] = (int32_t)(w < 0 ? w - 0.5 : w + 0.5);
    }
    while (count > 1 && !weight[count - 1])
        count--;
    *ret_first = first;
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

size_t resize_axis_size(enum resize_filter filter, int in_size, double box0, double box1, int full_out,
                        int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);

    return (size_t)out *
           ((2 + (size_t)m.taps) * sizeof(int32_t) + resize_blocks(m.taps) * sizeof(struct resize_block));
}

void resize_axis_init(struct resize_axis *axis, void *memory, enum resize_filter filter, int in_size,
                      double box0, double box1, int full_out, int begin, int out)
{
    const struct mapping m = mapping_of(filter, in_size, box0, box1, full_out);
    int32_t *first = memory, *count = first + out, *weight = count + out;
    struct resize_block *block = (struct resize_block *)(weight + (size_t)out * m.taps);

    *axis = (struct resize_axis){
        .out = out, .taps = m.taps, .first = first, .count = count, .weight = weight, .block = block};
    for (int i = 0; i < out; i++, weight += m.taps, block += resize_blocks(m.taps)) {
        count[i] = output_weights(&m, begin + i, &first[i], weight);
        split_weights(block, weight, m.taps);
        if (first[i] + count[i] > axis->end)
            axis->end = first[i] + count[i];
    }
}
