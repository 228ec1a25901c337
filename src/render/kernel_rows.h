/* SPDX-License-Identifier: MIT */
/** The pixel sum of src/physics/pixel.h, one row of the image at a time, for the
 * instruction set that this file is compiled for. Defines the nb_row_kernel of that
 * set. */
#ifndef NB_RENDER_KERNEL_ROWS_H
#define NB_RENDER_KERNEL_ROWS_H

#include "../physics/pixel.h"
#include "simd.h"
#include "kernel_double.h"
#include "kernel_fixed.h"
#include "kernel_simple.h"

#define NB_PASTE2(a, b) a##b
#define NB_PASTE(a, b) NB_PASTE2(a, b)
#define NB_ROW_KERNEL NB_PASTE(nb_row_, NB_KERNEL_ISA)

/* A block is NB_W pixels of a row. Several blocks go through each stage (rays, crystal,
 * factors) together, so that their chains of dependent operations overlap and a stage
 * keeps its constants in registers. */
enum { CHUNK = 256 / NB_W, SIMPLE_CHUNK = 512 / NB_W, MAX_LINES = 64 };

/** Weight of one source, times its polarization if each term has one. */
NB_INLINE vd2 source_factor(const nb_vector_plan *p, const nb_vector_source *b,
                            const rays *r)
{
    const nb_scene *sc = &p->scene;
    if (!sc->oversample_polar || sc->beam.nopolar)
        return vd2_set(b->weight);
    return vd2_scale(polarization(sc->beam.polarization, b, r), b->weight);
}

/** The factor, or 0 in lanes where dmin removes the crystal's scattering. */
NB_INLINE vd2 unculled(const nb_vector_plan *p, const nb_vector_source *b, const rays *r,
                       vd2 factor)
{
    double dmin = p->scene.factors.dmin;
    q_vectors q;
    if (!(dmin > 0))
        return factor;
    q = scattering_vector(b, r);
    return (vd2){(vd)(~culled(dmin, q.x.a, q.y.a, q.z.a) & (vl)factor.a),
                 (vd)(~culled(dmin, q.x.b, q.y.b, q.z.b) & (vl)factor.b)};
}

/* One function for each case: the code that gcc makes of a single function for all cases
 * is far slower. */
#define NB_DO(kind, mode)                                                                \
    NB_STAGE vd2 structured_##kind##_##mode(const nb_vector_plan *p, const rays *r,      \
                                            const vf *factors)                           \
    {                                                                                    \
        return fixed_structured(p, r, factors, (fixed_case){kind, mode});                \
    }                                                                                    \
    NB_STAGE void direct_##kind##_##mode(const nb_vector_plan *p, const rays *r, int n,  \
                                         const nb_vector_source *b, vd2 *sum)            \
    {                                                                                    \
        fixed_direct(p, r, n, b, (fixed_case){kind, mode}, sum);                         \
    }
NB_FIXED_CASES_OF_SOURCES(NB_DO)
#undef NB_DO

/** Sum over all sources. factors: factor of each source, or NULL. */
NB_INLINE vd2 fixed_all_sources(const nb_vector_plan *p, const rays *r, const vf *factors)
{
    const vd2 none = vd2_set(0);
    switch (NB_CASE_NUMBER(p->table.kind, p->mode)) {
#define NB_DO(kind, mode)                                                                \
    case NB_CASE_NUMBER(kind, mode):                                                     \
        return structured_##kind##_##mode(p, r, factors);
        NB_FIXED_CASES_OF_SOURCES(NB_DO)
#undef NB_DO
    default:
        return none;
    }
}

NB_INLINE void fixed_one_source(const nb_vector_plan *p, const rays *r, int n,
                                const nb_vector_source *b, vd2 *sum)
{
    switch (NB_CASE_NUMBER(p->table.kind, p->mode)) {
#define NB_DO(kind, mode)                                                                \
    case NB_CASE_NUMBER(kind, mode):                                                     \
        direct_##kind##_##mode(p, r, n, b, sum);                                         \
        break;
        NB_FIXED_CASES_OF_SOURCES(NB_DO)
#undef NB_DO
    default:
        memset(sum, 0, (size_t)n * sizeof *sum);
    }
}

NB_STAGE void simple_first(const nb_vector_plan *p, const simple_row *row, const int *f0,
                           int n, simple_block *to)
{
    simple_geometry(p, row, f0, n, to);
}

NB_STAGE void simple_second(const nb_vector_plan *p, const simple_block *from,
                            const int *f0, int n, const row_output *out)
{
    switch (NB_CASE_NUMBER(p->table.kind, p->mode)) {
#define NB_DO(kind, mode)                                                                \
    case NB_CASE_NUMBER(kind, mode):                                                     \
        simple_photons(p, from, f0, n, (fixed_case){kind, mode}, out);                   \
        break;
        NB_FIXED_CASES(NB_DO)
#undef NB_DO
    }
}

