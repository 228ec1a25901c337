/* SPDX-License-Identifier: MIT */
#include "special.h"

#include <math.h>

#include "cell.h"

#define NEAR 0.5      /* A; two atoms cannot be this near */
#define TOO_MANY 1.01 /* atoms on one site */

int nb_site_order(const nb_symmetry *sg, const double A[9], const double x[3],
                  double distance)
{
    int n = sg->count == 0;
    for (int i = 0; i < sg->count; i++) {
        const nb_symop *op = &sg->ops[i];
        double d[3], r[3];
        for (int j = 0; j < 3; j++) {
            d[j] = op->R[3 * j] * x[0] + op->R[3 * j + 1] * x[1] +
                   op->R[3 * j + 2] * x[2] + op->t[j] / 24. - x[j];
            d[j] -= nearbyint(d[j]);
        }
        nb_transform(A, d, r);
        n += r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= distance * distance;
    }
    return n;
}

/** Does n go with the coordinates? */
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
