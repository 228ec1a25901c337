/* SPDX-License-Identifier: MIT */
/** The edge of a top hat in single precision, from fractions of Miller indices as 32-bit
 * fixed-point numbers: if a float cannot decide on which side of it a step is, doubles do
 * (plans/fast_paths.md, section 2). For host and device. */
#ifndef NB_CUDA_EDGE_H
#define NB_CUDA_EDGE_H

#include <math.h>

#include "../../src/physics/lattice.h"
#include "../../src/plan/fixed_point.h"

/* Largest error of a fraction: rounding to 2^-32 and of doubles up to NB_FIXED_INDICES. */
#define NB_EDGE_FRACTION 1.5e-9
/* Roundings of a term of R^2: of its coefficient and fractions, and of the sums that it passes through. */
#define NB_EDGE_ROUNDINGS 9
/* Largest part of R^2 in doubt; with more, too many pixels would be calculated twice. */
#define NB_EDGE_DOUBT 1e-3

/** A quadratic form of the fractions, in units of 2^-64: xx yy zz xy xz yz.  Sphere: (radius/pi)^2 of its
 * transform.  Decay: F_latt^2 is 2 to its power.  Edge: R^2. */
typedef struct nb_shape_form {
    float m[6];
    float inside,
        outside; /* edge: inside below the first, outside above the second, in doubt between */
} nb_shape_form;

NB_HD float nb_shape_form_at(const nb_shape_form *form, float x, float y, float z)
{
    const float *m = form->m;
    return fmaf(fmaf(m[0], x, fmaf(m[3], y, m[4] * z)), x,
                fmaf(fmaf(m[1], y, m[5] * z), y, m[2] * z * z));
}

/** Extent of a spot with an edge along each index; INFINITY: without limit. */
NB_HD void nb_edge_reach(const nb_lattice *lattice, double reach[3])
{
    const double *m = lattice->radius2, width = nb_shape_row_of(lattice->shape).width;
    const double xy = 0.5 * m[3], xz = 0.5 * m[4], yz = 0.5 * m[5];
    const double minor[3] = {m[1] * m[2] - yz * yz, m[0] * m[2] - xz * xz,
                             m[0] * m[1] - xy * xy};
    const double whole =
        m[0] * minor[0] - xy * (xy * m[2] - xz * yz) + xz * (xy * yz - m[1] * xz);
    for (int i = 0; i < 3; i++)
        reach[i] = whole > 0 && minor[i] > 0 && lattice->fudge > 0
                       ? sqrt(width / lattice->fudge * minor[i] / whole)
                       : INFINITY;
}

/** Largest relative error of R^2 in floats at the edge; INFINITY: spots reach half-way to
 * others. */
NB_HD double nb_edge_doubt(const nb_lattice *lattice)
{
    const int axis[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    const double rounding = NB_EDGE_ROUNDINGS * 0x1p-24;
    double reach[3], sum = 0;
    nb_edge_reach(lattice, reach);
    for (int i = 0; i < 6; i++) {
        const double x = reach[axis[i][0]], y = reach[axis[i][1]];
        if (!(x < 0.499))
            return INFINITY;
        sum += fabs(lattice->radius2[i]) * (rounding * x * y + NB_EDGE_FRACTION * (x + y));
    }
    return sum * lattice->fudge / nb_shape_row_of(lattice->shape).width;
}

/** The form of a top hat. */
NB_HD nb_shape_form nb_edge_form(const nb_lattice *lattice)
{
    const double doubt = nb_edge_doubt(lattice),
                 width = nb_shape_row_of(lattice->shape).width;
    nb_shape_form form;
    for (int i = 0; i < 6; i++)
        form.m[i] =
            (float)(lattice->radius2[i] * lattice->fudge * NB_FIXED_STEP * NB_FIXED_STEP);
    form.inside = (float)(width * (1 - doubt));
    form.outside = (float)(width * (1 + doubt));
    return form;
}

#endif
