/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>

#include "../base/store.h"
#include "../base/matrix.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/shapes.h"
#include "../physics/structure_factor.h"

/** Find T^-1. True if T and its inverse have whole numbers. */
static int whole_inverse(const double T[9], int out[9])
{
    double inverse[9];
    nb_invert(T, inverse);
    for (int i = 0; i < 9; i++) {
        if (T[i] != rint(T[i]) || fabs(inverse[i] - rint(inverse[i])) > 1e-9)
            return 0;
        out[i] = (int)rint(inverse[i]);
    }
    return 1;
}

static int is_like(nb_vec3 a, nb_vec3 b)
{
    return nb_norm(nb_sub(a, b)) < 1e-9 * nb_norm(b);
}

/** Multiply a row of an integer matrix with three vectors. */
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

/** True if each axis is mapped to an axis with the same number of cells, so that the
 * fringes along the axes coincide. */
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

/** True if form a at any indices h equals form b at R h. */
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

/** Widen the range of n numbers from *low to include `at`. */
static void widen(int *low, int *n, int at)
{
    const int end = *low + *n - 1 > at ? *low + *n - 1 : at;
    *low = *low < at ? *low : at;
    *n = end - *low + 1;
}

/** Box with all points of t, and all points h that R = T^-1 maps into t. */
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

/** Row of n points in a table: index of point 0, step, and the range of points inside the
 * table. */
typedef struct table_row {
    int64_t at, step;
    int begin, end;
} table_row;

/** Clip the row to points where low + i step, i from 0 on, is within 0 to n - 1. */
static void clip(int low, int step, int n, table_row *row)
{
    while (row->begin < row->end &&
           (low + row->begin * step < 0 || low + row->begin * step >= n))
        row->begin++;
    while (row->begin < row->end &&
           (low + (row->end - 1) * step < 0 || low + (row->end - 1) * step >= n))
        row->end--;
}

/** Make the row of n points from h[3] on with this step. */
static table_row row_in(const nb_factor_table *t, const int h[3], const int step[3], int n)
{
    const int low[3] = {h[0] - t->hmin, h[1] - t->kmin, h[2] - t->lmin};
    table_row row = {((int64_t)low[0] * t->nk + low[1]) * t->nl + low[2],
                     ((int64_t)step[0] * t->nk + step[1]) * t->nl + step[2], 0, n};
    clip(low[0], step[0], t->nh, &row);
    clip(low[1], step[1], t->nk, &row);
    clip(low[2], step[2], t->nl, &row);
    return row;
}

/** Copy F of the n points of a row from table i; points outside get default_F. */
static void take_row(const nb_factor_table *t, int i, const table_row *row, int n,
                     double *out)
{
    const double *F = nb_table_at(t, i);
    for (int m = 0; m < row->begin; m++)
        out[m] = t->default_F;
    for (int m = row->begin; m < row->end; m++)
        out[m] = F[row->at + m * row->step];
    for (int m = row->end; m < n; m++)
        out[m] = t->default_F;
}

/** Mix one table: each point of `to` gets the square root of F^2 + part F'^2(R h). row:
 * work space. */
static void mix_table(const nb_factor_table *a, const nb_factor_table *b, int n,
                      const int R[9], double part, const nb_factor_table *to, double *row,
                      double *out)
{
    const int along[3] = {0, 0, 1}, turned[3] = {R[2], R[5], R[8]};
    for (int i = 0; i < to->nh; i++)
        for (int j = 0; j < to->nk; j++, out += to->nl) {
            const int h = to->hmin + i, k = to->kmin + j, l = to->lmin;
            const int from[3] = {h, k, l}, other[3] = {R[0] * h + R[1] * k + R[2] * l,
                                                       R[3] * h + R[4] * k + R[5] * l,
                                                       R[6] * h + R[7] * k + R[8] * l};
            const table_row in_a = row_in(a, from, along, to->nl),
                            in_b = row_in(b, other, turned, to->nl);
            take_row(a, n, &in_a, to->nl, out);
            take_row(b, n, &in_b, to->nl, row);
            for (int m = 0; m < to->nl; m++)
                out[m] = sqrt(out[m] * out[m] + part * row[m] * row[m]);
        }
}

/* --- stored tables --- */

