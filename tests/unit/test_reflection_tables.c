/* SPDX-License-Identifier: MIT */
/* Tables of F in P1: filled gaps, the scale to a model, dumps and lists. */
#include "../support/check.h"
#include "../support/comma.h"
#include "reflection_samples.h"

#include "../../src/base/memory.h"
#include "../support/parse.h"

static const double cell[6] = {21, 26, 33, 82, 97, 105};
enum { SHELLS = 20 };
#define DMIN 3.0

#define FOR_EACH(g, h, k, l)                                                             \
    for (int h = -(g).H[0]; h <= (g).H[0]; h++)                                          \
        for (int k = -(g).H[1]; k <= (g).H[1]; k++)                                      \
            for (int l = -(g).H[2]; l <= (g).H[2]; l++)

/** F of an index, or NaN for a missing value; s2: 1/d^2 (A^-2). */
typedef double value_function(int h, int k, int l, double s2);

static nb_factor_grid grid_of(double dmin, value_function *F)
{
    nb_factor_grid g;
    int H[3];
    double G[6];
    nb_reciprocal_metric(cell, G);
    nb_index_limits(cell, dmin, H);
    assert_int_equal(nb_factor_grid_new(cell, H, &g, NULL), NB_OK);
    FOR_EACH(g, h, k, l)
    {
        double s2 = nb_s_squared(G, h, k, l);
        if (s2 <= nb_s_squared_limit(dmin))
            g.F[nb_factor_grid_at(&g, h, k, l)] = F(h, k, l, s2);
    }
    return g;
}

/** Number from 0 to 1 that depends only on the index. */
static double noise(int h, int k, int l)
{
    uint64_t seed = (uint64_t)(h * 73856093 ^ k * 19349663 ^ l * 83492791);
    sample_random(&seed);
    return sample_random(&seed);
}

/* --- shells --- */

/** Number of the shell by its definition: 20 shells of equal width in 1/d^3. */
static int shell_of(double s2)
{
    double ratio = DMIN * sqrt(s2);
    int i = (int)floor(SHELLS * ratio * ratio * ratio);
    return i < SHELLS ? i : SHELLS - 1;
}

/** The shell whose mean fills the gaps of this shell. */
static int source_of(int shell)
{
    return shell < 2 ? 2 : shell == 7 || shell == 8 ? 6 : shell == 19 ? 18 : shell;
}

static double with_gaps(int h, int k, int l, double s2)
{
    double x = noise(h, k, l);
    return source_of(shell_of(s2)) != shell_of(s2) || x < 0.3 ? NAN
                                                              : 100 * x * exp(-3 * s2);
}

UNIT_TEST(shells_have_their_rms)
{
    nb_factor_grid g = grid_of(DMIN, with_gaps), before = grid_of(DMIN, with_gaps);
    size_t missing = 0, marked = nb_factor_grid_at(&g, 1, 0, 0);
    double sum[SHELLS] = {0}, n[SHELLS] = {0}, G[6];
    nb_reciprocal_metric(cell, G);
    nb_factor_grid_add_absences(&g, NULL);
    g.F[marked] = before.F[marked] = 0;
    g.absent[marked] = 1;
    FOR_EACH(g, h, k, l)
    {
        double F = before.F[nb_factor_grid_at(&g, h, k, l)], s2 = nb_s_squared(G, h, k, l);
        missing += isnan(F) && s2 > 0 && s2 <= nb_s_squared_limit(DMIN);
        if (F > 0) {
            sum[shell_of(s2)] += F * F;
            n[shell_of(s2)]++;
        }
    }
    assert_int_equal(nb_fill_shell(&g, DMIN), missing);
    FOR_EACH(g, h, k, l)
    {
        size_t at = nb_factor_grid_at(&g, h, k, l);
        double s2 = nb_s_squared(G, h, k, l);
        int from = source_of(shell_of(s2));
        if (!isnan(before.F[at]))
            assert_true(g.F[at] == before.F[at]);
        else if (s2 > nb_s_squared_limit(DMIN) || s2 == 0)
            assert_true(isnan(g.F[at])); /* F(0 0 0) comes from a flag */
        else
            check_ratio(g.F[at], sqrt(sum[from] / n[from]), 1e-12);
    }
    assert_int_equal(nb_fill_shell(&g, DMIN), 0);
    nb_factor_grid_free(&g);
    nb_factor_grid_free(&before);
}

static double nothing(int h, int k, int l, double s2)
{
    return h || k || l ? NAN : s2 + 1000;
}

