/* SPDX-License-Identifier: MIT */
/** An 8-bit picture of a float image for viewing. */
#ifndef NB_PICTURE_PREVIEW_H
#define NB_PICTURE_PREVIEW_H

#include "../nanobragg.h"
#include "draw.h"

typedef enum nb_preview_curve {
    NB_PREVIEW_SQRT = 0,
    NB_PREVIEW_LOG,
    NB_PREVIEW_POWER /* value^gamma */
} nb_preview_curve;

typedef enum nb_preview_range {
    NB_PREVIEW_AUTO = 0,   /* the percentiles low and high, and headroom */
    NB_PREVIEW_PERCENTILE, /* 0 to the percentile high */
    NB_PREVIEW_FIXED       /* the values low and high */
} nb_preview_range;

typedef struct nb_preview_options {
    nb_preview_curve curve;
    double low, high; /* percentiles of the positive pixels that become white and black;
                         white is 0 in an image of counts */
    double headroom; /* black is at least this many medians, so that spots stand out from a
                         smooth background; 0 off */
    int bright_spots; /* 0: spots are dark on white paper */
    double gamma;
    nb_preview_range range;
    double pedestal; /* the value of a pixel without photons; not with NB_PREVIEW_FIXED */
} nb_preview_options;

/** Square root, 1 % to 99.5 % or three medians, dark spots, no pedestal. */
extern const nb_preview_options nb_preview_default;

/** The same from the public options, which may be NULL. */
nb_preview_options nb_preview_of(const nb_png_options *options);

/** The conversion of values to greys, chosen from an image and applied to its rows:
 * (curve(value) - low) factor, or the curve of the fraction between two values. */
typedef struct nb_preview_levels {
    nb_preview_options options;
    double low, factor;
    int by_fraction;
} nb_preview_levels;

/** The levels for an image of `pixels` pixels; options may be NULL (the default).
 * Errors: NB_ERR_NOMEM. */
nb_status nb_preview_choose(const float *image, size_t pixels,
                            const nb_preview_options *options, nb_preview_levels *out,
                            nb_error *err);

/** Greys of `pixels` values. */
void nb_preview_apply(const nb_preview_levels *levels, const float *image, size_t pixels,
                      uint8_t *out);

/** Fill out[slow][fast] from image[slow][fast]. The pedestal is subtracted first. Pixels
 * that are then 0 or less (outside the region of interest, masked) look like the faintest
 * ones, except with NB_PREVIEW_FIXED. With fixed ends the curve is applied to the fraction
 * from low to high: its power, or three decades of its logarithm. options may be NULL (the
 * default). Errors: NB_ERR_NOMEM. */
nb_status nb_preview(const float *image, int fast, int slow,
                     const nb_preview_options *options, uint8_t *out, nb_error *err);

/* --- Smaller pictures of large images --- */

/** If an edge of the job's image has more than options->most pixels, show square blocks of it instead: of
 * each the brightest pixel, or the sum of all, without those that are left out.  The job then borrows *panel
 * (rings) and *pixels, which is the caller's (nb_free); else *pixels is NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err);

#endif
