/* SPDX-License-Identifier: MIT */
/** The point spread of fibre optics, g/(2 pi) (g^2 + r^2)^(-3/2) (J. M. Holton et al., J. Synchrotron
 * Rad. 19, 1006 (2012)): an exact linear convolution by FFT. */
#ifndef NB_IMAGE_FIBRE_H
#define NB_IMAGE_FIBRE_H

#include "stages.h"

/** Transforms of the function that are kept for the next image, by size and pixel of the panel.  Several
 * threads may use them at once.  *fibres is the caller's. */
typedef struct nb_fibres nb_fibres;
nb_status nb_fibres_new(nb_fibres **fibres, nb_error *err);
void nb_fibres_free(nb_fibres *fibres); /* NULL is fine */

/** Doubles from a row of nb_fibre_spread's result to the next, for panels of so many columns. */
size_t nb_fibre_stride(int columns);

/** Spread the counts of panel i into data[rows][stride]; the first columns of a row are the result.
 * fwhm in m.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (without FFTW). */
nb_status nb_fibre_spread(nb_fibres *fibres, const nb_light_source *source, int i,
                          double fwhm, double *data, nb_error *err);

#endif
