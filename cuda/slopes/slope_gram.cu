/* SPDX-License-Identifier: MIT */
/* The normal equations for pixels with one ray and few terms (slope_plain.h). Slopes are
 * linear in the numbers of a pixel. So products of two numbers, times the pixel's Fisher
 * information, are summed over the pixels, and the host contracts the sums once. No plane
 * is stored, and the time does not depend on the number of parameters.
 *
 * Each pixel has a column y: its numbers times the root of its information w, and in the
 * last row dloss/dm divided by this root. The sum of y y^T has the matrix and the
 * gradient. The lanes of a warp write 32 columns, and FP64 tensor cores multiply four at
 * a time. Devices without these cores make planes instead, because products gain nothing
 * there and their code took minutes to compile. */
#include "../../src/base/coefficients.h"
#include "slope_batch.cuh"
#include "slope_tables.h"

#include "../steps/warp_sums.cuh"
#include "../steps/depth.cuh"

enum {
    THREADS = 128,
    LANES = 32,
    WARPS = THREADS / LANES,
    EACH_MIN = 2,
    EACH_MAX = 8, /* limits of the adjacent pixels of a lane */
    ROWS = 8,     /* rows of a block of rows */
    GROUP = 16,   /* columns that are loaded at a time */
    /* length of a row in shared memory, so that pairs of rows lie in different banks */
    WIDTH = 48,
    LOG_BITS = 7,
    LOGS = 1 << LOG_BITS
};

#ifdef NB_GPU_TENSOR_CODE

/** Table for logarithms: 1 .. 2 is divided into 128 intervals with middles c, and the
 * table has 1/c and log c. */
typedef struct log_table {
    double2 at[LOGS];
} log_table;

static __device__ __forceinline__ void fill_logs(log_table &t)
{
    for (int k = (int)threadIdx.x; k < LOGS; k += THREADS) {
        const double c = 1 + (k + 0.5) / LOGS;
        t.at[k] = make_double2(1 / c, log(c));
    }
}

/** log x for x > 0; absolute and relative error below 1e-15. */
static __device__ __forceinline__ double quick_log(const log_table &t, double x)
{
    const int high = __double2hiint(x);
    const double2 c = t.at[(high >> (20 - LOG_BITS)) & (LOGS - 1)];
    const double m = __hiloint2double((high & 0xfffff) | 0x3ff00000, __double2loint(x)),
                 r = fma(m, c.x, -1.0); /* |r| is below 1/256 */
    double p = fma(r, -1.0 / 6, 1.0 / 5);
    p = fma(r, p, -1.0 / 4);
    p = fma(r, p, 1.0 / 3);
    p = fma(r, p, -0.5);
    p = fma(r * r, p, r);
    return fma((double)((high >> 20) - 1023), NB_LN2_HIGH + NB_LN2_LOW, c.y + p);
}

/** A pixel compared with the observation. */
typedef struct seen_pixel {
    float root, pull; /* root: square root of w; pull: dloss/dm divided by root */
    double loss;
} seen_pixel;

/** nb_poisson_pixel for this device. */
static __device__ __forceinline__ seen_pixel poisson(const log_table &logs, double n,
                                                     double m)
{
    const double x = m > NB_LEAST_PHOTONS ? m : NB_LEAST_PHOTONS;
    n = n > 0 ? n : 0;
    seen_pixel p;
    p.root = gpuInverseRoot((float)x);
    p.pull = (float)(x - n) * p.root;
    p.loss = x - n;
    if (n > 0)
        p.loss += n * quick_log(logs, n * inverse_of(x));
    return p;
}

/** nb_gauss_pixel for this device. */
static __device__ __forceinline__ seen_pixel gauss(const log_table &logs, double n,
                                                   double m, double sigma)
{
    const double V = fma(sigma, sigma, m > NB_LEAST_PHOTONS ? m : NB_LEAST_PHOTONS),
                 over = inverse_of(V), d = n - m, d2 = d * d * over,
                 weight = over * fma(0.5, over, 1.0), root = inverse_root(weight);
    seen_pixel p;
    p.root = (float)(weight * root);
    p.pull = (float)(over * (fma(-0.5, d2, 0.5) - d) * root);
    p.loss = 0.5 * (d2 + quick_log(logs, V));
    return p;
}

