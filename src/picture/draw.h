/* SPDX-License-Identifier: MIT */
/** A float image as a picture of bytes or of colours. */
#ifndef NB_PICTURE_DRAW_H
#define NB_PICTURE_DRAW_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "canvas.h"

/** The image to draw; the caller owns the pointers. */
typedef struct nb_picture_job {
    const float *image; /* [slow][fast] */
    int fast, slow;
    const nb_png_options *options;
    const nb_panel *panel; /* of the image, for rings; may be NULL without them */
    double wavelength;     /* m */
    double pedestal;       /* of the image; 0 none */
    int marked; /* pixels that are NaN are left out and have a colour of their own */
} nb_picture_job;

/** Is one byte per pixel enough? */
int nb_picture_is_grey(const nb_picture_job *job);

/** The picture: one byte per pixel if it is grey, else an nb_rgb. Free *pixels [slow][fast]
 * with nb_free. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (rings without a detector). */
nb_status nb_picture_draw(const nb_picture_job *job, void **pixels, nb_error *err);

/* --- Draw circles of equal resolution and the beam centre over the picture of an image --- */

/** Draw labelled rings where d = lambda / (2 sin theta) is one of options->ring_A, and a
 * cross at the beam centre. The canvas has one pixel for each detector pixel. wavelength in
 * m. Errors: NB_ERR_NOMEM. */
nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err);

#endif
