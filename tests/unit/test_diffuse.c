/* SPDX-License-Identifier: MIT */
/* Diffuse scattering: compares planes and tables with the direct sum of every reflection,
 * order and step. Also tests which frames share a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../src/base/store.h"
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

/* Flags of every compared scene, and a blank. */
#define SCENE "-distance 100 -N 30 -fluence 1e26 -nointerpolate -diffuse_only "

/* in pixels: errors are relative to the brightest pixel within this distance */
enum { NEAR = 16 };
#define NO_LIGHT 1e-9 /* photons of a dark pixel */
#define PIXEL 1e-2    /* limit of errors over the brightest pixel nearby */
#define SUM 1e-3      /* limit of the error of an image's sum, over the sum */

/** Adds random flags of sources, phi steps and domains; returns the number of steps of a
 * pixel. */
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
        steps *= 5; /* the number of sources inside a disc */
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

/** Adds a crystal with random edges where its group allows them; edges that the group
 * makes equal stay equal. */
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

/** Adds random motions; returns gamma of Gaussian halos, else 0. */
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

/** Edge of an image and width of its border, which is not compared, in pixels. */
typedef struct picture_part {
    int edge, border;
} picture_part;

/** Pixels from the middle of a halo to its dark end, or 0 for gamma 0. At least NEAR, and
 * 60 at most to save time. */
static int border_of(double gamma, double pixel)
{
    return gamma > 0 ? (int)fmin(fmax(NEAR, 3 * 100 / (2 * NB_PI * gamma * pixel)), 60)
                     : 0;
}

/** Makes a random scene whose reference needs about `budget` sums of all reflections. */
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

/** Like nb_source_sum in pixel.h: sum over sources and orientations along one ray. */
static double source_sum(const nb_scene *sc, const nb_diffuse *d, int table,
                         const nb_ray *ray)
{
    double sum = 0;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        nb_vec3 q = nb_scattering_vector(source, ray->direction);
        double term = 0;
        if (nb_culled(&sc->factors, q))
            continue;
        for (int o = 0; o < sc->lattice.n_orientations; o++) {
            const nb_orientation *cell = &sc->lattice.orientations[o];
            term += nb_diffuse_at(d, &sc->factors.table, table, nb_dot(cell->a, q),
                                  nb_dot(cell->b, q), nb_dot(cell->c, q));
        }
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, source->incident,
                                    ray->direction, sc->beam.polar_axis);
        sum += source->weight * term;
    }
    return sum;
}

/** Photons of the diffuse light in pixel (f, s) of a panel with this sensor. `table`:
 * number of the table of F. */
static double pixel_diffuse(const nb_scene *sc, const nb_diffuse *d, int table,
                            const nb_panel *panel, const nb_sensor *sensor, int f, int s)
{
    int layer, subf, subs, os = sc->oversample;
    double sum = 0;
    for (layer = 0; layer < sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++) {
                nb_ray ray =
                    nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, subf),
                              nb_subpixel(panel->pixel_slow, os, s, subs), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * source_sum(sc, d, table, &ray);
            }
    return sc->intensity_scale * sum * nb_cached_factors(sc, panel, sensor, f, s);
}

/** Sums every step, reflection and order for the pixels inside the border. Copies the
 * border from the image. */
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
        direct[i] = inside ? pixel_diffuse(&sc, &sim->model.diffuse, 0, sc.panels,
                                           sc.sensors, f, s)
                           : image[i];
    }
    nb_free(F);
    return direct;
}

/** Brightest pixel at most `reach` pixels away. Errors are relative to its value. */
static double measure_of(const double *direct, picture_part p, int f, int s, int reach)
{
    double brightest = 0;
    for (int i = s - reach; i <= s + reach; i++)
        for (int j = f - reach; j <= f + reach; j++)
            if (i >= 0 && j >= 0 && i < p.edge && j < p.edge)
                brightest = fmax(brightest, direct[i * p.edge + j]);
    return brightest > NO_LIGHT ? brightest : 0;
}

