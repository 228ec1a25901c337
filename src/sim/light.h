/* SPDX-License-Identifier: MIT */
/** Light of a simulation that no step of a renderer makes: a plane of photons, added to crystals and background before
 * the factors of a mix. Each kind is an object in one list (light.c). */
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

/** A table that is shared (nb_shared_drop). */
typedef struct nb_light_table {
    nb_diffuse_table *table;
    nb_diffuse_source of;
    nb_factor_table F; /* of.factors, without the pointer */
    uint64_t hash;     /* of its F */
} nb_light_table;

/** The table of a source, made once while nobody needs another one.  *table is held.  Errors: as nb_diffuse_table_new. */
nb_status nb_light_store_take(nb_light_store *store, const nb_diffuse_source *source,
                              const nb_light_table **table, nb_error *err);

#define NB_LIGHT_KINDS 1

/** The light of the last image. */
typedef struct nb_sim_light {
    float *plane; /* owned */
    size_t pixels;
    int lit;            /* the image has some */
    nb_late_light late; /* makes the plane, if a device made it there */
    int orders;         /* of diffuse scattering */
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
