/* SPDX-License-Identifier: MIT */
/* One image: rendered by the backend of nb_sim, its statistics, and what it tells the user. */
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../physics/panels.h"
#include "../render/choose.h"
#include "../render/request.h"
#include "advice.h"
#include "device_image.h"
#include "sim.h"

int nb_sim_device_is_automatic(const nb_sim *sim)
{
    return sim->cfg.device[0] == 0 || strcmp(sim->cfg.device, "auto") == 0;
}

/** Where the next image goes: to the caller, stays on the device, or to our own memory. */
static nb_status choose_home(nb_sim *sim, float **image, nb_error *err)
{
    nb_photons *home = &sim->photons;
    float *own = home->own;
    nb_status st = NB_OK;
    *home = nb_sim_photons(sim, *image);
    home->own = own;
    if (sim->backend->device && nb_stack_is_even(&sim->model.scene)) {
        home->device = &sim->backend->device->image;
    } else if (!*image) {
        st = nb_photons_memory(home, err);
        home->pixels = *image = home->own;
    }
    return st;
}

static nb_status open_and_render(nb_sim *sim, float *image, nb_error *err)
{
    double t0 = nb_monotonic_seconds(), t1;
    const nb_request as = {.precision = sim->options.precision,
                           .tolerance = sim->options.tolerance};
    nb_status st = nb_sim_check_device(sim, err);
    if (st)
        return st;
    st = nb_sim_end_loan(sim, err);
    if (!st)
        st = choose_home(sim, &image, err);
    if (sim->backend->device) {
        nb_sim_device_join(sim);
        nb_tables_sign(&sim->in.tables, &sim->model.scene.factors.table);
    }
    if (!st && !sim->state)
        st = sim->backend->open(&sim->options, &sim->state, err);
    t1 = nb_monotonic_seconds();
    sim->photons.state = sim->state;
    if (!st)
        st = nb_render_scene_as(sim->backend, sim->state, &sim->model.scene, &as, image,
                                err);
    if (st)
        nb_photons_forget(&sim->photons);
    sim->times.start += t1 - t0;
    sim->times.render += nb_monotonic_seconds() - t1;
    return st;
}

/** Another backend from now on. */
static void change_backend(nb_sim *sim, const nb_backend *to)
{
    nb_sim_close_backend(sim);
    sim->backend = to;
}

/** An accelerator that nobody asked for by name may fail: the CPU renders instead. */
static nb_status retry_on_cpu(nb_sim *sim, float *image, nb_error *err)
{
    nb_notice(&sim->hooks, "%s; rendering on the CPU",
              err ? err->message : "device failed");
    change_backend(sim, nb_backend_cpu(&sim->options));
    return open_and_render(sim, image, err);
}

/** Of several panels, the brightest pixel's own. */
static void name_panel(const nb_sim *sim, nb_stats *stats)
{
    const nb_scene *sc = &sim->model.scene;
    size_t pixel = (size_t)stats->max_slow * (size_t)sim->flat.raster.columns +
                   (size_t)stats->max_fast;
    const nb_panel *panel;
    if (sc->n_panels == 1)
        return;
    stats->max_panel = nb_panel_of_pixel(sc, pixel);
    panel = &sc->panels[stats->max_panel];
    pixel -= panel->first_pixel;
    stats->max_fast = (int)(pixel % (size_t)panel->columns);
    stats->max_slow = (int)(pixel / (size_t)panel->columns);
}

/** Look at every pixel. */
static nb_status summarise(nb_sim *sim, nb_stats *stats, nb_error *err)
{
    nb_product summary = {.type = NB_PIXEL_F32, .stats = stats};
    double start = nb_monotonic_seconds();
    nb_status st = nb_image_make(&sim->photons, NULL, 0, &summary, 1, err);
    sim->times.statistics += nb_monotonic_seconds() - start;
    if (!st)
        name_panel(sim, stats);
    return st ? st : nb_sim_check_finite(sim, stats, err);
}

nb_status nb_sim_make(nb_sim *sim, const nb_rendering *wanted, nb_error *err)
{
    nb_error local = {0};
    nb_stage stages[NB_STAGES_MOST];
    nb_stats own;
    nb_status st;
    nb_sim_say_long(sim, 1);
    st = open_and_render(sim, wanted->image, err ? err : &local);
    if (st == NB_ERR_DEVICE && nb_sim_device_is_automatic(sim))
        st = retry_on_cpu(sim, wanted->image, err ? err : &local);
    if (st)
        return st;
    sim->backend->describe(sim->state, sim->backend_line, sizeof sim->backend_line);
    if (wanted->stats || nb_sim_may_overflow(sim))
        st = summarise(sim, wanted->stats ? wanted->stats : &own, err);
    if (!st && wanted->n_products)
        st = nb_image_make(&sim->photons, stages, nb_sim_stages(sim, stages),
                           wanted->products, wanted->n_products, err);
    if (st || wanted->image)
        nb_photons_forget(&sim->photons);
    return st;
}

nb_status nb_sim_render(nb_sim *sim, float *image, nb_stats *stats, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    const nb_rendering wanted = {image, stats, NULL, 0};
    nb_status st = nb_sim_make(sim, &wanted, err);
    if (st || !stats)
        return st;
    stats->solid_angle = nb_scene_solid_angle(&sim->model.scene);
    nb_sim_say_dark(sim, stats);
    return NB_OK;
}

nb_status nb_sim_render_device(nb_sim *sim, nb_device_image **image, nb_stats *stats,
                               nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_status st = nb_sim_render(sim, NULL, stats, err);
    *image = NULL;
    return st ? st : nb_sim_lend(sim, image, err);
}

nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_status st = nb_photons_fetch(&sim->photons, err);
    *image = st ? NULL : sim->photons.pixels;
    return st;
}
