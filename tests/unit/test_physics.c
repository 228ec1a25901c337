/* SPDX-License-Identifier: MIT */
/* AT-STR-001 to 003, AT-ABS-001, AT-POL-001 and curved detectors: functions of
 * src/physics against exact values. */
#include "../support/check.h"

#include "sim/sim.h"
#include "physics/pixel.h"

enum { N = 7 }; /* a box of 7^3 reflections from -2, 1, -5 */

static double F_of(int h, int k, int l)
{
    return 100 + 10 * h + k - 0.5 * l + 0.25 * h * k * l;
}

static nb_factor_table filled(double *F, double (*f)(double, double, double))
{
    nb_factor_table box = {.hmin = -2,
                           .kmin = 1,
                           .lmin = -5,
                           .nh = N,
                           .nk = N,
                           .nl = N,
                           .F = F,
                           .default_F = 3.5};
    for (int h = 0; h < N; h++)
        for (int k = 0; k < N; k++)
            for (int l = 0; l < N; l++)
                F[(h * N + k) * N + l] =
                    f ? f(h - 2, k + 1, l - 5) : F_of(h - 2, k + 1, l - 5);
    return box;
}

static double lookup(const nb_factor_table *box, double h, double k, double l)
{
    return nb_structure_factor(box, 0, h, k, l, nb_nearest_index(h), nb_nearest_index(k),
                               nb_nearest_index(l));
}

UNIT_TEST(at_str_001_lookup)
{
    static const double halves[][2] = {{0.5, 0},    {-0.5, -1},   {1.5, 1}, {0.4999, 0},
                                       {0.5001, 1}, {-0.4999, 0}, {3, 3},   {-2, -2}};
    double F[N * N * N];
    nb_factor_table box = filled(F, NULL), constant = {.default_F = 7};
    for (int i = 0; i < 8; i++)
        check_close(nb_nearest_index(halves[i][0]), halves[i][1], 0);
    for (int h = -4; h < 7; h++)
        for (int k = -1; k < 10; k++)
            for (int l = -7; l < 4; l++) {
                int in = h >= -2 && h <= 4 && k >= 1 && k <= 7 && l >= -5 && l <= 1;
                check_close(lookup(&box, h + 0.3, k - 0.4, l + 0.1),
                            in ? F_of(h, k, l) : 3.5, 0);
            }
    check_close(lookup(&constant, 1e9, -1e9, 0), 7, 0);
    check_close(lookup(&box, 1e300, 0, 0), 3.5, 0);
    check_close(lookup(&box, NAN, 2, -2), 3.5, 0);
}

/** A cubic in each index: four points determine it exactly. */
static double cubic(double h, double k, double l)
{
    return 5 + h - 2 * h * h + 0.3 * h * h * h +
           (k * k * k - 4 * k) * (1 + 0.1 * l * l * l) - 0.7 * h * k * l * l;
}

UNIT_TEST(at_str_002_tricubic)
{
    double F[N * N * N];
    nb_factor_table box = filled(F, cubic);
    box.interpolate = 1;
    for (double h = 0; h <= 2; h += 0.25) /* two points inside every face */
        for (double k = 3; k <= 5; k += 0.1)
            for (double l = -3; l <= -1; l += 0.125)
                check_close(lookup(&box, h, k, l), cubic(h, k, l), 1e-10);
    for (int h = 0; h <= 2; h++) /* the cubic goes through the points of the table */
        check_close(lookup(&box, h, 4, -2), cubic(h, 4, -2), 1e-12);
    /* near the faces of the table the result is F of the nearest reflection, without
     * interpolation; outside the table it is default_F */
    check_close(lookup(&box, -0.2, 4, -2), cubic(0, 4, -2), 1e-12);
    check_close(lookup(&box, 1.2, 2.9, -2), cubic(1, 3, -2), 1e-12);
    check_close(lookup(&box, 1.2, 4.2, -0.9), cubic(1, 4, -1), 1e-12);
    check_close(lookup(&box, 1.2, 9, -2), 3.5, 0);
    check_close(lookup(&box, 1.2, 4.2, -2.1), cubic(1.2, 4.2, -2.1), 1e-10);
}

static nb_lattice shaped(int shape, double Na, double Nb, double Nc)
{
    nb_lattice lattice = {.shape = shape, .N = {Na, Nb, Nc}, .fudge = 1};
    lattice.radius2[0] = Na * Na;
    lattice.radius2[1] = Nb * Nb;
    lattice.radius2[2] = Nc * Nc;
    return lattice;
}