/** Error of the worst pixel, and of the sum of an image. */
typedef struct scene_errors {
    double pixel, sum;
} scene_errors;

static scene_errors errors_of(const float *image, const double *direct, picture_part p)
{
    scene_errors e = {0, 0};
    double sum = 0, all = 0, near = 0;
    for (int s = p.border; s < p.edge - p.border; s++)
        for (int f = p.border; f < p.edge - p.border; f++) {
            const double of = measure_of(direct, p, f, s,
                                         p.border > NEAR ? p.border : NEAR),
                         want = direct[s * p.edge + f], got = image[s * p.edge + f];
            e.pixel = fmax(e.pixel, of > 0 ? fabs(got - want) / of : got > NO_LIGHT);
            sum += got;
            all += want;
            near += of;
        }
    /* between Gaussian halos the light is 0, so a relative error has no meaning */
    if (near > 0 && all > 1e-3 * near)
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
    if (!(e.pixel <= PIXEL) || !(e.sum <= SUM))
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
    random_state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
    uniform(0, 1);
    p = random_scene(words, sizeof words, budget);
    return compare(words, p);
}

/** NB_SCENES=a-b selects the scenes a to b - 1 of the long test (NB_BIG). */
UNIT_TEST(planes_agree_with_the_direct_sum)
{
    const char *range = getenv("NB_SCENES");
    const double budget = getenv("NB_BIG") ? 10000 : 100;
    int first = 0, scenes = nb_of_form(300, 6, 3);
    scene_errors worst = {0, 0};

    need_fftw();
    if (range)
        assert_int_equal(sscanf(range, "%d-%d", &first, &scenes), 2);
    for (int i = first; i < scenes; i++) {
        scene_errors e = one_scene(i, budget);
        worst.pixel = fmax(worst.pixel, e.pixel);
        worst.sum = fmax(worst.sum, e.sum);
    }
    printf("# %d scenes: at most %.2g of a pixel, %.2g of a sum\n", scenes - first,
           worst.pixel, worst.sum);
    check_below(worst.pixel, PIXEL);
    check_below(worst.sum, SUM);
}

/** The error of cubics between nodes is largest where the Ewald sphere cuts the middle of
 * an isolated halo. */
