/* SPDX-License-Identifier: MIT */
/** One frame: its rendered image in every form that the outputs need.  One nb_frame a thread. */
#ifndef NB_SERIES_FRAME_H
#define NB_SERIES_FRAME_H

#include "../api/sim.h"
#include "../io/hdf5_file.h"
#include "../io/writer.h"
#include "template.h"

typedef struct nb_frame {
    nb_sim *sim;     /* owned; rebuilt for every frame */
    uint64_t inputs; /* nb_own_inputs of it */
    size_t pixels;
    float *image; /* owned, as all below; allocated when first needed */
    uint16_t *u16;
    int32_t *i32;
    void *scratch;          /* of the compression */
    int64_t overloads;      /* pixels that the last integers could not hold */
    nb_sim_targets targets; /* of the last rendering */
    /* what u16 and i32 were allocated by; NULL: ordinary memory */
    const nb_backend_device *u16_lender, *i32_lender;
} nb_frame;

void nb_frame_free(nb_frame *frame); /* what it holds; zeroed is fine */

/** What the outputs of a frame will ask for. */
typedef struct nb_frame_wants {
    int floats, u16, i32;
    double adc_offset; /* of u16 */
} nb_frame_wants;

void nb_frame_want_file(const nb_frame *frame, nb_frame_format format,
                        nb_frame_wants *wants);
void nb_frame_want_hdf5(nb_hdf5_type type, nb_frame_wants *wants);

/** Fill frame->targets: the floats, or integers that the device makes.  Outputs then find either.
 * pixels: of the image. */
nb_status nb_frame_prepare(nb_frame *frame, const nb_frame_wants *wants, size_t pixels,
                           nb_error *err);

/** What is true of the frame whose model the simulation has now. */
nb_hdf5_frame nb_frame_truth(const nb_frame *frame);

/** Write the image in a single-image format, whole or not at all. */
nb_status nb_frame_write(nb_frame *frame, nb_frame_format format, const char *path,
                         nb_error *err);

/** Compress the image for HDF5 into chunk[nb_hdf5_chunk_bound]. */
nb_status nb_frame_encode(nb_frame *frame, const nb_hdf5_layout *layout, void *chunk,
                          size_t *bytes, nb_error *err);

#endif
