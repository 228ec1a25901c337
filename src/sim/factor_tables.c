/* SPDX-License-Identifier: MIT */
/* The tables of F of a simulation: one for each group of its wavelengths. */
#define _DEFAULT_SOURCE /* madvise */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/shared.h"
#include "../base/threads.h"
#include "../model/units.h"
#include "../params/params.h"
#include "factors.h"
#include "load.h"
#include "sim.h"

int nb_threads_of(const nb_config *cfg)
{
    long n = cfg->threads > 0 ? cfg->threads : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1
                 : nb_threads_there(n < nb_most_threads() ? (int)n : nb_most_threads());
}

/* --- files --- */

/** The crystal that is typed as a cell or a matrix; *typed: there is one. */
static nb_status typed_crystal(const nb_config *cfg, const nb_matrix *matrix,
                               int64_t seed, nb_crystal *out, int *typed, nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    nb_crystal_inputs in = nb_crystal_inputs_of(all, matrix, seed);
    *typed = matrix->given || (cfg->cell_count > 0 && !cfg->cell_from_file);
    return *typed ? nb_crystal_build(all, &in, NULL, out, err) : NB_OK;
}

nb_status nb_sim_load_factors(nb_sim *sim, nb_error *err)
{
    nb_config *cfg = &sim->cfg;
    nb_crystal crystal;
    int typed;
    nb_status st = typed_crystal(cfg, &sim->in.matrix, sim->seed, &crystal, &typed, err);
    if (!st)
        st = nb_factor_files_load(cfg, typed ? &crystal : NULL, &sim->hooks,
                                  &sim->in.factors, err);
    if (st)
        return st;
    sim->in.table_from_hkl = cfg->hkl_file[0] || cfg->dump_file[0];
    if (typed)
        return NB_OK;
    cfg->cell_count = 6;
    cfg->cell_from_file = 1;
    memcpy(cfg->cell, sim->in.factors->cell, sizeof cfg->cell);
    return NB_OK;
}

/* --- limits --- */

static int may_interpolate(const nb_config *cfg, const nb_crystal *x)
{
    int small = x->N[0] <= 2 || x->N[1] <= 2 || x->N[2] <= 2;
    return cfg->interpolate == NB_ON || (cfg->interpolate == NB_AUTO && small);
}

double nb_factor_files_limit(const nb_factor_files *files, const nb_config *cfg, double q,
                             const nb_crystal *crystal)
{
    if (cfg->dmin_A > 0)
        q = fmin(q, 1 / cfg->dmin_A);
    return nb_table_limit(q, crystal, files->cell, may_interpolate(cfg, crystal));
}

/** What a model sees.  Reflections without a typed limit are taken as far as they go. */
static double limit_of_model(const nb_factor_files *files, const nb_model *model)
{
    const nb_config *cfg = &model->settings.value;
    if (nb_factor_files_are_constant(files) && !(cfg->dmin_A > 0))
        return 0;
    return nb_factor_files_limit(files, cfg, nb_scene_reach(&model->scene),
                                 &model->crystal);
}

/** The half of a cell that a table has in excess may pass the limit of what is known. */
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
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    double need = (double)voxels * tables * sizeof(double);
    double half = pages > 0 && page > 0 ? (double)pages * (double)page / 2 : INFINITY;
    if (need <= half || tables < 2)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "%d tables of structure factors need %.1f GB, more than half of the "
                   "memory: give a larger -anomalous_tol, or -anomalous mean",
                   tables, need / 1e9);
}

/** The first table into its place, which the grid is. */
static nb_factor_stats fill_table(const nb_factor_sums *sums, const nb_wave *wave,
                                  double default_F, int threads, nb_factor_grid *grid)
{
    const nb_factor_files *files = sums->files;
    nb_factor_stats stats;
    size_t voxels = nb_factor_grid_voxels(grid);
    for (size_t i = 0; i < voxels; i++)
        grid->F[i] = NAN;
    nb_factor_sums_fill(sums, wave, threads, grid);
    if (!files->list_path && !NB_TYPED(&files->settings, F000)) /* in the direct beam */
        grid->F[voxels / 2] = 0;
    stats = nb_factor_stats_of(grid);
    for (size_t i = 0; i < voxels; i++)
        grid->F[i] = isnan(grid->F[i]) ? default_F : grid->F[i];
    return stats;
}

