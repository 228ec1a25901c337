/* SPDX-License-Identifier: MIT */
/** The sum of products of two rows, in the same order on every processor. */
#ifndef NB_DERIVE_DOT_H
#define NB_DERIVE_DOT_H

#include <string.h>

typedef double nb_pair __attribute__((vector_size(2 * sizeof(double))));

static inline nb_pair nb_pair_at(const double *from)
{
    nb_pair v;
    memcpy(&v, from, sizeof v);
    return v;
}

/** sum of a[i] b[i]: eight partial sums, which are added in a fixed order. */
static inline double nb_dot_of(const double *a, const double *b, int n)
{
    nb_pair s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    double rest = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s0 += nb_pair_at(a + i) * nb_pair_at(b + i);
        s1 += nb_pair_at(a + i + 2) * nb_pair_at(b + i + 2);
        s2 += nb_pair_at(a + i + 4) * nb_pair_at(b + i + 4);
        s3 += nb_pair_at(a + i + 6) * nb_pair_at(b + i + 6);
    }
    for (; i < n; i++)
        rest += a[i] * b[i];
    s0 = (s0 + s1) + (s2 + s3);
    return s0[0] + s0[1] + rest;
}

#endif
