/* SPDX-License-Identifier: MIT */
/** Image kernels that work pixel by pixel. Tests use them as the reference. */
#ifndef NB_TESTS_IMAGE_TRUTH_H
#define NB_TESTS_IMAGE_TRUTH_H

#include "../../src/image/kernels.h"

extern const nb_image_kernels nb_image_kernels_scalar;

#endif
