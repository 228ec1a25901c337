/* SPDX-License-Identifier: MIT */
/** Sum over orientations in double for every shape and option (vector_plan.h: DOUBLE),
 * for NB_H pixels at once. Formulas: src/physics/lattice.h and structure_factor.h. */
#ifndef NB_RENDER_KERNEL_DOUBLE_H
#define NB_RENDER_KERNEL_DOUBLE_H

#include "kernel_rays.h"

#include "../terms/lattice.h"

/** Fractional indices and their nearest reflection. */
typedef struct sample {
    vd h[3], h0[3], d[3]; /* d = h - h0 */
} sample;

/** Sum over the orientations of F_cell^2 F_latt^2 at q, with F from `table`. */
NB_INLINE vd double_sum(const nb_scene *sc, const double *table, const vd q[3],
                        const int shape)
{
    vd total = {0};
    int m, i;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        const nb_vec3 cell[3] = {u->a, u->b, u->c};
        sample p;
        vd F;
        for (i = 0; i < 3; i++) {
            p.h[i] = vd_fma(q[0], vd_set(cell[i].x),
                            vd_fma(q[1], vd_set(cell[i].y), q[2] * cell[i].z));
            p.h0[i] = -vd_floor(0.5 - p.h[i]); /* halves are rounded down */
            p.d[i] = p.h[i] - p.h0[i];
        }
        F = F_lanes(&sc->factors.table, table, p.h, p.h0) *
            lattice_lanes(&sc->lattice, p.d, shape);
        total = vd_fma(F, F, total);
    }
    return total;
}

#endif
