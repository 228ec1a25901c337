/* SPDX-License-Identifier: MIT */
/* Theorems of structure factors that hold for any model. */
#include "../support/check.h"
#include "factor_models.h"

#include "../../src/base/fftw_lib.h"
#include "../../src/base/memory.h"

static const test_group triclinic = {"P 1", "x,y,z", {19, 22, 25, 81, 97, 104}};

/** Largest |a - b| over the r.m.s. of |b|, of complex F at all voxels. */
static double difference(const nb_factor_grid *a, const nb_factor_grid *b)
{
    double largest = 0, all = 0, n = 0;
    for (size_t i = 0; i < nb_factor_grid_voxels(a); i++) {
        double x = a->F[i] * cos(a->phase[i]) - b->F[i] * cos(b->phase[i]);
        double y = a->F[i] * sin(a->phase[i]) - b->F[i] * sin(b->phase[i]);
        assert_int_equal(isnan(a->F[i]), isnan(b->F[i]));
        if (isnan(a->F[i]))
            continue;
        largest = fmax(largest, sqrt(x * x + y * y));
        all += b->F[i] * b->F[i];
        n++;
    }
    assert_true(n > 100);
    return largest / sqrt(all / n);
}

UNIT_TEST(centrosymmetric_models_have_real_F)
{
    static const test_group group = {"P -1", "-x,-y,-z", {19, 22, 25, 81, 97, 104}};
    test_model m = test_model_make(&group, 25, 1);
    const nb_anomalous f[3] = {{-1, 0}, {2, 0}, {0.5, 0}};
    nb_factor_grid g = test_model_grid(&m, f);
    for (size_t i = 0; i < nb_factor_grid_voxels(&g); i++)
        if (!isnan(g.F[i]))
            check_close(g.F[i] * sin(g.phase[i]), 0, 1e-4);
    nb_factor_grid_free(&g);
    test_model_free(&m);
}

UNIT_TEST(a_shift_turns_phases)
{
    test_model m = test_model_make(&triclinic, 30, 2);
    const nb_anomalous f[3] = {{-1, 3}, {2, 1}, {0.5, 0}};
    const double x0[3] = {0.123, -0.27, 0.401};
    nb_factor_grid a = test_model_grid(&m, f), b;
    test_model_shift(&m, x0);
    b = test_model_grid(&m, f);
    for (int h = -a.H[0]; h <= a.H[0]; h++)
        for (int k = -a.H[1]; k <= a.H[1]; k++)
            for (int l = -a.H[2]; l <= a.H[2]; l++) {
                size_t at = nb_factor_grid_at(&a, h, k, l);
                double turn = 2 * M_PI * (h * x0[0] + k * x0[1] + l * x0[2]);
                double off = b.phase[at] - a.phase[at] - turn;
                if (isnan(a.F[at]))
                    continue;
                check_close(a.F[at], b.F[at], 1e-9);
                check_close(a.F[at] * sin(off), 0, 2e-4);
                check_above(a.F[at] * cos(off), 0);
            }
    nb_factor_grid_free(&a);
    nb_factor_grid_free(&b);
    test_model_free(&m);
}

UNIT_TEST(two_models_together_are_their_sum)
{
    test_model both = test_model_make(&test_groups[6], 40, 3), one, two;
    nb_partials p, q, r;
    one = test_model_part(&both, 0, 20);
    two = test_model_part(&both, 20, 20);
    p = test_model_sum(&both);
    q = test_model_sum(&one);
    r = test_model_sum(&two);
    for (size_t i = 0; i < 2 * p.n; i++)
        check_close(p.steady[i], q.steady[i] + r.steady[i], 1e-9);
    nb_partials_free(&p);
    nb_partials_free(&q);
    nb_partials_free(&r);
    test_model_free(&both);
    test_model_free(&one);
    test_model_free(&two);
}

