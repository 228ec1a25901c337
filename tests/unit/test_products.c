/* SPDX-License-Identifier: MIT */
/* Single products: statistics, integers, the noise of nanoBragg (the old program); and
 * the preview. */
#include "../support/check.h"
#include "../support/products.h"

#include "../../src/base/memory.h"
#include "../../src/picture/picture.h"
#include "../../src/image/image.h"
#include "image_truth.h"

static nb_scene scene_of(int fast, int slow)
{
    nb_scene sc;
    memset(&sc, 0, sizeof sc);
    sc.raster.columns = fast;
    sc.raster.rows = slow;
    sc.raster.roi.fmax = fast - 1;
    sc.raster.roi.smax = slow - 1;
    return sc;
}

/* --- statistics --- */

UNIT_TEST(small_statistics)
{
    const float image[12] = {0, 0, 0, 0, /**/ 0, 1, 5, 9, /**/ 0, 9, 2, 7};
    const uint8_t mask[12] = {1, 1, 1, 1, /**/ 1, 1, 1, 1, /**/ 1, 1, 1, 0};
    nb_scene sc = scene_of(4, 3);
    nb_stats st;
    sc.raster.roi.fmin = 1;
    sc.raster.roi.smin = 1;
    sc.raster.mask = mask;
    statistics_of(image, &sc, 0, &st);
    assert_int_equal(st.rendered, 5);
    assert_int_equal(st.roi_pixels, 6);
    check_close(st.sum, 26, 0);
    check_close(st.mean, 5.2, 1e-15);
    check_close(st.rms, sqrt((1 + 25 + 81 + 81 + 4) / 5.0), 1e-14);
    /* about the mean of the rendered pixels, with the masked pixel */
    check_close(st.rmsd,
                sqrt((4.2 * 4.2 + .04 + 2 * 3.8 * 3.8 + 3.2 * 3.2 + 1.8 * 1.8) / 5),
                1e-14);
    check_close(st.max, 9, 0);
    assert_int_equal(st.max_fast, 3); /* the first of two equal pixels */
    assert_int_equal(st.max_slow, 1);
    check_close(st.solid_angle, 0, 0);
}

UNIT_TEST(degenerate_statistics)
{
    const float image[4] = {-3, -2, NAN, -5};
    const uint8_t dark[4] = {0, 0, 0, 0};
    nb_scene sc = scene_of(4, 1);
    nb_stats st;
    statistics_of(image, &sc, 0, &st);
    check_close(st.max, -2, 0);
    assert_int_equal(st.max_fast, 1);
    assert_true(isnan(st.mean)); /* an overflow makes the mean NaN */
    sc.raster.mask = dark;
    statistics_of(image, &sc, 0, &st);
    assert_int_equal(st.rendered, 0);
    check_close(st.mean, 0, 0);
    check_close(st.rms, 0, 0);
    check_close(st.max, 0, 0);
    sc.raster.mask = NULL;
    sc.raster.roi.fmin = sc.raster.roi.fmax = 3;
    statistics_of(image, &sc, 0, &st);
    check_close(st.mean, -5, 0);
    check_close(st.rmsd, 0, 0);
    check_close(st.max, -5, 0);
}

UNIT_TEST(statistics_any_thread_count)
{
    enum { FAST = 517, SLOW = 301 };
    static float image[FAST * SLOW];
    nb_scene sc = scene_of(FAST, SLOW);
    nb_stats one, more;
    double sum = 0, sum2 = 0, n = FAST * SLOW;
    for (int i = 0; i < FAST * SLOW; i++) {
        image[i] = (float)((i * 7919 % 10007) * 1e-3 + (i == 54321 ? 1e3 : 0));
        sum += image[i];
        sum2 += (double)image[i] * image[i];
    }
    statistics_of(image, &sc, 1, &one);
    for (int threads = 0; threads < 6; threads++) {
        statistics_of(image, &sc, threads, &more);
        assert_memory_equal(&one, &more, sizeof one);
    }
    check_ratio(one.sum, sum, 1e-12);
    check_ratio(one.rms, sqrt(sum2 / n), 1e-12);
    check_ratio(one.rmsd, sqrt((sum2 - sum * sum / n) / (n - 1)), 1e-10);
    assert_int_equal(one.max_slow * FAST + one.max_fast, 54321);
}

