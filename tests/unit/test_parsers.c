/* SPDX-License-Identifier: MIT */
/* Numbers in text, structure factors as text, orientation matrices, source lists. */
#include <float.h>

#include "../support/check.h"
#include "../support/comma.h"

#include "../../src/base/memory.h"
#include "../../src/io/table/hkl.h"
#include "../../src/io/table/arrays.h"
#include "../../src/io/table/sources.h"
#include "../../src/base/text.h"
#include "../support/parse.h"

/* --- numbers --- */

static void check_as_strtod(const char *text)
{
    const char *end = text + strlen(text);
    double ours = -1, theirs = strtod(text, NULL);
    const char *after = nb_text_double(text, end, &ours);
    if (!isfinite(theirs)) {
        assert_null(after);
        return;
    }
    assert_ptr_equal(after, end);
    if (memcmp(&ours, &theirs, sizeof ours) != 0)
        fail_msg("'%s' read as %.17g, not %.17g", text, ours, theirs);
}

UNIT_TEST(doubles_are_exact)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "+1",
        "1.",
        ".5",
        "-.5e-3",
        "87.03",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "9007199254740992",
        "9007199254740993",
        "9007199254740993e0",
        "12345678901234567890",
        "0.1",
        "2.2250738585072011e-308",
        "4.9406564584124654e-324",
        "2e-324",
        "1e-400",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e309",
        "1E+5",
        "00000000000001",
        "0.000000000000000000000000000000123",
        "100000000000000000000000000000000",
        "6.02214076e23",
        "0.500000000000000166533453693773481063544750213623046875"};
    uint64_t x = 88172645463325252u;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_as_strtod(texts[i]);
    for (int i = 0; i < 30000; i++) {
        char text[64];
        double v;
        x ^= x << 13, x ^= x >> 7, x ^= x << 17; /* xorshift64 */
        memcpy(&v, &x, sizeof v);
        if (isfinite(v)) {
            snprintf(text, sizeof text, "%.*g", 1 + (int)(x % 20), v);
            check_as_strtod(text);
        }
        snprintf(text, sizeof text, "%llu.%0*llue%d", (unsigned long long)(x >> (x % 60)),
                 (int)(x % 9) + 1, (unsigned long long)(x % 1000), (int)(x % 60) - 30);
        check_as_strtod(text);
    }
}

UNIT_TEST(other_texts_are_no_numbers)
{
    static const char *const none[] = {"",   "+",   "-",   ".", "-.",
                                       "e5", "nan", "inf", "x", " 1"};
    static const struct {
        const char *text;
        int used;
    } part[] = {{"1e", 1},  {"1e+", 1}, {"0x10", 1}, {"1.5A", 3},
                {"1-2", 1}, {"3 4", 1}, {"1,5", 1}};
    char digits[1200];
    double v;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_null(nb_text_double(none[i], none[i] + strlen(none[i]), &v));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        assert_ptr_equal(
            nb_text_double(part[i].text, part[i].text + strlen(part[i].text), &v),
            part[i].text + part[i].used);
    memset(digits, '1', sizeof digits);
    assert_null(nb_text_double(digits, digits + sizeof digits, &v));
    assert_true(nb_text_number("  1.5 ", &v) && v == 1.5);
    assert_false(nb_text_number("1.5 mm", &v));
    assert_false(nb_text_number("", &v));
}

