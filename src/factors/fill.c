/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/table/factor_file.h"
#include "factors.h"
#include "model.h"

/* --- Fill missing reflections and scale observed amplitudes to a model --- */

enum { SHELLS = 20 };

/** Sums over the reflections of one shell of s^3. */
typedef struct shell {
    double n, s2, FF, MM; /* count, sums of s^2, F^2 and F^2 of the model */
} shell;

/** A reflection of a grid inside a limit of s^2. */
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

/** Go to the next row of l that has reflections. Returns 0 if there is no further row. */
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

/** Go to the next reflection that is not absent. Returns 0 if there is no further
 * reflection. */
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

/** Value of reflection h in a grid, NaN without a value. */
static double value_in(const nb_factor_grid *g, const int h[3])
{
    for (int i = 0; i < 3; i++)
        if (h[i] < -g->H[i] || h[i] > g->H[i])
            return NAN;
    return g->F[nb_factor_grid_at(g, h[0], h[1], h[2])];
}

/** Sum over reflections (not 0 0 0) that have a value in the grid and, unless `model` is
 * NULL, in the model. */
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
    while (sphere_next(&s)) /* F(0 0 0) is left to -F000 */
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

nb_status nb_factor_grid_check(const int H[3], nb_error *err)
{
    nb_factor_file box = {.hmin = -H[0],
                          .hmax = H[0],
                          .kmin = -H[1],
                          .kmax = H[1],
                          .lmin = -H[2],
                          .lmax = H[2]};
    if (nb_factor_file_check(&box, "", NULL) == NB_OK)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "a table of h k l up to %d %d %d is too large (indices to %d, and the "
                   "memory of this machine): give a larger -dmin",
                   H[0], H[1], H[2], NB_SF_MAX_INDEX);
}

nb_status nb_factor_grid_new(const double cell[6], const int H[3], nb_factor_grid *out,
                             nb_error *err)
{
    size_t voxels;
    memset(out, 0, sizeof *out);
    if (nb_factor_grid_check(H, err) != NB_OK)
        return NB_ERR_INPUT;
    memcpy(out->H, H, sizeof out->H);
    memcpy(out->cell, cell, sizeof out->cell);
    voxels = nb_factor_grid_voxels(out);
    out->F = nb_alloc_raw(voxels, sizeof *out->F, "structure factors", err);
    if (!out->F) {
        memset(out, 0, sizeof *out);
        return NB_ERR_NOMEM;
    }
    for (size_t i = 0; i < voxels; i++)
        out->F[i] = NAN;
    return NB_OK;
}

