/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"
#include "../base/threads.h"

enum { COLUMNS = 16 }; /* number of columns along a that are transformed together */

/** Plans of the transforms of the lines of a grid. */
typedef struct line_plans {
    int n[3], H[3];
    size_t pitch;     /* complex numbers from the columns of plane u to those of u + 1 */
    void *plan[3];    /* owned; plans of FFTW along a, b, c, or NULL for plain sums */
    double *waves[3]; /* owned; for plain sums: exp(-2 pi i m/n), m = 0..n-1, or NULL */
} line_plans;

/** Number of complex numbers of a row after the transform along c: l = 0..n/2 by FFTW,
 * l = 0..H2 by plain sums. */
static size_t half(const line_plans *lines)
{
    return (size_t)(lines->plan[2] ? lines->n[2] / 2 : lines->H[2]) + 1;
}

/* Size of the buffers of lines_plane and lines_columns, in complex numbers. */
static size_t lines_plane_room(const line_plans *lines)
{
    return (size_t)lines->n[1] * (half(lines) + (size_t)lines->H[2] + 1);
}

static size_t lines_column_room(const line_plans *lines)
{
    return (size_t)lines->n[0] * COLUMNS;
}

/** Make plans with temporary buffers. A plan is also valid for other buffers of the same
 * alignment, which all allocations have. */
static nb_status make_plans(line_plans *lines, nb_error *err)
{
    const int *n = lines->n, rows = n[2] / 2 + 1, pitch = (int)lines->pitch;
    size_t columns = lines->pitch * (size_t)n[0], plane = 2 * (size_t)n[1] * (size_t)rows;
    size_t room = columns > plane ? columns : plane;
    double *in = nb_alloc_raw(room, 2 * sizeof *in, "a plan of FFTW", err);
    double *out = nb_alloc_raw(plane + lines_column_room(lines), 2 * sizeof *out,
                               "a plan of FFTW", err);
    fftw_complex *x = (fftw_complex *)in, *y = (fftw_complex *)out;
    if (in && out) {
        nb_fftw_lock();
        lines->plan[2] = fftw_plan_many_dft_r2c(1, &n[2], n[1], in, NULL, 1, n[2], y,
                                                NULL, 1, rows, FFTW_ESTIMATE);
        lines->plan[1] = fftw_plan_many_dft(1, &n[1], lines->H[2] + 1, x, NULL, rows, 1,
                                            y, NULL, 1, n[1], FFTW_FORWARD, FFTW_ESTIMATE);
        lines->plan[0] = fftw_plan_many_dft(1, &n[0], COLUMNS, x, NULL, pitch, 1, y, NULL,
                                            1, n[0], FFTW_FORWARD, FFTW_ESTIMATE);
        nb_fftw_unlock();
    }
    nb_free(in);
    nb_free(out);
    NB_NEED(in && out);
    if (!lines->plan[2] || !lines->plan[1] || !lines->plan[0])
        return nb_fail(err, NB_ERR_INTERNAL, "FFTW makes no plan for %d x %d x %d", n[0],
                       n[1], n[2]);
    return NB_OK;
}

static nb_status make_waves(line_plans *lines, nb_error *err)
{
    for (int i = 0; i < 3; i++) {
        int n = lines->n[i];
        double *w = nb_alloc_raw((size_t)n, 2 * sizeof *w, "waves", err);
        NB_NEED(w);
        for (int j = 0; j < n; j++) {
            w[2 * j] = cos(2 * M_PI * j / n);
            w[2 * j + 1] = -sin(2 * M_PI * j / n);
        }
        lines->waves[i] = w;
    }
    return NB_OK;
}

static void lines_close(line_plans *lines)
{
    for (int i = 0; i < 3; i++) {
        if (lines->plan[i]) {
            nb_fftw_lock();
            fftw_destroy_plan(lines->plan[i]);
            nb_fftw_unlock();
        }
        nb_free(lines->waves[i]);
    }
}

