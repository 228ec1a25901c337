/* SPDX-License-Identifier: MIT */
/* Derivatives with factors of pixels. The image is T (A I + B) + add: A and T, the
 * factors of absorption and of shadows, are constant, so the slopes of the image are T (A
 * dI/dp + dB/dp). The gradient of a loss uses the same factors. The point spread follows
 * after the factors. */
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../image/light.h"
#include "../physics/panels.h"
#include "derive.h"
#include "light.h"

int nb_sim_has_factors(const nb_sim *sim)
{
    const nb_mix mix = nb_sim_mix(sim);
    return mix.absorb || mix.transmission || mix.add;
}

static double factor_of(const nb_mix *mix, nb_filter filter, size_t pixel)
{
    if (filter == NB_FILTER_ABSORB)
        return mix->absorb ? mix->absorb[pixel] : 1;
    return mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
}

nb_status nb_sim_finish_spans(nb_sim *sim, const nb_span *spans, size_t n, float *image,
                              nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    float *under = nb_alloc((size_t)sc->raster.columns, sizeof *under, "background", err);
    nb_mix mix = nb_sim_mix(sim);
    nb_status st = under ? NB_OK : NB_ERR_NOMEM;
    mix.light = NULL;
    NB_TRY(nb_engine_background(&sim->engine, sim->in.store, sc, 0, &mix, err));
    for (size_t k = 0; k < n && !st && !nb_mix_is_plain(&mix); k++) {
        const nb_span *span = &spans[k];
        memset(under, 0, (size_t)span->n * sizeof *under);
        if (mix.background)
            nb_background_add(mix.background, sc, span->panel, span->fast, span->slow,
                              span->n, under);
        for (int f = 0; f < span->n; f++) {
            const size_t i = span->at + (size_t)f;
            const double photons = factor_of(&mix, NB_FILTER_ABSORB, i) * image[i];
            image[i] = (float)nb_mix_pixel(&mix, i, photons + under[f]);
        }
    }
    nb_free(under);
    return st;
}

void nb_sim_filter_list(const nb_sim *sim, nb_filter filter, const nb_slope_list *list,
                        size_t planes, double *values)
{
    nb_mix mix = nb_sim_mix(sim);
    if (filter == NB_FILTER_ABSORB)
        mix.add = NULL;
    for (size_t k = 0; k < list->pixels->n; k++) {
        const nb_span *span = &list->pixels->spans[k];
        double *to = values + list->place[span->at];
        for (size_t p = 0; p < planes; p++, to += list->n)
            for (int f = 0; f < span->n; f++) {
                const size_t i = span->at + (size_t)f;
                to[f] = to[f] * factor_of(&mix, filter, i) +
                        (p == 0 ? nb_mix_added(&mix, i) : 0);
            }
    }
}

void nb_sim_filter_loss(const nb_sim *sim, nb_filter filter, double *dloss)
{
    const nb_mix mix = nb_sim_mix(sim);
    for (size_t i = 0; i < sim->model.scene.raster.pixels; i++)
        dloss[i] *= factor_of(&mix, filter, i);
}

/* --- the point spread --- */

int nb_sim_has_spread(const nb_sim *sim, nb_stage *psf)
{
    nb_stage stages[NB_STAGES_MAX];
    int at = nb_stage_at(stages, nb_sim_stages(sim, stages), NB_STAGE_SPREAD);
    if (at >= 0)
        *psf = stages[at];
    return at >= 0;
}

/** Spread in[pixels], which is 0 outside of the region, into out[pixels]. */
static nb_status spread_floats(const nb_sim *sim, const nb_stage *psf, const float *in,
                               double *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    nb_photons photons = nb_sim_photons(sim, in);
    nb_light *light;
    nb_status st;
    photons.scene = sc;
    st = nb_light_make(&photons, psf, 0, &light, err);
    for (int row = 0; row < sc->raster.rows && !st; row++)
        nb_light_row(light, row, out + nb_row_start(sc, row));
    if (!st)
        nb_light_free(light);
    return st;
}

/** Each double is split into a sum of two floats, because the point spread takes
 * floats. */
