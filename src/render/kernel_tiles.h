/* SPDX-License-Identifier: MIT */
/** Sum the steps that matter to a tile's rays, for the instruction set that this file is
 * compiled for. Blocks of rays, down to 2 x 2, leave out groups of steps whose upper
 * bounds are small. The other steps are calculated as in kernel_fixed.h and
 * kernel_double.h, with steps of one ray in the lanes. */
#ifndef NB_RENDER_KERNEL_TILES_H
#define NB_RENDER_KERNEL_TILES_H

#include "../physics/pixel.h"
#include "kernel_double.h"
#include "kernel_fixed.h"
#include "kernel_spots.h"
#include "kernel_tile_bounds.h"

#ifndef NB_TILE_KERNEL
#define NB_TILE_KERNEL NB_SPOT_PASTE(nb_tiles_, NB_KERNEL_ISA)
#endif

/* Parts of the remaining budget: for a first block, and for each smaller block. */
#define TILE_FIRST_PART 0.3
#define TILE_PART 0.5

NB_INLINE vd2 vd2_load(const double *from)
{
    return (vd2){vd_load(from), vd_load(from + NB_H)};
}

/* ------------------------------------------------------------------ terms */

/** start - h of NB_W steps of a group, from its k-th vector of steps on, for the ray d. */
NB_INLINE void term_indices(const nb_tiles *t, nb_tile_group g, int k, const double d[3],
                            double start, vd2 h[3])
{
    const size_t n = (size_t)t->orientations;
    const size_t step = (size_t)k * NB_W;
    if (t->by_source) {
        const size_t s = (size_t)g.column * NB_TILE_STEPS + step;
        const vd2 kappa = vd2_load(t->kappa + s);
        if (t->uniform[g.column]) {
            const double q[3] = {t->towards[0][g.column] - d[0],
                                 t->towards[1][g.column] - d[1],
                                 t->towards[2][g.column] - d[2]};
            for (size_t i = 0; i < 3; i++) {
                const double *a = t->cells + 3 * i * n + g.row;
                h[i] = vd2_scale_add(kappa, a[0] * q[0] + a[n] * q[1] + a[2 * n] * q[2],
                                     vd2_set(start));
            }
            return;
        }
        vd2 q[3];
        for (int x = 0; x < 3; x++)
            q[x] = vd2_mul(vd2_add(vd2_load(t->incident[x] + s), vd2_set(-d[x])), kappa);
        for (size_t i = 0; i < 3; i++) {
            const double *a = t->cells + 3 * i * n + g.row;
            h[i] = vd2_scale_add(
                q[0], a[0],
                vd2_scale_add(q[1], a[n], vd2_scale_add(q[2], a[2 * n], vd2_set(start))));
        }
    } else {
        const size_t m = (size_t)g.row * NB_TILE_STEPS + step;
        const double kappa = t->kappa[g.column];
        double q[3];
        for (int x = 0; x < 3; x++)
            q[x] = (t->incident[x][g.column] - d[x]) * kappa;
        for (size_t i = 0; i < 3; i++) {
            const double *a = t->cells + 3 * i * n + m;
            h[i] = vd2_scale_add(
                vd2_load(a), q[0],
                vd2_scale_add(vd2_load(a + n), q[1],
                              vd2_scale_add(vd2_load(a + 2 * n), q[2], vd2_set(start))));
        }
    }
}

/** Weights of the steps of term_indices. weights: weights of the sources for this ray. */
NB_INLINE vd2 term_weights(const nb_tiles *t, nb_tile_group g, int k,
                           const double *weights)
{
    const size_t step = (size_t)k * NB_W;
    if (t->by_source)
        return vd2_load(weights + (size_t)g.column * NB_TILE_STEPS + step);
    return vd2_scale(vd2_load(t->present + (size_t)g.row * NB_TILE_STEPS + step),
                     weights[g.column]);
}

/** The source whose table of F a group uses. */
NB_INLINE const nb_vector_source *source_of(const nb_vector_plan *p, const nb_tiles *t,
                                            nb_tile_group g)
{
    return &p->sources[t->source[t->by_source ? 0 : g.column]];
}

