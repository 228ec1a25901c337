/* SPDX-License-Identifier: MIT */
/* Series by the library, where tests of the program cannot reach. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/sim.h"
#include "base/error.h"
#include "base/memory.h"
#include "io/hdf5/hdf5_chunk.h"
#include "nanobragg.h"
#include "scratch.h"
#include "render/backend.h"
#include "sim/sim.h"
#include "series/work.h"

static nb_config small(void)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.cell_count = 1;
    cfg.cell[0] = 80;
    cfg.default_F = 100;
    cfg.N[0] = cfg.N[1] = cfg.N[2] = 5;
    cfg.detpixels[0] = 24;
    cfg.detpixels[1] = 16;
    cfg.pixel_mm = 2;
    cfg.osc_deg = 0.5;
    cfg.seed = (nb_seed){1, 3};
    cfg.threads = 3;
    return cfg;
}

/** Calls that the callbacks counted, and the frames at which they stop or fail. */
typedef struct watcher {
    int calls, last, stop_at, fail_at;
    int later; /* 1: fails only at the second call, after the check of all frames */
} watcher;

static int watch(void *user, const nb_series_progress *p)
{
    watcher *w = user;
    assert_int_equal(p->done, w->last + 1); /* each frame is reported once, in order */
    w->last = p->done;
    w->calls++;
    return p->done == w->stop_at;
}

static nb_status change(void *user, int frame, nb_config *cfg, nb_error *err)
{
    watcher *w = user;
    (void)err;
    if (w->fail_at && frame == w->fail_at && w->later-- <= 0)
        cfg->fluence = -1; /* refused */
    return NB_OK;
}

static nb_series to_floats(void **state, watcher *w, int frames)
{
    nb_series series = nb_test_series();
    series.frames = frames;
    series.calls.user = w;
    series.calls.progress = watch;
    series.calls.override = change;
    nb_put_text(&series.output, "%s", scratch_path(*state, "f_%d.bin"));
    return series;
}

SCRATCH_TEST(every_frame_is_told)
{
    nb_config cfg = small();
    watcher w = {0};
    nb_series series = to_floats(state, &w, 20);
    nb_series_progress result;
    nb_error err = {0};
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_OK);
    assert_int_equal(w.calls, 20);
    assert_int_equal(result.done, 20);
    assert_int_equal(result.kept, 0);
    assert_int_equal(result.bytes, 20 * 24 * 16 * 4);
    assert_int_equal(result.seed, 3);
    assert_int_equal(scratch_count(*state, 0), 20);
}

SCRATCH_TEST(a_stopped_series_goes_on)
{
    nb_config cfg = small();
    watcher w = {0};
    nb_series series = to_floats(state, &w, 20);
    nb_series_progress result;
    nb_error err = {0};
    w.stop_at = 5;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_ERR_CANCELLED);
    assert_non_null(strstr(err.message, "-resume"));
    assert_true(result.done >= 5 && result.done < 20);
    series.resume = 1;
    series.calls.progress = NULL;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_OK);
    assert_true(result.kept >= 5 && result.kept < 20);
    assert_int_equal(result.done, 20);
    assert_int_equal(scratch_count(*state, 0), 20);
}

SCRATCH_TEST(a_frame_that_fails_stops_the_series)
{
    nb_config cfg = small();
    watcher w = {0};
    nb_series series = to_floats(state, &w, 20);
    nb_series_progress result;
    nb_error err = {0};
    w.fail_at = 7;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "frame 8: -fluence"));
    assert_int_equal(result.done, 0); /* all frames are checked first */
    assert_int_equal(scratch_count(*state, 0), 0);
    w.later = 1;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-fluence"));
    assert_int_equal(result.done, 7); /* the frames before frame 8 exist */
}

