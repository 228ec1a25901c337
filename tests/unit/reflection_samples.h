/* SPDX-License-Identifier: MIT */
/** Reflection files, space groups and crystals made by hand. */
#ifndef NB_TESTS_REFLECTION_SAMPLES_H
#define NB_TESTS_REFLECTION_SAMPLES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/factors/model.h"
#include "../../src/factors/factors.h"

/** Reads one coordinate, such as "-x+1/2". */
static inline const char *sample_coordinate(const char *p, int8_t R[3], int8_t *t)
{
    int sign = 1;
    for (; *p && *p != ',' && *p != ' '; p++) {
        if (*p == '+' || *p == '-')
            sign = *p == '-' ? -1 : 1;
        else if (*p >= 'x' && *p <= 'z')
            R[*p - 'x'] = (int8_t)sign;
        else {
            *t = (int8_t)(sign * 24 * (*p - '0') / (p[2] - '0'));
            p += 2;
        }
    }
    return *p ? p + 1 : p;
}

/** Space group from operators separated by blanks, such as "x,y,z -x,y+1/2,-z". */
static inline nb_symmetry sample_group(const char *operators)
{
    nb_symmetry sg = {0};
    while (*operators) {
        nb_symop *op = &sg.ops[sg.count++];
        for (int i = 0; i < 3; i++)
            operators = sample_coordinate(operators, op->R + 3 * i, &op->t[i]);
    }
    return sg;
}

/** Adds a column, of missing values if `values` is NULL. Returns the column's values. */
static inline float *sample_column(nb_reflection_file *file, const char *label, char type,
                                   const float *values)
{
    nb_column c = {.type = type, .value = malloc((file->count + 1) * sizeof(float))};
    snprintf(c.label, sizeof c.label, "%s", label);
    for (size_t i = 0; i < file->count; i++)
        c.value[i] = values ? values[i] : NAN;
    file->columns =
        realloc(file->columns, (size_t)(file->n_columns + 1) * sizeof *file->columns);
    file->columns[file->n_columns++] = c;
    return c.value;
}

/** Adds columns "label:type ..." of file->count missing values. */
static inline void sample_add_columns(nb_reflection_file *file, const char *columns)
{
    char label[40], type;
    int used;
    for (; sscanf(columns, " %39[^:]:%c%n", label, &type, &used) == 2; columns += used)
        sample_column(file, label, type, NULL);
}

static inline nb_reflection_file sample_columns(const char *columns)
{
    nb_reflection_file file = {0};
    sample_add_columns(&file, columns);
    return file;
}

/** Makes a file from rows "h k l a b, ...", where "?" is a missing value. */
static inline nb_reflection_file sample_rows(const char *columns, const char *rows,
                                             const double cell[6])
{
    nb_reflection_file file = {.count = 1};
    size_t row = 0;
    memcpy(file.cell, cell, sizeof file.cell);
    for (const char *p = rows; *p; p++)
        file.count += *p == ',';
    file.hkl = calloc(file.count, sizeof *file.hkl);
    sample_add_columns(&file, columns);
    for (const char *p = rows; row < file.count; row++, p += *p == ',') {
        char *end;
        for (int i = 0; i < 3; i++, p = end)
            file.hkl[row][i] = (int)strtol(p, &end, 10);
        for (int i = 0; i < file.n_columns; i++) {
            p += strspn(p, " ");
            file.columns[i].value[row] = strtof(p, &end);
            if (*p == '?') {
                file.columns[i].value[row] = NAN;
                end = (char *)(uintptr_t)p + 1;
            }
            p = end;
        }
    }
    return file;
}

static inline void sample_free(nb_reflection_file *file)
{
    for (int i = 0; i < file->n_columns; i++)
        free(file->columns[i].value);
    free(file->columns);
    free(file->hkl);
    memset(file, 0, sizeof *file);
}

/** Chooses columns, and expands them by symmetry to the whole sphere of reflections. */
static inline nb_status sample_expand(const nb_reflection_file *file, const char *labels,
                                      const nb_symmetry *sg, double dmin,
                                      nb_factor_grid *out, nb_expansion *about,
                                      nb_error *err)
{
    nb_expansion_request request = {
        .file = file, .sg = sg, .dmin = dmin, .whole_sphere = 1, .name = "a.mtz"};
    nb_status st = nb_columns_choose(file, labels, "a.mtz", &request.columns, err);
    memset(out, 0, sizeof *out);
    memcpy(request.cell, file->cell, sizeof request.cell);
    return st ? st : nb_expand(&request, out, about, err);
}

/** Random number, 0 <= x < 1. */
static inline double sample_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

enum { SAMPLE_ATOMS = 6 };

/** Point atoms of complex weight f; every operator of the group copies each atom. */
typedef struct sample_crystal {
    double cell[6];
    nb_symmetry sg;
    double x[SAMPLE_ATOMS][3], f[SAMPLE_ATOMS][2];
} sample_crystal;

static inline sample_crystal sample_crystal_make(const char *operators,
                                                 const double cell[6], int is_anomalous)
{
    sample_crystal c = {.sg = sample_group(operators)};
    uint64_t seed = 12345;
    memcpy(c.cell, cell, sizeof c.cell);
    for (int i = 0; i < SAMPLE_ATOMS; i++) {
        for (int j = 0; j < 3; j++)
            c.x[i][j] = sample_random(&seed);
        c.f[i][0] = 6 + 10 * sample_random(&seed);
        c.f[i][1] = is_anomalous ? 4 * sample_random(&seed) : 0;
    }
    return c;
}

/** F(h) = sum f exp(2 pi i h (R x + t)). */
static inline void sample_factor(const sample_crystal *c, const int h[3], double F[2])
{
    F[0] = F[1] = 0;
    for (int i = 0; i < c->sg.count; i++)
        for (int a = 0; a < SAMPLE_ATOMS; a++) {
            const nb_symop *op = &c->sg.ops[i];
            double phi = 0;
            for (int j = 0; j < 3; j++)
                phi += h[j] * (op->R[3 * j] * c->x[a][0] + op->R[3 * j + 1] * c->x[a][1] +
                               op->R[3 * j + 2] * c->x[a][2] + op->t[j] / 24.0);
            phi *= 2 * M_PI;
            F[0] += c->f[a][0] * cos(phi) - c->f[a][1] * sin(phi);
            F[1] += c->f[a][0] * sin(phi) + c->f[a][1] * cos(phi);
        }
}

#endif