UNIT_TEST(an_empty_table_stays_empty)
{
    nb_factor_grid g = grid_of(DMIN, nothing);
    assert_int_equal(nb_fill_shell(&g, DMIN), 0);
    nb_factor_grid_free(&g);
}

/* --- the scale to a model --- */

static double model_F(int h, int k, int l, double s2)
{
    return h || k || l ? 50 * noise(h, k, l) * exp(-s2) : 5000;
}

static double observed_F(int h, int k, int l, double s2)
{
    double x = noise(l, h, k);
    if (!(h || k || l))
        return 1e6; /* outside all shells */
    return x < 0.2 ? NAN : 0.4 * (0.8 + 0.4 * x) * exp(-7 * s2) * model_F(h, k, l, s2);
}

/** Scale k and B by the definition: a straight line through the logarithms of shells. */
static void line_of(const nb_factor_grid *o, const nb_factor_grid *m, double *k, double *B)
{
    double FF[SHELLS] = {0}, MM[SHELLS] = {0}, S[SHELLS] = {0}, n[SHELLS] = {0}, G[6];
    double w = 0, mx = 0, my = 0, xx = 0, xy = 0;
    nb_reciprocal_metric(cell, G);
    FOR_EACH(*o, h, j, l)
    {
        double s2 = nb_s_squared(G, h, j, l), F = o->F[nb_factor_grid_at(o, h, j, l)];
        int i = shell_of(s2);
        if (isnan(F) || s2 == 0 || s2 > 1 / (DMIN * DMIN))
            continue;
        FF[i] += F * F;
        MM[i] += pow(m->F[nb_factor_grid_at(m, h, j, l)], 2);
        S[i] += s2 / 4;
        n[i]++;
    }
    for (int i = 0; i < SHELLS; i++)
        if (n[i]) {
            w += n[i];
            mx += S[i];
            my += n[i] * log(sqrt(FF[i] / MM[i]));
        }
    mx /= w;
    my /= w;
    for (int i = 0; i < SHELLS; i++)
        if (n[i]) {
            double X = S[i] / n[i] - mx;
            xx += n[i] * X * X;
            xy += n[i] * X * (log(sqrt(FF[i] / MM[i])) - my);
        }
    *B = -xy / xx;
    *k = exp(my + *B * mx);
}

UNIT_TEST(the_line_is_that_of_the_shells)
{
    nb_factor_grid o = grid_of(DMIN, observed_F), m = grid_of(2.7, model_F);
    double k, B, k0, B0;
    line_of(&o, &m, &k0, &B0);
    assert_int_equal(nb_scale_to_model(&o, &m, DMIN, &k, &B, NULL), NB_OK);
    check_ratio(k, k0, 1e-9);
    check_ratio(B, B0, 1e-9);
    check_ratio(B, 28, 0.03);
    check_ratio(k, 0.4 * 1.04, 0.03);
    nb_factor_grid_free(&o);
    nb_factor_grid_free(&m);
}

UNIT_TEST(missing_take_the_model)
{
    nb_factor_grid o = grid_of(DMIN, observed_F), m = grid_of(2.7, model_F);
    nb_factor_grid before = grid_of(DMIN, observed_F);
    double G[6];
    size_t filled = 0;
    nb_reciprocal_metric(cell, G);
    nb_factor_grid_add_phases(&o, NULL);
    nb_factor_grid_add_phases(&m, NULL);
    FOR_EACH(m, h, k, l) m.phase[nb_factor_grid_at(&m, h, k, l)] = (float)noise(h, k, l);
    m.F[nb_factor_grid_at(&m, 2, 1, 0)] = NAN;
    o.F[nb_factor_grid_at(&o, 2, 1, 0)] = before.F[nb_factor_grid_at(&o, 2, 1, 0)] = NAN;
    size_t n = nb_fill_model(&o, &m, DMIN, 0.5, 20);
    FOR_EACH(o, h, k, l)
    {
        size_t at = nb_factor_grid_at(&o, h, k, l);
        double s2 = nb_s_squared(G, h, k, l);
        if (!isnan(before.F[at]))
            assert_true(o.F[at] == before.F[at] && isnan(o.phase[at]));
        else if (s2 > nb_s_squared_limit(DMIN) || (h == 2 && k == 1 && l == 0))
            assert_true(isnan(o.F[at]));
        else {
            check_ratio(o.F[at], 0.5 * exp(-5 * s2) * model_F(h, k, l, s2), 1e-12);
            assert_true(o.phase[at] == (float)noise(h, k, l));
            filled++;
        }
    }
    assert_int_equal(n, filled);
    assert_true(n > 100);
    nb_factor_grid_free(&o);
    nb_factor_grid_free(&m);
    nb_factor_grid_free(&before);
}