static __device__ __forceinline__ seen_pixel compare(const nb_cuda_gram_job &p,
                                                     const log_table &logs, size_t at,
                                                     double photons, float image)
{
    double m = image;
    if (p.background)
        m += p.background[at];
    if (p.likelihood != NB_LIKELIHOOD_GAUSS)
        return poisson(logs, photons, m);
    return gauss(logs, photons, m, p.sigma);
}

/** Store the column of the lane's pixel, which exists. Returns the pixel's loss. */
template <int LEVEL>
static __device__ __forceinline__ double put_column(const nb_cuda_gram_job &p,
                                                    const log_table &logs,
                                                    const cursor &c, float *column,
                                                    const nb_plain_frame &frame,
                                                    const nb_term_case how)
{
    constexpr int N = LEVEL >= NB_TERMS_ALL ? NB_PLAIN_TOTALS : NB_PULL_CRYSTAL,
                  ALL = LEVEL >= NB_TERMS_ALL ? NB_PULL_ALL : NB_PULL_CRYSTAL;
    const double photons = p.photons[c.at];
    nb_plain_pixel x;
    nb_plain_pixel_of(&p.all.tables, &frame, &c.row, c.column, &x, how);
    const float image =
        fmaf(p.image[1], x.sum[NB_PLAIN_ONE], p.image[0] * x.sum[NB_PLAIN_IMAGE]);
    const seen_pixel seen = compare(p, logs, c.at, photons, image);
#pragma unroll
    for (int i = 0; i < N; i++)
        if (nb_plain_uses(nb_pull_number(i, how.level), how))
            column[i * WIDTH] = seen.root * x.sum[nb_pull_number(i, how.level)];
    if (LEVEL >= NB_TERMS_ALL) {
        double moves[NB_PLAIN_MOVES] = {};
        nb_pull_moves(&x, 1, moves);
#pragma unroll
        for (int i = 0; i < NB_PLAIN_MOVES; i++)
            column[(N + i) * WIDTH] = seen.root * (float)moves[i];
    }
    column[ALL * WIDTH] = seen.pull;
    return seen.loss;
}

/** The sum of y y^T up to the diagonal: pairs of blocks of rows, by blocks of columns. */
template <int PAIRS> struct gram {
    double at[PAIRS * (PAIRS + 1)][4];
};

/** Add y y^T of a warp's 32 columns. */
template <int PAIRS>
static __device__ __forceinline__ void multiply(const float *columns, gram<PAIRS> &c)
{
    const int lane = (int)threadIdx.x % LANES;
#pragma unroll
    for (int first = 0; first < LANES; first += GROUP) {
        float4 four[2 * PAIRS];
#pragma unroll
        for (int a = 0; a < 2 * PAIRS; a++)
            four[a] = *(const float4 *)(columns + (ROWS * a + lane / 4) * WIDTH + first +
                                        lane % 4 * 4);
#pragma unroll
        for (int j = 0; j < 4; j += 2) {
            double x[2 * PAIRS][2];
#pragma unroll
            for (int a = 0; a < 2 * PAIRS; a++) {
                x[a][0] = j ? four[a].z : four[a].x;
                x[a][1] = j ? four[a].w : four[a].y;
            }
#pragma unroll
            for (int a = 0; a < PAIRS; a++) {
                const double pair[4] = {x[2 * a][0], x[2 * a + 1][0], x[2 * a][1],
                                        x[2 * a + 1][1]};
#pragma unroll
                for (int b = 0; b < 2 * a + 2; b++)
                    multiply_add_tall(c.at[a * (a + 1) + b], pair, x[b]);
            }
        }
    }
}

/** Store the sum over the warps of a block in its items. The order depends only on the
 * numbers of the warps. */
template <int PAIRS>
static __device__ __forceinline__ void put_sums(const nb_cuda_gram_job &p,
                                                const gram<PAIRS> &c, double *shared)
{
    constexpr int N = PAIRS * (PAIRS + 1) * 4;
    const int lane = (int)threadIdx.x % LANES, warp = (int)threadIdx.x / LANES;
    double *items = p.partial + (int64_t)blockIdx.x * p.items + 1;
    for (int w = 0; w < WARPS; w++) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < N; k++)
            if (warp == w)
                shared[k * LANES + lane] =
                    c.at[k / 4][k % 4] + (w > 0 ? shared[k * LANES + lane] : 0);
    }
    __syncthreads();
    for (int k = warp; k < N; k += WARPS) {
        int a = 0, b = k / 4;
        while (b >= 2 * a + 2)
            b -= 2 * ++a;
        const int row = ROWS * (2 * a + k % 4 / 2) + lane / 4,
                  column = ROWS * b + lane % 4 * 2 + k % 2;
        if (column <= row)
            items[row * (row + 1) / 2 + column] = shared[k * LANES + lane];
    }
}

