/* SPDX-License-Identifier: MIT */
/* Compares derivatives by each instruction set and the scalar engine on random scenes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/check.h"

enum { EDGE = 48, SCENES = 24, MANY_SCENES = 500, MAX_NAMES = 64 };

/** Random number between low and high; a seed gives the same numbers on every machine. */
static double draw(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

static void set(nb_config *cfg, const char *name, const char *form, double x, double y,
                double z)
{
    char text[100];
    nb_error err;
    snprintf(text, sizeof text, form, x, y, z);
    if (nb_put(cfg, name, text, &err) != NB_OK)
        fail_msg("%s %s: %s", name, text, err.message);
}

static void crystal(nb_config *cfg, uint64_t *seed, int scene)
{
    const int gauss = scene % 5 == 4, many = !gauss && scene % 4 == 3,
              whole = scene % 3 != 2;
    double N = many ? draw(seed, 101, 400) : draw(seed, 1.5, gauss ? 12 : 40);
    set(cfg, "cell", "%.3f %.3f %.3f 75 95 102", draw(seed, 40, 90), draw(seed, 40, 90),
        draw(seed, 40, 90));
    set(cfg, "misset", "%.4f %.4f %.4f", draw(seed, -90, 90), draw(seed, -90, 90),
        draw(seed, -90, 90));
    N = whole ? floor(N) : N;
    set(cfg, "Na", "%.6f", N, 0, 0);
    set(cfg, "Nb", "%.6f", whole ? N + 2 : N + 2.3, 0, 0);
    set(cfg, "Nc", "%.6f", scene % 7 == 5 ? 1 : N + 1, 0, 0);
    set(cfg, "default_F", "%.2f", draw(seed, 10, 500), 0, 0);
    if (gauss)
        set(cfg, "gauss_xtal", "1", 0, 0, 0);
    if (scene % 2)
        set(cfg, "mosaic", "%.3f", draw(seed, 0.05, 1), 0, 0);
    set(cfg, "mosaic_dom", "%.0f", 1 + scene % 2 * 5, 0, 0);
}

/** Sets large pixels, far from each other, so that planes have values of usual size. */
static void experiment(nb_config *cfg, uint64_t *seed, int scene)
{
    set(cfg, "lambda", "%.4f", draw(seed, 0.8, 2), 0, 0);
    set(cfg, "distance", "%.3f", draw(seed, 60, 150), 0, 0);
    set(cfg, "pixel", "%.3f", draw(seed, 0.5, 3), 0, 0);
    set(cfg, "detpixels", "%.0f", EDGE, 0, 0);
    set(cfg, "oversample", "%.0f", 1 + scene % 3, 0, 0);
    set(cfg, "phi", "%.3f", draw(seed, 0, 90), 0, 0);
    if (scene % 4 == 1) {
        set(cfg, "dispersion", "%.3f", draw(seed, 0.2, 2), 0, 0);
        set(cfg, "dispsteps", scene % 8 == 1 ? "4" : "37", 0, 0, 0);
    }
    /* several directions of sources, each with several wavelengths */
    if (scene % 9 == 5) {
        set(cfg, "divergence", "%.3f", draw(seed, 0.5, 5), 0, 0);
        set(cfg, "divsteps", "2", 0, 0, 0);
    }
    /* all sources along one axis, sometimes with a curved detector */
    if (scene % 7 == 4) {
        set(cfg, "vdivrange", "2", 0, 0, 0);
        set(cfg, "vdivsteps", "5", 0, 0, 0);
        set(cfg, "polar", "0.9", 0, 0, 0);
        set(cfg, "curved_det", "%.0f", scene % 2, 0, 0);
    }
    if (scene % 4 == 2) {
        set(cfg, "osc", "%.3f", draw(seed, 0.1, 2), 0, 0);
        set(cfg, "phisteps", "3", 0, 0, 0);
    }
    if (scene % 6 == 3 || scene % 6 == 1) {
        set(cfg, "detector_thick", "300", 0, 0, 0);
        set(cfg, "detector_abs", "250", 0, 0, 0);
        set(cfg, "thicksteps", "2", 0, 0, 0);
    }
    if (scene % 12 == 3)
        set(cfg, "layer_depth", "front", 0, 0, 0);
    if (scene % 5 == 1)
        set(cfg, "oversample_omega", "1", 0, 0, 0);
    if (scene % 7 == 1)
        set(cfg, "point_pixel", "1", 0, 0, 0);
    if (scene % 7 == 2)
        set(cfg, "polar", "%.3f", draw(seed, -1, 1), 0, 0);
    if (scene % 6 == 4)
        set(cfg, "dmin", "%.3f", draw(seed, 3, 6), 0, 0);
    if (scene % 8 == 7)
        set(cfg, "water", "1", 0, 0, 0);
    set(cfg, "detector_rotx", "%.3f", draw(seed, -10, 10), 0, 0);
}

static const char everything[] =
    "rot,cell,N,mosaic,phi,osc,lambda,dispersion,divergence,distance,Xbeam,Ybeam,tilt,"
    "shift,shift_fast,shift_normal,rot_slow,polar,fluence,default_F";
/* these parameters move no detector */
static const char crystal_alone[] = "rot,cell,N,fluence,default_F";
static const char of_sensor[] = ",detector_thick,detector_abs";

/** Planes by an instruction set, for all names, then the image as the last plane; the
 * caller frees them. */
static double *planes_of(nb_config *cfg, nb_isa isa, char (**names)[NB_VARIABLE_NAME],
                         int *count)
{
    const char *list[MAX_NAMES];
    const size_t pixels = (size_t)EDGE * EDGE;
    float image[EDGE * EDGE];
    char wanted[300];
    double *planes;
    nb_error err;
    nb_sim *sim;
    cfg->isa = isa;
    assert_int_equal(nb_sim_create(cfg, NULL, &sim, &err), NB_OK);
    snprintf(wanted, sizeof wanted, "%s%s",
             cfg->oversample == 1 ? crystal_alone : everything,
             cfg->thick_steps > 0 ? of_sensor : "");
    if (nb_sim_variables(sim, wanted, names, count, &err) != NB_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < *count; i++)
        list[i] = (*names)[i];
    planes = malloc((size_t)(*count + 1) * pixels * sizeof *planes);
    assert_non_null(planes);
    if (nb_sim_derivatives(sim, list, *count, NB_REAL_FLOAT64, planes, image, &err) !=
        NB_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < pixels; i++)
        planes[(size_t)*count * pixels + i] = image[i];
    nb_sim_free(sim);
    return planes;
}

/** Largest difference |a - b| of a plane over the largest |b|, or over 1e-25 if all |b|
 * are smaller. */
static double difference(const double *a, const double *b)
{
    double largest = 1e-25, off = 0;
    for (int i = 0; i < EDGE * EDGE; i++) {
        largest = fmax(largest, fabs(b[i]));
        off = fmax(off, isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
    }
    return off / largest;
}

/** Compares planes by an instruction set with those of the scalar engine. */
static void compare(nb_config *cfg, nb_isa isa, const double *truth, int count, int scene)
{
    const double limit = scene % 4 == 3 ? 2e-5 : 5e-6;
    char(*names)[NB_VARIABLE_NAME];
    int same;
    double *fast = planes_of(cfg, isa, &names, &same);
    assert_int_equal(count, same);
    for (int p = 0; p <= count; p++) {
        size_t at = (size_t)p * EDGE * EDGE;
        double off = difference(fast + at, truth + at);
        if (!(off <= limit))
            fail_msg("scene %d, isa %d: %s is %.2g of its maximum off", scene, (int)isa,
                     p < count ? names[p] : "the image", off);
    }
    free(fast);
    nb_free(names);
}

/** Compares each instruction set of this processor; returns their number. */
static int compare_all(nb_config *cfg, int scene)
{
    static const nb_isa isas[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
    char(*names)[NB_VARIABLE_NAME];
    int compared = 0, count;
    double *truth = planes_of(cfg, NB_ISA_SCALAR, &names, &count);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        nb_sim *sim;
        cfg->isa = isas[i];
        if (nb_sim_create(cfg, NULL, &sim, NULL) != NB_OK)
            continue;
        nb_sim_free(sim);
        compare(cfg, isas[i], truth, count, scene);
        compared++;
    }
    free(truth);
    nb_free(names);
    return compared;
}

/** Compares a pullback by the quickest instruction set with products of its planes. */
static void compare_own_pullback(nb_config *cfg)
{
    char(*names)[NB_VARIABLE_NAME];
    const char *list[MAX_NAMES];
    double loss[EDGE * EDGE], gradient[MAX_NAMES];
    uint64_t seed = 11;
    int count;
    double *planes = planes_of(cfg, NB_ISA_AUTO, &names, &count);
    nb_sim *sim;
    assert_true(count <= MAX_NAMES);
    for (int i = 0; i < count; i++)
        list[i] = names[i];
    for (int i = 0; i < EDGE * EDGE; i++)
        loss[i] = draw(&seed, -1, 1);
    assert_int_equal(nb_sim_create(cfg, NULL, &sim, NULL), NB_OK);
    assert_int_equal(
        nb_sim_pullback(sim, list, count, NB_REAL_FLOAT64, loss, gradient, NULL, NULL),
        NB_OK);
    nb_sim_free(sim);
    for (int p = 0; p < count; p++) {
        double sum = 0, all = 0;
        for (int i = 0; i < EDGE * EDGE; i++) {
            sum += loss[i] * planes[p * EDGE * EDGE + i];
            all += fabs(loss[i] * planes[p * EDGE * EDGE + i]);
        }
        assert_true(fabs(gradient[p] - sum) <= 1e-12 * all);
    }
    free(planes);
    nb_free(names);
}

UNIT_TEST(random_scenes)
{
    uint64_t seed = 7;
    int compared = 0, scenes = nb_of_form(MANY_SCENES, SCENES, SCENES / 4);
    for (int scene = 0; scene < scenes; scene++) {
        nb_config cfg;
        nb_config_defaults(&cfg);
        crystal(&cfg, &seed, scene);
        experiment(&cfg, &seed, scene);
        compared += compare_all(&cfg, scene);
    }
    if (!compared)
        skip_because("no instruction set of vectors");
}

/** Scenes without a pixel near a peak: a plane is then small compared with the errors of
 * single precision (audit.h). The pullback agrees with the same planes. */
UNIT_TEST(few_peaks)
{
    static const int scenes[] = {175, 358};
    uint64_t seed = 7;
    int compared = 0;
    for (int scene = 0, next = 0; next < 2; scene++) {
        nb_config cfg;
        nb_config_defaults(&cfg);
        crystal(&cfg, &seed, scene);
        experiment(&cfg, &seed, scene);
        if (scene != scenes[next])
            continue;
        compared += compare_all(&cfg, scene);
        compare_own_pullback(&cfg);
        next++;
    }
    if (!compared)
        skip_because("no instruction set of vectors");
}

/** With one ray per pixel, the solid angle of the ray is that of the pixel. */
UNIT_TEST(one_ray_with_its_solid_angle)
{
    uint64_t seed = 3;
    nb_config cfg;
    nb_config_defaults(&cfg);
    crystal(&cfg, &seed, 0);
    experiment(&cfg, &seed, 0);
    set(&cfg, "oversample_omega", "1", 0, 0, 0);
    if (!compare_all(&cfg, 0))
        skip_because("no instruction set of vectors");
}

/** Compares a pullback by slopes of this scale with the products of the slopes with
 * planes of the scalar engine. */
static void compare_pullback(nb_config *cfg, nb_isa isa, double scale)
{
    char(*names)[NB_VARIABLE_NAME];
    const char *list[MAX_NAMES];
    double loss[EDGE * EDGE], gradient[MAX_NAMES], again[MAX_NAMES];
    uint64_t seed = 11;
    int count;
    double *truth = planes_of(cfg, NB_ISA_SCALAR, &names, &count);
    nb_error err;
    nb_sim *sim;
    assert_true(count <= MAX_NAMES);
    for (int i = 0; i < count; i++)
        list[i] = names[i];
    for (int i = 0; i < EDGE * EDGE; i++)
        loss[i] = scale * draw(&seed, -1, 1);
    cfg->isa = isa;
    for (int threads = 1; threads <= 3; threads += 2) {
        cfg->threads = threads;
        assert_int_equal(nb_sim_create(cfg, NULL, &sim, &err), NB_OK);
        assert_int_equal(nb_sim_pullback(sim, list, count, NB_REAL_FLOAT64, loss,
                                         threads == 1 ? gradient : again, NULL, &err),
                         NB_OK);
        nb_sim_free(sim);
    }
    assert_memory_equal(gradient, again, (size_t)count * sizeof *gradient);
    for (int p = 0; p < count; p++) {
        double sum = 0, all = 0;
        for (int i = 0; i < EDGE * EDGE; i++) {
            sum += loss[i] * truth[p * EDGE * EDGE + i];
            all += fabs(loss[i] * truth[p * EDGE * EDGE + i]);
        }
        if (!(fabs(gradient[p] - sum) <= 5e-6 * all))
            fail_msg("isa %d, scale %g: the pullback by %s is %.2g of its parts off",
                     (int)isa, scale, names[p], fabs(gradient[p] - sum) / all);
    }
    free(truth);
    nb_free(names);
}

/** With one step per pixel the sums are made without planes (kernel_slope_light.h). */
UNIT_TEST(pullbacks_of_one_step)
{
    static const nb_isa isas[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
    static const char *const regions[] = {"0 47 0 47", "3 40 5 44"};
    static const double scales[] = {1, 1e-100, 1e60};
    int compared = 0;
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        for (int k = 0; k < 3; k++) {
            uint64_t seed = 5;
            nb_config cfg;
            nb_sim *sim;
            nb_config_defaults(&cfg);
            crystal(&cfg, &seed, 0);
            experiment(&cfg, &seed, 0);
            set(&cfg, "water", "1", 0, 0, 0);
            /* with many peaks no audit is needed; an audit would need planes */
            set(&cfg, "N", "1.1", 0, 0, 0);
            set(&cfg, "roi", regions[k % 2], 0, 0, 0);
            cfg.isa = isas[i];
            if (nb_sim_create(&cfg, NULL, &sim, NULL) != NB_OK)
                continue;
            nb_sim_free(sim);
            compare_pullback(&cfg, isas[i], scales[k]);
            compared++;
        }
    if (!compared)
        skip_because("no instruction set of vectors");
}

/** With one step per pixel, planes requested in floats equal the planes in double,
 * rounded to float. */
UNIT_TEST(floats_of_one_step)
{
    static const nb_isa isas[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
    static const char *const regions[] = {"0 47 0 47", "3 40 5 44"};
    const size_t pixels = (size_t)EDGE * EDGE;
    int compared = 0;
    for (size_t i = 0; i < 2 * sizeof isas / sizeof *isas; i++) {
        char(*names)[NB_VARIABLE_NAME];
        const char *list[MAX_NAMES];
        uint64_t seed = 5;
        nb_config cfg;
        nb_sim *sim;
        double *truth;
        float *planes, image[EDGE * EDGE];
        int count;
        nb_config_defaults(&cfg);
        crystal(&cfg, &seed, 0);
        experiment(&cfg, &seed, 0);
        set(&cfg, "N", "1.1", 0, 0, 0);
        set(&cfg, "roi", regions[i % 2], 0, 0, 0);
        cfg.isa = isas[i / 2];
        if (nb_sim_create(&cfg, NULL, &sim, NULL) != NB_OK)
            continue;
        truth = planes_of(&cfg, isas[i / 2], &names, &count);
        planes = malloc((size_t)count * pixels * sizeof *planes);
        assert_non_null(planes);
        for (int p = 0; p < count; p++)
            list[p] = names[p];
        assert_int_equal(
            nb_sim_derivatives(sim, list, count, NB_REAL_FLOAT32, planes, image, NULL),
            NB_OK);
        for (size_t k = 0; k < (size_t)count * pixels; k++)
            assert_true(planes[k] == (float)truth[k]);
        for (size_t k = 0; k < pixels; k++)
            assert_true(image[k] == (float)truth[(size_t)count * pixels + k]);
        nb_sim_free(sim);
        nb_free(names);
        free(planes);
        free(truth);
        compared++;
    }
    if (!compared)
        skip_because("no instruction set of vectors");
}
