/* SPDX-License-Identifier: MIT */
/* Diffuse scattering: planes and single values against the direct sum of every reflection, order and step, its laws, and
 * the bounds behind its short cuts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/fftw_lib.h"
#include "../../src/light/diffuse_table.h"
#include "../../src/light/merge.h"
#include "../../src/physics/panels.h"
#include "../../src/sim/light.h"
#include "../support/check.h"
#include "../support/scenes.h"

static uint64_t state;

static double uniform(double from, double to)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(state >> 11) * 0x1p-53;
}

static double log_uniform(double from, double to)
{
    return exp(uniform(log(from), log(to)));
}

static void need_fftw(void)
{
    nb_error err;
    if (nb_fftw_need("a test", &err))
        skip_because("no FFTW");
}

/* -hkl is relative to golden_data/experiments. */
static const char *const crystals[] = {
    "-hkl hkl/tri.hkl -cell 24 30 36 80 100 95",
    "-hkl hkl/tet.hkl -cell 32 32 40 90 90 90",
    "-hkl hkl/ort.hkl -cell 28 34 40 90 90 90 -sg P222",
    "-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -sg P4"};

static nb_sim *make_sim(const char *words)
{
    const char *source = getenv("NB_SOURCE");
    char name[NB_PATH_MAX];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    nb_config_defaults(&cfg);
    nb_words(&cfg, words);
    snprintf(name, sizeof name, "%s", cfg.hkl_file);
    snprintf(cfg.hkl_file, sizeof cfg.hkl_file, "%.200s/golden_data/experiments/%.200s",
             source ? source : ".", name);
    cfg.write_dump = 0;
    snprintf(cfg.device, sizeof cfg.device, "cpu");
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    return sim;
}

static float *render(nb_sim *sim)
{
    int fast, slow;
    float *image;
    nb_error err = {0};
    nb_sim_size(sim, &fast, &slow);
    image = calloc((size_t)fast * (size_t)slow, sizeof *image);
    if (nb_sim_render(sim, image, NULL, &err))
        fail_msg("%s", err.message);
    return image;
}

static void add_words(char *words, size_t size, const char *format, ...)
{
    size_t n = strlen(words);
    va_list args;
    va_start(args, format);
    vsnprintf(words + n, size - n, format, args);
    va_end(args);
}

static int chance(double p)
{
    return uniform(0, 1) < p;
}

static void random_scene(char *words, size_t size)
{
    const int edge = (int)uniform(30, 90);
    const double s = log_uniform(0.05, 1.2), g = log_uniform(2, 200);
    words[0] = 0;
    add_words(words, size,
              "%s -misset %g %g %g -detpixels %d -pixel %g -distance 100 -N 30 "
              "-fluence 1e26 -nointerpolate -diffuse_only -lambda %g -polar %g",
              crystals[(int)uniform(0, 4)], uniform(-90, 90), uniform(-90, 90),
              uniform(-90, 90), edge, 90.0 / edge * uniform(0.3, 1), uniform(0.9, 1.3),
              uniform(-1, 1));
    if (chance(0.5))
        add_words(words, size, " -diffuse_sigma %g %g %g -diffuse_gamma %g %g %g", s,
                  s * uniform(0.6, 1.6), s * uniform(0.6, 1.6), g, g * uniform(0.5, 1.5),
                  g * uniform(0.5, 1.5));
    else
        add_words(words, size, " -diffuse_sigma %g -diffuse_gamma %g", s, g);
    if (chance(0.3))
        add_words(words, size, " -diffuse_F unperturbed");
    if (chance(0.3))
        add_words(words, size, " -dispersion %g -dispsteps 4", log_uniform(0.05, 4));
    if (chance(0.3))
        add_words(words, size, " -osc %g -phisteps 4", log_uniform(0.1, 3));
    if (chance(0.3))
        add_words(words, size, " -mosaic %g -mosaic_model gauss -mosaic_dom 9",
                  log_uniform(0.03, 1));
    if (chance(0.3))
        add_words(words, size, " -detector_rotx %g -twotheta %g", uniform(-20, 20),
                  uniform(-20, 20));
    if (chance(0.2))
        add_words(words, size, " -dmin 3.5");
    if (chance(0.2))
        add_words(words, size, " -detector_thick 300 -sensor Si -thicksteps 2");
    add_words(words, size, " -oversample %d", chance(0.7) ? 1 : 3);
}

/** A random scene: some pixels against the direct sum. */
static void one_scene(int seed, int pixels)
{
    char words[2048];
    double sum = 0, direct = 0, worst = 0, want, place[2] = {0};
    nb_sim *sim;
    const nb_scene *sc;
    float *image;
    state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
    uniform(0, 1);
    random_scene(words, sizeof words);
    sim = make_sim(words);
    image = render(sim);
    sc = &sim->model.scene;
    for (int i = 0; i < pixels; i++) {
        int f = (int)uniform(0, sc->panels->columns),
            s = (int)uniform(0, sc->panels->rows);
        double got = image[s * sc->panels->columns + f], error;
        nb_scene own = *sc;
        own.factors.table = sim->model.at_rest;
        want =
            nb_pixel_diffuse(&own, &sim->model.diffuse, 0, sc->panels, sc->sensors, f, s);
        error = want > 0 ? fabs(got / want - 1) : got > 0;
        sum += got;
        direct += want;
        if (error > worst) {
            worst = error;
            place[0] = f;
            place[1] = s;
        }
    }
    if (getenv("NB_SHOW"))
        printf("# %d worst %.1e sum %.1e: %s\n", seed, worst,
               direct > 0 ? sum / direct - 1 : 0, words);
    if (!(worst < 5e-3) || !(fabs(sum - direct) < 1e-3 * direct))
        fail_msg("scene %d, %s: %.3g at pixel %g %g, the sum %.3g", seed, words, worst,
                 place[0], place[1], sum / direct - 1);
    free(image);
    nb_sim_free(sim);
}

static void planes_agree_with_the_direct_sum(void **s)
{
    const int scenes = getenv("NB_BIG") ? 300 : 6;
    (void)s;
    need_fftw();
    for (int i = 0; i < scenes; i++)
        one_scene(i, getenv("NB_BIG") ? 20 : 4);
}

/** Frames share a table only if their forms have the same bytes. */
static void forms_do_not_depend_on_the_orientation(void **s)
{
    nb_diffuse first;
    (void)s;
    need_fftw();
    for (int i = 0; i < 24; i++) {
        char words[300];
        nb_sim *sim;
        snprintf(
            words, sizeof words,
            "%s -N 5 -lambda 1 -distance 50 -pixel 1 -detpixels 8 -misset %.17g %.17g "
            "%.17g -diffuse_sigma 0.4 -diffuse_gamma 10",
            crystals[1], uniform(-180, 180), uniform(-90, 90), uniform(-180, 180));
        sim = make_sim(words);
        if (i == 0)
            first = sim->model.diffuse;
        assert_int_equal(sim->model.diffuse.n_forms, first.n_forms);
        assert_memory_equal(sim->model.diffuse.forms, first.forms,
                            (size_t)first.n_forms * sizeof *first.forms);
        nb_sim_free(sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(planes_agree_with_the_direct_sum),
                                       TEST(forms_do_not_depend_on_the_orientation)};
    return RUN_TESTS("diffuse", tests);
}
