/* SPDX-License-Identifier: MIT */
/** A few consecutive pixels of a plain job (slope_plain.h) for one thread, so that data
 * that they share are read once. */
#ifndef NB_CUDA_SLOPE_BATCH_CUH
#define NB_CUDA_SLOPE_BATCH_CUH

#include "../backend/constants.cuh"
#include "slope_place.cuh"

/** Pixels i .. i + PIXELS - 1, counted over all spans. */
template <int PIXELS> struct batch {
    nb_plain_pixel of[PIXELS];
    int panel[PIXELS];
    size_t at[PIXELS]; /* indices in the stack */
    int64_t i;
};

/** Data from which all pixels of a job are made. */
typedef struct plain_source {
    nb_plain_frame frame;
    /* first panel; used if it is the only one, as a kernel reads its arguments quickly */
    nb_plain_panel first;
    const nb_plain_panel *panels;
    int n_panels;
} plain_source;

static inline plain_source plain_source_of(const nb_cuda_plain *plain)
{
    plain_source from = {plain->frame, plain->first, plain->rows.panels, plain->n_panels};
    return from;
}

/** f(shape, table, level, one) for a case, as constants. shape: 2 Gaussians, 1 any N
 * (nb_term_case.general), 0 whole N. */
template <class F> static auto with_plain_case(const nb_term_case *how, F f)
{
    return with_constants(
        f, one_of<0, 1, 2>{how->gauss ? 2 : how->general}, one_of<0, 1>{how->table},
        one_of<NB_TERMS_CRYSTAL, NB_TERMS_ALL>{how->level}, one_of<0, 1>{how->one});
}

/** A pixel, and the state that is needed to go to the next pixel. */
typedef struct cursor {
    nb_strip row;
    double column; /* number of the column, plus 0.5 */
    size_t at;     /* index in the stack */
    int span, panel;
    int left; /* number of remaining pixels of the span, including this one */
} cursor;

/** The cursor at pixel number i, which must exist. */
static __device__ __forceinline__ cursor cursor_of(const nb_cuda_slope_job &all,
                                                   const plain_source &from, int64_t i)
{
    cursor c;
    c.span = span_of(all.pixels, i);
    const nb_span span = all.pixels.spans[c.span];
    const int offset = (int)(i - all.pixels.before[c.span]);
    if (from.n_panels == 1)
        c.row = nb_strip_of(&from.first, span.slow);
    else
        c.row = nb_strip_of(&from.panels[span.panel], span.slow);
    c.panel = span.panel;
    c.column = span.fast + offset + 0.5;
    c.at = span.at + (size_t)offset;
    c.left = span.n - offset;
    return c;
}

/** Go to the next pixel; the cursor stops after the last pixel. */
static __device__ __forceinline__ void advance(const nb_cuda_slope_job &all,
                                               const plain_source &from, cursor &c)
{
    c.column += 1;
    c.at++;
    if (--c.left > 0 || c.span + 1 >= all.pixels.n)
        return;
    const nb_span span = all.pixels.spans[++c.span];
    c.row = nb_strip_of(&from.panels[span.panel], span.slow);
    c.panel = span.panel;
    c.column = span.fast + 0.5;
    c.at = span.at;
    c.left = span.n;
}

template <int PIXELS>
static __device__ __forceinline__ void fill(const nb_cuda_slope_job &all,
                                            const plain_source &from, batch<PIXELS> &b,
                                            const nb_term_case how)
{
    cursor c = cursor_of(all, from, b.i);
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        nb_plain_pixel_of(&all.tables, &from.frame, &c.row, c.column, &b.of[j], how);
        b.panel[j] = c.panel;
        b.at[j] = c.at;
        if (j + 1 < PIXELS)
            advance(all, from, c);
    }
}

#endif
