/* SPDX-License-Identifier: MIT */
/* nb_image_make: compares every product of photons and counts with functions of single
 * pixels, for every instruction set and number of threads, and on a fake device. */
#include "../support/check.h"
#include "../support/products.h"

#include "sim/sim.h"
#include "base/memory.h"
#include "fake_device.h"
#include "image/adu.h"
#include "image/poisson.h"

enum { FAST = 151, SLOW = 90, PIXELS = FAST * SLOW };

static float image[PIXELS];
static uint8_t mask[PIXELS];

static const nb_stage poisson = {.kind = NB_STAGE_POISSON, .seed = -17, .frame = 2};
static const nb_stage compat = {.kind = NB_STAGE_POISSON_COMPAT, .seed = 42};

/** Makes an image of means from 1e-3 to 1e12, with a region and a mask. */
static nb_scene make_scene(void)
{
    nb_scene sc;
    memset(&sc, 0, sizeof sc);
    sc.raster.columns = FAST;
    sc.raster.rows = SLOW;
    sc.raster.roi.fmin = 3;
    sc.raster.roi.fmax = FAST - 5;
    sc.raster.roi.smin = 2;
    sc.raster.roi.smax = SLOW - 1;
    sc.raster.mask = mask;
    for (int i = 0; i < PIXELS; i++) {
        mask[i] = i % 11 != 0;
        image[i] = mask[i] ? (float)pow(10, (i * 7919 % 1500) / 100.0 - 3) : 0;
    }
    return sc;
}

static int is_lit(const nb_scene *sc, int i)
{
    const nb_raster *d = &sc->raster;
    int f = i % FAST, s = i / FAST;
    return f >= d->roi.fmin && f <= d->roi.fmax && s >= d->roi.smin && s <= d->roi.smax;
}

/** The expected value of a pixel; *cut: 1 if the pixel is clipped. */
static double pixel_of(const nb_product *p, int i, int *cut)
{
    float mean = image[i];
    double count = floor(mean * p->scale + 0.5);
    *cut = 0;
    if (p->stages) {
        const nb_poisson_key key = {(uint64_t)poisson.seed, (uint64_t)i, poisson.frame};
        count = nb_poisson(mean, &key);
        if (p->type == NB_PIXEL_U16)
            return nb_noise_adu(count, p->adc_offset, cut);
    }
    if (p->type == NB_PIXEL_U8)
        return nb_pgm_grey(mean, p->scale);
    if (p->type == NB_PIXEL_U16) {
        *cut = mask[i] && nb_int_clips(mean, p->scale, p->adc_offset);
        return nb_int_adu(mean, p->scale, p->adc_offset);
    }
    if (p->ends_at_16_bits) {
        *cut = nb_int_clips(mean, p->scale, 0);
        return nb_int_adu(mean, p->scale, 0);
    }
    if (!p->stages && nb_int_adu(mean, p->scale, 0) < 65535)
        count = nb_int_adu(mean, p->scale, 0);
    *cut = nb_large_clips(count);
    return nb_large_count(count);
}

static double value_at(const nb_product *p, const void *pixels, int i)
{
    return p->type == NB_PIXEL_U8    ? ((const uint8_t *)pixels)[i]
           : p->type == NB_PIXEL_U16 ? ((const uint16_t *)pixels)[i]
                                     : ((const int32_t *)pixels)[i];
}

static const nb_product all[] = {
    {.type = NB_PIXEL_U16, .scale = 0.37, .adc_offset = 39.7},
    {.type = NB_PIXEL_U16, .scale = 1, .adc_offset = 7e4},
    {.type = NB_PIXEL_I32, .scale = 0.9},
    {.type = NB_PIXEL_I32, .scale = 1, .ends_at_16_bits = 1},
    {.type = NB_PIXEL_U8, .scale = 0.02},
    {.type = NB_PIXEL_U16, .stages = 1, .scale = 1, .adc_offset = 40},
    {.type = NB_PIXEL_I32, .stages = 1, .scale = 1},
};
enum { ALL = sizeof all / sizeof *all };

