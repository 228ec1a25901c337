/* SPDX-License-Identifier: MIT */
#include "fibre.h"

#include <pthread.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../physics/panels.h"
#include "../base/threads.h"
#include "stages.h"

enum { TOGETHER = 8 /* number of columns that are transformed together */ };

/** Transform of the point spread function for panels of one size. The function is even
 * along both edges, so its transform is real and even. */
typedef struct transform {
    int columns, rows;       /* size of the panel */
    double fast, slow, fwhm; /* edges of a pixel, width, m */
    int wide, high;          /* lengths of the transforms */
    double *hat;             /* owned; [wide/2 + 1][high/2 + 1] */
    fftw_plan in, out;       /* plans of a row: real to complex and back */
    fftw_plan down, up;      /* plans of a column */
    fftw_plan even;          /* plan of a real column */
    int users;
    struct transform *next;
} transform;

struct nb_fibres {
    pthread_mutex_t lock;
    transform *first;
};

nb_status nb_fibres_new(nb_fibres **fibres, nb_error *err)
{
    nb_fibres *f = nb_alloc(1, sizeof *f, "point spread", err);
    *fibres = f;
    if (f)
        pthread_mutex_init(&f->lock, NULL);
    return f ? NB_OK : NB_ERR_NOMEM;
}

static void free_transform(transform *t)
{
    const fftw_plan plans[] = {t->in, t->out, t->down, t->up, t->even};
    nb_fftw_lock();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i])
            fftw_destroy_plan(plans[i]);
    nb_fftw_unlock();
    nb_free(t->hat);
    nb_free(t);
}

void nb_fibres_free(nb_fibres *f)
{
    while (f && f->first) {
        transform *t = f->first;
        f->first = t->next;
        free_transform(t);
    }
    if (f)
        pthread_mutex_destroy(&f->lock);
    nb_free(f);
}

/** Rows of a piece for a thread, the same for any number of threads. */
enum { ROWS = 64 };

/** Call `make` for n rows or columns, `step` at a time. Returns 0 if memory is exhausted
 * or the user stops the work. */
static int in_pieces(int n, int step, int threads,
                     int (*make)(const void *job, int from, int to), const void *job)
{
    nb_asking *asking = nb_asking_now();
    int failed = 0;
    (void)threads;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(| : failed)
    for (int i = 0; i < n; i += step)
        failed |= nb_stop_asked(asking) || !make(job, i, i + step < n ? i + step : n);
    return !failed;
}

/* --- the function --- */

/** A new transform. rows[rows][frequencies]: the function, transformed along fast. */
typedef struct making {
    transform *t;
    double *rows;
} making;

/** Set q[i] to nb_fibre_corner at x = (i - 1/2) pixel, i from 0 to columns, for one y. */
static void corner_row(const transform *t, double g, double y, double *q)
{
    for (int i = 0; i <= t->columns; i++) {
        double x = t->fast * (i - 0.5);
        q[i] = nb_fibre_corner(g, x, y);
    }
}

/** Transform rows `from` to `to` - 1 of the function along the fast edge. */
static int function_rows(const void *job, int from, int to)
{
    const making *m = job;
    const transform *t = m->t;
    const double g = nb_fibre_width(t->fwhm);
    const size_t n = nb_fibre_frequencies(t->wide);
    double *below = nb_alloc(2 * ((size_t)t->columns + 1), sizeof *below, "row", NULL);
    double *above = below ? below + t->columns + 1 : NULL;
    double *k = nb_alloc((size_t)t->wide, sizeof *k, "row", NULL);
    fftw_complex *hat = nb_alloc(n, sizeof *hat, "row", NULL);
    int ok = below && k && hat;
    if (ok)
        corner_row(t, g, t->slow * (from - 0.5), above);
    for (int s = from; ok && s < to; s++) {
        memcpy(below, above, ((size_t)t->columns + 1) * sizeof *below);
        corner_row(t, g, t->slow * (s + 0.5), above);
        memset(k, 0, (size_t)t->wide * sizeof *k);
        for (int f = 0; f < t->columns; f++) {
            k[f] = above[f + 1] - below[f + 1] - above[f] + below[f];
            if (f)
                k[t->wide - f] = k[f];
        }
        fftw_execute_dft_r2c(t->in, k, hat);
        for (size_t i = 0; i < n; i++)
            m->rows[(size_t)s * n + i] = hat[i][0];
    }
    nb_free(hat);
    nb_free(k);
    nb_free(below);
    return ok;
}

