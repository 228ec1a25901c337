/* SPDX-License-Identifier: MIT */
/** The image that stays on the device (nb_backend_device). */
#ifndef NB_CUDA_PRODUCT_H
#define NB_CUDA_PRODUCT_H

#include "state.h"
#include "timing.h"

nb_status nb_cuda_products_open(nb_cuda_products *made, nb_error *err);
void nb_cuda_products_close(nb_cuda_products *made);

extern const nb_backend_device nb_cuda_device_entries;

#endif
