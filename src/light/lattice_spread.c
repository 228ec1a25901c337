/* SPDX-License-Identifier: MIT */
#include "lattice_spread.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "spline.h"

enum {
    BESIDE = 6
}; /* points beyond the last source: weights, and what the filter gives to neighbours */

void nb_lattice_coarse(const int low[3], const int n[3], const double apart[3],
                       nb_lattice_box *to)
{
    for (int i = 0; i < 3; i++) {
        const int last = (int)ceil((low[i] + n[i] - 1) / apart[i]) + BESIDE;
        to->low[i] = (int)floor(low[i] / apart[i]) - BESIDE;
        to->n[i] = last - to->low[i] + 1;
    }
}

/** A plane of sources on its way: rows become shorter, then fewer. */
typedef struct spreading {
    const nb_lattice_source *from;
    const double *apart;
    const nb_lattice_box *to;
    float *rows;  /* owned; [from n1][to n2] */
    float *plane; /* owned; [to n1][to n2] */
    double *row;  /* owned; a row of sources for each thread */
} spreading;

static int weights_of(const spreading *s, int axis, int i, float w[NB_SPLINE_TERMS])
{
    return nb_spline_at((s->from->low[axis] + i) / s->apart[axis] - s->to->low[axis],
                        s->to->n[axis], w);
}

static void shorten_row(const spreading *s, int h, int k, double *row)
{
    float *out = s->rows + (size_t)k * (size_t)s->to->n[2], w[NB_SPLINE_TERMS];
    s->from->row(s->from->data, (const int[3]){h, k, 0}, s->from->n[2], row);
    memset(out, 0, (size_t)s->to->n[2] * sizeof *out);
    for (int l = 0; l < s->from->n[2]; l++) {
        if (row[l] == 0)
            continue;
        float *at = out + weights_of(s, 2, l, w);
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            at[j] += w[j] * (float)row[l];
    }
}

static void add_row(const float *row, float weight, size_t n, float *to)
{
#pragma omp simd
    for (size_t l = 0; l < n; l++)
        to[l] += weight * row[l];
}

/** A plane of sources, into the planes of the other lattice about it. */
static void spread_plane(const spreading *s, int h, int threads)
{
    const size_t wide = (size_t)s->to->n[2], plane = wide * (size_t)s->to->n[1];
    float w[NB_SPLINE_TERMS];
    const int at = weights_of(s, 0, h, w);
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
        double *row = s->row;
#ifdef _OPENMP
        row += (size_t)omp_get_thread_num() * (size_t)s->from->n[2];
#pragma omp for schedule(static)
#endif
        for (int k = 0; k < s->from->n[1]; k++)
            shorten_row(s, h, k, row);
    }
    memset(s->plane, 0, plane * sizeof *s->plane);
    for (int k = 0; k < s->from->n[1]; k++) {
        float u[NB_SPLINE_TERMS];
        const int to = weights_of(s, 1, k, u);
        for (int j = 0; j < NB_SPLINE_TERMS; j++)
            add_row(s->rows + (size_t)k * wide, u[j], wide,
                    s->plane + (size_t)(to + j) * wide);
    }
    for (int j = 0; j < NB_SPLINE_TERMS; j++)
        add_row(s->plane, w[j], plane, s->to->at + (size_t)(at + j) * plane);
}

nb_status nb_lattice_spread(const nb_lattice_source *from, const double apart[3],
                            int threads, nb_lattice_box *to, nb_error *err)
{
    spreading s = {from, apart, to, NULL, NULL, NULL};
    nb_status st = NB_OK;
    nb_lattice_coarse(from->low, from->n, apart, to);
    to->at = nb_alloc((size_t)to->n[0] * (size_t)to->n[1] * (size_t)to->n[2],
                      sizeof *to->at, "diffuse light", err);
    s.rows = nb_alloc_raw((size_t)from->n[1] * (size_t)to->n[2], sizeof *s.rows,
                          "diffuse light", err);
    s.plane = nb_alloc_raw((size_t)to->n[1] * (size_t)to->n[2], sizeof *s.plane,
                           "diffuse light", err);
    s.row = nb_alloc_raw((size_t)from->n[2] * (size_t)threads, sizeof *s.row,
                         "diffuse light", err);
    if (!to->at || !s.rows || !s.plane || !s.row)
        st = NB_ERR_NOMEM;
    for (int h = 0; !st && h < from->n[0]; h++)
        if (!(st = nb_stop_check(err)))
            spread_plane(&s, h, threads);
    if (!st)
        nb_spline_of(to->at, to->n, threads);
    nb_free(s.rows);
    nb_free(s.plane);
    nb_free(s.row);
    if (st) {
        nb_free(to->at);
        to->at = NULL;
    }
    return st;
}
