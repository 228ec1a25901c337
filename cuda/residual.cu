/* SPDX-License-Identifier: MIT */
/* Many orientations a pixel where FP64 is slow (compute capability 7.5, 8.6, 8.9,
 * 12.0): the Miller indices of the mean orientation in double, once for each source,
 * and what an orientation adds to them, (a - mean a).q, in float. */
#include "many.cuh"
#include "row.cuh"

enum {
    BLOCK_X = 32,
    BLOCK_Y = 4,
    RUN = 128 /* orientations summed in one float before they join the total */
};

/** sin(pi N d) for whole N. */
static __device__ __forceinline__ float fringe_sine(float d, float N)
{
    float n = __fsub_rn(fmaf(N, d, NB_ROUND_FLOAT), NB_ROUND_FLOAT);
    return nb_sine(fmaf(N, d, -n));
}

/** One pixel and source: where the mean orientation stands. */
typedef struct centre {
    float fraction[3]; /* of the negative Miller indices; EXACT: its 25 first bits, */
    float rest[3];     /* and the 7 that are left */
    float q[3];        /* scattering vector, 1/m */
    int cell;          /* of F^2 */
} centre;

template <bool TABLE, bool EXACT, bool DEEP>
static __device__ __forceinline__ centre aim_centre(const row_job &p, const line lines[3],
                                                    const nb_cuda_direct_term &step,
                                                    const four &x, int i, const float d[3])
{
    const int flip = TABLE ? INT_MIN : 0;
    centre c;
    c.cell = p.index.offset;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        double t =
            fma(at_pixel<DEEP>(lines[axis], x, i), x.r[i], step.axis[axis].constant);
        int w = __double2loint(t) ^ flip, upper = EXACT ? w & ~127 : w;
        c.fraction[axis] = (float)upper * (float)NB_FIXED_STEP;
        c.rest[axis] = EXACT ? (float)(w - upper) * (float)NB_FIXED_STEP : 0.0f;
        c.q[axis] = (d[axis] + step.shift[axis]) * step.wavenumber;
        c.cell += __double2hiint(t) * (axis == 0   ? p.index.stride_h
                                       : axis == 1 ? p.index.stride_k
                                                   : 1);
    }
    return c;
}

/** One orientation, by its residuals (rows a, b, c).  EXACT keeps the fractions' last 7
 * bits, at a sixth of the time. */
template <bool TABLE, bool EXACT>
static __device__ __forceinline__ float intensity(const row_job &p, const centre &c,
                                                  const float4 rows[3])
{
    float num = 1, den = 1, whole[3];
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        float last = EXACT ? c.rest[axis] : c.fraction[axis];
        float turn = fmaf(rows[axis].x, c.q[0],
                          fmaf(rows[axis].y, c.q[1], fmaf(rows[axis].z, c.q[2], last)));
        float t = EXACT ? __fadd_rn(c.fraction[axis], turn) : turn, d;
        whole[axis] = __fsub_rn(__fadd_rn(t, NB_ROUND_FLOAT), NB_ROUND_FLOAT);
        d = EXACT ? __fadd_rn(c.fraction[axis] - whole[axis], turn) : t - whole[axis];
        num *= fringe_sine(d, p.real_N[axis]);
        den *= nb_sine(d);
    }
    float ratio = num * nb_reciprocal(den);
    if (!TABLE)
        return ratio * ratio;
    float offset = fmaf(whole[0], (float)p.index.stride_h,
                        fmaf(whole[1], (float)p.index.stride_k, whole[2]));
    int cell =
        c.cell + __float_as_int(__fadd_rn(offset, NB_ROUND_FLOAT)) - NB_ROUND_FLOAT_BITS;
    return ratio * ratio * __ldg(p.F2 + cell);
}

