/* SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stddef.h>

#include "../base/error.h"
#include "../base/store.h"
#include "../base/memory.h"
#include "../render/request.h"

/** Hash the members of *object from a to the end of b. */
#define HASH_FROM_TO(hash, object, a, b)                                                 \
    nb_hash_bytes(hash, &(object)->a,                                                    \
                  offsetof(__typeof__(*(object)), b) + sizeof(object)->b -               \
                      offsetof(__typeof__(*(object)), a))

static uint64_t hash_beam(uint64_t key, const nb_beam *beam)
{
    for (int i = 0; i < beam->n_sources; i++)
        key = HASH_FROM_TO(key, &beam->sources[i], incident, weight);
    key = HASH_FROM_TO(key, beam, polarization, polar_axis);
    return nb_hash_bytes(key, &beam->nopolar, sizeof beam->nopolar);
}

static uint64_t hash_detector(uint64_t key, const nb_scene *sc)
{
    nb_raster raster = sc->raster;
    int sensors = 0;
    raster.mask = NULL;
    key = nb_hash_bytes(key, &raster, sizeof raster);
    if (sc->raster.mask)
        key = nb_hash_bytes(key, sc->raster.mask, raster.pixels);
    for (int i = 0; i < sc->n_panels; i++)
        if (sc->panels[i].sensor >= sensors)
            sensors = sc->panels[i].sensor + 1;
    key = nb_hash_bytes(key, sc->panels, (size_t)sc->n_panels * sizeof *sc->panels);
    return nb_hash_bytes(key, sc->sensors, (size_t)sensors * sizeof *sc->sensors);
}

static uint64_t hash_material(uint64_t key, const nb_amorphous *a, const nb_scatterer *m)
{
    const int32_t *buckets = a->buckets + m->first_bucket;
    const size_t pieces = (size_t)buckets[m->n_buckets];
    key = nb_hash_bytes(key, &m->n_buckets, sizeof m->n_buckets);
    key = HASH_FROM_TO(key, m, per, molecules);
    key = nb_hash_bytes(key, buckets, ((size_t)m->n_buckets + 1) * sizeof *buckets);
    return nb_hash_bytes(key, a->pieces + m->first_piece, pieces * sizeof *a->pieces);
}

/** Hash of all that a background depends on. Its F are 0: orientations are left out. */
static uint64_t key_of(const nb_sim_engine *engine, const nb_scene *sc)
{
    const nb_amorphous *a = sc->amorphous;
    uint64_t key = nb_hash_bytes(NB_HASH_START, &engine->backend, sizeof engine->backend);
    key = nb_hash_bytes(key, &engine->options.precision, sizeof(nb_precision));
    key = hash_detector(hash_beam(key, &sc->beam), sc);
    key = nb_hash_bytes(key, &sc->lattice.shape, sizeof sc->lattice.shape);
    key = HASH_FROM_TO(key, &sc->lattice, N, radius2);
    key = HASH_FROM_TO(key, sc, oversample, oversample_omega);
    key = HASH_FROM_TO(key, sc, samples, intensity_scale);
    for (int i = 0; a && i < a->n; i++)
        key = hash_material(key, a, &a->materials[i]);
    return key | 1;
}

static nb_status reserve(nb_kept_rest *rest, size_t pixels, nb_error *err)
{
    rest->key = 0;
    if (rest->pixels == pixels)
        return NB_OK;
    nb_kept_rest_free(rest);
    rest->image = nb_alloc_large(pixels, sizeof *rest->image, "image", err);
    rest->pixels = rest->image ? pixels : 0;
    return rest->image ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_engine_rest(nb_sim_engine *engine, const nb_scene *scene, nb_error *err)
{
    const nb_request as = {.precision = engine->options.precision};
    const uint64_t key = key_of(engine, scene);
    nb_kept_rest *rest = &engine->rest;
    nb_status st;
    if (rest->key == key)
        return NB_OK;
    NB_FORWARD(reserve(rest, scene->raster.pixels, err));
    st = nb_render_scene_as(engine->backend, engine->state, scene, &as, rest->image, err);
    rest->key = st ? 0 : key;
    return st;
}

void nb_kept_rest_free(nb_kept_rest *rest)
{
    nb_free(rest->image);
    *rest = (nb_kept_rest){0};
}
