/* SPDX-License-Identifier: MIT */
/* The general kernels: src/physics in double precision, every feature. */
#include "internal.h"

#include <float.h>

#include "../src/physics/pixel.h"
#include "warp_pixel.cuh"

typedef struct double_job {
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
    nb_cuda_part part;
} double_job;

/** One thread a pixel. */
__global__ void __launch_bounds__(128) k_double(const NB_GRID_CONSTANT double_job p)
{
    int f = p.window.f0 + (int)(blockIdx.x * 32 + threadIdx.x);
    int s = p.window.s0 + (int)(blockIdx.y * 4 + threadIdx.y);
    size_t pixel = (size_t)s * p.panel.columns + f;
    double sum;
    if (f >= p.window.f1 || s >= p.window.s1 ||
        (p.scene.raster.mask && !p.scene.raster.mask[pixel]))
        return;
    sum = nb_pixel_sum(&p.scene, &p.panel, &p.sensor, f, s);
    if (p.part.sums) {
        sum += p.part.is_first ? 0 : p.part.sums[pixel];
        p.part.sums[pixel] = sum;
    }
    if (p.part.is_last)
        p.image[pixel] = (float)(p.scene.intensity_scale * sum *
                                 nb_cached_factors(&p.scene, &p.panel, &p.sensor, f, s));
}

void nb_cuda_launch_double(const nb_cuda_launch *launch, const nb_cuda_part *part)
{
    const nb_cuda_window *w = &launch->window;
    dim3 grid((unsigned)(w->f1 - w->f0 + 31) / 32, (unsigned)(w->s1 - w->s0 + 3) / 4);
    double_job job = {launch->scene, launch->panel, launch->sensor, *w,
                      launch->image, *part};
    job.scene.lattice.orientations += part->first;
    job.scene.lattice.n_orientations = part->count;
    k_double<<<grid, dim3(32, 4), 0, launch->stream>>>(job);
}

typedef struct repair_job {
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
    const int *wanted;
} repair_job;

/** The fast kernels do not prevent 0/0 (a Miller index that is a whole number to 32 bits, a
 * few in 1e9 steps) and set *wanted. Here a whole warp calculates each such pixel again. */
__global__ void __launch_bounds__(128) k_repair(const NB_GRID_CONSTANT repair_job p)
{
    int lane = threadIdx.x, columns = (p.window.f1 - p.window.f0 + 31) / 32;
    int64_t rows = p.window.s1 - p.window.s0, i;
    if (!*p.wanted)
        return;
    for (i = blockIdx.x * 4 + threadIdx.y; i < rows * columns; i += gridDim.x * 4) {
        int f = p.window.f0 + (int)(i % columns) * 32 + lane;
        int s = p.window.s0 + (int)(i / columns), bad_lane;
        float *row = p.image + (size_t)s * p.panel.columns;
        unsigned bad = gpuBallot(f < p.window.f1 && !(fabsf(row[f]) <= FLT_MAX));
        for (; bad; bad &= bad - 1) {
            bad_lane = __ffs((int)bad) - 1;
            double value =
                warp_pixel(&p.scene, &p.panel, &p.sensor, f - lane + bad_lane, s, lane);
            if (lane == 0)
                row[f + bad_lane] = (float)value;
        }
    }
}

void nb_cuda_launch_repair(const nb_cuda_launch *launch)
{
    repair_job job = {launch->scene,  launch->panel, launch->sensor,
                      launch->window, launch->image, launch->repair};
    k_repair<<<(unsigned)launch->multiprocessors * 8, dim3(32, 4), 0, launch->stream>>>(
        job);
}
