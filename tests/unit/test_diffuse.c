/* SPDX-License-Identifier: MIT */
/* Diffuse scattering: planes and single values against the direct sum of every reflection, order and step, its laws, and
 * the bounds behind its short cuts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/shared.h"
#include "../../src/light/diffuse_look.h"
#include "../../src/light/diffuse_table.h"
#include "../../src/sim/light.h"
#include "diffuse_sims.h"

static void add_words(char *words, size_t size, const char *format, ...)
{
    size_t n = strlen(words);
    va_list args;
    va_start(args, format);
    vsnprintf(words + n, size - n, format, args);
    va_end(args);
}

/* Flags of every scene that is compared, and a blank. */
#define SCENE "-distance 100 -N 30 -fluence 1e26 -nointerpolate -diffuse_only "

enum { NEAR = 16 };   /* pixels: Gaussian halos are right beside the brightest of them */
#define NO_LIGHT 1e-9 /* photons in a pixel */

/** Steps of a pixel by their kinds; words of the flags that make them. */
static int random_steps(char *words, size_t size)
{
    const char *const spectra[] = {"gauss", "tophat", "sase -pulse_length 5"};
    int steps = 1, n;
    if (chance(0.3)) {
        n = 2 + (int)uniform(0, 3);
        add_words(words, size, " -spectrum %s -bandwidth %g -wavelengths %d",
                  spectra[(int)uniform(0, 3)], log_uniform(0.3, 4), n);
        steps *= n;
    } else if (chance(0.1)) {
        add_words(words, size, " -divergence %g -divsteps 3", log_uniform(0.1, 5));
        steps *= 5; /* those inside of a disc */
    }
    if (chance(0.5)) {
        add_words(words, size, " -phi %g -osc %g -phisteps 4", uniform(-90, 90),
                  log_uniform(0.1, 3));
        steps *= 4;
    }
    if (chance(0.3)) {
        add_words(words, size, " -mosaic %g -mosaic_model gauss -mosaic_dom 5",
                  log_uniform(0.03, 1));
        steps *= 5;
    }
    if (chance(0.2)) {
        add_words(words, size, " -detector_thick 300 -sensor Si -thicksteps 2");
        steps *= 2;
    }
    n = chance(0.7) ? 1 : 2;
    add_words(words, size, " -oversample %d", n);
    return steps * n * n;
}

/** A crystal, whose edges another may have too: only those that its group has alike stay alike. */
static void random_cell(char *words, size_t size)
{
    const int kind = (int)uniform(0, CRYSTALS);
    const double a = uniform(22, 50), b = uniform(22, 50), c = uniform(22, 50);
    add_words(words, size, "%s", crystals[kind]);
    if (kind == 0 && chance(0.7))
        add_words(words, size, " -cell %g %g %g %g %g %g", a, b, c, uniform(70, 110),
                  uniform(70, 110), uniform(70, 110));
    else if (kind == 2 && chance(0.7))
        add_words(words, size, " -cell %g %g %g 90 90 90", a, b, c);
    else if (kind > 0 && chance(0.7))
        add_words(words, size, " -cell %g %g %g 90 90 %d", a, a, c, kind == 4 ? 120 : 90);
}

/** Returns gamma where halos are Gaussian, else 0. */
static double random_motions(char *words, size_t size)
{
    const double s = log_uniform(0.05, 1.2), g = log_uniform(2, 200);
    const int gauss = chance(0.25);
    if (chance(0.5))
        add_words(words, size, " -diffuse_sigma %g %g %g -diffuse_gamma %g %g %g", s,
                  fmin(s * uniform(0.6, 1.6), 1.2), fmin(s * uniform(0.6, 1.6), 1.2), g,
                  fmin(g * uniform(0.5, 1.5), 200), fmin(g * uniform(0.5, 1.5), 200));
    else
        add_words(words, size, " -diffuse_sigma %g -diffuse_gamma %g", s, g);
    add_words(words, size, "%s%s", chance(0.3) ? " -diffuse_F unperturbed" : "",
              gauss ? " -diffuse_halo gauss" : "");
    return gauss ? g : 0;
}

/** An image, whose pixels beyond a border are compared. */
typedef struct picture_part {
    int edge, border;
} picture_part;

