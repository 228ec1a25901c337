/* SPDX-License-Identifier: MIT */
/* Laws of diffuse light, and error bounds of the approximations that tables use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diffuse_sims.h"

/** Diffuse model of a crystal whose F come from an array. */
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

enum { VOXELS = 8 };

/** |F| of a cell of 8^3 voxels of 1 A with densities rho. F repeats every 8 indices. */
static double voxel_factor(const double *rho, const int g[3])
{
    double re = 0, im = 0;
    for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
        int turns = (g[0] * (v / 64) + g[1] * (v / 8 % 8) + g[2] * (v % 8)) & 7;
        re += rho[v] * cos(turns * NB_PI / 4);
        im += rho[v] * sin(turns * NB_PI / 4);
    }
    return hypot(re, im);
}

/** Table of reflections with indices up to `reach`. F: memory for their amplitudes. */
static nb_factor_table voxel_factors(const double *rho, int reach, double *F)
{
    const int n = 2 * reach + 1;
    double own[VOXELS * VOXELS * VOXELS];
    for (int i = 0; i < VOXELS * VOXELS * VOXELS; i++)
        own[i] = voxel_factor(rho, (int[3]){i / 64, i / 8 % 8, i % 8});
    for (int i = 0; i < n * n * n; i++) {
        const int g[3] = {i / n / n - reach, i / n % n - reach, i % n - reach};
        F[i] = own[(g[0] & 7) * 64 + (g[1] & 7) * 8 + (g[2] & 7)];
    }
    return (nb_factor_table){.hmin = -reach,
                             .kmin = -reach,
                             .lmin = -reach,
                             .nh = n,
                             .nk = n,
                             .nl = n,
                             .F = F,
                             .n_tables = 1};
}

/** Number of pairs of voxels d voxels apart along an axis of n cells, where the first
 * voxel of a pair is number u of its cell. */
static double axis_pairs(int u, int d, int n)
{
    int count = 0;
    for (int cell = 0; cell < n; cell++) {
        int at = cell * VOXELS + u + d;
        count += at >= 0 && at < n * VOXELS;
    }
    return count;
}

/** Pairs of voxels in a finite crystal: for each distance vector of up to `far` voxels
 * along each axis, the sum P of the products of their densities. */
typedef struct pairs {
    int gauss, far;
    double *P; /* owned */
} pairs;

static void pair_products(const double *rho, int n, pairs *to)
{
    const int far = to->far, wide = 2 * far + 1;
    for (int i = 0; i < wide * wide * wide; i++) {
        const int d[3] = {i / wide / wide - far, i / wide % wide - far, i % wide - far};
        double count[3][VOXELS], sum = 0;
        for (int u = 0; u < VOXELS; u++)
            for (int k = 0; k < 3; k++)
                count[k][u] = axis_pairs(u, d[k], n);
        for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
            const int u[3] = {v / 64, v / 8 % 8, v % 8};
            int other =
                ((u[0] + d[0]) & 7) * 64 + ((u[1] + d[1]) & 7) * 8 + ((u[2] + d[2]) & 7);
            sum += rho[v] * rho[other] * count[0][u[0]] * count[1][u[1]] * count[2][u[2]];
        }
        to->P[i] = sum;
    }
}

/** Sum over pairs of P (exp(-X (1 - C)) - exp(-X)) cos(2 pi h.d/VOXELS). C: correlation
 * at the distance d/gamma. */
static double pair_sum(const pairs *p, double X, double gamma, const double h[3])
{
    const int far = p->far, wide = 2 * far + 1;
    double sum = 0;
    for (int i = 0; i < wide * wide * wide; i++) {
        const int d[3] = {i / wide / wide - far, i / wide % wide - far, i % wide - far};
        double r2 = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (gamma * gamma);
        double C = p->gauss ? exp(-r2 / 2) : exp(-sqrt(r2));
        sum += p->P[i] * (exp(-X * (1 - C)) - exp(-X)) *
               cos(2 * NB_PI * (h[0] * d[0] + h[1] * d[1] + h[2] * d[2]) / VOXELS);
    }
    return sum;
}

/** r.m.s. difference of the diffuse light from the sum over pairs, divided by the r.m.s.
 * light: with all orders, and with the first order alone. */
typedef struct off_pairs {
    double all, first;
} off_pairs;

