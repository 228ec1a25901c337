/* SPDX-License-Identifier: MIT */
/* Mean, variance and nearest covariances of flat fields after each stage and after all
 * stages (docs/physics.md, section 20). */
#include "noise_samples.h"

#include "image/light.h"

enum {
    W = 1000,
    N = W * W,
    /* width of the border, whose pixels lose light or lack light from outside */
    EDGE = 20
};

static float photons[N], image[N], second[N];

static void flat(float mean)
{
    for (int i = 0; i < N; i++)
        photons[i] = mean;
}

/** Makes the image after these stages, in floats. */
static void behind(const nb_stage *stages, int n, float *out)
{
    detector d = {0};
    nb_product p = {.type = NB_PIXEL_F32, .pixels = out};
    put_panel(&d, W, W, 1e-4);
    make(&d, widest(), 2, photons, stages, n, &p);
}

typedef struct moments {
    double n, mean, variance, beside, below, diagonal; /* last three: covariances */
} moments;

/** Moments of the inner pixels. */
static moments moments_of(const float *a)
{
    moments m = {0};
    for (int s = EDGE; s < W - EDGE; s++)
        for (int f = EDGE; f < W - EDGE; f++) {
            m.mean += a[s * W + f];
            m.n++;
        }
    m.mean /= m.n;
    for (int s = EDGE; s < W - EDGE; s++)
        for (int f = EDGE; f < W - EDGE; f++) {
            const float *at = a + s * W + f;
            double x = at[0] - m.mean;
            m.variance += x * x / m.n;
            m.beside += x * (at[1] - m.mean) / m.n;
            m.below += x * (at[W] - m.mean) / m.n;
            m.diagonal += x * (at[W + 1] - m.mean) / m.n;
        }
    return m;
}

/** Limits: mean 5 standard errors, variance 1 %, covariances 1 % of the variance. */
static void expect(const char *what, const float *a, moments want)
{
    const moments got = moments_of(a);
    /* the standard error of the mean needs this variance, which includes the
     * covariances */
    double spread = want.variance + 4 * (want.beside + want.below + 2 * want.diagonal);
    double off = fabs(got.mean - want.mean) / sqrt(spread / got.n);
    double least = 0.01 * want.variance;
    if (!(off <= 5) || !(fabs(got.variance - want.variance) <= least) ||
        !(fabs(got.beside - want.beside) <= least) ||
        !(fabs(got.below - want.below) <= least) ||
        !(fabs(got.diagonal - want.diagonal) <= least))
        fail_msg("%s: mean %.9g (%.9g), variance %.6g (%.6g), covariances %.4g %.4g %.4g "
                 "(%.4g %.4g %.4g)",
                 what, got.mean, want.mean, got.variance, want.variance, got.beside,
                 got.below, got.diagonal, want.beside, want.below, want.diagonal);
}

UNIT_TEST(counting)
{
    static const float means[] = {0.1f, 3, 15, 400, 5e5f};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        const nb_stage stages[] = {{.kind = NB_STAGE_POISSON, .seed = 3}, unit_gain};
        flat(means[i]);
        behind(stages, 2, image);
        expect("counting", image, (moments){.mean = means[i], .variance = means[i]});
    }
}

UNIT_TEST(dead_time)
{
    const double mean = 800, dead = 4e-4, m = mean * exp(-mean * dead);
    const nb_stage stages[] = {{.kind = NB_STAGE_DEADTIME, .amount = dead},
                               {.kind = NB_STAGE_POISSON, .seed = 3},
                               unit_gain};
    flat((float)mean);
    behind(stages, 3, image);
    expect("dead time", image, (moments){.mean = m, .variance = m});
}

/** Sums K(j) K(j + d) over j, for d = 0, a pixel along one edge, and along both. */
static void overlaps(nb_stage stage, double *same, double *beside, double *diagonal)
{
    enum { S = 201 };
    static float lit[S * S];
    detector d = {0};
    double *k = nb_alloc(S * S, sizeof *k, "k", NULL);
    nb_light *light;
    put_panel(&d, S, S, 1e-4);
    lit[S / 2 * S + S / 2] = 1;
    const nb_photons of = photons_of(lit, &d.scene, 1);
    assert_int_equal(nb_light_make(&of, &stage, 0, &light, NULL), NB_OK);
    for (int s = 0; s < S; s++)
        nb_light_row(light, s, k + s * S);
    nb_light_free(light);
    *same = *beside = *diagonal = 0;
    for (int i = 0; i < S * S - S - 1; i++) {
        *same += k[i] * k[i];
        *beside += k[i] * k[i + 1];
        *diagonal += k[i] * k[i + S + 1];
    }
    nb_free(k);
}

UNIT_TEST(point_spread)
{
    const double mean = 200;
    double same, beside, diagonal;
    const nb_stage stages[] = {
        {.kind = NB_STAGE_POISSON, .seed = 3}, spread(NB_PSF_GAUSS, 120, NULL), unit_gain};
    overlaps(stages[1], &same, &beside, &diagonal);
    flat((float)mean);
    behind(stages, 3, image);
    expect("point spread", image,
           (moments){.mean = mean,
                     .variance = mean * same,
                     .beside = mean * beside,
                     .below = mean * beside,
                     .diagonal = mean * diagonal});
}

