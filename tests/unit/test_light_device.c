/* SPDX-License-Identifier: MIT */
/* Diffuse light made by a device. With a fake device: the host gets the light that it
 * still needs. With a real device (skipped without): pixels and counts agree with those
 * of the CPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/fftw_lib.h"
#include "../../src/image/poisson.h"
#include "../../src/sim/light.h"
#include "../../src/sim/noise.h"
#include "../support/check.h"
#include "../support/scenes.h"
#include "fake_device.h"

#define TET "-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 "
#define ORT "-hkl hkl/ort.hkl -cell 28 34 40 90 90 90 -sg P222 "
#define TRI "-hkl hkl/tri.hkl -cell 24 30 36 80 100 95 "
#define FINE "-detpixels 240 -pixel 0.25 -distance 100 "
#define COARSE "-detpixels 41 -pixel 1.4 -distance 100 "
#define USUAL "-diffuse_sigma 0.4 -diffuse_gamma 10 "

/* -hkl is relative to golden_data/experiments, -geom to golden_data/detectors/geom. */
static const char *const scenes[] = {
    TET FINE USUAL,
    TET COARSE USUAL,
    TRI FINE "-diffuse_sigma 0.3 0.5 0.4 -diffuse_gamma 6 12 9 -osc 2 -phisteps 4",
    ORT FINE "-diffuse_sigma 0.3 0.5 0.4 -diffuse_gamma 6 12 9 -diffuse_halo gauss",
    TRI COARSE "-diffuse_sigma 0.3 -diffuse_gamma 150 -diffuse_F unperturbed",
    ORT COARSE "-diffuse_sigma 0.3 -diffuse_gamma 60 -diffuse_halo gauss",
    TET FINE USUAL
    "-dispersion 3 -dispsteps 6 -mosaic 1 -mosaic_model gauss -mosaic_dom 9",
    TET FINE USUAL "-dmin 3 -dispersion 1 -dispsteps 3",
    TRI COARSE USUAL "-dmin 4 -oversample 3",
    TET FINE USUAL "-detector_rotx 12 -twotheta 20 -roi 17 231 30 122",
    TET COARSE USUAL
    "-detector_thick 300 -detector_abs 400 -thicksteps 3 -oversample_thick",
    TET FINE USUAL "-curved_det -oversample_omega -oversample_polar -polar 0.7",
    TET USUAL "-geom quad.geom",
    TET FINE USUAL "-crystals 3",
    ORT FINE USUAL "-twin k,h,-l:0.3 -beamstop disc:20"};
enum { SCENES = sizeof scenes / sizeof *scenes };

static void need_fftw(void)
{
    nb_error err;
    if (nb_fftw_need("a test", &err))
        skip_because("no FFTW");
}

/** Makes a path absolute. */
static void place(nb_text *name, const char *folder)
{
    const char *source = getenv("NB_SOURCE");
    if ((*name)[0])
        nb_put_text(name, "%s/golden_data/%s/%s", source ? source : ".", folder, *name);
}

/** Makes a simulation. device: a word of -device, or NULL for the fake device. */
static nb_sim *make_sim(const char *scene, const char *more, const char *device)
{
    char words[1024];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    nb_config_defaults(&cfg);
    snprintf(words, sizeof words,
             "-lambda 1 -N 8 -misset 10 20 30 -fluence 1e26 -nointerpolate -seed 7 %s %s",
             scene, more);
    nb_words(&cfg, words);
    place(&cfg.hkl_file, "experiments");
    place(&cfg.geom_file, "detectors/geom");
    cfg.write_dump = 0;
    nb_put_text(&cfg.device, "%s", device ? device : "cpu");
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    if (!device)
        sim->engine.backend = &fake_backend;
    return sim;
}

typedef struct picture {
    size_t n;
    float *photons;
    int32_t *counts; /* owned, as the photons: n values each */
} picture;