/** Integral of F_latt^2 over one cell of reciprocal space, midpoint rule. */
static double integral(const nb_lattice *lattice, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                double F = nb_lattice_factor(lattice, (i + 0.5) / n - 0.5,
                                             (j + 0.5) / n - 0.5, (k + 0.5) / n - 0.5);
                sum += F * F;
            }
    return sum / ((double)n * n * n);
}

/** The same integral for ROUND, by shells up to R = 300. Farther out the integral takes
 * the mean of the oscillating tail. */
static double round_integral(const nb_lattice *lattice)
{
    const double top = 300, step = 0.01, height = 0.723601254558268;
    double sum = 0;
    for (double R = step / 2; R < top; R += step) {
        double F = nb_lattice_factor(lattice, R / lattice->N[0], 0, 0) / (12 * 12 * 12);
        sum += 4 * NB_PI * R * R * F * F * step;
    }
    sum += 4 * NB_PI * 4.5 / pow(NB_PI, 4) / top * height * height;
    return sum * 12 * 12 * 12;
}

UNIT_TEST(at_str_003_shapes)
{
    nb_lattice square = shaped(NB_SHAPE_SQUARE, 4, 6, 5);
    nb_lattice round = shaped(NB_SHAPE_ROUND, 12, 12, 12);
    nb_lattice gauss = shaped(NB_SHAPE_GAUSS, 4, 6, 5);
    nb_lattice tophat = shaped(NB_SHAPE_TOPHAT, 4, 6, 5);
    check_close(nb_lattice_factor(&square, 0, 0, 0), 120, 1e-12);
    check_close(nb_lattice_factor(&round, 0, 0, 0), 1728 * 0.723601254558268, 1e-9);
    check_close(nb_lattice_factor(&gauss, 0, 0, 0), 120, 1e-12);
    check_close(nb_lattice_factor(&tophat, 0, 0, 0), 120, 1e-12);
    /* SQUARE: F_latt is 0 at i/N, and its integral over a cell is Na Nb Nc (Parseval) */
    for (int i = -2; i <= 2; i++)
        if (i != 0)
            check_close(nb_lattice_factor(&square, i / 4.0, 0.1, 0.1), 0, 1e-12);
    check_ratio(integral(&square, 24), 120, 1e-12);
    /* the other shapes have heights that make their integrals nearly the same */
    check_ratio(round_integral(&round), 1728, 1e-4);
    check_ratio(integral(&gauss, 40), 120 * pow(0.63 * NB_PI / 2, 1.5), 0.01);
    check_ratio(integral(&tophat, 80), 120 * 4 * NB_PI / 3 * pow(0.3969, 1.5), 0.03);
    /* GAUSS falls to exp(-1) at R^2 = 0.63; TOPHAT ends at R = 0.63 */
    check_ratio(nb_lattice_factor(&gauss, 0, sqrt(0.63) / 6, 0), 120 * exp(-1), 1e-12);
    check_close(nb_lattice_factor(&tophat, 0.62999 / 4, 0, 0), 120, 0);
    check_close(nb_lattice_factor(&tophat, 0.63001 / 4, 0, 0), 0, 0);
    gauss.fudge = 2;
    check_ratio(nb_lattice_factor(&gauss, 0, sqrt(0.315) / 6, 0), 120 * exp(-1), 1e-12);
}

/* The fraction of the round shape's integral inside one cell of reciprocal space: the
 * table of docs/physics.md, section 12. */
UNIT_TEST(round_shape_loses)
{
    static const struct {
        double N[3], part;
    } rows[] = {{{2, 2, 2}, 0.765},    {{3, 3, 3}, 0.823},  {{4, 4, 4}, 0.875},
                {{6, 6, 6}, 0.916},    {{8, 8, 8}, 0.937},  {{12, 12, 12}, 0.958},
                {{20, 20, 20}, 0.975}, {{5, 10, 20}, 0.931}};
    for (int i = 0; i < 8; i++) {
        const double *n = rows[i].N;
        nb_lattice round = shaped(NB_SHAPE_ROUND, n[0], n[1], n[2]);
        check_close(integral(&round, 80) / (n[0] * n[1] * n[2]), rows[i].part, 0.0015);
    }
}

