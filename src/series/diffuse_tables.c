/* SPDX-License-Identifier: MIT */
/* Which frames of a series share tables of diffuse light, though their B and cell vary. */
#include <limits.h>
#include <math.h>

#include "../base/text.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../sim/light.h"
#include "frames.h"

enum { TABLES = 8 /* so few frames, or different numbers, have tables of their own */ };
#define FARTHER 1.03 /* than the base some frames see */

/** Does something else change the tables from frame to frame? */
static int others_vary(const nb_frames *f, const nb_sim *base)
{
    static const char *const rows[] = {"diffuse_sigma", "diffuse_gamma", "default_F",
                                       "cell_a",        "cell_b",        "cell_c",
                                       "cell_al",       "cell_be",       "cell_ga"};
    static const char *const waves[] = {"lambda", "energy", "bandwidth", "pulse_length",
                                        "dispersion"};
    const nb_factor_files *files = base->in.factors;
    double range[2];
    int n;
    if (f->series->override || f->stream.images || base->model.damage.given ||
        (f->base.crystals[0] &&
         nb_crystals_kind_of(f->base.crystals, &n) != NB_CRYSTALS_NUMBER))
        return 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (nb_vary_range(&f->vary, rows[i], range))
            return 1;
    if (!files || nb_factor_files_are_constant(files))
        return 0;
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++)
        if (nb_vary_range(&f->vary, waves[i], range))
            return 1;
    return f->series->jitter_lambda_pct > 0 || f->series->spectra[0];
}

/** Factors of the edges; returns as nb_vary_range. */
static int scale_range(const nb_frames *f, double range[2])
{
    const double jitter = 0.035 * f->series->jitter_cell_pct; /* 3.5 standard deviations */
    int n;
    if ((n = nb_vary_range(&f->vary, "cell", range))) {
        range[0] /= f->whole.cell[0];
        range[1] /= f->whole.cell[0];
        return n;
    }
    if (!(jitter > 0) || f->rotation)
        return 0;
    range[0] = 1 - jitter;
    range[1] = 1 + jitter;
    return INT_MAX;
}

void nb_frames_set_diffuse_tables(nb_frames *f, const nb_sim *base)
{
    const nb_param *Badd = nb_param_find("Badd");
    double *to = f->base.diffuse_tables, B[2] = {NAN, NAN}, scale[2] = {NAN, NAN};
    const int n_B = nb_vary_range(&f->vary, "Badd", B), n_scale = scale_range(f, scale);
    const double tables = (double)(n_B ? n_B : 1) * (n_scale ? n_scale : 1);
    if (!isnan(to[0]) || base->model.diffuse.n_forms == 0 || tables <= TABLES ||
        f->count <= TABLES || (n_scale && (f->whole.cell_count < 3 || !(scale[0] > 0))) ||
        others_vary(f, base))
        return;
    for (int i = 0; i < 2;
         i++) { /* an end that rounding moves must not leave out a frame */
        to[NB_TABLES_B + i] =
            n_B ? fmin(fmax(B[i], Badd->low), Badd->high) : f->base.B_add;
        to[NB_TABLES_SCALE + i] = n_scale ? scale[i] * (1 + (i ? 1e-10 : -1e-10)) : 1;
    }
    for (int i = 0; i < 3; i++)
        to[NB_TABLES_EDGE + i] = n_scale ? f->whole.cell[i] : 1;
    to[NB_TABLES_REACH] = nb_light_reach(&base->model) * FARTHER;
    for (int i = 0; i < 8; i++)
        to[i] = nb_typeable(to[i]);
}
