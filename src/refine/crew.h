/* SPDX-License-Identifier: MIT */
/** Several pictures: shared out among the processes of mpirun, and in each process among threads.  Every thread has a
 * simulation of its own. */
#ifndef NB_REFINE_CREW_H
#define NB_REFINE_CREW_H

#include <stdatomic.h>

#include "../nanobragg.h"

typedef struct nb_crew {
    const nb_refine_frames *frames;
    nb_ranks *ranks;
    nb_sim *base;                  /* owned; the start */
    struct nb_hdf5_reader *reader; /* owned; of pictures in HDF5 */
    double (*missets)[3];          /* owned; [frames->count], deg; NULL: the start's */
    struct nb_expt_start *starts; /* owned; [frames->count], of -expt; NULL: all have one */
    nb_config *typed;     /* owned; of all pictures, what files say not yet in it */
    int workers, threads; /* of this process, and of each of them */
    nb_sim **sims;        /* owned; [workers] */
    atomic_int stop;      /* begin no more pictures */
} nb_crew;

/** What is done with each picture. */
typedef struct nb_crew_task {
    void *user;
    /** Called once for each picture of this process, from any thread, with the simulation of the thread in any state.
     * An error stops all. */
    nb_status (*work)(void *user, nb_sim *sim, int picture, nb_error *err);
    /** Called now and then from the thread that called nb_crew_each, for messages; may be NULL. */
    void (*between)(void *user);
} nb_crew_task;

/** Load the start and the orientations.  nb_crew_close, after an error too.  Errors: those of the simulation and of the
 * file of orientations, NB_ERR_NOMEM. */
nb_status nb_crew_open(nb_crew *crew, const nb_config *cfg, const nb_refine_frames *frames,
                       const nb_hooks *hooks, nb_error *err);
void nb_crew_close(nb_crew *crew);

/** Give sim the start of a picture, whatever was done with it before. */
nb_status nb_crew_begin(const nb_crew *crew, nb_sim *sim, int picture, nb_error *err);

/** Read a picture for a simulation of its size.  Free *out with nb_image_free.  Errors: those of nb_image_read. */
nb_status nb_crew_read(const nb_crew *crew, const nb_sim *sim, int picture, nb_image *out,
                       nb_error *err);

/** Do it with all pictures of this process.  The error of the first picture with one. */
nb_status nb_crew_each(nb_crew *crew, const nb_crew_task *task, nb_error *err);

#endif
