/* SPDX-License-Identifier: MIT */
/* Counts, ranges and steps of sampling from any typed values, and the round beam. */
#include "../support/check.h"

#include "model/beam.h"
#include "model/scene_build.h"
#include "physics/hostdevice.h"

static void check_sampling(const nb_sampling *s, int count, double range, double step)
{
    assert_int_equal(s->count, count);
    check_close(s->range, range, 1e-12 * fabs(range));
    check_close(s->step, step, 1e-12 * fabs(step));
}

UNIT_TEST(divergence)
{
    const struct {
        double R, d;
        int n, count;
        double range, step;
    } rows[] = {
        {NAN, NAN, 0, 1, 0, 0}, /* nothing typed (R: range, d: step, n: count) */
        {NAN, 2, 0, 2, 2, 2},   /* d only */
        {3, NAN, 0, 2, 3, 3},   /* R only */
        {7, 2, 0, 4, 7, 2},     /* R, d: ceil */
        {6, 2, 0, 3, 6, 2},     /* R, d: R is exactly a multiple of d */
        /* R/d is 2.9999999999999996 or 3.0000000000000004 in doubles */
        {0.6, 0.2, 0, 3, 0.6, 0.2},
        {4, NAN, 5, 5, 4, 1},   /* n, R */
        {4, NAN, 1, 2, 4, 4},   /* n, R: at least two */
        {4, 0.5, 3, 3, 4, 0.5}, /* all three */
        {0, NAN, 5, 1, 0, 0},   /* an empty range */
        {-1, NAN, 0, 1, 0, 0},
        {4, 0, 0, 1, 0, 0},
        {4, -1, 3, 1, 0, 0},
    };
    nb_sampling s;
    nb_error err;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            nb_sample_divergence(rows[i].R, rows[i].d, rows[i].n, "-hdivrange", &s, &err),
            NB_OK);
        check_sampling(&s, rows[i].count, rows[i].range, rows[i].step);
    }
    for (int with_step = 0; with_step < 2; with_step++) { /* n without a range */
        assert_int_equal(
            nb_sample_divergence(NAN, with_step ? 1 : NAN, 3, "-hdivrange", &s, &err),
            NB_ERR_INPUT);
        assert_non_null(strstr(err.message, "-hdivrange"));
    }
}

UNIT_TEST(dispersion)
{
    nb_sampling s;
    s = nb_sample_dispersion(NAN, NAN, 0);
    check_sampling(&s, 1, 0, 0);
    s = nb_sample_dispersion(0.02, NAN, 0); /* R only: both ends */
    check_sampling(&s, 2, 0.02, 0.02);
    s = nb_sample_dispersion(NAN, NAN, 5); /* a number of wavelengths without a range */
    check_sampling(&s, 1, 0, 0);
    s = nb_sample_dispersion(0.02, NAN, 5);
    check_sampling(&s, 5, 0.02, 0.005);
    s = nb_sample_dispersion(0.02, NAN, 1);
    check_sampling(&s, 2, 0.02, 0.02);
    /* both values as -dispstep, a flag of this program only, sets them */
    s = nb_sample_dispersion(0.02, 0.005, 0);
    check_sampling(&s, 5, 0.02, 0.005);
}

UNIT_TEST(layers)
{
    static const struct {
        double T;
        int n, count;
    } rows[] = {{0, 0, 1},    {0, 5, 1},    {-1, 5, 1},  {NAN, 2, 1},
                {4e-4, 0, 2}, {4e-4, 1, 1}, {4e-4, 7, 7}};
    for (int i = 0; i < 7; i++) {
        nb_sampling s = nb_sample_layers(rows[i].T, rows[i].n);
        int sensor = rows[i].T > 0;
        check_sampling(&s, rows[i].count, sensor ? rows[i].T : 0,
                       sensor ? rows[i].T / rows[i].count : 0);
    }
}

