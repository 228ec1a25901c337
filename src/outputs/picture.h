/* SPDX-License-Identifier: MIT */
/** Pictures for the writers of src/io. */
#ifndef NB_OUTPUTS_PICTURE_H
#define NB_OUTPUTS_PICTURE_H

#include "../analysis/analysis.h"
#include "../io/image/writer.h"
#include "../model/detector.h"
#include "../nanobragg.h"
#include "../picture/picture.h"

/* --- pictures for the writers of src/io --- */

/** Draw the picture, grey or coloured; *view gets its size, type and pixels; the caller
 * frees the pixels (nb_free). Errors: those of nb_picture_draw. */
nb_status nb_picture_view(const nb_picture_job *job, nb_image_view *view, void **pixels,
                          nb_error *err);

/** Write a canvas as PNG.  Errors: NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_canvas_write(const nb_canvas *canvas, const char *path, nb_error *err);

/** Data that a picture owns. */
typedef struct nb_picture_own {
    float *noise;          /* counts that replace the image, or NULL */
    float *assembled;      /* several panels as one picture, or NULL */
    float *shrunk;         /* blocks of a large image, or NULL */
    float *flat;           /* counts above their background, or NULL */
    nb_png_options levels; /* levels of `flat` */
    nb_panel panel;        /* panel of the assembled picture */
    nb_panel blocks;       /* panel of the shrunk picture */
} nb_picture_own;

/** Make the picture of -pngfile of image[slow][fast]; several panels are assembled.  *job
 * borrows from all other arguments.  Call nb_picture_own_free, also after an error.
 * Errors: NB_ERR_NOMEM, NB_ERR_INPUT, those of nb_sim_noise. */
nb_status nb_picture_of_sim(const nb_sim *sim, const float *image, nb_picture_job *job,
                            nb_picture_own *own, nb_error *err);
void nb_picture_own_free(nb_picture_own *own);

/** Writer of a picture. */
const nb_writer *nb_picture_writer(const nb_picture_job *job);

/** Picture of an image file. Several panels are assembled, and left-out pixels are
 * NaN. */
typedef struct nb_shown_image {
    nb_picture_job job;   /* borrows from the image and the members below */
    nb_assembly assembly; /* owned, as are the members below */
    nb_detector detector;
    float *marked;
} nb_shown_image;

/** Fill *shown.  job.panel: NULL without a geometry; job.wavelength: 0 or NaN if unknown.
 * Call nb_shown_free, also after an error.  Errors: NB_ERR_NOMEM, NB_ERR_INPUT. */
nb_status nb_show_image(const nb_image *image, nb_shown_image *shown, nb_error *err);
void nb_shown_free(nb_shown_image *shown);

/** Panel k with position, axes, size and beam in the frame of d; other members are 0. */
nb_panel nb_panel_of_spec(const nb_detector_spec *d, int k);

/* --- two images of the same size, for the comparison and its picture --- */

/** Make *pair of two images.  Errors: NB_ERR_INPUT (sizes differ, ROI off the image). */
nb_status nb_pair_of(const nb_image *a, const nb_image *b,
                     const nb_compare_options *options, nb_pair *pair, nb_error *err);

/* --- the automatic scale of a picture of counts with a background --- */

/** Show counts minus the local background, in standard deviations and from two deviations
 * on, so that spots are visible and rings are not. Only for -pngscale auto, whole counts
 * and a median of 4 or more. The job then borrows *options and *pixels, which the caller
 * frees (nb_free); otherwise *pixels is NULL. Errors: NB_ERR_NOMEM. */
nb_status nb_flatten(nb_picture_job *job, nb_png_options *options, float **pixels,
                     nb_error *err);

#endif
