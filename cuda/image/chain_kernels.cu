/* SPDX-License-Identifier: MIT */
/* The stages of the noise on the device. Operations and the order of sums are as in
 * src/image, so that the bits are the same as on the CPU. Products and sums must not be
 * contracted to fma (nvcc -fmad=false). */
#include "image.h"

#include "../../src/image/stages.h"

enum { BLOCK = 256 };

static __device__ const nb_cuda_chain_panel &panel_of(const nb_cuda_chain &p,
                                                      int64_t pixel)
{
    const int low =
        nb_cuda_last(p.n_panels, [&](int i) { return p.panels[i].first <= pixel; });
    return p.panels[low];
}

static __device__ bool is_lit(const nb_cuda_chain_panel &panel, int64_t pixel)
{
    int64_t at = pixel - panel.first;
    int f = (int)(at % panel.columns), s = (int)(at / panel.columns);
    return f >= panel.lit.f0 && f < panel.lit.f1 && s >= panel.lit.s0 && s < panel.lit.s1;
}

static __device__ bool is_masked(const nb_cuda_chain &p, int64_t pixel)
{
    return p.mask && !p.mask[pixel];
}

/** Apply stages[from ... to-1] to v. */
static __device__ double staged(const nb_cuda_chain &p, const nb_cuda_chain_panel &panel,
                                int from, int to, int64_t pixel, double v)
{
    for (int i = from; i < to; i++) {
        const nb_stage &stage = p.stages[i];
        const nb_poisson_key key = {(uint64_t)stage.seed, (uint64_t)pixel, stage.frame};
        double g = 0;
        switch (stage.kind) {
        case NB_STAGE_FLICKER:
        case NB_STAGE_DEADTIME:
            v = nb_mean_behind(&stage, 1, v);
            break;
        case NB_STAGE_POISSON:
            v = nb_poisson(v, &key);
            break;
        case NB_STAGE_CALIBRATION:
        case NB_STAGE_READOUT:
            g = nb_normal(&key, stage.kind == NB_STAGE_READOUT ? NB_STREAM_READOUT
                                                               : NB_STREAM_CALIBRATION);
            v = stage.kind == NB_STAGE_READOUT ? v + stage.amount * g
                                               : nb_calibrated(v, stage.amount, g);
            break;
        case NB_STAGE_GAINMAP:
            v = v * stage.map[pixel];
            break;
        case NB_STAGE_GAIN:
            v = panel.gain * v + p.adc_offset;
            break;
        default:
            break;
        }
    }
    return v;
}

/** ADU before rounding, from v: the photons, or the light after the spread. */
static __device__ double adu_of(const nb_cuda_chain &p, const nb_cuda_chain_panel &panel,
                                int64_t pixel, double v)
{
    bool has_gain = false;
    for (int i = 0; i < p.n; i++)
        has_gain |= p.stages[i].kind == NB_STAGE_GAIN;
    if (p.n == 0)
        v = v * p.scale;
    v = staged(p, panel, p.spread + 1, p.n, pixel, v);
    return has_gain ? v : v + p.adc_offset;
}

template <nb_pixel_type TYPE> struct chain_type;
template <> struct chain_type<NB_PIXEL_F32> {
    typedef float type;
};
template <> struct chain_type<NB_PIXEL_U16> {
    typedef uint16_t type;
};
template <> struct chain_type<NB_PIXEL_I16> {
    typedef int16_t type;
};
template <> struct chain_type<NB_PIXEL_I32> {
    typedef int32_t type;
};

/** The pixel in the file's type, from v: its photons or light. *over: 1 if the pixel is
 * too bright. */
template <nb_pixel_type TYPE>
static __device__ typename chain_type<TYPE>::type finished(const nb_cuda_chain &p,
                                                           int64_t pixel, double v,
                                                           int *over)
{
    typedef typename chain_type<TYPE>::type pixel_type;
    const nb_cuda_chain_panel &panel = panel_of(p, pixel);
    const bool lit = is_lit(panel, pixel), masked = is_masked(p, pixel);
    double x = lit && !masked ? adu_of(p, panel, pixel, v) : 0;
    if constexpr (TYPE == NB_PIXEL_F32) {
        *over = 0;
        return (float)x;
    } else {
        nb_adu_range held = p.held;
        if (panel.trusted > 0)
            held.max = fmin(held.max, panel.trusted);
        if (lit && masked)
            x = fmin(p.adc_offset, held.max);
        int32_t whole = nb_whole_adu(x, held);
        *over = whole > held.max;
        return (pixel_type)whole;
    }
}