/** A model in a group equals all its images in P1, with and without solvent. */
UNIT_TEST(a_group_is_its_images_in_P1)
{
    const nb_anomalous f[3] = {{-1, 3}, {2, 1}, {0.5, 2}};
    for (int i = 0; i < test_group_count; i++) {
        test_model m = test_model_make(&test_groups[i], 6, 4), p1;
        nb_factor_grid a, b;
        m.options.k_sol = i % 4 == 2 ? 0.4 : 0;
        a = test_model_grid(&m, f);
        p1 = test_model_expand(&m);
        b = test_model_grid(&p1, f);
        if (!(difference(&a, &b) <= (m.options.k_sol > 0 ? 1e-3 : 2e-6)))
            fail_msg("%s: %.2e", test_groups[i].name, difference(&a, &b));
        nb_factor_grid_free(&a);
        nb_factor_grid_free(&b);
        test_model_free(&m);
        test_model_free(&p1);
    }
}

/** In a cell without the group's symmetry, each reflection is calculated separately. */
UNIT_TEST(a_cell_that_does_not_fit_its_group)
{
    static const test_group odd = {"P 41", "-y,x,z+1/4", {20, 20.3, 24, 90, 91, 90}};
    const nb_anomalous f[3] = {{-1, 3}, {2, 1}, {0.5, 2}};
    test_model m = test_model_make(&odd, 8, 5), p1;
    nb_factor_grid a, b;
    for (size_t i = 0; i < m.structure.n_atoms; i++)
        m.structure.atoms[i].has_U = 0; /* in a skewed image U differs */
    a = test_model_grid(&m, f);
    assert_int_equal(m.notices, 1);
    p1 = test_model_expand(&m);
    b = test_model_grid(&p1, f);
    check_below(difference(&a, &b), 0.05);
    nb_factor_grid_free(&a);
    nb_factor_grid_free(&b);
    test_model_free(&m);
    test_model_free(&p1);
}

UNIT_TEST(fft_and_direct_sums_agree)
{
    nb_error err;
    uint64_t seed = 17;
    if (nb_fftw_need("this test", &err))
        skip_because("FFTW cannot be loaded");
    for (int i = 0; i < 6; i++) {
        const test_group *group = &test_groups[(5 * i + 2) % test_group_count];
        test_model m = test_model_make(group, 1200 / test_group_close(group).count + 40,
                                       100 + (uint64_t)i);
        nb_partials p, q;
        double rms, max;
        m.options.dmin = 1 + test_random(&seed);
        m.options.k_sol = i % 2 ? 0.4 : 0;
        m.options.method = NB_SUM_FFT;
        p = test_model_sum(&m);
        m.options.method = NB_SUM_DIRECT;
        q = test_model_sum(&m);
        assert_int_equal(q.method, NB_SUM_DIRECT);
        test_differences(p.steady, q.steady, p.n, &rms, &max);
        if (!(rms <= 3e-7) || !(max <= 4e-6))
            fail_msg("%s: rms %.2e, max %.2e", group->name, rms, max);
        nb_partials_free(&p);
        nb_partials_free(&q);
        test_model_free(&m);
    }
}