/** Checks every value of a box of the grid, against the formula, to the last bit; some F
 * are 0 or missing. */
static void check_weights(const nb_factor_grid *g, nb_factor_box box, nb_factor_weight w)
{
    const size_t n = nb_factor_box_voxels(&box);
    double *to = malloc(n * sizeof *to), G[6];
    size_t at = 0;
    nb_reciprocal_metric(g->cell, G);
    memcpy(w.cell, g->cell, sizeof w.cell);
    assert_non_null(to);
    nb_factor_grid_weigh(g, w, &box, 2, to);
    for (int h = box.low[0]; h < box.low[0] + box.n[0]; h++)
        for (int k = box.low[1]; k < box.low[1] + box.n[1]; k++)
            for (int l = box.low[2]; l < box.low[2] + box.n[2]; l++, at++) {
                const double F = g->F[nb_factor_grid_at(g, h, k, l)];
                const double factor =
                    w.k * (w.B == 0 ? 1 : exp(-w.B * nb_s_squared(G, h, k, l) / 4));
                assert_true(isnan(F) ? isnan(to[at])
                                     : to[at] == (F == 0 ? 0 : F * factor));
            }
    free(to);
}

UNIT_TEST(weights_are_their_formula)
{
    static const double cells[][6] = {{30, 40, 50, 90, 90, 90},
                                      {30, 40, 50, 90, 105, 90},
                                      {40, 40, 50, 90, 90, 120},
                                      {30, 40, 50, 80, 95, 105}};
    const int H[3] = {7, 9, 280};
    const nb_factor_box part = {{-3, 2, -280}, {9, 5, 500}};
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
        nb_factor_grid g;
        assert_int_equal(nb_factor_grid_new(cells[c], H, &g, NULL), NB_OK);
        for (size_t i = 0; i < nb_factor_grid_voxels(&g); i++)
            g.F[i] = i % 7 == 3 ? 0 : i % 5 == 1 ? NAN : (double)(1 + i % 91);
        check_weights(&g, nb_factor_box_of(H), (nb_factor_weight){3, 12, {0}});
        check_weights(&g, nb_factor_box_of(H), (nb_factor_weight){1, -2, {0}});
        check_weights(&g, nb_factor_box_of(H), (nb_factor_weight){0.3, 0, {0}});
        check_weights(&g, part, (nb_factor_weight){0.5, 7, {0}});
        nb_factor_grid_free(&g);
    }
}

UNIT_TEST(boxes_have_every_value)
{
    const int H[3] = {4, 5, 6};
    nb_factor_grid g;
    nb_factor_box box;
    assert_int_equal(nb_factor_grid_new(cell, H, &g, NULL), NB_OK);
    box = nb_factor_grid_filled(&g);
    assert_int_equal(nb_factor_box_voxels(&box), 1);
    g.F[nb_factor_grid_at(&g, -2, 1, 6)] = 1;
    g.F[nb_factor_grid_at(&g, 3, -4, 0)] = 0;
    box = nb_factor_grid_filled(&g);
    assert_memory_equal(&box, (&(nb_factor_box){{-2, -4, 0}, {6, 6, 7}}), sizeof box);
    assert_false(nb_factor_box_has_mates(&box));
    box = nb_factor_box_of(H);
    assert_true(nb_factor_box_has_mates(&box));
    nb_factor_grid_free(&g);
}

UNIT_TEST(nothing_in_common_is_an_error)
{
    nb_factor_grid o = grid_of(DMIN, nothing), m = grid_of(DMIN, model_F);
    double k, B;
    nb_error err = {0};
    assert_int_equal(nb_scale_to_model(&o, &m, DMIN, &k, &B, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "in common"));
    nb_factor_grid_free(&o);
    nb_factor_grid_free(&m);
}

/* --- dumps --- */

/** Either both Friedel mates have a value or neither, so that a reader that fills in
 * mates finds the same table. */
static double in_pairs(int h, int k, int l, double s2)
{
    double x = noise(abs(h), abs(k), abs(l));
    (void)s2;
    return x < 0.3 ? NAN : 10 * noise(h, k, l) + 1;
}

