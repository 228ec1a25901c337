/* SPDX-License-Identifier: MIT */
/* Tables of F of a simulation, one for each group of its wavelengths. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/threads.h"
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../params/params.h"
#include "factors.h"
#include "load.h"

int nb_threads_of(const nb_config *cfg)
{
    long n = cfg->threads > 0 ? cfg->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : nb_threads_there(n < nb_max_threads() ? (int)n : nb_max_threads());
}

/* --- files --- */

/** Build the crystal that is typed as a cell or a matrix; *typed: 0 without both. */
static nb_status typed_crystal(const nb_config *cfg, const nb_matrix *matrix,
                               int64_t seed, nb_crystal *out, int *typed, nb_error *err)
{
    nb_config still = *cfg;
    const nb_settings *all;
    nb_crystal_inputs in;
    if (!matrix->given) /* no misset, since it would change the last digits of the cell */
        still.misset_mode = NB_MISSET_NONE;
    all = NB_RESOLVED(&still);
    in = nb_crystal_inputs_of(all, matrix, seed);
    *typed = matrix->given || (cfg->cell_count > 0 && !cfg->cell_from_file);
    return *typed ? nb_crystal_build(all, &in, NULL, out, err) : NB_OK;
}

/** Arguments of make_files. */
typedef struct factors_request {
    const nb_config *cfg;
    const nb_crystal *crystal; /* the typed crystal, or NULL */
    const nb_hooks *hooks;
} factors_request;

static nb_status make_files(void *user, void **object, size_t *bytes, nb_error *err)
{
    const factors_request *r = user;
    nb_factor_files *files;
    nb_status st = nb_factor_files_load(r->cfg, r->crystal, r->hooks, &files, err);
    *object = files;
    *bytes = st ? 0 : nb_factor_files_bytes(files);
    return st;
}

/** Key of all values on which files of F depend, except the cell of the crystal. */
static nb_key key_of_factors(const nb_config *cfg, const nb_inputs *in)
{
    const char *const files[] = {cfg->pdb_file, cfg->cif_file, cfg->mtz_file,
                                 cfg->fprime_table};
    char text[NB_PARAM_TEXT];
    nb_key key = nb_key_of("factors");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        nb_key_file(&key, in->store, files[i]);
    nb_inputs_key_file(&key, in, cfg->hkl_file, NB_ARRAY_HKL);
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_SUM));) {
        nb_param_get(p, cfg, " ", text, sizeof text, NULL);
        nb_key_text(&key, text);
    }
    nb_key_number(&key, cfg->F_scale == NB_FSCALE_MODEL);
    nb_key_number(&key, cfg->fill || cfg->F_scale == NB_FSCALE_MODEL ? cfg->dmin_A : 0);
    return key;
}

/** True if the files have no cell and were read for a crystal with another cell. A list
 * whose F do not depend on the cell is shared by the frames of a series. */
static int is_of_another_cell(const nb_inputs *in, const nb_factor_files *files,
                              const nb_crystal *crystal)
{
    double cell[6];
    if (!crystal ||
        (!files->needs_cell && (in->limit == NB_LIMIT_KEPT || !files->cell_is_typed)))
        return 0;
    nb_factor_cell_of(crystal, cell);
    for (int i = 0; i < 6; i++)
        if (fabs(cell[i] - files->given_cell[i]) > 1e-12 * cell[i])
            return 1;
    return 0;
}

/** Take the files of F for this crystal from the store. */
static nb_status take_files(nb_inputs *in, factors_request *r, nb_error *err)
{
    char text[160] = "";
    double cell[6];
    void *files;
    nb_status st;
    in->factors_key = key_of_factors(r->cfg, in);
    NB_FORWARD(nb_store_take(in->store, &in->factors_key, make_files, r, &files, err));
    if (is_of_another_cell(in, files, r->crystal)) {
        nb_shared_drop(files);
        nb_factor_cell_of(r->crystal, cell);
        for (int i = 0; i < 6; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), " %.12g", cell[i]);
        nb_key_text(&in->factors_key, text);
        st = nb_store_take(in->store, &in->factors_key, make_files, r, &files, err);
    }
    in->factors = st ? NULL : files;
    return st;
}