static void check_product(const nb_product *p, const nb_scene *sc, const void *pixels)
{
    int64_t cut = 0;
    for (int i = 0; i < PIXELS; i++) {
        int one;
        double want = pixel_of(p, i, &one);
        if (p->type != NB_PIXEL_U8 && !is_lit(sc, i))
            want = one = 0;
        if (value_at(p, pixels, i) != want)
            fail_msg("type %d after %d stages, pixel %d: %.17g, not %.17g", p->type,
                     p->stages, i, value_at(p, pixels, i), want);
        cut += one;
    }
    if (p->type != NB_PIXEL_U8)
        assert_int_equal(p->overloads, cut);
}

/** Checks all products of one call, as whole images or row by row. */
static void check_products(const nb_image_kernels *kernels, int threads)
{
    static int32_t pixels[ALL][PIXELS];
    nb_scene sc = make_scene();
    nb_photons photons = {
        .scene = &sc, .pixels = image, .kernels = kernels, .threads = threads};
    nb_product wanted[ALL];
    nb_error err;
    for (int by_rows = 0; by_rows < 2; by_rows++) {
        memcpy(wanted, all, sizeof all);
        memset(pixels, 0x5a, sizeof pixels);
        for (int k = 0; k < ALL; k++)
            wanted[k].pixels = by_rows ? NULL : pixels[k];
        assert_int_equal(nb_image_make(&photons, &poisson, 1, wanted, ALL, &err), NB_OK);
        for (int k = 0; k < ALL; k++) {
            size_t row = FAST * nb_pixel_bytes(wanted[k].type);
            for (int s = 0; by_rows && s < SLOW; s += 7)
                nb_product_rows(&wanted[k], s, SLOW - s < 7 ? SLOW - s : 7,
                                (char *)pixels[k] + (size_t)s * row, NULL);
            check_product(&wanted[k], &sc, pixels[k]);
        }
        nb_products_free(wanted, ALL);
    }
}

UNIT_TEST(products_of_every_isa)
{
    static const nb_isa isas[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512,
                                  NB_ISA_NEON};
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++)
        if (nb_cpu_runs(isas[i]))
            check_products(nb_image_kernels_of(isas[i]), (int)i % 3 + 1);
        else
            printf("# this machine lacks %s: not tested\n", nb_isa_name(isas[i]));
}

/** The products use the image kernels of the configuration's instruction set. Every set
 * gives the same bytes. */
UNIT_TEST(isa_of_the_configuration)
{
    enum { SIDE = 128 };
    static const nb_isa isas[] = {NB_ISA_SCALAR, NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512};
    static float photons[SIDE * SIDE];
    static uint16_t noise[2][SIDE * SIDE], integers[2][SIDE * SIDE];
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        nb_config cfg = nb_suite_config(1, 20, SIDE);
        int64_t overloads;
        nb_sim *sim;
        cfg.isa = isas[i];
        cfg.seed = (nb_seed){1, 5};
        cfg.fluence = 1e33;
        cfg.water_um = 0.001;
        if (!nb_cpu_runs(isas[i]))
            continue;
        sim = created(&cfg);
        assert_ptr_equal(sim->engine.kernels, nb_image_kernels_of(isas[i]));
        if (i == 0)
            assert_int_equal(nb_sim_render(sim, photons, NULL, NULL), NB_OK);
        assert_int_equal(nb_sim_digitize(sim, photons, NULL, integers[i > 0], NULL),
                         NB_OK);
        assert_memory_equal(integers[i > 0], integers[0], sizeof *integers);
        assert_int_equal(nb_sim_noise(sim, photons, noise[i > 0], &overloads, NULL),
                         NB_OK);
        assert_memory_equal(noise[i > 0], noise[0], sizeof *noise);
        assert_true(overloads > 0 && overloads < SIDE * SIDE / 2);
        nb_sim_free(sim);
    }
}

