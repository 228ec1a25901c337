/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"

/* Order statistics by quickselect (Hoare, CACM 4, 321 (1961)). */

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

static double middle_of_three(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/** Reorder v[n] so that v[k] is as after sorting, with no larger value before it. */
static void select_kth(double *v, ptrdiff_t n, ptrdiff_t k)
{
    ptrdiff_t left = 0, right = n - 1;
    while (left < right) {
        double pivot = middle_of_three(v[left], v[left + (right - left) / 2], v[right]);
        ptrdiff_t i = left, j = right;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j)
                swap(&v[i++], &v[j--]);
        }
        if (j < k)
            left = i;
        if (k < i)
            right = j;
    }
}

double nb_percentile_of(double *v, size_t n, double percent)
{
    double at, next;
    size_t k;
    if (n == 0)
        return NAN;
    at = percent / 100 * (double)(n - 1);
    k = (size_t)at;
    k = k < n ? k : n - 1;
    select_kth(v, (ptrdiff_t)n, (ptrdiff_t)k);
    if (k + 1 >= n || at == (double)k)
        return v[k];
    next = v[k + 1];
    for (size_t i = k + 2; i < n; i++)
        next = v[i] < next ? v[i] : next;
    return v[k] + (at - (double)k) * (next - v[k]);
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(float *v, size_t n)
{
    qsort(v, n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : 0.5 * ((double)v[n / 2 - 1] + v[n / 2]);
}

double nb_bin_centre(const nb_binned *pixels, size_t n, float *work, double *limit)
{
    const double to_sigma = 1.4826, /* sigma / median deviation of a normal law */
        farthest = 6;               /* limit of the distance from the median, in sigma */
    double centre;
    *limit = INFINITY;
    if (n < NB_BIN_ENOUGH)
        return 0;
    for (size_t i = 0; i < n; i++)
        work[i] = pixels[i].counts;
    centre = median(work, n);
    for (size_t i = 0; i < n; i++)
        work[i] = (float)fabs(pixels[i].counts - centre);
    *limit = farthest * fmax(to_sigma * median(work, n), sqrt(fmax(centre, 0.0) + 1.0));
    return centre;
}

nb_bin_mean nb_bin_mean_of(const nb_binned *pixels, size_t n, float *work)
{
    nb_bin_mean m = {0, 0, 0};
    double limit, centre = nb_bin_centre(pixels, n, work, &limit), squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double y = (double)pixels[i].counts * pixels[i].per_unit;
        double step;
        if (!(fabs(pixels[i].counts - centre) <= limit))
            continue;
        step = y - m.mean; /* Welford's update of mean and variance */
        m.mean += step / (double)++m.n;
        squares += step * (y - m.mean);
    }
    m.deviation = m.n > 1 ? sqrt(squares / (double)(m.n - 1)) : 0;
    return m;
}

/** A row of the rectangle. */
typedef struct row {
    const float *a, *b;
    const nb_pair *pair;
    size_t start; /* first pixel of the row in the images */
    int n;
} row;

static row row_of(const nb_pair *p, int s)
{
    size_t start = (size_t)s * (size_t)p->fast + (size_t)p->roi[0];
    row r = {p->a + start, p->b + start, p, start, p->roi[1] - p->roi[0] + 1};
    return r;
}

static int is_out(const row *r, int f)
{
    return nb_pair_leaves_out(r->pair, r->start + (size_t)f);
}

static void note_bad(nb_difference *d, int f, int s)
{
    if (d->nonfinite_a + d->nonfinite_b > 0)
        return;
    d->nonfinite_fast = f;
    d->nonfinite_slow = s;
}

/** Find sums, maxima, differences, and counts of pixels that are not finite. */
static void first_pass(const nb_pair *p, nb_difference *d)
{
    double squares = 0;
    d->max_a = d->max_b = -INFINITY;
    for (int s = p->roi[2]; s <= p->roi[3]; s++) {
        row r = row_of(p, s);
        for (int f = 0; f < r.n; f++) {
            double a = r.a[f], b = r.b[f], diff = a - b;
            if (is_out(&r, f))
                continue;
            d->pixels++;
            if (!isfinite(a) || !isfinite(b)) {
                note_bad(d, p->roi[0] + f, s);
                d->nonfinite_a += !isfinite(a);
                d->nonfinite_b += !isfinite(b);
                continue;
            }
            d->sum_a += a;
            d->sum_b += b;
            d->max_a = a > d->max_a ? a : d->max_a;
            d->max_b = b > d->max_b ? b : d->max_b;
            squares += diff * diff;
            if (fabs(diff) > fabs(d->max_difference)) {
                d->max_difference = diff;
                d->max_fast = p->roi[0] + f;
                d->max_slow = s;
            }
        }
    }
    d->rmse = sqrt(squares / (double)d->pixels);
}

/** Pearson's correlation about the means; 1 for equal images, NaN if an image is flat. */
static double correlation(double aa, double bb, double ab, int equal)
{
    if (equal)
        return 1;
    return aa > 0 && bb > 0 ? fmax(-1, fmin(1, ab / (sqrt(aa) * sqrt(bb)))) : NAN;
}

/** Find the correlation, and the factor k with the smallest sum of (A - k B)^2. */
static void second_pass(const nb_pair *p, nb_difference *d)
{
    double n = (double)d->pixels, mean_a = d->sum_a / n, mean_b = d->sum_b / n;
    double aa = 0, bb = 0, ab = 0, raw_bb = 0, raw_ab = 0, left = 0;
    for (int s = p->roi[2]; s <= p->roi[3]; s++) {
        row r = row_of(p, s);
        for (int f = 0; f < r.n; f++) {
            double a = r.a[f] - mean_a, b = r.b[f] - mean_b;
            if (is_out(&r, f))
                continue;
            aa += a * a;
            bb += b * b;
            ab += a * b;
            raw_bb += (double)r.b[f] * r.b[f];
            raw_ab += (double)r.a[f] * r.b[f];
        }
    }
    d->correlation = correlation(aa, bb, ab, d->max_difference == 0);
    d->scale = raw_bb > 0 ? raw_ab / raw_bb : NAN;
    for (int s = p->roi[2]; s <= p->roi[3]; s++) {
        row r = row_of(p, s);
        for (int f = 0; f < r.n; f++) {
            double rest = r.a[f] - d->scale * r.b[f];
            left += is_out(&r, f) ? 0 : rest * rest;
        }
    }
    d->scaled_rmse = sqrt(left / n);
}

/** Correlation of A with the transpose of B; NaN unless the rectangle is square. */
static double transposed_correlation(const nb_pair *p, const nb_difference *d)
{
    double n = (double)d->pixels, mean_a = d->sum_a / n, mean_b = d->sum_b / n;
    double aa = 0, bb = 0, ab = 0;
    int side = p->roi[1] - p->roi[0] + 1;
    if (p->roi[3] - p->roi[2] + 1 != side)
        return NAN;
    for (int s = 0; s < side; s++) {
        row r = row_of(p, p->roi[2] + s);
        for (int f = 0; f < side; f++) {
            row across = row_of(p, p->roi[2] + f);
            double a = r.a[f] - mean_a, b = across.b[s] - mean_b;
            if (is_out(&r, f) || is_out(&across, s))
                continue;
            aa += a * a;
            bb += b * b;
            ab += a * b;
        }
    }
    return correlation(aa, bb, ab, 0);
}

static void no_relative_errors(nb_difference *d, double value)
{
    for (int i = 0; i < NB_RELATIVE_COUNT; i++)
        d->relative[i] = value;
}

static const double percents[NB_RELATIVE_COUNT] = NB_RELATIVE_PERCENTS;

static nb_status relative_errors(const nb_pair *p, double floor, nb_difference *d,
                                 nb_error *err)
{
    double *errors, limit = floor * d->max_b;
    size_t n = 0;
    no_relative_errors(d, d->max_difference == 0 ? 0 : NAN);
    if (!(d->max_b > 0))
        return NB_OK;
    errors = nb_alloc_raw((size_t)d->pixels, sizeof *errors, "relative errors", err);
    if (!errors)
        return NB_ERR_NOMEM;
    for (int s = p->roi[2]; s <= p->roi[3]; s++) {
        row r = row_of(p, s);
        for (int f = 0; f < r.n; f++)
            if (r.b[f] > limit && !is_out(&r, f))
                errors[n++] = fabs((double)r.a[f] - r.b[f]) / r.b[f];
    }
    d->relative_pixels = (int64_t)n;
    for (int i = 0; n > 0 && i < NB_RELATIVE_COUNT; i++)
        d->relative[i] = nb_percentile_of(errors, n, percents[i]);
    nb_free(errors);
    return NB_OK;
}

static void nothing_known(nb_difference *d)
{
    d->sum_a = d->sum_b = d->max_a = d->max_b = d->max_difference = NAN;
    d->correlation = d->rmse = d->maxrel = d->sum_ratio = NAN;
    d->scale = d->scaled_rmse = NAN;
    no_relative_errors(d, NAN);
}

nb_status nb_compare_pixels(const nb_pair *p, double floor, nb_difference *d,
                            nb_error *err)
{
    d->transposed_correlation = NAN;
    first_pass(p, d);
    if (!d->pixels)
        return nb_fail(err, NB_ERR_INPUT,
                       "no pixel is left to compare: all %lld are left "
                       "out (%s)",
                       (long long)d->left_out, d->left_out_why);
    if (d->nonfinite_a || d->nonfinite_b) {
        nothing_known(d);
        return NB_OK;
    }
    second_pass(p, d);
    d->maxrel = d->max_difference == 0 ? 0 : fabs(d->max_difference) / d->max_b;
    d->sum_ratio = d->sum_a == d->sum_b ? 1 : d->sum_a / d->sum_b;
    if (!(d->correlation >= 0.99))
        d->transposed_correlation = transposed_correlation(p, d);
    return relative_errors(p, floor, d, err);
}
