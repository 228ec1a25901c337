/* SPDX-License-Identifier: MIT */
/** The simplest images, in fixed point (NB_SUMS_SIMPLE): a flat detector, one ray per
 * pixel, one source, one orientation. Along a row everything is linear. With P the point
 * of the row nearest to the sample and x the distance from P along the row V,
 *   R^2 = |P|^2 + x^2   and   a.d = (a.P + x a.V)/R   for any vector a. */
#ifndef NB_RENDER_KERNEL_SIMPLE_H
#define NB_RENDER_KERNEL_SIMPLE_H

#include "kernel_fixed.h"

/** Dot product of a vector with the rays of a row: (at + x along)/R. */
typedef struct row_dot {
    double at, along;
} row_dot;

typedef struct simple_row {
    double pixel, start; /* x = pixel f + start, m */
    double P2;           /* |P|^2 */
    row_dot cell[3];     /* -a/lambda .. -c/lambda */
    double offset[3];    /* added to the indices for fixed_step */
    row_dot incident, B, E;
    int oblique; /* the solid angle is proportional to 1/R^3, not 1/R^2 */
    /* photons per F_latt^2 at R = 1 m, or half of them if polarization counts. For an
     * unpolarized beam, `incident` contains the square root of `crystal` as a factor */
    double crystal;
    float background; /* in units of F_latt^2 */
} simple_row;

NB_INLINE row_dot row_dot_of(nb_vec3 a, nb_vec3 P, nb_vec3 V)
{
    row_dot d;
    d.at = nb_dot(a, P);
    d.along = nb_dot(a, V);
    return d;
}

static simple_row simple_row_of(const nb_vector_plan *p, const row_line *line)
{
    const nb_scene *sc = &p->scene;
    const nb_vector_source *b = &p->sources[0];
    const nb_vec3 cell[3] = {sc->lattice.orientations[0].a, sc->lattice.orientations[0].b,
                             sc->lattice.orientations[0].c};
    double foot = nb_dot(line->U, line->V);
    nb_vec3 P = nb_sub(line->U, nb_scale(foot, line->V));
    simple_row r;
    double scale;
    int i;
    r.pixel = p->panel.pixel_fast;
    r.start = 0.5 * p->panel.pixel_fast + foot;
    r.P2 = nb_dot(P, P);
    for (i = 0; i < 3; i++) {
        r.cell[i] = row_dot_of(nb_scale(-b->inv_lambda, cell[i]), P, line->V);
        r.offset[i] = nb_vector_start(p->table.kind, p->mode) +
                      nb_dot(cell[i], b->incident) * b->inv_lambda;
    }
    r.incident = row_dot_of(b->incident, P, line->V);
    r.B = row_dot_of(b->B, P, line->V);
    r.E = row_dot_of(b->E, P, line->V);
    r.oblique = !p->panel.point_pixel;
    scale = sc->intensity_scale * b->weight * p->panel.pixel_area *
            (r.oblique ? p->panel.close_distance : 1.0) * (sc->beam.nopolar ? 1.0 : 0.5);
    r.crystal = scale * p->table.unit;
    r.background = (float)(sc->background / p->table.unit);
    if (sc->beam.polarization == 0) {
        double root = sqrt(r.crystal);
        r.incident.at *= root;
        r.incident.along *= root;
    }
    return r;
}

/** R times the dot product of row_dot. */
NB_INLINE vd2 component(row_dot a, vd2 x)
{
    return vd2_scale_add(x, a.along, vd2_set(a.at));
}

/** Photons per F_latt^2 at R = 1 m. */
NB_INLINE vd2 row_polarization(const simple_row *row, double K, vd2 x, vd2 inv2)
{
    vd2 c = component(row->incident, x), c2 = vd2_mul(c, c);
    if (K == 0)
        return vd2_fma(c2, inv2, vd2_set(row->crystal));
    /* the angle depends on the ratio of two components, from which R cancels */
    return vd2_scale(
        polarized(K, vd2_mul(c2, inv2), component(row->E, x), component(row->B, x)),
        2.0 * row->crystal);
}

/** Results of simple_geometry for simple_photons. */
typedef struct simple_block {
    vd2 t[3];  /* arguments of fixed_step */
    vf factor; /* photons per F_latt^2 */
} simple_block;

/** Geometry of the pixels at f along fast. */
NB_INLINE simple_block simple_block_at(const nb_vector_plan *p, const simple_row *row,
                                       vd2 f)
{
    simple_block to;
    vd2 x = vd2_scale_add(f, row->pixel, vd2_set(row->start));
    vd2 inv_r = vd2_rsqrt(vd2_fma(x, x, vd2_set(row->P2)));
    vd2 inv2 = vd2_mul(inv_r, inv_r), factor = inv2;
    int axis;
    for (axis = 0; axis < 3; axis++)
        to.t[axis] =
            vd2_fma(component(row->cell[axis], x), inv_r, vd2_set(row->offset[axis]));
    if (row->oblique)
        factor = vd2_mul(factor, inv_r);
    factor =
        p->scene.beam.nopolar
            ? vd2_scale(factor, row->crystal)
            : vd2_mul(factor, row_polarization(row, p->scene.beam.polarization, x, inv2));
    to.factor = vf_pack(factor.a, factor.b);
    return to;
}

NB_INLINE void simple_geometry(const nb_vector_plan *p, const simple_row *row,
                               const int *f0, int n, simple_block *to)
{
    int i;
    for (i = 0; i < n; i++)
        to[i] = simple_block_at(p, row, block_pixels(p, f0[i]));
}

NB_INLINE void simple_photons(const nb_vector_plan *p, const simple_block *from,
                              const int *f0, int n, const fixed_case how,
                              const row_output *out)
{
    const fixed_constants c = fixed_constants_of(&p->scene);
    int i;
    for (i = 0; i < n; i++) {
        vf term = fixed_step(&p->table, p->table.F2, &c, from[i].t, how);
        store_block(out, f0[i], term * from[i].factor);
    }
}

#endif