/* --- integers --- */

UNIT_TEST(scales)
{
    nb_stats st = {0};
    check_close(nb_int_scale(0, &st), 1, 0);
    check_close(nb_pgm_scale(0, &st, 0.25), 0.25, 0);
    st.max = 110;
    st.rmsd = 10;
    check_close(nb_int_scale(0, &st), 500, 0);
    check_close(nb_int_scale(3, &st), 3, 0);
    check_close(nb_pgm_scale(0, &st, 500), 5, 0);
    check_close(nb_pgm_scale(2, &st, 500), 2, 0);
    st.max = -1;
    check_close(nb_int_scale(0, &st), 1, 0);
}

UNIT_TEST(quantize_u16)
{
    const float image[10] = {9, 0, 1.24f, 1.25f, 1e9f, -10, -1e9f, NAN, 5, 9};
    const uint8_t mask[10] = {1, 1, 1, 1, 1, 1, 1, 1, 0, 1};
    /* outside; offset; 42.48 and 42.5 round; clipped; 20; clipped; NaN; masked; outside */
    const uint16_t want[10] = {0, 40, 42, 43, 65535, 20, 0, 0, 40, 0};
    nb_scene sc = scene_of(10, 1);
    uint16_t out[10];
    nb_product p = {.type = NB_PIXEL_U16, .scale = 2, .adc_offset = 40, .pixels = out};
    sc.raster.mask = mask;
    sc.raster.roi.fmin = 1;
    sc.raster.roi.fmax = 8;
    make_one(image, &sc, 1, NULL, &p, NULL);
    assert_memory_equal(out, want, sizeof out);
    assert_int_equal(p.overloads, 1);
}

UNIT_TEST(quantize_u16_rows)
{
    const float image[6] = {1, 2, 3, 4, 5, 6};
    const uint16_t want[6] = {0, 0, 10, 11, 0, 0};
    nb_scene sc = scene_of(2, 3);
    uint16_t out[6];
    nb_product p = {.type = NB_PIXEL_U16, .scale = 1, .adc_offset = 7.4, .pixels = out};
    sc.raster.roi.smin = sc.raster.roi.smax = 1;
    make_one(image, &sc, 1, NULL, &p, NULL);
    assert_memory_equal(out, want, sizeof out);
}

UNIT_TEST(quantize_u8)
{
    const float image[7] = {0, 1.99f, 127.4f, 127.5f, 1e6f, -3, NAN};
    const uint8_t want[7] = {0, 3, 254, 255, 255, 0, 0};
    uint8_t out[7];
    nb_quantize_u8(&nb_image_kernels_scalar, image, 7, 2, out);
    assert_memory_equal(out, want, sizeof out);
}

/* --- noise of the old program --- */

/* Images and noise written by nanoBragg with seed 42, offset 40 (-default_F 100 -cell 100
 * 90 110 90 90 90 -lambda 1 -distance 100 -detpixels 8 -N 20 -pixel 0.7 -Xbeam 3.13
 * -Ybeam 2.77 -oversample 1, fluence 2e29 and 2e31): means below 12, to 1e6, and above.
 * Above 1e6 pairs of normal deviates are used although the pixel is clipped. */
