/* SPDX-License-Identifier: MIT */
/** Passes over one row of a float image, compiled by kernels_*.c for each instruction set. */
#ifndef NB_IMAGE_ROW_PASS_H
#define NB_IMAGE_ROW_PASS_H

#include "kernels.h"
#include "../base/vector.h"

/** Load the next NB_LANES floats of a row. Lanes after its end get `fill`. */
static inline void nb_v_take(const float *from, int left, float fill, nb_vf *v)
{
    if (left >= NB_LANES) {
        nb_v_load(from, v);
        return;
    }
    for (int i = 0; i < NB_LANES; i++)
        (*v)[i] = i < left ? from[i] : fill;
}

/** Load bytes of a mask as lanes of -1 (true) and 0. Lanes after the row's end get 0. */
static inline void nb_v_take_mask(const uint8_t *from, int left, nb_vi *v)
{
    for (int i = 0; i < NB_LANES; i++)
        (*v)[i] = i < left && from[i] ? -1 : 0;
}

/* --- sums of a row: eight partial sums for any vector size, added in one order --- */

#define NB_SUM_VECTORS (8 / NB_LANES)

static inline double nb_add_lanes(const nb_vd *v)
{
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += v[i / NB_LANES][i % NB_LANES];
    return sum;
}

/** Add one vector of the row to the sums; lit: pixels that the mask does not exclude. */
static inline void nb_sum_vector(const nb_vf *values, const nb_vi *lit, nb_vd *all,
                                 nb_vd *sum, nb_vd *sum2, nb_vd *max)
{
    nb_vd x = __builtin_convertvector(*values, nb_vd), y = NB_V_WHERE(*lit, x);
    *all += x;
    *sum += y;
    *sum2 += y * y;
    *max = NB_V_CHOOSE((x > *max) & *lit, x, *max);
}