static int order(const int a[3], const int b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

UNIT_TEST(a_dump_is_the_same_table)
{
    nb_factor_grid g = grid_of(DMIN, in_pairs), back;
    nb_symmetry p1 = sample_group("x,y,z");
    nb_reflection_file rows;
    nb_expansion about;
    g.wavelength = 1.1;
    assert_int_equal(nb_dump_rows(&g, &rows, NULL), NB_OK);
    assert_int_equal(rows.n_columns, 3);
    assert_int_equal(rows.symmetry.count, 1);
    assert_true(rows.wavelength == 1.1 && !memcmp(rows.cell, cell, sizeof cell));
    for (size_t i = 0; i < rows.count; i++) {
        const int *h = rows.hkl[i];
        assert_true(h[2] > 0 || (h[2] == 0 && (h[0] > 0 || (h[0] == 0 && h[1] >= 0))));
        assert_true(!i || order(rows.hkl[i - 1], h) < 0);
        check_ratio(2 * rows.columns[0].value[i],
                    rows.columns[1].value[i] + rows.columns[2].value[i], 1e-6);
    }
    assert_int_equal(sample_expand(&rows, "", &p1, 0, &back, &about, NULL), NB_OK);
    FOR_EACH(g, h, k, l)
    {
        double F = g.F[nb_factor_grid_at(&g, h, k, l)];
        if (abs(h) > back.H[0] || abs(k) > back.H[1] || abs(l) > back.H[2])
            assert_true(isnan(F));
        else {
            double got = back.F[nb_factor_grid_at(&back, h, k, l)];
            assert_true(isnan(F) ? isnan(got) : got == (float)F);
        }
    }
    nb_factor_grid_free(&g);
    nb_factor_grid_free(&back);
    sample_free(&rows);
}

static const char three_lines[] = "-1 0 0 0.333333333\n-1 0 1 2\n0 0 0 1000\n";

/** A dump has no absences. A reflection without its mate has a row, and each mate has its
 * phase. */
UNIT_TEST(dumps_hold_what_has_a_value)
{
    nb_factor_grid g = grid_of(12, nothing);
    nb_reflection_file rows;
    char *text;
    size_t size;
    nb_factor_grid_add_phases(&g, NULL);
    nb_factor_grid_add_absences(&g, NULL);
    g.F[nb_factor_grid_at(&g, -1, 0, 1)] = 2;
    g.phase[nb_factor_grid_at(&g, -1, 0, 1)] = (float)(M_PI / 3);
    g.F[nb_factor_grid_at(&g, -1, 0, 0)] = 1 / 3.0;
    g.phase[nb_factor_grid_at(&g, -1, 0, 0)] = (float)(-M_PI / 2);
    g.F[nb_factor_grid_at(&g, 0, 0, 1)] = 0;
    g.absent[nb_factor_grid_at(&g, 0, 0, 1)] = 1;
    assert_int_equal(nb_dump_rows(&g, &rows, NULL), NB_OK);
    assert_int_equal(rows.count, 3);
    assert_int_equal(rows.n_columns, 5);
    assert_int_equal(order(rows.hkl[0], (int[3]){-1, 0, 1}), 0);
    assert_int_equal(order(rows.hkl[1], (int[3]){0, 0, 0}), 0);
    assert_int_equal(order(rows.hkl[2], (int[3]){1, 0, 0}), 0);
    const float expected[5][3] = {{2, 1000, (float)(1 / 3.0)},
                                  {2, 1000, NAN},
                                  {NAN, 1000, (float)(1 / 3.0)},
                                  {60, NAN, NAN},
                                  {NAN, NAN, -90}};
    for (int c = 0; c < 5; c++)
        for (int i = 0; i < 3; i++) {
            float v = rows.columns[c].value[i];
            assert_true(isnan(expected[c][i]) ? isnan(v)
                                              : fabsf(v - expected[c][i]) < 1e-5f);
        }
    assert_string_equal(rows.columns[3].label, "PHI(+)");
    assert_int_equal(nb_dump_text(&g, &text, &size, NULL), NB_OK);
    assert_string_equal(rows.columns[4].label, "PHI(-)");
    assert_int_equal(size, strlen(three_lines));
    assert_memory_equal(text, three_lines, size);
    nb_free(text);
    sample_free(&rows);
    nb_factor_grid_free(&g);
}

UNIT_TEST(a_text_is_the_same_table)
{
    nb_factor_grid g = grid_of(DMIN, in_pairs), before = grid_of(DMIN, in_pairs);
    nb_factor_file a, b;
    char *text;
    size_t size;
    int used_comma = nb_set_comma_locale();
    assert_int_equal(nb_dump_text(&g, &text, &size, NULL), NB_OK);
    if (used_comma)
        nb_unset_comma_locale();
    assert_int_equal(nb_hkl_parse(text, size, "a.hkl", -7, &a, NULL), NB_OK);
    nb_factor_grid_table(&g, -7, &b);
    assert_null(g.F);
    assert_int_equal(a.reflections, b.reflections);
    FOR_EACH(before, h, k, l)
    {
        double F = before.F[nb_factor_grid_at(&before, h, k, l)], got;
        got =
            b.F[((size_t)(h - b.hmin) * (size_t)(b.kmax - b.kmin + 1) + (size_t)(k - b.kmin)) *
                    (size_t)(b.lmax - b.lmin + 1) +
                (size_t)(l - b.lmin)];
        assert_true(isnan(F) ? got == -7 : got == F);
        if (h < a.hmin || h > a.hmax || k < a.kmin || k > a.kmax || l < a.lmin ||
            l > a.lmax)
            continue;
        got =
            a.F[((size_t)(h - a.hmin) * (size_t)(a.kmax - a.kmin + 1) + (size_t)(k - a.kmin)) *
                    (size_t)(a.lmax - a.lmin + 1) +
                (size_t)(l - a.lmin)];
        assert_true(isnan(F) ? got == -7 : fabs(got - F) <= 5.1e-9 * F);
    }
    nb_free(text);
    nb_factor_file_free(&a);
    nb_factor_file_free(&b);
    nb_factor_grid_free(&g);
    nb_factor_grid_free(&before);
}

/* --- lists --- */

#define P21 "x,y,z -x,y+1/2,-z"

static nb_status expand_list(const char *text, const char *group, nb_factor_grid *out,
                             nb_expansion *about, nb_error *err)
{
    static const double monoclinic[6] = {20, 30, 40, 90, 100, 90};
    nb_symmetry sg = sample_group(group);
    nb_hkl_list list;
    nb_expansion_request request = {
        .list = &list, .sg = &sg, .whole_sphere = 1, .name = "a.hkl"};
    memcpy(request.cell, monoclinic, sizeof monoclinic);
    assert_int_equal(nb_hkl_list_parse(text, strlen(text), "a.hkl", &list, NULL), NB_OK);
    nb_status st = nb_expand(&request, out, about, err);
    nb_hkl_list_free(&list);
    return st;
}

static void check_F(const nb_factor_grid *g, int h, int k, int l, double F)
{
    double got = g->F[nb_factor_grid_at(g, h, k, l)];
    if (isnan(F) ? !isnan(got) : !(fabs(got - F) < 1e-12))
        fail_msg("F(%d %d %d) is %g, not %g", h, k, l, got, F);
}

UNIT_TEST(listed_values_win)
{
    nb_factor_grid g;
    nb_expansion about;
    assert_int_equal(expand_list("1 2 3 10\n-1 -2 -3 12 # a mate\n2 2 3 -5\n3 1 1 4\n"
                                 "-3 1 -1 8\n3 1 1 6\n0 3 0 9\n0 1 0 0\n",
                                 P21, &g, &about, NULL),
                     NB_OK);
    check_F(&g, 1, 2, 3, 10);
    check_F(&g, -1, -2, -3, 12);
    check_F(&g, -1, 2, -3, 10); /* equivalent to 1 2 3 */
    check_F(&g, 1, -2, 3, 12);
    check_F(&g, -2, -2, -3, -5); /* the sign is kept */
    check_F(&g, 3, 1, 1, 6);     /* the last of two rows */
    check_F(&g, -3, 1, -1, 8);
    check_F(&g, 3, -1, 1, 7); /* the first of the two rows has no mates */
    check_F(&g, 0, 3, 0, 0);
    check_F(&g, 0, 1, 0, 0);
    check_F(&g, 0, -1, 0, 0);
    check_F(&g, 1, 1, 1, NAN);
    assert_int_equal(about.absent_with_value, 1);
    assert_int_equal(about.conflicts, 2);
    assert_int_equal(about.negative, 0);
    assert_null(g.phase);
    nb_factor_grid_free(&g);
}

UNIT_TEST(a_list_without_group_stays_as_it_is)
{
    nb_factor_grid g;
    nb_expansion about;
    assert_int_equal(expand_list("1 2 3 10\n1 2 3 11\n0 1 0 7\n", "", &g, &about, NULL),
                     NB_OK);
    check_F(&g, 1, 2, 3, 11);
    check_F(&g, -1, -2, -3, NAN);
    check_F(&g, 0, 1, 0, 7);
    assert_int_equal(about.present, 2);
    nb_factor_grid_free(&g);
}

UNIT_TEST(a_list_of_absences_is_refused)
{
    nb_factor_grid g;
    nb_expansion about;
    nb_error err = {0};
    assert_int_equal(expand_list("0 1 0 10\n", P21, &g, &about, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "absent (-sg)"));
    assert_null(g.F);
}