static __device__ double photons_at(const nb_cuda_chain &p, int64_t pixel)
{
    return is_masked(p, pixel) ? 0 : p.image[pixel];
}

template <nb_pixel_type TYPE>
__global__ void __launch_bounds__(BLOCK) k_chain(const NB_GRID_CONSTANT nb_cuda_chain p)
{
    int64_t pixel = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    int over = 0;
    if (pixel < p.pixels) {
        double v = p.spread >= 0 ? p.light[pixel] : photons_at(p, pixel);
        ((typename chain_type<TYPE>::type *)p.out)[pixel] =
            finished<TYPE>(p, pixel, v, &over);
    }
    over = __syncthreads_count(over);
    if (threadIdx.x == 0 && over)
        atomicAdd(p.overloads, (unsigned long long)over);
}

/** The count of a pixel before the spread; mean: its photons. */
static __device__ double count_at(const nb_cuda_chain &p, int64_t pixel, double mean)
{
    const nb_cuda_chain_panel &panel = panel_of(p, pixel);
    return is_lit(panel, pixel) ? staged(p, panel, 0, p.spread, pixel, mean) : 0;
}

__global__ void __launch_bounds__(BLOCK)
    k_chain_counts(const NB_GRID_CONSTANT nb_cuda_chain p)
{
    int64_t pixel = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (pixel < p.pixels)
        p.light[pixel] = count_at(p, pixel, photons_at(p, pixel));
}

static unsigned blocks_of(const nb_cuda_chain *chain)
{
    return (unsigned)((chain->pixels + BLOCK - 1) / BLOCK);
}

template <nb_pixel_type TYPE>
static void launch(const nb_cuda_chain *chain, cudaStream_t stream)
{
    k_chain<TYPE><<<blocks_of(chain), BLOCK, 0, stream>>>(*chain);
}

void nb_cuda_launch_chain(nb_pixel_type type, const nb_cuda_chain *chain,
                          cudaStream_t stream)
{
    if (type == NB_PIXEL_F32)
        launch<NB_PIXEL_F32>(chain, stream);
    else if (type == NB_PIXEL_U16)
        launch<NB_PIXEL_U16>(chain, stream);
    else if (type == NB_PIXEL_I16)
        launch<NB_PIXEL_I16>(chain, stream);
    else
        launch<NB_PIXEL_I32>(chain, stream);
}

void nb_cuda_launch_counts(const nb_cuda_chain *chain, cudaStream_t stream)
{
    k_chain_counts<<<blocks_of(chain), BLOCK, 0, stream>>>(*chain);
}

/* --- the Gaussian --- */

/** Weighted sum around pixel `at` of a line of n pixels, which are `stride` apart; from
 * large to small pixel numbers, as in src/image/light.c. */
static __device__ double gauss_sum(const double *line, int64_t stride, int n, int at,
                                   int reach, const double *weight)
{
    int least = at - reach > 0 ? at - reach : 0;
    double sum = 0;
    for (int r = at + reach < n ? at + reach : n - 1; r >= least; r--)
        sum += weight[at - r] * line[r * stride];
    return sum;
}

/** Spread the image `in` along slow or along fast, and write the result to `out`. */
template <bool SLOW>
__global__ void __launch_bounds__(BLOCK)
    k_gauss(const NB_GRID_CONSTANT nb_cuda_chain p, const double *in, double *out)
{
    int64_t pixel = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (pixel >= p.pixels)
        return;
    const nb_cuda_chain_panel &panel = panel_of(p, pixel);
    int64_t at = pixel - panel.first;
    int f = (int)(at % panel.columns), s = (int)(at / panel.columns);
    const double *first = in + panel.first, *weight = p.weights + panel.weights[SLOW];
    out[pixel] =
        SLOW ? gauss_sum(first + f, panel.columns, panel.rows, s, panel.reach[1], weight)
             : gauss_sum(first + (int64_t)s * panel.columns, 1, panel.columns, f,
                         panel.reach[0], weight);
}

void nb_cuda_launch_gauss(const nb_cuda_chain *chain, double *between, cudaStream_t stream)
{
    k_gauss<false><<<blocks_of(chain), BLOCK, 0, stream>>>(*chain, chain->light, between);
    k_gauss<true><<<blocks_of(chain), BLOCK, 0, stream>>>(*chain, between, chain->light);
}
