/* SPDX-License-Identifier: MIT */
/* The input files of a configuration. */
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../image/fibre.h"
#include "../io/table/arrays.h"
#include "../io/table/factor_file.h"
#include "../io/table/hkl.h"
#include "../io/common/panel_spec.h"
#include "../io/table/sources.h"
#include "../model/units.h"
#include "../params/params.h"
#include "load.h"
#include "noise.h"
#include "shade.h"
#include "sim.h"

/** A mask in memory says how large the detector is, as one in a file does, but no more. */
static nb_status take_mask(nb_config *cfg, nb_files *files, nb_error *err)
{
    const int size[2] = {cfg->arrays->mask_fast, cfg->arrays->mask_slow};
    nb_status st = nb_arrays_mask(cfg->arrays, &files->mask_image, err);
    for (int i = 0; i < 2 && !st; i++)
        if (cfg->detpixels[i] == 0 && !NB_GIVEN(cfg, detsize_mm[i]))
            cfg->detpixels[i] = size[i];
    return st;
}

static nb_status load_image_headers(nb_config *cfg, nb_files *files,
                                    const nb_hooks *hooks, nb_error *err)
{
    /* -img is read first, so it wins over -mask; a typed flag wins over both */
    unsigned of_image = 0, of_mask = 0;
    nb_status st = NB_OK;
    if (cfg->img_file[0])
        st = nb_image_load(cfg->img_file, "-img", hooks, cfg, NULL, &of_image, err);
    if (!st && nb_in_memory(cfg, cfg->mask_file, NB_MEMORY_MASK))
        st = take_mask(cfg, files, err);
    else if (!st && cfg->mask_file[0])
        st = nb_image_load(cfg->mask_file, "-mask", hooks, cfg, &files->mask_image,
                           &of_mask, err);
    if (!st)
        st = nb_load_named_detector(cfg, err);
    of_mask &= NB_OPEN_DISTANCE | NB_OPEN_PIXEL | NB_OPEN_CENTRE | NB_OPEN_WAVELENGTH;
    if (!st && of_image)
        nb_header_say_open(cfg, of_image, "-img", cfg->img_file, hooks);
    else if (!st && of_mask)
        nb_header_say_open(cfg, of_mask, "-mask", cfg->mask_file, hooks);
    return st;
}

nb_status nb_load_headers(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                          nb_error *err)
{
    nb_status detector = nb_load_detector(cfg, in, hooks, err);
    if (detector || cfg->detector)
        return detector;
    return load_image_headers(cfg, in->files, hooks, err);
}

