/* SPDX-License-Identifier: MIT */
/** Normal deviates of 64 neighbouring pixels, several at a time, by the operations of
 * nb_normal for each pixel, so with the same bits. */
#ifndef NB_IMAGE_NORMAL_BLOCK_H
#define NB_IMAGE_NORMAL_BLOCK_H

#include "noise_block.h"

/** Pixels of a block that still need a draw (open), and values for the others. */
typedef struct nb_polar {
    double x[NB_NOISE_BLOCK], r2[NB_NOISE_BLOCK];
    uint8_t open[NB_NOISE_BLOCK + NB_LANES]; /* the last lanes are idle */
    int n_open;
} nb_polar;

/** Draw `nth` of NB_LANES open pixels from open[at] on. Pixels that need another draw
 * go to open[kept] on. Returns the new `kept`. */
static inline int nb_v_polar(nb_polar *p, const nb_poisson_key *first, uint32_t nth,
                             int at, int kept)
{
    const nb_vd zero = {0}, one = zero + 1.0;
    int lanes = p->n_open - at < NB_LANES ? p->n_open - at : NB_LANES;
    uint8_t place[NB_LANES];
    nb_vu pixel = {0}, w[4];
    nb_vd x, y, r2;
    nb_vi good;
    memcpy(place, p->open + at, sizeof place);
    for (int i = 0; i < NB_LANES; i++)
        pixel[i] = first->pixel + place[i];
    nb_v_philox_at(first, &pixel, nth, w);
    nb_v_uniform52(&w[0], &w[1], &x);
    nb_v_uniform52(&w[2], &w[3], &y);
    x = 2.0 * x - 1.0;
    y = 2.0 * y - 1.0;
    r2 = x * x + y * y;
    good = (r2 > zero) & (r2 < one);
    for (int i = 0; i < lanes; i++) {
        p->x[place[i]] = x[i];
        p->r2[place[i]] = r2[i];
        p->open[kept] = place[i];
        kept += !good[i];
    }
    return kept;
}

/** `normals` of nb_image_kernels. */
static inline void nb_normal_block(const nb_poisson_key *first, uint32_t stream,
                                   double *deviate)
{
    nb_polar p;
    memset(p.open, 0, sizeof p.open);
    for (int i = 0; i < NB_NOISE_BLOCK; i++)
        p.open[i] = (uint8_t)i;
    p.n_open = NB_NOISE_BLOCK;
    for (uint32_t nth = stream << NB_STREAM_BITS; p.n_open; nth++) {
        int kept = 0;
        for (int at = 0; at < p.n_open; at += NB_LANES)
            kept = nb_v_polar(&p, first, nth, at, kept);
        p.n_open = kept;
    }
    for (int i = 0; i < NB_NOISE_BLOCK; i += NB_LANES) {
        nb_vd x, r2, root;
        memcpy(&x, p.x + i, sizeof x);
        memcpy(&r2, p.r2 + i, sizeof r2);
        nb_v_exact_log(&r2, &root);
        root = -2.0 * root / r2;
        nb_v_sqrt(&root, &root);
        x = x * root;
        memcpy(deviate + i, &x, sizeof x);
    }
}

#endif
