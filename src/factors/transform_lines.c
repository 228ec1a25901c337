/* SPDX-License-Identifier: MIT */
#include "transform_lines.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/fftw_lib.h"
#include "../base/memory.h"

/** Numbers of a row after the transform along c: all with FFTW, those of the limit without. */
static size_t half(const nb_lines *lines)
{
    return (size_t)(lines->along_c ? lines->n[2] / 2 : lines->H[2]) + 1;
}

size_t nb_lines_plane_room(const nb_lines *lines)
{
    return (size_t)lines->n[1] * (half(lines) + (size_t)lines->H[2] + 1);
}

size_t nb_lines_column_room(const nb_lines *lines)
{
    return (size_t)lines->n[0] * NB_COLUMNS;
}

#ifdef NB_HAVE_FFTW
/** Plans look at the buffers' alignment alone: those of one allocation do for all. */
static nb_status make_plans(nb_lines *lines, nb_error *err)
{
    const int *n = lines->n, rows = n[2] / 2 + 1, pitch = (int)lines->pitch;
    size_t columns = lines->pitch * (size_t)n[0], plane = 2 * (size_t)n[1] * (size_t)rows;
    size_t room = columns > plane ? columns : plane;
    double *in = nb_alloc_raw(room, 2 * sizeof *in, "a plan of FFTW", err);
    double *out = nb_alloc_raw(plane + nb_lines_column_room(lines), 2 * sizeof *out,
                               "a plan of FFTW", err);
    fftw_complex *x = (fftw_complex *)in, *y = (fftw_complex *)out;
    if (in && out) {
        nb_fftw_lock();
        lines->along_c = fftw_plan_many_dft_r2c(1, &n[2], n[1], in, NULL, 1, n[2], y,
                                                NULL, 1, rows, FFTW_ESTIMATE);
        lines->along_b = fftw_plan_many_dft(1, &n[1], lines->H[2] + 1, x, NULL, rows, 1,
                                            y, NULL, 1, n[1], FFTW_FORWARD, FFTW_ESTIMATE);
        lines->along_a = fftw_plan_many_dft(1, &n[0], NB_COLUMNS, x, NULL, pitch, 1, y,
                                            NULL, 1, n[0], FFTW_FORWARD, FFTW_ESTIMATE);
        nb_fftw_unlock();
    }
    nb_free(in);
    nb_free(out);
    if (!in || !out)
        return NB_ERR_NOMEM;
    if (!lines->along_c || !lines->along_b || !lines->along_a)
        return nb_fail(err, NB_ERR_INTERNAL, "FFTW makes no plan for %d x %d x %d", n[0],
                       n[1], n[2]);
    return NB_OK;
}

static void free_plan(void **plan)
{
    if (*plan)
        fftw_destroy_plan(*plan);
    *plan = NULL;
}

static void free_plans(nb_lines *lines)
{
    nb_fftw_lock();
    free_plan(&lines->along_a);
    free_plan(&lines->along_b);
    free_plan(&lines->along_c);
    nb_fftw_unlock();
}
#else
static nb_status make_plans(nb_lines *lines, nb_error *err)
{
    (void)lines;
    return nb_fftw_need("a Fourier transform", err);
}
static void free_plans(nb_lines *lines)
{
    (void)lines;
}
#endif

static nb_status make_waves(nb_lines *lines, nb_error *err)
{
    for (int i = 0; i < 3; i++) {
        int n = lines->n[i];
        double *w = nb_alloc_raw((size_t)n, 2 * sizeof *w, "waves", err);
        if (!w)
            return NB_ERR_NOMEM;
        for (int j = 0; j < n; j++) {
            w[2 * j] = cos(2 * M_PI * j / n);
            w[2 * j + 1] = -sin(2 * M_PI * j / n);
        }
        lines->waves[i] = w;
    }
    return NB_OK;
}

nb_status nb_lines_open(nb_lines *lines, int is_plain, nb_error *err)
{
    return is_plain ? make_waves(lines, err) : make_plans(lines, err);
}

void nb_lines_close(nb_lines *lines)
{
    if (lines->along_a || lines->along_b || lines->along_c)
        free_plans(lines);
    for (int i = 0; i < 3; i++) {
        nb_free(lines->waves[i]);
        lines->waves[i] = NULL;
    }
}

/** out[l] of one real row, l <= H2. */
static void plain_row(const nb_lines *lines, const double *row, double *out)
{
    int n = lines->n[2], most = lines->H[2];
    memset(out, 0, 2 * (size_t)(most + 1) * sizeof *out);
    for (int w = 0; w < n; w++) {
        if (row[w] == 0)
            continue;
        for (int l = 0, at = 0; l <= most; l++) {
            out[2 * l] += row[w] * lines->waves[2][2 * at];
            out[2 * l + 1] += row[w] * lines->waves[2][2 * at + 1];
            at += w;
            at -= at >= n ? n : 0;
        }
    }
}

/** out[m mod n], |m| <= most, of n numbers in[i stride]. */
static void plain_line(const double *waves, int n, int most, const double *in,
                       size_t stride, double *out)
{
    for (int m = -most; m <= most; m++) {
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

const double *nb_lines_plane(const nb_lines *lines, double *plane, double *buffer)
{
    size_t n1 = (size_t)lines->n[1], rows = half(lines);
    double *out = buffer + 2 * n1 * rows;
#ifdef NB_HAVE_FFTW
    if (lines->along_c) {
        fftw_execute_dft_r2c(lines->along_c, plane, (fftw_complex *)buffer);
        fftw_execute_dft(lines->along_b, (fftw_complex *)buffer, (fftw_complex *)out);
        return out;
    }
#endif
    for (size_t v = 0; v < n1; v++)
        plain_row(lines, plane + v * (size_t)lines->n[2], buffer + 2 * v * rows);
    for (size_t l = 0; l < rows; l++)
        plain_line(lines->waves[1], lines->n[1], lines->H[1], buffer + 2 * l, rows,
                   out + 2 * l * n1);
    return out;
}

void nb_lines_columns(const nb_lines *lines, double *columns, double *out)
{
#ifdef NB_HAVE_FFTW
    if (lines->along_a) {
        fftw_execute_dft(lines->along_a, (fftw_complex *)columns, (fftw_complex *)out);
        return;
    }
#endif
    for (size_t j = 0; j < NB_COLUMNS; j++)
        plain_line(lines->waves[0], lines->n[0], lines->H[0], columns + 2 * j,
                   lines->pitch, out + 2 * j * (size_t)lines->n[0]);
}
