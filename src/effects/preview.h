/* SPDX-License-Identifier: MIT */
/** An 8-bit picture of a float image for a person to look at. */
#ifndef NB_EFFECTS_PREVIEW_H
#define NB_EFFECTS_PREVIEW_H

#include "../nanobragg.h"

typedef enum nb_preview_curve { NB_PREVIEW_SQRT = 0, NB_PREVIEW_LOG } nb_preview_curve;

typedef struct nb_preview_options {
    nb_preview_curve curve;
    double low, high; /* percentiles of the positive pixels that become white and black */
    double headroom; /* black is at least this many medians, so that spots stand out from a
                         smooth background; 0 off */
    int bright_spots; /* 0: spots are dark on white paper */
} nb_preview_options;

/** Square root, 1 % to 99.5 % or three medians, dark spots. */
extern const nb_preview_options nb_preview_default;

/** Fill out[slow][fast] from image[slow][fast].  Pixels that are 0 or less (outside the region
 * of interest, masked) look like the faintest ones.  options may be NULL (the default).
 * Errors: NB_ERR_NOMEM. */
nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err);

#endif
