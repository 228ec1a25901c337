/* SPDX-License-Identifier: MIT */
/* Change the record of a simulation. */
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../params/params.h"
#include "sim.h"

static int is_of_record(const nb_param *p)
{
    return !(p->flags & NB_PARAM_SERIES);
}

/** Apply the moves to the resolved record. */
static nb_status put_moves(nb_sim *sim, nb_error *err)
{
    nb_status st;
    sim->moved = (nb_displacement){0};
    nb_shared_drop(sim->start);
    sim->start = NULL;
    if (!sim->moves || !sim->moves->n)
        return NB_OK;
    NB_FORWARD(nb_sim_build_model(sim, err));
    st = nb_sim_keep_moves(sim, err);
    nb_model_free(&sim->model);
    return st;
}

static nb_status make(nb_sim *sim, const nb_config *typed, nb_error *err)
{
    nb_status st = nb_sim_take_record(sim, typed, NULL, err);
    return st ? st : put_moves(sim, err);
}

/** True if the records differ only in names of output files. */
static int differ_in_outputs(const nb_config *a, const nb_config *b)
{
    size_t n;
    const nb_param *p = nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (is_of_record(&p[i]) && !nb_param_same(&p[i], a, b) &&
            (!(p[i].flags & NB_PARAM_WRITTEN) || NB_IS(&p[i], seed)))
            return 0;
    return a->detector == b->detector && a->arrays == b->arrays;
}

static void copy_changes(const nb_config *old, const nb_config *typed, nb_config *to)
{
    size_t n;
    const nb_param *p = nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (is_of_record(&p[i]) && !nb_param_same(&p[i], old, typed))
            nb_param_copy(&p[i], to, typed);
}

/** Take the output file names that differ from `old`. Model and image do not change. */
static nb_status take_outputs(nb_sim *sim, const nb_config *old, nb_error *err)
{
    NB_OWN_CONFIG cfg = {0};
    nb_inputs in;
    nb_status st;
    NB_FORWARD(
        nb_resolve_record(&sim->in, &sim->typed, sim->seed, NULL, NULL, &cfg, &in, err));
    nb_inputs_drop(&in);
    copy_changes(old, &sim->typed, &sim->cfg);
    nb_resolve(&sim->cfg, &sim->model.settings);
    return NB_OK;
}

/** Drop F of nb_sim_set_factors, so that tables are made from the files. */
static void forget_typed_F(nb_inputs *in)
{
    nb_tables_drop(&in->tables);
    nb_tables_drop(&in->typed);
    in->factors_key = (nb_key){{0, 0}};
}

/** Begin a change. `moves` become the moves of sim, or are dropped after an error. */
static nb_status begin(nb_sim *sim, const nb_moves *moves, nb_error *err)
{
    nb_status st = nb_sim_begin(sim, err);
    nb_shared_drop(st ? moves : sim->moves);
    if (!st)
        sim->moves = moves;
    return st;
}

/** Resolve sim->typed and apply `moves`. On error the caller restores sim->typed. */
static nb_status take(nb_sim *sim, const nb_moves *moves, int loses_F, nb_error *err)
{
    NB_READING(sim->in.store);
    nb_status st;
    NB_FORWARD(begin(sim, moves, err));
    if (sim->in.limit == NB_LIMIT_ENOUGH) /* moves of the old record set this limit */
        sim->in.limit = NB_LIMIT_OWN;
    st = nb_inputs_take_callers(&sim->in, &sim->typed, err);
    if (loses_F)
        forget_typed_F(&sim->in);
    return nb_sim_end(sim, st ? st : make(sim, &sim->typed, err), err);
}

nb_status nb_sim_take_F(nb_sim *sim, double *F, nb_error *err)
{
    NB_READING(sim->in.store);
    const nb_moves *moves = nb_shared_hold(sim->moves);
    nb_status st = nb_moves_without(&moves, NB_ROW(hkl_file), err);
    if (st)
        nb_shared_drop(moves);
    else
        st = begin(sim, moves, err);
    if (st) {
        nb_free(F);
        return st;
    }
    st = nb_tables_replace_F(&sim->in.tables, F, err);
    sim->in.tables.typed_F = 1;
    nb_tables_drop(&sim->in.typed);
    if (!st)
        sim->in.typed = nb_tables_hold(&sim->in.tables);
    /* resolve again, because the other moves must act on the new F */
    if (!st && sim->start) {
        nb_tables_drop(&sim->in.tables);
        sim->in.factors_key = (nb_key){{0, 0}};
        st = make(sim, &sim->typed, err);
    }
    return nb_sim_end(sim, st, err);
}

