/* SPDX-License-Identifier: MIT */
/** Pictures for the writers of src/io. */
#ifndef NB_API_PICTURE_H
#define NB_API_PICTURE_H

#include "../io/writer.h"
#include "../nanobragg.h"
#include "../picture/draw.h"

/** The picture, grey or coloured; *view gets its size, type and pixels, which are the caller's:
 * nb_free.  Errors: those of nb_picture_draw. */
nb_status nb_picture_view(const nb_picture_job *job, nb_image_view *view, void **pixels,
                          nb_error *err);

/** The counts of a noise image with this offset as floats to draw; 0 for pixels that are
 * not rendered. Free *shown [slow][fast] with nb_free. Errors: NB_ERR_NOMEM, those of
 * nb_sim_noise. */
nb_status nb_picture_noise(const nb_sim *sim, const float *image, float **shown,
                           nb_error *err);

/** The writer of a picture with these options. */
const nb_writer *nb_picture_writer(const nb_png_options *options);

#endif
