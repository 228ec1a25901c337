/* SPDX-License-Identifier: MIT */
/** The reflections that each tile of the panels may see. */
#ifndef NB_PLAN_SPOT_LIST_H
#define NB_PLAN_SPOT_LIST_H

#include "spots.h"

/** Square tiles of a panel's region. */
typedef struct nb_spot_grid {
    nb_region region; /* pixels of the panel */
    int across, down; /* number of tiles along the axes; 0: none */
    size_t first;     /* index of its first tile in the list */
} nb_spot_grid;

typedef struct nb_spot_list {
    int edge; /* edge of a tile, pixels */
    size_t tiles, n, pairs;
    nb_spot_plane *planes; /* of each panel */
    nb_spot_grid *grids;   /* of each panel */
    nb_spot *spots;
    size_t *first; /* [tiles + 1] in `of` */
    uint32_t *of;  /* spots of each tile, indices in the list */
} nb_spot_list;

/** regions: one for each panel, empty if nothing is rendered there. Errors: NB_ERR_NOMEM; then the
 * list is freed. */
nb_status nb_spot_list_build(const nb_spots *spots, const nb_spot_limits *limits,
                             const nb_region *regions, int edge, nb_spot_list *list,
                             nb_error *err);
void nb_spot_list_free(nb_spot_list *list);

#endif
