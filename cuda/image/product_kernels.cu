/* SPDX-License-Identifier: MIT */
/* Products of the image on the device: noise, integers, greys, and the sums of rows.
 * Operations and the order of sums are as in src/image, so that the bits are the same as
 * on the CPU. Products and sums must not be contracted to fma (nvcc -fmad=false). */
#include "image.h"

#include <math.h>

#include "../../src/image/adu.h"
#include "../../src/image/poisson.h"

enum { BLOCK = 256, LANES = 8, ROWS = 16 /* ROWS: rows of sums in a block */ };

typedef struct product_job {
    const float *image;
    const uint8_t *mask; /* mask, or NULL */
    nb_cuda_window roi;
    int64_t pixels;
    int columns;
    double scale, adc_offset;
    nb_stage stage;
    void *out;
    unsigned long long *overloads;
} product_job;

template <nb_pixel_type TYPE> struct product_type;
template <> struct product_type<NB_PIXEL_U8> {
    typedef uint8_t type;
};
template <> struct product_type<NB_PIXEL_U16> {
    typedef uint16_t type;
};
template <> struct product_type<NB_PIXEL_I32> {
    typedef int32_t type;
};

static __device__ double photons_of(const product_job &p, int64_t pixel, float mean)
{
    nb_poisson_key key = {(uint64_t)p.stage.seed, (uint64_t)pixel, p.stage.frame};
    return nb_poisson(mean, &key);
}

/** A count as an integer; *overload as in nb_noise_adu. */
[[maybe_unused]] static __device__ uint16_t digitize(const product_job &p, double photons,
                                                     int *overload, uint16_t)
{
    return nb_noise_adu(photons, p.adc_offset, overload);
}

[[maybe_unused]] static __device__ int32_t digitize(const product_job &, double photons,
                                                    int *overload, int32_t)
{
    *overload = nb_large_clips(photons);
    return nb_large_count(photons);
}

/** Expected photons as an integer. *overload: 1 if a lit pixel is too bright. */
static __device__ uint16_t quantize(const product_job &p, float value, int lit,
                                    int *overload, uint16_t)
{
    *overload = lit && nb_int_clips(value, p.scale, p.adc_offset);
    return nb_int_adu(value, p.scale, p.adc_offset);
}

static __device__ int32_t quantize(const product_job &p, float value, int, int *overload,
                                   int32_t)
{
    uint16_t adu = nb_int_adu(value, p.scale, 0);
    double count = floor(value * p.scale + 0.5);
    *overload = adu == 65535 && nb_large_clips(count);
    return adu < 65535 ? adu : nb_large_count(count);
}

static __device__ uint8_t quantize(const product_job &p, float value, int, int *, uint8_t)
{
    return nb_pgm_grey(value, p.scale);
}

/** Value of one pixel of the region. */
template <nb_pixel_type TYPE, bool COUNTED>
static __device__ typename product_type<TYPE>::type product_pixel(const product_job &p,
                                                                  int64_t pixel,
                                                                  int *overload)
{
    typedef typename product_type<TYPE>::type pixel_type;
    int lit = !p.mask || p.mask[pixel];
    float value = lit ? p.image[pixel] : 0.0f;
    if constexpr (COUNTED)
        return digitize(p, photons_of(p, pixel, p.image[pixel]), overload, pixel_type());
    else
        return quantize(p, value, lit, overload, pixel_type());
}

template <nb_pixel_type TYPE, bool COUNTED>
__global__ void __launch_bounds__(BLOCK) k_product(const NB_GRID_CONSTANT product_job p)
{
    typedef typename product_type<TYPE>::type pixel_type;
    pixel_type *out = (pixel_type *)p.out;
    int64_t pixel = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int s = (int)(pixel / p.columns), f = (int)(pixel % p.columns), overload = 0;
    if (pixel < p.pixels) {
        int lit = f >= p.roi.f0 && f < p.roi.f1 && s >= p.roi.s0 && s < p.roi.s1;
        out[pixel] =
            lit ? product_pixel<TYPE, COUNTED>(p, pixel, &overload) : (pixel_type)0;
    }
    if (TYPE != NB_PIXEL_U8) {
        overload = __syncthreads_count(overload);
        if (threadIdx.x == 0 && overload)
            atomicAdd(p.overloads, (unsigned long long)overload);
    }
}

template <nb_pixel_type TYPE, bool COUNTED>
static void make(const product_job &job, cudaStream_t stream)
{
    unsigned blocks = (unsigned)((job.pixels + BLOCK - 1) / BLOCK);
    k_product<TYPE, COUNTED><<<blocks, BLOCK, 0, stream>>>(job);
}

