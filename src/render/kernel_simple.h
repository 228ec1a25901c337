/* SPDX-License-Identifier: MIT */
/** The plainest pictures: a flat detector, one ray a pixel, one source, one orientation, in fixed
 * point (plan.h: simple).  All in one loop, and along a row everything is linear: with P the
 * row's point nearest to the sample and x the way from it along the row V,
 *   R^2 = |P|^2 + x^2   and   a.d = (a.P + x a.V)/R   for any vector a. */
#ifndef NB_RENDER_KERNEL_SIMPLE_H
#define NB_RENDER_KERNEL_SIMPLE_H

#include "kernel_fixed.h"

/** A vector's component along the rays of a row: (at + x along)/R. */
typedef struct row_dot {
    double at, along;
} row_dot;

typedef struct simple_row {
    double pixel, start;   /* x = pixel f + start, m */
    double P2;             /* |P|^2 */
    row_dot cell[3];       /* -a/lambda .. -c/lambda */
    double offset[3];      /* what fixed_step wants added */
    row_dot incident, B, E;
    double omega;          /* solid angle = omega/R^2, or /R^3 when oblique */
    int oblique;
    double crystal, background; /* photons per F_latt^2, and without it, per solid angle */
} simple_row;

NB_INLINE row_dot row_dot_of(nb_vec3 a, nb_vec3 P, nb_vec3 V)
{
    row_dot d;
    d.at = nb_dot(a, P);
    d.along = nb_dot(a, V);
    return d;
}

static simple_row simple_row_of(const nb_plan *p, const row_line *line)
{
    const nb_scene *sc = &p->scene;
    const nb_plan_source *b = &p->sources[0];
    const nb_vec3 cell[3] = {sc->orientations[0].a, sc->orientations[0].b,
                             sc->orientations[0].c};
    double foot = nb_dot(line->U, line->V);
    nb_vec3 P = nb_sub(line->U, nb_scale(foot, line->V));
    simple_row r;
    int i;
    r.pixel = sc->det.pixel;
    r.start = 0.5 * sc->det.pixel + foot;
    r.P2 = nb_dot(P, P);
    for (i = 0; i < 3; i++) {
        r.cell[i] = row_dot_of(nb_scale(-b->inv_lambda, cell[i]), P, line->V);
        r.offset[i] = nb_fixed_start(p->table.kind, p->mode) +
                      nb_dot(cell[i], b->incident) * b->inv_lambda;
    }
    r.incident = row_dot_of(b->incident, P, line->V);
    r.B = row_dot_of(b->B, P, line->V);
    r.E = row_dot_of(b->E, P, line->V);
    r.oblique = !sc->det.point_pixel;
    r.omega = sc->det.pixel_area * (r.oblique ? sc->det.close_distance : 1.0);
    r.crystal = sc->intensity_scale * b->weight * p->table.unit;
    r.background = sc->intensity_scale * b->weight * sc->background;
    return r;
}

/** Component of the rays, from x and 1/R. */
NB_INLINE pair component(row_dot a, pair x, pair inv_r)
{
    return pair_mul(pair_scale_add(x, a.along, pair_set(a.at)), inv_r);
}

/** Polarization as in kernel_rays.h. */
NB_INLINE pair row_polarization(const simple_row *row, double K, pair x, pair inv_r)
{
    pair c = component(row->incident, x, inv_r), e, b;
    if (K == 0)
        return unpolarized(pair_mul(c, c));
    e = component(row->E, x, inv_r);
    b = component(row->B, x, inv_r);
    return polarized(K, pair_mul(c, c), e, b);
}

NB_INLINE void simple_blocks(const nb_plan *p, const simple_row *row, const int *f0, int n,
                             const fixed_case how, vf *value)
{
    const fixed_constants c = fixed_constants_of(&p->scene);
    const double K = p->scene.polarization;
    const int polar = !p->scene.nopolar, oblique = row->oblique;
    int i, axis;
    for (i = 0; i < n; i++) {
        pair x = pair_scale_add(block_pixels(&p->scene.det, f0[i]), row->pixel,
                                pair_set(row->start));
        pair inv_r = pair_rsqrt(pair_fma(x, x, pair_set(row->P2)));
        pair factor = pair_scale(pair_mul(inv_r, inv_r), row->omega), photons, t[3];
        vf term;
        for (axis = 0; axis < 3; axis++)
            t[axis] = pair_fma(
                pair_scale_add(x, row->cell[axis].along, pair_set(row->cell[axis].at)), inv_r,
                pair_set(row->offset[axis]));
        term = fixed_step(&p->table, &c, t, how);
        if (oblique)
            factor = pair_mul(factor, inv_r);
        if (polar)
            factor = pair_mul(factor, row_polarization(row, K, x, inv_r));
        photons = pair_scale_add((pair){vf_unpack(term, 0), vf_unpack(term, 1)}, row->crystal,
                                 pair_set(row->background));
        photons = pair_mul(photons, factor);
        value[i] = vf_pack(photons.a, photons.b);
    }
}

#endif
