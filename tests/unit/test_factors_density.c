/* SPDX-License-Identifier: MIT */
/* Compares sums by densities and Fourier transforms with the direct sum, for random
 * groups, cells, limits and atoms. */
#include "../support/check.h"
#include "factor_sites.h"

#include "../../src/base/fftw_lib.h"
#include "../../src/base/memory.h"
#include "../../src/factors/sums.h"
#include "../../src/factors/factors.h"

typedef struct random_case {
    nb_symmetry sg;
    double cell[6], dmin;
    nb_site *sites;
    size_t count;
    nb_index_list list;
    int (*hkl)[3];
} random_case;

static random_case make_case(const test_group *group, uint64_t *state, size_t count)
{
    random_case c = {.sg = test_group_close(group), .count = count};
    double scale = 0.8 + 0.6 * test_random(state), wide = 10 + 150 * test_random(state);
    nb_error err = {0};
    memcpy(c.cell, group->cell, sizeof c.cell);
    for (int i = 0; i < 3; i++)
        c.cell[i] *= scale;
    c.dmin = 1.2 + 2 * test_random(state);
    c.sites = malloc(count * sizeof *c.sites);
    for (size_t i = 0; i < count; i++)
        c.sites[i] = test_random_site(state, c.cell, wide, i);
    assert_int_equal(
        nb_unique_reflections(&c.sg, c.cell, c.dmin, 1, &c.hkl, &c.list.n, &err), 0);
    c.list.hkl = (const int(*)[3])c.hkl;
    c.list.s2_limit = nb_s_squared_limit(c.dmin);
    return c;
}

static void free_case(random_case *c)
{
    free(c->sites);
    nb_free(c->hkl);
}

static nb_sum_job job_of(const random_case *c, nb_sum_operators *operators, int threads)
{
    nb_sum_job job = {.operators = operators,
                      .list = c->list,
                      .cell = c->cell,
                      .dmin = c->dmin,
                      .threads = threads,
                      .only_grid = 1};
    nb_sum_operators_of(&c->sg, operators);
    return job;
}

/** Sums S of the case by a density on a grid; the caller frees S. */
static double *by_density(const random_case *c, int threads, nb_status *status)
{
    nb_sum_operators operators;
    nb_sum_job job = job_of(c, &operators, threads);
    nb_error err = {0};
    int grid[3] = {0};
    double *S = calloc(2 * c->list.n, sizeof *S);
    *status = nb_density_sum(c->sites, c->count, &job, S, grid, &err);
    if (*status == NB_OK)
        assert_true(grid[0] > 0);
    return S;
}

static double *by_terms(const random_case *c)
{
    nb_sum_operators operators;
    nb_sum_job job = job_of(c, &operators, 1);
    nb_error err = {0};
    double *S = calloc(2 * c->list.n, sizeof *S);
    assert_int_equal(nb_direct_sum(c->sites, c->count, &job, S, &err), 0);
    return S;
}

static int no_fftw(void)
{
    nb_error err;
    return nb_fftw_need("this test", &err) != NB_OK;
}

UNIT_TEST(equals_the_direct_sum)
{
    uint64_t seed = 11;
    if (no_fftw())
        skip_because("FFTW cannot be loaded");
    for (int i = 0; i < test_group_count; i++) {
        random_case c = make_case(&test_groups[i], &seed, 60);
        nb_status status;
        double *fft = by_density(&c, 1, &status), *direct = by_terms(&c), rms, max;
        assert_int_equal(status, NB_OK);
        test_differences(fft, direct, c.list.n, &rms, &max);
        if (!(rms <= 3e-7) || !(max <= 4e-6))
            fail_msg("%s, d %.2f: rms %.2e, max %.2e", test_groups[i].name, c.dmin, rms,
                     max);
        free(direct);
        free(fft);
        free_case(&c);
    }
}

UNIT_TEST(threads_and_vectors_give_the_same_bytes)
{
    uint64_t seed = 5;
    nb_status status;
    random_case c;
    double *one;
    if (no_fftw())
        skip_because("FFTW cannot be loaded");
    c = make_case(&test_groups[2], &seed, 400);
    one = by_density(&c, 1, &status);
    for (int i = 0; i < 3; i++) {
        double *more;
        setenv("NANOBRAGG_ISA", i == 1 ? "sse2" : "auto", 1);
        more = by_density(&c, i + 1, &status);
        unsetenv("NANOBRAGG_ISA");
        assert_memory_equal(one, more, 2 * c.list.n * sizeof *one);
        free(more);
    }
    free(one);
    free_case(&c);
}

UNIT_TEST(failed_allocations_are_errors)
{
    uint64_t seed = 5;
    nb_status status = NB_ERR_NOMEM;
    random_case c;
    int tries = 0;
    if (no_fftw())
        skip_because("FFTW cannot be loaded");
    c = make_case(&test_groups[0], &seed, 400);
    for (long i = 1; status == NB_ERR_NOMEM; i++, tries++) {
        nb_alloc_fail_after(i);
        free(by_density(&c, 1, &status));
        nb_alloc_fail_after(0);
    }
    assert_int_equal(status, NB_OK);
    assert_true(tries > 8);
    free_case(&c);
}

UNIT_TEST(sizes_are_products_of_2_3_5)
{
    assert_int_equal(nb_smooth_size(0.2), 1);
    assert_int_equal(nb_smooth_size(7), 8);
    assert_int_equal(nb_smooth_size(83.58), 90);
    assert_int_equal(nb_smooth_size(90), 90);
    assert_int_equal(nb_smooth_size(241), 243);
}

/** Fills plane u with a function whose transform has all frequencies. */
static void fill_plane(const void *data, int u, double *scratch, double *out)
{
    const int *n = data;
    (void)scratch;
    for (int i = 0; i < n[1] * n[2]; i++)
        out[i] = sin(1.7 * u + 0.37 * i * i);
}

/** Compares transforms, by FFTW and without a library, with the sum over all points. */
UNIT_TEST(transforms_equal_their_definition)
{
    static const int n[3] = {10, 9, 12};
    const nb_planes planes = {fill_plane, n, 0};
    nb_error err;
    for (int plain = 0; plain < 2; plain++) {
        nb_fourier_box box = {.n = {10, 9, 12},
                              .H = {4, 4, 6},
                              .G = {1, 1, 1, 0, 0, 0},
                              .s2_limit = INFINITY};
        if (!plain && no_fftw())
            continue;
        assert_int_equal(nb_fourier_make(&box, &planes, plain, 2, &err), NB_OK);
        for (int i = 0; i < 200; i++) {
            int h[3] = {i % 9 - 4, i / 9 % 9 - 4, i % 13 - 6};
            double X[2], sum[2] = {0, 0};
            nb_fourier_at(&box, h, X);
            for (int p = 0; p < n[0] * n[1] * n[2]; p++) {
                int u = p / (n[1] * n[2]), vw = p % (n[1] * n[2]);
                double turn =
                    2 * M_PI *
                    (h[0] * u / 10. + h[1] * (vw / 12) / 9. + h[2] * (vw % 12) / 12.);
                sum[0] += sin(1.7 * u + 0.37 * vw * vw) * cos(turn);
                sum[1] += sin(1.7 * u + 0.37 * vw * vw) * sin(turn);
            }
            check_close(X[0], sum[0], 1e-10);
            check_close(X[1], sum[1], 1e-10);
        }
        nb_fourier_free(&box);
    }
}
