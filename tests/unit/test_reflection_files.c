/* SPDX-License-Identifier: MIT */
/* Expansion to P1 of reflection files made by hand. */
#include "../support/check.h"
#include "reflection_samples.h"

#include "../../src/base/memory.h"

/* --- structure factors of the crystal --- */

static const char *const groups[] = {
    "x,y,z",
    "x,y,z -x,-y,-z",
    "x,y,z -x,y+1/2,-z",
    "x,y,z -x+1/2,-y,z+1/2 -x,y+1/2,-z+1/2 x+1/2,-y+1/2,-z",
    "x,y,z -x,y,-z x+1/2,y+1/2,z -x+1/2,y+1/2,-z",
    "x,y,z -y,x-y,z+1/3 -x+y,-x,z+2/3",
    ("x,y,z -y,x-y,z -x+y,-x,z x+2/3,y+1/3,z+1/3 -y+2/3,x-y+1/3,z+1/3 "
     "-x+y+2/3,-x+1/3,z+1/3 x+1/3,y+2/3,z+2/3 -y+1/3,x-y+2/3,z+2/3 "
     "-x+y+1/3,-x+2/3,z+2/3"),
    "x,y,z -x,-y,z+1/2 -y,x,z+1/4 y,-x,z+3/4",
    "x,y,z -x,y+1/2,-z+1/2 -x,-y,-z x,-y+1/2,z+1/2",
};
enum { GROUPS = sizeof groups / sizeof *groups };
static const double cells[GROUPS][6] = {
    {11, 12, 13, 80, 95, 100}, {11, 12, 13, 80, 95, 100}, {9, 14, 12, 90, 105, 90},
    {10, 13, 16, 90, 90, 90},  {15, 10, 12, 90, 110, 90}, {12, 12, 16, 90, 90, 120},
    {14, 14, 18, 90, 90, 120}, {12, 12, 14, 90, 90, 90},  {9, 11, 14, 90, 100, 90}};

enum { PHASES, PAIRS, DIFFERENCES };

/** Make a file of the crystal with one reflection of each set of symmetry mates: a random
 * mate of the set. */
static nb_reflection_file file_of(const sample_crystal *crystal, int kind, double dmin)
{
    nb_reflection_file file = {0};
    int(*hkl)[3];
    size_t n;
    uint64_t seed = 7;
    assert_int_equal(
        nb_unique_reflections(&crystal->sg, crystal->cell, dmin, 0, &hkl, &n, NULL),
        NB_OK);
    memcpy(file.cell, crystal->cell, sizeof file.cell);
    file.count = n;
    file.hkl = hkl;
    file.wavelength = 1.25;
    float *a = sample_column(&file, "A", kind == PAIRS ? 'G' : 'F', NULL);
    float *b = sample_column(&file, "B", "PGD"[kind], NULL);
    for (size_t i = 0; i < n; i++) {
        int sign = sample_random(&seed) < 0.5 ? -1 : 1, r[3], minus[3];
        double F[2], M[2];
        nb_hR(&crystal->sg.ops[(int)(sample_random(&seed) * crystal->sg.count)], hkl[i],
              r);
        for (int j = 0; j < 3; j++) {
            hkl[i][j] = sign * r[j];
            minus[j] = -hkl[i][j];
        }
        sample_factor(crystal, hkl[i], F);
        sample_factor(crystal, minus, M);
        double plus = hypot(F[0], F[1]), mate = hypot(M[0], M[1]);
        a[i] = (float)(kind == DIFFERENCES ? (plus + mate) / 2 : plus);
        b[i] = (float)(kind == PHASES  ? atan2(F[1], F[0]) * (180 / M_PI)
                       : kind == PAIRS ? mate
                                       : plus - mate);
    }
    return file;
}

