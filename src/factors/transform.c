/* SPDX-License-Identifier: MIT */
#include "transform.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/memory.h"
#include "transform_lines.h"

/** Columns (k, l) that hold a wanted h. */
typedef struct column {
    int k, l;
} column;

typedef struct working {
    nb_fourier_box *box;
    const nb_planes *planes;
    nb_lines lines;
    column *columns;
    size_t n_columns;
    double *middle; /* [n0][pitch] complex: after c and b */
    double *rooms;  /* a buffer for each thread */
    size_t room;    /* doubles of one */
    int threads;
} working;

/** The least s^2 of a column over all h, whole or not. */
static double least_s2(const double G[6], int k, int l)
{
    double slope = G[3] * k + G[4] * l;
    return G[1] * k * k + G[2] * l * l + G[5] * k * l - slope * slope / (4 * G[0]);
}

static nb_status list_columns(working *w, nb_error *err)
{
    const nb_fourier_box *b = w->box;
    double limit = b->s2_limit * (1 + 1e-6); /* one too many costs nothing */
    size_t most = (size_t)(2 * b->H[1] + 1) * (size_t)(b->H[2] + 1), n = 0;
    w->columns = nb_alloc_raw(most, sizeof *w->columns, "columns", err);
    if (!w->columns)
        return NB_ERR_NOMEM;
    for (int k = -b->H[1]; k <= b->H[1]; k++)
        for (int l = 0; l <= b->H[2]; l++)
            if (least_s2(b->G, k, l) <= limit)
                w->columns[n++] = (column){k, l};
    w->n_columns = n;
    w->lines.pitch = (n + NB_COLUMNS - 1) / NB_COLUMNS * NB_COLUMNS;
    return NB_OK;
}

/** A plane of the function to its wanted columns. */
static void make_plane(const working *w, int u, double *room)
{
    const int *n = w->lines.n;
    size_t points = ((size_t)n[1] * (size_t)n[2] + 7) / 8 * 8;
    double *to = w->middle + 2 * (size_t)u * w->lines.pitch, *scratch, *buffer;
    const double *from;
    buffer = room + points;
    scratch = buffer + 2 * nb_lines_plane_room(&w->lines);
    w->planes->fill(w->planes->data, u, scratch, room);
    from = nb_lines_plane(&w->lines, room, buffer);
    for (size_t c = 0; c < w->n_columns; c++) {
        size_t at = nb_lines_in_plane(&w->lines, w->columns[c].k, w->columns[c].l);
        to[2 * c] = from[2 * at];
        to[2 * c + 1] = from[2 * at + 1];
    }
    for (size_t c = w->n_columns; c < w->lines.pitch; c++)
        to[2 * c] = to[2 * c + 1] = 0;
}

/** NB_COLUMNS columns from `first` on into the box; the sum wanted has exp(+...). */
static void make_columns(const working *w, size_t first, double *room)
{
    const nb_fourier_box *b = w->box;
    size_t rows = (size_t)(2 * b->H[1] + 1), n0 = (size_t)b->n[0];
    size_t count = w->n_columns - first < NB_COLUMNS ? w->n_columns - first : NB_COLUMNS;
    nb_lines_columns(&w->lines, w->middle + 2 * first, room);
    for (int h = -b->H[0]; h <= b->H[0]; h++) {
        size_t plane = (size_t)(h + b->H[0]) * rows;
        for (size_t c = 0; c < count; c++) {
            const column *at = &w->columns[first + c];
            const double *from = room + 2 * (c * n0 + (size_t)(h < 0 ? h + b->n[0] : h));
            double *to =
                b->X + 2 * ((plane + (size_t)(at->k + b->H[1])) * (size_t)(b->H[2] + 1) +
                            (size_t)at->l);
            to[0] = from[0];
            to[1] = -from[1];
        }
    }
}

static void run(const working *w)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(w->threads)
#endif
    {
        double *room = w->rooms;
#ifdef _OPENMP
        room += w->room * (size_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
#endif
        for (int u = 0; u < w->lines.n[0]; u++)
            make_plane(w, u, room);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 1)
#endif
        for (size_t first = 0; first < w->n_columns; first += NB_COLUMNS)
            make_columns(w, first, room);
    }
}

static nb_status allocate(working *w, nb_error *err)
{
    nb_fourier_box *b = w->box;
    size_t points = ((size_t)b->n[1] * (size_t)b->n[2] + 7) / 8 * 8;
    size_t voxels =
        (size_t)(2 * b->H[0] + 1) * (size_t)(2 * b->H[1] + 1) * (size_t)(b->H[2] + 1);
    size_t plane = points + 2 * nb_lines_plane_room(&w->lines) + w->planes->scratch;
    size_t columns = 2 * nb_lines_column_room(&w->lines);
    w->room = ((plane > columns ? plane : columns) + 7) / 8 * 8;
    w->rooms = nb_alloc_raw(w->room * (size_t)w->threads, sizeof *w->rooms,
                            "planes of a density", err);
    w->middle = nb_alloc_raw((size_t)b->n[0] * w->lines.pitch, 2 * sizeof *w->middle,
                             "a Fourier transform", err);
    b->X = nb_alloc_raw(voxels, 2 * sizeof *b->X, "a Fourier transform", err);
    return w->rooms && w->middle && b->X ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_fourier_make(nb_fourier_box *box, const nb_planes *planes, int is_plain,
                          int threads, nb_error *err)
{
    working w = {.box = box, .planes = planes, .threads = threads};
    nb_status status;
    memcpy(w.lines.n, box->n, sizeof box->n);
    memcpy(w.lines.H, box->H, sizeof box->H);
    box->X = NULL;
    status = list_columns(&w, err);
    if (status == NB_OK)
        status = nb_lines_open(&w.lines, is_plain, err);
    if (status == NB_OK)
        status = allocate(&w, err);
    if (status == NB_OK)
        run(&w);
    else
        nb_fourier_free(box);
    nb_lines_close(&w.lines);
    nb_free(w.columns);
    nb_free(w.rooms);
    nb_free(w.middle);
    return status;
}

void nb_fourier_free(nb_fourier_box *box)
{
    nb_free(box->X);
    box->X = NULL;
}
