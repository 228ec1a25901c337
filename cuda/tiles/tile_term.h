/* SPDX-License-Identifier: MIT */
/** A pass of an image in blocks of rays (tile_work.h), its rays and its terms. */
#ifndef NB_CUDA_TILE_TERM_H
#define NB_CUDA_TILE_TERM_H

#include "../spots/spot_work.h"
#include "tile_lanes.h"

/** Bits of `how`: the shape, and EXACT for terms in doubles as in the reference; without
 * EXACT, terms are in floats. */
enum { NB_TILE_SHAPE = 7, NB_TILE_EXACT = 8 };
#ifndef __cplusplus
_Static_assert((int)NB_SHAPE_COUNT <= NB_TILE_SHAPE + 1, "a shape has its bits");
#endif

/** First blocks of a panel. */
typedef struct nb_tile_grid {
    int64_t first;    /* number of the first block */
    int across, bits; /* number of blocks along fast; 2^bits rays along an edge */
    int u0, v0;       /* column and row of the first block on the panel */
    size_t lit;       /* first row in nb_tile_pass.lit */
    /* photons of a pixel if each of its rays has a sum of 1 (relative to unit) at a solid
     * angle of 1 */
    double brightness;
} nb_tile_grid;

/** A task that a first block puts into the queue for any warp: all of its groups, or some
 * groups for a block of 2 x 2 rays. */
typedef struct nb_tile_late {
    uint64_t wanted; /* member of nb_tile_walk, as in the next line */
    int panel, layer, u, v;
    int block, n;  /* block, or 0: all blocks; number of groups, or 0: nothing to do */
    uint32_t list; /* index of the first group in nb_tile_queue.words */
    /* photons: member of nb_tile_walk; budgets of a ray for these groups, and for all
     * other groups */
    float photons, budget, others;
} nb_tile_late;

/** The queue of tasks, and of their groups (words). If the queue is full, a task is run
 * at once, with the same result. */
typedef struct nb_tile_queue {
    nb_tile_late *tasks;
    uint32_t *words;
    unsigned tasks_max, words_max;
    unsigned *used; /* [2]: tasks, words */
} nb_tile_queue;

/** Data of a pass; arrays are in the memory of the processor that runs it. */
typedef struct nb_tile_pass {
    nb_spot_pass spots; /* panels, regions, mask and integer sums */
    nb_tiles tiles;     /* its scene is not used */
    nb_tile_packs packs;
    nb_lattice lattice; /* without orientations */
    const nb_tile_grid *grids;
    /* first and last column that may have photons, for each row of a panel */
    const int *lit;
    double bound; /* photons that may be left out of a pixel */
    /* number of items of all panels; only every stride-th item is run */
    int64_t items, stride;
    int by_rows; /* 1: first blocks first test whole rows of groups */
    /* number of groups or rows that share a budget; number of bits of a column's
     * number */
    int chunk, column_bits;
    int single;     /* 1: all sources have the same direction */
    int only_count; /* 1: only count the work */
    nb_tile_queue queue;
    /* the following members are for terms in floats */
    double inverse_unit;
    int N[3];
    float form[3]; /* ROUND: fudge N^2 2^-64, for fractions in units of 2^-32 */
    float height2; /* ROUND: F_latt^2 at a reflection */
} nb_tile_pass;

/* ------------------------------------------------------------------ rays */

/** The ray to a sub-pixel of a flat panel. */
NB_HD nb_ray nb_tile_ray_to(const nb_tile_pass *p, int k, int layer, int u, int v)
{
    const nb_panel *panel = &p->spots.panels[k];
    const nb_spot_ray at = {
        &p->spots.scene, panel, &p->spots.sensors[panel->sensor], NULL, u, v, layer};
    return nb_spot_ray_of(&at);
}

