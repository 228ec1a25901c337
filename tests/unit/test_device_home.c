/* SPDX-License-Identifier: MIT */
/* Images that stay where they were rendered, with a backend that plays the device: it renders on
 * the CPU into memory of its own and makes integers with src/effects.  Files, statistics and
 * series must have the same bytes as without it. */
#include "api/sim.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "effects/adu.h"
#include "effects/kernels.h"
#include "effects/noise.h"
#include "effects/poisson.h"
#include "effects/quantize.h"
#include "effects/statistics.h"
#include "render/choose.h"
#include "scratch.h"
#include "series/frame.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { PIECES = 2, PIECE = 1 << 18, NAMES = 6 };

/** The pretended device.  nb_backend_state is opaque: this is ours. */
typedef struct fake_state {
    nb_render_options options;
    nb_backend_state *cpu;
    nb_scene scene; /* of the last image */
    float *image;
    void *made[NB_MADE_MOST];
    nb_made_kind kind[NB_MADE_MOST];
    int n;
    char piece[PIECES][PIECE];
    atomic_int taken[PIECES];
} fake_state;

static atomic_int fetches, closed;

static fake_state *fake_of(const nb_backend_state *state)
{
    return (fake_state *)(uintptr_t)state;
}

static double fake_estimate(const nb_scene *scene, const nb_render_options *options,
                            char *why, size_t size)
{
    (void)scene;
    (void)options;
    snprintf(why, size, "fake");
    return 0;
}

static nb_status fake_open(const nb_render_options *options, nb_backend_state **state,
                           nb_error *err)
{
    fake_state *f = nb_alloc(1, sizeof *f, "fake", err);
    assert_non_null(f);
    f->options = *options;
    *state = (nb_backend_state *)f;
    return nb_backend_cpu(options)->open(options, &f->cpu, err);
}

static void forget(fake_state *f)
{
    for (int i = 0; i < f->n; i++)
        nb_free(f->made[i]);
    f->n = 0;
}

static nb_status fake_render(nb_backend_state *state, const nb_scene *scene, float *image,
                             nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t n = (size_t)scene->det.fpixels * (size_t)scene->det.spixels;
    nb_status st;
    forget(f);
    nb_free(f->image);
    f->image = nb_alloc(n, sizeof *f->image, "fake", err);
    f->scene = *scene;
    st = nb_backend_cpu(&f->options)->render(f->cpu, scene, f->image, err);
    if (!st && image)
        memcpy(image, f->image, n * sizeof *image);
    return st;
}

static void fake_describe(const nb_backend_state *state, char *line, size_t size)
{
    (void)state;
    snprintf(line, size, "fake");
}

static void fake_close(nb_backend_state *state)
{
    fake_state *f = fake_of(state);
    if (!f)
        return;
    forget(f);
    nb_free(f->image);
    nb_backend_cpu(&f->options)->close(f->cpu);
    nb_free(f);
    closed++;
}

static void fake_warm(int device_index)
{
    (void)device_index;
}

static nb_status fake_sums(nb_backend_state *state, const nb_scene *scene,
                           nb_row_sums *sums, nb_error *err)
{
    const nb_detector *det = &scene->det;
    const fake_state *f = fake_of(state);
    int columns = det->roi_fmax - det->roi_fmin + 1;
    (void)err;
    for (int s = det->roi_smin; s <= det->roi_smax; s++, sums++) {
        size_t at = (size_t)s * (size_t)det->fpixels + (size_t)det->roi_fmin;
        const uint8_t *mask = det->mask ? det->mask + at : NULL;
        nb_effect_kernels_base.sums(f->image + at, mask, columns, sums);
        sums->max_at = 0;
        while (sums->max > -INFINITY && (f->image[at + (size_t)sums->max_at] != sums->max ||
                                         (mask && !mask[sums->max_at])))
            sums->max_at++;
    }
    return NB_OK;
}

static size_t bytes_of(nb_made_kind kind)
{
    return kind == NB_MADE_GREY_U8                                ? 1
           : kind == NB_MADE_INT_U16 || kind == NB_MADE_NOISE_U16 ? 2
                                                                  : 4;
}

static void make_i32(const fake_state *f, const nb_made *made, int32_t *out)
{
    const nb_detector *det = &f->scene.det;
    size_t n = (size_t)det->fpixels * (size_t)det->spixels;
    for (size_t i = 0; i < n; i++) {
        nb_poisson_key key = {(uint64_t)made->seed, i, made->frame};
        double counts = nb_int_adu(f->image[i], made->scale, 0);
        if (made->kind == NB_MADE_NOISE_I32)
            counts = nb_poisson(f->image[i], &key);
        else if (counts == 65535)
            counts = floor(f->image[i] * made->scale + 0.5);
        out[i] = nb_large_count(counts);
    }
}

