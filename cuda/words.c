/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <stdlib.h>
#include <string.h>

const char *const nb_cuda_words[] = {"cuda", "cuda:N", "cuda:all", NULL};

#ifdef NB_HAVE_CUDA
const nb_feature nb_cuda_feature = {"CUDA", 1, NB_CUDA_VERSION};
#else
const nb_feature nb_cuda_feature = {"CUDA", 0,
                                    "-device cuda is off: install nvcc and rebuild"};
#endif

int nb_cuda_parse(const char *word, nb_device *device)
{
    size_t digits;
    *device = (nb_device){-1, strcmp(word, "cuda:all") == 0};
    if (device->all || strcmp(word, "cuda") == 0)
        return 1;
    if (strncmp(word, "cuda:", 5) != 0)
        return 0;
    digits = strspn(word + 5, "0123456789");
    if (digits < 1 || digits > 3 || word[5 + digits])
        return 0;
    device->index = atoi(word + 5);
    return 1;
}
