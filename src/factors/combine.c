/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "symmetry.h"

/** What one combination is made of. */
typedef struct combining {
    const nb_partials *partials;
    const nb_anomalous *f;
    double B_add, scale;
    nb_factor_grid *grid;
    nb_symmetry orbit; /* operators by which a reflection stands for others */
} combining;

static int is_inside(const nb_factor_grid *g, const int h[3])
{
    return abs(h[0]) <= g->H[0] && abs(h[1]) <= g->H[1] && abs(h[2]) <= g->H[2];
}

/** All of the sphere is 0: what no reflection reaches is absent. */
static void clear_row(const combining *c, int h, int k)
{
    const nb_partials *p = c->partials;
    int first, last;
    size_t at;
    if (!nb_row_of_l(p->G, nb_s_squared_limit(p->dmin), h, k, c->grid->H[2], &first, &last))
        return;
    at = nb_factor_grid_at(c->grid, h, k, 0);
    for (int l = first; l <= last; l++) {
        if (!(h || k || l))
            continue;
        c->grid->F[at + (size_t)l] = 0;
        if (c->grid->phase)
            c->grid->phase[at + (size_t)l] = 0;
    }
}

/** F of reflection i and of its Friedel mate: re, im, re, im. */
static void make_pair(const combining *c, size_t i, double F[4])
{
    const nb_partials *p = c->partials;
    const int *h = p->hkl[i];
    double re = p->steady[2 * i], im = p->steady[2 * i + 1], x = 0, y = 0, k = c->scale;
    for (int e = 0; e < p->n_elements; e++) {
        const double *P = &p->elements[e].P[2 * i];
        re += c->f[e].f1 * P[0];
        im += c->f[e].f1 * P[1];
        x += c->f[e].f2 * P[0];
        y += c->f[e].f2 * P[1];
    }
    if (c->B_add != 0)
        k *= exp(-c->B_add * nb_s_squared(p->G, h[0], h[1], h[2]) / 4);
    F[0] = k * (re - y);
    F[1] = k * (im + x);
    F[2] = k * (re + y); /* the conjugates of all P and M */
    F[3] = k * (x - im);
}

/** An amplitude and its phase, turned by `turn`, in -pi..pi. */
static void put(const combining *c, const int h[3], double F, double phase, double turn)
{
    size_t at;
    if (!is_inside(c->grid, h))
        return;
    at = nb_factor_grid_at(c->grid, h[0], h[1], h[2]);
    c->grid->F[at] = F;
    if (c->grid->phase) {
        double whole = nearbyint((phase + turn) / (2 * M_PI));
        c->grid->phase[at] = (float)(phase + turn - 2 * M_PI * whole);
    }
}

/** F(h R) = F(h) exp(-2 pi i h t), and the mates. */
static void put_orbit(const combining *c, size_t i)
{
    const int *h = c->partials->hkl[i];
    double F[4], plus, minus, phase_plus = 0, phase_minus = 0;
    make_pair(c, i, F);
    plus = sqrt(F[0] * F[0] + F[1] * F[1]);
    minus = sqrt(F[2] * F[2] + F[3] * F[3]);
    if (c->grid->phase) {
        phase_plus = atan2(F[1], F[0]);
        phase_minus = atan2(F[3], F[2]);
    }
    for (int j = 0; j < c->orbit.count; j++) {
        double turn = 2 * M_PI / 24 * nb_ht(&c->orbit.ops[j], h);
        int g[3], mate[3];
        nb_hR(&c->orbit.ops[j], h, g);
        for (int n = 0; n < 3; n++)
            mate[n] = -g[n];
        put(c, g, plus, phase_plus, -turn);
        if (g[0] || g[1] || g[2])
            put(c, mate, minus, phase_minus, turn);
    }
}

/** Each rotation once: centring brings nothing new. */
static void find_orbit(const nb_partials *p, nb_symmetry *out)
{
    static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    int fits = nb_group_fits(&p->symmetry, p->G);
    out->count = 1;
    out->ops[0] = identity;
    for (int i = 0; fits && i < p->symmetry.count; i++) {
        int is_new = 1;
        for (int j = 0; j < out->count && is_new; j++)
            is_new = memcmp(out->ops[j].R, p->symmetry.ops[i].R, sizeof identity.R) != 0;
        if (is_new)
            out->ops[out->count++] = p->symmetry.ops[i];
    }
}

void nb_partials_combine(const nb_partials *partials, const nb_anomalous *f, double B_add,
                         double scale, int threads, nb_factor_grid *grid)
{
    combining c = {
        .partials = partials, .f = f, .B_add = B_add, .scale = scale, .grid = grid};
    int H[3];
    find_orbit(partials, &c.orbit);
    nb_index_limits(partials->cell, partials->dmin, H);
    for (int i = 0; i < 3; i++)
        H[i] = H[i] < grid->H[i] ? H[i] : grid->H[i];
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int h = -H[0]; h <= H[0]; h++)
            for (int k = -H[1]; k <= H[1]; k++)
                clear_row(&c, h, k);
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (size_t i = 0; i < partials->n; i++)
            put_orbit(&c, i);
    }
}