UNIT_TEST(spindle)
{
    static const struct {
        double osc, d;
        int n, count;
        double range, step, compat_step;
    } rows[] = {
        {NAN, NAN, 0, 1, 0, 0, 0},
        {NAN, 0.1, 0, 2, 0.1, 0.05, 0.1},
        {1, NAN, 0, 2, 1, 0.5, 0.5},
        {1, 0.3, 0, 4, 1, 0.25, 0.3},
        {0.3, 0.1, 0, 3, 0.3, 0.1, 0.1},
        {NAN, 0.1, 9, 2, 0.1, 0.05, 0.1},
        {1, NAN, 5, 5, 1, 0.2, 0.2},
        {1, 0.3, 5, 5, 1, 0.2, 0.3},
        {NAN, NAN, 4, 4, 0, 0, 0}, /* no range: a still of four steps */
        {0, NAN, 4, 4, 0, 0, 0},
        {0, 0.1, 4, 4, 0, 0, 0},
        {0, NAN, 0, 1, 0, 0, 0},
        {NAN, 0, 0, 1, 0, 0, 0}, /* a step of 0 counts as not typed */
        {NAN, 0, 4, 4, 0, 0, 0},
        {1, 0, 0, 2, 1, 0.5, 0.5},
        {1, 0, 5, 5, 1, 0.2, 0.2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int compat = 0; compat < 2; compat++) {
            nb_sampling s = nb_sample_phi(rows[i].osc, rows[i].d, rows[i].n, compat);
            check_sampling(&s, rows[i].count, rows[i].range,
                           compat ? rows[i].compat_step : rows[i].step);
        }
}

UNIT_TEST(domains)
{
    assert_int_equal(nb_mosaic_domains(NAN, 0), 1);
    assert_int_equal(nb_mosaic_domains(NAN, 50), 1);
    assert_int_equal(nb_mosaic_domains(0, 50), 1);
    assert_int_equal(nb_mosaic_domains(0.01, 0), 10);
    assert_int_equal(nb_mosaic_domains(0.01, 1), 1);
    assert_int_equal(nb_mosaic_domains(0.01, 50), 50);
}

static int grid_count(double hR, int hn, double vR, int vn, int square)
{
    nb_config cfg = nb_suite_config(1, 5, 8);
    nb_geometry g;
    nb_source *sources;
    nb_error err;
    int count;
    cfg.hdiv_range_mrad = hR;
    cfg.hdiv_steps = hn;
    cfg.vdiv_range_mrad = vR;
    cfg.vdiv_steps = vn;
    cfg.square_div = square;
    assert_int_equal(nb_geometry_build(NB_RESOLVED(&cfg), &g, &err), NB_OK);
    assert_int_equal(nb_beam_grid(NB_RESOLVED(&cfg), &g, NULL, &sources, &count, &err),
                     NB_OK);
    for (int i = 0; i < count; i++) {
        check_close(nb_norm(sources[i].incident), 1, 1e-14);
        check_close(sources[i].weight, 1, 0);
    }
    nb_free(sources);
    return count;
}

/* Counted by hand.  n odd, points i = -m..m, m = (n-1)/2: (i^2 + j^2)/m^2 <= 1.1.
 * n even, x = i + 1/2: 4 (x^2 + y^2 - 1/2)/(n-1)^2 <= 1.1. */
UNIT_TEST(round_beam)
{
    assert_int_equal(grid_count(4, 3, 4, 3, 0), 5);  /* centre and four ends */
    assert_int_equal(grid_count(4, 5, 4, 5, 0), 13); /* i^2 + j^2 <= 4.4 */
    /* i^2 + j^2 <= 9.9, so 10 is outside */
    assert_int_equal(grid_count(4, 7, 4, 7, 0), 29);
    assert_int_equal(grid_count(4, 9, 4, 9, 0),
                     57); /* i^2 + j^2 <= 17.6, so (4, 1) with 17 is inside */
    assert_int_equal(grid_count(4, 2, 4, 2, 0), 4);
    /* the corners (1.5, 1.5) are outside */
    assert_int_equal(grid_count(4, 4, 4, 4, 0), 12);
    assert_int_equal(grid_count(5, 6, 5, 6, 0), 24); /* x^2 + y^2 - 1/2 <= 6.875 */
    assert_int_equal(grid_count(4, 5, 1, 3, 0), 7);  /* i^2/4 + j^2 <= 1.1: 5 + 2 x 1 */
    assert_int_equal(grid_count(4, 9, 4, 9, 1), 81); /* a square beam has all points */
    assert_int_equal(grid_count(4, 9, 0, 0, 0), 9);  /* a line has no corners */
    assert_int_equal(grid_count(0, 0, 4, 9, 0), 9);
}

/* Divergence v turns the beam about the polarization axis, then h about the vertical.
 * Sources are in order of h, v, wavelength. */
UNIT_TEST(grid_directions)
{
    nb_config cfg = nb_suite_config(2, 5, 8);
    nb_geometry g;
    nb_source *sources;
    nb_error err;
    int count;
    cfg.hdiv_range_mrad = 20;
    cfg.hdiv_steps = 2;
    cfg.vdiv_range_mrad = 8;
    cfg.vdiv_steps = 3;
    cfg.square_div = 1;
    cfg.dispersion_pct = 1;
    cfg.dispersion_steps = 2;
    assert_int_equal(nb_geometry_build(NB_RESOLVED(&cfg), &g, &err), NB_OK);
    assert_int_equal(nb_beam_grid(NB_RESOLVED(&cfg), &g, NULL, &sources, &count, &err),
                     NB_OK);
    assert_int_equal(count, 12);
    for (int i = 0; i < 12; i++) { /* beam +x, polarization +z, vertical x cross z = -y */
        double h = i < 6 ? -0.010 : 0.010, v = (i / 2 % 3 - 1) * 0.004;
        check_vector(sources[i].incident, cos(v) * cos(h), sin(v), cos(v) * sin(h), 1e-15);
        check_close(sources[i].lambda, i % 2 ? 2.01e-10 : 1.99e-10, 1e-22);
    }
    nb_free(sources);
    cfg.hdiv_steps = 1000000;
    cfg.vdiv_steps = 1000000;
    assert_int_equal(nb_beam_grid(NB_RESOLVED(&cfg), &g, NULL, &sources, &count, &err),
                     NB_ERR_INPUT);
}
