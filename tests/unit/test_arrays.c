/* SPDX-License-Identifier: MIT */
/* Arrays in place of files, through the public calls: replacement of one array, refusals,
 * lack of memory. python/test_arrays.py tests images of arrays, and messages that state a
 * place in an array. */
#include "../support/check.h"

#include "base/memory.h"

enum { FAST = 40, SLOW = 30, PIXELS = FAST * SLOW, SIDE = 13, N = SIDE * SIDE * SIDE };

static int32_t hkl[N][3];
static double F[N];
static uint8_t mask[PIXELS];
static const double waves[2] = {1e-10, 1.02e-10}, weights[2] = {1, 3};
static const double places[2][3] = {{-1, 0, 0}, {-1, 0.001, 0}};
static const double matrix[9] = {0.8e-2, -0.6e-2, 0, 0.6e-2, 0.8e-2, 0, 0, 0, 1e-2};

__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < N; i++) {
        hkl[i][0] = i / (SIDE * SIDE) - SIDE / 2;
        hkl[i][1] = i / SIDE % SIDE - SIDE / 2;
        hkl[i][2] = i % SIDE - SIDE / 2;
        F[i] = 50 + i % 97 + 0.125;
    }
    for (int i = 0; i < PIXELS; i++)
        mask[i] = i % 7 != 3;
}

static nb_arrays everything(void)
{
    return (nb_arrays){.hkl = (const int32_t(*)[3])hkl,
                       .F = F,
                       .reflections = N,
                       .mask = mask,
                       .mask_fast = FAST,
                       .mask_slow = SLOW,
                       .wavelength = waves,
                       .weight = weights,
                       .position = places,
                       .sources = 2,
                       .matrix = matrix};
}

static nb_config start(void)
{
    nb_config cfg = nb_suite_config(1, 5, 0);
    nb_set_pixels(&cfg, FAST, SLOW);
    cfg.cell_count = 0;
    cfg.default_F = NAN;
    return cfg;
}

static void render(nb_sim *sim, float image[PIXELS])
{
    nb_error err = {0};
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
}

/** Replacing one array of a simulation keeps the other arrays, as the header promises. */
UNIT_TEST(one_array_changes_alone)
{
    const double other_waves[1] = {1.1e-10};
    const double other_matrix[9] = {1e-2, 0, 0, 0, 1e-2, 0, 0, 0, 1e-2};
    const nb_arrays all = everything();
    nb_arrays a = all, want = all;
    nb_config cfg = start(), again = {0};
    static float image[PIXELS], fresh[PIXELS];
    const int32_t(*own)[3];
    nb_sim *sim, *other;
    nb_error err = {0};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    sim = created(&cfg);
    own = nb_sim_config(sim)->arrays->hkl;
    assert_true(own != all.hkl);
    for (int step = 0; step < 2; step++) {
        a = *nb_sim_config(sim)->arrays;
        nb_config_copy(&again, nb_sim_config(sim));
        if (step) {
            a.matrix = want.matrix = other_matrix;
        } else {
            a.wavelength = want.wavelength = other_waves;
            a.weight = want.weight = NULL;
            a.position = want.position = NULL;
            a.sources = want.sources = 1;
        }
        assert_int_equal(nb_config_use_arrays(&again, &a, &err), NB_OK);
        assert_int_equal(nb_sim_change(sim, &again, &err), NB_OK);
        assert_true(nb_sim_config(sim)->arrays->hkl == own); /* not loaded again */
        render(sim, image);
        assert_int_equal(nb_config_use_arrays(&cfg, &want, &err), NB_OK);
        other = created(&cfg);
        render(other, fresh);
        assert_memory_equal(image, fresh, sizeof image);
        nb_sim_free(other);
    }
    nb_sim_free(sim);
    nb_config_drop(&again);
    nb_config_drop(&cfg);
}

UNIT_TEST(halves_of_arrays_are_refused)
{
    nb_config cfg = start();
    nb_error err = {0};
    nb_arrays a = {.hkl = (const int32_t(*)[3])hkl, .reflections = N};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_ERR_INPUT);
    a = (nb_arrays){.weight = weights, .sources = 2};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_ERR_INPUT);
    a = (nb_arrays){.wavelength = waves};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_ERR_INPUT);
    a = (nb_arrays){.mask = mask, .mask_fast = 1 << 20, .mask_slow = 1 << 20};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_use_arrays(NULL, &a, &err), NB_ERR_INPUT);
    assert_true(cfg.arrays == NULL && !cfg.hkl_file[0]);
    nb_put_text(&cfg.mat_file, NB_MEMORY_MATRIX); /* a name without its array */
    a = (nb_arrays){.hkl = (const int32_t(*)[3])hkl, .F = F, .reflections = N};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    {
        nb_sim *sim;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_ERR_INPUT);
    }
    nb_config_drop(&cfg);
}

/** Each allocation of creation and change fails in turn: an error without a leak (checked
 * by the sanitizers). */
UNIT_TEST(memory_runs_out)
{
    nb_config cfg = start(), again = {0};
    nb_arrays a = everything(), b;
    nb_error err = {0};
    nb_sim *sim;
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    for (long n = 0; n < 12; n++) {
        nb_alloc_fail_after(n);
        if (nb_sim_create(&cfg, NULL, &sim, &err) == NB_OK)
            nb_sim_free(sim);
        else
            assert_null(sim);
        nb_alloc_fail_after(-1);
    }
    sim = created(&cfg);
    for (long n = 0; n < 8; n++) {
        nb_config_copy(&again, nb_sim_config(sim));
        b = *again.arrays;
        b.wavelength = waves;
        b.weight = weights;
        b.position = places;
        assert_int_equal(nb_config_use_arrays(&again, &b, &err), NB_OK);
        nb_alloc_fail_after(n);
        (void)nb_sim_change(sim, &again, &err);
        (void)nb_sim_set_factors(sim, F, N, &err);
        nb_alloc_fail_after(-1);
    }
    {
        static float image[PIXELS], fresh[PIXELS];
        nb_sim *other = created(&cfg);
        render(sim, image);
        render(other, fresh);
        assert_memory_equal(image, fresh, sizeof image);
        nb_sim_free(other);
    }
    nb_sim_free(sim);
    nb_config_drop(&again);
    nb_config_drop(&cfg);
}