/** Renders photons, and makes their counts where the photons are: on device or host. */
static picture picture_of(nb_sim *sim)
{
    const size_t n = sim->model.scene.raster.pixels;
    picture p = {n, calloc(n, sizeof *p.photons), calloc(n, sizeof *p.counts)};
    nb_product counts = nb_sim_noise_product(sim, NB_PIXEL_I32, 0);
    const nb_rendering wanted = {NULL, NULL, &counts, 1};
    const float *image;
    nb_error err = {0};
    counts.pixels = p.counts;
    if (nb_sim_make(sim, &wanted, &err) || nb_sim_image(sim, &image, &err))
        fail_msg("%s", err.message);
    nb_products_free(&counts, 1);
    memcpy(p.photons, image, n * sizeof *image);
    return p;
}

static void free_picture(picture *p)
{
    free(p->photons);
    free(p->counts);
}

/* --- the fake device --- */

static nb_reflections spots_of(nb_sim *sim, const float *image)
{
    nb_reflections list = {0};
    nb_error err = {0};
    if (nb_sim_reflections(sim, image, &list, &err))
        fail_msg("%s", err.message);
    return list;
}

/** The image, counts made by the CPU, and the list of true intensities equal those of a
 * run without a device. */
UNIT_TEST(host_has_the_light_that_it_needs)
{
    static const char *const more[] = {"-dmin 4 -gain 1.5 -readout_noise 3",
                                       "-dmin 4 -crystals 2 -gain 1.5"};
    need_fftw();
    for (int k = 0; k < 4; k++) {
        const char *words = more[k & 1];
        nb_sim *cpu = make_sim(scenes[1], words, "cpu"),
               *fake = make_sim(scenes[1], words, NULL);
        const int before = fake_lights;
        nb_reflections a, b;
        picture want, got;
        fake_is_full = k >= 2;
        want = picture_of(cpu);
        got = picture_of(fake);
        fake_is_full = 0;
        assert_true(k >= 2 || fake_lights > before);
        assert_true(k < 2 || fake_lights == before);
        assert_memory_equal(want.photons, got.photons, want.n * sizeof *want.photons);
        assert_memory_equal(want.counts, got.counts, want.n * sizeof *want.counts);
        a = spots_of(cpu, want.photons);
        b = spots_of(fake, got.photons);
        assert_true(a.diffuse > 0 && a.diffuse == b.diffuse);
        nb_reflections_free(&a);
        nb_reflections_free(&b);
        free_picture(&want);
        free_picture(&got);
        nb_sim_free(cpu);
        nb_sim_free(fake);
    }
}

/** The host makes a plane only when it is needed, after the device made a copy. */
UNIT_TEST(light_comes_late)
{
    nb_sim *fake = make_sim(scenes[1], "-dmin 4", NULL);
    const float *plane;
    float *image;
    nb_reflections list = {0};
    nb_error err = {0};
    double sum = 0;
    need_fftw();
    image = calloc(fake->model.scene.raster.pixels, sizeof *image);
    assert_int_equal(nb_sim_render(fake, image, NULL, &err), 0);
    assert_true(fake->light->late.missing);
    plane = nb_sim_light_plane(fake);
    assert_true(nb_sim_reflections(fake, image, &list, &err) == 0);
    assert_false(fake->light->late.missing);
    for (size_t i = 0; i < fake->model.scene.raster.pixels; i++)
        sum += plane[i];
    assert_true(sum > 0);
    nb_reflections_free(&list);
    free(image);
    nb_sim_free(fake);
}

/* --- a real device --- */

static void need_device(void)
{
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    need_fftw();
    nb_config_defaults(&cfg);
    nb_words(&cfg, "-cell 50 50 50 90 90 90 -default_F 1 -N 2 -lambda 1 -detpixels 8 "
                   "-distance 100 -device cuda");
    if (nb_sim_create(&cfg, NULL, &sim, &err) || nb_sim_render(sim, NULL, NULL, &err)) {
        nb_sim_free(sim);
        skip_because("no CUDA device");
    }
    nb_sim_free(sim);
}