static void simple_intensity(const nb_vector_plan *p, const int *f0, int n,
                             const simple_row *row, const row_output *out)
{
    simple_block blocks[SIMPLE_CHUNK];
    simple_first(p, row, f0, n, blocks);
    simple_second(p, blocks, f0, n, out);
}

/** Sum over orientations for NB_H pixels, half a block. */
NB_STAGE vd double_half(const nb_scene *sc, const double *table, vd x, vd y, vd z)
{
    const vd q[3] = {x, y, z};
    switch (sc->lattice.shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return double_sum(sc, table, q, number);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return vd_set(0);
    }
}

static vd2 double_one_source(const nb_vector_plan *p, const rays *r,
                             const nb_vector_source *b)
{
    const q_vectors q = scattering_vector(b, r);
    return (vd2){double_half(&p->scene, b->F, q.x.a, q.y.a, q.z.a),
                 double_half(&p->scene, b->F, q.x.b, q.y.b, q.z.b)};
}

/** Sum the crystal's terms of one source after the other. */
NB_STAGE void source_by_source(const nb_vector_plan *p, const rays *r, int n, vd2 *sum)
{
    const nb_scene *sc = &p->scene;
    const int fixed = p->fixed;
    const double unit = fixed ? p->table.unit : 1.0;
    vd2 crystal[CHUNK];
    int s, i;
    for (i = 0; i < n; i++)
        sum[i] = vd2_set(0);
    for (s = 0; s < sc->beam.n_sources; s++) {
        const nb_vector_source *b = &p->sources[s];
        if (fixed)
            fixed_one_source(p, r, n, b, crystal);
        else
            for (i = 0; i < n; i++)
                crystal[i] = double_one_source(p, &r[i], b);
        for (i = 0; i < n; i++) {
            vd2 factor = source_factor(p, b, &r[i]);
            vd2 x = vd2_mul(crystal[i], unculled(p, b, &r[i], factor));
            sum[i] = vd2_scale_add(x, unit, sum[i]);
        }
    }
}

/** Sum the crystal's terms of all sources in one loop; an array holds the sources'
 * factors. */
NB_STAGE vd2 sources_together(const nb_vector_plan *p, const rays *r)
{
    const nb_scene *sc = &p->scene;
    vf factors[NB_VECTOR_MAX_FACTORS];
    for (int s = 0; s < sc->beam.n_sources && p->has_factors; s++) {
        const nb_vector_source *b = &p->sources[s];
        vd2 crystal = unculled(p, b, r, source_factor(p, b, r));
        factors[s] = vf_pack(crystal.a, crystal.b);
    }
    return vd2_scale(fixed_all_sources(p, r, p->has_factors ? factors : NULL),
                     p->table.unit);
}

/** Factors that are calculated once per pixel, for its first ray. */
NB_STAGE void cached_factors(const nb_vector_plan *p, const rays *r, int n, vd2 *factor)
{
    int i;
    for (i = 0; i < n; i++) {
        factor[i] = pixel_factor(p, &r[i]);
    }
}

/** Add the sums along the rays of one sub-pixel and layer to total. */
NB_STAGE void add_rays(const nb_vector_plan *p, const rays *r, const vd2 *captured, int n,
                       vd2 *total)
{
    const nb_scene *sc = &p->scene;
    vd2 sum[CHUNK];
    int i;
    if (p->offsets)
        for (i = 0; i < n; i++)
            sum[i] = sources_together(p, &r[i]);
    else
        source_by_source(p, r, n, sum);
    for (i = 0; i < n; i++) {
        vd2 x = sum[i];
        if (p->sensor.absorb)
            x = vd2_mul(x, captured[i]);
        if (sc->oversample_omega)
            x = vd2_mul(x, solid_angle(&p->panel, &r[i]));
        total[i] = vd2_add(total[i], x);
    }
}

NB_STAGE void chunk_rays(const nb_vector_plan *p, const int *f0, int n,
                         const row_line *line, int subf, rays *r)
{
    int i;
    for (i = 0; i < n; i++)
        r[i] = rays_to(p, block_pixels(p, f0[i]), line, subf);
}

/** Points on a layer's front face; length: their distances; r[].inv_r: 1/length. */
NB_STAGE void chunk_points(const nb_vector_plan *p, const int *f0, int n,
                           const row_line *line, int subf, rays *r, vd2 *length)
{
    int i;
    for (i = 0; i < n; i++) {
        vd2 r2;
        r[i] = points_at(p, block_pixels(p, f0[i]), line, subf);
        r2 = square_of(&r[i]);
        r[i].inv_r = vd2_rsqrt(r2);
        length[i] = vd2_mul(r2, r[i].inv_r);
    }
}

