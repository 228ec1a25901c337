/* SPDX-License-Identifier: MIT */
/* Series through the library, and the parts that the program cannot test. */
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
#include "series/journal.h"
#include "series/pool.h"
#include "series/template.h"

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

/** What the callbacks saw. */
typedef struct watcher {
    int calls, last, stop_at, fail_at;
    int later; /* it fails only when it is asked again, after the check of all frames */
} watcher;

static int watch(void *user, const nb_series_progress *p)
{
    watcher *w = user;
    assert_int_equal(p->done, w->last + 1); /* each frame once, in order */
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
    nb_series series = {0};
    series.frames = frames;
    series.user = w;
    series.progress = watch;
    series.override = change;
    snprintf(series.output, sizeof series.output, "%s", scratch_path(*state, "f_%d.bin"));
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
    memset(&w, 0, sizeof w);
    series.resume = 1;
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
    assert_int_equal(result.done, 0); /* all are checked first */
    assert_int_equal(scratch_count(*state, 0), 0);
    w.later = 1;
    assert_int_equal(nb_series_run(&cfg, &series, NULL, &result, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-fluence"));
    assert_int_equal(result.done, 7); /* those before it are there */
}

/** Every device of a host is used, by one process or by several. */
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

/** Short frames share an accelerator as far as threads and memory go. */
UNIT_TEST(short_frames_share_a_device)
{
    nb_config cfg = small();
    nb_backend device = nb_backend_scalar;
    nb_error err = {0};
    nb_sim *sim;
    device.estimate = slow_estimate;
    strcpy(cfg.device, "cpu");
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

/** A renderer that has no room leaves its frames to the device's others; the last one's error counts. */
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
    strcpy(cfg.device, "cpu");
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
    nb_series s = {.stills = 1, .output = "a.v1.cbf"};
    char name[NB_PATH_MAX];
    nb_template t;
    assert_int_equal(nb_template_of(&s, &t, NULL), NB_OK);
    assert_int_equal(nb_template_name(&t, 1, name, NULL), NB_OK);
    assert_string_equal(name, "a.v1.cbf");
    s.stills = 2;
    assert_int_equal(nb_template_of(&s, &t, NULL), NB_ERR_INPUT);
}

static void append(nb_journal *j, int frame, const void *data, size_t bytes,
                   int64_t *offset)
{
    const nb_journal_data what = nb_journal_data_of(frame, data, bytes);
    nb_error err = {0};
    assert_int_equal(nb_journal_append(j, &what, offset, &err), NB_OK);
}

static void note_frame(void *user, int frame, int64_t offset, size_t bytes)
{
    int *seen = user;
    (void)offset;
    assert_int_equal(frame, *seen);
    assert_int_equal(bytes, 10 + frame);
    ++*seen;
}

/** After any truncation or change the complete records before it are found. */
SCRATCH_TEST(journals_survive_damage)
{
    enum { HEAD = 8 + sizeof(nb_journal_key) + sizeof(nb_holder) };
    char path[NB_PATH_MAX], data[16] = "some pixels";
    const nb_journal_key key = {5, 6, 4}, other = {5, 7, 4};
    nb_error err = {0};
    nb_journal_key found = {0};
    snprintf(path, sizeof path, "%s", scratch_path(*state, "j"));
    for (int cut = 0; cut < HEAD + 166; cut++) {
        nb_journal j;
        FILE *file;
        int seen = 0, whole = cut < HEAD + 42    ? 0
                              : cut < HEAD + 85  ? 1
                              : cut < HEAD + 129 ? 2
                                                 : 3;
        memset(&j, 0, sizeof j);
        assert_int_equal(nb_journal_create(&j, path, &key, &err), NB_OK);
        for (int k = 0; k < 3; k++)
            append(&j, k, data, (size_t)(10 + k), NULL);
        nb_journal_close(&j);
        assert_int_equal(nb_journal_key_of(path, &found), 1);
        assert_memory_equal(&found, &key, sizeof key);
        if (cut < HEAD + 129)
            assert_int_equal(truncate(path, cut), 0);
        else if ((file = fopen(path, "ab"))) { /* half a record behind */
            fwrite(data, 1, 7, file);
            fclose(file);
        }
        assert_int_equal(nb_journal_resume(&j, path, &key, note_frame, &seen, &err),
                         NB_OK);
        assert_int_equal(seen, whole);
        append(&j, seen, data, (size_t)(10 + seen), NULL);
        nb_journal_close(&j);
        assert_int_equal(nb_journal_resume(&j, path, &other, NULL, NULL, &err),
                         NB_ERR_INPUT);
        seen = 0;
        assert_int_equal(nb_journal_resume(&j, path, &key, note_frame, &seen, &err),
                         NB_OK);
        assert_int_equal(seen, whole + 1);
        nb_journal_remove(&j);
    }
}

/** A byte that changes after it was written is noticed when the record is read. */
SCRATCH_TEST(journals_check_what_they_read)
{
    char path[NB_PATH_MAX], data[16] = "some pixels", back[16];
    const nb_journal_key key = {5, 6, 4};
    nb_journal j = {0};
    nb_error err = {0};
    int64_t offset;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "j"));
    assert_int_equal(nb_journal_create(&j, path, &key, &err), NB_OK);
    append(&j, 3, data, 11, &offset);
    assert_int_equal(nb_journal_read(&j, 3, offset, back, 11, &err), NB_OK);
    assert_memory_equal(back, data, 11);
    assert_int_equal(nb_journal_read(&j, 2, offset, back, 11, &err), NB_ERR_IO);
    for (int at = -16; at < 11; at++) { /* the record's length, hash and data */
        char byte;
        assert_int_equal(pread(j.fd, &byte, 1, offset + at), 1);
        byte ^= 4;
        assert_int_equal(pwrite(j.fd, &byte, 1, offset + at), 1);
        assert_int_equal(nb_journal_read(&j, 3, offset, back, 11, &err), NB_ERR_IO);
        assert_non_null(strstr(err.message, path));
        byte ^= 4;
        assert_int_equal(pwrite(j.fd, &byte, 1, offset + at), 1);
    }
    assert_int_equal(nb_journal_read(&j, 3, offset, back, 11, &err), NB_OK);
    nb_journal_remove(&j);
}

