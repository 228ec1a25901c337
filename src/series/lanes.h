/* SPDX-License-Identifier: MIT */
/** Renderers shared by the threads of a series: one for each thread on the CPU, one for each
 * accelerator otherwise.  A thread takes one for as long as it renders a frame. */
#ifndef NB_SERIES_LANES_H
#define NB_SERIES_LANES_H

#include <pthread.h>

#include "../api/sim.h"

typedef struct nb_lane {
    nb_backend_state *state; /* owned; NULL until first used */
    int device, busy;
} nb_lane;

typedef struct nb_lanes {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    nb_lane *lane; /* owned */
    int count;
    const nb_backend *backend;
} nb_lanes;

/** `count` renderers of this backend. */
nb_status nb_lanes_open(nb_lanes *lanes, const nb_backend *backend, int count, int device,
                        nb_error *err);
void nb_lanes_close(nb_lanes *lanes);

/** Render the simulation's scene on the next free lane. */
nb_status nb_lanes_render(nb_lanes *lanes, nb_sim *sim, nb_sim_targets *targets,
                          nb_error *err);

#endif
