/* SPDX-License-Identifier: MIT */
#include "variables.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../params/params.h"

/* photons/m^2; with a smaller fluence the slope is useless */
#define LEAST_FLUENCE 1e-100

/** Index of the entry of h k l in a table. */
static int64_t entry_of(const nb_factor_table *sf, const int hkl[3])
{
    return ((int64_t)(hkl[0] - sf->hmin) * sf->nk + (hkl[1] - sf->kmin)) * sf->nl +
           (hkl[2] - sf->lmin);
}

static int is_finite(const nb_panel_slope *p)
{
    const double sum = nb_norm(p->pix0) + nb_norm(p->fast) + nb_norm(p->slow) +
                       nb_norm(p->normal) + p->close_distance + p->distance + p->Fbeam +
                       p->Sbeam + p->roll + p->layer_step + p->mu;
    return isfinite(sum);
}

static nb_status move_panels(const nb_subject *of, const nb_variable_name *v,
                             nb_tangent *t, nb_error *err)
{
    int n = of->model->scene.n_panels;
    t->panels = nb_alloc((size_t)n, sizeof *t->panels, "slopes of panels", err);
    for (int k = 0; t->panels && k < n; k++) {
        t->panels[k] = nb_panel_tangent(of, v, k);
        if (!is_finite(&t->panels[k]))
            return nb_fail(err, NB_ERR_INPUT,
                           "the derivative by a parameter of the detector is not finite: "
                           "-distance %g mm or another length is too close to 0",
                           of->model->geometry.distance * 1e3);
    }
    return t->panels ? NB_OK : NB_ERR_NOMEM;
}

/** Tangent by a width (mm) or the angle (deg) of the footprint. */
static void move_footprint(const nb_subject *of, int axis, nb_tangent *t)
{
    const nb_footprint *fp = &of->model->footprint;
    const double unit = nb_footprint_unit(fp->box);
    const double angle = nb_variable_value(
        of, &(nb_variable_name){.kind = NB_VAR_FOOTPRINT, .axis = 2, .panel = -1});
    nb_vec3 a, b;
    nb_footprint_axes(&of->model->geometry, angle, &a, &b);
    if (axis == 0)
        t->footprint[0] = nb_scale(unit, a);
    if (axis == 1)
        t->footprint[1] = nb_scale(unit, b);
    if (axis < 2)
        return;
    t->footprint[0] = nb_scale(nb_norm(fp->a) * NB_DEG, b);
    t->footprint[1] = nb_scale(-nb_norm(fp->b) * NB_DEG, a);
}

/** Tangent by the spread (deg) or by a number of the tensor (deg^2). A factor of the
 * spread changes each number of the tensor by twice its value. */
static void move_mosaic(const nb_subject *of, const nb_variable_name *v,
                        const nb_slope_job *job, nb_tangent *t)
{
    const double *C = of->cfg->value.mosaic_tensor_deg2,
                 spread = of->model->mosaic.spread, square = NB_DEG * NB_DEG / spread;
    if (!job->turns)
        return;
    if (v->kind == NB_VAR_TENSOR)
        t->mosaic[v->axis] = square;
    else if (job->n_turns == 1)
        t->mosaic[0] = NB_DEG;
    for (int i = 0; v->kind == NB_VAR_MOSAIC && job->n_turns > 1 && i < NB_TURNS; i++)
        t->mosaic[i] = square * 2 * C[i] * NB_DEG / spread;
}

static nb_status set_tangent(const nb_subject *of, const nb_variable_name *v,
                             nb_slope_job *job, nb_tangent *t, nb_error *err)
{
    const nb_scene *sc = &of->model->scene;
    const double value = nb_variable_value(of, v);
    t->entry = -1;
    switch (v->kind) {
    case NB_VAR_MOSAIC:
    case NB_VAR_TENSOR:
        move_mosaic(of, v, job, t);
        return NB_OK;
    case NB_VAR_PHI:
        t->phi = NB_DEG;
        return NB_OK;
    case NB_VAR_OSC:
        t->osc = of->model->phi_range > 0 ? NB_DEG : 0;
        return NB_OK;
    case NB_VAR_LAMBDA:
        t->wave = 1 / value;
        return NB_OK;
    case NB_VAR_DISPERSION:
        t->spectrum = job->spectrum ? 1 : 0;
        return NB_OK;
    case NB_VAR_DIVERGENCE:
        t->beam[v->axis] = job->beam[v->axis] ? NB_MRAD : 0;
        return NB_OK;
    case NB_VAR_FOOTPRINT:
        move_footprint(of, v->axis, t);
        return NB_OK;
    case NB_VAR_POLAR:
        t->polarization = sc->beam.nopolar ? 0 : 1;
        return NB_OK;
    case NB_VAR_FUDGE:
        t->fudge = 1;
        return NB_OK;
    case NB_VAR_FLUENCE: /* the slope is image / fluence */
        if (!(value >= LEAST_FLUENCE))
            return nb_fail(
                err, NB_ERR_INPUT,
                "fluence: an image of -fluence %g photons/m^2 tells nothing of "
                "its slope; type a larger one",
                value);
        t->image = 1 / value;
        return NB_OK;
    case NB_VAR_WATER:
        t->background = value > 0 ? 3 * sc->background / value : 0;
        return NB_OK;
    case NB_VAR_DEFAULT_F:
        t->default_F = 1;
        return NB_OK;
    case NB_VAR_F:
        t->entry = job->n_entries;
        job->entries[job->n_entries++] = entry_of(&sc->factors.table, v->hkl);
        return NB_OK;
    default:
        break;
    }
    nb_crystal_tangent(of, v, t);
    return v->sums & NB_SLOPE_RAY ? move_panels(of, v, t, err) : NB_OK;
}

