/* SPDX-License-Identifier: MIT */
/* Means of a table over the rays of a pixel: three samples of the table in each spread, with the
 * weights of the rays. */
#include "background_tiles.h"

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"

enum {
    REACH =
        9, /* in samples: the farthest ray is sqrt(6) spreads away, and each ray has three samples */
    TAPS = 2 * REACH + 1,
    ANGLES = 16, /* angles of a pixel to the radius, 0 to 45 degrees */
    AROUND = 16, /* extra cells on both sides of the range */
    FARTHEST = 8 /* samples over which the second difference of a smooth table is linear */
};

/* The largest spread, and the step from one to the next. */
#define WIDEST 5e-4
#define STEP 1.025

double nb_background_spread(int number)
{
    return WIDEST * pow(STEP, -number);
}

int nb_background_mean_of(double spread)
{
    const double number = floor(log(WIDEST / spread) / log(STEP) + 0.5);
    return number >= 0 && number < NB_BACKGROUND_MEANS ? (int)number : -1;
}

void nb_background_mean_widen(nb_background_mean *mean, double low, double high)
{
    const int first = (int)floor(low * mean->per) - AROUND,
              end = (int)floor(high * mean->per) + AROUND + 1;
    const int before = mean->n > 0 ? mean->first + mean->n : end;
    mean->first = mean->n > 0 && mean->first < first ? mean->first : first;
    mean->n = (before > end ? before : end) - mean->first;
}

/* ------------------------------------------------------------------ weights */

/** The weights of the samples for a pixel at an angle to the radius. Three samples replace a ray
 * and have its weight, mean and mean square. */
static void add_weights(int os, double angle, double weight, double to[TAPS])
{
    const double edge =
        os > 1 ? NB_BACKGROUND_CELLS * sqrt(12.0 / ((double)os * os - 1)) : 0;
    for (int i = 0; i < os * os; i++) {
        const double f = i % os - 0.5 * (os - 1), s = (int)(i / os) - 0.5 * (os - 1);
        const double at = edge * (f * cos(angle) + s * sin(angle)),
                     middle = floor(at + 0.5), t = at - middle;
        double *w = to + REACH + (int)middle;
        w[-1] += weight * 0.5 * t * (t - 1) / (os * os);
        w[0] += weight * (1 - t * t) / (os * os);
        w[1] += weight * 0.5 * t * (t + 1) / (os * os);
    }
}

/** The weights for the mean of all angles, and for the two angles that differ most. */
typedef struct weights {
    double mean[TAPS], along[TAPS], across[TAPS];
    double slack; /* part of a kink that is tolerated */
} weights;

static weights weights_of(int os)
{
    weights w = {.slack = NB_BACKGROUND_SHIFT + (os > 1 ? NB_BACKGROUND_SPREADS - 1 : 0)};
    for (int i = 0; i < ANGLES; i++)
        add_weights(os, (i + 0.5) / ANGLES * NB_PI / 4, 1.0 / ANGLES, w.mean);
    add_weights(os, 0, 1, w.along);
    add_weights(os, NB_PI / 4, 1, w.across);
    return w;
}

static double weighted(const double w[TAPS], const double *y)
{
    double sum = 0;
    for (int k = 0; k < TAPS; k++)
        sum += w[k] * y[k - REACH];
    return sum;
}

/* ------------------------------------------------------------------ cells */

/** Difference of the second difference at a sample and its value interpolated from the
 * neighbours. */
static double kink_at(const double *y)
{
    const int d = NB_BACKGROUND_CELLS;
    double worst = 0;
    for (int m = FARTHEST; m > 1; m /= 2) {
        const double bend = 0.5 * (y[d] + y[-d]) - y[0],
                     before = 0.5 * (y[d - m] + y[-d - m]) - y[-m],
                     after = 0.5 * (y[d + m] + y[m - d]) - y[m];
        worst = fmax(worst, fabs(bend - 0.5 * (before + after)));
    }
    return worst;
}

