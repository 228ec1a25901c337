/* SPDX-License-Identifier: MIT */
/** Segments of a row of a background, for the instruction set of the compiled file. */
#ifndef NB_IMAGE_BACKGROUND_ROW_H
#define NB_IMAGE_BACKGROUND_ROW_H

#include "../base/simd.h"
#include "kernels.h"

/* Number of coefficients of the laws that matter in a segment. */
enum { NB_WEIGHT_TERMS = 5, NB_SQUARE_TERMS = 6, NB_VARIANCE_TERMS = 4 };

typedef float nb_halves __attribute__((vector_size(4 * NB_H))); /* for NB_H segments */

/** Polynomials of a part in NB_H segments, around their middles. */
typedef struct nb_segment_terms {
    nb_halves weight[NB_WEIGHT_TERMS], square[NB_SQUARE_TERMS],
        variance[NB_VARIANCE_TERMS];
    nb_halves root, within; /* sine in the middle; its place in its cell */
    vd cell;                /* number of the cell of this sine */
} nb_segment_terms;

/** Expand a polynomial around the places w: Taylor coefficients by repeated division.
 * Returns coefficient 0. */
NB_INLINE vd nb_expand(const double from[NB_BACKGROUND_ORDER], vd w, int terms,
                       nb_halves *to)
{
    vd c[NB_BACKGROUND_ORDER];
    for (int i = 0; i < NB_BACKGROUND_ORDER; i++)
        c[i] = vd_set(from[i]);
    for (int k = 0; k < terms; k++) {
        for (int i = NB_BACKGROUND_ORDER - 2; i >= k; i--)
            c[i] = vd_fma(c[i + 1], w, c[i]);
        to[k] = __builtin_convertvector(c[k], nb_halves);
    }
    return c[0];
}

NB_INLINE void nb_expand_segments(const nb_background_line *line, vd w,
                                  nb_segment_terms *to)
{
    vd root = nb_expand(line->c[NB_BACKGROUND_SQUARE], w, NB_SQUARE_TERMS, to->square);
    nb_expand(line->c[NB_BACKGROUND_WEIGHT], w, NB_WEIGHT_TERMS, to->weight);
    nb_expand(line->c[NB_BACKGROUND_VARIANCE], w, NB_VARIANCE_TERMS, to->variance);
    root = vd_sqrt(vd_max(root, vd_set(0)));
    to->root = __builtin_convertvector(root, nb_halves);
    root = root * line->per;
    to->cell = vd_floor(root);
    to->within = __builtin_convertvector(root - to->cell, nb_halves);
}

/** c[0] + c[1] x + ... of segment i. */
NB_INLINE vf nb_segment_law(const nb_halves *c, int terms, int i, vf x)
{
    vf sum = vf_set(c[terms - 1][i]);
    for (int k = terms - 2; k >= 0; k--)
        sum = vf_fma(sum, x, vf_set(c[k][i]));
    return sum;
}

/** Photons of a part in NB_W pixels of segment i; x: their places, -1 to 1. */
NB_INLINE vf nb_segment_photons(const nb_background_line *line, const nb_segment_terms *t,
                                int i, vf x)
{
    const vf magic = vf_set(0x1.8p23f); /* a sum with it rounds to a whole number */
    const int first = (int)t->cell[i] - line->first;
    const vf more = x * nb_segment_law(t->square + 1, NB_SQUARE_TERMS - 1, i, x);
    const vf sine = vf_sqrt(vf_max(vf_set(t->square[0][i]) + more, vf_set(0)));
    /* the difference of the sine from the middle's, without loss of digits */
    const vf off = more / (sine + t->root[i]);
    const vf at = vf_fma(off, vf_set((float)line->per), vf_set(t->within[i]));
    const vi cell = vi_clamp((vi)(at - 0.5f + magic) - (vi)magic + first, line->cells - 1);
    const vf place = at - vf_from_int(cell - first);
    const vf spread = nb_segment_law(t->variance, NB_VARIANCE_TERMS, i, x);
    const vf weight = nb_segment_law(t->weight, NB_WEIGHT_TERMS, i, x);
    vf c[4], mean;
    vf_columns(line->cell, cell, c);
    mean = vf_fma(vf_fma(vf_fma(c[3], place, c[2]), place, c[1]), place, c[0]);
    return vf_fma(spread, vf_fma(3 * c[3], place, c[2]), mean) * weight;
}

/** Kernel: to[NB_BACKGROUND_SEGMENT n] = photons of n segments from `first` on. */
static inline void nb_row_background(const nb_background_strip *strip, int first, int n,
                                     float *to)
{
    const int size = NB_BACKGROUND_SEGMENT;
    memset(to, 0, (size_t)(n * size) * sizeof *to);
    for (int part = 0; part < strip->parts; part++)
        for (int s = 0; s < n; s += NB_H) {
            nb_segment_terms terms;
            vd w = vd_set(0);
            for (int i = 0; i < NB_H; i++)
                w[i] = strip->middle + 2.0 * (first + s + i);
            nb_expand_segments(&strip->line[part], w, &terms);
            for (int i = 0; i < NB_H && s + i < n; i++)
                for (int f = 0; f < size; f += NB_W) {
                    float *at = to + (s + i) * size + f;
                    vf x, sum;
                    memcpy(&x, strip->place + f, sizeof x);
                    memcpy(&sum, at, sizeof sum);
                    sum += strip->line[part].cell
                               ? nb_segment_photons(&strip->line[part], &terms, i, x)
                               : nb_segment_law(terms.weight, NB_WEIGHT_TERMS, i, x);
                    memcpy(at, &sum, sizeof sum);
                }
        }
}

#endif
