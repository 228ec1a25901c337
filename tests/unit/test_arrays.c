/* SPDX-License-Identifier: MIT */
/* Arrays in place of files, through the public calls: the image of the files, errors with their place, changes one by
 * one, and the table of F from one array. */
#include "../support/check.h"

#include "base/memory.h"

enum { FAST = 40, SLOW = 30, PIXELS = FAST * SLOW, SIDE = 13, N = SIDE * SIDE * SIDE };

static int32_t hkl[N][3];
static double F[N];
static uint8_t mask[PIXELS];
static const double waves[2] = {1e-10, 1.02e-10}, weights[2] = {1, 3};
static const double places[2][3] = {{-1, 0, 0}, {-1, 0.001, 0}};
static const double matrix[9] = {0.8e-2, -0.6e-2, 0, 0.6e-2, 0.8e-2, 0, 0, 0, 1e-2};

static void fill(void)
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

static void write_text(char path[NB_PATH_MAX], const char *name, const char *text)
{
    nb_scratch_path(path, name);
    assert_true(nb_scratch_write(path, text, strlen(text)));
}

/** The same in files; the mask is not there. */
static void write_files(nb_config *cfg)
{
    char *text = malloc((size_t)N * 64), *p = text;
    assert_non_null(text);
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%d %d %d %.17g\n", (int)hkl[i][0], (int)hkl[i][1],
                     (int)hkl[i][2], F[i]);
    write_text(cfg->hkl_file, "arrays.hkl", text);
    p = text;
    for (int i = 0; i < 2; i++)
        p += sprintf(p, "%.17g %.17g %.17g %.17g %.17g\n", places[i][0], places[i][1],
                     places[i][2], weights[i], waves[i]);
    write_text(cfg->source_file, "arrays.src", text);
    p = text;
    for (int i = 0; i < 9; i++)
        p += sprintf(p, "%.17g ", matrix[i]);
    write_text(cfg->mat_file, "arrays.mat", text);
    free(text);
}

UNIT_TEST(arrays_give_the_image_of_files)
{
    nb_config files = start(), cfg = start();
    nb_arrays a = everything();
    static float of_files[PIXELS], image[PIXELS];
    nb_sim *sim;
    nb_error err = {0};
    write_files(&files);
    sim = created(&files);
    render(sim, of_files);
    nb_sim_free(sim);
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    assert_string_equal(cfg.hkl_file, NB_MEMORY_HKL);
    sim = created(&cfg);
    memset(&a, 0, sizeof a); /* the simulation has copies */
    render(sim, image);
    for (int i = 0; i < PIXELS; i++)
        assert_true(image[i] == (mask[i] ? of_files[i] : 0));
    assert_int_equal(nb_sim_set(sim, "threads", "1", &err),
                     NB_OK); /* all is loaded again */
    render(sim, of_files);
    assert_memory_equal(image, of_files, sizeof image);
    assert_int_equal(nb_sim_set(sim, "mask", "nonsense.img", &err), NB_ERR_INPUT);
    render(sim, of_files);
    assert_memory_equal(image, of_files, sizeof image);
    nb_sim_free(sim);
}

/** One array of a simulation is replaced, as the header says. */
UNIT_TEST(one_array_changes_alone)
{
    const double other_waves[1] = {1.1e-10};
    const double other_matrix[9] = {1e-2, 0, 0, 0, 1e-2, 0, 0, 0, 1e-2};
    const nb_arrays all = everything();
    nb_arrays a = all, want = all;
    nb_config cfg = start(), again;
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
        again = *nb_sim_config(sim);
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
}

