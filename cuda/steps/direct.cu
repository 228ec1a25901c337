/* SPDX-License-Identifier: MIT */
/* Kernels for few steps per pixel: distances and Miller indices in double, lattice in
 * float. Positions are linear along a row, so an index costs two multiply-adds. */
#include "../backend/constants.cuh"
#include "../backend/render_job.h"
#include "many.cuh"
#include "row.cuh"

enum {
    BLOCK_X = 32,
    BLOCK_Y = 4,
    STRIDE = PIXELS * BLOCK_X,
    SEVERAL = 2,    /* value of TABLE: sources have different tables */
    RUN = 64,       /* number of steps that are summed in one float */
    ONE_BLOCKS = 5, /* blocks of k_one per multiprocessor; 6 and 7 are slower by 4 % */
    ONE_CHUNKS = 4
};

/** This thread's first pixel along fast, a multiple of four; x: block along fast. */
static __device__ __forceinline__ int first_pixel(const row_job &p, unsigned x)
{
    int block = (int)x * p.chunks * STRIDE;
    return (p.window.f0 & ~(PIXELS - 1)) + block + (int)threadIdx.x * PIXELS;
}

/** F_latt^2 of a round crystal with few steps per pixel. Near zeros of the transform the
 * indices are in double. All sources have one direction. */
template <bool DEEP>
static __device__ __forceinline__ float few_round(const row_job &p, const line lines[3],
                                                  const nb_cuda_direct_term &step,
                                                  const four &x, int i, const int w[3])
{
    double d[3];
    int doubt;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) /* an int as a double, without a slow conversion */
        d[axis] = __hiloint2double(0x43300000, w[axis] ^ INT_MIN) - (0x1p52 + 0x1p31);
    const float quick = nb_sphere_near(nb_sphere_u2(p.sphere_steps, d), &doubt);
    if (!doubt)
        return quick;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const double h = fma(at_pixel<DEEP>(lines[axis], x, i), x.r[i],
                             -dot(step.axis[axis].vector, p.incident));
        d[axis] = h - rint(h);
    }
    return nb_sphere_exact(nb_sphere_u2(p.sphere, d));
}

/** One step for four pixels: F_latt (law of fringes) or F_latt^2 (other laws), and F^2
 * from a table. lines: those of the three axes. With QUOTIENT, nb_interference_quotient
 * is used. first: index offset of the step's table. */
template <int TABLE, bool QUOTIENT, bool DEEP, int LAW>
static __device__ __forceinline__ void aim_step(const row_job &p,
                                                const nb_cuda_direct_term &step,
                                                const line lines[3],
                                                const double constants[3], const four &x,
                                                int first, float lattice[PIXELS],
                                                float F2[PIXELS])
{
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        const int flip = TABLE ? INT_MIN : 0;
        int w[3], cell = first;
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            double t = fma(at_pixel<DEEP>(lines[axis], x, i), x.r[i], constants[axis]);
            w[axis] = __double2loint(t) ^ flip;
            cell += __double2hiint(t) * (axis == 0          ? p.index.stride_h
                                         : axis == 1        ? p.index.stride_k
                                         : TABLE == SEVERAL ? p.index.stride_l
                                                            : 1);
        }
        if (LAW == NB_LAW_FRINGES)
            lattice[i] = QUOTIENT ? nb_interference_quotient(w, p.N)
                                  : nb_interference_product(w, p.N);
        else if (LAW == NB_LAW_FEW_SPHERE)
            lattice[i] = few_round<DEEP>(p, lines, step, x, i, w);
        else
            lattice[i] = nb_shape_square<LAW>(w, p.shape);
        F2[i] = !TABLE ? 1.0f : nb_shape_lit<LAW>(lattice[i]) ? __ldg(p.F2 + cell) : 0.0f;
    }
}

/** A row for k_one: |P|^2 = square + F^2, with F = 0 nearest to the sample. */
typedef struct plain_row {
    double nearest, square;
    line beam, lines[3];
    double constants[3];
} plain_row;

static __device__ __forceinline__ line from_nearest(double base, double slope,
                                                    double nearest)
{
    line l = {fma(-nearest, slope, base), slope, 0};
    return l;
}