NB_HD int nb_tile_panel_of(const nb_tile_pass *p, int64_t item)
{
    int low = 0, high = p->spots.scene.n_panels - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (p->grids[middle].first <= item)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** True if the pixel is requested and may have photons. */
NB_HD int nb_tile_wants(const nb_tile_pass *p, int k, int f, int s)
{
    const nb_spot_pass *sp = &p->spots;
    const nb_panel *panel = &sp->panels[k];
    const nb_region *r = &sp->regions[k];
    const int *lit = p->lit + 2 * (p->grids[k].lit + (size_t)s);
    if (f < r->fmin || f > r->fmax || s < r->smin || s > r->smax || f < lit[0] ||
        f > lit[1])
        return 0;
    return !sp->mask ||
           sp->mask[panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f];
}

/** Factor of the terms of a ray. */
NB_HD_CALL double nb_tile_factor(const nb_tile_pass *p, int k, int layer, int u, int v)
{
    const nb_ray at = nb_tile_ray_to(p, k, layer, u, v);
    return at.capture * (p->spots.scene.oversample_omega ? at.omega : 1);
}

/* ------------------------------------------------------------------ terms */

/** Two running sums of a ray: in double, electrons^2; in float, relative to unit. */
typedef struct nb_tile_sum {
    double total;
    float run;
} nb_tile_sum;

/** Polarization factor for a source and the ray d, or 0 if -dmin removes the
 * scattering. */
NB_HD_CALL double nb_tile_variation(const nb_tile_pass *p, int source, nb_vec3 d)
{
    const nb_scene *sc = &p->spots.scene;
    const nb_source *from = &sc->beam.sources[p->tiles.source[source]];
    if (nb_culled(&sc->factors, nb_scattering_vector(from, d)))
        return 0;
    return sc->oversample_polar && !sc->beam.nopolar
               ? nb_polarization(sc->beam.polarization, from->incident, d,
                                 sc->beam.polar_axis)
               : 1;
}

/** F^2 F_latt^2 of a step for a ray, as in the reference, electrons^2. */
NB_HD double nb_tile_exact_term(const nb_tile_pass *p, int m, int source, nb_vec3 d,
                                int shape)
{
    const nb_tiles *t = &p->tiles;
    const nb_scene *sc = &p->spots.scene;
    const nb_source *from = &sc->beam.sources[t->source[source]];
    const size_t n = (size_t)t->orientations;
    const double *a = t->cells + m;
    nb_lattice lattice = p->lattice;
    nb_orientation cell;
    nb_sample at;
    cell.a = nb_v3(a[0], a[n], a[2 * n]);
    cell.b = nb_v3(a[3 * n], a[4 * n], a[5 * n]);
    cell.c = nb_v3(a[6 * n], a[7 * n], a[8 * n]);
    lattice.shape = shape;
    at = nb_sample_at(&lattice, &sc->factors.table, from->table, &cell,
                      nb_scattering_vector(from, d));
    return at.F_cell * at.F_cell * at.F_latt * at.F_latt;
}

#ifdef NB_GPU_DEVICE_PASS
#include "tile_fast.cuh"
#endif

NB_TILE_HD void nb_tile_sum_add(const nb_tile_pass *p, nb_tile_sum *sum, int m,
                                int source, nb_vec3 d, const int how)
{
#ifdef NB_GPU_DEVICE_PASS
    if (!(how & NB_TILE_EXACT)) {
        const nb_tile_fast step = nb_tile_fast_of(p, m, source);
        if (step.weight > 0)
            sum->run = fmaf(nb_tile_fast_weight(p, &step, d),
                            nb_tile_fast_term(p, &step, d, how & NB_TILE_SHAPE), sum->run);
        return;
    }
#endif
    double weight = p->tiles.weight[source] * p->tiles.present[m];
    if (p->tiles.varies)
        weight *= nb_tile_variation(p, source, d);
    if (weight > 0)
        sum->total += weight * nb_tile_exact_term(p, m, source, d, how & NB_TILE_SHAPE);
}

NB_HD double nb_tile_sum_end(const nb_tile_pass *p, const nb_tile_sum *sum)
{
    return sum->total + (double)sum->run * p->tiles.unit;
}

/* Geometry of a first block: its rays, and the smaller blocks in it (tile_work.h). */

enum {
    NB_TILE_CHUNK = 704, /* limit of groups of a first block that share a budget */
    NB_TILE_ROOM = 704,  /* entries of the stack after these groups */
    NB_TILE_STACK = NB_TILE_CHUNK + NB_TILE_ROOM,
    NB_TILE_ROW = 44,  /* limit of groups of a row that is tested as a whole */
    NB_TILE_SMALL = 2, /* 4 rays along the edge of the smallest first block */
    NB_TILE_LARGE = 3, /* 8 rays along the edge of the largest first block */
    NB_TILE_RAYS = 1 << 2 * NB_TILE_LARGE,
    NB_TILE_BLOCKS = 1 + 4 + 16, /* a first block, its quarters, and their quarters */
    NB_TILE_CORNERS = -1         /* value of nb_tile_walk.only */
};

/** Data shared by the lanes of a warp. */
typedef struct nb_tile_shared {
    double ray[3][NB_TILE_RAYS]; /* directions of the rays */
    /* the first block, its quarters, and their quarters; each size row by row */
    nb_ray_block block[NB_TILE_BLOCKS];
    uint32_t stack[NB_TILE_STACK];
    uint32_t bins[NB_TILE_LANES]; /* bins for nb_tile_heap, all 0 between two heaps */
} nb_tile_shared;

/** Counts of the work: first blocks, smaller blocks, 32 tests of groups, 32 tests of
 * steps, 8 steps of 4 rays. */
enum {
    NB_TILE_FIRST,
    NB_TILE_SMALLER,
    NB_TILE_TESTS,
    NB_TILE_STEP_TESTS,
    NB_TILE_TERMS,
    NB_TILE_TALLIES
};

/** State of a warp that works on a first block. */
typedef struct nb_tile_walk {
    const nb_tile_pass *p;
    nb_tile_shared *w;
    /* u, v: the block's first sub-pixel of the panel; 2^bits rays along an edge */
    int panel, layer, u, v, bits;
    uint64_t wanted; /* bit for each ray, row by row: 1 if the ray is needed */
    /* number of the only block of 2 x 2 rays that is needed; 0: all blocks;
     * NB_TILE_CORNERS: only the first block, from its corners */
    int only;
    /* photons of a pixel if each of its rays has a sum of 1 (relative to unit) */
    float photons;
    float lack; /* largest number of photons left out of a pixel so far */
    unsigned tally[NB_TILE_TALLIES];
} nb_tile_walk;

/** True if the pass needs the ray to sub-pixel (u, v) of a panel. */
NB_HD int nb_tile_wants_ray(const nb_tile_pass *p, int panel, int u, int v)
{
    const nb_panel *of = &p->spots.panels[panel];
    const int os = p->spots.scene.oversample, f = os > 1 ? u / os : u,
              s = os > 1 ? v / os : v;
    return f < of->columns && s < of->rows && nb_tile_wants(p, panel, f, s);
}

/** Set the walk to item i, and find the needed rays. */
NB_TILE_HD void nb_tile_place(nb_tile_walk *k, int64_t i)
{
    const nb_tile_pass *p = k->p;
    const nb_tile_grid *grid;
    int number;
    k->panel = nb_tile_panel_of(p, i);
    grid = &p->grids[k->panel];
    k->bits = grid->bits;
    number = (int)(i - grid->first);
    k->u = (grid->u0 + number % grid->across) << k->bits;
    k->v = (grid->v0 + number / grid->across) << k->bits;
    k->wanted = 0;
    for (int from = 0; from < 1 << 2 * k->bits; from += NB_TILE_LANES) {
        NB_LANE_OF(int, want);
        NB_EACH_LANE(lane)
        {
            const int ray = from + lane, u = ray & ((1 << k->bits) - 1),
                      v = ray >> k->bits;
            NB_LANE(want) = ray < 1 << 2 * k->bits &&
                            nb_tile_wants_ray(p, k->panel, k->u + u, k->v + v);
        }
        k->wanted |= (uint64_t)nb_lanes_ballot(want) << from;
    }
}

/** Upper bound of the photons of a pixel of the first block at (u, v), for a sum of 1
 * (relative to unit) of each ray. */
NB_HD_CALL double nb_tile_photons(const nb_tile_pass *p, int k, int u, int v)
{
    const nb_spot_pass *sp = &p->spots;
    const int os = sp->scene.oversample, edge = 1 << p->grids[k].bits;
    nb_panel panel = sp->panels[k];
    const int nu = panel.columns * os - u, nv = panel.rows * os - v;
    const double from[2] = {(double)u, (double)v},
                 count[2] = {(double)(nu < edge ? nu : edge),
                             (double)(nv < edge ? nv : edge)};
    panel.curved = 0; /* lets the compiler drop code for curved panels */
    return nb_tile_largest_angle(&panel, &sp->sensors[panel.sensor], os, from, count) *
           p->grids[k].brightness;
}

/** Direction of a ray; rays outside the panel are moved to its edge. */
NB_HD_CALL nb_vec3 nb_tile_direction(const nb_tile_pass *p, int k, int layer, int u, int v)
{
    const nb_panel *panel = &p->spots.panels[k];
    const int os = p->spots.scene.oversample, last_u = panel->columns * os - 1,
              last_v = panel->rows * os - 1;
    return nb_tile_ray_to(p, k, layer, u < last_u ? u : last_u, v < last_v ? v : last_v)
        .direction;
}

/** Make block b of a first block from its corner rays. */
NB_HD_CALL nb_ray_block nb_tile_block_from(const nb_tile_pass *p, const nb_tile_shared *w,
                                           int k, int b)
{
    const nb_panel *panel = &p->spots.panels[k];
    const int bits = p->grids[k].bits, level = b < 1 ? 0 : b < 5 ? 1 : 2;
    const int i = b < 1 ? 0 : b < 5 ? b - 1 : b - 5, edge = 1 << (bits - level);
    const int u = (i & ((1 << level) - 1)) * edge, v = (i >> level) * edge;
    nb_vec3 corner[4];
    for (int j = 0; j < 4; j++) {
        const int ray = ((v + j / 2 * (edge - 1)) << bits) + u + j % 2 * (edge - 1);
        corner[j] = nb_v3(w->ray[0][ray], w->ray[1][ray], w->ray[2][ray]);
    }
    return nb_ray_block_of(&p->tiles, corner,
                           nb_tile_depth(panel, &p->spots.sensors[panel->sensor],
                                         edge * (panel->pixel_fast + panel->pixel_slow) /
                                             p->spots.scene.oversample),
                           NB_TILE_WIDEN);
}

/** Index in the first block of ray 0 .. 3 of block `block`, which has 2 x 2 rays. */
NB_HD int nb_tile_leaf_ray(const nb_tile_walk *k, int block, int ray)
{
    const int level = k->bits - 1, i = block - (level == 1 ? 1 : 5);
    const int u = (i & ((1 << level) - 1)) * 2 + ray % 2, v = (i >> level) * 2 + ray / 2;
    return (v << k->bits) + u;
}

/** Index of ray number `lane` that a walk needs: among all rays, the rays of its only
 * block, or the corner rays. */
NB_TILE_HD int nb_tile_aimed_ray(const nb_tile_walk *k, int lane)
{
    const int last = (1 << k->bits) - 1;
    if (k->only == 0)
        return lane;
    return k->only > 0 ? nb_tile_leaf_ray(k, k->only, lane)
                       : (lane / 2 * last << k->bits) + lane % 2 * last;
}

/** Set the rays of the walk's layer, and the blocks: all, or only the blocks that k->only
 * selects. */
NB_TILE_HD void nb_tile_aim(nb_tile_walk *k)
{
    const int all = k->only == 0, n = all ? 1 << 2 * k->bits : 4;
    const int first = k->only > 0 ? k->only : 0, blocks = !all ? 1
                                                          : k->bits == NB_TILE_LARGE
                                                              ? NB_TILE_BLOCKS
                                                              : 5;
    nb_lanes_meet();
    NB_TILE_ROLLED
    for (int from = 0; from < n; from += NB_TILE_LANES)
        NB_EACH_LANE(lane)
    if (from + lane < n) {
        const int ray = nb_tile_aimed_ray(k, from + lane);
        const nb_vec3 d = nb_tile_direction(k->p, k->panel, k->layer,
                                            k->u + (ray & ((1 << k->bits) - 1)),
                                            k->v + (ray >> k->bits));
        k->w->ray[0][ray] = d.x;
        k->w->ray[1][ray] = d.y;
        k->w->ray[2][ray] = d.z;
    }
    nb_lanes_meet();
    NB_EACH_LANE(lane)
    if (lane < blocks)
        k->w->block[first + lane] = nb_tile_block_from(k->p, k->w, k->panel, first + lane);
    nb_lanes_meet();
}

#endif
