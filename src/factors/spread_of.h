/* SPDX-License-Identifier: MIT */
/** Add Gaussians to a plane (NB_SET: instruction set). The exponent is quadratic in v,
 * so row v + 1 has the value V(v) D(v) and the factor D(v + 1) = D(v) exp(-2 Q1). */
#ifndef NB_FACTORS_SPREAD_OF_H
#define NB_FACTORS_SPREAD_OF_H

#include "lanes.h"
#include "spread.h"

enum { MAX = 4 }; /* limit of the vectors that advance together from row to row */

/** Part of a plane that a Gaussian writes. */
typedef struct window {
    double du, dv, dw; /* first point, from the centre */
    int v, w;          /* first point, in the cell */
    int rows, width;   /* width is a multiple of NB_SPREAD_STEP */
} window;

static inline int find_window(const nb_gaussian *g, int u, const int n[3], window *out)
{
    double du = u - g->centre[0], part = du / g->reach, left = 1 - part * part, half, v0,
           w0;
    double middle = g->centre[1] + du * g->slope[0];
    if (!(left > 0))
        return 0;
    left = sqrt(left);
    half = left * g->half[0];
    v0 = ceil(middle - half);
    out->rows = (int)(floor(middle + half) - v0) + 1;
    middle = g->centre[2] + du * g->slope[1];
    half = left * g->half[1];
    w0 = ceil(middle - half);
    out->width = (int)(floor(middle + half) - w0) + 1;
    out->width = (out->width + NB_SPREAD_STEP - 1) / NB_SPREAD_STEP * NB_SPREAD_STEP;
    out->du = du;
    out->dv = v0 - g->centre[1];
    out->dw = w0 - g->centre[2];
    out->v = nb_modulo((int)v0, n[1]);
    out->w = nb_modulo((int)w0, n[2]);
    return out->rows > 0 && out->width > 0;
}

/** Add the Gaussian in all rows, to `count` vectors from point `first` of the window. */
NB_INLINE void spread_columns(const nb_gaussian *g, const window *s, int first, int count,
                              const int n[3], size_t pitch, double *plane)
{
    const double dv = s->dv, du = s->du, decay = exp(-2 * g->Q[1]);
    const double e = g->Q[0] * du * du + g->Q[1] * dv * dv + g->Q[3] * du * dv;
    const double slope = g->Q[4] * du + g->Q[5] * dv;
    const double change = g->Q[1] * (2 * dv + 1) + g->Q[3] * du;
    vd V[MAX], D[MAX];
    double *row = plane + (size_t)s->v * pitch + (size_t)(s->w + first);
    int v = s->v;
    for (int i = 0; i < count; i++) {
        double steps[NB_H];
        vd dw;
        for (int j = 0; j < NB_H; j++)
            steps[j] = s->dw + (first + i * NB_H + j);
        dw = *(const vd_any *)steps;
        V[i] = nb_v_exp(-(e + dw * (slope + dw * g->Q[2]))) * g->amplitude;
        D[i] = nb_v_exp(-(change + dw * g->Q[5]));
    }
    for (int r = 0; r < s->rows; r++) {
        for (int i = 0; i < count; i++) {
            vd_any *at = (vd_any *)(row + i * NB_H);
            *at += V[i];
            V[i] *= D[i];
            D[i] *= decay;
        }
        row += pitch;
        if (++v == n[1]) {
            v = 0;
            row -= (size_t)n[1] * pitch;
        }
    }
}

static void spread_window(const nb_gaussian *g, const window *s, const int n[3],
                          size_t pitch, double *plane)
{
    int first = 0, left = s->width / NB_H;
    for (; left >= MAX; left -= MAX, first += MAX * NB_H)
        spread_columns(g, s, first, MAX, n, pitch, plane);
    if (left == 3)
        spread_columns(g, s, first, 3, n, pitch, plane);
    if (left == 2)
        spread_columns(g, s, first, 2, n, pitch, plane);
    if (left == 1)
        spread_columns(g, s, first, 1, n, pitch, plane);
}

void NB_JOIN(nb_spread_, NB_SET)(const nb_gaussian *gaussians, const nb_visit *visits,
                                 size_t count, const int n[3], size_t pitch, double *plane)
{
    for (size_t i = 0; i < count; i++) {
        const nb_gaussian *g = &gaussians[visits[i].which];
        window s;
        if (find_window(g, visits[i].u, n, &s))
            spread_window(g, &s, n, pitch, plane);
    }
}

#endif