UNIT_TEST(integers)
{
    static const struct {
        const char *text;
        int value;
    } good[] = {{"0", 0},
                {"-17", -17},
                {"+3", 3},
                {"1.0", 1},
                {"-2.000", -2},
                {"1e3", 1000},
                {"2147483647", 2147483647},
                {"-2147483647", -2147483647},
                {"0000000000000007", 7}};
    static const char *const bad[] = {
        "1.5",  "2147483648", "6442450944", "99999999999999999999",
        "1e10", "x",          "-",          "1e-1"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int v = 12345;
        const char *end = good[i].text + strlen(good[i].text);
        assert_ptr_equal(nb_text_int(good[i].text, end, &v), end);
        assert_int_equal(v, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int v = 12345;
        assert_null(nb_text_int(bad[i], bad[i] + strlen(bad[i]), &v));
        assert_int_equal(v, 12345);
    }
}

UNIT_TEST(formatting_reads_back)
{
    static const double values[] = {0.1,     1.0 / 3, 123.457,
                                    -1e-300, DBL_MAX, DBL_MIN,
                                    5e-324,  100,     0.97934999999999994};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[NB_TEXT_NUMBER];
        nb_text_format(values[i], text);
        assert_true(strtod(text, NULL) == values[i]);
    }
    char text[NB_TEXT_NUMBER];
    nb_text_format(0.1, text);
    assert_string_equal(text, "0.1");
}

UNIT_TEST(locale_with_decimal_comma)
{
    char text[NB_TEXT_NUMBER];
    double v = 0;
    if (!nb_set_comma_locale())
        skip_because("localedef could not make a locale with a decimal comma");
    assert_true(nb_text_number("0.12345678901234567", &v) && v == 0.12345678901234567);
    nb_text_format(1.5, text);
    nb_unset_comma_locale();
    assert_string_equal(text, "1.5");
}

/* --- structure factors --- */

static nb_status parse_hkl(const char *text, double default_F, nb_factor_file *t,
                           nb_error *err)
{
    memset(err, 0, sizeof *err);
    return nb_hkl_parse(text, strlen(text), "a.hkl", default_F, t, err);
}

static double F_of(const nb_factor_file *t, int h, int k, int l)
{
    int nk = t->kmax - t->kmin + 1, nl = t->lmax - t->lmin + 1;
    return t->F[((h - t->hmin) * nk + (k - t->kmin)) * nl + (l - t->lmin)];
}

UNIT_TEST(hkl_variants)
{
    nb_factor_file t;
    nb_error err;
    assert_int_equal(
        parse_hkl("# c\r\n\r\n 1 2 3 4.5 0.1 # t\r\n! c\n-1 -2.0 -3 -1e2 .5 180\n"
                  "1 2 3 5!again\n\n0 0 0 7",
                  2.5, &t, &err),
        NB_OK);
    assert_int_equal(t.hmin, -1), assert_int_equal(t.hmax, 1);
    assert_int_equal(t.kmin, -2), assert_int_equal(t.kmax, 2);
    assert_int_equal(t.lmin, -3), assert_int_equal(t.lmax, 3);
    assert_int_equal(t.reflections, 4);
    assert_int_equal(nb_factor_file_voxels(&t), 3 * 5 * 7);
    assert_true(F_of(&t, 1, 2, 3) == 5 && F_of(&t, -1, -2, -3) == -100);
    assert_true(F_of(&t, 0, 0, 0) == 7 && F_of(&t, 0, 0, 1) == 2.5);
    assert_true(t.F[0] == -100 && t.F[104] == 5 && t.F[1] == 2.5);
    nb_factor_file_free(&t);
    assert_null(t.F);
    nb_factor_file_free(NULL);
}

