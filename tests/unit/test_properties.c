/* SPDX-License-Identifier: MIT */
/* Theorems about images that need no reference. */
#include <stddef.h>

#include "../support/check.h"

#include "sim/sim.h"
#include "model/misset.h"

/** A triclinic crystal with many options. */
static nb_config busy_config(int pixels)
{
    nb_config cfg = nb_suite_config(1, 5, pixels);
    nb_set_cell(&cfg, 70, 80, 90, 75, 85, 95);
    nb_set_misset(&cfg, 10, 20, 30);
    cfg.pixel_mm = 0.4;
    cfg.polarization = 0.8;
    cfg.polar_set = 1;
    cfg.osc_deg = 0.5;
    cfg.phi_steps = 3;
    cfg.thick_um = 400;
    cfg.abs_um = 300;
    cfg.thick_steps = 2;
    return cfg;
}

static nb_vec3 turned_array(const double v[3], const nb_mat3 *R)
{
    return nb_apply(R, nb_v3(v[0], v[1], v[2]));
}

static void turn(nb_opt3 *vector, const nb_mat3 *R)
{
    nb_vec3 v = turned_array(vector->v, R);
    nb_set_vector(vector, v.x, v.y, v.z);
}

/** The angles of R times the rotations about x, y, z by these angles, deg. */
static void turn_misset(double deg[3], const nb_mat3 *R)
{
    nb_vec3 column[3];
    nb_mat3 U;
    double angles[3];
    for (int i = 0; i < 3; i++) {
        nb_vec3 e = nb_v3(i == 0, i == 1, i == 2);
        column[i] = nb_apply(
            R, nb_rotate_xyz(e, deg[0] * NB_DEG, deg[1] * NB_DEG, deg[2] * NB_DEG));
    }
    U = (nb_mat3){{column[0].x, column[1].x, column[2].x, column[0].y, column[1].y,
                   column[2].y, column[0].z, column[1].z, column[2].z}};
    nb_rotation_angles(&U, angles);
    for (int i = 0; i < 3; i++)
        deg[i] = angles[i] / NB_DEG;
}

UNIT_TEST(rotating_everything_changes_nothing)
{
    static const double axes[][4] = {
        {1, 0, 0, 90}, {0, 0, 1, 180}, {1, 2, 3, 77}, {-3, 1, 1, 200}};
    nb_config cfg = busy_config(96);
    nb_picture p, q;
    cfg.convention = NB_CONV_CUSTOM;
    nb_set_vector(&cfg.fdet_vector, 0, 0, 1);
    nb_set_vector(&cfg.sdet_vector, 0, -1, 0);
    nb_set_vector(&cfg.odet_vector, 1, 0, 0);
    nb_set_vector(&cfg.beam_vector, 1, 0, 0);
    nb_set_vector(&cfg.polar_vector, 0, 0.2, 1);
    nb_set_vector(&cfg.spindle_axis, 0, 0.1, 1);
    nb_set_vector(&cfg.twotheta_axis, 0.1, 0, -1);
    cfg.twotheta_deg = 13;
    cfg.hdiv_range_mrad = 4;
    cfg.vdiv_range_mrad = 2;
    p = rendered(&cfg);
    for (int i = 0; i < 4; i++) {
        nb_mat3 R = nb_axis_rotation(nb_unit(nb_v3(axes[i][0], axes[i][1], axes[i][2])),
                                     axes[i][3] * NB_DEG);
        nb_config other = cfg;
        nb_opt3 *const vectors[] = {&other.fdet_vector,  &other.sdet_vector,
                                    &other.odet_vector,  &other.beam_vector,
                                    &other.polar_vector, &other.spindle_axis,
                                    &other.twotheta_axis};
        for (int k = 0; k < 7; k++)
            turn(vectors[k], &R);
        q = rendered(&other);
        assert_true(nb_max_difference(q.pixels, p.pixels, p.n) >
                    0.01); /* crystal left behind */
        nb_picture_free(&q);
        turn_misset(other.misset_deg, &R);
        q = rendered(&other);
        check_same(q, p, 1e-6);
        nb_picture_free(&q);
    }
    nb_picture_free(&p);
}