static __device__ __forceinline__ plain_row aim_plain_row(const row_job &p, int s)
{
    double S = fma(p.edge_slow, (double)s, 0.5 * p.edge_slow);
    plain_row row;
    row.nearest = 0.5 * line_at_row(p.along, S);
    row.square = fma(S, fma(S, p.square[2], p.square[1]), p.square[0]);
    row.square = fma(-row.nearest, row.nearest, row.square);
    row.beam = from_nearest(line_at_row(p.beam, S), p.beam_slope, row.nearest);
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        row.lines[axis] = from_nearest(line_at_row(p.terms[0].axis[axis].column, S),
                                       p.terms[0].axis[axis].slope, row.nearest);
        row.constants[axis] = p.terms[0].axis[axis].constant;
    }
    return row;
}

/** Render a block of the simplest images: one ray and one step (of weight 1) per pixel,
 * no factors except the solid angle and the polarization of an unpolarized beam. Values
 * that are constant along the row are calculated once. */
template <bool TABLE, bool POINT, int LAW>
static __device__ __forceinline__ void one_block(const row_job &p, const row_job &at_panel,
                                                 unsigned x, unsigned y)
{
    int f = first_pixel(at_panel, x),
        s = at_panel.window.s0 + (int)(y * BLOCK_Y + threadIdx.y);
    if (f >= at_panel.window.f1 || s >= at_panel.window.s1)
        return;
    const plain_row row = aim_plain_row(at_panel, s);
    double first = fma(0.5, at_panel.edge_fast, row.nearest);
#pragma unroll 1
    for (int c = 0; c < at_panel.chunks && f < at_panel.window.f1; c++, f += STRIDE) {
        four x;
        double cosine[PIXELS];
        float value[PIXELS], F2[PIXELS];
        pixel_positions<TABLE>(at_panel, first, f, x.F);
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            x.r[i] = inverse_root(fma(x.F[i], x.F[i], row.square));
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            cosine[i] = at(row.beam, x.F[i]) * x.r[i];
        aim_step<TABLE, true, false, LAW>(p, p.terms[0], row.lines, row.constants, x,
                                          p.index.offset, value, F2);
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            double r2 = x.r[i] * x.r[i];
            double factor = fma(cosine[i] * cosine[i], at_panel.plain_polar[1],
                                at_panel.plain_polar[0]) *
                            (POINT ? r2 : r2 * x.r[i]);
            const float left = TABLE ? value[i] * F2[i] : value[i];
            value[i] = (LAW == NB_LAW_FRINGES ? left * value[i] : left) * (float)factor;
        }
        store(at_panel, f, s, value);
    }
}

/** Render the blocks of this block of threads, on one panel or on many. */
template <bool TABLE, bool POINT, bool MANY, int LAW>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, ONE_BLOCKS)
    k_one(const NB_GRID_CONSTANT row_job p)
{
    if constexpr (MANY)
        for_blocks<true>(p, [&](const row_job &at_panel, unsigned x, unsigned y) {
            one_block<TABLE, POINT, LAW>(p, at_panel, x, y);
        });
    else
        one_block<TABLE, POINT, LAW>(p, p, blockIdx.x, blockIdx.y);
}

/** Sum over the steps for four pixels. terms: steps of the pixels' panel. */
template <int TABLE, bool DEEP, int LAW>
static __device__ __forceinline__ void add_terms(const row_job &p,
                                                 const nb_cuda_direct_term *terms,
                                                 const row_points &row, const four &x,
                                                 float sum[PIXELS])
{
    float error[PIXELS] = {};
    for (int first = 0; first < p.n_terms; first += RUN) {
        int end = min(first + RUN, p.n_terms);
        float run[PIXELS] = {};
        for (int k = first; k < end; k++) {
            line lines[3];
            double constants[3];
            float lattice[PIXELS], F2[PIXELS];
            term_lines(terms[k], row, lines, constants);
            int from = p.index.offset + (TABLE == SEVERAL ? terms[k].table : 0);
            aim_step<TABLE, false, DEEP, LAW>(p, terms[k], lines, constants, x, from,
                                              lattice, F2);
#pragma unroll
            for (int i = 0; i < PIXELS; i++)
                run[i] = fmaf(LAW == NB_LAW_FRINGES ? lattice[i] * lattice[i] : lattice[i],
                              terms[k].weight * F2[i], run[i]);
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            add_compensated(sum[i], error[i], run[i]);
    }
}

/** Render a block of pixels with any number of rays and steps. DEEP: rays end at the mean
 * depth of layers. */
template <int TABLE, bool DEEP, int LAW, bool MANY>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, LAW == NB_LAW_FEW_SPHERE ? 3 : 4)
    k_direct(const NB_GRID_CONSTANT row_job p)
{
    const row_job &at_panel = job_of_block<MANY>(p);
    int f = first_pixel(at_panel, block_x<MANY>(p, at_panel)),
        s = at_panel.window.s0 + (int)(block_y<MANY>(p, at_panel) * BLOCK_Y + threadIdx.y);
    int os = p.scene.oversample;
    float value[PIXELS] = {}, error[PIXELS] = {}, factor[PIXELS];
    if (f >= at_panel.window.f1 || s >= at_panel.window.s1)
        return;
    for (int layer = 0; layer < at_panel.sensor.layers; layer++)
        for (int sub = 0; sub < os * os; sub++) {
            forget<MANY>();
            row_points row = aim_row(at_panel, s, sub / os, sub % os, layer);
            four x = aim_pixels<TABLE != 0, DEEP>(at_panel, row, f, layer);
            float sum[PIXELS] = {};
            add_terms<TABLE, DEEP, LAW>(p, at_panel.terms, row, x, sum);
            forget<MANY>();
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                if (layer == 0 && sub == 0)
                    factor[i] = cached<DEEP>(at_panel, row, x, i);
                add_compensated(value[i], error[i],
                                sum[i] * ray_weight<DEEP>(at_panel, row, x, i, layer));
            }
        }
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        value[i] *= factor[i];
    store(at_panel, f, s, value);
}