static void clear_mixed(void *object)
{
    nb_free((double *)(uintptr_t)((nb_twin_mixed *)object)->table.F);
}

/** Key of all inputs of a mixture; 0 if a table has no hash. */
static uint64_t key_of(const nb_factor_table *f, const nb_factor_table *g, double share,
                       const int R[9])
{
    const double numbers[3] = {share, f->default_F, g->default_F};
    const int box[7] = {f->hmin, f->kmin, f->lmin,          f->nh,
                        f->nk,   f->nl,   nb_table_count(f)};
    uint64_t key = NB_HASH_START;
    if (!f->measured || !g->measured || !f->hash || !g->hash)
        return 0;
    key = nb_hash_bytes(key, &f->hash, sizeof f->hash);
    key = nb_hash_bytes(key, &g->hash, sizeof g->hash);
    key = nb_hash_bytes(key, box, sizeof box);
    key = nb_hash_bytes(key, &g->hmin, 3 * sizeof g->hmin);
    key = nb_hash_bytes(key, numbers, sizeof numbers);
    return nb_hash_bytes(key, R, 9 * sizeof *R) | 1;
}

/** Fill the table of *mixed, whose box is set. */
static nb_status fill_mixed(const nb_factor_table *f, const nb_factor_table *g,
                            const int R[9], double share, nb_twin_mixed *mixed,
                            nb_error *err)
{
    nb_factor_table *to = &mixed->table;
    const size_t n = (size_t)to->nh * (size_t)to->nk * (size_t)to->nl;
    double *row, *F;
    to->F = NULL;
    if (!n)
        return NB_OK;
    to->F = F =
        nb_alloc_raw(n * (size_t)nb_table_count(f), sizeof *F, "structure factors", err);
    row = F ? nb_alloc_raw((size_t)to->nl, sizeof *row, "structure factors", err) : NULL;
    if (!row)
        return NB_ERR_NOMEM;
    for (int i = 0; i < nb_table_count(f); i++)
        mix_table(f, g, i, R, share, to, row, F + (size_t)i * n);
    nb_free(row);
    return NB_OK;
}

static nb_twin_mixed *make_mixed(const nb_factor_table *f, const nb_factor_table *g,
                                 const double T[9], const int R[9], double share,
                                 nb_error *err)
{
    nb_twin_mixed *mixed =
        nb_shared_new(sizeof *mixed, clear_mixed, "structure factors", err);
    if (!mixed)
        return NULL;
    mixed->table = f->nh ? box_of(f, T) : *f;
    if (fill_mixed(f, g, R, share, mixed, err)) {
        nb_shared_drop(mixed);
        return NULL;
    }
    mixed->table.default_F = sqrt(pow(f->default_F, 2) + share * pow(g->default_F, 2));
    mixed->table.hash = 0;
    nb_factor_table_measure(&mixed->table);
    mixed->key = key_of(f, g, share, R);
    if (!mixed->table.hash)
        mixed->table.hash = mixed->key;
    return mixed;
}

nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_twin_mixed **kept, nb_error *err)
{
    nb_factor_table *f = &first->scene.factors.table;
    const nb_factor_table *g = &part->scene.factors.table;
    const double share = part->twin_share / first->twin_share;
    nb_twin_mixed *mixed;
    uint64_t key;
    int R[9];
    whole_inverse(T, R);
    key = key_of(f, g, share, R);
    if (*kept && (!key || (*kept)->key != key)) {
        nb_shared_drop(*kept);
        *kept = NULL;
    }
    mixed = *kept ? nb_shared_hold(*kept) : make_mixed(f, g, T, R, share, err);
    if (!mixed)
        return NB_ERR_NOMEM;
    if (!*kept && key)
        *kept = nb_shared_hold(mixed);
    if (!first->is_mixed)
        first->alone = *f;
    *f = first->flat.factors.table = mixed->table;
    nb_shared_drop(first->mixed);
    first->mixed = mixed;
    first->is_mixed = 1;
    return NB_OK;
}

void nb_twin_part(nb_model *first)
{
    if (first->is_mixed)
        first->scene.factors.table = first->flat.factors.table = first->alone;
    nb_shared_drop(first->mixed);
    first->mixed = NULL;
    first->is_mixed = 0;
}