nb_status nb_load_factors(nb_config *cfg, nb_inputs *in, int64_t seed,
                          const nb_hooks *hooks, nb_error *err)
{
    nb_crystal crystal;
    factors_request r = {cfg, &crystal, hooks};
    int typed;
    nb_status st = typed_crystal(cfg, &in->matrix, seed, &crystal, &typed, err);
    if (!typed)
        r.crystal = NULL;
    NB_TRY(take_files(in, &r, err));
    if (st)
        return st;
    in->table_from_hkl = cfg->hkl_file[0] || cfg->dump_file[0];
    if (typed)
        return NB_OK;
    cfg->cell_count = 6;
    cfg->cell_from_file = 1;
    memcpy(cfg->cell, in->factors->cell, sizeof cfg->cell);
    return NB_OK;
}

/** Sums and tables of a series, as a store keeps them. */
typedef struct kept_tables {
    nb_factor_sums *sums;
    nb_tables tables;
} kept_tables;

static void free_kept(void *object)
{
    kept_tables *k = object;
    nb_shared_drop(k->sums);
    nb_tables_drop(&k->tables);
}

static nb_key key_of_kept(const nb_inputs *in)
{
    nb_key key = nb_key_of("series");
    nb_key_add(&key, &in->factors_key, sizeof in->factors_key);
    return key;
}

nb_status nb_inputs_keep_tables(const nb_inputs *in, nb_error *err)
{
    const nb_key key = key_of_kept(in);
    kept_tables *k;
    nb_status st;
    if (!in->sums)
        return NB_OK;
    if (!(k = nb_shared_new(sizeof *k, free_kept, "structure factors", err)))
        return NB_ERR_NOMEM;
    k->sums = nb_shared_hold(in->sums);
    k->tables = nb_tables_hold(&in->tables);
    st = nb_store_put(in->store, &key, k, 0, err);
    nb_shared_drop(k);
    return st;
}

void nb_inputs_find_tables(nb_inputs *in, const nb_inputs *old)
{
    const nb_key key = key_of_kept(in);
    kept_tables *k = in->limit == NB_LIMIT_KEPT ? nb_store_find(in->store, &key) : NULL;
    const int shared = old && old->factors == in->factors;
    in->of_series = k != NULL;
    if (shared && (!k || old->sums == k->sums)) {
        in->sums = nb_shared_hold(old->sums);
        in->tables = nb_tables_hold(&old->tables);
    } else if (k) {
        in->sums = nb_shared_hold(k->sums);
        in->tables = nb_tables_hold(&k->tables);
    }
    nb_shared_drop(k);
}

/* --- limits --- */

static int may_interpolate(const nb_config *cfg, const nb_crystal *x)
{
    int small = x->N[0] <= 2 || x->N[1] <= 2 || x->N[2] <= 2;
    return cfg->interpolate == NB_ON || (cfg->interpolate == NB_AUTO && small);
}

int nb_factor_files_have_limit(const nb_factor_files *files, const nb_config *cfg)
{
    /* diffuse light of reflections finer than -dmin reaches points coarser than -dmin */
    return !nb_factor_files_are_constant(files) ||
           (cfg->dmin_A > 0 && !nb_config_is_diffuse(cfg));
}

/** Largest |q| of reflections whose light, including diffuse light, reaches points with
 * |q| <= q. */
static double reach_of_halos(const nb_config *cfg, double q)
{
    const double *gamma = cfg->diffuse_gamma_A;
    return nb_config_is_diffuse(cfg)
               ? nb_diffuse_reach(q, cfg->dmin_A, fmax(gamma[0], fmax(gamma[1], gamma[2])))
               : q;
}

double nb_factor_files_limit(const nb_factor_files *files, const nb_config *cfg, double q,
                             const nb_crystal *crystal)
{
    if (!nb_factor_files_have_limit(files, cfg))
        return 0;
    if (cfg->dmin_A > 0 && files->list_path &&
        (cfg->fill == NB_FILL_SHELL || cfg->F_scale == NB_FSCALE_MODEL))
        q = 1 / cfg->dmin_A; /* the shells and the scale depend on the whole list */
    else if (cfg->dmin_A > 0)
        q = fmin(q, 1 / cfg->dmin_A);
    q = reach_of_halos(cfg, q);
    return nb_table_limit(q, crystal, files->cell, may_interpolate(cfg, crystal));
}

/** Limit d (A) of F for a model; 0 if files without a typed limit are used as a whole. */
static double limit_of_model(const nb_factor_files *files, const nb_model *model)
{
    return nb_factor_files_limit(files, &model->settings.value, nb_model_reach(model),
                                 &model->crystal);
}

/** Return NB_SHORTEST_D if dmin is finer than it by no more than the margin of half a
 * reciprocal cell. */
static double allow_margin(const nb_model *model, double dmin)
{
    const double seen =
        fmax(1 / nb_scene_reach(&model->scene), model->settings.value.dmin_A);
    return dmin > 0 && dmin < NB_SHORTEST_D && seen >= NB_SHORTEST_D ? NB_SHORTEST_D
                                                                     : dmin;
}

