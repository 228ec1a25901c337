/* SPDX-License-Identifier: MIT */
/* The sizes in the header of an MTZ file, before anything believes them.
 * Source: CCP4, "MTZ format". */
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "structure_parts.h"

enum { RECORD = 80, COLUMNS_MOST = 10000, DATASETS_MOST = 10000 };

typedef struct {
    const char *file;
    nb_symmetry *symmetry;
    int columns, has_size, unmerged, marked, says_merged;
    int64_t size[3]; /* NCOL: columns, reflections, batches */
} mtz_header;

static uint64_t word(const char *p, int bytes, int is_big)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)p[is_big ? bytes - 1 - i : i] << 8 * i;
    return value;
}

/* Byte of the first record of the header; 0 if it is not in the file. */
static size_t header_start(const char *data, size_t n)
{
    const int is_big = (data[9] & 0xf0) == 0x10;
    int64_t first = (int32_t)word(data + 4, 4, is_big);
    if (first == -1)
        first = (int64_t)word(data + 12, 8, is_big);
    if (first < 21 || (uint64_t)first > n / 4)
        return 0;
    return 4 * (size_t)(first - 1);
}

static int is_record(const char *p, const char *name)
{
    for (size_t i = 0; name[i]; i++)
        if ((p[i] >= 'a' && p[i] <= 'z' ? p[i] - 32 : p[i]) != name[i])
            return 0;
    return 1;
}

/* The first numbers behind a record's name; how many there are. */
static int whole_numbers(const char *record, int64_t *out, int most)
{
    const char *p = record, *end = record + RECORD;
    int count = 0;
    while (p < end && *p != ' ')
        p++;
    while (count < most) {
        int value;
        const char *stop;
        while (p < end && nb_text_blank(*p))
            p++;
        stop = nb_text_int(p, end, &value);
        if (!stop)
            break;
        out[count++] = value;
        p = stop;
    }
    return count;
}

static nb_status bad_record(const mtz_header *h, const char *record, const char *why,
                            nb_error *err)
{
    char shown[41];
    int n = 0;
    for (; n < 40 && record[n] >= ' ' && record[n] < 127; n++)
        shown[n] = record[n];
    while (n && shown[n - 1] == ' ')
        n--;
    shown[n] = '\0';
    return nb_fail_at(err, NB_ERR_INPUT, h->file, 0, "MTZ header: %s (%s)", why, shown);
}

static nb_status take_symop(mtz_header *h, const char *record, nb_error *err)
{
    nb_symmetry *sg = h->symmetry;
    if (sg->count >= NB_SYMOPS_MOST)
        return bad_record(h, record, "too many symmetry operators", err);
    if (!nb_symop_parse(record + 5, RECORD - 5, &sg->ops[sg->count++]))
        return bad_record(h, record, "this is no symmetry operator", err);
    return NB_OK;
}

static nb_status take_size(mtz_header *h, const char *record, nb_error *err)
{
    const int count = whole_numbers(record, h->size, 3);
    if (h->has_size || count < 2 || h->size[0] < 3 || h->size[0] > COLUMNS_MOST ||
        h->size[1] < 0 || h->size[2] < 0)
        return bad_record(h, record, "bad numbers of columns and reflections", err);
    h->has_size = 1;
    h->says_merged = count == 3 && h->size[2] == 0;
    h->unmerged |= h->size[2] > 0;
    return NB_OK;
}

/** What marks a column of a file that is not merged. */
static int marks_unmerged(const char *label, size_t size, char type)
{
    return (size == 5 && !memcmp(label, "BATCH", 5)) ||
           (size == 6 && !memcmp(label, "M/ISYM", 6)) || type == 'B' || type == 'Y';
}

nb_status nb_mtz_refuse_unmerged(const nb_reflection_file *file, nb_error *err)
{
    for (int i = 0; i < file->n_columns; i++) {
        const nb_column *c = &file->columns[i];
        if (marks_unmerged(c->label, strlen(c->label), c->type))
            return nb_fail(
                err, NB_ERR_INPUT,
                "MTZ: the column %s of type %c marks a file that is not merged", c->label,
                c->type);
    }
    return NB_OK;
}

/* COLUMN label type ... */
static void take_column(mtz_header *h, const char *record)
{
    const char *p = record, *end = record + RECORD, *label;
    size_t size;
    while (p < end && *p != ' ')
        p++;
    while (p < end && *p == ' ')
        p++;
    label = p;
    while (p < end && *p != ' ')
        p++;
    size = (size_t)(p - label);
    while (p < end && *p == ' ')
        p++;
    h->marked |= marks_unmerged(label, size, p < end ? *p : ' ');
    h->columns++;
}

static nb_status take_record(mtz_header *h, const char *record, nb_error *err)
{
    int64_t number;
    if (is_record(record, "NCOL"))
        return take_size(h, record, err);
    if (is_record(record, "SYMM"))
        return take_symop(h, record, err);
    if (is_record(record, "COLU"))
        take_column(h, record);
    if (is_record(record, "SYMI") &&
        (whole_numbers(record, &number, 1) < 1 || number < 0 || number > NB_SYMOPS_MOST))
        return bad_record(h, record, "a bad number of operators", err);
    if (is_record(record, "NDIF") &&
        (whole_numbers(record, &number, 1) < 1 || number < 0 || number > DATASETS_MOST))
        return bad_record(h, record, "a bad number of datasets", err);
    return NB_OK;
}

nb_status nb_mtz_check(const char *data, size_t *size, const char *name, int *unmerged,
                       nb_symmetry *out, nb_error *err)
{
    const size_t n = *size;
    mtz_header h = {.file = name, .symmetry = out};
    size_t start, at;
    nb_status status = NB_OK;
    if (n < 2 * RECORD || memcmp(data, "MTZ ", 4))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "this is no MTZ file, or cut short");
    start = at = header_start(data, n);
    if (!start)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the MTZ file is cut short: its header lies beyond its end");
    for (;; at += RECORD) {
        if (n < RECORD || at > n - RECORD)
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "the MTZ file is cut short: its header has no END");
        if (is_record(data + at, "END") && (data[at + 3] == ' ' || !data[at + 3]))
            break;
        if ((status = take_record(&h, data + at, err)))
            return status;
    }
    *unmerged = h.unmerged || (h.marked && !h.says_merged) ? 1 : h.marked ? -1 : 0;
    *size = at + RECORD;
    if (!h.has_size || h.columns != h.size[0])
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "MTZ header: %d columns are named, NCOL has %d", h.columns,
                          (int)h.size[0]);
    if (!h.size[1]) /* gemmi would copy no bytes to nowhere */
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "no reflection");
    if (RECORD + 4 * (uint64_t)h.size[0] * (uint64_t)h.size[1] > start)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the MTZ file is shorter than its header says (%d reflections)",
                          (int)h.size[1]);
    return NB_OK;
}