/** A ray, and the groups whose steps it sums. */
typedef struct tile_ray {
    const nb_tile_group *list;
    size_t n;
    double d[3];
    const double *weights;
} tile_ray;

/** Sum of the groups' terms in fixed point, relative to the table's unit. */
NB_INLINE double fixed_terms(const nb_ray_tile *tile, const tile_ray *ray,
                             const fixed_case how)
{
    const nb_vector_plan *p = tile->rays.plan;
    const nb_tiles *t = tile->tiles;
    const fixed_constants c = fixed_constants_of(&p->scene);
    const double start = nb_vector_start(how.kind, how.mode);
    vd2 total = vd2_set(0);
    for (size_t i = 0; i < ray->n; i++) {
        const nb_tile_group g = ray->list[i];
        const float *F2 = squares_of(p, source_of(p, t, g), how);
        vf run = {0};
        for (int k = 0; k < NB_TILE_STEPS / NB_W; k++) {
            const vd2 w = term_weights(t, g, k, ray->weights);
            vd2 h[3];
            term_indices(t, g, k, ray->d, start, h);
            run = vf_fma(fixed_step(&p->table, F2, &c, h, how), vf_pack(w.a, w.b), run);
        }
        flush(&total, &run);
    }
    return vd_sum(total.a + total.b);
}

/* One function for each case: gcc is far slower with a single function for all cases. */
#define NB_DO(kind, mode)                                                                \
    NB_STAGE double terms_##kind##_##mode(const nb_ray_tile *tile, const tile_ray *ray)  \
    {                                                                                    \
        return fixed_terms(tile, ray, (fixed_case){kind, mode});                         \
    }
NB_FIXED_CASES_OF_SOURCES(NB_DO)
#undef NB_DO