/* ROI and mask crop; tiles together give the whole image; the number of threads changes
 * nothing: all bit for bit. */
UNIT_TEST(tiles_and_threads_give_the_same_bits)
{
    nb_config cfg = busy_config(100), part;
    nb_picture all, p;
    float *together;
    cfg.threads = 1;
    all = rendered(&cfg);
    together = calloc(all.n, sizeof *together);
    for (int tile = 0; tile < 12; tile++) { /* 3 x 4 tiles, last first */
        int f = (11 - tile) % 3, s = (11 - tile) / 3;
        part = cfg;
        part.roi_set = 1;
        part.roi[0] = f * 34;
        part.roi[1] = f == 2 ? 99 : f * 34 + 33;
        part.roi[2] = s * 25;
        part.roi[3] = s * 25 + 24;
        part.threads = 1 + tile % 3;
        p = rendered(&part);
        for (size_t i = 0; i < p.n; i++)
            together[i] += p.pixels[i]; /* zero outside each tile */
        nb_picture_free(&p);
    }
    assert_memory_equal(together, all.pixels, all.n * sizeof *together);
    for (int threads = 2; threads <= 7; threads += 1) {
        cfg.threads = threads;
        p = rendered(&cfg);
        check_same_bits(&p, &all);
        assert_memory_equal(&p.stats.sum, &all.stats.sum,
                            sizeof p.stats - offsetof(nb_stats, sum)); /* no padding there */
        assert_true(p.stats.max == all.stats.max &&
                    p.stats.max_fast == all.stats.max_fast &&
                    p.stats.max_slow == all.stats.max_slow);
        nb_picture_free(&p);
    }
    free(together);
    nb_picture_free(&all);
}

UNIT_TEST(nothing_to_average_changes_nothing)
{
    nb_config base = busy_config(64), cfg;
    nb_picture p, q;
    base.osc_deg = NAN;
    base.phi_steps = 0;
    base.phi_deg = 12;
    p = rendered(&base);
    cfg = base;
    cfg.mosaic_spread_deg = 0; /* mosaic of 0 degrees */
    cfg.mosaic_domains = 30;
    q = rendered(&cfg);
    check_same_bits(&p, &q);
    nb_picture_free(&q);
    cfg = base;
    cfg.mosaic_domains = 30; /* domains without a spread */
    q = rendered(&cfg);
    check_same_bits(&p, &q);
    nb_picture_free(&q);
    cfg = base;
    cfg.osc_deg = 0; /* a sweep of step 0, once and five times */
    q = rendered(&cfg);
    check_same(q, p, 1e-7);
    nb_picture_free(&q);
    cfg.phi_steps = 5;
    q = rendered(&cfg);
    check_same(q, p, 1e-7);
    nb_picture_free(&q);
    cfg = base;
    cfg.hdiv_range_mrad = cfg.vdiv_range_mrad = cfg.dispersion_pct = 0;
    q = rendered(&cfg);
    check_same_bits(&p, &q);
    nb_picture_free(&q);
    nb_picture_free(&p);
}

/** cfg's image must be factor times p. */
static void check_scaled(const nb_config *cfg, const nb_picture *p, double factor)
{
    nb_picture q = rendered(cfg);
    for (size_t i = 0; i < p->n; i++)
        check_close(q.pixels[i], factor * p->pixels[i], 1.5e-7 * factor * p->pixels[i]);
    nb_picture_free(&q);
}

UNIT_TEST(intensity_scales)
{
    nb_config base = busy_config(64), cfg;
    nb_picture p = rendered(&base);
    cfg = base;
    cfg.default_F = 200;
    check_scaled(&cfg, &p, 4);
    cfg.default_F = 70;
    check_scaled(&cfg, &p, 0.49);
    cfg = base;
    cfg.fluence = 2 * 125932015286227086360700780544.0;
    check_scaled(&cfg, &p, 2);
    cfg.fluence = 1e15;
    check_scaled(&cfg, &p, 1e15 / 125932015286227086360700780544.0);
    nb_picture_free(&p);
}

