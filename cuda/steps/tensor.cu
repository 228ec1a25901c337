/* SPDX-License-Identifier: MIT */
/* The kernel for many steps per pixel, on FP64 tensor cores (capability 8.0, 9.0, 10.0).
 *
 * One m8n8k4 product A B gives -h of 8 steps for 8 pixels, in fixed point. A row of A is
 * a step's vector -a/lambda and, as the fourth number, the start of fixed-point numbers +
 * a.i/lambda. A column of B is a pixel's direction, and 1. A warp takes 8 x 4 pixels. */
#include <float.h>
#include <limits.h>

#include "../backend/constants.cuh"
#include "../backend/render_job.h"
#include "many.cuh"
#include "tensor_job.cuh"

enum {
    WARPS = 8,   /* number of warps of a block of threads */
    SEVERAL = 2, /* value of TABLE: sources have different tables */
    RUN = 64     /* number of octets that are summed in one float */
};

/** Data of a warp in shared memory, to save registers. */
typedef struct warp_memory {
    /* of each lane: sums for its step at its two pixels of each row */
    double total[2 * ROWS][32];
    double sum[ROWS * COLUMNS]; /* sum over the rays so far, of each pixel */
    double direction[ROWS * COLUMNS][4];
    float weight[ROWS * COLUMNS]; /* weight of the ray of each pixel */
} warp_memory;

#ifdef NB_GPU_TENSOR_CODE
/** Add this lane's step to the sums of its two pixels of one row. b: this lane's number
 * of the matrix B for the row; a: its numbers of A for each axis. LAW: nb_law. */
template <int LAW, int TABLE, bool WEIGHTED>
static __device__ __forceinline__ void add_octet(const tensor_job &p, const double a[3],
                                                 double b, float weight, int first,
                                                 float sum[2])
{
    constexpr bool polynomial = LAW == NB_LAW_FRINGES;
    double t[3][2];
    int c, axis;
    for (axis = 0; axis < 3; axis++)
        gpuMultiply(t[axis], a[axis], b);
#pragma unroll
    for (c = 0; c < 2; c++) {
        const int flip = TABLE ? INT_MIN : 0; /* removes the 1/2 that was added */
        int w[3] = {__double2loint(t[0][c]) ^ flip, __double2loint(t[1][c]) ^ flip,
                    __double2loint(t[2][c]) ^ flip};
        float r;
        if constexpr (polynomial)
            r = nb_interference_product(w, p.N);
        else
            r = nb_shape_square<LAW>(w, p.shape);
        float scale = WEIGHTED ? weight : 1.0f;
        if (TABLE && (polynomial || nb_shape_lit<LAW>(r))) {
            int at = __double2hiint(t[0][c]) * p.index.stride_h +
                     __double2hiint(t[1][c]) * p.index.stride_k +
                     __double2hiint(t[2][c]) * (TABLE == SEVERAL ? p.index.stride_l : 1) +
                     (TABLE == SEVERAL ? first : p.index.offset);
            scale = WEIGHTED ? scale * __ldg(p.F2 + at) : __ldg(p.F2 + at);
        }
        if (!polynomial)
            sum[c] = fmaf(r, scale, sum[c]);
        else
            sum[c] = TABLE || WEIGHTED ? fmaf(r * r, scale, sum[c]) : fmaf(r, r, sum[c]);
    }
}

/** Add octets first .. end - 1 to memory->total. */
template <int LAW, int TABLE, bool WEIGHTED>
static __device__ __forceinline__ void sum_octets(const tensor_job &p, int first, int end,
                                                  const double b[ROWS], int lane,
                                                  warp_memory *memory)
{
    const double *at = p.fragments + (size_t)first * 96 + lane;
    double a[3] = {__ldg(at), __ldg(at + 32), __ldg(at + 64)};
    int i, g, c;
    while (first < end) {
        int stop = min(first + RUN, end);
        float sum[ROWS][2] = {};
#pragma unroll 1
        for (i = first; i < stop; i++) {
            float weight =
                WEIGHTED ? __ldg(p.weights + (size_t)i * 8 + (lane >> 2)) : 1.0f;
            /* offset of the step's table, if there are several tables */
            int first_cell = 0;
            if (TABLE == SEVERAL)
                first_cell =
                    p.index.offset + __ldg(p.tables + (size_t)i * 8 + (lane >> 2));
            at += 96;
            double next[3] = {__ldg(at), __ldg(at + 32), __ldg(at + 64)};
#pragma unroll
            for (g = 0; g < ROWS; g++)
                add_octet<LAW, TABLE, WEIGHTED>(p, a, b[g], weight, first_cell, sum[g]);
            a[0] = next[0];
            a[1] = next[1];
            a[2] = next[2];
        }
        for (g = 0; g < ROWS; g++)
            for (c = 0; c < 2; c++)
                memory->total[2 * g + c][lane] += sum[g][c];
        first = stop;
    }
}

