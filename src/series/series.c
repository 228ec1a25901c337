/* SPDX-License-Identifier: MIT */
/* nb_series_run: set up, run, write the master, tidy. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../sim/shade.h"
#include "../sim/advice.h"
#include "../sim/factors.h"
#include "../sim/light.h"
#include "../sim/load.h"
#include "../sim/noise.h"
#include "../sim/report.h"
#include "../base/c_locale.h"
#include "../base/cpu.h"
#include "../sim/write.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "../render/choose.h"
#include "earlier.h"
#include "files.h"
#include "master.h"
#include "page.h"
#include "frame.h"
#include "record.h"
#include "run.h"
#include "stream.h"
#include "threads.h"

enum { PER_FILE = 100 };

/** Values that rank 0 decides first. */
typedef struct beginning {
    int64_t seed;
    int per_block;    /* frames of a data file, or of a share of numbered files */
    uint64_t earlier; /* the fingerprint of the run to resume; 0: there is none */
} beginning;

/** The same number of blocks for each process, of at most PER_FILE frames. */
static int fair_block(const nb_series *s, int frames, int ranks)
{
    int each = (frames + ranks - 1) / ranks, rounds = (each + PER_FILE - 1) / PER_FILE;
    if (ranks == 1)
        return frames < PER_FILE ? frames : PER_FILE;
    if (!s->hdf5_file[0]) /* large ones have no advantage */
        rounds *= 4;
    return (frames + ranks * rounds - 1) / (ranks * rounds);
}

/** The same as in the run to resume; else as requested. */
static beginning resolve(const nb_run *run, const nb_config *cfg)
{
    const nb_series *s = run->series;
    int first, frames = nb_series_part(s, &first), ranks = nb_ranks_count(run->ranks);
    nb_journal_key key = {0};
    beginning b;
    int earlier = s->resume && ((s->hdf5_file[0] && nb_hdf5_sink_key(s, frames, &key)) ||
                                (s->output[0] && nb_file_sink_key(s, &key)));
    b.earlier = earlier ? key.fingerprint : 0;
    b.seed = cfg->seed.set ? cfg->seed.value : earlier ? key.seed : nb_seed_from_clock();
    b.per_block = frames > 0 ? fair_block(s, frames, ranks) : 1; /* 0: refused later */
    if (earlier && key.per_file > 0 && key.per_file <= frames)
        b.per_block = (int)key.per_file;
    if (s->frames_per_file > 0)
        b.per_block = s->frames_per_file < frames ? s->frames_per_file : frames;
    return b;
}

static nb_status create_base(nb_run *run, const nb_config *cfg, const beginning *b,
                             nb_error *err)
{
    nb_config first = *cfg;
    int from, frames = nb_series_part(run->series, &from);
    nb_status st;
    first.device_alone = 0; /* its renderers are several */
    first.seed.set = 1;
    first.seed.value = b->seed;
    first.expand_list = nb_vary_changes_F(run->series->vary);
    st = nb_sim_create_for(&first, frames / nb_ranks_count(run->ranks), &run->hooks,
                           &run->base, err);
    if (!st)
        st = nb_frames_init(&run->frames, run->series, run->base, err);
    if (!st)
        st = nb_frames_widen_factors(&run->frames, run->base, err);
    if (!st)
        nb_frames_narrow(&run->frames);
    return st;
}

/** One thread for each processor; the processes of a host divide the processors. Not more
 * threads than frames, or than the memory allows. */
static void choose_threads(nb_run *run)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES);
    int asked = run->base->cfg.threads, here = nb_ranks_local_count(run->ranks);
    int all = asked > 0           ? nb_threads_of(&run->base->cfg)
              : processors > here ? (int)processors / here
                                  : 1;
    double pixels = (double)run->layout.fast * run->layout.slow;
    double room = (double)pages * (double)sysconf(_SC_PAGESIZE) / 2 / (pixels * 32) / here;
    run->threads = all < run->frames.count ? all : run->frames.count;
    if (pages > 0 && run->threads > room)
        run->threads = room > 1 ? (int)room : 1;
    run->threads_each = all / run->threads;
    nb_light_store_let(run->base->in.lights, all);
    run->window = 2 * run->threads + 2;
}

