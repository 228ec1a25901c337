/* SPDX-License-Identifier: MIT */
/** Kernels that calculate rows of slopes from the sums of kernel_slope_sums.h, for the
 * instruction set that this file is compiled for. There are three kinds: for scenes with
 * one step per pixel (kernel_slope_light.h); for flat panels; and for curved panels, for
 * which pixel_sums.h contracts the sums. */
#ifndef NB_RENDER_KERNEL_SLOPES_H
#define NB_RENDER_KERNEL_SLOPES_H

#include <stddef.h>

#include "../physics/panel_pull.h"
#include "kernel_slope_light.h"
#include "kernel_slope_sums.h"
#include "pixel_sums.h"

/* --- pixels of a flat panel: rays, captured fractions, and the slopes of both by the
 * panel's position (physics/panel_pull.h), NB_W at once --- */

typedef struct lanes3 {
    vd2 x, y, z;
} lanes3;

NB_INLINE vd2 lanes_dot(lanes3 a, lanes3 b)
{
    return vd2_fma(a.x, b.x, vd2_fma(a.y, b.y, vd2_mul(a.z, b.z)));
}

/** a + k b */
NB_INLINE lanes3 lanes_add(lanes3 a, vd2 k, lanes3 b)
{
    return (lanes3){vd2_fma(k, b.x, a.x), vd2_fma(k, b.y, a.y), vd2_fma(k, b.z, a.z)};
}

NB_INLINE lanes3 lanes_scale(vd2 k, lanes3 a)
{
    return (lanes3){vd2_mul(k, a.x), vd2_mul(k, a.y), vd2_mul(k, a.z)};
}

NB_INLINE lanes3 lanes_of(nb_vec3 a)
{
    return (lanes3){vd2_set(a.x), vd2_set(a.y), vd2_set(a.z)};
}

NB_INLINE lanes3 direction_of(const rays *r)
{
    return (lanes3){r->x, r->y, r->z};
}

/** The part of v at right angles to the unit vector d. */
NB_INLINE lanes3 lanes_across(lanes3 v, lanes3 d)
{
    return lanes_add(v, vd2_scale(lanes_dot(v, d), -1.0), d);
}

/** Rays to one sub-pixel and layer of each pixel. */
typedef struct flat_ray {
    rays r;       /* rays to the mean depth of the photons that stop in the layer */
    lanes3 front; /* direction to the layer's face */
    vd2 front_inv_r, F, depth, captured; /* 1/m, m, m; captured: a fraction */
    double S;                            /* m */
    int layer;
} flat_ray;

/** Aim the rays of a line at the mean depth of the layer. */
NB_INLINE void aim_deep(const nb_vector_plan *p, const row_line *line, vd2 f, int subf,
                        flat_ray *a)
{
    const layer_row row = layer_row_of(p, line, a->layer);
    vd2 r2;
    a->r = points_at(p, f, line, subf);
    r2 = square_of(&a->r);
    a->r.inv_r = a->front_inv_r = vd2_rsqrt(r2);
    a->front = lanes_scale(a->front_inv_r, direction_of(&a->r));
    a->depth =
        depth_of(&row, a->F, vd2_mul(r2, a->front_inv_r), a->front_inv_r, &a->captured);
    go_deep(&a->r, &row, p->panel.normal, a->depth);
}

NB_INLINE void aim_flat(const nb_vector_plan *p, const row_line *line, vd2 f, int subf,
                        flat_ray *a)
{
    a->F = along_row(p, f, subf);
    if (p->sensor.mean_depth) {
        aim_deep(p, line, f, subf, a);
        return;
    }
    a->r = rays_to(p, f, line, subf);
    a->front = direction_of(&a->r);
    a->front_inv_r = a->r.inv_r;
    a->depth = vd2_set(0);
    a->captured = p->sensor.absorb ? capture(p, &a->r, a->layer) : vd2_set(1.0);
}