/* --- tables --- */

static nb_status check_memory(size_t voxels, int tables, nb_error *err)
{
    const double need = (double)voxels * tables * sizeof(double);
    if (need <= nb_machine_memory() / 2 || tables < 2)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "%d tables of structure factors need %.1f GB, more than half of the "
                   "memory: give a larger -anomalous_tol, or -anomalous mean",
                   tables, need / 1e9);
}

/** Fill the first table. Missing values are NaN. */
static void fill_table(const nb_factor_sums *sums, const nb_wave *wave,
                       const nb_factor_box *box, int threads, nb_tables *tables)
{
    const nb_factor_files *files = sums->files;
    double *F = tables->file->F;
    nb_factor_sums_fill(sums, tables->weight, wave, box, threads, F);
    if (!files->list_path && !NB_TYPED(&files->settings, F000)) /* F of the direct beam */
        F[nb_factor_box_voxels(box) / 2] = 0;
    if (tables->stats.reflections == 0)
        tables->stats = nb_factor_stats_of(F, NULL, box);
    tables->file->reflections = (int64_t)tables->stats.reflections;
}

/** F of 0 0 0, which is in the direct beam: the value of -F000, or 0 by default. NaN:
 * keep the value of the sums. */
static double origin_of(const nb_factor_files *files, nb_factor_weight weight)
{
    const double F =
        files->settings.value.F000; /* 0 in the direct beam, unless it is typed */
    return F >= 0 ? weight.k * F : NAN;
}

/** The runs (parts) of a table.  A run is written and measured by one thread. */
typedef struct table_runs {
    size_t voxels, n;  /* numbers of voxels and of runs of a table */
    nb_table_run *run; /* owned; [n] */
    int threads, with_hash;
    double default_F;
} table_runs;

static void replace_nan(double *F, size_t n, double value)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        F[i] = isnan(F[i]) ? value : F[i];
}

/** Complete and measure a table. With a map, write F from the map, and for 0 0 0 `origin`
 * unless it is NaN. Without a map, replace NaN by default_F. */
static void finish_table(const table_runs *r, const nb_orbit_map *map, double origin,
                         double *F, nb_table_run *all)
{
    const size_t middle = r->voxels / 2;
#pragma omp parallel for schedule(static) num_threads(r->threads)
    for (size_t i = 0; i < r->n; i++) {
        const size_t first = i * NB_TABLE_RUN, rest = r->voxels - first;
        const size_t n = rest < NB_TABLE_RUN ? rest : NB_TABLE_RUN;
        if (map)
            nb_orbit_map_write(map, first, n, F + first);
        else
            replace_nan(F + first, n, r->default_F);
        if (map && !isnan(origin) && middle - first < n)
            F[middle] = origin;
        r->run[i] = nb_table_run_of(F + first, n, r->with_hash);
    }
    for (size_t i = 0; i < r->n; i++)
        nb_table_run_add(all, &r->run[i]);
}

/** Fill the tables of a model from the second on. */
static nb_status fill_more(const nb_factor_sums *sums, const nb_waves *waves,
                           const nb_factor_box *box, const table_runs *r,
                           nb_tables *tables, nb_table_run *extent, nb_error *err)
{
    const int H[3] = {-box->low[0], -box->low[1], -box->low[2]};
    nb_orbit_map map;
    nb_status st = nb_orbit_map_make(&sums->partials, H, tables->weight.B,
                                     tables->weight.k, &map, err);
    for (int i = 1; i < waves->n && !st; i++) {
        nb_orbit_map_combine(&map, waves->group[i].f, tables->default_F, r->threads);
        finish_table(r, &map, origin_of(sums->files, tables->weight),
                     tables->file->F + (size_t)i * r->voxels, extent);
    }
    nb_orbit_map_free(&map);
    return st;
}

/** Fill all tables and measure them. */
static nb_status fill_all(const nb_factor_sums *sums, const nb_waves *waves,
                          const nb_factor_box *box, int threads, nb_tables *tables,
                          nb_error *err)
{
    table_runs r = {.voxels = nb_factor_box_voxels(box),
                    .threads = threads,
                    .with_hash = waves->n > 1,
                    .default_F = tables->default_F};
    nb_table_run extent = nb_table_run_none();
    nb_status st = NB_OK;
    r.n = (r.voxels + NB_TABLE_RUN - 1) / NB_TABLE_RUN;
    r.run = nb_alloc_raw(r.n, sizeof *r.run, "structure factors", err);
    if (!r.run)
        return NB_ERR_NOMEM;
    fill_table(sums, waves->group, box, threads, tables);
    finish_table(&r, NULL, NAN, tables->file->F, &extent);
    if (waves->n > 1)
        st = fill_more(sums, waves, box, &r, tables, &extent, err);
    nb_free(r.run);
    nb_tables_describe(tables, waves->n, &extent);
    return st;
}

