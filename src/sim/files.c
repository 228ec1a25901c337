/* SPDX-License-Identifier: MIT */
#include "write.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/c_locale.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/same_file.h"
#include "../params/params.h"
#include "sim.h"

/** Is it the name of an array (nb_config_use_arrays)? */
static int is_memory(const char *path)
{
    static const char *const names[] = {NB_MEMORY_HKL, NB_MEMORY_MASK, NB_MEMORY_SOURCES,
                                        NB_MEMORY_MATRIX};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return 1;
    return 0;
}

static int add(nb_file_use *list, int n, int wanted, nb_file_use use)
{
    if (!wanted || !use.path[0] || is_memory(use.path))
        return n;
    list[n] = use;
    return n + 1;
}

/** Is the cache of structure factors read? The same rule as in nb_load_inputs. */
static int reads_cache(const nb_config *cfg)
{
    return !cfg->hkl_file[0] && !nb_config_has_factor_file(cfg) &&
           (cfg->dump_file[0] || !NB_GIVEN(cfg, default_F));
}

/** Is it written? Of models and reflection files only if it is named. */
static int writes_cache(const nb_config *cfg)
{
    return cfg->write_dump &&
           (cfg->hkl_file[0] || (nb_config_has_factor_file(cfg) && cfg->dump_file[0]));
}

static int add_inputs(const nb_config *cfg, nb_file_use *list, int n)
{
    n = add(list, n, 1, (nb_file_use){"-hkl", cfg->hkl_file, 0});
    n = add(list, n, 1, (nb_file_use){"-pdb", cfg->pdb_file, 0});
    n = add(list, n, 1, (nb_file_use){"-cif", cfg->cif_file, 0});
    n = add(list, n, 1, (nb_file_use){"-mtz", cfg->mtz_file, 0});
    n = add(list, n, 1, (nb_file_use){"-fprime_table", cfg->fprime_table, 0});
    n = add(list, n, reads_cache(cfg), (nb_file_use){"-dump", nb_dump_name(cfg), 0});
    n = add(list, n, 1, (nb_file_use){"-mat", cfg->mat_file, 0});
    n = add(list, n, 1, (nb_file_use){"-sourcefile", cfg->source_file, 0});
    n = add(list, n, 1, (nb_file_use){"-mask", cfg->mask_file, 0});
    n = add(list, n, 1, (nb_file_use){"-gainmap", cfg->gainmap_file, 0});
    n = add(list, n, 1, (nb_file_use){"-stol", cfg->stol_file, 0});
    n = add(list, n, 1, (nb_file_use){"-4stol", cfg->stol4_file, 0});
    n = add(list, n, 1, (nb_file_use){"-Q", cfg->q_file, 0});
    n = add(list, n, 1, (nb_file_use){"-stolimage", cfg->stolimage_file, 0});
    n = add(list, n, 1, (nb_file_use){"-pullback", cfg->pullback_file, 0});
    n = add(list, n, 1, (nb_file_use){"-geom", cfg->geom_file, 0});
    n = add(list, n, 1, (nb_file_use){"-expt", cfg->expt_file, 0});
    n = add(list, n, 1, (nb_file_use){"-nxmx", cfg->nxmx_file, 0});
    return add(list, n, 1, (nb_file_use){"-img", cfg->img_file, 0});
}

