/* SPDX-License-Identifier: MIT */
/** Starts of the fits of several pictures: orientation or experiment of each picture. */
#ifndef NB_FIT_STARTS_H
#define NB_FIT_STARTS_H

#include "../nanobragg.h"

struct nb_expt_start;
struct nb_hdf5_reader;

typedef struct nb_starts {
    const char *const *pictures; /* borrowed; [count], names for nb_image_read */
    int count;
    nb_sim *base;     /* owned; simulation with the common settings */
    nb_config *typed; /* owned; the common settings as typed */
    /* owned; [count], deg; or NULL if the pictures have the misset of `base` */
    double (*missets)[3];
    /* owned; [count], from -expt; or NULL if all pictures have the same start */
    struct nb_expt_start *expt;
    struct nb_hdf5_reader *reader; /* owned; reader of pictures in HDF5 */
} nb_starts;

/** Open *starts. The caller sets pictures and count before. orientations: file with the
 * misset angles of a picture in each line, or NULL. Close *starts, also after an error.
 * Errors: those of a simulation and of the file, NB_ERR_NOMEM. */
nb_status nb_starts_open(nb_starts *starts, const nb_config *cfg,
                         const char *orientations, const nb_hooks *hooks, nb_error *err);
void nb_starts_close(nb_starts *starts);

/** Make a simulation for some fits. place: number of the simulation, from which its
 * device follows. */
nb_status nb_starts_sim(const nb_starts *starts, const nb_hooks *hooks, int threads,
                        int place, nb_sim **sim, nb_error *err);

/** Set sim to the start of a picture. Earlier fits with sim do not affect it. */
nb_status nb_starts_begin(const nb_starts *starts, nb_sim *sim, int picture,
                          nb_error *err);

/** Read a picture of the size of sim; nb_image_free. Errors as nb_image_read. */
nb_status nb_starts_read(const nb_starts *starts, const nb_sim *sim, int picture,
                         nb_image *out, nb_error *err);

/** Number of pictures that are refined at a time, with *threads each. Several pictures
 * share a device. It works for one picture while the host works for others. */
int nb_starts_workers(const nb_starts *starts, int *threads);

#endif
