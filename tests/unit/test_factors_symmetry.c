/* SPDX-License-Identifier: MIT */
/* Metric, rows and limits of indices, unique reflections and absences. */
#include "../support/check.h"
#include "factor_groups.h"

#include "../../src/base/memory.h"
#include "../../src/factors/factors.h"

/** Every reflection of P1 inside the limit is absent, or equivalent to exactly one listed
 * reflection. */
static void check_group(const test_group *group, double dmin)
{
    nb_symmetry sg = test_group_close(group);
    double G[6], limit = nb_s_squared_limit(dmin);
    nb_factor_grid grid;
    nb_error err = {0};
    size_t n, missing = 0;
    int H[3], (*hkl)[3];
    nb_reciprocal_metric(group->cell, G);
    nb_index_limits(group->cell, dmin, H);
    assert_int_equal(nb_factor_grid_new(group->cell, H, &grid, &err), NB_OK);
    assert_int_equal(nb_unique_reflections(&sg, group->cell, dmin, 0, &hkl, &n, &err), 0);
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < sg.count; j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                int g[3];
                double *F;
                nb_hR(&sg.ops[j], hkl[i], g);
                F = &grid.F[nb_factor_grid_at(&grid, sign * g[0], sign * g[1], sign * g[2])];
                if (!isnan(*F) && *F != (double)i)
                    fail_msg("%s: %d %d %d belongs to two listed reflections",
                             group->name, g[0], g[1], g[2]);
                *F = (double)i;
            }
    for (int h = -H[0]; h <= H[0]; h++)
        for (int k = -H[1]; k <= H[1]; k++)
            for (int l = -H[2]; l <= H[2]; l++) {
                int g[3] = {h, k, l};
                double s2 = nb_s_squared(G, h, k, l);
                int listed = !isnan(grid.F[nb_factor_grid_at(&grid, h, k, l)]);
                int wanted = s2 > 0 && s2 <= limit && !nb_is_absent(&sg, g);
                missing += listed != wanted;
            }
    assert_int_equal(missing, 0);
    nb_free(hkl);
    nb_factor_grid_free(&grid);
}

UNIT_TEST(unique_reflections_cover_the_sphere_once)
{
    for (int i = 0; i < test_group_count; i++)
        check_group(&test_groups[i], 2.5);
}

UNIT_TEST(groups_have_their_order)
{
    static const int order[] = {1, 2, 2, 2, 4, 4, 4, 8, 32, 4, 3, 18, 6, 12, 12, 48, 192};
    for (int i = 0; i < test_group_count; i++)
        assert_int_equal(test_group_close(&test_groups[i]).count, order[i]);
}

UNIT_TEST(absences_of_screws_and_centring)
{
    nb_symmetry sg = test_group_close(&test_groups[6]),
                i222 = test_group_close(&test_groups[7]);
    assert_int_equal(nb_is_absent(&sg, (const int[3]){3, 0, 0}), 1);
    assert_int_equal(nb_is_absent(&sg, (const int[3]){0, 4, 0}), 0);
    assert_int_equal(nb_is_absent(&sg, (const int[3]){0, 3, 1}), 0);
    assert_int_equal(nb_is_absent(&i222, (const int[3]){1, 2, 4}), 1);
    assert_int_equal(nb_is_absent(&i222, (const int[3]){1, 2, 3}), 0);
}

/** Compares s^2 by the metric with s^2 by the reciprocal axes of a triclinic cell. */
UNIT_TEST(metric_of_a_triclinic_cell)
{
    const double cell[6] = {21.3, 24.1, 26.7, 81, 97, 104}, d = M_PI / 180;
    double ca = cos(81 * d), cb = cos(97 * d), cg = cos(104 * d), G[6];
    double v = sqrt(1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg);
    double A = sin(81 * d) / (21.3 * v), C = sin(104 * d) / (26.7 * v);
    double cosB = (cg * ca - cb) / (sin(104 * d) * sin(81 * d));
    nb_reciprocal_metric(cell, G);
    check_ratio(nb_s_squared(G, 1, 0, 0), A * A, 1e-13);
    check_ratio(nb_s_squared(G, 0, 0, 2), 4 * C * C, 1e-13);
    check_ratio(nb_s_squared(G, 1, 0, 1), A * A + C * C + 2 * A * C * cosB, 1e-13);
}

UNIT_TEST(an_index_on_the_limit_is_inside)
{
    const double cell[6] = {90, 90, 90, 90, 90, 90};
    double G[6];
    int H[3], first, last;
    nb_index_limits(cell, 2.0, H);
    assert_int_equal(H[0], 45);
    nb_reciprocal_metric(cell, G);
    assert_int_equal(nb_row_of_l(G, nb_s_squared_limit(2), 27, 36, 45, &first, &last), 1);
    assert_int_equal(first, 0);
    assert_int_equal(last, 0);
    assert_int_equal(nb_row_of_l(G, nb_s_squared_limit(2), 27, 37, 45, &first, &last), 0);
}

UNIT_TEST(tables_that_are_too_large_name_dmin)
{
    const double cell[6] = {90, 90, 90, 90, 90, 90};
    nb_factor_grid grid;
    nb_error err = {0};
    assert_int_equal(nb_factor_grid_new(cell, (const int[3]){20000, 1, 1}, &grid, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-dmin"));
    assert_null(grid.F);
}

UNIT_TEST(failed_allocations_are_errors)
{
    nb_symmetry sg = test_group_close(&test_groups[2]);
    int tries = 0, (*hkl)[3], status = NB_ERR_NOMEM;
    size_t n;
    nb_error err;
    for (long i = 1; status == NB_ERR_NOMEM; i++, tries++) {
        nb_alloc_fail_after(i);
        status = nb_unique_reflections(&sg, test_groups[2].cell, 1.2, 1, &hkl, &n, &err);
        nb_alloc_fail_after(0);
    }
    assert_int_equal(status, NB_OK);
    assert_true(tries > 2);
    assert_int_equal(hkl[0][0] || hkl[0][1] || hkl[0][2], 0);
    nb_free(hkl);
}
