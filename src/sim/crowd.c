/* SPDX-License-Identifier: MIT */
/* The crystals of an image beside its first. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/shared.h"
#include "../base/text.h"
#include "../model/damage.h"
#include "../model/misset.h"
#include "../model/units.h"
#include "../params/params.h"
#include "crystals.h"
#include "load.h"

nb_status nb_crystals_count(const nb_inputs *in, const nb_config *cfg, int *n,
                            nb_error *err)
{
    nb_crystal_lines list;
    nb_status st;
    switch (nb_crystals_kind_of(cfg->crystals, n)) {
    case NB_CRYSTALS_LIST:
        if (!(st = nb_crystal_lines_read(cfg->crystals, &list, err)))
            *n = list.n;
        nb_crystal_lines_free(&list);
        return st;
    case NB_CRYSTALS_FILE:
        *n = in->files->crystals ? in->files->crystals->n : 0;
        return NB_OK;
    default:
        return *n >= 0 ? NB_OK
                       : nb_fail(err, NB_ERR_INPUT,
                                 "-crystals %.40s: must be a whole number from 0 to %d, "
                                 "or a file",
                                 cfg->crystals, NB_CRYSTALS_MOST);
    }
}

static nb_status refuse(const nb_config *cfg, nb_error *err)
{
    const char *flag = cfg->crystals[0] ? "-crystals" : "-twin";
    const char *text = cfg->crystals[0] ? cfg->crystals : cfg->twin;
    const char *other = cfg->compat           ? "-compat, whose images have one crystal"
                        : cfg->derivatives[0] ? "-derivatives, which are of one crystal"
                                              : NULL;
    return other ? nb_fail(err, NB_ERR_INPUT, "%s %.60s: not with %s", flag, text, other)
                 : NB_OK;
}

nb_status nb_crystals_load(nb_sim *sim, nb_error *err)
{
    nb_config *cfg = &sim->cfg;
    nb_files *files = sim->in.files;
    nb_crystal_lines lines;
    int n;
    nb_status st;
    if (!cfg->crystals[0] && !cfg->twin[0])
        return NB_OK;
    if ((st = refuse(cfg, err)) ||
        (st = nb_crystal_lines_read(cfg->crystals, &lines, err)))
        return st;
    if (!lines.n)
        return nb_crystals_count(&sim->in, cfg, &n, err);
    files->crystals = nb_alloc_raw(1, sizeof lines, "-crystals", err);
    files->plain = nb_alloc_raw(1, sizeof *cfg, "-crystals", err);
    if (!files->crystals || !files->plain) {
        nb_crystal_lines_free(&lines);
        nb_free(files->crystals);
        files->crystals = NULL;
        return NB_ERR_NOMEM;
    }
    *files->crystals = lines;
    *files->plain = *cfg;
    st = nb_crystal_lines_apply(files->crystals, 0, cfg, err);
    return st ? st : nb_config_check_rules(cfg, err);
}

nb_status nb_crystal_place(int m, int64_t seed, nb_config *cfg, nb_error *err)
{
    double angles[3];
    nb_status st;
    if (m == 0)
        return NB_OK;
    if (cfg->misset_seed.set)
        seed = cfg->misset_seed.value;
    if ((st = nb_misset_random(seed, m, angles, err)))
        return st;
    cfg->misset_mode = NB_MISSET_FIXED;
    for (int i = 0; i < 3; i++)
        cfg->misset_deg[i] = nb_typeable(angles[i] / NB_DEG);
    return NB_OK;
}

nb_status nb_crystal_line(const nb_inputs *in, int m, nb_config *cfg, nb_error *err)
{
    nb_crystal_lines list;
    int n;
    nb_status st = NB_OK;
    switch (nb_crystals_kind_of(cfg->crystals, &n)) {
    case NB_CRYSTALS_LIST:
        if (!(st = nb_crystal_lines_read(cfg->crystals, &list, err)))
            st = nb_crystal_lines_apply(&list, m, cfg, err);
        nb_crystal_lines_free(&list);
        break;
    case NB_CRYSTALS_FILE:
        st = in->files->crystals ? nb_crystal_lines_apply(in->files->crystals, m, cfg, err)
                                 : NB_OK;
        break;
    default:
        break;
    }
    if (!st && m > 0 && cfg->misset_mode == NB_MISSET_RANDOM) /* of its line */
        st = nb_crystal_place(m, cfg->seed.set ? cfg->seed.value : 0, cfg, err);
    return st;
}

/* --- building --- */

static void free_further(nb_further *x)
{
    if (!x)
        return;
    nb_model_free(&x->model);
    nb_inputs_drop(&x->in);
    nb_free(x);
}

