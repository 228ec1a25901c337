/* SPDX-License-Identifier: MIT */
/* Items, cell and symmetry of a CIF. Sources: mmCIF and core CIF dictionaries. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "structure_parts.h"

enum { REFLN = 7 /* letters of "_refln_" */ };

void nb_cif_free(nb_cif *cif)
{
    nb_free(cif->columns);
    nb_free(cif->values);
    nb_free(cif->text);
    memset(cif, 0, sizeof *cif);
}

int nb_cif_is_tag(const char *p, const char *end, const char *tag)
{
    for (; *tag && p < end; p++, tag++)
        if ((*p >= 'A' && *p <= 'Z' ? *p + 32 : *p) !=
                (*tag >= 'A' && *tag <= 'Z' ? *tag + 32 : *tag) &&
            !(*p == '.' && *tag == '_'))
            return 0;
    return !*tag && p == end;
}

const nb_cif_column *nb_cif_find(const nb_cif *cif, int block, const char *tag)
{
    for (size_t i = 0; i < cif->n_columns; i++) {
        const nb_cif_column *c = &cif->columns[i];
        if (c->block == block && nb_cif_is_tag(c->tag, c->tag + strlen(c->tag), tag))
            return c;
    }
    return NULL;
}

int nb_cif_block_with(const nb_cif *cif, const char *tag)
{
    for (int block = 0; block < cif->n_blocks; block++)
        if (nb_cif_find(cif, block, tag))
            return block;
    return -1;
}

const char *nb_cif_first(const nb_cif *cif, int block, const char *tags)
{
    char tag[NB_TEXT_WORD];
    while (nb_text_word(&tags, tag)) {
        const nb_cif_column *column = nb_cif_find(cif, block, tag);
        if (column && column->rows && column->value[0])
            return column->value[0];
    }
    return NULL;
}

int nb_cif_number(const char *text, double *value)
{
    const char *end = text + strlen(text), *p = nb_text_double(text, end, value);
    if (p && *p == '(') {
        do
            p++;
        while (*p >= '0' && *p <= '9');
        p = *p == ')' ? p + 1 : NULL;
    }
    return p == end && isfinite(*value);
}

static const char *next_line(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

static int begins_row(const char *p, const char *end)
{
    while (p < end && nb_text_blank(*p))
        p++;
    return p < end && *p != '\n' && *p != '#' && *p != '_' && *p != ';' &&
           strncasecmp(p, "loop_", (size_t)(end - p < 5 ? end - p : 5)) &&
           strncasecmp(p, "data_", (size_t)(end - p < 5 ? end - p : 5));
}

long nb_cif_first_line(const nb_cif *cif, const nb_cif_column *column)
{
    const char *p = cif->data;
    long line = 1, first;
    size_t rows = 0;
    for (; line < column->line && p < cif->end; line++)
        p = next_line(p, cif->end);
    /* skip loop_ and the tags */
    for (; p < cif->end && (line == column->line || !begins_row(p, cif->end)); line++)
        p = next_line(p, cif->end);
    for (first = line; p < cif->end && begins_row(p, cif->end); rows++)
        p = next_line(p, cif->end);
    return rows == column->rows ? first : 0;
}

static nb_status take_cell(const nb_cif *cif, int block, double cell[6], nb_error *err)
{
    const char *names = "_cell_length_a _cell_length_b _cell_length_c "
                        "_cell_angle_alpha _cell_angle_beta _cell_angle_gamma";
    char tag[NB_TEXT_WORD];
    for (int i = 0; nb_text_word(&names, tag); i++) {
        const char *text = nb_cif_first(cif, block, tag);
        cell[i] = i < 3 ? 0 : 90;
        if (text && !nb_cif_number(text, &cell[i]))
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "%s is no number: %.40s",
                              tag, text);
    }
    return nb_file_cell_check(cell, cif->name, err);
}

/* Read the operators of the file; an empty list is no error. */
static nb_status take_operators(const nb_cif *cif, const nb_cif_column *column,
                                nb_symmetry *out, nb_error *err)
{
    nb_status st;
    out->count = 0;
    for (size_t i = 0; i < column->rows; i++) {
        const char *text = column->value[i * column->width];
        if (!text)
            continue;
        if (out->count >= NB_SYMOPS_MAX)
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, column->line,
                              "more than %d symmetry operators", NB_SYMOPS_MAX);
        if (!nb_symop_parse(text, strlen(text), &out->ops[out->count++]))
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, column->line,
                              "this is no symmetry operator: %.40s", text);
    }
    if (!out->count)
        return NB_OK;
    st = nb_symmetry_complete(out, cif->name, err);
    if (!st)
        nb_symmetry_give_name(out);
    return st;
}

