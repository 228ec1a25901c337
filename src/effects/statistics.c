/* SPDX-License-Identifier: MIT */
#include "statistics.h"

#include <math.h>
#include <string.h>

#include "threads.h"

/* Order of every sum: eight lanes along a row, lanes in order, rows of a stripe in order, stripes
 * in order.  The stripes hang on the region's height alone, never on the threads. */
enum { STRIPES = 128, LANES = 8 };

typedef struct region {
    const float *image;
    const uint8_t *mask; /* or NULL */
    size_t stride;
    int fmin, columns, smin, rows;
} region;

typedef struct partial {
    double sum, sum2; /* of values and squares; second pass: sum2 of deviations */
    int64_t rendered;
    float max;
    int max_fast, max_slow; /* max_fast < 0: no pixel yet */
} partial;

static double add_lanes(const double *lane)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

static void find_max(const float *row, const uint8_t *mask, const region *r, int slow,
                     partial *p)
{
    for (int i = 0; i < r->columns; i++) {
        if ((!mask || mask[i]) && (p->max_fast < 0 ? !isnan(row[i]) : row[i] > p->max)) {
            p->max = row[i];
            p->max_fast = r->fmin + i;
            p->max_slow = slow;
        }
    }
}

static void add_row(const region *r, int slow, partial *p)
{
    const float *row = r->image + (size_t)slow * r->stride + r->fmin;
    const uint8_t *mask = r->mask ? r->mask + (size_t)slow * r->stride + r->fmin : NULL;
    double sum[LANES] = {0}, sum2[LANES] = {0};
    int64_t rendered = r->columns;
    for (int i = 0; i < r->columns; i++) {
        double x = row[i];
        if (mask && !mask[i]) {
            rendered--;
            continue;
        }
        sum[i % LANES] += x;
        sum2[i % LANES] += x * x;
    }
    p->sum += add_lanes(sum);
    p->sum2 += add_lanes(sum2);
    p->rendered += rendered;
    find_max(row, mask, r, slow, p);
}

static void add_row_deviations(const region *r, int slow, double mean, partial *p)
{
    const float *row = r->image + (size_t)slow * r->stride + r->fmin;
    double sum2[LANES] = {0};
    for (int i = 0; i < r->columns; i++) {
        double d = row[i] - mean;
        sum2[i % LANES] += d * d;
    }
    p->sum2 += add_lanes(sum2);
}

/** Fill part[STRIPES]; mean NULL: sums and maximum, else squared deviations from *mean. */
static void sum_stripes(const region *r, const double *mean, int threads, partial *part)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (int stripe = 0; stripe < STRIPES; stripe++) {
        int from = (int)((int64_t)r->rows * stripe / STRIPES);
        int to = (int)((int64_t)r->rows * (stripe + 1) / STRIPES);
        partial p = {0};
        p.max_fast = -1;
        for (int row = from; row < to; row++) {
            if (mean)
                add_row_deviations(r, r->smin + row, *mean, &p);
            else
                add_row(r, r->smin + row, &p);
        }
        part[stripe] = p;
    }
    (void)threads;
}

static void merge(const partial *part, nb_stats *stats)
{
    double sum2 = 0;
    int found = 0;
    for (int i = 0; i < STRIPES; i++) {
        stats->sum += part[i].sum;
        sum2 += part[i].sum2;
        stats->rendered += part[i].rendered;
        if (part[i].max_fast >= 0 && (!found || part[i].max > stats->max)) {
            stats->max = part[i].max;
            stats->max_fast = part[i].max_fast;
            stats->max_slow = part[i].max_slow;
            found = 1;
        }
    }
    if (stats->rendered > 0) {
        stats->mean = stats->sum / (double)stats->rendered;
        stats->rms = sqrt(sum2 / (double)stats->rendered);
    }
}

void nb_statistics_threads(const float *image, const nb_scene *scene, int threads,
                           nb_stats *stats)
{
    const nb_detector *det = &scene->det;
    const region r = {image,
                      det->mask,
                      (size_t)det->fpixels,
                      det->roi_fmin,
                      det->roi_fmax - det->roi_fmin + 1,
                      det->roi_smin,
                      det->roi_smax - det->roi_smin + 1};
    partial part[STRIPES];
    double deviations = 0;
    memset(stats, 0, sizeof *stats);
    if (r.columns <= 0 || r.rows <= 0)
        return;
    stats->roi_pixels = (int64_t)r.columns * r.rows;
    threads = nb_effect_threads(threads, stats->roi_pixels);
    sum_stripes(&r, NULL, threads, part);
    merge(part, stats);
    if (stats->roi_pixels < 2)
        return;
    sum_stripes(&r, &stats->mean, threads, part);
    for (int i = 0; i < STRIPES; i++)
        deviations += part[i].sum2;
    stats->rmsd = sqrt(deviations / (double)(stats->roi_pixels - 1));
}

void nb_statistics(const float *image, const nb_scene *scene, nb_stats *stats)
{
    nb_statistics_threads(image, scene, 0, stats);
}
