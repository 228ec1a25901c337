/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/store.h"
#include "../params/params.h"
#include "units.h"

enum { BUCKETS_A_POINT = 2, MAX_BUCKETS = 1 << 16 };

double nb_molecules_per_area(double path_mm, double density, double mass)
{
    return path_mm * 1e-3 * density * 1e6 * NB_AVOGADRO / mass;
}

static double beam_area(const nb_settings *cfg)
{
    double edge = cfg->value.beamsize_mm * 1e-3;
    return edge * edge;
}

double nb_table_molecules(const nb_settings *cfg)
{
    if (NB_TYPED(cfg, molecules))
        return cfg->value.molecules;
    return beam_area(cfg) * nb_molecules_per_area(cfg->value.amorphous_thick_mm,
                                                  cfg->value.density,
                                                  cfg->value.molecule_mass);
}

/** Divided difference of F over the points i to j of a table. */
static double divided(const nb_table_piece *flat, int i, int j)
{
    return i == j ? flat[i].F
                  : (divided(flat, i + 1, j) - divided(flat, i, j - 1)) /
                        (flat[j].x - flat[i].x);
}

/** Make a piece, a cubic, from each point to the next one. Divided differences do not
 * depend on the order of the points. */
static void make_pieces(nb_table_piece *p, int n)
{
    for (int j = 0; j + 1 < n; j++) {
        const int low = j > 0 ? j - 1 : j, high = j + 2 < n ? j + 2 : j + 1;
        p[j].next = p[j + 1].x;
        p[j].before = p[low].x;
        p[j].F_next = p[j + 1].F;
        p[j].d1 = divided(p, j, j + 1);
        if (low < j)
            p[j].d2 = divided(p, low, j + 1);
        else if (high > j + 1)
            p[j].d2 = divided(p, j, high);
        if (low < j && high > j + 1)
            p[j].d3 = divided(p, low, high);
    }
    p[n - 1].next = p[n - 1].before = p[n - 1].x;
    p[n - 1].F_next = p[n - 1].F;
}

/** Fill buckets[]: bucket b has the pieces from buckets[b] to buckets[b + 1], which are
 * the last piece that begins before the bucket and all pieces that begin in the
 * bucket. */
static void fill_buckets(const nb_scatterer *m, const nb_table_piece *pieces, int n,
                         int32_t *buckets)
{
    int piece = 0;
    buckets[0] = 0;
    for (int b = 0; b < m->n_buckets; b++) {
        while (piece + 1 < n &&
               (pieces[piece + 1].x * m->per < b + 1 || b + 1 == m->n_buckets))
            piece++;
        buckets[b + 1] = piece;
    }
}

/** Number of pieces of a table: one per point, and one more if the first point is above
 * 0. */
static int pieces_of(const nb_amorphous_source *s)
{
    return s->n + (s->points[0].stol > 0);
}

static int buckets_of(const nb_amorphous_source *s)
{
    return s->n < MAX_BUCKETS / BUCKETS_A_POINT ? s->n * BUCKETS_A_POINT : MAX_BUCKETS;
}

/** Fill the pieces and buckets of a material. */
static void add_material(const nb_amorphous_source *s, nb_scatterer *m,
                         nb_table_piece *pieces, int32_t *buckets)
{
    const int n = pieces_of(s), lead = n - s->n;
    for (int i = 0; i < s->n; i++) {
        m->largest = fmax(m->largest, fabs(s->points[i].F));
        pieces[lead + i].x = s->points[i].stol / NB_ANGSTROM;
        pieces[lead + i].F = s->points[i].F;
    }
    make_pieces(pieces + lead, s->n);
    if (lead) {
        pieces[0].F = pieces[0].F_next = s->points[0].F;
        pieces[0].next = pieces[1].x;
    }
    fill_buckets(m, pieces, n, buckets);
}

nb_status nb_amorphous_build(const nb_amorphous_source *list, int n,
                             nb_amorphous_set *set, nb_error *err)
{
    size_t n_buckets = 0;
    nb_scatterer *materials = nb_alloc((size_t)n, sizeof *materials, "materials", err);
    nb_table_piece *pieces;
    int32_t *buckets;
    *set = (nb_amorphous_set){.last = INFINITY};
    set->leads = list[0].points[0].stol > 0;
    for (int i = 0; materials && i < n; i++) {
        const double last = list[i].points[list[i].n - 1].stol / NB_ANGSTROM;
        materials[i].first_piece = (int)set->pieces;
        materials[i].first_bucket = (int)n_buckets;
        materials[i].n_buckets = buckets_of(&list[i]);
        materials[i].per = last > 0 ? materials[i].n_buckets / last : 0;
        set->pieces += (size_t)pieces_of(&list[i]);
        n_buckets += (size_t)materials[i].n_buckets + 1;
        for (int j = 0; j < list[i].n; j++)
            set->negative |= list[i].points[j].F < 0;
        set->first = fmax(set->first, list[i].points[0].stol / NB_ANGSTROM);
        set->last = fmin(set->last, last);
    }
    pieces = nb_alloc(set->pieces, sizeof *pieces, "tables of materials", err);
    buckets = nb_alloc(n_buckets, sizeof *buckets, "tables of materials", err);
    set->per_area = nb_alloc((size_t)n, sizeof *set->per_area, "materials", err);
    set->tables = (nb_amorphous){n, materials, pieces, buckets, 0};
    if (!materials || !pieces || !buckets || !set->per_area) {
        nb_amorphous_set_free(set);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        nb_scatterer *m = &materials[i];
        add_material(&list[i], m, pieces + m->first_piece, buckets + m->first_bucket);
        set->per_area[i] = list[i].per_area;
        set->tables.hash = nb_hash_bytes(i > 0 ? set->tables.hash : NB_HASH_START,
                                         &m->per, sizeof m->per);
    }
    set->tables.hash =
        nb_hash_bytes(set->tables.hash, pieces, set->pieces * sizeof *pieces);
    return NB_OK;
}

void nb_amorphous_set_free(nb_amorphous_set *set)
{
    nb_free((void *)set->tables.materials);
    nb_free((void *)set->tables.pieces);
    nb_free((void *)set->tables.buckets);
    nb_free(set->per_area);
    memset(set, 0, sizeof *set);
}

nb_status nb_amorphous_of(const nb_settings *cfg, const nb_amorphous_set *set,
                          double blocks, nb_amorphous **amorphous, nb_error *err)
{
    const size_t n = (size_t)set->tables.n;
    nb_amorphous *a = nb_alloc(1, sizeof *a + n * sizeof(nb_scatterer), "materials", err);
    /* the materials follow *a in the same memory */
    nb_scatterer *m = (nb_scatterer *)(a + 1);
    *amorphous = a;
    for (size_t i = 0; a && i < n; i++) {
        m[i] = set->tables.materials[i];
        m[i].molecules = (isnan(set->per_area[i]) ? nb_table_molecules(cfg)
                                                  : set->per_area[i] * beam_area(cfg)) /
                         blocks;
    }
    if (!a)
        return NB_ERR_NOMEM;
    *a = set->tables;
    a->materials = m;
    return NB_OK;
}
