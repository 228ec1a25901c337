/* SPDX-License-Identifier: MIT */
/** Find the steps whose terms may count for a block of rays, for crystals whose spots
 * have long tails. Steps are in groups of 16. Mathematics and bounds: plans/paths.md,
 * section 4.
 *
 *   d          ray, unit        i, kappa  source: direction, 1/wavelength
 *   h_k        kappa a_k.(d - i), a_k: axis k of an orientation
 *   group      16 sources of an orientation, or 16 orientations of a source
 *   row        1 or 16 orientations; column: 16 sources or 1 */
#ifndef NB_PLAN_TILES_H
#define NB_PLAN_TILES_H

#include "../physics/structure_factor.h"
#include "plan.h"

enum { NB_TILE_STEPS = 16 };

/** F^2 / unit: pairs[2 i] belongs to a reflection, and pairs[2 i + 1] is the largest
 * value of this reflection and its 26 neighbours. i = (i_h << shift[0]) + (i_k <<
 * shift[1]) + i_l, each 0..n - 1. */
typedef struct nb_tile_factors {
    int32_t low[3], n[3], shift[2];
    float *pairs; /* owned */
} nb_tile_factors;

typedef struct nb_tiles {
    const nb_scene *scene;
    int shape;
    int by_source;             /* 1: groups of sources; 0: of orientations */
    int orientations, sources; /* number with padding to whole groups */
    int rows, columns;         /* number of rows and columns of groups */
    size_t row_stride;         /* number of rows, with padding */
    /* Steps, in the order of the groups. Padding repeats the last step, with weight 0. */
    double *cells;       /* [9][orientations] m: a_x a_y a_z b_x ... */
    double *present;     /* [orientations] 1, padding 0 */
    double *kappa;       /* [sources] 1/m */
    double *weight;      /* [sources] */
    double *incident[3]; /* [sources] */
    int *source;         /* [sources] index in the scene */
    float *cells_f, *kappa_f, *weight_f,
        *incident_f[3]; /* the same numbers as floats; weights are rounded up */
    /* Groups. Arrays of columns have a last entry for all sources. */
    float *middle;      /* [9][row_stride] middle of the cells of a row */
    float *away;        /* [3][row_stride] largest |a - middle| times the largest kappa */
    float *count;       /* [row_stride] number of orientations, 0 in the padding */
    double *towards[3]; /* [columns] middle of the directions of a column */
    float *kappa_middle; /* [columns] */
    float *kappa_range;  /* [columns] largest |kappa/middle - 1| */
    float *stray;        /* [columns] largest |i - middle| times the largest kappa */
    float *weights;      /* [columns] sum of the weights */
    /* [columns] 1: all sources have one direction; 2: the same direction as in the column
     * before */
    int *uniform;
    /* Beam and crystal as a whole. */
    double kappa_max;
    nb_vec3 beam;      /* middle of the directions */
    double spread;     /* largest |i - beam| */
    nb_vec3 cell[3];   /* middle of the orientations */
    double turn[3];    /* largest |a - cell| */
    double length[3];  /* largest |a| */
    float length_f[3]; /* the same, rounded up */
    double unit;       /* largest F^2 */
    float least[3];    /* lower bound of 1/N^2 (square shape) */
    float radius[3];   /* lower bound of fudge (pi N)^2 (round shape) */
    float peak;        /* upper bound of F_latt^2 */
    int varies;        /* weights depend on the ray: -dmin, -oversample_polar */
    nb_tile_factors factors;
    void *memory; /* owned; memory of all arrays except factors */
    size_t bytes; /* size of memory */
} nb_tiles;

/** True if the spots of the crystal have long tails. */
int nb_tiles_suit(const nb_scene *scene);

/** Reason why a scene cannot be rendered in blocks, in a few words; or NULL. */
const char *nb_tiles_refuse(const nb_plan *plan);

/** Estimated ratio of the time of every step to the time in blocks, from the scene alone,
 * within a factor of two. */
double nb_tiles_gain(const nb_plan *plan);

/** Set *like to a scene with Gaussian spots, for the middles of spots (R < 0.6). Returns
 * a factor: terms of the scene are at least this part of the Gaussian terms. */
double nb_tiles_like(const nb_scene *scene, nb_scene *like);

/** Edge of the first blocks of a panel, sub-pixels: a power of two, 4 to 64. */
int nb_tile_block(const nb_tiles *tiles, const nb_panel *panel);

/** Make *tiles. The scene must outlive *tiles. Errors: NB_ERR_NOMEM (*tiles is freed). */
nb_status nb_tiles_build(const nb_plan *plan, nb_tiles *tiles, nb_error *err);
void nb_tiles_free(nb_tiles *tiles);

/** Make *tiles like nb_tiles_build, without factors.pairs, which the caller fills. */
nb_status nb_tiles_build_steps(const nb_plan *plan, nb_tiles *tiles, nb_error *err);

/** Set the box of factors, and with nb_tile_factors_build also fill factors.pairs.
 * Errors: NB_ERR_NOMEM. */
void nb_tile_factors_shape(const nb_factor_table *table, nb_tile_factors *factors);
nb_status nb_tile_factors_build(const nb_factor_table *table, double unit,
                                nb_tile_factors *factors, nb_error *err);

/* --- The largest F^2 around each reflection, for host and device --- */

#define NB_TILE_PAIR_UP (1 + 1e-6)

/** Largest F^2 of all tables at an entry of the box, in units of 1/per_unit, rounded up
 * by NB_TILE_PAIR_UP. */
NB_HD float nb_tile_square(const nb_factor_table *sf, const nb_tile_factors *f,
                           const int at[3], double per_unit)
{
    const int tables = sf->n_tables > 1 ? sf->n_tables : 1;
    double largest = 0;
    for (int t = 0; t < tables; t++) {
        double F = sf->nh > 0 ? nb_F_nearest(sf, t, f->low[0] + at[0], f->low[1] + at[1],
                                             f->low[2] + at[2])
                              : sf->default_F;
        largest = fmax(largest, F * F);
    }
    return (float)(largest * per_unit * NB_TILE_PAIR_UP);
}

#endif
