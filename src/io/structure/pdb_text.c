/* SPDX-License-Identifier: MIT */
/* Read the numbers of a PDB file (gemmi reads any text as 0). gemmi reads the rest. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"
#include "structure_parts.h"

enum { KEPT = 78 }; /* columns; the charge in 79 and 80 is not used */

/* One line of the file without the line end. */
typedef struct {
    const char *at;
    int length;
    long number;
    const char *file;
} pdb_line;

typedef struct {
    const char *file;
    nb_structure *out;
    /* text for gemmi: the records that are used, and an empty line for each other line */
    char *text;
    size_t used;
    int frame_rows;
} preparation;

static int is_record(const pdb_line *l, const char *four)
{
    return l->length >= 4 && !strncasecmp(l->at, four, 4);
}

static int is_end(const pdb_line *l)
{
    return l->length >= 3 && !strncasecmp(l->at, "END", 3) &&
           (l->length == 3 || nb_text_blank(l->at[3]));
}

/* Read the number in columns first to last, counted from 1; NaN for blank columns. */
static nb_status number_at(const pdb_line *l, int first, int last, const char *what,
                           double *value, nb_error *err)
{
    const char *p = l->at + first - 1,
               *end = l->at + (last < l->length ? last : l->length);
    char quoted[NB_TEXT_QUOTE];
    *value = NAN;
    while (p < end && nb_text_blank(*p))
        p++;
    while (p < end && nb_text_blank(end[-1]))
        end--;
    if (p >= end || nb_text_double(p, end, value) == end)
        return NB_OK;
    nb_text_quote(p, end, quoted);
    return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number,
                      "%s is no number: %s (columns %d to %d)", what, quoted, first, last);
}

static nb_status needed_at(const pdb_line *l, int first, int last, const char *what,
                           double *value, nb_error *err)
{
    nb_status st = number_at(l, first, last, what, value, err);
    if (!st && isnan(*value))
        return nb_fail_at(err, NB_ERR_INPUT, l->file, l->number,
                          "%s is blank (columns %d to %d)", what, first, last);
    return st;
}

static nb_status read_atom(const pdb_line *l, nb_structure *out, nb_error *err)
{
    static const char *const names[] = {"x", "y", "z"};
    nb_atom *atom = &out->atoms[out->n_atoms++];
    nb_status st = NB_OK;
    for (int i = 0; i < 3 && !st; i++)
        st = needed_at(l, 31 + 8 * i, 38 + 8 * i, names[i], &atom->r[i], err);
    NB_TRY(number_at(l, 55, 60, "the occupancy", &atom->occupancy, err));
    NB_TRY(number_at(l, 61, 66, "B", &atom->B, err));
    if (isnan(atom->occupancy)) {
        atom->occupancy = 1;
        out->blank_occupancies++;
    }
    if (isnan(atom->B)) {
        atom->B = 0;
        out->blank_B++;
    }
    atom->line = (int)l->number;
    return st;
}

static const int matrix_columns[] = {11, 20, 21, 30, 31, 40, 46, 55};

/* Check numbers that gemmi reads. */
static nb_status check_numbers(const pdb_line *l, const char *what, const int *columns,
                               int count, nb_error *err)
{
    nb_status st = NB_OK;
    double ignored;
    for (int i = 0; i < count && !st; i++)
        st = needed_at(l, columns[2 * i], columns[2 * i + 1], what, &ignored, err);
    return st;
}

/* Read one row of SCALEn; ignore an invalid row. */
static void read_frame(preparation *p, const pdb_line *l)
{
    const int row = l->length > 5 ? l->at[5] - '1' : -1;
    double *frame = p->out->frame, got[4];
    if (row < 0 || row > 2)
        return;
    for (int i = 0; i < 4; i++)
        if (needed_at(l, matrix_columns[2 * i], matrix_columns[2 * i + 1], "", &got[i],
                      NULL))
            return;
    memcpy(frame + 3 * row, got, 3 * sizeof *got);
    frame[9 + row] = got[3];
    p->frame_rows |= 1 << row;
}

static char *keep(preparation *p, const pdb_line *l)
{
    char *kept = p->text + p->used;
    memcpy(kept, l->at, (size_t)l->length);
    p->used += (size_t)l->length;
    return kept;
}

static nb_status take_line(preparation *p, const pdb_line *l, nb_error *err)
{
    static const int cell[] = {7, 15, 16, 24, 25, 33, 34, 40, 41, 47, 48, 54};
    static const int U[] = {29, 35, 36, 42, 43, 49, 50, 56, 57, 63, 64, 70};
    if (is_record(l, "SCAL"))
        read_frame(p, l);
    if (is_record(l, "CRYS") && l->length > 14 && !memcmp(l->at + 6, "         ", 9))
        return NB_OK; /* there is no cell, as with 1 1 1 90 90 90 */
    if (is_record(l, "ATOM") || is_record(l, "HETA")) {
        char *kept = keep(p, l);
        /* blank the residue, because without residues gemmi keeps the order of the
         * atoms */
        for (int i = 17; i < l->length; i++)
            if (i < 27 || (i >= 72 && i < 76))
                kept[i] = ' ';
        return read_atom(l, p->out, err);
    }
    if (is_record(l, "CRYS") || is_record(l, "ANIS") || is_record(l, "MTRI") ||
        is_record(l, "MODE") || is_record(l, "ENDM"))
        keep(p, l);
    if (is_record(l, "CRYS"))
        return check_numbers(l, "a constant of CRYST1", cell, 6, err);
    if (is_record(l, "ANIS"))
        return check_numbers(l, "an element of ANISOU", U, 6, err);
    if (is_record(l, "MTRI"))
        return check_numbers(l, "an element of MTRIX", matrix_columns, 4, err);
    return NB_OK;
}

static nb_status take_lines(preparation *p, const char *data, size_t n, nb_error *err)
{
    nb_lines lines = nb_lines_of(data, n, p->file, "", err);
    nb_status st = NB_OK;
    lines.comment = "";
    while (!st && nb_lines_next(&lines)) {
        const ptrdiff_t length = lines.end - lines.p;
        const pdb_line l = {lines.p, length > KEPT ? KEPT : (int)length, lines.line,
                            p->file};
        if (is_end(&l))
            break;
        st = take_line(p, &l, err);
        p->text[p->used++] = '\n';
    }
    return st;
}

nb_status nb_pdb_model(const char *data, size_t n, const char *name, nb_structure *out,
                       nb_error *err)
{
    preparation p = {.file = name, .out = out};
    nb_symmetry *sg = &out->symmetry;
    nb_status st = NB_ERR_NOMEM;
    if (memchr(data, 0, n)) /* a NUL, after which gemmi would skip the next line */
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "this is no text: it has a zero byte");
    out->kind = NB_STRUCTURE_PDB;
    out->atoms = nb_alloc(nb_text_lines(data, n), sizeof *out->atoms, "atoms", err);
    p.text = nb_alloc_raw(n + 1, 1, "PDB records", err);
    if (out->atoms && p.text)
        st = take_lines(&p, data, n, err);
    if (!st && !out->n_atoms)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "no atom (ATOM or HETATM record)");
    NB_TRY(nb_pdb_parse(p.text, p.used, name, out, err));
    nb_free(p.text);
    out->has_frame = p.frame_rows == 7;
    if (!st && sg->name[0]) {
        char symbol[sizeof sg->name];
        memcpy(symbol, sg->name, sizeof symbol);
        st = nb_symmetry_of_file(symbol, 0, out->cell, name, sg, err);
    }
    return st;
}
