/* SPDX-License-Identifier: MIT */
/* The fixed columns of a PDB file: checked here, read by gemmi. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "structure_parts.h"

enum {
    KEPT = 78,          /* columns; the charge behind them is not used */
    ATOM_LEAST = 54,    /* z ends there */
    MODELS_MOST = 9999, /* the format has four columns */
    SERIAL_36 = 36 * 36 * 36 * 36 * 10,
    ATOMS_MOST = 100000 + 26 * 36 * 36 * 36 * 36
};

/* One line of the file, without its end. */
typedef struct {
    const char *at;
    int length;
    long number;
    const char *file;
} pdb_line;

typedef struct {
    const char *file;
    nb_pdb_text *out;
    size_t used; /* of out->text */
    int models, frame_rows;
} preparation;

static int is_record(const pdb_line *l, const char *four)
{
    for (int i = 0; i < 4; i++) {
        char c = i < l->length ? l->at[i] : ' ';
        if ((c >= 'a' && c <= 'z' ? c - 32 : c) != four[i])
            return 0;
    }
    return 1;
}

/* The number in columns first..last, counted from 1: 1, or 0 blank, or -1 no number. */
static int field(const pdb_line *l, int first, int last, double *value)
{
    const char *p = l->at + first - 1,
               *end = l->at + (last < l->length ? last : l->length);
    while (p < end && nb_text_blank(*p))
        p++;
    while (p < end && nb_text_blank(end[-1]))
        end--;
    if (p >= end)
        return 0;
    return nb_text_double(p, end, value) == end && isfinite(*value) ? 1 : -1;
}

static nb_status bad_field(const pdb_line *l, int first, int last, const char *what,
                           nb_error *err)
{
    char quoted[NB_TEXT_QUOTE];
    int end = last < l->length ? last : l->length;
    while (first <= end && nb_text_blank(l->at[first - 1]))
        first++;
    if (first > end)
        return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number, "%s is blank", what);
    nb_text_quote(l->at + first - 1, l->at + end, quoted);
    return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number,
                      "%s is no number: %s (columns %d to %d)", what, quoted, first, last);
}

/* Decimal, or of base 36 from A0000 on (hybrid-36). */
static int serial_of(const pdb_line *l)
{
    double decimal;
    int value = 0;
    if (field(l, 7, 11, &decimal) == 1)
        return (int)decimal;
    for (int i = 6; i < 11 && i < l->length; i++) {
        char c = l->at[i];
        if (c >= '0' && c <= '9')
            value = 36 * value + (c - '0');
        else if (c >= 'A' && c <= 'Z')
            value = 36 * value + (c - 'A') + 10;
        else
            return 0;
    }
    return value - SERIAL_36 + 100000;
}

static void write_serial(size_t index, char out[5])
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const size_t base = index < 100000 ? 10 : 36;
    size_t value = index < 100000 ? index : index - 100000 + SERIAL_36;
    for (int i = 4; i >= 0; i--, value /= base)
        out[i] = digits[value % base];
}

static nb_status read_atom(const pdb_line *l, nb_pdb_record *out, nb_error *err)
{
    static const char *const names[] = {"x", "y", "z"};
    double ignored;
    int occupancy, B;
    if (l->length < ATOM_LEAST)
        return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number,
                          "the atom's line ends before its coordinates (column %d)",
                          ATOM_LEAST);
    for (int i = 0; i < 3; i++)
        if (field(l, 31 + 8 * i, 38 + 8 * i, &ignored) != 1)
            return bad_field(l, 31 + 8 * i, 38 + 8 * i, names[i], err);
    occupancy = field(l, 55, 60, &out->occupancy);
    B = field(l, 61, 66, &out->B);
    if (occupancy < 0)
        return bad_field(l, 55, 60, "the occupancy", err);
    if (B < 0)
        return bad_field(l, 61, 66, "B", err);
    out->blank_occupancy = !occupancy;
    out->blank_B = !B;
    if (!occupancy)
        out->occupancy = 1;
    if (!B)
        out->B = 0;
    out->line = (int)l->number;
    out->serial = serial_of(l);
    return NB_OK;
}

/* Every field of a record must be a number. */
static nb_status check_fields(const pdb_line *l, const char *what, const int *columns,
                              int count, nb_error *err)
{
    double ignored;
    for (int i = 0; i < count; i++)
        if (field(l, columns[2 * i], columns[2 * i + 1], &ignored) != 1)
            return bad_field(l, columns[2 * i], columns[2 * i + 1], what, err);
    return NB_OK;
}

static const int cell_columns[] = {7, 15, 16, 24, 25, 33, 34, 40, 41, 47, 48, 54};
static const int matrix_columns[] = {11, 20, 21, 30, 31, 40, 46, 55};

static int has_blank(const pdb_line *l, const int *columns, int count)
{
    double ignored;
    for (int i = 0; i < count; i++)
        if (field(l, columns[2 * i], columns[2 * i + 1], &ignored) == 0)
            return 1;
    return 0;
}

