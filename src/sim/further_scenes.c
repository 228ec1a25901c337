/* SPDX-License-Identifier: MIT */
/* The scenes of an image's further crystals and twin parts, all scenes but the first
 * (struct nb_further_scenes). */
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../model/crystal.h"
#include "../params/params.h"
#include "crystals.h"
#include "../inputs/load.h"

static void free_further(nb_further *x)
{
    if (!x)
        return;
    nb_model_free(&x->model);
    nb_inputs_drop(&x->in);
    nb_config_drop(&x->cfg);
    nb_free(x);
}

static void forget_given(struct nb_further_scenes *further)
{
    nb_configs_free(further->given, (size_t)further->n_given);
    further->given = NULL;
    further->n_given = 0;
}

static void shrink(struct nb_further_scenes *further, int n)
{
    while (further->n > n)
        free_further(further->all[--further->n]);
}

void nb_further_scenes_free(struct nb_further_scenes *further)
{
    if (!further)
        return;
    shrink(further, 0);
    for (int i = 0; i < NB_TWIN_MAX; i++)
        nb_shared_drop(further->mixed[i]);
    nb_free(further->all);
    nb_free(further->scenes);
    forget_given(further);
    nb_free(further);
}

/** Grow further->all to n entries. */
static nb_status grow(struct nb_further_scenes *further, int n, nb_error *err)
{
    const size_t used = (size_t)further->n, room = (size_t)n;
    nb_status st;
    NB_FORWARD(nb_grow(&further->all, used, room, sizeof *further->all, "crystals", err));
    NB_FORWARD(
        nb_grow(&further->scenes, used, room, sizeof *further->scenes, "crystals", err));
    for (; further->n < n; further->n++)
        if (!(further->all[further->n] =
                  nb_alloc(1, sizeof **further->all, "crystals", err)))
            return NB_ERR_NOMEM;
    return NB_OK;
}

/** Copy the record of crystal m > 0 to *typed. */
static nb_status record_of(const nb_sim *sim, int m, nb_config *typed, nb_error *err)
{
    nb_status st;
    if (sim->further->given) {
        nb_config_copy(typed, &sim->further->given[m - 1]);
        return NB_OK;
    }
    nb_config_copy(typed, &sim->typed);
    st = nb_crystal_place(m, sim->seed, typed, err);
    return st ? st : nb_crystal_line(&sim->in, m, typed, err);
}

/** Give a further crystal the sources of the image, and the moves of beam and
 * detector. */
static void share_frame(const nb_sim *sim, nb_further *x)
{
    const nb_inputs *in = &sim->in;
    nb_sim_move_further(sim, x);
    nb_shared_drop(x->in.sources);
    x->in.sources = nb_shared_hold(in->sources);
    x->in.lines = in->lines;
    x->in.n_lines = in->n_lines;
    x->in.has_spectrum = in->has_spectrum;
    nb_inputs_show(&x->in, &x->cfg);
}

/** Resolve further scene i. Use its former tables of F, or those of the first crystal, if
 * they fit. */
static nb_status resolve_one(nb_sim *sim, int i, const nb_config *typed,
                             const nb_frame_extra *extra, nb_error *err)
{
    nb_further *x = sim->further->all[i];
    const nb_hooks silent = {0};
    nb_inputs old = x->in, from = sim->in, in;
    const int of_first = nb_key_equal(&old.factors_key, &from.factors_key);
    nb_status st;
    if (from.limit == NB_LIMIT_ENOUGH) /* moves of the first crystal set this limit */
        from.limit = NB_LIMIT_OWN;
    if (old.tables.file && from.limit == NB_LIMIT_KEPT &&
        (!of_first || old.sums == from.sums)) { /* keep the tables of the last frame */
        from.factors = old.factors;
        from.sums = old.sums;
        from.tables = old.tables;
        from.factors_key = old.factors_key;
    }
    NB_FORWARD(
        nb_resolve_record(&from, typed, sim->seed, extra, &silent, &x->cfg, &in, err));
    if (!in.sums && !in.tables.file)
        nb_inputs_find_tables(&in, &sim->in);
    x->in = in;
    nb_inputs_drop(&old);
    share_frame(sim, x);
    return NB_OK;
}

