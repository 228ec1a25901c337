/* SPDX-License-Identifier: MIT */
/** Pictures for the writers of src/io. */
#ifndef NB_API_PICTURE_H
#define NB_API_PICTURE_H

#include "../io/image/writer.h"
#include "../nanobragg.h"
#include "../picture/draw.h"

/** The picture, grey or coloured; *view gets its size, type and pixels, which are the caller's:
 * nb_free.  Errors: those of nb_picture_draw. */
nb_status nb_picture_view(const nb_picture_job *job, nb_image_view *view, void **pixels,
                          nb_error *err);

/** What a picture has of its own. */
typedef struct nb_picture_own {
    float *noise;          /* the counts that are shown in the image's place, or NULL */
    float *assembled;      /* several panels as one picture, or NULL */
    float *shrunk;         /* blocks of a large image, or NULL */
    float *flat;           /* counts above their background, or NULL */
    nb_png_options levels; /* of these */
    nb_panel panel;        /* of the assembled picture */
    nb_panel blocks;       /* of the shrunk one */
} nb_picture_own;

/** What -pngfile shows of a simulation's image [slow][fast]; of several panels the assembled detector.
 * *job borrows from sim, image and *own; free that with nb_picture_own_free, also after an error.
 * Errors: NB_ERR_NOMEM, NB_ERR_INPUT, those of nb_sim_noise. */
nb_status nb_picture_of_sim(const nb_sim *sim, const float *image, nb_picture_job *job,
                            nb_picture_own *own, nb_error *err);
void nb_picture_own_free(nb_picture_own *own);

/** The writer of a picture. */
const nb_writer *nb_picture_writer(const nb_picture_job *job);

#endif