/** Compare every voxel of the grid with the crystal. *values: number of reflections. */
static void check_grid(const nb_factor_grid *g, const sample_crystal *crystal, int kind,
                       double dmin, size_t *values)
{
    double G[6], limit = nb_s_squared_limit(dmin), worst = 0, rms = 0;
    nb_reciprocal_metric(crystal->cell, G);
    *values = 0;
    for (int h = -g->H[0]; h <= g->H[0]; h++)
        for (int k = -g->H[1]; k <= g->H[1]; k++)
            for (int l = -g->H[2]; l <= g->H[2]; l++) {
                size_t at = nb_factor_grid_at(g, h, k, l);
                int hkl[3] = {h, k, l};
                double F[2], size, apart;
                if (!(h || k || l) || nb_s_squared(G, h, k, l) > limit) {
                    assert_true(isnan(g->F[at]));
                    continue;
                }
                sample_factor(crystal, hkl, F);
                size = hypot(F[0], F[1]);
                if (nb_is_absent(&crystal->sg, hkl)) {
                    check_below(size, 1e-9);
                    assert_true(g->absent && g->absent[at] && g->F[at] == 0);
                    continue;
                }
                assert_false(g->absent && g->absent[at]);
                apart = kind != PHASES ? fabs(g->F[at] - size)
                                       : hypot(g->F[at] * cos(g->phase[at]) - F[0],
                                               g->F[at] * sin(g->phase[at]) - F[1]);
                assert_false(isnan(apart));
                worst = fmax(worst, apart);
                rms += size * size;
                ++*values;
            }
    check_below(worst, 1e-6 * sqrt(rms / (double)*values) * (kind == PHASES ? 10 : 1));
}

static void expand_crystal(int group, int kind)
{
    sample_crystal crystal =
        sample_crystal_make(groups[group], cells[group], kind != PHASES);
    nb_reflection_file file = file_of(&crystal, kind, 2.5);
    nb_factor_grid grid;
    nb_expansion about;
    nb_error err = {0};
    size_t values;
    if (sample_expand(&file, "A,B", &crystal.sg, 2.5, &grid, &about, &err))
        fail_msg("%s: %s", groups[group], err.message);
    check_grid(&grid, &crystal, kind, 2.5, &values);
    assert_int_equal(about.given, file.count);
    assert_int_equal(about.present, values);
    assert_int_equal(about.missing + about.conflicts + about.absent_with_value, 0);
    assert_true(grid.wavelength == 1.25);
    nb_factor_grid_free(&grid);
    sample_free(&file);
}

UNIT_TEST(phases_follow_the_operators)
{
    for (int group = 0; group < GROUPS; group++)
        expand_crystal(group, PHASES);
}

UNIT_TEST(mates_stay_apart)
{
    for (int group = 0; group < GROUPS; group++) {
        expand_crystal(group, PAIRS);
        expand_crystal(group, DIFFERENCES);
    }
}

/** Expand a P212121 file to a P1 list. Expansion of the list gives the same F again. */
UNIT_TEST(expansion_is_idempotent)
{
    sample_crystal crystal = sample_crystal_make(groups[3], cells[3], 1);
    nb_reflection_file file = file_of(&crystal, PAIRS, 2.5), rows;
    nb_symmetry p1 = sample_group("x,y,z");
    nb_factor_grid once, again, symmetric;
    nb_expansion about;
    assert_int_equal(sample_expand(&file, "A,B", &crystal.sg, 0, &once, &about, NULL),
                     NB_OK);
    assert_int_equal(nb_dump_rows(&once, &rows, NULL), NB_OK);
    assert_int_equal(sample_expand(&rows, "", &p1, 0, &again, &about, NULL), NB_OK);
    assert_int_equal(sample_expand(&rows, "", &crystal.sg, 0, &symmetric, &about, NULL),
                     NB_OK);
    assert_memory_equal(once.H, again.H, sizeof once.H);
    for (size_t i = 0; i < nb_factor_grid_voxels(&once); i++) {
        if (once.absent[i])
            assert_true(isnan(again.F[i]) && symmetric.absent[i] && symmetric.F[i] == 0);
        else if (isnan(once.F[i]))
            assert_true(isnan(again.F[i]) && isnan(symmetric.F[i]));
        else {
            check_close(again.F[i], once.F[i], 1e-7 * once.F[i]);
            check_close(symmetric.F[i], once.F[i], 1e-7 * once.F[i]);
        }
    }
    nb_factor_grid_free(&once);
    nb_factor_grid_free(&again);
    nb_factor_grid_free(&symmetric);
    sample_free(&rows);
    sample_free(&file);
}

/* --- rules --- */

static const double orthorhombic[6] = {20, 30, 40, 90, 90, 90};

/** Rows to expand, and the values that some reflections must have. */
typedef struct value_case {
    const char *columns, *labels, *rows; /* rows: "h k l a b, ..."; ? is missing */
    const char *group;
    const char *expected; /* "h k l F, ..."; ? is no value */
    size_t negative, conflicts, absent;
} value_case;

#define P212121 "x,y,z -x+1/2,-y,z+1/2 -x,y+1/2,-z+1/2 x+1/2,-y+1/2,-z"
#define P222 "x,y,z -x,-y,z -x,y,-z x,-y,-z"

