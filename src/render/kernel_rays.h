/* SPDX-License-Identifier: MIT */
/** Geometry of a block of NB_W pixels in double, as in src/physics/ray.h. */
#ifndef NB_RENDER_KERNEL_RAYS_H
#define NB_RENDER_KERNEL_RAYS_H

#include "../physics/ray.h"
#include "../terms/functions.h"
#include "vector_plan.h"

/** One value for each pixel of a block. */
typedef struct vd2 {
    vd a, b;
} vd2;

NB_INLINE vd2 vd2_set(double x)
{
    return (vd2){vd_set(x), vd_set(x)};
}
NB_INLINE vd2 vd2_add(vd2 x, vd2 y)
{
    return (vd2){x.a + y.a, x.b + y.b};
}
NB_INLINE vd2 vd2_mul(vd2 x, vd2 y)
{
    return (vd2){x.a * y.a, x.b * y.b};
}
NB_INLINE vd2 vd2_scale(vd2 x, double k)
{
    return (vd2){x.a * k, x.b * k};
}
/** x y + z */
NB_INLINE vd2 vd2_fma(vd2 x, vd2 y, vd2 z)
{
    return (vd2){vd_fma(x.a, y.a, z.a), vd_fma(x.b, y.b, z.b)};
}
/** x k + z */
NB_INLINE vd2 vd2_scale_add(vd2 x, double k, vd2 z)
{
    return vd2_fma(x, vd2_set(k), z);
}

NB_INLINE vd2 vd2_rsqrt(vd2 x)
{
    return (vd2){vd_rsqrt(x.a), vd_rsqrt(x.b)};
}

/** A ray from the sample to a sub-pixel and layer of each pixel. */
typedef struct rays {
    vd2 x, y, z; /* direction, unit */
    vd2 inv_r;   /* 1/m */
} rays;

/** Positions along one row of sub-pixels: U alpha + V beta. On a flat detector (alpha,
 * beta) is (1, metres along fast); on a curved one (cos, sin) of the angle along fast. */
typedef struct row_line {
    nb_vec3 U, V;
} row_line;

NB_INLINE row_line line_of(const nb_vector_plan *p, int s, int subs, int layer)
{
    const nb_panel *panel = &p->panel;
    const nb_sensor *sensor = &p->sensor;
    double S = nb_subpixel(panel->pixel_slow, p->scene.oversample, s, subs),
           O = layer * sensor->layer_step;
    row_line line;
    if (panel->curved) {
        /* photons cross the curved sensor at a right angle, so that all pixels have the
         * same depth */
        if (sensor->mean_depth) {
            double path = sensor->layer_step * sensor->mu;
            O += nb_mean_depth(path, nb_stopped(path)) * sensor->layer_step;
        }
        double v = (S - panel->Sbeam) / panel->distance, r = panel->distance + O;
        line.U = nb_add(nb_scale(r * cos(v), panel->beam),
                        nb_scale(r * sin(v), panel->curved_slow));
        line.V = nb_scale(r, panel->curved_fast);
    } else {
        line.U = nb_add(nb_scale(S, panel->slow),
                        nb_add(nb_scale(O, panel->normal), panel->pix0));
        line.V = panel->fast;
    }
    return line;
}

/** Column numbers of the block's pixels, as doubles. Pixels after the region repeat the
 * region's last pixel. */
NB_INLINE vd2 block_pixels(const nb_vector_plan *p, int f0)
{
    const vd last = vd_set(p->region.fmax);
    vd2 f = {nb_lane[0] + (double)f0, nb_lane[1] + (double)f0};
    if (f0 + NB_W - 1 > p->region.fmax)
        f = (vd2){vd_min(f.a, last), vd_min(f.b, last)};
    return f;
}

/** Destination of pixels of a row of the image. */
typedef struct row_output {
    float *first;   /* pixel `start` */
    int start, end; /* first pixel, and one past the last */
} row_output;