int nb_config_files(const nb_config *cfg, nb_file_use *list)
{
    int n = 0, one = !cfg || !cfg->detector || cfg->detector->n_panels == 1;
    if (!cfg || !list)
        return 0;
    n = add(list, n, cfg->write_float, (nb_file_use){"-floatfile", cfg->float_file, 1});
    n = add(list, n, one && cfg->write_int, (nb_file_use){"-intfile", cfg->int_file, 1});
    n = add(list, n, one && cfg->write_noise,
            (nb_file_use){"-noisefile", cfg->noise_file, 1});
    n = add(list, n, 1, (nb_file_use){"-noisefloat", cfg->noise_float_file, 1});
    n = add(list, n, one && cfg->write_pgm, (nb_file_use){"-pgmfile", cfg->pgm_file, 1});
    n = add(list, n, 1, (nb_file_use){"-pngfile", cfg->png_file, 1});
    n = add(list, n, 1, (nb_file_use){"-tifffile", cfg->tiff_file, 1});
    n = add(list, n, cfg->truth == NB_TRUTH_SPOTS,
            (nb_file_use){"-truthfile", cfg->truth_file, 1});
    n = add(list, n, 1, (nb_file_use){"-report", cfg->report_file, 1});
    n = add(list, n, 1, (nb_file_use){"-derivfile", cfg->deriv_file, 1});
    n = add(list, n, 1, (nb_file_use){"-gradfile", cfg->grad_file, 1});
    n = add(list, n, 1, (nb_file_use){"-gradhkl", cfg->gradhkl_file, 1});
    n = add(list, n, 1, (nb_file_use){"-geomout", cfg->geomout_file, 1});
    n = add(list, n, 1, (nb_file_use){"-exptout", cfg->exptout_file, 1});
    n = add(list, n, 1, (nb_file_use){"-stolout", cfg->stolout_file, 1});
    n = add(list, n, 1, (nb_file_use){"-dump_mtz", cfg->dump_mtz_file, 1});
    n = add(list, n, 1, (nb_file_use){"-dump_hkl", cfg->dump_hkl_file, 1});
    n = add(list, n, writes_cache(cfg), (nb_file_use){"-dump", nb_dump_name(cfg), 1});
    return add_inputs(cfg, list, n);
}

int nb_config_inputs(const nb_config *cfg, nb_file_use *list)
{
    int n;
    if (!cfg || !list)
        return 0;
    n = add(list, 0, 1, (nb_file_use){"-report", cfg->report_file, 1});
    n = add(list, n, 1, (nb_file_use){"-geomout", cfg->geomout_file, 1});
    n = add(list, n, 1, (nb_file_use){"-exptout", cfg->exptout_file, 1});
    n = add(list, n, 1, (nb_file_use){"-dump_mtz", cfg->dump_mtz_file, 1});
    n = add(list, n, 1, (nb_file_use){"-dump_hkl", cfg->dump_hkl_file, 1});
    n = add(list, n, writes_cache(cfg), (nb_file_use){"-dump", cfg->dump_file, 1});
    return add_inputs(cfg, list, n);
}

int nb_sim_files(const nb_sim *sim, nb_file_use *list)
{
    return sim ? nb_config_files(&sim->cfg, list) : 0;
}

nb_status nb_check_files(const nb_config *cfg, const nb_file_use *more, int n,
                         nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(n >= 0 && (more || n == 0));
    nb_file_use *list =
        nb_alloc((size_t)n + NB_FILES_MOST, sizeof *list, "names of files", err);
    nb_named_files all = {0};
    int own = list && cfg ? nb_config_files(cfg, list) : 0;
    nb_status st = list ? NB_OK : NB_ERR_NOMEM;
    for (int i = 0; !st && i < n; i++)
        own = add(list, own, 1, more[i]);
    if (!st)
        st = nb_named_files_find(&all, list, own, err);
    if (!st)
        st = nb_refuse_same_files(all.uses, all.n, NULL, 0, err);
    nb_named_files_free(&all);
    nb_free(list);
    return st;
}

nb_status nb_write_text(const char *path, const char *text, nb_error *err)
{
    NB_REFUSE_NULL(path && text);
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, path, err);
    if (!st)
        st = nb_outfile_write(&out, text, strlen(text), err);
    if (!st)
        st = nb_outfile_write(&out, "\n", 1, err);
    if (!st)
        st = nb_outfile_commit(&out, err);
    if (st)
        nb_outfile_abort(&out);
    return st;
}

nb_status nb_read_text(const char *path, const char *flag, char **data, size_t *bytes,
                       nb_error *err)
{
    NB_REFUSE_NULL(path && flag && data && bytes);
    *data = NULL;
    *bytes = 0;
    return nb_read_file(path, flag, 0, data, bytes, err);
}

void nb_remove_temporary_files(void)
{
    nb_outfile_abort_all();
}