/** Every product has one stream of random numbers from its first pixel to the last,
 * however the image is divided into bands. */
UNIT_TEST(compat_counts_in_order)
{
    static uint16_t whole[PIXELS], rows[PIXELS];
    nb_scene sc = make_scene();
    nb_photons photons = photons_of(image, &sc, 3);
    nb_product p[2] = {
        {.type = NB_PIXEL_U16, .stages = 1, .adc_offset = 40, .pixels = whole},
        {.type = NB_PIXEL_U16, .stages = 1, .adc_offset = 40}};
    assert_int_equal(nb_image_make(&photons, &compat, 1, p, 2, NULL), NB_OK);
    assert_true(nb_product_in_order(&p[1]));
    for (int s = 0; s < SLOW; s++)
        nb_product_rows(&p[1], s, 1, rows + (size_t)s * FAST, NULL);
    assert_memory_equal(whole, rows, sizeof whole);
    assert_true(p[0].overloads > 0);
    assert_int_equal(p[0].overloads, p[1].overloads);
    nb_products_free(p, 2);
}

UNIT_TEST(refused)
{
    static const struct {
        nb_product product;
        int n_stages;
        const char *says;
    } cases[] = {{{.type = NB_PIXEL_U16, .stages = 1}, 0, "more stages than there are"},
                 {{.type = NB_PIXEL_U16, .stages = -1}, 1, "more stages than there are"},
                 {{.type = NB_PIXEL_U16, .stages = 2}, 2, "order of the instrument"},
                 {{.type = NB_PIXEL_U8, .stages = 1}, 1, "cannot come after a stage"},
                 {{.type = NB_PIXEL_F32, .stages = 1}, 1, "cannot come after counts alone"},
                 {{.type = NB_PIXEL_RGB}, 0, "not known"},
                 {{.type = NB_PIXEL_ANY}, 0, "not known"}};
    const nb_stage stages[2] = {compat, compat};
    nb_scene sc = make_scene();
    nb_photons photons = photons_of(image, &sc, 1), none = photons_of(NULL, &sc, 1);
    nb_product p = {.type = NB_PIXEL_U16};
    nb_stats stats;
    nb_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_product two[2] = {{.type = NB_PIXEL_U8}, cases[i].product};
        assert_int_equal(nb_image_make(&photons, stages, cases[i].n_stages, two, 2, &err),
                         NB_ERR_INTERNAL);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_non_null(strstr(err.message, "product 1"));
        nb_products_free(two, 2);
    }
    p.stats = &stats;
    assert_int_equal(nb_image_make(&photons, NULL, 0, &p, 1, &err), NB_ERR_INTERNAL);
    p.stats = NULL;
    assert_int_equal(nb_image_make(&none, NULL, 0, &p, 1, &err), NB_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "no image"));
}

