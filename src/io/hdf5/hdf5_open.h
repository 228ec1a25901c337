/* SPDX-License-Identifier: MIT */
/** Use the HDF5 library: one thread at a time, without its own messages. */
#ifndef NB_IO_HDF5_OPEN_H
#define NB_IO_HDF5_OPEN_H

#ifdef NB_HAVE_HDF5
#include "../../base/apart.h"
#include "hdf5_lib.h"

/** The library's own printing of errors, to restore it. */
typedef struct nb_h5_quiet {
    H5E_auto2_t print;
    void *data;
} nb_h5_quiet;

/** Load the library and begin to use it. Until nb_h5_end other threads wait, the library
 * prints nothing, and the bitshuffle filter is registered. Call nb_h5_end only after
 * success. Do not nest. Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_h5_begin(nb_h5_quiet *quiet, nb_error *err);
void nb_h5_end(const nb_h5_quiet *quiet);

/** What a reader found odd, as names with commas between them, for a note. */
typedef struct nb_h5_remarks {
    char bare[160]; /* without a unit */
    char odd[160];  /* with a unit that is not known */
} nb_h5_remarks;

/** An HDF5 file being read. */
typedef struct nb_h5_input {
    hid_t file;
    const char *name; /* the caller's */
    double most_MB;   /* the job's */
    int depth;        /* 1: the source of a virtual data set of another, and so on */
    nb_h5_remarks *remarks; /* the caller's; NULL: nobody listens */
} nb_h5_input;

/** What is read of an HDF5 file. */
typedef struct nb_h5_job {
    const char *file;
    double most_MB; /* for nb_declared_check; 0: no check */
    void *user;
    nb_status (*read)(void *user, const nb_h5_input *in, nb_error *err); /* in a child */
    void (*pass)(void *user, nb_passage *p); /* as in nb_apart_task */
} nb_h5_job;

/** Open the file and read it in a child process: a damaged file can crash the library.  What the disk or the
 * memory refused is an error, and not an entry that is absent.  Errors: those of job->read; NB_ERR_INPUT when the
 * file is not there, is a pipe, cannot be opened or crashed the library; NB_ERR_IO, NB_ERR_NOMEM,
 * NB_ERR_UNSUPPORTED. */
nb_status nb_h5_apart(const nb_h5_job *job, nb_error *err);

#endif
#endif