static nb_status fake_make(nb_backend_state *state, const nb_scene *scene, nb_made *made,
                           int n, nb_error *err)
{
    fake_state *f = fake_of(state);
    size_t pixels = (size_t)scene->det.fpixels * (size_t)scene->det.spixels;
    nb_status st = NB_OK;
    forget(f);
    for (f->n = 0; f->n < n && !st; f->n++) {
        nb_made *m = &made[f->n];
        const nb_noise_options noise = {m->seed, m->frame, m->adc_offset, 1};
        void *out = f->made[f->n] = nb_alloc(pixels, bytes_of(m->kind), "fake", err);
        f->kind[f->n] = m->kind;
        if (m->kind == NB_MADE_GREY_U8)
            nb_quantize_u8(f->image, pixels, m->scale, out);
        else if (m->kind == NB_MADE_INT_U16)
            nb_quantize_u16(f->image, scene, m->scale, m->adc_offset, out);
        else if (m->kind == NB_MADE_NOISE_U16)
            st = nb_noise(f->image, scene, &noise, out, &m->overloads, err);
        else
            make_i32(f, m, out);
    }
    return st;
}

static nb_status fake_fetch(nb_backend_state *state, int i, int first, int rows,
                            void *out, nb_error *err)
{
    const fake_state *f = fake_of(state);
    size_t size = i < 0 ? sizeof(float) : bytes_of(f->kind[i]);
    size_t row = (size_t)f->scene.det.fpixels * size;
    const char *from = i < 0 ? (const char *)f->image : f->made[i];
    (void)err;
    memcpy(out, from + (size_t)first * row, (size_t)rows * row);
    fetches++;
    return NB_OK;
}

static void *fake_take(nb_backend_state *state, size_t bytes)
{
    fake_state *f = fake_of(state);
    for (int i = 0; i < PIECES && bytes <= PIECE; i++)
        if (!atomic_exchange(&f->taken[i], 1))
            return f->piece[i];
    return NULL;
}

static void fake_give(nb_backend_state *state, void *memory)
{
    fake_state *f = fake_of(state);
    for (int i = 0; i < PIECES; i++)
        if (memory == f->piece[i])
            assert_int_equal(atomic_exchange(&f->taken[i], 0), 1);
}

static void *fake_allocate(int device_index, size_t bytes)
{
    (void)device_index;
    return malloc(bytes);
}

static void fake_times(const nb_backend_state *state, nb_device_times *times)
{
    (void)state;
    times->kernels = 1;
}

static int fake_count(void)
{
    return 1;
}

static const nb_backend_device fake_device = {
    fake_warm, fake_sums,     fake_make, fake_fetch, fake_take,
    fake_give, fake_allocate, free,      fake_times, fake_count};
static const nb_backend fake = {"fake",        fake_estimate, fake_open,   fake_render,
                                fake_describe, fake_close,    &fake_device};

static const char *const names[NAMES] = {"float", "int", "noise", "pgm", "tiff", "png"};

static void name_files(nb_config *cfg, const scratch *s, const char *set, int with_png)
{
    char *const at[NAMES] = {cfg->float_file, cfg->int_file,  cfg->noise_file,
                             cfg->pgm_file,   cfg->tiff_file, cfg->png_file};
    for (int i = 0; i < NAMES; i++)
        if (i < 4 || with_png)
            snprintf(at[i], NB_PATH_MAX, "%s/%s-%s", s->folder, set, names[i]);
}

static void configure(nb_config *cfg)
{
    nb_config_defaults(cfg);
    cfg->cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg->cell[i] = i < 3 ? 90 + i : 90;
    cfg->N[0] = cfg->N[1] = cfg->N[2] = 4;
    cfg->default_F = 100;
    cfg->detpixels[0] = 301;
    cfg->detpixels[1] = 260;
    cfg->seed = (nb_seed){1, 11};
    cfg->fluence = 1e31; /* some pixels above 65535 */
    cfg->water_um = 1;
    cfg->roi_set = 1;
    cfg->roi[0] = 3;
    cfg->roi[1] = 297;
    cfg->roi[2] = 2;
    cfg->roi[3] = 255;
    cfg->threads = 3;
}

