/* SPDX-License-Identifier: MIT */
/* Slopes in double precision: the same sums as the scalar renderer, one thread per
 * pixel. */
#include "slope_place.cuh"

enum { THREADS = 128 };

__global__ void __launch_bounds__(THREADS)
    k_slopes_double(const NB_GRID_CONSTANT nb_cuda_slope_job p)
{
    int64_t i = p.from + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.end)
        return;
    nb_pixel_place place = place_of(p, i);
    nb_pixel_totals t;
    nb_pixel_exact(p.job, &place, &t);
    store_planes(p, i, place, t);
}

void nb_cuda_launch_slopes_double(const nb_cuda_slope_job *job, cudaStream_t stream)
{
    unsigned blocks = (unsigned)((job->end - job->from + THREADS - 1) / THREADS);
    k_slopes_double<<<blocks, THREADS, 0, stream>>>(*job);
}
