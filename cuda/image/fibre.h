/* SPDX-License-Identifier: MIT */
/** The fibres' point spread on the device: an exact linear convolution, as in
 * src/image/fibre.c. */
#ifndef NB_CUDA_FIBRE_H
#define NB_CUDA_FIBRE_H

#include "../backend/internal.h"

/** Transforms of the function that are kept for the next image. Content: fibre.cu. */
typedef struct nb_cuda_fibre nb_cuda_fibre;

typedef struct nb_cuda_fibres {
    nb_cuda_fibre *first; /* owned */
    nb_cuda_buffer data, work;
} nb_cuda_fibres;

void nb_cuda_fibres_release(nb_cuda_fibres *fibres);

/** Spread the light of several adjacent panels of one size and kind in place, each panel
 * by itself; fwhm in m. Errors: NB_ERR_NOMEM, NB_ERR_DEVICE (out of device memory,
 * library missing). */
nb_status nb_cuda_fibre_spread(nb_cuda_fibres *fibres, const nb_panel *panel, int panels,
                               double fwhm, double *light, cudaStream_t stream,
                               nb_error *err);
/** True if two panels have the same point spread, and so share a call. */
int nb_cuda_fibre_alike(const nb_panel *a, const nb_panel *b);

#endif
