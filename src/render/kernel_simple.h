/* SPDX-License-Identifier: MIT */
/** The plainest pictures: a flat detector, one ray a pixel, one source, one
 * orientation, in fixed point (plan.h: simple).  Along a row everything is linear:
 * with P the row's point nearest to the sample and x the way from it along the row V,
 *   R^2 = |P|^2 + x^2   and   a.d = (a.P + x a.V)/R   for any vector a. */
#ifndef NB_RENDER_KERNEL_SIMPLE_H
#define NB_RENDER_KERNEL_SIMPLE_H

#include "kernel_fixed.h"

/** A vector's component along the rays of a row: (at + x along)/R. */
typedef struct row_dot {
    double at, along;
} row_dot;

typedef struct simple_row {
    double pixel, start; /* x = pixel f + start, m */
    double P2;           /* |P|^2 */
    row_dot cell[3];     /* -a/lambda .. -c/lambda */
    double offset[3];    /* what fixed_step wants added */
    row_dot incident, B, E;
    int oblique; /* the solid angle goes with 1/R^3, not 1/R^2 */
    double crystal,
        background; /* photons per F_latt^2, and without it, at R = 1 m and, where
                                   polarization counts, half of it */
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
    double scale;
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
    scale = sc->intensity_scale * b->weight * sc->det.pixel_area *
            (r.oblique ? sc->det.close_distance : 1.0) * (sc->nopolar ? 1.0 : 0.5);
    r.crystal = scale * p->table.unit;
    r.background = scale * sc->background;
    return r;
}

/** Component of the rays, from x and 1/R. */
NB_INLINE pair component(row_dot a, pair x, pair inv_r)
{
    return pair_mul(pair_scale_add(x, a.along, pair_set(a.at)), inv_r);
}

/** Twice the polarization factor. */
NB_INLINE pair row_polarization(const simple_row *row, double K, pair x, pair inv_r,
                                pair inv2)
{
    pair c = pair_scale_add(x, row->incident.along, pair_set(row->incident.at));
    pair c2 = pair_mul(pair_mul(c, c), inv2);
    if (K == 0)
        return pair_add(c2, pair_set(1.0));
    return pair_scale(
        polarized(K, c2, component(row->E, x, inv_r), component(row->B, x, inv_r)), 2.0);
}

/** What the first loop hands to the second. */
typedef struct simple_block {
    pair t[3];   /* for fixed_step */
    pair factor; /* photons at 1 m to photons here */
} simple_block;

NB_INLINE void simple_geometry(const nb_plan *p, const simple_row *row, const int *f0,
                               int n, simple_block *to)
{
    const double K = p->scene.polarization;
    const int polar = !p->scene.nopolar, oblique = row->oblique;
    int i, axis;
    for (i = 0; i < n; i++) {
        pair x = pair_scale_add(block_pixels(&p->scene.det, f0[i]), row->pixel,
                                pair_set(row->start));
        pair inv_r = pair_rsqrt(pair_fma(x, x, pair_set(row->P2)));
        pair inv2 = pair_mul(inv_r, inv_r), factor = inv2;
        for (axis = 0; axis < 3; axis++)
            to[i].t[axis] = pair_fma(
                pair_scale_add(x, row->cell[axis].along, pair_set(row->cell[axis].at)),
                inv_r, pair_set(row->offset[axis]));
        if (oblique)
            factor = pair_mul(factor, inv_r);
        if (polar)
            factor = pair_mul(factor, row_polarization(row, K, x, inv_r, inv2));
        to[i].factor = factor;
    }
}

NB_INLINE void simple_photons(const nb_plan *p, const simple_row *row,
                              const simple_block *from, const int *f0, int n,
                              const fixed_case how, const row_output *out)
{
    const fixed_constants c = fixed_constants_of(&p->scene);
    int i;
    for (i = 0; i < n; i++) {
        vf term = fixed_step(&p->table, &c, from[i].t, how);
        pair photons = pair_scale_add((pair){vf_unpack(term, 0), vf_unpack(term, 1)},
                                      row->crystal, pair_set(row->background));
        photons = pair_mul(photons, from[i].factor);
        store_block(out, f0[i], vf_pack(photons.a, photons.b));
    }
}

#endif
