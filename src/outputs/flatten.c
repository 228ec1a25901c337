/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>

#include "../analysis/analysis.h"
#include "../base/memory.h"

/* edge of a block, pixels: larger than a spot, smaller than the width of a ring */
enum { SIDE = 16 };

/** Medians of square blocks. */
typedef struct blocks {
    double *medians; /* owned, [slow][fast] */
    int fast, slow;
} blocks;

static float pixel(const nb_picture_job *job, int f, int s)
{
    return job->image[(size_t)s * (size_t)job->fast + (size_t)f];
}

/** Median of pixels above `least` in a part of the image; work: memory for the pixels. */
static double median_of(const nb_picture_job *job, const int first[2], const int end[2],
                        double least, double *work)
{
    size_t n = 0;
    for (int s = first[1]; s < end[1] && s < job->slow; s++)
        for (int f = first[0]; f < end[0] && f < job->fast; f++)
            if (isfinite(pixel(job, f, s)) && pixel(job, f, s) > least)
                work[n++] = pixel(job, f, s);
    return nb_percentile_of(work, n, 50);
}

static int is_whole(const nb_picture_job *job)
{
    for (size_t i = 0, n = (size_t)job->fast * (size_t)job->slow; i < n; i++)
        if (isfinite(job->image[i]) && job->image[i] != floorf(job->image[i]))
            return 0;
    return 1;
}

/** Give blocks without a value the median of all medians. */
static void fill_empty(blocks *b, double *work)
{
    size_t n = 0, all = (size_t)b->fast * (size_t)b->slow;
    double middle;
    for (size_t i = 0; i < all; i++)
        if (!isnan(b->medians[i]))
            work[n++] = b->medians[i];
    middle = nb_percentile_of(work, n, 50);
    for (size_t i = 0; i < all; i++)
        if (isnan(b->medians[i]))
            b->medians[i] = middle;
}

/** Measure the medians of pixels above the pedestal; other pixels are rare or are
 * gaps. */
static nb_status measure(const nb_picture_job *job, blocks *b, double *work, nb_error *err)
{
    b->fast = (job->fast - 1) / SIDE + 1;
    b->slow = (job->slow - 1) / SIDE + 1;
    b->medians = nb_alloc_raw((size_t)b->fast * (size_t)b->slow, sizeof *b->medians,
                              "background of a picture", err);
    if (!b->medians)
        return NB_ERR_NOMEM;
    for (int y = 0; y < b->slow; y++)
        for (int x = 0; x < b->fast; x++)
            b->medians[y * b->fast + x] =
                median_of(job, (int[2]){x * SIDE, y * SIDE},
                          (int[2]){(x + 1) * SIDE, (y + 1) * SIDE}, job->pedestal, work);
    fill_empty(b, work);
    return NB_OK;
}

/** Last block with its middle before pixel `at`; *part: position between the middles of
 * this block and the next, 0 to 1. */
static int before(int at, int n, double *part)
{
    const double x = fmin(fmax((at + 0.5) / SIDE - 0.5, 0), n - 1);
    const int k = x < n - 1 || n == 1 ? (int)x : n - 2;
    *part = x - k;
    return k;
}

/** Background at a pixel, linear between the middles of the blocks. */
static double background_at(const blocks *b, int f, int s)
{
    double u, v;
    const int x = before(f, b->fast, &u), y = before(s, b->slow, &v);
    const int right = x + (b->fast > 1), below = y + (b->slow > 1);
    const double *top = b->medians + y * b->fast, *bottom = b->medians + below * b->fast;
    return (1 - v) * ((1 - u) * top[x] + u * top[right]) +
           v * ((1 - u) * bottom[x] + u * bottom[right]);
}

/** Pixel minus background, in Poisson deviations of the background. */
static float above(const nb_picture_job *job, const blocks *b, int f, int s)
{
    const double background = background_at(b, f, s);
    return (float)((pixel(job, f, s) - background) /
                   sqrt(fmax(1, background - job->pedestal)));
}

/** Scale from 2 deviations of the background to percentile 99.5, or to 10 deviations if
 * that is higher. */
static void set_scale(const nb_picture_job *job, const float *flat, double *work,
                      nb_png_options *options)
{
    const double to_sigma = 1.4826, percent = 99.5, least = 2, limit = 10;
    const size_t all = (size_t)job->fast * (size_t)job->slow;
    size_t n = 0;
    double high, deviation;
    for (size_t i = 0; i < all; i++)
        if (isfinite(flat[i]))
            work[n++] = flat[i];
    high = nb_percentile_of(work, n, percent);
    for (size_t i = 0; i < n; i++)
        work[i] = fabs(work[i]);
    deviation = fmax(1, to_sigma * nb_percentile_of(work, n, 50));
    *options = *job->options;
    options->scale = NB_PNG_RANGE;
    options->low = least * deviation;
    options->high = fmax(high, limit * deviation);
}

nb_status nb_flatten(nb_picture_job *job, nb_png_options *options, float **pixels,
                     nb_error *err)
{
    const size_t n = (size_t)job->fast * (size_t)job->slow;
    const int whole[2] = {job->fast, job->slow};
    const double least = 4;
    blocks b = {0};
    double *work;
    nb_status st = NB_OK;
    *pixels = NULL;
    if (job->options->scale != NB_PNG_AUTO || job->options->log || !is_whole(job))
        return NB_OK;
    if (!(work = nb_alloc_raw(n + 1, sizeof *work, "background of a picture", err)))
        return NB_ERR_NOMEM;
    if (median_of(job, (int[2]){0, 0}, whole, -INFINITY, work) >= job->pedestal + least) {
        st = measure(job, &b, work, err);
        if (!st && !(*pixels = nb_alloc_raw(n, sizeof **pixels, "picture", err)))
            st = NB_ERR_NOMEM;
        for (int s = 0; !st && s < job->slow; s++)
            for (int f = 0; f < job->fast; f++)
                (*pixels)[(size_t)s * (size_t)job->fast + (size_t)f] =
                    above(job, &b, f, s);
        if (!st) {
            set_scale(job, *pixels, work, options);
            job->image = *pixels;
            job->options = options;
        }
    }
    nb_free(b.medians);
    nb_free(work);
    return st;
}
