/* SPDX-License-Identifier: MIT */
/** A detector from a file in the HDF5 of a series: the canvas of its frames, and its master. */
#ifndef NB_SERIES_PANELS_H
#define NB_SERIES_PANELS_H

#include "../sim/load.h"
#include "../io/hdf5/hdf5_file.h"

/** Is a frame of the canvas the stack as it is? */
int nb_panels_are_stack(const nb_sim *sim);

/** Copy the panels of a stack into a canvas of this layout; gaps hold no count. */
nb_status nb_panels_to_canvas(const nb_sim *sim, const nb_hdf5_layout *layout,
                              const void *stack, void *canvas, nb_error *err);

/** *bad: 1 for gaps, 2 for masked pixels, in the canvas; NULL if nothing is masked and no gap needs to
 * be said.  The caller frees it. */
nb_status nb_panels_bad(const nb_sim *sim, uint8_t **bad, nb_error *err);

/** What the master says of the panels.  Free it. */
nb_status nb_master_panels(const nb_sim *sim, nb_hdf5_panels *out, nb_error *err);
void nb_master_panels_free(nb_hdf5_panels *panels);

#endif