/** Pixels within which a halo of this gamma gets dark: at least NEAR, at most as many as a test can afford. */
static int border_of(double gamma, double pixel)
{
    return gamma > 0 ? (int)fmin(fmax(NEAR, 3 * 100 / (2 * NB_PI * gamma * pixel)), 60)
                     : 0;
}

/** A random scene of about `budget` sums over all reflections. */
static picture_part random_scene(char *words, size_t size, double budget)
{
    double pixel, gamma;
    picture_part p;
    int steps, compared;
    words[0] = 0;
    random_cell(words, size);
    gamma = random_motions(words, size);
    steps = random_steps(words, size);
    compared = (int)fmin(fmax(sqrt(budget / steps), 8), 60);
    pixel = log_uniform(0.05, 80.0 / (compared + (gamma > 0 ? 2 * NEAR : 0)));
    p.border = border_of(gamma, pixel);
    p.edge = compared + 2 * p.border;
    add_words(words, size,
              " -misset %g %g %g " SCENE
              "-lambda %g -polar %g -detpixels %d -pixel %g -Xbeam %g -Ybeam %g",
              uniform(-90, 90), uniform(-90, 90), uniform(-90, 90), uniform(0.9, 1.3),
              uniform(-1, 1), p.edge, pixel, p.edge * pixel / 2 + uniform(-40, 40),
              p.edge * pixel / 2 + uniform(-40, 40));
    if (chance(0.3))
        add_words(words, size, " -detector_rotx %g -twotheta %g", uniform(-20, 20),
                  uniform(-20, 20));
    if (chance(0.2))
        add_words(words, size, " -dmin 3.5");
    return p;
}

/** Every pixel inside of the border by the sum of every step, reflection and order; the border is that of the image. */
static double *direct_image(const nb_sim *sim, picture_part p, const float *image)
{
    nb_scene sc = sim->model.scene;
    const int edge = p.edge;
    double *direct = calloc((size_t)edge * (size_t)edge, sizeof *direct), *F;
    assert_int_equal(nb_light_factors(sim, &sc.factors.table, &F, NULL), NB_OK);
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
    for (int i = 0; i < edge * edge; i++) {
        const int f = i % edge, s = i / edge;
        const int inside =
            f >= p.border && s >= p.border && f < edge - p.border && s < edge - p.border;
        direct[i] = inside ? nb_pixel_diffuse(&sc, &sim->model.diffuse, 0, sc.panels,
                                              sc.sensors, f, s)
                           : image[i];
    }
    nb_free(F);
    return direct;
}

/** The brightest of the pixels up to `reach` about a pixel: an error is a part of it. */
static double measure_of(const double *direct, picture_part p, int f, int s, int reach)
{
    double most = 0;
    for (int i = s - reach; i <= s + reach; i++)
        for (int j = f - reach; j <= f + reach; j++)
            if (i >= 0 && j >= 0 && i < p.edge && j < p.edge)
                most = fmax(most, direct[i * p.edge + j]);
    return most > NO_LIGHT ? most : 0;
}

/** Errors: of the worst pixel, and of the sum of an image. */
typedef struct scene_errors {
    double pixel, sum;
} scene_errors;

static scene_errors errors_of(const float *image, const double *direct, picture_part p)
{
    scene_errors e = {0, 0};
    double sum = 0, all = 0, near = 0;
    for (int s = p.border; s < p.edge - p.border; s++)
        for (int f = p.border; f < p.edge - p.border; f++) {
            const double of = measure_of(direct, p, f, s, p.border),
                         want = direct[s * p.edge + f], got = image[s * p.edge + f];
            e.pixel = fmax(e.pixel, of > 0 ? fabs(got - want) / of : got > NO_LIGHT);
            sum += got;
            all += want;
            near += of;
        }
    if (near > 0 &&
        all > 1e-3 * near) /* not between Gaussian halos, where there is no light */
        e.sum = fabs(sum / all - 1);
    return e;
}

