/* SPDX-License-Identifier: MIT */
#include "lanes.h"

#include <string.h>

#include "../base/memory.h"

nb_lane_devices nb_lane_devices_of(const nb_device *asked, int there, int n, int processes)
{
    nb_lane_devices d = {asked->index, 0, 1};
    if (asked->index >= 0)
        return d;
    if (asked->all && n < there) {
        d.first = n;
        d.step = processes;
        d.count = (there - 1 - n) / processes + 1;
    } else if (processes > 1 && there > 0) {
        d.first = n % there;
    }
    return d;
}

nb_status nb_lanes_open(nb_lanes *l, const nb_backend *backend, nb_lane_devices devices,
                        nb_error *err)
{
    memset(l, 0, sizeof *l);
    l->lane = nb_alloc((size_t)devices.count, sizeof *l->lane, "renderers", err);
    if (!l->lane)
        return NB_ERR_NOMEM;
    l->count = devices.count;
    l->backend = backend;
    for (int i = 0; i < l->count; i++)
        l->lane[i].device = devices.first + i * devices.step;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->freed, NULL);
    return NB_OK;
}

void nb_lanes_close(nb_lanes *l)
{
    if (!l->lane)
        return;
    for (int i = 0; i < l->count; i++)
        l->backend->close(l->lane[i].state);
    pthread_cond_destroy(&l->freed);
    pthread_mutex_destroy(&l->lock);
    nb_free(l->lane);
    l->lane = NULL;
}

static nb_lane *take(nb_lanes *l)
{
    nb_lane *found = NULL;
    pthread_mutex_lock(&l->lock);
    while (!found) {
        for (int i = 0; i < l->count && !found; i++)
            if (!l->lane[i].busy)
                found = &l->lane[i];
        if (!found)
            pthread_cond_wait(&l->freed, &l->lock);
    }
    found->busy = 1;
    pthread_mutex_unlock(&l->lock);
    return found;
}

static void give_back(nb_lanes *l, nb_lane *lane)
{
    pthread_mutex_lock(&l->lock);
    lane->busy = 0;
    pthread_cond_signal(&l->freed);
    pthread_mutex_unlock(&l->lock);
}

nb_status nb_lanes_render(nb_lanes *l, nb_sim *sim, const nb_rendering *wanted,
                          nb_error *err)
{
    nb_lane *lane = take(l);
    nb_status st;
    sim->options.device_index = lane->device;
    sim->state = lane->state;
    st = nb_sim_make(sim, wanted, err);
    lane->state = sim->state;
    sim->state = NULL;
    nb_photons_forget(&sim->photons); /* the lane's device has the next frame's */
    give_back(l, lane);
    return st;
}
