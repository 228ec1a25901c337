/* SPDX-License-Identifier: MIT */
/* A device is started while files are read, or while it is asked whether it is quicker. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fork.h"
#include "../base/memory.h"
#include "../render/choose.h"
#include "sim.h"

struct nb_warming {
    pthread_t thread;
    const nb_backend *backend;
    int device_index;
};

static void *warm(void *user)
{
    const struct nb_warming *w = user;
    w->backend->device->warm(w->device_index);
    return NULL;
}

void nb_sim_device_warm(nb_sim *sim, const nb_backend *backend, int device_index)
{
    struct nb_warming *w;
    if (sim->warming || !backend->device)
        return;
    w = nb_alloc(1, sizeof *w, "device", NULL);
    if (!w)
        return; /* open will take the time then */
    w->backend = backend;
    w->device_index = device_index;
    nb_fork_uses_device();
    if (pthread_create(&w->thread, NULL, warm, w))
        nb_free(w);
    else
        sim->warming = w;
}

static void start_asked(void *user, const nb_backend *backend)
{
    nb_sim *sim = user;
    nb_sim_device_warm(sim, backend, sim->options.device_index);
}

nb_status nb_sim_check_device(const nb_sim *sim, nb_error *err)
{
    if (!sim->backend->device || !nb_fork_lost_device())
        return NB_OK;
    return nb_fail(err, NB_ERR_DEVICE, "-device %s: " NB_FORK_CURE, sim->backend->name);
}

void nb_sim_close_backend(nb_sim *sim)
{
    if (sim->backend && !(sim->backend->device && nb_fork_lost_device()))
        sim->backend->close(sim->state);
    sim->state = NULL;
}

nb_status nb_sim_choose_backend(nb_sim *sim, nb_error *err)
{
    nb_status st;
    sim->options.asking = start_asked;
    sim->options.asking_user = sim;
    st = nb_backend_choose(&sim->model.scene, sim->cfg.device, &sim->options,
                           &sim->backend, sim->backend_line, sizeof sim->backend_line,
                           err);
    if (!st)
        nb_sim_device_warm(sim, sim->backend, sim->options.device_index);
    return st;
}

void nb_sim_device_join(nb_sim *sim)
{
    if (!sim->warming)
        return;
    if (!nb_fork_lost_device())
        pthread_join(sim->warming->thread, NULL);
    nb_free(sim->warming);
    sim->warming = NULL;
}
