/* SPDX-License-Identifier: MIT */
/* nb_series_run: set up, run, write the master, free all. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../inputs/shade.h"
#include "../sim/advice.h"
#include "../inputs/factors.h"
#include "../sim/light.h"
#include "../inputs/load.h"
#include "../sim/noise.h"
#include "../outputs/report.h"
#include "../base/c_locale.h"
#include "../base/threads.h"
#include "../outputs/write.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "../render/request.h"
#include "run.h"

static nb_status create_base(nb_run *run, const nb_config *cfg, int64_t seed,
                             nb_error *err)
{
    NB_OWN_CONFIG first = {0};
    const int frames = nb_series_part(run->series, NULL);
    nb_status st;
    nb_config_copy(&first, cfg);
    first.device_alone = 0; /* not alone, because a series may have several renderers */
    first.seed.set = 1;
    first.seed.value = seed;
    first.expand_list = nb_vary_changes_F(run->series->vary);
    st = nb_sim_create_for(&first, frames / run->place.count, &run->hooks, &run->base,
                           err);
    NB_TRY(nb_frames_init(&run->frames, run->series, run->base, err));
    if (!st && run->stored)
        nb_stored_vary(run->stored, &run->frames);
    NB_TRY(nb_frames_widen_factors(&run->frames, run->base, err));
    if (!st)
        nb_frames_narrow(&run->frames);
    return st;
}

/** Choose one thread per processor, as far as frames and memory allow. The
 * processes of a host divide the processors. */
static void choose_threads(nb_run *run)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int asked = run->base->cfg.threads, here = run->place.local_count;
    int all = asked > 0           ? nb_threads_of(&run->base->cfg)
              : processors > here ? (int)processors / here
                                  : 1;
    double pixels = (double)run->layout.fast * run->layout.slow;
    double room = nb_machine_memory() / 2 / (pixels * 32) / here;
    run->threads = all < run->frames.count ? all : run->frames.count;
    if (run->threads > room)
        run->threads = room > 1 ? (int)room : 1;
    run->threads_each = all / run->threads;
    run->base->in.light_threads = all;
    run->window = 2 * run->threads + 2;
}

static nb_status open_pool(nb_run *run, nb_error *err)
{
    nb_sim *base = run->base;
    nb_pool_devices devices = {-1, 0, run->threads};
    int each = 1;
    nb_status st;
    char more[32];
    if (base->engine.backend->device) {
        nb_device asked;
        each = nb_pool_renderers(base, run->threads);
        (void)nb_backend_of(base->cfg.device, &asked);
        devices = nb_pool_devices_of(&asked, base->engine.backend->device->count(),
                                     run->place.local_rank, run->place.local_count);
        /* the device is now typed: if it fails later, the series fails and no other
         * renderer replaces it */
        NB_FORWARD(nb_text_put(&base->cfg.device, base->engine.backend->name, err));
        if (devices.count > 1) {
            snprintf(more, sizeof more, "; %d devices", devices.count);
            strncat(run->progress.backend, more,
                    sizeof run->progress.backend - strlen(run->progress.backend) - 1);
        }
    }
    return nb_pool_open(&run->pool, base->engine.backend, devices, each, err);
}

/** Remove files of the same names, which belong to an older series. */
static void remove_older(const nb_run *run)
{
    nb_work_remove_numbered(&run->work);
    if (run->series->resume || !run->series->hdf5_file[0])
        return;
    nb_work_remove_data(&run->work);
    (void)unlink(run->series->hdf5_file);
}

/** Begin the series in rank 0 for all ranks, and count the finished frames. */
static nb_status begin_files(nb_run *run, nb_error *err)
{
    const nb_series *s = run->series;
    char path[NB_PATH_MAX];
    int *frames = &run->progress.kept;
    nb_status st = nb_work_begun_path(s, path, err);
    NB_TRY(nb_begun_open(&run->begun, path, &run->work.data.key, run->work.kept != NULL,
                         s->resume, err));
    if (!st && (s->resume || !run->begun.is_new))
        st = nb_work_count(&run->work, run->work.kept, frames, err);
    if (!st && run->begun.is_new) {
        remove_older(run);
        st = nb_work_count(&run->work, run->work.kept, frames, err);
    }
    run->progress.done = run->progress.kept;
    if (!st)
        nb_begun_share(&run->begun);
    if (!st && run->begun.joined && !s->resume)
        nb_notice(&run->hooks,
                  "another run makes this series: this one makes a part of it");
    return st;
}

