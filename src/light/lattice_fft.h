/* SPDX-License-Identifier: MIT */
/** Transforms of real numbers over a lattice, in place, and their products. */
#ifndef NB_LIGHT_LATTICE_FFT_H
#define NB_LIGHT_LATTICE_FFT_H

#include <stddef.h>

#include "../nanobragg.h"

typedef struct nb_lattice_fft {
    int n[3];
    size_t row; /* doubles from one row to the next: those of the transform's, or more than a row */
    void *in, *out; /* plans */
} nb_lattice_fft;

/** The least number >= n of the form 2^a 3^b 5^c 7^d, even. */
int nb_lattice_quick(int n);

/** Plans for lattices of n[0] x n[1] x n[2] points, even; n and row are set first.  work: room for one.  Errors:
 * NB_ERR_UNSUPPORTED without FFTW. */
nb_status nb_lattice_fft_new(nb_lattice_fft *f, double *work, nb_error *err);
void nb_lattice_fft_clear(nb_lattice_fft *f);

void nb_lattice_forward(const nb_lattice_fft *f, double *at);
void nb_lattice_backward(const nb_lattice_fft *f, double *at);

/** Doubles of a lattice. */
static inline size_t nb_lattice_room(const nb_lattice_fft *f)
{
    return (size_t)f->n[0] * (size_t)f->n[1] * f->row;
}

/** Where row (h, k) is; indices below 0 are at the ends. */
static inline size_t nb_lattice_place(const nb_lattice_fft *f, int h, int k)
{
    h += h < 0 ? f->n[0] : 0;
    k += k < 0 ? f->n[1] : 0;
    return ((size_t)h * (size_t)f->n[1] + (size_t)k) * f->row;
}

/** out = a b, of transforms; out may be a or b. */
void nb_lattice_multiply(const nb_lattice_fft *f, const double *a, const double *b,
                         double *out);

#endif
