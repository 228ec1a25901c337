/* SPDX-License-Identifier: MIT */
/* The normal equations of a fit from planes of slopes. The matrix D has a column for each
 * pixel. Row r has the slopes by parameter r, or the hats (nb_fit_pixel) of a knot. With
 * slopes s of the loss by pixels, and weights W, the gradient is D s and the Fisher
 * matrix D W D^T. The left factor is D with s as row n. A warp multiplies blocks of 8 x
 * 4, as tensor cores do. */
#include "slope_place.cuh"

#include "../steps/warp_sums.cuh"

enum {
    THREADS = 256,
    LANES = 32,
    WARPS = THREADS / LANES,
    STEP = THREADS, /* pixels that a block compares at a time */
    GROUP = 16,     /* pixels that a warp multiplies at a time */
    /* smallest slice; a slice is the pixels that a block of threads adds up */
    LEAST = 2 * STEP,
    SLICES_MAX = 2048, /* limit of slices; with more pixels, slices are longer */
    ROWS = 8,          /* rows of D in a block of rows */
    BLOCKS = 4         /* blocks of rows in the registers of a warp */
};

/** Comparison with the observation (nb_fit_pixel), for the pixels of a step. */
typedef struct seen_pixels {
    double slope[STEP], weight[STEP], hat[2][STEP];
    int knot[STEP];
} seen_pixels;

/** Compare pixel number i, number `column` of the step; returns its loss. */
template <typename T>
static __device__ __forceinline__ double compare(const nb_cuda_fit_job &p, const T *planes,
                                                 int64_t i, int column, seen_pixels &to)
{
    nb_fit_pixel x = nb_no_pixel();
    if (i < p.end) {
        const int k = span_of(p.pixels, i);
        x = nb_fit_compare(p.fit, &p.pixels.spans[k], (int)(i - p.pixels.before[k]),
                           planes[i - p.origin]);
    }
    to.slope[column] = x.slope;
    to.weight[column] = x.weight;
    to.hat[0][column] = x.hat[0];
    to.hat[1][column] = x.hat[1];
    to.knot[column] = x.knot;
    return x.loss;
}

/** Four adjacent pixels of a plane. */
template <typename T> struct __align__(16) four
{
    T at[4];
};

/** Load four pixels from number i on, in rows low, low + ROWS, ... of R blocks. Rows
 * after the last plane (knots have no planes) load the last plane; value_of ignores them. */
template <typename T, int R>
static __device__ __forceinline__ void load(const nb_cuda_fit_job &p, const T *planes,
                                            int low, int64_t i, four<T> (&to)[R])
{
    /* number of the last row that has a plane; plane 0 is the image */
    const int last = p.count - 1;
#pragma unroll
    for (int b = 0; b < R; b++) {
        const int r = low + ROWS * b;
        to[b] = *(const four<T> *)(planes + (1 + (r < last ? r : last)) * p.stride +
                                   (i - p.origin));
    }
}

/** D in row r at pixel `column` of the step, from the loaded number. */
template <typename T>
static __device__ __forceinline__ double value_of(const nb_cuda_fit_job &p,
                                                  const seen_pixels &seen, int r,
                                                  int column, int is_pixel, T loaded)
{
    /* 0 after the last pixel, because memory there is undefined */
    const T slope = is_pixel && r < p.count ? loaded : 0;
    if (p.n == p.count || r < p.count || r >= p.n || seen.knot[column] < 0)
        return slope;
    const int hat = r - p.count - seen.knot[column];
    return hat >= 0 && hat < 2 ? seen.hat[hat][column] : 0;
}

/** Part of D W D^T: R blocks of rows by R of columns. With APART all blocks are
 * calculated. Otherwise rows and columns are the same, and only blocks on and below the
 * diagonal are calculated. */
template <int R, int APART> struct part {
    double at[R][R][2];
};

/** The rows and pixels of a lane in a group of pixels. */
typedef struct place {
    int lower, upper; /* rows of D in the first block of columns and of rows */
    int64_t i;        /* number of the lane's first pixel */
    int column;       /* number of this pixel in the step */
} place;

/** Multiply a group of pixels; below, above: rows of D for columns and rows of a part. */
template <typename T, int R, int APART>
static __device__ __forceinline__ void multiply(const nb_cuda_fit_job &p,
                                                const seen_pixels &seen, const place &at,
                                                const four<T> (&below)[R],
                                                const four<T> (&above)[APART ? R : 1],
                                                part<R, APART> &c)
{
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const int column = at.column + j, is_pixel = at.i + j < p.end;
        const double weight = seen.weight[column], slope = seen.slope[column];
        double x[R];
#pragma unroll
        for (int b = 0; b < R; b++)
            x[b] =
                value_of(p, seen, at.lower + ROWS * b, column, is_pixel, below[b].at[j]);
#pragma unroll
        for (int a = 0; a < R; a++) {
            const int r = at.upper + ROWS * a;
            const double above_value = APART ? value_of(p, seen, r, column, is_pixel,
                                                        above[APART ? a : 0].at[j])
                                             : x[a],
                         factor = r == p.n ? slope : weight * above_value;
#pragma unroll
            for (int b = 0; b < R; b++)
                if (APART || b <= a)
                    multiply_add(c.at[a][b], factor, x[b]);
        }
    }
}

/** The loaded rows of a group of pixels. */
template <typename T, int R, int APART> struct loaded {
    four<T> below[R], above[APART ? R : 1];
};

template <typename T, int R, int APART>
static __device__ __forceinline__ void load_group(const nb_cuda_fit_job &p,
                                                  const T *planes, const place &at,
                                                  loaded<T, R, APART> &to)
{
    load(p, planes, at.lower, at.i, to.below);
    if (APART)
        load(p, planes, at.upper, at.i, to.above);
}

