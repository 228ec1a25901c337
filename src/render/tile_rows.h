/* SPDX-License-Identifier: MIT */
/** Where the pixels of a tile go. */
#ifndef NB_RENDER_TILE_ROWS_H
#define NB_RENDER_TILE_ROWS_H

#include "backend.h"
#include "spot_tile.h"

/** Spans by row: row r of the stack has spans[order[first[r]]] to spans[order[first[r + 1] - 1]]. */
typedef struct nb_span_rows {
    const nb_span *spans;
    size_t *first, *order; /* owned */
} nb_span_rows;

/** Errors: NB_ERR_NOMEM; rows are to be freed all the same. */
nb_status nb_span_rows_build(const nb_scene *scene, const nb_span *spans, size_t n,
                             nb_span_rows *rows, nb_error *err);
void nb_span_rows_free(nb_span_rows *rows);

/** Add the tile's sums to the pixels of an image; returns the brightest, photons, or `brightest` if that is
 * more. */
double nb_tile_finish(const nb_spot_tile *tile, const nb_span_rows *rows, float *image,
                      double brightest);

/** A pixel of a panel and its photons. */
typedef struct nb_bright {
    double photons;
    int panel, f, s;
} nb_bright;

/** The brighter one of two; of equals the one that comes first on the detector. */
nb_bright nb_brighter(nb_bright a, nb_bright b);

/** The brightest pixel of the tile, which is one of this panel's, or `best` if that is brighter. */
nb_bright nb_tile_look(const nb_spot_tile *tile, int panel, nb_bright best);

#endif
