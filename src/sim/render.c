/* SPDX-License-Identifier: MIT */
/* Render one image with the backend of nb_sim; make its statistics and notes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../render/request.h"
#include "advice.h"
#include "footprint.h"
#include "light.h"
#include "../inputs/shade.h"
#include "sim.h"

/** Choose the memory of the next image: the caller's, the device's or the engine's. */
static nb_status choose_home(nb_sim *sim, float **image, nb_error *err)
{
    nb_photons *home = &sim->engine.photons;
    float *own = home->own;
    nb_status st = NB_OK;
    int stays = sim->engine.backend->device && nb_stack_is_even(&sim->model.scene);
    *home = nb_sim_photons(sim, *image);
    home->own = own;
    stays =
        stays && (nb_mix_is_plain(&home->mix) || sim->engine.backend->device->image.mix);
    stays = stays && (!home->mix.n_more || sim->engine.backend->device->image.add_aside);
    if (nb_sim_has_footprint(sim))
        st = nb_sim_plan_footprint(sim, &stays, err);
    NB_TRY(nb_engine_background(&sim->engine, sim->in.store, &sim->model.scene, stays,
                                &home->mix, err));
    if (st)
        return st;
    if (stays) {
        home->device = &sim->engine.backend->device->image;
    } else if (!*image) {
        st = nb_photons_memory(home, err);
        home->pixels = *image = home->own;
    }
    return st;
}

/** Add to the engine's sum the light that is left out of a crystal's pixels (nb_lack).
 * The brightest pixel of the image is at least as bright as that of each crystal. */
static void add_lack(nb_sim_engine *engine)
{
    nb_lack one = {0, 0}, *all = &engine->lack;
    double brightest;
    if (engine->backend->lack)
        one = engine->backend->lack(engine->state);
    if (!(one.photons > 0))
        return;
    brightest = one.photons / one.part;
    if (all->photons > 0)
        brightest = fmax(brightest, all->photons / all->part);
    all->photons += one.photons;
    all->part = fmin(1, all->photons / brightest);
}

/** Render one crystal; image: NULL if the device keeps the image. */
static nb_status render_scene(nb_sim *sim, const nb_scene *scene, float *image,
                              nb_error *err)
{
    nb_sim_engine *engine = &sim->engine;
    const nb_mix *mix = &engine->photons.mix;
    const nb_scene lit = nb_mix_scene(mix, scene);
    nb_status st;
    nb_request as = {.precision = engine->options.precision,
                     .tolerance = engine->options.tolerance};
    /* the crystals share the tolerance of the image equally */
    as.tolerance.part /= 1 + mix->n_more;
    as.tolerance.photons /= 1 + mix->n_more;
    st = nb_sim_has_footprint(sim)
             ? nb_sim_render_footprint(sim, &lit, &as, image, err)
             : nb_render_scene_as(engine->backend, engine->state, &lit, &as, image, err);
    if (!st)
        add_lack(engine);
    return st;
}

/** Reserve memory for the image of a further crystal. */
static nb_status reserve_second(nb_sim_engine *engine, size_t pixels, nb_error *err)
{
    if (engine->second_pixels >= pixels)
        return NB_OK;
    nb_free(engine->second);
    engine->second = nb_alloc_large(pixels, sizeof *engine->second, "image", err);
    engine->second_pixels = engine->second ? pixels : 0;
    return engine->second ? NB_OK : NB_ERR_NOMEM;
}

static void add(const float *from, size_t pixels, int threads, float *image)
{
    const int use = nb_image_threads(threads, (int64_t)pixels);
#pragma omp parallel for num_threads(use)
    for (size_t i = 0; i < pixels; i++)
        image[i] += from[i];
    (void)use;
}

/** Render the further crystals and add them in their order; image: NULL if the device
 * keeps the image. */
static nb_status add_crystals(nb_sim *sim, float *image, nb_error *err)
{
    nb_sim_engine *engine = &sim->engine;
    const nb_mix *mix = &engine->photons.mix;
    const nb_image_device *device = engine->photons.device;
    const size_t pixels = sim->model.scene.raster.pixels;
    nb_status st = device || !mix->n_more ? NB_OK : reserve_second(engine, pixels, err);
    for (int i = 0; i < mix->n_more && !st; i++) {
        if (device && (st = device->set_aside(engine->state, pixels, err)))
            break;
        st = render_scene(sim, mix->more[i], device ? NULL : engine->second, err);
        if (!st && device)
            st = device->add_aside(engine->state, pixels, err);
        else if (!st)
            add(engine->second, pixels, engine->options.threads, image);
    }
    return st;
}

/** Set the text that describes the backend, from the last crystal. Add the light that is
 * left out of all crystals. */
static void describe(nb_sim_engine *engine)
{
    const size_t size = sizeof engine->line;
    size_t used;
    engine->backend->describe(engine->state, engine->line, size);
    used = strlen(engine->line);
    if (engine->photons.mix.n_more && engine->lack.part > 0)
        snprintf(engine->line + used, size - used, "; all crystals together by %.2g",
                 engine->lack.part);
}

