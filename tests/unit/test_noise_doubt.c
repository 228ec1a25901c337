/* SPDX-License-Identifier: MIT */
/* Noise of floats that differ from the exact values by a renderer's rounding: the same counts. */
#include "../support/check.h"

#include "sim/sim.h"
#include "../support/products.h"
#include "image/noise.h"
#include "image/noise_block.h"
#include "physics/pixel.h"

enum { SIDE = 256, PIXELS = SIDE * SIDE, TRIALS = 16 };

/** Uniform in (0, 1), another stream than the noise's. */
static double uniform(uint64_t item, uint32_t draw)
{
    nb_philox_words r = nb_philox(0xabcdef, item, 77, draw);
    return nb_uniform52(r.w[0], r.w[1]);
}

/** A float beside `exact`: one step away, or anywhere within the error. */
static float neighbour(float exact, uint64_t item)
{
    double by = 2 * uniform(item, 1) - 1, error = NB_NOISE_ERROR - 7e-8; /* rounding */
    if (item % 4 == 0)
        return nextafterf(exact, by < 0 ? 0 : INFINITY);
    return (float)(exact * (1 + (item % 4 == 1 ? copysign(error, by) : error * by)));
}

/* --- single deviates --- */

/** Log-uniform from 0.01 to 60000; every eighth beside the change of method. */
static float mean_of(uint64_t item)
{
    double r = uniform(item, 0);
    return (float)(item % 8 ? 0.01 * pow(6e6, r)
                            : NB_POISSON_SMALL * (1 + 3e-6 * (r - 0.5)));
}

static void without_doubt_the_same(void **state)
{
    int differ = 0, doubtful = 0;
    (void)state;
    for (uint64_t i = 0; i < 2000000; i++) {
        const nb_poisson_key key = {42, i, 0};
        float exact = mean_of(i), mean = neighbour(exact, i);
        int doubt;
        double want = nb_poisson(exact, &key);
        double got = nb_poisson_doubt(mean, &key, NB_NOISE_ERROR, &doubt);
        if (got != want && !doubt)
            fail_msg("means %.9g and %.9g give %g and %g", exact, mean, want, got);
        differ += got != want;
        doubtful += doubt && i % 8;
    }
    assert_true(differ > 1000); /* the test had doubtful pixels */
    assert_true(doubtful > 1000 && doubtful < 40000);
}

static void doubt_is_rare(void **state)
{
    enum { N = 400000 };
    (void)state;
    for (double mean = 0.1; mean < 20000; mean *= 10) {
        int doubtful = 0, doubt;
        for (uint64_t i = 0; i < N; i++) {
            const nb_poisson_key key = {1, i, 0};
            nb_poisson_doubt(mean * (0.8 + 0.4 * uniform(i, 0)), &key, NB_NOISE_ERROR,
                             &doubt);
            doubtful += doubt;
        }
        printf("# mean %g: %.1e of the pixels in doubt\n", mean, (double)doubtful / N);
        /* 2 error mean, and PTRS draws 1.2 times */
        check_below((double)doubtful / N, 3 * NB_NOISE_ERROR * mean + 1e-5);
    }
}

static void never_in_doubt(void **state)
{
    static const double means[] = {0, -1, NAN, INFINITY, 70001, 1e8, 2e9, 1e30};
    (void)state;
    for (uint64_t i = 0; i < 8000; i++) {
        const nb_poisson_key key = {1, i, 0};
        int doubt = 1;
        nb_poisson_doubt(means[i % 8], &key, NB_NOISE_ERROR, &doubt);
        assert_int_equal(doubt, 0);
    }
}

/** The block finds every doubt of nb_poisson_doubt, and few others. */
static void block_finds_all(nb_noise_block_fn *block)
{
    int found = 0, more = 0;
    for (uint64_t at = 0; at < 1000000; at += 64) {
        const nb_poisson_key first = {42, at, 0};
        float mean[64];
        uint16_t adu[64];
        uint64_t doubts;
        for (int i = 0; i < 64;
             i++) /* neighbours are similar, as for the branches of vectors */
            mean[i] = at / 64 % 2 ? mean_of(at + (uint64_t)i)
                                  : mean_of(at) * (1 + (float)i / 100);
        block(mean, &first, 0, NB_NOISE_ERROR, adu, &doubts);
        for (int i = 0; i < 64; i++) {
            const nb_poisson_key key = {42, at + (uint64_t)i, 0};
            int doubt, bit = doubts >> i & 1;
            double want = nb_poisson_doubt(mean[i], &key, NB_NOISE_ERROR, &doubt);
            assert_int_equal(adu[i], want < 65535 ? want : 65535);
            if (doubt && !bit)
                fail_msg("mean %.9g: not found", mean[i]);
            found += doubt;
            more += bit && !doubt && mean[i] <= NB_NOISE_MOST;
        }
    }
    assert_true(found > 1000);
    assert_true(more < 2000);
}