/** Transform columns `from` to `to` - 1 along the slow edge, into t->hat. */
static int function_columns(const void *job, int from, int to)
{
    const making *m = job;
    const transform *t = m->t;
    const size_t n = nb_fibre_frequencies(t->wide), high = nb_fibre_frequencies(t->high);
    double *k = nb_alloc(TOGETHER * (size_t)t->high, sizeof *k, "column", NULL);
    fftw_complex *hat = nb_alloc(high, sizeof *hat, "column", NULL);
    int ok = k && hat;
    for (int s = 0; ok && s < t->rows; s++)
        for (int c = from; c < to; c++) {
            double *column = k + (size_t)(c - from) * (size_t)t->high;
            column[s] = m->rows[(size_t)s * n + (size_t)c];
            if (s)
                column[t->high - s] = column[s];
        }
    for (int c = from; ok && c < to; c++) {
        double *one = k + (size_t)(c - from) * (size_t)t->high;
        double *aligned = k; /* the plan needs this alignment */
        if (c > from)
            memmove(aligned, one, (size_t)t->high * sizeof *one);
        fftw_execute_dft_r2c(t->even, aligned, hat);
        for (size_t i = 0; i < high; i++)
            t->hat[(size_t)c * high + i] = hat[i][0];
    }
    nb_free(hat);
    nb_free(k);
    return ok;
}

static nb_status no_memory(const transform *t, nb_error *err)
{
    return nb_fail_memory(
        err, 2 * nb_fibre_frequencies(t->wide) * (size_t)t->rows * sizeof(double),
        "the point spread of a panel");
}

/** Status of a failed loop over pieces. */
static nb_status not_made(const transform *t, nb_error *err)
{
    nb_status st = nb_stop_status(nb_asking_now(), err);
    return st ? st : no_memory(t, err);
}

static nb_status make_hat(transform *t, int threads, nb_error *err)
{
    const size_t n = nb_fibre_frequencies(t->wide);
    const making m = {
        t, nb_alloc_raw(n * (size_t)t->rows, sizeof *m.rows, "point spread", err)};
    int ok;
    t->hat = m.rows ? nb_alloc_raw(n, nb_fibre_frequencies(t->high) * sizeof *t->hat,
                                   "point spread", err)
                    : NULL;
    ok = t->hat && in_pieces(t->rows, ROWS, threads, function_rows, &m) &&
         in_pieces((int)n, TOGETHER, threads, function_columns, &m);
    nb_free(m.rows);
    return ok ? NB_OK : !t->hat ? NB_ERR_NOMEM : not_made(t, err);
}

/* --- stored transforms --- */

/** Make the plans. All arrays of nb_alloc have the same alignment, so that a plan fits
 * each array. */
static int make_plans(transform *t)
{
    size_t longest = (size_t)(t->wide > t->high ? t->wide : t->high) + 2;
    fftw_complex *a = nb_alloc(longest, sizeof *a, "plan", NULL);
    fftw_complex *b = nb_alloc(longest, sizeof *b, "plan", NULL);
    int ok = a && b;
    nb_fftw_lock();
    if (ok) {
        const unsigned how = FFTW_ESTIMATE;
        double *real = (double *)a;
        t->in = fftw_plan_dft_r2c(1, &t->wide, real, b, how);
        t->out = fftw_plan_dft_c2r(1, &t->wide, b, real, how);
        t->even = fftw_plan_dft_r2c(1, &t->high, real, b, how);
        t->down = fftw_plan_many_dft(1, &t->high, 1, a, NULL, 1, t->high, a, NULL, 1,
                                     t->high, FFTW_FORWARD, how);
        t->up = fftw_plan_many_dft(1, &t->high, 1, a, NULL, 1, t->high, a, NULL, 1,
                                   t->high, FFTW_BACKWARD, how);
        ok = t->in && t->out && t->even && t->down && t->up;
    }
    nb_fftw_unlock();
    nb_free(a);
    nb_free(b);
    return ok;
}

static transform *make_transform(const nb_panel *panel, double fwhm, int threads,
                                 nb_error *err)
{
    transform *t = nb_alloc(1, sizeof *t, "point spread", err);
    nb_status st;
    if (!t)
        return NULL;
    t->columns = panel->columns;
    t->rows = panel->rows;
    t->fast = panel->pixel_fast;
    t->slow = panel->pixel_slow;
    t->fwhm = fwhm;
    t->wide = nb_fibre_length(t->columns);
    t->high = nb_fibre_length(t->rows);
    st = make_plans(t) ? make_hat(t, threads, err) : no_memory(t, err);
    if (!st)
        return t;
    free_transform(t);
    return NULL;
}

static int fits(const transform *t, const nb_panel *panel, double fwhm)
{
    return t->columns == panel->columns && t->rows == panel->rows &&
           t->fast == panel->pixel_fast && t->slow == panel->pixel_slow && t->fwhm == fwhm;
}

/** Limit of the stored transforms that are not in use. Few detectors have panels of more
 * sizes. */
enum { KEPT = 4 };

/** Free unused transforms except a few. */
static void forget_some(nb_fibres *f)
{
    int kept = 0;
    for (transform **at = &f->first; *at;) {
        transform *t = *at;
        if (t->users || kept++ < KEPT) {
            at = &t->next;
        } else {
            *at = t->next;
            free_transform(t);
        }
    }
}

static transform *take(nb_fibres *f, const nb_panel *panel, double fwhm, int threads,
                       nb_error *err)
{
    transform *t;
    pthread_mutex_lock(&f->lock);
    for (t = f->first; t && !fits(t, panel, fwhm);)
        t = t->next;
    if (!t && (t = make_transform(panel, fwhm, threads, err))) {
        t->next = f->first;
        f->first = t;
    }
    if (t)
        t->users++;
    pthread_mutex_unlock(&f->lock);
    return t;
}

