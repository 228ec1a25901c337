/* SPDX-License-Identifier: MIT */
/** Integers and sums of the image on the device: launches. */
#ifndef NB_CUDA_PRODUCT_KERNELS_H
#define NB_CUDA_PRODUCT_KERNELS_H

#include "../backend/internal.h"

/** out[spixels][fpixels] from image; *overloads is added to.  doubts[pixels / 32, rounded up] is
 * for noise with an error, else NULL.  All are device addresses, scene's arrays too. */
void nb_cuda_launch_product(const nb_scene *scene, const float *image,
                            const nb_product *product, nb_mix mix, void *out,
                            unsigned *doubts, unsigned long long *overloads,
                            gpuStream_t stream);

/** out[rows of the region]. */
void nb_cuda_launch_sums(const nb_scene *scene, const float *image, nb_row_sums *out,
                         gpuStream_t stream);

#endif
