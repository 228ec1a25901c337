/* SPDX-License-Identifier: MIT */
/* Boxes of indices, and F of a box times k exp(-B s^2/4). */
#include <math.h>

#include "model.h"

/* --- boxes --- */

nb_factor_box nb_factor_box_of(const int H[3])
{
    nb_factor_box box;
    for (int i = 0; i < 3; i++) {
        box.low[i] = -H[i];
        box.n[i] = 2 * H[i] + 1;
    }
    return box;
}

size_t nb_factor_box_voxels(const nb_factor_box *box)
{
    return (size_t)box->n[0] * (size_t)box->n[1] * (size_t)box->n[2];
}

nb_factor_box nb_factor_grid_filled(const nb_factor_grid *grid)
{
    const int *H = grid->H;
    int low[3] = {H[0] + 1, H[1] + 1, H[2] + 1}, high[3] = {-H[0], -H[1], -H[2]};
    nb_factor_box box = {{0, 0, 0}, {1, 1, 1}};
    const double *F = grid->F;
    for (int h = -H[0]; h <= H[0]; h++)
        for (int k = -H[1]; k <= H[1]; k++)
            for (int l = -H[2]; l <= H[2]; l++) {
                const int at[3] = {h, k, l};
                if (isnan(*F++))
                    continue;
                for (int i = 0; i < 3; i++) {
                    low[i] = at[i] < low[i] ? at[i] : low[i];
                    high[i] = at[i] > high[i] ? at[i] : high[i];
                }
            }
    for (int i = 0; i < 3 && low[0] <= high[0]; i++) {
        box.low[i] = low[i];
        box.n[i] = high[i] - low[i] + 1;
    }
    return box;
}

int nb_factor_box_has_mates(const nb_factor_box *box)
{
    int all = 1;
    for (int i = 0; i < 3; i++)
        all &= 2 * box->low[i] + box->n[i] == 1;
    return all;
}

/* --- weights --- */

/** Data of nb_factor_grid_weigh. */
typedef struct weighing {
    const nb_factor_grid *grid;
    nb_factor_weight w;
    const nb_factor_box *box;
    double G[6]; /* metric */
    double *to;
} weighing;

/** Rows of a box with the same factors. Rows of mates have the reverse order. */
typedef struct equal_rows {
    int h, k, n; /* h and k of the first row; n: number of rows */
    const double *F[4];
    double *to[4];
} equal_rows;

/* BACK: bit that is set in the numbers of reversed (odd) rows; RUN: number of factors of
 * a run */
enum { BACK = 1, RUN = 256 };

static void add_row(const weighing *job, int h, int k, equal_rows *rows)
{
    const int *low = job->box->low, *n = job->box->n;
    const size_t row = (size_t)(h - low[0]) * (size_t)n[1] + (size_t)(k - low[1]);
    rows->F[rows->n] = job->grid->F + nb_factor_grid_at(job->grid, h, k, low[2]);
    rows->to[rows->n++] = job->to + row * (size_t)n[2];
}

/** True if factor i multiplies a value other than 0 and NaN in any of the rows. */
static int counts(const equal_rows *rows, int i, int last)
{
    for (int r = 0; r < rows->n; r++) {
        const double F = rows->F[r][r & BACK ? last - i : i];
        if (F != 0 && !isnan(F))
            return 1;
    }
    return 0;
}

/** Multiply n values by factors. 0 stays 0 with any factor. */
static void weigh(const double *from, const double *factor, int n, double *to)
{
#pragma omp simd
    for (int i = 0; i < n; i++)
        to[i] = from[i] != 0 ? from[i] * factor[i] : from[i];
}

/** Weigh the entries first ... end - 1 of all rows. Outside of a ... b - 1 F is 0 or
 * NaN. */
static void weigh_run(const weighing *job, const equal_rows *rows, int first, int end)
{
    const int low = job->box->low[2], last = job->box->n[2] - 1;
    const nb_factor_weight w = job->w;
    double factor[RUN], back[RUN];
    int a = first, b = end;
    while (a < b && !counts(rows, a, last))
        a++;
    while (a < b && !counts(rows, b - 1, last))
        b--;
    for (int i = first; i < end; i++)
        factor[i - first] =
            i < a || i >= b || w.B == 0
                ? w.k
                : w.k * exp(-w.B * nb_s_squared(job->G, rows->h, rows->k, low + i) / 4);
    for (int i = first; i < end; i++)
        back[end - 1 - i] = factor[i - first];
    for (int r = 0; r < rows->n; r++) {
        const int at = r & BACK ? last - end + 1 : first;
        weigh(rows->F[r] + at, r & BACK ? back : factor, end - first, rows->to[r] + at);
    }
}

/** Weigh row h, k, its mate, and the rows with -k if b is at right angles to a and c. */
static void weigh_rows(const weighing *job, int h, int k, int mates, int mirrored)
{
    const int n = job->box->n[2];
    equal_rows rows = {.h = h, .k = k};
    add_row(job, h, k, &rows);
    if (mates && (h || k))
        add_row(job, -h, -k, &rows);
    if (mirrored && h && k) {
        add_row(job, h, -k, &rows);
        add_row(job, -h, k, &rows);
    }
    for (int first = 0; first < n; first += RUN)
        weigh_run(job, &rows, first, n - first < RUN ? n : first + RUN);
}

void nb_factor_grid_weigh(const nb_factor_grid *grid, nb_factor_weight w,
                          const nb_factor_box *box, int threads, double *to)
{
    weighing job = {.grid = grid, .w = w, .box = box, .to = to};
    const int *low = box->low, *n = box->n, mates = nb_factor_box_has_mates(box);
    nb_reciprocal_metric(w.cell, job.G);
    const int mirrored = mates && job.G[3] == 0 && job.G[5] == 0;
    (void)threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int h = mates ? 0 : low[0]; h < low[0] + n[0]; h++)
        for (int k = mirrored || (mates && h == 0) ? 0 : low[1]; k < low[1] + n[1]; k++)
            weigh_rows(&job, h, k, mates, mirrored);
}
