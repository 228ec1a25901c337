/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <string.h>

#include "../base/error.h"
#include "../base/c_locale.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../params/params.h"
#include "../model/beam.h"

const char *nb_dump_name(const nb_config *cfg)
{
    return cfg->dump_file[0] ? cfg->dump_file : "Fdump.bin";
}

static int add(nb_file_use *list, int n, int wanted, nb_file_use use)
{
    if (!wanted || !use.path[0] || !strncmp(use.path, "memory:", 7))
        return n;
    list[n] = use;
    return n + 1;
}

/** True if load_table (load.c) reads the cache of structure factors. */
static int reads_cache(const nb_config *cfg)
{
    return !cfg->hkl_file[0] && !nb_config_has_factor_file(cfg) &&
           (cfg->dump_file[0] || !NB_GIVEN(cfg, default_F));
}

/** True if the cache is written; for models and reflection files this needs -dump
 * FILE. */
static int writes_cache(const nb_config *cfg)
{
    return cfg->write_dump &&
           (cfg->hkl_file[0] || (nb_config_has_factor_file(cfg) && cfg->dump_file[0]));
}

#define AT(field) offsetof(nb_config, field)

#define OUTPUT(name, field) .flag = name, .path = AT(field)
#define ON(field) .on = AT(field)

static const nb_output outputs[] = {
    {OUTPUT("-floatfile", float_file), ON(write_float), .writer = &nb_writer_float},
    {OUTPUT("-intfile", int_file), ON(write_int), .writer = &nb_writer_smv,
     .typed = NB_TYPED_INT, .one_panel = 1},
    {OUTPUT("-noisefile", noise_file), ON(write_noise), .writer = &nb_writer_smv,
     .of = NB_OUTPUT_NOISE, .typed = NB_TYPED_NOISE, .one_panel = 1},
    {OUTPUT("-noisefloat", noise_float_file), .writer = &nb_writer_float,
     .of = NB_OUTPUT_NOISE, .hidden = 1},
    {OUTPUT("-pgmfile", pgm_file), ON(write_pgm), .writer = &nb_writer_pgm,
     .typed = NB_TYPED_PGM, .one_panel = 1},
    {OUTPUT("-pngfile", png_file), .writer = &nb_writer_png, .of = NB_OUTPUT_PICTURE},
    {OUTPUT("-tifffile", tiff_file), .writer = &nb_writer_tiff_f32,
     .narrow = &nb_writer_tiff_u16, .one_panel = 1},
    {OUTPUT("-truthfile", truth_file), ON(truth)},
    {OUTPUT("-report", report_file), .of_series = 1},
    {OUTPUT("-derivfile", deriv_file)},
    {OUTPUT("-gradfile", grad_file)},
    {OUTPUT("-gradhkl", gradhkl_file)},
    {OUTPUT("-geomout", geomout_file), .of_series = 1},
    {OUTPUT("-exptout", exptout_file), .of_series = 1},
    {OUTPUT("-stolout", stolout_file)},
    {OUTPUT("-draws", draws_file), .of_series = 1, .hidden = 1},
    {OUTPUT("-sumfile", sum_file), .of_series = 1, .hidden = 1},
    {OUTPUT("-streamout", stream_file), .of_series = 1, .hidden = 1},
    {OUTPUT("-spectrumout", spectrum_out), .of_series = 1, .hidden = 1},
    {OUTPUT("-dump_mtz", dump_mtz_file), .of_series = 1},
    {OUTPUT("-dump_hkl", dump_hkl_file), .of_series = 1},
};

enum { N_OUTPUTS = sizeof outputs / sizeof *outputs };

const nb_output *nb_output_next(const nb_output *last)
{
    const nb_output *next = last ? last + 1 : outputs;
    return next < outputs + N_OUTPUTS ? next : NULL;
}

