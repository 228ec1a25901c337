/* SPDX-License-Identifier: MIT */
/** Passes over one row of a float image, compiled by kernels_*.c for each instruction set. */
#ifndef NB_IMAGE_ROW_PASS_H
#define NB_IMAGE_ROW_PASS_H

#include <math.h>

#include "kernels.h"
#include "../base/simd.h"

/** Returns the next NB_H floats of a row; lanes after its end are 0. */
static inline vfh nb_v_take(const float *from, int left)
{
    vfh v = {0};
    memcpy(&v, from, left >= NB_H ? sizeof v : (size_t)left * sizeof *from);
    return v;
}

/** Returns bytes of a mask as lanes of -1 (true) and 0; lanes after the row's end are 0. */
static inline vl nb_v_take_mask(const uint8_t *from, int left)
{
    vl v = {0};
    for (int i = 0; i < NB_H && i < left; i++)
        v[i] = -(from[i] != 0);
    return v;
}

/* --- sums of a row: eight partial sums for any vector size, added in one order --- */

#define NB_SUM_VECTORS (8 / NB_H)

static inline double nb_add_lanes(const vd *v)
{
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += v[i / NB_H][i % NB_H];
    return sum;
}

/** Add one vector of the row to the sums; lit: pixels that the mask does not exclude. */
static inline void nb_sum_vector(vfh values, vl lit, vd *all, vd *sum, vd *sum2, vd *max)
{
    vd x = __builtin_convertvector(values, vd), y = vd_where(lit, x);
    *all += x;
    *sum += y;
    *sum2 += y * y;
    *max = vd_pick((x > *max) & lit, x, *max);
}

static inline double nb_row_squares(const float *row, int n, double mean)
{
    vd square[NB_SUM_VECTORS], off[NB_SUM_VECTORS];
    double residue;
    memset(square, 0, sizeof square);
    memset(off, 0, sizeof off);
    for (int f = 0; f < n; f += 8) {
        for (int j = 0; j < NB_SUM_VECTORS; j++) {
            int left = n - f - j * NB_H;
            vfh values;
            vd d;
            if (left <= 0)
                break;
            values = nb_v_take(row + f + j * NB_H, left);
            d = __builtin_convertvector(values, vd) - mean;
            for (int i = left; i < NB_H; i++)
                d[i] = 0;
            off[j] += d;
            square[j] += d * d;
        }
    }
    /* sum of the deviations, which is not exactly 0 because the mean is rounded */
    residue = nb_add_lanes(off);
    return nb_add_lanes(square) - residue * residue / n;
}

static inline void nb_row_sums_of(const float *row, const uint8_t *mask, int n,
                                  nb_row_sums *out)
{
    vd all[NB_SUM_VECTORS], sum[NB_SUM_VECTORS], sum2[NB_SUM_VECTORS], max[NB_SUM_VECTORS];
    vl lit;
    int64_t rendered = n;
    memset(all, 0, sizeof all);
    memset(sum, 0, sizeof sum);
    memset(sum2, 0, sizeof sum2);
    memset(&lit, 0xff, sizeof lit);
    for (int j = 0; j < NB_SUM_VECTORS; j++)
        max[j] = sum[j] - (double)INFINITY;
    for (int f = 0; f < n; f += 8) {
        for (int j = 0; j < NB_SUM_VECTORS; j++) {
            int at = f + j * NB_H;
            vfh values;
            if (at >= n)
                break;
            values = nb_v_take(row + at, n - at);
            if (mask)
                lit = nb_v_take_mask(mask + at, n - at);
            for (int i = n - at; i < NB_H; i++)
                lit[i] = 0;
            nb_sum_vector(values, lit, &all[j], &sum[j], &sum2[j], &max[j]);
        }
    }
    for (int f = 0; mask && f < n; f++)
        rendered -= !mask[f];
    out->rendered = rendered;
    out->all = nb_add_lanes(all);
    out->sum = nb_add_lanes(sum);
    out->sum2 = nb_add_lanes(sum2);
    out->squares = nb_row_squares(row, n, out->all / n);
    out->max_at = -1;
    out->max = -(double)INFINITY;
    for (int i = 0; i < 8; i++)
        out->max = fmax(out->max, max[i / NB_H][i % NB_H]);
}