static nb_status check_other(const pdb_line *l, nb_error *err)
{
    static const int U[] = {29, 35, 36, 42, 43, 49, 50, 56, 57, 63, 64, 70};
    if (is_record(l, "CRYS"))
        return check_fields(l, "a constant of CRYST1", cell_columns, 6, err);
    if (is_record(l, "ANIS"))
        return check_fields(l, "an element of ANISOU", U, 6, err);
    if (is_record(l, "MTRI"))
        return check_fields(l, "an element of MTRIX", matrix_columns, 4, err);
    return NB_OK;
}

/* One row of SCALEn; a row that cannot be read is no row. */
static void read_frame(preparation *p, const pdb_line *l)
{
    const int row = l->length > 5 ? l->at[5] - '1' : -1;
    double *frame = p->out->frame;
    double got[4];
    if (row < 0 || row > 2)
        return;
    for (int i = 0; i < 4; i++)
        if (field(l, matrix_columns[2 * i], matrix_columns[2 * i + 1], &got[i]) != 1)
            return;
    memcpy(frame + 3 * row, got, 3 * sizeof *got);
    frame[9 + row] = got[3];
    p->frame_rows |= 1 << row;
}

static void keep(preparation *p, const char *text, int length)
{
    memcpy(p->out->text + p->used, text, (size_t)length);
    p->used += (size_t)length;
}

static nb_status take_line(preparation *p, const pdb_line *l, nb_error *err)
{
    char model[32] = "";
    if (is_record(l, "ATOM") || is_record(l, "HETA")) {
        nb_status status = read_atom(l, &p->out->atoms[p->out->count], err);
        char *start = p->out->text + p->used;
        if (status)
            return status;
        if (p->out->count >= ATOMS_MOST)
            return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number, "more than %d atoms",
                              (int)ATOMS_MOST);
        keep(p, l->at, l->length < KEPT ? l->length : KEPT);
        write_serial(p->out->count++, start + 6);
    } else if (is_record(l, "MODE")) {
        int length = snprintf(model, sizeof model, "MODEL     %4d", ++p->models);
        if (p->models > MODELS_MOST)
            return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number,
                              "more than %d models", (int)MODELS_MOST);
        keep(p, model, length);
    } else if (is_record(l, "CRYS") && has_blank(l, cell_columns, 6)) {
        return NB_OK; /* no cell, as 1 1 1 90 90 90 */
    } else if (is_record(l, "CRYS") || is_record(l, "ANIS") || is_record(l, "MTRI") ||
               is_record(l, "ENDM")) {
        keep(p, l->at, l->length < KEPT ? l->length : KEPT);
        return check_other(l, err);
    } else if (is_record(l, "SCAL")) {
        read_frame(p, l);
    }
    return NB_OK;
}

static nb_status take_lines(preparation *p, const char *data, size_t n, nb_error *err)
{
    const char *end = data + n;
    nb_status status = NB_OK;
    pdb_line l = {.file = p->file};
    for (const char *at = nb_text_body(data, end); at < end && !status;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        l.at = at;
        l.number++;
        l.length = stop - at > 120 ? 120 : (int)(stop - at);
        while (l.length && nb_text_blank(l.at[l.length - 1]))
            l.length--;
        if (is_record(&l, "END "))
            break;
        status = take_line(p, &l, err);
        keep(p, "\n", 1);
        at = newline ? newline + 1 : end;
    }
    return status;
}

/* Lines of the file that begin as an atom's. */
static size_t count_atoms(const char *data, size_t n)
{
    const char *end = data + n;
    size_t count = 0;
    for (const char *at = nb_text_body(data, end); at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        pdb_line l = {.at = at, .length = end - at > 4 ? 4 : (int)(end - at)};
        count += is_record(&l, "ATOM") || is_record(&l, "HETA");
        at = newline ? newline + 1 : end;
    }
    return count;
}

nb_status nb_pdb_prepare(const char *data, size_t n, const char *name, nb_pdb_text *out,
                         nb_error *err)
{
    const size_t lines_more = 24; /* MODEL is written longer than it may stand */
    size_t atoms = count_atoms(data, n);
    preparation p = {.file = name, .out = out};
    nb_status status;
    memset(out, 0, sizeof *out);
    if (memchr(data, 0, n))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no text: it has a zero byte");
    if (!atoms)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "no atom (ATOM or HETATM record)");
    out->atoms = nb_alloc(atoms, sizeof *out->atoms, "atoms of a PDB file", err);
    out->text =
        nb_alloc_raw(n + 1 + lines_more * (MODELS_MOST + 1), 1, "PDB records", err);
    if (!out->atoms || !out->text) {
        nb_pdb_text_free(out);
        return NB_ERR_NOMEM;
    }
    status = take_lines(&p, data, n, err);
    if (!status && !out->count)
        status = nb_fail_at(err, NB_ERR_INPUT, name, 0, "no atom before END");
    if (status)
        nb_pdb_text_free(out);
    out->bytes = p.used;
    out->has_frame = p.frame_rows == 7;
    return status;
}

void nb_pdb_text_free(nb_pdb_text *text)
{
    nb_free(text->text);
    nb_free(text->atoms);
    memset(text, 0, sizeof *text);
}