static nb_status take_symmetry(const nb_cif *cif, int block, const double cell[6],
                               nb_symmetry *out, nb_error *err)
{
    static const char hall[] = "_space_group_name_Hall _symmetry_space_group_name_Hall",
                      symbol[] = "_symmetry_space_group_name_H-M "
                                 "_space_group_name_H-M_alt _space_group_name_H-M_full "
                                 "_space_group_name_H-M_ref _space_group_IT_number "
                                 "_symmetry_Int_Tables_number";
    const char *operators = "_space_group_symop_operation_xyz _symmetry_equiv_pos_as_xyz";
    char tag[NB_TEXT_WORD];
    nb_status st = NB_OK;
    const char *text;
    while (nb_text_word(&operators, tag)) {
        const nb_cif_column *column = nb_cif_find(cif, block, tag);
        if (column)
            st = take_operators(cif, column, out, err);
        if (!st && out->count && (text = nb_cif_first(cif, block, symbol)))
            nb_symmetry_beside(out, text, cell, cif->name);
        if (st || out->count)
            return st;
    }
    if ((text = nb_cif_first(cif, block, hall)))
        return nb_symmetry_of_file(text, 1, cell, cif->name, out, err);
    if ((text = nb_cif_first(cif, block, symbol)))
        return nb_symmetry_of_file(text, 0, cell, cif->name, out, err);
    return NB_OK;
}

nb_status nb_cif_crystal(const nb_cif *cif, int block, double cell[6], nb_symmetry *out,
                         nb_error *err)
{
    static const char edge[] = "_cell_length_a";
    nb_status st;
    for (int i = 0; i < cif->n_blocks && !nb_cif_first(cif, block, edge); i++)
        if (nb_cif_first(cif, i, edge))
            block = i;
    NB_FORWARD(take_cell(cif, block, cell, err));
    return take_symmetry(cif, block, cell[0] > 0 ? cell : NULL, out, err);
}

/* --- reflections of a structure-factor or small-molecule CIF --- */

/* Type of a column, as in MTZ. */
static char type_of(const char *label)
{
    static const struct {
        const char *label;
        char type;
    } known[] = {{"F_meas_au", 'F'},           {"F_meas", 'F'},
                 {"F_calc_au", 'F'},           {"F_calc", 'F'},
                 {"pdbx_F_plus", 'G'},         {"pdbx_F_minus", 'G'},
                 {"intensity_meas", 'J'},      {"F_squared_meas", 'J'},
                 {"pdbx_I_plus", 'K'},         {"pdbx_I_minus", 'K'},
                 {"phase_calc", 'P'},          {"phase_meas", 'P'},
                 {"pdbx_anom_difference", 'D'}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(label, known[i].label))
            return known[i].type;
    return 'R';
}

static nb_status take_index(const nb_cif *cif, int block, int axis,
                            nb_reflection_file *out, nb_error *err)
{
    char tag[40];
    const nb_cif_column *column;
    snprintf(tag, sizeof tag, "_refln_index_%c", "hkl"[axis]);
    column = nb_cif_find(cif, block, tag);
    if (!column || column->rows != out->count)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "the reflections have no %s",
                          tag);
    for (size_t row = 0; row < out->count; row++) {
        const char *text = column->value[row * column->width];
        double value;
        if (!text || !nb_cif_number(text, &value) || value != rint(value) ||
            fabs(value) > NB_INDEX_MAX)
            return nb_fail_at(
                err, NB_ERR_INPUT, cif->name, column->line,
                "%s of row %zu of this loop is no index (at most %d): %.40s", tag,
                row + 1, NB_INDEX_MAX, text ? text : "?");
        out->hkl[row][axis] = (int)value;
    }
    return NB_OK;
}

/** True for a column of data (no index) in the loop of the index column `h`. */
static int is_data(const nb_cif_column *column, const nb_cif_column *h)
{
    return column->block == h->block && column->rows == h->rows &&
           !strncasecmp(column->tag, h->tag, REFLN) &&
           strncasecmp(column->tag + REFLN, "index_", 6);
}

static nb_status take_column(const nb_cif_column *from, nb_reflection_file *out,
                             nb_error *err)
{
    nb_column *to = &out->columns[out->n_columns];
    to->value = nb_alloc_raw(out->count, sizeof *to->value, "a column", err);
    NB_NEED(to->value);
    out->n_columns++;
    snprintf(to->label, sizeof to->label, "%s", from->tag + REFLN);
    to->type = type_of(to->label);
    for (size_t row = 0; row < out->count; row++) {
        const char *text = from->value[row * from->width];
        double value = NAN;
        to->value[row] = text && nb_cif_number(text, &value) ? (float)value : NAN;
    }
    return NB_OK;
}

static nb_status take_loop(const nb_cif *cif, const nb_cif_column *h,
                           nb_reflection_file *out, nb_error *err)
{
    nb_status st = NB_OK;
    int columns = 0;
    out->hkl = nb_alloc(out->count, sizeof *out->hkl, "indices", err);
    for (int axis = 0; axis < 3 && out->hkl && !st; axis++)
        st = take_index(cif, h->block, axis, out, err);
    if (st || !out->hkl)
        return st ? st : NB_ERR_NOMEM;
    for (size_t i = 0; i < cif->n_columns; i++)
        columns += is_data(&cif->columns[i], h);
    out->columns = nb_alloc((size_t)columns, sizeof *out->columns, "columns", err);
    NB_NEED(out->columns);
    for (size_t i = 0; i < cif->n_columns && !st; i++)
        if (is_data(&cif->columns[i], h))
            st = take_column(&cif->columns[i], out, err);
    return st;
}

