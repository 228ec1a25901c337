/* SPDX-License-Identifier: MIT */
/** Difference between an image A and its golden image B: the four figures that the golden
 * suite limits (docs/physics.md, section 21). */
#ifndef NB_TESTS_COMPARE_H
#define NB_TESTS_COMPARE_H

#include <math.h>
#include <stddef.h>

typedef struct nb_comparison {
    double maxrel; /* max|A-B| / max(B) */
    double rel6;   /* max |A-B|/B of pixels with B > floor max(B) */
    double sum;    /* |sum(A)/sum(B) - 1| */
    double corr;   /* 1 - Pearson correlation */
} nb_comparison;

/** Compare n pixels. All figures are NaN, which no limit accepts, if A is not finite. */
static inline nb_comparison nb_compare(const float *a, const float *b, size_t n,
                                       double floor)
{
    nb_comparison c = {0, 0, 0, 0};
    double max = 0, sa = 0, sb = 0, ma, mb, aa = 0, bb = 0, ab = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i])) {
            c.maxrel = c.rel6 = c.sum = c.corr = NAN;
            return c;
        }
        max = b[i] > max ? b[i] : max;
        sa += a[i];
        sb += b[i];
    }
    ma = sa / (double)n;
    mb = sb / (double)n;
    for (i = 0; i < n; i++) {
        double d = fabs((double)a[i] - b[i]);
        c.maxrel = d > c.maxrel ? d : c.maxrel;
        if (b[i] > floor * max && d / b[i] > c.rel6)
            c.rel6 = d / b[i];
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    c.maxrel /= max;
    c.sum = fabs(sa / sb - 1);
    c.corr = 1 - ab / sqrt(aa * bb);
    return c;
}

#endif
