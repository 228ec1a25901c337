/* SPDX-License-Identifier: MIT */
/** Groups and steps of blocks of rays in packs of four numbers, as a lane reads them
 * (src/plan/tiles.h has separate arrays, for vectors). */
#ifndef NB_CUDA_TILE_PACKS_H
#define NB_CUDA_TILE_PACKS_H

#include "tile_lanes.h"

#include "../../src/terms/tile_bounds.h"

typedef struct nb_tile_four {
    float x, y, z, w;
} nb_tile_four;

typedef struct nb_tile_two {
    float x, y;
} nb_tile_two;

/** Packed arrays, in the memory where the pass runs. */
typedef struct nb_tile_packs {
    const nb_tile_four *rows; /* [3][rows] an axis in the middle, away */
    const nb_tile_four *columns; /* [columns + 1] kappa_middle, kappa_range, stray, weights */
    const nb_tile_four *axes;   /* [3][orientations] */
    const nb_tile_two *sources; /* [sources] kappa, weight */
} nb_tile_packs;

NB_HD nb_tile_four nb_tile_four_at(const nb_tile_four *at)
{
#ifdef NB_GPU_DEVICE_PASS
    const float4 x = __ldg((const float4 *)at);
    const nb_tile_four four = {x.x, x.y, x.z, x.w};
    return four;
#else
    return *at;
#endif
}

NB_HD nb_tile_two nb_tile_two_at(const nb_tile_two *at)
{
#ifdef NB_GPU_DEVICE_PASS
    const float2 x = __ldg((const float2 *)at);
    const nb_tile_two two = {x.x, x.y};
    return two;
#else
    return *at;
#endif
}

/** A group: orientations of a row and sources of a column. */
typedef struct nb_step_group {
    float a[9];            /* axes in the middle of the orientations */
    float away[3];         /* nb_tiles.away */
    nb_tile_column column; /* weight: of all steps */
} nb_step_group;

NB_TILE_HD nb_step_group nb_tile_group_at(const nb_tiles *t, const nb_tile_packs *from,
                                          int row, int column)
{
    const nb_tile_four c = nb_tile_four_at(&from->columns[column]);
    nb_step_group g;
    g.column.kappa = c.x;
    g.column.range = c.y;
    g.column.stray = c.z;
    g.column.weight = t->by_source ? c.w : c.w * t->count[row];
    for (int i = 0; i < 3; i++) {
        const nb_tile_four a = nb_tile_four_at(&from->rows[i * t->rows + row]);
        g.a[3 * i] = a.x;
        g.a[3 * i + 1] = a.y;
        g.a[3 * i + 2] = a.z;
        g.away[i] = a.w;
    }
    return g;
}

/** A group's bound times its weights.  q: the block's middle less the column's direction. */
NB_TERM vf nb_tile_packed_bound(const nb_tiles *t, const nb_ray_block *b,
                                const nb_step_group *g, const float q[3], const int shape)
{
    vf middle[3], away[3];
    for (int i = 0; i < 3; i++) {
        const float *a = g->a + 3 * i;
        middle[i] = vf_fma(vf_set(a[0]), vf_set(q[0]),
                           vf_fma(vf_set(a[1]), vf_set(q[1]), vf_set(a[2] * q[2])));
        away[i] = vf_set(g->away[i]);
    }
    return nb_tile_group_bound(t, b, &g->column, middle, away, shape) * g->column.weight;
}

/** A step's bound times its weight.  along: its axes times the block's middle less the source's direction. */
NB_TERM vf nb_tile_along_bound(const nb_tiles *t, const nb_ray_block *b, float kappa,
                               float weight, const float along[3], const int shape)
{
    const vf h[3] = {vf_set(along[0] * kappa), vf_set(along[1] * kappa),
                     vf_set(along[2] * kappa)};
    return nb_tile_step_bound(t, b, h, shape) * weight;
}

/** An orientation's axes times q, the block's middle less the source's direction. */
NB_TILE_HD void nb_tile_along(const nb_tiles *t, const nb_tile_packs *from,
                              int orientation, const float q[3], float along[3])
{
    for (int i = 0; i < 3; i++) {
        const nb_tile_four a =
            nb_tile_four_at(&from->axes[i * t->orientations + orientation]);
        along[i] = fmaf(a.x, q[0], fmaf(a.y, q[1], a.z * q[2]));
    }
}

/* ------------------------------------------------------------------ on the host */

/** Numbers of packs of four and of two numbers. */
static inline size_t nb_tile_packs_fours(const nb_tiles *t)
{
    return 3 * (size_t)t->rows + (size_t)t->columns + 1 + 3 * (size_t)t->orientations;
}

static inline size_t nb_tile_packs_bytes(const nb_tiles *t)
{
    return nb_tile_packs_fours(t) * sizeof(nb_tile_four) +
           (size_t)t->sources * sizeof(nb_tile_two);
}

/** Where they stand in so many bytes. */
static inline nb_tile_packs nb_tile_packs_in(const nb_tiles *t, const void *bytes)
{
    nb_tile_packs p;
    p.rows = (const nb_tile_four *)bytes;
    p.columns = p.rows + 3 * (size_t)t->rows;
    p.axes = p.columns + t->columns + 1;
    p.sources = (const nb_tile_two *)(p.rows + nb_tile_packs_fours(t));
    return p;
}

/** Three axes of n, from arrays `stride` apart. */
static inline nb_tile_four *nb_tile_pack_axes(nb_tile_four *to, const float *from,
                                              const float *w, size_t n, size_t stride)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t m = 0; m < n; m++, to++) {
            const float *a = from + 3 * i * stride + m;
            *to =
                (nb_tile_four){a[0], a[stride], a[2 * stride], w ? w[i * stride + m] : 0};
        }
    return to;
}

static inline void nb_tile_packs_fill(const nb_tiles *t, void *bytes)
{
    nb_tile_four *to = (nb_tile_four *)bytes;
    nb_tile_two *two;
    to = nb_tile_pack_axes(to, t->middle, t->away, (size_t)t->rows, t->row_stride);
    for (int c = 0; c <= t->columns; c++)
        *to++ = (nb_tile_four){t->kappa_middle[c], t->kappa_range[c], t->stray[c],
                               t->weights[c]};
    to = nb_tile_pack_axes(to, t->cells_f, NULL, (size_t)t->orientations,
                           (size_t)t->orientations);
    two = (nb_tile_two *)to;
    for (int s = 0; s < t->sources; s++)
        two[s] = (nb_tile_two){t->kappa_f[s], t->weight_f[s]};
}

#endif