void nb_cuda_launch_product(const nb_scene *sc, const float *image,
                            const nb_product *product, void *out,
                            unsigned long long *overloads, cudaStream_t stream)
{
    const nb_raster *raster = &sc->raster;
    product_job job = {
        image,
        raster->mask,
        {raster->roi.fmin, raster->roi.fmax + 1, raster->roi.smin, raster->roi.smax + 1},
        (int64_t)raster->columns * raster->rows,
        raster->columns,
        product->scale,
        product->adc_offset,
        product->stage,
        out,
        overloads};
    if (product->stages && product->type == NB_PIXEL_U16)
        make<NB_PIXEL_U16, true>(job, stream);
    else if (product->stages)
        make<NB_PIXEL_I32, true>(job, stream);
    else if (product->type == NB_PIXEL_U16)
        make<NB_PIXEL_U16, false>(job, stream);
    else if (product->type == NB_PIXEL_I32)
        make<NB_PIXEL_I32, false>(job, stream);
    else
        make<NB_PIXEL_U8, false>(job, stream);
}

/* --- sums of rows: eight threads are the eight lanes of nb_row_sums --- */

typedef struct sums_job {
    const float *image; /* image and mask begin at the first pixel of the region */
    const uint8_t *mask;
    size_t stride;
    int columns, rows;
    nb_row_sums *out;
} sums_job;

/** Sum of v over the lanes, in the order of lanes from 0 on; all lanes get the sum. */
static __device__ double add_lanes(double v)
{
    double sum = 0;
    for (int i = 0; i < LANES; i++)
        sum += gpuShuffle(v, i, LANES);
    return sum;
}

/** nb_row_squares, by the lanes of a row. */
static __device__ double squares_of(const sums_job &p, const float *row, int lane,
                                    double mean)
{
    double square = 0, off = 0;
#pragma unroll 8
    for (int f = lane; f < p.columns; f += LANES) {
        double d = row[f] - mean;
        off += d;
        square += d * d;
    }
    off = add_lanes(off);
    return add_lanes(square) - off * off / p.columns;
}

/** Set all lanes to the largest maximum and its column; of equal maxima the leftmost. */
static __device__ void first_max(double *max, int *at)
{
    for (int apart = LANES / 2; apart > 0; apart /= 2) {
        double other = gpuShuffleXor(*max, apart, LANES);
        int there = gpuShuffleXor(*at, apart, LANES);
        if (other > *max || (other == *max && there < *at)) {
            *max = other;
            *at = there;
        }
    }
}

template <bool MASKED>
__global__ void __launch_bounds__(LANES *ROWS) k_sums(const NB_GRID_CONSTANT sums_job p)
{
    int lane = (int)threadIdx.x % LANES,
        s = (int)(blockIdx.x * ROWS + threadIdx.x / LANES);
    /* no lane may end here, because all must take part in the exchanges */
    int row_at = min(s, p.rows - 1);
    const float *row = p.image + row_at * p.stride;
    const uint8_t *mask = MASKED ? p.mask + row_at * p.stride : NULL;
    nb_row_sums sums = {};
    int at = p.columns;
    double rendered = 0;
    sums.max = -INFINITY;
#pragma unroll 8
    for (int f = lane; f < p.columns; f += LANES) {
        int lit = !MASKED || mask[f];
        double x = row[f], y = lit ? x : 0;
        sums.all += x;
        sums.sum += y;
        sums.sum2 += y * y;
        rendered += lit;
        if (lit && x > sums.max) {
            sums.max = x;
            at = f;
        }
    }
    first_max(&sums.max, &at);
    sums.max_at = at;
    sums.all = add_lanes(sums.all);
    sums.sum = add_lanes(sums.sum);
    sums.sum2 = add_lanes(sums.sum2);
    sums.rendered = (int64_t)add_lanes(rendered);
    sums.squares = squares_of(p, row, lane, sums.all / p.columns);
    if (lane == 0 && s < p.rows)
        p.out[s] = sums;
}

void nb_cuda_launch_sums(const nb_scene *sc, const float *image, nb_row_sums *out,
                         cudaStream_t stream)
{
    const nb_raster *raster = &sc->raster;
    size_t first = (size_t)raster->roi.smin * raster->columns + raster->roi.fmin;
    sums_job job = {image + first,
                    raster->mask ? raster->mask + first : NULL,
                    (size_t)raster->columns,
                    raster->roi.fmax - raster->roi.fmin + 1,
                    raster->roi.smax - raster->roi.smin + 1,
                    out};
    (job.mask
         ? k_sums<true>
         : k_sums<false>)<<<(unsigned)(job.rows + ROWS - 1) / ROWS, LANES * ROWS, 0, stream>>>(
        job);
}
