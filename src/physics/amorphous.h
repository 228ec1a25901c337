/* SPDX-License-Identifier: MIT */
/** Scattering of amorphous materials: the sum over materials of N F|F| (F^2 with the sign
 * of F). N is a number of molecules; F comes from a table of sin(theta)/lambda. */
#ifndef NB_PHYSICS_AMORPHOUS_H
#define NB_PHYSICS_AMORPHOUS_H

#include "ray.h"

/** Scattering vector q = (d - incident)/lambda, 1/m. */
NB_HD nb_vec3 nb_scattering_vector(const nb_source *source, nb_vec3 direction)
{
    return nb_scale(1.0 / source->lambda, nb_sub(direction, source->incident));
}

/** Find the piece that holds x, 1/m, among pieces[low] to pieces[high], which are sorted
 * by x. */
NB_HD const nb_table_piece *nb_piece_between(const nb_table_piece *pieces, int low,
                                             int high, double x)
{
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (pieces[middle].x <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return pieces + low;
}

/** The piece of a material's table that holds x = sin(theta)/lambda >= 0, 1/m. */
NB_HD const nb_table_piece *nb_piece_of(const nb_amorphous *a, const nb_scatterer *m,
                                        double x)
{
    double at = x * m->per;
    int bucket = m->first_bucket + (at < m->n_buckets ? (int)at : m->n_buckets - 1);
    return nb_piece_between(a->pieces + m->first_piece, a->buckets[bucket],
                            a->buckets[bucket + 1], x);
}

/** F of a molecule in electrons at sin(theta)/lambda = x, 1/m. Piece p holds x. */
NB_HD double nb_piece_F(const nb_table_piece *p, double x)
{
    double F =
        p->F + (x - p->x) * (p->d1 + (x - p->next) * (p->d2 + (x - p->before) * p->d3));
    return fmin(fmax(F, fmin(p->F, p->F_next)), fmax(p->F, p->F_next));
}

/** Sum over the materials of N F|F| at sin(theta)/lambda = x, 1/m; electrons^2. */
NB_HD double nb_amorphous_at(const nb_amorphous *a, double x)
{
    double sum = 0;
    int i;
    for (i = 0; i < a->n; i++) {
        const nb_scatterer *m = &a->materials[i];
        double F = nb_piece_F(nb_piece_of(a, m, x), x);
        sum += m->molecules * F * fabs(F);
    }
    return sum;
}

#endif