/** Settings of tables, except sums and waves. */
typedef struct table_asked {
    double default_F;
    nb_factor_weight weight;
    nb_factor_box box;
    nb_factor_stats stats; /* zero if not yet calculated */
    int threads;
} table_asked;

/** Box of the tables. A list has the box of its values, with default_F outside. This box
 * does not depend on scale or cell, which matters if F is interpolated. In other cases
 * the whole box is used: it gives the same image, and frames with another B or scale
 * share its memory. */
static nb_factor_box box_of(const nb_factor_sums *sums, const nb_model *model)
{
    const nb_factor_box whole = nb_factor_sums_box(sums);
    const size_t n = nb_factor_box_voxels(&whole);
    if (!sums->files->list_path)
        return whole;
    if (nb_list_is_changed(&model->settings) &&
        !(nb_config_is_diffuse(&model->settings.value) &&
          /* default_F, too, makes diffuse light */
          model->settings.value.default_F != 0) &&
        !may_interpolate(&model->settings.value, &model->crystal) &&
        nb_factor_box_voxels(&sums->filled_box) > n / 2)
        return whole;
    return sums->filled_box;
}

static table_asked asked_of(const nb_inputs *in, const nb_model *model)
{
    const nb_factor_stats none = {0};
    return (table_asked){
        model->settings.value.default_F,
        nb_factor_weight_of(in->factors, &model->crystal, &model->settings),
        box_of(in->sums, model),
        (in->limit == NB_LIMIT_KEPT) ? in->tables.stats
                                     /* a clone keeps the old statistics, because it makes
                                      * no report */
                                     : none,
        nb_threads_of(&model->settings.value)};
}

static int is_as_asked(const nb_tables *t, const nb_factor_sums *sums,
                       const table_asked *a)
{
    const nb_factor_table *b = &t->box;
    const nb_factor_box box = {{b->hmin, b->kmin, b->lmin}, {b->nh, b->nk, b->nl}};
    return t->dmin == sums->dmin && t->default_F == a->default_F &&
           !memcmp(&t->weight, &a->weight, sizeof t->weight) &&
           !memcmp(&box, &a->box, sizeof box);
}

/** Get memory for F: memory of the old tables if it fits and has no other holder. */
static double *take_memory(nb_tables *old, size_t voxels, int tables, nb_error *err)
{
    double *F = NULL;
    if (old->box.nh && old->box.F == old->file->F && nb_shared_is_own(old->file) &&
        nb_table_values(&old->box) == voxels * (size_t)tables) {
        F = old->file->F;
        old->file->F = NULL;
        nb_tables_drop(old);
    }
    return F ? F
             : nb_alloc_large(voxels, (size_t)tables * sizeof *F,
                              "tables of structure factors", err);
}

/** Make tables for `waves`, which this function takes. The caller frees *tables, after an
 * error too. *old may be dropped. */
static nb_status make_tables(const nb_factor_sums *sums, const table_asked *a,
                             nb_waves *waves, nb_tables *old, nb_tables *tables,
                             nb_error *err)
{
    const int *low = a->box.low, *n = a->box.n;
    const size_t voxels = nb_factor_box_voxels(&a->box);
    nb_status st;
    if ((st = check_memory(voxels, waves->n, err)) || (st = nb_tables_new(tables, err)))
        return st;
    tables->dmin = sums->dmin;
    tables->default_F = a->default_F;
    tables->weight = a->weight;
    tables->stats = a->stats;
    *tables->file = (nb_factor_file){low[0], low[0] + n[0] - 1, low[1], low[1] + n[1] - 1,
                                     low[2], low[2] + n[2] - 1, 0,      NULL};
    tables->file->F = take_memory(old, voxels, waves->n, err);
    if (!tables->file->F)
        return NB_ERR_NOMEM;
    st = fill_all(sums, waves, &a->box, a->threads, tables, err);
    return st ? st : nb_tables_take_waves(tables, waves, err);
}

/* --- files make sums, sums make tables; both are made again if they do not go far enough
 * --- */

typedef struct sums_request {
    const nb_factor_files *files;
    double dmin, wavelength_A;
    int threads;
    const nb_hooks *hooks;
} sums_request;