static nb_status open_pool(nb_run *run, nb_error *err)
{
    nb_sim *base = run->base;
    nb_pool_devices devices = {-1, 0, run->threads};
    int each = 1;
    char more[32];
    if (base->engine.backend->device) {
        nb_device asked;
        each = nb_pool_renderers(base, run->threads);
        (void)nb_backend_of(base->cfg.device, &asked);
        devices = nb_pool_devices_of(&asked, base->engine.backend->device->count(),
                                     nb_ranks_local_rank(run->ranks),
                                     nb_ranks_local_count(run->ranks));
        /* an image that failed there is an error, not another renderer's */
        snprintf(base->cfg.device, sizeof base->cfg.device, "%s",
                 base->engine.backend->name);
        if (devices.count > 1) {
            snprintf(more, sizeof more, "; %d devices", devices.count);
            strncat(run->progress.backend, more,
                    sizeof run->progress.backend - strlen(run->progress.backend) - 1);
        }
    }
    return nb_pool_open(&run->pool, base->engine.backend, devices, each, err);
}

/** Rank 0 locks the HDF5 files of the series for this run, before any process opens them. */
static nb_status begin_hdf5(nb_run *run, const nb_journal_key *key, nb_error *err)
{
    nb_status st = NB_OK;
    if (!run->series->hdf5_file[0])
        return NB_OK;
    if (nb_ranks_rank(run->ranks) == 0)
        st = nb_hdf5_sink_begin(&run->hdf5, run->series, key, err);
    nb_ranks_share(run->ranks, &run->hdf5.fresh, sizeof run->hdf5.fresh);
    return nb_ranks_agree(run->ranks, st, err);
}

static nb_status open_sinks(nb_run *run, nb_journal_key key, nb_error *err)
{
    const nb_series *s = run->series;
    int first = nb_ranks_rank(run->ranks) == 0;
    nb_journal_key of_files = key;
    nb_status st = NB_OK;
    of_files.per_file = 0;
    if (s->output[0])
        st = nb_file_sink_open(&run->files, s, run->frames.count,
                               first ? &of_files : NULL, err);
    run->hdf5.part = nb_ranks_rank(run->ranks);
    run->hdf5.parts = nb_ranks_count(run->ranks);
    if (!st && s->hdf5_file[0])
        st = nb_hdf5_sink_open(&run->hdf5, s, run->frames.count, &run->layout, &key, err);
    if (!st && s->hdf5_file[0] && first)
        st = nb_spool_open(&run->truth, s->hdf5_file, err);
    return st;
}

/** The frames that any process found finished. */
static void merge_finished(nb_run *run)
{
    size_t n = (size_t)run->frames.count;
    if (run->files.done)
        nb_ranks_merge(run->ranks, run->files.done, n);
    if (run->hdf5.done)
        nb_ranks_merge(run->ranks, run->hdf5.done, n);
    if (run->hdf5.lists)
        nb_ranks_merge(run->ranks, run->hdf5.lists, n * sizeof *run->hdf5.lists);
    if (run->hdf5.facts)
        nb_ranks_merge(run->ranks, run->hdf5.facts, n * sizeof *run->hdf5.facts);
    if (run->files.facts)
        nb_ranks_merge(run->ranks, run->files.facts, n * sizeof *run->files.facts);
}

static nb_status allocate(nb_run *run, nb_error *err)
{
    nb_status st = NB_OK;
    run->slots = nb_alloc((size_t)run->window, sizeof *run->slots, "frames", err);
    if (!run->slots)
        return NB_ERR_NOMEM;
    for (int i = 0; !st && run->hdf5.done && i < run->window; i++) {
        run->slots[i].room = nb_hdf5_chunk_bound(&run->layout) + NB_RECORD_MORE;
        run->slots[i].chunk = nb_alloc_raw(run->slots[i].room, 1, "frame", err);
        st = run->slots[i].chunk ? NB_OK : NB_ERR_NOMEM;
    }
    return st;
}