static void give(nb_fibres *f, transform *t)
{
    pthread_mutex_lock(&f->lock);
    t->users--;
    forget_some(f);
    pthread_mutex_unlock(&f->lock);
}

/* --- the convolution --- */

typedef struct convolution {
    const transform *t;
    const nb_light_source *source;
    const nb_panel *panel;
    double *data; /* owned; [rows][2 frequencies] */
    double *out;  /* [rows][columns] */
    int back;     /* 1: transform rows back, from frequencies to light; 0: forward */
} convolution;

/** Transform rows `from` to `to` - 1. */
static int transform_rows(const void *job, int from, int to)
{
    const convolution *c = job;
    const transform *t = c->t;
    const size_t stride = 2 * nb_fibre_frequencies(t->wide);
    double *row = nb_alloc((size_t)t->wide + NB_PIECE, sizeof *row, "row", NULL);
    fftw_complex *hat = nb_alloc(stride, sizeof(double), "row", NULL);
    int ok = row && hat;
    for (int s = from; ok && s < to; s++) {
        double *data = c->data + (size_t)s * stride;
        if (c->back) {
            memcpy(hat, data, stride * sizeof *data);
            fftw_execute_dft_c2r(t->out, hat, row);
            memcpy(c->out + (size_t)s * (size_t)t->columns, row,
                   (size_t)t->columns * sizeof *row);
        } else {
            nb_light_counts(c->source, c->panel->first_row + s, row);
            fftw_execute_dft_r2c(t->in, row, hat);
            memcpy(data, hat, stride * sizeof *data);
        }
    }
    nb_free(hat);
    nb_free(row);
    return ok;
}

/** Transform a column forward, multiply by the function, and transform back. */
static void transform_column(const transform *t, size_t c, fftw_complex *column)
{
    const double *hat = t->hat + c * nb_fibre_frequencies(t->high);
    const double scale = 1 / ((double)t->wide * t->high);
    fftw_execute_dft(t->down, column, column);
    for (int i = 0; i < t->high; i++) {
        double factor = hat[i < t->high - i ? i : t->high - i] * scale;
        column[i][0] *= factor;
        column[i][1] *= factor;
    }
    fftw_execute_dft(t->up, column, column);
}

/** Transform columns `from` to `to` - 1, at most TOGETHER. */
static int transform_columns(const void *job, int from, int to)
{
    const convolution *c = job;
    const transform *t = c->t;
    const size_t stride = nb_fibre_frequencies(t->wide), at = (size_t)from;
    /* whole pieces of 64 bytes give every column the alignment of the plans */
    const size_t room = ((size_t)t->high + 3) / 4 * 4;
    fftw_complex(*data)[1] = (fftw_complex(*)[1])c->data;
    fftw_complex *k = nb_alloc(TOGETHER * room, sizeof *k, "column", NULL);
    for (int s = 0; k && s < t->rows; s++)
        for (int i = 0; i < to - from; i++)
            memcpy(k[(size_t)i * room + (size_t)s],
                   data[(size_t)s * stride + at + (size_t)i], sizeof *k);
    for (int i = 0; k && i < to - from; i++)
        transform_column(t, at + (size_t)i, k + (size_t)i * room);
    for (int s = 0; k && s < t->rows; s++)
        for (int i = 0; i < to - from; i++)
            memcpy(data[(size_t)s * stride + at + (size_t)i],
                   k[(size_t)i * room + (size_t)s], sizeof *k);
    nb_free(k);
    return k != NULL;
}

nb_status nb_fibre_spread(nb_fibres *fibres, const nb_light_source *source, int i,
                          double fwhm, double *out, nb_error *err)
{
    const nb_photons *photons = source->photons;
    const nb_panel *panel = &photons->scene->panels[i];
    int threads =
        nb_image_threads(photons->threads, (int64_t)panel->columns * panel->rows);
    convolution c = {.source = source, .panel = panel, .out = out};
    nb_status st = nb_fftw_need("-psf fibre", err);
    transform *t;
    if (st)
        return st;
    if (!(t = take(fibres, panel, fwhm, threads, err)))
        return err && err->code ? err->code : NB_ERR_NOMEM;
    c.t = t;
    c.data = nb_alloc_large((size_t)t->rows,
                            2 * nb_fibre_frequencies(t->wide) * sizeof *c.data,
                            "point spread", err);
    if (!c.data)
        st = NB_ERR_NOMEM;
    else if (!in_pieces(t->rows, ROWS, threads, transform_rows, &c) ||
             !in_pieces((int)nb_fibre_frequencies(t->wide), TOGETHER, threads,
                        transform_columns, &c))
        st = not_made(t, err);
    c.back = 1;
    if (!st && !in_pieces(t->rows, ROWS, threads, transform_rows, &c))
        st = not_made(t, err);
    nb_free(c.data);
    give(fibres, t);
    return st;
}
