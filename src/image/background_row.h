/* SPDX-License-Identifier: MIT */
/** Segments of a row of a background, for the instruction set of the compiled file. */
#ifndef NB_IMAGE_BACKGROUND_ROW_H
#define NB_IMAGE_BACKGROUND_ROW_H

#include "../base/simd.h"
#include "kernels.h"

/* For each law, the number of coefficients that matter in a segment. */
enum { NB_WEIGHT_TERMS = 5, NB_SQUARE_TERMS = 6, NB_VARIANCE_TERMS = 4 };

typedef float nb_halves __attribute__((vector_size(4 * NB_H))); /* for NB_H segments */

/** Polynomials of a part in NB_H segments, around their middles. */
typedef struct nb_segment_terms {
    nb_halves weight[NB_WEIGHT_TERMS], square[NB_SQUARE_TERMS],
        variance[NB_VARIANCE_TERMS];
    /* sine in the middle of a segment, and its position in its cell */
    nb_halves root, within;
    vd cell; /* number of this cell */
} nb_segment_terms;

/** Expand a polynomial around the positions w: Taylor coefficients by repeated division.
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

/** Photons of a part in NB_W pixels of segment i; x: positions of the pixels in the
 * segment, -1 to 1. */
NB_INLINE vf nb_segment_photons(const nb_background_line *line, const nb_segment_terms *t,
                                int i, vf x)
{
    const vf magic = vf_set(0x1.8p23f); /* adding it rounds to a whole number */
    const int first = (int)t->cell[i] - line->first;
    const vf more = x * nb_segment_law(t->square + 1, NB_SQUARE_TERMS - 1, i, x);
    const vf sine = vf_sqrt(vf_max(vf_set(t->square[0][i]) + more, vf_set(0)));
    /* difference between the sine here and in the middle, without loss of digits */
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

NB_INLINE void nb_add_photons(float *to, vf photons)
{
    vf sum;
    memcpy(&sum, to, sizeof sum);
    sum += photons;
    memcpy(to, &sum, sizeof sum);
}

/** Add the photons of a part whose scattering is the same at every angle. */
NB_INLINE void nb_add_flat(const nb_background_strip *strip, int part, int first, int n,
                           float *to)
{
    const double *law = strip->line[part].c[NB_BACKGROUND_WEIGHT];
    vf c[NB_BACKGROUND_ORDER];
    for (int i = 0; i < NB_BACKGROUND_ORDER; i++)
        c[i] = vf_set((float)law[i]);
    for (int s = 0; s < n; s++, to += NB_BACKGROUND_SEGMENT) {
        const vf middle = vf_set((float)(strip->middle + 2.0 * (first + s)));
        vf x[NB_BACKGROUND_SEGMENT / NB_W], sum[NB_BACKGROUND_SEGMENT / NB_W];
        memcpy(x, strip->place, sizeof x);
        for (int k = 0; k < NB_BACKGROUND_SEGMENT / NB_W; k++) {
            x[k] += middle;
            sum[k] = c[NB_BACKGROUND_ORDER - 1];
        }
        for (int i = NB_BACKGROUND_ORDER - 2; i >= 0; i--)
            for (int k = 0; k < NB_BACKGROUND_SEGMENT / NB_W; k++)
                sum[k] = vf_fma(sum[k], x[k], c[i]);
        for (int k = 0; k < NB_BACKGROUND_SEGMENT / NB_W; k++)
            nb_add_photons(to + k * NB_W, sum[k]);
    }
}

/** Add the photons of a part with curves. */
NB_INLINE void nb_add_curved(const nb_background_strip *strip, int part, int first, int n,
                             float *to)
{
    for (int s = 0; s < n; s += NB_H) {
        nb_segment_terms terms;
        vd w = vd_set(0);
        for (int i = 0; i < NB_H; i++)
            w[i] = strip->middle + 2.0 * (first + s + i);
        nb_expand_segments(&strip->line[part], w, &terms);
        for (int i = 0; i < NB_H && s + i < n; i++)
            for (int f = 0; f < NB_BACKGROUND_SEGMENT; f += NB_W) {
                vf x;
                memcpy(&x, strip->place + f, sizeof x);
                nb_add_photons(to + (s + i) * NB_BACKGROUND_SEGMENT + f,
                               nb_segment_photons(&strip->line[part], &terms, i, x));
            }
    }
}

/** Kernel: to[NB_BACKGROUND_SEGMENT n] = photons of n segments from `first` on. */
static inline void nb_row_background(const nb_background_strip *strip, int first, int n,
                                     float *to)
{
    memset(to, 0, (size_t)(n * NB_BACKGROUND_SEGMENT) * sizeof *to);
    for (int part = 0; part < strip->parts; part++)
        if (strip->line[part].cell)
            nb_add_curved(strip, part, first, n, to);
        else
            nb_add_flat(strip, part, first, n, to);
}

#endif
