/* SPDX-License-Identifier: MIT */
/** Renderers shared by the threads of a series: on the CPU one for each thread, else a
 * few for each accelerator, so that one renders while another copies its image to the
 * host.  A thread takes a renderer for the time of a frame. */
#ifndef NB_SIM_POOL_H
#define NB_SIM_POOL_H

#include <pthread.h>

#include "sim.h"

typedef struct nb_renderer {
    nb_backend_state *state; /* owned; NULL until first used */
    int device, busy;
    int closed; /* 1: closed, since the device has no memory for it */
} nb_renderer;

typedef struct nb_pool {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    nb_renderer *all; /* owned; [count] */
    int count;
    const nb_backend *backend;
} nb_pool;

/** The accelerators of a process: first, first + step, ...; `count` accelerators. */
typedef struct nb_pool_devices {
    int first, step, count;
} nb_pool_devices;

/** Requested accelerators out of `there` of the host, for process n of `processes`. */
nb_pool_devices nb_pool_devices_of(const nb_device *asked, int there, int n,
                                   int processes);

/** Number of renderers of an accelerator for frames like this one, up to threads. */
int nb_pool_renderers(const nb_sim *base, int threads);

/** Open renderers of this backend, `each` on a device. */
nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       int each, nb_error *err);
void nb_pool_close(nb_pool *pool);

/** Render the scene on the next free renderer.  Renderers take memory from each other:
 * one that fails is closed, and the error of the last renderer of a device counts. */
nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err);

#endif