static nb_status open_blocks(nb_run *run, uint64_t fingerprint, nb_error *err)
{
    nb_work *b = &run->work;
    nb_status st = nb_work_open(b, run->series, run->window + 1, err);
    b->data =
        (nb_hdf5_data){.layout = run->layout,
                       .key = {fingerprint, run->frames.base.seed.value, b->per_block}};
    b->rank = run->place.rank;
    b->ranks = run->place.count;
    if (!st && run->base->cfg.sum_file[0]) {
        b->kept = nb_alloc((size_t)b->count, sizeof *b->kept, "blocks", err);
        st = b->kept ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && b->rank == 0)
        st = begin_files(run, err);
    return st;
}

/** Send all ranks the finished blocks that rank 0 has found. */
static void share_found(nb_run *run)
{
    nb_work *b = &run->work;
    nb_ranks_share(run->ranks, b->whole, (size_t)b->count);
    if (b->kept)
        nb_ranks_share(run->ranks, b->kept, (size_t)b->count * sizeof *b->kept);
}

static nb_status allocate(nb_run *run, nb_error *err)
{
    nb_status st = NB_OK;
    run->slots = nb_alloc((size_t)run->window, sizeof *run->slots, "frames", err);
    if (!run->slots)
        return NB_ERR_NOMEM;
    for (int i = 0; !st && run->work.stem[0] && i < run->window; i++) {
        run->slots[i].chunk =
            nb_alloc_raw(nb_hdf5_chunk_bound(&run->layout), 1, "frame", err);
        st = run->slots[i].chunk ? NB_OK : NB_ERR_NOMEM;
    }
    return st;
}

/** Print notices about detector properties that DIALS cannot read from the files. */
static void notice_lost(const nb_run *run)
{
    const nb_format *format = nb_series_format(run->series);
    if (format && format->header)
        nb_notice_lost(run->base, &run->hooks, format->header);
    if (run->series->hdf5_file[0])
        nb_notice_material(&run->base->model, &run->hooks);
}

/** Print a notice about pixels below 0 of the first input image: they count as 0. */
static void notice_below(const nb_run *run)
{
    const size_t n = run->base->model.scene.raster.pixels;
    float *image = nb_alloc_large(n, sizeof *image, "image", NULL);
    size_t below = 0;
    if (image && !nb_stored_frame(run->stored, 0, run->base, image, NULL))
        for (size_t i = 0; i < n; i++)
            below += image[i] < 0;
    nb_free(image);
    if (below)
        nb_notice(&run->hooks,
                  "%.3g %% of the pixels of the first image are below 0, and count as 0; "
                  "type -pedestal, the value of a pixel without photons",
                  100 * (double)below / (double)n);
}

/** Print notices about effects of the noise that a user may not expect. */
static void notice_noise(const nb_run *run)
{
    const nb_config *cfg = &run->base->cfg;
    int hdf5 = run->series->hdf5_file[0] && run->layout.type != NB_HDF5_F32;
    const nb_format *format = nb_series_format(run->series);
    nb_pixel_type pixel =
        format ? nb_format_writer(format, cfg->tiff_bits)->pixel : NB_PIXEL_ANY;
    int counts = pixel == NB_PIXEL_I32, narrow = pixel == NB_PIXEL_U16;
    double offset = cfg->adc_set || narrow ? cfg->adc_offset : 0;
    if (offset != 0 && cfg->adc_set && cfg->write_noise && (hdf5 || counts))
        nb_notice(&run->hooks, "-adc %g is added to the pixels of %s%s%s, too",
                  cfg->adc_offset, counts ? format->name : "",
                  hdf5 && counts ? " and " : "", hdf5 ? "HDF5" : "");
    if (narrow || (hdf5 && run->layout.type == NB_HDF5_U16))
        nb_notice_readout(&run->base->model.settings, &run->hooks, offset);
    if (run->stored && !cfg->nopoisson && run->place.rank == 0 &&
        (hdf5 || (format && pixel != NB_PIXEL_F32)))
        notice_below(run);
}

/** Print a notice if all stills have the same orientation. */
static void notice_turned(const nb_run *run)
{
    const nb_series *s = run->series;
    int turned = s->orientations[0] || s->calls.override || run->stored ||
                 run->frames.base.misset_mode == NB_MISSET_RANDOM ||
                 NB_VARIES(&run->frames.vary, misset_deg) ||
                 NB_VARIES(&run->frames.vary, phi_deg);
    if (s->stills > 1 && !turned)
        nb_notice(&run->hooks,
                  "-stills %d: every shot has the same orientation; type -orientations "
                  "random for another one each",
                  s->stills);
}

