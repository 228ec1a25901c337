/* SPDX-License-Identifier: MIT */
/* Derivatives behind factors of pixels: the image is T I + add, so its slopes are T dI/dp, and those of a loss go back times T.  T holds. */
#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "derive.h"
#include "light.h"

int nb_sim_has_factors(const nb_sim *sim)
{
    const nb_mix mix = nb_sim_mix(sim);
    return mix.absorb || mix.transmission || mix.add;
}

static double factor_of(const nb_mix *mix, size_t pixel)
{
    const double own = mix->transmission ? nb_mix_factor(mix->transmission[pixel]) : 1;
    return own * (mix->absorb ? mix->absorb[pixel] : 1);
}

void nb_sim_factor_plane(const nb_sim *sim, int image, nb_real_type type, void *plane)
{
    const nb_scene *sc = &sim->model.scene;
    nb_mix mix = nb_sim_mix(sim);
    mix.acts =
        NULL; /* an image gets the added light too, and the absorption is everywhere */
    for (int row = 0; row < sc->raster.rows; row++) {
        const nb_mix_row r = nb_mix_row_of(&mix, sc, row);
        for (int f = r.first; f < r.end; f++) {
            const size_t i = (size_t)(r.start + f);
            double value = nb_real(type, plane, i) * factor_of(&mix, i);
            if (sc->raster.mask && !sc->raster.mask[i])
                continue;
            value += image ? nb_mix_added(&mix, i) : 0;
            if (type == NB_REAL_FLOAT32)
                ((float *)plane)[i] = (float)value;
            else
                ((double *)plane)[i] = value;
        }
    }
}

void nb_sim_factor_spans(const nb_sim *sim, const nb_span *spans, size_t n, float *image)
{
    const nb_mix mix = nb_sim_mix(sim);
    for (size_t k = 0; k < n; k++)
        for (size_t i = spans[k].at; i < spans[k].at + (size_t)spans[k].n; i++)
            image[i] = (float)(factor_of(&mix, i) * image[i] + nb_mix_added(&mix, i));
}

void nb_sim_factor_list(const nb_sim *sim, const nb_slope_list *list, size_t planes,
                        double *values)
{
    const nb_mix mix = nb_sim_mix(sim);
    for (size_t k = 0; k < list->pixels->n; k++) {
        const nb_span *span = &list->pixels->spans[k];
        double *to = values + list->place[span->at];
        for (size_t p = 0; p < planes; p++, to += list->n)
            for (int f = 0; f < span->n; f++) {
                const size_t i = span->at + (size_t)f;
                to[f] = to[f] * factor_of(&mix, i) + (p == 0 ? nb_mix_added(&mix, i) : 0);
            }
    }
}

nb_status nb_sim_factor_loss(const nb_sim *sim, nb_real_type type, const void *dloss,
                             double **out, nb_error *err)
{
    const size_t pixels = sim->model.scene.raster.pixels;
    const nb_mix mix = nb_sim_mix(sim);
    if (!(*out = nb_alloc_raw(pixels, sizeof **out, "slopes of a loss", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels; i++)
        (*out)[i] = factor_of(&mix, i) * nb_real(type, dloss, i);
    return NB_OK;
}

/** The flag whose wavelengths, directions, F or rotations a parameter moves; NULL: it moves none. */
static const char *moved_part(const nb_sim *sim, const nb_variable_name *v)
{
    const nb_model *m = &sim->model;
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
               : cfg->mosaic_model == NB_MOSAIC_GAUSS && m->scene.lattice.n_domains > 1
                   ? "mosaic_model gauss" /* its axes turn with the crystal */
                   : NULL;
    default:
        return NULL;
    }
}

/** The flag whose factors, or dose, a parameter moves; NULL: it moves none. */
static const char *moved_flag(const nb_sim *sim, const nb_variable_name *v,
                              const nb_tangent *t)
{
    const nb_model *m = &sim->model;
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
               : moved_part(sim, v);
}

nb_status nb_sim_check_factors(const nb_sim *sim, const nb_variable_name *v,
                               const nb_tangent *t, nb_error *err)
{
    const char *flag = moved_flag(sim, v, t);
    return flag ? nb_fail(err, NB_ERR_INPUT,
                          "the derivative by %s: it changes what -%s does, which "
                          "derivatives and refine hold; leave out the one or the other",
                          v->name, flag)
                : NB_OK;
}
