/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "model.h"
#include "symmetry.h"

/** An operator's image of h k l: its voxel is zero + h step0 + k step1 + l step2, that of its Friedel
 * mate as far on the other side of zero. */
typedef struct image {
    nb_symop op;
    ptrdiff_t step[3];
} image;

/** What one combination is made of. */
typedef struct combining {
    const nb_partials *partials;
    const nb_anomalous *f;
    double B_add, scale;
    nb_factor_grid *grid;
    ptrdiff_t zero; /* voxel of 0 0 0 */
    int is_roomy;   /* the box holds every image, whatever the rounding of its s^2 */
    int count;
    image images[NB_SYMOPS_MOST]; /* by which a reflection stands for others */
} combining;

static int is_inside(const combining *c, const image *m, const int h[3])
{
    int g[3];
    if (c->is_roomy)
        return 1;
    nb_hR(&m->op, h, g);
    return abs(g[0]) <= c->grid->H[0] && abs(g[1]) <= c->grid->H[1] &&
           abs(g[2]) <= c->grid->H[2];
}

/** The row's reflections with d >= dmin, if there are any. */
static int row_in_sphere(const combining *c, int h, int k, int *first, int *last)
{
    const nb_partials *p = c->partials;
    return nb_row_of_l(p->G, nb_s_squared_limit(p->dmin), h, k, c->grid->H[2], first,
                       last);
}

/** All of the sphere is 0: what no reflection reaches is absent. */
static void clear_row(const combining *c, int h, int k)
{
    int first, last;
    size_t at;
    if (!row_in_sphere(c, h, k, &first, &last))
        return;
    at = nb_factor_grid_at(c->grid, h, k, 0);
    for (int l = first; l <= last; l++) {
        if (!(h || k || l))
            continue;
        c->grid->F[at + (size_t)l] = 0;
        if (c->grid->phase)
            c->grid->phase[at + (size_t)l] = 0;
    }
}

/** F of reflection i and of its Friedel mate: re, im, re, im. */
static void make_pair(const combining *c, size_t i, double F[4])
{
    const nb_partials *p = c->partials;
    const int *h = p->hkl[i];
    double re = p->steady[2 * i], im = p->steady[2 * i + 1], x = 0, y = 0, k = c->scale;
    for (int e = 0; e < p->n_elements; e++) {
        const double *P = p->elements[e].P + 2 * i;
        re += c->f[e].f1 * P[0];
        im += c->f[e].f1 * P[1];
        x += c->f[e].f2 * P[0];
        y += c->f[e].f2 * P[1];
    }
    if (c->B_add != 0)
        k *= exp(-c->B_add * nb_s_squared(p->G, h[0], h[1], h[2]) / 4);
    F[0] = k * (re - y);
    F[1] = k * (im + x);
    F[2] = k * (re + y); /* the conjugates of all P and M */
    F[3] = k * (x - im);
}

static double length_of(const double z[2])
{
    return sqrt(z[0] * z[0] + z[1] * z[1]);
}

/** A phase in -pi..pi. */
static float in_turn(double phase)
{
    return (float)(phase - 2 * M_PI * nearbyint(phase / (2 * M_PI)));
}

/** F(h R) = F(h) exp(-2 pi i h t), and the mates. */
static void put_orbit(const combining *c, size_t i)
{
    const int *h = c->partials->hkl[i];
    const int is_000 = !(h[0] || h[1] || h[2]);
    double F[4], plus, minus;
    make_pair(c, i, F);
    plus = length_of(F);
    minus = is_000 ? plus : length_of(F + 2);
    for (int j = 0; j < c->count; j++) {
        const image *m = &c->images[j];
        ptrdiff_t at = h[0] * m->step[0] + h[1] * m->step[1] + h[2] * m->step[2];
        if (!is_inside(c, m, h))
            continue;
        c->grid->F[c->zero + at] = plus;
        c->grid->F[c->zero - at] = minus;
    }
    if (!c->grid->phase)
        return;
    plus = atan2(F[1], F[0]);
    minus = is_000 ? plus : atan2(F[3], F[2]);
    for (int j = 0; j < c->count; j++) {
        const image *m = &c->images[j];
        ptrdiff_t at = h[0] * m->step[0] + h[1] * m->step[1] + h[2] * m->step[2];
        double turn = 2 * M_PI / 24 * nb_ht(&m->op, h);
        if (!is_inside(c, m, h))
            continue;
        c->grid->phase[c->zero + at] = in_turn(plus - turn);
        c->grid->phase[c->zero - at] = in_turn(minus + turn);
    }
}

static void add_image(combining *c, const nb_symop *op)
{
    const nb_factor_grid *g = c->grid;
    const ptrdiff_t n2 = 2 * g->H[2] + 1, n1 = 2 * g->H[1] + 1;
    image *m = &c->images[c->count++];
    m->op = *op;
    for (int i = 0; i < 3; i++) /* row i of R is the image of the unit index i */
        m->step[i] = (op->R[3 * i] * n1 + op->R[3 * i + 1]) * n2 + op->R[3 * i + 2];
}