/** Make the axis and the rate by which the mosaic spread turns each orientation. */
static nb_status make_turns(const nb_subject *of, nb_slope_job *job, nb_error *err)
{
    const nb_model *m = of->model;
    const nb_lattice *lattice = &m->scene.lattice;
    const int n = lattice->n_domains;
    const size_t all = (size_t)lattice->n_orientations;
    nb_vec3 *rates;
    if (n == 1 || !(m->mosaic.spread > 0))
        return NB_OK;
    rates = nb_alloc((size_t)n, sizeof *rates, "mosaic domains", err);
    job->turns =
        nb_alloc(all * (size_t)job->n_turns, sizeof *job->turns, "mosaic domains", err);
    for (int k = 0; rates && job->turns && k < job->n_turns; k++) {
        if (job->n_turns == 1)
            nb_mosaic_growth(&m->mosaic, n, rates);
        else
            nb_mosaic_tensor_rates(&m->mosaic, k, n, rates);
        for (int i = 0; i < lattice->n_orientations; i++) {
            const int step = i / n;
            const double phi =
                m->phi0 + (m->phi_range > 0 ? (step + 0.5) * m->phi_step : 0);
            job->turns[k * all + (size_t)i] =
                nb_scale(job->n_turns == 1 ? 1 : m->mosaic.spread,
                         nb_rotate_about(rates[i % n], m->geometry.spindle, phi));
        }
    }
    nb_free(rates);
    return rates && job->turns ? NB_OK : NB_ERR_NOMEM;
}

/** Make the rate of each source's wavelength by the width of the spectrum (percent). */
static nb_status make_spectrum(const nb_subject *of, nb_slope_job *job, nb_error *err)
{
    const nb_beam *beam = &of->model->scene.beam;
    const double width = of->cfg->value.dispersion_pct,
                 middle = nb_beam_wavelength(of->cfg) * NB_ANGSTROM;
    if (of->has_sources || !(width > 0))
        return NB_OK;
    job->spectrum =
        nb_alloc((size_t)beam->n_sources, sizeof *job->spectrum, "sources", err);
    for (int j = 0; job->spectrum && j < beam->n_sources; j++) {
        double lambda = beam->sources[j].lambda;
        job->spectrum[j] = (lambda - middle) / (lambda * width);
        if (!isfinite(job->spectrum[j]))
            return nb_fail(
                err, NB_ERR_INPUT,
                "dispersion: an image of -dispersion %g %% tells nothing of its "
                "slope; type a larger one, or 0",
                width);
    }
    return job->spectrum ? NB_OK : NB_ERR_NOMEM;
}

/** True if the user typed a range of directions along this axis. */
static int has_range(const nb_subject *of, int axis)
{
    const nb_settings *cfg = of->cfg;
    const double range = axis ? NB_TYPED_OR(cfg, vdiv_range_mrad, 0)
                              : NB_TYPED_OR(cfg, hdiv_range_mrad, 0);
    return !of->has_sources && range > 0;
}

/** Make the rates of the sources' directions by both ranges of divergence. */
static nb_status make_beam(const nb_subject *of, nb_slope_job *job, nb_error *err)
{
    const nb_beam *beam = &of->model->scene.beam;
    nb_status st = NB_OK;
    for (int a = 0; a < 2 && !st; a++) {
        if (!has_range(of, a))
            continue;
        job->beam[a] =
            nb_alloc((size_t)beam->n_sources, sizeof *job->beam[a], "sources", err);
        st = job->beam[a]
                 ? nb_beam_turns(of->cfg, &of->model->geometry, beam, a, job->beam[a], err)
                 : NB_ERR_NOMEM;
    }
    return st;
}

