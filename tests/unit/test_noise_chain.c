/* SPDX-License-Identifier: MIT */
/* The noise of source and detector: reference images, equal bytes for all instruction sets and
 * threads, limits of the file types. */
#include "noise_samples.h"

/* --- reference images: golden_data/detectors, cases noise-* and psf-* --- */

enum { FAST = 70, SLOW = 64, N = FAST * SLOW };

/** The image of a case as floats; free with nb_free. */
static void *reference(const char *id, size_t bytes)
{
    const char *source = getenv("NB_SOURCE_DIR");
    char path[400];
    void *data = nb_alloc(bytes, 1, id, NULL);
    FILE *f;
    snprintf(path, sizeof path, "%s/golden_data/detectors/images/%s.bin",
             source ? source : ".", id);
    if (!(f = fopen(path, "rb")) || fread(data, 1, bytes, f) != bytes)
        fail_msg("%s cannot be read", path);
    fclose(f);
    return data;
}

/** A case as stages: the numbers of its flags in cases.tsv. */
typedef struct reference_case {
    const char *id;
    double flicker, dead; /* dead: a photon's share of the exposure */
    int counts, seed;
    nb_psf_shape psf;
    double fwhm;
    double calibration;
    int calib_seed;
    int map;
    double gain, readout, adc;
    int dim; /* the photons of a fluence of 1e25, not of 3e27 */
} reference_case;

static const reference_case cases[] = {
    {.id = "noise-none", .gain = 1},
    {.id = "psf-gauss", .psf = NB_PSF_GAUSS, .fwhm = 120, .gain = 1},
    {.id = "psf-gauss-narrow", .psf = NB_PSF_GAUSS, .fwhm = 20, .gain = 1},
    {.id = "psf-fibre", .psf = NB_PSF_FIBRE, .fwhm = 46, .gain = 1},
    {.id = "psf-fibre-wide", .psf = NB_PSF_FIBRE, .fwhm = 700, .gain = 1},
    {.id = "noise-poisson", .counts = 1, .seed = 41, .gain = 1, .dim = 1},
    {.id = "noise-flicker", .flicker = 0.2, .seed = 41, .gain = 1},
    {.id = "noise-calibration", .calibration = 0.05, .calib_seed = 123456789, .gain = 1},
    {.id = "noise-calib-seed", .calibration = 0.08, .calib_seed = 77, .gain = 1},
    {.id = "noise-readout", .gain = 1.7, .readout = 3.5, .seed = 41, .adc = 12.5, .dim = 1},
    {.id = "noise-deadtime", .dead = 150e-9 / 0.01, .gain = 1},
    {.id = "noise-gainmap", .counts = 1, .seed = 41, .map = 1, .gain = 3, .adc = 7},
    {.id = "noise-all",
     .flicker = 0.05,
     .counts = 1,
     .seed = 41,
     .psf = NB_PSF_GAUSS,
     .fwhm = 130,
     .calibration = 0.03,
     .calib_seed = 5,
     .gain = 2.25,
     .readout = 4,
     .adc = 100},
    {.id = "noise-all-fibre",
     .flicker = 0.05,
     .counts = 1,
     .seed = 41,
     .psf = NB_PSF_FIBRE,
     .fwhm = 60,
     .calibration = 0.03,
     .calib_seed = 5,
     .gain = 2.25,
     .readout = 4,
     .adc = 100},
};

static int stages_of(const reference_case *c, const float *map, nb_fibres *fibres,
                     nb_stage *s)
{
    int n = 0;
    if (c->flicker > 0)
        s[n++] = (nb_stage){.kind = NB_STAGE_FLICKER,
                            .amount = nb_flicker_factor(c->seed, 0, c->flicker)};
    if (c->dead > 0)
        s[n++] = (nb_stage){.kind = NB_STAGE_DEADTIME, .amount = c->dead};
    if (c->counts)
        s[n++] = (nb_stage){.kind = NB_STAGE_POISSON, .seed = c->seed};
    if (c->psf)
        s[n++] = spread(c->psf, c->fwhm, fibres);
    if (c->calibration > 0)
        s[n++] = (nb_stage){
            .kind = NB_STAGE_CALIBRATION, .seed = c->calib_seed, .amount = c->calibration};
    if (c->map)
        s[n++] = (nb_stage){.kind = NB_STAGE_GAINMAP, .map = map};
    s[n++] = (nb_stage){.kind = NB_STAGE_GAIN, .amount = c->gain};
    if (c->readout > 0)
        s[n++] =
            (nb_stage){.kind = NB_STAGE_READOUT, .seed = c->seed, .amount = c->readout};
    return n;
}

