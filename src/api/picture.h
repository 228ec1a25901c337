/* SPDX-License-Identifier: MIT */
/** A float image as a picture of bytes or of colours. */
#ifndef NB_API_PICTURE_H
#define NB_API_PICTURE_H

#include "../io/writer.h"
#include "../nanobragg.h"
#include "../physics/scene.h"

/** What to draw; the pointers are somebody else's. */
typedef struct nb_picture_job {
    const float *image; /* [slow][fast] */
    int fast, slow;
    const nb_png_options *options;
    const nb_detector *det; /* of the image, for rings; may be NULL without them */
    double wavelength;      /* m */
    double pedestal;        /* of the image; 0 none */
} nb_picture_job;

/** Is a byte a pixel enough (nb_preview), without colours and rings? */
int nb_picture_is_grey(const nb_png_options *options);

/** The picture as NB_PIXEL_RGB; *pixels [slow][fast] is the caller's: nb_free.
 * Errors: NB_ERR_NOMEM, NB_ERR_INPUT (rings without a detector). */
nb_status nb_picture_colours(const nb_picture_job *job, void **pixels, nb_error *err);

/** The picture, grey or coloured; *view gets its size, type and pixels, which are the caller's:
 * nb_free.  Errors likewise. */
nb_status nb_picture_view(const nb_picture_job *job, nb_image_view *view, void **pixels,
                          nb_error *err);
/** The counts of a noise image with this offset as floats to draw; 0 where nothing is rendered.
 * *shown [slow][fast] is the caller's: nb_free.  Errors: NB_ERR_NOMEM, those of nb_sim_noise. */
nb_status nb_picture_noise(const nb_sim *sim, const float *image, float **shown,
                           nb_error *err);

/** The writer for it. */
const nb_writer *nb_picture_writer(const nb_png_options *options);

#endif
