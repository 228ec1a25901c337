/* SPDX-License-Identifier: MIT */
/* Atoms of an mmCIF or small-molecule CIF.  Sources: mmCIF and core CIF dictionaries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "structure_parts.h"

enum { MAX_COLUMNS = 14 };
#define U_TO_B (8 * M_PI * M_PI)

/* Columns of one loop. The first column sets the number of rows; a column of another
 * length is NULL. */
typedef struct {
    const nb_cif *cif;
    const nb_cif_column *columns[MAX_COLUMNS];
    size_t rows;
    long first; /* line of row 0 in the file; 0: a row may have several lines */
} cif_table;

/** Find the columns with these names (blanks between); "." stands for no column. */
static cif_table find_table(const nb_cif *cif, int block, const char *category,
                            const char *names)
{
    cif_table t = {.cif = cif};
    char tag[2 * NB_TEXT_WORD], name[NB_TEXT_WORD];
    for (int i = 0; nb_text_word(&names, name); i++) {
        const nb_cif_column *column;
        snprintf(tag, sizeof tag, "%s%s", category, name);
        column = nb_cif_find(cif, block, tag);
        if (!i)
            t.rows = column ? column->rows : 0;
        t.columns[i] = column && column->rows == t.rows ? column : NULL;
    }
    t.first = t.columns[0] ? nb_cif_first_line(cif, t.columns[0]) : 0;
    return t;
}

static long line_of(const cif_table *t, size_t row)
{
    return t->first ? t->first + (long)row : t->columns[0] ? t->columns[0]->line : 0;
}

/* Text of a value; NULL without the column or for an unknown value ('?' or '.'). */
static const char *text_at(const cif_table *t, int column, size_t row)
{
    const nb_cif_column *c = t->columns[column];
    return c ? c->value[row * c->width] : NULL;
}

/* Read a number; without a value *value does not change, and *blank grows by 1. */
static nb_status number_at(const cif_table *t, int column, size_t row, double *value,
                           size_t *blank, nb_error *err)
{
    const char *text = text_at(t, column, row);
    if (!text) {
        *blank += 1;
        return NB_OK;
    }
    if (!nb_cif_number(text, value))
        return nb_fail_at(err, NB_ERR_INPUT, t->cif->name, line_of(t, row),
                          "%.40s of row %zu of the loop is no number: %.40s",
                          t->columns[column]->tag, row + 1, text);
    return NB_OK;
}

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

/* Read x, y and z from columns 1 to 3; column 0 has the id or label of the atom. */
static nb_status take_position(const cif_table *t, size_t row, nb_atom *atom,
                               nb_error *err)
{
    const char *id = text_at(t, 0, row);
    for (int i = 0; i < 3; i++) {
        size_t blank = 0;
        nb_status st;
        NB_FORWARD(number_at(t, 1 + i, row, &atom->r[i], &blank, err));
        if (blank)
            return nb_fail_at(err, NB_ERR_INPUT, t->cif->name, line_of(t, row),
                              "atom %.20s (row %zu of the loop) has no coordinates",
                              id ? id : "?", row + 1);
    }
    return NB_OK;
}

/* --- anisotropic displacements ------------------------------------------------------------- */
typedef struct {
    const char *key;
    size_t row;
} keyed_row;

