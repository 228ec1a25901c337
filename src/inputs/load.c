/* SPDX-License-Identifier: MIT */
/* Load the input files of a configuration. */
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "files.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/store.h"
#include "../image/fibre.h"
#include "../io/table/arrays.h"
#include "../io/table/factor_file.h"
#include "../io/table/hkl.h"
#include "../io/common/panel_spec.h"
#include "../io/table/sources.h"
#include "../model/units.h"
#include "../params/params.h"
#include "load.h"
#include "shade.h"

/** Take the size of the detector from a mask in memory, and nothing else. */
static void take_mask_size(nb_config *cfg)
{
    const int size[2] = {cfg->arrays->mask_fast, cfg->arrays->mask_slow};
    for (int i = 0; i < 2; i++)
        if (cfg->detpixels[i] == 0 && !NB_GIVEN(cfg, detsize_mm[i]))
            cfg->detpixels[i] = size[i];
}

static nb_status load_image_headers(nb_config *cfg, nb_store *store,
                                    const nb_hooks *hooks, nb_error *err)
{
    /* -img is read before -mask, so that its values have precedence; typed flags precede
     * both */
    unsigned of_image = 0, of_mask = 0;
    nb_status st = NB_OK;
    if (cfg->img_file[0])
        st = nb_image_apply_header(store, cfg->img_file, "-img", 0, hooks, cfg, &of_image,
                                   err);
    if (!st && nb_in_memory(cfg, cfg->mask_file, NB_MEMORY_MASK))
        take_mask_size(cfg);
    else if (!st && cfg->mask_file[0])
        st = nb_image_apply_header(store, cfg->mask_file, "-mask", 1, hooks, cfg,
                                   &of_mask, err);
    NB_TRY(nb_load_named_detector(cfg, err));
    of_mask &= NB_OPEN_DISTANCE | NB_OPEN_PIXEL | NB_OPEN_CENTRE | NB_OPEN_WAVELENGTH;
    if (!st && of_image)
        nb_header_say_open(cfg, of_image, "-img", cfg->img_file, hooks);
    else if (!st && of_mask)
        nb_header_say_open(cfg, of_mask, "-mask", cfg->mask_file, hooks);
    return st;
}

nb_status nb_load_headers(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                          nb_detector_spec **spec, nb_error *err)
{
    nb_status st = nb_load_detector(cfg, in, hooks, spec, err);
    return st || *spec ? st : load_image_headers(cfg, in->store, hooks, err);
}

/** Make the stack's mask from the panels' file, -panel, -mask and gaps of -detector. */
static nb_status make_mask(const nb_config *cfg, const nb_geometry *g, size_t pixels,
                           nb_files *files, nb_error *err)
{
    nb_status st = NB_OK;
    if (files->spec.n_panels && cfg->panel_list[0])
        st = nb_choose_panels(cfg->panel_list, files, err);
    if (!st && (cfg->mask_file[0] || files->spec.mask)) {
        if (!(files->mask = nb_alloc_raw(pixels, 1, "mask", err)))
            return NB_ERR_NOMEM;
        if (files->spec.mask)
            memcpy(files->mask, files->spec.mask, pixels);
        else
            memset(files->mask, 1, pixels);
    }
    if (!st && cfg->mask_file[0])
        st = nb_load_mask(cfg, g, files, pixels, files->mask, err);
    return st || files->spec.n_panels ? st
                                      : nb_mask_named_detector(cfg, &files->mask, err);
}

static nb_status read_matrix(const char *data, size_t bytes, const char *path,
                             nb_matrix *matrix, nb_error *err)
{
    matrix->has_ends = nb_matrix_two(data, bytes, matrix->ends);
    return matrix->has_ends ? nb_matrix_ends(matrix->ends, path, 0, matrix->at, err)
                            : nb_matrix_parse(data, bytes, path, matrix->at, err);
}

/** Take the matrix of the array A, which has the crystal's reciprocal axes in 1/A. */
static nb_status take_A(const nb_arrays *a, nb_matrix *matrix, nb_error *err)
{
    const nb_arrays of = {.A = a->A};
    matrix->given = 1;
    matrix->of_detector = 0;
    matrix->lambda_A = 1;
    matrix->has_ends = a->A_count == 3;
    if (matrix->has_ends)
        memcpy(matrix->ends, a->A + 9, sizeof matrix->ends);
    return nb_arrays_matrix(&of, matrix->at, err);
}