/** Slopes of the pixel's sum by a ray's direction, by the logarithm of its solid angle,
 * and by its captured fraction. */
typedef struct flat_slope {
    lanes3 direction;
    vd2 omega, capture;
} flat_slope;

/** nb_mean_depth_slope for each lane. */
NB_INLINE vd depth_slope(vd path)
{
    static const double series[6] = {-1.0 / 12,    1.0 / 240,      -1.0 / 6048,
                                     1.0 / 172800, -1.0 / 5322240, NB_DEPTH_SLOPE_5};
    vd e = vd_exp(-path), stopped = 1.0 - e;
    vl thin = (vl)(path < 0.5);
    stopped = vd_pick(thin, vd_set(1.0), stopped);
    return vd_pick(thin, vd_horner(series, 5, path * path),
                   e / (stopped * stopped) - 1.0 / (path * path));
}

/** Slope of the layer's captured fraction by the path. */
NB_INLINE vd capture_slope(vd path, int t)
{
    return (t + 1.0) * vd_exp(-(t + 1.0) * path) - (double)t * vd_exp(-t * path);
}

NB_INLINE void pull_add(vd2 *pull, int at, lanes3 x)
{
    pull[at] = vd2_add(pull[at], x.x);
    pull[at + 1] = vd2_add(pull[at + 1], x.y);
    pull[at + 2] = vd2_add(pull[at + 2], x.z);
}

/** nb_pull_layer for each lane. */
NB_STAGE lanes3 pull_layer(const nb_vector_plan *p, const flat_ray *a, vd2 capture,
                           lanes3 U, vd2 *pull)
{
    const nb_sensor *sensor = &p->sensor;
    const double T = sensor->layer_step;
    const lanes3 normal = lanes_of(p->panel.normal);
    vd2 g = lanes_dot(a->front, normal), y, by_y, by_g;
    y = (vd2){T * sensor->mu / g.a, T * sensor->mu / g.b};
    by_y = vd2_mul(capture,
                   (vd2){capture_slope(y.a, a->layer), capture_slope(y.b, a->layer)});
    if (sensor->mean_depth) {
        vd2 along = lanes_dot(U, normal);
        vd2 slope = {depth_slope(y.a), depth_slope(y.b)};
        by_y = vd2_fma(vd2_scale(along, T), slope, by_y);
        pull[PULL_STEP] = vd2_fma(along, vd2_scale(a->depth, 1 / T), pull[PULL_STEP]);
    }
    by_g = vd2_mul(by_y, y);
    pull[PULL_STEP] = vd2_scale_add(by_g, 1 / T, pull[PULL_STEP]);
    pull[PULL_MU] = vd2_scale_add(by_g, 1 / sensor->mu, pull[PULL_MU]);
    by_g = (vd2){-by_g.a / g.a, -by_g.b / g.b};
    pull_add(pull, PULL_NORMAL, lanes_add(lanes_scale(a->depth, U), by_g, a->front));
    return lanes_add(U, vd2_mul(by_g, a->front_inv_r), lanes_across(normal, a->front));
}

/** nb_panel_pull for each lane of a flat panel: add a ray's slopes to pull[PULL_SUMS]. */
NB_INLINE void pull_ray(const nb_vector_plan *p, const flat_ray *a, const flat_slope *by,
                        vd2 *pull)
{
    const nb_panel *panel = &p->panel;
    const double O = a->layer * p->sensor.layer_step;
    const lanes3 d = direction_of(&a->r);
    lanes3 X = lanes_across(by->direction, d);
    X = lanes_scale(
        a->r.inv_r,
        lanes_add(X, vd2_scale(by->omega, panel->point_pixel ? -2.0 : -3.0), d));
    if (!panel->point_pixel)
        pull[PULL_CLOSE] =
            vd2_scale_add(by->omega, 1 / panel->close_distance, pull[PULL_CLOSE]);
    if (p->sensor.absorb)
        X = pull_layer(p, a, by->capture, X, pull);
    pull_add(pull, PULL_PIX0, X);
    pull_add(pull, PULL_FAST, lanes_scale(a->F, X));
    pull_add(pull, PULL_SLOW, lanes_scale(vd2_set(a->S), X));
    if (a->layer == 0)
        return;
    pull_add(pull, PULL_NORMAL, lanes_scale(vd2_set(O), X));
    pull[PULL_STEP] =
        vd2_scale_add(lanes_dot(X, lanes_of(panel->normal)), a->layer, pull[PULL_STEP]);
}