/* The image of a sweep, a spectrum or a mosaic is the mean over its members. */
UNIT_TEST(sums_are_means)
{
    nb_config cfg = busy_config(48), one;
    double mean[48 * 48] = {0}, max = 0;
    nb_picture p;
    cfg.hdiv_range_mrad = 0;
    cfg.osc_deg = 2;
    cfg.phi_steps = 4;
    cfg.dispersion_pct = 2;
    cfg.dispersion_steps = 3;
    one = cfg;
    one.osc_deg = one.dispersion_pct = NAN;
    one.phi_steps = one.dispersion_steps = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            one.phi_deg = 0.25 + 0.5 * i; /* the middles of the steps */
            one.lambda_A = 0.99 + 0.01 * k;
            p = rendered(&one);
            for (int j = 0; j < 48 * 48; j++)
                mean[j] += p.pixels[j] / 12;
            nb_picture_free(&p);
        }
    p = rendered(&cfg);
    for (int j = 0; j < 48 * 48; j++)
        max = fmax(max, mean[j]);
    for (int j = 0; j < 48 * 48; j++)
        check_close(p.pixels[j], mean[j], 3e-7 * max);
    nb_picture_free(&p);
}

UNIT_TEST(oversampling_converges)
{
    nb_config cfg = busy_config(48);
    double last = INFINITY;
    nb_picture finest, p;
    cfg.pixel_mm = 0.3;
    cfg.oversample = 16;
    finest = rendered(&cfg);
    for (int os = 1; os <= 8; os *= 2) {
        double difference;
        cfg.oversample = os;
        p = rendered(&cfg);
        difference = nb_max_difference(p.pixels, finest.pixels, p.n);
        check_below(difference, last / 2.5); /* midpoint rule: 4 a halving */
        last = difference;
        nb_picture_free(&p);
    }
    check_below(last, 0.01);
    nb_picture_free(&finest);
}

/* The peak goes as N^6: the direct beam's pixel is q = 0. */
UNIT_TEST(peak_grows_as_N6)
{
    double first = 0;
    for (int N = 1; N <= 64; N *= 2) {
        nb_config cfg = nb_suite_config(1, N, 9);
        nb_picture p;
        nb_set_beam(&cfg, 0.4, 0.4);
        p = rendered(&cfg);
        first = N == 1 ? p.pixels[40] : first;
        check_ratio(p.pixels[40], first * pow(N, 6), 1e-6);
        nb_picture_free(&p);
    }
}

/** The spot 0 5 0 of N^3 cells, rocked through the sphere and summed over its pixels. */
static double integrated_spot(int N)
{
    nb_config cfg = nb_suite_config(1, N, 0);
    const double bragg = asin(1.0 * 5 / 200) / NB_DEG;
    const int centre = 150; /* 5 reflections, 30 px each, at 300 mm */
    nb_picture p;
    double sum;
    nb_set_pixels(&cfg, 30, 30);
    cfg.distance_mm = 300;
    cfg.nopolar = 1;
    cfg.point_pixel = 1;
    /* the corner of pixel (0, 0), so that b goes to the middle: b is -slow here */
    nb_set_vector(&cfg.pix0_m, 0.3, (centre + 15) * 1e-4, -15e-4);
    /* about the spindle (z): b* of 0 5 0 from along y to the sphere */
    cfg.osc_deg = 360 / NB_PI / 10; /* all of one cell of reciprocal space along h */
    cfg.phi_steps = 40 * N;
    cfg.phi_deg = bragg - cfg.osc_deg / 2;
    cfg.oversample = 1;
    p = rendered(&cfg);
    sum = p.stats.sum;
    nb_picture_free(&p);
    return sum;
}

UNIT_TEST(spot_integrates_to_N3)
{
    double two = integrated_spot(2);
    check_ratio(integrated_spot(4), 8 * two, 0.03);
    check_ratio(integrated_spot(6), 27 * two, 0.03);
    check_ratio(integrated_spot(8), 64 * two, 0.03);
}