/** Fill the members of a job that only k_one uses. Returns 1 if k_one can render the job. */
static int is_plain(row_job *job)
{
    const nb_panel *panel = &job->panel;
    const nb_sensor *sensor = &job->sensor;
    double omega = job->scale * panel->pixel_area *
                   (panel->point_pixel ? 1.0 : panel->close_distance);
    job->plain_polar[0] = (job->polar == POLAR_NONE ? 1.0 : 0.5) * omega;
    job->plain_polar[1] = (job->polar == POLAR_NONE ? 0.0 : 0.5) * omega;
    job->along[0] = 2 * nb_dot(panel->pix0, panel->fast);
    job->along[1] = 2 * nb_dot(panel->slow, panel->fast);
    job->square[0] = nb_dot(panel->pix0, panel->pix0);
    job->square[1] = 2 * nb_dot(panel->pix0, panel->slow);
    job->square[2] = nb_dot(panel->slow, panel->slow);
    job->beam[0] = nb_dot(job->incident, panel->pix0);
    job->beam[1] = nb_dot(job->incident, panel->slow);
    job->beam_slope = nb_dot(job->incident, panel->fast);
    return job->n_terms == 1 && job->scene.oversample == 1 && sensor->layers == 1 &&
           job->polar != POLAR_KAHN && !job->polar_oversampled &&
           !job->scene.oversample_omega && !sensor->absorb;
}

typedef void (*direct_kernel)(row_job);

static direct_kernel general_kernel(int law, int tables, int deep, int many)
{
    return with_constants(
        [](auto LAW, auto TABLE, auto DEEP, auto MANY) -> direct_kernel {
            return k_direct<TABLE, DEEP != 0, LAW, MANY != 0>;
        },
        one_of<NB_LAW_SPHERE, NB_LAW_DECAY, NB_LAW_EDGE, NB_LAW_FEW_SPHERE, NB_LAW_FRINGES>{
            law},
        one_of<0, 1, SEVERAL>{tables}, one_of<0, 1>{deep}, one_of<0, 1>{many});
}

static direct_kernel plain_kernel(int law, int table, int point, int many)
{
    return with_constants(
        [](auto LAW, auto TABLE, auto POINT, auto MANY) -> direct_kernel {
            return k_one<TABLE != 0, POINT != 0, MANY != 0, LAW>;
        },
        one_of<NB_LAW_DECAY, NB_LAW_EDGE, NB_LAW_FEW_SPHERE, NB_LAW_FRINGES>{
            law == NB_LAW_SPHERE ? (int)NB_LAW_FEW_SPHERE : law},
        one_of<0, 1>{table}, one_of<0, 1>{point}, one_of<0, 1>{many});
}

/** Number of blocks of pixels that a thread of k_one takes. is_part: the launch has
 * several panels. */