UNIT_TEST(reference_images)
{
    float *bright = reference("noise-none", N * sizeof(float));
    float *map = reference("gainmap", N * sizeof(float));
    static float dim[N], made[N];
    nb_fibres *fibres = some_fibres();
    detector d = {0};
    put_panel(&d, FAST, SLOW, 0.15e-3);
    for (int i = 0; i < N; i++)
        dim[i] = (float)(bright[i] * (1e25 / 3e27));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const reference_case *c = &cases[i];
        nb_stage stages[NB_STAGES_MOST];
        int n = stages_of(c, map, fibres, stages);
        float *want = reference(c->id, N * sizeof(float));
        if (c->psf == NB_PSF_FIBRE && !has_fftw())
            printf("# %s: skipped without FFTW\n", c->id);
        for (int isa = NB_ISA_SCALAR;
             isa <= NB_ISA_NEON && !(c->psf == NB_PSF_FIBRE && !has_fftw()); isa++) {
            nb_product p = {.type = NB_PIXEL_F32, .adc_offset = c->adc, .pixels = made};
            nb_isa runs;
            if (nb_cpu_choose((nb_isa)isa, &runs, NULL))
                continue;
            make(&d, runs, 2, c->dim ? dim : bright, stages, n, &p);
            for (int k = 0; k < N; k++)
                if (!(fabs(made[k] - want[k]) <= 5e-5 * fmax(1, fabs(want[k]))))
                    fail_msg("%s, %s: pixel %d is %.9g, not %.9g", c->id,
                             nb_isa_name(runs), k, made[k], want[k]);
        }
        nb_free(want);
    }
    nb_fibres_free(fibres);
    nb_free(map);
    nb_free(bright);
}

/* The cases noise-int and noise-int-psf: the pixels of SMV. */
UNIT_TEST(reference_integers)
{
    float *photons = reference("noise-none", N * sizeof(float));
    nb_fibres *fibres = some_fibres();
    static uint16_t made[N];
    detector d = {0};
    reference_case c = cases[sizeof cases / sizeof *cases - 1]; /* noise-all-fibre */
    put_panel(&d, FAST, SLOW, 0.15e-3);
    for (int psf = 0; psf < 1 + has_fftw(); psf++) {
        uint16_t *want = reference(psf ? "noise-int-psf" : "noise-int", N * sizeof *want);
        nb_product p = {.type = NB_PIXEL_U16, .adc_offset = c.adc, .pixels = made};
        nb_stage stages[NB_STAGES_MOST];
        int differ = 0;
        c.psf = psf ? NB_PSF_FIBRE : NB_PSF_NONE;
        make(&d, widest(), 2, photons, stages, stages_of(&c, NULL, fibres, stages), &p);
        for (int i = 0; i < N; i++) {
            differ += made[i] != want[i];
            assert_in_range(abs(made[i] - want[i]), 0, psf);
        }
        assert_in_range(differ, 0, psf);
        nb_free(want);
    }
    nb_fibres_free(fibres);
    nb_free(photons);
}

/* --- the same bytes --- */

static void fill(float *photons, size_t n)
{
    for (size_t i = 0; i < n; i++)
        photons[i] = (float)((i * 2654435761u % 100003) * 1e-3 +
                             (i % 911 == 7 ? 3e4 : 0) + (i % 5003 == 11 ? 2e9 : 0));
}

/** All stages. */
static int all_stages(nb_psf_shape shape, nb_fibres *fibres, const float *map, nb_stage *s)
{
    reference_case c = {.flicker = 0.1,
                        .dead = 1e-6,
                        .counts = 1,
                        .seed = -7,
                        .psf = shape,
                        .fwhm = 130,
                        .calibration = 0.2,
                        .calib_seed = 9,
                        .map = 1,
                        .gain = 1.3,
                        .readout = 2};
    return stages_of(&c, map, fibres, s);
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
            nb_stage stages[NB_STAGES_MOST];
            int n = all_stages((nb_psf_shape)shape, fibres, map, stages);
            size_t bytes = ALL * nb_pixel_bytes(types[t]);
            nb_product p = {.type = types[t], .adc_offset = 3, .pixels = want};
            if (shape == NB_PSF_FIBRE && !has_fftw())
                continue;
            d.scene.raster.columns = W; /* rows of the stack are not of one width */
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
        nb_stage stages[NB_STAGES_MOST];
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

/* A calibration belongs to the detector, not to the image's seed. */
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

/* What no file type holds: the largest values, and one more. */
UNIT_TEST(largest_values)
{
    static const struct {
        nb_pixel_type type;
        double trusted; /* of the type */
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

/* Gain and largest trusted value of each panel; dark outside the region of interest. */
UNIT_TEST(panels_of_their_own)
{
    static const double gains[2] = {2, 10}, most[2] = {1000, 30};
    const nb_stage gain = {.kind = NB_STAGE_GAIN, .of_panels = gains};
    const float photons[6] = {1, 2, 3, 4, 5, 6};
    const uint16_t want[6] = {3, 5, 0, 31, 31, 0};
    detector d = {0};
    uint16_t out[6];
    nb_product p = {
        .type = NB_PIXEL_U16, .adc_offset = 1, .trusted_of = most, .pixels = out};
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