/* Near a reflection closed forms lose digits; the functions stay smooth. */
UNIT_TEST(at_str_003_smooth)
{
    for (double x = 1e-10; x < 0.2; x *= 1.7) {
        double x2 = x * x, series = 0, term = 3; /* sum of 3 (-1)^k (2k+2) x^2k/(2k+3)! */
        for (int k = 0; k < 12; k++) {
            double factorial = 1;
            for (int i = 2; i <= 2 * k + 3; i++)
                factorial *= i;
            series += term * (2 * k + 2) / factorial;
            term *= -x2;
        }
        check_ratio(nb_sphere_transform(x), series, 2e-12);
        check_ratio(nb_interference(x / 100, 50),
                    50 * (1 - pow(NB_PI * x / 100, 2) * (2500 - 1) / 6),
                    3 * pow(x, 4) + 1e-14);
    }
    check_close(nb_interference(0, 50), 50, 0);
    check_close(nb_sphere_transform(0), 1, 0);
}

/* An axis of one cell has a factor of 1. */
UNIT_TEST(one_cell_has_no_factor)
{
    nb_lattice thin = shaped(NB_SHAPE_SQUARE, 7, 1, 3);
    for (double k = -0.5; k <= 0.5; k += 0.05)
        check_ratio(nb_lattice_factor(&thin, 0.03, k, -0.02),
                    sin(7 * NB_PI * 0.03) / sin(NB_PI * 0.03) * sin(3 * NB_PI * 0.02) /
                        sin(NB_PI * 0.02),
                    1e-12);
}

/* The fractions that the layers of a ray absorb add up exactly to that of the sensor. */
UNIT_TEST(at_abs_001_telescopes)
{
    nb_sensor sensor = {.layers = 9, .layer_step = 50e-6, .mu = 1 / 320e-6, .absorb = 1};
    nb_panel panel = {.normal = {1, 0, 0}};
    for (double angle = 0; angle < 1.5; angle += 0.3) {
        nb_vec3 d = nb_v3(cos(angle), sin(angle), 0);
        double sum = 0;
        for (int layer = 0; layer < 9; layer++)
            sum += nb_capture(&panel, &sensor, layer, d);
        check_close(sum, 1 - exp(-450.0 / 320 / cos(angle)), 1e-14);
    }
}

UNIT_TEST(at_pol_001)
{
    static const double K[] = {-1, -0.5, 0, 0.3, 0.95, 1};
    const nb_vec3 beam = nb_unit(nb_v3(1, 0.2, -0.3));
    nb_vec3 axis = nb_v3(0.1, 0.3, 1), electric, magnetic;
    electric = nb_unit(nb_sub(axis, nb_scale(nb_dot(axis, beam), beam)));
    magnetic = nb_cross(beam, electric);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 200; k++) {
            double z = 1 - 2 * (k + 0.5) / 200, turn = 2.399963 * k, r = sqrt(1 - z * z);
            nb_vec3 d = nb_v3(r * cos(turn), r * sin(turn), z);
            /* a dipole along e radiates 1 - (d.e)^2 */
            double truth = 1 - (1 + K[i]) / 2 * pow(nb_dot(d, electric), 2) -
                           (1 - K[i]) / 2 * pow(nb_dot(d, magnetic), 2);
            /* Kahn's form, written out with the angles */
            double c = nb_dot(d, beam),
                   psi = atan2(nb_dot(d, magnetic), nb_dot(d, electric));
            double kahn = 0.5 * (1 + c * c - K[i] * cos(2 * psi) * (1 - c * c));
            check_close(nb_polarization(K[i], beam, d, axis), truth, 1e-14);
            check_close(kahn, truth, 1e-14);
        }
    check_close(nb_polarization(0.9, beam, beam, axis), 1, 1e-15);
    check_close(nb_polarization(0.9, beam, nb_scale(-1, beam), axis), 1, 1e-15);
}

/* The two coordinates of a place on a curved detector are angles, in every layer. */
UNIT_TEST(points_of_a_curved_detector)
{
    nb_config cfg = nb_suite_config(1, 1, 100);
    const nb_panel *panel;
    nb_sim *sim;
    cfg.curved = 1;
    cfg.convention = NB_CONV_XDS;
    cfg.pixel_mm = 1;
    sim = created(&cfg);
    panel = sim->model.scene.panels;
    check_vector(nb_panel_point(panel, 0.09, 0.05, 0), 0.1 * sin(0.4), 0, 0.1 * cos(0.4),
                 1e-12);
    check_vector(nb_panel_point(panel, 0.05, 0.09, 0), 0, 0.1 * sin(0.4), 0.1 * cos(0.4),
                 1e-12);
    check_vector(nb_panel_point(panel, 0.07, 0.02, 0.001), 0.101 * sin(0.2),
                 -0.101 * cos(0.2) * sin(0.3), 0.101 * cos(0.2) * cos(0.3), 1e-12);
    nb_sim_free(sim);
}