#endif

template <int SHAPE, int TABLE, int LEVEL, int ONE>
__global__ void __launch_bounds__(THREADS, (LEVEL >= NB_TERMS_ALL ? 2 : 3) + ONE)
    k_gram(const NB_GRID_CONSTANT nb_cuda_gram_job p,
           const NB_GRID_CONSTANT plain_source from)
{
#ifdef NB_GPU_TENSOR_CODE
    constexpr nb_term_case how = {SHAPE == 2, SHAPE == 1, TABLE, LEVEL, ONE};
    constexpr int R = LEVEL >= NB_TERMS_ALL ? NB_GRAM_ALL : NB_GRAM_CRYSTAL;
    constexpr int PAIRS = R / ROWS / 2, ALL = R * WIDTH;
    static_assert(PAIRS * (PAIRS + 1) * 4 * LANES * sizeof(double) <=
                      WARPS * ALL * sizeof(float),
                  "put_sums needs as much");
    __shared__ __align__(16) float columns[WARPS * ALL];
    __shared__ log_table logs;
    const int me = (int)threadIdx.x, lane = me % LANES;
    float *warp_columns = columns + me / LANES * ALL;
    gram<PAIRS> c = {};
    double loss = 0;
#pragma unroll
    for (int r = 0; r < R; r++)
        warp_columns[r * WIDTH + lane] = 0;
    fill_logs(logs);
    __syncthreads();
    for (int round = 0; round < p.rounds; round++) {
        int64_t i = p.all.from +
                    (((int64_t)blockIdx.x * p.rounds + round) * THREADS + me) * p.each;
        cursor at;
        if (i < p.all.end)
            at = cursor_of(p.all, from, i);
#pragma unroll 1
        for (int j = 0; j < p.each; j++, i++) {
            gpuSyncLanes(); /* wait until all lanes have read the earlier columns */
            if (i < p.all.end) {
                loss +=
                    put_column<LEVEL>(p, logs, at, warp_columns + lane, from.frame, how);
                advance(p.all, from, at);
            } else {
#pragma unroll
                for (int r = 0; r < R; r++)
                    warp_columns[r * WIDTH + lane] = 0;
            }
            gpuSyncLanes();
            multiply<PAIRS>(warp_columns, c);
        }
    }
    put_sums<PAIRS>(p, c, (double *)columns);
    loss = nb_add_threads<THREADS>(loss);
    if (me == 0)
        p.partial[(int64_t)blockIdx.x * p.items] = loss;
#endif
}

typedef void (*kernel)(nb_cuda_gram_job, plain_source);

void nb_cuda_gram_plan(const nb_term_case *how, int multiprocessors, int64_t pixels,
                       nb_cuda_gram_job *job)
{
    const int64_t all =
        (int64_t)THREADS * 8 * multiprocessors; /* smallest useful number of lanes */
    const int64_t each_max = pixels / all < EACH_MAX ? pixels / all : (int64_t)EACH_MAX;
    job->each = (int)(each_max > EACH_MIN ? each_max : (int64_t)EACH_MIN);
    const int64_t each = (int64_t)THREADS * job->each,
                  batches = (pixels + each - 1) / each,
                  blocks_max = (int64_t)16 * multiprocessors;
    const int rows = how->level >= NB_TERMS_ALL ? NB_GRAM_ALL : NB_GRAM_CRYSTAL;
    job->items = 1 + rows * (rows + 1) / 2;
    job->rounds = (int)((batches + blocks_max - 1) / blocks_max);
    job->blocks = (int)((batches + job->rounds - 1) / job->rounds);
}

void nb_cuda_launch_gram(const nb_cuda_gram_job *job, const nb_term_case *how,
                         double *sums, cudaStream_t stream)
{
    const kernel k =
        with_plain_case(how, [](auto SHAPE, auto TABLE, auto LEVEL, auto ONE) -> kernel {
            return k_gram<SHAPE, TABLE, LEVEL, ONE>;
        });
    k<<<(unsigned)job->blocks, THREADS, 0, stream>>>(*job, plain_source_of(&job->plain));
    nb_cuda_launch_join(job->partial, job->blocks, job->items, 1, sums, stream);
}