/** Transform a real row to out[l], l <= H2. */
static void plain_row(const line_plans *lines, const double *row, double *out)
{
    int n = lines->n[2], bound = lines->H[2];
    memset(out, 0, 2 * (size_t)(bound + 1) * sizeof *out);
    for (int w = 0; w < n; w++) {
        if (row[w] == 0)
            continue;
        for (int l = 0, at = 0; l <= bound; l++) {
            out[2 * l] += row[w] * lines->waves[2][2 * at];
            out[2 * l + 1] += row[w] * lines->waves[2][2 * at + 1];
            at += w;
            at -= at >= n ? n : 0;
        }
    }
}

/** Transform n numbers in[i stride] to out[m mod n], |m| <= bound. */
static void plain_line(const double *waves, int n, int bound, const double *in,
                       size_t stride, double *out)
{
    for (int m = -bound; m <= bound; m++) {
        int step = m < 0 ? m + n : m, at = 0;
        double re = 0, im = 0;
        for (int i = 0; i < n; i++) {
            double a = in[2 * (size_t)i * stride], b = in[2 * (size_t)i * stride + 1];
            re += a * waves[2 * at] - b * waves[2 * at + 1];
            im += a * waves[2 * at + 1] + b * waves[2 * at];
            at += step;
            at -= at >= n ? n : 0;
        }
        out[2 * step] = re;
        out[2 * step + 1] = im;
    }
}

static size_t in_plane(const line_plans *lines, int k, int l)
{
    return (size_t)l * (size_t)lines->n[1] + (size_t)(k < 0 ? k + lines->n[1] : k);
}

/* Transform a plane [n1][n2] of real numbers along c, then b. Returns a part of the
 * buffer, which holds the coefficient of k, l at in_plane. */
static const double *lines_plane(const line_plans *lines, double *plane, double *buffer)
{
    size_t n1 = (size_t)lines->n[1], rows = half(lines);
    double *out = buffer + 2 * n1 * rows;
    if (lines->plan[2]) {
        fftw_execute_dft_r2c(lines->plan[2], plane, (fftw_complex *)buffer);
        fftw_execute_dft(lines->plan[1], (fftw_complex *)buffer, (fftw_complex *)out);
        return out;
    }
    for (size_t v = 0; v < n1; v++)
        plain_row(lines, plane + v * (size_t)lines->n[2], buffer + 2 * v * rows);
    for (size_t l = 0; l < rows; l++)
        plain_line(lines->waves[1], lines->n[1], lines->H[1], buffer + 2 * l, rows,
                   out + 2 * l * n1);
    return out;
}

/* Transform COLUMNS columns, pitch apart, to out, with h at column * n0 + (h mod n0). */
static void lines_columns(const line_plans *lines, double *columns, double *out)
{
    if (lines->plan[0]) {
        fftw_execute_dft(lines->plan[0], (fftw_complex *)columns, (fftw_complex *)out);
        return;
    }
    for (size_t j = 0; j < COLUMNS; j++)
        plain_line(lines->waves[0], lines->n[0], lines->H[0], columns + 2 * j,
                   lines->pitch, out + 2 * j * (size_t)lines->n[0]);
}

/** A column (k, l) in which some h may have s^2 inside the limit. */
typedef struct column {
    int k, l;
} column;

typedef struct working {
    nb_fourier_box *box;
    const nb_planes *planes;
    line_plans lines;
    column *columns;
    size_t n_columns;
    double *middle; /* [n0][pitch] complex: after the transforms along c and b */
    double *rooms;  /* a buffer for each thread */
    size_t room;    /* doubles of a buffer */
    int threads;
} working;

/** Smallest s^2 of a column over all real h. */
static double least_s2(const double G[6], int k, int l)
{
    double slope = G[3] * k + G[4] * l;
    return G[1] * k * k + G[2] * l * l + G[5] * k * l - slope * slope / (4 * G[0]);
}