UNIT_TEST(errors_name_the_place)
{
    static const double negative[2] = {1, -1}, none[2] = {0, 0}, flat[9] = {0};
    static const double no_place[2][3] = {{0}};
    nb_config cfg = start();
    nb_arrays a = everything();
    nb_error err = {0};
    nb_sim *sim;
    const double whole = F[5];
    for (int kind = 0; kind < 7; kind++) {
        static const char *const message[] = {
            "hkl[5]: F = inf is not",        "hkl[4]: Miller index 10001 is beyond",
            "sources[1]: intensity -1",      "sources[0]: X Y Z = 0 0 0",
            "sources: the intensities",      "matrix: the matrix is singular",
            "memory:mask: -mask has 30 x 40"};
        a = everything();
        F[5] = kind == 0 ? INFINITY : whole;
        hkl[4][1] = kind == 1 ? 10001 : hkl[5][1];
        a.weight = kind == 2 ? negative : kind == 4 ? none : weights;
        a.position = kind == 3 ? no_place : places;
        a.matrix = kind == 5 ? flat : matrix;
        a.mask_fast = kind == 6 ? SLOW : FAST;
        a.mask_slow = kind == 6 ? FAST : SLOW;
        assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_ERR_INPUT);
        assert_null(sim);
        if (strncmp(err.message, message[kind], strlen(message[kind])) != 0)
            fail_msg("'%s' does not begin with '%s'", err.message, message[kind]);
    }
    fill();
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
    snprintf(cfg.mat_file, sizeof cfg.mat_file,
             NB_MEMORY_MATRIX); /* typed, but not given */
    a = (nb_arrays){.hkl = (const int32_t(*)[3])hkl, .F = F, .reflections = N};
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    {
        nb_sim *sim;
        assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_ERR_INPUT);
    }
}

UNIT_TEST(missing_values_are_left_out)
{
    nb_config cfg = start();
    nb_arrays a = everything();
    nb_factor_list list;
    nb_error err = {0};
    nb_sim *sim;
    F[3] = NAN;
    cfg.default_F = 7;
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    sim = created(&cfg);
    fill();
    assert_int_equal(nb_sim_factors(sim, 0, &list, &err), NB_OK);
    assert_int_equal(list.count, N);
    for (int i = 0; i < N; i++)
        assert_true(list.F[i] == (i == 3 ? 7 : F[i]));
    nb_factor_list_free(&list);
    nb_sim_free(sim);
}

UNIT_TEST(all_F_from_one_array)
{
    static double twice[N];
    static float image[PIXELS], fresh[PIXELS];
    nb_config cfg = start();
    nb_arrays a = everything();
    nb_factor_list list;
    nb_error err = {0};
    nb_sim *sim, *other;
    for (int i = 0; i < N; i++)
        twice[i] = i % 2 ? 2 * F[i] : F[i];
    assert_int_equal(nb_config_use_arrays(&cfg, &a, &err), NB_OK);
    sim = created(&cfg);
    assert_int_equal(nb_sim_set_factors(sim, twice, N, &err), NB_OK);
    render(sim, image);
    a.F = twice;
    other = created(&cfg);
    render(other, fresh);
    assert_memory_equal(image, fresh, sizeof image);
    nb_sim_free(other);
    assert_int_equal(nb_sim_set_factors(sim, twice, N - 1, &err), NB_ERR_INPUT);
    twice[9] = INFINITY;
    assert_int_equal(nb_sim_set_factors(sim, twice, N, &err), NB_ERR_INPUT);
    assert_memory_equal(err.message, "F[9]: ", 6);
    assert_int_equal(nb_sim_set(sim, "threads", "1", &err), NB_OK); /* they stay */
    render(sim, image);
    assert_memory_equal(image, fresh, sizeof image);
    assert_int_equal(nb_sim_factors(sim, 0, &list, &err), NB_OK);
    assert_true(list.F[1] == twice[1] && list.F[2] == twice[2]);
    nb_factor_list_free(&list);
    nb_sim_free(sim);
    cfg = start();
    cfg.default_F = 1;
    cfg.cell_count = 6;
    sim = created(&cfg);
    assert_int_equal(nb_sim_set_factors(sim, twice, N, &err), NB_ERR_INPUT);
    nb_sim_free(sim);
}

/** Every failing allocation of creating and changing is an error without a leak (under a sanitizer). */
UNIT_TEST(memory_runs_out)
{
    nb_config cfg = start(), again;
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
        again = *nb_sim_config(sim);
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
}

int main(void)
{
    fill();
    return nb_run_tests();
}
