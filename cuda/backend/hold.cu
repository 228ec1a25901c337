/* SPDX-License-Identifier: MIT */
/* For benchmarks: keep the device busy while the host queues the timed work, so that the times of
 * device events contain no launch by the host. */
#include "state.h"
#include "host.h"

__global__ void k_hold(unsigned long long ns)
{
    unsigned long long start = gpuNanoseconds();
    while (gpuNanoseconds() - start < ns)
        ;
}

void nb_cuda_hold(const nb_backend_state *state, double seconds)
{
    gpuSetDevice(state->device.index);
    k_hold<<<1, 1, 0, state->stream>>>((unsigned long long)(seconds * 1e9));
}

double nb_cuda_kernel_seconds(const nb_backend_state *state)
{
    float ms = 0;
    gpuSetDevice(state->device.index);
    return gpuEventElapsedTime(&ms, state->began, state->ended) == gpuSuccess ? ms * 1e-3
                                                                              : NAN;
}

void *nb_cuda_take_all_but(const nb_backend_state *state, size_t bytes)
{
    const size_t step = (size_t)1 << 21; /* granularity of the device's memory */
    size_t free_bytes = 0, total = 0;
    void *memory = NULL;
    gpuSetDevice(state->device.index);
    if (gpuMemGetInfo(&free_bytes, &total) != gpuSuccess)
        return NULL;
    for (size_t take = free_bytes; take > bytes && take - bytes >= step; take -= step)
        if (gpuMalloc(&memory, (take - bytes) / step * step) == gpuSuccess)
            return memory;
    gpuGetLastError(); /* clear the error */
    return NULL;
}

void nb_cuda_give_back(void *memory)
{
    if (memory)
        gpuFree(memory);
}

void *nb_cuda_pinned(size_t bytes)
{
    void *memory = NULL;
    return gpuMallocHost(&memory, bytes) == gpuSuccess ? memory : NULL;
}

void nb_cuda_pinned_free(void *memory)
{
    if (memory)
        gpuFreeHost(memory);
}