static void shrink(struct nb_crowd *crowd, int n)
{
    while (crowd->n > n)
        free_further(crowd->all[--crowd->n]);
}

void nb_crowd_free(struct nb_crowd *crowd)
{
    if (!crowd)
        return;
    shrink(crowd, 0);
    for (int i = 0; i < NB_TWIN_MOST; i++)
        nb_shared_drop(crowd->mixed[i]);
    nb_free(crowd->all);
    nb_free(crowd->scenes);
    nb_free(crowd->given);
    nb_free(crowd);
}

/** Room for n of them, those that are there included. */
static nb_status grow(struct nb_crowd *crowd, int n, nb_error *err)
{
    nb_further **all = nb_alloc((size_t)n, sizeof *all, "crystals", err);
    const nb_scene **scenes = nb_alloc((size_t)n, sizeof *scenes, "crystals", err);
    if (!all || !scenes) {
        nb_free(all);
        nb_free(scenes);
        return NB_ERR_NOMEM;
    }
    if (crowd->n) {
        memcpy(all, crowd->all, (size_t)crowd->n * sizeof *all);
        memcpy(scenes, crowd->scenes, (size_t)crowd->n * sizeof *scenes);
    }
    nb_free(crowd->all);
    nb_free(crowd->scenes);
    crowd->all = all;
    crowd->scenes = scenes;
    while (crowd->n < n) {
        if (!(all[crowd->n] = nb_alloc(1, sizeof **all, "crystals", err)))
            return NB_ERR_NOMEM;
        crowd->n++;
    }
    return NB_OK;
}

/** Have both the same crystal's files, read in the same way? */
static int same_files(const nb_config *a, const nb_config *b)
{
    return !strcmp(a->hkl_file, b->hkl_file) && !strcmp(a->pdb_file, b->pdb_file) &&
           !strcmp(a->cif_file, b->cif_file) && !strcmp(a->mtz_file, b->mtz_file) &&
           !strcmp(a->mat_file, b->mat_file) && !strcmp(a->dump_file, b->dump_file) &&
           !strcmp(a->fprime_table, b->fprime_table) && nb_config_same_factors(a, b);
}

/** The inputs of `all`, but those of one crystal, which are `own`'s. */
static nb_inputs join(const nb_inputs *all, const nb_inputs *own)
{
    nb_inputs in = *own;
    in.arrays = all->arrays;
    in.detector = all->detector;
    in.files = all->files;
    in.lines = all->lines;
    in.n_lines = all->n_lines;
    in.sources = all->sources;
    in.has_spectrum = all->has_spectrum;
    return nb_inputs_hold(&in);
}

/** The cell that files gave. */
static void take_cell(const nb_config *from, nb_config *cfg)
{
    if (!from->cell_from_file || cfg->cell_count)
        return;
    memcpy(cfg->cell, from->cell, sizeof cfg->cell);
    cfg->cell_count = from->cell_count;
    cfg->cell_from_file = 1;
}

void nb_crystals_complete(nb_sim *sim)
{
    nb_config *plain = sim->in.files->plain;
    if (plain && same_files(plain, &sim->cfg))
        take_cell(&sim->cfg, plain);
}

/** Read the files of a crystal's own. */
static nb_status load_own(const nb_sim *sim, nb_config *cfg, nb_inputs *in, nb_error *err)
{
    nb_sim *reader = nb_alloc(1, sizeof *reader, "crystals", err);
    nb_status st;
    if (!reader)
        return NB_ERR_NOMEM;
    reader->cfg = *cfg;
    reader->seed = sim->seed;
    reader->hooks = sim->hooks;
    reader->in = nb_inputs_hold(&sim->in);
    nb_inputs_drop_crystal(&reader->in);
    st = nb_resolve_crystal(&reader->cfg, NULL, err);
    if (!st)
        st = nb_load_crystal(reader, err);
    *cfg = reader->cfg;
    *in = reader->in;
    if (st)
        nb_inputs_drop(in);
    nb_free(reader);
    return st;
}

/** What crystal i of the crowd is built from: its own inputs of before, those of a crystal with the same files, or new
 * ones. */
static nb_status take_inputs(nb_sim *sim, int i, nb_config *cfg, nb_error *err)
{
    struct nb_crowd *crowd = sim->crowd;
    nb_further *x = crowd->all[i], *same = NULL;
    nb_inputs in;
    nb_status st = NB_OK;
    if (same_files(cfg, &sim->cfg)) {
        take_cell(&sim->cfg, cfg);
        in = nb_inputs_hold(&sim->in);
    } else {
        if (x->in.files && same_files(cfg, &x->cfg))
            same = x;
        for (int k = 0; k < i && !same; k++)
            if (same_files(cfg, &crowd->all[k]->cfg))
                same = crowd->all[k];
        if (same) {
            take_cell(&same->cfg, cfg);
            in = join(&sim->in, &same->in);
        } else if ((st = load_own(sim, cfg, &in, err))) {
            return st;
        }
    }
    nb_inputs_drop(&x->in);
    x->in = in;
    return NB_OK;
}

