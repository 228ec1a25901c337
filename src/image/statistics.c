/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

/* All sums have one order: in eight lanes along a row, over the lanes, over the rows of a
 * stripe (a group of rows), over the stripes. The stripes depend only on the region's
 * height. */
enum { STRIPES = 128 };

typedef struct partial {
    double sum, sum2; /* sums over unmasked pixels: of values, and of squares */
    /* sums over all pixels: of values, and of squared deviations from the mean */
    double all, squares;
    int64_t pixels, rendered;
    double max;
    int max_fast, max_slow; /* max_fast < 0: no pixel yet */
} partial;

/** Add the pixels of b, which follow those of a (Chan, Golub & LeVeque, Am. Stat. 37, 242
 * (1983)). */
static void merge(partial *a, const partial *b)
{
    if (a->pixels && b->pixels) {
        double na = (double)a->pixels, nb = (double)b->pixels;
        double apart = b->all / nb - a->all / na;
        a->squares += apart * apart * (na * nb / (na + nb));
    }
    a->squares += b->squares;
    a->all += b->all;
    a->pixels += b->pixels;
    a->rendered += b->rendered;
    a->sum += b->sum;
    a->sum2 += b->sum2;
    if (b->max_fast >= 0 && (a->max_fast < 0 || b->max > a->max)) {
        a->max = b->max;
        a->max_fast = b->max_fast;
        a->max_slow = b->max_slow;
    }
}

/** Sums of row s of the region. */
static partial partial_of(const nb_row_sums *sums, nb_region r, int s)
{
    const nb_row_sums *row = &sums[s];
    return (partial){.sum = row->sum,
                     .sum2 = row->sum2,
                     .all = row->all,
                     .squares = row->squares,
                     .pixels = r.fmax - r.fmin + 1,
                     .rendered = row->rendered,
                     .max = row->max,
                     .max_fast = row->max > -INFINITY ? r.fmin + (int)row->max_at : -1,
                     .max_slow = r.smin + s};
}

static void conclude(const partial *total, nb_stats *stats)
{
    double n = (double)total->pixels, apart;
    stats->sum = total->sum;
    stats->rendered = total->rendered;
    if (total->max_fast >= 0) {
        stats->max = total->max;
        stats->max_fast = total->max_fast;
        stats->max_slow = total->max_slow;
    }
    if (total->rendered > 0) {
        stats->mean = total->sum / (double)total->rendered;
        stats->rms = sqrt(total->sum2 / (double)total->rendered);
    }
    if (total->pixels < 2)
        return;
    apart = total->rendered == total->pixels ? 0 : total->all / n - stats->mean;
    stats->rmsd = sqrt((total->squares + n * apart * apart) / (n - 1));
}

void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene, nb_stats *stats)
{
    const nb_region r = scene->raster.roi;
    const int n = r.smax - r.smin + 1;
    partial total = {.max_fast = -1};
    memset(stats, 0, sizeof *stats);
    stats->roi_pixels = (int64_t)nb_region_pixels(r);
    for (int stripe = 0; stats->roi_pixels > 0 && stripe < STRIPES; stripe++) {
        const int from = (int)((int64_t)n * stripe / STRIPES),
                  to = (int)((int64_t)n * (stripe + 1) / STRIPES);
        partial sum = {.max_fast = -1};
        for (int s = from; s < to; s++) {
            const partial row = partial_of(rows, r, s);
            merge(&sum, &row);
        }
        merge(&total, &sum);
    }
    conclude(&total, stats);
}

/** Add up the rows of an image in memory. Find the first pixel that has the largest
 * value. */
static void sum_rows(const nb_photons *photons, nb_row_sums *sums)
{
    const nb_raster *raster = &photons->scene->raster;
    const nb_region r = raster->roi;
    const int n = r.smax - r.smin + 1, width = r.fmax - r.fmin + 1;
    const int threads = nb_image_threads(photons->threads, (int64_t)nb_region_pixels(r));
    const size_t stride = (size_t)raster->columns,
                 first = (size_t)r.smin * stride + (size_t)r.fmin;
    nb_row_sums *best = sums;
    const float *row;
    const uint8_t *mask;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int s = 0; s < n; s++) {
        const size_t at = first + (size_t)s * stride;
        photons->kernels->sums(photons->pixels + at,
                               raster->mask ? raster->mask + at : NULL, width, &sums[s]);
    }
    (void)threads;
    for (int s = 1; s < n; s++)
        best = sums[s].max > best->max ? &sums[s] : best;
    row = photons->pixels + first + (size_t)(best - sums) * stride;
    mask = raster->mask ? raster->mask + (row - photons->pixels) : NULL;
    for (best->max_at = 0; best->max_at < width - 1; best->max_at++)
        if (row[best->max_at] == best->max && (!mask || mask[best->max_at]))
            return;
}

nb_status nb_statistics(const nb_photons *photons, nb_stats *stats, nb_error *err)
{
    const nb_region r = photons->scene->raster.roi;
    const int some = nb_region_pixels(r) > 0;
    nb_row_sums *sums = nb_alloc_raw(some ? (size_t)(r.smax - r.smin + 1) : 1,
                                     sizeof *sums, "sums of rows", err);
    nb_status st = sums ? NB_OK : NB_ERR_NOMEM;
    if (some && photons->device)
        NB_TRY(photons->device->sums(photons->state, photons->scene, sums, err));
    else if (!st && some)
        sum_rows(photons, sums);
    if (!st)
        nb_statistics_of_rows(sums, photons->scene, stats);
    nb_free(sums);
    return st;
}