static const value_case values[] = {
    /* missing mates */
    {"F(+):G F(-):G", "", "1 2 3 5 ?, 2 2 3 ? 6, 3 2 3 ? ?, 4 2 3 7 8", "x,y,z",
     "1 2 3 5, -1 -2 -3 5, 2 2 3 6, -2 -2 -3 6, 3 2 3 ?, -3 -2 -3 ?, 4 2 3 7, -4 -2 -3 8",
     0, 0, 0},
    {"F(+):G F(-):G", "F(+)", "4 2 3 7 8", "x,y,z", "4 2 3 7, -4 -2 -3 7", 0, 0, 0},
    /* intensities */
    {"I(+):K I(-):K", "", "1 0 0 16 -9, 0 1 0 ? 25, 0 0 2 0 ?", "x,y,z",
     "1 0 0 4, -1 0 0 0, 0 1 0 5, 0 -1 0 5, 0 0 2 0, 0 0 -2 0", 0, 0, 0},
    {"I:J", "", "1 0 0 2.25, 0 1 0 -3", "x,y,z", "-1 0 0 1.5, 0 -1 0 0", 0, 0, 0},
    /* negative amplitudes */
    {"F:F", "", "1 0 0 -5, 0 1 0 5", "x,y,z", "1 0 0 0, -1 0 0 0, 0 1 0 5", 1, 0, 0},
    {"F(+):G F(-):G", "", "1 1 0 -5 -6, 0 1 1 5 -1", "x,y,z",
     "1 1 0 0, -1 -1 0 0, 0 1 1 5, 0 -1 -1 0", 3, 0, 0},
    /* differences */
    {"F:F D:D", "F,D", "1 1 1 10 3, 2 1 1 10 ?, 3 1 1 ? 3, 4 1 1 1 6", "x,y,z",
     "1 1 1 11.5, -1 -1 -1 8.5, 2 1 1 10, -2 -1 -1 10, 3 1 1 ?, 4 1 1 4, -4 -1 -1 0", 1,
     0, 0},
    /* symmetry: rotations keep F(+) and F(-) apart; centric reflections get the mean */
    {"F(+):G F(-):G", "", "1 2 3 5 7", P222,
     "1 2 3 5, -1 -2 3 5, -1 2 -3 5, 1 -2 -3 5, -1 -2 -3 7, 1 2 -3 7, 1 -2 3 7, -1 2 3 7",
     0, 0, 0},
    {"F(+):G F(-):G", "", "1 2 0 5 7", P222, "1 2 0 6, -1 2 0 6", 0, 4, 0},
    /* duplicates get their mean; differences above 1 % are a conflict */
    {"F:F", "", "1 2 3 10, 1 2 3 10.05, -1 -2 3 10.05, 2 2 3 4, -2 2 3 2", P222,
     "1 2 3 10.0333333, -1 -2 -3 10.0333333, 2 -2 -3 4, -2 2 3 2", 0, 0, 0},
    {"F:F", "", "2 2 3 4, 2 -2 -3 2", P222, "2 2 3 3, -2 -2 3 3, -2 -2 -3 3", 0, 8, 0},
    {"F:F", "", "1 2 3 0, -1 -2 -3 0", "x,y,z", "1 2 3 0", 0, 0, 0},
    /* a Friedel mate keeps the value of its row; without a row, the other mate's value */
    {"F:F", "", "1 2 3 4, -1 -2 -3 6, 2 2 3 5", "x,y,z",
     "1 2 3 4, -1 -2 -3 6, 2 2 3 5, -2 -2 -3 5", 0, 0, 0},
    {"F:F", "", "1 2 3 4, -1 -2 -3 6, 1 -2 -3 5", P222, "-1 -2 3 4.5, 1 2 -3 6", 0, 4, 0},
    {"F(+):G F(-):G", "", "1 2 3 4 ?, 1 2 3 ? 6, -1 -2 3 ? ?", P222,
     "-1 -2 3 4, 1 2 -3 6, -1 -2 -3 6", 0, 0, 0},
    {"I(+):K I(-):K", "", "1 2 0 25 49, 1 2 3 25 49, -1 -2 -3 51 23", P222,
     "1 2 0 6, -1 2 0 6, 1 2 3 4.89897949, -1 -2 -3 7.07106781", 0, 8, 0},
    /* F is the root of the mean intensity */
    {"I:J", "", "1 2 3 100, 1 2 3 120, -1 -2 3 80, 1 2 3 -20, 2 2 3 -9, 2 2 3 1", P222,
     "1 2 3 8.36660027, -1 -2 -3 8.36660027, 2 2 3 0", 0, 16, 0},
    /* systematic absences are 0, also if the file has other values */
    {"F:F", "", "1 0 0 9, 0 3 0 0, 2 0 0 5, 0 0 5 ?, 1 1 1 3, 0 0 7 2", P212121,
     "1 0 0 0, -1 0 0 0, 0 1 0 0, 2 0 0 5, 0 2 0 ?, 1 1 1 3, 0 0 1 0, 0 0 3 0", 0, 0, 2},
    /* phases: the mean is complex; a row with a phase replaces rows without a phase */
    {"F:F P:P", "F,P", "1 1 1 4 0, 1 1 1 3 90, 2 1 1 5 ?, 3 1 1 6 ?, 3 1 1 8 10", "x,y,z",
     "1 1 1 2.5, -1 -1 -1 2.5, 2 1 1 5, 3 1 1 8", 0, 2, 0},
    /* 0 0 0 is treated as any reflection */
    {"F:F", "", "0 0 0 100, 1 0 0 5", "x,y,z", "0 0 0 100", 0, 0, 0},
};