/** The configuration of crystal m, where nobody gave one. */
static nb_status plain_config(const nb_sim *sim, int m, nb_config *cfg, nb_error *err)
{
    const nb_config *plain = sim->in.files->plain;
    nb_status st;
    *cfg = sim->cfg;
    if (plain)
        nb_crystal_fields_copy(plain, cfg);
    st = nb_crystal_place(m, sim->seed, cfg, err);
    if (!st)
        st = nb_crystal_line(&sim->in, m, cfg, err);
    return st ? st : nb_resolve_crystal(cfg, NULL, err);
}

/** The configuration of crystal m > 0. */
static nb_status config_of(const nb_sim *sim, int m, nb_config *cfg, nb_error *err)
{
    if (!sim->crowd->given)
        return plain_config(sim, m, cfg, err);
    *cfg = sim->crowd->given[m - 1];
    return NB_OK;
}

/** Scene i of the crowd: part `twin` of crystal m. */
static nb_status build_one(nb_sim *sim, int i, int m, int twin, nb_config *cfg,
                           nb_error *err)
{
    struct nb_crowd *crowd = sim->crowd;
    nb_further *x = crowd->all[i];
    const nb_building b = {&x->cfg, sim->seed, NULL, NULL, twin, &sim->model};
    nb_status st = take_inputs(sim, i, cfg, err);
    if (st)
        return st;
    x->crystal = m;
    x->twin = twin;
    nb_model_free(&x->model);
    x->cfg = *cfg;
    nb_inputs_show(&x->in, &x->cfg);
    st = nb_config_check_rules(&x->cfg, err);
    if (!st)
        st = nb_inputs_build(&x->in, &b, &x->model, &sim->times.factors, err);
    if (st)
        return st;
    if (x->cfg.twin[0])
        nb_tables_sign(&x->in.tables, &x->model.scene.factors.table);
    x->model.scene.background = 0; /* the first crystal's scene has it */
    x->model.scene.amorphous = NULL;
    return NB_OK;
}

/** Render the scene of the crowd's i-th, unless the first part of its twin, `first`, has the same lattice. */
static nb_status take_scene(struct nb_crowd *crowd, nb_further *x, nb_model *first,
                            const nb_twin *twin, nb_error *err)
{
    const double *T = x->twin > 0 ? twin->T[x->twin - 1] : NULL;
    if (T && nb_twin_coincides(first, &x->model, T))
        return nb_twin_mix(first, &x->model, T, &crowd->mixed[x->twin - 1], err);
    crowd->scenes[crowd->n_scenes++] = &x->model.scene;
    return NB_OK;
}

/** The scenes of crystal m, from *i on; the simulation has that of the very first. */
static nb_status build_crystal(nb_sim *sim, int m, int *i, nb_error *err)
{
    struct nb_crowd *crowd = sim->crowd;
    nb_config *cfg = nb_alloc_raw(1, sizeof *cfg, "crystals", err);
    nb_model *first = &sim->model;
    nb_twin twin;
    nb_status st = cfg ? NB_OK : NB_ERR_NOMEM;
    if (!st && m == 0)
        *cfg = sim->cfg;
    else if (!st)
        st = config_of(sim, m, cfg, err);
    if (!st)
        st = nb_twin_read(cfg->twin, &twin, err);
    if (!st && m == 0 && twin.n)
        nb_tables_sign(&sim->in.tables, &first->scene.factors.table);
    for (int part = m == 0; !st && part <= twin.n; part++, ++*i) {
        if (*i >= crowd->n)
            st = grow(crowd, *i + 1, err);
        if (!st)
            st = build_one(sim, *i, m, part, cfg, err);
        if (!st && part == 0)
            first = &crowd->all[*i]->model;
        if (!st)
            st = take_scene(crowd, crowd->all[*i], first, &twin, err);
    }
    nb_free(cfg);
    return st;
}

