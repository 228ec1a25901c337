/* SPDX-License-Identifier: MIT */
/** The point spread of fibre optics, g/(2 pi) (g^2 + r^2)^(-3/2) (J. M. Holton et al., J. Synchrotron
 * Rad. 19, 1006 (2012)): an exact linear convolution by FFT. */
#ifndef NB_IMAGE_FIBRE_H
#define NB_IMAGE_FIBRE_H

#include <math.h>
#include <stddef.h>

#include "../nanobragg.h"
#include "../physics/hostdevice.h"

struct nb_light_source;

/** Stored transforms, one for each size and pixel of panels. Several threads may
 * use them at once. The caller frees *fibres. */
typedef struct nb_fibres nb_fibres;
nb_status nb_fibres_new(nb_fibres **fibres, nb_error *err);
void nb_fibres_free(nb_fibres *fibres); /* NULL is allowed */

/** Spread counts of panel i to out[rows][columns]; fwhm in m. Errors: nb_light_make. */
nb_status nb_fibre_spread(nb_fibres *fibres, const struct nb_light_source *source, int i,
                          double fwhm, double *out, nb_error *err);

/* Functions of the point spread (docs/physics.md, 20), the same on host and device. */

/** Smallest weight of the Gaussian that is used. */
#define NB_SPREAD_LEAST 1e-17

/** Set the weights of the Gaussian along one edge: k[d + n - 1] for displacements d of
 * -(n-1) to n-1. Returns the largest d with a weight of NB_SPREAD_LEAST or more. Only the
 * host calls this. It sends the weights to devices, so that all use the same weights. */
static inline int nb_gauss_weights(double fwhm, double pixel, int n, double *k)
{
    const double edge = sqrt(4 * log(2)) / fwhm * pixel;
    int reach = 0;
    k[n - 1] = erf(edge * 0.5);
    for (int d = 1; d < n; d++) {
        double weight = (erfc(edge * (d - 0.5)) - erfc(edge * (d + 0.5))) / 2;
        k[n - 1 + d] = k[n - 1 - d] = weight;
        if (weight >= NB_SPREAD_LEAST)
            reach = d;
    }
    return reach;
}

/** g of the fibre function of this full width at half maximum. */
static inline double nb_fibre_width(double fwhm)
{
    return fwhm / (2 * sqrt(cbrt(4) - 1));
}

/** Integral of the fibre function from (0, 0) to a corner (x, y). */
NB_HD double nb_fibre_corner(double g, double x, double y)
{
    return atan(x * y / (g * sqrt(g * g + x * x + y * y))) / (2 * NB_PI);
}

/** Least length with prime factors up to 7 only, for a convolution of n with n points. */
static inline int nb_fibre_length(int n)
{
    for (int length = 2 * n - 1;; length++) {
        int rest = length;
        for (int p = 2; p <= 7; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return length;
    }
}

/** Number of complex numbers of a real transform of this length. */
static inline size_t nb_fibre_frequencies(int length)
{
    return (size_t)length / 2 + 1;
}

#endif