UNIT_TEST(memory_runs_out)
{
    static int32_t out[PIXELS];
    nb_scene sc = make_scene();
    nb_photons photons = photons_of(image, &sc, 2);
    nb_product wide = {.type = NB_PIXEL_I32, .scale = 1, .pixels = out};
    nb_product counts = {.type = NB_PIXEL_U16, .stages = 1, .pixels = out};
    nb_error err;
    nb_alloc_fail_after(2);
    assert_int_equal(nb_image_make(&photons, NULL, 0, &wide, 1, &err), NB_ERR_NOMEM);
    assert_non_null(strstr(err.message, "out of memory"));
    nb_alloc_fail_after(1);
    assert_int_equal(nb_image_make(&photons, &compat, 1, &counts, 1, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
    nb_products_free(&counts, 1);
}

/* --- on a device --- */

static void count_notice(void *user, const char *line)
{
    *(int *)user += strstr(line, "integers are made on the CPU") != NULL;
}

/** Renders an image that stays on the device. */
static nb_sim *on_device(nb_config *cfg, const nb_hooks *hooks)
{
    nb_error err = {0};
    nb_sim *sim;
    *cfg = nb_suite_config(1, 3, 64);
    cfg->seed = (nb_seed){1, 5};
    cfg->fluence = 1e30;
    cfg->water_um = 0.001;
    assert_int_equal(nb_sim_create(cfg, hooks, &sim, &err), NB_OK);
    sim->engine.backend = &fake_backend;
    assert_int_equal(nb_sim_render(sim, NULL, NULL, &err), NB_OK);
    assert_null(sim->engine.photons.pixels);
    return sim;
}

UNIT_TEST(device_makes_what_it_can)
{
    enum { N = 64 * 64 };
    static uint16_t here[N], there[N];
    nb_config cfg;
    nb_product p[6];
    nb_stats stats, same;
    nb_sim *sim = on_device(&cfg, NULL);
    nb_photons copy;
    for (int i = 0; i < 6; i++) /* a device holds four products; the last two are equal */
        p[i] = (nb_product){
            .type = NB_PIXEL_U16, .stages = i == 3, .scale = i < 5 ? i + 1 : 5};
    p[0] = (nb_product){.type = NB_PIXEL_F32, .stats = &stats};
    p[3].pixels = there;
    assert_int_equal(nb_image_make(&sim->engine.photons, &poisson, 1, p, 6, NULL), NB_OK);
    assert_int_equal(p[0].place, -1);
    for (int i = 1; i < 5; i++)
        assert_int_equal(p[i].place, i - 1);
    assert_int_equal(p[5].place, p[4].place);
    assert_null(sim->engine.photons.pixels); /* no product needs the photons */
    p[5].scale = 7;
    assert_int_equal(nb_image_make(&sim->engine.photons, &poisson, 1, p, 6, NULL), NB_OK);
    assert_int_equal(p[5].place, -1);
    assert_non_null(sim->engine.photons.pixels);
    copy = photons_of(sim->engine.photons.pixels, sim->engine.photons.scene, 1);
    p[0].stats = &same;
    p[3].pixels = here;
    assert_int_equal(nb_image_make(&copy, &poisson, 1, p, 6, NULL), NB_OK);
    assert_int_equal(p[3].place, -1);
    assert_memory_equal(here, there, sizeof here);
    assert_memory_equal(&stats, &same, sizeof stats);
    nb_sim_free(sim);
}

UNIT_TEST(full_device_gives_the_photons)
{
    enum { N = 64 * 64 };
    static uint16_t out[2][N];
    int notices = 0;
    const nb_hooks hooks = {.user = &notices, .notice = count_notice};
    nb_config cfg;
    nb_sim *sim = on_device(&cfg, &hooks);
    for (int full = 0; full < 2; full++) {
        nb_product p = {.type = NB_PIXEL_U16, .stages = 1, .pixels = out[full]};
        fake_is_full = full;
        assert_int_equal(nb_image_make(&sim->engine.photons, &poisson, 1, &p, 1, NULL),
                         NB_OK);
        assert_int_equal(p.place, full ? -1 : 0);
    }
    fake_is_full = 0;
    assert_int_equal(notices, 1);
    assert_memory_equal(out[0], out[1], sizeof *out);
    nb_sim_free(sim);
}

UNIT_TEST(compat_fetches_the_photons)
{
    nb_config cfg;
    nb_sim *sim = on_device(&cfg, NULL);
    nb_product p = {.type = NB_PIXEL_U16, .stages = 1};
    assert_int_equal(nb_image_make(&sim->engine.photons, &compat, 1, &p, 1, NULL), NB_OK);
    assert_int_equal(p.place, -1);
    assert_non_null(sim->engine.photons.pixels);
    nb_products_free(&p, 1);
    nb_sim_free(sim);
}
