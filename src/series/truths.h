/* SPDX-License-Identifier: MIT */
/** The true values of all frames of a series, for its master and -exptout: those of the data files, or calculated again.
 * Memory holds a window of frames. */
#ifndef NB_SERIES_TRUTHS_H
#define NB_SERIES_TRUTHS_H

#include "work.h"
#include "frame.h"

struct nb_run;

typedef struct nb_truths {
    nb_pieces pieces;    /* owned; of HDF5 */
    nb_frame frame;      /* owned; to calculate without HDF5 */
    nb_hdf5_frame *rows; /* owned, [n] of [room]: the window */
    int first, n, room;
} nb_truths;

/** Read frames first..first+count-1; user: the nb_run. Errors: NB_ERR_NOMEM, NB_ERR_IO, NB_ERR_INPUT (a data file). */
nb_status nb_truths_get(void *user, int first, int count, nb_hdf5_frame *out,
                        nb_error *err);
/** What is true of frame k, which f->sim has. */
nb_hdf5_frame nb_truths_of(const struct nb_run *run, const nb_frame *f);
void nb_truths_free(nb_truths *t); /* zeroed is fine */

#endif