static scene_errors compare(const char *words, picture_part p)
{
    nb_sim *sim = make_sim(words);
    float *image = render(sim);
    double *direct = direct_image(sim, p, image);
    const scene_errors e = errors_of(image, direct, p);
    if (getenv("NB_SHOW"))
        printf("# worst %.1e sum %.1e: %s\n", e.pixel, e.sum, words);
    if (!(e.pixel <= 5e-3) || !(e.sum <= 5e-4))
        print_error("%s: %.3g of a pixel, %.3g of the sum\n", words, e.pixel, e.sum);
    free(direct);
    free(image);
    nb_sim_free(sim);
    return e;
}

static scene_errors one_scene(int seed, double budget)
{
    char words[2048];
    picture_part p;
    state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
    uniform(0, 1);
    p = random_scene(words, sizeof words, budget);
    return compare(words, p);
}

/** NB_SCENES=a-b takes scenes a to b - 1 of the long form. */
static void planes_agree_with_the_direct_sum(void **s)
{
    const char *range = getenv("NB_SCENES");
    const double budget = getenv("NB_BIG") ? 10000 : 200;
    int first = 0, scenes = getenv("NB_BIG") ? 300 : 6;
    scene_errors most = {0, 0};
    (void)s;
    need_fftw();
    if (range)
        assert_int_equal(sscanf(range, "%d-%d", &first, &scenes), 2);
    for (int i = first; i < scenes; i++) {
        scene_errors e = one_scene(i, budget);
        most.pixel = fmax(most.pixel, e.pixel);
        most.sum = fmax(most.sum, e.sum);
    }
    printf("# %d scenes: at most %.2g of a pixel, %.2g of a sum\n", scenes - first,
           most.pixel, most.sum);
    check_below(most.pixel, 5e-3);
    check_below(most.sum, 5e-4);
}

/** Where the Ewald sphere cuts the middle of a halo that no others cover, a cubic between nodes errs most. */
static void nodes_hold_halos_that_stand_apart(void **s)
{
    const picture_part middle = {50, 19};
    (void)s;
    need_fftw();
    check_below(
        compare(
            "-hkl hkl/tet.hkl -cell 34.9372 34.9372 43.8766 90 90 90 -diffuse_sigma "
            "0.300514 -diffuse_gamma 25.6005 -phi 88.3682 -oversample 1 -misset -45.8312 "
            "-33.5701 58.8613 " SCENE
            "-lambda 1.03728 -detpixels 50 -pixel 0.0612224 -Xbeam -6.302 -Ybeam -4.058",
            middle)
            .pixel,
        5e-3);
}

/** Beside the direct beam the light goes to 0 with q^2, which cubics between nodes do not follow. */
static void light_ends_at_the_direct_beam(void **s)
{
    (void)s;
    need_fftw();
    check_below(
        compare("-hkl hkl/hex.hkl -cell 47.4 47.4 39.5 90 90 120 -sg P6 -diffuse_sigma "
                "0.06 -diffuse_gamma 7 -divergence 0.23 -divsteps 3 -oversample 1 "
                "-misset -9 39 -18 " SCENE
                "-lambda 1.093 -detpixels 14 -pixel 0.2323 -Xbeam 1.55 -Ybeam 1.69",
                (picture_part){14, 0})
            .pixel,
        5e-3);
}

/** Between nodes a pixel has the mean of its sub-pixels, and one ray serves the layers of a sensor. */
static void nodes_hold_sub_pixels_and_layers(void **s)
{
    (void)s;
    need_fftw();
    check_below(compare("-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -diffuse_sigma 0.3 "
                        "-diffuse_gamma 20 -misset 10 20 30 " SCENE
                        "-lambda 1 -detpixels 14 -pixel 0.11 -Xbeam -20 -Ybeam -3 "
                        "-oversample 3 -detector_thick 110 -sensor Si -thicksteps 3",
                        (picture_part){14, 0})
                    .pixel,
                1e-3);
}

/** Where Gaussian halos end: beyond the last reflections (with and without a slope along the detector), and between narrow
 * halos, where faint orders have all of the light. The least is 5e-10 of the brightest pixel. */