/** Write the block whose first pixel is f0; pixels from out->end on are left out. */
NB_INLINE void store_block(const row_output *out, int f0, vf v)
{
    float value[NB_W], *to = out->first + (f0 - out->start);
    int i;
    if (f0 + NB_W <= out->end) {
        memcpy(to, &v, sizeof v);
        return;
    }
    memcpy(value, &v, sizeof value);
    for (i = 0; i < NB_W && f0 + i < out->end; i++)
        to[i] = value[i];
}

/** Cosine and sine of the curved detector's angle at sub-pixel subf. */
NB_INLINE void curved_columns(const nb_vector_plan *p, vd f, int subf, vd *cosine,
                              vd *sine)
{
    int i;
    for (i = 0; i < NB_H; i++) {
        size_t at = (size_t)((int)f[i] - p->region.fmin) * p->scene.oversample + subf;
        (*cosine)[i] = p->cos_u[at];
        (*sine)[i] = p->sin_u[at];
    }
}

/** Metres along fast from the edge to a sub-pixel of each pixel. */
NB_INLINE vd2 along_row(const nb_vector_plan *p, vd2 f, int subf)
{
    return vd2_scale_add(f, p->panel.pixel_fast, vd2_set(p->edge * (subf + 0.5)));
}

/** Positions of the block's points, m. `aim` sets inv_r. */
NB_INLINE rays points_at(const nb_vector_plan *p, vd2 f, const row_line *line, int subf)
{
    const nb_vec3 U = line->U, V = line->V;
    rays r;
    if (p->panel.curved) {
        vd2 c = vd2_set(0), s = vd2_set(0);
        curved_columns(p, f.a, subf, &c.a, &s.a);
        curved_columns(p, f.b, subf, &c.b, &s.b);
        r.x = vd2_scale_add(s, V.x, vd2_scale(c, U.x));
        r.y = vd2_scale_add(s, V.y, vd2_scale(c, U.y));
        r.z = vd2_scale_add(s, V.z, vd2_scale(c, U.z));
    } else {
        vd2 F = along_row(p, f, subf);
        r.x = vd2_scale_add(F, V.x, vd2_set(U.x));
        r.y = vd2_scale_add(F, V.y, vd2_set(U.y));
        r.z = vd2_scale_add(F, V.z, vd2_set(U.z));
    }
    return r;
}

NB_INLINE vd2 square_of(const rays *r)
{
    return vd2_fma(r->x, r->x, vd2_fma(r->y, r->y, vd2_mul(r->z, r->z)));
}

/** Turn positions into directions and set inv_r. */
NB_INLINE void aim(rays *r)
{
    r->inv_r = vd2_rsqrt(square_of(r));
    r->x = vd2_mul(r->x, r->inv_r);
    r->y = vd2_mul(r->y, r->inv_r);
    r->z = vd2_mul(r->z, r->inv_r);
}

NB_INLINE rays rays_to(const nb_vector_plan *p, vd2 f, const row_line *line, int subf)
{
    rays r = points_at(p, f, line, subf);
    aim(&r);
    return r;
}

NB_INLINE vd2 dot_ray(const rays *r, nb_vec3 a)
{
    return vd2_scale_add(r->x, a.x, vd2_scale_add(r->y, a.y, vd2_scale(r->z, a.z)));
}

/** nb_solid_angle by lanes. */
NB_INLINE vd2 solid_angle(const nb_panel *panel, const rays *r)
{
    vd2 omega = vd2_scale(vd2_mul(r->inv_r, r->inv_r), panel->pixel_area), sine;
    if (!panel->curved)
        return panel->point_pixel
                   ? omega
                   : vd2_mul(omega, vd2_scale(r->inv_r, panel->close_distance));
    if (!panel->exact_omega)
        return omega;
    sine = dot_ray(r, panel->curved_fast);
    omega = vd2_scale_add(vd2_mul(sine, sine), -1.0, vd2_set(1.0));
    omega =
        (vd2){vd_sqrt(vd_max(omega.a, vd_set(0))), vd_sqrt(vd_max(omega.b, vd_set(0)))};
    return vd2_scale(omega, panel->pixel_area / (panel->distance * panel->distance));
}

