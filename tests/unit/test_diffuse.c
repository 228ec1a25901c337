/* SPDX-License-Identifier: MIT */
/* Diffuse scattering: planes and single values against the direct sum of every reflection, order and step, its laws, and
 * the bounds behind its short cuts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/base/fftw_lib.h"
#include "../../src/base/shared.h"
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

/* --- laws --- */

/** The model of a crystal, with F of an array instead of its own. */
static nb_diffuse model_of(const char *crystal, const char *words)
{
    char all[1024];
    nb_diffuse model;
    nb_sim *sim;
    snprintf(all, sizeof all,
             "%s -lambda 1 -distance 100 -pixel 1 -detpixels 8 -nointerpolate %s",
             crystal, words);
    sim = make_sim(all);
    model = sim->model.diffuse;
    nb_sim_free(sim);
    return model;
}

#define CUBE "-hkl hkl/tet.hkl -cell 8 8 8 90 90 90 "

enum { VOXELS = 8, REACH = 9, FAR = 14 };

/** |F| of a cell of random voxels of 1 A, to REACH. */
static nb_factor_table voxel_factors(const double *rho, double *F)
{
    const int n = 2 * REACH + 1;
    for (int i = 0; i < n * n * n; i++) {
        const int g[3] = {i / n / n - REACH, i / n % n - REACH, i % n - REACH};
        double re = 0, im = 0;
        for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
            int turns = (g[0] * (v / 64) + g[1] * (v / 8 % 8) + g[2] * (v % 8)) & 7;
            re += rho[v] * cos(turns * NB_PI / 4);
            im += rho[v] * sin(turns * NB_PI / 4);
        }
        F[i] = hypot(re, im);
    }
    return (nb_factor_table){.hmin = -REACH,
                             .kmin = -REACH,
                             .lmin = -REACH,
                             .nh = n,
                             .nk = n,
                             .nl = n,
                             .F = F,
                             .n_tables = 1};
}

/** Pairs of voxels at a distance d along an axis of n cells, the first of them at u in its cell. */
static double axis_pairs(int u, int d, int n)
{
    int count = 0;
    for (int cell = 0; cell < n; cell++) {
        int at = cell * VOXELS + u + d;
        count += at >= 0 && at < n * VOXELS;
    }
    return count;
}

/** Products of all pairs of voxels of n^3 cells, by their distance. */
static void pair_products(const double *rho, int n, double *P)
{
    const int wide = 2 * FAR + 1;
    for (int i = 0; i < wide * wide * wide; i++) {
        const int d[3] = {i / wide / wide - FAR, i / wide % wide - FAR, i % wide - FAR};
        double pairs[3][VOXELS];
        P[i] = 0;
        for (int u = 0; u < VOXELS; u++)
            for (int k = 0; k < 3; k++)
                pairs[k][u] = axis_pairs(u, d[k], n);
        for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
            const int u[3] = {v / 64, v / 8 % 8, v % 8};
            int other =
                ((u[0] + d[0]) & 7) * 64 + ((u[1] + d[1]) & 7) * 8 + ((u[2] + d[2]) & 7);
            P[i] += rho[v] * rho[other] * pairs[0][u[0]] * pairs[1][u[1]] * pairs[2][u[2]];
        }
    }
}

/** sum over pairs of exp(-X (1 - C)) - exp(-X), C = exp(-r^2/(2 gamma^2)), of a wave h. */
static double pair_sum(const double *P, double X, double gamma, const double h[3])
{
    const int wide = 2 * FAR + 1;
    double sum = 0;
    for (int i = 0; i < wide * wide * wide; i++) {
        const int d[3] = {i / wide / wide - FAR, i / wide % wide - FAR, i % wide - FAR};
        double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        double C = exp(-r2 / (2 * gamma * gamma));
        sum += P[i] * (exp(-X * (1 - C)) - exp(-X)) *
               cos(2 * NB_PI * (h[0] * d[0] + h[1] * d[1] + h[2] * d[2]) / VOXELS);
    }
    return sum;
}