/** The covariance of a pixel between two images. */
static double between(const float *a, const float *b)
{
    const moments of_a = moments_of(a), of_b = moments_of(b);
    double sum = 0;
    for (int s = EDGE; s < W - EDGE; s++)
        for (int f = EDGE; f < W - EDGE; f++)
            sum += (a[s * W + f] - of_a.mean) * (b[s * W + f] - of_b.mean) / of_a.n;
    return sum;
}

UNIT_TEST(calibration)
{
    const double m = 500, s = 0.04, V = m + s * s * (m * m + m);
    nb_stage stages[] = {{.kind = NB_STAGE_POISSON, .seed = 3},
                         {.kind = NB_STAGE_CALIBRATION, .seed = 8, .amount = s},
                         unit_gain};
    flat((float)m);
    behind(stages, 3, image);
    expect("calibration", image, (moments){.mean = m, .variance = V});
    stages[0].seed = 4;
    behind(stages, 3, second);
    check_close(between(image, second), s * s * m * m, 0.01 * V);
}

UNIT_TEST(gain_and_readout)
{
    const double m = 30, g = 2.5, r = 6;
    const nb_stage stages[] = {{.kind = NB_STAGE_POISSON, .seed = 3},
                               {.kind = NB_STAGE_GAIN, .amount = g},
                               {.kind = NB_STAGE_READOUT, .seed = 3, .amount = r}};
    const nb_stage alone[] = {unit_gain, stages[2]};
    static int32_t whole[N];
    detector d = {0};
    nb_product p = {.type = NB_PIXEL_I32, .pixels = whole};
    flat((float)m);
    behind(stages, 2, image);
    expect("gain", image, (moments){.mean = g * m, .variance = g * g * m});
    behind(stages, 3, image);
    expect("read-out", image, (moments){.mean = g * m, .variance = g * g * m + r * r});
    behind(alone, 2, image);
    expect("read-out alone", image, (moments){.mean = m, .variance = r * r});
    put_panel(&d, W, W, 1e-4);
    make(&d, widest(), 2, photons, alone, 2, &p);
    for (int i = 0; i < N; i++)
        image[i] = (float)whole[i];
    expect("rounding", image, (moments){.mean = m, .variance = r * r + 1.0 / 12});
}

UNIT_TEST(all_together)
{
    const double m = 300, s = 0.03, g = 1.5, r = 4;
    double same, beside, diagonal;
    const nb_stage stages[] = {{.kind = NB_STAGE_POISSON, .seed = 3},
                               spread(NB_PSF_GAUSS, 90, NULL),
                               {.kind = NB_STAGE_CALIBRATION, .seed = 8, .amount = s},
                               {.kind = NB_STAGE_GAIN, .amount = g},
                               {.kind = NB_STAGE_READOUT, .seed = 3, .amount = r}};
    overlaps(stages[1], &same, &beside, &diagonal);
    flat((float)m);
    behind(stages, 5, image);
    expect("all", image,
           (moments){.mean = g * m,
                     .variance = g * g * (m * same + s * s * (m * m + m * same)) + r * r,
                     .beside = g * g * m * beside,
                     .below = g * g * m * beside,
                     .diagonal = g * g * m * diagonal});
}

/* An image has one factor: over many images variance and covariance are s^2 m^2. */
UNIT_TEST(flicker)
{
    enum { IMAGES = 1000, PIXELS = 2 };
    const double s = 0.2, m = 50;
    double sum[PIXELS] = {0}, square[PIXELS] = {0}, product = 0;
    for (int i = 0; i < IMAGES; i++) {
        const double factor = nb_flicker_factor(1000 + i, 0, s);
        double x[PIXELS];
        for (int k = 0; k < PIXELS; k++) {
            const nb_poisson_key key = {(uint64_t)(1000 + i), (uint64_t)k, 0};
            x[k] = nb_poisson(m * factor, &key);
            sum[k] += x[k] / IMAGES;
            square[k] += x[k] * x[k] / IMAGES;
        }
        product += x[0] * x[1] / IMAGES;
    }
    for (int k = 0; k < PIXELS; k++) {
        check_close(sum[k], m, 5 * sqrt((m + s * s * m * m) / IMAGES));
        check_close(square[k] - sum[k] * sum[k], m + s * s * m * m,
                    0.1 * (m + s * s * m * m));
    }
    check_close(product - sum[0] * sum[1], s * s * m * m, 0.1 * (m + s * s * m * m));
}

/* The streams of a pixel are independent and normal. */
UNIT_TEST(normal_deviates)
{
    double sum[3] = {0}, moment[3][3] = {{0}}, fourth = 0;
    for (uint64_t i = 0; i < 500000; i++) {
        const nb_poisson_key key = {12, i, 0};
        double g[3];
        for (uint32_t k = 0; k < 3; k++)
            g[k] = nb_normal(&key, k + 1);
        for (int a = 0; a < 3; a++) {
            sum[a] += g[a] / 500000;
            for (int b = 0; b < 3; b++)
                moment[a][b] += g[a] * g[b] / 500000;
        }
        fourth += pow(g[0], 4) / 500000;
    }
    for (int a = 0; a < 3; a++) {
        check_close(sum[a], 0, 5 / sqrt(500000));
        for (int b = 0; b < 3; b++)
            check_close(moment[a][b], a == b, 0.01);
    }
    check_close(fourth, 3, 0.1);
}
