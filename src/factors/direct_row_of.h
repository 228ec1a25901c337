/* SPDX-License-Identifier: MIT */
/** Direct sum along rows of l. NB_SET names the instruction set. Phase and Gaussian of an
 * atom follow recurrences: z(l+1) = z(l) w(l), w(l+1) = w(l) decay, w and z complex. */
#ifndef NB_FACTORS_DIRECT_ROW_OF_H
#define NB_FACTORS_DIRECT_ROW_OF_H

#include <string.h>

#include "direct_row.h"
#include "lanes.h"

enum { VECTORS = NB_BLOCK / NB_H }; /* number of vectors of a block */

/** State of the recurrences of a vector of atoms. */
typedef struct turning {
    vd zr, zi, wr, wi, decay;
} turning;

#define LANES_OF(array) (((const vd *)(array))[v])

NB_INLINE void start(const nb_image_block *b, int v, const nb_row *row, turning *out)
{
    const double h = row->h, k = row->k, l = row->l, d = row->step;
    vd turns = LANES_OF(b->x) * h + LANES_OF(b->y) * k + LANES_OF(b->z) * l;
    vd now = LANES_OF(b->beta[0]) * (-h * h) - LANES_OF(b->beta[1]) * (k * k) -
             LANES_OF(b->beta[2]) * (l * l) - LANES_OF(b->beta[3]) * (h * k) -
             LANES_OF(b->beta[4]) * (h * l) - LANES_OF(b->beta[5]) * (k * l);
    vd change = LANES_OF(b->beta[2]) * (-d * (2 * l + d)) -
                LANES_OF(b->beta[4]) * (d * h) - LANES_OF(b->beta[5]) * (d * k);
    vd c, s, e;
    nb_v_turn(turns, &c, &s);
    e = nb_v_exp(now) * LANES_OF(b->q);
    out->zr = e * c;
    out->zi = e * s;
    e = nb_v_exp(change);
    out->wr = e * LANES_OF(b->c);
    out->wi = e * LANES_OF(b->s);
    out->decay = LANES_OF(b->decay);
}

NB_INLINE void advance(turning *t)
{
    vd next = t->zr * t->wr - t->zi * t->wi;
    t->zi = t->zr * t->wi + t->zi * t->wr;
    t->zr = next;
    t->wr *= t->decay;
    t->wi *= t->decay;
}

/** Add two vectors of atoms together: a single one would wait for its last products. */
NB_INLINE void add_pair(const nb_image_block *b, int v, const nb_row *row,
                        vd (*sums)[2][VECTORS])
{
    turning first, second;
    start(b, v, row, &first);
    start(b + 1, v, row, &second);
    for (int i = 0; i < row->count; i++) {
        sums[i][0][v] += first.zr + second.zr;
        sums[i][1][v] += first.zi + second.zi;
        advance(&first);
        advance(&second);
    }
}

void NB_JOIN(nb_direct_row_, NB_SET)(const nb_image_block *blocks, size_t n,
                                     const nb_row *row, double *S)
{
    vd sums[NB_ROW_MAX][2][VECTORS];
    memset(sums, 0, (size_t)row->count * sizeof *sums);
    for (size_t j = 0; j < n; j += 2)
        for (int v = 0; v < VECTORS; v++)
            add_pair(&blocks[j], v, row, sums);
    for (int i = 0; i < 2 * row->count; i++) {
        const vd *lanes = sums[i / 2][i % 2];
        double sum = 0;
        for (int j = 0; j < NB_BLOCK; j++)
            sum += lanes[j / NB_H][j % NB_H];
        S[i] += sum;
    }
}

#endif
