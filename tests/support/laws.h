/* SPDX-License-Identifier: MIT */
/** Drawn numbers against their law. */
#ifndef NB_TESTS_LAWS_H
#define NB_TESTS_LAWS_H

/** Drawn numbers and their moments. */
typedef struct nb_drawn {
    int n;
    double *x; /* owned, in increasing order */
    double mean, variance;
    double mean_error, variance_error; /* standard errors */
} nb_drawn;

nb_drawn nb_drawn_of(const double *x, int n); /* copies x; nb_drawn_free frees */
void nb_drawn_free(nb_drawn *sample);

/** The probability of values <= x; law: its numbers. */
typedef double (*nb_law_part)(double x, const void *law);

/** Kolmogorov's distance of the sample from its law, times sqrt(n). One sample in a
 * hundred exceeds NB_KOLMOGOROV_1; with a law of steps, fewer do. */
double nb_kolmogorov(const nb_drawn *sample, nb_law_part part, const void *law);
#define NB_KOLMOGOROV_1 1.63

/** Mean and variance of a law between two ends, from its probabilities. */
typedef struct nb_moments {
    double mean, variance;
} nb_moments;
nb_moments nb_moments_of(nb_law_part part, const void *law, double from, double to);

/** Upper 0.1 % point of chi-square (Wilson & Hilferty 1931). */
double nb_chi2_limit(int degrees);

/** The probability of a normal law of mean 0 and variance 1. */
double nb_normal_part(double x);

#endif