static void gauss_halos_hold_where_they_end(void **s)
{
    static const struct {
        picture_part part;
        const char *crystal, *words;
    } scenes[] = {
        {{38, 16},
         "-hkl hkl/hex.hkl -cell 48.0516 48.0516 38.2926 90 90 120 -sg P6",
         "-diffuse_sigma 0.16295 -diffuse_gamma 186.293 -spectrum tophat -bandwidth "
         "3.21944 -wavelengths 3 -oversample 1 -misset -81.4089 -84.5533 62.2634 -lambda "
         "1.04594 -detpixels 38 -pixel 0.0824135 -Xbeam 3.2805 -Ybeam 5.53466"},
        {{62, 28},
         "-hkl hkl/tri.hkl -cell 36.3299 22.319 38.253 73.6803 79.3361 96.9113",
         "-diffuse_sigma 0.168379 0.165076 0.26773 -diffuse_gamma 9.64613 13.3463 5.7885 "
         "-phi -66.3712 -osc 0.340568 -phisteps 4 -oversample 1 -misset 62.1899 43.7066 "
         "-21.7922 -lambda 1.04364 -detpixels 62 -pixel 0.170707 -Xbeam 44.3349 -Ybeam "
         "-23.6999"},
        {{41, 19},
         "-hkl hkl/tet.hkl -cell 33.8262 33.8262 33.1837 90 90 90 -sg P4",
         "-diffuse_sigma 0.30277 0.323865 0.293466 -diffuse_gamma 14.4707 10.9754 "
         "15.3806 "
         "-spectrum gauss -bandwidth 1.46496 -wavelengths 4 -mosaic 0.222274 "
         "-mosaic_model gauss -mosaic_dom 5 -oversample 2 -misset 52.0148 76.1675 81.868 "
         "-lambda 0.987214 -detpixels 41 -pixel 0.169173 -Xbeam -0.317977 -Ybeam "
         "-28.0374 "
         "-detector_rotx 3.36923 -twotheta -6.43446"}};
    (void)s;
    need_fftw();
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        char words[1000];
        scene_errors e;
        snprintf(words, sizeof words, "%s -diffuse_halo gauss " SCENE "%s",
                 scenes[i].crystal, scenes[i].words);
        e = compare(words, scenes[i].part);
        check_below(e.pixel, 5e-3);
        check_below(e.sum, 5e-4);
    }
}

/** The worst of some points of a table against the direct sum, as a part of it: those that the grids of all orders have. */
static double worst_point(const char *motions, double reach)
{
    char words[400];
    nb_sim *sim;
    nb_diffuse_source source = {NULL, NULL, 0, {24, 30, 36}, reach, 2,
                                0,    NULL, 0}; /* edges of crystals[0] */
    nb_diffuse_table *table;
    nb_error err;
    double worst = 0;
    snprintf(words, sizeof words, "%s -lambda 1 -distance 200 -detpixels 8 -N 30 %s",
             crystals[0], motions);
    sim = make_sim(words);
    source.model = &sim->model.diffuse;
    source.factors = &sim->model.at_rest;
    if (nb_diffuse_table_new(&source, &table, &err))
        fail_msg("%s", err.message);
    for (int i = 0; i < 40; i++) {
        double h[3], want;
        do
            for (int k = 0; k < 3; k++)
                h[k] = rint(uniform(-1, 1) * reach * source.edge[k] * 0.5);
        while (h[0] == 0 && h[1] == 0 && h[2] == 0); /* X = 0 */
        want = nb_diffuse_at(source.model, source.factors, 0, h[0], h[1], h[2]) /
               source.model->scale;
        worst = fmax(worst, fabs(nb_diffuse_look(table, h[0], h[1], h[2]) / want - 1));
    }
    printf("# %s: %d orders to X = %.2g, %s: %.2g at points\n", motions, table->orders,
           table->X_most, table->parts[0].near2 > 0 ? "split" : "whole", worst);
    nb_diffuse_table_free(table);
    nb_sim_free(sim);
    return worst;
}

