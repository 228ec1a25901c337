/* SPDX-License-Identifier: MIT */
/** The materials of an amorphous background for the instruction set that this file is compiled for: source by source,
 * by the table of all sources (../plan/background_table.h), and a smooth tile's row (../plan/background_tiles.h). */
#ifndef NB_RENDER_KERNEL_BACKGROUND_H
#define NB_RENDER_KERNEL_BACKGROUND_H

#include "../physics/amorphous.h"
#include "kernel.h"
#include "kernel_rays.h"

#include "../terms/materials.h"

#define NB_PASTE2(a, b) a##b
#define NB_PASTE(a, b) NB_PASTE2(a, b)
#define NB_BACKGROUND_KERNEL NB_PASTE(nb_background_, NB_KERNEL_ISA)

/* Blocks go through each stage (rays, crystal, factors) some at a time: the stages'
 * chains of dependent operations then overlap, and each stage keeps its constants in
 * registers. */
enum { CHUNK = 256 / NB_W, SIMPLE_CHUNK = 512 / NB_W, MAX_LINES = 64 };

/** w_source [polar] of one source. */
NB_INLINE vd2 source_factor(const nb_vector_plan *p, const nb_vector_source *b,
                            const rays *r)
{
    const nb_scene *sc = &p->scene;
    if (!sc->oversample_polar || sc->beam.nopolar)
        return vd2_set(b->weight);
    return vd2_scale(polarization(sc->beam.polarization, b, r), b->weight);
}

/** As nb_piece_of; most buckets hold one border at most, and a branch would be right every other
 * time. */
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
    const double *rows[NB_H]; /* of the pieces' doubles */
    vd c[8], F;
    for (int i = 0; i < NB_H; i++)
        rows[i] = &piece_of(pieces, buckets + (int)bucket[i], x[i])->x;
    vd_columns(rows, c);
    F = nb_piece_lanes(c, x);
    return vd_set(m->molecules) * F * (vd)((vl)F & INT64_MAX);
}

/** As nb_amorphous_at. */
NB_INLINE vd amorphous_lanes(const nb_amorphous *a, vd x)
{
    vd sum = vd_set(0);
    for (int i = 0; i < a->n; i++)
        sum = sum + material_lanes(a, &a->materials[i], x);
    return sum;
}

/** The places of the cells of half a block, as nb_background_cell_of; x: sines. */
NB_INLINE void cells_of(const nb_background_group *g, vd x, const double *rows[NB_H])
{
    const vd bucket = vd_min(vd_max(x * (double)NB_BACKGROUND_BUCKETS, vd_set(g->low)),
                             vd_set(g->high));
    for (int i = 0; i < NB_H; i++) {
        const int32_t *first = g->buckets + (int)bucket[i];
        int low = first[0], high = first[1] - 1;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            if (g->cells[middle].x <= x[i])
                low = middle;
            else
                high = middle - 1;
        }
        rows[i] = &g->cells[low].x;
    }
}

_Static_assert(sizeof(nb_background_cell) == 8 * sizeof(double) &&
                   offsetof(nb_background_cell, c) == 2 * sizeof(double),
               "background_lanes reads cells as rows of doubles");

/** As nb_background_at. */
NB_INLINE vd background_lanes(const nb_background_group *g, vd x)
{
    const double *rows[NB_H];
    vd c[8], t;
    cells_of(g, x, rows);
    vd_columns(rows, c);
    /* x inverse c[0..3] */
    t = (x - c[0]) * c[1];
    return vd_fma(t, vd_fma(t, vd_fma(t, c[5], c[4]), c[3]), c[2]);
}

/** As nb_background_mean_at. */
NB_INLINE vd mean_lanes(const nb_background_mean *mean, int group, vd x)
{
    const double *from = mean->c + (size_t)group * (size_t)mean->n * 4, *rows[NB_H];
    const vd at =
        vd_min(vd_max(vd_fma(x, vd_set(mean->per), vd_set(-mean->first)), vd_set(0)),
               vd_set(mean->n - 1));
    const vd cell = vd_floor(at), t = at - cell;
    vd c[8]; /* of the next cell, too */
    for (int i = 0; i < NB_H; i++)
        rows[i] = from + 4 * (int)cell[i];
    vd_columns(rows, c);
    return vd_fma(t, vd_fma(t, vd_fma(t, c[3], c[2]), c[1]), c[0]);
}