static nb_status load_matrix(const nb_config *cfg, nb_matrix *matrix, nb_error *err)
{
    const char *path = cfg->mat_file;
    const nb_arrays *memory = nb_in_memory(cfg, path, NB_MEMORY_MATRIX);
    char *data = NULL;
    size_t bytes;
    nb_status st;
    nb_load_file_crystal(cfg, matrix);
    if (!path[0])
        return NB_OK;
    if (nb_in_memory(cfg, path, NB_MEMORY_A))
        return take_A(cfg->arrays, matrix, err);
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
    matrix->lambda_A = 0; /* in units of 1/wavelength of the beam */
    return NB_OK;
}

/** Arguments of make_sources; `standard` has the values for columns that a row lacks. */
typedef struct source_request {
    const nb_config *cfg;
    nb_source_defaults standard;
} source_request;

static nb_status read_sources(const source_request *r, nb_source_list *list, nb_error *err)
{
    const char *path = r->cfg->source_file;
    const nb_arrays *memory = nb_in_memory(r->cfg, path, NB_MEMORY_SOURCES);
    char *data;
    size_t bytes;
    nb_status st;
    if (memory)
        return nb_arrays_sources(memory, r->standard.position, list, err);
    NB_FORWARD(nb_read_file(path, "-sourcefile", 0, &data, &bytes, err));
    st = nb_sources_parse(data, bytes, path, &r->standard, list, err);
    nb_free(data);
    return st;
}

static nb_status make_sources(void *user, void **object, size_t *bytes, nb_error *err)
{
    nb_source_list list = {0}, *out = NULL;
    nb_status st = read_sources(user, &list, err);
    NB_TRY(nb_source_list_share(&list, &out, err));
    *bytes = st ? 0 : (size_t)out->count * sizeof *out->rows;
    *object = out;
    return st;
}

nb_status nb_load_sources(const nb_config *cfg, nb_inputs *in, nb_error *err)
{
    const nb_settings *all;
    source_request r = {cfg, {{0, 0, 0}, 0}};
    nb_key key = nb_key_of("sources");
    nb_geometry g;
    void *list;
    nb_status st;
    if (!cfg->source_file[0])
        return NB_OK;
    all = NB_RESOLVED(cfg);
    NB_FORWARD(nb_geometry_build(all, &g, err));
    r.standard.lambda = nb_beam_wavelength(all) * NB_ANGSTROM;
    r.standard.position[0] = -10 * g.beam.x;
    r.standard.position[1] = -10 * g.beam.y;
    r.standard.position[2] = -10 * g.beam.z;
    nb_inputs_key_file(&key, in, cfg->source_file, NB_ARRAY_SOURCES);
    nb_key_add(&key, &r.standard, sizeof r.standard);
    st = nb_store_take(in->store, &key, make_sources, &r, &list, err);
    if (!st)
        nb_inputs_take_sources(in, list);
    return st;
}

static nb_status load_dump(const nb_config *cfg, const nb_hooks *hooks,
                           nb_factor_file *table, nb_error *err)
{
    const char *path = nb_dump_name(cfg);
    char *data = NULL;
    size_t bytes = 0;
    nb_status st = nb_read_file(path, "-dump", 0, &data, &bytes, err);
    NB_TRY(nb_fdump_parse(data, bytes, path, table, err));
    nb_free(data);
    if (!st)
        nb_notice(hooks, "structure factors read from the cache %s", path);
    return st;
}

/** Make a table with only F(000); all other reflections have -default_F. */
static nb_status load_F000(double F, nb_factor_file *table, nb_error *err)
{
    nb_status st = nb_factor_file_alloc(table, "-F000", err);
    if (!st)
        table->F[0] = F;
    return st;
}

/** Load the table of -hkl, or otherwise the cache of -dump, or otherwise, without
 * -default_F, the cache Fdump.bin. */
static nb_status load_table(const nb_config *cfg, const nb_hooks *hooks,
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
    NB_FORWARD(nb_hkl_load(cfg, &list, &hash, err));
    st = nb_hkl_box(&list, NB_VALUE(cfg, default_F), table, err);
    if (!st)
        nb_hkl_say(&list, table, NB_VALUE(cfg, default_F), hooks);
    nb_hkl_list_free(&list);
    return st;
}

