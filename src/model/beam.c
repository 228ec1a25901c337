/* SPDX-License-Identifier: MIT */
#include "beam.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "scene_build.h"
#include "units.h"

enum { MAX_SOURCES = 10000000 };

double nb_beam_wavelength(const nb_settings *cfg)
{
    if (NB_TYPED(cfg, energy_eV))
        return (cfg->value.compat ? NB_HC_EV_ANGSTROM_COMPAT : NB_HC_EV_ANGSTROM) /
               cfg->value.energy_eV;
    return cfg->value.lambda_A;
}

double nb_beam_incident(const nb_settings *cfg)
{
    double beam = cfg->value.beamsize_mm * NB_MM;
    if (cfg->value.flux != 0 && cfg->value.exposure_s > 0 && beam > 0)
        return cfg->value.flux * cfg->value.exposure_s / (beam * beam);
    return cfg->value.fluence;
}

double nb_beam_fluence(const nb_settings *cfg)
{
    return nb_beam_incident(cfg) * cfg->value.attenuator;
}

double nb_metres_of(double angstrom)
{
    char text[64], *e;
    snprintf(text, sizeof text, "%.14e", angstrom);
    e = strchr(text, 'e');
    snprintf(e, sizeof text - (size_t)(e - text), "e%d", atoi(e + 1) - 10);
    return strtod(text, NULL);
}

/** Offset of point i from the centre of the range. */
static double point(const nb_sampling *s, int i)
{
    return s->step * (i - (s->count - 1) / 2.0);
}

/** Term of the ellipse of a round beam: offset^2 / range^2, or for an even count
 * (offset^2 - step^2/4) / range^2. */
static double reach(const nb_sampling *s, double offset)
{
    double half = s->count % 2 == 0 ? s->step * s->step / 4 : 0;
    return (offset * offset - half) / (s->range * s->range);
}

static int outside_round_beam(const nb_sampling *h, const nb_sampling *v, double dh,
                              double dv)
{
    if (h->range == 0 || v->range == 0)
        return 0; /* a range along one axis only is a line, which has no corners */
    return 4 * (reach(h, dh) + reach(v, dv)) > 1.1;
}

static nb_status sample_directions(const nb_settings *cfg, nb_sampling *h, nb_sampling *v,
                                   nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_sample_divergence(NB_TYPED_OR(cfg, hdiv_range_mrad, NAN) * NB_MRAD,
                                    cfg->value.hdiv_step_mrad * NB_MRAD,
                                    cfg->value.hdiv_steps, "-hdivrange", h, err));
    return nb_sample_divergence(NB_TYPED_OR(cfg, vdiv_range_mrad, NAN) * NB_MRAD,
                                cfg->value.vdiv_step_mrad * NB_MRAD,
                                cfg->value.vdiv_steps, "-vdivrange", v, err);
}

/** Wavelengths and weights of one direction: from a spectrum, or equal steps. */
typedef struct waves {
    int count;
    const nb_spectrum *spectrum; /* spectrum, or NULL for equal steps */
    double sum;                  /* sum of the weights */
    nb_sampling steps;
    double lambda0; /* m */
} waves;

static waves waves_of(const nb_settings *cfg, const nb_spectrum *spectrum)
{
    waves w = {.spectrum = spectrum, .lambda0 = nb_beam_wavelength(cfg) * NB_ANGSTROM};
    w.steps = nb_sample_dispersion(NB_TYPED_OR(cfg, dispersion_pct, NAN) * NB_PERCENT,
                                   cfg->value.dispersion_step_pct * NB_PERCENT,
                                   cfg->value.dispersion_steps);
    w.count = spectrum ? spectrum->n : w.steps.count;
    for (int k = 0; spectrum && k < w.count; k++)
        w.sum += spectrum->weight[k];
    return w;
}

static void set_wave(const waves *w, int k, nb_source *source)
{
    if (!w->spectrum) {
        source->lambda = w->lambda0 * (1 + w->steps.step * k - w->steps.range / 2);
        source->weight = 1;
        return;
    }
    source->lambda = nb_metres_of(w->spectrum->A[k]);
    source->weight = w->spectrum->weight[k] * w->count / w->sum;
}