static void check_values(const value_case *c, const nb_factor_grid *grid)
{
    const char *p = c->expected;
    for (;;) {
        int h, k, l, used;
        char word[32];
        if (sscanf(p, "%d %d %d %31[^,]%n", &h, &k, &l, word, &used) != 4)
            fail_msg("'%s' is no list", p);
        size_t at = nb_factor_grid_at(grid, h, k, l);
        double expected = strcmp(word, "?") ? atof(word) : NAN;
        if (isnan(expected) ? !isnan(grid->F[at])
                            : !(fabs(grid->F[at] - expected) <= 1e-6 * expected))
            fail_msg("'%s' %s: F(%d %d %d) is %g, not %s", c->rows, c->labels, h, k, l,
                     grid->F[at], word);
        p += used;
        if (!*p)
            return;
        p++;
    }
}

UNIT_TEST(rules_of_values)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const value_case *c = &values[i];
        nb_reflection_file file = sample_rows(c->columns, c->rows, orthorhombic);
        nb_symmetry sg = sample_group(c->group);
        nb_factor_grid grid;
        nb_expansion about;
        nb_error err = {0};
        if (sample_expand(&file, c->labels, &sg, 0, &grid, &about, &err))
            fail_msg("'%s': %s", c->rows, err.message);
        check_values(c, &grid);
        if (about.negative != c->negative || about.conflicts != c->conflicts ||
            about.absent_with_value != c->absent)
            fail_msg("'%s': %zu negative, %zu conflicts, %zu absent", c->rows,
                     about.negative, about.conflicts, about.absent_with_value);
        nb_factor_grid_free(&grid);
        sample_free(&file);
    }
}

static char said[8][200];
static int n_said;

static void take_notice(void *user, const char *text)
{
    (void)user;
    if (n_said < 8)
        snprintf(said[n_said++], sizeof *said, "%s", text);
}

UNIT_TEST(notices_count_what_is_changed)
{
    nb_reflection_file file =
        sample_rows("F:F", "1 0 0 9, 1 1 1 -3, 1 1 2 4, -1 -1 2 5", orthorhombic);
    nb_symmetry sg = sample_group(P212121);
    nb_expansion_request request = {.file = &file, .sg = &sg, .name = "a.mtz"};
    nb_hooks hooks = {.notice = take_notice};
    nb_factor_grid grid;
    nb_expansion about;
    n_said = 0;
    request.hooks = &hooks;
    memcpy(request.cell, file.cell, sizeof request.cell);
    nb_columns_choose(&file, "F", "", &request.columns, NULL);
    assert_int_equal(nb_expand(&request, &grid, &about, NULL), NB_OK);
    assert_int_equal(n_said, 3);
    assert_string_equal(
        said[0], "a.mtz: the values of 1 systematically absent reflections are ignored");
    assert_string_equal(said[1], "a.mtz: 1 negative amplitudes count as 0");
    assert_string_equal(
        said[2], "a.mtz: 8 reflections have values that differ by more than 1 % in "
                 "symmetry mates or duplicates; their mean is used");
    nb_factor_grid_free(&grid);
    sample_free(&file);
}