/** Build further scene i: part `twin` of crystal m, whose record is `typed`. */
static nb_status build_one(nb_sim *sim, int i, int m, int twin, const nb_config *typed,
                           nb_error *err)
{
    nb_further *x = sim->further->all[i];
    nb_displacement place = sim->moved; /* the move `rot` turns only the first crystal */
    const nb_building b = {&x->cfg, sim->seed,   &place,     NULL,
                           twin,    &sim->model, &sim->asker};
    const nb_frame_extra extra = {NULL, 0, m == 0 ? &sim->in.matrix : NULL};
    nb_status st;
    x->crystal = m;
    x->twin = twin;
    NB_FORWARD(resolve_one(sim, i, typed, &extra, err));
    if (m > 0)
        memset(place.rot, 0, sizeof place.rot);
    else if (sim->moves) { /* a twin part of the first crystal has the crystal's moves */
        nb_config_copy(&x->cfg, &sim->cfg);
        nb_inputs_show(&x->in, &x->cfg);
    }
    nb_model_free(&x->model);
    NB_FORWARD(nb_inputs_build(&x->in, &b, &x->model, &sim->times.factors, err));
    if (x->cfg.twin[0])
        nb_tables_sign(&x->in.tables, &x->model.scene.factors.table);
    /* only the scene of the first crystal has the background */
    x->model.scene.background = 0;
    x->model.scene.amorphous = NULL;
    return NB_OK;
}

/** Mix F of twin part x into `first` if both lattices coincide, else list scene x. */
static nb_status take_scene(struct nb_further_scenes *further, nb_further *x,
                            nb_model *first, const nb_twin *twin, nb_error *err)
{
    const double *T = x->twin > 0 ? twin->T[x->twin - 1] : NULL;
    if (T && nb_twin_coincides(first, &x->model, T))
        return nb_twin_mix(first, &x->model, T, &further->mixed[x->twin - 1], err);
    further->scenes[further->n_scenes++] = &x->model.scene;
    return NB_OK;
}

/** Build crystal m as further scenes *i, *i + 1, .... sim->model is part 0 of crystal
 * 0. */
static nb_status build_crystal(nb_sim *sim, int m, int *i, nb_error *err)
{
    struct nb_further_scenes *further = sim->further;
    NB_OWN_CONFIG cfg = {0};
    nb_model *first = &sim->model;
    char name[NB_PATH_MAX];
    nb_twin twin;
    nb_status st = NB_OK;
    nb_crystal_name(&sim->in, &sim->cfg, m, name, sizeof name);
    sim->asker.place = name;
    if (m == 0) {
        nb_config_copy(&cfg, &sim->typed);
        st = nb_crystal_line(&sim->in, 0, &cfg, err);
    } else {
        st = record_of(sim, m, &cfg, err);
    }
    NB_TRY(nb_twin_read(cfg.twin, &twin, err));
    if (!st && m == 0 && twin.n)
        nb_tables_sign(&sim->in.tables, &first->scene.factors.table);
    for (int part = m == 0; !st && part <= twin.n; part++, ++*i) {
        if (*i >= further->n)
            st = grow(further, *i + 1, err);
        NB_TRY(build_one(sim, *i, m, part, &cfg, err));
        if (!st && part == 0)
            first = &further->all[*i]->model;
        NB_TRY(take_scene(further, further->all[*i], first, &twin, err));
    }
    sim->asker.place = "";
    return m > 0 ? nb_fail_within(err, st, name) : st;
}

