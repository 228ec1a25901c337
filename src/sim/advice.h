/* SPDX-License-Identifier: MIT */
/** Notes about probable mistakes and flags without an effect, through the notice hook. */
#ifndef NB_SIM_ADVICE_H
#define NB_SIM_ADVICE_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "sim.h"

/** Note probable mistakes of a new simulation: its size, sampling, F, -truth spots. */
void nb_sim_advise(const nb_sim *sim);

/** Note diffuse light that probably differs from the user's intention. */
void nb_sim_advise_diffuse(const nb_sim *sim);

/** Note that fewer threads can be started than `asked` (0: OpenMP's number). */
void nb_advise_threads(const nb_hooks *hooks, int asked);

/** Note why an image has less than one photon. */
void nb_say_dark(const nb_sim *sim, const nb_stats *stats);

/** Note the time to render `frames` frames if it is above ten minutes, or with automatic
 * spindle steps above ten seconds. */
void nb_sim_say_long(const nb_sim *sim, int frames);

/** Ask about improbable values of a model: a cell, wavelength or length that may be in
 * another unit, the beam centre, a mask of all pixels, a left-handed matrix, -precision
 * single, and a cell that differs from the cell of F. */
void nb_ask(const nb_inputs *in, const nb_model *model, nb_asker *to);

/** Add a question to an error if a length or wavelength is probably in another unit. */
void nb_error_odd_unit(const nb_config *cfg, nb_error *err);

/* --- typed flags that have no effect --- */

/** Bit i is set if row i with NB_PARAM_PLACES is set.  Call it before files set rows. */
unsigned nb_typed_place(const nb_config *cfg);

/** Note flags of `typed` (nb_typed_place) that do not move the detector of cfg, which is
 * completed from files. Also note flags of sensors, panels, steps and sources that have
 * no effect. */
void nb_say_idle_flags(const nb_config *cfg, unsigned typed, const nb_scene *scene,
                       const nb_hooks *hooks);

#endif
