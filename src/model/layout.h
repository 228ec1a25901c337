/* SPDX-License-Identifier: MIT */
/** Places of the panels in one two-dimensional array. */
#ifndef NB_MODEL_LAYOUT_H
#define NB_MODEL_LAYOUT_H

#include "../nanobragg.h"

/** The canvas: an array that holds every panel, and gaps. */
typedef struct nb_panel_canvas {
    int size[2]; /* fast, slow */
    int as_file; /* the places are those of the geometry file */
} nb_panel_canvas;

/** place[n_panels] (may be NULL): fast, slow of each panel's first pixel.  Below each other at fast 0; with
 * NB_LAYOUT_FILE as in the file, if it has places and no panels overlap there. */
nb_panel_canvas nb_layout_panels(const nb_detector_spec *detector, nb_layout layout,
                                 int (*place)[2]);

#endif
