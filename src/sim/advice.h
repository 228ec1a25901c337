/* SPDX-License-Identifier: MIT */
/** Notes about probable mistakes and flags without an effect, through the notice hook. */
#ifndef NB_SIM_ADVICE_H
#define NB_SIM_ADVICE_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "sim.h"

/* --- notes about probable mistakes, through the notice hook --- */

/** Notes on a new simulation: one cell, sampling, structure factors, truth. */
void nb_sim_advise(const nb_sim *sim);

/** Notes on diffuse light that probably differs from the user's intention. */
void nb_sim_advise_diffuse(const nb_sim *sim);

/** Note that fewer threads can be started than `asked` (0: OpenMP's number). */
void nb_advise_threads(const nb_hooks *hooks, int asked);

/** Note why an image has less than one photon. */
void nb_say_dark(const nb_sim *sim, const nb_stats *stats);

/** Note the time of rendering this number of frames if it is above ten minutes. */
void nb_sim_say_long(const nb_sim *sim, int frames);

/** Ask about improbable values of a model: a cell, wavelength or length in another unit,
 * beam centre, mask without pixels, left-handed matrix, cell that differs from F's. */
void nb_ask(const nb_inputs *in, const nb_model *model, nb_asker *to);

/** Add to the error of a model the flag that is probably in another unit, if any. */
void nb_error_odd_unit(const nb_config *cfg, nb_error *err);

/* --- typed flags that have no effect --- */

/** A bit for each set row with NB_PARAM_PLACES.  Call it before files fill in others. */
unsigned nb_typed_place(const nb_config *cfg);

/** Note each flag of `typed` that moves nothing in the complete configuration, and flags
 * of sensors, panels and steps without an effect. */
void nb_say_idle_flags(const nb_config *cfg, unsigned typed, const nb_scene *scene,
                       const nb_hooks *hooks);

#endif
