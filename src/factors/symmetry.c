/* SPDX-License-Identifier: MIT */
#include "factors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "sums.h"

static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/** First operator whose rotation part is R times sign (1 or -1), or NULL. */
static const nb_symop *with_rotation(const nb_symop *ops, int count, int sign,
                                     const int8_t R[9])
{
    for (int i = 0; i < count; i++) {
        int same = 1;
        for (int j = 0; j < 9; j++)
            same &= ops[i].R[j] == sign * R[j];
        if (same)
            return &ops[i];
    }
    return NULL;
}

void nb_sum_operators_of(const nb_symmetry *sg, nb_sum_operators *out)
{
    const nb_symop *inversion = with_rotation(sg->ops, sg->count, -1, identity.R);
    memset(out, 0, sizeof *out);
    out->l_step = 1;
    out->has_inversion = inversion != NULL;
    if (inversion)
        out->inversion = *inversion;
    if (sg->count == 0)
        out->ops[out->count++] = identity;
    for (int i = 0; i < sg->count; i++) {
        const nb_symop *op = &sg->ops[i];
        if (with_rotation(&identity, 1, 1, op->R)) {
            out->times++;
            for (int step = out->l_step; out->l_step * op->t[2] % 24 != 0;)
                out->l_step += step;
        }
        if (!with_rotation(out->ops, out->count, 1, op->R) &&
            !(inversion && with_rotation(out->ops, out->count, -1, op->R)))
            out->ops[out->count++] = *op;
    }
    if (out->times == 0)
        out->times = 1;
}

void nb_complete_sums(const nb_sum_operators *operators, const int (*hkl)[3], size_t n,
                      double *P)
{
    for (size_t i = 0; i < n; i++) {
        double re = P[2 * i], im = P[2 * i + 1];
        if (operators->has_inversion) {
            double turn = 2 * M_PI / 24 * nb_ht(&operators->inversion, hkl[i]);
            double c = cos(turn), s = sin(turn);
            P[2 * i] += c * re + s * im;
            P[2 * i + 1] += s * re - c * im;
        }
        P[2 * i] *= operators->times;
        P[2 * i + 1] *= operators->times;
    }
}

#define FIT 1e-9 /* limit of the relative change of s^2, as in nb_s_squared_limit */

int nb_is_absent(const nb_symmetry *sg, const int h[3])
{
    for (int i = 0; i < sg->count; i++) {
        int g[3];
        if (nb_ht(&sg->ops[i], h) == 0)
            continue;
        nb_hR(&sg->ops[i], h, g);
        if (g[0] == h[0] && g[1] == h[1] && g[2] == h[2])
            return 1;
    }
    return 0;
}

int nb_rotations_of(const nb_symmetry *sg, int fits, nb_symop ops[NB_SYMOPS_MAX])
{
    int count = 1;
    ops[0] = identity;
    for (int i = 0; fits && i < sg->count; i++)
        if (!with_rotation(ops, count, 1, sg->ops[i].R))
            ops[count++] = sg->ops[i];
    return count;
}

