/* SPDX-License-Identifier: MIT */
/** The image that stays on the device (nb_backend_device). */
#ifndef NB_CUDA_PRODUCT_H
#define NB_CUDA_PRODUCT_H

#include "../backend/state.h"
#include "../backend/timing.h"

nb_status nb_cuda_products_open(nb_cuda_products *made, nb_error *err);
void nb_cuda_products_close(nb_cuda_products *made);

/* --- lend.cu --- */
nb_status nb_cuda_locate(nb_backend_state *state, float **pixels, int *device,
                         nb_error *err);
void nb_cuda_replace(nb_backend_state *state, float *other, size_t bytes);
nb_status nb_cuda_settle(int device, nb_error *err);
nb_status nb_cuda_copy(int device, const float *from, float *out, size_t bytes,
                       nb_error *err);
void nb_cuda_discard(int device, float *pixels);

extern const nb_backend_device nb_cuda_device_entries;

#endif
