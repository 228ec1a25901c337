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

/** The accelerators of a process: `count` of them, first, first + step, ... */
typedef struct nb_lane_devices {
    int first, step, count;
} nb_lane_devices;

/** Those that were asked for, out of `there` of the host, for the nth of `processes` on it. */
nb_lane_devices nb_lane_devices_of(const nb_device *asked, int there, int n,
                                   int processes);

/** Renderers of this backend, one for each device. */
nb_status nb_lanes_open(nb_lanes *lanes, const nb_backend *backend,
                        nb_lane_devices devices, nb_error *err);
void nb_lanes_close(nb_lanes *lanes);

/** Render the simulation's scene on the next free lane. */
nb_status nb_lanes_render(nb_lanes *lanes, nb_sim *sim, const nb_rendering *wanted,
                          nb_error *err);

#endif
