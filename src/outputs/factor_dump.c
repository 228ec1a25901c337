/* SPDX-License-Identifier: MIT */
/* Write structure factors to files; make F of a configuration without an image. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/threads.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/store.h"
#include "../inputs/files.h"
#include "../io/table/factor_file.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "../sim/advice.h"
#include "report.h"
#include "write.h"

/* --- files --- */

static nb_status write_mtz(const nb_factor_grid *grid, const char *path, nb_error *err)
{
    nb_reflection_file rows = {0};
    char *bytes = NULL;
    size_t size;
    nb_status st;
    if (!path[0])
        return NB_OK;
    st = nb_dump_rows(grid, &rows, err);
    NB_TRY(nb_mtz_write(&rows, NB_DUMP, &bytes, &size, err));
    NB_TRY(nb_outfile_put(path, bytes, size, err));
    nb_free(bytes);
    nb_reflection_file_free(&rows);
    return st;
}

static nb_status write_text(const nb_factor_grid *grid, const char *path, nb_error *err)
{
    char *text = NULL;
    size_t size;
    nb_status st;
    if (!path[0])
        return NB_OK;
    st = nb_dump_text(grid, &text, &size, err);
    NB_TRY(nb_outfile_put(path, text, size, err));
    nb_free(text);
    return st;
}

static nb_status sink(void *user, const void *data, size_t bytes, nb_error *err)
{
    return nb_outfile_write(user, data, bytes, err);
}

static nb_status write_cache(const nb_factor_file *table, const char *path, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, path, err);
    NB_TRY(nb_fdump_write(table, sink, &out, err));
    NB_TRY(nb_outfile_commit(&out, err));
    if (st)
        nb_outfile_abort(&out);
    return st;
}

/** Write every dump that cfg names, and with `cache` also the cache, with the F of the
 * grid. */
static nb_status write_dumps(const nb_config *cfg, nb_factor_grid *grid, int cache,
                             nb_error *err)
{
    nb_factor_file table = {0};
    nb_status st = write_mtz(grid, cfg->dump_mtz_file, err);
    NB_TRY(write_text(grid, cfg->dump_hkl_file, err));
    if (st || !cache)
        return st;
    nb_factor_grid_table(grid, NB_RESOLVED(cfg)->value.default_F, &table);
    st = write_cache(&table, nb_dump_name(cfg), err);
    nb_factor_file_free(&table);
    return st;
}