/** If memory is exhausted while a journal is read, no frame is lost. */
SCRATCH_TEST(journals_survive_a_lack_of_memory)
{
    char path[NB_PATH_MAX], data[16] = "some pixels";
    const nb_journal_key key = {5, 6, 4};
    nb_journal j = {0};
    nb_error err = {0};
    int seen = 0;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "j"));
    assert_int_equal(nb_journal_create(&j, path, &key, &err), NB_OK);
    append(&j, 0, data, 10, NULL);
    nb_journal_close(&j);
    nb_alloc_fail_after(1);
    assert_int_equal(nb_journal_resume(&j, path, &key, note_frame, &seen, &err),
                     NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
    assert_int_equal(nb_journal_resume(&j, path, &key, note_frame, &seen, &err), NB_OK);
    assert_int_equal(seen, 1);
    nb_journal_remove(&j);
}

/** Only one caller in one process can have a journal open. */
SCRATCH_TEST(journals_are_locked)
{
    char path[NB_PATH_MAX], self[32];
    const nb_journal_key key = {5, 6, 4};
    nb_journal a = {0}, b = {0};
    nb_error err = {0};
    snprintf(path, sizeof path, "%s", scratch_path(*state, "j"));
    assert_int_equal(nb_journal_create(&a, path, &key, &err), NB_OK);
    assert_int_equal(nb_journal_create(&b, path, &key, &err), NB_ERR_INPUT);
    snprintf(self, sizeof self, "process %ld on host", (long)getpid());
    assert_non_null(strstr(err.message, self));
    assert_int_equal(nb_journal_resume(&b, path, &key, NULL, NULL, &err), NB_ERR_INPUT);
    nb_journal_remove(&b); /* has nothing */
    assert_int_equal(access(path, F_OK), 0);
    nb_journal_remove(&a);
    assert_int_equal(nb_journal_create(&b, path, &key, &err), NB_OK);
    nb_journal_remove(&b);
}

/** Bit b of value v is bit v%8 of byte v/8 of plane b. */
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

/** A block that equals the one before has the bytes that it has alone. */
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
    if (nb_hdf5_chunk_check(&layout, &err)) {
        print_message("skip: built without LZ4\n");
        skip();
    }
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
