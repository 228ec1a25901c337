/* SPDX-License-Identifier: MIT */
/* Rows of -dump_mtz, text of -dump_hkl, and the table of a scene. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "model.h"

enum {
    FMEAN,
    F_PLUS,
    F_MINUS,
    PHI_PLUS,
    PHI_MINUS,
    COLUMNS,
    /* bytes of a line: three indices (6 characters each), a number (16) and blanks */
    LINE = 64
};

/** F of a voxel, or NaN for an absence: the space group implies that its F is 0. */
static double value_at(const nb_factor_grid *g, size_t at)
{
    return g->absent && g->absent[at] ? NAN : g->F[at];
}

/** True for a reflection in the hemisphere of -dump_mtz. */
static int is_upper(int h, int k, int l)
{
    return l ? l > 0 : h ? h > 0 : k >= 0;
}

/** Count the reflections of the hemisphere for which F(+) or F(-) has a value. Write the
 * rows to out unless out is NULL. */
static size_t fill_rows(const nb_factor_grid *g, nb_reflection_file *out)
{
    size_t n = 0, voxels = nb_factor_grid_voxels(g), at = 0;
    for (int h = -g->H[0]; h <= g->H[0]; h++)
        for (int k = -g->H[1]; k <= g->H[1]; k++)
            for (int l = -g->H[2]; l <= g->H[2]; l++, at++) {
                size_t mate = voxels - 1 - at;
                double F[2] = {value_at(g, at), value_at(g, mate)};
                if (!is_upper(h, k, l) || (isnan(F[0]) && isnan(F[1])))
                    continue;
                if (out) {
                    nb_column *c = out->columns;
                    memcpy(out->hkl[n], (int[3]){h, k, l}, sizeof *out->hkl);
                    c[FMEAN].value[n] = (float)(isnan(F[0])   ? F[1]
                                                : isnan(F[1]) ? F[0]
                                                              : (F[0] + F[1]) / 2);
                    c[F_PLUS].value[n] = (float)F[0];
                    c[F_MINUS].value[n] = (float)F[1];
                    if (g->phase) {
                        c[PHI_PLUS].value[n] = (float)(g->phase[at] * (180 / M_PI));
                        c[PHI_MINUS].value[n] = (float)(g->phase[mate] * (180 / M_PI));
                    }
                }
                n++;
            }
    return n;
}

static nb_status make_columns(nb_reflection_file *out, nb_error *err)
{
    static const nb_column columns[COLUMNS] = {{.label = "FMEAN", .type = 'F'},
                                               {.label = "F(+)", .type = 'G'},
                                               {.label = "F(-)", .type = 'G'},
                                               {.label = "PHI(+)", .type = 'P'},
                                               {.label = "PHI(-)", .type = 'P'}};
    for (int i = 0; i < out->n_columns; i++) {
        out->columns[i] = columns[i];
        out->columns[i].value = nb_alloc_raw(out->count, sizeof(float), "a column", err);
        NB_NEED(out->columns[i].value);
    }
    return NB_OK;
}

nb_status nb_dump_rows(const nb_factor_grid *grid, nb_reflection_file *out, nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    memcpy(out->cell, grid->cell, sizeof out->cell);
    out->wavelength = grid->wavelength;
    out->symmetry = nb_P1;
    out->count = fill_rows(grid, NULL);
    out->hkl = nb_alloc_raw(out->count, sizeof *out->hkl, "indices", err);
    out->columns = nb_alloc(COLUMNS, sizeof *out->columns, "columns", err);
    out->n_columns = !out->columns ? 0 : grid->phase ? COLUMNS : PHI_PLUS;
    st = out->hkl && out->columns ? make_columns(out, err) : NB_ERR_NOMEM;
    if (!st)
        fill_rows(grid, out);
    else
        nb_reflection_file_free(out);
    return st;
}

nb_status nb_dump_text(const nb_factor_grid *grid, char **text, size_t *size,
                       nb_error *err)
{
    NB_IN_C_LOCALE;
    size_t n = 0, used = 0, at = 0, voxels = nb_factor_grid_voxels(grid);
    for (size_t i = 0; i < voxels; i++)
        n += !isnan(value_at(grid, i));
    *size = 0;
    *text = nb_alloc_raw(n + 1, LINE, "a list of reflections", err);
    NB_NEED(*text);
    for (int h = -grid->H[0]; h <= grid->H[0]; h++)
        for (int k = -grid->H[1]; k <= grid->H[1]; k++)
            for (int l = -grid->H[2]; l <= grid->H[2]; l++, at++) {
                double F = value_at(grid, at);
                if (!isnan(F))
                    used += (size_t)snprintf(*text + used, LINE, "%d %d %d %.9g\n", h, k,
                                             l, F);
            }
    *size = used;
    return NB_OK;
}

void nb_factor_grid_table(nb_factor_grid *grid, double default_F, nb_factor_file *out)
{
    size_t voxels = nb_factor_grid_voxels(grid);
    const int *H = grid->H;
    *out = (nb_factor_file){-H[0], H[0], -H[1], H[1], -H[2], H[2], 0, grid->F};
    grid->F = NULL;
    for (size_t i = 0; i < voxels; i++)
        if (isnan(out->F[i]))
            out->F[i] = default_F;
        else
            out->reflections++;
}