/** Compares pixels of diffuse light only with those of the CPU: pixels above 1e-6 of the
 * brightest agree within 1e-6, nearly all bit for bit. */
static void same_light(const char *scene)
{
    nb_sim *cpu = make_sim(scene, "-diffuse_only", "cpu"),
           *device = make_sim(scene, "-diffuse_only", "cuda");
    picture want = picture_of(cpu), got = picture_of(device);
    double brightest = 0, worst = 0;
    size_t other = 0, lit = 0;
    for (size_t i = 0; i < want.n; i++) {
        brightest = fmax(brightest, want.photons[i]);
        other += memcmp(&want.photons[i], &got.photons[i], sizeof *want.photons) != 0;
        lit += want.photons[i] > 0;
    }
    for (size_t i = 0; i < want.n; i++)
        if (want.photons[i] > 1e-6 * brightest || !(got.photons[i] <= 1e-5 * brightest))
            worst = fmax(worst, fabs(got.photons[i] / want.photons[i] - 1));
    printf("# %zu of %zu pixels have other bits, worst %.1e: %s\n", other, lit, worst,
           scene);
    assert_true(lit > want.n / 20);
    if (!strstr(scene, "-crystals") &&
        !strstr(scene, "-twin")) /* the host may make the counts of twins */
        assert_true(device->light->late.missing);
    check_below(worst, 1e-6);
    check_below((double)other, 1e-3 * (double)want.n);
    free_picture(&want);
    free_picture(&got);
    nb_sim_free(cpu);
    nb_sim_free(device);
}

UNIT_TEST(a_device_makes_the_same_light)
{
    need_device();
    for (int i = 0; i < SCENES; i++)
        same_light(scenes[i]);
}

/** With spots, water and noise, counts follow the floats, which differ in the last
 * digits. */
UNIT_TEST(counts_follow_the_floats)
{
    need_device();
    for (int i = 0; i < SCENES; i++) {
        const char *more = "-water 2 -fluence 3e23";
        nb_sim *cpu = make_sim(scenes[i], more, "cpu"),
               *device = make_sim(scenes[i], more, "cuda");
        picture want = picture_of(cpu), got = picture_of(device);
        size_t by_one = 0, by_more = 0;
        double apart = 0;
        for (size_t k = 0; k < want.n; k++) {
            const int off = abs((int)want.counts[k] - (int)got.counts[k]);
            by_one += off == 1;
            by_more += off > 1;
            apart += fabs((double)want.photons[k] - got.photons[k]);
        }
        printf(
            "# counts of %zu pixels differ by one, of %zu by more, floats by %.2g: %s\n",
            by_one, by_more, apart, scenes[i]);
        check_below((double)by_one, 2 * apart + 5 * sqrt(2 * apart));
        check_below((double)by_more, 1e-4 * (double)want.n);
        free_picture(&want);
        free_picture(&got);
        nb_sim_free(cpu);
        nb_sim_free(device);
    }
}

/** A few tables stay on the device; other frames between them do not change a pixel. */
UNIT_TEST(tables_are_kept_apart)
{
    nb_sim *device;
    picture first[2];
    need_device();
    device = make_sim(scenes[1], "-diffuse_only", "cuda");
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < 2; k++) {
            nb_error err = {0};
            picture p;
            if (nb_sim_set(device, "diffuse_gamma", k ? "14" : "10", &err))
                fail_msg("%s", err.message);
            p = picture_of(device);
            if (turn == 0) {
                first[k] = p;
                continue;
            }
            assert_memory_equal(p.photons, first[k].photons, p.n * sizeof *p.photons);
            free_picture(&p);
        }
    assert_true(memcmp(first[0].photons, first[1].photons,
                       first[0].n * sizeof *first[0].photons) != 0);
    free_picture(&first[0]);
    free_picture(&first[1]);
    nb_sim_free(device);
}