/** The processes of a host, one or several, together use all its devices. */
UNIT_TEST(devices_are_shared)
{
    const nb_device all = {-1, 1}, any = {-1, 0}, second = {1, 0};
    nb_pool_devices d = nb_pool_devices_of(&all, 4, 0, 1);
    nb_pool pool;
    nb_error err = {0};
    assert_true(d.first == 0 && d.step == 1 && d.count == 4);
    d = nb_pool_devices_of(&all, 5, 1, 2);
    assert_int_equal(nb_pool_open(&pool, &nb_backend_scalar, d, 2, &err), NB_OK);
    assert_int_equal(pool.count, 4);
    assert_int_equal(pool.all[0].device, 1);
    assert_int_equal(pool.all[1].device, 3);
    assert_int_equal(pool.all[2].device, 1);
    assert_int_equal(pool.all[3].device, 3);
    nb_pool_close(&pool);
    d = nb_pool_devices_of(&all, 1, 0, 1);
    assert_true(d.first == 0 && d.count == 1);
    d = nb_pool_devices_of(&all, 2, 2, 3);
    assert_true(d.first == 0 && d.count == 1);
    d = nb_pool_devices_of(&any, 2, 3, 4);
    assert_true(d.first == 1 && d.count == 1);
    d = nb_pool_devices_of(&any, 2, 0, 1);
    assert_true(d.first == -1 && d.count == 1);
    d = nb_pool_devices_of(&second, 2, 0, 4);
    assert_true(d.first == 1 && d.count == 1);
}

static double seconds_of_frame;

static double slow_estimate(const nb_scene *scene, const nb_render_options *options,
                            char *why, size_t size)
{
    (void)scene;
    snprintf(why, size, "test");
    return 1 + options->images * seconds_of_frame;
}

/** Short frames share an accelerator as far as threads and memory allow. */
UNIT_TEST(short_frames_share_a_device)
{
    nb_config cfg = small();
    nb_backend device = nb_backend_scalar;
    nb_error err = {0};
    nb_sim *sim;
    device.estimate = slow_estimate;
    nb_put_text(&cfg.device, "cpu");
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    sim->engine.backend = &device;
    seconds_of_frame = 0.001;
    assert_int_equal(nb_pool_renderers(sim, 16), 5);
    assert_int_equal(nb_pool_renderers(sim, 2), 2);
    sim->cfg.psf = NB_PSF_FIBRE;
    assert_int_equal(nb_pool_renderers(sim, 16), 1);
    sim->cfg.psf = NB_PSF_GAUSS;
    sim->model.scene.raster.pixels = 4096 * 4096;
    assert_int_equal(nb_pool_renderers(sim, 16), 4);
    sim->model.scene.raster.pixels = (size_t)16384 * 16384;
    assert_int_equal(nb_pool_renderers(sim, 16), 1);
    sim->model.scene.raster.pixels = 24 * 16;
    seconds_of_frame = 1;
    assert_int_equal(nb_pool_renderers(sim, 16), 1);
    sim->engine.backend = &nb_backend_scalar;
    nb_sim_free(sim);
}

static int opens_to_fail;

static nb_status narrow_open(const nb_render_options *options, nb_backend_state **state,
                             nb_error *err)
{
    if (opens_to_fail-- > 0)
        return nb_fail(err, NB_ERR_DEVICE, "no room");
    return nb_backend_scalar.open(options, state, err);
}

/** A renderer that lacks memory leaves its frames to the other renderers of the device.
 * If all lack memory, the error of the last renderer counts. */
UNIT_TEST(renderers_without_room_are_closed)
{
    nb_config cfg = small();
    nb_backend narrow = nb_backend_scalar;
    float image[24 * 16];
    const nb_rendering wanted = {.image = image};
    nb_sim *sim;
    nb_pool pool;
    nb_error err = {0};
    narrow.open = narrow_open;
    nb_put_text(&cfg.device, "cpu");
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    sim->engine.backend = &narrow;
    assert_int_equal(nb_pool_open(&pool, &narrow, (nb_pool_devices){0, 1, 1}, 3, &err),
                     NB_OK);
    opens_to_fail = 2;
    assert_int_equal(nb_pool_render(&pool, sim, &wanted, &err), NB_OK);
    assert_true(pool.all[0].closed && pool.all[1].closed && !pool.all[2].closed);
    narrow.close(pool.all[2].state);
    pool.all[2].state = NULL;
    opens_to_fail = 1;
    assert_int_equal(nb_pool_render(&pool, sim, &wanted, &err), NB_ERR_DEVICE);
    assert_string_equal(err.message, "no room");
    assert_int_equal(nb_pool_render(&pool, sim, &wanted, &err), NB_OK);
    nb_pool_close(&pool);
    nb_sim_free(sim);
}