NB_INLINE vd capture_at(vd depth, int layer)
{
    return vd_exp(-layer * depth) - vd_exp(-(layer + 1) * depth);
}

/** Fraction of the photons that stop in a layer of a sensor with absorption. */
NB_INLINE vd2 capture(const nb_vector_plan *p, const rays *r, int layer)
{
    vd2 parallax = p->panel.curved ? vd2_set(1.0) : dot_ray(r, p->panel.normal);
    double depth = p->sensor.layer_step * p->sensor.mu;
    return (vd2){capture_at(depth / parallax.a, layer),
                 capture_at(depth / parallax.b, layer)};
}

/** A row of points on the front face of a layer. */
typedef struct layer_row {
    int layer;
    /* 1: the slope is 0, and the layer is thin compared with the height */
    int plain;
    double step, path; /* thickness of the layer, in m and in attenuation lengths */
    /* height + F slope: distance in m along the normal, from the sample to the point F */
    double height, slope;
} layer_row;

/** A series gives 1/|X|, X = P + depth normal, if |X|^2 / |P|^2 - 1 is below this. */
#define NB_SERIES_LIMIT 0.02

NB_INLINE layer_row layer_row_of(const nb_vector_plan *p, const row_line *line, int layer)
{
    const nb_sensor *sensor = &p->sensor;
    layer_row row = {layer,
                     0,
                     sensor->layer_step,
                     sensor->layer_step * sensor->mu,
                     nb_dot(line->U, p->panel.normal),
                     nb_dot(line->V, p->panel.normal)};
    double ratio = row.step / fabs(row.height);
    row.plain = fabs(row.slope) < 1e-15 && ratio * (2.0 + ratio) < NB_SERIES_LIMIT;
    return row;
}

/** nb_capture and nb_mean_depth with one exponential. path: in attenuation lengths;
 * inverse: 1/path; thin: path may be below NB_THIN_LAYER. */
NB_INLINE vd mean_depth_at(vd path, vd inverse, int layer, int thin, vd *capture)
{
    vd left, stopped = vd_decay(path, &left), depth = inverse + (1.0 - 1.0 / stopped);
    *capture = stopped * vd_power(left, layer);
    return thin ? vd_pick((vl)(path * path < NB_THIN_LAYER * NB_THIN_LAYER),
                          vd_fma(path, vd_set(-1.0 / 12), vd_set(0.5)), depth)
                : depth;
}

/** 1/sqrt(1 + e), |e| <= NB_SERIES_LIMIT. */
NB_INLINE vd inverse_root_near_one(vd e)
{
    static const double c[9] = {1.0,          -1.0 / 2,      3.0 / 8,
                                -5.0 / 16,    35.0 / 128,    -63.0 / 256,
                                231.0 / 1024, -429.0 / 2048, 6435.0 / 32768};
    return vd_horner(c, 8, e);
}

/** Mean depth of a layer, m. length, inv_r: of rays to its front face. *captured:
 * fraction of the photons that stop in the layer. */
NB_INLINE vd2 depth_of(const layer_row *row, vd2 F, vd2 length, vd2 inv_r, vd2 *captured)
{
    const int thin = row->path < NB_THIN_LAYER; /* a ray's path is at least row->path */
    vd2 inverse, path, depth;
    if (row->plain) {
        inverse = vd2_scale(inv_r, row->height / row->path);
        path = vd2_scale(length, row->path / row->height);
    } else {
        vd2 height = vd2_scale_add(F, row->slope, vd2_set(row->height));
        inverse = vd2_scale(vd2_mul(height, inv_r), 1.0 / row->path);
        path = (vd2){1.0 / inverse.a, 1.0 / inverse.b};
    }
    depth.a = mean_depth_at(path.a, inverse.a, row->layer, thin, &captured->a);
    depth.b = mean_depth_at(path.b, inverse.b, row->layer, thin, &captured->b);
    return vd2_scale(depth, row->step);
}

