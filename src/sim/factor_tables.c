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
        st = nb_factor_maker_load(cfg, typed ? &crystal : NULL, &sim->hooks,
                                  &sim->in.maker, err);
    if (st)
        return st;
    sim->in.table_from_hkl = cfg->hkl_file[0] || cfg->dump_file[0];
    if (typed)
        return NB_OK;
    cfg->cell_count = 6;
    cfg->cell_from_file = 1;
    memcpy(cfg->cell, sim->in.maker->cell, sizeof cfg->cell);
    return NB_OK;
}

/* --- limits --- */

static int may_interpolate(const nb_config *cfg, const nb_crystal *x)
{
    int small = x->N[0] <= 2 || x->N[1] <= 2 || x->N[2] <= 2;
    return cfg->interpolate == NB_ON || (cfg->interpolate == NB_AUTO && small);
}

double nb_factor_maker_limit(const nb_factor_maker *maker, const nb_config *cfg, double q,
                             const nb_crystal *crystal)
{
    if (cfg->dmin_A > 0)
        q = fmin(q, 1 / cfg->dmin_A);
    return nb_table_limit(q, crystal, maker->cell, may_interpolate(cfg, crystal));
}

/** What a model sees.  Reflections without a typed limit are taken as far as they go. */
static double limit_of_model(const nb_factor_maker *maker, const nb_config *cfg,
                             const nb_model *model)
{
    if (nb_factor_maker_is_constant(maker) && !(cfg->dmin_A > 0))
        return 0;
    return nb_factor_maker_limit(maker, cfg, nb_scene_reach(&model->scene),
                                 &model->crystal);
}

