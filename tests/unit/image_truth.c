/* SPDX-License-Identifier: MIT */
/* Simple versions of the image kernels. Tests compare the kernels, which work on several
 * pixels at a time, with these. */
#include <math.h>
#include <string.h>

#include "../../src/image/adu.h"
#include "../../src/image/noise_block.h"
#include "image_truth.h"

enum { LANES = 8 };

/** Adds the lanes in order. */
static double add_lanes(const double v[LANES])
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += v[i];
    return sum;
}

static double squares_of(const float *row, int n, double mean)
{
    double square[LANES] = {0}, off[LANES] = {0}, residue;
    for (int f = 0; f < n; f++) {
        double d = row[f] - mean;
        off[f % LANES] += d;
        square[f % LANES] += d * d;
    }
    residue = add_lanes(off); /* this sum is not quite 0, because the mean is rounded */
    return add_lanes(square) - residue * residue / n;
}

static void sums(const float *row, const uint8_t *mask, int n, nb_row_sums *out)
{
    double all[LANES] = {0}, sum[LANES] = {0}, sum2[LANES] = {0};
    memset(out, 0, sizeof *out);
    out->max = -INFINITY;
    out->max_at = -1;
    for (int f = 0; f < n; f++) {
        int lit = !mask || mask[f];
        double x = row[f], y = lit ? x : 0;
        all[f % LANES] += x;
        sum[f % LANES] += y;
        sum2[f % LANES] += y * y;
        out->rendered += lit;
        if (lit && x > out->max)
            out->max = x;
    }
    out->all = add_lanes(all);
    out->sum = add_lanes(sum);
    out->sum2 = add_lanes(sum2);
    out->squares = squares_of(row, n, out->all / n);
}

static int u16(const float *row, const uint8_t *mask, int n, double scale,
               double adc_offset, uint16_t *out)
{
    int above = 0;
    for (int f = 0; f < n; f++) {
        float photons = !mask || mask[f] ? row[f] : 0;
        out[f] = nb_int_adu(photons, scale, adc_offset);
        above |= photons * scale + adc_offset > 65535.0;
    }
    return above;
}

static void u8(const float *row, int n, double scale, uint8_t *out)
{
    for (int f = 0; f < n; f++)
        out[f] = nb_pgm_grey(row[f], scale);
}

static void taps(const double *const *rows, const double *k, int n_taps, int n,
                 double *out)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int t = 0; t < n_taps; t++)
            sum += k[t] * rows[t][i];
        out[i] = sum;
    }
}

static void spread(const nb_spread_block *b)
{
    const int row = 2 * b->fast + 1;
    for (int y = 0; y < b->rows; y++)
        for (int x = 0; x < b->columns; x++) {
            float sum = b->fresh ? 0 : b->to[(size_t)y * b->to_stride + (size_t)x];
            for (int e = 0; e <= 2 * b->slow; e++) {
                const float *from = b->from[y + e];
                const float *k = b->k + e * row + b->fast;
                for (int d = -b->fast; from && d <= b->fast; d++)
                    sum += k[d] * from[x + d];
            }
            b->to[(size_t)y * b->to_stride + (size_t)x] = sum;
        }
}

static void counts(const double *mean, const nb_poisson_key *first, double *photons)
{
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        const nb_poisson_key key = {first->seed, first->pixel + (uint64_t)i, first->frame};
        photons[i] = nb_poisson(mean[i], &key);
    }
}

static void normals(const nb_poisson_key *first, uint32_t stream, double *deviate)
{
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        const nb_poisson_key key = {first->seed, first->pixel + (uint64_t)i, first->frame};
        deviate[i] = nb_normal(&key, stream);
    }
}

static int noise(const float *mean, const nb_poisson_key *first, double adc_offset,
                 uint16_t *adu)
{
    int clipped = 0;
    for (int i = 0; i < NB_NOISE_BLOCK; i++) {
        const nb_poisson_key key = {first->seed, first->pixel + (uint64_t)i, first->frame};
        int overload;
        adu[i] = nb_noise_adu(nb_poisson(mean[i], &key), adc_offset, &overload);
        clipped += overload;
    }
    return clipped;
}

const nb_image_kernels nb_image_kernels_scalar = {sums, u16,    u8,      taps, spread,
                                                  NULL, counts, normals, noise};