static off_pairs off_from_pairs(int cells, int gauss)
{
    enum { POINTS = 12, SMALL = 1000 };
    const int reach = gauss ? 9 : 40; /* largest index of the reflections in the sum */
    double rho[VOXELS * VOXELS * VOXELS],
        *F = calloc((size_t)pow(2 * reach + 1, 3), sizeof *F);
    const double sigma = 0.45, gamma = 3;
    char words[200];
    /* `small` has motions divided by SMALL, so only the first order counts */
    nb_diffuse d, small;
    nb_factor_table table;
    pairs p = {gauss, gauss ? 14 : 26, NULL}; /* at these limits C is below 3e-4 */
    off_pairs off = {0, 0};
    double light = 0;
    random_state = 7;
    for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++)
        rho[v] = uniform(-1, 1); /* density, less the mean */
    snprintf(words, sizeof words,
             "-N %d -diffuse_sigma %g -diffuse_gamma %g -diffuse_F unperturbed%s", cells,
             sigma, gamma, gauss ? " -diffuse_halo gauss" : "");
    d = small = model_of(CUBE, words);
    for (int i = 0; i < 6; i++)
        small.forms[0].X[i] /= (double)SMALL * SMALL;
    table = voxel_factors(rho, reach, F);
    p.P = calloc((size_t)pow(2 * p.far + 1, 3), sizeof *p.P);
    pair_products(rho, cells, &p);
    for (int i = 0; i < POINTS; i++) {
        const double h[3] = {uniform(0.8, 1.9), uniform(-1.9, -0.8), uniform(0.8, 1.9)};
        double X = nb_shape_radius2(d.forms[0].X, h[0], h[1], h[2]);
        double want = pair_sum(&p, X, gamma, h), first;
        assert_true(X > 0.2 && X < 1.5);
        first =
            exp(-X) * SMALL * SMALL * nb_diffuse_at(&small, &table, 0, h[0], h[1], h[2]);
        off.all += pow(nb_diffuse_at(&d, &table, 0, h[0], h[1], h[2]) - want, 2);
        off.first += pow(first - want, 2);
        light += want * want;
    }
    free(p.P);
    free(F);
    return (off_pairs){sqrt(off.all / light), sqrt(off.first / light)};
}

/** Compares the sum of all orders with the sum over pairs of voxels of finite crystals.
 * They differ by the light of the surface. */
UNIT_TEST(pairs_of_a_finite_crystal_have_this_light)
{
    for (int gauss = 1; gauss >= (getenv("NB_BIG") ? 0 : 1); gauss--) {
        off_pairs small = off_from_pairs(6, gauss), large = off_from_pairs(12, gauss);
        printf("# pairs, %s: %.4f of 6^3 cells, %.4f of 12^3; first order %.2f, %.2f\n",
               gauss ? "gauss" : "exp", small.all, large.all, small.first, large.first);
        check_below(small.all, 0.08);
        check_below(large.all, 0.04);
        check_above(large.first, 0.3);
    }
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

/** A narrow halo has the light that the reflection lost: N F^2 (1 - exp(-X)). */
UNIT_TEST(halos_have_what_bragg_light_lost)
{
    static const double F = 10;
    const int g[3] = {3, -2, 1};
    const nb_factor_table table = one_reflection(g, &F);
    nb_diffuse d =
        model_of(CUBE, "-N 5 -diffuse_sigma 0.4 -diffuse_gamma 200 -diffuse_halo "
                       "gauss -diffuse_F unperturbed");
    nb_diffuse_series series;
    double X = nb_shape_radius2(d.forms[0].X, g[0], g[1], g[2]), sum = 0, orders = 0;
    const double step = 0.5 * 8 / (2 * NB_PI * 200); /* half of the first order's width */
    for (int i = -14; i <= 14; i++)
        for (int j = -14; j <= 14; j++)
            for (int k = -14; k <= 14; k++)
                sum += nb_diffuse_at(&d, &table, 0, g[0] + i * step, g[1] + j * step,
                                     g[2] + k * step);
    check_ratio(sum * pow(step, 3), 125 * F * F * -expm1(-X), 1e-3);
    nb_diffuse_series_of(X, &series);
    /* integral over shells of radius u = tan(a), in units of G/(2 pi gamma)^3 */
    for (int i = 0; i < 20000; i++) {
        double a = (i + 0.5) / 20000 * NB_PI / 2, u = tan(a);
        orders += nb_diffuse_orders(0, &series, u * u) * 4 * NB_PI * u * u * (1 + u * u);
    }
    orders *= NB_PI / 2 / 20000 * 8 * NB_PI / pow(2 * NB_PI, 3);
    check_ratio(orders, -expm1(-X), 1e-6);
    check_ratio(nb_diffuse_left(&d, g[0], g[1], g[2]) + orders, 1, 1e-6);
}

/** With long correlations, spots and halos together have the light of a crystal at rest.
 * Without motions the image has the same bytes. */
UNIT_TEST(long_correlations_leave_the_light)
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

/** Light is averaged over the rotations of a group; isotropic motions are unchanged. */
UNIT_TEST(groups_average_over_turned_axes)
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

/** Light is proportional to the number of cells and to F^2, whatever the shape; small
 * motions have the first order only. */
UNIT_TEST(light_is_proportional)
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

/** A sum of halos in space. The sharpest halos are of order 1, along the last axis, where
 * gamma is 1. */
typedef struct halos {
    int n;
    double gamma[3], I[4], order[4], at[4][3];
} halos;

static halos random_halos(void)
{
    halos s = {.n = 1 + (int)uniform(0, 4),
               .gamma = {uniform(0.2, 1), uniform(0.2, 1), 1}};
    for (int i = 0; i < s.n; i++) {
        const double size = chance(0.5) ? 0.3 : 4;
        s.I[i] = log_uniform(1e-3, 1);
        s.order[i] = chance(0.8) ? 1 : floor(uniform(2, 6));
        for (int j = 0; j < 3; j++)
            s.at[i][j] = uniform(-size, size);
    }
    return s;
}

static double halos_at(const halos *s, const double y[3])
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        double u2 = 0;
        for (int j = 0; j < 3; j++)
            u2 += pow(s->gamma[j] * (y[j] - s->at[i][j]), 2);
        sum += s->I[i] * nb_diffuse_kernel(0, s->order[i], u2);
    }
    return sum;
}

