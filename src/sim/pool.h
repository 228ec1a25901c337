/* SPDX-License-Identifier: MIT */
/** Renderers shared by the threads of a series: one for each thread on the CPU, otherwise a few for each
 * accelerator, of which one can bring its image to the host while another renders.  A thread takes one
 * for as long as it renders a frame. */
#ifndef NB_SIM_POOL_H
#define NB_SIM_POOL_H

#include <pthread.h>

#include "sim.h"

typedef struct nb_renderer {
    nb_backend_state *state; /* owned; NULL until first used */
    int device, busy;
    int closed; /* the device has no room for it */
} nb_renderer;

typedef struct nb_pool {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    nb_renderer *all; /* owned; [count] */
    int count;
    const nb_backend *backend;
} nb_pool;

/** The accelerators of a process: `count` of them, first, first + step, ... */
typedef struct nb_pool_devices {
    int first, step, count;
} nb_pool_devices;

/** Those that were asked for, out of `there` of the host, for the nth of `processes` on it. */
nb_pool_devices nb_pool_devices_of(const nb_device *asked, int there, int n,
                                   int processes);

/** Renderers of each accelerator for frames like this one, no more than threads. */
int nb_pool_renderers(const nb_sim *base, int threads);

/** Renderers of this backend, so many for `each` device. */
nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       int each, nb_error *err);
void nb_pool_close(nb_pool *pool);

/** Render the simulation's scene on the next free renderer.  If the device fails, its last renderer's error
 * counts: the others take memory from each other, so one that fails is closed. */
nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err);

#endif
