/* SPDX-License-Identifier: MIT */
/** The reflections that each tile of the panels may see. */
#ifndef NB_PLAN_SPOT_LIST_H
#define NB_PLAN_SPOT_LIST_H

#include "spots.h"

/** A flat panel for directions: the ray d meets the depth O at  F = z d.axis[0]/d.n - start[0],
 * S = z d.axis[1]/d.n - start[1]  with z = height + O rise and start[k] + O lean[k]; m. */
typedef struct nb_spot_plane {
    double axis[2][3], n[3];
    double height, rise, start[2], lean[2];
    double pixel[2];          /* edges */
    double depth;             /* of the sensor */
    double middle[3], cosine; /* every ray is within this angle of the middle */
} nb_spot_plane;

nb_spot_plane nb_spot_plane_of(const nb_panel *panel, const nb_sensor *sensor);

/** Pixels along an axis whose rays have d.axis/d.n in [ratio[0], ratio[1]] at a depth in [depth[0],
 * depth[1]]: from *low to *high, in pixels from the panel's edge. */
void nb_spot_extent(const nb_spot_plane *plane, int axis, const double ratio[2],
                    const double depth[2], double *low, double *high);

/** Square tiles of a panel's region. */
typedef struct nb_spot_grid {
    nb_region region; /* pixels of the panel */
    int across, down; /* tiles; 0: none */
    size_t first;     /* of its tiles in the list */
} nb_spot_grid;

typedef struct nb_spot_list {
    int edge; /* of a tile, pixels */
    size_t tiles, n, pairs;
    nb_spot_plane *planes; /* of each panel */
    nb_spot_grid *grids;   /* of each panel */
    nb_spot *spots;
    size_t *first; /* [tiles + 1] in `of` */
    uint32_t *of;  /* spots of each tile, as in the list */
} nb_spot_list;

/** regions: of each panel, without rows or columns where nothing is rendered.  Errors: NB_ERR_NOMEM;
 * then the list is freed. */
nb_status nb_spot_list_build(const nb_spots *spots, const nb_spot_limits *limits,
                             const nb_region *regions, int edge, nb_spot_list *list,
                             nb_error *err);
void nb_spot_list_free(nb_spot_list *list);

#endif
