/* SPDX-License-Identifier: MIT */
/** The orders whose sums make a table: their kernels, and the share that X gives each of them. */
#ifndef NB_LIGHT_DIFFUSE_ORDERS_H
#define NB_LIGHT_DIFFUSE_ORDERS_H

#include "diffuse_table.h"

/** u from one point to the next that a soft kernel needs, of the u within which it is soft. */
#define NB_SPLIT_STEP 0.25

/** Points from one index to the next that a halo needs which is `scale` (u of one index) narrow. */
int nb_diffuse_points(double scale);

/** A kernel that is split at near2, inside of it: poly[j] (near2 - x)^j. */
void nb_diffuse_soft(int gauss, double n, double near2,
                     double poly[NB_DIFFUSE_DEGREE + 1]);

/** The determinant of a form: the square of the volume of an index. */
double nb_diffuse_det(const double form[6]);

/** Half of the box about the ellipsoid of a form: form(x) <= limit. */
void nb_diffuse_half(const double form[6], double limit, double half[3]);

/** The kernel of order n, soft inside of near2. */
typedef struct nb_order_kernel {
    const double *u2;
    int gauss;
    double n, near2;
    double poly[NB_DIFFUSE_DEGREE + 1];
} nb_order_kernel;

nb_order_kernel nb_order_kernel_of(const double *u2, int gauss, double n, double near2);

/** out[i] = K(x0, x1, x2 + i), i < n; kernel: an nb_order_kernel. */
void nb_order_kernel_row(const void *kernel, const double x[3], int n, double *out);

enum {
    NB_ORDERS = 64,        /* that are summed, at most */
    NB_ORDER_SHARES = 8192 /* steps in X of the table of shares */
};

/** The orders that are summed, and for each X the share of their sums. */
typedef struct nb_orders {
    int count;
    double n[NB_ORDERS];
    double step;  /* of X */
    float *share; /* owned; [count][NB_ORDER_SHARES + 1] */
} nb_orders;

/** Errors: NB_ERR_NOMEM. */
nb_status nb_orders_new(double X_most, int orders, int threads, nb_orders *out,
                        nb_error *err);

/** The shares of an order: X in units of the step. */
static inline float nb_order_share(const float *share, double X)
{
    const int i = X < NB_ORDER_SHARES - 1 ? (int)X : NB_ORDER_SHARES - 1;
    const double t = X < NB_ORDER_SHARES ? X - i : 1;
    return (float)(share[i] + t * (share[i + 1] - share[i]));
}

#endif
