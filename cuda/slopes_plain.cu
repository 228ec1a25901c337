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

/** A row of a panel's pixels. */
typedef struct strip {
    const nb_span *span;
    nb_vec3 start, fast; /* of its points: start + F fast */
    double pixel, S;
    nb_plain_panel panel;
} strip;

static __device__ __forceinline__ strip strip_of(const plain_job &p, int k)
{
    const nb_span *span = &p.all.pixels.spans[k];
    const nb_panel *panel = &p.all.panels[span->panel];
    const double S = panel->pixel_slow * (span->slow + 0.5);
    return {span,
            {fma(S, panel->slow.x, panel->pix0.x), fma(S, panel->slow.y, panel->pix0.y),
             fma(S, panel->slow.z, panel->pix0.z)},
            panel->fast,
            panel->pixel_fast,
            S,
            nb_plain_panel_of(panel)};
}

/** Direction and distance of a point. */
static __device__ __forceinline__ double aim(const strip &row, double F, nb_vec3 *d)
{
    const nb_vec3 P = {fma(F, row.fast.x, row.start.x), fma(F, row.fast.y, row.start.y),
                       fma(F, row.fast.z, row.start.z)};
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
    strip row = strip_of(p, k);
    int f = row.span->fast + (int)(i - p.all.pixels.before[k]);
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        const double F = row.pixel * (f + 0.5);
        nb_term_run run;
        nb_vec3 d;
        const double r = aim(row, F, &d);
        const nb_plain_factor factor = nb_plain_factor_of(&p.frame, &row.panel, d, r);
        memset(&run, 0, sizeof run);
        nb_plain_sums(&p.all.tables, d, &factor, &run, how);
        nb_plain_finish(&p.frame, &row.panel, d, r, &factor, &run, &b.of[j], how);
        b.of[j].F = F;
        b.of[j].S = row.S;
        b.panel[j] = row.span->panel;
        f++;
        if (++i >= next && i < p.all.end) {
            row = strip_of(p, ++k);
            next = p.all.pixels.before[k + 1];
            f = row.span->fast;
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
    fill(p, b, how);
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