/** What of the detector DIALS cannot read from the files. */
static void notice_lost(const nb_run *run)
{
    nb_template name;
    if (run->series->output[0] && !nb_template_of(run->series, &name, NULL) &&
        name.format->header)
        nb_notice_lost(run->base, &run->hooks, name.format->header);
    if (run->series->hdf5_file[0])
        nb_notice_material(&run->base->model, &run->hooks);
}

/** Note how many pixels of the first given image are below 0: their counts are 0. */
static void notice_below(const nb_run *run)
{
    const size_t n = run->base->model.scene.raster.pixels;
    float *image = nb_alloc_large(n, sizeof *image, "image", NULL);
    size_t below = 0;
    if (image && !nb_given_frame(run->given, 0, run->base, image, NULL))
        for (size_t i = 0; i < n; i++)
            below += image[i] < 0;
    nb_free(image);
    if (below)
        nb_notice(&run->hooks,
                  "%.3g %% of the pixels of the first image are below 0, and count as 0; "
                  "type -pedestal, the value of a pixel without photons",
                  100 * (double)below / (double)n);
}

/** What of the noise may surprise. */
static void notice_noise(const nb_run *run)
{
    const nb_config *cfg = &run->base->cfg;
    int hdf5 = run->series->hdf5_file[0] && run->layout.type != NB_HDF5_F32;
    nb_template name = {0};
    int files = run->series->output[0] && !nb_template_of(run->series, &name, NULL);
    nb_pixel_type pixel =
        files ? nb_format_writer(name.format, cfg->tiff_bits)->pixel : NB_PIXEL_ANY;
    int counts = pixel == NB_PIXEL_I32, narrow = pixel == NB_PIXEL_U16;
    double offset = cfg->adc_set || narrow ? cfg->adc_offset : 0;
    if (offset != 0 && cfg->adc_set && cfg->write_noise && (hdf5 || counts))
        nb_notice(&run->hooks, "-adc %g is added to the pixels of %s%s%s, too",
                  cfg->adc_offset, counts ? name.format->name : "",
                  hdf5 && counts ? " and " : "", hdf5 ? "HDF5" : "");
    if (narrow || (hdf5 && run->layout.type == NB_HDF5_U16))
        nb_notice_readout(&run->base->model.settings, &run->hooks, offset);
    if (run->given && !cfg->nopoisson && nb_ranks_rank(run->ranks) == 0 &&
        (hdf5 || (files && pixel != NB_PIXEL_F32)))
        notice_below(run);
}

/** Note that all stills have the same orientation. */
static void notice_turned(const nb_run *run)
{
    static const char *const turn[] = {"misset_", "rot_", "phi"};
    const nb_series *s = run->series;
    const nb_vary *v = &run->frames.vary;
    int turned = s->orientations[0] || s->override || run->given ||
                 run->frames.base.misset_mode == NB_MISSET_RANDOM;
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < 3; k++)
            turned |= !strncmp(nb_vary_named(v, i), turn[k], strlen(turn[k]));
    if (s->stills > 1 && !turned)
        nb_notice(&run->hooks,
                  "-stills %d: every shot has the same orientation; type -orientations "
                  "random for another one each",
                  s->stills);
}

/** Numbered files that hold one panel. */
static nb_status check_panels(const nb_run *run, nb_error *err)
{
    const int n = run->base->model.scene.n_panels;
    nb_template name;
    if (n == 1 || !run->series->output[0] || nb_template_of(run->series, &name, NULL) ||
        name.format->any_panels)
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-output %.200s: such a file holds one panel, but the detector has %d; "
        "write -hdf5 FILE",
        run->series->output, n);
}