/** It finds none where 16 bits hold no count. */
static void block_finds_none_above(nb_noise_block_fn *block)
{
    for (uint64_t at = 0; at < 64000; at += 64) {
        const nb_poisson_key first = {42, at, 0};
        float mean[64];
        uint16_t adu[64];
        uint64_t doubts;
        for (int i = 0; i < 64; i++)
            mean[i] = (float)(70001 * pow(1e5, uniform(at + (uint64_t)i, 0)));
        block(mean, &first, 0, NB_NOISE_ERROR, adu, &doubts);
        assert_int_equal(doubts, 0);
    }
}

static void block_base(void **state)
{
    (void)state;
    block_finds_all(nb_noise_block_base);
    block_finds_none_above(nb_noise_block_base);
}

#ifdef __x86_64__
static void block_avx2(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        skip_because("this processor has no AVX2");
    block_finds_all(nb_noise_block_avx2);
    block_finds_none_above(nb_noise_block_avx2);
}

static void block_avx512(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
        skip_because("this processor has no AVX-512");
    block_finds_all(nb_noise_block_avx512);
    block_finds_none_above(nb_noise_block_avx512);
}
#endif

/* --- images --- */

/** A crystal in water, its brightest pixel with so many photons; image: the exact values. */
static nb_sim *scene_of(double brightest, float *image, nb_scene *scene)
{
    nb_config cfg = nb_suite_config(1, 3, SIDE);
    float max = 0;
    nb_sim *sim;
    cfg.water_um = 0.01;
    sim = created(&cfg);
    *scene = sim->model.scene;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < PIXELS; i++) {
            image[i] = (float)nb_pixel_intensity(scene, scene->panels, scene->sensors,
                                                 i % SIDE, i / SIDE);
            max = fmaxf(max, image[i]);
        }
        if (pass == 0)
            scene->intensity_scale *= brightest / max;
    }
    return sim;
}

static int differing(const uint16_t *a, const uint16_t *b)
{
    int n = 0;
    for (int i = 0; i < PIXELS; i++)
        n += a[i] != b[i];
    return n;
}

/** The counts of single pixels, of an image off by rounding. */
static void check_single(const float *image, const float *exact, const nb_scene *scene,
                         int seed)
{
    const nb_photons photons = photons_of(image, scene, 1);
    const nb_stage stage = {
        .kind = NB_STAGE_POISSON, .seed = seed, .frame = 3, .error = NB_NOISE_ERROR};
    for (int i = 0; i < PIXELS; i += 7) {
        const nb_poisson_key key = {(uint64_t)seed, (uint64_t)i, 3};
        assert_true(nb_noise_photons(&photons, &stage, (size_t)i) ==
                    nb_poisson(exact[i], &key));
    }
}

/* A million pixels with rounding errors: no count changes. Without the rule hundreds change. */
static void rounding_changes_no_count(void **state)
{
    static float exact[PIXELS], image[PIXELS];
    static uint16_t want[PIXELS], got[PIXELS], plain[PIXELS];
    int changed = 0, clipped = 0;
    (void)state;
    for (int trial = 0; trial < TRIALS; trial++) {
        const double brightest = 69999 * pow(1e-6, trial / (double)TRIALS);
        const noise_options as_is = {trial, 3, 40, 2, 0};
        noise_options settled = {trial, 3, 40, 1 + trial % 3, NB_NOISE_ERROR};
        int64_t over_want, over_got;
        nb_scene scene;
        nb_sim *sim = scene_of(brightest, exact, &scene);
        for (int i = 0; i < PIXELS; i++)
            image[i] = neighbour(exact[i], (uint64_t)(trial * PIXELS + i));
        make_noise(exact, &scene, &as_is, want, &over_want, NULL);
        make_noise(image, &scene, &as_is, plain, NULL, NULL);
        make_noise(image, &scene, &settled, got, &over_got, NULL);
        if (memcmp(got, want, sizeof want))
            fail_msg("brightest %g: %d counts changed", brightest, differing(got, want));
        assert_int_equal(over_got, over_want);
        changed += differing(plain, want);
        clipped += (int)over_want;
        check_single(image, exact, &scene, trial);
        nb_sim_free(sim);
    }
    printf("# %d of %d counts differ when the floats are taken as they are\n", changed,
           TRIALS * PIXELS);
    assert_true(changed > 100);
    assert_true(clipped > 0);
}

/** Flicker, dead time, counts and gain of an image. */
static void chain_of(const float *image, const nb_scene *scene, double error, double dead,
                     uint16_t *out)
{
    const nb_stage stages[] = {
        {.kind = NB_STAGE_FLICKER, .amount = 1.37},
        {.kind = NB_STAGE_DEADTIME, .amount = dead},
        {.kind = NB_STAGE_POISSON, .seed = 6, .error = error},
        {.kind = NB_STAGE_GAIN, .amount = 1.5},
    };
    nb_photons photons = photons_of(image, scene, 2);
    nb_product p = {.type = NB_PIXEL_U16, .stages = 4, .adc_offset = 3, .pixels = out};
    assert_int_equal(nb_image_make(&photons, stages, 4, &p, 1, NULL), NB_OK);
    nb_products_free(&p, 1);
}

