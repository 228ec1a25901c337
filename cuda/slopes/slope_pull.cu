/* SPDX-License-Identifier: MIT */
/* Pullbacks (gradients of a loss) for pixels with one ray and few terms (slope_plain.h).
 * A gradient is linear in the numbers of a pixel, so these numbers, times the slope of
 * the loss, are summed over the pixels, and the host contracts the sums once. The time
 * does not depend on the number of parameters. */
#include "slope_batch.cuh"
#include "slope_tables.h"

enum { THREADS = 128, LANES = 32, WARPS = THREADS / LANES };

/** Add the numbers of `left` pixels, times their slopes of the loss, to sums. */
template <int PIXELS, int LEVEL>
static __device__ __forceinline__ void weigh(const nb_cuda_pull_job &p,
                                             const batch<PIXELS> &b, int64_t left,
                                             double *sums, const nb_term_case how)
{
    constexpr int N = LEVEL >= NB_TERMS_ALL ? NB_PLAIN_TOTALS : NB_PULL_CRYSTAL;
    float single[N] = {};
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        if (j >= left)
            continue;
        const double w = p.single ? p.single[b.at[j]] : p.precise[b.at[j]];
        if (p.single)
            nb_pull_single(&b.of[j], (float)w, single, how);
        else
            nb_pull_double(&b.of[j], w, sums, how);
        if (LEVEL >= NB_TERMS_ALL)
            nb_pull_moves(&b.of[j], w, sums + NB_PULL_MOVES);
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        sums[i] += (double)single[i];
}

/** Two lanes, HALF apart, add their 2 HALF numbers; each lane keeps the sums of one half.
 * Then the same is done with the half that is kept. */
template <int HALF, int N> static __device__ __forceinline__ void fold(double (&x)[N])
{
    const int upper = (int)threadIdx.x & HALF;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const double low = x[i], high = x[i + HALF];
        x[i] = (upper ? high : low) + gpuShuffleXor(upper ? low : high, HALF, LANES);
    }
    if constexpr (HALF > 1)
        fold<HALF / 2>(x);
}

/** Returns to lane l the sum over all lanes of number l % N; N is 16 or 32. */
template <int N> static __device__ __forceinline__ double add_lanes(double (&x)[N])
{
    fold<N / 2>(x);
    return N == LANES ? x[0] : x[0] + gpuShuffleXor(x[0], N, LANES);
}

template <int SHAPE, int TABLE, int LEVEL, int ONE, int PIXELS>
__global__ void __launch_bounds__(THREADS)
    k_pull_plain(const NB_GRID_CONSTANT nb_cuda_pull_job p,
                 const NB_GRID_CONSTANT plain_source from)
{
    constexpr nb_term_case how = {SHAPE == 2, SHAPE == 1, TABLE, LEVEL, ONE};
    /* number of sums, padded with zeros */
    constexpr int N = LEVEL >= NB_TERMS_ALL ? 32 : 16;
    const int me = (int)threadIdx.x, lane = me % LANES;
    __shared__ double all[WARPS][LANES];
    double total = 0;
    for (int round = 0; round < p.rounds; round++) {
        double sums[N] = {};
        batch<PIXELS> b;
        b.i = p.all.from +
              (((int64_t)blockIdx.x * p.rounds + round) * THREADS + me) * PIXELS;
        if (b.i < p.all.end) {
            fill(p.all, from, b, how);
            weigh<PIXELS, LEVEL>(p, b, p.all.end - b.i, sums, how);
        }
        total += add_lanes(sums);
    }
    all[me / LANES][lane] = total;
    __syncthreads();
    if (me < p.items) {
        double sum = 0;
        for (int k = 0; k < WARPS; k++)
            sum += all[k][me];
        p.partial[(int64_t)blockIdx.x * p.items + me] = sum;
    }
}

typedef void (*kernel)(nb_cuda_pull_job, plain_source);

enum { FEW = 4, ALL_FEW = 2 }; /* pixels of a thread */

static int pixels_of(const nb_term_case *how)
{
    return how->level >= NB_TERMS_ALL ? ALL_FEW : FEW;
}

void nb_cuda_pull_plan(const nb_term_case *how, int64_t pixels, nb_cuda_pull_job *job)
{
    const int64_t blocks_max = 4096, each = (int64_t)THREADS * pixels_of(how),
                  batches = (pixels + each - 1) / each;
    job->items = how->level >= NB_TERMS_ALL ? (int)NB_PULL_ALL : (int)NB_PULL_CRYSTAL;
    job->rounds = (int)((batches + blocks_max - 1) / blocks_max);
    job->blocks = (int)((batches + job->rounds - 1) / job->rounds);
}

void nb_cuda_launch_pull_plain(const nb_cuda_pull_job *job, const nb_term_case *how,
                               double *sums, cudaStream_t stream)
{
    const kernel k =
        with_plain_case(how, [](auto SHAPE, auto TABLE, auto LEVEL, auto ONE) -> kernel {
            return k_pull_plain < SHAPE, TABLE, LEVEL, ONE,
                   LEVEL >= NB_TERMS_ALL ? ALL_FEW : FEW > ;
        });
    k<<<(unsigned)job->blocks, THREADS, 0, stream>>>(*job, plain_source_of(&job->plain));
    nb_cuda_launch_join(job->partial, job->blocks, job->items, 1, sums, stream);
}