/** Calculate the direction of each lane's pixel (row lane/8, column lane%8). Then set b
 * for the products: b[g] is component lane%4 of the direction to column lane/4 of row g. */
static __device__ __forceinline__ void aim_tile(const tensor_job &p, int ray, int f,
                                                int s, int lane, double b[ROWS],
                                                warp_memory *memory)
{
    int g;
    nb_vec3 d = aim(p, ray, min(f, p.window.f1 - 1), min(s, p.window.s1 - 1),
                    &memory->weight[lane]);
    memory->direction[lane][0] = d.x;
    memory->direction[lane][1] = d.y;
    memory->direction[lane][2] = d.z;
    memory->direction[lane][3] = 1.0;
    for (g = 0; g < 2 * ROWS; g++)
        memory->total[g][lane] = 0;
    gpuSyncLanes();
#pragma unroll
    for (g = 0; g < ROWS; g++)
        b[g] = memory->direction[g * COLUMNS + (lane >> 2)][lane & 3];
}

/** Add the ray's weighted sum to the pixel of this lane (row lane/8, column lane%8). */
static __device__ __forceinline__ void collect(const tensor_job &p, int lane,
                                               warp_memory *memory)
{
    int g = lane >> 3, column = lane & 7, row;
    double sum = 0;
    gpuSyncLanes();
    for (row = 0; row < 8; row++)
        sum += memory->total[2 * g + (column & 1)][row * 4 + (column >> 1)];
    memory->sum[lane] += sum * p.term * memory->weight[lane];
    gpuSyncLanes();
}
#endif

template <int LAW, int TABLE, bool WEIGHTED, bool MANY>
__global__ void __launch_bounds__(32 * WARPS, WEIGHTED ? 2
                                              : TABLE  ? 3
                                                       : 4)
    k_tensor(const NB_GRID_CONSTANT tensor_job p)
{
#ifdef NB_GPU_TENSOR_CODE
    __shared__ warp_memory memories[WARPS];
    const tensor_job &at = job_of_block<MANY>(p);
    warp_memory *memory = &memories[threadIdx.x >> 5];
    int lane = (int)(threadIdx.x & 31), ray;
    int across = (at.window.f1 - at.window.f0 + COLUMNS - 1) / COLUMNS;
    int tile = (int)(block_x<MANY>(p, at) * WARPS + (threadIdx.x >> 5));
    int f = at.window.f0 + tile % across * COLUMNS + (lane & 7);
    int s = at.window.s0 + tile / across * ROWS + (lane >> 3);
    int rays = p.scene.oversample * p.scene.oversample * at.sensor.layers;
    size_t pixel = (size_t)s * at.panel.columns + f;
    bool mine = f < at.window.f1 && s < at.window.s1;
    double b[ROWS] = {};
    if (mine && at.scene.raster.mask)
        mine = at.scene.raster.mask[pixel] != 0;
    if (!__any_sync(0xffffffffu, mine))
        return;
    memory->sum[lane] = 0;
    for (ray = 0; ray < rays; ray++) {
        aim_tile(at, ray, f, s, lane, b, memory);
        sum_octets<LAW, TABLE, WEIGHTED>(p, p.first, p.end, b, lane, memory);
        collect(p, lane, memory);
    }
    if (!mine)
        return;
    nb_panel flat = at.panel;
    flat.curved = 0;
    float value = (float)(p.scene.intensity_scale * memory->sum[lane] *
                          nb_cached_factors(&p.scene, &flat, &at.sensor, f, s));
    float *out = at.image + pixel;
    *out = p.add ? *out + value : value;
    if (!(fabsf(value) <= FLT_MAX))
        *p.repair = 1;
#endif
}

typedef void (*tensor_kernel)(tensor_job);

/** Shapes other than the parallelepiped always have weights, because F_latt of their
 * padding steps is not 0, and their weight must be 0. */
static tensor_kernel choose_kernel(int law, int table, int weighted, int many)
{
    return with_constants(
        [](auto LAW, auto TABLE, auto WEIGHTED, auto MANY) -> tensor_kernel {
            return k_tensor < LAW, TABLE, WEIGHTED != 0 || LAW != NB_LAW_FRINGES,
                   MANY != 0 > ;
        },
        one_of<NB_LAW_SPHERE, NB_LAW_DECAY, NB_LAW_EDGE, NB_LAW_FRINGES>{law},
        one_of<0, 1, SEVERAL>{table}, one_of<0, 1>{weighted}, one_of<0, 1>{many});
}

