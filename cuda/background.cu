/* SPDX-License-Identifier: MIT */
/* The materials of an amorphous background: src/physics in double precision, behind the crystal. */
#include "many.cuh"

#include "../src/physics/pixel.h"

enum { BLOCK_X = 32, BLOCK_Y = 4 }; /* as k_double */

/** One thread a pixel. */
template <bool MANY>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, MANY ? 3 : 4)
    k_background(const NB_GRID_CONSTANT nb_cuda_plain_job p)
{
    const nb_cuda_plain_job &at = job_of_block<MANY>(p);
    int f = at.window.f0 + (int)(block_x<MANY>(p, at) * BLOCK_X + threadIdx.x);
    int s = at.window.s0 + (int)(block_y<MANY>(p, at) * BLOCK_Y + threadIdx.y);
    size_t pixel = (size_t)s * at.panel.columns + f;
    if (f >= at.window.f1 || s >= at.window.s1 ||
        (at.scene.raster.mask && !at.scene.raster.mask[pixel]))
        return;
    at.image[pixel] += (float)nb_pixel_background(&p.scene, p.scene.amorphous, &at.panel,
                                                  &at.sensor, f, s);
}

void nb_cuda_launch_background(const nb_cuda_launch *launch, const nb_cuda_many *many)
{
    const nb_cuda_window *w = &launch->window;
    dim3 grid((unsigned)(w->f1 - w->f0 + BLOCK_X - 1) / BLOCK_X,
              (unsigned)(w->s1 - w->s0 + BLOCK_Y - 1) / BLOCK_Y);
    nb_cuda_plain_job job = {};
    job.scene = launch->scene;
    job.panel = launch->panel;
    job.sensor = launch->sensor;
    job.window = *w;
    job.image = launch->image;
    if (many)
        k_background<true>
            <<<(unsigned)many->blocks, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(
                job_of_many(job, many));
    else
        k_background<false><<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}
