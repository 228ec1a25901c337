/* SPDX-License-Identifier: MIT */
/** The texts of the CUDA backend, with nvcc and without. */
#ifndef NB_CUDA_WORDS_H
#define NB_CUDA_WORDS_H

#include "../../src/render/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const nb_cuda_words[];
extern const nb_feature nb_cuda_feature;
int nb_cuda_parse(const char *word, nb_device *device);

#ifdef __cplusplus
}
#endif
#endif