nb_status nb_further_scenes_build(nb_sim *sim, nb_error *err)
{
    struct nb_further_scenes *further = sim->further;
    int n = 1, built = 0;
    nb_status st = NB_OK;
    if (!sim->cfg.crystals[0] && !sim->cfg.twin[0]) {
        nb_further_scenes_free(further);
        sim->further = NULL;
        return NB_OK;
    }
    NB_FORWARD(nb_crystals_count(&sim->in, &sim->cfg, &n, err));
    if (!further &&
        !(further = sim->further = nb_alloc(1, sizeof *further, "crystals", err)))
        return NB_ERR_NOMEM;
    /* the given records are for another number of crystals */
    if (further->given && further->n_given != n - 1)
        forget_given(further);
    further->crystals = n;
    further->n_scenes = 0;
    nb_twin_part(&sim->model);
    for (int m = 0; m < n && !st; m++)
        st = build_crystal(sim, m, &built, err);
    shrink(further, st ? 0 : built);
    if (st)
        further->n_scenes = 0;
    if (!st && n == 0)
        sim->model.scene = nb_scene_without_crystal(&sim->model.scene);
    return st;
}

nb_status nb_sim_set_crystals(nb_sim *sim, const nb_crystals *all, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && all && (all->configs || all->n < 2));
    const int crystals = sim->further ? sim->further->crystals : 1;
    nb_status st;
    if (all->n != crystals)
        return nb_fail(err, NB_ERR_INPUT, "%d crystals, but the image has %d", all->n,
                       crystals);
    if (crystals < 2)
        return NB_OK;
    st = nb_sim_give_crystals(sim, all->configs + 1, crystals - 1, err);
    NB_TRY(nb_further_scenes_build(sim, err));
    nb_photons_forget(&sim->engine.photons);
    return st;
}

static nb_config *copy_configs(const nb_config *from, int n, nb_error *err)
{
    nb_config *all = n > 0 ? nb_configs_new((size_t)n, err) : NULL;
    for (int i = 0; all && i < n; i++)
        nb_config_copy(&all[i], &from[i]);
    return all;
}

nb_status nb_sim_give_crystals(nb_sim *sim, const nb_config *configs, int n, nb_error *err)
{
    struct nb_further_scenes *further = sim->further;
    nb_config *given = copy_configs(configs, n, err);
    if (n > 0 && !given)
        return NB_ERR_NOMEM;
    if (!further &&
        !(further = sim->further = nb_alloc(1, sizeof *further, "crystals", err))) {
        nb_configs_free(given, (size_t)n);
        return NB_ERR_NOMEM;
    }
    forget_given(further);
    further->given = given;
    further->n_given = n;
    return NB_OK;
}

nb_status nb_further_scenes_copy(const struct nb_further_scenes *old,
                                 struct nb_further_scenes **out, nb_error *err)
{
    struct nb_further_scenes *further = *out =
        nb_alloc(1, sizeof *further, "crystals", err);
    nb_status st = further ? NB_OK : NB_ERR_NOMEM;
    if (!st && old->given) {
        further->given = copy_configs(old->given, old->n_given, err);
        further->n_given = further->given ? old->n_given : 0;
        st = further->given ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && old->n)
        st = grow(further, old->n, err);
    for (int i = 0; i < old->n && !st; i++)
        further->all[i]->in = nb_inputs_hold(&old->all[i]->in);
    if (st) {
        nb_further_scenes_free(further);
        *out = NULL;
    }
    return st;
}

nb_status nb_sim_crystal_of(const nb_sim *sim, nb_config *cfg, nb_crystal *out,
                            nb_error *err)
{
    nb_crystal_inputs inputs;
    nb_damage damage = {.growth = 1};
    nb_inputs in;
    const nb_settings *all;
    nb_status st;
    NB_FORWARD(
        nb_resolve_record(&sim->in, cfg, cfg->seed.value, NULL, NULL, cfg, &in, err));
    all = NB_RESOLVED(cfg);
    inputs = nb_crystal_inputs_of(all, &in.matrix, cfg->seed.value);
    st = nb_crystal_build(all, &inputs, NULL, out, err);
    NB_TRY(nb_damage_of(all, nb_beam_fluence(all), nb_beam_wavelength(all), &damage, err));
    if (!st)
        nb_crystal_grow(damage.growth, out);
    nb_inputs_drop(&in);
    nb_inputs_show(&sim->in, cfg);
    return st;
}
