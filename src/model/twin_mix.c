/* SPDX-License-Identifier: MIT */
#include "twin_mix.h"

#include <math.h>

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/shapes.h"
#include "../physics/structure_factor.h"

/** T^-1, if T and its inverse have whole numbers. */
static int whole_inverse(const double T[9], int out[9])
{
    const double det = T[0] * (T[4] * T[8] - T[5] * T[7]) -
                       T[1] * (T[3] * T[8] - T[5] * T[6]) +
                       T[2] * (T[3] * T[7] - T[4] * T[6]);
    for (int i = 0; i < 9; i++) {
        const int r = i % 3, c = i / 3; /* of the cofactor */
        const int a = (r + 1) % 3, b = (r + 2) % 3, d = (c + 1) % 3, e = (c + 2) % 3;
        const double x = (T[3 * a + d] * T[3 * b + e] - T[3 * a + e] * T[3 * b + d]) / det;
        if (T[i] != rint(T[i]) || fabs(x - rint(x)) > 1e-9)
            return 0;
        out[i] = (int)rint(x);
    }
    return 1;
}

static int is_like(nb_vec3 a, nb_vec3 b)
{
    return nb_norm(nb_sub(a, b)) < 1e-9 * nb_norm(b);
}

/** Row i of an integer matrix on three vectors. */
static nb_vec3 row_of(const int *m, const nb_orientation *o)
{
    return nb_add(nb_add(nb_scale(m[0], o->a), nb_scale(m[1], o->b)),
                  nb_scale(m[2], o->c));
}

static int same_orientations(const nb_lattice *a, const nb_lattice *b, const int R[9])
{
    if (a->n_orientations != b->n_orientations)
        return 0;
    for (int i = 0; i < a->n_orientations; i++) {
        const nb_orientation *x = &a->orientations[i], *y = &b->orientations[i];
        if (!is_like(row_of(R, x), y->a) || !is_like(row_of(R + 3, x), y->b) ||
            !is_like(row_of(R + 6, x), y->c))
            return 0;
    }
    return 1;
}

/** Fringes along the axes stay if each axis goes to one of as many cells. */
static int same_fringes(const double N[3], const int R[9])
{
    for (int i = 0; i < 3; i++) {
        int others = 0;
        for (int j = 0; j < 3; j++) {
            others += R[3 * i + j] != 0;
            if (R[3 * i + j] && N[i] != N[j])
                return 0;
        }
        if (others != 1)
            return 0;
    }
    return 1;
}

/** Is the form of indices the same at R h? */
static int same_form(const double a[6], const double b[6], const int R[9])
{
    static const double probes[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                        {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    for (int i = 0; i < 6; i++) {
        const double *h = probes[i];
        const double x = nb_shape_radius2(a, h[0], h[1], h[2]);
        const double y = nb_shape_radius2(b, R[0] * h[0] + R[1] * h[1] + R[2] * h[2],
                                          R[3] * h[0] + R[4] * h[1] + R[5] * h[2],
                                          R[6] * h[0] + R[7] * h[1] + R[8] * h[2]);
        if (!(fabs(x - y) <= 1e-9 * fabs(x)))
            return 0;
    }
    return 1;
}

int nb_twin_coincides(const nb_model *first, const nb_model *part, const double T[9])
{
    const nb_lattice *a = &first->scene.lattice, *b = &part->scene.lattice;
    const nb_factor_table *f = first->is_mixed ? &first->alone
                                               : &first->scene.factors.table,
                          *g = &part->scene.factors.table;
    int R[9];
    if (!whole_inverse(T, R) || a->shape != b->shape || f->interpolate ||
        nb_table_count(f) != nb_table_count(g) || f->nh != g->nh || f->nk != g->nk ||
        f->nl != g->nl)
        return 0;
    return same_orientations(a, b, R) && (nb_shape_law(a->shape) == NB_LAW_FRINGES
                                              ? same_fringes(a->N, R)
                                              : same_form(a->radius2, b->radius2, R));
}

/** Let n numbers from *low on have this one too. */
static void widen(int *low, int *n, int at)
{
    const int end = *low + *n - 1 > at ? *low + *n - 1 : at;
    *low = *low < at ? *low : at;
    *n = end - *low + 1;
}

/** A box that has every point of t, and every point that R takes into it: h = T h'. */
static nb_factor_table box_of(const nb_factor_table *t, const double T[9])
{
    nb_factor_table out = *t;
    for (int i = 0; i < 8; i++) {
        const int h = i & 1 ? t->hmin : t->hmin + t->nh - 1,
                  k = i & 2 ? t->kmin : t->kmin + t->nk - 1,
                  l = i & 4 ? t->lmin : t->lmin + t->nl - 1;
        const int at[3] = {(int)(T[0] * h + T[1] * k + T[2] * l),
                           (int)(T[3] * h + T[4] * k + T[5] * l),
                           (int)(T[6] * h + T[7] * k + T[8] * l)};
        widen(&out.hmin, &out.nh, at[0]);
        widen(&out.kmin, &out.nk, at[1]);
        widen(&out.lmin, &out.nl, at[2]);
    }
    return out;
}

/** One table: F^2 + part F'^2(R h) at each point of the box `to`. */
static void mix_table(const nb_factor_table *a, const nb_factor_table *b, int n,
                      const int R[9], double part, const nb_factor_table *to, double *out)
{
    for (int i = 0; i < to->nh; i++)
        for (int j = 0; j < to->nk; j++)
            for (int m = 0; m < to->nl; m++) {
                const int h = to->hmin + i, k = to->kmin + j, l = to->lmin + m;
                const double f = nb_F_nearest(a, n, h, k, l),
                             g = nb_F_nearest(b, n, R[0] * h + R[1] * k + R[2] * l,
                                              R[3] * h + R[4] * k + R[5] * l,
                                              R[6] * h + R[7] * k + R[8] * l);
                *out++ = sqrt(f * f + part * g * g);
            }
}

nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_error *err)
{
    nb_factor_table *f = &first->scene.factors.table, to;
    const nb_factor_table *g = &part->scene.factors.table;
    const double share = part->twin_share / first->twin_share;
    double *F = NULL;
    size_t n;
    int R[9];
    whole_inverse(T, R);
    to = f->nh ? box_of(f, T) : *f;
    n = (size_t)to.nh * (size_t)to.nk * (size_t)to.nl;
    if (n && !(F = nb_alloc_raw(n * (size_t)nb_table_count(f), sizeof *F,
                                "structure factors", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; n && i < nb_table_count(f); i++)
        mix_table(f, g, i, R, share, &to, F + (size_t)i * n);
    if (!first->is_mixed)
        first->alone = *f;
    to.default_F = sqrt(pow(f->default_F, 2) + share * pow(g->default_F, 2));
    to.F = F;
    to.hash = 0;
    nb_factor_table_measure(&to);
    *f = first->flat.factors.table = to;
    nb_free(first->mixed);
    first->mixed = F;
    first->is_mixed = 1;
    return NB_OK;
}

void nb_twin_part(nb_model *first)
{
    if (first->is_mixed)
        first->scene.factors.table = first->flat.factors.table = first->alone;
    nb_free(first->mixed);
    first->mixed = NULL;
    first->is_mixed = 0;
}
