/* SPDX-License-Identifier: MIT */
/* Reflections of a structure-factor or small-molecule CIF. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "structure_parts.h"

/* Types as MTZ has them. */
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

static nb_status take_index(const nb_cif *cif, int block, const char *prefix, int axis,
                            nb_reflection_file *out, nb_error *err)
{
    char tag[40];
    const nb_cif_column *column;
    snprintf(tag, sizeof tag, "%sindex_%c", prefix, "hkl"[axis]);
    column = nb_cif_find(cif, block, tag);
    if (!column || column->rows != out->count)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "the reflections have no %s",
                          tag);
    for (size_t row = 0; row < out->count; row++) {
        const char *text = column->value[row * column->width];
        double value;
        if (!text || !nb_cif_number(text, &value) || value != rint(value) ||
            fabs(value) > NB_INDEX_MOST)
            return nb_fail_at(
                err, NB_ERR_INPUT, cif->name, column->line,
                "%s of row %zu of this loop is no index (at most %d): %.40s", tag,
                row + 1, NB_INDEX_MOST, text ? text : "?");
        out->hkl[row][axis] = (int)value;
    }
    return NB_OK;
}

static int is_data(const nb_cif_column *column, int block, const char *prefix, size_t rows)
{
    const size_t n = strlen(prefix);
    return column->block == block && column->rows == rows &&
           !strncasecmp(column->tag, prefix, n) &&
           strncasecmp(column->tag + n, "index_", 6);
}

static nb_status take_column(const nb_cif_column *from, size_t prefix,
                             nb_reflection_file *out, nb_error *err)
{
    nb_column *to = &out->columns[out->n_columns];
    to->value = nb_alloc_raw(out->count, sizeof *to->value, "a column", err);
    if (!to->value)
        return NB_ERR_NOMEM;
    out->n_columns++;
    snprintf(to->label, sizeof to->label, "%s", from->tag + prefix);
    to->type = type_of(to->label);
    for (size_t row = 0; row < out->count; row++) {
        const char *text = from->value[row * from->width];
        double value = NAN;
        to->value[row] = text && nb_cif_number(text, &value) ? (float)value : NAN;
    }
    return NB_OK;
}

static nb_status take_loop(const nb_cif *cif, int block, const char *prefix,
                           nb_reflection_file *out, nb_error *err)
{
    nb_status status = NB_OK;
    int columns = 0;
    out->hkl = nb_alloc(out->count, sizeof *out->hkl, "indices", err);
    for (int axis = 0; axis < 3 && out->hkl && !status; axis++)
        status = take_index(cif, block, prefix, axis, out, err);
    if (status || !out->hkl)
        return status ? status : NB_ERR_NOMEM;
    for (size_t i = 0; i < cif->n_columns; i++)
        columns += is_data(&cif->columns[i], block, prefix, out->count);
    out->columns = nb_alloc((size_t)columns, sizeof *out->columns, "columns", err);
    if (!out->columns)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < cif->n_columns && !status; i++)
        if (is_data(&cif->columns[i], block, prefix, out->count))
            status = take_column(&cif->columns[i], strlen(prefix), out, err);
    return status;
}

nb_status nb_cif_reflections(const nb_cif *cif, nb_reflection_file *out, nb_error *err)
{
    static const char *const merged[] = {"_refln.index_h", "_refln_index_h"};
    static const char *const unmerged[] = {"_diffrn_refln.index_h",
                                           "_diffrn_refln_index_h"};
    static const char *const wavelengths[] = {"_diffrn_radiation_wavelength.wavelength",
                                              "_diffrn_radiation_wavelength",
                                              "_diffrn_radiation_wavelength_wavelength"};
    const int block = nb_cif_block_with(cif, merged, 2);
    const nb_cif_column *h;
    const char *wavelength;
    double lambda;
    nb_status status;
    out->is_cif = 1;
    out->is_unmerged = block < 0 && nb_cif_block_with(cif, unmerged, 2) >= 0;
    if (out->is_unmerged)
        return NB_OK;
    if (block < 0)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0,
                          "no reflections: neither _refln.index_h nor _refln_index_h");
    status = nb_cif_crystal(cif, block, out->cell, &out->symmetry, err);
    if (status)
        return status;
    wavelength = nb_cif_first(cif, block, wavelengths, 3);
    if (wavelength && nb_cif_number(wavelength, &lambda) && lambda > 0 && lambda < 1e3)
        out->wavelength = lambda;
    h = nb_cif_find(cif, block, merged[0]);
    out->count = h ? h->rows : nb_cif_find(cif, block, merged[1])->rows;
    if (!out->count)
        return nb_fail_at(err, NB_ERR_INPUT, cif->name, 0, "no reflection");
    return take_loop(cif, block, h ? "_refln." : "_refln_", out, err);
}