/** 1 where the mask's pixel is above 0. */
static nb_status make_mask(const nb_config *cfg, const nb_geometry *g, nb_files *files,
                           nb_error *err)
{
    const nb_image *image = &files->mask_image;
    size_t n = (size_t)g->fpixels * (size_t)g->spixels;
    if (cfg->detector)
        return nb_load_panel_mask(cfg, files, err);
    if (!image->pixels)
        return nb_mask_named_detector(cfg, &files->mask, err);
    if (image->fast != g->fpixels || image->slow != g->spixels)
        return nb_fail_at(err, NB_ERR_INPUT, cfg->mask_file, 0,
                          "-mask has %d x %d pixels, but the detector has %d x %d",
                          image->fast, image->slow, g->fpixels, g->spixels);
    if (!(files->mask = nb_alloc_raw(n, 1, "mask", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        files->mask[i] = image->pixels[i] > 0;
    nb_image_free(&files->mask_image);
    return nb_mask_named_detector(cfg, &files->mask, err);
}

/** One matrix, or those of both ends of a frame. */
static nb_status read_matrix(const char *data, size_t bytes, const char *path,
                             nb_matrix *matrix, nb_error *err)
{
    matrix->has_ends = nb_matrix_two(data, bytes, matrix->ends);
    return matrix->has_ends ? nb_matrix_ends(matrix->ends, path, 0, matrix->at, err)
                            : nb_matrix_parse(data, bytes, path, matrix->at, err);
}

nb_status nb_load_matrix(const nb_config *cfg, nb_matrix *matrix, nb_error *err)
{
    const char *path = cfg->mat_file;
    const nb_arrays *memory = nb_in_memory(cfg, path, NB_MEMORY_MATRIX);
    char *data = NULL;
    size_t bytes;
    nb_status st;
    nb_load_file_crystal(cfg, matrix);
    if (!path[0])
        return NB_OK;
    if (memory)
        st = nb_arrays_matrix(memory, matrix->at, err);
    else if (!(st = nb_read_file(path, "-mat", 1 << 20, &data, &bytes, err)))
        st = read_matrix(data, bytes, path, matrix, err);
    nb_free(data);
    if (st)
        return st;
    matrix->given = 1;
    matrix->of_detector = 0;
    matrix->has_ends = matrix->has_ends && !memory;
    matrix->lambda_A = 0; /* it is in units of 1/the beam's */
    return NB_OK;
}

/** Rows of -sourcefile.  A row may leave out the beam's direction and wavelength. */
static nb_status read_sources(const nb_config *cfg, nb_source_list *list, nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    const char *path = cfg->source_file;
    const nb_arrays *memory = nb_in_memory(cfg, path, NB_MEMORY_SOURCES);
    nb_source_defaults standard = {{0, 0, 0}, nb_beam_wavelength(all) * NB_ANGSTROM};
    nb_geometry g;
    char *data;
    size_t bytes;
    nb_status st = nb_geometry_build(all, &g, err);
    if (st)
        return st;
    standard.position[0] = -10 * g.beam.x;
    standard.position[1] = -10 * g.beam.y;
    standard.position[2] = -10 * g.beam.z;
    if (memory)
        return nb_arrays_sources(memory, standard.position, list, err);
    if ((st = nb_read_file(path, "-sourcefile", 0, &data, &bytes, err)))
        return st;
    st = nb_sources_parse(data, bytes, path, &standard, list, err);
    nb_free(data);
    return st;
}

nb_status nb_load_sources(const nb_config *cfg, nb_inputs *in, nb_error *err)
{
    nb_source_list list = {0};
    nb_status st = cfg->source_file[0] ? read_sources(cfg, &list, err) : NB_OK;
    return st ? st : nb_inputs_take_sources(in, &list, err);
}

static nb_status dump_source(void *user, uint64_t offset, void *out, size_t bytes,
                             nb_error *err)
{
    return nb_input_read(user, offset, out, bytes, err);
}

static nb_status load_dump(const nb_config *cfg, const nb_hooks *hooks,
                           nb_factor_file *table, nb_error *err)
{
    const char *path = nb_dump_name(cfg);
    nb_input file;
    nb_status st = nb_input_open(&file, path, "-dump", err);
    if (!st)
        st = nb_fdump_read(dump_source, &file, file.bytes, path, table, err);
    nb_input_close(&file);
    if (!st)
        nb_notice(hooks, "structure factors read from the cache %s", path);
    return st;
}

/** A table of one reflection; all others are -default_F. */
static nb_status load_F000(double F, nb_factor_file *table, nb_error *err)
{
    nb_status st = nb_factor_file_alloc(table, "-F000", err);
    if (!st)
        table->F[0] = F;
    return st;
}

/** -hkl, else the cache of -dump, else a cache in the current folder if no flag gives F. */
static nb_status load_factors(const nb_config *cfg, const nb_hooks *hooks,
                              nb_factor_file *table, nb_error *err)
{
    nb_hkl_list list;
    uint64_t hash = 0;
    nb_status st;
    if (nb_config_has_F000_alone(cfg))
        return load_F000(cfg->F000, table, err);
    if (!cfg->hkl_file[0])
        return !cfg->dump_file[0] && NB_GIVEN(cfg, default_F)
                   ? NB_OK
                   : load_dump(cfg, hooks, table, err);
    if ((st = nb_hkl_load(cfg, &list, &hash, err)))
        return st;
    st = nb_hkl_box(&list, NB_VALUE(cfg, default_F), table, err);
    if (!st)
        nb_hkl_say(&list, table, NB_VALUE(cfg, default_F), hooks);
    nb_hkl_list_free(&list);
    return st;
}

/** Of the stack. */
static size_t pixels_of(const nb_detector_spec *d, const nb_geometry *g)
{
    return d->n_panels ? nb_spec_first_pixel(d, d->n_panels)
                       : (size_t)g->fpixels * (size_t)g->spixels;
}

/** The file of -spectrum. */
static nb_status load_spectrum(const nb_config *cfg, nb_files *files, nb_error *err)
{
    char *data, built_in[80];
    size_t bytes;
    nb_status st;
    if (!nb_spectrum_is_file(cfg->spectrum))
        return NB_OK;
    if (access(cfg->spectrum, F_OK))
        return nb_fail(err, NB_ERR_INPUT,
                       "-spectrum %.200s: no such file, and no spectrum that is built "
                       "in: %s",
                       cfg->spectrum, nb_spectrum_kinds(built_in, sizeof built_in));
    if ((st = nb_read_file(cfg->spectrum, "-spectrum", 1 << 24, &data, &bytes, err)))
        return st;
    st = nb_spectrum_parse(data, bytes, cfg->spectrum, &files->points, &files->n_points,
                           err);
    nb_free(data);
    return st;
}

/** The mean wavelength of the file of -spectrum, A: of its mean photon energy. */
static double mean_wavelength(const nb_spectrum_point *p, int n)
{
    double photons = 0, energy = 0;
    for (int i = 0; i + 1 < n; i++) {
        const double width = p[i + 1].eV - p[i].eV, a = p[i].density, b = p[i + 1].density;
        photons += 0.5 * width * (a + b);
        energy += width * (0.5 * (a + b) * p[i].eV + width * (a + 2 * b) / 6);
    }
    return NB_HC_EV_ANGSTROM * photons / energy;
}

/** The file of -mosaic_blocks. */
static nb_status load_blocks(const nb_config *cfg, nb_files *files, nb_error *err)
{
    char *data;
    size_t bytes;
    nb_status st;
    if (!cfg->mosaic_blocks[0])
        return NB_OK;
    if (NB_GIVEN(cfg, mosaic_spread_deg) || cfg->mosaic_aniso_deg.set ||
        cfg->mosaic_tail_deg != 0 || cfg->compat)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-mosaic_blocks %.200s: not with -mosaic, -mosaic_aniso, -mosaic_tail "
            "or -compat; the file has all rotations",
            cfg->mosaic_blocks);
    if ((st = nb_read_file(cfg->mosaic_blocks, "-mosaic_blocks", 1 << 28, &data, &bytes,
                           err)))
        return st;
    st = nb_blocks_parse(data, bytes, cfg->mosaic_blocks, cfg->mosaic_domains,
                         &files->blocks, err);
    nb_free(data);
    return st;
}

/** The files that are read together. */
static nb_status load_files(const nb_config *cfg, nb_files *files, nb_error *err)
{
    nb_geometry g;
    nb_status st = nb_geometry_build(NB_RESOLVED(cfg), &g, err);
    if (!st)
        st = make_mask(cfg, &g, files, err);
    if (!st)
        st = nb_load_gainmap(cfg, pixels_of(&files->spec, &g), files, err);
    if (!st)
        st = nb_load_planes(cfg, &g, pixels_of(&files->spec, &g), files, err);
    if (!st)
        st = load_spectrum(cfg, files, err);
    if (!st)
        st = load_blocks(cfg, files, err);
    if (!st)
        st = nb_load_panel_noise(files, err);
    if (!st)
        st = nb_fibres_new(&files->fibres, err);
    return st ? st : nb_load_background(cfg, &files->amorphous, err);
}

nb_status nb_load_inputs(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_inputs *in = &sim->in;
    nb_status st = load_files(cfg, in->files, err);
    if (!st && in->files->points && !NB_GIVEN(cfg, lambda_A) && !NB_GIVEN(cfg, energy_eV))
        sim->cfg.lambda_A = mean_wavelength(in->files->points, in->files->n_points);
    in->detector = in->files->spec;
    if (!st)
        st = nb_load_sources(cfg, in, err);
    return st ? st : nb_load_crystal(sim, err);
}

nb_status nb_load_crystal(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_inputs *in = &sim->in;
    nb_status st = nb_load_matrix(cfg, &in->matrix, err);
    if (st)
        return st;
    if (nb_config_makes_factors(cfg))
        return nb_sim_load_factors(sim, err);
    if ((st = nb_tables_new(&in->tables, err)) ||
        (st = load_factors(cfg, &sim->hooks, in->tables.file, err)))
        return st;
    in->table_from_hkl = cfg->hkl_file[0] && !nb_config_has_F000_alone(cfg);
    nb_tables_describe(&in->tables, 1, NULL);
    return NB_OK;
}
