/* SPDX-License-Identifier: MIT */
/* Processor time of each stage that makes structure factors of a model: least of some
 * repeats, one thread. Words: MODEL DMIN [direct|fft] [K_SOL]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "factors/model.h"
#include "lab.h"

enum { WAVELENGTHS = 20, ELEMENTS = 99 };

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    if (f) {
        fseek(f, 0, SEEK_END);
        *n = (size_t)ftell(f);
        rewind(f);
        data = malloc(*n + 1);
        if (fread(data, 1, *n, f) != *n)
            *n = 0;
        fclose(f);
    }
    return data;
}

/** Least seconds (best) of parsing, sums, a table, more wavelengths, the first three. */
static nb_status once(const char *data, size_t n, const nb_model_options *o, double *best,
                      nb_error *err)
{
    nb_structure s;
    nb_partials p;
    nb_factor_grid grid;
    nb_anomalous f[ELEMENTS] = {{0, 0}};
    double t[5];
    int H[3];
    t[0] = lab_processor();
    if (nb_structure_parse(data, n, "model", &s, err))
        return err->code;
    t[1] = lab_processor();
    if (nb_partials_make(&s, o, "model", NULL, &p, err))
        return err->code;
    t[2] = lab_processor();
    nb_index_limits(p.cell, p.dmin, H);
    if (nb_factor_grid_new(p.cell, H, &grid, err))
        return err->code;
    nb_partials_combine(&p, f, 0, 1, o->threads, &grid);
    t[3] = lab_processor();
    for (int i = 1; i < WAVELENGTHS; i++)
        nb_partials_combine(&p, f, 0, 1, o->threads, &grid);
    t[4] = lab_processor();
    for (int i = 0; i < 4; i++)
        best[i] = fmin(best[i], t[i + 1] - t[i]);
    best[4] = fmin(best[4], t[3] - t[0]);
    if (best[5] == 0)
        printf("%zu atoms, %d operators, %zu unique, %s, grid %d %d %d, solvent %d %d %d "
               "(%.3f)\n",
               p.atoms, p.symmetry.count, p.n, p.method == NB_SUM_FFT ? "fft" : "direct",
               p.density_grid[0], p.density_grid[1], p.density_grid[2], p.solvent_grid[0],
               p.solvent_grid[1], p.solvent_grid[2], p.solvent_fraction);
    best[5] = 1;
    nb_factor_grid_free(&grid);
    nb_partials_free(&p);
    nb_structure_free(&s);
    return NB_OK;
}

int lab_factors(const lab *l)
{
    nb_model_options o = {.dmin = 2, .k_sol = 0.435, .B_sol = 46, .model = 1, .threads = 1};
    double best[6] = {9e9, 9e9, 9e9, 9e9, 9e9, 0};
    nb_error err = {0};
    size_t n = 0;
    const char *method = lab_word(l, 2, "auto");
    const int repeats = lab_repeats(l, 5);
    char *data = l->count > 1 ? read_all(l->words[0], &n) : NULL;
    if (!data)
        lab_stop("factors: MODEL DMIN [direct|fft|auto] [K_SOL]");
    o.dmin = atof(l->words[1]);
    o.k_sol = atof(lab_word(l, 3, "0.435"));
    o.method = !strcmp(method, "direct") ? NB_SUM_DIRECT
               : !strcmp(method, "fft")  ? NB_SUM_FFT
                                         : NB_SUM_AUTO;
    for (int i = 0; i < repeats; i++)
        lab_need(once(data, n, &o, best, &err), &err);
    printf(
        "cpu ms: parse %.2f, sums %.2f, table %.2f, all %.2f; a further wavelength %.2f; "
        "twenty / one %.2f\n",
        1e3 * best[0], 1e3 * best[1], 1e3 * best[2], 1e3 * best[4],
        1e3 * best[3] / (WAVELENGTHS - 1), (best[4] + best[3]) / best[4]);
    free(data);
    return 0;
}
