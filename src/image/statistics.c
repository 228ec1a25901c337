/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/threads.h"

/* Order of every sum: eight lanes along a row, lanes in order, rows of a stripe in order, stripes
 * in order.  The stripes hang on the region's height alone, never on the threads. */
enum { STRIPES = 128 };

typedef struct region {
    const float *image;
    const uint8_t *mask; /* or NULL */
    size_t stride;
    int fmin, columns, smin, rows;
    const nb_row_sums *made; /* [rows], or NULL: add the image up */
    const nb_image_kernels *kernels;
} region;

typedef struct partial {
    double sum, sum2;    /* of lit pixels: values and squares */
    double all, squares; /* of all pixels: values and squared deviations from their mean */
    int64_t pixels, rendered;
    double max;
    int max_fast, max_slow; /* max_fast < 0: no pixel yet */
} partial;

/** Add the pixels of b, which come after those of a (Chan, Golub & LeVeque, Am. Stat. 37, 242
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

/** The first lit pixel that is above what was found before; NaN never is. */
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

static void find_value(const float *row, const uint8_t *mask, const region *r, int slow,
                       double value, partial *p)
{
    int i = 0;
    while (i < r->columns - 1 && (row[i] != value || (mask && !mask[i])))
        i++;
    p->max = value;
    p->max_fast = r->fmin + i;
    p->max_slow = slow;
}

static partial partial_of(const nb_row_sums *s, int columns)
{
    partial p = {0};
    p.sum = s->sum;
    p.sum2 = s->sum2;
    p.all = s->all;
    p.squares = s->squares;
    p.pixels = columns;
    p.rendered = s->rendered;
    p.max_fast = -1;
    return p;
}

static void add_row(const region *r, int slow, partial *total)
{
    const float *row = r->image + (size_t)slow * r->stride + r->fmin;
    const uint8_t *mask = r->mask ? r->mask + (size_t)slow * r->stride + r->fmin : NULL;
    nb_row_sums s;
    partial p;
    r->kernels->sums(row, mask, r->columns, &s);
    p = partial_of(&s, r->columns);
    if (s.max == -INFINITY) /* nothing but that and NaN */
        find_max(row, mask, r, slow, &p);
    else if (total->max_fast < 0 || s.max > total->max)
        find_value(row, mask, r, slow, s.max, &p);
    merge(total, &p);
}

static void add_made_row(const region *r, int slow, partial *total)
{
    const nb_row_sums *s = &r->made[slow - r->smin];
    partial p = partial_of(s, r->columns);
    if (s->max > -INFINITY) {
        p.max = s->max;
        p.max_fast = r->fmin + (int)s->max_at;
        p.max_slow = slow;
    }
    merge(total, &p);
}

/** Fill part[STRIPES]. */
static void sum_stripes(const region *r, int threads, partial *part)
{
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads)
    for (int stripe = 0; stripe < STRIPES; stripe++) {
        int from = (int)((int64_t)r->rows * stripe / STRIPES);
        int to = (int)((int64_t)r->rows * (stripe + 1) / STRIPES);
        partial p = {0};
        p.max_fast = -1;
        for (int row = from; row < to; row++) {
            if (r->made)
                add_made_row(r, r->smin + row, &p);
            else
                add_row(r, r->smin + row, &p);
        }
        part[stripe] = p;
    }
    (void)threads;
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

static void summarise(const region *r, int threads, nb_stats *stats)
{
    partial part[STRIPES], total = {0};
    memset(stats, 0, sizeof *stats);
    if (r->columns <= 0 || r->rows <= 0)
        return;
    stats->roi_pixels = (int64_t)r->columns * r->rows;
    sum_stripes(r, nb_image_threads(threads, stats->roi_pixels), part);
    total.max_fast = -1;
    for (int i = 0; i < STRIPES; i++)
        merge(&total, &part[i]);
    conclude(&total, stats);
}

static region region_of(const nb_scene *scene)
{
    const nb_raster *raster = &scene->raster;
    const region r = {NULL,
                      raster->mask,
                      (size_t)raster->columns,
                      raster->roi.fmin,
                      raster->roi.fmax - raster->roi.fmin + 1,
                      raster->roi.smin,
                      raster->roi.smax - raster->roi.smin + 1,
                      NULL,
                      NULL};
    return r;
}

void nb_statistics_of_rows(const nb_row_sums *rows, const nb_scene *scene, nb_stats *stats)
{
    region r = region_of(scene);
    r.made = rows;
    summarise(&r, 1, stats);
}

nb_status nb_statistics(const nb_photons *photons, nb_stats *stats, nb_error *err)
{
    region r = region_of(photons->scene);
    nb_row_sums *sums;
    nb_status st;
    if (!photons->device || r.rows <= 0 || r.columns <= 0) {
        r.image = photons->pixels;
        r.kernels = photons->kernels;
        summarise(&r, photons->threads, stats);
        return NB_OK;
    }
    sums = nb_alloc_raw((size_t)r.rows, sizeof *sums, "sums of rows", err);
    if (!sums)
        return NB_ERR_NOMEM;
    st = photons->device->sums(photons->state, photons->scene, sums, err);
    if (!st)
        nb_statistics_of_rows(sums, photons->scene, stats);
    nb_free(sums);
    return st;
}
