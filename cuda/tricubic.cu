/* SPDX-License-Identifier: MIT */
/* Structure factors between reflections (tricubic): indices in double, F and the lattice in float.
 *
 * 64 values for each step are more than the caches deliver; so a thread keeps the 16 rows of its cell (cubic.h) and
 * loads others when a step leaves it.  Steps of one orientation, which differ in wavelength, are neighbours.  F is a
 * sum of 64 values that may cancel, so floats show where it passes through 0: beside its sum a pixel has one of
 * what F could be there.  Where that one is much larger, the warp does the pixel's steps again, in double. */
#include <float.h>
#include <string.h>

#include "many.cuh"
#include "tensor_job.cuh"

enum {
    WARPS = 4, /* of a block */
    BLOCKS = 3,
    RUN = 64 /* steps summed in one float before they join the total */
};

/** Step k's part of the fragments (terms.cu): four numbers for an axis, axes 16 pairs apart. */
static __device__ __forceinline__ const double2 *step_at(const tensor_job &p, int k)
{
    return (const double2 *)(p.fragments + (size_t)(k / 8) * 96 + (size_t)(k % 8) * 4);
}

/** t = magic number - index on the three axes. */
static __device__ __forceinline__ void aim_step(const double2 *at, const nb_vec3 &d,
                                                double t[3])
{
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

/** Sums along a ray: of F^2 F_latt^2, and of the same with each cell's largest F. */
typedef struct cubic_sum {
    double light, most;
} cubic_sum;

/** The index of a step in fixed point, and its cell. */
typedef struct cubic_place {
    int high[3], low[3], at;
} cubic_place;

static __device__ __forceinline__ cubic_place place_of(const tensor_job &p,
                                                       const double t[3])
{
    cubic_place to;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        to.high[axis] = __double2hiint(t[axis]);
        to.low[axis] = __double2loint(t[axis]);
    }
    to.at = nb_cubic_find(&p.cubic, to.high);
    return to;
}

/** F_latt^2 of a step; t is that of the next step, at `next`, afterwards: it and the lattice are worked out while
 * rows are on their way.  *F2 and *most: squares of F and of its scale. */
template <int SHAPE>
static __device__ __forceinline__ float one_step(const tensor_job &p, const double2 *next,
                                                 const nb_vec3 &d, double t[3],
                                                 nb_cubic_cell *cell, float *F2,
                                                 float *most)
{
    /* far from a reflection these are 0 in a float, and F need not be known */
    constexpr bool ends = SHAPE == NB_LATTICE_GAUSS || SHAPE == NB_LATTICE_TOPHAT;
    const cubic_place to = place_of(p, t);
    float lattice = 0;
    if (ends) {
        lattice = lattice_at<SHAPE>(p, to.low);
        if (lattice == 0) {
            *F2 = *most = 0;
            aim_step(next, d, t);
            return 0;
        }
    }
    if (to.at >= 0 && to.at != cell->at)
        nb_cubic_load(&p.cubic, to.at, cell);
    aim_step(next, d, t);
    if (!ends)
        lattice = lattice_at<SHAPE>(p, to.low);
    if (to.at < 0) {
        const float F = (float)nb_cubic_nearest(&p.cubic, to.high, to.low);
        *F2 = *most = F * F;
    } else {
        const float u[3] = {nb_cubic_fraction(to.low[0]), nb_cubic_fraction(to.low[1]),
                            nb_cubic_fraction(to.low[2])};
        const float F = nb_cubic_at(cell, u);
        *F2 = F * F;
        *most = cell->scale2;
    }
    return lattice;
}

template <int SHAPE>
static __device__ __forceinline__ cubic_sum sum_steps(const tensor_job &p,
                                                      const nb_vec3 &d,
                                                      nb_cubic_cell *cell)
{
    cubic_sum total = {0, 0};
    double t[3];
    const float *weights = p.weights;
    const double2 *next = step_at(p, 0);
    aim_step(next, d, t);
    for (int first = 0; first < p.count; first += RUN) {
        const int end = min(first + RUN, p.count);
        float light = 0, most = 0;
#pragma unroll 1
        for (int k = first; k < end; k++) {
            float F2, scale2;
            next += k % 8 == 7 ? 48 - 2 * 7 : 2; /* there is one step more */
            const float weight =
                one_step<SHAPE>(p, next, d, t, cell, &F2, &scale2) * __ldg(weights++);
            light = fmaf(F2, weight, light);
            most = fmaf(scale2, weight, most);
        }
        total.light += light;
        total.most += most;
    }
    return total;
}