/** Print a notice if the processes will wait for each other because each has few
 * blocks. */
static void notice_blocks(const nb_run *run)
{
    enum { ENOUGH = 4 }; /* enough blocks per process */
    const int frames = run->frames.count, ranks = run->place.count,
              each = nb_work_size(run->series), blocks = (frames + each - 1) / each,
              better = frames / (ENOUGH * ranks);
    if (ranks > 1 && each > 1 && blocks < ENOUGH * ranks)
        nb_notice(&run->hooks,
                  "%d processes share %d data file%s, so some wait for others; type "
                  "-frames_per_file %d",
                  ranks, blocks, blocks == 1 ? "" : "s", better > 1 ? better : 1);
}

/** Check that the series has outputs, and that they can hold the frames. */
static nb_status check_outputs(const nb_run *run, nb_error *err)
{
    const nb_series *s = run->series;
    const int n = run->base->model.scene.n_panels;
    const nb_format *format = nb_series_format(s);
    if (!s->output[0] && !s->hdf5_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "a series needs -output 'img_%%05d.cbf' or -hdf5 FILE");
    if (run->base->cfg.truth == NB_TRUTH_SPOTS && !s->hdf5_file[0])
        return nb_fail(err, NB_ERR_INPUT,
                       "-truth spots of a series is written to HDF5: add -hdf5 FILE");
    if (n == 1 || !format || format->any_panels)
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-output %.200s: such a file holds one panel, but the detector has %d; "
        "write -hdf5 FILE",
        s->output, n);
}

/** Prepare all that needs no output file. */
static nb_status prepare(nb_run *run, const nb_config *cfg, int64_t seed, nb_error *err)
{
    nb_panel_canvas canvas;
    nb_status st = create_base(run, cfg, seed, err);
    if (!st && run->stored)
        st = nb_stored_prepare(run->stored, run->base, err);
    if (st || (st = check_outputs(run, err)) ||
        (st = nb_cpu_choose(run->base->cfg.isa, &run->layout.isa, err)))
        return st;
    canvas = nb_sim_canvas(run->base, NULL);
    run->layout.fast = canvas.size[0];
    run->layout.slow = canvas.size[1];
    run->layout.type = run->series->hdf5_type;
    run->layout.compress = run->series->compress;
    run->layout.reflections = run->frames.base.truth != NB_TRUTH_SPOTS ? 0
                              : run->base->model.scene.n_panels > 1    ? 2
                                                                       : 1;
    if (run->layout.reflections && nb_frames_have_crystals(&run->frames))
        run->layout.reflections += 4;
    run->progress.frames = run->frames.count;
    nb_sim_times(run->base, &run->progress.times);
    run->progress.seed = run->frames.base.seed.value;
    memcpy(run->progress.backend, run->base->engine.line, sizeof run->progress.backend);
    choose_threads(run);
    if (run->place.rank == 0 && (st = nb_frames_survey(&run->frames, err)))
        return st;
    if (run->place.rank == 0 && (st = nb_run_stream_check(run, err)))
        return st;
    if (run->frames.moving && run->frames.places_differ)
        nb_notice(&run->hooks,
                  "%s moves the detector: the master has the geometry of each frame, but "
                  "DIALS uses that of the first frame for all frames; for DIALS use "
                  "-output 'img_%%05d.cbf'",
                  run->stored ? "the input" : "-jobs");
    notice_lost(run);
    notice_noise(run);
    notice_turned(run);
    notice_blocks(run);
    return open_pool(run, err);
}

/** Find the values of clipped pixels in the files. */
static void find_largest(nb_run *run)
{
    nb_clipped *output = &run->progress.clipped_output,
               *hdf5 = &run->progress.clipped_hdf5;
    const nb_format *format = run->work.name.format; /* format of -output, or NULL */
    if (format)
        output->file =
            nb_frame_file_noise(nb_format_writer(format, run->base->cfg.tiff_bits));
    hdf5->file = nb_frame_hdf5_noise(run->layout.type);
    output->largest = nb_sim_noise_largest(run->base, output->file);
    hdf5->largest = nb_sim_noise_largest(run->base, hdf5->file);
}

