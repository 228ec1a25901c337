/* SPDX-License-Identifier: MIT */
/* The reflections of an image. */
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../render/request.h"
#include "../truth/reflection_table.h"

#include <string.h>

#include "../base/memory.h"
#include "../sim/crystals.h"
#include "../sim/footprint.h"
#include "../sim/light.h"
#include "../sim/sim.h"

/** Point of the reciprocal lattice, 1/A. */
static nb_vec3 point_of(const nb_crystal *x, const nb_reflection *s)
{
    return nb_add(nb_add(nb_scale(s->h, x->astar), nb_scale(s->k, x->bstar)),
                  nb_scale(s->l, x->cstar));
}

/** Spacing of the planes, A; 0 for 0 0 0. */
static double spacing(const nb_crystal *x, const nb_reflection *s)
{
    const double g = nb_norm(point_of(x, s));
    return g > 0 ? 1 / g : 0;
}

/** Distance of the lattice point from the Ewald sphere of the central beam, 1/A; positive
 * outside. */
static double excitation(const nb_model *m, const nb_reflection *s)
{
    const double phi = m->phi0 + m->phi_range / 2, k = 1 / m->wavelength_A;
    const nb_vec3 g = nb_rotate_about(point_of(&m->crystal, s), m->geometry.spindle, phi);
    return nb_norm(nb_add(nb_scale(k, m->geometry.beam), g)) - k;
}

static double first_phi(const nb_model *m)
{
    const double middle = m->settings.value.compat ? 0.0 : 0.5;
    return m->phi0 + (m->phi_range > 0 ? middle * m->phi_step : 0);
}

double nb_sim_first_phi(const nb_sim *sim)
{
    return first_phi(&sim->model);
}

/** Image of a job, as in nb_reflection_job. */
typedef struct wanted_image {
    const float *pixels;
    nb_status (*render)(void *user, float *image, nb_error *err);
    void *user;
    const nb_reflection_spread *spread;
} wanted_image;

/** Find the reflections of a scene of model m in its image.  mix: mix of that image. */
static nb_status find(const nb_sim *sim, const nb_model *m, const nb_scene *scene,
                      const nb_mix *mix, const wanted_image *image, nb_reflections *out,
                      nb_error *err)
{
    double step = m->phi_range > 0 ? m->phi_step : 0;
    nb_reflection_job job = {scene,
                             image->pixels,
                             image->render,
                             image->user,
                             mix,
                             sim->cfg.truth_min,
                             first_phi(m),
                             step,
                             sim->engine.options.tolerance.skip,
                             sim->engine.options.threads,
                             sim->engine.options.isa,
                             &sim->hooks,
                             image->spread};
    nb_status st = nb_reflections_find(&job, out, err);
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].excitation = excitation(m, &out->list[i]);
        out->list[i].d = spacing(&m->crystal, &out->list[i]);
    }
    return st;
}

/** Append a crystal's reflections to the list; `more` is freed. */
static nb_status append(nb_reflections *more, const nb_further *of, nb_reflections *out,
                        nb_error *err)
{
    const size_t n = out->count + more->count;
    const nb_status st = nb_grow(&out->list, out->count, n ? n : 1, sizeof *out->list,
                                 "list of spots", err);
    if (!st) {
        for (size_t i = 0; i < more->count; i++) {
            nb_reflection *to = &out->list[out->count + i];
            *to = more->list[i];
            to->crystal = (int16_t)(of ? of->crystal : 0);
            to->twin = (int16_t)(of ? of->twin : 0);
        }
        out->count = n;
        out->panels = more->panels;
        out->background += more->background;
        out->unassigned += more->unassigned;
        out->off_panels += more->off_panels;
    }
    nb_reflections_free(more);
    return st;
}

/** Mix for the image of one crystal (NULL: the first): it has only the factors of pixels,
 * and for the first crystal also the background. */
static nb_mix factors_alone(const nb_mix *all, const nb_further *of)
{
    nb_mix mix = *all;
    mix.n_more = 0;
    mix.more = NULL;
    mix.light = mix.add = NULL;
    if (of)
        mix.background = NULL;
    mix.acts = NULL;
    return mix;
}

/** Add photons of diffuse and added light in an image of several crystals. */
static void add_light(const nb_sim *sim, nb_reflections *out)
{
    const nb_scene *sc = &sim->model.scene;
    nb_mix mix = nb_sim_mix(sim);
    mix.acts = NULL;
    for (int row = 0; row < sc->raster.rows && (mix.light || mix.add); row++) {
        const nb_mix_row r = nb_mix_row_of(&mix, sc, row);
        for (int64_t p = r.start + r.first; p < r.start + r.end; p++)
            if (!sc->raster.mask || sc->raster.mask[p]) {
                out->diffuse += nb_mix_light(&mix, (size_t)p);
                out->background += nb_mix_added(&mix, (size_t)p);
            }
    }
}

/** Arguments of render_alone. */
typedef struct alone {
    const nb_scene *scene;
    const nb_mix *mix;
    nb_sim_engine *engine;
} alone;

static nb_status render_scene(nb_sim_engine *engine, const nb_scene *scene, float *image,
                              nb_error *err)
{
    const nb_request as = {.precision = engine->options.precision,
                           .tolerance = engine->options.tolerance};
    nb_status st = nb_engine_open(engine, err);
    return st ? st
              : nb_render_scene_as(engine->backend, engine->state, scene, &as, image, err);
}

/** Render the image of one crystal (nb_reflection_job.render). */
static nb_status render_alone(void *user, float *image, nb_error *err)
{
    const alone *a = user;
    nb_status st = render_scene(a->engine, a->scene, image, err);
    if (!st && a->mix->absorb)
        nb_mix_absorb(a->mix, a->scene, a->engine->options.threads, image);
    NB_TRY(nb_mix_apply(a->mix, a->scene, a->engine->options.threads, image, err));
    return st;
}