UNIT_TEST(hkl_errors_name_the_line)
{
    static const struct {
        const char *text;
        long line;
        const char *says;
    } bad[] = {{"", 0, "no reflections"},
               {"# only\n", 0, "no reflections"},
               {"h k l F\n", 1, "'h'"},
               {"0 0 0 1\n\n1.5 0 0 2\n", 3, "'1.5' is not a whole number"},
               {"0 0 0 1\n0 0 1\n", 2, "the line needs"},
               {"0 0 0 # 5\n", 1, "the line needs"},
               {"0 0 0 nan\n", 1, "'nan'"},
               {"0 0 0 1e999", 1, "'1e999'"},
               {"0 0 0 1 2 3 4\n", 1, "more than 6"},
               {"0 0 0 12abc\n", 1, "'12abc'"},
               {"0 0 0 1\r\n0 0 20000 1\r\n", 2, "20000"},
               {"1,2,3,4\n", 1, "'1,2,3,4'"},
               {"1 0 0 9 1\n0 0 0 0.00 0.00\n", 0, "SHELX"},
               {"1 0 0 9 1 1\n0 0 0 0 0 0\n_cell 5\n", 0, "SHELX"},
               {"-9999 -9999 -9999 1\n9999 9999 9999 1\n", 0, "table"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_factor_file t;
        nb_error err;
        assert_int_equal(parse_hkl(bad[i].text, 0, &t, &err), NB_ERR_INPUT);
        assert_int_equal(err.line, bad[i].line);
        assert_string_equal(err.file, "a.hkl");
        assert_non_null(strstr(err.message, bad[i].says));
        assert_null(t.F);
    }
}

static char *read_file(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *data;
    if (!f)
        fail_msg("%s cannot be opened (run from the repository's root)", path);
    data = malloc(4 << 20);
    assert_non_null(data);
    *n = fread(data, 1, 4 << 20, f);
    fclose(f);
    return data;
}

/* Compares the list of lysozyme, line by line, with numbers read by the C library. */
UNIT_TEST(hkl_lysozyme)
{
    size_t n;
    char *data = read_file("golden_data/lysozyme_P1.hkl", &n), *p = data;
    nb_factor_file t;
    int64_t lines = 0, filled = 0;
    assert_int_equal(nb_hkl_parse(data, n, "lysozyme", -7, &t, NULL), NB_OK);
    while (p < data + n) {
        int h = (int)strtol(p, &p, 10), k = (int)strtol(p, &p, 10),
            l = (int)strtol(p, &p, 10);
        assert_true(F_of(&t, h, k, l) == strtod(p, &p));
        lines++;
        while (p < data + n && *p++ != '\n')
            ;
    }
    for (int64_t i = 0; i < nb_factor_file_voxels(&t); i++)
        filled += t.F[i] != -7;
    assert_int_equal(lines, 124040);
    assert_int_equal(t.reflections, lines);
    assert_int_equal(filled, lines);
    nb_factor_file_free(&t);
    free(data);
}

UNIT_TEST(hkl_without_memory)
{
    nb_status status = NB_ERR_NOMEM;
    int tries = 0;
    while (status != NB_OK && tries < 10) {
        nb_factor_file t;
        nb_error err;
        nb_alloc_fail_after(++tries);
        status = parse_hkl("0 0 0 1\n1 1 1 2\n", 0, &t, &err);
        nb_alloc_fail_after(0);
        if (status != NB_OK) {
            assert_int_equal(status, NB_ERR_NOMEM);
            assert_int_equal(err.code, NB_ERR_NOMEM);
            assert_null(t.F);
        }
        nb_factor_file_free(&t);
    }
    assert_int_equal(tries, 3); /* the allocations of list and table fail first */
}

/* --- matrix --- */

UNIT_TEST(matrix_rows_and_rest)
{
    static const char text[] = " 0.0117 -0.0012  0.0008\r\n 0.0021  0.0109 -0.0019\n\n"
                               "-0.0013 2.7e-3 0.0101\n 0.0 0.0 0.0\nSYMM P1\n";
    static const double expected[9] = {0.0117,  -0.0012, 0.0008, 0.0021, 0.0109,
                                       -0.0019, -0.0013, 2.7e-3, 0.0101};
    double m[9];
    assert_int_equal(nb_matrix_parse(text, sizeof text - 1, "a.mat", m, NULL), NB_OK);
    assert_memory_equal(m, expected, sizeof m);
    assert_int_equal(nb_matrix_parse("1 0 0 0 1 0 0 0 1", 17, "a.mat", m, NULL), NB_OK);
}

UNIT_TEST(matrix_errors)
{
    static const struct {
        const char *text;
        long line;
        const char *says;
    } bad[] = {{"", 1, "0 numbers"},
               {"1 0 0\n0 1 0\n0 0\n", 4, "8 numbers"},
               {"1 0 0\n0 x 0\n0 0 1\n", 2, "'x'"},
               {"1 0 0\n0 1 0\n0 0 nan\n", 3, "'nan'"},
               {"1 0 0 0 1 0 0 0 1e999", 1, "'1e999'"},
               {"1 2 3\n2 4 6\n0 0 1\n", 0, "singular"},
               {"0 0 0 0 0 0 0 0 0", 0, "singular"},
               {"1 0 0 1 0 0 1 0 0", 0, "singular"},
               {"1,0,0 0 1 0 0 0 1", 1, "'1,0,0'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double m[9] = {42};
        nb_error err = {0};
        assert_int_equal(
            nb_matrix_parse(bad[i].text, strlen(bad[i].text), "a.mat", m, &err),
            NB_ERR_INPUT);
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.message, bad[i].says));
        assert_true(m[0] == 42);
    }
}

