/* SPDX-License-Identifier: MIT */
/** Slopes of pixels of a flat panel: rays, what they capture, and how both follow the panel's place
 * (physics/panel_pull.h), NB_W pixels at once. */
#ifndef NB_DERIVE_KERNEL_FLAT_H
#define NB_DERIVE_KERNEL_FLAT_H

#include "../physics/panel_pull.h"
#include "kernel_sums.h"

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

/** v less its part along the unit vector d. */
NB_INLINE lanes3 lanes_across(lanes3 v, lanes3 d)
{
    return lanes_add(v, vd2_scale(lanes_dot(v, d), -1.0), d);
}

/** Rays to a sub-pixel and layer. */
typedef struct flat_ray {
    rays r;       /* to the depth of the photons that stop in the layer */
    lanes3 front; /* direction to the layer's face */
    vd2 front_inv_r, F, depth, captured; /* 1/m, m, m */
    double S;                            /* m */
    int layer;
} flat_ray;

/** The line's rays to their mean depth. */
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

/** Slopes by a ray's direction, by the logarithm of its solid angle, and by what is captured of it. */
typedef struct flat_slope {
    lanes3 direction;
    vd2 omega, capture;
} flat_slope;

/** nb_mean_depth_slope */
NB_INLINE vd depth_slope(vd path)
{
    static const double series[6] = {-1.0 / 12,      1.0 / 240,
                                     -1.0 / 6048,    1.0 / 172800,
                                     -1.0 / 5322240, 7601.0 / 1307674368000.0};
    vd e = vd_exp(-path), stopped = 1.0 - e;
    vl thin = (vl)(path < 0.5);
    stopped = vd_pick(thin, vd_set(1.0), stopped);
    return vd_pick(thin, vd_horner(series, 5, path * path),
                   e / (stopped * stopped) - 1.0 / (path * path));
}

/** Slope by the path of what the layer captures. */
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

/** As nb_pull_layer. */
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

/** pull[PULL_SUMS] += as nb_panel_pull. */
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
    vd2 total[SLOPE_SUMS], captured; /* captured: of the rays' weights */
    vd2 pull[PULL_SUMS];
    flat_ray first;
} flat_block;

/** A ray's sums. */
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

/** Factors that are taken once a pixel. */
typedef struct flat_once {
    vd2 factor;       /* all, with the scale */
    vd2 omega;        /* of them the solid angle, with the scale */
    vd2 polarization; /* slope by Kahn's factor */
    lanes3 turn;      /* slope of the polarization by the direction */
} flat_once;

NB_INLINE flat_once once_of(const nb_vector_plan *p, const flat_ray *a)
{
    const nb_scene *sc = &p->scene;
    const nb_vector_source *b = p->sources;
    const double K = sc->beam.polarization;
    flat_once x = {.omega = vd2_set(sc->intensity_scale), .polarization = vd2_set(0)};
    x.turn = (lanes3){x.polarization, x.polarization, x.polarization};
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
    }
    return x;
}

/** Put the pixel's factors to what the rays pull, and their own. */
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

#endif
