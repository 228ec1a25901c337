/* SPDX-License-Identifier: MIT */
/* Check sizes in the header of an MTZ file before gemmi uses them; complete the group,
 * and find repeated indices. Source: CCP4, "MTZ format". */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "structure_parts.h"

enum { INDICES = 3, RECORD = 80, MAX_COUNT = 10000 };

static uint64_t word(const char *p, int bytes, int is_big)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)p[is_big ? bytes - 1 - i : i] << 8 * i;
    return value;
}

typedef struct {
    const char *file;
    nb_reflection_file *out;
    int64_t values; /* number of values before the header */
    int has_size;
} mtz_header;

/* Offset of the first record of the header, bytes; 0 if it lies outside the file. */
static size_t header_start(const char *data, size_t n)
{
    const int is_big = (data[9] & 0xf0) == 0x10;
    int64_t first = (int32_t)word(data + 4, 4, is_big);
    if (first == -1)
        first = (int64_t)word(data + 12, 8, is_big);
    return first < 21 || (uint64_t)first > n / 4 ? 0 : 4 * (size_t)(first - 1);
}

static int is_record(const char *record, const char *name)
{
    return !strncasecmp(record, name, strlen(name));
}

/* Check a record of the header; gemmi allocates memory from NCOL, SYMI and NDIF. */
static nb_status check_record(mtz_header *h, const char *record, nb_error *err)
{
    nb_symmetry *sg = &h->out->symmetry;
    char line[RECORD + 1] = "", *p = line;
    long long n[3];
    int good = 1;
    memcpy(line, record, RECORD);
    p += strcspn(line, " \t\n\v\f\r");
    for (int i = 0; i < 3; i++)
        n[i] = strtoll(p, &p, 10);
    if (is_record(line, "NCOL")) {
        good = n[0] >= INDICES && n[1] > 0 && n[1] <= h->values / n[0] && n[2] >= 0;
        h->has_size = 1;
        h->out->is_unmerged |= n[2] > 0;
    } else if (is_record(line, "SYMI") || is_record(line, "NDIF"))
        good = n[0] >= 0 && n[0] <= MAX_COUNT;
    else if (is_record(line, "SYMM"))
        good = sg->count < NB_SYMOPS_MAX &&
               nb_symop_parse(line + 5, RECORD - 5, &sg->ops[sg->count++]);
    if (good)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, h->file, 0,
                      "MTZ header: the record %.4s does not fit: the file is damaged, "
                      "cut short or empty",
                      line);
}

nb_status nb_mtz_check(const char *data, size_t *size, const char *name,
                       nb_reflection_file *out, nb_error *err)
{
    const size_t start = *size < 20 ? 0 : header_start(data, *size);
    mtz_header h = {name, out, ((int64_t)start - RECORD) / 4, 0};
    nb_status st = NB_OK;
    if (!start)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the MTZ file is cut short: its header lies beyond its end");
    for (size_t at = start; at + RECORD <= *size && !st; at += RECORD) {
        if (is_record(data + at, "END")) {
            *size = at + RECORD;
            if (h.has_size)
                return NB_OK;
            break;
        }
        st = check_record(&h, data + at, err);
    }
    if (st)
        return st;
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "the MTZ file is cut short: its header has no %s",
                      h.has_size ? "END" : "NCOL");
}

nb_status nb_mtz_symmetry(const char *symbol, const char *name, nb_reflection_file *out,
                          nb_error *err)
{
    nb_symmetry *sg = &out->symmetry;
    nb_status st;
    if (!sg->count)
        return symbol[0] ? nb_symmetry_of_file(symbol, 0, out->cell, name, sg, err)
                         : NB_OK;
    NB_FORWARD(nb_symmetry_complete(sg, name, err));
    nb_symmetry_give_name(sg);
    return NB_OK;
}

static int by_index(const void *a, const void *b)
{
    const int *x = a, *y = b;
    for (int i = 0; i < INDICES; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Set *found to 1 if an index repeats. */
static nb_status find_repeats(const nb_reflection_file *file, int *found, nb_error *err)
{
    int(*sorted)[INDICES] = nb_alloc_raw(file->count, sizeof *sorted, "indices", err);
    *found = 0;
    NB_NEED(sorted);
    memcpy(sorted, file->hkl, file->count * sizeof *sorted);
    qsort(sorted, file->count, sizeof *sorted, by_index);
    for (size_t i = 1; i < file->count && !*found; i++)
        *found = !by_index(sorted[i - 1], sorted[i]);
    nb_free(sorted);
    return NB_OK;
}

static nb_status fill_indices(const float *table, const char *name,
                              nb_reflection_file *out, nb_error *err)
{
    const size_t width = (size_t)out->n_columns;
    for (int i = 0; i < INDICES; i++)
        if (i >= out->n_columns || out->columns[i].type != 'H')
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "the first three columns are not H, K and L");
    NB_NEED(out->hkl = nb_alloc_raw(out->count, sizeof *out->hkl, "indices", err));
    for (size_t row = 0; row < out->count; row++)
        for (int i = 0; i < INDICES; i++) {
            const float x = table[row * width + (size_t)i];
            if (!(fabsf(x) <= NB_INDEX_MAX) || x != rintf(x))
                return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                                  "reflection %zu: %g is no index (at most %d)", row + 1,
                                  (double)x, NB_INDEX_MAX);
            out->hkl[row][i] = (int)x;
        }
    return NB_OK;
}

/* True for a column that is typical of unmerged files. */
static int marks_unmerged(const nb_column *column)
{
    return !strcmp(column->label, "BATCH") || !strcmp(column->label, "M/ISYM") ||
           column->type == 'B' || column->type == 'Y';
}

nb_status nb_mtz_fill(const float *table, float missing, const char *name,
                      nb_reflection_file *out, nb_error *err)
{
    const size_t width = (size_t)out->n_columns;
    int marked = 0;
    nb_status st;
    NB_FORWARD(fill_indices(table, name, out, err));
    for (int i = 0; i < out->n_columns; i++)
        marked |= marks_unmerged(&out->columns[i]);
    if (marked)
        NB_FORWARD(find_repeats(out, &out->is_unmerged, err));
    out->n_columns -= INDICES;
    memmove(out->columns, out->columns + INDICES,
            (size_t)out->n_columns * sizeof *out->columns);
    for (int i = 0; i < out->n_columns; i++) {
        nb_column *c = &out->columns[i];
        c->wavelength = c->wavelength > 0 && c->wavelength < 1e3 ? c->wavelength : 0;
        out->wavelength = out->wavelength > 0 ? out->wavelength : c->wavelength;
        NB_NEED(c->value = nb_alloc_raw(out->count, sizeof *c->value, "a column", err));
        for (size_t row = 0; row < out->count; row++) {
            const float x = table[row * width + INDICES + (size_t)i];
            c->value[row] = x == missing ? NAN : x;
        }
    }
    return NB_OK;
}
