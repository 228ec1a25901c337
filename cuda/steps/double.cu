/* SPDX-License-Identifier: MIT */
/* The kernels for every scene: src/physics in double precision. */
#include "../backend/render_job.h"
#include "many.cuh"

#include <float.h>

#include "../../src/physics/pixel.h"

/** Sum of this lane's terms of one ray: every 32nd step (source, orientation). */
static __device__ double lane_sum(const nb_scene *sc, const nb_ray *ray, int lane)
{
    int64_t steps = (int64_t)sc->beam.n_sources * sc->lattice.n_orientations, i;
    double sum = 0;
    for (i = lane; i < steps; i += 32) {
        const nb_source *source = &sc->beam.sources[i % sc->beam.n_sources];
        nb_vec3 q = nb_scattering_vector(source, ray->direction);
        double term = 0;
        if (!nb_culled(&sc->factors, q)) {
            nb_sample p =
                nb_sample_at(&sc->lattice, &sc->factors.table, source->table,
                             &sc->lattice.orientations[i / sc->beam.n_sources], q);
            term = p.F_cell * p.F_cell * p.F_latt * p.F_latt;
        }
        if (sc->oversample_polar && !sc->beam.nopolar)
            term *= nb_polarization(sc->beam.polarization, source->incident,
                                    ray->direction, sc->beam.polar_axis);
        sum += source->weight * term;
    }
    return sum;
}

/** Photons of a pixel, by one warp. The function is not inlined: because inside the loops
 * of a kernel it would take 254 registers. */
static __device__ gpuCall double warp_pixel(const nb_scene *sc, const nb_panel *panel,
                                            const nb_sensor *sensor, int f, int s,
                                            int lane)
{
    int os = sc->oversample, layer, subf, subs, half;
    double sum = 0;
    for (layer = 0; layer < sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++) {
                nb_ray ray =
                    nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, subf),
                              nb_subpixel(panel->pixel_slow, os, s, subs), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * lane_sum(sc, &ray, lane);
            }
    for (half = 16; half > 0; half /= 2)
        sum += gpuShuffleXor(sum, half, 32);
    return sc->intensity_scale * sum * nb_cached_factors(sc, panel, sensor, f, s);
}

enum { BLOCK_X = 32, BLOCK_Y = 4 }; /* one thread per pixel */

/** Render the crystal, one thread per pixel. */
template <bool MANY>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, MANY ? 3 : 0)
    k_double(const NB_GRID_CONSTANT nb_cuda_plain_job p)
{
    const nb_cuda_plain_job &at = job_of_block<MANY>(p);
    int f = at.window.f0 + (int)(block_x<MANY>(p, at) * BLOCK_X + threadIdx.x);
    int s = at.window.s0 + (int)(block_y<MANY>(p, at) * BLOCK_Y + threadIdx.y);
    size_t pixel = (size_t)s * at.panel.columns + f;
    double sum;
    if (f >= at.window.f1 || s >= at.window.s1 ||
        (at.scene.raster.mask && !at.scene.raster.mask[pixel]))
        return;
    sum = nb_pixel_sum(&p.scene, &at.panel, &at.sensor, f, s);
    if (p.part.sums) {
        sum += p.part.is_first ? 0 : p.part.sums[pixel];
        p.part.sums[pixel] = sum;
    }
    if (p.part.is_last)
        at.image[pixel] =
            (float)(p.scene.intensity_scale * sum *
                    nb_cached_factors(&p.scene, &at.panel, &at.sensor, f, s));
}

static nb_cuda_plain_job make_job(const nb_cuda_launch *launch, dim3 *grid)
{
    const nb_cuda_window *w = &launch->window;
    *grid = dim3((unsigned)(w->f1 - w->f0 + BLOCK_X - 1) / BLOCK_X,
                 (unsigned)(w->s1 - w->s0 + BLOCK_Y - 1) / BLOCK_Y);
    nb_cuda_plain_job job = {};
    job.scene = launch->scene;
    job.panel = launch->panel;
    job.sensor = launch->sensor;
    job.window = *w;
    job.image = launch->image;
    job.wanted = launch->repair;
    job.many.across = (int)grid->x;
    return job;
}

