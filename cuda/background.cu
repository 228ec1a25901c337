/* SPDX-License-Identifier: MIT */
/* The materials of an amorphous background: src/physics in double precision, behind the crystal. */
#include "internal.h"

#include "../src/physics/pixel.h"

typedef struct background_job {
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
} background_job;

/** One thread a pixel. */
__global__ void __launch_bounds__(128, 4)
    k_background(const NB_GRID_CONSTANT background_job p)
{
    int f = p.window.f0 + (int)(blockIdx.x * 32 + threadIdx.x);
    int s = p.window.s0 + (int)(blockIdx.y * 4 + threadIdx.y);
    size_t pixel = (size_t)s * p.panel.columns + f;
    if (f >= p.window.f1 || s >= p.window.s1 ||
        (p.scene.raster.mask && !p.scene.raster.mask[pixel]))
        return;
    p.image[pixel] += (float)nb_pixel_background(&p.scene, p.scene.amorphous, &p.panel,
                                                 &p.sensor, f, s);
}

void nb_cuda_launch_background(const nb_cuda_launch *launch)
{
    const nb_cuda_window *w = &launch->window;
    dim3 grid((unsigned)(w->f1 - w->f0 + 31) / 32, (unsigned)(w->s1 - w->s0 + 3) / 4);
    background_job job = {launch->scene, launch->panel, launch->sensor, *w, launch->image};
    k_background<<<grid, dim3(32, 4), 0, launch->stream>>>(job);
}