/** Add a warp's pixels from number i on; loads come early. Returns a lane's loss. */
template <typename T, int R, int APART>
static __device__ __forceinline__ double add_pixels(const nb_cuda_fit_job &p,
                                                    const T *planes, int64_t i, int lower,
                                                    int upper, seen_pixels &seen,
                                                    part<R, APART> &c)
{
    const int lane = (int)threadIdx.x % LANES, column = (int)threadIdx.x - lane,
              four_of = lane % 4 * 4;
    const place first = {lower + lane / 4, upper + lane / 4, i + four_of,
                         column + four_of},
                second = {first.lower, first.upper, first.i + GROUP, first.column + GROUP};
    loaded<T, R, APART> a, b;
    double loss;
    load_group(p, planes, first, a);
    gpuSyncLanes(); /* wait until all lanes have read the earlier pixels */
    loss = compare(p, planes, i + lane, column + lane, seen);
    gpuSyncLanes();
    load_group(p, planes, second, b);
    multiply(p, seen, first, a.below, a.above, c);
    multiply(p, seen, second, b.below, b.above, c);
    return loss;
}

/** Sum over the warps of a block, into the first warp. The order depends only on the
 * numbers of the warps. */
template <int R, int APART>
static __device__ __forceinline__ void add_warps(part<R, APART> &c)
{
    __shared__ double all[WARPS / 2][R * R * 2][LANES];
    const int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    for (int half = WARPS / 2; half > 0; half /= 2) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R * R * 2; k++)
            if (warp >= half && warp < 2 * half)
                all[warp - half][k][lane] = c.at[k / 2 / R][k / 2 % R][k % 2];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < R * R * 2; k++)
            if (warp < half)
                c.at[k / 2 / R][k / 2 % R][k % 2] += all[warp][k][lane];
    }
}

/** Store element (r, column) of the product. Items are the loss, n numbers of the
 * gradient, and the lower half of the matrix. */
static __device__ __forceinline__ void put(const nb_cuda_fit_job &p, int r, int column,
                                           double x)
{
    double *items = p.partial + (int64_t)blockIdx.x * p.items;
    if (r == p.n && column < p.n)
        items[1 + column] = x;
    else if (r < p.n && column <= r)
        items[1 + p.n + r * (r + 1) / 2 + column] = x;
}

/** A block adds up a slice of the pixels for part blockIdx.y of the matrix. APART: parts
 * off the diagonal, counted row by row. */
template <typename T, int R, int APART>
__global__ void __launch_bounds__(THREADS, APART || (R == BLOCKS && sizeof(T) > 4) ? 1
                                           : R < 3                                 ? 3
                                                                                   : 2)
    k_fit(const NB_GRID_CONSTANT nb_cuda_fit_job p, const T *planes)
{
    __shared__ seen_pixels seen;
    const int warp = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    const int64_t first = p.origin + (int64_t)blockIdx.x * p.slice;
    int upper = (int)blockIdx.y, lower = (int)blockIdx.y;
    part<R, APART> c = {};
    double loss = 0;
    if (APART)
        for (upper = 1, lower = (int)blockIdx.y; lower >= upper; upper++)
            lower -= upper;
    for (int64_t i = first + warp * LANES; i < first + p.slice && i < p.end; i += STEP)
        loss += add_pixels(p, planes, i, R * ROWS * lower, R * ROWS * upper, seen, c);
    add_warps(c);
    if (!APART && blockIdx.y == 0) {
        loss = nb_add_threads<THREADS>(loss);
        if (threadIdx.x == 0)
            p.partial[(int64_t)blockIdx.x * p.items] = loss;
    }
    if (warp > 0)
        return;
#pragma unroll
    for (int k = 0; k < R * R * 2; k++)
        put(p, R * ROWS * upper + k / 2 / R * ROWS + lane / 4,
            R * ROWS * lower + k / 2 % R * ROWS + lane % 4 * 2 + k % 2,
            c.at[k / 2 / R][k / 2 % R][k % 2]);
}

int nb_cuda_fit_slice(int64_t pixels)
{
    int slice = LEAST;
    while (pixels > (int64_t)slice * SLICES_MAX)
        slice *= 2;
    return slice;
}

template <typename T>
static void launch(const nb_cuda_fit_job *job, const T *planes, cudaStream_t stream)
{
    const int blocks = (job->n + ROWS) / ROWS; /* blocks of n + 1 rows */
    const unsigned parts = (unsigned)((blocks + BLOCKS - 1) / BLOCKS),
                   slices = (unsigned)job->slices;
    if (blocks == 1)
        k_fit<T, 1, 0><<<slices, THREADS, 0, stream>>>(*job, planes);
    else if (blocks == 2)
        k_fit<T, 2, 0><<<slices, THREADS, 0, stream>>>(*job, planes);
    else if (blocks == 3)
        k_fit<T, 3, 0><<<slices, THREADS, 0, stream>>>(*job, planes);
    else
        k_fit<T, BLOCKS, 0><<<dim3(slices, parts), THREADS, 0, stream>>>(*job, planes);
    if (parts > 1)
        k_fit<T, BLOCKS, 1>
            <<<dim3(slices, parts * (parts - 1) / 2), THREADS, 0, stream>>>(*job, planes);
}

void nb_cuda_launch_fit(const nb_cuda_fit_job *job, double *sums, cudaStream_t stream)
{
    if (job->single)
        launch(job, job->single, stream);
    else
        launch(job, job->planes, stream);
    nb_cuda_launch_join(job->partial, job->slices, job->items, job->begins, sums, stream);
}