static void tables_are_exact_at_their_points(void **s)
{
    static const char *const motions[] = {
        "-diffuse_sigma 0.5 -diffuse_gamma 5",
        "-diffuse_sigma 0.3 -diffuse_gamma 80",
        "-diffuse_sigma 0.3 -diffuse_gamma 4 -diffuse_halo gauss",
        "-diffuse_sigma 0.2 0.3 0.4 -diffuse_gamma 8 3 12 -diffuse_F unperturbed",
        "-diffuse_sigma 0.05 -diffuse_gamma 20",
        "-diffuse_sigma 1.2 -diffuse_gamma 3",
        "-diffuse_sigma 1.2 -diffuse_gamma 40 -diffuse_halo gauss"};
    const int n = getenv("NB_BIG") ? 7 : 2;
    (void)s;
    need_fftw();
    for (int i = 0; i < n; i++)
        check_below(worst_point(motions[i], getenv("NB_BIG") ? 0.3 : 0.12), 1e-6);
}

/** With -dmin a table ends there, and so does the light; inside of it nothing changes. */
static void tables_end_at_dmin(void **s)
{
    enum { EDGE = 120 };
    const char *limits[] = {"", " -dmin 5"};
    double bytes[2];
    float *images[2];
    int inside = 0, dark = 0;
    (void)s;
    need_fftw();
    for (int k = 0; k < 2; k++) {
        char words[300];
        nb_sim *sim;
        snprintf(words, sizeof words,
                 "%s -N 5 -lambda 1 -distance 80 -pixel 1 -detpixels %d -fluence 1e26 "
                 "-misset 10 20 30 -diffuse_only -diffuse_sigma 0.4 -diffuse_gamma 10%s",
                 crystals[1], EDGE, limits[k]);
        sim = make_sim(words);
        images[k] = render(sim);
        bytes[k] = sim->light->table_bytes;
        nb_sim_free(sim);
    }
    check_below(bytes[1], 0.3 * bytes[0]);
    for (int i = 0; i < EDGE * EDGE; i++) {
        const double f = i % EDGE + 0.5 - EDGE / 2,
                     r = hypot(f, i / EDGE + 0.5 - EDGE / 2);
        const double q = 2 * sin(atan(r / 80) / 2);
        if (q < 0.17) {
            check_ratio(images[1][i], images[0][i], 5e-3);
            inside++;
        } else if (q > 0.23) {
            assert_true(images[1][i] == 0);
            dark++;
        }
    }
    assert_true(inside > 500 && dark > 1000);
    free(images[0]);
    free(images[1]);
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

/* --- tables of a range of B and edges --- */

/** Shares of reflections anywhere, at any B and edges of a range, by the weights of its tables. */
static void weights_hold_every_reflection(void **state_)
{
    int families = 0;
    (void)state_;
    state = 5;
    for (int i = 0; i < 400; i++) {
        const double half = log_uniform(0.5, 30), width = log_uniform(1e-4, 0.015),
                     s_most = uniform(0.1, 0.8), first = uniform(-20, 20);
        const nb_diffuse_range range = {{first, first + 2 * half}, {1 - width, 1 + width}};
        const double B = uniform(range.B[0], range.B[1]),
                     scale = uniform(range.scale[0], range.scale[1]);
        nb_diffuse_nodes nodes;
        double weight[NB_DIFFUSE_TABLES];
        const int n = nb_diffuse_choose_nodes(&range, s_most, &nodes);
        assert_true(n <= NB_DIFFUSE_TABLES);
        if (!n)
            continue;
        families++;
        nb_diffuse_node_weights(&nodes, B, scale, weight);
        for (int k = 0; k < 20; k++) {
            const double x = uniform(0, s_most * s_most / 2), power = uniform(0, 4);
            double sum = 0;
            for (int j = 0; j < n; j++)
                sum += weight[j] * exp(-nb_diffuse_node_B(&nodes, j) * x) *
                       pow(nb_diffuse_node_scale(&nodes, j), power);
            check_ratio(sum, exp(-B * x) * pow(scale, power), 5e-3);
        }
    }
    assert_true(families > 200);
}

/** A crystal of a family at B, with edges of a factor. */
static nb_sim *family_sim(const char *crystal, const char *more, double B, double scale)
{
    char words[600];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    snprintf(words, sizeof words,
             "%s -N 5 -lambda 1 -distance 260 -pixel 2 -detpixels 48 -fluence 1e26 "
             "-default_F 0 "
             "-misset 10 20 30 -diffuse_only -oversample 1 -Badd %.12g %s",
             crystal, B, more);
    take_words(words, &cfg);
    cfg.expand_list = 1; /* as in a series */
    memcpy(cfg.diffuse_tables, (double[8]){-10, 10, 0.99, 1.01, 0, 0, 0, 0.32},
           sizeof cfg.diffuse_tables);
    memcpy(cfg.diffuse_tables + 4, cfg.cell, 3 * sizeof *cfg.cell);
    for (int i = 0; i < 3; i++)
        cfg.cell[i] *= scale;
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    return sim;
}

/** The light of a crystal by the tables of a family, against the direct sum of this crystal. */
static void family_place(const char *crystal, const char *more, double B, double scale)
{
    nb_sim *sim = family_sim(crystal, more, B, scale);
    float *image = render(sim);
    nb_scene sc = sim->model.scene;
    double got = 0, want = 0;
    assert_true(sim->light->tables > 1);
    sc.factors.table = sim->model.at_rest;
    for (int i = 0; i < 8; i++) {
        const int f = (int)uniform(0, 48), s = (int)uniform(0, 48);
        const double direct =
            nb_pixel_diffuse(&sc, &sim->model.diffuse, 0, sc.panels, sc.sensors, f, s);
        check_ratio(image[s * 48 + f], direct, 5e-3);
        got += image[s * 48 + f];
        want += direct;
    }
    check_ratio(got, want, 1e-3);
    if (getenv("NB_SHOW"))
        printf("# family %g %g, %d tables of %.2g MB: sum %.1e\n", B, scale,
               sim->light->tables, sim->light->table_bytes / 1e6, got / want - 1);
    free(image);
    nb_sim_free(sim);
}

/** Ends and middle of a range, wide and narrow halos, several forms, and what multiplies F. */
static void families_agree_with_the_direct_sum(void **s)
{
    (void)s;
    need_fftw();
    state = 9;
    family_place(crystals[1], "-diffuse_sigma 0.8 -diffuse_gamma 6 -Fscale 3", 10, 1.01);
    family_place(crystals[0], "-diffuse_sigma 0.3 -diffuse_gamma 60", 3, 1.0062);
    family_place(crystals[3],
                 "-diffuse_sigma 0.3 0.4 0.5 -diffuse_gamma 3 4 5 -diffuse_halo gauss "
                 "-diffuse_F unperturbed",
                 -7, 1.008);
}

/** Outside of the range a crystal has a table of its own, with the bytes of one without a range. */
static void crystals_outside_have_their_own_table(void **s)
{
    static const double places[2][2] = {{10.1, 1}, {0, 1.011}};
    (void)s;
    need_fftw();
    for (int i = 0; i < 2; i++) {
        nb_sim *sim = family_sim(crystals[1], "-diffuse_sigma 0.4 -diffuse_gamma 6",
                                 places[i][0], places[i][1]);
        nb_config cfg = *nb_sim_config(sim);
        nb_error err;
        float *image = render(sim), *other;
        assert_int_equal(sim->light->tables, 1);
        for (int k = 0; k < 8; k++)
            cfg.diffuse_tables[k] = NAN;
        if (nb_sim_change(sim, &cfg, &err))
            fail_msg("%s", err.message);
        other = render(sim);
        assert_memory_equal(image, other, 48 * 48 * sizeof *image);
        free(image);
        free(other);
        nb_sim_free(sim);
    }
}

/** The table of this crystal with sigma times a factor; drop it. */
static const nb_light_table *table_of(nb_sim *sim, double factor)
{
    nb_diffuse model = sim->model.diffuse;
    const nb_light_request source = {
        .of = {&model, &sim->model.at_rest, 0, {32, 32, 40}, 0.1, 1, 0, NULL, 0}};
    const nb_light_table *table;
    nb_error err;
    model.sigma *= factor;
    if (nb_light_store_take(sim->in.lights, &source, &table, &err))
        fail_msg("%s", err.message);
    return table;
}

/* Frames may take turns between eight tables. */
static void a_few_tables_are_kept(void **s)
{
    nb_sim *sim;
    const nb_light_table *first, *other;
    (void)s;
    need_fftw();
    sim = make_sim("-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -default_F 0 -detpixels 8 "
                   "-diffuse_sigma 0.2 -diffuse_gamma 3");
    first = table_of(sim, 1);
    for (int i = 1; i < 24; i++) {
        other = table_of(sim, 1 + 0.01 * (i % 8));
        assert_int_equal(other == first, i % 8 == 0);
        nb_shared_drop(other);
    }
    nb_shared_drop(table_of(sim, 2));
    other = table_of(sim, 1); /* the ninth took its place */
    assert_ptr_not_equal(other, first);
    nb_shared_drop(other);
    nb_shared_drop(first);
    nb_sim_free(sim);
}

/** Threads take shifts and planes of a table: each number of them makes the same bytes. */
static void tables_do_not_depend_on_threads(void **s)
{
    nb_sim *sim;
    nb_error err;
    (void)s;
    need_fftw();
    sim = make_sim("-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -default_F 0 -detpixels 8 "
                   "-diffuse_sigma 0.5 -diffuse_gamma 9");
    nb_diffuse_source source = {
        &sim->model.diffuse, &sim->model.at_rest, 0, {32, 32, 40}, 0.2, 1, 0, NULL, 0};
    nb_diffuse_table *one, *many;
    const nb_diffuse_part *a, *b;
    assert_int_equal(nb_diffuse_table_new(&source, &one, &err), 0);
    source.threads = 5;
    assert_int_equal(nb_diffuse_table_new(&source, &many, &err), 0);
    a = one->parts;
    b = many->parts;
    assert_true(a->per[0] > 1 && one->orders > 3);
    assert_memory_equal(a->n, b->n, sizeof a->n);
    assert_memory_equal(
        a->c, b->c, (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2] * sizeof *a->c);
    nb_diffuse_table_free(one);
    nb_diffuse_table_free(many);
    nb_sim_free(sim);
}

/** Tables of a crystal made in little memory: by blocks and a coarser lattice, with points further apart, or both. Against
 * every reflection and order, at points of the tables and between them. */
static void table_in_little_memory(const char *crystal, const char *words, double bytes,
                                   double unit)
{
    char all[300];
    double worst = 0, got_sum = 0, want_sum = 0;
    nb_diffuse_table *table;
    nb_error err = {0};
    nb_sim *sim;
    const nb_model *m;
    snprintf(all, sizeof all, "%s -default_F 0 -detpixels 8 %s", crystal, words);
    sim = make_sim(all);
    m = &sim->model;
    nb_diffuse_source source = {
        &m->diffuse, &m->at_rest,
        0,           {m->crystal.edge[0], m->crystal.edge[1], m->crystal.edge[2]},
        0.3,         1,
        0,           NULL,
        bytes};
    if (nb_diffuse_table_new(&source, &table, &err))
        fail_msg("%s: %s", all, err.message);
    check_above(table->parts->unit[0], unit);
    check_below(table->parts->unit[0], unit * 2.0001);
    for (int i = 0; i < 60; i++) {
        double h[3], direct, got;
        for (int k = 0; k < 3; k++) {
            h[k] = uniform(-0.17, 0.17) * source.edge[k];
            if (i % 2)
                h[k] = rint(h[k] * table->parts->scale[k]) / table->parts->scale[k];
        }
        direct = nb_diffuse_at(&m->diffuse, &m->at_rest, 0, h[0], h[1], h[2]);
        got = nb_diffuse_look(table, h[0], h[1], h[2]) * m->diffuse.scale;
        worst = fmax(worst, fabs(got / direct - 1));
        got_sum += got;
        want_sum += direct;
    }
    if (getenv("NB_SHOW"))
        printf("# %.2g MB for %.2g, %d points an index, unit %.3g, split at %.2g, %d "
               "orders: "
               "worst %.1e, sum %.1e: %s\n",
               bytes / 1e6, nb_diffuse_table_bytes(table) / 1e6, table->parts->per[0],
               table->parts->unit[0], sqrt(table->parts->near2), table->orders, worst,
               got_sum / want_sum - 1, all);
    check_below(worst, 1e-3);
    check_ratio(got_sum, want_sum, 2e-4);
    nb_diffuse_table_free(table);
    nb_sim_free(sim);
}

/** What a run says before it begins. */
static void needs_grow_with_the_cell(void **s)
{
    static const struct {
        int edge, gamma, fits;
    } cells[] = {{80, 10, 1}, {270, 50, 1}, {400, 10, 1}, {1200, 50, 0}};
    (void)s;
    need_fftw();
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char words[300];
        const int a = cells[i].edge;
        nb_sim *sim;
        snprintf(words, sizeof words,
                 "-hkl hkl/tet.hkl -cell %d %d %d 90 90 90 -default_F 0 -lambda 1 "
                 "-distance 100 -pixel 10 -detpixels 8 -oversample 1 -diffuse_sigma 0.4 "
                 "-diffuse_gamma %d",
                 a, a, a, cells[i].gamma);
        sim = make_sim(words);
        assert_int_equal(nb_light_needs(sim) <= NB_DIFFUSE_BYTES, cells[i].fits);
        nb_sim_free(sim);
    }
}