/** A random direction, often the last axis, along which halos are sharpest. */
static void random_direction(double along[3])
{
    double norm;
    for (int j = 0; j < 3; j++)
        along[j] = uniform(-1, 1);
    if (chance(0.3))
        along[0] = along[1] = 0;
    norm = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    for (int j = 0; j < 3; j++)
        along[j] /= norm;
}

/** sum[k]: derivative of order k (0, 1, 2 and 4) at the origin, along a line. */
static void halos_slopes(const halos *s, const double along[3], double sum[5])
{
    memset(sum, 0, 5 * sizeof *sum);
    for (int i = 0; i < s->n; i++) {
        const double n2 = s->order[i] * s->order[i];
        double w = n2, p = 0, r = 0, f;
        for (int j = 0; j < 3; j++) {
            double at = -s->gamma[j] * s->at[i][j], step = s->gamma[j] * along[j];
            w += at * at;
            p += 2 * at * step;
            r += step * step;
        }
        f = s->I[i] * nb_diffuse_kernel(0, s->order[i], w - n2);
        p /= w, r /= w;
        sum[0] += f;
        sum[1] += f * -2 * p;
        sum[2] += f * 2 * (3 * p * p - 2 * r);
        sum[4] += f * 24 * (3 * r * r - 12 * p * p * r + 5 * p * p * p * p);
    }
}

/** Compares the derivatives with differences of the sum. */
static void check_slopes(const halos *s, const double along[3], const double sum[5])
{
    const double step = 0.02;
    double f[5];
    for (int i = 0; i < 5; i++) {
        const double y[3] = {(i - 2) * step * along[0], (i - 2) * step * along[1],
                             (i - 2) * step * along[2]};
        f[i] = halos_at(s, y);
    }
    check_close(sum[0], f[2], 1e-12 * f[2]);
    check_close(sum[1], (8 * (f[3] - f[1]) - f[4] + f[0]) / (12 * step), 1e-4 * f[2]);
    check_close(sum[2],
                (16 * (f[3] + f[1]) - 30 * f[2] - f[4] - f[0]) / (12 * step * step),
                1e-3 * f[2]);
    check_close(sum[4], (f[0] + f[4] - 4 * (f[1] + f[3]) + 6 * f[2]) / pow(step, 4), f[2]);
}

static int sums_of_halos(void)
{
    return getenv("NB_BIG") ? 1000000 : 100000;
}

/** Derivatives of a sum of halos stay below multiples of the sum. Tables, merged samples
 * and nodes rely on these multiples. Smaller multiples fail. */
