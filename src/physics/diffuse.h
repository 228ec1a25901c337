/* SPDX-License-Identifier: MIT */
/** Diffuse scattering by liquid-like motions. Displacements of the crystal's points are
 * Gaussian; at a distance r they have the covariance U_ij C(r). So two points interfere
 * with the factor exp(-X (1 - C)). Its power series gives, for a block of N cells of
 * volume V,
 *
 *     D(h) = (N/V) mean over R of exp(-X) sum_n X^n/n! sum_g I0(g) Gamma_n(u^2((h - g) R)),   X = X(h R)
 *
 * in electrons^2, in addition to |F|^2 |F_latt|^2 (docs/physics.md, section 25). This
 * file sums all orders n of all reflections g. It is the reference for the tables of
 * ../light. */
#ifndef NB_PHYSICS_DIFFUSE_H
#define NB_PHYSICS_DIFFUSE_H

#include "pixel.h"

#define NB_DIFFUSE_FORMS 24
#define NB_DIFFUSE_ORDERS 4096 /* limit at one point: enough up to X = 20,000 */

/** The model for one rotation R of the crystal's point group. X and u2: coefficients of
 * quadratic forms of h k l, as in nb_shape_radius2. t: components of h along a*, c x a*,
 * c; 1/A. */
typedef struct nb_diffuse_form {
    double part;  /* weight in the mean over the rotations */
    double X[6];  /* 4 pi^2 sum (sigma_i t_i)^2 */
    double u2[6]; /* 4 pi^2 sum (gamma_i t_i)^2 */
} nb_diffuse_form;

typedef struct nb_diffuse {
    int gauss;       /* correlation exp(-r^2/2), else exp(-r) */
    int unperturbed; /* F of the table is for the crystal at rest */
    double scale;    /* N/V times the constant factor of Gamma_n: electrons^2 if I0 = 1 */
    double sigma, gamma; /* largest of the three sigmas and of the three gammas, A */
    int n_forms;         /* 0: no diffuse light */
    nb_diffuse_form forms[NB_DIFFUSE_FORMS];
} nb_diffuse;

/** Gamma_n without its constant factor (nb_diffuse.scale has it); x = u^2. */
NB_HD double nb_diffuse_kernel(int gauss, double n, double x)
{
    double y = n * n + x;
    return gauss ? exp(-x / (2 * n)) / (n * sqrt(n)) : n / (y * y);
}

/** Weight of order n: exp(-X) X^n/n!; n > 0, X > 0. */
NB_HD double nb_diffuse_weight(double n, double X)
{
    return exp(n * log(X) - X - lgamma(n + 1));
}

/** The weights of the orders that are not negligible at a point. */
typedef struct nb_diffuse_series {
    double first; /* order of weight[0] */
    int n;
    double weight[NB_DIFFUSE_ORDERS];
} nb_diffuse_series;

NB_HD void nb_diffuse_series_of(double X, nb_diffuse_series *out)
{
    const double spread = 9 * sqrt(X) + 9;
    double n = fmax(floor(X - spread), 1.0), w;
    out->first = n;
    out->n = 0;
    if (!(X > 0))
        return;
    for (w = nb_diffuse_weight(n, X); n < X + 2 * spread && out->n < NB_DIFFUSE_ORDERS;
         w *= X / ++n)
        out->weight[out->n++] = w;
}

/** Sum over the orders of weight times nb_diffuse_kernel at x = u^2. Gaussian kernels
 * that underflow to 0 (low orders) are skipped. */
NB_HD double nb_diffuse_orders(int gauss, const nb_diffuse_series *orders, double x)
{
    const double first = gauss ? x / 1500 - orders->first : 0;
    double sum = 0;
    for (int i = first < 0           ? 0
                 : first < orders->n ? (int)first
                                     : orders->n;
         i < orders->n; i++)
        sum += orders->weight[i] * nb_diffuse_kernel(gauss, orders->first + i, x);
    return sum;
}

/** I0 of the reflection h k l with this |F|, electrons^2. */
NB_HD double nb_diffuse_power(const nb_diffuse *d, const nb_diffuse_form *form, double F,
                              double h, double k, double l)
{
    return d->unperturbed ? F * F : F * F * exp(nb_shape_radius2(form->X, h, k, l));
}

/** Sum over all reflections of table n at the point h k l, for one rotation (form). */
NB_HD double nb_diffuse_form_sum(const nb_diffuse *d, const nb_diffuse_form *form,
                                 const nb_factor_table *table, int n, double h, double k,
                                 double l)
{
    const double X = nb_shape_radius2(form->X, h, k, l);
    const double *F = nb_table_at(table, n);
    nb_diffuse_series orders;
    double sum = 0;
    nb_diffuse_series_of(X, &orders);
    for (int i = 0; i < table->nh; i++)
        for (int j = 0; j < table->nk; j++)
            for (int m = 0; m < table->nl; m++, F++) {
                double gh = table->hmin + i, gk = table->kmin + j, gl = table->lmin + m;
                if (*F != 0)
                    sum += nb_diffuse_power(d, form, *F, gh, gk, gl) *
                           nb_diffuse_orders(
                               d->gauss, &orders,
                               nb_shape_radius2(form->u2, h - gh, k - gk, l - gl));
            }
    return sum;
}

/** D at the point h k l, electrons^2 per block, with F from table n; table->nh > 0. */
NB_HD double nb_diffuse_at(const nb_diffuse *d, const nb_factor_table *table, int n,
                           double h, double k, double l)
{
    double sum = 0;
    for (int r = 0; r < d->n_forms; r++)
        sum += d->forms[r].part * nb_diffuse_form_sum(d, &d->forms[r], table, n, h, k, l);
    return d->scale * sum;
}

/** Fraction of a reflection's Bragg light that the motions leave, if F belongs to the
 * crystal at rest. */
NB_HD double nb_diffuse_left(const nb_diffuse *d, double h, double k, double l)
{
    double sum = 0;
    for (int r = 0; r < d->n_forms; r++)
        sum += d->forms[r].part * exp(-nb_shape_radius2(d->forms[r].X, h, k, l));
    return sum;
}

#endif