static void little_memory_is_enough(void **s)
{
    (void)s;
    need_fftw();
    state = 31;
    table_in_little_memory(crystals[0], "-diffuse_sigma 0.4 -diffuse_gamma 5", 3e6, 1);
    table_in_little_memory(crystals[1], "-diffuse_sigma 0.4 -diffuse_gamma 9", 3e6, 1);
    table_in_little_memory(crystals[1], "-diffuse_sigma 0.4 -diffuse_gamma 60", 2e6, 1);
    table_in_little_memory(crystals[2], "-diffuse_sigma 0.7 -diffuse_gamma 50 30 40", 1e6,
                           1);
    table_in_little_memory(crystals[3], "-diffuse_sigma 0.5 -diffuse_gamma 1.2", 8e4,
                           1.001);
    table_in_little_memory(crystals[1], "-diffuse_sigma 0.4 -diffuse_gamma 60", 1e5,
                           1.001);
    table_in_little_memory(
        crystals[1], "-diffuse_sigma 0.4 -diffuse_gamma 8 -diffuse_halo gauss", 1e6, 1);
}

/** The tables of a family of this crystal; drop them. */
static const nb_light_table *family_of(nb_sim *sim)
{
    const nb_light_table *table;
    nb_diffuse model;
    nb_light_member place;
    nb_error err;
    nb_light_request source = {
        .of = {
            &sim->model.diffuse, &sim->model.at_rest, 0, {32, 32, 40}, 0.1, 1, 0, NULL, 0}};
    assert_true(nb_light_family_of(&sim->in, &sim->model, &model, &source, &place));
    if (nb_light_store_take(sim->in.lights, &source, &table, &err))
        fail_msg("%s", err.message);
    return table;
}

