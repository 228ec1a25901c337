/* SPDX-License-Identifier: MIT */
/** Upper bounds of the terms of a block of rays (../plan/tiles.h), in floats with margins
 * for rounding. A lane is a step or a group of 16 steps. Mathematics: plans/paths.md,
 * section 4. */
#ifndef NB_TERMS_TILE_BOUNDS_H
#define NB_TERMS_TILE_BOUNDS_H

#include "../physics/ray.h"
#include "../plan/tiles.h"
#include "lane.h"

#define NB_TILE_UP 1.0001f /* factor that covers all roundings of a bound */
/* Rounding errors of an index h = kappa a.(d - i) in floats: relative to kappa |a| |d -
 * i|, and from d and i, which are of size 1. */
#define NB_TILE_ROUNDING 6e-7
#define NB_TILE_UNIT_ROUNDING 2.4e-7
#define NB_TILE_WIDEN (1 + 1e-6) /* margin of half-widths for rounding */
/* from this half-width on, a neighbour may be the nearest reflection */
#define NB_TILE_ACROSS 0.49999f
/* from this half-width on, any reflection may be the nearest */
#define NB_TILE_WIDE 0.99999f
#define NB_TILE_ROUND_FLOOR 1e-20f /* keeps the bound of a sphere finite at its middle */

/** A block of rays d. */
typedef struct nb_ray_block {
    double c[3];   /* middle of the rays' directions */
    float half[3]; /* largest difference of a step's index from its value for c */
    float off;     /* largest |c - i|, i: direction of a source */
} nb_ray_block;

/** Largest change of a direction in a block because the mean depth varies. extent: sum of
 * the block's edges, m. f(p) = 1/p - 1/(e^p - 1) falls by at most 1/12 of the range of
 * the path p. */
NB_HD double nb_tile_depth(const nb_panel *panel, const nb_sensor *sensor, double extent)
{
    const double height = nb_dot(panel->pix0, panel->normal);
    const double path = sensor->layer_step * sensor->mu;
    if (!sensor->mean_depth)
        return 0;
    return sensor->layer_step * path * extent / (12 * height * height) * NB_TILE_WIDEN;
}

/** The block with these four corner rays. A ray of the block is d = v/|v| with v in the
 * hull of the corner rays, and |d - v| <= max |corner - c|^2. depth: nb_tile_depth;
 * margin: NB_TILE_WIDEN, or other values in tests. */
NB_HD nb_ray_block nb_ray_block_of(const nb_tiles *s, const nb_vec3 corner[4],
                                   double depth, double margin)
{
    nb_ray_block b;
    double ext[3] = {0}, far2 = 0, far, off = 0;
    b.c[0] = 0.25 * (corner[0].x + corner[1].x + corner[2].x + corner[3].x);
    b.c[1] = 0.25 * (corner[0].y + corner[1].y + corner[2].y + corner[3].y);
    b.c[2] = 0.25 * (corner[0].z + corner[1].z + corner[2].z + corner[3].z);
    for (int k = 0; k < 4; k++) {
        const nb_vec3 e =
            nb_v3(corner[k].x - b.c[0], corner[k].y - b.c[1], corner[k].z - b.c[2]);
        far2 = fmax(far2, nb_dot(e, e));
        for (int i = 0; i < 3; i++)
            ext[i] = fmax(ext[i], fabs(nb_dot(s->cell[i], e)));
    }
    far = sqrt(far2) + 2 * depth;
    off = nb_norm(nb_sub(nb_v3(b.c[0], b.c[1], b.c[2]), s->beam)) + s->spread;
    b.off = (float)(off * (1 + 1e-6));
    for (int i = 0; i < 3; i++) {
        double change = ext[i] + s->turn[i] * far +
                        s->length[i] * (far * far + 2 * depth + NB_TILE_ROUNDING * off +
                                        NB_TILE_UNIT_ROUNDING * (s->spread > 0));
        b.half[i] = (float)(margin * s->kappa_max * change + 3e-7);
    }
    return b;
}

/** Upper bound of the solid angles of a block's pixels and rays. from: first sub-pixel
 * along fast and slow of the panel; count: number of sub-pixels. */
NB_HD double nb_tile_largest_angle(const nb_panel *panel, const nb_sensor *sensor,
                                   int oversample, const double from[2],
                                   const double count[2])
{
    const double fast = panel->pixel_fast / oversample,
                 slow = panel->pixel_slow / oversample;
    const nb_vec3 middle = nb_panel_point(panel, (from[0] + 0.5 * count[0]) * fast,
                                          (from[1] + 0.5 * count[1]) * slow, 0);
    /* half the block, one pixel (its first ray may be outside), and the sensor */
    const double off = 0.5 * (count[0] * fast + count[1] * slow) + panel->pixel_fast +
                       panel->pixel_slow + sensor->layers * sensor->layer_step;
    const double r = nb_norm(middle) - off, close = panel->close_distance;
    double omega = close > 0 ? panel->pixel_area / (close * close) : INFINITY;
    if (r > 0)
        omega = fmin(omega, panel->pixel_area / (r * r) *
                                (panel->point_pixel ? 1 : fmin(1.0, close / r)));
    return omega * (1 + 1e-6);
}