/** r.m.s. difference between the model and the pairs of a finite crystal, as a part of the r.m.s. of the light. */
static double off_from_pairs(int cells)
{
    static double rho[512], F[19 * 19 * 19], P[29 * 29 * 29];
    char words[200];
    nb_diffuse d;
    nb_factor_table table;
    double off = 0, all = 0;
    state = 7;
    for (int v = 0; v < 512; v++)
        rho[v] = uniform(-1, 1); /* contrast */
    snprintf(words, sizeof words,
             "-N %d -diffuse_sigma 0.45 -diffuse_gamma 3 -diffuse_halo gauss -diffuse_F "
             "unperturbed",
             cells);
    d = model_of(CUBE, words);
    table = voxel_factors(rho, F);
    pair_products(rho, cells, P);
    for (int i = 0; i < 12; i++) {
        const double h[3] = {uniform(0.8, 1.9), uniform(-1.9, -0.8), uniform(0.8, 1.9)};
        double X = nb_shape_radius2(d.forms[0].X, h[0], h[1], h[2]);
        double want = pair_sum(P, X, 3, h);
        assert_true(X > 0.2 && X < 1.5);
        off += pow(nb_diffuse_at(&d, &table, 0, h[0], h[1], h[2]) - want, 2);
        all += want * want;
    }
    return sqrt(off / all);
}

/** All orders against the sum over the pairs of finite crystals: what is left is their surface. */
static void pairs_of_a_finite_crystal_have_this_light(void **s)
{
    double small = off_from_pairs(6), large = off_from_pairs(12);
    (void)s;
    if (getenv("NB_SHOW"))
        printf("# pairs: %.4f of 6^3 cells, %.4f of 12^3\n", small, large);
    check_below(small, 0.08);
    check_below(large, 0.04);
}

static nb_factor_table one_reflection(const int g[3], const double *F)
{
    return (nb_factor_table){.hmin = g[0],
                             .kmin = g[1],
                             .lmin = g[2],
                             .nh = 1,
                             .nk = 1,
                             .nl = 1,
                             .F = F,
                             .n_tables = 1};
}

/** A halo has what the reflection lost: N F^2 (1 - exp(-X)), if it is narrow. */
static void halos_have_what_bragg_light_lost(void **s)
{
    static const double F = 10;
    const int g[3] = {3, -2, 1};
    const nb_factor_table table = one_reflection(g, &F);
    nb_diffuse d =
        model_of(CUBE, "-N 5 -diffuse_sigma 0.4 -diffuse_gamma 200 -diffuse_halo "
                       "gauss -diffuse_F unperturbed");
    double X = nb_shape_radius2(d.forms[0].X, g[0], g[1], g[2]), sum = 0, orders = 0;
    const double step = 0.5 * 8 / (2 * NB_PI * 200); /* half of the first order's width */
    (void)s;
    for (int i = -14; i <= 14; i++)
        for (int j = -14; j <= 14; j++)
            for (int k = -14; k <= 14; k++)
                sum += nb_diffuse_at(&d, &table, 0, g[0] + i * step, g[1] + j * step,
                                     g[2] + k * step);
    check_ratio(sum * pow(step, 3), 125 * F * F * -expm1(-X), 1e-3);
    /* u = tan(a): shells to infinity, in units of G/(2 pi gamma)^3 */
    for (int i = 0; i < 20000; i++) {
        double a = (i + 0.5) / 20000 * NB_PI / 2, u = tan(a);
        orders += nb_diffuse_orders(0, X, u * u) * 4 * NB_PI * u * u * (1 + u * u);
    }
    orders *= NB_PI / 2 / 20000 * 8 * NB_PI / pow(2 * NB_PI, 3);
    check_ratio(orders, -expm1(-X), 1e-6);
}

/** With long correlations spots and halos have the light of a crystal that does not move; without motions, its bytes. */
static void long_correlations_leave_the_light(void **s)
{
    static const char rest[] =
        "-hkl hkl/ort.hkl -cell 28 34 40 90 90 90 -N 6 -gauss_xtal -lambda 1 "
        "-distance 100 -detpixels 12 -pixel 8 -oversample 10 -mosaic 3 -mosaic_model "
        "gauss -mosaic_dom 40 -nointerpolate -fluence 1e26 ";
    char words[600];
    double sums[3] = {0};
    float *images[3];
    const char *add[3] = {"", "-diffuse_sigma 0 -diffuse_gamma 10",
                          ("-diffuse_sigma 0.3 -diffuse_gamma 100 -diffuse_halo gauss "
                           "-diffuse_F unperturbed")};
    (void)s;
    need_fftw();
    for (int k = 0; k < 3; k++) {
        nb_sim *sim;
        snprintf(words, sizeof words, "%s%s", rest, add[k]);
        sim = make_sim(words);
        images[k] = render(sim);
        for (int i = 0; i < 144; i++)
            sums[k] += images[k][i];
        nb_sim_free(sim);
    }
    assert_memory_equal(images[0], images[1], 144 * sizeof *images[0]);
    if (getenv("NB_SHOW"))
        printf("# long: %.4f\n", sums[2] / sums[0]);
    check_ratio(sums[2], sums[0], 0.02);
    for (int k = 0; k < 3; k++)
        free(images[k]);
}

