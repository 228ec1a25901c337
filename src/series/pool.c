/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <string.h>

#include "../base/memory.h"

nb_pool_devices nb_pool_devices_of(const nb_device *asked, int there, int n, int processes)
{
    nb_pool_devices d = {asked->index, 0, 1};
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

nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       nb_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->all = nb_alloc((size_t)devices.count, sizeof *pool->all, "renderers", err);
    if (!pool->all)
        return NB_ERR_NOMEM;
    pool->count = devices.count;
    pool->backend = backend;
    for (int i = 0; i < pool->count; i++)
        pool->all[i].device = devices.first + i * devices.step;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->freed, NULL);
    return NB_OK;
}

void nb_pool_close(nb_pool *pool)
{
    if (!pool->all)
        return;
    for (int i = 0; i < pool->count; i++)
        pool->backend->close(pool->all[i].state);
    pthread_cond_destroy(&pool->freed);
    pthread_mutex_destroy(&pool->lock);
    nb_free(pool->all);
    pool->all = NULL;
}

static nb_renderer *take(nb_pool *pool)
{
    nb_renderer *found = NULL;
    pthread_mutex_lock(&pool->lock);
    while (!found) {
        for (int i = 0; i < pool->count && !found; i++)
            if (!pool->all[i].busy)
                found = &pool->all[i];
        if (!found)
            pthread_cond_wait(&pool->freed, &pool->lock);
    }
    found->busy = 1;
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static void give_back(nb_pool *pool, nb_renderer *r)
{
    pthread_mutex_lock(&pool->lock);
    r->busy = 0;
    pthread_cond_signal(&pool->freed);
    pthread_mutex_unlock(&pool->lock);
}

nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err)
{
    nb_renderer *r = take(pool);
    nb_status st;
    sim->options.device_index = r->device;
    sim->state = r->state;
    st = nb_sim_make(sim, wanted, err);
    r->state = sim->state;
    sim->state = NULL;
    nb_photons_forget(&sim->photons); /* the renderer's device has the next frame's */
    give_back(pool, r);
    return st;
}
