#ifndef MSCACHE_PIPELINE_PAD_H
#define MSCACHE_PIPELINE_PAD_H

#include "pipeline/run.h"

/* Edges added to an image: torchvision.transforms.functional.pad with the Pillow backend. */

enum pad_mode {
    PAD_CONSTANT,  /* one value */
    PAD_EDGE,      /* the nearest pixel */
    PAD_REFLECT,   /* mirrored at the middle of the outermost pixel: 321|0123|210 */
    PAD_SYMMETRIC, /* mirrored at its edge: 210|0123|321 */
};
#define PAD_MODE_WORDS "constant", "edge", "reflect", "symmetric" /* in this order */

struct border {
    int left, top, right, bottom;
};

/* The border that a parameter means: 1 number for all sides, 2 for left and right, top and bottom, 4 for left, top, right,
 * bottom; nothing for a word. */
struct border pad_border(const struct op_value *padding);

/* MSCACHE_ERANGE with a sentence where an image of form s cannot be padded so. */
int pad_check(const struct op_value *padding, const struct op_value *fill, const struct op_shape *s, char *err,
              size_t err_size);

/* One value for each channel of a parameter that has one number or as many as there are channels; what channels it has not
 * are 0. */
void pad_fill(const struct op_value *fill, double ret[4]);

/* The bytes of a pixel that has the numbers of such a parameter. */
void pad_pixel(const struct op_value *fill, const struct view *v, uint8_t pixel[8]);

/* n pixels of `size` bytes at dst, all the same. */
void pad_repeat(uint8_t *dst, const uint8_t *pixel, size_t size, int n);

/* 0 where `fill` is a word or has 1 number or one for each channel, of values that the element type has; else
 * MSCACHE_ERANGE with a sentence. */
int pad_check_fill(const struct op_value *fill, const struct op_shape *s, char *err, size_t err_size);

/* 0, MSCACHE_ERANGE (r->why) or MSCACHE_ENOMEM. */
int pad_image(struct run *r, struct border border, enum pad_mode mode, const struct op_value *fill);

#endif
