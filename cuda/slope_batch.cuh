/* SPDX-License-Identifier: MIT */
/** A few pixels side by side of a plain job (slope_plain.h) by one thread: what they share is read once. */
#ifndef NB_CUDA_SLOPE_BATCH_CUH
#define NB_CUDA_SLOPE_BATCH_CUH

#include "slope_place.cuh"

#include "depth.cuh"

/** A row of a panel's pixels. */
typedef struct strip {
    const nb_span *span;
    nb_vec3 start, fast; /* of its points: start + F fast */
    double pixel, S;
    nb_plain_panel panel;
} strip;

static __device__ __forceinline__ strip strip_of(const nb_cuda_slope_job &all, int k)
{
    const nb_span *span = &all.pixels.spans[k];
    const nb_panel *panel = &all.panels[span->panel];
    const double S = panel->pixel_slow * (span->slow + 0.5);
    return {span,
            {fma(S, panel->slow.x, panel->pix0.x), fma(S, panel->slow.y, panel->pix0.y),
             fma(S, panel->slow.z, panel->pix0.z)},
            panel->fast,
            panel->pixel_fast,
            S,
            nb_plain_panel_of(panel)};
}

/** Direction and distance of a point. */
static __device__ __forceinline__ double aim(const strip &row, double F, nb_vec3 *d)
{
    const nb_vec3 P = {fma(F, row.fast.x, row.start.x), fma(F, row.fast.y, row.start.y),
                       fma(F, row.fast.z, row.start.z)};
    const double r = inverse_root(fma(P.x, P.x, fma(P.y, P.y, P.z * P.z)));
    d->x = P.x * r;
    d->y = P.y * r;
    d->z = P.z * r;
    return r;
}

/** PIXELS pixels from number i on. */
template <int PIXELS> struct batch {
    nb_plain_pixel of[PIXELS];
    int panel[PIXELS];
    size_t at[PIXELS]; /* in the stack */
    int64_t i;
};

template <int PIXELS>
static __device__ __forceinline__ void fill(const nb_cuda_slope_job &all,
                                            const nb_plain_frame &frame, batch<PIXELS> &b,
                                            const nb_term_case how)
{
    int64_t i = b.i;
    int k = span_of(all.pixels, i);
    int64_t next = all.pixels.before[k + 1];
    strip row = strip_of(all, k);
    int f = row.span->fast + (int)(i - all.pixels.before[k]);
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        const double F = row.pixel * (f + 0.5);
        nb_term_run run;
        nb_vec3 d;
        const double r = aim(row, F, &d);
        const nb_plain_factor factor = nb_plain_factor_of(&frame, &row.panel, d, r);
        memset(&run, 0, sizeof run);
        nb_plain_sums(&all.tables, d, &factor, &run, how);
        nb_plain_finish(&frame, &row.panel, d, r, &factor, &run, &b.of[j], how);
        b.of[j].F = F;
        b.of[j].S = row.S;
        b.panel[j] = row.span->panel;
        b.at[j] = row.span->at + (size_t)(f - row.span->fast);
        f++;
        if (++i >= next && i < all.end) {
            row = strip_of(all, ++k);
            next = all.pixels.before[k + 1];
            f = row.span->fast;
        }
    }
}

#endif