/* The same behind stages that change the mean. At a dead time of many exposures its error is many
 * times that of the photons. */
static void rounding_behind_other_stages(void **state)
{
    static float exact[PIXELS], image[PIXELS];
    static uint16_t want[PIXELS], got[PIXELS], plain[PIXELS];
    int changed = 0;
    nb_scene scene;
    nb_sim *sim = scene_of(40000, exact, &scene);
    (void)state;
    for (int trial = 0; trial < 6; trial++) {
        const double dead = pow(10, trial - 8); /* times 40000 photons: to 400 */
        for (int i = 0; i < PIXELS; i++)
            image[i] = neighbour(exact[i], (uint64_t)(trial * PIXELS + i));
        chain_of(exact, &scene, 0, dead, want);
        chain_of(image, &scene, 0, dead, plain);
        chain_of(image, &scene, NB_NOISE_ERROR, dead, got);
        if (memcmp(got, want, sizeof want))
            fail_msg("dead time %g: %d pixels changed", dead, differing(got, want));
        changed += differing(plain, want);
    }
    assert_true(changed > 30);
    nb_sim_free(sim);
}

/* Pixels that the caller changed by more than rounding keep their own noise; so do masked
 * pixels. */
static void own_values_stay(void **state)
{
    static float image[PIXELS], changed[PIXELS];
    static uint16_t want[PIXELS], got[PIXELS];
    const noise_options as_is = {5, 0, 40, 2, 0}, settled = {5, 0, 40, 2, NB_NOISE_ERROR};
    static uint8_t mask[PIXELS];
    nb_scene scene;
    nb_sim *sim = scene_of(60000, image, &scene);
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < PIXELS; i++)
            changed[i] = kind == 0   ? image[i] + 1
                         : kind == 1 ? image[i] * 1.00002f
                         : kind == 2 ? image[PIXELS - 1 - i] * 0.9f
                                     : image[i] * (1 - 5e-7f);
        scene.raster.mask = kind == 3 ? mask : NULL;
        make_noise(changed, &scene, &as_is, want, NULL, NULL);
        make_noise(changed, &scene, &settled, got, NULL, NULL);
        assert_memory_equal(got, want, sizeof want);
    }
    scene.raster.mask = NULL;
    /* not for the last, unmasked one */
    make_noise(changed, &scene, &settled, got, NULL, NULL);
    assert_memory_not_equal(got, want, sizeof want);
    nb_sim_free(sim);
}

/** nb_sim_noise of an image of this precision, times `factor`. */
static void sim_noise(nb_precision precision, int compat, float factor, uint16_t *out)
{
    static float image[PIXELS];
    nb_config cfg = nb_suite_config(1, 3, SIDE);
    nb_error err;
    nb_picture p;
    cfg.water_um = 0.01;
    cfg.fluence = 2e33;
    cfg.seed = (nb_seed){1, 11};
    cfg.precision = precision;
    cfg.compat = compat;
    p = rendered(&cfg);
    for (int i = 0; i < PIXELS; i++)
        image[i] = p.pixels[i] * factor;
    assert_int_equal(nb_sim_noise(p.sim, image, out, NULL, &err), NB_OK);
    nb_picture_free(&p);
}

/* The library recalculates doubtful pixels of `mixed` images, not of `double`, `single` or
 * -compat. */
static void who_is_settled(void **state)
{
    static uint16_t want[PIXELS], got[PIXELS];
    const float off = 1 + 7e-7f;
    (void)state;
    sim_noise(NB_PRECISION_DOUBLE, 0, 1, want);
    sim_noise(NB_PRECISION_MIXED, 0, 1, got);
    assert_int_equal(differing(got, want), 0);
    sim_noise(NB_PRECISION_MIXED, 0, off, got);
    assert_int_equal(differing(got, want), 0);
    sim_noise(NB_PRECISION_DOUBLE, 0, off, got);
    assert_true(differing(got, want) > 0);
    sim_noise(NB_PRECISION_DOUBLE, 1, off, want);
    sim_noise(NB_PRECISION_MIXED, 1, off, got);
    assert_int_equal(differing(got, want), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_doubt_the_same),
        TEST(doubt_is_rare),
        TEST(never_in_doubt),
        TEST(block_base),
#ifdef __x86_64__
        TEST(block_avx2),
        TEST(block_avx512),
#endif
        TEST(rounding_changes_no_count),
        TEST(rounding_behind_other_stages),
        TEST(own_values_stay),
        TEST(who_is_settled),
    };
    return RUN_TESTS("noise in doubt", tests);
}
