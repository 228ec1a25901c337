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

/** What -pngfile shows of a simulation's image [slow][fast].  *job borrows from sim and image.
 * *noise: the counts that are shown in the image's place, or NULL; the caller's: nb_free, also
 * after an error.  Errors: NB_ERR_NOMEM, those of nb_sim_noise. */
nb_status nb_picture_of_sim(const nb_sim *sim, const float *image, nb_picture_job *job,
                            float **noise, nb_error *err);

/** The writer of a picture with these options. */
const nb_writer *nb_picture_writer(const nb_png_options *options);

#endif
