/* SPDX-License-Identifier: MIT */
/* Noise of source and detector: equal bytes for all instruction sets and threads; limits
 * of the file types. golden/test_detectors.py has the reference images. */
#include "noise_samples.h"

/* --- the same bytes --- */

static void fill(float *photons, size_t n)
{
    for (size_t i = 0; i < n; i++)
        photons[i] = (float)((i * 2654435761u % 100003) * 1e-3 +
                             (i % 911 == 7 ? 3e4 : 0) + (i % 5003 == 11 ? 2e9 : 0));
}

/** Makes one stage of every kind; returns their number. */
static int all_stages(nb_psf_shape shape, nb_fibres *fibres, const float *map, nb_stage *s)
{
    const nb_stage all[] = {
        {.kind = NB_STAGE_FLICKER, .amount = nb_flicker_factor(-7, 0, 0.1)},
        {.kind = NB_STAGE_DEADTIME, .amount = 1e-6},
        {.kind = NB_STAGE_POISSON, .seed = -7},
        spread(shape, 130, fibres),
        {.kind = NB_STAGE_CALIBRATION, .seed = 9, .amount = 0.2},
        {.kind = NB_STAGE_GAINMAP, .map = map},
        {.kind = NB_STAGE_GAIN, .amount = 1.3},
        {.kind = NB_STAGE_READOUT, .seed = -7, .amount = 2}};
    int n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].kind != NB_STAGE_SPREAD || shape != NB_PSF_NONE)
            s[n++] = all[i];
    return n;
}

UNIT_TEST(same_bytes)
{
    enum { W = 301, H = 257, ALL = W * H + 200 * 99 };
    static const nb_pixel_type types[] = {NB_PIXEL_F32, NB_PIXEL_U16, NB_PIXEL_I16,
                                          NB_PIXEL_I32};
    static float photons[ALL], map[ALL], want[ALL], made[ALL];
    static uint8_t mask[ALL];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    put_panel(&d, W, H, 1e-4);
    put_panel(&d, 200, 99, 1e-4);
    fill(photons, ALL);
    for (int i = 0; i < ALL; i++) {
        map[i] = 1 + 0.001f * (float)(i % 13);
        mask[i] = i % 17 != 3;
    }
    d.scene.raster.mask = mask;
    for (int shape = NB_PSF_NONE; shape <= NB_PSF_FIBRE; shape++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            nb_stage stages[NB_STAGES_MAX];
            int n = all_stages((nb_psf_shape)shape, fibres, map, stages);
            size_t bytes = ALL * nb_pixel_bytes(types[t]);
            nb_product p = {.type = types[t], .adc_offset = 3, .pixels = want};
            if (shape == NB_PSF_FIBRE && !has_fftw())
                continue;
            d.scene.raster.columns = W; /* rows of the stack have several widths */
            make(&d, NB_ISA_SCALAR, 1, photons, stages, n, &p);
            for (int isa = NB_ISA_SCALAR; isa <= NB_ISA_NEON; isa++) {
                nb_product q = {.type = types[t], .adc_offset = 3, .pixels = made};
                nb_isa runs;
                if (nb_cpu_choose((nb_isa)isa, &runs, NULL))
                    continue;
                memset(made, 1, bytes);
                make(&d, runs, 1, photons, stages, n, &q);
                assert_memory_equal(made, want, bytes);
                assert_int_equal(p.overloads, q.overloads);
            }
        }
    nb_fibres_free(fibres);
}

UNIT_TEST(any_threads)
{
    enum { W = 512, H = 300 };
    static float photons[W * H], map[W * H];
    static uint16_t want[W * H], made[W * H];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    put_panel(&d, W, H, 1e-4);
    fill(photons, W * H);
    for (int i = 0; i < W * H; i++)
        map[i] = 1;
    for (int shape = NB_PSF_NONE; shape <= NB_PSF_NONE + 1 + has_fftw(); shape++) {
        nb_stage stages[NB_STAGES_MAX];
        int n = all_stages((nb_psf_shape)shape, fibres, map, stages);
        nb_product p = {.type = NB_PIXEL_U16, .trusted = 500, .pixels = want};
        make(&d, widest(), 1, photons, stages, n, &p);
        assert_true(p.overloads > 10);
        for (int threads = 0; threads <= 16; threads += 4) {
            nb_product q = {.type = NB_PIXEL_U16, .trusted = 500, .pixels = made};
            make(&d, widest(), threads ? threads : 2, photons, stages, n, &q);
            assert_memory_equal(made, want, sizeof want);
            assert_int_equal(p.overloads, q.overloads);
        }
    }
    nb_fibres_free(fibres);
}

