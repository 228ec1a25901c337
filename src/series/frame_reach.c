/* SPDX-License-Identifier: MIT */
/* How far the frames of a series see, so that one table of structure factors serves all. */
#include <math.h>

#include "../sim/factors.h"
#include "../base/memory.h"
#include "../model/scene_build.h"
#include "fingerprint.h"
#include "frames.h"

/** Can frames see farther than the base? */
static int reaches_differ(const nb_frames *f)
{
    const nb_series *s = f->series;
    return s->override || f->spectra.count || s->jitter_lambda_pct > 0 ||
           s->jitter_cell_pct > 0 || s->jitter_beam_mm > 0;
}

static nb_status sources_of(const nb_frames *f, int k, const nb_sim *base,
                            const nb_config *cfg, const nb_geometry *g,
                            nb_source **sources, int *n, nb_error *err)
{
    const nb_spectra *s = &f->spectra;
    const nb_source_line *lines = s->count ? s->lines + s->first[k] : base->in.lines;
    *n = s->count ? (int)(s->first[k + 1] - s->first[k]) : base->in.n_lines;
    return lines ? nb_beam_from_list(lines, *n, cfg->compat, sources, err)
                 : nb_beam_grid(NB_RESOLVED(cfg), g, sources, n, err);
}

/** |q| that the detector of this configuration sees. */
static nb_status reach_of(const nb_frames *f, int k, const nb_sim *base,
                          const nb_config *cfg, double *q, nb_error *err)
{
    nb_scene sc = {0};
    nb_source *sources = NULL;
    nb_geometry g;
    nb_detector det = {0};
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_status st;
    if (!(st = nb_geometry_build(all, &g, err)) &&
        !(st = nb_detector_build(all, &g, nb_beam_wavelength(all), NULL, &det, err)) &&
        !(st = sources_of(f, k, base, cfg, &g, &sources, &sc.beam.n_sources, err))) {
        sc.n_panels = det.n_panels;
        sc.panels = det.panels;
        sc.sensors = det.sensors;
        sc.raster = det.raster;
        sc.beam.sources = sources;
        *q = nb_scene_reach(&sc);
        nb_free(sources);
    }
    nb_detector_free(&det);
    return st;
}

/** The crystal of a configuration that names no other files than the base. */
static nb_status crystal_of(const nb_sim *base, const nb_config *cfg, nb_crystal *out,
                            nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_crystal_inputs in = nb_crystal_inputs_of(all, &base->in.matrix, base->seed);
    return nb_crystal_build(all, &in, NULL, out, err);
}

static nb_status limit_of(const nb_frames *f, int k, const nb_sim *base,
                          const nb_config *cfg, double *dmin, nb_error *err)
{
    nb_crystal crystal;
    double q;
    nb_status st = reach_of(f, k, base, cfg, &q, err);
    if (!st)
        st = crystal_of(base, cfg, &crystal, err);
    if (!st)
        *dmin = fmin(*dmin, nb_factor_files_limit(base->in.factors, cfg, q, &crystal));
    return st;
}

nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err)
{
    nb_config cfg;
    double dmin;
    if (!base->in.sums || nb_factor_files_are_constant(base->in.factors) ||
        !reaches_differ(f))
        return NB_OK;
    dmin = base->in.sums->dmin;
    for (int k = 0; k < f->count;
         k++) /* a frame with an error says so when its turn comes */
        if (!nb_frames_config(f, k, &cfg, NULL) && nb_same_inputs(&cfg, &f->base))
            (void)limit_of(f, k, base, &cfg, &dmin, NULL);
    return nb_inputs_make_factors(&base->in, &base->model, dmin, &base->hooks, err);
}
