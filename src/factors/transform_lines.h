/* SPDX-License-Identifier: MIT */
/** Transforms of lines of a grid with exp(-2 pi i ...), by FFTW or as plain sums. */
#ifndef NB_FACTORS_TRANSFORM_LINES_H
#define NB_FACTORS_TRANSFORM_LINES_H

#include <stddef.h>

#include "../nanobragg.h"

enum { NB_COLUMNS = 16 }; /* columns along a that are transformed together */

/** How the lines of one grid are transformed. */
typedef struct nb_lines {
    int n[3], H[3];
    size_t pitch; /* complex numbers from one plane of columns to the next */
    void *along_c, *along_b, *along_a; /* plans of FFTW, or NULL */
    double *waves[3]; /* without FFTW: exp(-2 pi i m x/n), m = 0..n-1; owned */
} nb_lines;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_lines_open(nb_lines *lines, int is_plain, nb_error *err);
void nb_lines_close(nb_lines *lines);

/** Complex numbers of a buffer for nb_lines_plane, and of one for nb_lines_columns. */
size_t nb_lines_plane_room(const nb_lines *lines);
size_t nb_lines_column_room(const nb_lines *lines);

/** Plane [n1][n2] of real numbers: along c, then b.  Afterwards out, a part of the buffer, has the
 * coefficient of k, l at nb_lines_in_plane. */
const double *nb_lines_plane(const nb_lines *lines, double *plane, double *buffer);
static inline size_t nb_lines_in_plane(const nb_lines *lines, int k, int l)
{
    return (size_t)l * (size_t)lines->n[1] + (size_t)(k < 0 ? k + lines->n[1] : k);
}

/** NB_COLUMNS columns of n0 numbers, pitch apart: out has h at column * n0 + (h mod n0). */
void nb_lines_columns(const nb_lines *lines, double *columns, double *out);

#endif