/** A block's pixels while their rays are added. */
typedef struct flat_block {
    vd2 total[SLOPE_SUMS], captured; /* captured: sum of the rays' weights */
    vd2 pull[PULL_SUMS];
    flat_ray first;
} flat_block;

/** Add a ray's sums to the block. */
NB_INLINE void add_flat_ray(const nb_vector_slopes *t, const nb_vector_plan *p,
                            const flat_ray *a, const vd2 *sum, flat_block *block)
{
    const int every = p->scene.oversample_omega;
    const vd2 omega = every ? solid_angle(&p->panel, &a->r) : vd2_set(1.0);
    const vd2 weight = vd2_mul(a->captured, omega);
    flat_slope by;
    vd2 image, turn;
    block->captured = vd2_add(block->captured, weight);
    for (int i = 0; i < slope_sums_of((int)t->level); i++)
        block->total[i] = vd2_fma(sum[i], weight, block->total[i]);
    if (!t->places)
        return;
    image = vd2_scale_add(sum[SLOPE_IMAGE], t->unit,
                          vd2_set(t->weights * p->scene.background));
    turn = vd2_scale(weight, -t->unit);
    by.direction =
        lanes_scale(turn, (lanes3){sum[SLOPE_V], sum[SLOPE_V + 1], sum[SLOPE_V + 2]});
    by.omega = every ? vd2_mul(weight, image) : vd2_set(0);
    by.capture = vd2_mul(image, omega);
    pull_ray(p, a, &by, block->pull);
}

/** Factors that are calculated once per pixel. */
typedef struct flat_once {
    vd2 factor;       /* product of all factors and the scale */
    vd2 omega;        /* the solid angle times the scale */
    vd2 polarization; /* slope by Kahn's factor */
    vd2 beam[2];      /* slopes of the polarization by turns of the beam */
    lanes3 turn;      /* slope of the polarization by the direction */
} flat_once;

/** nb_polarization_turn for each lane, with the first source. */
NB_STAGE vd2 polarization_turn(const nb_vector_slopes *t, const nb_vector_plan *p,
                               const flat_ray *a, int axis)
{
    const nb_beam *beam = &p->scene.beam;
    const nb_vec3 by = t->job->beam[axis][0], incident = beam->sources->incident;
    const nb_turning_frame f = nb_turning_frame_of(incident, beam->polar_axis, by);
    const vd2 cos = vd2_mul(dot_ray(&a->r, incident), dot_ray(&a->r, by)),
              E = vd2_mul(dot_ray(&a->r, f.E), dot_ray(&a->r, f.dE)),
              B = vd2_mul(dot_ray(&a->r, f.B), dot_ray(&a->r, f.dB));
    return vd2_scale_add(vd2_add(B, vd2_scale(E, -1.0)), beam->polarization, cos);
}

