/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../inputs/load.h"
#include "../sim/noise.h"
#include "../outputs/write.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../model/scene_build.h"
#include "../sim/crystals.h"
#include "../params/params.h"

/** Noise of the base configuration. */
static nb_hdf5_noise noise_of(const nb_run *run)
{
    const nb_settings *all = &run->base->model.settings;
    const nb_config *cfg = &all->value;
    const nb_noise n = nb_noise_of(all);
    nb_noise_file file = nb_frame_hdf5_noise(run->layout.type);
    double adc = cfg->adc_set ? cfg->adc_offset : 0;
    nb_hdf5_noise noise = {.wanted = n.chained || cfg->adc_set,
                           .gain = n.gain,
                           .adc_offset = adc,
                           .readout = n.readout,
                           .calibration = n.calibration,
                           .calib_seed = n.calib_seed,
                           .psf = n.psf ? nb_param_choice("psf", (int)n.psf) : "none",
                           .psf_fwhm_um = n.psf ? n.fwhm * 1e6 : 0};
    if (n.chained)
        noise.trusted = nb_sim_noise_largest(run->base, file) - 1;
    return cfg->write_noise ? noise : (nb_hdf5_noise){0};
}

/** Get the spectrum of frame k for the master. */
static nb_status spectrum_of(void *user, int k, double *A, double *weight, nb_error *err)
{
    const nb_run *run = user;
    const size_t n = (size_t)run->base->model.spectrum.n;
    nb_spectrum s;
    nb_status st = nb_frames_spectrum(&run->frames, k, &s, err);
    if (!st && (size_t)s.n != n)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "frame %d has %d wavelengths, the first one %zu; a master has one number",
            run->frames.first + k + 1, s.n, n);
    if (!st) {
        memcpy(A, s.A, n * sizeof *A);
        memcpy(weight, s.weight, n * sizeof *weight);
    }
    nb_spectrum_free(&s);
    return st;
}

static const char *varied_name(void *user, int i)
{
    const nb_vary *v = &((const nb_run *)user)->frames.vary;
    const int item = nb_vary_frame_item(v, i);
    return item < v->n ? v->items[item].name : NULL;
}

static nb_status varied(void *user, int i, int k, double *value, nb_error *err)
{
    const nb_frames *f = &((const nb_run *)user)->frames;
    return nb_vary_draw(&f->vary, nb_vary_frame_item(&f->vary, i),
                        (nb_crystal_at){f->first + k, 0}, value, err);
}

/** Make room for n more rows. */
static nb_status reserve_rows(nb_hdf5_crystals *all, size_t n, nb_error *err)
{
    if (all->n + n <= all->room)
        return NB_OK;
    all->room = 2 * (all->n + n);
    return nb_grow(&all->rows, all->n, all->room, sizeof *all->rows, "truth", err);
}

static const char *factors_of(const nb_config *cfg)
{
    const char *const names[] = {cfg->pdb_file, cfg->mtz_file, cfg->cif_file,
                                 cfg->hkl_file};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i][0])
            return names[i];
    return "";
}

/** Add a row for each twin part. A, N, cell, blocks: NaN if its files are not loaded. */
static nb_status add_rows(const nb_run *run, nb_crystal_at at, nb_config *cfg,
                          nb_hdf5_crystals *rows, nb_error *err)
{
    const nb_settings *settings;
    nb_crystal first, x;
    nb_twin twin = {0};
    nb_status st = nb_sim_crystal_of(run->base, cfg, &first, err);
    NB_TRY(nb_twin_read(cfg->twin, &twin, err));
    NB_TRY(reserve_rows(rows, (size_t)twin.n + 1, err));
    if (st)
        return st;
    settings = NB_RESOLVED(cfg);
    for (int i = 0; i <= twin.n; i++) {
        nb_hdf5_crystal *row = &rows->rows[rows->n++];
        memset(row, 0, sizeof *row);
        x = first;
        nb_twin_turn(&twin, i, &x);
        row->frame = at.frame;
        row->crystal = at.crystal;
        row->twin = i;
        row->part = nb_twin_share(&twin, i);
        nb_put_columns(x.astar, x.bstar, x.cstar, row->A);
        nb_crystal_misset(&x, row->misset);
        memcpy(row->N, x.N, sizeof row->N);
        nb_cell_of(&x, row->cell);
        for (int j = 0; j < 6; j++)
            row->cell[j] = nb_typeable(row->cell[j]);
        row->blocks = nb_crystal_blocks(settings, &x);
        row->mosaic_deg = settings->value.mosaic_spread_deg;
        row->B_added = settings->value.B_add;
        row->F_scale = NB_TYPED_OR(settings, F_scale, 1);
        snprintf(row->file, sizeof row->file, "%.255s", factors_of(cfg));
    }
    return NB_OK;
}

