/* SPDX-License-Identifier: MIT */
/** Panels in an image of the stack or of a canvas. */
#ifndef NB_API_STACK_H
#define NB_API_STACK_H

#include "../nanobragg.h"
#include "../picture/assemble.h"

/** Where the panels' pixels lie in an image: of a headerless file the stack, else the array of the
 * layout whose size it has.  out[n_panels].  0: it is no image of this detector. */
int nb_panels_in_image(const nb_detector_spec *detector, const nb_image *image,
                       nb_panel_pixels *out);

/** A rectangle of as many pixels as the stack has: as wide as the first panel, if that fits. */
void nb_stack_size(const nb_detector_spec *detector, int *fast, int *slow);

/** The panel that holds the pixel (fast, slow) of the image, and *at: the pixel in it; -1: none. */
int nb_panel_in_image(const nb_image *image, int fast, int slow, int at[2]);

/** The detector of an image file, if it has several panels: that of the geometry file in typed (may be
 * NULL), or of the HDF5 file (may be NULL).  Sets image->detector.  Errors: those of the geometry file. */
nb_status nb_image_find_panels(const char *hdf5, const nb_config *typed, nb_image *image,
                               nb_error *err);

#endif