/** All preparations without files. */
static nb_status prepare(nb_run *run, const nb_config *cfg, const beginning *b,
                         nb_error *err)
{
    nb_panel_canvas canvas;
    nb_status st = create_base(run, cfg, b, err);
    if (!st && run->given)
        st = nb_given_prepare(run->given, run->base, err);
    if (st || (st = check_panels(run, err)) ||
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
    if ((st = nb_series_check_page_frames(run->base, run->series, run->frames.count, err)))
        return st;
    nb_sim_times(run->base, &run->progress.times);
    run->progress.seed = run->frames.base.seed.value;
    memcpy(run->progress.backend, run->base->engine.line, sizeof run->progress.backend);
    choose_threads(run);
    if (nb_ranks_rank(run->ranks) == 0 &&
        (st = nb_frames_survey(&run->frames, run->base, err)))
        return st;
    if (nb_ranks_rank(run->ranks) == 0 && (st = nb_run_stream_check(run, err)))
        return st;
    if (run->frames.moving && run->frames.places_differ)
        nb_notice(&run->hooks, "-jobs moves the detector: the master has the geometry of "
                               "each frame, but DIALS uses that of the first frame for "
                               "all frames; for DIALS use -output 'img_%%05d.cbf'");
    notice_lost(run);
    notice_noise(run);
    notice_turned(run);
    run->dealer.frames = run->frames.count;
    run->dealer.per_block = b->per_block;
    run->finished = nb_alloc((size_t)run->frames.count, 1, "frames", err);
    st = run->finished ? open_pool(run, err) : NB_ERR_NOMEM;
    return st ? st : nb_talk_open(run, err);
}

/** What clipped pixels of the files hold. */
static void find_largest(nb_run *run)
{
    nb_clipped *output = &run->progress.clipped_output,
               *hdf5 = &run->progress.clipped_hdf5;
    const nb_format *format = run->files.name.format; /* NULL: no -output */
    if (format)
        output->file =
            nb_frame_file_noise(nb_format_writer(format, run->base->cfg.tiff_bits));
    hdf5->file = nb_frame_hdf5_noise(run->layout.type);
    output->largest = nb_sim_noise_largest(run->base, output->file);
    hdf5->largest = nb_sim_noise_largest(run->base, hdf5->file);
}

/** Files, memory, and the frames that an earlier run finished. */
static nb_status open_all(nb_run *run, nb_journal_key key, int dump, nb_error *err)
{
    nb_status st = open_sinks(run, key, err);
    find_largest(run);
    if (!st)
        st = allocate(run, err);
    if (!st && run->base->cfg.sum_file[0])
        st = nb_sum_open(&run->sum, run->base->model.scene.raster.pixels, err);
    if (!st && run->series->resume)
        st = nb_earlier_check_inputs(run, err);
    if (!st && nb_ranks_rank(run->ranks) == 0)
        st = nb_sim_write_dumps(run->base, dump, err);
    if (!st && nb_ranks_rank(run->ranks) == 0)
        st = nb_sim_write_detector(
            run->base, run->series->hdf5_file[0] ? run->series->hdf5_file : NULL,
            run->frames.rotation ? run->series->frames : 0, err);
    if (!st)
        st = nb_experiments_open(run, err);
    if (!st && nb_ranks_rank(run->ranks) == 0)
        st = nb_sim_write_spectrum(run->base, err);
    return nb_ranks_agree(run->ranks, st, err);
}

static nb_status set_up(nb_run *run, const nb_config *cfg, nb_error *err)
{
    nb_journal_key key = {0};
    beginning b = {0};
    nb_status st = NB_OK;
    if (nb_ranks_rank(run->ranks) == 0) {
        b = resolve(run, cfg);
        st = nb_series_check_files(cfg, run->series, b.per_block, err);
    }
    if ((st = nb_ranks_agree(run->ranks, st, err)))
        return st;
    nb_ranks_share(run->ranks, &b, sizeof b);
    if ((st = nb_ranks_agree(run->ranks, prepare(run, cfg, &b, err), err)) ||
        (st = nb_earlier_fingerprint(run, b.earlier, &key.fingerprint, err)))
        return st;
    key.seed = run->frames.base.seed.value;
    key.per_file = b.per_block;
    if ((st = begin_hdf5(run, &key, err)) ||
        (st = open_all(run, key, cfg->dump_file[0] != '\0', err)))
        return st;
    merge_finished(run);
    if (nb_ranks_rank(run->ranks) == 0)
        nb_earlier_notice_stale(run);
    return NB_OK;
}

/** After an error: make the frames so far readable; a failure of this is not another error. */
static void save_part(nb_run *run)
{
    int readable;
    if (!run->hdf5.done || run->given)
        return;
    readable = nb_hdf5_sink_there(&run->hdf5, nb_talk_readable(run));
    if (readable > 0)
        (void)nb_master_write(run, readable, NULL);
}

/** Rank 0 writes the master of the finished frames, and their experiments. */
static nb_status finish(nb_run *run, nb_status st, nb_error *err)
{
    if (st)
        save_part(run);
    if (!st && run->hdf5.done)
        st = nb_master_write(run, run->frames.count, err);
    if (!st && run->hdf5.done)
        st = nb_run_stream_write(run, err);
    return st ? st : nb_experiments_write(run, err);
}

/** When no frame has a photon. */
static void say_dark(const nb_run *run)
{
    const nb_stats none = {.rendered = 1};
    if (nb_ranks_rank(run->ranks) > 0 || run->progress.max > 0)
        return;
    if (run->given)
        nb_notice(&run->hooks, "the input has no photons: its pixels are 0 or below");
    else
        nb_say_dark(run->base, &none);
}

static void stop_with(nb_run *run, int frame, nb_status st, const nb_error *err)
{
    pthread_mutex_lock(&run->lock);
    nb_run_stop_with(run, frame, st, err);
    pthread_mutex_unlock(&run->lock);
}

/** For the last data file. */
static void wait_for_files(nb_run *run)
{
    nb_error err = {0};
    int first;
    nb_status st = run->hdf5.done ? nb_hdf5_sink_wait(&run->hdf5, &first, &err) : NB_OK;
    if (st)
        stop_with(run, first, st, &err);
}

/** The sum of the frames of all processes, when all of them are made and know it. */
static nb_status finish_sum(nb_run *run, nb_error *err)
{
    nb_status st = run->sum.pixel ? nb_sum_join(&run->sum, run->ranks, err) : NB_OK;
    if (run->sum.pixel && !st && nb_ranks_rank(run->ranks) == 0)
        st = nb_sum_write(&run->sum, run->base->cfg.sum_file, err);
    return run->sum.pixel ? nb_ranks_agree(run->ranks, st, err) : st;
}

/** Make the frames, and end together with the other processes. */
static nb_status run_all(nb_run *run, nb_error *err)
{
    nb_error own = {0};
    nb_status st;
    int block = -1, partial = 0;
    nb_sim_say_long(run->base, run->frames.count);
    st = nb_threads_run(run, &own);
    if (st)
        stop_with(run, 0, st, &own);
    wait_for_files(run);
    if (run->hdf5.done && atomic_load(&run->stop) && !run->given)
        partial = nb_hdf5_sink_partial(&run->hdf5, &block);
    nb_talk_end(run, block, partial);
    st = nb_run_outcome(run, err);
    if (nb_ranks_rank(run->ranks) == 0)
        st = finish(run, st, err);
    if (!st) {
        say_dark(run);
        if (nb_ranks_rank(run->ranks) == 0)
            st = nb_is_page(run->base->cfg.report_file)
                     ? nb_series_page(run->base, run->series, &run->progress, err)
                     : nb_report_write_series(run->base, run->series, &run->progress, err);
    }
    st = nb_talk_result(run, st, err);
    return st ? st : finish_sum(run, err);
}

/** Under mpirun without `ranks`: each process makes all frames, which is right only for different
 * series. */
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

/** Without its master nothing of an unfinished series of given images stays: nobody could go on with it. */
static void remove_data(const nb_run *run)
{
    const nb_hdf5_sink *s = &run->hdf5;
    char path[NB_PATH_MAX];
    for (int first = 0; s->done && first < s->frames; first += s->per_file) {
        int last = first + s->per_file < s->frames ? first + s->per_file : s->frames;
        if (memchr(run->finished + first, 0, (size_t)(last - first)))
            continue;
        nb_hdf5_sink_data_path(s->stem, first / s->per_file, path);
        (void)unlink(path);
    }
}

/** What becomes of the records of finished frames. */
static nb_end end_of(const nb_run *run, nb_status st)
{
    if (!st || run->given)
        return NB_END_DONE;
    return run->progress.done == 0 ? NB_END_UNUSED : NB_END_LATER;
}

static void tear_down(nb_run *run, nb_end end)
{
    for (int i = 0; run->slots && i < run->window; i++)
        nb_free(run->slots[i].chunk);
    nb_free(run->slots);
    nb_spool_close(&run->truth);
    nb_experiments_close(&run->experiments);
    nb_sum_close(&run->sum);
    nb_talk_close(run);
    nb_free(run->finished);
    nb_file_sink_close(&run->files, end);
    nb_hdf5_sink_close(&run->hdf5, end);
    nb_pool_close(&run->pool);
    nb_frames_free(&run->frames);
    nb_sim_free(run->base);
    nb_given_free(run->given);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->hook_lock);
    pthread_mutex_destroy(&run->book_lock);
    pthread_cond_destroy(&run->moved);
}

