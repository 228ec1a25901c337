/* SPDX-License-Identifier: MIT */
/* Images that stay on a device, with a fake device: files, statistics and frames of
 * series have the same bytes as without the device. */
#include "../support/products.h"
#include "sim/sim.h"
#include "base/stop.h"
#include "base/memory.h"
#include "base/outfile.h"
#include "image/adu.h"
#include "fake_device.h"
#include "scratch.h"
#include "series/run.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES = 6 };

static const char *const names[NAMES] = {"float", "int", "noise", "pgm", "tiff", "png"};

static void name_files(nb_config *cfg, const scratch *s, const char *set, int with_png)
{
    nb_text *const at[NAMES] = {&cfg->float_file, &cfg->int_file,  &cfg->noise_file,
                                &cfg->pgm_file,   &cfg->tiff_file, &cfg->png_file};
    for (int i = 0; i < NAMES; i++)
        if (i < 4 || with_png)
            nb_put_text(at[i], "%s/%s-%s", s->folder, set, names[i]);
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

/** Renders and writes with image NULL, on the CPU (set a) or the fake device (set b). */
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
        sim->engine.backend = &fake_backend;
    assert_int_equal(nb_sim_render(sim, NULL, stats, &err), NB_OK);
    assert_int_equal(nb_sim_write(sim, NULL, stats, &err), NB_OK);
    nb_sim_times(sim, &times);
    assert_int_equal(times.device_render > 0, set[0] == 'b');
    nb_sim_free(sim);
}

SCRATCH_TEST(files_are_the_same)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (int alone = 0; alone < 2; alone++)
        for (int compat = 0; compat < 2; compat++) {
            int before = fake_closed;
            cfg.device_alone = alone;
            cfg.compat = compat;
            fake_fetches = 0;
            run(&cfg, *state, "a", 0, &a);
            run(&cfg, *state, "b", 0, &b);
            same_files(*state, 4);
            assert_memory_equal(&a, &b, sizeof a);
            assert_true(fake_fetches > 3);
            assert_int_equal(fake_closed, before + 1);
        }
}

/** Several crystals, and absorption by a crystal: mixed and counted on the device. */
SCRATCH_TEST(mixed_images_are_the_same)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (int k = 1; k < 6; k++) {
        nb_put_text(&cfg.crystals, "%s", k & 1 ? "3" : "");
        nb_put_text(&cfg.absorb, "%s", k & 2 ? "sphere:200" : "");
        nb_put_text(&cfg.absorb_mu, "%s", k & 2 ? "4" : "");
        nb_put_text(&cfg.beamstop, "%s", k & 4 ? "disc:5" : "");
        cfg.fluence = k == 2 ? 1e32 : 1e27;
        cfg.water_um = k == 2 ? 0 : 1;
        fake_fetches = 0;
        run(&cfg, *state, "a", 0, &a);
        run(&cfg, *state, "b", 0, &b);
        same_files(*state, 4);
        assert_memory_equal(&a, &b, sizeof a);
        assert_true(fake_fetches > 3);
    }
}

SCRATCH_TEST(pictures_take_the_floats)
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

SCRATCH_TEST(full_device_leaves_it_to_the_cpu)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (cfg.compat = 0; cfg.compat < 2; cfg.compat++) {
        run(&cfg, *state, "a", 0, &a);
        fake_is_full = 1;
        run(&cfg, *state, "b", 0, &b);
        fake_is_full = 0;
        same_files(*state, 4);
    }
}

SCRATCH_TEST(large_files_close_the_device)
{
    nb_config cfg;
    nb_error err = {0};
    nb_stats stats;
    nb_sim *sim, *clone;
    int before = fake_closed;
    configure(&cfg);
    cfg.detpixels[0] = cfg.detpixels[1] = 3600;
    cfg.roi_set = 0;
    cfg.device_alone = 1;
    cfg.write_int = cfg.write_noise = cfg.write_pgm = 0;
    nb_put_text(&cfg.float_file, "%s/large", ((scratch *)*state)->folder);
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    sim->engine.backend = &fake_backend;
    for (int k = 1; k <= 2; k++) { /* every turn opens the device again */
        assert_int_equal(nb_sim_render(sim, NULL, &stats, &err), NB_OK);
        assert_int_equal(nb_sim_write(sim, NULL, &stats, &err), NB_OK);
        assert_int_equal(fake_closed, before + k);
    }
    assert_int_equal(nb_sim_clone(sim, NULL, 1, &clone, &err), NB_OK);
    assert_int_equal(sim->engine.options.device_alone, 1);
    assert_int_equal(clone->engine.options.device_alone, 0);
    nb_sim_free(clone);
    nb_sim_free(sim);
    assert_int_equal(fake_closed, before + 2);
}