static nb_status add_frame(const nb_run *run, int k, nb_hdf5_crystals *all, nb_error *err)
{
    nb_crystals crystals;
    nb_status st = nb_frames_crystals(&run->frames, k, &crystals, err);
    all->first[k] = (int64_t)all->n;
    for (int m = 0; m < crystals.n && !st; m++)
        st = add_rows(run, (nb_crystal_at){k, m}, &crystals.configs[m], all, err);
    all->count[k] = (int64_t)all->n - all->first[k];
    nb_crystals_free(&crystals);
    return st;
}

nb_status nb_master_crystals(const nb_run *run, int frames, nb_hdf5_crystals *all,
                             nb_error *err)
{
    nb_status st = NB_OK;
    all->first = nb_alloc((size_t)frames, sizeof *all->first, "truth", err);
    all->count = nb_alloc((size_t)frames, sizeof *all->count, "truth", err);
    if (!all->first || !all->count)
        return NB_ERR_NOMEM;
    for (int k = 0; k < frames && !st; k++)
        st = add_frame(run, k, all, err);
    return st;
}

void nb_master_crystals_free(nb_hdf5_crystals *all)
{
    nb_free(all->rows);
    nb_free(all->first);
    nb_free(all->count);
}

/** Name of data file n, without the folder of the master. */
static void link_name(void *user, int n, char *name)
{
    const nb_run *run = user;
    const struct nb_piece *p = &run->truths.pieces.all[n];
    const char *slash = strrchr(run->work.stem, '/');
    nb_work_data_path(slash ? slash + 1 : run->work.stem, p->block, p->piece, name);
}

/** Array: first frame of each data file, then the number of frames. Caller frees it. */
static int *first_frames(const nb_pieces *p, nb_error *err)
{
    int *first = nb_alloc((size_t)p->n + 1, sizeof *first, "data files", err);
    for (int i = 0; first && i <= p->n; i++)
        first[i] = p->all[i].first;
    return first;
}

/** Describe the values that differ between frames; *crystals holds the crystals. */
static nb_status describe_frames(nb_run *run, nb_hdf5_crystals *crystals,
                                 nb_hdf5_master *master, nb_error *err)
{
    const nb_frames *f = &run->frames;
    master->rotation = f->rotation;
    master->moving = f->moving;
    master->jobs = run->series->calls.override_text;
    master->damaged =
        run->base->model.damage.given ||
        (run->given && run->given->truth && !isnan(run->given->truth[0].dose_MGy));
    master->spectra = f->spectra.count ? &f->spectra : NULL;
    master->spectrum = run->base->model.spectrum.n ? spectrum_of : NULL;
    master->wavelengths = run->base->model.spectrum.n;
    master->threads = run->threads;
    master->varied_name = varied_name;
    master->varied = varied;
    master->images = f->stream.images ? f->stream.image + f->first : NULL;
    master->first = f->first;
    if (!nb_frames_have_crystals(f))
        return NB_OK;
    master->crystals = crystals;
    return nb_master_crystals(run, master->frames, crystals, err);
}

nb_status nb_master_write(nb_run *run, nb_error *err)
{
    const nb_sim *base = run->base;
    const nb_image_meta meta = nb_sim_describe(base);
    const nb_pieces *pieces = &run->truths.pieces;
    const nb_given *given = run->given;
    const char *stored = given && given->truth && given->whole &&
                                 pieces->all[pieces->n].first == given->frames
                             ? given->files.before
                             : NULL;
    uint8_t *bad = NULL;
    float *factors = NULL;
    char *config = NULL, background[NB_PATH_MAX];
    nb_hdf5_panels panels = {0};
    nb_hdf5_crystals crystals = {0};
    int *first = first_frames(pieces, err);
    nb_hdf5_master master = {0};
    nb_status st = first ? nb_canvas_bad(base, &bad, err) : NB_ERR_NOMEM;
    NB_TRY(nb_canvas_factors(base, &factors, err));
    if (!st && base->cfg.detector)
        st = nb_canvas_panels(base, &panels, err);
    NB_TRY(nb_sim_scene_json(base, &config, err));
    if (st == NB_ERR_UNSUPPORTED) /* a build without JSON leaves it out */
        st = NB_OK;
    if (!st) {
        master =
            (nb_hdf5_master){.panels = base->cfg.detector ? &panels : NULL,
                             .layout = run->layout,
                             .frames = first[pieces->n],
                             .files = pieces->n,
                             .first_of = first,
                             .meta = &meta,
                             .truth = nb_truths_get,
                             .bad = bad,
                             .transmission = factors,
                             .noise = noise_of(run),
                             .background = nb_background_words(
                                 &base->model.settings, background, sizeof background),
                             .config = stored ? NULL : config,
                             .stored = stored,
                             .data_name = link_name,
                             .user = run};
        st = describe_frames(run, &crystals, &master, err);
    }
    NB_TRY(nb_hdf5_write_master(run->series->hdf5_file, &master, err));
    nb_master_crystals_free(&crystals);
    nb_canvas_panels_free(&panels);
    nb_free(config);
    nb_free(factors);
    nb_free(bad);
    nb_free(first);
    return st;
}
