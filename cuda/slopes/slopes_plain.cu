/* SPDX-License-Identifier: MIT */
/* Planes of slopes for pixels with one ray and few terms (slope_plain.h). A thread has a
 * few adjacent pixels, so that it stores several numbers at once. */
#include "slope_batch.cuh"
#include "slope_tables.h"

enum {
    THREADS = 128,
    /* approximate limit of blocks, because each block reads all weights once */
    BLOCKS = 8192
};

typedef struct plain_job {
    nb_cuda_slope_job all;
    nb_plain_rows rows; /* on the device */
    plain_source from;
    int rounds;
} plain_job;

/** Store a plane's values of a batch, from index `at` on. Entries after the last pixel
 * are written too, because planes have memory for whole batches. The values are not read
 * soon, so they bypass the caches. */
template <int PIXELS>
static __device__ __forceinline__ void store(const nb_cuda_slope_job &all, int64_t at,
                                             const float (&value)[PIXELS])
{
    if (!all.single) {
#pragma unroll
        for (int j = 0; j < PIXELS; j += 2)
            __stcs((double2 *)(all.out + at) + j / 2,
                   make_double2(value[j], value[j + 1]));
    } else if constexpr (PIXELS == 4) {
        __stcs((float4 *)(all.single + at),
               make_float4(value[0], value[1], value[2], value[3]));
    } else {
        __stcs((float2 *)(all.single + at), make_float2(value[0], value[1]));
    }
}

/** Data in shared memory, which a block reads once. */
typedef struct block_rows {
    const float4 *rows;
    const double *moves;   /* weights of the only panel; NULL: read from global memory */
    const int64_t *places; /* start of each plane */
} block_rows;

/** Add the products of a group of four weights and each pixel's numbers to value[]. */
template <int PIXELS, class ADD>
static __device__ __forceinline__ void add_quad(const float4 four, float (&value)[PIXELS],
                                                const ADD &add)
{
    const float w[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        value[j] = add(j, w, value[j]);
}

/** Add the slopes by a parameter that moves panels to value[]. n: row of the plane. */
template <int PIXELS>
static __device__ __forceinline__ void add_moves(const plain_job &p,
                                                 const batch<PIXELS> &b,
                                                 const block_rows &of, int n,
                                                 float (&value)[PIXELS])
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        const double *moves =
            of.moves ? of.moves
                     : p.rows.moves + (int64_t)b.panel[j] * p.rows.planes * NB_PLAIN_MOVES;
        value[j] += (float)nb_plain_moved(&b.of[j], moves + n * NB_PLAIN_MOVES);
    }
}

/** Calculate and store all planes of a kind. */
template <unsigned MASK, int PIXELS>
static __device__ __forceinline__ void emit(const plain_job &p, const batch<PIXELS> &b,
                                            const block_rows &of, int64_t at, int kind,
                                            const nb_term_case how)
{
    for (int n = p.rows.first[kind]; n < p.rows.first[kind + 1]; n++) {
        float value[PIXELS] = {};
#pragma unroll
        for (int q = 0; q < NB_PLAIN_QUADS; q++)
            if (MASK >> q & 1)
                add_quad(of.rows[n * NB_PLAIN_QUADS + q], value,
                         [&](int j, const float w[4], float sum) {
                             return nb_plain_quad(&b.of[j], q, w, sum, how);
                         });
        if (MASK >> NB_PLAIN_PLACE & 1)
            add_moves(p, b, of, n, value);
        store(p.all, at + of.places[n], value);
    }
}

template <int LEVEL, int PIXELS>
static __device__ __forceinline__ void emit_all(const plain_job &p, const batch<PIXELS> &b,
                                                const block_rows &of, int64_t at,
                                                const nb_term_case how)
{
#define EMIT(kind, mask)                                                                 \
    if (LEVEL >= NB_TERMS_ALL || !((mask) >> NB_PLAIN_PLACE & 1))                        \
        emit<mask>(p, b, of, at, kind, how);
    NB_PLAIN_KINDS(EMIT)
}

/** Copy items to shared memory, by all threads of a block. */
template <class ITEM>
static __device__ __forceinline__ void copy(const ITEM *from, int n, ITEM *to)
{
    for (int k = (int)threadIdx.x; k < n; k += THREADS)
        to[k] = from[k];
}

template <int SHAPE, int TABLE, int LEVEL, int ONE, int PIXELS>
__global__ void __launch_bounds__(THREADS, LEVEL < NB_TERMS_ALL ? 4
                                           : ONE                ? 0
                                                                : 3)
    k_slopes_plain(const NB_GRID_CONSTANT plain_job p)
{
    constexpr nb_term_case how = {SHAPE == 2, SHAPE == 1, TABLE, LEVEL, ONE};
    extern __shared__ float4 rows[];
    const int moved = p.all.moves && p.from.n_panels == 1;
    double *moves = (double *)(rows + p.rows.planes * NB_PLAIN_QUADS);
    int64_t *places = (int64_t *)(moves + (moved ? p.rows.planes * NB_PLAIN_MOVES : 0));
    const block_rows of = {rows, moved ? moves : NULL, places};
    copy((const float4 *)p.rows.rows, p.rows.planes * NB_PLAIN_QUADS, rows);
    if (moved)
        copy(p.rows.moves, p.rows.planes * NB_PLAIN_MOVES, moves);
    for (int k = (int)threadIdx.x; k < p.rows.planes; k += THREADS)
        places[k] = p.rows.order[k] * p.all.stride;
    __syncthreads();
    for (int round = 0; round < p.rounds; round++) {
        batch<PIXELS> b;
        b.i = p.all.from +
              (((int64_t)blockIdx.x * p.rounds + round) * THREADS + threadIdx.x) * PIXELS;
        if (b.i >= p.all.end)
            return;
        fill(p.all, p.from, b, how);
        emit_all<LEVEL>(p, b, of, b.i - p.all.origin, how);
    }
}

typedef void (*kernel)(plain_job);

void nb_cuda_launch_slopes_plain(const nb_cuda_slope_job *job, const nb_cuda_plain *plain,
                                 const nb_term_case *how, cudaStream_t stream)
{
    plain_job p = {*job, plain->rows, plain_source_of(plain), 1};
    const kernel k =
        with_plain_case(how, [](auto SHAPE, auto TABLE, auto LEVEL, auto ONE) -> kernel {
            return k_slopes_plain < SHAPE, TABLE, LEVEL, ONE, ONE ? 4 : 2 > ;
        });
    const int64_t each = (int64_t)THREADS * (how->one ? 4 : 2),
                  batches = (job->end - job->from + each - 1) / each;
    p.rounds = (int)((batches + BLOCKS - 1) / BLOCKS);
    k<<<(unsigned)((batches + p.rounds - 1) / p.rounds), THREADS,
        (size_t)p.rows.planes *(NB_PLAIN_TOTALS * sizeof(float) +
                                NB_PLAIN_MOVES * sizeof(double) + sizeof(int64_t)),
        stream>>>(p);
}
