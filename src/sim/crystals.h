/* SPDX-License-Identifier: MIT */
/** -crystals: several crystals in one image, each with flags of its own.  docs/physics.md. */
#ifndef NB_SIM_CRYSTALS_H
#define NB_SIM_CRYSTALS_H

#include "../inputs/files.h"
#include "../model/scene_build.h"
#include "sim.h"

/* --- the crystals of an image (crowd.c) --- */

/** A crystal beside the first: all that its scene is built from. */
typedef struct nb_further {
    nb_config cfg;
    nb_inputs in;
    nb_model model;
    int crystal, twin; /* its number in the image, and of its twin's part, from 0 */
} nb_further;

struct nb_crowd {
    int crystals;     /* in the image; 0: the background alone */
    nb_further **all; /* owned, [n], with what each owns */
    int n;
    const nb_scene **
        scenes; /* owned, [n_scenes], of those that are rendered: parts of a twin on one lattice are one */
    int n_scenes;
    nb_twin_mixed *mixed[NB_TWIN_MOST]; /* shared; of the last crystal with such a law, or NULL */
    nb_config *given; /* owned, [n_given]: records from the second crystal on; NULL: those of sim->typed */
    int n_given;
};

/** How many crystals the image of cfg has.  Errors: NB_ERR_INPUT. */
nb_status nb_crystals_count(const nb_inputs *in, const nb_config *cfg, int *n,
                            nb_error *err);

/** Read the lines of -crystals of cfg; *lines is held (nb_shared_drop), or NULL if -crystals is a number. */
nb_status nb_crystals_lines(const nb_inputs *in, const nb_config *cfg,
                            nb_crystal_lines **lines, nb_error *err);
/** Read -crystals, and refuse flags that an image of several crystals cannot have. */
nb_status nb_crystals_check(const nb_inputs *in, const nb_config *cfg, nb_error *err);

/** Let cfg be that of crystal m, whose orientation is random from m = 1 on: keyed by its misset seed, or else by `seed`.
 * Its angles are rounded so that they can be typed.  Errors: those of nb_misset_random. */
nb_status nb_crystal_place(int m, int64_t seed, nb_config *cfg, nb_error *err);

/** Let the line of crystal m change cfg: of its list, or of the file of -crystals.  Errors: as
 * nb_crystal_lines_apply. */
nb_status nb_crystal_line(const nb_inputs *in, int m, nb_config *cfg, nb_error *err);

/** Where crystal m of cfg is typed, for messages: "c.jsonl:2", or "crystal 2". */
void nb_crystal_name(const nb_inputs *in, const nb_config *cfg, int m, char *name,
                     size_t size);

/** Resolve the record *cfg, whose seed is set, in place; *out: its crystal.  Errors: those of
 * nb_resolve_record. */
nb_status nb_sim_crystal_of(const nb_sim *sim, nb_config *cfg, nb_crystal *out,
                            nb_error *err);

/** Build the scenes of all crystals beside the first, sim->model's, as sim->cfg says, or nb_sim_give_crystals.  An image
 * without crystals keeps its background.  Errors: those of nb_sim_build_model. */
nb_status nb_crowd_build(nb_sim *sim, nb_error *err);
void nb_crowd_free(struct nb_crowd *crowd); /* NULL is fine */
/** Copy the given records and the crystals' inputs for the next build; *copy is the caller's, NULL after an error. */
nb_status nb_crowd_copy(const struct nb_crowd *from, struct nb_crowd **copy,
                        nb_error *err);

/** Set the records of crystals 1 to n for the next build; n 0: those of sim->typed again. */
nb_status nb_sim_give_crystals(nb_sim *sim, const nb_config *configs, int n,
                               nb_error *err);

#endif