NB_INLINE double all_fixed_terms(const nb_ray_tile *tile, const tile_ray *ray)
{
    const nb_vector_plan *p = tile->rays.plan;
    switch (NB_CASE_NUMBER(p->table.kind, p->mode)) {
#define NB_DO(kind, mode)                                                                \
    case NB_CASE_NUMBER(kind, mode):                                                     \
        return terms_##kind##_##mode(tile, ray);
        NB_FIXED_CASES_OF_SOURCES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

/** F^2 F_latt^2 of NB_H steps; x, y, z: negative indices. */
NB_INLINE vd double_term(const nb_scene *sc, const double *table, vd x, vd y, vd z,
                         const int shape)
{
    const vd minus[3] = {x, y, z};
    sample p;
    vd F;
    for (int i = 0; i < 3; i++) {
        p.h[i] = -minus[i];
        p.h0[i] = -vd_floor(0.5 + minus[i]); /* halves are rounded down */
        p.d[i] = p.h[i] - p.h0[i];
    }
    F = F_lanes(&sc->factors.table, table, p.h, p.h0) *
        lattice_lanes(&sc->lattice, p.d, shape);
    return F * F;
}

/** Sum of the groups' terms in double (kernel_double.h). */
NB_INLINE double double_terms(const nb_ray_tile *tile, const tile_ray *ray,
                              const int shape)
{
    const nb_vector_plan *p = tile->rays.plan;
    const nb_scene *sc = &p->scene;
    vd sum = {0};
    for (size_t i = 0; i < ray->n; i++) {
        const nb_tile_group g = ray->list[i];
        const double *F = source_of(p, tile->tiles, g)->F;
        for (int k = 0; k < NB_TILE_STEPS / NB_W; k++) {
            const vd2 w = term_weights(tile->tiles, g, k, ray->weights);
            vd2 h[3];
            term_indices(tile->tiles, g, k, ray->d, 0, h);
            sum = vd_fma(double_term(sc, F, h[0].a, h[1].a, h[2].a, shape), w.a, sum);
            sum = vd_fma(double_term(sc, F, h[0].b, h[1].b, h[2].b, shape), w.b, sum);
        }
    }
    return vd_sum(sum);
}

NB_STAGE double all_double_terms(const nb_ray_tile *tile, const tile_ray *ray)
{
    switch (tile->tiles->shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return nb_shape_ends(number) ? 0 : double_terms(tile, ray, number);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

/** Set the weights of the sources for a ray: with the polarization, or 0 if -dmin removes
 * the scattering. */
static void weigh_sources(const nb_ray_tile *tile, const double d[3])
{
    const nb_scene *sc = &tile->rays.plan->scene;
    const nb_tiles *t = tile->tiles;
    const nb_vec3 direction = nb_v3(d[0], d[1], d[2]);
    for (int i = 0; i < t->sources; i++) {
        const nb_source *source = &sc->beam.sources[t->source[i]];
        double w = t->weight[i];
        if (nb_culled(&sc->factors, nb_scattering_vector(source, direction)))
            w = 0;
        else if (sc->oversample_polar && !sc->beam.nopolar)
            w *= nb_polarization(sc->beam.polarization, source->incident, direction,
                                 sc->beam.polar_axis);
        tile->weights[i] = w;
    }
}

/** Add a ray's terms to its sum. */
static void add_ray(nb_ray_tile *tile, int u, int v, const nb_tile_group *list, size_t n)
{
    nb_spot_tile *r = &tile->rays;
    const nb_vector_plan *p = r->plan;
    const size_t at = (size_t)v * r->pitch + (size_t)u;
    tile_ray ray = {list, n, {r->x[at], r->y[at], r->z[at]}, tile->tiles->weight};
    double sum;
    if (tile->tiles->varies) {
        weigh_sources(tile, ray.d);
        ray.weights = tile->weights;
    }
    sum = p->fixed ? all_fixed_terms(tile, &ray) * p->table.unit
                   : all_double_terms(tile, &ray);
    r->sum[at] += r->has_factor ? sum * r->factor[at] : sum;
}

/* ------------------------------------------------------------------ blocks */

/** Put the groups that a first block keeps into its list, and return their number.
 * *spent: sum of the bounds of all other groups. */
NB_INLINE size_t first_groups(nb_ray_tile *tile, const nb_ray_block *b, double budget,
                              double *spent, const int shape)
{
    const nb_tiles *t = tile->tiles;
    nb_tile_group *list = tile->lists[NB_TILE_LEVELS - 1];
    const size_t columns = (size_t)t->columns;
    const size_t rows = ((size_t)t->rows + NB_W - 1) / NB_W * NB_W;
    float *bounds = tile->bounds, threshold;
    size_t n = 0;
    for (size_t row = 0; row < rows; row += NB_W) {
        vf middle[3];
        for (int column = 0; column < t->columns; column++, bounds += NB_W) {
            if (column == 0 || t->uniform[column] != 2)
                row_indices(t, row, column, b->c, middle);
            vf_store(bounds, group_bounds(t, b, row, column, middle, shape));
        }
    }
    bounds = tile->bounds;
    threshold = tile_threshold(bounds, rows * columns, budget, spent);
    if (threshold == INFINITY)
        return 0;
    for (size_t row = 0; row < rows; row += NB_W)
        for (int column = 0; column < t->columns; column++, bounds += NB_W)
            for (unsigned bits = vf_above(vf_load(bounds), threshold); bits;
                 bits &= bits - 1)
                list[n++] = (nb_tile_group){(int32_t)row + __builtin_ctz(bits), column};
    tile->counts.groups += (double)(rows * columns);
    return n;
}

/** Put the groups of list[n] that a block keeps into keep[]; returns their number. */
NB_INLINE size_t fewer_groups(nb_ray_tile *tile, const nb_ray_block *b,
                              const nb_tile_group *list, size_t n, nb_tile_group *keep,
                              double budget, double *spent, const int shape)
{
    float threshold;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        tile->bounds[i] = group_sum(tile->tiles, b, list[i], shape);
    threshold = tile_threshold(tile->bounds, n, budget, spent);
    tile->counts.steps += (double)n;
    if (threshold == INFINITY)
        return 0;
    for (size_t i = 0; i < n; i++) {
        keep[kept] = list[i];
        kept += tile->bounds[i] > threshold;
    }
    return kept;
}

/** first_groups and fewer_groups for the shape of the crystal. */
NB_INLINE size_t first_groups_of(nb_ray_tile *tile, const nb_ray_block *b, double budget,
                                 double *spent)
{
    *spent = 0;
    switch (tile->tiles->shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return nb_shape_ends(number) ? 0 : first_groups(tile, b, budget, spent, number);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

NB_INLINE size_t fewer_groups_of(nb_ray_tile *tile, const nb_ray_block *b,
                                 const nb_tile_group *list, size_t n, nb_tile_group *keep,
                                 double budget, double *spent)
{
    *spent = 0;
    switch (tile->tiles->shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return nb_shape_ends(number)                                                     \
                   ? 0                                                                   \
                   : fewer_groups(tile, b, list, n, keep, budget, spent, number);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return 0;
    }
}

/** A block of the descent from large to small blocks: the groups that it keeps, and the
 * budget and its spent part. */
typedef struct tile_branch {
    int u, v, n, level;
    const nb_tile_group *list;
    size_t groups;
    double budget, spent, omega;
} tile_branch;

static void note_spent(nb_ray_tile *tile, double spent, double omega)
{
    tile->lack = fmax(tile->lack, spent * omega);
}

static void add_rays_of(nb_ray_tile *tile, const tile_branch *at)
{
    const nb_spot_tile *r = &tile->rays;
    const int os = r->plan->scene.oversample;
    for (int v = at->v; v < at->v + at->n && v < r->nv; v++)
        for (int u = at->u; u < at->u + at->n && u < r->nu; u++)
            if (tile->want[v / os * r->nf + u / os]) {
                tile->counts.terms += (double)at->groups;
                if (!tile->only_count)
                    add_ray(tile, u, v, at->list, at->groups);
            }
}

/** Test the remaining groups for each quarter of a block. */
static void descend(nb_ray_tile *tile, const tile_branch *from)
{
    const int half = from->n / 2, last = half == 2;
    nb_tile_group *keep = tile->lists[from->level - 1];
    for (int quarter = 0; quarter < 4; quarter++) {
        tile_branch at = *from;
        nb_ray_block b;
        double more = 0, part;
        at.u += quarter % 2 * half;
        at.v += quarter / 2 * half;
        at.n = half;
        at.level--;
        if (at.u >= tile->rays.nu || at.v >= tile->rays.nv ||
            !nb_tile_wanted(tile, at.u, at.v, half))
            continue;
        b = tile_block_of(tile, at.u, at.v, half);
        tile->counts.blocks++;
        part = (last ? 1 : TILE_PART) * (at.budget - at.spent);
        at.groups = fewer_groups_of(tile, &b, from->list, from->groups, keep, part, &more);
        at.list = keep;
        at.spent += more;
        if (at.groups == 0 || last)
            note_spent(tile, at.spent, at.omega);
        if (at.groups > 0 && last)
            add_rays_of(tile, &at);
        else if (at.groups > 0)
            descend(tile, &at);
    }
}

static void first_block(nb_ray_tile *tile, int u, int v)
{
    tile_branch at = {u, v, tile->block, NB_TILE_LEVELS - 1, NULL, 0, 0, 0, 0};
    nb_spot_tile *r = &tile->rays;
    nb_ray_block b;
    for (int i = v; i < v + tile->block && i < r->nv; i++)
        if (!r->aimed[i])
            aim_row(r, i);
    b = tile_block_of(tile, u, v, tile->block);
    tile->counts.blocks++;
    at.omega = nb_tile_solid_angle(tile, u, v, tile->block);
    at.budget = tile->budget / at.omega;
    at.list = tile->lists[at.level];
    at.groups = first_groups_of(tile, &b, TILE_FIRST_PART * at.budget, &at.spent);
    if (at.groups == 0)
        note_spent(tile, at.spent, at.omega);
    else
        descend(tile, &at);
}

void NB_TILE_KERNEL(nb_ray_tile *tile)
{
    nb_spot_tile *r = &tile->rays;
    memset(r->touched, 0, (size_t)r->nv);
    for (r->layer = 0; r->layer < (tile->only_count ? 1 : r->plan->sensor.layers);
         r->layer++) {
        memset(r->aimed, 0, (size_t)r->nv);
        for (int v = 0; v < r->nv; v += tile->block)
            for (int u = 0; u < r->nu; u += tile->block)
                if (nb_tile_wanted(tile, u, v, tile->block))
                    first_block(tile, u, v);
    }
}

#endif