/** Each rotation once: centring brings nothing new. */
static void find_images(combining *c)
{
    static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const nb_symmetry *sg = &c->partials->symmetry;
    int fits = nb_group_fits(sg, c->partials->G), room[3];
    add_image(c, &identity);
    for (int i = 0; fits && i < sg->count; i++) {
        int is_new = 1;
        for (int j = 0; j < c->count && is_new; j++)
            is_new = memcmp(c->images[j].op.R, sg->ops[i].R, sizeof identity.R) != 0;
        if (is_new)
            add_image(c, &sg->ops[i]);
    }
    c->zero = (ptrdiff_t)nb_factor_grid_at(c->grid, 0, 0, 0);
    nb_index_limits(c->partials->cell, c->partials->dmin * (1 - 1e-6), room);
    c->is_roomy = 1;
    for (int i = 0; i < 3; i++)
        c->is_roomy &= c->grid->H[i] >= room[i];
}

/** Indices that the sphere and the grid share. */
static void inner_box(const combining *c, int H[3])
{
    nb_index_limits(c->partials->cell, c->partials->dmin, H);
    for (int i = 0; i < 3; i++)
        H[i] = H[i] < c->grid->H[i] ? H[i] : c->grid->H[i];
}

void nb_partials_combine(const nb_partials *partials, const nb_anomalous *f, double B_add,
                         double scale, int threads, nb_factor_grid *grid)
{
    combining c = {
        .partials = partials, .f = f, .B_add = B_add, .scale = scale, .grid = grid};
    int H[3];
    find_images(&c);
    inner_box(&c, H);
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
    {
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (int h = -H[0]; h <= H[0]; h++)
            for (int k = -H[1]; k <= H[1]; k++)
                clear_row(&c, h, k);
#ifdef _OPENMP
#pragma omp for schedule(static)
#endif
        for (size_t i = 0; i < partials->n; i++)
            put_orbit(&c, i);
    }
}

/* --- many wavelengths: each voxel knows where its amplitude stands --- */

/** Amplitudes: of each unique reflection and of its mate, then these. */
static uint32_t absent_of(const nb_partials *p)
{
    return (uint32_t)(2 * p->n);
}
static uint32_t missing_of(const nb_partials *p)
{
    return (uint32_t)(2 * p->n + 1);
}

/** The order is that of put_orbit, in which a later image wins. */
static void point_orbit(const combining *c, size_t i, uint32_t *from)
{
    const int *h = c->partials->hkl[i];
    for (int j = 0; j < c->count; j++) {
        const image *m = &c->images[j];
        ptrdiff_t at = h[0] * m->step[0] + h[1] * m->step[1] + h[2] * m->step[2];
        if (!is_inside(c, m, h))
            continue;
        from[c->zero + at] = (uint32_t)(2 * i);
        from[c->zero - at] = (uint32_t)(2 * i + 1);
    }
}

static void point_voxels(const combining *c, size_t voxels, uint32_t *from)
{
    int H[3], first, last;
    for (size_t i = 0; i < voxels; i++)
        from[i] = missing_of(c->partials);
    inner_box(c, H);
    for (int h = -H[0]; h <= H[0]; h++)
        for (int k = -H[1]; k <= H[1]; k++)
            if (row_in_sphere(c, h, k, &first, &last))
                for (int l = first; l <= last; l++)
                    from[nb_factor_grid_at(c->grid, h, k, l)] = absent_of(c->partials);
    from[c->zero] = missing_of(c->partials);
    for (size_t i = 0; i < c->partials->n; i++)
        point_orbit(c, i, from);
}

nb_status nb_orbit_map_make(const nb_partials *partials, const int H[3], double B_add,
                            double scale, nb_orbit_map *out, nb_error *err)
{
    nb_factor_grid grid = {.H = {H[0], H[1], H[2]}};
    combining c = {.partials = partials, .grid = &grid};
    const size_t voxels = nb_factor_grid_voxels(&grid);
    *out = (nb_orbit_map){.partials = partials, .B_add = B_add, .scale = scale};
    if (partials->n >= UINT32_MAX / 2)
        return nb_fail(err, NB_ERR_INPUT, "too many reflections: give a larger -dmin");
    out->from = nb_alloc_raw(voxels, sizeof *out->from, "structure factors", err);
    out->F = nb_alloc_raw(2 * partials->n + 2, sizeof *out->F, "structure factors", err);
    if (!out->from || !out->F) {
        nb_orbit_map_free(out);
        return NB_ERR_NOMEM;
    }
    find_images(&c);
    point_voxels(&c, voxels, out->from);
    return NB_OK;
}

void nb_orbit_map_free(nb_orbit_map *map)
{
    nb_free(map->from);
    nb_free(map->F);
    memset(map, 0, sizeof *map);
}

void nb_orbit_map_combine(nb_orbit_map *map, const nb_anomalous *f, double missing,
                          int threads)
{
    const nb_partials *p = map->partials;
    const combining c = {.partials = p, .f = f, .B_add = map->B_add, .scale = map->scale};
    map->F[absent_of(p)] = 0;
    map->F[missing_of(p)] = missing;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads)
#endif
    for (size_t i = 0; i < p->n; i++) {
        const int *h = p->hkl[i];
        double F[4];
        make_pair(&c, i, F);
        map->F[2 * i] = length_of(F);
        map->F[2 * i + 1] = h[0] || h[1] || h[2] ? length_of(F + 2) : map->F[2 * i];
    }
}

void nb_orbit_map_write(const nb_orbit_map *map, size_t first, size_t n, double *F)
{
    const uint32_t *from = map->from + first;
    for (size_t i = 0; i < n; i++)
        F[i] = map->F[from[i]];
}
