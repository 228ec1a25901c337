/* SPDX-License-Identifier: MIT */
/** Where the fits of several pictures begin: each with an orientation or an experiment of its own. */
#ifndef NB_FIT_STARTS_H
#define NB_FIT_STARTS_H

#include "../nanobragg.h"

struct nb_expt_start;
struct nb_hdf5_reader;

typedef struct nb_starts {
    const char *const *pictures; /* borrowed; [count], names for nb_image_read */
    int count;
    nb_sim *base;                  /* owned; what all pictures have */
    nb_config *typed;              /* owned; the same, as it was typed */
    double (*missets)[3];          /* owned; [count], deg; NULL: the start's */
    struct nb_expt_start *expt;    /* owned; [count], of -expt; NULL: all have one */
    struct nb_hdf5_reader *reader; /* owned; of pictures in HDF5 */
} nb_starts;

/** Open *starts, whose pictures and count the caller has set.  orientations: a file with the misset angles of one picture in each
 * line; NULL: none.
 * nb_starts_close, after an error too.  Errors: those of a simulation and of the file, NB_ERR_NOMEM. */
nb_status nb_starts_open(nb_starts *starts, const nb_config *cfg,
                         const char *orientations, const nb_hooks *hooks, nb_error *err);
void nb_starts_close(nb_starts *starts);

/** A simulation for the fits, one after the other.  place: its number among those that share the devices. */
nb_status nb_starts_sim(const nb_starts *starts, const nb_hooks *hooks, int threads,
                        int place, nb_sim **sim, nb_error *err);

/** Give sim the start of a picture, whatever was done with it before. */
nb_status nb_starts_begin(const nb_starts *starts, nb_sim *sim, int picture,
                          nb_error *err);

/** Read a picture for a simulation of its size.  Free *out with nb_image_free.  Errors: those of nb_image_read. */
nb_status nb_starts_read(const nb_starts *starts, const nb_sim *sim, int picture,
                         nb_image *out, nb_error *err);

/** How many pictures are refined at a time: on a device several share it, and what one calculates there hides what the
 * others do on the host.  *threads: of each. */
int nb_starts_workers(const nb_starts *starts, int *threads);

#endif