/* --- with a footprint: the position of a photon is the one before spreading. A photon
 * counts if after spreading it is in the image or has left its panel --- */

/** Factors of the Bragg light, and 0 for pixels that are not rendered. */
static void fill_factors(const nb_mix *mix, const nb_scene *sc, float *factors)
{
    memset(factors, 0, sc->raster.pixels * sizeof *factors);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_region r = nb_panel_region(sc, &sc->panels[k]);
        for (int s = r.smin; s <= r.smax; s++)
            for (int f = r.fmin; f <= r.fmax; f++) {
                const size_t pixel = nb_panel_pixel(&sc->panels[k], f, s);
                if (!sc->raster.mask || sc->raster.mask[pixel])
                    factors[pixel] = nb_mix_crystal(mix, pixel);
            }
    }
}

/** Make the crystal's light before spreading, times the counted part of each pixel. */
static nb_status render_counted(nb_sim_engine *engine, const nb_footprint_work *work,
                                const nb_mix *mix, float *image, float *parts,
                                double *off, nb_error *err)
{
    const nb_scene *sc = work->scene;
    const size_t pixels = sc->raster.pixels;
    float *factors = nb_alloc_large(pixels, sizeof *factors, "factors", err);
    nb_status st =
        factors ? render_scene(engine, work->sources, image, err) : NB_ERR_NOMEM;
    if (!st) {
        fill_factors(mix, sc, factors);
        st = nb_footprint_count(work, factors, image, parts, off, err);
    }
    for (size_t i = 0; i < pixels && !st; i++)
        image[i] *= parts[i];
    nb_free(factors);
    return st;
}

/** Find the reflections of a scene with a footprint. */
static nb_status find_spread(const nb_sim *sim, nb_sim_engine *engine, const nb_model *m,
                             const nb_scene *scene, const nb_mix *mix,
                             nb_reflections *out, nb_error *err)
{
    const size_t pixels = scene->raster.pixels;
    float *image = nb_alloc_large(pixels, sizeof *image, "image", err);
    float *parts = nb_alloc(pixels, sizeof *parts, "image", err);
    nb_footprint_parts of;
    double off = 0;
    nb_status st = nb_footprint_parts_of(&sim->model.footprint, scene, 0, &of, err);
    memset(out, 0, sizeof *out);
    if (!st && !(image && parts))
        st = NB_ERR_NOMEM;
    if (!st) {
        const nb_footprint_work work = {of.plan, scene, &of.bragg, engine->kernels,
                                        engine->options.threads};
        st = render_counted(engine, &work, mix, image, parts, &off, err);
    }
    if (!st) {
        const nb_reflection_spread spread = {scene, parts};
        st = find(sim, m, &of.bragg, mix,
                  &(wanted_image){.pixels = image, .spread = &spread}, out, err);
        out->off_panels = st ? 0 : off;
    }
    nb_footprint_parts_free(&of);
    nb_free(image);
    nb_free(parts);
    return st;
}

/* --- several crystals --- */

/** Find the reflections of one of several crystals (NULL: the first). */
static nb_status find_alone(const nb_sim *sim, nb_sim_engine *engine, const nb_mix *all,
                            const nb_further *of, nb_reflections *out, nb_error *err)
{
    const nb_model *m = of ? &of->model : &sim->model;
    const nb_mix mix = factors_alone(all, of);
    nb_scene scene = m->scene;
    alone one = {&scene, &mix, engine};
    nb_reflections own = {0};
    nb_status st;
    if (m->is_mixed)
        scene.factors.table = m->alone;
    if (nb_sim_has_footprint(sim))
        st = find_spread(sim, engine, m, &scene, &mix, &own, err);
    else
        st = find(sim, m, &scene, &mix,
                  &(wanted_image){.render = render_alone, .user = &one}, &own, err);
    return st ? st : append(&own, of, out, err);
}

/** Find the reflections crystal by crystal, since the photons of the crystals must be
 * kept apart. */
static nb_status find_all(const nb_sim *sim, nb_sim_engine *engine, const nb_mix *all,
                          nb_reflections *out, nb_error *err)
{
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    out->crystals = 1;
    for (int i = 0; i <= sim->further->n && !st; i++)
        st = find_alone(sim, engine, all, i ? sim->further->all[i - 1] : NULL, out, err);
    if (st)
        nb_reflections_free(out);
    else
        add_light(sim, out);
    return st;
}

nb_status nb_sim_reflections(const nb_sim *sim, const float *image, nb_reflections *out,
                             nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    const nb_scene *scene = &sim->model.scene;
    nb_mix mix = nb_sim_mix(sim);
    nb_sim_engine engine = nb_engine_like(&sim->engine);
    nb_status st = nb_mix_need_light(&mix, err);
    engine.backend = nb_backend_cpu(&engine.options);
    NB_TRY(nb_engine_background(&engine, sim->in.store, scene, 0, &mix, err));
    if (!st && sim->further)
        st = find_all(sim, &engine, &mix, out, err);
    else if (!st && nb_sim_has_footprint(sim))
        st = find_spread(sim, &engine, &sim->model, scene, &mix, out, err);
    else if (!st)
        st = find(sim, &sim->model, scene, &mix, &(wanted_image){.pixels = image}, out,
                  err);
    nb_engine_free(&engine);
    return st;
}

void nb_reflections_free(nb_reflections *list)
{
    if (!list)
        return;
    nb_free(list->list);
    memset(list, 0, sizeof *list);
}
