/* SPDX-License-Identifier: MIT */
/** The point spread of fibre optics, g/(2 pi) (g^2 + r^2)^(-3/2) (J. M. Holton et al., J. Synchrotron
 * Rad. 19, 1006 (2012)): an exact linear convolution by FFT. */
#ifndef NB_IMAGE_FIBRE_H
#define NB_IMAGE_FIBRE_H

#include <math.h>
#include <stddef.h>

#include "../physics/hostdevice.h"
#include "stages.h"

/** Transforms of the function that are kept for the next image, by size and pixel of the panel.  Several
 * threads may use them at once.  *fibres is the caller's. */
typedef struct nb_fibres nb_fibres;
nb_status nb_fibres_new(nb_fibres **fibres, nb_error *err);
void nb_fibres_free(nb_fibres *fibres); /* NULL is fine */

/** Spread the counts of panel i into out[rows][columns].  fwhm in m.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (without FFTW). */
nb_status nb_fibre_spread(nb_fibres *fibres, const nb_light_source *source, int i,
                          double fwhm, double *out, nb_error *err);

/* The functions of the point spread (docs/physics.md, section 20), the same on host and device. */

/** Weights of the Gaussian below this are left out. */
#define NB_SPREAD_LEAST 1e-17

/** The weights of the Gaussian along one edge: k[d + n - 1] for the displacements -(n-1) ... n-1.
 * Returns the largest displacement whose weight is not below NB_SPREAD_LEAST.  Host only: the weights
 * of a host go to its devices, so that all have the same. */
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

/** Its integral from (0, 0) to a corner (x, y). */
NB_HD double nb_fibre_corner(double g, double x, double y)
{
    return atan(x * y / (g * sqrt(g * g + x * x + y * y))) / (2 * NB_PI);
}

/** The least length of a linear convolution of n with n points that has only the factors 2, 3, 5, 7. */
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

/** Complex numbers of a real transform of this length. */
static inline size_t nb_fibre_frequencies(int length)
{
    return (size_t)length / 2 + 1;
}

#endif