UNIT_TEST(seeds_are_distinct)
{
    assert_int_equal(nb_series_seed(11, 0), 11);
    for (int i = 0; i < 300; i++) {
        assert_true(nb_series_seed(11, i) >= 0 && nb_series_seed(11, i) < (int64_t)1
                                                                              << 53);
        assert_true(nb_series_seed(11, i + 1) != nb_series_seed(12, i));
        for (int j = 0; j < i; j++)
            assert_true(nb_series_seed(11, i) != nb_series_seed(11, j));
    }
}

UNIT_TEST(templates)
{
    char name[NB_PATH_MAX];
    nb_template t;
    assert_int_equal(nb_template_parse("a%%b/x_%04d.v1.CBF", &t, NULL), NB_OK);
    assert_ptr_equal(t.format, &nb_format_cbf);
    assert_int_equal(nb_template_name(&t, 37, name, NULL), NB_OK);
    assert_string_equal(name, "a%b/x_0037.v1.CBF");
    assert_int_equal(nb_template_name(&t, 123456, name, NULL), NB_OK);
    assert_string_equal(name, "a%b/x_123456.v1.CBF");
    assert_int_equal(nb_template_parse("x_%n.img", &t, NULL), NB_ERR_INPUT);
    assert_int_equal(nb_template_parse("x_%5s.img", &t, NULL), NB_ERR_INPUT);
    assert_int_equal(nb_template_parse("x_%999d.img", &t, NULL), NB_ERR_INPUT);
    assert_int_equal(nb_template_parse("x_%", &t, NULL), NB_ERR_INPUT);
    assert_int_equal(nb_template_parse("%d", &t, NULL), NB_ERR_INPUT);
}

UNIT_TEST(name_of_one_frame)
{
    nb_series s = nb_test_series();
    char name[NB_PATH_MAX];
    nb_template t;
    s.stills = 1;
    nb_put_text(&s.output, "a.v1.cbf");
    assert_int_equal(nb_template_of(&s, &t, NULL), NB_OK);
    assert_int_equal(nb_template_name(&t, 1, name, NULL), NB_OK);
    assert_string_equal(name, "a.v1.cbf");
    s.stills = 2;
    assert_int_equal(nb_template_of(&s, &t, NULL), NB_ERR_INPUT);
}

static nb_status begin(nb_begun *b, scratch *s, int64_t seed, int resume, nb_error *err)
{
    const nb_series_key key = {.fingerprint = 5, .seed = seed, .per_file = 4};
    char path[NB_PATH_MAX];
    snprintf(path, sizeof path, "%s", scratch_path(s, "s"));
    memset(b, 0, sizeof *b);
    return nb_begun_open(b, path, &key, 0, resume, err);
}

/** With the file of a series, the same series can be resumed or joined, but another
 * series is refused. */