int nb_cuda_has_tensor_code(void)
{
    cudaFuncAttributes code;
    if (cudaFuncGetAttributes(
            &code, (const void *)k_tensor<NB_LAW_FRINGES, 0, false, false>) != cudaSuccess)
        return 0;
    return code.ptxVersion == 80 || code.ptxVersion == 90 || code.ptxVersion == 100;
}

static int put_panel_job(const nb_cuda_job *job, const nb_cuda_terms *terms, int before,
                         void *to)
{
    const nb_cuda_octets octets = nb_cuda_octets_of(job, 0);
    const tensor_job of_panel = make_tensor_job(&job->launch, terms, &octets, WARPS);
    return put_job(of_panel, before, of_panel.many.across, to);
}

static void submit(nb_cuda_job *render, int part)
{
    const nb_cuda_launch *launch = &render->launch;
    const nb_cuda_many *many = render->many[NB_JOBS_FAST];
    const nb_cuda_octets octets = nb_cuda_octets_of(render, part);
    tensor_job job = make_tensor_job(launch, &render->terms, &octets, WARPS);
    const int table = !job.F2 ? 0 : job.tables ? SEVERAL : 1;
    const int law = nb_shape_law(launch->scene.lattice.shape);
    const tensor_kernel kernel =
        choose_kernel(law, table, job.weights != NULL, many != NULL);
    unsigned blocks = (unsigned)(many ? many->blocks : job.many.across);
    if (many)
        job = job_of_many(job, many);
    kernel<<<blocks, 32 * WARPS, 0, launch->stream>>>(job);
}

/* ------------------------------------------------------------------ the path's kernel */

static int equal_weights(const nb_scene *sc)
{
    int equal = sc->lattice.N[0] > 1 || sc->lattice.N[1] > 1 ||
                sc->lattice.N[2] > 1; /* this makes padding steps add 0 */
    for (int i = 0; i < sc->beam.n_sources; i++)
        equal = equal && (float)sc->beam.sources[i].weight == 1.0f;
    return equal;
}

static nb_status prepare_fragments(nb_backend_state *state, const nb_cuda_launch *launch,
                                   int equal, nb_cuda_terms *terms, nb_error *err)
{
    size_t octets = ((size_t)terms->count + 7) / 8;
    int several = terms->F2.side > 1;
    nb_status st;
    terms->octets = (int)octets;
    if ((st = nb_cuda_reserve(&state->terms, (octets + 1) * 96 * sizeof(double),
                              "the steps", err)) ||
        (!equal && (st = nb_cuda_reserve(&state->weights, (octets + 1) * 8 * sizeof(float),
                                         "the weights", err))) ||
        (several && (st = nb_cuda_reserve(&state->tables, (octets + 1) * 8 * sizeof(int),
                                          "the numbers of the tables", err))))
        return st;
    terms->fragments = (const double *)state->terms.at;
    terms->weights = equal ? NULL : (const float *)state->weights.at;
    terms->tables = several ? (const int *)state->tables.at : NULL;
    const nb_cuda_fragments to = {(int)octets, (double *)state->terms.at,
                                  equal ? NULL : (float *)state->weights.at,
                                  several ? (int *)state->tables.at : NULL};
    nb_cuda_launch_fragments(&launch->scene, &terms->F2, &to, state->stream);
    return NB_OK;
}

static nb_status prepare(nb_cuda_job *job, int *fits, nb_error *err)
{
    const nb_scene *sc = job->plan.scene;
    const int equal =
        equal_weights(sc) && nb_shape_law(sc->lattice.shape) == NB_LAW_FRINGES;
    nb_status st = nb_cuda_prepare_F2(job->state, &job->plan, &job->launch,
                                      &job->terms.F2, fits, err);
    if (st || !*fits)
        return st;
    return prepare_fragments(job->state, &job->launch, equal, &job->terms, err);
}

static int parts_max(const nb_cuda_job *job)
{
    return job->terms.octets;
}

extern "C" const nb_path_kernel nb_cuda_kernel_tensor = {.rate = nb_cuda_tensor_rate,
                                                         .prepare = prepare,
                                                         .parts = parts_max,
                                                         .submit = submit,
                                                         .job = put_panel_job,
                                                         .job_bytes = sizeof(tensor_job),
                                                         .repair = NB_REPAIR_ALWAYS,
                                                         .adds_parts = 0};