/** The half of a cell that a table has in excess may pass the limit of what is known. */
static double allow_margin(const nb_config *cfg, const nb_scene *sc, double dmin)
{
    double seen = 1 / nb_scene_reach(sc);
    if (cfg->dmin_A > seen)
        seen = cfg->dmin_A;
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
static nb_factor_stats fill_table(const nb_config *cfg, const nb_factor_maker *maker,
                                  const nb_wave *wave, nb_factor_grid *grid)
{
    double default_F = NB_VALUE(cfg, default_F);
    nb_factor_stats stats;
    size_t voxels = nb_factor_grid_voxels(grid);
    for (size_t i = 0; i < voxels; i++)
        grid->F[i] = NAN;
    nb_factor_maker_fill(maker, wave, nb_threads_of(cfg), grid);
    if (!maker->list_path && !NB_TYPED(&maker->settings, F000)) /* in the direct beam */
        grid->F[voxels / 2] = 0;
    stats = nb_factor_stats_of(grid);
    for (size_t i = 0; i < voxels; i++)
        grid->F[i] = isnan(grid->F[i]) ? default_F : grid->F[i];
    return stats;
}

/** F of 0 0 0 where no sum gives it; NaN: the sum's. */
static double origin_of(const nb_factor_maker *maker)
{
    const double F =
        maker->settings.value.F000; /* in the direct beam 0, unless it is typed */
    return F >= 0 ? nb_factor_maker_scale(maker) * F : NAN;
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
static nb_status fill_more(const nb_factor_maker *maker, const nb_waves *waves,
                           const table_runs *r, double default_F, double *F,
                           nb_table_run *extent, nb_error *err)
{
    nb_orbit_map map;
    int H[3];
    nb_status st;
    nb_factor_maker_limits(maker, H);
    st = nb_orbit_map_make(&maker->partials, H, maker->settings.value.B_add,
                           nb_factor_maker_scale(maker), &map, err);
    for (int i = 1; i < waves->n && !st; i++) {
        nb_orbit_map_combine(&map, waves->group[i].f, default_F, r->threads);
        finish_table(r, &map, origin_of(maker), F + (size_t)i * r->voxels, extent);
    }
    nb_orbit_map_free(&map);
    return st;
}

/** Fill the memory of the tables, and measure it. */
static nb_status fill_all(const nb_config *cfg, const nb_factor_maker *maker,
                          const nb_waves *waves, nb_factor_grid *grid, nb_tables *tables,
                          nb_error *err)
{
    table_runs r = {.voxels = nb_factor_grid_voxels(grid),
                    .threads = nb_threads_of(cfg),
                    .with_hash = waves->n > 1};
    nb_table_run extent = nb_table_run_none();
    nb_status st = NB_OK;
    r.n = (r.voxels + NB_TABLE_RUN - 1) / NB_TABLE_RUN;
    r.run = nb_alloc_raw(r.n, sizeof *r.run, "structure factors", err);
    if (!r.run)
        return NB_ERR_NOMEM;
    grid->F = tables->file->F;
    tables->stats = fill_table(cfg, maker, waves->group, grid);
    tables->file->reflections = (int64_t)tables->stats.reflections;
    finish_table(&r, NULL, NAN, grid->F, &extent);
    if (waves->n > 1)
        st = fill_more(maker, waves, &r, NB_VALUE(cfg, default_F), grid->F, &extent, err);
    nb_free(r.run);
    nb_tables_describe(tables, waves->n, &extent);
    return st;
}

/** Tables for these wavelengths, which they take. *tables is the caller's after an error, too. */
static nb_status make_tables(const nb_config *cfg, const nb_factor_maker *maker,
                             nb_waves *waves, nb_tables *tables, nb_error *err)
{
    nb_factor_grid grid = {0};
    const int *H = grid.H;
    size_t voxels;
    nb_status st;
    nb_factor_maker_limits(maker, grid.H);
    memcpy(grid.cell, maker->cell, sizeof grid.cell);
    voxels = nb_factor_grid_voxels(&grid);
    if ((st = check_memory(voxels, waves->n, err)) || (st = nb_tables_new(tables, err)))
        return st;
    *tables->file = (nb_factor_file){-H[0], H[0], -H[1], H[1], -H[2], H[2], 0, NULL};
    tables->file->F = table_memory(voxels, (size_t)waves->n, err);
    st = tables->file->F ? fill_all(cfg, maker, waves, &grid, tables, err) : NB_ERR_NOMEM;
    if (!st)
        st = nb_tables_take_waves(tables, waves, err);
    tables->dmin = maker->dmin;
    tables->default_F = NB_VALUE(cfg, default_F);
    return st;
}

/** Are the tables those of these wavelengths? */
static int fit(const nb_inputs *in, const nb_config *cfg, const nb_waves *waves)
{
    const nb_tables *t = &in->tables;
    return t->box.nh && t->waves && nb_waves_equal(waves, t->waves) &&
           t->dmin == in->maker->dmin && t->default_F == NB_VALUE(cfg, default_F);
}

/** Other tables for these wavelengths, unless they fit. */
static nb_status fit_tables(nb_sim *sim, nb_waves *waves, nb_error *err)
{
    nb_inputs *in = &sim->in;
    nb_tables fresh = {0};
    nb_status st;
    if (fit(in, &sim->cfg, waves))
        return NB_OK;
    st = make_tables(&sim->cfg, in->maker, waves, &fresh, err);
    if (!st && in->tables.typed_F)
        nb_notice(&sim->hooks,
                  "the table of structure factors was made again for another "
                  "wavelength or limit: the F that were given as one array "
                  "are gone");
    nb_tables_drop(st ? &fresh : &in->tables);
    if (!st)
        in->tables = fresh;
    return st;
}

static nb_status update_tables(nb_sim *sim, nb_error *err)
{
    const nb_beam *beam = &sim->model.scene.beam;
    const nb_factor_maker *maker = sim->in.maker;
    double start = nb_monotonic_seconds();
    nb_factor_table table;
    nb_waves waves;
    nb_status st;
    if (!maker || !(maker->dmin > 0))
        return NB_OK;
    if ((st = nb_waves_group(maker, beam->sources, beam->n_sources,
                             sim->in.keeps_limit ? NULL : &sim->hooks, &waves, err)))
        return st;
    st = fit_tables(sim, &waves, err);
    if (!st) {
        table = sim->in.tables.box;
        table.default_F = sim->model.settings.value.default_F;
        nb_model_set_tables(&table, waves.of_source, &sim->model);
    }
    nb_waves_free(&waves);
    sim->times.factors += nb_monotonic_seconds() - start;
    return st;
}

/** Make them anew, then the tables; on an error the old ones stay. */
static nb_status make(nb_sim *sim, double dmin, nb_error *err)
{
    const nb_beam *beam = &sim->model.scene.beam;
    nb_factor_maker *maker = sim->in.maker, old = *maker;
    nb_status st;
    memset(&maker->partials, 0, sizeof maker->partials);
    memset(&maker->grid, 0, sizeof maker->grid);
    st = nb_factor_maker_make(maker, dmin,
                              nb_mean_wavelength(beam->sources, beam->n_sources),
                              nb_threads_of(&sim->cfg), &sim->hooks, err);
    if (!st)
        st = update_tables(sim, err);
    nb_partials_free(st ? &maker->partials : &old.partials);
    nb_factor_grid_free(st ? &maker->grid : &old.grid);
    if (st)
        *maker = old;
    return st;
}

nb_status nb_sim_make_factors(nb_sim *sim, double dmin, nb_error *err)
{
    const nb_factor_maker *maker = sim->in.maker;
    if (!maker || sim->in.keeps_limit)
        return update_tables(sim, err);
    if (!(dmin > 0))
        dmin = limit_of_model(maker, &sim->cfg, &sim->model);
    dmin = allow_margin(&sim->cfg, &sim->model.scene, dmin);
    if (!(maker->dmin > 0) || (!nb_factor_maker_is_constant(maker) && maker->dmin > dmin))
        return make(sim, dmin, err);
    return update_tables(sim, err);
}