static const float compat_dim[64] = {
    71.1786499f, 55.5527382f, 1.84603179f, 0.396628678f, 23.70327f,   0.0538465045f,
    15.375536f,  11.2582331f, 143.154343f, 0.339310676f, 6.38179731f, 123.577759f,
    11232.0781f, 10.156539f,  35.762619f,  0.336773902f, 0.70480299f, 9.31389046f,
    3.67576408f, 35.9726143f, 2895.57397f, 3.34135485f,  21.5389538f, 1.27386177f,
    421.216461f, 3536.13403f, 754.731445f, 5430.49023f,  409390.156f, 543.993652f,
    4406.7915f,  511.362152f, 4.16431808f, 15.2243481f,  2.63660574f, 16.594923f,
    1214.88074f, 1.72343123f, 15.3243227f, 2.21299624f,  71.5926971f, 273.811005f,
    48.6394806f, 310.973236f, 22870.2246f, 32.2389603f,  282.350403f, 39.7174454f,
    707.254456f, 6772.50342f, 1499.92834f, 11032.4834f,  836478.125f, 1100.98962f,
    8750.81445f, 976.813416f, 1.68074369f, 11.9064245f,  4.50666952f, 42.5122948f,
    3373.83228f, 3.94093108f, 26.5948868f, 1.63145864f};
static const uint16_t compat_dim_noise[64] = {
    98,    95,   40,    41,   64,   40,    50, 50,   172,  40,  45,   163,  11265,
    46,    75,   41,    40,   51,   44,    77, 2855, 43,   64,  43,   440,  3461,
    837,   5515, 65535, 597,  4488, 559,   44, 59,   42,   55,  1177, 42,   54,
    42,    110,  296,   93,   347,  22765, 69, 328,  77,   777, 6698, 1584, 11095,
    65535, 1180, 8775,  1000, 42,   51,    46, 76,   3406, 47,  58,   41};
static const float compat_bright[64] = {
    7117.86475f, 5555.27393f, 184.60318f,  39.6628685f, 2370.32715f, 5.38465071f,
    1537.55359f, 1125.82324f, 14315.4346f, 33.9310684f, 638.179749f, 12357.7764f,
    1123207.75f, 1015.65387f, 3576.26172f, 33.6773911f, 70.4803009f, 931.389038f,
    367.576416f, 3597.26147f, 289557.406f, 334.135498f, 2153.89526f, 127.386177f,
    42121.6484f, 353613.406f, 75473.1484f, 543049.062f, 40939016.0f, 54399.3633f,
    440679.125f, 51136.2148f, 416.431793f, 1522.43481f, 263.660583f, 1659.49231f,
    121488.07f,  172.343124f, 1532.43225f, 221.299622f, 7159.27002f, 27381.1016f,
    4863.94775f, 31097.3223f, 2287022.25f, 3223.896f,   28235.0391f, 3971.74463f,
    70725.4453f, 677250.375f, 149992.828f, 1103248.38f, 83647816.0f, 110098.961f,
    875081.438f, 97681.3438f, 168.074371f, 1190.64246f, 450.666962f, 4251.22949f,
    337383.219f, 394.093109f, 2659.48877f, 163.145859f};
static const uint16_t compat_bright_noise[64] = {
    7028,  5593,  229,   88,    2355,  44,    1596,  1134,  14467, 76,    689,
    12424, 65535, 1015,  3644,  78,    118,   970,   400,   3763,  65535, 374,
    2207,  150,   42484, 65535, 65535, 65535, 65535, 54209, 65535, 51313, 468,
    1618,  313,   1713,  65535, 209,   1570,  278,   7147,  27148, 4896,  31308,
    65535, 3310,  28272, 3955,  65535, 65535, 65535, 65535, 65535, 65535, 65535,
    65535, 205,   1212,  492,   4230,  65535, 436,   2777,  193};

UNIT_TEST(compat_noise)
{
    nb_scene sc = scene_of(8, 8);
    const noise_options options = {42, 0, 40, 0};
    uint16_t out[64];
    int64_t overloads;
    assert_int_equal(make_counts(NB_STAGE_POISSON_COMPAT, compat_dim, &sc, &options, out,
                                 &overloads, NULL),
                     NB_OK);
    assert_memory_equal(out, compat_dim_noise, sizeof out);
    assert_int_equal(overloads, 2);
    assert_int_equal(make_counts(NB_STAGE_POISSON_COMPAT, compat_bright, &sc, &options,
                                 out, NULL, NULL),
                     NB_OK);
    assert_memory_equal(out, compat_bright_noise, sizeof out);
}