UNIT_TEST(bad_files_are_refused)
{
    static const double none[6] = {0}, flat[6] = {10, 10, 10, 60, 60, 121},
                        zero[6] = {10, 0, 10, 90, 90, 90};
    static const struct {
        const char *rows, *part;
        const double *cell;
        double dmin;
    } cases[] = {
        {"1 0 0 5", "no unit cell: give -cell", none, 0},
        {"1 0 0 5", "no volume", flat, 0},
        {"1 0 0 5", "no volume", zero, 0},
        {"1 0 0 ?, 2 0 0 ?", "column F has no value", orthorhombic, 0},
        {"10001 0 0 5", "reflection 10001 0 0 has an index beyond", orthorhombic, 0},
        {"1 0 -10001 ?", "beyond", orthorhombic, 0},
        {"1 0 0 5", "-dmin", orthorhombic, 25},
        {"10000 10000 10000 5", "-dmin", orthorhombic, 0}};
    nb_symmetry sg = sample_group("x,y,z");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_reflection_file file = sample_rows("F:F", cases[i].rows, cases[i].cell);
        nb_factor_grid grid;
        nb_expansion about;
        nb_error err = {0};
        nb_status st = sample_expand(&file, "", &sg, cases[i].dmin, &grid, &about, &err);
        if (st != NB_ERR_INPUT || !strstr(err.message, cases[i].part))
            fail_msg("'%s': %s", cases[i].rows, err.message);
        assert_null(grid.F);
        sample_free(&file);
    }
}

UNIT_TEST(mates_beyond_the_limit_are_refused)
{
    nb_reflection_file file = sample_rows("F:F", "9000 2000 0 5", cells[5]);
    nb_symmetry sg = sample_group(groups[5]);
    nb_factor_grid grid;
    nb_expansion about;
    nb_error err = {0};
    assert_int_equal(sample_expand(&file, "", &sg, 0, &grid, &about, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-sg"));
    sample_free(&file);
}

/** The limit is -dmin; without -dmin it is the smallest d of the values. The box encloses
 * the sphere of the limit. */
UNIT_TEST(limits_of_resolution)
{
    nb_reflection_file file =
        sample_rows("F:F", "0 0 8 5, 1 0 0 6, 0 3 0 7, 9 0 0 ?, 1 1 1 2", orthorhombic);
    nb_symmetry sg = sample_group(P222);
    nb_factor_grid grid;
    nb_expansion about;
    assert_int_equal(sample_expand(&file, "", &sg, 0, &grid, &about, NULL), NB_OK);
    check_close(about.dmin, 5, 1e-12);
    check_close(about.limit, 5, 1e-12);
    assert_true(grid.H[0] == 4 && grid.H[1] == 6 && grid.H[2] == 8);
    assert_int_equal(about.given, 4);
    assert_int_equal(about.present, 2 + 2 + 2 + 8);
    nb_factor_grid_free(&grid);
    assert_int_equal(sample_expand(&file, "", &sg, 9, &grid, &about, NULL), NB_OK);
    check_close(about.dmin, 5, 1e-12);
    check_close(about.limit, 9, 0);
    assert_true(grid.H[0] == 2 && grid.H[1] == 3 && grid.H[2] == 4);
    assert_int_equal(about.present, 12);
    nb_factor_grid_free(&grid);
    sample_free(&file);
}

UNIT_TEST(failing_allocations)
{
    nb_reflection_file file =
                           sample_rows("F:F P:P", "1 2 3 4 20, 0 0 2 5 0", orthorhombic),
                       rows;
    nb_symmetry sg = sample_group(P212121);
    nb_status st = NB_ERR_NOMEM;
    long n;
    for (n = 1; st; n++) {
        nb_factor_grid grid;
        nb_expansion about;
        nb_error err = {0};
        char *text = NULL;
        size_t size;
        nb_alloc_fail_after(n);
        st = sample_expand(&file, "F,P", &sg, 0, &grid, &about, &err);
        if (st == NB_OK) {
            st = nb_dump_rows(&grid, &rows, &err);
            sample_free(&rows);
        }
        if (st == NB_OK)
            st = nb_dump_text(&grid, &text, &size, &err);
        nb_alloc_fail_after(0);
        assert_true(st == NB_OK || (st == NB_ERR_NOMEM && strstr(err.message, "memory")));
        nb_free(text);
        nb_factor_grid_free(&grid);
    }
    assert_in_range(n, 10, 40);
    sample_free(&file);
}