static void same_files(const scratch *s, int count)
{
    for (int i = 0; i < count; i++) {
        char path[2][NB_PATH_MAX];
        char *data[2];
        size_t bytes[2];
        for (int k = 0; k < 2; k++) {
            snprintf(path[k], sizeof path[k], "%s/%s-%s", s->folder, k ? "b" : "a",
                     names[i]);
            assert_int_equal(nb_read_file(path[k], "test", 0, &data[k], &bytes[k], NULL),
                             0);
        }
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(data[0], data[1], bytes[0]);
        nb_free(data[0]);
        nb_free(data[1]);
    }
}

/** Render and write with image NULL, on the CPU (set a) or the fake device (set b). */
static void run(const nb_config *base, const scratch *s, const char *set, int png,
                nb_stats *stats)
{
    nb_config cfg = *base;
    nb_error err = {0};
    nb_sim *sim;
    nb_times times;
    name_files(&cfg, s, set, png);
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    if (set[0] == 'b')
        sim->backend = &fake;
    assert_int_equal(nb_sim_render(sim, NULL, stats, &err), NB_OK);
    assert_int_equal(nb_sim_write(sim, NULL, stats, &err), NB_OK);
    nb_sim_times(sim, &times);
    assert_int_equal(times.device_render > 0, set[0] == 'b');
    nb_sim_free(sim);
}

static void files_are_the_same(void **state)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (int alone = 0; alone < 2; alone++)
        for (int compat = 0; compat < 2; compat++) {
            int before = closed;
            cfg.device_alone = alone;
            cfg.compat = compat;
            fetches = 0;
            run(&cfg, *state, "a", 0, &a);
            run(&cfg, *state, "b", 0, &b);
            same_files(*state, 4);
            assert_memory_equal(&a, &b, sizeof a);
            assert_true(fetches > 3);
            assert_int_equal(closed, before + 1);
        }
}

#if defined(NB_HAVE_TIFF) && defined(NB_HAVE_PNG)
static void pictures_take_the_floats(void **state)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (cfg.tiff_bits = 16; cfg.tiff_bits <= 32; cfg.tiff_bits += 16) {
        run(&cfg, *state, "a", 1, &a);
        run(&cfg, *state, "b", 1, &b);
        same_files(*state, NAMES);
    }
}
#endif

static void image_is_lent(void **state)
{
    nb_config cfg;
    nb_error err = {0};
    (void)state;
    configure(&cfg);
    for (int device = 0; device < 2; device++) {
        size_t n = (size_t)cfg.detpixels[0] * (size_t)cfg.detpixels[1];
        float *ours = malloc(n * sizeof *ours);
        const float *theirs;
        nb_stats stats, again;
        nb_sim *sim;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
        if (device)
            sim->backend = &fake;
        assert_int_equal(nb_sim_image(sim, &theirs, &err), NB_ERR_INTERNAL);
        assert_int_equal(nb_sim_render(sim, ours, &stats, &err), NB_OK);
        assert_int_equal(nb_sim_image(sim, &theirs, &err), NB_ERR_INTERNAL);
        assert_int_equal(nb_sim_write(sim, NULL, &stats, &err), NB_ERR_INTERNAL);
        assert_int_equal(nb_sim_render(sim, NULL, &again, &err), NB_OK);
        assert_int_equal(nb_sim_image(sim, &theirs, &err), NB_OK);
        assert_memory_equal(ours, theirs, n * sizeof *ours);
        assert_memory_equal(&stats, &again, sizeof stats);
        nb_sim_free(sim);
        free(ours);
    }
}

/** A frame of a series in one form, as a file or encoded for HDF5. */
static size_t make_frame(const nb_config *cfg, const nb_backend *backend,
                         nb_frame_format format, int type, void *out, const char *path)
{
    nb_hdf5_layout layout = {0};
    nb_frame f = {0};
    nb_frame_wants wants = {0};
    nb_error err = {0};
    size_t n = 0;
    assert_int_equal(nb_sim_create(cfg, NULL, &f.sim, &err), NB_OK);
    if (backend)
        f.sim->backend = backend;
    nb_sim_size(f.sim, &layout.fast, &layout.slow);
    layout.type = type < 0 ? NB_HDF5_U16 : (nb_hdf5_type)type;
    layout.compress = NB_COMPRESS_NONE;
    if (type < 0)
        nb_frame_want_file(&f, format, &wants);
    else
        nb_frame_want_hdf5(layout.type, &wants);
    assert_int_equal(
        nb_frame_prepare(&f, &wants, (size_t)layout.fast * (size_t)layout.slow, &err),
        NB_OK);
    assert_int_equal(nb_sim_render_targets(f.sim, &f.targets, &err), NB_OK);
    if (type < 0)
        assert_int_equal(nb_frame_write(&f, format, path, &err), NB_OK);
    else
        assert_int_equal(nb_frame_encode(&f, &layout, out, &n, &err), NB_OK);
    assert_int_equal(f.image == NULL, backend && !cfg->compat && wants.floats == 0);
    nb_frame_free(&f);
    return n;
}

