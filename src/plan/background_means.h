/* SPDX-License-Identifier: MIT */
/** What a pixel sees of a table of the background: the mean over its rays, by the sine of half the scattering angle to
 * its middle.  The rays are those of one depth.  Their sines have a root mean square distance from that of the middle,
 * the spread; the means of square pixels depend on little else.  Spreads come in steps of 2.5 %, and each has a table.
 * Where the means of square pixels that lie at other angles to the radius differ, a sine is rough.  Host code. */
#ifndef NB_PLAN_BACKGROUND_MEANS_H
#define NB_PLAN_BACKGROUND_MEANS_H

#include "background_table.h"

/** Cells in a spread. */
#define NB_BACKGROUND_CELLS 3
/** The means hold for spreads up to so many times as large or as small, and sines so many spreads off. */
#define NB_BACKGROUND_SPREADS 1.045
#define NB_BACKGROUND_SHIFT 0.02
/** What a mean may be off where a sine is not rough, of it. */
#define NB_BACKGROUND_ROUGH 2e-7

enum {
    NB_BACKGROUND_MEANS = 280,
    NB_BACKGROUND_BEGIN =
        6 /* spreads: nearer to the beam a pixel's sines are not even, and rough */
};

/** The means for a spread.  Cell i begins at the sine (first + i)/per; its mean is the cubic c[0] + t (c[1] + t (c[2] +
 * t c[3])), t from 0 to 1. */
typedef struct nb_background_mean {
    double spread;
    double per;
    int one; /* a pixel has one ray: the table says what it is, and only kinks are looked for */
    int first, n;   /* n 0: not used */
    double *c;      /* owned; [group][n][4], and as much as a row of 8 reaches beyond */
    int32_t *rough; /* owned; [group][n + 1]: how many rough cells come before */
} nb_background_mean;

/** The spread of a number, largest first. */
double nb_background_spread(int number);
/** The number of the means for a spread; -1: none are right. */
int nb_background_mean_of(double spread);
/** Have the mean hold the sines from low to high and some around; before it is filled. */
void nb_background_mean_widen(nb_background_mean *mean, double low, double high);
/** Fill those that were widened; means: [NB_BACKGROUND_MEANS].  The same cells for any range.  Errors: NB_ERR_NOMEM. */
nb_status nb_background_means_fill(const nb_background_table *table, int oversample,
                                   int threads, nb_background_mean *means, nb_error *err);
void nb_background_means_free(nb_background_mean *means);

/** Is a sine from low to high rough for a group? */
int nb_background_is_rough(const nb_background_mean *mean, int group, double low,
                           double high);

/** The mean of a group at a sine; by the table where the mean is NULL or of one ray. */
static inline double nb_background_mean_at(const nb_background_table *table,
                                           const nb_background_mean *mean, int group,
                                           double sine)
{
    if (!mean || mean->one)
        return nb_background_at(&table->groups[group], fabs(sine));
    double at = sine * mean->per - mean->first;
    at = fmin(fmax(at, 0), mean->n - 1);
    const double *c = mean->c + ((size_t)group * (size_t)mean->n + (size_t)at) * 4;
    const double t = at - floor(at);
    return c[0] + t * (c[1] + t * (c[2] + t * c[3]));
}

#endif
