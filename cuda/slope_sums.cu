/* SPDX-License-Identifier: MIT */
/* Sums over pixels of planes: pullbacks and the normal equations of a fit. */
#include "slope_place.cuh"

enum {
    THREADS = 256,
    TILE = 32,        /* pixels in a block's memory */
    WIDTH = TILE + 1, /* of a row there: no two rows of a column in one bank */
    ROWS = NB_CUDA_FIT_MOST + 3
};

typedef struct gather_job {
    nb_cuda_pixels pixels;
    const float *single;
    const double *from;
    int64_t origin, n;
    double *to;
} gather_job;

__global__ void __launch_bounds__(THREADS) k_gather(const NB_GRID_CONSTANT gather_job p)
{
    int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.n)
        return;
    int k = span_of(p.pixels, p.origin + i);
    size_t at = p.pixels.spans[k].at + (size_t)(p.origin + i - p.pixels.before[k]);
    p.to[i] = p.single ? p.single[at] : p.from[at];
}

void nb_cuda_launch_gather(const nb_cuda_pixels *pixels, nb_real_type type,
                           const void *from, int64_t origin, int64_t n, double *to,
                           gpuStream_t stream)
{
    const int single = type == NB_REAL_FLOAT32;
    const gather_job job = {*pixels,
                            single ? (const float *)from : NULL,
                            single ? NULL : (const double *)from,
                            origin,
                            n,
                            to};
    k_gather<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(job);
}

/** Pixels at a time: row 0 has their losses, rows 1 ... n their slopes; the last two what the gradient and the
 * Fisher matrix weigh them with. */
typedef struct tile {
    double rows[ROWS][WIDTH];
} tile;

/** The slopes of TILE pixels from number i on; 0 beyond the last, and for knots. */
static __device__ void fill_slopes(const nb_cuda_fit_job &p, int64_t i, tile &t)
{
    for (int k = (int)threadIdx.x; k < p.n * TILE; k += THREADS) {
        const int r = k / TILE, c = k % TILE;
        t.rows[1 + r][c] = r < p.count && i + c < p.end
                               ? p.planes[(1 + r) * p.stride + (i + c - p.origin)]
                               : 0;
    }
}

/** The rest of pixel number i. */
static __device__ void fill_column(const nb_cuda_fit_job &p, int64_t i, int column,
                                   tile &t)
{
    nb_fit_pixel x = nb_no_pixel();
    if (i < p.end) {
        int k = span_of(p.pixels, i);
        x = nb_fit_compare(p.fit, &p.pixels.spans[k], (int)(i - p.pixels.before[k]),
                           p.planes[i - p.origin]);
    }
    t.rows[0][column] = x.loss;
    t.rows[1 + p.n][column] = x.slope;
    t.rows[2 + p.n][column] = x.weight;
    if (x.knot < 0)
        return;
    t.rows[1 + p.count + x.knot][column] = x.hat[0];
    if (x.knot + 1 < p.n - p.count)
        t.rows[2 + p.count + x.knot][column] = x.hat[1];
}

/** Of which rows an item is the product: the loss, then n of the gradient, then the matrix' lower half. */
typedef struct item {
    int a, b, weight; /* -1: none */
} item;

static __device__ item item_of(const nb_cuda_fit_job &p, int k)
{
    item x = {0, -1, -1};
    if (k == 0)
        return x;
    if (k <= p.n) {
        x.a = k;
        x.weight = 1 + p.n;
        return x;
    }
    k -= 1 + p.n;
    int i = (int)((sqrt(8.0 * k + 1) - 1) / 2);
    while (i * (i + 1) / 2 > k)
        i--;
    while ((i + 1) * (i + 2) / 2 <= k)
        i++;
    x.a = 1 + i;
    x.b = 1 + k - i * (i + 1) / 2;
    x.weight = 2 + p.n;
    return x;
}

/** A block adds up a slice of the pixels, a thread one item. */
__global__ void __launch_bounds__(THREADS) k_fit(const NB_GRID_CONSTANT nb_cuda_fit_job p)
{
    extern __shared__ double memory[];
    tile &t = *(tile *)memory;
    const int k = (int)(blockIdx.y * THREADS + threadIdx.x);
    const int64_t first = p.origin + (int64_t)blockIdx.x * NB_CUDA_SLICE;
    const item x = item_of(p, k < p.items ? k : 0);
    double sum = 0;
    for (int64_t from = first; from < first + NB_CUDA_SLICE && from < p.end; from += TILE) {
        __syncthreads();
        fill_slopes(p, from, t);
        __syncthreads();
        if (threadIdx.x < TILE)
            fill_column(p, from + threadIdx.x, (int)threadIdx.x, t);
        __syncthreads();
        if (k < p.items)
            for (int c = 0; c < TILE; c++) {
                double term = t.rows[x.a][c];
                if (x.weight >= 0)
                    term *= t.rows[x.weight][c];
                if (x.b >= 0)
                    term *= t.rows[x.b][c];
                sum += term;
            }
    }
    if (k < p.items)
        p.partial[(int64_t)blockIdx.x * p.items + k] = sum;
}

/** The sum over a block's threads, for its first; in an order that the threads' numbers fix. */
static __device__ double add_threads(double own)
{
    __shared__ double all[THREADS];
    const int me = (int)threadIdx.x;
    __syncthreads(); /* the sum before this one has been read */
    all[me] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            all[me] += all[me + half];
    }
    return all[0];
}

/** A block adds up a slice of the pixels for each parameter of a pullback. */
__global__ void __launch_bounds__(THREADS)
    k_pullback(const NB_GRID_CONSTANT nb_cuda_fit_job p)
{
    const int64_t n = p.end - p.origin,
                  first = (int64_t)blockIdx.x * NB_CUDA_SLICE + threadIdx.x;
    double weights[NB_CUDA_SLICE / THREADS];
    for (int j = 0; j < NB_CUDA_SLICE / THREADS; j++)
        weights[j] = first + j * THREADS < n ? p.dloss[first + j * THREADS] : 0;
    for (int k = 0; k < p.items; k++) {
        const double *plane = p.planes + (1 + k) * p.stride;
        double sum = 0;
        for (int j = 0; j < NB_CUDA_SLICE / THREADS; j++)
            if (first + j * THREADS < n)
                sum += weights[j] * plane[first + j * THREADS];
        sum = add_threads(sum);
        if (threadIdx.x == 0)
            p.partial[(int64_t)blockIdx.x * p.items + k] = sum;
    }
}

/** sums[k] += the slices; a block for each. */
__global__ void __launch_bounds__(THREADS)
    k_join(const double *partial, int slices, int items, double *sums)
{
    const int k = (int)blockIdx.x;
    double sum = 0;
    for (int s = (int)threadIdx.x; s < slices; s += THREADS)
        sum += partial[(int64_t)s * items + k];
    sum = add_threads(sum);
    if (threadIdx.x == 0)
        sums[k] += sum;
}

void nb_cuda_launch_fit(const nb_cuda_fit_job *job, double *sums, gpuStream_t stream)
{
    const unsigned batches = (unsigned)((job->items + THREADS - 1) / THREADS);
    const size_t bytes = (size_t)(job->n + 3) * WIDTH * sizeof(double);
    if (job->items == 0)
        return;
    if (job->dloss)
        k_pullback<<<(unsigned)job->slices, THREADS, 0, stream>>>(*job);
    else
        k_fit<<<dim3((unsigned)job->slices, batches), THREADS, bytes, stream>>>(*job);
    k_join<<<(unsigned)job->items, THREADS, 0, stream>>>(job->partial, job->slices,
                                                         job->items, sums);
}
