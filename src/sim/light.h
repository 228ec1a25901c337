/* SPDX-License-Identifier: MIT */
/** Light of a simulation that no step of a renderer makes, diffuse scattering: a plane of photons, added to crystals and
 * background before the factors of a mix. */
#ifndef NB_SIM_LIGHT_H
#define NB_SIM_LIGHT_H

#include "../light/diffuse_table.h"
#include "report.h"
#include "sim.h"

/** What simulations that share their files share of it. */
typedef struct nb_light_store nb_light_store;
nb_status nb_light_store_new(nb_light_store **store, nb_error *err);

/** Threads that make a table, as many as a simulation has or these: the others of a series wait for it. */
void nb_light_store_let(nb_light_store *store, int threads);

/** Give the table of a source, which is made where none is kept.  *table is held.  Errors: as nb_diffuse_table_new. */
nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err);

/** |q| (1/A) for a table of a crystal: a little more than the detector sees and -dmin leaves, rounded so that frames
 * share tables. */
double nb_light_reach(const nb_model *crystal);

/** Bytes of the table of diffuse light of the first crystal, and of its making. */
double nb_light_needs(const nb_sim *sim);

/** Let a source have F of |q| <= its reach alone, so that they do not depend on what other frames of a series see: its
 * factors become *room, with F[its voxels], to be freed, else NULL. lattice (A, deg): of its indices; lattice[0] = 0: it has
 * F of every index that there is.  Errors: NB_ERR_NOMEM. */
nb_status nb_light_clip(nb_diffuse_source *source, const double lattice[6],
                        nb_factor_table *room, double **F, nb_error *err);
/** F whose halos the first crystal of an image has: *table, with *F, to be freed, or (NULL) F of the simulation.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err);

/** The light of the last image. */
typedef struct nb_sim_light {
    float *plane; /* owned */
    size_t pixels;
    int lit;            /* the image has some */
    nb_late_light late; /* makes the plane, if a device made it there */
    int orders;         /* of the last crystal */
    double X_most, table_bytes;
} nb_sim_light;

/** Say whether the image that will be rendered has light, and reserve its plane.  Errors: NB_ERR_NOMEM. */
nb_status nb_sim_begin_light(nb_sim *sim, nb_error *err);
/** Make it in memory, unless the device that keeps the image can; before the image is rendered. */
nb_status nb_sim_make_light(nb_sim *sim, nb_error *err);
/** Make it on that device; after the image was rendered, before it is mixed. */
nb_status nb_sim_light_there(nb_sim *sim, nb_error *err);
/** Its plane, which may be `late`; NULL: none. */
static inline const float *nb_sim_light_plane(const nb_sim *sim)
{
    return sim->light && sim->light->lit ? sim->light->plane : NULL;
}

/** Its section of a report. */
void nb_sim_light_node(const nb_sim *sim, nb_json to);
void nb_sim_light_free(nb_sim_light *light);

#endif