SCRATCH_TEST(the_file_of_a_series)
{
    nb_begun a, b;
    nb_error err = {0};
    assert_int_equal(begin(&a, *state, 1, 1, &err), NB_OK);
    assert_true(a.is_new && !a.joined);
    nb_begun_share(&a);
    for (int resume = 0; resume < 2; resume++) {
        assert_int_equal(begin(&b, *state, 1, resume, &err), NB_OK);
        assert_true(b.joined && !b.is_new);
        nb_begun_remove(&b, 1); /* another process is at work */
        assert_int_equal(begin(&b, *state, 2, resume, &err), NB_ERR_INPUT);
        assert_non_null(strstr(err.message, "another run"));
    }
    nb_begun_close(&a);
    for (int cut = 0; cut <= 40; cut++) { /* killed during the write */
        assert_int_equal(begin(&a, *state, 1, 0, &err), NB_OK);
        nb_begun_close(&a);
        assert_int_equal(truncate(scratch_path(*state, "s"), cut), 0);
        /* a file with only its head looks like a file of another version */
        if (begin(&b, *state, 1, 1, &err))
            assert_true(cut >= 8 && cut < 40);
        else
            assert_int_equal(b.is_new, cut < 40);
        nb_begun_close(&b);
    }
    assert_int_equal(begin(&a, *state, 2, 1, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "other flags"));
    assert_int_equal(begin(&a, *state, 2, 0, &err), NB_OK);
    assert_true(a.is_new);
    nb_begun_remove(&a, 1);
    assert_int_equal(scratch_count(*state, 0), 0);
}

/** One writer at a time holds the temporary file of a block. The next writer empties the
 * file of a writer that ended. */
SCRATCH_TEST(claims)
{
    char path[NB_PATH_MAX], temp[NB_PATH_MAX + 8];
    nb_outfile a, b;
    nb_error err = {0};
    int no_locks;
    FILE *left;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "x"));
    snprintf(temp, sizeof temp, "%s", scratch_path(*state, ".x.part"));
    left = fopen(temp, "w");
    assert_true(left && fputs("of a dead process", left) >= 0 && !fclose(left));
    assert_int_equal(nb_outfile_claim(&a, path, &no_locks, &err), NB_OK);
    assert_true(a.fd >= 0 && strcmp(a.temp, temp) == 0);
    assert_int_equal(nb_outfile_claim(&b, path, &no_locks, &err), NB_OK);
    assert_true(b.fd < 0 && !no_locks);
    assert_int_equal(nb_outfile_write(&a, "mine", 4, &err), NB_OK);
    assert_int_equal(nb_outfile_commit_durably(&a, &err), NB_OK);
    left = fopen(path, "r");
    assert_true(left && fscanf(left, "%8s", temp) == 1 && !fclose(left));
    assert_string_equal(temp, "mine");
    assert_int_equal(nb_outfile_claim(&b, path, &no_locks, &err), NB_OK);
    assert_true(b.fd >= 0);
    nb_outfile_abort(&b);
    assert_int_equal(scratch_count(*state, 0), 1);
}

/** Takes a frame of 8 x 8 pixels and writes it. *full: the frame's block if complete. */
static nb_status next_frame(nb_work *w, int frame, nb_block **full, nb_error *err)
{
    static unsigned char chunk[128];
    nb_slot slot = {.chunk = chunk, .chunk_bytes = sizeof chunk};
    nb_status st = nb_work_take(w, &slot, err);
    if (st)
        return st;
    assert_int_equal(slot.frame, frame);
    slot.truth.phi_deg = frame;
    return nb_work_add(w, &slot, full, err);
}

/** A data file that has been open for five minutes is closed. The remaining frames go to
 * another data file. */
SCRATCH_TEST(old_data_files_end_early)
{
    nb_series series = nb_test_series();
    nb_work w = {.data.layout = {8, 8, NB_HDF5_U16, NB_COMPRESS_NONE, 0, 0},
                 .data.key.per_file = 5};
    nb_pieces pieces;
    nb_hdf5_frame truth;
    nb_block *full = NULL;
    nb_error err = {0};
    char path[NB_PATH_MAX];
    series.stills = series.frames_per_file = 5;
    nb_put_text(&series.hdf5_file, "%s", scratch_path(*state, "s.h5"));
    assert_int_equal(nb_work_open(&w, &series, 2, &err), NB_OK);
    for (int k = 0; k < 5; k++) {
        assert_null(full);
        if (next_frame(&w, k, &full, &err) == NB_ERR_UNSUPPORTED) {
            print_message("# skipped: no HDF5 in this build\n");
            skip();
        }
        if (k == 1)
            w.writing->since -= 301;
        assert_int_equal(nb_work_end_old(&w, &err), NB_OK);
    }
    assert_non_null(full);
    assert_int_equal(nb_block_end(full, &err), NB_OK);
    full->number = -1;
    assert_int_equal(nb_work_pieces(&w, &pieces, &err), NB_OK);
    assert_int_equal(pieces.n, 2);
    assert_int_equal(pieces.all[1].first, 2);
    assert_int_equal(pieces.all[2].first, 5);
    nb_work_data_path(w.stem, 0, 1, path);
    assert_int_equal(nb_hdf5_read_truth(path, 2, 1, &truth, &err), NB_OK);
    assert_true(truth.phi_deg == 4);
    nb_pieces_free(&pieces);
    nb_work_free(&w);
    assert_int_equal(scratch_count(*state, 0), 2);
}

