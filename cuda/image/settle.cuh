/* SPDX-License-Identifier: MIT */
/** Pixels whose noise is in doubt: their value in double, and what is drawn of that; as redraw in
 * src/image/noise.c and stages.c. */
#ifndef NB_CUDA_SETTLE_CUH
#define NB_CUDA_SETTLE_CUH

#include "image.h"

#include "../../src/image/mix.h"
#include "../../src/image/poisson.h"
#include "../steps/warp_pixel.cuh"

/** DRAW has the image, the mask (or NULL), doubts (a bit for each pixel of the stack), and
 * redraw(pixel, mean, exact), which one lane calls. */
template <class DRAW> struct settle_job {
    nb_scene scene; /* arrays are device addresses */
    nb_panel panel;
    nb_sensor sensor;
    nb_mix mix; /* arrays are device addresses */
    DRAW draw;
    int64_t first, end; /* words of draw.doubts */
};

/** Photons of the materials in a pixel of the panel; a call, for their registers. */
template <class JOB>
static __device__ gpuCall double background_at(const JOB &p, int64_t at)
{
    return nb_pixel_background(&p.scene, p.scene.amorphous, &p.panel, &p.sensor,
                               (int)(at % p.panel.columns), (int)(at / p.panel.columns));
}

/** One warp a pixel. */
template <class DRAW>
__global__ void __launch_bounds__(128, 3)
    k_settle(const NB_GRID_CONSTANT settle_job<DRAW> p)
{
    int lane = (int)threadIdx.x;
    for (int64_t i = p.first + blockIdx.x * 4 + threadIdx.y; i < p.end; i += gridDim.x * 4)
        for (unsigned doubts = p.draw.doubts[i]; doubts; doubts &= doubts - 1) {
            int64_t pixel = i * 32 + __ffs((int)doubts) - 1;
            int64_t at = pixel - (int64_t)p.panel.first_pixel;
            if (at < 0 || at >= (int64_t)p.panel.columns * p.panel.rows ||
                (p.draw.mask && !p.draw.mask[pixel]))
                continue;
            double value =
                warp_pixel(&p.scene, &p.panel, &p.sensor, (int)(at % p.panel.columns),
                           (int)(at / p.panel.columns), lane);
            if (p.scene.amorphous)
                value += background_at(p, at);
            if (p.mix.light || p.mix.transmission || p.mix.add)
                value = nb_mix_pixel(&p.mix, (size_t)pixel, value);
            float mean = p.draw.image[pixel], exact = (float)value;
            if (lane == 0 && exact != mean &&
                nb_noise_same(mean, exact, nb_mix_growth(&p.mix, (size_t)pixel, mean)))
                p.draw.redraw(pixel, mean, exact);
        }
}

/** Settle the pixels of a panel.  Launches short enough for a display's watchdog: at most a tenth of
 * the pixels is in doubt. */
template <class DRAW>
static void settle_panel(const nb_scene *sc, const nb_panel &panel, const nb_mix &mix,
                         const DRAW &draw, gpuStream_t stream)
{
    const double steps_of_a_launch = 2e10;
    const nb_sensor &sensor = sc->sensors[panel.sensor];
    int64_t pixels = (int64_t)panel.columns * panel.rows;
    int64_t first = (int64_t)panel.first_pixel / 32;
    int64_t words = ((int64_t)panel.first_pixel + pixels + 31) / 32 - first, i;
    double steps = (double)pixels * sc->samples * sensor.layers;
    int64_t pieces = (int64_t)fmin(ceil(steps / steps_of_a_launch), 4096.0);
    for (i = 0; i < pieces; i++) {
        settle_job<DRAW> part = {*sc,
                                 panel,
                                 sensor,
                                 mix,
                                 draw,
                                 first + words * i / pieces,
                                 first + words * (i + 1) / pieces};
        int64_t wanted = (part.end - part.first + 3) / 4;
        if (wanted > 0)
            k_settle<DRAW>
                <<<(unsigned)(wanted < 4096 ? wanted : 4096), dim3(32, 4), 0, stream>>>(
                    part);
    }
}

/** Pixels that the host has settled. */
template <class DRAW>
__global__ void __launch_bounds__(128)
    k_settle_listed(const NB_GRID_CONSTANT DRAW draw, const nb_doubt *list, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
    if (i < n && list[i].exact != list[i].mean)
        draw.redraw(list[i].pixel, list[i].mean, list[i].exact);
}

/** All panels, if there are doubts at all. */
template <class DRAW>
static void settle(const nb_scene *sc, const nb_mix &mix, const DRAW &draw,
                   nb_cuda_settling *by)
{
    const nb_doubt *list;
    gpuStream_t stream = by->state->stream;
    int64_t n;
    if (!draw.doubts)
        return;
    for (int k = 0; k < sc->n_panels && !by->by_host; k++)
        settle_panel(sc, sc->panels[k], mix, draw, stream);
    if (by->by_host && (list = nb_cuda_settle_by_host(by, draw.image, draw.doubts, &n)))
        k_settle_listed<DRAW>
            <<<(unsigned)((n + 127) / 128), 128, 0, stream>>>(draw, list, n);
}

#endif