/** Upper bound of F_latt^2 of a square crystal, for distances of at least d[] from whole numbers:
 * |sin(pi N d)/sin(pi d)| <= min(N, 1/s), s = 3 d - 4 d^3 <= sin(pi d). */
NB_TERM vf nb_tile_square_bound(const nb_tiles *t, const vf d[3])
{
    vf product = vf_set(1);
    for (int i = 0; i < 3; i++) {
        const vf s = d[i] * vf_mad(-4.0f * d[i], d[i], vf_set(3));
        product = product * vf_max(s * s, vf_set(t->least[i]));
    }
    return vf_over(vf_set(1), product);
}

/** Upper bound of F_latt^2 of a round crystal: S^2 <= 9 (1 + x^2)/x^6. */
NB_TERM vf nb_tile_round_bound(const nb_tiles *t, const vf d[3])
{
    vf x2 = vf_set(0);
    for (int i = 0; i < 3; i++)
        x2 = vf_fma(d[i] * d[i], vf_set(t->radius[i]), x2);
    return vf_min(vf_set(1),
                  vf_over(9.0f * (1.0f + x2), x2 * x2 * x2 + NB_TILE_ROUND_FLOOR)) *
           t->peak;
}

/** Upper bound of F^2 F_latt^2 / t->unit, if each index differs from h[] by up to half[].
 * shape: t->shape. */
NB_TERM vf nb_tile_bound(const nb_tiles *t, const vf h[3], const vf half[3],
                         const int shape)
{
    const nb_tile_factors *f = &t->factors;
    vf d[3], bound;
    vi at[3], pair;
    vf_mask across = vf_nowhere(), wide = vf_nowhere();
    for (int i = 0; i < 3; i++) {
        const vf big = h[i] + NB_ROUND_FLOAT, off = vf_abs(h[i] - (big - NB_ROUND_FLOAT));
        at[i] = vi_clamp(vi_sub(vf_bits(big), vi_set(NB_ROUND_FLOAT_BITS + f->low[i])),
                         f->n[i] - 1);
        across |= (vf_mask)(off + half[i] >= NB_TILE_ACROSS);
        wide |= (vf_mask)(half[i] >= NB_TILE_WIDE);
        d[i] = vf_max(off - half[i], vf_set(0));
    }
    bound = nb_shape_law(shape) == NB_LAW_SPHERE ? nb_tile_round_bound(t, d)
                                                 : nb_tile_square_bound(t, d);
    pair = vi_add(vi_add(vi_shl(at[0], f->shift[0]), vi_shl(at[1], f->shift[1])), at[2]);
    pair = vi_count(vi_add(pair, pair), across);
    bound = bound * vf_gather(f->pairs, pair);
    return vf_pick(wide, vf_set(t->peak), bound) * NB_TILE_UP;
}

/** The sources of a column: kappa_middle, kappa_range, stray and weights of nb_tiles. */
typedef struct nb_tile_column {
    float kappa, range, stray, weight;
} nb_tile_column;

/** Upper bound of each term of a group for weight 1. middle[k]: a_k.(b->c - i), a_k of
 * the mean orientation, i the column's mean direction. away: nb_tiles.away. */
NB_TERM vf nb_tile_group_bound(const nb_tiles *t, const nb_ray_block *b,
                               const nb_tile_column *column, const vf middle[3],
                               const vf away[3], const int shape)
{
    vf h[3], half[3];
    for (int i = 0; i < 3; i++) {
        const float fixed = nb_mad(t->length_f[i], column->stray, b->half[i]);
        h[i] = middle[i] * column->kappa;
        half[i] = vf_fma(vf_abs(h[i]), vf_set(column->range),
                         vf_fma(away[i], vf_set(b->off), vf_set(fixed)));
    }
    return nb_tile_bound(t, h, half, shape);
}

/** Upper bound of a step's term for weight 1. h: indices of the step for the ray b->c. */
NB_TERM vf nb_tile_step_bound(const nb_tiles *t, const nb_ray_block *b, const vf h[3],
                              const int shape)
{
    const vf half[3] = {vf_set(b->half[0]), vf_set(b->half[1]), vf_set(b->half[2])};
    return nb_tile_bound(t, h, half, shape);
}

/** The orientation of step 0 .. 15 of a group; the next function returns its source. */
NB_HD int nb_tile_orientation(const nb_tiles *t, int row, int step)
{
    return t->by_source ? row : row * NB_TILE_STEPS + step;
}

NB_HD int nb_tile_source(const nb_tiles *t, int column, int step)
{
    return t->by_source ? column * NB_TILE_STEPS + step : column;
}

#endif
