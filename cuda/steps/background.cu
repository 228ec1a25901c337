/* SPDX-License-Identifier: MIT */
/* The materials of an amorphous background in double precision, added after the
 * crystal. */
#include "many.cuh"

#include "../../src/physics/pixel.h"
#include "quick_background.h"

enum { BLOCK_X = 32, BLOCK_Y = 4 }; /* size of a block of threads, as for k_double */

/** Add the materials, one thread per pixel. EXACT: bits equal those of src/physics; used
 * if the crystal's bits do, too. */
template <bool EXACT, bool MANY>
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
    at.image[pixel] +=
        (float)(EXACT ? nb_pixel_background(&p.scene, p.scene.amorphous, &at.panel,
                                            &at.sensor, f, s)
                      : nb_quick_background(&p.scene, &at.panel, &at.sensor, f, s));
}

template <bool EXACT>
static void launch_background(const nb_cuda_launch *launch, const nb_cuda_many *many)
{
    nb_cuda_plain_job job;
    const int blocks = nb_cuda_plain_job_of(launch, 0, &job);
    const dim3 grid((unsigned)job.many.across, (unsigned)(blocks / job.many.across));
    if (many)
        k_background<EXACT, true>
            <<<(unsigned)many->blocks, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(
                job_of_many(job, many));
    else
        k_background<EXACT, false>
            <<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}

void nb_cuda_launch_background(const nb_cuda_launch *launch, int exact,
                               const nb_cuda_many *many)
{
    if (exact)
        launch_background<true>(launch, many);
    else
        launch_background<false>(launch, many);
}