NB_INLINE flat_once once_of(const nb_vector_slopes *t, const nb_vector_plan *p,
                            const flat_ray *a)
{
    const nb_scene *sc = &p->scene;
    const nb_vector_source *b = p->sources;
    const double K = sc->beam.polarization;
    flat_once x = {.omega = vd2_set(sc->intensity_scale), .polarization = vd2_set(0)};
    x.turn = (lanes3){x.polarization, x.polarization, x.polarization};
    x.beam[0] = x.beam[1] = x.polarization;
    x.factor = pixel_factor(p, &a->r);
    if (!sc->oversample_omega)
        x.omega = vd2_mul(x.omega, solid_angle(&p->panel, &a->r));
    if (!sc->beam.nopolar && !sc->oversample_polar) {
        vd2 c = dot_ray(&a->r, b->incident), e = dot_ray(&a->r, b->E),
            s = dot_ray(&a->r, b->B);
        x.polarization = vd2_scale(vd2_fma(vd2_scale(e, -1.0), e, vd2_mul(s, s)), 0.5);
        x.turn = lanes_scale(c, lanes_of(b->incident));
        x.turn = lanes_add(x.turn, vd2_scale(s, K), lanes_of(b->B));
        x.turn = lanes_add(x.turn, vd2_scale(e, -K), lanes_of(b->E));
        for (int k = 0; k < 2; k++)
            if (t->job->beam[k])
                x.beam[k] = polarization_turn(t, p, a, k);
    }
    return x;
}

/** Multiply the slopes by the pixel's factors, and add the slopes of the factors. */
NB_INLINE void pull_once(const nb_vector_plan *p, const flat_once *once, vd2 image,
                         flat_block *block)
{
    flat_slope by = {.capture = vd2_set(0)};
    for (int i = 0; i < PULL_SUMS; i++)
        block->pull[i] = vd2_mul(block->pull[i], once->factor);
    by.direction = lanes_scale(vd2_mul(image, once->omega), once->turn);
    by.omega = p->scene.oversample_omega ? vd2_set(0) : vd2_mul(image, once->factor);
    pull_ray(p, &block->first, &by, block->pull);
}

/* --- rows --- */

#define NB_SLOPE_PASTE2(a, b) a##b
#define NB_SLOPE_PASTE(a, b) NB_SLOPE_PASTE2(a, b)
#define NB_SLOPE_KERNEL NB_SLOPE_PASTE(nb_slopes_, NB_KERNEL_ISA)
#define NB_SLOPE_FLOATS NB_SLOPE_PASTE(nb_slope_floats_, NB_KERNEL_ISA)
#define NB_SLOPE_DOT NB_SLOPE_PASTE(nb_slope_dot_, NB_KERNEL_ISA)

/** DO(law, phase, level): all cases with separate loops. */
#define NB_SLOPE_CASES_OF(DO, law, phase)                                                \
    DO(law, phase, NB_SLOPES_IMAGE)                                                      \
    DO(law, phase, NB_SLOPES_H)                                                          \
    DO(law, phase, NB_SLOPES_N)                                                          \
    DO(law, phase, NB_SLOPES_ALL)
#define NB_SLOPE_CASES(DO)                                                               \
    NB_SLOPE_CASES_OF(DO, NB_LAW_FRINGES, NB_PHASE_INDEX)                                \
    NB_SLOPE_CASES_OF(DO, NB_LAW_FRINGES, NB_PHASE_FRINGES)                              \
    NB_SLOPE_CASES_OF(DO, NB_LAW_FRINGES, NB_PHASE_PARTS)                                \
    NB_SLOPE_CASES_OF(DO, NB_LAW_FRINGES, NB_PHASE_REAL)                                 \
    NB_SLOPE_CASES_OF(DO, NB_LAW_DECAY, NB_PHASE_REAL)
#define NB_SLOPE_CASE(law, phase, level)                                                 \
    (16 * (int)(law) + 4 * (int)(phase) + (int)(level))

/* One function for each case: the code that gcc makes of a single function for all cases
 * is far slower. */
#define NB_DO(law, phase, level)                                                         \
    NB_STAGE void sums_##law##_##phase##_##level(                                        \
        const nb_vector_slopes *t, const nb_vector_plan *p, const rays *ray,             \
        const slope_sources *q, slope_run *r)                                            \
    {                                                                                    \
        slope_sums(t, p, ray, q, r, (slope_case){law, phase, level});                    \
    }
NB_SLOPE_CASES(NB_DO)
#undef NB_DO