static nb_status make_sums(void *user, void **object, size_t *bytes, nb_error *err)
{
    const sums_request *r = user;
    nb_factor_sums *sums;
    nb_status st = nb_factor_sums_make(r->files, r->dmin, r->wavelength_A, r->threads,
                                       r->hooks, &sums, err);
    *object = sums;
    if (!st) {
        const nb_factor_box box = nb_factor_sums_box(sums);
        *bytes = nb_factor_box_voxels(&box) * 2 * sizeof(double);
    }
    return st;
}

/** True if the sums go as far as needed. */
static int are_enough(const nb_inputs *in, double dmin)
{
    const double own = in->sums ? in->sums->asked : 0;
    if (!in->sums)
        return 0;
    return in->limit != NB_LIMIT_ENOUGH ? fabs(own - dmin) <= 1e-9 * dmin
           : own == 0                   ? 1 /* 0: the sums have the whole list */
                                        : dmin > 0 && in->sums->dmin <= dmin;
}

/** Make sums to dmin (A; 0: to the limit of model or list; -1: of a whole list). */
static nb_status fit_sums(nb_inputs *in, const nb_model *model, double dmin,
                          const nb_hooks *hooks, nb_error *err)
{
    const nb_beam *beam = &model->scene.beam;
    sums_request r = {in->factors, dmin, 0, nb_threads_of(&model->settings.value), hooks};
    nb_key key = nb_key_of("sums");
    char text[32];
    void *fresh;
    nb_status st;
    if (!(dmin > 0))
        r.dmin = dmin < 0 ? 0 : limit_of_model(in->factors, model);
    r.dmin = allow_margin(model, r.dmin);
    if (are_enough(in, r.dmin))
        return NB_OK;
    r.wavelength_A = nb_mean_wavelength(beam->sources, beam->n_sources);
    nb_key_add(&key, &in->factors_key, sizeof in->factors_key);
    snprintf(text, sizeof text, "%.9g", r.dmin);
    nb_key_text(&key, text);
    nb_key_number(&key,
                  in->factors->list_path && in->factors->model_path ? r.wavelength_A : 0);
    NB_FORWARD(nb_store_take(in->store, &key, make_sums, &r, &fresh, err));
    nb_shared_drop(in->sums);
    in->sums = fresh;
    return NB_OK;
}

/** Make tables for `waves` unless in->tables fit. */
static nb_status fit_tables(nb_inputs *in, const table_asked *a, nb_waves *waves,
                            const nb_hooks *hooks, nb_error *err)
{
    nb_tables *t = &in->tables, fresh = {0};
    nb_status st;
    if (t->box.nh && t->waves && nb_waves_equal(waves, t->waves) &&
        /* only the wavelengths may differ, so take the new ones */
        is_as_asked(t, in->sums, a))
        return nb_tables_take_waves(t, waves, err);
    st = make_tables(in->sums, a, waves, t, &fresh, err);
    nb_tables_drop(st ? &fresh : t);
    if (!st)
        *t = fresh;
    return st ? st : nb_tables_put_typed(t, &in->typed, hooks, err);
}

/** Make tables for the wavelengths of the model, and set them in the model. */
static nb_status show_tables(nb_inputs *in, nb_model *model, const nb_hooks *hooks,
                             nb_error *err)
{
    const nb_beam *beam = &model->scene.beam;
    const table_asked asked = asked_of(in, model);
    nb_factor_table table;
    nb_waves waves;
    nb_status st;
    NB_FORWARD(nb_waves_group(in->sums, beam->sources, beam->n_sources,
                              (in->limit == NB_LIMIT_KEPT) ? NULL : hooks, &waves, err));
    st = fit_tables(in, &asked, &waves, hooks, err);
    if (!st) {
        table = in->tables.box;
        table.default_F = in->tables.default_F;
        nb_model_set_tables(&table, waves.of_source, model);
    }
    nb_waves_free(&waves);
    return st;
}

nb_status nb_inputs_make_factors(nb_inputs *in, nb_model *model, double dmin,
                                 const nb_hooks *hooks, nb_error *err)
{
    nb_factor_sums *old;
    nb_status st = NB_OK;
    if (!in->factors)
        return NB_OK;
    old = nb_shared_hold(in->sums);
    if (!in->of_series)
        st = fit_sums(in, model, dmin, hooks, err);
    if (!st && in->sums)
        st = show_tables(in, model, hooks, err);
    if (st) {
        nb_shared_drop(in->sums);
        in->sums = old;
    } else {
        nb_shared_drop(old);
    }
    return st;
}