nb_status nb_factor_grid_add_phases(nb_factor_grid *grid, nb_error *err)
{
    size_t voxels = nb_factor_grid_voxels(grid);
    if (grid->phase)
        return NB_OK;
    grid->phase = nb_alloc_raw(voxels, sizeof *grid->phase, "phases", err);
    for (size_t i = 0; grid->phase && i < voxels; i++)
        grid->phase[i] = NAN;
    return grid->phase ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_factor_grid_add_absences(nb_factor_grid *grid, nb_error *err)
{
    if (!grid->absent)
        grid->absent = nb_alloc(nb_factor_grid_voxels(grid), 1, "absences", err);
    return grid->absent ? NB_OK : NB_ERR_NOMEM;
}

void nb_factor_grid_free(nb_factor_grid *grid)
{
    if (grid) {
        nb_free(grid->F);
        nb_free(grid->phase);
        nb_free(grid->absent);
        memset(grid, 0, sizeof *grid);
    }
}

#define DONE (UINT32_C(1) << 31)
#define CONFLICT (UINT32_C(1) << 30)
#define COUNT (CONFLICT - 1)
#define TOLERANCE 0.01 /* relative difference above which two values are a conflict */

const nb_symmetry nb_P1 = {
    .count = 1, .ops = {{.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}}, .name = "P 1"};

nb_status nb_gather_new(nb_factor_grid *grid, nb_gather *out, nb_error *err)
{
    size_t n = nb_factor_grid_voxels(grid);
    *out = (nb_gather){.grid = grid};
    out->count = nb_alloc(n, sizeof *out->count, "reflections", err);
    out->first = nb_alloc_raw(n, sizeof *out->first, "reflections", err);
    if (out->count && out->first && !grid->phase)
        return NB_OK;
    out->imaginary = nb_alloc_raw(n, sizeof *out->imaginary, "reflections", err);
    out->first_imaginary = nb_alloc_raw(n, sizeof *out->first, "reflections", err);
    if (out->count && out->first && out->imaginary && out->first_imaginary)
        return NB_OK;
    nb_gather_free(out);
    return NB_ERR_NOMEM;
}

void nb_gather_free(nb_gather *g)
{
    nb_free(g->count);
    nb_free(g->first);
    nb_free(g->imaginary);
    nb_free(g->first_imaginary);
    memset(g, 0, sizeof *g);
}

/** F of intensity I; 0 if I is negative. */
static double root_of(double I)
{
    return sqrt(fmax(I, 0));
}

/** True if a value differs from the first value of the reflection. */
static int differs(const nb_gather *g, size_t at, double re, double im)
{
    double re0 = g->first[at], im0 = g->imaginary ? g->first_imaginary[at] : 0, apart;
    if (g->intensities) {
        re = root_of(re);
        re0 = root_of(re0);
    }
    apart = hypot(re - re0, im - im0);
    return apart > TOLERANCE * fmax(hypot(re, im), hypot(re0, im0));
}

/** Add a value to voxel `at`. im is 0 in a grid without phases. */
static void put(nb_gather *g, size_t at, double re, double im)
{
    if (g->count[at] & DONE || (g->count[at] & COUNT) == COUNT)
        return; /* After 1e9 values the mean no longer changes. */
    if (!(g->count[at] & COUNT)) {
        g->first[at] = (float)re;
        g->grid->F[at] = 0;
        if (g->imaginary) {
            g->first_imaginary[at] = (float)im;
            g->imaginary[at] = 0;
        }
    } else if (differs(g, at, re, im))
        g->count[at] |= CONFLICT;
    g->count[at]++;
    g->grid->F[at] += re;
    if (g->imaginary)
        g->imaginary[at] += im;
}

/** cos and sin of n 24ths of a turn. */
static void turn(int n, double *c, double *s)
{
    *c = n % 12 == 6 ? 0 : n == 0 ? 1 : n == 12 ? -1 : cos(n * (M_PI / 12));
    *s = n % 12 == 0 ? 0 : n == 6 ? 1 : n == 18 ? -1 : sin(n * (M_PI / 12));
}

void nb_gather_add(nb_gather *g, const nb_symmetry *sg, const int h[3], const nb_mates *m,
                   int lent)
{
    double c = 1, s = 0;
    for (int i = 0; i < sg->count; i++) {
        int r[3];
        nb_hR(&sg->ops[i], h, r);
        if (m->with_phase)
            turn(nb_ht(&sg->ops[i], h), &c, &s);
        if (m->has_plus != lent)
            put(g, nb_factor_grid_at(g->grid, r[0], r[1], r[2]),
                m->plus[0] * c + m->plus[1] * s, m->plus[1] * c - m->plus[0] * s);
        if (m->has_minus != lent)
            put(g, nb_factor_grid_at(g->grid, -r[0], -r[1], -r[2]),
                m->minus[0] * c - m->minus[1] * s, m->minus[1] * c + m->minus[0] * s);
    }
}

int nb_gather_set(nb_gather *g, const int h[3], double F)
{
    size_t at = nb_factor_grid_at(g->grid, h[0], h[1], h[2]);
    if (g->count[at] & DONE)
        return 0;
    g->count[at] |= DONE;
    g->grid->F[at] = F;
    return 1;
}

size_t nb_gather_finish(nb_gather *g, int with_phase)
{
    size_t n = nb_factor_grid_voxels(g->grid), conflicts = 0;
    for (size_t at = 0; at < n; at++) {
        double count = g->count[at] & COUNT;
        if (!count || g->count[at] & DONE)
            continue;
        conflicts += (g->count[at] & CONFLICT) != 0;
        g->grid->F[at] /= count;
        if (g->intensities)
            g->grid->F[at] = root_of(g->grid->F[at]);
        if (with_phase) {
            double re = g->grid->F[at], im = g->imaginary[at] / count;
            g->grid->F[at] = hypot(re, im);
            g->grid->phase[at] = (float)atan2(im, re);
        }
        g->count[at] |= DONE;
    }
    return conflicts;
}

int nb_gather_reach(const nb_symmetry *sg, const int h[3], int H[3])
{
    int inside = 1;
    for (int i = 0; i < (sg->count ? sg->count : 1); i++) {
        int r[3] = {h[0], h[1], h[2]};
        if (sg->count)
            nb_hR(&sg->ops[i], h, r);
        for (int j = 0; j < 3; j++) {
            int size = abs(r[j]);
            inside = inside && size <= NB_SF_MAX_INDEX;
            H[j] = size > H[j] ? size : H[j];
        }
    }
    return inside;
}

/** Count the reflections of a row from l = h[2] to last, and mark the absences. */
static void mark_row(nb_gather *g, const nb_symmetry *sg, int h[3], int last,
                     size_t *present, size_t *missing)
{
    for (; h[2] <= last; h[2]++) {
        size_t at = nb_factor_grid_at(g->grid, h[0], h[1], h[2]);
        if (g->count[at])
            ++*present;
        else if (g->grid->absent && nb_is_absent(sg, h)) {
            g->grid->absent[at] = 1;
            g->grid->F[at] = 0;
        } else
            *missing += h[0] || h[1] || h[2];
    }
}

nb_status nb_gather_absences(nb_gather *g, const nb_symmetry *sg, double limit,
                             size_t *present, size_t *missing, nb_error *err)
{
    const int *H = g->grid->H;
    double G[6];
    int h[3], last;
    nb_status st = sg->count > 1 ? nb_factor_grid_add_absences(g->grid, err) : NB_OK;
    nb_reciprocal_metric(g->grid->cell, G);
    for (h[0] = -H[0]; h[0] <= H[0] && !st; h[0]++)
        for (h[1] = -H[1]; h[1] <= H[1]; h[1]++)
            if (nb_row_of_l(G, limit, h[0], h[1], H[2], &h[2], &last))
                mark_row(g, sg, h, last, present, missing);
    return st;
}