/** Render the crystals and apply the mix; image: NULL if the device keeps the image. */
static nb_status render_frame(nb_sim *sim, float *image, nb_error *err)
{
    nb_sim_engine *engine = &sim->engine;
    const nb_scene *sc = &sim->model.scene;
    const int plain = nb_mix_is_plain(&engine->photons.mix);
    float *to = plain || !engine->photons.device ? image : NULL;
    nb_status st;
    engine->lack = (nb_lack){0, 0};
    st = render_scene(sim, sc, to, err);
    NB_TRY(add_crystals(sim, to, err));
    if (!st)
        describe(engine);
    NB_TRY(nb_sim_light_there(sim, err));
    if (!st && engine->photons.mix.absorb && !engine->photons.device)
        nb_mix_absorb(&engine->photons.mix, sc, engine->options.threads, to);
    if (!st && !plain)
        st = nb_sim_apply_mix(engine, sc, image, err);
    return st;
}

static nb_status open_and_render(nb_sim *sim, float *image, nb_error *err)
{
    nb_sim_engine *engine = &sim->engine;
    nb_scene *sc = &sim->model.scene;
    double t0 = nb_monotonic_seconds(), t1;
    nb_status st;
    NB_FORWARD(nb_engine_check(engine, err));
    st = nb_engine_end_loan(engine, err);
    NB_TRY(nb_sim_begin_light(sim, err));
    NB_TRY(choose_home(sim, &image, err));
    if (engine->backend->device)
        nb_tables_sign(&sim->in.tables, &sc->factors.table);
    NB_TRY(nb_engine_open(engine, err));
    NB_TRY(nb_sim_make_light(sim, err));
    t1 = nb_monotonic_seconds();
    engine->photons.state = engine->state;
    NB_TRY(render_frame(sim, image, err));
    if (st)
        nb_photons_forget(&engine->photons);
    sim->times.start += t1 - t0;
    sim->times.render += nb_monotonic_seconds() - t1;
    return st;
}

static nb_status retry_on_cpu(nb_sim *sim, float *image, nb_error *err)
{
    nb_notice(&sim->hooks, "%s; rendering on the CPU",
              err ? err->message : "device failed");
    nb_engine_close(&sim->engine);
    sim->engine.backend = nb_backend_cpu(&sim->engine.options);
    return open_and_render(sim, image, err);
}

/** With several panels, give the place of the brightest pixel on its panel. */
static void name_panel(const nb_model *model, nb_stats *stats)
{
    const nb_scene *sc = &model->scene;
    size_t pixel = (size_t)stats->max_slow * (size_t)model->flat.raster.columns +
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

/** Make the statistics of every pixel, and check that all are finite. */
static nb_status summarise(nb_sim *sim, nb_stats *stats, nb_error *err)
{
    nb_product summary = {.type = NB_PIXEL_F32, .stats = stats};
    double start = nb_monotonic_seconds();
    nb_status st = nb_image_make(&sim->engine.photons, NULL, 0, &summary, 1, err);
    sim->times.statistics += nb_monotonic_seconds() - start;
    if (!st)
        name_panel(&sim->model, stats);
    return st ? st : nb_model_check_finite(&sim->model, stats, err);
}

nb_status nb_sim_make(nb_sim *sim, const nb_rendering *wanted, nb_error *err)
{
    NB_ASKS(&sim->hooks, 0);
    nb_error local = {0};
    nb_stage stages[NB_STAGES_MAX];
    nb_stats own;
    nb_status st;
    nb_sim_say_long(sim, 1);
    st = open_and_render(sim, wanted->image, err ? err : &local);
    if (st == NB_ERR_DEVICE && nb_device_is_automatic(&sim->cfg))
        st = retry_on_cpu(sim, wanted->image, err ? err : &local);
    if (st)
        return st;
    if (wanted->stats || nb_model_may_overflow(&sim->model))
        st = summarise(sim, wanted->stats ? wanted->stats : &own, err);
    if (!st && wanted->n_products)
        st = nb_image_make(&sim->engine.photons, stages, nb_sim_stages(sim, stages),
                           wanted->products, wanted->n_products, err);
    if (st || wanted->image)
        nb_photons_forget(&sim->engine.photons);
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
    nb_say_dark(sim, stats);
    return NB_OK;
}

nb_status nb_sim_render_device(nb_sim *sim, nb_device_image **image, nb_stats *stats,
                               nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_status st = nb_sim_render(sim, NULL, stats, err);
    *image = NULL;
    return st ? st
              : nb_engine_lend(&sim->engine, sim->model.flat.raster.pixels, image, err);
}

nb_status nb_sim_image(nb_sim *sim, const float **image, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image);
    nb_status st = nb_photons_fetch(&sim->engine.photons, err);
    *image = st ? NULL : sim->engine.photons.pixels;
    return st;
}