NB_STAGE void ray_sums(const nb_vector_slopes *t, const nb_vector_plan *p,
                       const rays *ray, const slope_sources *q, slope_run *r)
{
    switch (NB_SLOPE_CASE(nb_shape_law(p->scene.lattice.shape), t->phase, t->level)) {
#define NB_DO(law, phase, level)                                                         \
    case NB_SLOPE_CASE(law, phase, level):                                               \
        sums_##law##_##phase##_##level(t, p, ray, q, r);                                 \
        break;
        NB_SLOPE_CASES(NB_DO)
#undef NB_DO
    }
}

/** The source's weight, or 0 in lanes where dmin culls the crystal. */
NB_INLINE vd slope_weight(const nb_vector_plan *p, const nb_vector_source *b, vd x, vd y,
                          vd z)
{
    const double dmin = p->scene.factors.dmin;
    return dmin > 0 ? (vd)(~culled(dmin, x, y, z) & (vl)vd_set(b->weight))
                    : vd_set(b->weight);
}

/** Set the sources' weights, and q of each direction, for a block's rays. */
NB_STAGE void aim_sources(const nb_vector_slopes *t, const nb_vector_plan *p,
                          const rays *ray, slope_sources *q)
{
    const nb_vec3 e = t->job->spindle;
    const vf spindle[3] = {vf_set((float)e.x), vf_set((float)e.y), vf_set((float)e.z)};
    int s, k, i;
    for (s = 0; s < p->scene.beam.n_sources; s++) {
        const nb_vector_source *b = &p->sources[s];
        const q_vectors v = scattering_vector(b, ray);
        q->weight[s] = vf_pack(slope_weight(p, b, v.x.a, v.y.a, v.z.a),
                               slope_weight(p, b, v.x.b, v.y.b, v.z.b));
    }
    if (t->level < NB_SLOPES_ALL)
        return;
    for (k = 0; k < t->n_groups; k++) {
        const nb_vec3 u = p->sources[t->groups[k].first].incident;
        slope_aim *aim = &q->aim[t->groups[k].direction];
        if (k > 0 && t->groups[k].direction == t->groups[k - 1].direction)
            continue;
        aim->q[0] = slope_pack(vd2_add(ray->x, vd2_set(-u.x)), 1);
        aim->q[1] = slope_pack(vd2_add(ray->y, vd2_set(-u.y)), 1);
        aim->q[2] = slope_pack(vd2_add(ray->z, vd2_set(-u.z)), 1);
        for (i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            aim->about_spindle[i] = aim->q[j] * spindle[l] - aim->q[l] * spindle[j];
        }
    }
}

/** A block's pixels while their rays are added. */
typedef struct slope_block {
    const nb_vector_slopes *t;
    const nb_vector_plan *plan;
    nb_pixel_place pixels[NB_W];
    nb_pull_point points[NB_W], first[NB_W];
    nb_pixel_totals totals[NB_W];
    int lanes;
} slope_block;

/** Write the numbers of all lanes in the order of pixels. */
NB_INLINE void spread_lanes(const vd2 *x, double *to)
{
    int i;
    for (i = 0; i < NB_H; i++) {
        to[(int)nb_lane[0][i]] = x->a[i];
        to[(int)nb_lane[1][i]] = x->b[i];
    }
}

/** Set the ray's sums of one lane. Fixed-point derivatives are by -h, so g and v change
 * sign. */