/** Make the table at the mean wavelength, with phases. */
static nb_status mean_grid(const nb_sim *sim, nb_factor_grid *out, nb_error *err)
{
    const nb_factor_sums *m = sim->in.sums;
    const nb_beam *beam = &sim->model.scene.beam;
    nb_waves waves;
    nb_status st = nb_waves_one(m, nb_mean_wavelength(beam->sources, beam->n_sources),
                                NULL, &waves, err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    st = nb_factor_sums_grid(m, sim->in.tables.weight, waves.group,
                             nb_threads_of(&sim->cfg), out, err);
    nb_waves_free(&waves);
    return st;
}

nb_status nb_sim_write_dumps(const nb_sim *sim, int cache, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_factor_grid grid;
    nb_status st;
    cache = cache && cfg->write_dump && sim->in.table_from_hkl;
    if (!sim->in.sums)
        return cache ? write_cache(sim->in.tables.file, nb_dump_name(cfg), err) : NB_OK;
    if (!cache && !cfg->dump_mtz_file[0] && !cfg->dump_hkl_file[0])
        return NB_OK;
    st = mean_grid(sim, &grid, err);
    NB_TRY(write_dumps(cfg, &grid, cache, err));
    nb_factor_grid_free(&grid);
    return st;
}

/* --- without an image --- */

/** Results of `sf` for a configuration. */
typedef struct standalone {
    nb_factor_files *files; /* shared */
    nb_factor_sums *sums;   /* shared */
    nb_factor_grid grid;    /* owned */
    nb_waves waves;         /* owned */
} standalone;

static void standalone_free(standalone *s)
{
    nb_shared_drop(s->files);
    nb_shared_drop(s->sums);
    nb_factor_grid_free(&s->grid);
    nb_waves_free(&s->waves);
}

static nb_status check_standalone(const nb_config *cfg, nb_error *err)
{
    nb_isa isa;
    nb_status st = nb_config_check(cfg, err);
    NB_TRY(nb_cpu_choose(cfg->isa, &isa, err));
    if (!st && !nb_config_has_factor_file(cfg) && !cfg->hkl_file[0])
        st = nb_fail(err, NB_ERR_INPUT,
                     "no structure factors: add -pdb, -cif, -mtz or -hkl FILE");
    if (!st && cfg->mat_file[0])
        st = nb_fail(err, NB_ERR_INPUT, "-mat has no effect without an image: type -cell");
    return st ? st : nb_check_files(cfg, NULL, 0, err);
}

static nb_status make_standalone(const nb_config *cfg, const nb_hooks *hooks,
                                 standalone *s, nb_times *times, nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    double start = nb_monotonic_seconds(), wavelength = nb_beam_wavelength(all);
    nb_crystal_inputs in = {NULL, wavelength, 0};
    nb_crystal crystal;
    char text[NB_QUESTION] = "";
    nb_status st = check_standalone(cfg, err);
    nb_advise_threads(hooks, cfg->threads);
    if (!st && cfg->cell_count > 0)
        st = nb_crystal_build(all, &in, NULL, &crystal, err);
    NB_TRY(nb_factor_files_load(cfg, cfg->cell_count > 0 ? &crystal : NULL, hooks,
                                &s->files, err));
    times->load = nb_monotonic_seconds() - start;
    if (st)
        return st;
    if (cfg->cell_count > 0)
        nb_factor_files_odd_cell(s->files, &crystal, text, sizeof text);
    if (text[0])
        nb_notice(hooks, "%s", text);
    if (!s->files->list_path && !(cfg->dmin_A > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "%s %.200s: a model has no limit of resolution; add -dmin d (A)",
                       s->files->model_flag, s->files->model_path);
    start = nb_monotonic_seconds();
    st = nb_factor_sums_make(s->files, cfg->dmin_A, wavelength, nb_threads_of(cfg), hooks,
                             &s->sums, err);
    NB_TRY(nb_waves_one(s->sums, wavelength, hooks, &s->waves, err));
    NB_TRY(nb_factor_sums_grid(s->sums, nb_factor_weight_of(s->files, NULL, all),
                               s->waves.group, nb_threads_of(cfg), &s->grid, err));
    times->factors = nb_monotonic_seconds() - start;
    return st;
}

nb_status nb_config_factors(const nb_config *cfg, const nb_hooks *hooks,
                            nb_factor_list *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && out);
    nb_config quiet = *cfg; /* shares its texts with *cfg, and is only read */
    standalone s = {0};
    nb_times times;
    nb_status st;
    memset(out, 0, sizeof *out);
    quiet.dump_mtz_file = quiet.dump_hkl_file = nb_no_text;
    if (!(st = make_standalone(&quiet, hooks, &s, &times, err)))
        st = nb_factor_list_grid(&s.grid, out, err);
    standalone_free(&s);
    return st;
}

nb_status nb_config_dump_factors(const nb_config *cfg, const nb_hooks *hooks,
                                 char **report, nb_times *times, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg);
    standalone s = {0};
    nb_times t = {0};
    double start;
    nb_status st = make_standalone(cfg, hooks, &s, &t, err);
    if (report)
        *report = NULL;
    if (!st && report)
        st = nb_factor_sums_report(s.sums, NB_RESOLVED(cfg), &s.waves, &s.grid, report,
                                   err);
    start = nb_monotonic_seconds();
    NB_TRY(write_dumps(cfg, &s.grid, cfg->dump_file[0] != '\0', err));
    t.write = nb_monotonic_seconds() - start;
    if (st && report) {
        nb_free(*report);
        *report = NULL;
    }
    if (times)
        *times = t;
    standalone_free(&s);
    return st;
}
