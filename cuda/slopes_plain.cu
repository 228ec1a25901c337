/* SPDX-License-Identifier: MIT */
/* Derivatives of pixels with one ray and few terms (slope_plain.h).  A thread has a few pixels side by side: what they
 * share is read once, and stores are wide. */
#include "slope_place.cuh"

#include "depth.cuh"
#include "slope_plain_tables.h"

enum { THREADS = 128 };

typedef struct plain_job {
    nb_cuda_slope_job all;
    nb_plain_rows rows; /* on the device */
    nb_plain_frame frame;
} plain_job;

/** Direction and distance of a pixel's middle. */
static __device__ __forceinline__ double aim(const nb_panel *panel, double F, double S,
                                             nb_vec3 *d)
{
    const nb_vec3 P = {fma(F, panel->fast.x, fma(S, panel->slow.x, panel->pix0.x)),
                       fma(F, panel->fast.y, fma(S, panel->slow.y, panel->pix0.y)),
                       fma(F, panel->fast.z, fma(S, panel->slow.z, panel->pix0.z))};
    const double r = inverse_root(fma(P.x, P.x, fma(P.y, P.y, P.z * P.z)));
    d->x = P.x * r;
    d->y = P.y * r;
    d->z = P.z * r;
    return r;
}

/** PIXELS pixels from number i on. */
template <int PIXELS> struct batch {
    nb_plain_pixel of[PIXELS];
    int panel[PIXELS];
    int64_t i;
};

template <int PIXELS>
static __device__ __forceinline__ void fill(const plain_job &p, batch<PIXELS> &b,
                                            const nb_term_case how)
{
    int64_t i = b.i;
    int k = span_of(p.all.pixels, i);
    int64_t next = p.all.pixels.before[k + 1];
    const nb_span *span = &p.all.pixels.spans[k];
    int f = span->fast + (int)(i - p.all.pixels.before[k]);
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        const nb_panel *panel = &p.all.panels[span->panel];
        const double F = panel->pixel_fast * (f + 0.5),
                     S = panel->pixel_slow * (span->slow + 0.5);
        nb_term_run run;
        nb_vec3 d;
        const double r = aim(panel, F, S, &d);
        memset(&run, 0, sizeof run);
        nb_plain_sums(&p.all.tables, d, &run, how);
        nb_plain_finish(&p.frame, panel, d, r, &run, &b.of[j], how);
        b.of[j].F = F;
        b.of[j].S = S;
        b.panel[j] = span->panel;
        f++;
        if (++i >= next && i < p.all.end) {
            span = &p.all.pixels.spans[++k];
            next = p.all.pixels.before[k + 1];
            f = span->fast;
        }
    }
}

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
template <unsigned MASK, int PIXELS>
static __device__ __forceinline__ void emit(const plain_job &p, const batch<PIXELS> &b,
                                            const float4 *rows, int kind,
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
        if (MASK >> NB_PLAIN_PLACE & 1) {
            if (p.all.single)
                store(p.all.single + plane, at, left, moved);
            else
                store(p.all.out + plane, at, left, moved);
        } else if (p.all.single) {
            store(p.all.single + plane, at, left, value);
        } else {
            store(p.all.out + plane, at, left, value);
        }
    }
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
    fill(p, b, how);
#define EMIT(kind, mask)                                                                 \
    if (LEVEL >= NB_TERMS_ALL || !((mask) >> NB_PLAIN_PLACE & 1))                        \
        emit<mask>(p, b, rows, kind, how);
    NB_PLAIN_KINDS(EMIT)
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