/** Replace depth[], which holds the lengths of chunk_points, by mean depths, m. */
NB_STAGE void chunk_depths(const nb_vector_plan *p, const int *f0, int n, int subf,
                           const layer_row *row, const rays *r, vd2 *depth, vd2 *captured)
{
    int i;
    for (i = 0; i < n; i++) {
        vd2 F = along_row(p, block_pixels(p, f0[i]), subf);
        depth[i] = depth_of(row, F, depth[i], r[i].inv_r, &captured[i]);
    }
}

NB_STAGE void chunk_deep(const nb_vector_plan *p, int n, const layer_row *row,
                         const vd2 *depth, rays *r)
{
    int i;
    for (i = 0; i < n; i++)
        go_deep(&r[i], row, p->panel.normal, depth[i]);
}

/** Make rays to the mean depth of a layer. captured: fractions that the layer stops. */
static void chunk_deep_rays(const nb_vector_plan *p, const int *f0, int n,
                            const row_line *line, int subf, int layer, rays *r,
                            vd2 *captured)
{
    const layer_row row = layer_row_of(p, line, layer);
    vd2 depth[CHUNK];
    chunk_points(p, f0, n, line, subf, r, depth);
    chunk_depths(p, f0, n, subf, &row, r, depth, captured);
    chunk_deep(p, n, &row, depth, r);
}

/** Fraction of each ray that the layer captures, for rays to the layer's front face, or
 * for rays that cross a curved sensor at a right angle. */
NB_STAGE void capture_rays(const nb_vector_plan *p, const rays *r, int n, int layer,
                           vd2 *captured)
{
    int i;
    for (i = 0; i < n; i++)
        captured[i] = capture(p, &r[i], layer);
}

/** Photons in the n blocks of pixels of row s that start at f0[]. */
static void chunk_intensity(const nb_vector_plan *p, const int *f0, int n, int s,
                            const row_line *lines, const row_output *out)
{
    const nb_scene *sc = &p->scene;
    rays r[CHUNK];
    vd2 total[CHUNK], cached[CHUNK], captured[CHUNK];
    int i, layer, subf, subs, os = sc->oversample;
    int deep = p->sensor.mean_depth && !p->panel.curved;
    for (i = 0; i < n; i++)
        total[i] = vd2_set(0);
    for (layer = 0; layer < p->sensor.layers; layer++)
        for (subs = 0; subs < os; subs++) {
            int at = layer * os + subs;
            row_line line = at < MAX_LINES ? lines[at] : line_of(p, s, subs, layer);
            for (subf = 0; subf < os; subf++) {
                if (deep)
                    chunk_deep_rays(p, f0, n, &line, subf, layer, r, captured);
                else
                    chunk_rays(p, f0, n, &line, subf, r);
                if (p->sensor.absorb && !deep)
                    capture_rays(p, r, n, layer, captured);
                add_rays(p, r, captured, n, total);
                if (at + subf == 0)
                    cached_factors(p, r, n, cached);
            }
        }
    for (i = 0; i < n; i++) {
        vd2 x = vd2_mul(total[i], cached[i]);
        store_block(out, f0[i], vf_pack(x.a, x.b));
    }
}

/** First pixels of the blocks of one row that are rendered together. */
typedef struct row_blocks {
    int n, first[SIMPLE_CHUNK];
} row_blocks;

static void render_blocks(const nb_vector_plan *p, const row_blocks *blocks, int s,
                          const row_line *lines, const simple_row *simple,
                          const row_output *out)
{
    if (p->simple)
        simple_intensity(p, blocks->first, blocks->n, simple, out);
    else
        chunk_intensity(p, blocks->first, blocks->n, s, lines, out);
}

void NB_ROW_KERNEL(const nb_vector_plan *p, const nb_span *spans, size_t n_spans,
                   float *row)
{
    const nb_scene *sc = &p->scene;
    const nb_span *last = spans + n_spans - 1;
    const row_output out = {row, spans->fast, last->fast + last->n};
    const int limit = p->simple ? SIMPLE_CHUNK : CHUNK, s = spans->slow;
    row_line lines[MAX_LINES];
    simple_row simple = {0};
    row_blocks blocks;
    int i, f = out.start;
    for (i = 0; i < MAX_LINES && i < p->sensor.layers * sc->oversample; i++)
        lines[i] = line_of(p, s, i % sc->oversample, i / sc->oversample);
    if (p->simple)
        simple = simple_row_of(p, lines);
    blocks.n = 0;
    for (; spans <= last; spans++) /* a block may reach into the next span */
        for (f = f > spans->fast ? f : spans->fast; f < spans->fast + spans->n; f += NB_W) {
            if (blocks.n == limit) {
                render_blocks(p, &blocks, s, lines, &simple, &out);
                blocks.n = 0;
            }
            blocks.first[blocks.n++] = f;
        }
    render_blocks(p, &blocks, s, lines, &simple, &out);
}

#endif