UNIT_TEST(scale_B_and_F000)
{
    test_model m = test_model_make(&test_groups[4], 12, 6);
    nb_partials p;
    nb_factor_grid a, b;
    nb_anomalous f[3] = {{0, 0}};
    double electrons = 0;
    size_t at;
    m.options.with_000 = 1;
    m.options.k_sol = 0.3;
    p = test_model_sum(&m);
    a = test_grid_for(&p);
    b = test_grid_for(&p);
    nb_partials_combine(&p, f, 0, 1, 1, &a);
    nb_partials_combine(&p, f, 12, 2, 1, &b);
    at = nb_factor_grid_at(&a, 2, -1, 3);
    check_ratio(b.F[at], 2 * a.F[at] * exp(-3 * nb_s_squared(p.G, 2, -1, 3)), 1e-12);
    at = nb_factor_grid_at(&a, 0, 0, 0);
    for (int e = 0; e < p.n_elements; e++) {
        double f0 = p.elements[e].abc[8], sum = 0;
        for (int i = 0; i < 4; i++)
            f0 += p.elements[e].abc[i];
        for (size_t i = 0; i < m.structure.n_atoms; i++)
            if (m.structure.atoms[i].Z == p.elements[e].Z)
                sum += m.structure.atoms[i].occupancy;
        electrons += f0 * 4 * sum;
    }
    check_ratio(a.F[at], electrons + 0.3 * p.solvent_fraction * test_cell_volume(&m),
                1e-9);
    check_ratio(b.F[at], 2 * a.F[at], 1e-12);
    nb_factor_grid_free(&a);
    nb_factor_grid_free(&b);
    nb_partials_free(&p);
    test_model_free(&m);
}

UNIT_TEST(threads_give_the_same_bytes)
{
    test_model m = test_model_make(&test_groups[13], 20, 7);
    const nb_anomalous f[3] = {{-1, 3}, {2, 1}, {0.5, 2}};
    nb_factor_grid one, more;
    m.options.k_sol = 0.4;
    one = test_model_grid(&m, f);
    m.options.threads = 3;
    more = test_model_grid(&m, f);
    assert_memory_equal(one.F, more.F, nb_factor_grid_voxels(&one) * sizeof *one.F);
    assert_memory_equal(one.phase, more.phase,
                        nb_factor_grid_voxels(&one) * sizeof *one.phase);
    nb_factor_grid_free(&one);
    nb_factor_grid_free(&more);
    test_model_free(&m);
}

/** Checks a table of F that the orbit map writes in two parts. */
static void check_map(test_model *m, const nb_anomalous *f, double B_add)
{
    nb_partials p = test_model_sum(m);
    nb_factor_grid grid = test_grid_for(&p);
    const size_t voxels = nb_factor_grid_voxels(&grid), part = voxels / 3;
    double *F = nb_alloc_raw(voxels, sizeof *F, "table", NULL);
    nb_orbit_map map;
    assert_non_null(F);
    for (size_t i = 0; i < voxels; i++)
        grid.F[i] = 17;
    nb_partials_combine(&p, f, B_add, 1.5, 1, &grid);
    assert_int_equal(nb_orbit_map_make(&p, grid.H, B_add, 1.5, &map, NULL), NB_OK);
    for (int i = 0; i < 2; i++) { /* each turn replaces values of another wavelength */
        nb_orbit_map_combine(&map, i ? f : f + 1, 17, 1 + i);
        nb_orbit_map_write(&map, 0, part, F);
        nb_orbit_map_write(&map, part, voxels - part, F + part);
    }
    assert_memory_equal(F, grid.F, voxels * sizeof *F);
    nb_orbit_map_free(&map);
    nb_free(F);
    nb_factor_grid_free(&grid);
    nb_partials_free(&p);
}

UNIT_TEST(a_map_gives_the_bytes_of_a_combination)
{
    const nb_anomalous f[4] = {{-1, 3}, {2, 1}, {0.5, 2}, {1, 1}};
    for (int g = 0; g < test_group_count; g++) {
        test_model m = test_model_make(&test_groups[g], 8, (uint64_t)g + 1);
        m.options.dmin = 3;
        m.options.with_000 = g & 1;
        check_map(&m, f, g % 3 ? 0 : 7);
        m.structure.cell[4] += 0.7; /* the cell no longer fits the group */
        m.structure.cell[0] *= 1.04;
        check_map(&m, f, 0);
        test_model_free(&m);
    }
}

__attribute__((constructor)) static void needs_gemmi(void)
{
    if (!*nb_gemmi_version())
        nb_skip_tests(__FILE__, "this build has no gemmi");
}
