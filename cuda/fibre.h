/* SPDX-License-Identifier: MIT */
/** The fibres' point spread on the device: an exact linear convolution, as src/image/fibre.c. */
#ifndef NB_CUDA_FIBRE_H
#define NB_CUDA_FIBRE_H

#include "internal.h"

/** Transforms of the function that are kept for the next image.  Content: fibre.cu. */
typedef struct nb_cuda_fibre nb_cuda_fibre;

typedef struct nb_cuda_fibres {
    nb_cuda_fibre *first; /* owned */
    nb_cuda_buffer data, work;
} nb_cuda_fibres;

void nb_cuda_fibres_release(nb_cuda_fibres *fibres);

/** Spread light[rows][columns] of a panel in place; fwhm in m.  Errors: NB_ERR_NOMEM, NB_ERR_DEVICE (no
 * memory there, no library). */
nb_status nb_cuda_fibre_spread(nb_cuda_fibres *fibres, const nb_panel *panel, double fwhm,
                               double *light, gpuStream_t stream, nb_error *err);

#endif