/** Number of pixels of the stack. */
static size_t pixels_of(const nb_detector_spec *d, const nb_geometry *g)
{
    return d->n_panels ? nb_spec_first_pixel(d, d->n_panels)
                       : (size_t)g->fpixels * (size_t)g->spixels;
}

/** Load the file of -spectrum. */
static nb_status load_spectrum(const nb_config *cfg, nb_files *files, nb_error *err)
{
    char *data, built_in[80];
    size_t bytes;
    nb_status st;
    if (!nb_spectrum_is_file(cfg->spectrum))
        return NB_OK;
    st = nb_read_file(cfg->spectrum, "-spectrum", 1 << 24, &data, &bytes, err);
    if (st && access(cfg->spectrum, F_OK))
        return nb_fail(err, NB_ERR_INPUT,
                       "-spectrum %.200s: no such file, and no spectrum that is built "
                       "in: %s",
                       cfg->spectrum, nb_spectrum_kinds(built_in, sizeof built_in));
    if (st)
        return st;
    st = nb_spectrum_parse(data, bytes, cfg->spectrum, &files->points, &files->n_points,
                           err);
    nb_free(data);
    return st;
}

/** Load the file of -mosaic_blocks. */
static nb_status load_blocks(const nb_config *cfg, nb_files *files, nb_error *err)
{
    const nb_arrays *memory = nb_in_memory(cfg, cfg->mosaic_blocks, NB_MEMORY_BLOCKS);
    char *data;
    size_t bytes;
    nb_status st;
    if (!cfg->mosaic_blocks[0])
        return NB_OK;
    if (memory)
        return nb_blocks_parse(memory->blocks, memory->blocks_bytes, "mosaic_blocks",
                               cfg->mosaic_domains, &files->blocks, err);
    NB_FORWARD(
        nb_read_file(cfg->mosaic_blocks, "-mosaic_blocks", 1 << 28, &data, &bytes, err));
    st = nb_blocks_parse(data, bytes, cfg->mosaic_blocks, cfg->mosaic_domains,
                         &files->blocks, err);
    nb_free(data);
    return st;
}

/** Arguments of make_files. */
typedef struct files_request {
    const nb_config *cfg;
    const nb_inputs *in;
    const nb_detector_spec *spec; /* detector of the file, or NULL */
    const nb_geometry *geometry;
    const nb_hooks *hooks;
    nb_key key;
} files_request;

/** Read all files of detector and materials. */
static nb_status fill_files(const files_request *r, nb_files *files, nb_error *err)
{
    const nb_config *cfg = r->cfg;
    const nb_geometry *g = r->geometry;
    size_t pixels;
    nb_status st = NB_OK;
    files->key = r->key;
    if (r->spec)
        st = nb_detector_spec_copy(r->spec, &files->spec, err);
    pixels = pixels_of(&files->spec, g);
    NB_TRY(make_mask(cfg, g, pixels, files, err));
    NB_TRY(nb_load_planes(r->in, cfg, g, pixels, files, r->hooks, err));
    NB_TRY(load_spectrum(cfg, files, err));
    NB_TRY(load_blocks(cfg, files, err));
    NB_TRY(nb_load_panel_noise(files, err));
    NB_TRY(nb_fibres_new(&files->fibres, err));
    return st ? st : nb_load_background(cfg, &files->amorphous, err);
}

static nb_status make_files(void *user, void **object, size_t *bytes, nb_error *err)
{
    const files_request *r = user;
    nb_files *files = nb_files_new(err);
    nb_status st = files ? fill_files(r, files, err) : NB_ERR_NOMEM;
    *object = files;
    if (!st)
        *bytes = sizeof *files + (files->mask ? pixels_of(&files->spec, r->geometry) : 0);
    return st;
}

