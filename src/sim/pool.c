/* SPDX-License-Identifier: MIT */
#include "sim.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../render/request.h"

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

int nb_pool_renderers(const nb_sim *base, int threads)
{
    const int fit = nb_backend_renderers(base->engine.backend, &base->model.scene,
                                         &base->engine.options);
    /* the point spread's Fourier transforms need much memory */
    if (base->cfg.psf > NB_PSF_GAUSS)
        return 1;
    return fit < threads ? fit : threads;
}

nb_status nb_pool_open(nb_pool *pool, const nb_backend *backend, nb_pool_devices devices,
                       int each, nb_error *err)
{
    memset(pool, 0, sizeof *pool);
    pool->all = nb_alloc((size_t)devices.count * (size_t)each, sizeof *pool->all,
                         "renderers", err);
    if (!pool->all)
        return NB_ERR_NOMEM;
    pool->count = devices.count * each;
    pool->backend = backend;
    /* renderers i and i + 1 are on different devices */
    for (int i = 0; i < pool->count; i++)
        pool->all[i].device = devices.first + i % devices.count * devices.step;
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

static nb_renderer *take_renderer(nb_pool *pool)
{
    nb_renderer *found = NULL;
    pthread_mutex_lock(&pool->lock);
    while (!found) {
        for (int i = 0; i < pool->count && !found; i++)
            if (!pool->all[i].busy && !pool->all[i].closed)
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

/** Close a renderer that failed, if its device has another renderer; true if it was
 * closed. */
static int retire(nb_pool *pool, nb_renderer *r)
{
    int others = 0;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->count; i++)
        others += &pool->all[i] != r && pool->all[i].device == r->device &&
                  !pool->all[i].closed;
    r->closed = others > 0;
    pthread_mutex_unlock(&pool->lock);
    if (!r->closed)
        return 0;
    pool->backend->close(r->state);
    r->state = NULL;
    return 1;
}

static nb_status render_with(nb_renderer *r, nb_sim *sim, const nb_rendering *wanted,
                             nb_error *err)
{
    nb_status st;
    sim->engine.options.device_index = r->device;
    sim->engine.state = r->state;
    st = nb_sim_make(sim, wanted, err);
    r->state = sim->engine.state;
    sim->engine.state = NULL;
    /* the memory on the device is for the next frame */
    nb_photons_forget(&sim->engine.photons);
    return st;
}

nb_status nb_pool_render(nb_pool *pool, nb_sim *sim, const nb_rendering *wanted,
                         nb_error *err)
{
    nb_renderer *r = take_renderer(pool);
    nb_status st = render_with(r, sim, wanted, err);
    while (st == NB_ERR_DEVICE && retire(pool, r)) {
        r = take_renderer(pool);
        st = render_with(r, sim, wanted, err);
    }
    give_back(pool, r);
    return st;
}