const size_t nb_cuda_plain_job_bytes = sizeof(nb_cuda_plain_job);

int nb_cuda_plain_job_of(const nb_cuda_launch *launch, int before, void *to)
{
    dim3 grid;
    const nb_cuda_plain_job job = make_job(launch, &grid);
    return put_job(job, before, (int)(grid.x * grid.y), to);
}

/** Start k_double for part `part` of the orientations. */
static void submit(nb_cuda_job *render, int part)
{
    const nb_cuda_launch *launch = &render->launch;
    const nb_cuda_many *many = render->many[NB_JOBS_PLAIN];
    const int n = render->scene->lattice.n_orientations, parts = render->cut.parts;
    nb_cuda_part p = {(int)((int64_t)n * part / parts), 0, NULL, part == 0,
                      part == parts - 1};
    dim3 grid;
    nb_cuda_plain_job job = make_job(launch, &grid);
    p.count = (int)((int64_t)n * (part + 1) / parts) - p.first;
    if (parts > 1)
        p.sums = (double *)render->state->sums.at + launch->panel.first_pixel;
    job.part = p;
    job.scene.lattice.orientations += p.first;
    job.scene.lattice.n_orientations = p.count;
    if (many)
        k_double<true>
            <<<(unsigned)many->blocks, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(
                job_of_many(job, many));
    else
        k_double<false><<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}

static int parts_max(const nb_cuda_job *job)
{
    return job->scene->lattice.n_orientations;
}

extern "C" const nb_path_kernel nb_cuda_kernel_double = {.rate = nb_cuda_double_rate,
                                                         .prepare = NULL,
                                                         .parts = parts_max,
                                                         .submit = submit,
                                                         .job = NULL,
                                                         .job_bytes = 0,
                                                         .repair = NB_REPAIR_NONE,
                                                         .adds_parts = 1};

/** Calculate the pixels of a panel that are not finite again, each by a warp. */
static __device__ __forceinline__ void repair_panel(const nb_cuda_plain_job &p)
{
    int lane = threadIdx.x, columns = (p.window.f1 - p.window.f0 + 31) / 32;
    int64_t rows = p.window.s1 - p.window.s0, i;
    for (i = blockIdx.x * 4 + threadIdx.y; i < rows * columns; i += gridDim.x * 4) {
        int f = p.window.f0 + (int)(i % columns) * 32 + lane;
        int s = p.window.s0 + (int)(i / columns), bad_lane;
        float *row = p.image + (size_t)s * p.panel.columns;
        unsigned bad = gpuBallot(f < p.window.f1 && !(fabsf(row[f]) <= FLT_MAX));
        for (; bad; bad &= bad - 1) {
            bad_lane = __ffs((int)bad) - 1;
            const double value =
                warp_pixel(&p.scene, &p.panel, &p.sensor, f - lane + bad_lane, s, lane);
            if (lane == 0)
                row[f + bad_lane] = (float)value;
        }
    }
}

/** The fast kernels do not prevent 0/0, which a Miller index that is whole to 32 bits
 * causes (a few in 1e9 steps). They only set *wanted. This kernel then calculates the
 * affected pixels again. */
template <bool MANY>
__global__ void __launch_bounds__(128) k_repair(const NB_GRID_CONSTANT nb_cuda_plain_job p)
{
    if (!*p.wanted)
        return;
    if constexpr (MANY)
        for (int k = 0; k < p.many.n; k++)
            repair_panel(((const nb_cuda_plain_job *)p.many.jobs)[k]);
    else
        repair_panel(p);
}

void nb_cuda_launch_repair(const nb_cuda_launch *launch, const nb_cuda_many *many)
{
    dim3 grid;
    const unsigned blocks = (unsigned)launch->multiprocessors * 8;
    const nb_cuda_plain_job job = make_job(launch, &grid);
    if (many)
        k_repair<true><<<blocks, dim3(32, 4), 0, launch->stream>>>(job_of_many(job, many));
    else
        k_repair<false><<<blocks, dim3(32, 4), 0, launch->stream>>>(job);
}