/** A group averages over its rotations; what is isotropic knows none. */
static void groups_average_over_turned_axes(void **s)
{
    static const double F[8] = {3, 0, 5, 7, 2, 9, 4, 1};
    const nb_factor_table table = {
        .hmin = 1, .kmin = -1, .nh = 2, .nk = 2, .nl = 2, .F = F, .n_tables = 1};
    const nb_diffuse like = model_of(crystals[1],
                                     "-N 5 -diffuse_sigma 0.4 -diffuse_gamma 9"),
                     group = model_of(crystals[3],
                                      "-N 5 -diffuse_sigma 0.4 -diffuse_gamma 9"),
                     turned = model_of(crystals[3], "-N 5 -diffuse_sigma 0.4 0.5 0.3 "
                                                    "-diffuse_gamma 9 12 7"),
                     first = model_of(crystals[1], "-N 5 -diffuse_sigma 0.4 0.5 0.3 "
                                                   "-diffuse_gamma 9 12 7"),
                     second = model_of(crystals[1], "-N 5 -diffuse_sigma 0.5 0.4 0.3 "
                                                    "-diffuse_gamma 12 9 7");
    (void)s;
    for (int i = 0; i < 50; i++) {
        const double h = uniform(-4, 4), k = uniform(-4, 4), l = uniform(-4, 4);
        check_ratio(nb_diffuse_at(&group, &table, 0, h, k, l),
                    nb_diffuse_at(&like, &table, 0, h, k, l), 1e-12);
        check_ratio(2 * nb_diffuse_at(&turned, &table, 0, h, k, l),
                    nb_diffuse_at(&first, &table, 0, h, k, l) +
                        nb_diffuse_at(&second, &table, 0, h, k, l),
                    1e-12);
    }
}

/** Light goes with the number of cells and F^2, not with the shape; small motions have the first order alone. */
static void light_is_proportional(void **s)
{
    const int g[3] = {3, -2, 1};
    static const double F = 10, twice = 20;
    const nb_factor_table table = one_reflection(g, &F),
                          bright = one_reflection(g, &twice);
    const nb_diffuse d = model_of(CUBE, "-N 5 -diffuse_sigma 0.4 -diffuse_gamma 9"),
                     more = model_of(CUBE, "-Na 5 -Nb 10 -Nc 15 -diffuse_sigma 0.4 "
                                           "-diffuse_gamma 9"),
                     round = model_of(CUBE, "-N 5 -round_xtal -diffuse_sigma 0.4 "
                                            "-diffuse_gamma 9"),
                     still = model_of(CUBE, "-N 5 -diffuse_sigma 1e-4 -diffuse_gamma 9");
    (void)s;
    for (int i = 0; i < 50; i++) {
        const double h = uniform(2, 4), k = uniform(-3, -1), l = uniform(0, 2);
        const double D = nb_diffuse_at(&d, &table, 0, h, k, l);
        double t2 = (pow(h - 3, 2) + pow(k + 2, 2) + pow(l - 1, 2)) / 64;
        double X = 4 * NB_PI * NB_PI * 1e-8 * (h * h + k * k + l * l) / 64;
        double Gamma = 8 * NB_PI * 729 / pow(1 + 4 * NB_PI * NB_PI * 81 * t2, 2);
        check_ratio(nb_diffuse_at(&d, &bright, 0, h, k, l), 4 * D, 1e-12);
        check_ratio(nb_diffuse_at(&more, &table, 0, h, k, l), 6 * D, 1e-12);
        check_ratio(nb_diffuse_at(&round, &table, 0, h, k, l), D, 1e-12);
        check_ratio(nb_diffuse_at(&still, &table, 0, h, k, l),
                    X * F * F * 125 / 512 * Gamma, 1e-5);
    }
}