static int choose_chunks(const nb_cuda_launch *launch, int width, int height, int is_part)
{
    const int64_t across = (width + STRIDE - 1) / STRIDE, enough = 64;
    const int64_t blocks =
        is_part ? (int64_t)(launch->scene.raster.pixels / (STRIDE * BLOCK_Y))
                : across * height / BLOCK_Y;
    if (blocks < enough * launch->multiprocessors)
        return 1;
    return is_part && across < ONE_CHUNKS ? (int)across : (int)ONE_CHUNKS;
}

/** Make the job of a panel. is_part: the launch has several panels. *one: 1 if k_one can
 * render the job. */
static row_job make_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                        int is_part, int *one, dim3 *grid)
{
    const nb_cuda_window *w = &launch->window;
    row_job job = make_row_job(launch, terms);
    int width = w->f1 - (w->f0 & ~(PIXELS - 1)), height = w->s1 - w->s0;
    *one = is_plain(&job);
    job.chunks = *one ? choose_chunks(launch, width, height, is_part) : 1;
    *grid = dim3((unsigned)((width + job.chunks * STRIDE - 1) / (job.chunks * STRIDE)),
                 (unsigned)(height + BLOCK_Y - 1) / BLOCK_Y);
    job.many.across = (int)grid->x;
    return job;
}

static_assert(offsetof(row_job, panel) == 0, "k_panels_terms looks there");
const size_t nb_cuda_direct_job_bytes = sizeof(row_job);

static int put_panel_job(const nb_cuda_job *job, const nb_cuda_terms *terms, int before,
                         void *to)
{
    dim3 grid;
    int one;
    const row_job of_panel = make_job(&job->launch, terms, 1, &one, &grid);
    return put_job(of_panel, before, (int)(grid.x * grid.y), to);
}

static void submit(nb_cuda_job *render, int part)
{
    const nb_cuda_launch *launch = &render->launch;
    const nb_cuda_terms *terms = &render->terms;
    const nb_cuda_many *many = render->many[NB_JOBS_FAST];
    dim3 grid;
    int one;
    row_job job = make_job(launch, terms, many != NULL, &one, &grid);
    const int table = job.F2 != NULL;
    const int tables = table && terms->F2.side > 1 ? SEVERAL : table;
    const int law = launch->few_round ? (int)NB_LAW_FEW_SPHERE
                                      : (int)nb_shape_law(launch->scene.lattice.shape),
              deep = launch->sensor.mean_depth != 0,
              point = launch->panel.point_pixel != 0;
    const direct_kernel kernel = one ? plain_kernel(law, table, point, many != NULL)
                                     : general_kernel(law, tables, deep, many != NULL);
    (void)part; /* there is only one part */
    if (many) {
        job = job_of_many(job, many);
        grid = dim3(
            (unsigned)(one ? min(many->blocks, (int)ONE_BLOCKS * launch->multiprocessors)
                           : many->blocks));
    }
    kernel<<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}

/* ------------------------------------------------------------------ the path's kernel */

enum {
    MAX_KEPT = 1 << 28, /* limit of the bytes of the steps of all panels */
    PANELS_MAX = 65535  /* limit of the height of a grid of blocks */
};

/** Number of panels whose steps are kept on the device: all panels or one. */
static int panels_kept(const nb_scene *sc, size_t steps)
{
    const size_t n = (size_t)sc->n_panels;
    return n <= PANELS_MAX && n * steps <= MAX_KEPT / sizeof(nb_cuda_direct_term) ? (int)n
                                                                                  : 1;
}

static nb_status prepare(nb_cuda_job *job, int *fits, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_cuda_terms *terms = &job->terms;
    nb_status st =
        nb_cuda_prepare_F2(state, &job->plan, &job->launch, &terms->F2, fits, err);
    if (st || !*fits)
        return st;
    terms->panels = panels_kept(job->plan.scene, (size_t)terms->count);
    st = nb_cuda_reserve(&state->terms,
                         (size_t)terms->panels * (size_t)terms->count *
                             sizeof *terms->direct,
                         "the steps", err);
    terms->direct = (const nb_cuda_direct_term *)state->terms.at;
    if (!st)
        nb_cuda_aim_terms(&job->launch, terms);
    return st;
}

extern "C" const nb_path_kernel nb_cuda_kernel_direct = {.rate = nb_cuda_direct_rate,
                                                         .prepare = prepare,
                                                         .parts = NULL,
                                                         .submit = submit,
                                                         .job = put_panel_job,
                                                         .job_bytes = sizeof(row_job),
                                                         .repair = NB_REPAIR_RARE,
                                                         .adds_parts = 0};
