/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../../src/base/threads.h"
#include "host.h"
#include "vendor.h"

const char *const nb_cuda_words[] = {"cuda", "cuda:N", "cuda:all", NULL};

#ifdef NB_HAVE_CUDA
const nb_feature nb_cuda_feature = {"CUDA", 1, NB_CUDA_VERSION};
#else
const nb_feature nb_cuda_feature = {"CUDA", 0,
                                    "-device cuda is off: install nvcc and rebuild"};
#endif

int nb_cuda_parse(const char *word, nb_device *device)
{
    const size_t prefix = sizeof "cuda"; /* length of "cuda:", with the colon */
    size_t digits;
    *device = (nb_device){-1, strcmp(word, "cuda:all") == 0};
    if (device->all || strcmp(word, "cuda") == 0)
        return 1;
    if (strncmp(word, "cuda:", prefix) != 0)
        return 0;
    digits = strspn(word + prefix, "0123456789");
    if (digits < 1 || digits > 3 || word[prefix + digits])
        return 0;
    device->index = atoi(word + prefix);
    return 1;
}

int nb_cuda_thread_limit(void)
{
    return nb_thread_count(0);
}

void nb_cuda_parallel(int threads, void (*work)(void *context, int thread, int threads),
                      void *context)
{
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
    work(context, omp_get_thread_num(), omp_get_num_threads());
#else
    (void)threads;
    work(context, 0, 1);
#endif
}