/* A calibration belongs to the detector and not to the seed of the image. */
UNIT_TEST(calibration_stays)
{
    enum { W = 200, H = 100 };
    static float photons[W * H], a[W * H], b[W * H];
    detector d = {0};
    put_panel(&d, W, H, 1e-4);
    for (int i = 0; i < W * H; i++)
        photons[i] = 1000;
    for (int seed = 1; seed <= 3; seed++) {
        const nb_stage stages[] = {
            {.kind = NB_STAGE_CALIBRATION, .seed = seed < 3 ? 5 : 6, .amount = 0.05},
            unit_gain};
        nb_product p = {.type = NB_PIXEL_F32, .pixels = seed == 1 ? a : b};
        make(&d, widest(), 1, photons, stages, 2, &p);
        if (seed == 2)
            assert_memory_equal(a, b, sizeof a);
    }
    assert_memory_not_equal(a, b, sizeof a);
}

/* --- limits --- */

UNIT_TEST(limits)
{
    const float photons[8] = {0, 0.49f, 0.5f, 99.4f, 99.5f, 100.5f, 1e20f, 7};
    static const uint8_t mask[8] = {1, 1, 1, 1, 1, 1, 1, 0};
    /* the last pixel is masked; -saturation 100 */
    const uint16_t smv[8] = {10, 10, 11, 101, 101, 101, 101, 10};
    const uint16_t hdf5[8] = {10, 10, 11, 101, 101, 101, 101, 65535};
    const int32_t cbf[8] = {10, 10, 11, 101, 101, 101, 101, -2};
    const int16_t i16[8] = {-40000 + 7233, -32767, -32767, -32767,
                            -32767,        -32767, 32767,  -2};
    const float floats[8] = {10, 10.49f, 10.5f, 109.4f, 109.5f, 110.5f, 1e20f, 0};
    detector d = {0};
    nb_product p = {.type = NB_PIXEL_U16, .adc_offset = 10, .trusted = 100};
    uint16_t u[8];
    int16_t s[8];
    int32_t w[8];
    float f[8];
    put_panel(&d, 8, 1, 1e-4);
    d.scene.raster.mask = mask;
    p.pixels = u;
    make(&d, widest(), 1, photons, &unit_gain, 1, &p);
    assert_memory_equal(u, smv, sizeof u);
    assert_int_equal(p.overloads, 4);
    p.marks_masked = 1;
    make(&d, widest(), 1, photons, &unit_gain, 1, &p);
    assert_memory_equal(u, hdf5, sizeof u);
    p.type = NB_PIXEL_I32;
    p.pixels = w;
    make(&d, widest(), 1, photons, &unit_gain, 1, &p);
    assert_memory_equal(w, cbf, sizeof w);
    p = (nb_product){.type = NB_PIXEL_F32, .adc_offset = 10, .pixels = f};
    make(&d, widest(), 1, photons, &unit_gain, 1, &p);
    assert_memory_equal(f, floats, sizeof f);
    p = (nb_product){
        .type = NB_PIXEL_I16, .adc_offset = -40000, .marks_masked = 1, .pixels = s};
    make(&d, widest(), 1, photons, &unit_gain, 1, &p);
    assert_memory_equal(s, i16, sizeof s);
    assert_int_equal(p.overloads, 1);
}

