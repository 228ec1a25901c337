/* SPDX-License-Identifier: MIT */
/** The scattering of all materials of an amorphous background, summed over the sources, in one
 * table over the sine of half the scattering angle. Host code. */
#ifndef NB_PLAN_BACKGROUND_TABLE_H
#define NB_PLAN_BACKGROUND_TABLE_H

#include "../nanobragg.h"
#include "../physics/amorphous.h"

/** Largest error of the table, as a part of the sum (if no scatterer is negative). Each cell is
 * tested at three places to half of this. */
#define NB_BACKGROUND_ERROR 1e-7

/** A cubic: c[0] + t (c[1] + t (c[2] + t c[3])), t = (sine - x) inverse. It has the size of a
 * piece of a material's table, because the vector kernels read both by rows. */
typedef struct nb_background_cell {
    double x, inverse; /* start of the cell, 1/width */
    double c[4];       /* electrons^2 of all orientations */
    double unused[2];
} nb_background_cell;

enum {
    NB_BACKGROUND_BUCKETS = 2048, /* number of buckets, for sines from 0 to 1 */
    NB_BACKGROUND_GROUPS = 64     /* more groups have no table */
};

/** The cells reach at least 1/125 beyond the sines of the region. */
#define NB_BACKGROUND_AROUND 125

/** Sources of one direction. Bucket b has the cells buckets[b] to buckets[b + 1] - 1; none if no
 * ray of the region goes there. */
typedef struct nb_background_group {
    nb_vec3 incident;
    int first, n;     /* in the table's sources */
    int source;       /* the first of these sources in the scene, for the polarization */
    int low, high;    /* buckets that have cells */
    int32_t *buckets; /* owned; [NB_BACKGROUND_BUCKETS + 1] */
    nb_background_cell *cells; /* owned */
} nb_background_group;

typedef struct nb_background_table {
    int n;
    nb_background_group *groups; /* owned */
    nb_source *sources;          /* owned; sorted by group */
} nb_background_table;

/** The edge of a panel's tiles [pixels] in which a background's smooth part is one polynomial: a power of 2. */
int nb_background_edge(const nb_panel *panel);

/** Make the table for the directions in the scene's region. *table is NULL if a table would not
 * save time or would have too many cells; else the caller owns it. The table of a smaller region
 * has the same cells. Errors: NB_ERR_NOMEM. */
nb_status nb_background_table_build(const nb_scene *sc, int threads,
                                    nb_background_table **table, nb_error *err);
void nb_background_table_free(nb_background_table *table); /* NULL is allowed */

/** Sine of half the angle between a source and a direction, both unit vectors. */
static inline double nb_background_sine(const nb_background_group *g, nb_vec3 direction)
{
    return 0.5 * nb_norm(nb_sub(direction, g->incident));
}

/** The cell of a sine. */
static inline const nb_background_cell *nb_background_cell_of(const nb_background_group *g,
                                                              double sine)
{
    int b = (int)(sine * NB_BACKGROUND_BUCKETS), low, high;
    b = b < g->low ? g->low : b > g->high ? g->high : b;
    low = g->buckets[b];
    high = g->buckets[b + 1] - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (g->cells[middle].x <= sine)
            low = middle;
        else
            high = middle - 1;
    }
    return g->cells + low;
}

/** Sum over the group's sources of weight times N F|F|, electrons^2 of all orientations. */
static inline double nb_background_at(const nb_background_group *g, double sine)
{
    const nb_background_cell *cell = nb_background_cell_of(g, sine);
    const double t = (sine - cell->x) * cell->inverse;
    return cell->c[0] + t * (cell->c[1] + t * (cell->c[2] + t * cell->c[3]));
}

#endif