UNIT_TEST(image_is_lent)
{
    nb_config cfg;
    nb_error err = {0};
    configure(&cfg);
    for (int device = 0; device < 2; device++) {
        size_t n = (size_t)cfg.detpixels[0] * (size_t)cfg.detpixels[1];
        float *ours = malloc(n * sizeof *ours);
        const float *theirs;
        nb_stats stats, again;
        nb_sim *sim;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
        if (device)
            sim->engine.backend = &fake_backend;
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

/** Result in a forked child: 0, or the number of the step that failed. */
static int child_of_fork(nb_sim *sim, nb_config *cfg, const float *want, size_t bytes)
{
    float *image = malloc(bytes);
    nb_error err = {0};
    nb_sim *other;
    if (!image || nb_sim_render(sim, image, NULL, &err) != NB_OK ||
        memcmp(image, want, bytes) != 0)
        return 1; /* `auto` must take the CPU here */
    nb_put_text(&sim->cfg.device, "fake");
    sim->engine.backend = &fake_backend;
    if (nb_sim_render(sim, image, NULL, &err) != NB_ERR_DEVICE ||
        !strstr(err.message, "spawn"))
        return 2;
    nb_put_text(&cfg->device, "cuda");
    if (nb_sim_create(cfg, NULL, &other, &err) != NB_ERR_UNSUPPORTED)
        return 3;
    nb_sim_free(sim);
    free(image);
    return 0;
}

UNIT_TEST(a_device_does_not_survive_fork)
{
    nb_config cfg;
    nb_sim *sim;
    size_t bytes;
    float *image;
    pid_t child;
    int status;
    configure(&cfg);
    bytes = (size_t)cfg.detpixels[0] * (size_t)cfg.detpixels[1] * sizeof *image;
    image = malloc(bytes);
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, NULL), NB_OK);
    sim->engine.backend = &fake_backend;
    assert_int_equal(nb_sim_render(sim, image, NULL, NULL), NB_OK);
    nb_fork_uses_device();
    child = fork();
    if (child == 0)
        _exit(child_of_fork(sim, &cfg, image, bytes));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    nb_sim_free(sim);
    free(image);
}

/* Noise other than counts and an offset is made on the CPU, from fetched photons. */
SCRATCH_TEST(whole_noise_comes_from_the_cpu)
{
    nb_config cfg;
    nb_stats a, b;
    configure(&cfg);
    for (int k = 0; k < 4; k++) {
        char path[2][NB_PATH_MAX], *data[2];
        size_t bytes[2];
        cfg.flicker = 0.1;
        cfg.nopoisson = k == 1;
        cfg.psf = k & 2 ? NB_PSF_GAUSS : NB_PSF_NONE;
        cfg.gain = 1.5;
        cfg.calibration = 0.02;
        cfg.readout_noise = 5;
        cfg.device_alone = k == 3;
        for (int j = 0; j < 2; j++) {
            snprintf(path[j], sizeof path[j], "%s/%c-adu", ((scratch *)*state)->folder,
                     "ab"[j]);
            nb_put_text(&cfg.noise_float_file, "%s", path[j]);
            run(&cfg, *state, j ? "b" : "a", 0, j ? &b : &a);
            assert_int_equal(nb_read_file(path[j], "test", 0, &data[j], &bytes[j], NULL),
                             0);
        }
        same_files(*state, 4);
        assert_int_equal(bytes[0], 301 * 260 * sizeof(float));
        assert_memory_equal(data[0], data[1], bytes[0]);
        nb_free(data[0]);
        nb_free(data[1]);
    }
}

/** Mask of the next frames, or NULL. */
static const uint8_t *frame_mask;

/** Makes a frame of a series, as a file or encoded for HDF5; returns its bytes. */
static size_t make_frame(const nb_config *cfg, const nb_backend *backend,
                         const nb_format *format, int type, void *out, const char *path)
{
    nb_hdf5_layout layout = {0};
    nb_frame f = {0};
    nb_frame_wants wants = {0};
    nb_rendering rendering;
    nb_error err = {0};
    size_t n = 0;
    assert_int_equal(nb_sim_create(cfg, NULL, &f.sim, &err), NB_OK);
    if (backend)
        f.sim->engine.backend = backend;
    f.sim->model.scene.raster.mask = frame_mask;
    nb_sim_size(f.sim, &layout.fast, &layout.slow);
    layout.type = type < 0 ? NB_HDF5_U16 : (nb_hdf5_type)type;
    layout.compress = NB_COMPRESS_NONE;
    if (type < 0)
        nb_frame_want(&f, format, 0, &wants);
    else
        nb_frame_want(&f, NULL, layout.type, &wants);
    assert_int_equal(nb_frame_prepare(&f, &wants, (size_t)layout.fast * (size_t)layout.slow,
                                      &rendering, &err),
                     NB_OK);
    assert_int_equal(nb_sim_make(f.sim, &rendering, &err), NB_OK);
    if (type < 0)
        assert_int_equal(nb_frame_write(&f, format, path, &err), NB_OK);
    else
        assert_int_equal(nb_frame_encode(&f, &layout, out, &n, &err), NB_OK);
    assert_int_equal(f.image == NULL, backend && !cfg->compat && !wants.photons);
    nb_frame_free(&f);
    return n;
}