/** Give the files of n rows new generation numbers, so that they are read again. With
 * `back`, undo this. */
static void type_files_again(nb_sim *sim, const char *const *names, int n,
                             uint64_t *generations, int back)
{
    for (int i = 0; i < n; i++) {
        const nb_param *p = nb_param_find(names[i]);
        const char *path = p && nb_param_is_text(p) && is_of_record(p)
                               ? nb_text_at(&sim->typed, p->offset)
                               : "";
        if (path[0])
            generations[i] =
                nb_store_retype(sim->in.store, path,
                                back ? generations[i] : nb_store_next(sim->in.store));
    }
}

/** True if other rows set parts of this row's member, as Na sets a part of N. */
static int has_parts(const nb_param *p)
{
    size_t n;
    const nb_param *q = nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (is_of_record(&q[i]) && q[i].size < p->size && q[i].offset >= p->offset &&
            q[i].offset < p->offset + p->size)
            return 1;
    return 0;
}

/** Set *moves (shared) to the moves that remain valid if rows are typed: the named rows,
 * or without names all rows that differ between a and b. *loses_F: 1 if a typed row
 * replaces F. */
static nb_status stay_beside(const nb_sim *sim, const char *const *names, int n_names,
                             const nb_config *a, const nb_config *b,
                             const nb_moves **moves, int *loses_F, nb_error *err)
{
    size_t n;
    const nb_param *p = nb_params(&n), *row;
    nb_status st = NB_OK;
    *loses_F = 0;
    *moves = nb_shared_hold(sim->moves);
    for (int i = 0; i < n_names && !st; i++)
        if ((row = nb_param_find(names[i]))) {
            *loses_F |= nb_param_makes_factors(row);
            st = nb_moves_without(moves, row, err);
        }
    for (size_t i = 0; i < n && n_names == 0 && !st; i++)
        if (is_of_record(&p[i]) && !has_parts(&p[i]) && !nb_param_same(&p[i], a, b)) {
            *loses_F |= nb_param_makes_factors(&p[i]);
            st = nb_moves_without(moves, &p[i], err);
        }
    if (st)
        nb_shared_drop(*moves);
    return st;
}

/** Resolve sim->typed after the named rows were typed; `old` is the former record. */
static nb_status retype(nb_sim *sim, const nb_config *old, const char *const *names,
                        int n, nb_error *err)
{
    uint64_t *generations =
        nb_alloc((size_t)n + 1, sizeof *generations, "parameters", err);
    const nb_moves *moves;
    int loses_F;
    nb_status st = generations ? NB_OK : NB_ERR_NOMEM;
    if (!st && !sim->typed.seed.set)
        sim->typed.seed = old->seed;
    NB_TRY(stay_beside(sim, names, n, old, &sim->typed, &moves, &loses_F, err));
    if (!st) {
        type_files_again(sim, names, n, generations, 0);
        st = take(sim, moves, loses_F, err);
        if (st)
            type_files_again(sim, names, n, generations, 1);
    }
    nb_free(generations);
    return st;
}

/** Return st; after an error sim has the record `old` again. */
static nb_status ended(nb_sim *sim, const nb_config *old, nb_status st)
{
    if (st)
        nb_config_copy(&sim->typed, old);
    return st;
}

nb_status nb_sim_retype(nb_sim *sim, const nb_config *cfg, const char *const *names,
                        int n, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && cfg && (names || n == 0));
    NB_OWN_CONFIG old = {0};
    nb_config_copy(&old, &sim->typed);
    nb_config_copy(&sim->typed, cfg);
    return ended(sim, &old, retype(sim, &old, names, n, err));
}

