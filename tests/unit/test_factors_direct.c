/* SPDX-License-Identifier: MIT */
/* Compares the direct sum by recurrences with the sum term by term. */
#include "../support/check.h"
#include "factor_sites.h"

#include "../../src/base/threads.h"
#include "../../src/base/memory.h"
#include "../../src/factors/sums.h"
#include "../../src/factors/direct_row.h"
#include "../../src/factors/factors.h"

enum { SITES = 13 };

/** Direct sums P of the reflections of a list; the caller frees P. */
static double *direct(const nb_site *sites, const nb_symmetry *sg,
                      const nb_index_list *list, int threads)
{
    nb_sum_operators operators;
    nb_error err = {0};
    double *P = calloc(2 * list->n, sizeof *P);
    const nb_sum_job job = {.operators = &operators, .list = *list, .threads = threads};
    nb_sum_operators_of(sg, &operators);
    if (nb_direct_sum(sites, SITES, &job, P, &err))
        fail_msg("%s", err.message);
    nb_complete_sums(&operators, list->hkl, list->n, P);
    return P;
}

static void check_group(const test_group *group, double dmin, double spread)
{
    nb_symmetry sg = test_group_close(group);
    nb_site sites[SITES];
    uint64_t state = 7;
    nb_error err = {0};
    int(*hkl)[3];
    nb_index_list list = {.s2_limit = nb_s_squared_limit(dmin)};
    double *P, *terms, rms, max;
    assert_int_equal(
        nb_unique_reflections(&sg, group->cell, dmin, 1, &hkl, &list.n, &err), 0);
    list.hkl = (const int(*)[3])hkl;
    for (size_t i = 0; i < SITES; i++)
        sites[i] = test_random_site(&state, group->cell, spread, i);
    P = direct(sites, &sg, &list, 1);
    terms = malloc(2 * list.n * sizeof *terms);
    test_sum_terms(sites, SITES, &sg, list.hkl, list.n, terms);
    test_differences(P, terms, list.n, &rms, &max);
    if (!(rms <= 2e-13) || !(max <= 2e-12))
        fail_msg("%s: rms %.2e, max %.2e", group->name, rms, max);
    free(terms);
    free(P);
    nb_free(hkl);
}

UNIT_TEST(equals_the_sum_of_terms_in_every_group)
{
    for (int i = 0; i < test_group_count; i++)
        check_group(&test_groups[i], 2.2, 60);
}

/** Rows that are longer than a piece, and displacements too wide for the recurrences. */
UNIT_TEST(long_rows_and_wide_atoms)
{
    const test_group rod = {"P 1 1 2", "-x,-y,z", {9, 8, 190, 90, 90, 95}};
    check_group(&rod, 1.4, 20);
    check_group(&rod, 1.4, 5000);
}

UNIT_TEST(threads_and_vectors_give_the_same_bytes)
{
    const test_group *group = &test_groups[6];
    nb_symmetry sg = test_group_close(group);
    nb_site sites[SITES];
    uint64_t seed = 3;
    nb_error err = {0};
    int(*hkl)[3];
    nb_index_list list = {.s2_limit = nb_s_squared_limit(1.8)};
    double *one, *more;
    const char *sets[] = {"sse2", "avx2", "avx512"};
    assert_int_equal(nb_unique_reflections(&sg, group->cell, 1.8, 0, &hkl, &list.n, &err),
                     0);
    list.hkl = (const int(*)[3])hkl;
    for (size_t i = 0; i < SITES; i++)
        sites[i] = test_random_site(&seed, group->cell, 40, i);
    one = direct(sites, &sg, &list, 1);
    for (int i = 0; i < 4; i++) {
        nb_isa isa = i == 0 ? NB_ISA_SSE2 : i == 1 ? NB_ISA_AVX2 : NB_ISA_AVX512;
        if (i < 3 && !nb_cpu_runs(isa))
            continue;
        if (i < 3)
            setenv("NANOBRAGG_ISA", sets[i], 1);
        more = direct(sites, &sg, &list, i + 1);
        unsetenv("NANOBRAGG_ISA");
        assert_memory_equal(one, more, 2 * list.n * sizeof *one);
        free(more);
    }
    free(one);
    nb_free(hkl);
}

UNIT_TEST(failed_allocations_are_errors)
{
    nb_symmetry sg = test_group_close(&test_groups[0]);
    nb_sum_operators operators;
    const int hkl[1][3] = {{1, 2, 3}};
    const nb_sum_job job = {.operators = &operators, .list = {hkl, 1, 1}, .threads = 1};
    uint64_t seed = 1;
    nb_site site = test_random_site(&seed, test_groups[0].cell, 1, 0);
    double S[2];
    nb_error err;
    nb_sum_operators_of(&sg, &operators);
    for (long i = 1; i <= 2; i++) {
        nb_alloc_fail_after(i);
        assert_int_equal(nb_direct_sum(&site, 1, &job, S, &err), NB_ERR_NOMEM);
    }
    nb_alloc_fail_after(0);
}
