/* SPDX-License-Identifier: MIT */
/** Halos of all orders as functions of u^2 and X, and the few kernels whose sums make a grid. */
#ifndef NB_LIGHT_DIFFUSE_TERMS_H
#define NB_LIGHT_DIFFUSE_TERMS_H

#include "diffuse_table.h"

/** D/(1 - exp(-X)) of one reflection is, for each u^2, the sum of the kernels with the shares that X gives them: Lagrange's
 * weights of halos at a few X. */
typedef struct nb_diffuse_terms {
    int n, columns;
    double *kernel; /* owned; [n][columns] soft halos: nb_curve_at */
    double per;     /* steps of the shares for a unit of X */
    float *share;   /* owned; [n][NB_TERM_SHARES + 1] */
} nb_diffuse_terms;

enum {
    NB_TERMS = 24,        /* at most */
    NB_TERM_SHARES = 8192 /* steps in X */
};

/** Kernels that are soft within near2, up to u^2 = far2.  Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_terms_new(int gauss, double X_most, double near2, double far2,
                               nb_diffuse_terms *terms, nb_error *err);
void nb_diffuse_terms_clear(nb_diffuse_terms *terms);
/** How many there will be. */
int nb_diffuse_terms_count(int gauss, double X_most);

/** The share of a term; X in units of the step. */
static inline float nb_diffuse_share(const float *share, double X)
{
    const int i = X < NB_TERM_SHARES - 1 ? (int)X : NB_TERM_SHARES - 1;
    const double t = X < NB_TERM_SHARES ? X - i : 1;
    return (float)(share[i] + t * (share[i + 1] - share[i]));
}

/** Columns of curves up to u^2. */
int nb_curve_columns(double far2);

/** near[NB_NEAR_ROWS][columns]: halos without the soft ones, or whole (near2 0). */
void nb_diffuse_near_rows(int gauss, double X_most, double near2, int columns,
                          int threads, float *near);

/** The determinant of a form: the square of the volume of an index. */
double nb_diffuse_det(const double form[6]);
/** Half of the box about the ellipsoid of a form: form(x) <= limit. */
void nb_diffuse_half(const double form[6], double limit, double half[3]);

#endif