const char *nb_output_path(const nb_output *o, const nb_config *cfg)
{
    const char *at = (const char *)cfg;
    return o->on && !*(const int *)(at + o->on) ? "" : nb_text_at(cfg, o->path);
}

const nb_writer *nb_output_writer(const nb_output *o, const nb_config *cfg)
{
    return o->narrow && cfg->tiff_bits == 16 ? o->narrow : o->writer;
}

static const struct {
    const char *flag;
    size_t path;
} inputs[] = {
    {"-hkl", AT(hkl_file)},
    {"-pdb", AT(pdb_file)},
    {"-cif", AT(cif_file)},
    {"-mtz", AT(mtz_file)},
    {"-mosaic_blocks", AT(mosaic_blocks)},
    {"-mat", AT(mat_file)},
    {"-fprime_table", AT(fprime_table)},
    {"-mask", AT(mask_file)},
    {"-sourcefile", AT(source_file)},
    {"-stol", AT(stol_file)},
    {"-gainmap", AT(gainmap_file)},
    {"-4stol", AT(stol4_file)},
    {"-stolimage", AT(stolimage_file)},
    {"-Q", AT(q_file)},
    {"-pullback", AT(pullback_file)},
    {"-geom", AT(geom_file)},
    {"-expt", AT(expt_file)},
    {"-nxmx", AT(nxmx_file)},
    {"-img", AT(img_file)},
    {"-add", AT(add_file)},
    {"-transmission", AT(transmission_file)},
};

static int add_inputs(const nb_config *cfg, nb_file_use *list, int n)
{
    int number;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        n = add(list, n, 1,
                (nb_file_use){inputs[i].flag, nb_text_at(cfg, inputs[i].path), 0});
    n = add(list, n, nb_spectrum_is_file(cfg->spectrum),
            (nb_file_use){"-spectrum", cfg->spectrum, 0});
    n = add(list, n, nb_crystals_kind_of(cfg->crystals, &number) == NB_CRYSTALS_FILE,
            (nb_file_use){"-crystals", cfg->crystals, 0});
    return add(list, n, reads_cache(cfg), (nb_file_use){"-dump", nb_dump_name(cfg), 0});
}

int nb_config_files(const nb_config *cfg, nb_file_use *list)
{
    int n = 0, one = !cfg || !cfg->detector || cfg->detector->n_panels == 1;
    if (!cfg || !list)
        return 0;
    for (int i = 0; i < N_OUTPUTS; i++)
        n = add(list, n, one || !outputs[i].one_panel,
                (nb_file_use){outputs[i].flag, nb_output_path(&outputs[i], cfg), 1});
    n = add(list, n, writes_cache(cfg), (nb_file_use){"-dump", nb_dump_name(cfg), 1});
    return add_inputs(cfg, list, n);
}

int nb_config_inputs(const nb_config *cfg, nb_file_use *list)
{
    int n = 0;
    if (!cfg || !list)
        return 0;
    for (int i = 0; i < N_OUTPUTS; i++)
        n = add(list, n, outputs[i].of_series,
                (nb_file_use){outputs[i].flag, nb_output_path(&outputs[i], cfg), 1});
    n = add(list, n, writes_cache(cfg), (nb_file_use){"-dump", cfg->dump_file, 1});
    return add_inputs(cfg, list, n);
}

nb_status nb_check_files(const nb_config *cfg, const nb_file_use *more, int n,
                         nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(n >= 0 && (more || n == 0));
    nb_file_use *list =
        nb_alloc((size_t)n + NB_FILES_MAX, sizeof *list, "names of files", err);
    int own = list && cfg ? nb_config_files(cfg, list) : 0;
    nb_status st = list ? NB_OK : NB_ERR_NOMEM;
    for (int i = 0; !st && i < n; i++)
        own = add(list, own, 1, more[i]);
    NB_TRY(nb_refuse_same_files(list, own, NULL, 0, err));
    nb_free(list);
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
