/* SPDX-License-Identifier: MIT */
/* The input files of a configuration. */
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/fdump.h"
#include "../io/hkl.h"
#include "../io/matrix.h"
#include "../io/smv_read.h"
#include "../io/sources.h"
#include "../model/units.h"
#include "../physics/limits.h"
#include "sim.h"

static nb_status load_header(const char *path, const char *flag, nb_config *cfg,
                             nb_error *err)
{
    char *data;
    size_t bytes;
    nb_smv_header header = {0};
    nb_status st;
    if (!path[0])
        return NB_OK;
    if ((st = nb_read_file(path, flag, 0, &data, &bytes, err)))
        return st;
    if (!(st = nb_smv_parse(data, bytes, path, &header, err)))
        st = nb_smv_apply_header(&header, cfg, err);
    nb_smv_header_free(&header);
    nb_free(data);
    return st;
}

nb_status nb_load_headers(nb_sim *sim, nb_error *err)
{
    /* -img fills first, so it wins over -mask; what was typed wins over both */
    nb_status st = load_header(sim->cfg.img_file, "-img", &sim->cfg, err);
    return st ? st : load_header(sim->cfg.mask_file, "-mask", &sim->cfg, err);
}

static nb_status load_mask(nb_sim *sim, const nb_geometry *g, nb_error *err)
{
    const char *path = sim->cfg.mask_file;
    char *data;
    uint16_t *pixels = NULL;
    size_t bytes, i, n = (size_t)g->fpixels * (size_t)g->spixels;
    nb_smv_header header = {0};
    nb_status st;
    if (!path[0])
        return NB_OK;
    if ((st = nb_read_file(path, "-mask", 0, &data, &bytes, err)))
        return st;
    st = nb_smv_parse(data, bytes, path, &header, err);
    if (!st)
        st = nb_smv_pixels_u16(data, bytes, &header, &pixels, err);
    if (!st && (header.fast != g->fpixels || header.slow != g->spixels))
        st = nb_fail_at(err, NB_ERR_INPUT, path, 0,
                        "-mask has %d x %d pixels but the detector %d x %d", header.fast,
                        header.slow, g->fpixels, g->spixels);
    if (!st && !(sim->mask = nb_alloc_raw(n, 1, "mask", err)))
        st = NB_ERR_NOMEM;
    for (i = 0; !st && i < n; i++)
        sim->mask[i] = pixels[i] != 0;
    nb_free(pixels);
    nb_smv_header_free(&header);
    nb_free(data);
    return st;
}

static nb_status load_matrix(nb_sim *sim, nb_error *err)
{
    const char *path = sim->cfg.mat_file;
    char *data;
    size_t bytes;
    nb_status st;
    if (!path[0])
        return NB_OK;
    if ((st = nb_read_file(path, "-mat", 1 << 20, &data, &bytes, err)))
        return st;
    st = nb_matrix_parse(data, bytes, path, sim->matrix, err);
    sim->has_matrix = !st;
    nb_free(data);
    return st;
}

static nb_status load_sources(nb_sim *sim, const nb_geometry *g, nb_error *err)
{
    const char *path = sim->cfg.source_file;
    nb_vec3 from = nb_scale(-10.0, g->beam);
    nb_source_defaults standard = {{from.x, from.y, from.z},
                                   nb_beam_wavelength(&sim->cfg) * NB_ANGSTROM};
    nb_source_list list = {0};
    char *data;
    size_t bytes;
    nb_status st;
    if (!path[0])
        return NB_OK;
    if ((st = nb_read_file(path, "-sourcefile", 0, &data, &bytes, err)))
        return st;
    st = nb_sources_parse(data, bytes, path, &standard, &list, err);
    nb_free(data);
    if (st)
        return st;
    sim->lines = list.rows;
    sim->n_lines = list.count;
    return NB_OK;
}

/** The cache may be large, and is replaced whole by those who write it: mapped. */
static nb_status load_dump(nb_sim *sim, nb_error *err)
{
    const char *path = nb_dump_name(&sim->cfg);
    nb_file_view file;
    nb_status st = nb_file_open(path, "-dump", &file, err);
    if (st)
        return st;
    st = nb_fdump_parse(file.data, file.bytes, path, &sim->table, err);
    nb_file_close(&file);
    if (!st)
        nb_notice(&sim->hooks, "structure factors read from the cache %s", path);
    return st;
}

/** -hkl, else the cache that -dump names, else a cache lying here when nothing else gives F. */
static nb_status load_factors(nb_sim *sim, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    char *data;
    size_t bytes;
    nb_status st;
    if (!cfg->hkl_file[0])
        return !cfg->dump_file[0] && !isnan(cfg->default_F) ? NB_OK : load_dump(sim, err);
    if ((st = nb_read_file(cfg->hkl_file, "-hkl", 0, &data, &bytes, err)))
        return st;
    st = nb_hkl_parse(data, bytes, cfg->hkl_file, nb_or(cfg->default_F, 0), &sim->table,
                      err);
    sim->table_from_hkl = !st;
    nb_free(data);
    return st;
}

/** The table as a scene has it; its extremes are looked for once, not for every image. */
static void describe_factors(nb_sim *sim)
{
    const nb_sf_table *t = &sim->table;
    nb_sf_box *box = &sim->factors;
    if (!t->F)
        return;
    box->F = t->F;
    box->hmin = t->hmin;
    box->kmin = t->kmin;
    box->lmin = t->lmin;
    box->nh = t->hmax - t->hmin + 1;
    box->nk = t->kmax - t->kmin + 1;
    box->nl = t->lmax - t->lmin + 1;
    nb_sf_measure(box);
}

nb_status nb_load_inputs(nb_sim *sim, nb_error *err)
{
    nb_geometry g;
    nb_status st;
    if ((st = nb_geometry_build(&sim->cfg, &g, err)) || (st = load_mask(sim, &g, err)) ||
        (st = load_matrix(sim, err)) || (st = load_sources(sim, &g, err)))
        return st;
    if (!(st = load_factors(sim, err)))
        describe_factors(sim);
    return st;
}
