/* SPDX-License-Identifier: MIT */
/** Fourier transforms of images on the device, by the vendor's library, which is loaded when a run first
 * needs it. */
#ifndef NB_CUDA_FFT_H
#define NB_CUDA_FFT_H

#include "../backend/internal.h"

/** Load the library.  Errors: NB_ERR_DEVICE, the same at each call, with the library's name. */
nb_status nb_cuda_fft_need(nb_error *err);

/** Both transforms of one size, in double, in place: high rows of `wide` reals, in rows of
 * 2 (wide/2 + 1), and as many rows of wide/2 + 1 complex numbers.  Not scaled. */
typedef struct nb_cuda_fft nb_cuda_fft;
/** Of so many images, one behind the other, at once.  *work: bytes that both need while they run. */
nb_status nb_cuda_fft_new(int wide, int high, int images, gpuStream_t stream,
                          nb_cuda_fft **fft, size_t *work, nb_error *err);
void nb_cuda_fft_free(nb_cuda_fft *fft); /* NULL is fine */
nb_status nb_cuda_fft_forward(nb_cuda_fft *fft, double *data, void *work, nb_error *err);
nb_status nb_cuda_fft_back(nb_cuda_fft *fft, double *data, void *work, nb_error *err);

#endif
