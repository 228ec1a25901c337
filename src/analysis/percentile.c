/* SPDX-License-Identifier: MIT */
/* Order statistics by quickselect (Hoare, CACM 4, 321 (1961)). */
#include <math.h>

#include "pixels.h"

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

/** Reorder v[n] so that v[k] has its value after sorting, and no larger value is before it. */
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