/* Pixels outside the region of interest draw nothing; a mean of 0 inside draws. */
UNIT_TEST(compat_noise_order)
{
    nb_scene sc = scene_of(8, 8);
    const noise_options options = {42, 0, 40, 0};
    float shifted[64] = {0};
    uint16_t out[64];
    memcpy(shifted + 24, compat_dim, 40 * sizeof *shifted);
    sc.raster.roi.smin = 3;
    make_counts(NB_STAGE_POISSON_COMPAT, shifted, &sc, &options, out, NULL, NULL);
    assert_memory_equal(out + 24, compat_dim_noise, 40 * sizeof *out);
    for (int i = 0; i < 24; i++)
        assert_int_equal(out[i], 0);
    sc.raster.roi.smin = 2;
    make_counts(NB_STAGE_POISSON_COMPAT, shifted, &sc, &options, out, NULL, NULL);
    for (int i = 16; i < 24; i++)
        assert_int_equal(out[i], 40);
    assert_memory_not_equal(out + 24, compat_dim_noise, 40 * sizeof *out);
}

/* --- preview --- */

enum { SIDE = 200 };

static void fill_picture(float *image)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        image[i] = 10.0f + (float)(i % 97) * 0.1f; /* a background of 10 to 20 */
    for (int i = 0; i < 40; i++)
        image[i * 997] = 1000;
    for (int i = 0; i < SIDE; i++)
        image[100 * SIDE + i] = 0; /* these pixels were not rendered */
}

UNIT_TEST(preview_shows_spots)
{
    static float image[SIDE * SIDE];
    static uint8_t out[SIDE * SIDE], bright[SIDE * SIDE];
    nb_preview_options o = nb_preview_of(NULL);
    fill_picture(image);
    assert_int_equal(nb_preview(image, SIDE, SIDE, &o, out, NULL), NB_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(out[i * 997], image[i * 997] > 0 ? 0 : 255);
    assert_int_equal(out[100 * SIDE + 7], 255);
    for (int i = 0; i < SIDE * SIDE; i++)
        if (image[i] > 0 && image[i] < 1000)
            assert_in_range(out[i], 120, 255); /* grey, not black */
    o.bright_spots = 1;
    assert_int_equal(nb_preview(image, SIDE, SIDE, &o, bright, NULL), NB_OK);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(bright[i], 255 - out[i]);
}

UNIT_TEST(preview_is_monotonic)
{
    static float image[1000];
    static uint8_t out[1000];
    nb_preview_options o = nb_preview_of(NULL);
    for (int i = 0; i < 1000; i++)
        image[i] = powf(10, (float)i * 0.01f - 5);
    for (int curve = 0; curve < 2; curve++) {
        o.png.log = curve;
        assert_int_equal(nb_preview(image, 1000, 1, &o, out, NULL), NB_OK);
        assert_int_equal(out[0], 255);
        assert_int_equal(out[999], 0);
        for (int i = 1; i < 1000; i++)
            assert_true(out[i] <= out[i - 1]);
    }
    /* on a logarithmic scale the middle of the decades is the middle grey */
    assert_in_range(out[500], 120, 135);
}

UNIT_TEST(preview_degenerate)
{
    const nb_preview_options o = nb_preview_of(NULL);
    float image[4] = {0, 0, 0, 0};
    uint8_t out[4];
    nb_error err;
    assert_int_equal(nb_preview(image, 2, 2, &o, out, NULL), NB_OK);
    assert_int_equal(out[3], 255);
    image[0] = NAN;
    image[1] = INFINITY;
    image[2] = -1;
    image[3] = 3;
    assert_int_equal(nb_preview(image, 2, 2, &o, out, NULL), NB_OK);
    assert_int_equal(out[0], 255);
    assert_int_equal(out[1], 0);
    assert_int_equal(out[2], 255);
    nb_alloc_fail_after(1);
    assert_int_equal(nb_preview(image, 2, 2, &o, out, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
}
