/* SPDX-License-Identifier: MIT */
/** The image that stays on the device (nb_backend_device). */
#ifndef NB_CUDA_MADE_H
#define NB_CUDA_MADE_H

#include "state.h"
#include "timing.h"

nb_status nb_cuda_made_open(nb_cuda_made *made, nb_error *err);
void nb_cuda_made_close(nb_cuda_made *made);

extern const nb_backend_device nb_cuda_device_entries;

#endif
