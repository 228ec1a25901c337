/* SPDX-License-Identifier: MIT */
/* The reflections of an image. */
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../truth/reflections.h"

#include <string.h>

#include "../base/memory.h"
#include "footprint.h"
#include "mix.h"
#include "sim.h"

/** Spacing of the planes, A; of 0 0 0: 0. */
static double spacing(const nb_crystal *x, const nb_reflection *s)
{
    const double g =
        nb_norm(nb_add(nb_add(nb_scale(s->h, x->astar), nb_scale(s->k, x->bstar)),
                       nb_scale(s->l, x->cstar)));
    return g > 0 ? 1 / g : 0;
}

/** Distance of the lattice point from the Ewald sphere of the central beam, 1/A: above 0
 * outside. */
static double excitation(const nb_model *m, const nb_reflection *s)
{
    const nb_crystal *x = &m->crystal;
    double phi = m->phi0 + m->phi_range / 2, k = 1 / m->wavelength_A;
    nb_vec3 g = nb_add(nb_add(nb_scale(s->h, x->astar), nb_scale(s->k, x->bstar)),
                       nb_scale(s->l, x->cstar));
    g = nb_rotate_about(g, m->geometry.spindle, phi);
    return nb_norm(nb_add(nb_scale(k, m->geometry.beam), g)) - k;
}

double nb_sim_first_phi(const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const double middle = sim->cfg.compat ? 0.0 : 0.5;
    return m->phi0 + (m->phi_range > 0 ? middle * m->phi_step : 0);
}

static nb_status find(const nb_sim *sim, const float *image, nb_reflections *out,
                      nb_error *err)
{
    const nb_model *m = &sim->model;
    double step = m->phi_range > 0 ? m->phi_step : 0;
    const nb_mix mix = nb_sim_mix(sim);
    nb_reflection_job job = {&m->scene,
                             image,
                             &mix,
                             sim->cfg.truth_min,
                             nb_sim_first_phi(sim),
                             step,
                             sim->engine.options.tolerance.skip,
                             sim->engine.options.threads,
                             sim->engine.options.isa,
                             &sim->hooks};
    nb_status st = nb_reflections_find(&job, out, err);
    for (size_t i = 0; i < out->count; i++) {
        out->list[i].excitation = excitation(m, &out->list[i]);
        out->list[i].d = spacing(&m->crystal, &out->list[i]);
    }
    return st;
}

/** The image without its footprint, of a clone. */
static nb_status render_point(const nb_sim *sim, float *image, nb_error *err)
{
    nb_sim *point;
    nb_status st = nb_sim_clone(sim, NULL, sim->engine.options.threads, &point, err);
    if (st)
        return st;
    memset(&point->model.footprint, 0, sizeof point->model.footprint);
    st = nb_sim_render(point, image, NULL, err);
    nb_sim_free(point);
    return st;
}

nb_status nb_sim_reflections(const nb_sim *sim, const float *image, nb_reflections *out,
                             nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    float *point;
    nb_status st;
    if (!nb_sim_has_footprint(sim))
        return find(sim, image, out, err);
    /* photons are counted where they are before they are spread */
    memset(out, 0, sizeof *out);
    point = nb_alloc_large(sim->model.scene.raster.pixels, sizeof *point, "image", err);
    st = point ? render_point(sim, point, err) : NB_ERR_NOMEM;
    if (!st)
        st = find(sim, point, out, err);
    nb_free(point);
    return st;
}

void nb_reflections_free(nb_reflections *list)
{
    if (!list)
        return;
    nb_free(list->list);
    memset(list, 0, sizeof *list);
}