nb_status nb_crowd_build(nb_sim *sim, nb_error *err)
{
    struct nb_crowd *crowd = sim->crowd;
    int n = 1, built = 0;
    nb_status st = NB_OK;
    if (!sim->cfg.crystals[0] && !sim->cfg.twin[0]) {
        nb_crowd_free(crowd);
        sim->crowd = NULL;
        return NB_OK;
    }
    if ((st = nb_crystals_count(&sim->in, &sim->cfg, &n, err)))
        return st;
    if (!crowd && !(crowd = sim->crowd = nb_alloc(1, sizeof *crowd, "crystals", err)))
        return NB_ERR_NOMEM;
    if (crowd->given && crowd->n_given != n - 1)
        return nb_fail(err, NB_ERR_INTERNAL, "%d crystals were given, not %d",
                       crowd->n_given, n - 1);
    crowd->crystals = n;
    crowd->n_scenes = 0;
    nb_twin_part(&sim->model);
    for (int m = 0; m < n && !st; m++)
        st = build_crystal(sim, m, &built, err);
    shrink(crowd, st ? 0 : built);
    if (st)
        crowd->n_scenes = 0;
    if (!st && n == 0)
        sim->model.scene = nb_scene_without_crystal(&sim->model.scene);
    return st;
}

nb_status nb_sim_set_crystals(nb_sim *sim, const nb_config *configs, int n, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && (configs || n == 0));
    const int crystals = sim->crowd ? sim->crowd->crystals : 1;
    nb_status st;
    if (n != (crystals > 1 ? crystals - 1 : 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "%d configurations of further crystals, but the image has %d", n,
                       crystals);
    if (n == 0)
        return NB_OK;
    st = nb_sim_give_crystals(sim, configs, n, err);
    if (!st)
        st = nb_crowd_build(sim, err);
    nb_photons_forget(&sim->engine.photons);
    return st;
}

nb_status nb_sim_give_crystals(nb_sim *sim, const nb_config *configs, int n, nb_error *err)
{
    struct nb_crowd *crowd = sim->crowd;
    nb_config *given = NULL;
    if (n > 0 && !(given = nb_alloc_raw((size_t)n, sizeof *given, "crystals", err)))
        return NB_ERR_NOMEM;
    if (!crowd && !(crowd = sim->crowd = nb_alloc(1, sizeof *crowd, "crystals", err))) {
        nb_free(given);
        return NB_ERR_NOMEM;
    }
    if (n > 0)
        memcpy(given, configs, (size_t)n * sizeof *given);
    nb_free(crowd->given);
    crowd->given = given;
    crowd->n_given = n;
    return NB_OK;
}

nb_status nb_crowd_copy(const nb_sim *from, nb_sim *to, nb_error *err)
{
    const struct nb_crowd *old = from->crowd;
    nb_status st;
    if (!old)
        return NB_OK;
    st = nb_sim_give_crystals(to, old->given, old->given ? old->n_given : 0, err);
    if (!st && old->n)
        st = grow(to->crowd, old->n, err);
    for (int i = 0; i < old->n && !st; i++) {
        to->crowd->all[i]->cfg = old->all[i]->cfg;
        to->crowd->all[i]->in = nb_inputs_hold(&old->all[i]->in);
        to->crowd->all[i]->in.keeps_limit = 1;
    }
    return st;
}

static void nobody_knows(nb_crystal *out)
{
    const nb_vec3 none = {NAN, NAN, NAN};
    memset(out, 0, sizeof *out);
    out->astar = out->bstar = out->cstar = out->a = out->b = out->c = none;
    for (int i = 0; i < 3; i++)
        out->edge[i] = out->N[i] = NAN;
    out->volume = NAN;
    out->placed = 1;
}

void nb_sim_cell(const nb_sim *sim, double cell[6])
{
    nb_cell_of(&sim->model.crystal, cell);
}

nb_status nb_sim_crystal_of(const nb_sim *sim, nb_config *cfg, nb_crystal *out,
                            nb_error *err)
{
    const nb_inputs *in = same_files(cfg, &sim->cfg) ? &sim->in : NULL;
    const nb_config *loaded = &sim->cfg;
    nb_crystal_inputs inputs;
    nb_damage damage;
    const nb_settings *all;
    nb_status st;
    for (int i = 0; sim->crowd && i < sim->crowd->n && !in; i++)
        if (same_files(cfg, &sim->crowd->all[i]->cfg)) {
            in = &sim->crowd->all[i]->in;
            loaded = &sim->crowd->all[i]->cfg;
        }
    if (!in) {
        nobody_knows(out);
        return NB_OK;
    }
    take_cell(loaded, cfg);
    all = NB_RESOLVED(cfg);
    inputs = nb_crystal_inputs_of(all, &in->matrix, sim->seed);
    st = nb_crystal_build(all, &inputs, NULL, out, err);
    if (!st)
        st = nb_damage_of(all, sim->model.fluence, sim->model.wavelength_A, &damage, err);
    if (!st)
        nb_crystal_grow(damage.growth, out);
    return st;
}
