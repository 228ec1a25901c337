/* SPDX-License-Identifier: MIT */
/** Geometry of a block of pixels, in double: what src/physics/ray.h says, for NB_W at once. */
#ifndef NB_RENDER_KERNEL_RAYS_H
#define NB_RENDER_KERNEL_RAYS_H

#include "../physics/ray.h"
#include "kernel_math.h"
#include "plan.h"

/** One value for each pixel of a block. */
typedef struct pair {
    vd v[2];
} pair;

/** A ray from the sample to a sub-pixel and layer of each pixel. */
typedef struct rays {
    pair x, y, z;  /* direction, unit */
    pair inv_r;    /* 1/m */
} rays;

/** Positions along one row of sub-pixels: U alpha + V beta, (alpha, beta) = (1, metres along
 * fast) on a flat detector, (cos, sin) of the angle along fast on a curved one. */
typedef struct row_line {
    nb_vec3 U, V;
} row_line;

NB_INLINE row_line line_of(const nb_scene *sc, int s, int subs, int layer)
{
    const nb_detector *det = &sc->det;
    double S = nb_subpixel(det, sc->oversample, s, subs), O = layer * det->layer_step;
    row_line line;
    if (det->curved) {
        double v = (S - det->Sbeam) / det->distance, r = det->distance + O;
        line.U = nb_add(nb_scale(r * cos(v), det->beam), nb_scale(r * sin(v), det->curved_slow));
        line.V = nb_scale(r, det->curved_fast);
    } else {
        line.U = nb_add(nb_scale(S, det->slow), nb_add(nb_scale(O, det->normal), det->pix0));
        line.V = det->fast;
    }
    return line;
}

/** Pixels of the block's two halves, as whole numbers; those past the region repeat its last. */
NB_INLINE pair block_pixels(const nb_detector *det, int f0)
{
    pair f;
    int half, i;
    for (half = 0; half < 2; half++) {
        vd lane = {0};
        for (i = 0; i < NB_H; i++)
            lane[i] = nb_lane[half][i];
        f.v[half] = vd_min(lane + vd_set(f0), vd_set(det->roi_fmax));
    }
    return f;
}

/** Column coordinates of sub-pixel subf: see row_line. */
NB_INLINE void columns(const nb_plan *p, vd f, int subf, vd *alpha, vd *beta)
{
    const nb_detector *det = &p->scene.det;
    int os = p->scene.oversample;
    if (det->curved) {
        int i;
        for (i = 0; i < NB_H; i++) {
            size_t at = (size_t)((int)f[i] - det->roi_fmin) * os + subf;
            (*alpha)[i] = p->cos_u[at];
            (*beta)[i] = p->sin_u[at];
        }
    } else {
        double edge = det->pixel / os;
        *alpha = vd_set(1.0);
        *beta = edge * (f * os + subf) + edge / 2.0;
    }
}

NB_INLINE rays rays_to(const nb_plan *p, const pair *f, const row_line *line, int subf)
{
    rays r;
    int h;
    for (h = 0; h < 2; h++) {
        vd a = {0}, b = {0}, x, y, z, inv;
        columns(p, f->v[h], subf, &a, &b);
        x = vd_fma(b, vd_set(line->V.x), a * line->U.x);
        y = vd_fma(b, vd_set(line->V.y), a * line->U.y);
        z = vd_fma(b, vd_set(line->V.z), a * line->U.z);
        inv = vd_rsqrt(vd_fma(x, x, vd_fma(y, y, z * z)));
        r.x.v[h] = x * inv;
        r.y.v[h] = y * inv;
        r.z.v[h] = z * inv;
        r.inv_r.v[h] = inv;
    }
    return r;
}

NB_INLINE vd dot_ray(const rays *r, int h, nb_vec3 a)
{
    return vd_fma(r->x.v[h], vd_set(a.x),
                  vd_fma(r->y.v[h], vd_set(a.y), r->z.v[h] * a.z));
}

NB_INLINE vd solid_angle(const nb_detector *det, const rays *r, int h)
{
    vd inv = r->inv_r.v[h], omega = det->pixel_area * (inv * inv);
    return det->curved || det->point_pixel ? omega : omega * (det->close_distance * inv);
}

NB_INLINE vd capture(const nb_detector *det, const rays *r, int h, int layer)
{
    vd depth, one = vd_set(1.0);
    if (!det->absorb)
        return one;
    depth = vd_set(det->layer_step * det->mu);
    if (!det->curved)
        depth = depth / dot_ray(r, h, det->normal);
    return vd_exp(-layer * depth) - vd_exp(-(layer + 1) * depth);
}

/** Kahn's polarization factor, as nb_polarization. */
NB_INLINE vd polarization(double K, const nb_plan_source *source, const rays *r, int h)
{
    vd c = dot_ray(r, h, source->incident), c2 = c * c, b, e, in_plane, turn;
    if (K == 0)
        return 0.5 * (1.0 + c2);
    b = dot_ray(r, h, source->B);
    e = dot_ray(r, h, source->E);
    in_plane = vd_fma(b, b, e * e);
    turn = vd_pick((vl)(in_plane > 0.0), (e * e - b * b) / in_plane, vd_set(1.0));
    return 0.5 * (1.0 + c2 - K * turn * (1.0 - c2));
}

#endif
