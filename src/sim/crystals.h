/* SPDX-License-Identifier: MIT */
/** -crystals: several crystals with separate flags in one image (docs/physics.md). */
#ifndef NB_SIM_CRYSTALS_H
#define NB_SIM_CRYSTALS_H

#include "../inputs/load.h"
#include "../model/scene_build.h"
#include "sim.h"

/* --- the further crystals of an image (further_scenes.c) --- */

/** A scene of a further crystal or twin part, and everything from which it is built. */
typedef struct nb_further {
    nb_config cfg;
    nb_inputs in;
    nb_model model;
    int crystal, twin; /* number of the crystal and of its twin part, from 0 */
} nb_further;

struct nb_variable_name;

struct nb_further_scenes {
    /* number of crystals of the image; 0: the image has only background */
    int crystals;
    nb_further **all; /* owned, [n], with owned entries; all scenes but the first */
    int n;
    /* owned, [n_scenes]; twin parts with the same lattice share a scene */
    const nb_scene **scenes;
    int n_scenes;
    nb_twin_mixed *mixed[NB_TWIN_MAX]; /* shared; last mixed F of each law, or NULL */
    nb_config *given; /* owned, [n_given]: records of crystals 1 to n_given, or NULL */
    int n_given;
};

/** Resolve the record *cfg (its seed is set) in place; *out gets its crystal.  Errors: as
 * nb_resolve_record. */
nb_status nb_sim_crystal_of(const nb_sim *sim, nb_config *cfg, nb_crystal *out,
                            nb_error *err);

/** True if a parameter moves a further crystal: a parameter of beam or detector, or of
 * the crystal if neither the crystal's line nor its files set it. Rotations turn only the
 * first crystal. */
int nb_sim_moves_crystal(const nb_sim *sim, const nb_further *crystal,
                         const struct nb_variable_name *v);
/** Apply the moves to the resolved record of a further crystal. */
void nb_sim_move_further(const nb_sim *sim, nb_further *crystal);

/** Build the scenes of all further crystals from sim->cfg or the given records.  An image
 * without crystals keeps its background.  Errors: as nb_sim_build_model. */
nb_status nb_further_scenes_build(nb_sim *sim, nb_error *err);
void nb_further_scenes_free(struct nb_further_scenes *further); /* NULL is allowed */
/** Copy records and inputs for the next build. The caller frees *copy, which is NULL
 * after an error. */
nb_status nb_further_scenes_copy(const struct nb_further_scenes *from,
                                 struct nb_further_scenes **copy, nb_error *err);

/** Set the records of crystals 1 to n for the next build; n 0: use sim->typed again. */
nb_status nb_sim_give_crystals(nb_sim *sim, const nb_config *configs, int n,
                               nb_error *err);

#endif