/* --- integers --- */

/** nb_int_adu for NB_H pixels at a time. Returns 1 if a value is above 65535. */
static inline int nb_row_u16(const float *row, const uint8_t *mask, int n, double scale,
                             double adc_offset, uint16_t *out)
{
    const vd zero = {0};
    vl above = {0};
    for (int f = 0; f < n; f += NB_H) {
        vfh values, single;
        vd v;
        vl lit;
        vih whole;
        vu16 narrow;
        int left = n - f;
        values = nb_v_take(row + f, left);
        v = __builtin_convertvector(values, vd);
        if (mask) {
            lit = nb_v_take_mask(mask + f, left);
            v = vd_where(lit, v);
        }
        v = v * scale + adc_offset;
        above |= v > 65535.0;
        v = vd_pick(v > 65535.0, zero + 65535.0, v);
        v = vd_where(v > zero, v + 0.5);
        single = __builtin_convertvector(v, vfh);
        /* numbers are positive, so truncation is floor */
        whole = __builtin_convertvector(single, vih);
        narrow = __builtin_convertvector(whole, vu16);
        memcpy(out + f, &narrow, left < NB_H ? (size_t)left * 2 : sizeof narrow);
    }
    return vl_bits(above) != 0;
}

/** nb_pgm_grey for NB_H pixels at a time. */
static inline void nb_row_u8(const float *row, int n, double scale, uint8_t *out)
{
    const vd zero = {0};
    for (int f = 0; f < n; f += NB_H) {
        vfh values;
        vd v;
        vih whole;
        vu8 narrow;
        int left = n - f;
        values = nb_v_take(row + f, left);
        v = __builtin_convertvector(values, vd) * scale;
        v = vd_pick(v > 255.0, zero + 255.0, v);
        v = vd_where(v > zero, v);
        whole = __builtin_convertvector(v, vih);
        narrow = __builtin_convertvector(whole, vu8);
        memcpy(out + f, &narrow, left < NB_H ? (size_t)left : sizeof narrow);
    }
}

/* --- sums over rows --- */

enum { NB_TAP_VECTORS = 8 }; /* number of vectors of sums that registers hold */

/** nb_image_kernels.taps for a piece of up to NB_TAP_VECTORS vectors. */
static inline __attribute__((always_inline)) void nb_taps_piece(const double *const *rows,
                                                                const double *k, int taps,
                                                                int at, const int vectors,
                                                                double *out)
{
    vd sum[NB_TAP_VECTORS];
    memset(sum, 0, sizeof sum);
    for (int t = 0; t < taps; t++) {
        const vd weight = (vd){0} + k[t];
        const double *from = rows[t] + at;
        for (int j = 0; j < vectors; j++) {
            vd x;
            memcpy(&x, from + j * NB_H, sizeof x);
            sum[j] += weight * x;
        }
    }
    memcpy(out + at, sum, (size_t)vectors * sizeof *sum);
}

static inline void nb_row_taps(const double *const *rows, const double *k, int taps,
                               int n, double *out)
{
    int at = 0;
    for (; at + NB_TAP_VECTORS * NB_H <= n; at += NB_TAP_VECTORS * NB_H)
        nb_taps_piece(rows, k, taps, at, NB_TAP_VECTORS, out);
    for (; at + NB_H <= n; at += NB_H)
        nb_taps_piece(rows, k, taps, at, 1, out);
    for (; at < n; at++) {
        double sum = 0;
        for (int t = 0; t < taps; t++)
            sum += k[t] * rows[t][at];
        out[at] = sum;
    }
}

/* --- light that is spread over neighbours --- */

#ifdef __AVX512F__
#define NB_IN_REGISTER(v) __asm__("" : "+v"(v))
#elif defined(__x86_64__)
#define NB_IN_REGISTER(v) __asm__("" : "+x"(v))
#else
#define NB_IN_REGISTER(v) (void)(v)
#endif