static void lane_sums(const slope_block *b, const double (*total)[NB_W], int lane,
                      nb_slope_sums *to)
{
    const nb_scene *sc = &b->plan->scene;
    double sum[SLOPE_SUMS];
    int i;
    for (i = 0; i < SLOPE_SUMS; i++)
        sum[i] = b->t->unit * total[i][lane];
    nb_clear_sums(b->t->job, to);
    to->background = b->t->weights;
    to->crystal = sum[SLOPE_IMAGE];
    to->image = sum[SLOPE_IMAGE] + sc->background * to->background;
    memcpy(to->index, sum + SLOPE_H, sizeof to->index);
    memcpy(to->cells, sum + SLOPE_N, sizeof to->cells);
    to->ray = nb_v3(-sum[SLOPE_V], -sum[SLOPE_V + 1], -sum[SLOPE_V + 2]);
    to->phi = -sum[SLOPE_PHI];
    to->osc = -sum[SLOPE_OSC];
    for (i = 0; i < NB_TURNS; i++)
        to->mosaic[i] = -sum[nb_slope_turn(i)];
    to->fudge = -2.0 / b->t->width * sum[SLOPE_FUDGE];
    to->wave = -(to->index[0] + to->index[4] + to->index[8]);
    to->spectrum = -sum[SLOPE_DISPERSION];
    to->beam[0] = sum[SLOPE_BEAM];
    to->beam[1] = sum[SLOPE_BEAM + 1];
    /* table without entries: every F is default_F */
    if (sc->factors.table.default_F != 0)
        to->default_F = 2 * sum[SLOPE_IMAGE] / sc->factors.table.default_F;
}

/** The block's rays to one sub-pixel and layer. b->points holds the same rays. */
static rays block_rays(slope_block *b, int layer, int subf, int subs)
{
    rays r;
    int i, half, lane;
    for (lane = 0; lane < NB_W; lane++)
        nb_pull_point_to(&b->plan->scene, &b->pixels[lane], subf, subs, layer,
                         &b->points[lane]);
    memset(&r, 0, sizeof r);
    for (half = 0; half < 2; half++)
        for (i = 0; i < NB_H; i++) {
            nb_vec3 d = b->points[(int)nb_lane[half][i]].ray.direction;
            (half ? &r.x.b : &r.x.a)[0][i] = d.x;
            (half ? &r.y.b : &r.y.a)[0][i] = d.y;
            (half ? &r.z.b : &r.z.a)[0][i] = d.z;
        }
    return r;
}

static void add_block_rays(slope_block *b, int layer, int subf, int subs)
{
    const int dark = b->plan->table.kind == NB_F_ZERO;
    slope_sources q;
    slope_run run;
    nb_slope_sums sums;
    double total[SLOPE_SUMS][NB_W];
    rays r = block_rays(b, layer, subf, subs);
    int lane, i;
    if (layer + subf + subs == 0)
        memcpy(b->first, b->points, sizeof b->first);
    if (dark) {
        memset(run.total, 0, sizeof run.total);
    } else {
        aim_sources(b->t, b->plan, &r, &q);
        ray_sums(b->t, b->plan, &r, &q, &run);
    }
    for (i = 0; i < SLOPE_SUMS; i++)
        spread_lanes(&run.total[i], total[i]);
    for (lane = 0; lane < b->lanes; lane++) {
        lane_sums(b, (const double(*)[NB_W])total, lane, &sums);
        nb_totals_add(b->t->job, &b->pixels[lane], &b->points[lane], &sums,
                      &b->totals[lane]);
    }
}

/** Slopes of the block's first n pixels, which are set. */
static void block_slopes(slope_block *b, int n, double *out, size_t stride)
{
    const int os = b->plan->scene.oversample, panel = (int)(b->plan - b->t->plans);
    int lane, layer, subf, subs;
    b->lanes = n;
    for (lane = 0; lane < n; lane++)
        nb_clear_totals(b->t->job, &b->totals[lane]);
    for (layer = 0; layer < b->pixels->sensor->layers; layer++)
        for (subs = 0; subs < os; subs++)
            for (subf = 0; subf < os; subf++)
                add_block_rays(b, layer, subf, subs);
    for (lane = 0; lane < n; lane++) {
        nb_totals_finish(b->t->job, &b->pixels[lane], &b->first[lane], &b->totals[lane]);
        nb_totals_contract(b->t->job, panel, &b->totals[lane], out + lane, stride);
    }
}

