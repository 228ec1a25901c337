/* SPDX-License-Identifier: MIT */
/** The kernels of images pixel by pixel. */
#ifndef NB_TESTS_IMAGE_TRUTH_H
#define NB_TESTS_IMAGE_TRUTH_H

#include "../../src/image/kernels.h"

extern const nb_image_kernels nb_image_kernels_scalar;

#endif
