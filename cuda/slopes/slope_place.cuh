/* SPDX-License-Identifier: MIT */
/** Find the pixel with a number, counted over a request's spans, and store its planes. */
#ifndef NB_CUDA_SLOPE_PLACE_CUH
#define NB_CUDA_SLOPE_PLACE_CUH

#include "slope_terms.h"
#include "slopes.h"

/** Index of the span that contains pixel number i. */
static __device__ __forceinline__ int span_of(const nb_cuda_pixels &pixels, int64_t i)
{
    int low = 0, high = pixels.n - 1;
    if (pixels.width)
        return (int)((uint32_t)i / (uint32_t)pixels.width);
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (pixels.before[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static __device__ __forceinline__ nb_pixel_place place_of(const nb_cuda_slope_job &p,
                                                          int64_t i)
{
    int k = span_of(p.pixels, i);
    const nb_span *span = &p.pixels.spans[k];
    nb_pixel_place place;
    place.panel = &p.panels[span->panel];
    place.sensor = &p.sensors[place.panel->sensor];
    place.f = span->fast + (int)(i - p.pixels.before[k]);
    place.s = span->slow;
    place.moves = p.moves;
    return place;
}

/** Contract the totals of pixel number i for each plane, and store the results. */
static __device__ __noinline__ void store_planes(const nb_cuda_slope_job &p, int64_t i,
                                                 const nb_pixel_place &place,
                                                 const nb_pixel_totals &t)
{
    const int row = (int)(place.panel - p.panels) * p.planes;
    const int64_t at = i - p.origin;
    for (int k = 0; k < p.planes; k++) {
        double value = nb_contract(p.first, p.terms, row + k, &t);
        if (p.single)
            p.single[k * p.stride + at] = (float)value;
        else
            p.out[k * p.stride + at] = value;
    }
}

#endif
