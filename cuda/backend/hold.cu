/* SPDX-License-Identifier: MIT */
/* Functions for checks and benchmarks. nb_cuda_hold keeps the device busy while the host
 * queues the timed work, so that the measured times contain no launches. */
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
    cudaSetDevice(state->device.index);
    k_hold<<<1, 1, 0, state->stream>>>((unsigned long long)(seconds * 1e9));
}

double nb_cuda_kernel_seconds(const nb_backend_state *state)
{
    float ms = 0;
    cudaSetDevice(state->device.index);
    return cudaEventElapsedTime(&ms, state->began, state->ended) == cudaSuccess ? ms * 1e-3
                                                                                : NAN;
}

void *nb_cuda_take_all_but(const nb_backend_state *state, size_t bytes)
{
    const size_t step = (size_t)1 << 21; /* granularity of the device's memory */
    size_t free_bytes = 0, total = 0;
    void *memory = NULL;
    cudaSetDevice(state->device.index);
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        return NULL;
    for (size_t take = free_bytes; take > bytes && take - bytes >= step; take -= step)
        if (cudaMalloc(&memory, (take - bytes) / step * step) == cudaSuccess)
            return memory;
    cudaGetLastError(); /* clears the error */
    return NULL;
}

void nb_cuda_give_back(void *memory)
{
    if (memory)
        cudaFree(memory);
}

void *nb_cuda_pinned(size_t bytes)
{
    void *memory = NULL;
    return cudaMallocHost(&memory, bytes) == cudaSuccess ? memory : NULL;
}

void nb_cuda_pinned_free(void *memory)
{
    if (memory)
        cudaFreeHost(memory);
}