nb_status nb_slope_job_build(const nb_subject *of, const nb_variable_name *names,
                             int count, nb_slope_job *job, nb_error *err)
{
    size_t n = (size_t)count;
    nb_status st = NB_OK;
    memset(job, 0, sizeof *job);
    job->scene = &of->model->scene;
    job->spindle = of->model->geometry.spindle;
    job->tangents = nb_alloc(n, sizeof *job->tangents, "parameters", err);
    job->entries = nb_alloc(n, sizeof *job->entries, "parameters", err);
    if (!job->tangents || !job->entries)
        return NB_ERR_NOMEM;
    job->n_turns = 1;
    for (int i = 0; i < count; i++) {
        job->sums |= names[i].sums;
        if (names[i].kind == NB_VAR_TENSOR && !st)
            st = nb_variable_check(of, &names[i], err);
        if (names[i].kind == NB_VAR_TENSOR)
            job->n_turns = NB_TURNS;
    }
    if (!st && job->sums & NB_SLOPE_MOSAIC)
        st = make_turns(of, job, err);
    if (!st && job->sums & NB_SLOPE_WAVE)
        st = make_spectrum(of, job, err);
    if (!st && job->sums & NB_SLOPE_BEAM)
        st = make_beam(of, job, err);
    if (!job->beam[0] && !job->beam[1])
        job->sums &= ~(unsigned)NB_SLOPE_BEAM;
    if (!job->turns)
        job->sums &= ~(unsigned)NB_SLOPE_MOSAIC;
    for (int i = 0; i < count && !st; i++) {
        job->count = i + 1;
        if (!(st = nb_variable_check(of, &names[i], err)))
            st = set_tangent(of, &names[i], job, &job->tangents[i], err);
    }
    return st;
}

void nb_slope_job_free(nb_slope_job *job)
{
    for (int i = 0; i < job->count; i++)
        nb_free(job->tangents[i].panels);
    nb_free(job->tangents);
    nb_free(job->entries);
    nb_free(job->turns);
    nb_free(job->spectrum);
    nb_free(job->beam[0]);
    nb_free(job->beam[1]);
    memset(job, 0, sizeof *job);
}

const char *nb_variable_stands_still(const nb_subject *of, const nb_variable_name *v)
{
    const nb_model *m = of->model;
    const nb_scene *sc = &m->scene;
    switch (v->kind) {
    case NB_VAR_MOSAIC:
    case NB_VAR_TENSOR:
        return sc->lattice.n_domains > 1 ? NULL : "there is one mosaic domain (-mosaic)";
    case NB_VAR_OSC:
        return m->phi_range > 0 ? NULL : "it is a still (-osc)";
    case NB_VAR_LAMBDA:
        return m->spectrum.n && m->spectrum.part->law == NB_SPECTRUM_TYPED
                   ? "the wavelengths of this -spectrum do not follow it"
                   : NULL;
    case NB_VAR_DISPERSION:
        if (m->spectrum.n)
            return "the wavelengths are those of -spectrum";
        if (of->has_sources)
            return "the wavelengths are those of a file";
        return of->cfg->value.dispersion_pct > 0
                   ? NULL
                   : "there is one wavelength (-dispersion)";
    case NB_VAR_DIVERGENCE:
        if (of->has_sources)
            return "the directions are those of a file";
        return has_range(of, v->axis) ? NULL
               : v->axis              ? "there is no -vdivrange"
                                      : "there is no -hdivrange";
    case NB_VAR_FOOTPRINT:
        return nb_footprint_is_point(&m->footprint) ? "both widths of -footprint are 0"
                                                    : NULL;
    case NB_VAR_CENTRE:
        return nb_centre_moves(of, v->axis)
                   ? NULL
                   : "the convention and the pivot do not use it";
    case NB_VAR_THICK:
    case NB_VAR_ABS:
        return nb_scene_absorbs(sc) ? NULL
                                    : "there is no absorbing sensor (-detector_thick)";
    case NB_VAR_POLAR:
        return sc->beam.nopolar ? "-nopolar is typed" : NULL;
    case NB_VAR_FUDGE:
        return nb_shape_is_scaled((int)of->cfg->value.shape)
                   ? NULL
                   : "the shape does not use it";
    case NB_VAR_WATER:
        return of->cfg->value.water_um > 0 ? NULL : "there is no water";
    default:
        return NULL;
    }
}