static inline double nb_row_squares(const float *row, int n, double mean)
{
    nb_vd square[NB_SUM_VECTORS], off[NB_SUM_VECTORS];
    double residue;
    memset(square, 0, sizeof square);
    memset(off, 0, sizeof off);
    for (int f = 0; f < n; f += 8) {
        for (int j = 0; j < NB_SUM_VECTORS; j++) {
            int left = n - f - j * NB_LANES;
            nb_vf values;
            nb_vd d;
            if (left <= 0)
                break;
            nb_v_take(row + f + j * NB_LANES, left, 0, &values);
            d = __builtin_convertvector(values, nb_vd) - mean;
            for (int i = left; i < NB_LANES; i++)
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
    nb_vd all[NB_SUM_VECTORS], sum[NB_SUM_VECTORS], sum2[NB_SUM_VECTORS],
        max[NB_SUM_VECTORS];
    nb_vi lit;
    int64_t rendered = n;
    memset(all, 0, sizeof all);
    memset(sum, 0, sizeof sum);
    memset(sum2, 0, sizeof sum2);
    memset(&lit, 0xff, sizeof lit);
    for (int j = 0; j < NB_SUM_VECTORS; j++)
        max[j] = sum[j] - (double)INFINITY;
    for (int f = 0; f < n; f += 8) {
        for (int j = 0; j < NB_SUM_VECTORS; j++) {
            int at = f + j * NB_LANES;
            nb_vf values;
            if (at >= n)
                break;
            nb_v_take(row + at, n - at, 0, &values);
            if (mask)
                nb_v_take_mask(mask + at, n - at, &lit);
            for (int i = n - at; i < NB_LANES; i++)
                lit[i] = 0;
            nb_sum_vector(&values, &lit, &all[j], &sum[j], &sum2[j], &max[j]);
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
        out->max = fmax(out->max, max[i / NB_LANES][i % NB_LANES]);
}

/* --- integers --- */

/** nb_int_adu for NB_LANES pixels at a time. Returns 1 if a value is above 65535. */
static inline int nb_row_u16(const float *row, const uint8_t *mask, int n, double scale,
                             double adc_offset, uint16_t *out)
{
    const nb_vd zero = {0};
    nb_vi above = {0};
    for (int f = 0; f < n; f += NB_LANES) {
        nb_vf values, single;
        nb_vd v;
        nb_vi lit;
        nb_vw whole;
        nb_vh narrow;
        int left = n - f;
        nb_v_take(row + f, left, 0, &values);
        v = __builtin_convertvector(values, nb_vd);
        if (mask) {
            nb_v_take_mask(mask + f, left, &lit);
            v = NB_V_WHERE(lit, v);
        }
        v = v * scale + adc_offset;
        above |= v > 65535.0;
        v = NB_V_CHOOSE(v > 65535.0, zero + 65535.0, v);
        v = NB_V_WHERE(v > zero, v + 0.5);
        single = __builtin_convertvector(v, nb_vf);
        /* numbers are positive, so truncation is floor */
        whole = __builtin_convertvector(single, nb_vw);
        narrow = __builtin_convertvector(whole, nb_vh);
        memcpy(out + f, &narrow, left < NB_LANES ? (size_t)left * 2 : sizeof narrow);
    }
    return nb_v_bits(&above) != 0;
}

/** nb_pgm_grey for NB_LANES pixels at a time. */
static inline void nb_row_u8(const float *row, int n, double scale, uint8_t *out)
{
    const nb_vd zero = {0};
    for (int f = 0; f < n; f += NB_LANES) {
        nb_vf values;
        nb_vd v;
        nb_vw whole;
        nb_vb narrow;
        int left = n - f;
        nb_v_take(row + f, left, 0, &values);
        v = __builtin_convertvector(values, nb_vd) * scale;
        v = NB_V_CHOOSE(v > 255.0, zero + 255.0, v);
        v = NB_V_WHERE(v > zero, v);
        whole = __builtin_convertvector(v, nb_vw);
        narrow = __builtin_convertvector(whole, nb_vb);
        memcpy(out + f, &narrow, left < NB_LANES ? (size_t)left : sizeof narrow);
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
    nb_vd sum[NB_TAP_VECTORS];
    memset(sum, 0, sizeof sum);
    for (int t = 0; t < taps; t++) {
        const nb_vd weight = (nb_vd){0} + k[t];
        const double *from = rows[t] + at;
        for (int j = 0; j < vectors; j++) {
            nb_vd x;
            memcpy(&x, from + j * NB_LANES, sizeof x);
            sum[j] += weight * x;
        }
    }
    memcpy(out + at, sum, (size_t)vectors * sizeof *sum);
}

static inline void nb_row_taps(const double *const *rows, const double *k, int taps,
                               int n, double *out)
{
    int at = 0;
    for (; at + NB_TAP_VECTORS * NB_LANES <= n; at += NB_TAP_VECTORS * NB_LANES)
        nb_taps_piece(rows, k, taps, at, NB_TAP_VECTORS, out);
    for (; at + NB_LANES <= n; at += NB_LANES)
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

typedef float nb_vl __attribute__((vector_size(8 * NB_LANES)));

/** Number of vectors of sums, in each of NB_SPREAD_ROWS rows, that registers hold. */
enum {
    NB_SPREAD_VECTORS = NB_LANES == 8 ? 8 : 4,
    NB_SPREAD_WIDE = NB_SPREAD_VECTORS * 2 * NB_LANES
};
typedef nb_vl nb_spread_sums[NB_SPREAD_ROWS][NB_SPREAD_VECTORS];

/** Add a row of light times the taps of a run to rows `first` to `last` of the sums. k:
 * taps for row 0; the taps for row i are i * row earlier. */
static inline __attribute__((always_inline)) void nb_spread_taps(
    const float *from, const float *k, int row, const nb_spread_run *run, const int first,
    const int last, nb_spread_sums sum)
{
    for (int d = run->from; d < run->end; d++)
        for (int j = 0; j < NB_SPREAD_VECTORS; j++) {
            nb_vl v;
            memcpy(&v, from + d + j * 2 * NB_LANES, sizeof v);
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