const int nb_six_indices[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                  {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};

int nb_group_fits(const nb_symmetry *sg, const double G[6])
{
    for (int i = 0; i < sg->count; i++)
        for (int j = 0; j < 6; j++) {
            const int *h = nb_six_indices[j];
            int g[3];
            double s2 = nb_s_squared(G, h[0], h[1], h[2]);
            nb_hR(&sg->ops[i], h, g);
            if (!(fabs(nb_s_squared(G, g[0], g[1], g[2]) - s2) <= FIT * s2))
                return 0;
        }
    return 1;
}

/** Sign of a - b in the order of h, then k, then l. */
static int order(const int a[3], const int b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/** True if h represents the orbit: h is the last of its images and of their inverses. */
static int is_last(const nb_symop *ops, int count, const int h[3])
{
    for (int i = 0; i < count; i++) {
        int g[3], minus[3];
        nb_hR(&ops[i], h, g);
        for (int j = 0; j < 3; j++)
            minus[j] = -g[j];
        if (order(g, h) > 0 || order(minus, h) > 0)
            return 0;
    }
    return 1;
}

nb_status nb_unique_reflections(const nb_symmetry *sg, const double cell[6], double dmin,
                                int with_000, int (**hkl)[3], size_t *count, nb_error *err)
{
    double G[6], limit = nb_s_squared_limit(dmin);
    int H[3], h[3], last, rotations;
    nb_symop ops[NB_SYMOPS_MAX];
    size_t room = 0;
    nb_reciprocal_metric(cell, G);
    nb_index_limits(cell, dmin, H);
    rotations = nb_rotations_of(sg, nb_group_fits(sg, G), ops);
    *hkl = NULL;
    *count = 0;
    for (h[0] = 0; h[0] <= H[0]; h[0]++)
        for (h[1] = -H[1]; h[1] <= H[1]; h[1]++) {
            if (!nb_row_of_l(G, limit, h[0], h[1], H[2], &h[2], &last))
                continue;
            for (; h[2] <= last; h[2]++) {
                if (!(h[0] || h[1] || h[2]) && !with_000)
                    continue;
                if (!is_last(ops, rotations, h) || nb_is_absent(sg, h))
                    continue;
                if (nb_reserve(hkl, *count, &room, sizeof **hkl, "reflections", err)) {
                    nb_free(*hkl);
                    *hkl = NULL;
                    return NB_ERR_NOMEM;
                }
                memcpy((*hkl)[(*count)++], h, sizeof h);
            }
        }
    return NB_OK;
}

#define NEAR 0.5      /* A; smaller than any distance of two atoms */
#define TOO_MANY 1.01 /* limit of the sum of occupancies on one site */

/** Squared distance (A^2) of a from the image of b under op, over all whole cells. */
static double squared_distance(const nb_symop *op, const double A[9], const double a[3],
                               const double b[3])
{
    double d[3], r[3];
    nb_image_of(op, b, d);
    for (int j = 0; j < 3; j++) {
        d[j] -= a[j];
        d[j] -= nearbyint(d[j]);
    }
    nb_transform(A, d, r);
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

int nb_site_order(const nb_symmetry *sg, const double A[9], const double x[3],
                  double distance)
{
    int n = sg->count == 0;
    for (int i = 0; i < sg->count; i++)
        n += squared_distance(&sg->ops[i], A, x, x) <= distance * distance;
    return n;
}

/** True if order n of an atom agrees with the coordinates. */
static int agrees(const nb_symmetry *sg, const double A[9], const nb_atom *a, int n)
{
    return n >= nb_site_order(sg, A, a->r, NB_SAME_SITE) &&
           n <= nb_site_order(sg, A, a->r, NEAR);
}

static int order_of(const nb_symmetry *sg, int multiplicity)
{
    return sg->count % multiplicity ? 0 : sg->count / multiplicity;
}

void nb_take_multiplicities(nb_structure *s)
{
    const nb_symmetry *sg = &s->symmetry;
    double A[9];
    int as_order = 0, as_positions = 0;
    nb_cell_axes(s->cell, A);
    for (size_t i = 0; i < s->n_atoms; i++) {
        const nb_atom *a = &s->atoms[i];
        if (a->site_multiplicity > 0) {
            as_order += agrees(sg, A, a, a->site_multiplicity);
            as_positions += agrees(sg, A, a, order_of(sg, a->site_multiplicity));
        }
    }
    for (size_t i = 0; i < s->n_atoms; i++) {
        nb_atom *a = &s->atoms[i];
        if (a->site_multiplicity > 0 && !a->site_order)
            a->site_order = as_order > as_positions ? a->site_multiplicity
                                                    : order_of(sg, a->site_multiplicity);
    }
}

int nb_small_site_order(const nb_structure *s, const double A[9], const nb_atom *a,
                        size_t *contradicted, size_t *near)
{
    const int same = nb_site_order(&s->symmetry, A, a->r, NB_SAME_SITE);
    const int around = nb_site_order(&s->symmetry, A, a->r, NEAR);
    const int said = a->is_general ? 1 : a->site_order;
    const int is_possible = said >= same || same * a->occupancy <= said * TOO_MANY;
    if (said > 0 && said <= around && is_possible)
        return said;
    *contradicted += said > 0;
    *near += said == 0 && around > same && around * a->occupancy > same * TOO_MANY;
    return same;
}

/* --- Choice between the two origins of a symbol in International Tables --- */

#define TOO_NEAR 0.9 /* A; real atoms other than hydrogen are farther apart */
#define ALIKE 0.05   /* misfits that differ by less than this do not decide */
enum { PAIRS_MAX = 5000000 };

/** The group of a symbol with one of its two origins, and figures for the choice. */
typedef struct origin {
    nb_symmetry sg;
    double atoms;   /* number of atoms in the cell, without hydrogen */
    double nearest; /* A; smallest distance of different sites */
    size_t wrong_orders;
} origin;

/** Smallest distance of atom a from images of atom b, without images on the site of a. */
static double nearest(const nb_symmetry *sg, const double A[9], const double a[3],
                      const double b[3])
{
    double least = INFINITY;
    for (int i = 0; i < sg->count; i++) {
        const double length = sqrt(squared_distance(&sg->ops[i], A, a, b));
        if (length > NB_SAME_SITE && length < least)
            least = length;
    }
    return least;
}

static void judge(const nb_structure *s, const double A[9], origin *o)
{
    const int pairs = s->n_atoms * s->n_atoms * (size_t)o->sg.count < PAIRS_MAX;
    o->atoms = 0;
    o->wrong_orders = 0;
    o->nearest = INFINITY;
    for (size_t i = 0; i < s->n_atoms; i++) {
        const nb_atom *a = &s->atoms[i];
        const int n = nb_site_order(&o->sg, A, a->r, NB_SAME_SITE);
        o->wrong_orders += a->site_order > 0 && a->site_order != n;
        if (a->Z == 1)
            continue;
        o->atoms += a->occupancy * o->sg.count / n;
        for (size_t j = 0; pairs && j <= i; j++)
            if (s->atoms[j].Z != 1 && !a->is_alternate && !s->atoms[j].is_alternate)
                o->nearest = fmin(o->nearest, nearest(&o->sg, A, a->r, s->atoms[j].r));
    }
}

/** |log| of (number of atoms / number in the formula); 0 if one number is unknown. */
static double misfit(double atoms, double expected)
{
    return expected > 0 && atoms > 0 ? fabs(log(atoms / expected)) : 0;
}

/** Set *better to 1 if b is better than a. Returns the reason, or NULL if a and b tie. */
static const char *compare(const origin *a, const origin *b, double expected, int *better)
{
    double of_a = misfit(a->atoms, expected), of_b = misfit(b->atoms, expected);
    *better = b->wrong_orders < a->wrong_orders;
    if (a->wrong_orders != b->wrong_orders)
        return "the symmetry of its sites";
    *better = of_b < of_a;
    if (fabs(of_a - of_b) > ALIKE)
        return "its formula units";
    *better = a->nearest < b->nearest;
    if ((a->nearest < TOO_NEAR) != (b->nearest < TOO_NEAR))
        return "the distances of its atoms";
    *better = 0;
    return NULL;
}

void nb_choose_origin(nb_structure *s)
{
    nb_symmetry *sg = &s->symmetry;
    const size_t n = strlen(sg->name);
    origin first = {.sg = *sg}, second;
    char name[sizeof sg->name];
    double A[9];
    const char *why;
    int better;
    if (!sg->is_origin_open || n < 2)
        return;
    memcpy(name, sg->name, sizeof name);
    name[n - 1] = '2';
    if (nb_symmetry_find(name, s->cell, &second.sg, NULL))
        return;
    nb_cell_axes(s->cell, A);
    judge(s, A, &first);
    judge(s, A, &second);
    why = compare(&first, &second, s->atoms_expected, &better);
    if (better)
        *sg = second.sg;
    name[n - 2] = '\0';
    snprintf(sg->note, sizeof sg->note,
             "the space group %s has two origins; origin %d is used%s%s (-sg '%s:%d' for "
             "the other)",
             name, better ? 2 : 1, why ? ", by " : "", why ? why : "", name,
             better ? 1 : 2);
}
