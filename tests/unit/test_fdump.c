/* SPDX-License-Identifier: MIT */
/* The cache of structure factors: reads and writes the bytes of nanoBragg's format. */
#include "../support/check.h"

#include "../../src/base/error.h"
#include "../../src/base/memory.h"
#include "../../src/io/table/factor_file.h"
#include "../support/parse.h"

typedef struct sink_buffer {
    unsigned char bytes[4096];
    size_t used;
    int calls, fail_at; /* number of the call that fails; 0: all calls succeed */
} sink_buffer;

static nb_status sink(void *user, const void *data, size_t bytes, nb_error *err)
{
    sink_buffer *b = user;
    if (++b->calls == b->fail_at)
        return nb_fail(err, NB_ERR_IO, "disk full");
    assert_true(b->used + bytes <= sizeof b->bytes);
    memcpy(b->bytes + b->used, data, bytes);
    b->used += bytes;
    return NB_OK;
}

/* 2 x 1 x 3 reflections, and the same table with the zero planes written out. */
static double box[] = {1, 2, 3, 4, 5, 6};
static const nb_factor_file table = {-1, 0, 4, 4, -2, 0, 6, box};
static const char header[] = "-1 0 4 4 -2 0\n\f";
static const double padded[3 * 2 * 4] = {1, 2, 3, 0, 0, 0, 0, 0, 4, 5, 6};

UNIT_TEST(written_bytes)
{
    sink_buffer b = {.used = 0};
    char text[NB_FDUMP_HEADER];
    assert_int_equal(nb_fdump_header(&table, text), sizeof header - 1);
    assert_string_equal(text, header);
    assert_int_equal(nb_fdump_write(&table, sink, &b, NULL), NB_OK);
    assert_int_equal(b.used, sizeof header - 1 + sizeof padded);
    assert_memory_equal(b.bytes, header, sizeof header - 1);
    assert_memory_equal(b.bytes + sizeof header - 1, padded, sizeof padded);
}

UNIT_TEST(read_back)
{
    sink_buffer b = {.used = 0};
    nb_factor_file t;
    nb_error err;
    assert_int_equal(nb_fdump_write(&table, sink, &b, NULL), NB_OK);
    assert_int_equal(nb_fdump_parse(b.bytes, b.used, "d", &t, &err), NB_OK);
    assert_int_equal(t.hmin, -1), assert_int_equal(t.hmax, 0);
    assert_int_equal(t.kmin, 4), assert_int_equal(t.kmax, 4);
    assert_int_equal(t.lmin, -2), assert_int_equal(t.lmax, 0);
    assert_int_equal(t.reflections, 6);
    assert_memory_equal(t.F, box, sizeof box);
    nb_factor_file_free(&t);
    for (size_t cut = 0; cut < b.used; cut++) {
        assert_int_equal(nb_fdump_parse(b.bytes, cut, "d", &t, &err), NB_ERR_INPUT);
        assert_null(t.F);
    }
    assert_int_equal(nb_fdump_parse(b.bytes, b.used + 1, "d", &t, &err), NB_ERR_INPUT);
}

/* nanoBragg's reader skipped white space after the header, which shifted such a table. */
UNIT_TEST(white_space_in_the_first_value)
{
    static const unsigned char white[8] = {' ', '\n', '\f', '\r', '\t', ' ', 0xb0, 0x3f};
    unsigned char bytes[13 + 64] = "0 0 0 0 0 0\n\f";
    double value;
    nb_factor_file t;
    memcpy(&value, white, sizeof value);
    memcpy(bytes + 13, white, sizeof white);
    assert_int_equal(nb_fdump_parse(bytes, sizeof bytes, "d", &t, NULL), NB_OK);
    assert_true(t.F[0] == value);
    nb_factor_file_free(&t);
}

UNIT_TEST(bad_values_and_headers)
{
    static const char *const bad[] = {"0 0 0 0 0 0\n",
                                      "0 0 0 0 0\n\f",
                                      "0 0 0 0 0 0 \n\f",
                                      "1 0 0 0 0 0\n\f",
                                      "-20000 0 0 0 0 0\n\f",
                                      "0 1e300 0 0 0 0\n\f",
                                      "a b c d e f\n\f",
                                      "000000\n\f",
                                      "-9999 9999 -9999 9999 -9999 9999\n\f"};
    char bytes[128];
    double nan = NAN;
    nb_factor_file t;
    nb_error err;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes, bad[i], strlen(bad[i]));
        assert_int_equal(nb_fdump_parse(bytes, strlen(bad[i]) + 64, "dump", &t, &err),
                         NB_ERR_INPUT);
        assert_string_equal(err.file, "dump");
        assert_null(t.F);
    }
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "0 0 0 0 0 0\n\f", 13);
    assert_int_equal(nb_fdump_parse(bytes, 13 + 64, "dump", &t, &err), NB_OK);
    nb_factor_file_free(&t);
    memcpy(bytes + 13, &nan, sizeof nan);
    assert_int_equal(nb_fdump_parse(bytes, 13 + 64, "dump", &t, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "not finite"));
    assert_null(t.F);
}

UNIT_TEST(failures_are_passed_on)
{
    nb_factor_file t;
    nb_error err = {0};
    char bytes[13 + 64] = "0 0 0 0 0 0\n\f";
    for (int call = 1; call <= 4; call++) {
        sink_buffer b = {.fail_at = call};
        assert_int_equal(nb_fdump_write(&table, sink, &b, &err), NB_ERR_IO);
        assert_int_equal(b.calls, call);
    }
    nb_alloc_fail_after(1);
    assert_int_equal(nb_fdump_write(&table, sink, NULL, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(1);
    assert_int_equal(nb_fdump_parse(bytes, sizeof bytes, "d", &t, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
    assert_int_equal(err.code, NB_ERR_NOMEM);
    assert_null(t.F);
}