/** Do the means differ for other angles, other spreads, or places nearby? */
static int is_rough(const weights *w, const double *y, double mean)
{
    const double turned =
        fmax(fabs(weighted(w->along, y) - mean), fabs(weighted(w->across, y) - mean));
    return !(turned + w->slack * kink_at(y) <= NB_BACKGROUND_ROUGH * fabs(mean));
}

/** The cubic through m[-1] to m[2]. */
static void set_cell(const double *m, double c[4])
{
    c[0] = m[0];
    c[1] = m[1] - m[-1] / 3 - m[0] / 2 - m[2] / 6;
    c[2] = (m[1] + m[-1]) / 2 - m[0];
    c[3] = (m[0] - m[1]) / 2 + (m[2] - m[-1]) / 6;
}

/** Fills the cells of a group. Returns 0 if memory is exhausted. */
static int fill_group(const nb_background_table *table, int group, const weights *w,
                      nb_background_mean *to)
{
    const int before = REACH + FARTHEST, n = to->n, samples = n + 2 * before + 3;
    double *y = nb_alloc_raw((size_t)samples + (size_t)n + 3, sizeof *y, "means", NULL);
    double *m; /* first: the sample before the first cell */
    double *c = to->c ? to->c + (size_t)group * (size_t)n * 4 : NULL;
    int32_t *rough = to->rough + (size_t)group * ((size_t)n + 1);
    if (!y)
        return 0;
    m = y + samples;
    for (int i = 0; i < samples; i++)
        y[i] = nb_background_at(&table->groups[group],
                                fabs((to->first - 1 - before + i) / to->per));
    for (int i = 0; i < n + 3; i++)
        m[i] = weighted(w->mean, y + before + i);
    for (int i = 0, was = 1; i <= n; i++) { /* a cell is rough if one of its ends is */
        const int is = to->first + i < NB_BACKGROUND_BEGIN * NB_BACKGROUND_CELLS ||
                       is_rough(w, y + before + 1 + i, m[1 + i]);
        rough[i] = i > 0 ? rough[i - 1] + (is || was) : 0;
        was = is;
        if (i < n && c)
            set_cell(m + 1 + i, c + 4 * i);
    }
    nb_free(y);
    return 1;
}

static nb_status reserve(nb_background_mean *mean, int groups, int oversample,
                         nb_error *err)
{
    const size_t cells = (size_t)groups * (size_t)mean->n, row = 8;
    mean->one = oversample == 1;
    if (!mean->one)
        mean->c =
            nb_alloc(cells * 4 + row, sizeof *mean->c, "means of the background", err);
    mean->rough = nb_alloc(cells + (size_t)groups, sizeof *mean->rough,
                           "means of the background", err);
    return (mean->c || mean->one) && mean->rough ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_background_means_fill(const nb_background_table *table, int oversample,
                                   int threads, nb_background_mean *means, nb_error *err)
{
    const int groups = table->n;
    const weights w = weights_of(oversample);
    int failed = 0;
    nb_status st = NB_OK;
    (void)threads;
    for (int k = 0; k < NB_BACKGROUND_MEANS && !st; k++)
        if (means[k].n > 0)
            st = reserve(&means[k], groups, oversample, err);
    if (st)
        return st;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(| : failed)
    for (int i = 0; i < NB_BACKGROUND_MEANS * groups; i++)
        if (means[i / groups].n > 0)
            failed |= !fill_group(table, i % groups, &w, &means[i / groups]);
    return failed ? nb_fail_memory(err, 0, "means of the background") : NB_OK;
}

void nb_background_means_free(nb_background_mean *means)
{
    for (int k = 0; k < NB_BACKGROUND_MEANS; k++) {
        nb_free(means[k].c);
        nb_free(means[k].rough);
    }
}

int nb_background_is_rough(const nb_background_mean *mean, int group, double low,
                           double high)
{
    const int32_t *rough = mean->rough + (size_t)group * ((size_t)mean->n + 1);
    const int from = (int)floor(low * mean->per) - mean->first,
              to = (int)floor(high * mean->per) - mean->first + 1;
    return rough[to < mean->n ? to : mean->n] > rough[from > 0 ? from : 0];
}
