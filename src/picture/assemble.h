/* SPDX-License-Identifier: MIT */
/** Panels of a detector as one picture. */
#ifndef NB_PICTURE_ASSEMBLE_H
#define NB_PICTURE_ASSEMBLE_H

#include "../nanobragg.h"
#include "../physics/scene.h"

/** The pixels of a panel in memory; the caller owns them. */
typedef struct nb_panel_pixels {
    const float *first;
    size_t stride; /* of rows */
} nb_panel_pixels;

/** The picture, and the plane that it shows: across the beam, at the distance of the panel nearest to
 * it, fast to the right and slow down. */
typedef struct nb_assembly {
    int fast, slow;
    float *pixels;  /* [slow][fast]; owned: nb_free */
    nb_panel panel; /* of the plane, in the frame of the detector's vectors */
} nb_assembly;

/** Project all panels along the beam, at the first panel's pixel size. A dot shows the pixel under
 * its middle, or `gap` if there is none or mask is 0 there (mask: of the stack, or NULL).
 * pixels[n_panels]. Errors: NB_ERR_NOMEM, NB_ERR_INPUT (panels too far apart for a picture). */
nb_status nb_assemble(const nb_detector_spec *detector, const nb_panel_pixels *pixels,
                      float gap, nb_assembly *out, nb_error *err);

#endif
