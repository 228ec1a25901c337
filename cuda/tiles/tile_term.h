/* SPDX-License-Identifier: MIT */
/** A pass of a picture in blocks of rays (tile_work.h), its rays and its terms. */
#ifndef NB_CUDA_TILE_TERM_H
#define NB_CUDA_TILE_TERM_H

#include "../spots/spot_work.h"
#include "tile_packs.h"

/** Kinds of arithmetic of terms: a shape, and doubles as in the reference, or floats. */
enum { NB_TILE_SHAPE = 7, NB_TILE_EXACT = 8 };
#ifndef __cplusplus
_Static_assert((int)NB_SHAPE_COUNT <= NB_TILE_SHAPE + 1, "a shape has its bits");
#endif

/** First blocks of a panel. */
typedef struct nb_tile_grid {
    int64_t first;    /* number of its first block */
    int across, bits; /* blocks side by side; 2^bits rays along an edge */
    int u0, v0;       /* its first block, counted from the panel's corner, in blocks */
    size_t lit;       /* its first row in nb_tile_pass.lit */
    double brightness; /* photons of a pixel for a sum of 1, relative to unit, of all its rays at a
                            solid angle of 1 */
} nb_tile_grid;

/** A task that a first block leaves to a later warp: its groups, or some of them for a block of 2
 * x 2 rays. */
typedef struct nb_tile_late {
    uint64_t wanted; /* as the next, of nb_tile_walk */
    int panel, layer, u, v;
    int block, n;                /* block 0: all; groups, 0: nothing */
    uint32_t list;               /* its first group, in words */
    float photons, budget, rest; /* of the ray: for these groups, for all others */
} nb_tile_late;

/** The queue of tasks; without room a task is done at once, with the same result. */
typedef struct nb_tile_queue {
    nb_tile_late *tasks;
    uint32_t *words;
    unsigned most_tasks, most_words;
    unsigned *used; /* [2] tasks, words */
} nb_tile_queue;

/** Data of a pass; arrays are in the memory where it runs. */
typedef struct nb_tile_pass {
    nb_spot_pass spots; /* sums and where they go */
    nb_tiles tiles;     /* its scene is not used */
    nb_tile_packs packs;
    nb_lattice lattice; /* without orientations */
    const nb_tile_grid *grids;
    const int *lit; /* first and last column of each row of a panel that may have photons */
    double bound;   /* photons that a pixel may lack */
    int64_t items, stride;  /* of all panels; only each stride-th is done */
    int by_rows;            /* first tests are of rows of groups */
    int chunk, column_bits; /* groups, or rows of them, that share a budget */
    int single;             /* all sources have one direction */
    int only_count;
    nb_tile_queue queue;
    /* of terms in floats */
    double inverse_unit;
    int N[3];
    float form[3]; /* ROUND: fudge N^2, of fractions in units of 2^-64 */
    float height2; /* ROUND: of the lattice factor */
} nb_tile_pass;

/* ------------------------------------------------------------------ rays */

/** The ray to a sub-pixel of a panel, which is flat. */
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

/** Is the pixel requested, and may it have photons? */
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

/** Factor of a ray, without its terms. */
NB_HD_CALL double nb_tile_factor(const nb_tile_pass *p, int k, int layer, int u, int v)
{
    const nb_ray at = nb_tile_ray_to(p, k, layer, u, v);
    return at.capture * (p->spots.scene.oversample_omega ? at.omega : 1);
}

/* ------------------------------------------------------------------ terms */

/** Running sums of a ray: in double, relative to 1 electron^2, and in float, relative to unit. */
typedef struct nb_tile_sum {
    double total;
    float run;
} nb_tile_sum;

/** Polarization of a source's ray, and 0 where -dmin culls. */
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

/** F^2 F_latt^2 as in the reference, electrons^2. */
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

#endif