/* --- sources --- */

static const nb_source_defaults along_x = {{-10, 0.5, 0.25}, 1.5e-10};

UNIT_TEST(source_columns)
{
    static const char text[] =
        "# X Y Z I lambda\r\n-10,0;0.01:2!1e-10\r\n\n , \n-9 1 2 0.5\n"
        "\t-8 3\n-7 0 0 1 1e-10 a sixth column # c\n-6 # only x\r\n-5";
    static const nb_source_line expected[] = {
        {-10, 0, 0.01, 2, 1e-10},    {-9, 1, 2, 0.5, 1.5e-10},
        {-8, 3, 0.25, 1, 1.5e-10},   {-7, 0, 0, 1, 1e-10},
        {-6, 0.5, 0.25, 1, 1.5e-10}, {-5, 0.5, 0.25, 1, 1.5e-10}};
    nb_source_list list;
    assert_int_equal(nb_sources_parse(text, sizeof text - 1, "s", &along_x, &list, NULL),
                     NB_OK);
    assert_int_equal(list.count, 6);
    assert_memory_equal(list.rows, expected, sizeof expected);
    nb_source_list_free(&list);
    nb_source_list_free(NULL);
}

UNIT_TEST(source_errors)
{
    static const struct {
        const char *text;
        long line;
        const char *says;
    } bad[] = {{"", 0, "no source"},
               {"# c\n\n", 2, "no source"},
               {"-1 0 0\n0 0 0\n", 2, "direction"},
               {"-1 0 0 1 0\n", 1, "wavelength"},
               {"-1 0 0 1 -1e-10", 1, "wavelength"},
               {"-1 0 0 1 1.0\n", 1, "metres"},
               {"-1 0 0 -1\n", 1, "negative"},
               {"-1 0 0 inf\n", 1, "'inf'"},
               {"-1 0 zero\n", 1, "'zero'"},
               {"-1 0 0 0\n-1 0 1 0\n", 2, "add up to 0"},
               {"-1 0 0 1.7e308\n-1 0 0 1.7e308", 2, "add up to inf"},
               {"-1 0 0 1e308\n-1 0 0 1", 2, "add up to 1e+308"},
               {"1e300 0 0\n", 1, "direction"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_source_list list;
        nb_error err = {0};
        assert_int_equal(nb_sources_parse(bad[i].text, strlen(bad[i].text), "s.txt",
                                          &along_x, &list, &err),
                         NB_ERR_INPUT);
        assert_int_equal(err.line, bad[i].line);
        assert_non_null(strstr(err.message, bad[i].says));
        assert_null(list.rows);
    }
}

UNIT_TEST(sources_without_memory)
{
    nb_source_list list;
    nb_error err = {0};
    nb_alloc_fail_after(1);
    assert_int_equal(nb_sources_parse("-1 0 0\n", 7, "s", &along_x, &list, &err),
                     NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
    assert_int_equal(err.code, NB_ERR_NOMEM);
    assert_null(list.rows);
}
