/* SPDX-License-Identifier: MIT */
/** Means of a background's table over the rays of a pixel, as a function of the sine of half the
 * scattering angle at the pixel's middle. The rays are those of one depth. The spread is the root
 * mean square distance of their sines from that of the middle; the means of square pixels depend
 * on little else. There is a table for each spread, in steps of 2.5 %. A sine is rough if the
 * means depend on the angle of the pixel to the radius. Host code. */
#ifndef NB_PLAN_BACKGROUND_MEANS_H
#define NB_PLAN_BACKGROUND_MEANS_H

#include "background_table.h"

/** Number of cells in a spread. */
#define NB_BACKGROUND_CELLS 3
/** The means are valid for spreads larger or smaller by this factor, and for sines shifted by this
 * number of spreads. */
#define NB_BACKGROUND_SPREADS 1.045
#define NB_BACKGROUND_SHIFT 0.02
/** Largest relative error of a mean where a sine is not rough. */
#define NB_BACKGROUND_ROUGH 2e-7

enum {
    NB_BACKGROUND_MEANS = 280,
    NB_BACKGROUND_BEGIN = 6 /* in spreads: nearer to the beam all sines are rough */
};

/** The means for a spread.  Cell i begins at the sine (first + i)/per; its mean is the cubic c[0] + t (c[1] + t (c[2] +
 * t c[3])), t from 0 to 1. */
typedef struct nb_background_mean {
    double spread;
    double per;
    int one; /* a pixel has one ray: the table itself is the mean, and only kinks are searched */
    int first, n;   /* n 0: not used */
    double *c;      /* owned; [group][n][4], padded for rows of 8 */
    int32_t *rough; /* owned; [group][n + 1]: number of rough cells before each */
} nb_background_mean;

/** The spread of table number i, largest first. */
double nb_background_spread(int number);
/** Index of the means that are valid for a spread; -1: none. */
int nb_background_mean_of(double spread);
/** Widen the range of a mean to the sines from low to high and some around. Call it before
 * filling. */
void nb_background_mean_widen(nb_background_mean *mean, double low, double high);
/** Fill the means that were widened; means: [NB_BACKGROUND_MEANS]. The cells do not depend on the
 * range. Errors: NB_ERR_NOMEM. */
nb_status nb_background_means_fill(const nb_background_table *table, int oversample,
                                   int threads, nb_background_mean *means, nb_error *err);
void nb_background_means_free(nb_background_mean *means);

/** Is a sine from low to high rough for a group? */
int nb_background_is_rough(const nb_background_mean *mean, int group, double low,
                           double high);

/** The mean of a group at a sine; the table's value if the mean is NULL or of one ray. */
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
