/* SPDX-License-Identifier: MIT */
/* One image: rendered by the backend of nb_sim, its statistics, and what it tells the user. */
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../image/statistics.h"
#include "../render/choose.h"
#include "advice.h"
#include "sim.h"

static int device_is_automatic(const nb_config *cfg)
{
    return cfg->device[0] == 0 || strcmp(cfg->device, "auto") == 0;
}

/** Where the next image goes: to the caller, stays on the device, or to our own memory. */
static nb_status choose_home(nb_sim *sim, float **image, nb_error *err)
{
    nb_status st = NB_OK;
    sim->own_has = sim->device_has = 0;
    if (*image)
        return NB_OK;
    if (sim->backend->device) {
        sim->device_has = 1;
        return NB_OK;
    }
    st = nb_sim_own_image(sim, err);
    sim->own_has = !st;
    *image = sim->own;
    return st;
}

static nb_status open_and_render(nb_sim *sim, float *image, nb_error *err)
{
    double t0 = nb_monotonic_seconds(), t1;
    nb_status st = choose_home(sim, &image, err);
    nb_sim_device_join(sim);
    if (!st && !sim->state)
        st = sim->backend->open(&sim->options, &sim->state, err);
    t1 = nb_monotonic_seconds();
    if (!st)
        st = sim->backend->render(sim->state, &sim->model.scene, image, err);
    if (st)
        sim->own_has = sim->device_has = 0;
    sim->times.start += t1 - t0;
    sim->times.render += nb_monotonic_seconds() - t1;
    return st;
}

/** An accelerator that nobody asked for by name may fail: the CPU renders instead. */
static nb_status retry_on_cpu(nb_sim *sim, float *image, nb_error *err)
{
    nb_notice(&sim->hooks, "%s; rendering on the CPU",
              err ? err->message : "device failed");
    sim->backend->close(sim->state);
    sim->state = NULL;
    sim->backend = nb_backend_cpu(&sim->options);
    return open_and_render(sim, image, err);
}

nb_status nb_sim_statistics(nb_sim *sim, const float *image, nb_stats *stats,
                            nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    int rows = sc->raster.roi.smax - sc->raster.roi.smin + 1;
    double start = nb_monotonic_seconds();
    nb_row_sums *sums = NULL;
    nb_status st = NB_OK;
    if (sim->backend->device && rows > 0 && sc->raster.roi.fmax >= sc->raster.roi.fmin) {
        sums = nb_alloc_raw((size_t)rows, sizeof *sums, "sums of rows", err);
        st = sums ? sim->backend->device->sums(sim->state, sc, sums, err) : NB_ERR_NOMEM;
        if (!st)
            nb_statistics_of_rows(sums, sc, stats);
        nb_free(sums);
    } else {
        nb_statistics_threads(image ? image : sim->own, sc, sim->options.threads, stats);
    }
    sim->times.statistics += nb_monotonic_seconds() - start;
    return st;
}

nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    nb_error local = {0};
    nb_stats own;
    nb_status st;
    nb_sim_say_long(sim, 1);
    st = open_and_render(sim, image, err ? err : &local);
    if (st == NB_ERR_DEVICE && device_is_automatic(&sim->cfg))
        st = retry_on_cpu(sim, image, err ? err : &local);
    if (st)
        return st;
    sim->backend->describe(sim->state, sim->backend_line, sizeof sim->backend_line);
    if (!stats && !nb_sim_may_overflow(sim))
        return NB_OK;
    st = nb_sim_statistics(sim, image, stats ? stats : &own, err);
    if (!st)
        st = nb_sim_check_finite(sim, stats ? stats : &own, err);
    if (st)
        sim->own_has = sim->device_has = 0;
    else if (stats)
        stats->solid_angle = nb_scene_solid_angle(&sim->model.scene);
    if (!st && stats)
        nb_sim_say_dark(sim, stats);
    return st;
}
