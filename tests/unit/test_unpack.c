/* SPDX-License-Identifier: MIT */
/* Packed files give the bytes that were packed, or an error in one line. */
#include "scratch.h"

#include "../../src/base/memory.h"
#include "../../src/base/outfile.h"
#include "../../src/base/unpack.h"

/** A file of the fuzzer's corpus or of the golden data; the caller frees it. */
static char *packed(const char *name, size_t *bytes)
{
    char path[512];
    const char *source = getenv("NB_SOURCE");
    snprintf(path, sizeof path, "%s/%s", source ? source : ".", name);
    return scratch_read(path, bytes);
}

static nb_status unpacked(const char *data, size_t n, size_t limit, size_t *bytes,
                          nb_error *err)
{
    char *text;
    const nb_status st = nb_unpack(data, n, "a", limit, &text, bytes, err);
    assert_true(!st == (text != NULL) || (!st && !nb_is_packed(data, n)));
    nb_free(text);
    return st;
}

/** Checks a stream, also cut at many places, damaged, and larger than the limit. */
static void check_stream(const char *name, const char *kind, size_t size)
{
    size_t n, bytes;
    char *data = packed(name, &n), words[64];
    nb_error err = {0};
    const nb_status st = unpacked(data, n, 0, &bytes, &err);
    if (st == NB_ERR_UNSUPPORTED)
        skip_because(err.message);
    assert_int_equal(st, NB_OK);
    assert_int_equal(bytes, size);
    assert_int_equal(unpacked(data, n, size, &bytes, &err), NB_OK);
    assert_int_equal(unpacked(data, n, size - 1, &bytes, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "larger than"));
    snprintf(words, sizeof words, "a: the %s stream is cut short", kind);
    for (size_t cut = 4; cut < n; cut += 1 + n / 50) {
        assert_int_equal(unpacked(data, cut, 0, &bytes, &err), NB_ERR_INPUT);
        assert_non_null(strstr(err.message, words));
    }
    data[n / 2] ^= 0x55;
    assert_int_equal(unpacked(data, n, 0, &bytes, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
    free(data);
}

UNIT_TEST(gzip)
{
    check_stream("golden_data/structure_factors/models/1pfe.cif.gz", "gzip", 110536);
}

UNIT_TEST(bzip2)
{
    check_stream("tests/fuzz/corpus/unpack/good_pdb.bz2", "bzip2", 150);
}

UNIT_TEST(other_bytes)
{
    static const char *const plain[] = {"",    "A",          "ATOM",          "\x1f",
                                        "BZh", "BZh0xxxxxx", "BZh9 is a name"};
    size_t bytes;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        assert_false(nb_is_packed(plain[i], strlen(plain[i])));
        assert_int_equal(unpacked(plain[i], strlen(plain[i]), 0, &bytes, NULL), NB_OK);
    }
}

/* A file of 112 bytes would become 128 MB. */
SCRATCH_TEST(bombs)
{
    scratch *s = *state;
    size_t n, bytes;
    char *data = packed("tests/fuzz/corpus/unpack/bad_bomb.bz2", &n), *text;
    nb_error err = {0};
    nb_status st;
    assert_int_equal(nb_outfile_put(scratch_path(s, "a"), data, n, &err), NB_OK);
    free(data);
    st = nb_read_file(s->path, "-mat", 1 << 20, &text, &bytes, &err);
    if (st == NB_ERR_UNSUPPORTED)
        skip_because(err.message);
    assert_int_equal(st, NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "larger than 1048576 bytes unpacked"));
    assert_null(text);
}

/* A packed file. */
SCRATCH_TEST(files)
{
    scratch *s = *state;
    size_t n, bytes;
    char *data = packed("tests/fuzz/corpus/unpack/good_pdb.gz", &n), *text;
    nb_error err = {0};
    assert_int_equal(nb_outfile_put(scratch_path(s, "a"), data, n, &err), NB_OK);
    free(data);
    assert_int_equal(nb_read_file(s->path, "-pdb", 0, &text, &bytes, &err), NB_OK);
    assert_memory_equal(text, "CRYS", 4);
    assert_int_equal(text[bytes], 0);
    nb_free(text);
}
