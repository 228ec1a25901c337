/* SPDX-License-Identifier: MIT */
/** The shadows of -beamstop in the lab. */
#ifndef NB_MODEL_SHADOW_H
#define NB_MODEL_SHADOW_H

#include "../params/params.h"
#include "../physics/shadow.h"
#include "detector.h"

/** n = 0 without -beamstop.  Errors: NB_ERR_INPUT. */
nb_status nb_shadow_of(const nb_settings *cfg, const nb_geometry *geometry,
                       nb_shadow *out, nb_error *err);

#endif
