/* SPDX-License-Identifier: MIT */
/* Few steps a pixel: distances and Miller indices in double and the lattice in float.
 * Along a row the position is linear, so an index costs two multiply-adds. */
#include "row.cuh"

enum {
    BLOCK_X = 32,
    BLOCK_Y = 4,
    STRIDE = PIXELS * BLOCK_X,
    RUN = 64 /* steps summed in one float before they join the total */
};

/** This thread's first pixel; a row's first group of four starts on 16 bytes. */
static __device__ __forceinline__ int first_pixel(const row_job &p)
{
    int block = (int)blockIdx.x * p.chunks * STRIDE;
    return (p.window.f0 & ~(PIXELS - 1)) + block + (int)threadIdx.x * PIXELS;
}

/** One step for four pixels: their lattice factors and, from a table, F^2.  lines: of
 * the three axes.  QUOTIENT: see nb_interference_quotient. */
template <bool TABLE, bool QUOTIENT>
static __device__ __forceinline__ void aim_step(const row_job &p, const line lines[3],
                                                const double constants[3],
                                                const double F[PIXELS],
                                                const double r[PIXELS],
                                                float lattice[PIXELS], float F2[PIXELS])
{
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const int flip = TABLE ? (int)0x80000000 : 0;
        int w[3], cell = p.index.offset;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            double t = fma(at(lines[axis], F[i]), r[i], constants[axis]);
            w[axis] = __double2loint(t) ^ flip;
            cell += __double2hiint(t) * (axis == 0   ? p.index.stride_h
                                         : axis == 1 ? p.index.stride_k
                                                     : 1);
        }
        lattice[i] = QUOTIENT ? nb_interference_quotient(w, p.N)
                              : nb_interference_product<4>(w, p.N);
        F2[i] = TABLE ? __ldg(p.F2 + cell) : 1.0f;
    }
}

/** One ray and one step (of weight 1) a pixel, and no factor but a plain polarization
 * and the solid angle: the common quick picture.  What does not change along the row
 * is worked out once. */
template <bool TABLE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 6)
    k_one(const __grid_constant__ row_job p)
{
    int f = first_pixel(p), s = p.window.s0 + (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
    if (f >= p.window.f1 || s >= p.window.s1)
        return;
    row_points row = aim_row(p, s, 0, 0, 0);
    line lines[3];
    double constants[3];
    step_lines(p.steps[0], row, lines, constants);
#pragma unroll 1
    for (int c = 0; c < p.chunks && f < p.window.f1; c++, f += STRIDE) {
        double F[PIXELS], r[PIXELS];
        float value[PIXELS], F2[PIXELS];
        aim_pixels<TABLE>(p, row, f, F, r);
        aim_step<TABLE, true>(p, lines, constants, F, r, value, F2);
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            double cosine = at(row.incident, F[i]) * r[i];
            double polar = fma(cosine * cosine, p.plain_polar[1], p.plain_polar[0]);
            double omega = r[i] * r[i] * fma(r[i], p.plain_omega[1], p.plain_omega[0]);
            value[i] = fmaf(TABLE ? value[i] * F2[i] : value[i], value[i], p.background) *
                       (float)(polar * omega);
        }
        store(p, f, s, value);
    }
}

/** The sum over the steps for four pixels. */
template <bool TABLE>
static __device__ __forceinline__ void add_steps(const row_job &p, const row_points &row,
                                                 const double F[PIXELS],
                                                 const double r[PIXELS], float sum[PIXELS])
{
    float lost[PIXELS] = {};
    for (int first = 0; first < p.n_steps; first += RUN) {
        int end = min(first + RUN, p.n_steps);
        float run[PIXELS] = {};
        for (int k = first; k < end; k++) {
            line lines[3];
            double constants[3];
            float lattice[PIXELS], F2[PIXELS];
            step_lines(p.steps[k], row, lines, constants);
            aim_step<TABLE, false>(p, lines, constants, F, r, lattice, F2);
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                run[i] = fmaf(lattice[i] * lattice[i], p.steps[k].weight * F2[i], run[i]);
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            add_compensated(sum[i], lost[i], run[i]);
    }
}

/** Any number of rays and steps a pixel. */
template <bool TABLE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 4)
    k_direct(const __grid_constant__ row_job p)
{
    int f = first_pixel(p), s = p.window.s0 + (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
    int os = p.scene.oversample;
    float value[PIXELS] = {}, lost[PIXELS] = {}, factor[PIXELS];
    if (f >= p.window.f1 || s >= p.window.s1)
        return;
    for (int layer = 0; layer < p.scene.det.layers; layer++)
        for (int sub = 0; sub < os * os; sub++) {
            row_points row = aim_row(p, s, sub / os, sub % os, layer);
            double F[PIXELS], r[PIXELS];
            float sum[PIXELS] = {};
            aim_pixels<TABLE>(p, row, f, F, r);
            add_steps<TABLE>(p, row, F, r, sum);
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                if (layer == 0 && sub == 0)
                    factor[i] = cached(p, row, F[i], r[i]);
                add_compensated(value[i], lost[i],
                                (sum[i] + p.background) *
                                    ray_weight(p, row, F[i], r[i], layer));
            }
        }
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        value[i] *= factor[i];
    store(p, f, s, value);
}

/** Whether k_one will do; fills its factors. */
static int is_plain(row_job *job)
{
    const nb_detector *det = &job->scene.det;
    double omega = job->scale * det->pixel_area;
    job->plain_polar[0] = job->polar == POLAR_NONE ? 1.0 : 0.5;
    job->plain_polar[1] = job->polar == POLAR_NONE ? 0.0 : 0.5;
    job->plain_omega[0] = det->point_pixel ? omega : 0.0;
    job->plain_omega[1] = det->point_pixel ? 0.0 : omega * det->close_distance;
    return job->n_steps == 1 && job->scene.oversample == 1 && det->layers == 1 &&
           job->polar != POLAR_KAHN && !job->polar_oversampled &&
           !job->scene.oversample_omega && !det->absorb;
}

void nb_cuda_launch_direct(const nb_cuda_launch *launch, const nb_cuda_steps *steps)
{
    static void (*const kernels[2][2])(row_job) = {{k_direct<false>, k_one<false>},
                                                   {k_direct<true>, k_one<true>}};
    const nb_cuda_window *w = &launch->window;
    row_job job = make_row_job(launch, steps);
    int width = w->f1 - (w->f0 & ~(PIXELS - 1)), height = w->s1 - w->s0;
    int plain = is_plain(&job);
    int64_t blocks = (int64_t)((width + STRIDE - 1) / STRIDE) * height / BLOCK_Y;
    job.chunks = plain && blocks >= 64 * launch->multiprocessors ? 4 : 1;
    dim3 grid((unsigned)((width + job.chunks * STRIDE - 1) / (job.chunks * STRIDE)),
              (unsigned)(height + BLOCK_Y - 1) / BLOCK_Y);
    kernels[job.F2 != NULL][plain]<<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(
        job);
}