/* --- unreliable rows and data sets ------------------------------------------------- */
/* Set the measured values of rows with status x (unreliable) to NaN. The status o, f, <,
 * h and l mean measured, and - means absent. Source: mmCIF dictionary, _refln.status;
 * core CIF, _refln_include_status. */
static void drop_unreliable(const nb_cif *cif, int block, nb_reflection_file *out)
{
    const char *names = "_refln_status _refln_include_status _refln_observed_status";
    const nb_cif_column *marks = NULL;
    char tag[NB_TEXT_WORD];
    while (!marks && nb_text_word(&names, tag))
        marks = nb_cif_find(cif, block, tag);
    for (size_t row = 0; marks && marks->rows == out->count && row < out->count; row++) {
        const char *text = marks->value[row * marks->width];
        if (!text || strcasecmp(text, "x"))
            continue;
        out->unreliable++;
        for (int i = 0; i < out->n_columns; i++)
            if (!strstr(out->columns[i].label, "calc"))
                out->columns[i].value[row] = NAN;
    }
}

enum { SET_IDS = 3, MAX_SETS = 1000 };

/* Columns that separate data sets, or NULL. */
typedef struct {
    const char *name[SET_IDS];
    const nb_cif_column *column[SET_IDS];
} set_ids;

static void name_set(const set_ids *ids, size_t row, char *out, size_t size)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < SET_IDS; i++) {
        const nb_cif_column *c = ids->column[i];
        const char *id = c ? c->value[row * c->width] : NULL;
        if (c && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s %.12s",
                                     used ? ", " : "", ids->name[i], id ? id : "?");
    }
}

static nb_status find_sets(const set_ids *ids, const char *name, nb_reflection_file *out,
                           nb_error *err)
{
    char text[sizeof *out->set_name];
    out->set = nb_alloc_raw(out->count, sizeof *out->set, "data sets", err);
    out->set_name = nb_alloc(MAX_SETS, sizeof *out->set_name, "data sets", err);
    NB_NEED(out->set && out->set_name);
    for (size_t row = 0; row < out->count; row++) {
        int set = row ? out->set[row - 1] : 0;
        name_set(ids, row, text, sizeof text);
        if (!out->n_sets || strcmp(out->set_name[set], text))
            for (set = 0; set < out->n_sets && strcmp(out->set_name[set], text);)
                set++;
        if (set == MAX_SETS)
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "more than %d data sets (crystal_id, wavelength_id, "
                              "scale_group_code): keep one of them",
                              MAX_SETS);
        if (set == out->n_sets)
            memcpy(out->set_name[out->n_sets++], text, sizeof text);
        out->set[row] = set;
    }
    return NB_OK;
}

/* Find the data set of each row from crystal, wavelength and scale group. */
static nb_status take_sets(const nb_cif *cif, int block, nb_reflection_file *out,
                           nb_error *err)
{
    set_ids ids = {.name = {"crystal_id", "wavelength_id", "scale_group_code"}};
    char tag[40];
    int found = 0;
    for (int i = 0; i < SET_IDS; i++) {
        const nb_cif_column *c;
        snprintf(tag, sizeof tag, "_refln_%s", ids.name[i]);
        c = nb_cif_find(cif, block, tag);
        ids.column[i] = c && c->rows == out->count ? c : NULL;
        found |= ids.column[i] != NULL;
    }
    return found ? find_sets(&ids, cif->name, out, err) : NB_OK;
}

nb_status nb_cif_reflections(const nb_cif *cif, nb_reflection_file *out, nb_error *err)
{
    static const char index[] = "_refln_index_h";
    const int block = nb_cif_block_with(cif, index);
    const nb_cif_column *h;
    const char *wavelength;
    double lambda;
    nb_status st;
    out->is_cif = 1;
    out->is_unmerged = block < 0 && nb_cif_block_with(cif, "_diffrn_refln_index_h") >= 0;
    if (out->is_unmerged)
        return NB_OK;
    if (block < 0)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0,
                          "no reflections: neither _refln.index_h nor _refln_index_h");
    NB_FORWARD(nb_cif_crystal(cif, block, out->cell, &out->symmetry, err));
    wavelength = nb_cif_first(
        cif, block,
        "_diffrn_radiation_wavelength_wavelength _diffrn_radiation_wavelength");
    if (wavelength && nb_cif_number(wavelength, &lambda) && lambda > 0 && lambda < 1e3)
        out->wavelength = lambda;
    h = nb_cif_find(cif, block, index);
    out->count = h->rows;
    if (!out->count)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "no reflection");
    for (int i = 0; i < cif->n_blocks; i++)
        out->blocks += nb_cif_find(cif, i, index) != NULL;
    NB_FORWARD(take_loop(cif, h, out, err));
    NB_FORWARD(take_sets(cif, block, out, err));
    drop_unreliable(cif, block, out);
    return NB_OK;
}
