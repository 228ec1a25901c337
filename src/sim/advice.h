/* SPDX-License-Identifier: MIT */
/** Notes about probable mistakes and flags without an effect, through the notice hook. */
#ifndef NB_SIM_ADVICE_H
#define NB_SIM_ADVICE_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "sim.h"

/* --- notes about probable mistakes, through the notice hook --- */

/** For a new simulation: one cell, sampling, structure factors, truth. */
void nb_sim_advise(const nb_sim *sim);

/** Diffuse light that may not be what a user means. */
void nb_sim_advise_diffuse(const nb_sim *sim);

/** Is this number of threads (0: OpenMP's) more than are started? */
void nb_advise_threads(const nb_hooks *hooks, int asked);

/** For an image with less than one photon: the reason. */
void nb_say_dark(const nb_sim *sim, const nb_stats *stats);

/** Before this number of frames is rendered: the time, if it is above ten minutes. */
void nb_sim_say_long(const nb_sim *sim, int frames);

/** Ask about what is improbable in a model of these inputs: a cell, wavelength or length in another unit, the beam
 * centre, a mask without pixels, a left-handed matrix, a cell that is not that of F. */
void nb_ask(const nb_inputs *in, const nb_model *model, nb_asker *to);

/** The message of a model that cannot be built gets the flag that is probably in another unit, if any. */
void nb_error_odd_unit(const nb_config *cfg, nb_error *err);

/* --- typed flags that have no effect --- */

/** Which rows with NB_PARAM_PLACES are set, a bit each; ask it before headers and files fill in others. */
unsigned nb_typed_place(const nb_config *cfg);

/** A note for each of them that moves nothing in the complete configuration, and for flags of sensors,
 * panels and steps that have nothing to act on. */
void nb_say_idle_flags(const nb_config *cfg, unsigned typed, const nb_scene *scene,
                       const nb_hooks *hooks);

#endif