/** Key of all values that the files of detector and materials depend on. */
static nb_key key_of_files(const nb_config *cfg, const nb_inputs *in, const nb_geometry *g)
{
    nb_key key = nb_key_of("files");
    const char *const paths[] = {cfg->gainmap_file, cfg->spectrum, cfg->stol_file,
                                 cfg->stol4_file, cfg->q_file};
    const char *const texts[] = {cfg->panel_list, cfg->detector_name, cfg->background};
    const int numbers[] = {(int)cfg->layout, g->fpixels, g->spixels,
                           cfg->mosaic_blocks[0] ? cfg->mosaic_domains : 0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        nb_key_file(&key, in->store, paths[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        nb_key_text(&key, texts[i]);
    nb_inputs_key_file(&key, in, cfg->mask_file, NB_ARRAY_MASK);
    nb_inputs_key_file(&key, in, cfg->add_file, NB_ARRAY_ADD);
    nb_inputs_key_file(&key, in, cfg->transmission_file, NB_ARRAY_TRANSMISSION);
    nb_inputs_key_file(&key, in, cfg->mosaic_blocks, NB_ARRAY_BLOCKS);
    nb_key_add(&key, numbers, sizeof numbers);
    nb_key_add(&key, &in->spec_key, sizeof in->spec_key);
    return key;
}

/** True if a file has a value for each pixel of the detector. */
static int reads_pixels(const nb_config *cfg)
{
    return cfg->mask_file[0] || cfg->gainmap_file[0] || cfg->add_file[0] ||
           cfg->transmission_file[0];
}

nb_status nb_load_files(const nb_config *cfg, nb_inputs *in, const nb_detector_spec *spec,
                        const nb_hooks *hooks, nb_error *err)
{
    nb_geometry g = {.fpixels = 0};
    files_request r = {cfg, in, spec, &g, hooks, {{0, 0}}};
    void *files;
    nb_status st;
    NB_FORWARD(reads_pixels(cfg) ? nb_geometry_build(NB_RESOLVED(cfg), &g, err) : NB_OK);
    r.key = key_of_files(cfg, in, &g);
    NB_FORWARD(nb_store_take(in->store, &r.key, make_files, &r, &files, err));
    in->files = files;
    in->detector = in->files->spec;
    return NB_OK;
}

/* --- the crystal --- */

/** Arguments of make_table. */
typedef struct table_request {
    const nb_config *cfg;
    const nb_hooks *hooks;
} table_request;

static void free_tables(void *object)
{
    nb_tables_drop(object);
}

static nb_status make_table(void *user, void **object, size_t *bytes, nb_error *err)
{
    const table_request *r = user;
    nb_tables *t = nb_shared_new(sizeof *t, free_tables, "structure factors", err);
    nb_status st = t ? nb_tables_new(t, err) : NB_ERR_NOMEM;
    *object = t;
    NB_FORWARD(st);
    NB_FORWARD(load_table(r->cfg, r->hooks, t->file, err));
    nb_tables_describe(t, 1, NULL);
    *bytes = nb_table_values(&t->box) * sizeof(double);
    return NB_OK;
}

/** Load a table of F that is used as read: a list, the cache, or F(000) alone. */
static nb_status load_list(const nb_config *cfg, nb_inputs *in, const nb_inputs *old,
                           const nb_hooks *hooks, nb_error *err)
{
    table_request r = {cfg, hooks};
    nb_key key = nb_key_of("list");
    void *table;
    nb_status st;
    nb_inputs_key_file(&key, in, cfg->hkl_file, NB_ARRAY_HKL);
    nb_key_file(&key, in->store, nb_dump_name(cfg));
    nb_key_number(&key, cfg->hkl_file[0] || cfg->dump_file[0] ? NB_VALUE(cfg, default_F)
                                                              : NB_GIVEN(cfg, default_F));
    nb_key_number(&key, cfg->F000);
    in->factors_key = key;
    if (old && old->tables.file && nb_key_equal(&old->factors_key, &key)) {
        in->tables = nb_tables_hold(&old->tables);
    } else {
        NB_FORWARD(nb_store_take(in->store, &key, make_table, &r, &table, err));
        in->tables = nb_tables_hold(table);
        nb_shared_drop(table);
    }
    in->table_from_hkl = cfg->hkl_file[0] && !nb_config_has_F000_alone(cfg);
    return nb_tables_put_typed(&in->tables, &in->typed, hooks, err);
}

nb_status nb_load_crystal(nb_config *cfg, nb_inputs *in, const nb_inputs *old,
                          const nb_matrix *given, int64_t seed, const nb_hooks *hooks,
                          nb_error *err)
{
    nb_status st;
    NB_FORWARD(load_matrix(cfg, &in->matrix, err));
    if (given)
        in->matrix = *given;
    if (!nb_config_makes_factors(cfg))
        return load_list(cfg, in, old, hooks, err);
    NB_FORWARD(nb_load_factors(cfg, in, seed, hooks, err));
    nb_inputs_find_tables(in, old);
    return NB_OK;
}