/** Open files, allocate memory, and find the frames that an earlier run finished. */
static nb_status open_all(nb_run *run, uint64_t fingerprint, int dump, nb_error *err)
{
    nb_status st = open_blocks(run, fingerprint, err);
    find_largest(run);
    NB_TRY(allocate(run, err));
    if (!st && run->base->cfg.sum_file[0])
        st = nb_sum_open(&run->sum, run->base->model.scene.raster.pixels, err);
    if (!st && run->place.rank == 0)
        st = nb_sim_write_dumps(run->base, dump, err);
    if (!st && run->place.rank == 0)
        st = nb_sim_write_detector(
            run->base, run->series->hdf5_file[0] ? run->series->hdf5_file : NULL,
            run->frames.rotation ? run->series->frames : 0, err);
    if (!st && run->place.rank == 0)
        st = nb_sim_write_spectrum(run->base, err);
    return nb_ranks_agree(run->ranks, st, err);
}

static nb_status set_up(nb_run *run, const nb_config *cfg, nb_error *err)
{
    nb_series_key key = {0}; /* key of the run to resume; a new run has only a seed */
    uint64_t fingerprint;
    nb_status st = NB_OK;
    if (run->place.rank == 0) {
        if (!run->series->resume || !nb_work_key(run->series, &key))
            key.seed = nb_seed_from_clock();
        if (cfg->seed.set)
            key.seed = cfg->seed.value;
        st = nb_series_check_files(cfg, run->series, err);
    }
    NB_FORWARD(nb_ranks_agree(run->ranks, st, err));
    nb_ranks_share(run->ranks, &key, sizeof key);
    if ((st = nb_ranks_agree(run->ranks, prepare(run, cfg, key.seed, err), err)) ||
        (st = nb_earlier_fingerprint(run, key.fingerprint, &fingerprint, err)) ||
        (st = open_all(run, fingerprint, cfg->dump_file[0] != '\0', err)))
        return st;
    share_found(run);
    if (run->place.rank == 0)
        nb_work_notice_longer(&run->work, &run->hooks);
    return NB_OK;
}

/** Find brightest and clipped pixels of all frames, also of other and earlier runs. */
static nb_status count_facts(nb_run *run, nb_error *err)
{
    nb_series_progress *p = &run->progress;
    nb_clipped *clipped = &p->clipped_hdf5;
    nb_status st = NB_OK;
    clipped->pixels = clipped->max = clipped->frames = clipped->worst = 0;
    p->max = p->max_frame = p->max_fast = p->max_slow = 0;
    for (int k = 0; !st && k < run->frames.count; k++) {
        nb_hdf5_frame truth;
        if (!(st = nb_truths_get(run, k, 1, &truth, err)))
            nb_run_add_facts(p, run->frames.first + k, &truth.facts);
    }
    return st;
}

static nb_status fail_missing(const nb_run *run, nb_error *err)
{
    return nb_fail(err, NB_ERR_IO,
                   "files of some of the %d frames were removed, or cannot be read; "
                   "-resume makes them again",
                   run->frames.count);
}

/** Write the files for the whole series, in rank 0. */
static nb_status finish(nb_run *run, nb_error *err)
{
    nb_status st = NB_OK;
    if (run->work.stem[0]) {
        const nb_pieces *p = &run->truths.pieces;
        st = nb_work_pieces(&run->work, &run->truths.pieces, err);
        if (!st && (!p->n || p->all[p->n].first < run->frames.count))
            st = fail_missing(run, err);
        NB_TRY(count_facts(run, err));
        NB_TRY(nb_master_write(run, err));
        NB_TRY(nb_run_stream_write(run, err));
    }
    return st ? st : nb_experiments_write(run, err);
}

/** After a stop, write a master of the first frames, unless another run continues the
 * series. */
static void save_part(nb_run *run)
{
    if (!run->work.stem[0] || run->place.rank > 0 || !nb_begun_alone(&run->begun))
        return;
    if (!nb_work_pieces(&run->work, &run->truths.pieces, NULL) && run->truths.pieces.n > 0)
        (void)nb_master_write(run, NULL);
}

/** Print a notice if no frame has a photon. */
static void say_dark(const nb_run *run)
{
    const nb_stats none = {.rendered = 1};
    if (run->progress.max > 0 || (run->progress.kept && !run->work.stem[0]))
        return;
    if (run->stored)
        nb_notice(&run->hooks, "the input has no photons: its pixels are 0 or below");
    else
        nb_say_dark(run->base, &none);
}