/** Images that are given: they say how many frames there are, and where the detector stands. */
static nb_status open_input(nb_run *run, const nb_config **cfg, nb_error *err)
{
    nb_status st = nb_given_open(*cfg, run->series, &run->hooks, &run->given, err);
    if ((st = nb_ranks_agree(run->ranks, st, err)))
        return st;
    run->series = &run->given->series;
    *cfg = &run->given->cfg;
    return NB_OK;
}

nb_status nb_series_run(const nb_config *cfg, const nb_series *series,
                        const nb_hooks *hooks, nb_series_progress *result, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && series);
    nb_run run;
    nb_status st = nb_series_check(series, err);
    if (!st)
        st = nb_series_check_part(cfg, series, err);
    if (st)
        return st;
    if ((st = nb_series_check_page(cfg, series, err)))
        return st;
    if (cfg->draws_file[0])
        return nb_series_draws(cfg, series, hooks, err);
    memset(&run, 0, sizeof run);
    run.series = series;
    run.ranks = series->ranks;
    if (hooks)
        run.hooks = *hooks;
    run.files.record.fd = run.hdf5.block.journal.fd = run.hdf5.maker.block.journal.fd =
        run.hdf5.series.fd = run.truth.fd = -1;
    pthread_mutex_init(&run.lock, NULL);
    pthread_mutex_init(&run.hook_lock, NULL);
    pthread_mutex_init(&run.book_lock, NULL);
    pthread_cond_init(&run.moved, NULL);
    run.start = nb_monotonic_seconds();
    notice_alone(&run);
    if (series->input[0])
        st = open_input(&run, &cfg, err);
    if (!st)
        st = set_up(&run, cfg, err);
    if (!st && series->begin && nb_ranks_rank(series->ranks) == 0)
        series->begin(series->user, run.base);
    if (!st)
        st = run_all(&run, err);
    run.progress.seconds = nb_monotonic_seconds() - run.start;
    if (result)
        *result = run.progress;
    if (st && run.given && run.finished && nb_ranks_rank(run.ranks) == 0)
        remove_data(&run);
    tear_down(&run, end_of(&run, st));
    return st;
}