static void frames_are_the_same(void **state)
{
    enum { MOST = 301 * 260 * 4 + 65536 };
    static char a[MOST], b[MOST];
    nb_config cfg;
    configure(&cfg);
    cfg.scale = 1;
    for (int k = 0; k < 8; k++) {
        cfg.write_noise = k & 1;
        cfg.compat = k >> 1 & 1;
        cfg.fluence = k & 4 ? 1e37 : 1e31; /* counts beyond 16 bits */
        for (int type = 0; type < 3; type++) {
            size_t n = make_frame(&cfg, NULL, NB_FRAME_SMV, type, a, NULL);
            assert_int_equal(n, make_frame(&cfg, &fake, NB_FRAME_SMV, type, b, NULL));
            assert_memory_equal(a, b, n);
        }
        for (int i = 0; i < 3; i++) {
            const nb_frame_format form[] = {NB_FRAME_SMV, NB_FRAME_CBF, NB_FRAME_FLOAT};
            char path[2][NB_PATH_MAX];
            char *data[2];
            size_t bytes[2];
            for (int j = 0; j < 2; j++) {
                snprintf(path[j], sizeof path[j], "%s/%s-%s", ((scratch *)*state)->folder,
                         j ? "b" : "a", names[i]);
                make_frame(&cfg, j ? &fake : NULL, form[i], -1, NULL, path[j]);
                assert_int_equal(
                    nb_read_file(path[j], "test", 0, &data[j], &bytes[j], NULL), 0);
            }
            assert_int_equal(bytes[0], bytes[1]);
            assert_memory_equal(data[0], data[1], bytes[0]);
            nb_free(data[0]);
            nb_free(data[1]);
        }
    }
}

static void sums_with_masks(void **state)
{
    enum { FAST = 37, SLOW = 9 };
    float image[FAST * SLOW];
    uint8_t mask[FAST * SLOW];
    nb_row_sums sums[SLOW];
    nb_scene scene = {0};
    fake_state f = {.image = image};
    nb_stats direct, merged;
    (void)state;
    for (int i = 0; i < FAST * SLOW; i++) {
        image[i] = (float)((i * 7919) % 101) * 0.37f;
        mask[i] = i / FAST != 4 && i % 5 != 0; /* one row dark */
    }
    scene.det.fpixels = FAST;
    scene.det.spixels = SLOW;
    scene.det.roi_fmax = FAST - 1;
    scene.det.roi_smax = SLOW - 1;
    for (int masked = 0; masked < 2; masked++) {
        scene.det.mask = masked ? mask : NULL;
        fake_sums((nb_backend_state *)&f, &scene, sums, NULL);
        nb_statistics(image, &scene, &direct);
        nb_statistics_of_rows(sums, &scene, &merged);
        assert_memory_equal(&direct, &merged, sizeof direct);
    }
}

static void one_pixel_as_many(void **state)
{
    enum { N = 4096 };
    static float image[N];
    static uint16_t u16[N];
    static uint8_t u8[N];
    (void)state;
    for (int i = 0; i < N; i++)
        image[i] = i % 97 == 0 ? NAN : i % 89 == 0 ? INFINITY : (float)(i - 64) * 3.1f;
    for (int k = 0; k < 4; k++) {
        const double scale[] = {1, 0.017, 33.3, 1e-4}, offset[] = {40, 0, -12.7, 70000};
        nb_effect_kernels_widest()->u16(image, NULL, N, scale[k], offset[k], u16);
        nb_effect_kernels_widest()->u8(image, N, scale[k], u8);
        for (int i = 0; i < N; i++) {
            assert_int_equal(u16[i], nb_int_adu(image[i], scale[k], offset[k]));
            assert_int_equal(u8[i], nb_pgm_grey(image[i], scale[k]));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_the_same, scratch_setup,
                                        scratch_teardown),
#if defined(NB_HAVE_TIFF) && defined(NB_HAVE_PNG)
        cmocka_unit_test_setup_teardown(pictures_take_the_floats, scratch_setup,
                                        scratch_teardown),
#endif
        cmocka_unit_test_setup_teardown(frames_are_the_same, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(image_is_lent),
        cmocka_unit_test(sums_with_masks),
        cmocka_unit_test(one_pixel_as_many),
    };
    return cmocka_run_group_tests_name("device-home", tests, NULL, NULL);
}
