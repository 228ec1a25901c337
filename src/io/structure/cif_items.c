/* SPDX-License-Identifier: MIT */
/* Items of a CIF; its cell and symmetry.  Sources: mmCIF and core CIF dictionaries. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "structure_parts.h"

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))

void nb_cif_free(nb_cif *cif)
{
    nb_free(cif->columns);
    nb_free(cif->values);
    nb_free(cif->text);
    memset(cif, 0, sizeof *cif);
}

const nb_cif_column *nb_cif_find(const nb_cif *cif, int block, const char *tag)
{
    for (size_t i = 0; i < cif->n_columns; i++)
        if (cif->columns[i].block == block && !strcasecmp(cif->columns[i].tag, tag))
            return &cif->columns[i];
    return NULL;
}

int nb_cif_block_with(const nb_cif *cif, const char *const *tags, int count)
{
    for (int block = 0; block < cif->n_blocks; block++)
        for (int i = 0; i < count; i++)
            if (nb_cif_find(cif, block, tags[i]))
                return block;
    return -1;
}

const char *nb_cif_first(const nb_cif *cif, int block, const char *const *tags, int count)
{
    for (int i = 0; i < count; i++) {
        const nb_cif_column *column = nb_cif_find(cif, block, tags[i]);
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
    /* loop_ and its tags */
    for (; p < cif->end && (line == column->line || !begins_row(p, cif->end)); line++)
        p = next_line(p, cif->end);
    for (first = line; p < cif->end && begins_row(p, cif->end); rows++)
        p = next_line(p, cif->end);
    return rows == column->rows ? first : 0;
}

static nb_status take_cell(const nb_cif *cif, int block, double cell[6], nb_error *err)
{
    static const char *const names[] = {"length_a",    "length_b",   "length_c",
                                        "angle_alpha", "angle_beta", "angle_gamma"};
    char dotted[24], plain[24];
    for (int i = 0; i < 6; i++) {
        const char *const tags[] = {dotted, plain};
        const char *text;
        snprintf(dotted, sizeof dotted, "_cell.%s", names[i]);
        snprintf(plain, sizeof plain, "_cell_%s", names[i]);
        text = nb_cif_first(cif, block, tags, 2);
        cell[i] = i < 3 ? 0 : 90;
        if (text && !nb_cif_number(text, &cell[i]))
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "%s is no number: %.40s",
                              plain, text);
    }
    return nb_file_cell_check(cell, cif->name, err);
}

/* The operators that the file lists; none is no error. */
static nb_status take_operators(const nb_cif *cif, const nb_cif_column *column,
                                nb_symmetry *out, nb_error *err)
{
    nb_status status;
    out->count = 0;
    for (size_t i = 0; i < column->rows; i++) {
        const char *text = column->value[i * column->width];
        if (!text)
            continue;
        if (out->count >= NB_SYMOPS_MOST)
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, column->line,
                              "more than %d symmetry operators", NB_SYMOPS_MOST);
        if (!nb_symop_parse(text, strlen(text), &out->ops[out->count++]))
            return nb_fail_at(err, NB_ERR_INPUT, cif->name, column->line,
                              "this is no symmetry operator: %.40s", text);
    }
    if (!out->count)
        return NB_OK;
    status = nb_symmetry_complete(out, cif->name, err);
    if (!status)
        nb_symmetry_give_name(out);
    return status;
}

static nb_status take_symmetry(const nb_cif *cif, int block, const double cell[6],
                               nb_symmetry *out, nb_error *err)
{
    static const char *const operators[] = {
        "_space_group_symop.operation_xyz", "_space_group_symop_operation_xyz",
        "_symmetry_equiv.pos_as_xyz", "_symmetry_equiv_pos_as_xyz"};
    static const char *const hall[] = {"_space_group.name_Hall", "_space_group_name_Hall",
                                       "_symmetry.space_group_name_Hall",
                                       "_symmetry_space_group_name_Hall"};
    static const char *const symbol[] = {
        "_symmetry.space_group_name_H-M", "_symmetry_space_group_name_H-M",
        "_space_group.name_H-M_alt",      "_space_group_name_H-M_alt",
        "_space_group.name_H-M_full",     "_space_group.name_H-M_ref",
        "_space_group_name_H-M_ref",      "_space_group.IT_number",
        "_space_group_IT_number",         "_symmetry.Int_Tables_number",
        "_symmetry_Int_Tables_number"};
    nb_status status = NB_OK;
    const char *text;
    for (int i = 0; i < COUNT(operators); i++) {
        const nb_cif_column *column = nb_cif_find(cif, block, operators[i]);
        if (column)
            status = take_operators(cif, column, out, err);
        if (!status && out->count &&
            (text = nb_cif_first(cif, block, symbol, COUNT(symbol))))
            nb_symmetry_beside(out, text, cell, cif->name);
        if (status || out->count)
            return status;
    }
    if ((text = nb_cif_first(cif, block, hall, COUNT(hall))))
        return nb_symmetry_of_file(text, 1, cell, cif->name, out, err);
    if ((text = nb_cif_first(cif, block, symbol, COUNT(symbol))))
        return nb_symmetry_of_file(text, 0, cell, cif->name, out, err);
    return NB_OK;
}

nb_status nb_cif_crystal(const nb_cif *cif, int block, double cell[6], nb_symmetry *out,
                         nb_error *err)
{
    static const char *const edge[] = {"_cell.length_a", "_cell_length_a"};
    nb_status status;
    for (int i = 0; i < cif->n_blocks && !nb_cif_first(cif, block, edge, 2); i++)
        if (nb_cif_first(cif, i, edge, 2))
            block = i;
    status = take_cell(cif, block, cell, err);
    if (status)
        return status;
    return take_symmetry(cif, block, cell[0] > 0 ? cell : NULL, out, err);
}
