/* SPDX-License-Identifier: MIT */
/** The light of amorphous materials, for the instruction set that this file is compiled
 * for: by a sum over sources, or for a row of a smooth tile (../plan/background_tiles.h). */
#ifndef NB_RENDER_KERNEL_BACKGROUND_H
#define NB_RENDER_KERNEL_BACKGROUND_H

#include "../physics/amorphous.h"
#include "simd.h"
#include "kernel_rays.h"

#include "../terms/materials.h"

#define NB_PASTE2(a, b) a##b
#define NB_PASTE(a, b) NB_PASTE2(a, b)
#define NB_BACKGROUND_KERNEL NB_PASTE(nb_background_, NB_KERNEL_ISA)

/* A block is NB_W pixels of a row. Several blocks go together through each stage (rays,
 * crystal, factors): their chains of dependent operations overlap, and a stage keeps its
 * constants in registers. */
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

/** nb_piece_of from a bucket. A bucket rarely has more than one border of pieces. For
 * one border a branch would be mispredicted every other time, so there is no branch. */
NB_INLINE const nb_table_piece *piece_of(const nb_table_piece *pieces,
                                         const int32_t *bucket, double x)
{
    const int low = bucket[0], high = bucket[1];
    if (high - low <= 1)
        return pieces + low + ((pieces[high].x <= x) & (high > low));
    return nb_piece_between(pieces, low, high, x);
}

_Static_assert(sizeof(nb_table_piece) == 8 * sizeof(double) &&
                   offsetof(nb_table_piece, F) == 3 * sizeof(double) &&
                   offsetof(nb_table_piece, F_next) == 7 * sizeof(double),
               "material_lanes reads pieces as rows of doubles");

/** N F|F| of one material, as in nb_amorphous_at. */
NB_INLINE vd material_lanes(const nb_amorphous *a, const nb_scatterer *m, vd x)
{
    const nb_table_piece *pieces = a->pieces + m->first_piece;
    const int32_t *buckets = a->buckets + m->first_bucket;
    const vd bucket = vd_min(x * m->per, vd_set(m->n_buckets - 1));
    const double *rows[NB_H]; /* the pieces as rows of doubles */
    vd c[8], F;
    for (int i = 0; i < NB_H; i++)
        rows[i] = &piece_of(pieces, buckets + (int)bucket[i], x[i])->x;
    vd_columns(rows, c);
    F = nb_piece_lanes(c, x);
    return vd_set(m->molecules) * F * (vd)((vl)F & INT64_MAX);
}

/** nb_amorphous_at by lanes. */
NB_INLINE vd amorphous_lanes(const nb_amorphous *a, vd x)
{
    vd sum = vd_set(0);
    for (int i = 0; i < a->n; i++)
        sum = sum + material_lanes(a, &a->materials[i], x);
    return sum;
}

/** nb_background_source_sum by lanes. */
NB_STAGE void amorphous_sources(const nb_vector_plan *p, const rays *r, int n, vd2 *sum)
{
    const nb_scene *sc = &p->scene;
    int s, i;
    for (i = 0; i < n; i++)
        sum[i] = vd2_set(0);
    for (s = 0; s < sc->beam.n_sources; s++)
        for (i = 0; i < n; i++) {
            const nb_vector_source *b = &p->sources[s];
            const q_vectors q = scattering_vector(b, &r[i]);
            const vd2 q2 = vd2_fma(q.x, q.x, vd2_fma(q.y, q.y, vd2_mul(q.z, q.z)));
            const vd2 B = {amorphous_lanes(sc->amorphous, 0.5 * vd_sqrt(q2.a)),
                           amorphous_lanes(sc->amorphous, 0.5 * vd_sqrt(q2.b))};
            sum[i] = vd2_fma(B, source_factor(p, b, &r[i]), sum[i]);
        }
    for (i = 0; i < n; i++)
        sum[i] = vd2_scale(sum[i], sc->lattice.n_orientations);
}

/** Value at place u of a polynomial of a line (nb_background_line). */
NB_INLINE vf law_at(const nb_background_line *line, nb_background_law law, vf u)
{
    vf sum = vf_set((float)line->c[law][NB_BACKGROUND_ORDER - 1]);
    for (int i = NB_BACKGROUND_ORDER - 2; i >= 0; i--)
        sum = vf_fma(sum, u, vf_set((float)line->c[law][i]));
    return sum;
}

/** Mean sine at place u of a line. */
NB_INLINE vd sine_at(const nb_background_line *line, vd u)
{
    const double *c = line->c[NB_BACKGROUND_SQUARE];
    vd sum = vd_set(c[NB_BACKGROUND_ORDER - 1]);
    for (int i = NB_BACKGROUND_ORDER - 2; i >= 0; i--)
        sum = vd_fma(sum, u, vd_set(c[i]));
    return vd_sqrt(vd_max(sum, vd_set(0)));
}

/** Scattering from the grid of a group of sources; at: sines times grid->per. */
NB_INLINE vf grid_lanes(const nb_background_grid *grid, int group, vd2 at)
{
    const float *c = grid->c + (size_t)group * (size_t)grid->n * 4;
    const vd first = vd_set(grid->first), last = vd_set(grid->n - 1);
    const vd a = vd_min(vd_max(at.a - first, vd_set(0)), last),
             b = vd_min(vd_max(at.b - first, vd_set(0)), last);
    const vd cell_a = vd_floor(a), cell_b = vd_floor(b);
    const vf t = vf_pack(a - cell_a, b - cell_b);
    const vi i =
        low_words(4 * cell_a + vd_set(NB_CELL_MAGIC), 4 * cell_b + vd_set(NB_CELL_MAGIC));
    const vf high = vf_fma(t, vf_gather(c + 3, i), vf_gather(c + 2, i));
    return vf_fma(t, vf_fma(t, high, vf_gather(c + 1, i)), vf_gather(c, i));
}

/** Photons of a part (layer and group of sources) in a block; u: places in the tile. */
NB_INLINE vf part_photons(const nb_background_strip *strip, int part, vd2 u)
{
    const nb_background_grid *grid = strip->grid;
    const nb_background_line *line = &strip->line[part];
    const int group = part % strip->groups;
    const vf place = vf_pack(u.a, u.b);
    const vd2 at = vd2_scale((vd2){sine_at(line, u.a), sine_at(line, u.b)}, grid->per);
    vf F2;
    if (strip->one) {
        F2 = grid_lanes(grid, group, at);
    } else {
        const vf off = law_at(line, NB_BACKGROUND_SPREAD, place) * (float)grid->per;
        const vd a = vf_unpack(off, 0), b = vf_unpack(off, 1);
        F2 = grid_lanes(grid, group, (vd2){at.a - a, at.b - b}) +
             grid_lanes(grid, group, (vd2){at.a + a, at.b + b});
    }
    return F2 * law_at(line, NB_BACKGROUND_WEIGHT, place);
}

void NB_BACKGROUND_KERNEL(const nb_span *span, const nb_background_strip *strip, float *to)
{
    const row_output out = {to, span->fast, span->fast + span->n};
    for (int f = span->fast; f < span->fast + span->n; f += NB_W) {
        const vd2 at = {nb_lane[0] + (double)f, nb_lane[1] + (double)f};
        const vd2 u = vd2_scale_add(at, strip->scale, vd2_set(strip->shift));
        vf sum = vf_set(0);
        for (int i = 0; i < strip->parts; i++)
            sum += part_photons(strip, i, u);
        add_block(&out, f, sum);
    }
}

#endif
