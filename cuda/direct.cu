/* SPDX-License-Identifier: MIT */
/* Few steps a pixel: distances and Miller indices in double and the lattice in float.  Along a
 * row the position is linear, so an index costs two multiply-adds. */
#include "row.cuh"

enum { BLOCK_X = 32, BLOCK_Y = 4, STRIDE = PIXELS * BLOCK_X };

/** One step for four pixels; lines: of the three axes. */
template <bool TABLE>
static __device__ __forceinline__ void add_step(const row_job &p, const line lines[3],
                                                const double constants[3], float weight,
                                                const double F[PIXELS],
                                                const double r[PIXELS], float sum[PIXELS])
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
        float x = nb_interference_product<4>(w, p.N);
        sum[i] = fmaf(x * x, TABLE ? weight * __ldg(p.F2 + cell) : weight, sum[i]);
    }
}

/** One ray and one step a pixel: what does not change along the row is worked out once. */
template <bool TABLE>
static __device__ __forceinline__ void one_step(const row_job &p, int f, int s)
{
    row_points row = aim_row(p, s, 0, 0, 0);
    line lines[3];
    double constants[3];
    step_lines(p.steps[0], row, lines, constants);
    float weight = p.steps[0].weight;
#pragma unroll 1
    for (int c = 0; c < p.chunks && f < p.window.f1; c++, f += STRIDE) {
        double F[PIXELS], r[PIXELS];
        float value[PIXELS] = {};
        aim_pixels(p, row, f, F, r);
        add_step<TABLE>(p, lines, constants, weight, F, r, value);
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            value[i] = (value[i] + p.background) * cached(p, row, F[i], r[i]);
            if (p.scene.det.absorb || p.scene.oversample_omega || p.polar_oversampled)
                value[i] *= ray_weight(p, row, F[i], r[i], 0);
        }
        store(p, f, s, value);
    }
}

/** Several rays or steps a pixel. */
template <bool TABLE>
static __device__ __forceinline__ void many_steps(const row_job &p, int f, int s)
{
    int os = p.scene.oversample;
    float value[PIXELS] = {}, lost[PIXELS] = {}, factor[PIXELS];
    for (int layer = 0; layer < p.scene.det.layers; layer++)
        for (int sub = 0; sub < os * os; sub++) {
            row_points row = aim_row(p, s, sub / os, sub % os, layer);
            double F[PIXELS], r[PIXELS];
            float sum[PIXELS] = {};
            aim_pixels(p, row, f, F, r);
            for (int k = 0; k < p.n_steps; k++) {
                line lines[3];
                double constants[3];
                step_lines(p.steps[k], row, lines, constants);
                add_step<TABLE>(p, lines, constants, p.steps[k].weight, F, r, sum);
            }
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

template <bool TABLE, bool ONE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 4)
    k_direct(const __grid_constant__ row_job p)
{
    int block = (int)blockIdx.x * p.chunks * STRIDE;
    int f = (p.window.f0 & ~(PIXELS - 1)) + block + (int)threadIdx.x * PIXELS;
    int s = p.window.s0 + (int)(blockIdx.y * BLOCK_Y + threadIdx.y);
    if (f >= p.window.f1 || s >= p.window.s1)
        return;
    if (ONE)
        one_step<TABLE>(p, f, s);
    else
        many_steps<TABLE>(p, f, s);
}

void nb_cuda_launch_direct(const nb_cuda_launch *launch, const nb_cuda_steps *steps)
{
    static void (*const kernels[2][2])(row_job) = {
        {k_direct<false, false>, k_direct<false, true>},
        {k_direct<true, false>, k_direct<true, true>}};
    const nb_cuda_window *w = &launch->window;
    row_job job = make_row_job(launch, steps);
    int width = w->f1 - (w->f0 & ~(PIXELS - 1)), height = w->s1 - w->s0;
    int one = job.n_steps == 1 && job.scene.oversample == 1 && job.scene.det.layers == 1;
    int64_t blocks = (int64_t)(width + STRIDE - 1) / STRIDE * height / BLOCK_Y;
    job.chunks = one && blocks >= 32 * launch->multiprocessors ? 4 : 1;
    dim3 grid((unsigned)((width + job.chunks * STRIDE - 1) / (job.chunks * STRIDE)),
              (unsigned)(height + BLOCK_Y - 1) / BLOCK_Y);
    kernels[job.F2 != NULL][one]<<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}
