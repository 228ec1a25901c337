/* SPDX-License-Identifier: MIT */
/* The list of backends.  A new one is a line here and a folder. */
#include <stddef.h>

#include "simd.h"

extern const nb_backend nb_backend_cuda; /* without nvcc a stub that says so */

const nb_backend *const nb_backends[] = {&nb_backend_simd, &nb_backend_scalar,
                                         &nb_backend_cuda, NULL};
