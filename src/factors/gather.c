/* SPDX-License-Identifier: MIT */
#include "gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../io/table/factor_file.h"

#define DONE (UINT32_C(1) << 31)
#define CONFLICT (UINT32_C(1) << 30)
#define COUNT (CONFLICT - 1)
#define TOLERANCE 0.01 /* of values for the same reflection */

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

/** F of an intensity. */
static double root_of(double I)
{
    return sqrt(fmax(I, 0));
}

/** Does a value differ from the first of its reflection? */
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

/** im is 0 in a grid without phases. */
static void put(nb_gather *g, size_t at, double re, double im)
{
    if (g->count[at] & DONE || (g->count[at] & COUNT) == COUNT)
        return; /* after 1e9 values the mean no longer changes */
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

/** cos and sin of a number of 24ths of a turn. */
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

/** One row of l. */
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
    for (h[0] = -H[0]; h[0] <= H[0] && st == NB_OK; h[0]++)
        for (h[1] = -H[1]; h[1] <= H[1]; h[1]++)
            if (nb_row_of_l(G, limit, h[0], h[1], H[2], &h[2], &last))
                mark_row(g, sg, h, last, present, missing);
    return st;
}
