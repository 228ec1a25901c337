/* SPDX-License-Identifier: MIT */
/** Images that are given in the place of rendered ones: nb_series.input. */
#ifndef NB_SERIES_GIVEN_H
#define NB_SERIES_GIVEN_H

#include "../sim/sim.h"
#include "template.h"

typedef enum nb_given_kind {
    NB_GIVEN_ONE = 0, /* a file with one image */
    NB_GIVEN_HDF5,    /* frames of an HDF5 file */
    NB_GIVEN_NUMBERED /* files with numbers */
} nb_given_kind;

typedef struct nb_given {
    nb_given_kind kind;
    char name[NB_PATH_MAX]; /* of the file; unused when they are numbered */
    nb_template numbered;
    int first;        /* frame in the HDF5 file, or number of the first file */
    int frames;       /* at least 1 */
    int size[2];      /* of headerless images, fast and slow */
    double unit;      /* photons */
    double pedestal;  /* NaN: that of the header */
    nb_series series; /* the caller's, with the number of frames */
    nb_config cfg; /* owned; the caller's, completed; without crystal, in double precision */
    nb_image image;  /* owned; a single one, read with its header; else none */
    nb_config plain; /* for readers, whose header nobody wants */
    struct nb_hdf5_reader *reader; /* owned; of an input in HDF5 */
    float *background; /* owned; [pixels of the stack], photons; may be NULL */
} nb_given;

/** Look at series->input: how many frames, and the geometry of the first.  Notes go to hooks.  Free *given
 * with nb_given_free, on errors too.  Errors: as nb_series_run says. */
nb_status nb_given_open(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_given **given, nb_error *err);

/** Mask the pixels that the first image leaves out, and render the background of cfg once.  base: the simulation
 * of given->cfg. */
nb_status nb_given_prepare(nb_given *given, nb_sim *base, nb_error *err);

/** The photons of frame k with the background, into image[pixels of the stack]; 0 in pixels that sim does
 * not render.  From any thread.  Errors: NB_ERR_INPUT (damaged, another size, a pixel that is not
 * finite), NB_ERR_NOMEM. */
nb_status nb_given_frame(const nb_given *given, int k, const nb_sim *sim, float *image,
                         nb_error *err);

void nb_given_free(nb_given *given); /* NULL is fine */

#endif
