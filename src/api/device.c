/* SPDX-License-Identifier: MIT */
/* Images in memory of the simulation's own, or of a device. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "sim.h"

/* --- a device is started while files are read --- */

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
    if (pthread_create(&w->thread, NULL, warm, w))
        nb_free(w);
    else
        sim->warming = w;
}

void nb_sim_device_join(nb_sim *sim)
{
    if (!sim->warming)
        return;
    pthread_join(sim->warming->thread, NULL);
    nb_free(sim->warming);
    sim->warming = NULL;
}

/* --- the simulation's own image --- */

/** In large pages where the system has them: the first touch of 16384 small ones takes longer than
 * the picture. */
static float *image_memory(size_t bytes)
{
    const size_t large = (size_t)2 << 20;
    void *memory;
    if (bytes < 2 * large)
        return calloc(bytes, 1);
    if (posix_memalign(&memory, large, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

nb_status nb_sim_own_image(nb_sim *sim, nb_error *err)
{
    const nb_raster *raster = &sim->model.scene.raster;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double have = (double)pages * (double)page;
    double need = (double)raster->columns * (double)raster->rows * sizeof(float);
    if (!sim->own && !(pages > 0 && need > have))
        sim->own = image_memory((size_t)need);
    if (sim->own)
        return NB_OK;
    return nb_fail(err, NB_ERR_NOMEM,
                   "an image of %d x %d pixels needs %.1f GiB of memory, but this "
                   "machine has only %.1f; type a smaller -detpixels",
                   raster->columns, raster->rows, need / 0x1p30, have / 0x1p30);
}

nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_status st = NB_OK;
    *image = NULL;
    if (!sim->own_has && !sim->device_has)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "no image is kept: call nb_sim_render(sim, NULL, ...) first");
    if (!sim->own_has && !(st = nb_sim_own_image(sim, err)))
        st = sim->backend->device->fetch(sim->state, -1, 0, sim->model.scene.raster.rows,
                                         sim->own, err);
    if (st)
        return st;
    sim->own_has = 1;
    *image = sim->own;
    return NB_OK;
}

nb_status nb_sim_render_targets(nb_sim *sim, nb_sim_targets *t, nb_error *err)
{
    const nb_backend_device *device = sim->backend->device;
    const nb_scene *sc = &sim->model.scene;
    int rows = sc->raster.rows;
    nb_status st = nb_sim_render(sim, t->n > 0 ? NULL : t->image, NULL, err);
    if (!st)
        st = nb_sim_statistics(sim, t->image, &t->stats, err);
    if (st || t->n == 0)
        return st;
    st = device->make(sim->state, sc, t->made, t->n, err);
    for (int i = 0; i < t->n && !st; i++)
        st = device->fetch(sim->state, i, 0, rows, t->integers[i], err);
    if (!st && t->image)
        st = device->fetch(sim->state, -1, 0, rows, t->image, err);
    return st;
}
