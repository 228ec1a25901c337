/* SPDX-License-Identifier: MIT */
/* Structure factors between reflections (tricubic): indices and F in double, the lattice in float.
 *
 * F is the sum of 64 values that may cancel, so floats would show where it passes through 0.  64 values for each
 * step are also more than the caches deliver; so a thread keeps the 16 rows of its cell (cubic.h) and loads
 * others when a step leaves it.  Steps of one orientation, which differ in wavelength, are neighbours. */
#include <float.h>
#include <string.h>

#include "many.cuh"
#include "tensor_job.cuh"

enum {
    WARPS = 4, /* of a block */
    BLOCKS = 2,
    RUN = 64 /* steps summed in one float before they join the total */
};

/** t = magic number - index on the three axes for step k: rows of the fragments (terms.cu). */
static __device__ __forceinline__ void aim_step(const tensor_job &p, int k,
                                                const nb_vec3 &d, double t[3])
{
    const double2 *at =
        (const double2 *)(p.fragments + (size_t)(k / 8) * 96 + (size_t)(k % 8) * 4);
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const double2 first = __ldg(at + 16 * axis), second = __ldg(at + 16 * axis + 1);
        t[axis] = fma(first.x, d.x, fma(first.y, d.y, fma(second.x, d.z, second.y)));
    }
}

/** F_latt^2 of fixed-point indices: low words. */
template <int SHAPE>
static __device__ __forceinline__ float lattice_at(const tensor_job &p, const int low[3])
{
    if constexpr (SHAPE == NB_LATTICE_SQUARE) {
        const float lattice = nb_interference_product<4>(low, p.N);
        return lattice * lattice;
    } else {
        return nb_shape_square<SHAPE>(low, p.shape);
    }
}

/** F^2 F_latt^2 of step k, whose t this is; t is the next step's afterwards: it and the lattice are worked out
 * while rows are on their way. */
template <int SHAPE>
static __device__ __forceinline__ float one_step(const tensor_job &p, int k,
                                                 const nb_vec3 &d, double t[3],
                                                 nb_cubic_cell *cell)
{
    /* far from a reflection these are 0 in a float, and F need not be known */
    constexpr bool ends = SHAPE == NB_LATTICE_GAUSS || SHAPE == NB_LATTICE_TOPHAT;
    const int high[3] = {__double2hiint(t[0]), __double2hiint(t[1]), __double2hiint(t[2])};
    const int low[3] = {__double2loint(t[0]), __double2loint(t[1]), __double2loint(t[2])};
    const double u[3] = {t[0] - __hiloint2double(high[0], 0),
                         t[1] - __hiloint2double(high[1], 0),
                         t[2] - __hiloint2double(high[2], 0)};
    const int at = nb_cubic_find(&p.cubic, high);
    float lattice = 0, F;
    if (ends) {
        lattice = lattice_at<SHAPE>(p, low);
        if (lattice == 0) {
            aim_step(p, k + 1, d, t);
            return 0;
        }
    }
    if (at >= 0 && at != cell->at)
        nb_cubic_load(&p.cubic, at, cell);
    aim_step(p, k + 1, d, t); /* there is one more for this */
    if (!ends)
        lattice = lattice_at<SHAPE>(p, low);
    F = (float)(at < 0 ? nb_cubic_nearest(&p.cubic, high, low) : nb_cubic_at(cell, u));
    return lattice * (F * F);
}

/** The sum over the steps along a ray. */
template <int SHAPE>
static __device__ __forceinline__ double sum_steps(const tensor_job &p, const nb_vec3 &d,
                                                   nb_cubic_cell *cell)
{
    double total = 0, t[3];
    aim_step(p, 0, d, t);
    for (int first = 0; first < p.count; first += RUN) {
        const int end = min(first + RUN, p.count);
        float sum = 0;
#pragma unroll 1
        for (int k = first; k < end; k++)
            sum = fmaf(one_step<SHAPE>(p, k, d, t, cell), __ldg(p.weights + k), sum);
        total += sum;
    }
    return total;
}

/** One thread a pixel, a warp for 8 x 4 of them. */
template <int SHAPE, bool MANY>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    k_tricubic(const NB_GRID_CONSTANT tensor_job p)
{
    const tensor_job &at = job_of_block<MANY>(p);
    int lane = (int)(threadIdx.x & 31);
    int across = (at.window.f1 - at.window.f0 + COLUMNS - 1) / COLUMNS;
    int tile = (int)(block_x<MANY>(p, at) * WARPS + (threadIdx.x >> 5));
    int f = at.window.f0 + tile % across * COLUMNS + (lane & 7);
    int s = at.window.s0 + tile / across * ROWS + (lane >> 3);
    int rays = p.scene.oversample * p.scene.oversample * at.sensor.layers;
    size_t pixel = (size_t)s * at.panel.columns + f;
    nb_cubic_cell cell;
    double sum = 0;
    if (f >= at.window.f1 || s >= at.window.s1 ||
        (at.scene.raster.mask && !at.scene.raster.mask[pixel]))
        return;
    cell.at = -1;
    for (int ray = 0; ray < rays; ray++) {
        float weight;
        const nb_vec3 d = aim(at, ray, f, s, &weight);
        sum += (sum_steps<SHAPE>(p, d, &cell) * p.term + p.background) * weight;
    }
    nb_panel flat = at.panel;
    flat.curved = 0;
    float value = (float)(p.scene.intensity_scale * sum *
                          nb_cached_factors(&p.scene, &flat, &at.sensor, f, s));
    at.image[pixel] = value;
    if (!(fabsf(value) <= FLT_MAX))
        *p.repair = 1;
}

typedef void (*tricubic_kernel)(tensor_job);

template <bool MANY> static tricubic_kernel choose_kernel(int shape)
{
    return shape == NB_LATTICE_ROUND    ? k_tricubic<NB_LATTICE_ROUND, MANY>
           : shape == NB_LATTICE_GAUSS  ? k_tricubic<NB_LATTICE_GAUSS, MANY>
           : shape == NB_LATTICE_TOPHAT ? k_tricubic<NB_LATTICE_TOPHAT, MANY>
                                        : k_tricubic<NB_LATTICE_SQUARE, MANY>;
}

static tensor_job make_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms)
{
    const nb_cuda_octets octets = {0, terms->octets, 0, 4};
    return make_tensor_job(launch, terms, &octets, WARPS);
}

int nb_cuda_tricubic_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                         int before, void *to)
{
    const tensor_job job = make_job(launch, terms);
    return put_job(job, before, job.many.across, to);
}

void nb_cuda_launch_tricubic(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                             const nb_cuda_many *many)
{
    tensor_job job = make_job(launch, terms);
    const int shape = launch->scene.lattice.shape;
    const tricubic_kernel kernel =
        many ? choose_kernel<true>(shape) : choose_kernel<false>(shape);
    const unsigned blocks = (unsigned)(many ? many->blocks : job.many.across);
    if (many)
        job = job_of_many(job, many);
    kernel<<<blocks, 32 * WARPS, 0, launch->stream>>>(job);
}

__global__ void k_cubic_rows(const NB_GRID_CONSTANT nb_cubic_table table, int64_t n,
                             double *rows)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double c[4];
    if (i >= n)
        return;
    nb_cubic_row(&table, i, c);
    for (int power = 0; power < 4; power++)
        rows[4 * i + power] = c[power];
}

void nb_cuda_launch_cubic_rows(const nb_cubic_table *table, double *rows,
                               gpuStream_t stream)
{
    const int64_t n = (int64_t)nb_cubic_rows(table);
    if (n > 0)
        k_cubic_rows<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(*table, n, rows);
}