/** F of 0 0 0 where no sum gives it; NaN: the sum's. */
static double origin_of(const nb_factor_files *files)
{
    const double F =
        files->settings.value.F000; /* in the direct beam 0, unless it is typed */
    return F >= 0 ? nb_factor_files_scale(files) * F : NAN;
}

/** Numbers of a table that one thread writes and measures. */
typedef struct table_runs {
    size_t voxels, n;  /* of a table; runs of a table */
    nb_table_run *run; /* owned; [n] */
    int threads, with_hash;
} table_runs;

/** Measure a table; map: write it before, with `origin` at 0 0 0 unless that is NaN. */
static void finish_table(const table_runs *r, const nb_orbit_map *map, double origin,
                         double *F, nb_table_run *all)
{
    const size_t middle = r->voxels / 2;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(r->threads)
#endif
    for (size_t i = 0; i < r->n; i++) {
        const size_t first = i * NB_TABLE_RUN, rest = r->voxels - first;
        const size_t n = rest < NB_TABLE_RUN ? rest : NB_TABLE_RUN;
        if (map)
            nb_orbit_map_write(map, first, n, F + first);
        if (map && !isnan(origin) && middle - first < n)
            F[middle] = origin;
        r->run[i] = nb_table_run_of(F + first, n, r->with_hash);
    }
    for (size_t i = 0; i < r->n; i++)
        nb_table_run_add(all, &r->run[i]);
}

