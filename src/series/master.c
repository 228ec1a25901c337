/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../inputs/load.h"
#include "../outputs/write.h"
#include "../base/memory.h"
#include "../sim/crystals.h"

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

static nb_status add_frame(const nb_run *run, int k, nb_hdf5_crystals *all, nb_error *err)
{
    nb_crystals crystals;
    nb_status st = nb_frames_crystals(&run->frames, k, &crystals, err);
    all->first[k] = (int64_t)all->n;
    for (int m = 0; m < crystals.n && !st; m++)
        st = nb_sim_crystal_rows(run->base, k, m, &crystals.configs[m], all, err);
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

/** Array: first frame of each data file, then the number of frames. The caller frees the
 * array. */
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
        (run->stored && run->stored->truth && !isnan(run->stored->truth[0].dose_MGy));
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
    const nb_stored_images *images = run->stored;
    const char *stored = images && images->truth && images->whole &&
                                 pieces->all[pieces->n].first == images->frames
                             ? images->files.before
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
    if (st == NB_ERR_UNSUPPORTED) /* a build without JSON leaves the member out */
        st = NB_OK;
    if (!st) {
        master = (nb_hdf5_master){
            .panels = base->cfg.detector ? &panels : NULL,
            .layout = run->layout,
            .frames = first[pieces->n],
            .files = pieces->n,
            .first_of = first,
            .meta = &meta,
            .truth = nb_truths_get,
            .bad = bad,
            .transmission = factors,
            .noise = nb_sim_noise_truth(base, nb_frame_hdf5_noise(run->layout.type)),
            .background =
                nb_background_words(&base->model.settings, background, sizeof background),
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
