/* SPDX-License-Identifier: MIT */
/** One frame of a series: its image in every form. */
#ifndef NB_SERIES_FRAME_H
#define NB_SERIES_FRAME_H

#include "../image/sum.h"
#include "../io/hdf5/hdf5_file.h"
#include "../io/image/writer.h"
#include "../inputs/load.h"
#include "../sim/sim.h"
#include "work.h"

/** One frame: its rendered image in every form that the outputs need.  One nb_frame a thread. */

typedef struct nb_frame {
    nb_sim *sim; /* owned; rebuilt for every frame */
    size_t pixels;
    float *image;       /* owned; the photons; NULL: they stay on the device */
    nb_product product; /* the integers that were made last; their pixels are owned */
    size_t room;        /* bytes of these */
    const nb_image_device *lender; /* of these; NULL: ordinary memory */
    int made;                      /* product is this frame's */
    int64_t overloads;             /* pixels that the last output could not hold */
    void *canvas; /* owned; panels at their places in HDF5, where that is not the stack */
    void *scratch;  /* owned; of the compression */
    nb_stats stats; /* of the photons, but for the solid angle */
    nb_times spent; /* on this frame so far */
} nb_frame;

void nb_frame_free(nb_frame *frame); /* what it holds; zeroed is fine */

/** What the outputs of a frame will ask for. */
typedef struct nb_frame_wants {
    int photons;
    nb_product integers; /* type ANY: none */
} nb_frame_wants;

/** Want the pixels of a file of this format, or (NULL) of HDF5 of this type. */
void nb_frame_want(const nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                   nb_frame_wants *wants);

/** The pixels of a file, of HDF5. */
nb_noise_file nb_frame_file_noise(const nb_writer *writer);
nb_noise_file nb_frame_hdf5_noise(nb_hdf5_type type);

/** What to render: the photons, or integers that the device makes of them.  Outputs then find either.
 * pixels: of the image. */
nb_status nb_frame_prepare(nb_frame *frame, const nb_frame_wants *wants, size_t pixels,
                           nb_rendering *rendering, nb_error *err);

/** Write the image in a single-image format, whole or not at all. */
nb_status nb_frame_write(nb_frame *frame, const nb_format *format, const char *path,
                         nb_error *err);

/** Add the pixels of its file (format) or, NULL, of its HDF5 to a sum. */
nb_status nb_frame_sum(nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                       nb_sum *sum, nb_error *err);

/** Compress the image for HDF5 into chunk[nb_hdf5_chunk_bound]. */
nb_status nb_frame_encode(nb_frame *frame, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err);

#endif