/** Turn points on a layer's face into rays to points deeper by `depth`. */
NB_INLINE void go_deep(rays *r, const layer_row *row, nb_vec3 normal, vd2 depth)
{
    vd2 e;
    r->x = vd2_scale_add(depth, normal.x, r->x);
    r->y = vd2_scale_add(depth, normal.y, r->y);
    r->z = vd2_scale_add(depth, normal.z, r->z);
    if (!row->plain) {
        aim(r);
        return;
    }
    e = vd2_mul(depth, vd2_scale_add(depth, 1.0, vd2_set(2.0 * row->height)));
    e = vd2_mul(e, vd2_mul(r->inv_r, r->inv_r));
    e = (vd2){inverse_root_near_one(e.a), inverse_root_near_one(e.b)};
    r->inv_r = vd2_mul(r->inv_r, e);
    r->x = vd2_mul(r->x, r->inv_r);
    r->y = vd2_mul(r->y, r->inv_r);
    r->z = vd2_mul(r->z, r->inv_r);
}

/** (e^2 - b^2)/(e^2 + b^2), or 1 if e and b are 0. */
NB_INLINE vd cos_two_psi(vd e, vd b)
{
    vd in_plane = vd_fma(b, b, e * e);
    return vd_pick((vl)(in_plane > 0.0), (e * e - b * b) / in_plane, vd_set(1.0));
}

/** Polarization factor of an unpolarized beam; c2 = cos^2 of the scattering angle. */
NB_INLINE vd2 unpolarized(vd2 c2)
{
    return vd2_scale_add(c2, 0.5, vd2_set(0.5));
}

/** Kahn's polarization factor. e, b: components of the ray along the electric field and
 * at right angles to it. */
NB_INLINE vd2 polarized(double K, vd2 c2, vd2 e, vd2 b)
{
    vd2 turn = {cos_two_psi(e.a, b.a), cos_two_psi(e.b, b.b)};
    vd2 odd = vd2_scale_add(c2, -0.5, vd2_set(0.5));
    return vd2_fma(vd2_scale(turn, -K), odd, unpolarized(c2));
}

/** nb_polarization by lanes. */
NB_INLINE vd2 polarization(double K, const nb_vector_source *source, const rays *r)
{
    vd2 c = dot_ray(r, source->incident), c2 = vd2_mul(c, c);
    return K == 0 ? unpolarized(c2)
                  : polarized(K, c2, dot_ray(r, source->E), dot_ray(r, source->B));
}

/** Scattering vectors of the rays for one source. */
typedef struct q_vectors {
    vd2 x, y, z;
} q_vectors;

NB_INLINE q_vectors scattering_vector(const nb_vector_source *b, const rays *r)
{
    q_vectors q;
    q.x = vd2_scale(vd2_add(r->x, vd2_set(-b->incident.x)), b->inv_lambda);
    q.y = vd2_scale(vd2_add(r->y, vd2_set(-b->incident.y)), b->inv_lambda);
    q.z = vd2_scale(vd2_add(r->z, vd2_set(-b->incident.z)), b->inv_lambda);
    return q;
}

/** Mask of lanes where dmin removes the crystal's scattering. */
NB_INLINE vl culled(double dmin, vd x, vd y, vd z)
{
    vd stol = 0.5 * vd_sqrt(vd_fma(x, x, vd_fma(y, y, z * z)));
    return (vl)(stol > 0.0) & (vl)(dmin > 0.5 / stol);
}

/** intensity_scale times the factors that are calculated once per pixel. */
NB_INLINE vd2 pixel_factor(const nb_vector_plan *p, const rays *r)
{
    const nb_scene *sc = &p->scene;
    vd2 x = vd2_set(sc->intensity_scale);
    if (!sc->beam.nopolar && !sc->oversample_polar)
        x = vd2_mul(x, polarization(sc->beam.polarization, p->sources, r));
    return sc->oversample_omega ? x : vd2_mul(x, solid_angle(&p->panel, r));
}

#endif