/** Sines of half the angles between a group's sources and rays. */
NB_INLINE vd2 sines_of(const nb_background_group *g, const rays *r)
{
    const vd2 one = vd2_set(1);
    const vd2 x = vd2_scale_add(one, -g->incident.x, r->x),
              y = vd2_scale_add(one, -g->incident.y, r->y),
              z = vd2_scale_add(one, -g->incident.z, r->z);
    const vd2 q2 = vd2_fma(x, x, vd2_fma(y, y, vd2_mul(z, z)));
    return (vd2){0.5 * vd_sqrt(q2.a), 0.5 * vd_sqrt(q2.b)};
}

/** What the sources of a group scatter along rays. */
NB_INLINE vd2 background_of(const nb_background_group *g, const rays *r)
{
    const vd2 x = sines_of(g, r);
    return (vd2){background_lanes(g, x.a), background_lanes(g, x.b)};
}

/** As nb_background_source_sum, by the table of all sources. */
NB_STAGE void background_sources(const nb_vector_plan *p, const rays *r, int n, vd2 *sum)
{
    const nb_scene *sc = &p->scene;
    const int polar = sc->oversample_polar && !sc->beam.nopolar;
    int g, i;
    for (i = 0; i < n; i++)
        sum[i] = vd2_set(0);
    for (g = 0; g < p->background->n; g++)
        for (i = 0; i < n; i++) {
            const nb_background_group *group = &p->background->groups[g];
            vd2 x = background_of(group, &r[i]);
            if (polar)
                x = vd2_mul(x, polarization(sc->beam.polarization,
                                            &p->sources[group->source], &r[i]));
            sum[i] = vd2_add(sum[i], x);
        }
}

/** As nb_background_source_sum, source by source. */
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

/** What a layer collects in a block of pixels; at: along the row, u: in the tile. */
NB_INLINE vd2 layer_photons(const nb_background_table *table,
                            const nb_background_mean *mean,
                            const nb_background_line *line, vd2 at, vd2 u)
{
    const nb_vec3 U = line->start, V = line->step;
    vd2 factor = vd2_set(line->c[NB_BACKGROUND_ORDER - 1]), sum = vd2_set(0);
    rays r;
    r.x = vd2_scale_add(at, V.x, vd2_set(U.x));
    r.y = vd2_scale_add(at, V.y, vd2_set(U.y));
    r.z = vd2_scale_add(at, V.z, vd2_set(U.z));
    aim(&r);
    for (int i = NB_BACKGROUND_ORDER - 2; i >= 0; i--)
        factor = vd2_fma(factor, u, vd2_set(line->c[i]));
    for (int g = 0; g < table->n; g++) {
        if (mean) {
            const vd2 x = sines_of(&table->groups[g], &r);
            sum.a += mean_lanes(mean, g, x.a);
            sum.b += mean_lanes(mean, g, x.b);
        } else {
            sum = vd2_add(sum, background_of(&table->groups[g], &r));
        }
    }
    return vd2_mul(sum, factor);
}

void NB_BACKGROUND_KERNEL(const nb_vector_plan *p, const nb_span *span,
                          const nb_background_strip *strip, float *to)
{
    const row_output out = {to, span->fast, span->fast + span->n};
    for (int f = span->fast; f < span->fast + span->n; f += NB_W) {
        const vd2 at = {nb_lane[0] + (double)f, nb_lane[1] + (double)f};
        const vd2 u = vd2_scale_add(at, strip->scale, vd2_set(strip->shift));
        vd2 sum = vd2_set(0);
        for (int l = 0; l < strip->layers; l++)
            sum = vd2_add(
                sum, layer_photons(p->background, strip->mean, &strip->line[l], at, u));
        add_block(&out, f, vf_pack(sum.a, sum.b));
    }
}

#endif
