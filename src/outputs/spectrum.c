/* SPDX-License-Identifier: MIT */
/* The spectrum of -spectrum: its file, its lines in reports, and calls for programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../picture/picture.h"
#include "picture.h"
#include "report.h"
#include "../sim/sim.h"
#include "write.h"

enum { WIDTH = 800, HEIGHT = 500 };

static double energy_of(const nb_spectrum *s, int i)
{
    return NB_HC_EV_ANGSTROM / s->A[i];
}

/** Distance (eV) between neighbouring lines of a part of the spectrum. */
static double step_of(const nb_spectrum *s, int part)
{
    return s->part[part].range / s->each;
}

/* ------------------------------------------------------------------ text and picture */

static nb_status write_line(const nb_spectrum *s, const char *path, nb_error *err)
{
    nb_draft t = {0};
    nb_draft_put(
        &t, "# -spectrum %s: wavelengths (A) and weights; factor of the fluence %.12g\n",
        s->kind, s->factor);
    for (int i = 0; i < s->n; i++)
        nb_draft_put(&t, "%s%.12g %.12g", i ? " " : "", s->A[i], s->weight[i]);
    nb_draft_put(&t, "\n");
    return nb_draft_write(&t, path, "the spectrum", NB_OK, err);
}

/** Kind, width and modes of the spectrum in words. */
static void title_of(const nb_spectrum *s, char *text, size_t size)
{
    int used = snprintf(text, size, "%s, FWHM %.4g eV", s->kind, s->part[0].fwhm);
    if (s->is_chaotic)
        snprintf(text + used, size - (size_t)used, ", M = %.4g, W = %.4g",
                 s->part[0].modes, s->factor);
}

/** Photons per eV at each wavelength, divided by the number of photons of the mean
 * shot. */
static void densities(const nb_spectrum *s, double *shot, double *mean)
{
    for (int i = 0; i < s->n; i++) {
        const double unit = 1 / (s->n * step_of(s, i / s->each));
        shot[i] = s->weight[i] * s->factor * unit;
        mean[i] = s->mean[i] * unit;
    }
}

static void draw(const nb_spectrum *s, const double *shot, const double *mean, nb_graph *g)
{
    const nb_rgb pale_blue = {160, 200, 230}, orange = {213, 94, 0};
    for (int i = 0; i < s->n; i++) {
        const double half = 0.5 * step_of(s, i / s->each), E = energy_of(s, i);
        nb_graph_bar(g, E - half, E + half, shot[i], pale_blue);
    }
    for (int i = 0; i + 1 < s->n; i++)
        if ((i + 1) % s->each != 0)
            nb_graph_line(g, energy_of(s, i), mean[i], energy_of(s, i + 1), mean[i + 1],
                          orange);
}

static nb_status write_picture(const nb_spectrum *s, const char *path, nb_error *err)
{
    char title[120];
    const nb_graph_words words = {title, "photon energy (eV)", "photons per eV, of all"};
    nb_graph g = {.width = WIDTH, .height = HEIGHT};
    double *shot = nb_alloc((size_t)s->n, 2 * sizeof *shot, "spectrum", err);
    double x[2] = {INFINITY, 0}, y[2] = {0, 0};
    nb_status st = shot ? NB_OK : NB_ERR_NOMEM;
    if (!st) {
        title_of(s, title, sizeof title);
        densities(s, shot, shot + s->n);
        for (int i = 0; i < s->n; i++) {
            const double half = 0.5 * step_of(s, i / s->each);
            x[0] = fmin(x[0], energy_of(s, i) - half);
            x[1] = fmax(x[1], energy_of(s, i) + half);
            y[1] = fmax(y[1], 1.05 * fmax(shot[i], shot[s->n + i]));
        }
        st = nb_graph_create(&g, x, y, &words, err);
    }
    if (!st) {
        draw(s, shot, shot + s->n, &g);
        st = nb_canvas_write(&g.canvas, path, err);
    }
    nb_free(g.canvas.pixels);
    nb_free(shot);
    return st;
}

nb_status nb_sim_write_spectrum(const nb_sim *sim, nb_error *err)
{
    const char *path = sim->cfg.spectrum_out, *dot = strrchr(path, '.');
    if (!path[0])
        return NB_OK;
    return dot && strcmp(dot, ".png") == 0 ? write_picture(&sim->model.spectrum, path, err)
                                           : write_line(&sim->model.spectrum, path, err);
}

/* ------------------------------------------------------------------ reports */

void nb_json_spectrum(nb_json root, const nb_spectrum *s)
{
    nb_json o, list;
    if (!s->n)
        return;
    o = nb_json_object(root, "spectrum");
    nb_json_text(o, "kind", s->kind);
    nb_json_number(o, "wavelengths", s->n);
    nb_json_number(o, "factor", s->factor);
    list = nb_json_array(o, "parts");
    for (int i = 0; i < s->parts; i++) {
        const nb_spectrum_part *p = &s->part[i];
        nb_json one = nb_json_add_object(list);
        nb_json_number(one, "photons", p->photons);
        nb_json_number(one, "centre_eV", p->centre_eV);
        nb_json_number(one, "fwhm_eV", p->fwhm);
        if (p->law == NB_SPECTRUM_CHAOTIC)
            nb_json_number(one, "modes", p->modes);
    }
}

/* ------------------------------------------------------------------ programs */

nb_status nb_spectrum_of_frame(const nb_sim *sim, const nb_config *cfg, nb_spectrum *out,
                               nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    const nb_spectrum_use use = {sim->in.files->points, sim->in.files->n_points,
                                 nb_beam_wavelength(all),
                                 .seed = cfg->seed.set ? cfg->seed.value : sim->seed};
    return nb_spectrum_make(all, &use, out, err);
}

nb_status nb_sim_spectrum(const nb_sim *sim, int64_t seed, nb_spectrum_line *lines,
                          int *n, double *factor, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && n);
    NB_OWN_CONFIG cfg = {0};
    nb_spectrum s;
    nb_status st;
    *n = sim->model.spectrum.n;
    if (!lines || !*n)
        return NB_OK;
    nb_config_copy(&cfg, &sim->cfg);
    cfg.wavelengths = sim->model.spectrum.each;
    cfg.seed = (nb_seed){1, seed};
    st = nb_spectrum_of_frame(sim, &cfg, &s, err);
    for (int i = 0; !st && i < s.n; i++)
        lines[i] = (nb_spectrum_line){energy_of(&s, i), s.A[i], s.weight[i], i / s.each};
    if (!st && factor)
        *factor = s.factor;
    if (!st)
        nb_spectrum_free(&s);
    return st;
}