/** Tables of single crystals do not drive a family out, which costs more. */
static void families_outlive_single_tables(void **s)
{
    nb_sim *sim;
    const nb_light_table *first, *again;
    (void)s;
    need_fftw();
    sim = family_sim(crystals[1], "-diffuse_sigma 0.2 -diffuse_gamma 3", 0, 1);
    first = family_of(sim);
    assert_true(first->n > 1);
    for (int i = 1; i < 12; i++)
        nb_shared_drop(table_of(sim, 1 + 0.01 * i));
    again = family_of(sim);
    assert_ptr_equal(first, again);
    nb_shared_drop(first);
    nb_shared_drop(again);
    nb_sim_free(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(planes_agree_with_the_direct_sum),
                                       TEST(nodes_hold_halos_that_stand_apart),
                                       TEST(light_ends_at_the_direct_beam),
                                       TEST(nodes_hold_sub_pixels_and_layers),
                                       TEST(gauss_halos_hold_where_they_end),
                                       TEST(tables_are_exact_at_their_points),
                                       TEST(tables_end_at_dmin),
                                       TEST(forms_do_not_depend_on_the_orientation),
                                       TEST(weights_hold_every_reflection),
                                       TEST(families_agree_with_the_direct_sum),
                                       TEST(crystals_outside_have_their_own_table),
                                       TEST(a_few_tables_are_kept),
                                       TEST(tables_do_not_depend_on_threads),
                                       TEST(families_outlive_single_tables),
                                       TEST(little_memory_is_enough),
                                       TEST(needs_grow_with_the_cell)};
    return RUN_TESTS("diffuse", tests);
}