/* Tests the largest value of each file type, and this value plus one. */
UNIT_TEST(largest_values)
{
    static const struct {
        nb_pixel_type type;
        double trusted; /* largest value of the type */
    } types[] = {{NB_PIXEL_U16, 65534}, {NB_PIXEL_I16, 32766}, {NB_PIXEL_I32, 2147483645}};
    detector d = {0};
    put_panel(&d, 3, 1, 1e-4);
    for (size_t i = 0; i < 3; i++) {
        const double t = types[i].trusted;
        const float photons[3] = {0, 1, 1e30f};
        int32_t out[3] = {0};
        nb_product p = {
            .type = types[i].type, .adc_offset = t, .trusted = 1e18, .pixels = out};
        double value[3];
        make(&d, widest(), 1, photons, &unit_gain, 1, &p);
        for (int k = 0; k < 3; k++)
            value[k] = types[i].type == NB_PIXEL_I32   ? out[k]
                       : types[i].type == NB_PIXEL_I16 ? ((int16_t *)out)[k]
                                                       : ((uint16_t *)out)[k];
        check_close(value[0], t, 0);
        check_close(value[1], t + 1, 0);
        check_close(value[2], t + 1, 0);
        assert_int_equal(p.overloads, 2);
    }
}

/* Each panel has a gain and a largest trusted value; pixels outside the region of
 * interest are dark. */
UNIT_TEST(panels_of_their_own)
{
    static const double gains[2] = {2, 10}, trusted[2] = {1000, 30};
    const nb_stage gain = {.kind = NB_STAGE_GAIN, .of_panels = gains};
    const float photons[6] = {1, 2, 3, 4, 5, 6};
    const uint16_t want[6] = {3, 5, 0, 31, 31, 0};
    detector d = {0};
    uint16_t out[6];
    nb_product p = {
        .type = NB_PIXEL_U16, .adc_offset = 1, .trusted_of = trusted, .pixels = out};
    put_panel(&d, 3, 1, 1e-4);
    put_panel(&d, 3, 1, 1e-4);
    d.scene.raster.roi.fmax = 1;
    make(&d, widest(), 1, photons, &gain, 1, &p);
    assert_memory_equal(out, want, sizeof out);
    assert_int_equal(p.overloads, 2);
}

UNIT_TEST(faults)
{
    static const nb_stage orders[][2] = {
        {{.kind = NB_STAGE_GAIN, .amount = 1}, {.kind = NB_STAGE_POISSON}},
        {{.kind = NB_STAGE_GAIN, .amount = 1}, {.kind = NB_STAGE_GAIN, .amount = 1}},
        {{.kind = NB_STAGE_POISSON_COMPAT}, {.kind = NB_STAGE_GAIN, .amount = 1}},
        {{.kind = NB_STAGE_GAINMAP}, {.kind = NB_STAGE_GAIN, .amount = 1}},
        {{.kind = NB_STAGE_SPREAD, .shape = NB_PSF_FIBRE, .amount = 1},
         {.kind = NB_STAGE_GAIN, .amount = 1}}};
    const float photons[2] = {1, 2};
    detector d = {0};
    put_panel(&d, 2, 1, 1e-4);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        nb_photons of = photons_of(photons, &d.scene, 1);
        nb_product p = {.type = NB_PIXEL_U16, .stages = 2};
        nb_error err = {0};
        assert_int_equal(nb_image_make(&of, orders[i], 2, &p, 1, &err), NB_ERR_INTERNAL);
        nb_products_free(&p, 1);
    }
}

/* Every allocation may fail. */
UNIT_TEST(out_of_memory)
{
    enum { W = 40, H = 30 };
    static float photons[W * H];
    static uint16_t out[W * H];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    int failures = 0;
    put_panel(&d, W, H, 1e-4);
    for (int shape = NB_PSF_GAUSS; shape <= NB_PSF_GAUSS + has_fftw(); shape++)
        for (long n = 1; n < 200; n++) {
            const nb_stage stages[] = {
                spread((nb_psf_shape)shape, 60 + (double)n, fibres), unit_gain};
            nb_photons of = photons_of(photons, &d.scene, 1);
            nb_product p = {.type = NB_PIXEL_U16, .stages = 2, .pixels = out};
            nb_error err = {0};
            nb_status st;
            nb_alloc_fail_after(n);
            st = nb_image_make(&of, stages, 2, &p, 1, &err);
            nb_alloc_fail_after(0);
            nb_products_free(&p, 1);
            if (!st)
                break;
            assert_int_equal(st, NB_ERR_NOMEM);
            assert_true(err.message[0]);
            failures++;
        }
    assert_in_range(failures, 8, 150);
    nb_fibres_free(fibres);
}
