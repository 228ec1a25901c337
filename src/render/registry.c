/* SPDX-License-Identifier: MIT */
/* The list of backends. A new backend needs one line here and a folder. */
#include <stddef.h>

#include "simd.h"

/* in a build without nvcc, a stub that reports that the backend is missing */
extern const nb_backend nb_backend_cuda;

const nb_backend *const nb_backends[] = {&nb_backend_simd, &nb_backend_scalar,
                                         &nb_backend_cuda, NULL};