/** The sum along a ray again, F in double: each lane has every 32nd step. */
template <int SHAPE>
static __device__ __noinline__ double sum_exactly(const tensor_job &p, const nb_vec3 &d,
                                                  int lane)
{
    double total = 0;
#pragma unroll 1
    for (int k = lane; k < p.count; k += 32) {
        double t[3];
        aim_step(step_at(p, k), d, t);
        const cubic_place to = place_of(p, t);
        const double F = to.at < 0 ? nb_cubic_nearest(&p.cubic, to.high, to.low)
                                   : nb_cubic_exact(&p.cubic, to.at, to.low);
        total += lattice_at<SHAPE>(p, to.low) * __ldg(p.weights + k) * (F * F);
    }
    for (int half = 16; half > 0; half /= 2)
        total += gpuShuffleXor(total, half, 32);
    return total;
}

/** The sum over the rays of a pixel; in_doubt: whether it must be done again. */
template <int SHAPE>
static __device__ __forceinline__ double sum_rays(const tensor_job &p,
                                                  const tensor_job &at, int rays, int f,
                                                  int s, bool *in_doubt)
{
    nb_cubic_cell cell;
    double sum = 0, most = 0;
    cell.at = -1;
    for (int ray = 0; ray < rays; ray++) {
        float weight;
        const nb_vec3 d = aim(at, ray, f, s, &weight);
        const cubic_sum steps = sum_steps<SHAPE>(p, d, &cell);
        sum += (steps.light * p.term + p.background) * weight;
        most += steps.most * p.term * weight;
    }
    *in_doubt = most > NB_CUBIC_DOUBT * sum;
    return sum;
}

template <int SHAPE>
static __device__ __forceinline__ double sum_rays_exactly(const tensor_job &p,
                                                          const tensor_job &at, int rays,
                                                          int f, int s, int lane)
{
    double sum = 0;
    for (int ray = 0; ray < rays; ray++) {
        float weight;
        const nb_vec3 d = aim(at, ray, f, s, &weight);
        sum += (sum_exactly<SHAPE>(p, d, lane) * p.term + p.background) * weight;
    }
    return sum;
}

static __device__ __forceinline__ void put_pixel(const tensor_job &p, const tensor_job &at,
                                                 int f, int s, double sum)
{
    nb_panel flat = at.panel;
    flat.curved = 0;
    float value = (float)(p.scene.intensity_scale * sum *
                          nb_cached_factors(&p.scene, &flat, &at.sensor, f, s));
    at.image[(size_t)s * at.panel.columns + f] = value;
    if (!(fabsf(value) <= FLT_MAX))
        *p.repair = 1;
}

/** One thread a pixel, a warp for 8 x 4 of them and for each of these that is in doubt. */
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
    bool mine =
        f < at.window.f1 && s < at.window.s1 &&
        !(at.scene.raster.mask && !at.scene.raster.mask[(size_t)s * at.panel.columns + f]);
    bool in_doubt = false;
    double sum = mine ? sum_rays<SHAPE>(p, at, rays, f, s, &in_doubt) : 0;
    for (unsigned left = gpuBallot(in_doubt); left; left &= left - 1) {
        const int owner = __ffs((int)left) - 1;
        const double exact = sum_rays_exactly<SHAPE>(
            p, at, rays, gpuShuffle(f, owner, 32), gpuShuffle(s, owner, 32), lane);
        sum = lane == owner ? exact : sum;
    }
    if (mine)
        put_pixel(p, at, f, s, sum);
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
                             float *rows, float *scales)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    double c[4];
    if (i >= n)
        return;
    nb_cubic_row(&table, i, c);
    for (int power = 0; power < 4; power++)
        rows[4 * i + power] = (float)c[power];
    scales[i] = (float)nb_cubic_scale(&table, i);
}

void nb_cuda_launch_cubic_rows(const nb_cubic_table *table, float *rows, float *scales,
                               gpuStream_t stream)
{
    const int64_t n = (int64_t)nb_cubic_rows(table);
    if (n > 0)
        k_cubic_rows<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(*table, n, rows,
                                                                      scales);
}