/** End unfinished data files early, to keep their frames. */
static void end_blocks(nb_run *run)
{
    for (int i = 0; run->work.open && i < run->work.room; i++) {
        nb_block *b = &run->work.open[i];
        nb_error err = {0};
        nb_status st = b->number >= 0 ? nb_block_end(b, &err) : NB_OK;
        if (st)
            nb_run_stop_with(run, b->first, st, &err);
        b->number = -1;
    }
}

/** Add the sums (-sumfile) of all processes in rank 0. All processes call this. */
static nb_status join_sum(nb_sum *sum, nb_ranks *ranks, nb_error *err)
{
    enum { PIECE = 1 << 16 };
    const int processes = nb_ranks_place(ranks).count, rank = nb_ranks_place(ranks).rank;
    nb_sum_pixel *all;
    nb_status st;
    if (processes == 1)
        return NB_OK;
    all = nb_alloc((size_t)processes, PIECE * sizeof *all, "-sumfile", err);
    st = nb_ranks_agree(ranks, all ? NB_OK : NB_ERR_NOMEM, err);
    for (size_t first = 0; !st && first < sum->pixels; first += PIECE) {
        const size_t left = sum->pixels - first, n = left < PIECE ? left : PIECE;
        nb_ranks_gather(ranks, sum->pixel + first, n * sizeof *all, all);
        for (size_t i = n; rank == 0 && i < n * (size_t)processes; i++)
            nb_sum_pixel_add(&sum->pixel[first + i % n], &all[i]);
    }
    nb_free(all);
    return st;
}

/** Write the sum of all finished frames. All processes call this. */
static nb_status finish_sum(nb_run *run, nb_error *err)
{
    nb_status st;
    if (!run->sum.pixel)
        return NB_OK;
    st = join_sum(&run->sum, run->ranks, err);
    if (!st && run->place.rank == 0)
        st = nb_sum_write(&run->sum, run->base->cfg.sum_file, err);
    return nb_ranks_agree(run->ranks, st, err);
}

/** Wait for all processes and add up their progress. *stopped: 1 if a process was
 * stopped. */
static nb_status meet(nb_run *run, int *stopped, nb_error *err)
{
    struct end {
        nb_series_progress progress;
        int stopped;
    } mine = {run->progress, atomic_load(&run->stop)}, *all;
    const int ranks = run->place.count;
    all = nb_alloc((size_t)ranks, sizeof *all, "ranks", err);
    if (!all) {
        nb_ranks_fail(run->ranks);
        return NB_ERR_NOMEM;
    }
    nb_ranks_gather(run->ranks, &mine, sizeof mine, all);
    *stopped = 0;
    for (int r = 0; r < ranks; r++) {
        *stopped |= all[r].stopped;
        if (r != run->place.rank)
            nb_run_add_progress(&run->progress, &all[r].progress);
    }
    nb_free(all);
    return NB_OK;
}

static nb_status fail_stopped(const nb_run *run, nb_error *err)
{
    return nb_fail(err, NB_ERR_CANCELLED,
                   "%s: %d of %d frames are finished; type the same flags and -resume to "
                   "continue",
                   atomic_load(&run->late) ? "-time_limit" : "interrupted",
                   run->progress.done, run->frames.count);
}

/** Give a notice that other processes make the missing frames, or an error if files are
 * lost. */
static nb_status look_for_others(const nb_run *run, nb_error *err)
{
    const int done = run->progress.done, frames = run->frames.count;
    if (run->work.unlocked[0])
        nb_notice(
            &run->hooks,
            "%.300s is of another process, and this file system has no locks: if no "
            "run writes it, remove it and type -resume",
            run->work.unlocked);
    else if (nb_begun_alone(&run->begun))
        return fail_missing(run, err);
    nb_notice(&run->hooks,
              "%d of %d frames are finished; another process makes the others%s", done,
              frames, run->work.stem[0] ? ", and the last one writes the master" : "");
    return NB_OK;
}

/** End a whole series in rank 0, or report the missing frames. */
static nb_status end_series(nb_run *run, int stopped, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_work_count(&run->work, NULL, &run->progress.done, err));
    if (run->progress.done < run->frames.count && !stopped)
        return look_for_others(run, err);
    if (run->progress.done < run->frames.count) {
        save_part(run);
        return fail_stopped(run, err);
    }
    NB_FORWARD(finish(run, err));
    say_dark(run);
    return nb_report_write_series(run->base, run->series, &run->progress, err);
}