UNIT_TEST(derivatives_of_halos_are_bounded)
{
    static const struct {
        int order;
        double bound, broken;
    } law[3] = {{1, 2, 1.9}, {2, 4.2, 3.9}, {4, 72, 60}};
    const int n = sums_of_halos();
    double largest[3] = {0};
    int above[3] = {0};
    random_state = 11;
    for (int i = 0; i < n; i++) {
        const halos s = random_halos();
        double along[3], sum[5];
        random_direction(along);
        halos_slopes(&s, along, sum);
        if (i < 100)
            check_slopes(&s, along, sum);
        for (int j = 0; j < 3; j++) {
            const double part = fabs(sum[law[j].order]) / sum[0];
            largest[j] = fmax(largest[j], part);
            above[j] += part > law[j].broken;
        }
    }
    for (int j = 0; j < 3; j++) {
        printf("# derivative %d of %d sums: at most %.4g of %g allowed; %d above %g\n",
               law[j].order, n, largest[j], law[j].bound, above[j], law[j].broken);
        check_below(largest[j], law[j].bound);
        assert_true(above[j] > 0);
    }
}

/** Error divided by its bound, if the light at the mean position of samples replaces
 * their mean light. */
static double merged_error(const halos *s)
{
    enum { SAMPLES = 4 };
    const double size = log_uniform(0.01, 0.5), here[3] = {0};
    double y[SAMPLES][3], m2 = 0, far = 0, mean = 0, along[3];
    const double value = halos_at(s, here);
    random_direction(along);
    for (int j = 0; j < 3; j++) {
        double middle = 0;
        for (int i = 0; i < SAMPLES; i++) {
            y[i][j] = i % 2 ? -y[i - 1][j] : along[j] * size * uniform(0.9, 1);
            middle += y[i][j] / SAMPLES;
        }
        for (int i = 0; i < SAMPLES; i++)
            y[i][j] -= middle;
    }
    for (int i = 0; i < SAMPLES; i++) {
        double r2 = y[i][0] * y[i][0] + y[i][1] * y[i][1] + y[i][2] * y[i][2];
        m2 += r2 / SAMPLES;
        far = fmax(far, sqrt(r2));
        mean += halos_at(s, y[i]) / SAMPLES;
    }
    return fabs(mean / value - 1) / (2.1 * m2 * exp(2 * far));
}

/** Error of the cubic through the 4 x 4 x 4 points around a position, as a fraction of
 * its bound. */
static double cubic_error(const halos *s)
{
    const double step = log_uniform(0.03, 0.5), here[3] = {0};
    const double value = halos_at(s, here);
    double w[3][4], t[3], sum = 0;
    for (int j = 0; j < 3; j++) {
        t[j] = uniform(0, 1);
        w[j][0] = -t[j] * (t[j] - 1) * (t[j] - 2) / 6;
        w[j][1] = (t[j] + 1) * (t[j] - 1) * (t[j] - 2) / 2;
        w[j][2] = -(t[j] + 1) * t[j] * (t[j] - 2) / 2;
        w[j][3] = (t[j] + 1) * t[j] * (t[j] - 1) / 6;
    }
    for (int i = 0; i < 64; i++) {
        const int at[3] = {i / 16, i / 4 % 4, i % 4};
        const double y[3] = {(at[0] - 1 - t[0]) * step, (at[1] - 1 - t[1]) * step,
                             (at[2] - 1 - t[2]) * step};
        sum += w[0][at[0]] * w[1][at[1]] * w[2][at[2]] * halos_at(s, y);
    }
    return fabs(sum / value - 1) / (3.8 * 1.7 * pow(step, 4) * exp(6.9 * step));
}

/** The errors of merged samples, of cubics, and of tables for another gamma stay within
 * the bounds that the derivatives give. */
UNIT_TEST(short_cuts_err_by_no_more)
{
    const int n = sums_of_halos() / 10;
    double merged = 0, cubic = 0, slope = 0;
    random_state = 12;
    for (int i = 0; i < n; i++) {
        const halos s = random_halos();
        const double e = 1e-4, order = 1 + floor(uniform(0, 5)),
                     x = log_uniform(1e-4, 1e4);
        const double up = pow(1 + e, 3) *
                          nb_diffuse_kernel(0, order, x * (1 + e) * (1 + e)),
                     down = pow(1 - e, 3) *
                            nb_diffuse_kernel(0, order, x * (1 - e) * (1 - e));
        merged = fmax(merged, merged_error(&s));
        cubic = fmax(cubic, cubic_error(&s));
        slope = fmax(slope, fabs(log(up / down)) / (2 * e));
    }
    printf(
        "# of %d sums: merged %.3g, cubic %.3g of their bounds; d ln/d ln gamma %.4g\n",
        n, merged, cubic, slope);
    check_below(merged, 1);
    check_above(merged, 0.8);
    check_below(cubic, 1);
    check_above(cubic, 0.05);
    check_below(slope, 3.0001);
    check_above(slope, 2.99);
}
