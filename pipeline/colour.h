#ifndef MSCACHE_PIPELINE_COLOUR_H
#define MSCACHE_PIPELINE_COLOUR_H

#include "pipeline/run.h"

/* Changes of colour: the functions of these names (adjust_brightness ...) of torchvision.transforms.functional with the
 * Pillow backend, byte for byte, on 8-bit images of 1 or 3 channels. A `factor` is rounded to float, as Pillow does it.
 * 0 or MSCACHE_ENOMEM. An operator that calls several of them clears r->last before. */

int colour_brightness(struct run *r, double factor);
int colour_contrast(struct run *r, double factor);
int colour_saturation(struct run *r, double factor);
int colour_hue(struct run *r, double turn); /* -0.5 to 0.5 of the circle */
int colour_sharpness(struct run *r, double factor);

int colour_invert(struct run *r);
int colour_posterize(struct run *r, int bits); /* 0 to 8 */
int colour_solarize(struct run *r, double threshold);
int colour_autocontrast(struct run *r);
int colour_equalize(struct run *r);

/* To 1 channel, or to 3 equal ones. */
int colour_gray(struct run *r, int channels);

#endif