/** Set in `typed` the rows whose value in cfg differs from that in `old`, the resolved
 * configuration. */
static void type_changes(const nb_config *old, const nb_config *cfg, nb_config *typed)
{
    copy_changes(old, cfg, typed);
    if (cfg->cell_count && memcmp(old->cell, cfg->cell, sizeof old->cell)) {
        typed->cell_count = cfg->cell_count;
        typed->cell_from_file = 0;
    }
    if (memcmp(cfg->misset_deg, old->misset_deg, sizeof old->misset_deg))
        typed->misset_mode = cfg->misset_mode;
    typed->detector = cfg->detector == old->detector ? typed->detector : cfg->detector;
    typed->arrays = cfg->arrays == old->arrays ? typed->arrays : cfg->arrays;
}

nb_status nb_sim_change(nb_sim *sim, const nb_config *cfg, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && cfg);
    NB_OWN_CONFIG old = {0};
    const nb_moves *moves;
    int loses_F;
    nb_status st;
    nb_config_copy(&old, &sim->typed);
    type_changes(&sim->cfg, cfg, &sim->typed);
    if (differ_in_outputs(&old, &sim->typed))
        st = take_outputs(sim, &old, err);
    else if (!(st = stay_beside(sim, NULL, 0, &sim->cfg, cfg, &moves, &loses_F, err)))
        st = take(sim, moves, loses_F, err);
    return ended(sim, &old, st);
}

nb_status nb_sim_set(nb_sim *sim, const char *name, const char *text, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && name && text);
    NB_OWN_CONFIG old = {0};
    nb_status st;
    nb_config_copy(&old, &sim->typed);
    st = nb_config_set(&sim->typed, name, text, err);
    return ended(sim, &old, st ? st : retype(sim, &old, &name, 1, err));
}

const nb_config *nb_sim_config(const nb_sim *sim)
{
    return sim ? &sim->cfg : NULL;
}

const nb_config *nb_sim_record(const nb_sim *sim)
{
    return sim ? &sim->typed : NULL;
}

nb_status nb_sim_set_parameters(nb_sim *sim, const char *const *names,
                                const double *values, int count, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && (values || count == 0));
    NB_READING(sim->in.store);
    const nb_moves *moves = NULL;
    nb_status st = nb_sim_add_moves(sim, names, values, count, &moves, err);
    if (st)
        nb_shared_drop(moves);
    else
        st = begin(sim, moves, err);
    return st ? st : nb_sim_end(sim, nb_sim_apply_moves(sim, err), err);
}

/** Angles (rad) about x, then y, then z of a rotation; if the second angle is 90 deg, the
 * third is 0. */
static void angles_of(const nb_vec3 columns[3], double angles[3])
{
    const nb_vec3 x = columns[0], y = columns[1], z = columns[2];
    const double flat = sqrt(x.x * x.x + x.y * x.y);
    angles[1] = atan2(-x.z, flat);
    angles[0] = flat > 1e-12 ? atan2(y.z, z.z) : atan2(-z.y, y.y);
    angles[2] = flat > 1e-12 ? atan2(x.y, x.x) : 0;
}

nb_status nb_sim_fold_rotation(nb_sim *sim, double misset_deg[3], nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    static const char *const names[] = {"rot_x",    "rot_y",    "rot_z",
                                        "misset_x", "misset_y", "misset_z"};
    const double *m = sim->model.crystal.misset, *r = sim->moved.rot;
    nb_vec3 columns[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double angles[3], values[6] = {0};
    nb_status st = NB_OK;
    for (int i = 0; i < 3; i++)
        columns[i] =
            nb_turn(nb_v3(r[0], r[1], r[2]), nb_rotate_xyz(columns[i], m[0], m[1], m[2]));
    angles_of(columns, angles);
    for (int i = 0; i < 3; i++)
        values[3 + i] = angles[i] / NB_DEG;
    if (r[0] != 0 || r[1] != 0 || r[2] != 0)
        st = nb_sim_set_parameters(sim, names, values, 6, err);
    for (int i = 0; i < 3 && misset_deg && !st; i++)
        misset_deg[i] = sim->model.crystal.misset[i] / NB_DEG;
    return st;
}
