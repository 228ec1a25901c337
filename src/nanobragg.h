/* SPDX-License-Identifier: MIT */
/** nanobragg: absolute-scale X-ray diffraction from nanocrystals.
 *
 * This header includes all headers of the library. The library keeps no global state,
 * prints nothing and never exits: every fallible function returns an nb_status and fills
 * an nb_error (which may be NULL). Other pointers may be NULL where the comment allows
 * it; elsewhere NULL is NB_ERR_INPUT. Units are the users' units (mm, A, deg, um, mrad).
 *
 * Usual calls, as in docs/library.md: nb_config_create, nb_config_set, nb_sim_create,
 * nb_sim_render, nb_sim_write, nb_sim_free. */
#ifndef NANOBRAGG_H
#define NANOBRAGG_H

#include "nanobragg/arrays.h"
#include "nanobragg/build.h"
#include "nanobragg/config.h"
#include "nanobragg/derivatives.h"
#include "nanobragg/device_image.h"
#include "nanobragg/error.h"
#include "nanobragg/factors.h"
#include "nanobragg/files.h"
#include "nanobragg/image.h"
#include "nanobragg/panels.h"
#include "nanobragg/params.h"
#include "nanobragg/series.h"
#include "nanobragg/sim.h"

#endif