/** In large pages where the system has them: the first touch of small ones takes as long as a table. */
static double *table_memory(size_t voxels, size_t tables, nb_error *err)
{
    const size_t large = (size_t)2 << 20;
    size_t bytes;
    void *memory;
    if (!nb_size_mul(voxels, tables * sizeof(double), &bytes) || bytes < 2 * large ||
        posix_memalign(&memory, large, bytes))
        return nb_alloc_raw(voxels, tables * sizeof(double),
                            "tables of structure factors", err);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

/** The tables of a model from the second on. */
static nb_status fill_more(const nb_factor_sums *sums, const nb_waves *waves,
                           const table_runs *r, nb_tables *tables, nb_table_run *extent,
                           nb_error *err)
{
    const nb_factor_files *files = sums->files;
    nb_orbit_map map;
    int H[3];
    nb_status st;
    nb_factor_sums_limits(sums, H);
    st = nb_orbit_map_make(&sums->partials, H, files->settings.value.B_add,
                           nb_factor_files_scale(files), &map, err);
    for (int i = 1; i < waves->n && !st; i++) {
        nb_orbit_map_combine(&map, waves->group[i].f, tables->default_F, r->threads);
        finish_table(r, &map, origin_of(files), tables->file->F + (size_t)i * r->voxels,
                     extent);
    }
    nb_orbit_map_free(&map);
    return st;
}

/** Fill the memory of the tables, and measure it. */
static nb_status fill_all(const nb_factor_sums *sums, const nb_waves *waves, int threads,
                          nb_factor_grid *grid, nb_tables *tables, nb_error *err)
{
    table_runs r = {.voxels = nb_factor_grid_voxels(grid),
                    .threads = threads,
                    .with_hash = waves->n > 1};
    nb_table_run extent = nb_table_run_none();
    nb_status st = NB_OK;
    r.n = (r.voxels + NB_TABLE_RUN - 1) / NB_TABLE_RUN;
    r.run = nb_alloc_raw(r.n, sizeof *r.run, "structure factors", err);
    if (!r.run)
        return NB_ERR_NOMEM;
    grid->F = tables->file->F;
    tables->stats = fill_table(sums, waves->group, tables->default_F, threads, grid);
    tables->file->reflections = (int64_t)tables->stats.reflections;
    finish_table(&r, NULL, NAN, grid->F, &extent);
    if (waves->n > 1)
        st = fill_more(sums, waves, &r, tables, &extent, err);
    nb_free(r.run);
    nb_tables_describe(tables, waves->n, &extent);
    return st;
}

/** Tables for these wavelengths, which they take. *tables is the caller's after an error, too. */
static nb_status make_tables(const nb_factor_sums *sums, const nb_config *cfg,
                             nb_waves *waves, nb_tables *tables, nb_error *err)
{
    nb_factor_grid grid = {0};
    const int *H = grid.H;
    size_t voxels;
    nb_status st;
    nb_factor_sums_limits(sums, grid.H);
    memcpy(grid.cell, sums->files->cell, sizeof grid.cell);
    voxels = nb_factor_grid_voxels(&grid);
    if ((st = check_memory(voxels, waves->n, err)) || (st = nb_tables_new(tables, err)))
        return st;
    tables->dmin = sums->dmin;
    tables->default_F = cfg->default_F;
    *tables->file = (nb_factor_file){-H[0], H[0], -H[1], H[1], -H[2], H[2], 0, NULL};
    tables->file->F = table_memory(voxels, (size_t)waves->n, err);
    if (!tables->file->F)
        return NB_ERR_NOMEM;
    st = fill_all(sums, waves, nb_threads_of(cfg), &grid, tables, err);
    return st ? st : nb_tables_take_waves(tables, waves, err);
}

/* --- the inputs of a model: files -> sums -> tables, each made again when it does not go far enough --- */

/** Sums to dmin (0: as far as the model sees). */
static nb_status fit_sums(nb_inputs *in, const nb_model *model, double dmin,
                          const nb_hooks *hooks, nb_error *err)
{
    const nb_beam *beam = &model->scene.beam;
    nb_factor_sums *fresh;
    nb_status st;
    if (!(dmin > 0))
        dmin = limit_of_model(in->factors, model);
    dmin = allow_margin(model, dmin);
    if (in->sums && (nb_factor_files_are_constant(in->factors) || in->sums->dmin <= dmin))
        return NB_OK;
    st = nb_factor_sums_make(in->factors, dmin,
                             nb_mean_wavelength(beam->sources, beam->n_sources),
                             nb_threads_of(&model->settings.value), hooks, &fresh, err);
    if (st)
        return st;
    nb_shared_drop(in->sums);
    in->sums = fresh;
    return NB_OK;
}

/** Tables for these wavelengths. */
static nb_status fit_tables(nb_inputs *in, const nb_config *cfg, nb_waves *waves,
                            const nb_hooks *hooks, nb_error *err)
{
    nb_tables *t = &in->tables, fresh = {0};
    nb_status st;
    if (t->box.nh && t->waves && nb_waves_equal(waves, t->waves) &&
        t->dmin == in->sums->dmin && t->default_F == cfg->default_F)
        return NB_OK;
    st = make_tables(in->sums, cfg, waves, &fresh, err);
    if (!st && t->typed_F)
        nb_notice(hooks, "the table of structure factors was made again for another "
                         "wavelength or limit: the F that were given as one array "
                         "are gone");
    nb_tables_drop(st ? &fresh : t);
    if (!st)
        *t = fresh;
    return st;
}

/** Tables for the wavelengths of the model, and give them to it. */
static nb_status show_tables(nb_inputs *in, nb_model *model, const nb_hooks *hooks,
                             nb_error *err)
{
    const nb_beam *beam = &model->scene.beam;
    const nb_config *cfg = &model->settings.value;
    nb_factor_table table;
    nb_waves waves;
    nb_status st = nb_waves_group(in->sums, beam->sources, beam->n_sources,
                                  in->keeps_limit ? NULL : hooks, &waves, err);
    if (st)
        return st;
    st = fit_tables(in, cfg, &waves, hooks, err);
    if (!st) {
        table = in->tables.box;
        table.default_F = cfg->default_F;
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
    if (!in->keeps_limit)
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
