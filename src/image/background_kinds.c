/* SPDX-License-Identifier: MIT */
/* The kinds of background. */
#include "background.h"

#include "../base/store.h"

/* --- water: the same scattering at every angle --- */

static int has_water(const nb_scene *sc)
{
    return sc->background != 0;
}

static double water(const nb_scene *sc, double stol)
{
    (void)stol;
    return sc->background;
}

static uint64_t hash_water(const nb_scene *sc, uint64_t key)
{
    return nb_hash_bytes(key, &sc->background, sizeof sc->background);
}

static const nb_background_kind of_water = {"water", 1,    has_water,
                                            water,   NULL, hash_water};

/* --- materials without order: tables of F --- */

static int has_materials(const nb_scene *sc)
{
    return sc->amorphous != NULL;
}

static double materials(const nb_scene *sc, double stol)
{
    return nb_amorphous_at(sc->amorphous, stol);
}

static uint64_t hash_materials(const nb_scene *sc, uint64_t key)
{
    const nb_amorphous *a = sc->amorphous;
    key = nb_hash_bytes(key, &a->hash, sizeof a->hash);
    for (int i = 0; i < a->n; i++)
        key = nb_hash_bytes(key, &a->materials[i].molecules, sizeof(double));
    return key;
}

static const nb_background_kind of_materials = {"materials", 0,    has_materials,
                                                materials,   NULL, hash_materials};

const nb_background_kind *const nb_background_kinds[] = {&of_water, &of_materials, NULL};
