/* SPDX-License-Identifier: MIT */
/* Missing reflections, and the scale of observed amplitudes to a model. */
#include <math.h>

#include "../base/error.h"
#include "reflections.h"

enum { SHELLS = 20 };

/** Sums over the reflections of one shell of s^3. */
typedef struct shell {
    double n, s2, FF, MM; /* number, s^2, F^2, F^2 of the model */
} shell;

/** One reflection of a grid within a limit. */
typedef struct place {
    int h[3], shell;
    size_t at;
    double s2;
} place;

typedef struct sphere {
    const nb_factor_grid *grid;
    double G[6], limit, s3_max;
    place p;
    int last;
} sphere;

static void sphere_begin(sphere *s, const nb_factor_grid *grid, double dmin)
{
    s->grid = grid;
    nb_reciprocal_metric(grid->cell, s->G);
    s->limit = nb_s_squared_limit(dmin);
    s->s3_max = 1 / (dmin * dmin * dmin);
    s->p.h[0] = -grid->H[0];
    s->p.h[1] = -grid->H[1] - 1;
    s->p.h[2] = 0;
    s->last = -1;
}

/** The next row of l that has reflections. */
static int next_row(sphere *s)
{
    const int *H = s->grid->H;
    int *h = s->p.h;
    for (;;) {
        if (++h[1] > H[1]) {
            h[1] = -H[1];
            if (++h[0] > H[0])
                return 0;
        }
        if (nb_row_of_l(s->G, s->limit, h[0], h[1], H[2], &h[2], &s->last))
            return 1;
    }
}

/** The next reflection that is not absent; 0 after the last. */
static int sphere_next(sphere *s)
{
    place *p = &s->p;
    do {
        if (++p->h[2] > s->last && !next_row(s))
            return 0;
        p->at = nb_factor_grid_at(s->grid, p->h[0], p->h[1], p->h[2]);
    } while (s->grid->absent && s->grid->absent[p->at]);
    p->s2 = nb_s_squared(s->G, p->h[0], p->h[1], p->h[2]);
    p->shell = (int)fmin(SHELLS * p->s2 * sqrt(p->s2) / s->s3_max, SHELLS - 1);
    return 1;
}

static int is_000(const place *p)
{
    return !p->h[0] && !p->h[1] && !p->h[2];
}

/** The value of the same reflection in another grid; NaN if it has none. */
static double value_in(const nb_factor_grid *g, const int h[3])
{
    for (int i = 0; i < 3; i++)
        if (h[i] < -g->H[i] || h[i] > g->H[i])
            return NAN;
    return g->F[nb_factor_grid_at(g, h[0], h[1], h[2])];
}

/** Sums over the reflections that have a value, in the model too if there is one.  0 0 0 is in none. */
static void sum_shells(const nb_factor_grid *grid, const nb_factor_grid *model,
                       double dmin, shell sums[SHELLS])
{
    sphere s;
    sphere_begin(&s, grid, dmin);
    while (sphere_next(&s)) {
        double F = grid->F[s.p.at], M = model ? value_in(model, s.p.h) : 0;
        shell *sum = &sums[s.p.shell];
        if (isnan(F) || isnan(M) || is_000(&s.p))
            continue;
        sum->n++;
        sum->s2 += s.p.s2;
        sum->FF += F * F;
        sum->MM += M * M;
    }
}

size_t nb_fill_shell(nb_factor_grid *grid, double dmin)
{
    shell sums[SHELLS] = {{0}};
    double rms[SHELLS], last;
    size_t filled = 0;
    int first = 0;
    sphere s;
    sum_shells(grid, NULL, dmin, sums);
    while (first < SHELLS && !sums[first].n)
        first++;
    if (first == SHELLS)
        return 0;
    last = sqrt(sums[first].FF / sums[first].n);
    for (int i = 0; i < SHELLS; i++)
        rms[i] = last = sums[i].n ? sqrt(sums[i].FF / sums[i].n) : last;
    sphere_begin(&s, grid, dmin);
    while (sphere_next(&s)) /* F(0 0 0) is typed, or there is none */
        if (isnan(grid->F[s.p.at]) && !is_000(&s.p)) {
            grid->F[s.p.at] = rms[s.p.shell];
            filled++;
        }
    return filled;
}

nb_status nb_scale_to_model(const nb_factor_grid *observed, const nb_factor_grid *model,
                            double dmin, double *k, double *B, nb_error *err)
{
    shell sums[SHELLS] = {{0}};
    double w = 0, x = 0, y = 0, xx = 0, xy = 0, spread;
    sum_shells(observed, model, dmin, sums);
    for (int i = 0; i < SHELLS; i++)
        if (sums[i].FF > 0 && sums[i].MM > 0) {
            double X = sums[i].s2 / sums[i].n / 4, Y = log(sums[i].FF / sums[i].MM) / 2;
            w += sums[i].n;
            x += sums[i].n * X;
            y += sums[i].n * Y;
            xx += sums[i].n * X * X;
            xy += sums[i].n * X * Y;
        }
    if (!(w > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "the reflections and the model have no reflection in common "
                       "(-Fscale model, -fill model)");
    spread = w * xx - x * x;
    *B = spread > 1e-12 * w * xx ? -(w * xy - x * y) / spread : 0;
    *k = exp((y + *B * x) / w);
    return NB_OK;
}

size_t nb_fill_model(nb_factor_grid *grid, const nb_factor_grid *model, double dmin,
                     double k, double B)
{
    size_t filled = 0;
    sphere s;
    sphere_begin(&s, grid, dmin);
    while (sphere_next(&s)) {
        double M = value_in(model, s.p.h);
        if (!isnan(grid->F[s.p.at]) || isnan(M) || is_000(&s.p))
            continue;
        grid->F[s.p.at] = k * exp(-B * s.p.s2 / 4) * M;
        if (grid->phase && model->phase)
            grid->phase[s.p.at] =
                model->phase[nb_factor_grid_at(model, s.p.h[0], s.p.h[1], s.p.h[2])];
        filled++;
    }
    return filled;
}

void nb_factor_grid_scale(nb_factor_grid *grid, double k, double B)
{
    const int *H = grid->H;
    double G[6];
    nb_reciprocal_metric(grid->cell, G);
    for (int h = -H[0]; h <= H[0]; h++)
        for (int m = -H[1]; m <= H[1]; m++)
            for (int l = -H[2]; l <= H[2]; l++) {
                double *F = &grid->F[nb_factor_grid_at(grid, h, m, l)];
                if (*F != 0)
                    *F *= k * (B == 0 ? 1 : exp(-B * nb_s_squared(G, h, m, l) / 4));
            }
}