/** Number of vectors of sums, in each of NB_SPREAD_ROWS rows, that registers hold. */
enum {
    NB_SPREAD_VECTORS = NB_H == 8 ? 8 : 4,
    NB_SPREAD_WIDE = NB_SPREAD_VECTORS * 2 * NB_H
};
typedef vf nb_spread_sums[NB_SPREAD_ROWS][NB_SPREAD_VECTORS];

/** Add a row of light times the taps of a run to rows `first` to `last` of the sums. k:
 * taps for row 0; the taps for row i are i * row earlier. */
static inline __attribute__((always_inline)) void nb_spread_taps(
    const float *from, const float *k, int row, const nb_spread_run *run, const int first,
    const int last, nb_spread_sums sum)
{
    for (int d = run->from; d < run->end; d++)
        for (int j = 0; j < NB_SPREAD_VECTORS; j++) {
            vf v;
            memcpy(&v, from + d + j * 2 * NB_H, sizeof v);
            /* read the light only once, because such reads cross cache lines */
            NB_IN_REGISTER(v);
            for (int i = first; i <= last; i++)
                sum[i][j] += k[d - i * row] * v;
        }
}

static inline void nb_spread_run_of(const float *from, const float *k, int row,
                                    const nb_spread_run *run, nb_spread_sums sum)
{
    if (run->first == run->last && run->first == 0)
        nb_spread_taps(from, k, row, run, 0, 0, sum);
    else if (run->first == run->last)
        nb_spread_taps(from, k, row, run, 1, 1, sum);
    else
        nb_spread_taps(from, k, row, run, 0, 1, sum);
}

/** Make NB_SPREAD_ROWS rows of a chunk from column x of row y on; row i is at to[i]. */
static inline void nb_spread_chunk(const nb_spread_block *b, int y, int x,
                                   float *const to[NB_SPREAD_ROWS])
{
    const int row = 2 * b->fast + 1;
    nb_spread_sums sum;
    memset(sum, 0, sizeof sum);
    for (int i = 0; i < NB_SPREAD_ROWS && !b->fresh; i++)
        memcpy(sum[i], to[i], sizeof sum[i]);
    for (int e = 0; e < 2 * b->slow + NB_SPREAD_ROWS && y + e < b->rows + 2 * b->slow;
         e++) {
        const float *from = b->from[y + e];
        for (int r = b->first_run[e]; from && r < b->first_run[e + 1]; r++)
            nb_spread_run_of(from + x - b->fast, b->k + e * row, row, &b->runs[r], sum);
    }
    for (int i = 0; i < NB_SPREAD_ROWS; i++)
        memcpy(to[i], sum[i], sizeof sum[i]);
}

static inline void nb_row_spread(const nb_spread_block *b)
{
    float edge[NB_SPREAD_ROWS][NB_SPREAD_WIDE];
    for (int y = 0; y < b->rows; y += NB_SPREAD_ROWS)
        for (int x = 0; x < b->columns; x += NB_SPREAD_WIDE) {
            const int left = b->columns - x, rows = b->rows - y;
            const int whole = left >= NB_SPREAD_WIDE && rows >= NB_SPREAD_ROWS;
            const size_t n =
                (size_t)(left < NB_SPREAD_WIDE ? left : NB_SPREAD_WIDE) * sizeof(float);
            float *at = b->to + (size_t)y * b->to_stride + (size_t)x;
            float *to[NB_SPREAD_ROWS];
            for (int i = 0; i < NB_SPREAD_ROWS; i++) {
                to[i] = whole ? at + (size_t)i * b->to_stride : edge[i];
                if (!whole)
                    memset(edge[i], 0, sizeof edge[i]);
                if (!whole && i < rows)
                    memcpy(edge[i], at + (size_t)i * b->to_stride, n);
            }
            nb_spread_chunk(b, y, x, to);
            for (int i = 0; i < NB_SPREAD_ROWS && i < rows && !whole; i++)
                memcpy(at + (size_t)i * b->to_stride, edge[i], n);
        }
}

#endif
