/* SPDX-License-Identifier: MIT */
/* Derivatives of pixels with one ray and few terms (slope_plain.h).  A thread has a few pixels side by side, so
 * that its stores are wide. */
#include "slope_batch.cuh"
#include "slope_plain_tables.h"

enum { THREADS = 128 };

typedef struct plain_job {
    nb_cuda_slope_job all;
    nb_plain_rows rows; /* on the device */
    nb_plain_frame frame;
} plain_job;

template <int PIXELS, typename T> struct __align__(sizeof(T) * PIXELS) wide
{
    T at[PIXELS];
};

/** The batch's pixels of a plane; PIXELS numbers lie at a multiple of their size but at the end. */
template <int PIXELS, typename T, typename V>
static __device__ __forceinline__ void store(T *plane, int64_t at, int64_t left,
                                             const V (&value)[PIXELS])
{
    wide<PIXELS, T> all;
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        all.at[j] = (T)value[j];
    if (left >= PIXELS) {
        *(wide<PIXELS, T> *)(plane + at) = all;
        return;
    }
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        if (j < left)
            plane[at + j] = all.at[j];
}

/** The planes of a kind. */
template <unsigned MASK, int PIXELS, typename T>
static __device__ __forceinline__ void emit(const plain_job &p, const batch<PIXELS> &b,
                                            const float4 *rows, T *out, int kind,
                                            const nb_term_case how)
{
    const int64_t at = b.i - p.all.origin, left = p.all.end - b.i;
    for (int n = p.rows.first[kind]; n < p.rows.first[kind + 1]; n++) {
        float value[PIXELS] = {};
#pragma unroll
        for (int q = 0; q < NB_PLAIN_QUADS; q++)
            if (MASK >> q & 1) {
                const float4 four = rows[n * NB_PLAIN_QUADS + q];
                const float w[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
                for (int j = 0; j < PIXELS; j++)
                    value[j] = nb_plain_quad(&b.of[j], q, w, value[j], how);
            }
        double moved[PIXELS];
        if (MASK >> NB_PLAIN_PLACE & 1) {
#pragma unroll
            for (int j = 0; j < PIXELS; j++) {
                const double *w =
                    p.rows.moves +
                    ((int64_t)b.panel[j] * p.rows.planes + n) * NB_PLAIN_MOVES;
                moved[j] = nb_plain_moved(&b.of[j], w) + (double)value[j];
            }
        }
        const int64_t plane =
            ((const int *)(rows + p.rows.planes * NB_PLAIN_QUADS))[n] * p.all.stride;
        if (MASK >> NB_PLAIN_PLACE & 1)
            store(out + plane, at, left, moved);
        else
            store(out + plane, at, left, value);
    }
}

template <int LEVEL, int PIXELS, typename T>
static __device__ __forceinline__ void emit_all(const plain_job &p, const batch<PIXELS> &b,
                                                const float4 *rows, T *out,
                                                const nb_term_case how)
{
#define EMIT(kind, mask)                                                                 \
    if (LEVEL >= NB_TERMS_ALL || !((mask) >> NB_PLAIN_PLACE & 1))                        \
        emit<mask>(p, b, rows, out, kind, how);
    NB_PLAIN_KINDS(EMIT)
}

template <int SHAPE, int TABLE, int LEVEL, int ONE, int PIXELS>
__global__ void __launch_bounds__(THREADS)
    k_slopes_plain(const NB_GRID_CONSTANT plain_job p)
{
    constexpr nb_term_case how = {SHAPE == 2, SHAPE == 1, TABLE, LEVEL, ONE};
    extern __shared__ float4 rows[]; /* and which planes they are */
    for (int k = (int)threadIdx.x; k < p.rows.planes * NB_PLAIN_QUADS; k += THREADS)
        rows[k] = ((const float4 *)p.rows.rows)[k];
    int *order = (int *)(rows + p.rows.planes * NB_PLAIN_QUADS);
    for (int k = (int)threadIdx.x; k < p.rows.planes; k += THREADS)
        order[k] = p.rows.order[k];
    __syncthreads();
    batch<PIXELS> b;
    b.i = p.all.from + ((int64_t)blockIdx.x * THREADS + threadIdx.x) * PIXELS;
    if (b.i >= p.all.end)
        return;
    fill(p.all, p.frame, b, how);
    if (p.all.single)
        emit_all<LEVEL>(p, b, rows, p.all.single, how);
    else
        emit_all<LEVEL>(p, b, rows, p.all.out, how);
}

typedef void (*kernel)(plain_job);

template <int SHAPE, int TABLE>
static kernel kernel_of(const nb_term_case *how, int *pixels)
{
    *pixels = how->level >= NB_TERMS_ALL ? 2 : 4;
    if (how->level >= NB_TERMS_ALL)
        return how->one ? k_slopes_plain<SHAPE, TABLE, NB_TERMS_ALL, 1, 2>
                        : k_slopes_plain<SHAPE, TABLE, NB_TERMS_ALL, 0, 2>;
    return how->one ? k_slopes_plain<SHAPE, TABLE, NB_TERMS_CRYSTAL, 1, 4>
                    : k_slopes_plain<SHAPE, TABLE, NB_TERMS_CRYSTAL, 0, 4>;
}

void nb_cuda_launch_slopes_plain(const nb_cuda_slope_job *job, const nb_plain_rows *rows,
                                 const nb_plain_frame *frame, const nb_term_case *how,
                                 gpuStream_t stream)
{
    const plain_job p = {*job, *rows, *frame};
    int pixels;
    kernel k = how->gauss     ? how->table ? kernel_of<2, 1>(how, &pixels)
                                           : kernel_of<2, 0>(how, &pixels)
                   : how->general ? how->table ? kernel_of<1, 1>(how, &pixels)
                                               : kernel_of<1, 0>(how, &pixels)
                   : how->table ? kernel_of<0, 1>(how, &pixels)
                              : kernel_of<0, 0>(how, &pixels);
    const int64_t each = (int64_t)THREADS * pixels;
    k<<<(unsigned)((job->end - job->from + each - 1) / each), THREADS,
        (size_t)rows->planes *(NB_PLAIN_TOTALS * sizeof(float) + sizeof(int)), stream>>>(p);
}
