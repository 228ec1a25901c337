/* SPDX-License-Identifier: MIT */
/** The body of -absorb in the lab. */
#ifndef NB_MODEL_ABSORB_H
#define NB_MODEL_ABSORB_H

#include "../params/params.h"
#include "../physics/absorb.h"
#include "crystal.h"
#include "detector.h"

/** The rotation of a frame, rad. */
typedef struct nb_frame_turn {
    double first, range;
    int steps;
} nb_frame_turn;

/** mu = 0 without -absorb.  Errors: NB_ERR_INPUT, NB_ERR_UNSUPPORTED (no xraylib). */
nb_status nb_absorber_of(const nb_settings *cfg, const nb_geometry *geometry,
                         const nb_crystal *crystal, const nb_frame_turn *turn,
                         double wavelength_A, nb_absorber *out, nb_error *err);

#endif
