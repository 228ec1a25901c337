/* SPDX-License-Identifier: MIT */
/* Sums over the pixels of planes (pullbacks), and sums over the results of blocks. */
#include "slope_place.cuh"

#include "../steps/warp_sums.cuh"

enum { THREADS = 256, PULL_PIXELS = NB_CUDA_SLICE / THREADS };

typedef struct gather_job {
    nb_cuda_pixels pixels;
    const float *single;
    const double *from;
    int64_t origin, n;
    double *to;
} gather_job;

__global__ void __launch_bounds__(THREADS) k_gather(const NB_GRID_CONSTANT gather_job p)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.n)
        return;
    int k = span_of(p.pixels, p.origin + i);
    size_t at = p.pixels.spans[k].at + (size_t)(p.origin + i - p.pixels.before[k]);
    p.to[i] = p.single ? p.single[at] : p.from[at];
}

void nb_cuda_launch_gather(const nb_cuda_pixels *pixels, nb_real_type type,
                           const void *from, int64_t origin, int64_t n, double *to,
                           cudaStream_t stream)
{
    const int single = type == NB_REAL_FLOAT32;
    const gather_job job = {*pixels,
                            single ? (const float *)from : NULL,
                            single ? NULL : (const double *)from,
                            origin,
                            n,
                            to};
    k_gather<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(job);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) k_finite(const T *x, size_t n, double *bad)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS)
        if (!isfinite(x[i]))
            *bad = 1; /* several threads may write the same value */
}

void nb_cuda_launch_finite(nb_real_type type, const void *numbers, size_t n, double *bad,
                           cudaStream_t stream)
{
    const size_t blocks_max = 1024, blocks = (n + THREADS - 1) / THREADS;
    const unsigned grid = (unsigned)(blocks < blocks_max ? blocks : blocks_max);
    if (type == NB_REAL_FLOAT32)
        k_finite<<<grid, THREADS, 0, stream>>>((const float *)numbers, n, bad);
    else
        k_finite<<<grid, THREADS, 0, stream>>>((const double *)numbers, n, bad);
}

/** A block adds up a slice of the pixels for each parameter of a pullback. */
__global__ void __launch_bounds__(THREADS)
    k_pullback(const NB_GRID_CONSTANT nb_cuda_fit_job p)
{
    const int64_t n = p.end - p.origin,
                  first = (int64_t)blockIdx.x * NB_CUDA_SLICE + threadIdx.x;
    double weights[PULL_PIXELS];
    for (int j = 0; j < PULL_PIXELS; j++)
        weights[j] = first + j * THREADS < n ? p.dloss[first + j * THREADS] : 0;
    for (int k = 0; k < p.items; k++) {
        const int64_t plane = (1 + k) * p.stride;
        double sum = 0;
        for (int j = 0; j < PULL_PIXELS; j++) {
            const int64_t i = first + j * THREADS;
            if (i < n)
                sum += weights[j] *
                       (p.single ? (double)p.single[plane + i] : p.planes[plane + i]);
        }
        sum = nb_add_threads<THREADS>(sum);
        if (threadIdx.x == 0)
            p.partial[(int64_t)blockIdx.x * p.items + k] = sum;
    }
}

/** Set sums[k] to the sum over slices, or add it if begins is 0; one block for each k. */
__global__ void __launch_bounds__(THREADS)
    k_join(const double *partial, int slices, int items, int begins, double *sums)
{
    const int k = (int)blockIdx.x;
    double sum = 0;
    for (int s = (int)threadIdx.x; s < slices; s += THREADS)
        sum += partial[(int64_t)s * items + k];
    sum = nb_add_threads<THREADS>(sum);
    if (threadIdx.x == 0)
        sums[k] = begins ? sum : sums[k] + sum;
}

void nb_cuda_launch_join(const double *partial, int slices, int items, int begins,
                         double *sums, cudaStream_t stream)
{
    k_join<<<(unsigned)items, THREADS, 0, stream>>>(partial, slices, items, begins, sums);
}

void nb_cuda_launch_pullback(const nb_cuda_fit_job *job, double *sums, cudaStream_t stream)
{
    if (job->items == 0)
        return;
    k_pullback<<<(unsigned)job->slices, THREADS, 0, stream>>>(*job);
    nb_cuda_launch_join(job->partial, job->slices, job->items, job->begins, sums, stream);
}
