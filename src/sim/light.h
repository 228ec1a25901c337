/* SPDX-License-Identifier: MIT */
/** Light of a simulation that no step of a renderer makes: a plane of photons, added to crystals and background before
 * the factors of a mix. Each kind is an object in one list (light.c). */
#ifndef NB_SIM_LIGHT_H
#define NB_SIM_LIGHT_H

#include "../light/diffuse_family.h"
#include "report.h"
#include "sim.h"

/** What simulations that share their files share of it. */
typedef struct nb_light_store nb_light_store;
nb_status nb_light_store_new(nb_light_store **store, nb_error *err);

/** Threads that make a table, as many as a simulation has or these: the others of a series wait for it. */
void nb_light_store_let(nb_light_store *store, int threads);

/** What a table is made from, or a family of them. */
typedef struct nb_light_request {
    nb_diffuse_source of; /* of a family with the model and the edges of factor 1 */
    int is_family;
    nb_diffuse_range range; /* of a family */
    double cell[6];         /* A, deg: of s in exp(-B s^2/4) */
    double lattice[6]; /* A, deg: in which of.reach is; 0: F are of every index that there is */
    const nb_inputs *in; /* whose F take B, without it and -Fscale; NULL: F are of.factors */
} nb_light_request;

/** Tables that are shared (nb_shared_drop). */
typedef struct nb_light_table {
    int n; /* 0: of a family that would be too large */
    nb_diffuse_table *table[NB_DIFFUSE_TABLES];
    nb_diffuse_nodes nodes; /* of a family */
    nb_light_request of;    /* its pointers are not to be followed */
    nb_diffuse model;
    nb_factor_table F; /* of.factors, without the pointer */
    uint64_t hash;     /* of its F */
} nb_light_table;

/** Give the tables of a source, which are made where none are kept.  *table is held.  Errors: as nb_diffuse_table_new. */
nb_status nb_light_store_take(nb_light_store *store, const nb_light_request *source,
                              const nb_light_table **table, nb_error *err);

/** |q| (1/A) for a table of a crystal: a little more than the detector sees and -dmin leaves, rounded so that frames
 * share tables. */
double nb_light_reach(const nb_model *crystal);

/** Bytes of the table of diffuse light of the first crystal, and of its making. */
double nb_light_needs(const nb_sim *sim);

/** What a crystal of a family is in it. */
typedef struct nb_light_member {
    double B, scale; /* in units of the family */
    double Fscale;
} nb_light_member;

/** The family of the crystal of `source->of`, whose B and edges vary.  model: room for its own.  Returns 0 where it has
 * none, and leaves *source alone. */
int nb_light_family_of(const nb_inputs *in, const nb_model *crystal, nb_diffuse *model,
                       nb_light_request *source, nb_light_member *place);
/** Make its tables; none, if they are too many or too large.  Errors: as nb_diffuse_table_new. */
nb_status nb_light_family_make(const nb_light_request *source, nb_light_table *table,
                               nb_error *err);
/** Let a request with a lattice have F of |q| <= of.reach alone, so that they do not depend on what other frames of a series
 * see: of.factors becomes *room, with F[its voxels], to be freed, else NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_light_clip(nb_light_request *request, nb_factor_table *room, double **F,
                        nb_error *err);
/** F whose halos the first crystal of an image has: *table, with *F, to be freed, or (NULL) F of the simulation.
 * Errors: NB_ERR_NOMEM. */
nb_status nb_light_factors(const nb_sim *sim, nb_factor_table *table, double **F,
                           nb_error *err);
/** F of a table of the inputs with another weight, over the box of *table: F[its voxels]. */
void nb_light_weigh(const nb_light_request *source, double B, double *F);

#define NB_LIGHT_KINDS 1

/** The light of the last image. */
typedef struct nb_sim_light {
    float *plane; /* owned */
    size_t pixels;
    int lit;            /* the image has some */
    nb_late_light late; /* makes the plane, if a device made it there */
    int orders;         /* of diffuse scattering */
    int tables;         /* of the last crystal */
    double X_most, table_bytes;
} nb_sim_light;

/** A kind of light. */
typedef struct nb_light {
    const char *name;
    int (*applies)(const nb_sim *sim);
    /** Fill plane[pixels of the stack] with photons, 0 where nothing is rendered. */
    nb_status (*fill)(nb_sim *sim, float *plane, nb_error *err);
    /** The same into the light of the device that keeps the image; add: to what is there.  NULL: a device cannot. */
    nb_status (*there)(nb_sim *sim, int add, nb_error *err);
    /** Its section of the report. */
    void (*describe)(const nb_sim *sim, nb_json to);
} nb_light;

extern const nb_light nb_light_diffuse; /* light_diffuse.c */

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

/** What every kind says to a report. */
void nb_sim_light_node(const nb_sim *sim, nb_json to);
void nb_sim_light_free(nb_sim_light *light);

#endif