/* --- bounds --- */

/** Value and derivatives along a line of a sum of halos, over k^order: [0], [1], [2] and [4]. */
static void random_halos(double sum[5])
{
    const double gamma[3] = {uniform(0.2, 1), uniform(0.2, 1), 1};
    const int n = 1 + (int)uniform(0, 4);
    double along[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}, norm;
    if (chance(0.3)) /* the sharpest direction */
        along[0] = along[1] = 0;
    norm = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    memset(sum, 0, 5 * sizeof *sum);
    for (int i = 0; i < n; i++) {
        const double I = log_uniform(1e-3, 1), size = chance(0.5) ? 0.3 : 4;
        double w = 1, p = 0, r = 0, f;
        for (int j = 0; j < 3; j++) {
            double at = uniform(-size, size) * gamma[j], step = along[j] / norm * gamma[j];
            w += at * at;
            p += 2 * at * step;
            r += step * step;
        }
        p /= w, r /= w;
        f = I * nb_diffuse_kernel(0, 1, w - 1);
        sum[0] += f;
        sum[1] += f * -2 * p;
        sum[2] += f * 2 * (3 * p * p - 2 * r);
        sum[4] += f * 24 * (3 * r * r - 12 * p * p * r + 5 * p * p * p * p);
    }
}

/** What tables, merged samples and nodes rely on: derivatives of a sum of halos below multiples of the sum. */
static void derivatives_of_halos_are_bounded(void **s)
{
    double most[5] = {0}, sum[5];
    (void)s;
    state = 11;
    for (int i = 0; i < 1000000; i++) {
        random_halos(sum);
        for (int order = 1; order < 5; order++)
            most[order] = fmax(most[order], fabs(sum[order]) / sum[0]);
    }
    check_below(most[1], 2);
    check_above(most[1], 1.9);
    check_below(most[2], 4.2);
    check_above(most[2], 3.9);
    check_below(most[4], 72);
    check_above(most[4], 60);
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
    const char *source = getenv("NB_SOURCE");
    char words[600], name[NB_PATH_MAX];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    snprintf(words, sizeof words,
             "%s -N 5 -lambda 1 -distance 260 -pixel 2 -detpixels 48 -fluence 1e26 "
             "-default_F 0 "
             "-misset 10 20 30 -diffuse_only -oversample 1 -Badd %.12g %s",
             crystal, B, more);
    nb_config_defaults(&cfg);
    nb_words(&cfg, words);
    snprintf(name, sizeof name, "%s", cfg.hkl_file);
    snprintf(cfg.hkl_file, sizeof cfg.hkl_file, "%.200s/golden_data/experiments/%.200s",
             source ? source : ".", name);
    cfg.write_dump = 0;
    snprintf(cfg.device, sizeof cfg.device, "cpu");
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
        .of = {&model, &sim->model.at_rest, 0, {32, 32, 40}, 0.1, 1, 0, NULL}};
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
        &sim->model.diffuse, &sim->model.at_rest, 0, {32, 32, 40}, 0.2, 1, 0, NULL};
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

/** The tables of a family of this crystal; drop them. */
static const nb_light_table *family_of(nb_sim *sim)
{
    const nb_light_table *table;
    nb_diffuse model;
    nb_light_member place;
    nb_error err;
    nb_light_request source = {
        .of = {&sim->model.diffuse, &sim->model.at_rest, 0, {32, 32, 40}, 0.1, 1, 0, NULL}};
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
                                       TEST(tables_end_at_dmin),
                                       TEST(forms_do_not_depend_on_the_orientation),
                                       TEST(pairs_of_a_finite_crystal_have_this_light),
                                       TEST(halos_have_what_bragg_light_lost),
                                       TEST(long_correlations_leave_the_light),
                                       TEST(groups_average_over_turned_axes),
                                       TEST(light_is_proportional),
                                       TEST(weights_hold_every_reflection),
                                       TEST(families_agree_with_the_direct_sum),
                                       TEST(crystals_outside_have_their_own_table),
                                       TEST(a_few_tables_are_kept),
                                       TEST(tables_do_not_depend_on_threads),
                                       TEST(families_outlive_single_tables),
                                       TEST(derivatives_of_halos_are_bounded)};
    return RUN_TESTS("diffuse", tests);
}