UNIT_TEST(names_of_data_files)
{
    static const struct {
        int piece;
        const char *name;
    } of[] = {{0, "s_data_000003.h5"},    {1, "s_data_000003b.h5"},
              {25, "s_data_000003z.h5"},  {26, "s_data_000003zb.h5"},
              {50, "s_data_000003zz.h5"}, {51, "s_data_000003zzb.h5"}};
    char path[NB_PATH_MAX];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        nb_work_data_path("s", 2, of[i].piece, path);
        assert_string_equal(path, of[i].name);
    }
}

/** Bitshuffle: bit b of value v becomes bit v%8 of byte v/8 of plane b. */
UNIT_TEST(bitshuffle_is_a_transposition)
{
    enum { COUNT = 200 };
    unsigned char in[COUNT * 4], out[COUNT * 4], again[COUNT * 4];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 37 + i * i * 11 + 5);
    for (int k = 0; k < 6; k++) {
        size_t size = (size_t)1 << k / 2;
        nb_bitshuffle(in, COUNT, size,
                      nb_shuffle_u16_of(k % 2 ? NB_ISA_SCALAR : NB_ISA_AUTO), out);
        for (size_t v = 0; v < COUNT; v++)
            for (size_t b = 0; b < 8 * size; b++)
                assert_int_equal(in[v * size + b / 8] >> b % 8 & 1,
                                 out[b * (COUNT / 8) + v / 8] >> v % 8 & 1);
        nb_bitunshuffle(out, COUNT, size, again);
        assert_memory_equal(again, in, COUNT * size);
    }
}

/** A block that equals the block before it has the same bytes as if compressed alone. */
UNIT_TEST(equal_blocks_take_over_their_bytes)
{
    enum { BLOCK = 4096, HEAD = 12, MORE = 16 };
    static const int values[] = {0, 0, 0, 7, 7, 0, 0, 0, 0};
    enum { BLOCKS = sizeof values / sizeof *values, COUNT = BLOCKS * BLOCK + MORE };
    static uint16_t pixels[COUNT], shuffled[COUNT];
    static unsigned char chunk[4 * COUNT], alone[4 * BLOCK + 4096];
    nb_hdf5_layout layout = {.fast = COUNT, .slow = 1, .type = NB_HDF5_U16};
    size_t bytes, of_block, at = HEAD;
    nb_error err = {0};
    layout.compress = NB_COMPRESS_BSLZ4;
    for (int i = 0; i < COUNT; i++)
        pixels[i] = (uint16_t)(i / BLOCK < BLOCKS ? values[i / BLOCK] : 0);
    pixels[2 * BLOCK + 5] = pixels[7 * BLOCK + BLOCK - 1] = 300;
    assert_int_equal(nb_hdf5_chunk_encode(&layout, pixels, shuffled, chunk, &bytes, &err),
                     NB_OK);
    for (int b = 0; b <= BLOCKS; b++) {
        layout.fast = b < BLOCKS ? BLOCK : MORE;
        assert_int_equal(nb_hdf5_chunk_encode(&layout, pixels + b * BLOCK, shuffled,
                                              alone, &of_block, &err),
                         NB_OK);
        assert_memory_equal(chunk + at, alone + HEAD, of_block - HEAD);
        at += of_block - HEAD;
    }
    assert_int_equal(at, bytes);
}