/** Make the frames of this process, and end together with the other processes. */
static nb_status run_all(nb_run *run, nb_error *err)
{
    nb_error own = {0};
    int stopped;
    nb_status st;
    nb_sim_say_long(run->base, run->frames.count);
    st = nb_threads_run(run, &own);
    if (st)
        nb_run_stop_with(run, 0, st, &own);
    end_blocks(run);
    if (run->status && run->status != NB_ERR_CANCELLED) {
        nb_ranks_fail(run->ranks); /* ends all processes */
        if (!run->stored)
            save_part(run);
        if (err)
            *err = run->error;
        return run->status;
    }
    NB_FORWARD(meet(run, &stopped, err));
    if (run->place.rank == 0)
        st = end_series(run, stopped, err);
    else if (stopped)
        st = NB_ERR_CANCELLED;
    if (st && st != NB_ERR_CANCELLED)
        nb_ranks_fail(run->ranks);
    return st || stopped ? st : finish_sum(run, err);
}

/** Print a notice under mpirun without `ranks`: each process then makes all frames. */
static void notice_alone(const nb_run *run)
{
    int rank, launched = nb_ranks_launched(&rank);
    if (launched > 1 && !run->ranks)
        nb_notice(
            &run->hooks,
            "mpirun started %d processes, and process %d makes all frames of this series "
            "alone; "
            "give each its own files, or start the program: mpirun shares its frames",
            launched, rank);
}

static void tear_down(nb_run *run, nb_status st)
{
    /* true if an input image is damaged */
    const int useless = run->stored && st && st != NB_ERR_CANCELLED;
    for (int i = 0; run->slots && i < run->window; i++) {
        nb_free(run->slots[i].chunk);
        nb_reflections_free(&run->slots[i].list);
    }
    nb_free(run->slots);
    nb_truths_free(&run->truths);
    nb_sum_close(&run->sum);
    if (useless && run->begun.fd >= 0)
        nb_work_remove_data(&run->work);
    nb_work_free(&run->work);
    if (useless || run->progress.done == run->progress.frames)
        nb_begun_remove(&run->begun, 0);
    else if (st && run->begun.is_new && run->progress.done == 0)
        nb_begun_remove(&run->begun, 1);
    nb_begun_close(&run->begun);
    nb_pool_close(&run->pool);
    nb_frames_free(&run->frames);
    nb_sim_free(run->base);
    nb_stored_free(run->stored);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->hook_lock);
    pthread_cond_destroy(&run->moved);
    pthread_cond_destroy(&run->ended);
}

/** Open stored images, which determine the number of frames and the geometry. */
static nb_status open_input(nb_run *run, const nb_config **cfg, nb_error *err)
{
    nb_status st = nb_stored_open(*cfg, run->series, &run->hooks, &run->stored, err);
    NB_FORWARD(nb_ranks_agree(run->ranks, st, err));
    run->series = &run->stored->series;
    *cfg = &run->stored->cfg;
    return NB_OK;
}

nb_status nb_series_run(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_series_progress *result, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series);
    nb_run run;
    nb_status st = nb_series_check(series, err);
    NB_TRY(nb_series_check_part(cfg, series, err));
    if (st)
        return st;
    if (nb_is_page(cfg->report_file))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-report %.200s: a page shows one image; name a file in .json, and "
            "nanobragg view MASTER.h5 page.html -frames 0 15 shows frames",
            cfg->report_file);
    if (cfg->draws_file[0])
        return nb_series_draws(cfg, series, hooks, err);
    memset(&run, 0, sizeof run);
    run.series = series;
    run.ranks = series->calls.ranks;
    run.place = nb_ranks_place(run.ranks);
    if (hooks)
        run.hooks = *hooks;
    run.begun.fd = -1;
    pthread_mutex_init(&run.lock, NULL);
    pthread_mutex_init(&run.hook_lock, NULL);
    pthread_cond_init(&run.moved, NULL);
    pthread_cond_init(&run.ended, NULL);
    run.start = nb_monotonic_seconds();
    notice_alone(&run);
    if (series->input[0])
        st = open_input(&run, &cfg, err);
    NB_TRY(set_up(&run, cfg, err));
    if (!st && series->calls.begin && run.place.rank == 0)
        series->calls.begin(series->calls.user, run.base);
    NB_TRY(run_all(&run, err));
    run.progress.seconds = nb_monotonic_seconds() - run.start;
    if (result)
        *result = run.progress;
    tear_down(&run, st);
    return st;
}
