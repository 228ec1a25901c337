/* SPDX-License-Identifier: MIT */
/** Compares random numbers with their law (distribution). */
#ifndef NB_TESTS_LAWS_H
#define NB_TESTS_LAWS_H

/** A sample of random numbers and its moments. */
typedef struct nb_drawn {
    int n;
    double *x; /* owned, in increasing order */
    double mean, variance;
    double mean_error, variance_error; /* standard errors of mean and variance */
} nb_drawn;

nb_drawn nb_drawn_of(const double *x, int n); /* copies x; nb_drawn_free frees */
void nb_drawn_free(nb_drawn *sample);

/** Probability of values <= x. law: parameters of the law. */
typedef double (*nb_law_part)(double x, const void *law);

/** Kolmogorov's distance of the sample from its law, times sqrt(n). One sample in a
 * hundred exceeds NB_KOLMOGOROV_1; fewer do if the law has discrete values. */
double nb_kolmogorov(const nb_drawn *sample, nb_law_part part, const void *law);
#define NB_KOLMOGOROV_1 1.63

/** Mean and variance of a law whose values are between two ends. */
typedef struct nb_moments {
    double mean, variance;
} nb_moments;
nb_moments nb_moments_of(nb_law_part part, const void *law, double from, double to);

/** Upper 0.1 % point of chi-square (Wilson & Hilferty 1931). */
double nb_chi2_limit(int degrees);

/** Probability that a normal number (mean 0, variance 1) is <= x. */
double nb_normal_part(double x);

#endif