static int by_key(const void *a, const void *b)
{
    const keyed_row *x = a, *y = b;
    const int order = strcmp(x->key, y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int by_key_alone(const void *a, const void *b)
{
    return strcmp(((const keyed_row *)a)->key, ((const keyed_row *)b)->key);
}

/* Column 0 has the id or label of the atom, columns 1 to 6 have U, 7 to 12 have B. */
typedef struct {
    cif_table table;
    keyed_row *rows; /* owned */
    size_t count;
    int first; /* first column, 1 or 7; 0 without displacements */
} displacements;

static nb_status find_displacements(const cif_table *t, displacements *out, nb_error *err)
{
    *out = (displacements){.table = *t,
                           .first = t->columns[1]   ? 1
                                    : t->columns[7] ? 7
                                                    : 0};
    if (!out->first || !t->rows)
        return NB_OK;
    out->rows = nb_alloc(t->rows, sizeof *out->rows, "displacements", err);
    NB_NEED(out->rows);
    for (size_t row = 0; row < t->rows; row++)
        if (text_at(t, 0, row) && text_at(t, out->first, row))
            out->rows[out->count++] = (keyed_row){text_at(t, 0, row), row};
    qsort(out->rows, out->count, sizeof *out->rows, by_key);
    return NB_OK;
}

static nb_status take_displacements(const displacements *d, const char *key,
                                    nb_atom *atom, nb_error *err)
{
    const keyed_row wanted = {.key = key};
    const keyed_row *found =
        key && d->count ? bsearch(&wanted, d->rows, d->count, sizeof wanted, by_key_alone)
                        : NULL;
    size_t blank = 0;
    if (!found)
        return NB_OK;
    for (int i = 0; i < 6; i++) {
        nb_status st;
        NB_FORWARD(
            number_at(&d->table, d->first + i, found->row, &atom->U[i], &blank, err));
        if (d->first == 7)
            atom->U[i] /= U_TO_B;
    }
    atom->has_U = 1;
    return NB_OK;
}

/* --- mmCIF --------------------------------------------------------------------------------- */
/* Names of the models in the order of the file; `last` is the model of the last atom. */
typedef struct {
    const char **names; /* owned */
    int count, last;
} model_list;

static int model_of(model_list *models, const char *name)
{
    if (models->count && !strcmp(models->names[models->last], name))
        return models->last;
    for (int i = 0; i < models->count; i++)
        if (!strcmp(models->names[i], name))
            return models->last = i;
    models->names[models->count] = name;
    return models->last = models->count++;
}

/** Read an atom of any CIF. blank[0] is set to 1 if the atom has no occupancy, blank[1]
 * if it has neither U nor B. */
static nb_status take_atom(const cif_table *t, const displacements *U, size_t row,
                           nb_atom *atom, size_t blank[2], nb_error *err)
{
    const int has_type = t->columns[7] != NULL, iso = t->columns[5] ? 5 : 6;
    const char *type = text_at(t, has_type ? 7 : 0, row), *id = text_at(t, 0, row);
    nb_status st;
    blank[0] = blank[1] = 0;
    atom->occupancy = 1;
    NB_FORWARD(take_position(t, row, atom, err));
    NB_FORWARD(number_at(t, 4, row, &atom->occupancy, &blank[0], err));
    NB_FORWARD(number_at(t, iso, row, &atom->B, &blank[1], err));
    NB_FORWARD(take_displacements(U, id, atom, err));
    if (iso == 5)
        atom->B *= U_TO_B;
    atom->Z = type ? nb_element_of_label(type, has_type) : 0;
    atom->line = t->first ? (int)line_of(t, row) : 0;
    copy_text(atom->element, sizeof atom->element, type);
    return NB_OK;
}

static nb_status take_mmcif_atom(const cif_table *t, const displacements *U, size_t row,
                                 nb_structure *out, nb_error *err)
{
    nb_atom *atom = &out->atoms[row];
    const char *id = text_at(t, 0, row);
    size_t blank[2];
    nb_status st;
    NB_FORWARD(take_atom(t, U, row, atom, blank, err));
    out->blank_occupancies += blank[0];
    out->blank_B += blank[1];
    atom->is_alternate = text_at(t, 11, row) != NULL;
    atom->serial = id ? (int)strtol(id, NULL, 10) : 0;
    copy_text(atom->name, sizeof atom->name, text_at(t, t->columns[8] ? 8 : 9, row));
    return NB_OK;
}

static nb_status take_mmcif_atoms(const nb_cif *cif, int block, nb_structure *out,
                                  nb_error *err)
{
    const cif_table t =
        find_table(cif, block, "_atom_site.",
                   "id Cartn_x Cartn_y Cartn_z occupancy . B_iso_or_equiv type_symbol "
                   "auth_atom_id label_atom_id pdbx_PDB_model_num label_alt_id");
    const cif_table tensors =
        find_table(cif, block, "_atom_site_anisotrop.",
                   "id U[1][1] U[2][2] U[3][3] U[1][2] U[1][3] U[2][3] "
                   "B[1][1] B[2][2] B[3][3] B[1][2] B[1][3] B[2][3]");
    displacements U;
    model_list models = {0};
    nb_status st = find_displacements(&tensors, &U, err);
    out->atoms = st ? NULL : nb_alloc(t.rows, sizeof *out->atoms, "atoms", err);
    models.names =
        out->atoms ? nb_alloc(t.rows, sizeof *models.names, "models", err) : NULL;
    if (!st && !models.names)
        st = NB_ERR_NOMEM;
    for (size_t row = 0; row < t.rows && !st; row++) {
        const char *model = text_at(&t, 10, row);
        st = take_mmcif_atom(&t, &U, row, out, err);
        out->atoms[row].model = model_of(&models, model ? model : "");
        out->n_atoms++;
    }
    out->n_models = models.count;
    nb_free(models.names);
    nb_free(U.rows);
    return st;
}

static const char transform[] =
    "matrix[1][1] matrix[1][2] matrix[1][3] matrix[2][1] matrix[2][2] matrix[2][3] "
    "matrix[3][1] matrix[3][2] matrix[3][3] vector[1] vector[2] vector[3] code";

/* Read a transform; *whole is 1 if every element has a value. */
static nb_status take_transform(const cif_table *t, size_t row, double m[12], int *whole,
                                nb_error *err)
{
    size_t blank = 0;
    for (int i = 0; i < 12; i++) {
        nb_status st;
        NB_FORWARD(number_at(t, i, row, &m[i], &blank, err));
    }
    *whole = blank == 0;
    return NB_OK;
}

static nb_status take_transforms(const nb_cif *cif, int block, nb_structure *out,
                                 nb_error *err)
{
    static const double identity[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const cif_table frame = find_table(cif, block, "_atom_sites.fract_transf_", transform);
    const cif_table ncs = find_table(cif, block, "_struct_ncs_oper.", transform);
    double m[12];
    int whole;
    if (frame.rows && take_transform(&frame, 0, out->frame, &out->has_frame, err))
        return NB_ERR_INPUT;
    out->ncs = nb_alloc(ncs.rows, sizeof *out->ncs, "NCS operators", err);
    NB_NEED(out->ncs);
    for (size_t row = 0; row < ncs.rows; row++) {
        nb_ncs *to = &out->ncs[out->n_ncs];
        const char *code = text_at(&ncs, 12, row);
        if (take_transform(&ncs, row, m, &whole, err))
            return NB_ERR_INPUT;
        if (!whole || !memcmp(m, identity, sizeof m))
            continue;
        memcpy(to->R, m, sizeof to->R);
        memcpy(to->t, m + 9, sizeof to->t);
        to->is_given = code && !strcmp(code, "given");
        out->n_ncs++;
    }
    return NB_OK;
}

/* --- small molecules ----------------------------------------------------------------------- */
/* Read a number of operators or positions; 0 if the value is missing or impossible. */
static int count_at(const cif_table *t, int column, size_t row)
{
    const char *text = text_at(t, column, row);
    double value;
    if (!text || !nb_cif_number(text, &value) || value != rint(value))
        return 0;
    return value >= 1 && value <= NB_SYMOPS_MAX ? (int)value : 0;
}

/* Number of atoms of "C12 H10 O2" without hydrogen. */
static double heavy_atoms(const char *formula)
{
    double sum = 0;
    for (const char *p = formula; *p;) {
        const char *end = p + strcspn(p, " ,");
        const size_t letters =
            strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        double n = 1;
        if (p + letters < end && nb_text_double(p + letters, end, &n) != end)
            return 0;
        if (!(letters == 1 && (*p == 'H' || *p == 'D')))
            sum += n;
        p = end + strspn(end, " ,");
    }
    return sum;
}

static double expected_atoms(const nb_cif *cif, int block)
{
    const char *Z = nb_cif_first(cif, block, "_cell_formula_units_Z");
    const char *sum = nb_cif_first(cif, block, "_chemical_formula_sum");
    double n, atoms;
    if (!Z || !sum || !nb_cif_number(Z, &n))
        return 0;
    atoms = n * heavy_atoms(sum);
    return isfinite(atoms) && atoms > 0 ? atoms : 0;
}

static nb_status take_small_atom(const cif_table *t, const displacements *U, size_t row,
                                 nb_structure *out, nb_error *err)
{
    nb_atom *atom = &out->atoms[out->n_atoms];
    const char *group = text_at(t, 8, row);
    size_t blank[2];
    nb_status st;
    NB_FORWARD(take_atom(t, U, row, atom, blank, err));
    out->blank_occupancies += t->columns[4] ? blank[0] : 0;
    out->missing_U += blank[1] && !atom->has_U;
    atom->is_alternate = group && strcmp(group, "0");
    atom->is_general = group && *group == '-';
    atom->site_order = count_at(t, 10, row);
    atom->site_multiplicity = count_at(t, t->columns[11] ? 11 : 12, row);
    atom->serial = (int)row + 1;
    copy_text(atom->name, sizeof atom->name, text_at(t, 0, row));
    return NB_OK;
}

static nb_status take_small_atoms(const nb_cif *cif, int block, nb_structure *out,
                                  nb_error *err)
{
    const cif_table t = find_table(
        cif, block, "_atom_site_",
        "label fract_x fract_y fract_z occupancy U_iso_or_equiv B_iso_or_equiv "
        "type_symbol disorder_group calc_flag site_symmetry_order "
        "symmetry_multiplicity site_symmetry_multiplicity");
    const cif_table tensors = find_table(cif, block, "_atom_site_aniso_",
                                         "label U_11 U_22 U_33 U_12 U_13 U_23 "
                                         "B_11 B_22 B_33 B_12 B_13 B_23");
    displacements U;
    nb_status st = find_displacements(&tensors, &U, err);
    out->atoms = st ? NULL : nb_alloc(t.rows, sizeof *out->atoms, "atoms", err);
    if (!st && !out->atoms)
        st = NB_ERR_NOMEM;
    for (size_t row = 0; row < t.rows && !st; row++) {
        const char *flag = text_at(&t, 9, row);
        if (flag && !strcmp(flag, "dum")) /* "dum" marks a site without an atom */
            continue;
        st = take_small_atom(&t, &U, row, out, err);
        out->n_atoms++;
    }
    out->n_models = 1;
    out->atoms_expected = expected_atoms(cif, block);
    nb_free(U.rows);
    return st;
}

nb_status nb_cif_model(const nb_cif *cif, nb_structure *out, nb_error *err)
{
    int block = nb_cif_block_with(cif, "_atom_site.Cartn_x");
    const int is_small = block < 0;
    nb_status st;
    if (is_small)
        block = nb_cif_block_with(cif, "_atom_site_fract_x");
    if (block < 0)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0,
                          "no atom: neither _atom_site.Cartn_x nor _atom_site_fract_x");
    out->kind = is_small ? NB_STRUCTURE_SMALL : NB_STRUCTURE_MMCIF;
    NB_FORWARD(nb_cif_crystal(cif, block, out->cell, &out->symmetry, err));
    NB_FORWARD(is_small ? take_small_atoms(cif, block, out, err)
                        : take_mmcif_atoms(cif, block, out, err));
    if (!is_small)
        NB_FORWARD(take_transforms(cif, block, out, err));
    if (!out->n_atoms)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "no atom");
    return NB_OK;
}