static void flat_sums(const nb_vector_slopes *t, const nb_vector_plan *p, vd2 f, int s,
                      flat_block *block)
{
    const int os = p->scene.oversample;
    slope_sources q;
    slope_run run;
    flat_ray a;
    int subf, subs;
    memset(block, 0, offsetof(flat_block, first));
    memset(run.total, 0, sizeof run.total);
    for (a.layer = 0; a.layer < p->sensor.layers; a.layer++)
        for (subs = 0; subs < os; subs++) {
            const row_line line = line_of(p, s, subs, a.layer);
            a.S = nb_subpixel(p->panel.pixel_slow, os, s, subs);
            for (subf = 0; subf < os; subf++) {
                aim_flat(p, &line, f, subf, &a);
                if (a.layer + subs + subf == 0)
                    block->first = a;
                if (p->table.kind != NB_F_ZERO) {
                    aim_sources(t, p, &a.r, &q);
                    ray_sums(t, p, &a.r, &q, &run);
                }
                add_flat_ray(t, p, &a, run.total, block);
            }
        }
}

NB_INLINE void store_lanes(vd2 x, int n, double *to)
{
    double all[NB_W];
    spread_lanes(&x, all);
    memcpy(to, all, (size_t)n * sizeof *to);
}

/** The slope by a parameter. image: photons without the factor of the polarization. */
NB_INLINE vd2 flat_slope_by(const nb_slope_line *line, const nb_place_line *place,
                            const flat_block *block, const flat_once *once, vd2 image)
{
    vd2 sum = vd2_scale(block->captured, line->captured);
    int k;
    for (k = 0; k < line->n; k++)
        sum = vd2_scale_add(block->total[line->sum[k]], line->by[k], sum);
    sum = vd2_mul(sum, once->factor);
    if (line->polarization != 0)
        sum = vd2_scale_add(vd2_mul(image, once->polarization), line->polarization, sum);
    for (k = 0; k < 2; k++)
        if (line->beam[k] != 0)
            sum = vd2_scale_add(vd2_mul(image, once->beam[k]), line->beam[k], sum);
    for (k = 0; place && k < place->n; k++)
        sum = vd2_scale_add(block->pull[place->sum[k]], place->by[k], sum);
    return sum;
}

/** Slopes of the n pixels of row s at fast[]; lanes after the last pixel repeat that
 * pixel. */
NB_STAGE void flat_slopes(const nb_vector_slopes *t, const nb_vector_plan *p, int s,
                          const double *fast, int n, double *out, size_t stride)
{
    const nb_place_line *places =
        t->places ? t->places + (size_t)(p - t->plans) * (size_t)t->job->count : NULL;
    flat_block block;
    flat_once once;
    vd2 image;
    int i;
    flat_sums(t, p, block_of(fast), s, &block);
    once = once_of(t, p, &block.first);
    image = vd2_scale_add(block.total[SLOPE_IMAGE], t->unit,
                          vd2_scale(block.captured, t->weights * p->scene.background));
    store_lanes(vd2_mul(image, once.factor), n, out);
    if (places)
        pull_once(p, &once, image, &block);
    image = vd2_mul(image, once.omega);
    for (i = 0; i < t->job->count; i++)
        store_lanes(
            flat_slope_by(&t->lines[i], places ? &places[i] : NULL, &block, &once, image),
            n, out + (size_t)(i + 1) * stride);
}

/** Pixels of a row, up to SLOPE_BATCH blocks at a time. */
typedef struct slope_batch {
    const nb_vector_slopes *t;
    const nb_vector_plan *plan;
    double *fast; /* [SLOPE_BATCH NB_W] */
    int n, slow;
    /* destination of slopes; if it is NULL, slopes times dloss are added to sums. Each
     * batch moves `to` or dloss on to the next pixels */
    light_planes to;
    const double *dloss;
    double *sums;
} slope_batch;