static nb_status list_columns(working *w, nb_error *err)
{
    const nb_fourier_box *b = w->box;
    double limit = b->s2_limit * (1 + 1e-6); /* an extra column does no harm */
    size_t bound = (size_t)(2 * b->H[1] + 1) * (size_t)(b->H[2] + 1), n = 0;
    w->columns = nb_alloc_raw(bound, sizeof *w->columns, "columns", err);
    NB_NEED(w->columns);
    for (int k = -b->H[1]; k <= b->H[1]; k++)
        for (int l = 0; l <= b->H[2]; l++)
            if (least_s2(b->G, k, l) <= limit)
                w->columns[n++] = (column){k, l};
    w->n_columns = n;
    w->lines.pitch = (n + COLUMNS - 1) / COLUMNS * COLUMNS;
    return NB_OK;
}

/** Transform plane u of the function along c and b, and keep the listed columns. */
static void make_plane(const working *w, int u, double *room)
{
    const int *n = w->lines.n;
    size_t points = ((size_t)n[1] * (size_t)n[2] + 7) / 8 * 8;
    double *to = w->middle + 2 * (size_t)u * w->lines.pitch, *scratch, *buffer;
    const double *from;
    buffer = room + points;
    scratch = buffer + 2 * lines_plane_room(&w->lines);
    w->planes->fill(w->planes->data, u, scratch, room);
    from = lines_plane(&w->lines, room, buffer);
    for (size_t c = 0; c < w->n_columns; c++) {
        size_t at = in_plane(&w->lines, w->columns[c].k, w->columns[c].l);
        to[2 * c] = from[2 * at];
        to[2 * c + 1] = from[2 * at + 1];
    }
    for (size_t c = w->n_columns; c < w->lines.pitch; c++)
        to[2 * c] = to[2 * c + 1] = 0;
}

/** Transform COLUMNS columns from `first` on along a into the box. They are conjugated,
 * because X has exp(+...) and the transform exp(-...). */
static void make_columns(const working *w, size_t first, double *room)
{
    const nb_fourier_box *b = w->box;
    size_t rows = (size_t)(2 * b->H[1] + 1), n0 = (size_t)b->n[0];
    size_t count = w->n_columns - first < COLUMNS ? w->n_columns - first : COLUMNS;
    lines_columns(&w->lines, w->middle + 2 * first, room);
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
#pragma omp parallel num_threads(w->threads)
    {
        double *room = w->rooms + w->room * (size_t)nb_thread_number();
#pragma omp for schedule(dynamic, 1)
        for (int u = 0; u < w->lines.n[0]; u++)
            make_plane(w, u, room);
#pragma omp for schedule(dynamic, 1)
        for (size_t first = 0; first < w->n_columns; first += COLUMNS)
            make_columns(w, first, room);
    }
}

static nb_status allocate(working *w, nb_error *err)
{
    nb_fourier_box *b = w->box;
    size_t points = ((size_t)b->n[1] * (size_t)b->n[2] + 7) / 8 * 8;
    size_t voxels =
        (size_t)(2 * b->H[0] + 1) * (size_t)(2 * b->H[1] + 1) * (size_t)(b->H[2] + 1);
    size_t plane = points + 2 * lines_plane_room(&w->lines) + w->planes->scratch;
    size_t columns = 2 * lines_column_room(&w->lines);
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
    nb_status st;
    memcpy(w.lines.n, box->n, sizeof box->n);
    memcpy(w.lines.H, box->H, sizeof box->H);
    box->X = NULL;
    st = list_columns(&w, err);
    NB_TRY(is_plain ? make_waves(&w.lines, err) : make_plans(&w.lines, err));
    NB_TRY(allocate(&w, err));
    if (!st)
        run(&w);
    else
        nb_fourier_free(box);
    lines_close(&w.lines);
    nb_free(w.columns);
    nb_free(w.rooms);
    nb_free(w.middle);
    return st;
}

void nb_fourier_free(nb_fourier_box *box)
{
    nb_free(box->X);
    box->X = NULL;
}
