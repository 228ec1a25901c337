/* SPDX-License-Identifier: MIT */
#include "peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static int brightest_first(const void *a, const void *b)
{
    const nb_peak *x = a, *y = b;
    return x->value > y->value ? -1 : x->value < y->value;
}

static double percentile_of(const float *image, size_t n, double percentile)
{
    float *sorted = malloc(n * sizeof *sorted), value;
    size_t at = (size_t)(percentile / 100 * (double)(n - 1));
    if (!sorted)
        abort();
    memcpy(sorted, image, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    value = sorted[at];
    free(sorted);
    return value;
}

/** Brighter than all neighbours; of equal ones the first counts. */
static int is_peak(const float *image, int fast, int slow, int f, int s, int reach)
{
    float v = image[(size_t)s * fast + f];
    int i, j;
    for (j = s - reach < 0 ? -s : -reach; j <= reach && s + j < slow; j++)
        for (i = f - reach < 0 ? -f : -reach; i <= reach && f + i < fast; i++) {
            float w = image[(size_t)(s + j) * fast + f + i];
            if (w > v || (w == v && (j < 0 || (j == 0 && i < 0))))
                return 0;
        }
    return 1;
}

static double parabola_top(double left, double middle, double right)
{
    double curvature = left - 2 * middle + right;
    return curvature < 0 ? 0.5 * (left - right) / curvature : 0;
}

static nb_peak peak_at(const float *image, int fast, int f, int s)
{
    const float *p = image + (size_t)s * fast + f;
    nb_peak peak = {f, s, *p, f + parabola_top(p[-1], p[0], p[1]),
                    s + parabola_top(p[-fast], p[0], p[fast])};
    return peak;
}

int nb_find_peaks(const float *image, int fast, int slow, double percentile,
                  int exclusion, nb_peak *peaks, int max)
{
    double floor = percentile_of(image, (size_t)fast * slow, percentile);
    nb_peak *all = malloc((size_t)fast * slow * sizeof *all);
    int n = 0, f, s;
    if (!all)
        abort();
    for (s = 1; s < slow - 1; s++)
        for (f = 1; f < fast - 1; f++)
            if (image[(size_t)s * fast + f] > floor &&
                is_peak(image, fast, slow, f, s, exclusion))
                all[n++] = peak_at(image, fast, f, s);
    qsort(all, (size_t)n, sizeof *all, brightest_first);
    n = n < max ? n : max;
    memcpy(peaks, all, (size_t)n * sizeof *peaks);
    free(all);
    return n;
}

int nb_nearest_peak(const nb_peak *p, const nb_peak *b, int n_b, double *distance)
{
    int i, best = -1;
    *distance = INFINITY;
    for (i = 0; i < n_b; i++) {
        double d = hypot(p->x - b[i].x, p->y - b[i].y);
        if (d < *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

int nb_match_peaks(const nb_peak *a, int na, const nb_peak *b, int n_b, double radius)
{
    int i, matched = 0;
    for (i = 0; i < na; i++) {
        double distance;
        matched += nb_nearest_peak(&a[i], b, n_b, &distance) >= 0 && distance <= radius;
    }
    return matched;
}

size_t nb_brightest(const float *image, size_t n)
{
    size_t i, best = 0;
    for (i = 1; i < n; i++)
        if (image[i] > image[best])
            best = i;
    return best;
}

double nb_image_sum(const float *image, size_t n)
{
    double sum = 0;
    size_t i;
    for (i = 0; i < n; i++)
        sum += image[i];
    return sum;
}

double nb_correlation(const float *a, const float *b, size_t n)
{
    double ma = nb_image_sum(a, n) / (double)n, mb = nb_image_sum(b, n) / (double)n;
    double aa = 0, bb = 0, ab = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

double nb_max_difference(const float *a, const float *b, size_t n)
{
    double worst = 0, max = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return NAN;
        worst = fmax(worst, fabs((double)a[i] - b[i]));
        max = fmax(max, b[i]);
    }
    return worst / max;
}

int nb_all_finite(const float *image, size_t n)
{
    size_t i;
    for (i = 0; i < n; i++)
        if (!isfinite(image[i]))
            return 0;
    return 1;
}

nb_line nb_fit_line(const double *x, const double *y, int n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    nb_line line;
    int i;
    for (i = 0; i < n; i++) {
        mx += x[i] / n;
        my += y[i] / n;
    }
    for (i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    line.slope = xy / xx;
    line.intercept = my - line.slope * mx;
    line.r2 = xy * xy / (xx * yy);
    return line;
}

double nb_chi2_limit(int degrees)
{
    double k = 2.0 / (9.0 * degrees), t = 1 - k + 3.0902 * sqrt(k);
    return degrees * t * t * t;
}