nb_status nb_beam_grid(const nb_settings *cfg, const nb_geometry *g,
                       const nb_spectrum *spectrum, nb_source **out, int *count,
                       nb_error *err)
{
    nb_sampling h, v;
    const waves w = waves_of(cfg, spectrum);
    nb_source *sources;
    nb_status st;
    int i, j, k, n = 0;
    *out = NULL;
    *count = 0;
    NB_FORWARD(sample_directions(cfg, &h, &v, err));
    if ((double)h.count * v.count * w.count > MAX_SOURCES)
        return nb_fail(
            err, NB_ERR_INPUT,
            "divergence and dispersion make %.0f sources (limit %d); type fewer steps",
            (double)h.count * v.count * w.count, MAX_SOURCES);
    sources =
        nb_alloc((size_t)h.count * v.count * w.count, sizeof *sources, "sources", err);
    if (!sources)
        return NB_ERR_NOMEM;
    for (i = 0; i < h.count; i++)
        for (j = 0; j < v.count; j++) {
            nb_vec3 position = nb_scale(-10.0, g->beam);
            if (!cfg->value.square_div &&
                outside_round_beam(&h, &v, point(&h, i), point(&v, j)))
                continue;
            position = nb_rotate_about(position, g->polar, point(&v, j));
            position = nb_rotate_about(position, g->vertical, point(&h, i));
            for (k = 0; k < w.count; k++, n++) {
                sources[n].incident = nb_scale(-1, nb_unit(position));
                set_wave(&w, k, &sources[n]);
            }
        }
    *out = sources;
    *count = n;
    return NB_OK;
}

nb_status nb_beam_turns(const nb_settings *cfg, const nb_geometry *g, const nb_beam *beam,
                        int axis, nb_vec3 *turns, nb_error *err)
{
    nb_sampling h, v;
    nb_status st = sample_directions(cfg, &h, &v, err);
    int directions = 0, n = 0;
    for (int pass = 0; pass < 2 && !st; pass++)
        for (int i = 0; i < h.count; i++)
            for (int j = 0; j < v.count; j++) {
                const nb_sampling *s = axis ? &v : &h;
                const double place =
                    s->count > 1 ? ((axis ? j : i) - (s->count - 1) / 2.0) / (s->count - 1)
                                 : 0;
                const nb_vec3 about =
                    axis ? nb_rotate_about(g->polar, g->vertical, point(&h, i))
                         : g->vertical;
                if (!cfg->value.square_div &&
                    outside_round_beam(&h, &v, point(&h, i), point(&v, j)))
                    continue;
                directions += !pass;
                for (int k = 0; pass && k < beam->n_sources / directions; k++, n++)
                    turns[n] = nb_scale(place, nb_cross(about, beam->sources[n].incident));
            }
    return st;
}

int nb_beam_has_mean(const nb_source_line *lines, size_t count, double *sum)
{
    double largest = 0;
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        *sum += lines[i].intensity;
        largest = fmax(largest, lines[i].intensity);
    }
    return *sum > 0 && isfinite(*sum) && isfinite(largest * (double)count);
}

nb_status nb_beam_from_list(const nb_source_line *lines, int count, int compat,
                            nb_source **out, nb_error *err)
{
    nb_source *sources = nb_alloc((size_t)count, sizeof *sources, "sources", err);
    double total;
    *out = NULL;
    if (!sources)
        return NB_ERR_NOMEM;
    if (!nb_beam_has_mean(lines, (size_t)count, &total)) {
        nb_free(sources);
        return nb_fail(err, NB_ERR_INPUT, "-sourcefile: the intensities sum to %g", total);
    }
    for (int i = 0; i < count; i++) {
        sources[i].incident =
            nb_scale(-1, nb_unit(nb_v3(lines[i].x, lines[i].y, lines[i].z)));
        sources[i].lambda = lines[i].lambda;
        sources[i].weight = compat ? 1 : lines[i].intensity * count / total;
    }
    *out = sources;
    return NB_OK;
}