static void curved_slopes(const slope_batch *b, int n, const double *fast, double *out,
                          size_t stride)
{
    const nb_scene *sc = b->t->job->scene;
    const nb_panel *panel = &sc->panels[b->plan - b->t->plans];
    slope_block block;
    block.t = b->t;
    block.plan = b->plan;
    for (int k = 0; k < NB_W; k++)
        block.pixels[k] =
            (nb_pixel_place){panel, &sc->sensors[panel->sensor], (int)fast[k], b->slow,
                             nb_slope_job_moves(b->t->job)};
    block_slopes(&block, n, out, stride);
}

/** Repeat the last pixel in the other lanes of the last block. */
NB_INLINE void fill_block(slope_batch *b)
{
    for (int i = b->n; i % NB_W != 0; i++)
        b->fast[i] = b->fast[b->n - 1];
}

static void put_batch(slope_batch *b)
{
    if (b->t->light)
        light_slopes(b->t, b->plan, b->slow, b->fast, b->n, &b->to);
    for (int i = 0; i < b->n && !b->t->light; i += NB_W) {
        const int n = b->n - i < NB_W ? b->n - i : NB_W;
        if (b->plan->panel.curved)
            curved_slopes(b, n, b->fast + i, b->to.doubles + i, b->to.stride);
        else
            flat_slopes(b->t, b->plan, b->slow, b->fast + i, n, b->to.doubles + i,
                        b->to.stride);
    }
    if (b->to.floats)
        b->to.floats += b->n;
    else
        b->to.doubles += b->n;
}

static void finish_batch(slope_batch *b)
{
    if (b->n == 0)
        return;
    fill_block(b);
    if (b->to.floats || b->to.doubles) {
        put_batch(b);
    } else {
        light_dot(b->t, b->plan, b->slow, b->fast, b->n, b->dloss, b->sums);
        b->dloss += b->n;
    }
    b->n = 0;
}

/** Add pixels from `fast` on to the batch, up to n or until it is full. Returns the
 * number of added pixels. */
NB_INLINE int take_pixels(slope_batch *b, int fast, int n)
{
    const int room = SLOPE_BATCH * NB_W - b->n, taken = n < room ? n : room;
    double *to = b->fast + b->n;
    int k, i;
    vd next;
    for (i = 0; i < NB_H; i++)
        next[i] = fast + i;
    for (k = 0; k + NB_H <= taken; k += NB_H, next += (double)NB_H)
        memcpy(to + k, &next, sizeof next);
    for (; k < taken; k++)
        to[k] = fast + k;
    b->n += taken;
    return taken;
}

/** Run the pixels of all spans of a row in full batches; the pixels of a batch need not
 * be neighbours. */
static void take_spans(slope_batch *b, const nb_span *spans, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n;) {
            k += take_pixels(b, spans[i].fast + k, spans[i].n - k);
            if (b->n == SLOPE_BATCH * NB_W)
                finish_batch(b);
        }
    finish_batch(b);
}

/** Run the spans of a row. b has the destination of the numbers. */
static void run_spans(slope_batch b, const nb_vector_slopes *t, const nb_span *spans,
                      size_t n)
{
    double fast[SLOPE_BATCH * NB_W];
    b.t = t;
    b.fast = fast;
    b.plan = &t->plans[spans->panel];
    b.slow = spans->slow;
    take_spans(&b, spans, n);
}

void NB_SLOPE_KERNEL(const void *t, const nb_span *spans, size_t n, double *out,
                     size_t stride)
{
    run_spans((slope_batch){.to = {out, NULL, stride}}, t, spans, n);
}

void NB_SLOPE_FLOATS(const void *t, const nb_span *spans, size_t n, float *out,
                     size_t stride)
{
    run_spans((slope_batch){.to = {NULL, out, stride}}, t, spans, n);
}

void NB_SLOPE_DOT(const void *t, const nb_span *spans, size_t n, const double *dloss,
                  double *sums)
{
    run_spans((slope_batch){.dloss = dloss, .sums = sums}, t, spans, n);
}

#endif