/** Add the orientations' intensities for one source. */
template <bool TABLE, bool EXACT>
static __device__ __forceinline__ void add_source(const row_job &p,
                                                  const nb_cuda_direct_term &step,
                                                  const centre c[PIXELS],
                                                  float sum[PIXELS], float lost[PIXELS])
{
    const float4 *rows = p.residuals;
    for (int first = 0; first < p.scene.lattice.n_orientations; first += RUN) {
        int end = min(first + RUN, p.scene.lattice.n_orientations);
        float run[PIXELS] = {};
#pragma unroll 2
        for (int m = first; m < end; m++) {
            float4 turned[3] = {__ldg(rows + 3 * m), __ldg(rows + 3 * m + 1),
                                __ldg(rows + 3 * m + 2)};
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                run[i] += intensity<TABLE, EXACT>(p, c[i], turned);
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            add_compensated(sum[i], lost[i], run[i] * step.weight);
    }
}

/** d - incident of the first source, from doubles. */
template <bool DEEP>
static __device__ __forceinline__ void relative_direction(const row_job &p,
                                                          const row_points &row,
                                                          const four &x, int i, float d[3])
{
    const nb_vec3 &fast = p.panel.fast, &normal = p.panel.normal;
    line lines[3] = {{row.base.x, fast.x, normal.x},
                     {row.base.y, fast.y, normal.y},
                     {row.base.z, fast.z, normal.z}};
    d[0] = (float)fma(at_pixel<DEEP>(lines[0], x, i), x.r[i], -p.incident.x);
    d[1] = (float)fma(at_pixel<DEEP>(lines[1], x, i), x.r[i], -p.incident.y);
    d[2] = (float)fma(at_pixel<DEEP>(lines[2], x, i), x.r[i], -p.incident.z);
}

template <bool TABLE, bool EXACT, bool DEEP, bool MANY>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, TABLE || EXACT || DEEP ? 3 : 4)
    k_residual(const NB_GRID_CONSTANT row_job p)
{
    const row_job &at_panel = job_of_block<MANY>(p);
    int f = (at_panel.window.f0 & ~(PIXELS - 1)) +
            (int)(block_x<MANY>(p, at_panel) * BLOCK_X + threadIdx.x) * PIXELS;
    int s = at_panel.window.s0 + (int)(block_y<MANY>(p, at_panel) * BLOCK_Y + threadIdx.y);
    int os = p.scene.oversample;
    float value[PIXELS] = {}, lost[PIXELS] = {};
    if (f >= at_panel.window.f1 || s >= at_panel.window.s1)
        return;
    for (int ray = 0; ray < os * os * at_panel.sensor.layers; ray++) {
        int sub = ray % (os * os), layer = ray / (os * os);
        row_points row = aim_row(at_panel, s, sub / os, sub % os, layer);
        four x = aim_pixels<TABLE, DEEP>(at_panel, row, f, layer);
        float d[PIXELS][3], weight[PIXELS], sum[PIXELS] = {}, sum_lost[PIXELS] = {};
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            relative_direction<DEEP>(at_panel, row, x, i, d[i]);
            /* before the sources: the row's lines need no registers during their sum */
            weight[i] = ray_weight<DEEP>(at_panel, row, x, i, layer);
        }
        forget<MANY>();
        for (int k = 0; k < p.scene.beam.n_sources; k++) {
            line lines[3];
            double constants[3];
            centre c[PIXELS];
            term_lines(at_panel.terms[k], row, lines, constants);
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                c[i] = aim_centre<TABLE, EXACT, DEEP>(p, lines, at_panel.terms[k], x, i,
                                                      d[i]);
            add_source<TABLE, EXACT>(p, at_panel.terms[k], c, sum, sum_lost);
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            add_compensated(value[i], lost[i], (sum[i] + p.background) * weight[i]);
        }
    }
    forget<MANY>();
    row_points row = aim_row(at_panel, s, 0, 0, 0);
    four x = aim_pixels<TABLE, DEEP>(at_panel, row, f, 0);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        value[i] *= cached<DEEP>(at_panel, row, x, i);
    store(at_panel, f, s, value);
}

typedef void (*residual_kernel)(row_job);

template <bool MANY> static residual_kernel choose_kernel(int table, int exact, int deep)
{
    static const residual_kernel kernels[2][2][2] = {
        {{k_residual<false, false, false, MANY>, k_residual<false, false, true, MANY>},
         {k_residual<false, true, false, MANY>, k_residual<false, true, true, MANY>}},
        {{k_residual<true, false, false, MANY>, k_residual<true, false, true, MANY>},
         {k_residual<true, true, false, MANY>, k_residual<true, true, true, MANY>}}};
    return kernels[table][exact][deep];
}

static row_job make_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                        dim3 *grid)
{
    const nb_cuda_window *w = &launch->window;
    row_job job = make_row_job(launch, terms);
    int width = w->f1 - (w->f0 & ~(PIXELS - 1));
    *grid = dim3((unsigned)((width + PIXELS * BLOCK_X - 1) / (PIXELS * BLOCK_X)),
                 (unsigned)(w->s1 - w->s0 + BLOCK_Y - 1) / BLOCK_Y);
    job.residuals = (const float4 *)terms->residuals;
    for (int i = 0; i < 3; i++)
        job.real_N[i] = (float)launch->scene.lattice.N[i];
    job.many.across = (int)grid->x;
    return job;
}

int nb_cuda_residual_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                         int before, void *to)
{
    dim3 grid;
    const row_job job = make_job(launch, terms, &grid);
    return put_job(job, before, (int)(grid.x * grid.y), to);
}

void nb_cuda_launch_residual(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                             int exact, const nb_cuda_many *many)
{
    dim3 grid;
    row_job job = make_job(launch, terms, &grid);
    const int table = job.F2 != NULL, deep = launch->sensor.mean_depth != 0;
    residual_kernel kernel = many ? choose_kernel<true>(table, exact != 0, deep)
                                  : choose_kernel<false>(table, exact != 0, deep);
    if (many) {
        job = job_of_many(job, many);
        grid = dim3((unsigned)many->blocks);
    }
    kernel<<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}