SCRATCH_TEST(frames_are_the_same)
{
    enum { MAX_BYTES = 301 * 260 * 4 + 65536 };
    static char a[MAX_BYTES], b[MAX_BYTES];
    nb_config cfg;
    configure(&cfg);
    cfg.scale = 1;
    for (int k = 0; k < 8; k++) {
        cfg.write_noise = k & 1;
        cfg.readout_noise = k == 5 ? 7 : NAN;
        cfg.compat = k >> 1 & 1;
        cfg.fluence = k & 4 ? 1e37 : 1e31; /* counts above 16 bits */
        for (int type = 0; type < (cfg.compat ? 3 : 4); type++) {
            size_t n = make_frame(&cfg, NULL, &nb_format_smv, type, a, NULL);
            assert_int_equal(
                n, make_frame(&cfg, &fake_backend, &nb_format_smv, type, b, NULL));
            assert_memory_equal(a, b, n);
        }
        for (int i = 0; i < 3; i++) {
            const nb_format *const form[] = {&nb_format_smv, &nb_format_cbf,
                                             &nb_format_float};
            char path[2][NB_PATH_MAX];
            char *data[2];
            size_t bytes[2];
            for (int j = 0; j < 2; j++) {
                snprintf(path[j], sizeof path[j], "%s/%s-%s", ((scratch *)*state)->folder,
                         j ? "b" : "a", names[i]);
                make_frame(&cfg, j ? &fake_backend : NULL, form[i], -1, NULL, path[j]);
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

/* Masked pixels of CBF and HDF5 get the mark of the format; a device does not know the
 * mask. */
UNIT_TEST(masked_pixels_are_marked)
{
    enum { PIXELS = 301 * 260 };
    static uint8_t mask[PIXELS];
    static uint16_t u16[PIXELS];
    static int16_t i16[PIXELS];
    static int32_t i32[PIXELS];
    nb_config cfg;
    configure(&cfg);
    for (int i = 0; i < PIXELS; i++)
        mask[i] = i % 7 != 2;
    frame_mask = mask;
    for (int k = 0; k < 6; k++) {
        const nb_backend *backend = k & 1 ? &fake_backend : NULL;
        cfg.write_noise = k < 4;
        cfg.scale = 1;
        cfg.gain = k & 2 ? 2 : NAN;
        make_frame(&cfg, backend, &nb_format_smv, NB_HDF5_U16, u16, NULL);
        make_frame(&cfg, backend, &nb_format_smv, NB_HDF5_I32, i32, NULL);
        make_frame(&cfg, backend, &nb_format_smv, NB_HDF5_I16, i16, NULL);
        for (int i = 0; i < PIXELS; i++) {
            assert_true(mask[i] || u16[i] == 65535);
            assert_int_equal(i32[i] == -2, !mask[i]);
            assert_int_equal(i16[i] == -2, !mask[i]);
        }
    }
    frame_mask = NULL;
}

UNIT_TEST(sums_with_masks)
{
    enum { FAST = 37, SLOW = 9 };
    float image[FAST * SLOW];
    uint8_t mask[FAST * SLOW];
    nb_row_sums sums[SLOW];
    nb_scene scene = {0};
    nb_stats direct, merged;
    for (int i = 0; i < FAST * SLOW; i++) {
        image[i] = (float)((i * 7919) % 101) * 0.37f;
        mask[i] = i / FAST != 4 && i % 5 != 0; /* one dark row */
    }
    scene.raster.columns = FAST;
    scene.raster.rows = SLOW;
    scene.raster.roi.fmax = FAST - 1;
    scene.raster.roi.smax = SLOW - 1;
    for (int masked = 0; masked < 2; masked++) {
        scene.raster.mask = masked ? mask : NULL;
        fake_row_sums(image, &scene, sums);
        statistics_of(image, &scene, 1, &direct);
        nb_statistics_of_rows(sums, &scene, &merged);
        assert_memory_equal(&direct, &merged, sizeof direct);
    }
}

UNIT_TEST(one_pixel_as_many)
{
    enum { N = 4096 };
    static float image[N];
    static uint16_t u16[N];
    static uint8_t u8[N];
    const nb_image_kernels *kernels = photons_of(image, NULL, 1).kernels;
    for (int i = 0; i < N; i++)
        image[i] = i % 97 == 0 ? NAN : i % 89 == 0 ? INFINITY : (float)(i - 64) * 3.1f;
    for (int k = 0; k < 4; k++) {
        const double scale[] = {1, 0.017, 33.3, 1e-4}, offset[] = {40, 0, -12.7, 70000};
        kernels->u16(image, NULL, N, scale[k], offset[k], u16);
        kernels->u8(image, N, scale[k], u8);
        for (int i = 0; i < N; i++) {
            assert_int_equal(u16[i], nb_int_adu(image[i], scale[k], offset[k]));
            assert_int_equal(u8[i], nb_pgm_grey(image[i], scale[k]));
        }
    }
}
