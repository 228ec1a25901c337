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

/** One frame, with its image in each form that outputs need; one nb_frame a thread. */

typedef struct nb_frame {
    nb_sim *sim; /* owned; rebuilt for every frame */
    size_t pixels;
    float *image;       /* owned; photons, or NULL if they stay on the device */
    nb_product product; /* integers that were made last; product.pixels is owned */
    size_t room;        /* bytes of product.pixels */
    const nb_image_device *lender; /* device that lent product.pixels, or NULL */
    int made;                      /* 1: product is of this frame */
    int64_t overloads;             /* pixels that were too large for the last output */
    void *canvas;                  /* owned; panels at their places in HDF5, or NULL */
    void *scratch;                 /* owned; work space of the compression */
    nb_stats stats; /* statistics of the photons, without the solid angle */
    nb_times spent; /* times of this frame so far */
} nb_frame;

void nb_frame_free(nb_frame *frame); /* frees the members; a zero frame is fine */

/** Forms of the image that the outputs of a frame need. */
typedef struct nb_frame_wants {
    int photons;
    nb_product integers; /* type ANY: no integers */
} nb_frame_wants;

/** Let wants include the pixels of a file (format) or, with NULL, of HDF5. */
void nb_frame_want(const nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                   nb_frame_wants *wants);

/** Noise of the pixels of a file, and of HDF5. */
nb_noise_file nb_frame_file_noise(const nb_writer *writer);
nb_noise_file nb_frame_hdf5_noise(nb_hdf5_type type);

/** Choose the result of the rendering: photons, or integers that the device makes of
 * photons. pixels: number of pixels of the image. Errors: NB_ERR_NOMEM. */
nb_status nb_frame_prepare(nb_frame *frame, const nb_frame_wants *wants, size_t pixels,
                           nb_rendering *rendering, nb_error *err);

/** Write the image in a single-image format, whole or not at all. */
nb_status nb_frame_write(nb_frame *frame, const nb_format *format, const char *path,
                         nb_error *err);

/** Add the pixels of the file of this format, or (format NULL) of HDF5, to a sum. */
nb_status nb_frame_sum(nb_frame *frame, const nb_format *format, nb_hdf5_type type,
                       nb_sum *sum, nb_error *err);

/** Compress the image for HDF5 into chunk[nb_hdf5_chunk_bound]. */
nb_status nb_frame_encode(nb_frame *frame, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err);

#endif
