/* SPDX-License-Identifier: MIT */
/* Which of the two origins of International Tables a symbol means. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cell.h"
#include "special.h"

#define TOO_NEAR 0.9 /* A, of atoms that are not hydrogen */
#define ALIKE 0.05   /* of the logarithm of a number of atoms */
enum { PAIRS_MOST = 5000000 };

/** What speaks against an origin. */
typedef struct origin {
    nb_symmetry sg;
    double atoms;   /* in the cell, without hydrogen */
    double nearest; /* A, of different sites */
    size_t wrong_orders;
} origin;

static void image_of(const nb_symop *op, const double x[3], double out[3])
{
    for (int j = 0; j < 3; j++)
        out[j] = op->R[3 * j] * x[0] + op->R[3 * j + 1] * x[1] + op->R[3 * j + 2] * x[2] +
                 op->t[j] / 24.;
}

/** Least distance of atom a to the images of atom b, those on one site not counted. */
static double nearest(const nb_symmetry *sg, const double A[9], const double a[3],
                      const double b[3])
{
    double least = INFINITY;
    for (int i = 0; i < sg->count; i++) {
        double d[3], r[3], length;
        image_of(&sg->ops[i], b, d);
        for (int j = 0; j < 3; j++) {
            d[j] -= a[j];
            d[j] -= nearbyint(d[j]);
        }
        nb_transform(A, d, r);
        length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
        if (length > NB_SAME_SITE && length < least)
            least = length;
    }
    return least;
}

static void judge(const nb_structure *s, const double A[9], origin *o)
{
    const int pairs = s->n_atoms * s->n_atoms * (size_t)o->sg.count < PAIRS_MOST;
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

/** How far a number of atoms is from the one that the formula gives. */
static double misfit(double atoms, double expected)
{
    return expected > 0 && atoms > 0 ? fabs(log(atoms / expected)) : 0;
}

/** Is b better than a?  Why, or NULL if nothing tells them apart. */
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