nb_status nb_sim_spread_values(const nb_sim *sim, const nb_stage *psf, double *values,
                               nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    float *part = nb_alloc_raw(pixels, sizeof *part, "point spread", err);
    double *spread = nb_alloc(pixels, sizeof *spread, "point spread", err);
    double *sum = nb_alloc(pixels, sizeof *sum, "point spread", err);
    nb_status st = part && spread && sum ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0, any = 1; k < 2 && any && !st; k++) {
        any = 0;
        for (size_t i = 0; i < pixels; i++) {
            part[i] = (float)values[i];
            values[i] -= (double)part[i];
            any |= values[i] != 0;
        }
        st = spread_floats(sim, psf, part, spread, err);
        for (size_t i = 0; i < pixels && !st; i++)
            sum[i] += spread[i];
    }
    if (!st)
        memcpy(values, sum, pixels * sizeof *sum);
    nb_free(part);
    nb_free(spread);
    nb_free(sum);
    return st;
}

void nb_keep_rendered(const nb_scene *sc, double *values)
{
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, p);
        for (int y = 0; y < p->rows; y++)
            for (int x = 0; x < p->columns; x++) {
                const size_t i = nb_panel_pixel(p, x, y);
                if (y < r.smin || y > r.smax || x < r.fmin || x > r.fmax ||
                    (sc->raster.mask && !sc->raster.mask[i]))
                    values[i] = 0;
            }
    }
}

/* --- parameters whose derivatives are refused --- */

/** Flag of wavelengths, directions, F or rotations that would change with v, or NULL. */
static const char *moved_part(const nb_sim *sim, const nb_model *m,
                              const nb_variable_name *v)
{
    const nb_config *cfg = &m->settings.value;
    const nb_settings *all = &m->settings;
    switch (v->kind) {
    case NB_VAR_LAMBDA:
        return m->spectrum.is_chaotic                         ? "spectrum"
               : cfg->sensor[0] && m->scene.sensors[0].absorb ? "sensor"
               : (cfg->pdb_file[0] || cfg->cif_file[0]) && !sim->in.tables.typed_F &&
                       cfg->anomalous != NB_ANOMALOUS_OFF
                   ? "anomalous"
                   : NULL;
    case NB_VAR_DISPERSION:
        return NB_TYPED(all, dispersion_step_pct) ? "dispstep" : NULL;
    case NB_VAR_DIVERGENCE:
        return v->axis ? NB_TYPED(all, vdiv_step_mrad) ? "vdivstep" : NULL
               : NB_TYPED(all, hdiv_step_mrad) ? "hdivstep"
                                               : NULL;
    case NB_VAR_CELL:
        return cfg->B_add != 0 ? "Badd" : NULL;
    case NB_VAR_MISSET:
        return cfg->mosaic_blocks[0] ? "mosaic_blocks"
               : m->mosaic.model == NB_MOSAIC_GAUSS && m->scene.lattice.n_domains > 1
                   /* the axes of the mosaic spread turn with the crystal */
                   ? "mosaic_model gauss"
                   : NULL;
    default:
        return NULL;
    }
}

/** Flag of pixel factors, added light or dose that would change with v, or NULL. */
static const char *moved_flag(const nb_sim *sim, const nb_model *m,
                              const nb_variable_name *v, const nb_tangent *t)
{
    const int turns = v->kind == NB_VAR_MISSET || v->kind == NB_VAR_ROT ||
                      v->kind == NB_VAR_CELL || v->kind == NB_VAR_PHI ||
                      v->kind == NB_VAR_OSC;
    const int of_F = v->kind == NB_VAR_F || v->kind == NB_VAR_ALL_F ||
                     v->kind == NB_VAR_DEFAULT_F || v->kind == NB_VAR_CELL;
    const int of_dose = v->kind == NB_VAR_FLUENCE || v->kind == NB_VAR_LAMBDA;
    if (sim->cfg.beamstop[0] && t && t->panels)
        return "beamstop";
    if (m->absorber.mu > 0 &&
        ((t && t->panels) || v->kind == NB_VAR_LAMBDA || (m->absorber.box && turns)))
        return "absorb";
    if (m->damage.given &&
        (of_F || (m->settings.value.dose_MGy == NB_DOSE_AUTO && of_dose)))
        return "dose";
    return sim->in.files->add && m->settings.value.add_fluence > 0 &&
                   v->kind == NB_VAR_FLUENCE
               ? "add"
               : moved_part(sim, m, v);
}

nb_status nb_sim_check_factors(const nb_sim *sim, const nb_model *m,
                               const nb_variable_name *v, const nb_tangent *t,
                               nb_error *err)
{
    const char *flag = moved_flag(sim, m, v, t);
    return flag ? nb_fail(err, NB_ERR_INPUT,
                          "the derivative by %s: it changes what -%s does, which "
                          "derivatives and refine hold; leave out the one or the other",
                          v->name, flag)
                : NB_OK;
}