UNIT_TEST(nodes_hold_halos_that_stand_apart)
{
    const picture_part middle = {50, 19};

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

/** Near the direct beam the light goes to 0 with q^2. */
UNIT_TEST(light_ends_at_the_direct_beam)
{
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

/** Between nodes a pixel has the mean of its sub-pixels; one ray serves all layers of a
 * sensor. */
UNIT_TEST(nodes_hold_sub_pixels_and_layers)
{
    need_fftw();
    check_below(compare("-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -diffuse_sigma 0.3 "
                        "-diffuse_gamma 20 -misset 10 20 30 " SCENE
                        "-lambda 1 -detpixels 14 -pixel 0.11 -Xbeam -20 -Ybeam -3 "
                        "-oversample 3 -detector_thick 110 -sensor Si -thicksteps 3",
                        (picture_part){14, 0})
                    .pixel,
                1e-3);
}

/** Ends of Gaussian halos: after the last reflections, with and without a slope of the
 * light along the detector; and between narrow halos, where all light is of faint orders.
 * The weakest light is 5e-10 of the brightest pixel. */
UNIT_TEST(gauss_halos_hold_where_they_end)
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

    need_fftw();
    for (size_t i = 0; i < (getenv("NB_BIG") ? sizeof scenes / sizeof *scenes : 1); i++) {
        char words[1000];
        scene_errors e;
        snprintf(words, sizeof words, "%s -diffuse_halo gauss " SCENE "%s",
                 scenes[i].crystal, scenes[i].words);
        e = compare(words, scenes[i].part);
        check_below(e.pixel, 5e-3);
        check_below(e.sum, 5e-4);
    }
}

/** A cubic crystal with reflections of random intensity up to an index max_index. */
typedef struct cube {
    nb_diffuse model;
    nb_factor_table factors;
    double *F; /* owned */
    nb_diffuse_source source;
} cube;

static cube cube_of(int edge, int max_index, const char *motions)
{
    const int n = 2 * max_index + 1;
    char words[300];
    cube c = {.F = calloc((size_t)n * (size_t)n * (size_t)n, sizeof *c.F)};
    nb_sim *sim;
    snprintf(words, sizeof words,
             "-hkl hkl/tet.hkl -cell %d %d %d 90 90 90 -detpixels 8 -N 100 %s", edge,
             edge, edge, motions);
    sim = make_sim(words);
    c.model = sim->model.diffuse;
    nb_sim_free(sim);
    for (int i = 0; i < n * n * n; i++) {
        const int h = i / n / n - max_index, k = i / n % n - max_index,
                  l = i % n - max_index;
        if (h * h + k * k + l * l <= max_index * max_index)
            c.F[i] = sqrt(-log(uniform(0, 1)));
    }
    c.factors = (nb_factor_table){.hmin = -max_index,
                                  .kmin = -max_index,
                                  .lmin = -max_index,
                                  .nh = n,
                                  .nk = n,
                                  .nl = n,
                                  .F = c.F,
                                  .n_tables = 1};
    c.source = (nb_diffuse_source){
        .edge = {edge, edge, edge}, .reach = (double)max_index / edge, .threads = 2};
    return c;
}

/** The table of the cube; the caller frees it. */
static nb_diffuse_table *table_of_cube(cube *c)
{
    nb_diffuse_table *table;
    nb_error err;
    c->source.model = &c->model;
    c->source.factors = &c->factors;
    if (nb_diffuse_table_new(&c->source, &table, &err))
        fail_msg("%s", err.message);
    return table;
}

/** Errors at random points of the table: the largest relative error, and the error of the
 * sum. Where Gaussian halos end, errors are relative to 1e-9 of the light at the middle
 * of a halo. */
static scene_errors cube_errors(cube *c, int points)
{
    const clock_t start = clock();
    nb_diffuse_table *t = table_of_cube(c);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    scene_errors e = {0, 0};
    const double dark = nb_diffuse_at(&c->model, &c->factors, 0, 2, 1, c->factors.nh / 3);
    double sum = 0, all = 0;
    for (int i = 0; i < points; i++) {
        double h[3], want, got;
        for (int k = 0; k < 3; k++)
            h[k] = uniform(-0.57, 0.57) * c->factors.nh / 2;
        want = nb_diffuse_at(&c->model, &c->factors, 0, h[0], h[1], h[2]);
        got = nb_diffuse_look(t, h[0], h[1], h[2]) * c->model.scale;
        e.pixel = fmax(e.pixel, fabs(got - want) / (want + c->model.gauss * 1e-9 * dark));
        sum += got;
        all += want;
    }
    e.sum = fabs(sum / all - 1);
    if (getenv("NB_SHOW"))
        printf("# cell %g gamma %g %s to index %d: %d points an index, near to u %.3g, "
               "%.2f of %.2f MB, %.2f s: worst %.1e, sum %.1e\n",
               c->source.edge[0], c->model.gamma, c->model.gauss ? "gauss" : "exp",
               c->factors.nh / 2, t->parts->per[0], sqrt(t->parts->near2),
               nb_diffuse_table_bytes(t) / 1e6, nb_diffuse_table_needs(&c->source) / 1e6,
               seconds, e.pixel, e.sum);
    nb_shared_drop(t);
    return e;
}

/** Tests short and long correlations in small and large cells. Depending on these, tables
 * are made from whole halos, from soft halos and the reflections near a sample, or from
 * all reflections one by one. */
UNIT_TEST(tables_agree_with_the_direct_sum)
{
    static const int gammas[] = {2, 20, 60, 200}, cells[] = {15, 40, 80, 150};
    const int big = getenv("NB_BIG") != NULL;

    need_fftw();
    random_state = 31;
    /* steps of 7 still include every gamma and kind of halo */
    for (int i = 0; i < 32; i += big ? 1 : 7) {
        const int edge = cells[i / 4 % 4],
                  max_index = big ? (int)fmin(edge / 2, 30) : 5 + edge / 30;
        char motions[200];
        scene_errors e;
        cube c;
        snprintf(motions, sizeof motions,
                 "-diffuse_sigma %g -diffuse_gamma %d -diffuse_F unperturbed%s",
                 fmin(0.25 * edge / max_index, 5), gammas[i % 4],
                 i < 16 ? "" : " -diffuse_halo gauss");
        c = cube_of(edge, max_index, motions);
        c.source.direct = i % 5 == 4;
        e = cube_errors(&c, big ? 100 : 40);
        check_below(e.pixel, PIXEL);
        check_below(e.sum, SUM);
        free(c.F);
    }
}

/** Any number of threads makes the same bytes; a table above half of the free memory is
 * refused. */
UNIT_TEST(tables_do_not_depend_on_threads)
{
    cube c = cube_of(40, 6, "-diffuse_sigma 1.5 -diffuse_gamma 9");
    nb_diffuse_table *one, *many;
    const nb_diffuse_part *a, *b;
    nb_error err;

    need_fftw();
    c.source.threads = 1;
    one = table_of_cube(&c);
    c.source.threads = 5;
    many = table_of_cube(&c);
    a = one->parts;
    b = many->parts;
    assert_true(a->per[0] > 1 && one->orders > 3);
    assert_memory_equal(a->n, b->n, sizeof a->n);
    assert_memory_equal(
        a->c, b->c, (size_t)a->n[0] * (size_t)a->n[1] * (size_t)a->n[2] * sizeof *a->c);
    nb_shared_drop(one);
    nb_shared_drop(many);
    c.source.reach = 1000;
    assert_int_equal(nb_diffuse_table_new(&c.source, &one, &err), NB_ERR_NOMEM);
    assert_non_null(strstr(err.message, "-dmin"));
    free(c.F);
}

/** A table ends at -dmin, and so does the light; nothing changes inside the limit. */
UNIT_TEST(tables_end_at_dmin)
{
    enum { EDGE = 120 };
    const char *limits[] = {"", " -dmin 5"};
    double bytes[2];
    float *images[2];
    int inside = 0, dark = 0;

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
        bytes[k] = nb_diffuse_table_bytes(sim->light->table);
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

/** Forms have equal bytes for any orientation, as otherwise frames would not share a
 * table. */
UNIT_TEST(forms_do_not_depend_on_the_orientation)
{
    nb_diffuse first;

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

/** Takes the table of this crystal, with sigma times a factor; the caller drops it. */
static const nb_diffuse_table *table_of(nb_sim *sim, double factor)
{
    nb_diffuse model = sim->model.diffuse;
    const nb_diffuse_source source = {
        &model, &sim->model.at_rest, 0, {32, 32, 40}, 0.1, 0, 1};
    const nb_diffuse_table *table;
    nb_error err;
    model.sigma *= factor;
    if (nb_light_table_take(&sim->in, &source, &table, &err))
        fail_msg("%s", err.message);
    return table;
}

/* Frames may alternate between eight tables. */
UNIT_TEST(a_few_tables_are_kept)
{
    nb_sim *sim;
    const nb_diffuse_table *first, *other;

    need_fftw();
    sim = make_sim("-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -default_F 0 -detpixels 8 "
                   "-diffuse_sigma 0.2 -diffuse_gamma 3");
    first = table_of(sim, 1);
    for (int i = 1; i < 24; i++) {
        other = table_of(sim, 1 + 0.01 * (i % 8));
        assert_int_equal(other == first, i % 8 == 0);
        nb_shared_drop(other);
    }
    nb_shared_drop(first);
    nb_sim_free(sim);
}
