/* SPDX-License-Identifier: MIT */
#include "crystal.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/matrix.h"
#include "../base/philox.h"
#include "../base/text.h"
#include "../params/params.h"
#include "beam.h"

/** Set the root from standard deviations (deg) about the axes. */
static void set_diagonal(const double deg[3], nb_mosaic *m)
{
    for (int i = 0; i < 3; i++)
        m->root[i][i] = deg[i] * NB_DEG;
}

static nb_status check_aniso(const nb_settings *cfg, nb_error *err)
{
    const double *v = cfg->value.mosaic_aniso_deg.v;
    if (cfg->value.mosaic_model != NB_MOSAIC_GAUSS)
        return nb_fail(err, NB_ERR_INPUT,
                       "-mosaic_aniso %g %g %g: needs -mosaic_model gauss", v[0], v[1],
                       v[2]);
    if (NB_TYPED(cfg, mosaic_spread_deg))
        return nb_fail(err, NB_ERR_INPUT,
                       "-mosaic %g and -mosaic_aniso %g %g %g: give one of them",
                       cfg->value.mosaic_spread_deg, v[0], v[1], v[2]);
    return NB_OK;
}

/** Set the root of a covariance xx yy zz xy xz yz (deg^2) by Cholesky's method; a pivot
 * within its rounding error is 0. Returns 0 if the covariance is not positive
 * semidefinite. */
static int set_root(const double t[6], nb_mosaic *m)
{
    const double C[3][3] = {{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}};
    double L[3][3] = {{0}};
    for (int j = 0; j < 3; j++)
        for (int i = j; i < 3; i++) {
            double left = C[i][j];
            for (int k = 0; k < j; k++)
                left -= L[i][k] * L[j][k];
            if (i == j && left < -1e-10 * C[i][i])
                return 0;
            if (i == j)
                L[i][j] = left > 1e-10 * C[i][i] ? sqrt(left) : 0;
            else if (L[j][j] > 0)
                L[i][j] = left / L[j][j];
            else if (left * left > 1e-10 * C[i][i] * C[j][j])
                return 0;
        }
    for (int i = 0; i < 9; i++)
        m->root[i / 3][i % 3] = L[i / 3][i % 3] * NB_DEG;
    return t[0] >= 0 && t[1] >= 0 && t[2] >= 0;
}

static nb_status set_tensor(const nb_settings *cfg, nb_mosaic *m, nb_error *err)
{
    const double *t = cfg->value.mosaic_tensor_deg2;
    if (cfg->value.mosaic_model == NB_MOSAIC_UNIFORM)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-mosaic_tensor %g %g %g %g %g %g: not with -mosaic_model uniform; "
            "type -mosaic_model gauss, or leave it out",
            t[0], t[1], t[2], t[3], t[4], t[5]);
    if (!set_root(t, m))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-mosaic_tensor %g %g %g %g %g %g: not positive semidefinite; give "
            "xx yy zz xy xz yz of a covariance",
            t[0], t[1], t[2], t[3], t[4], t[5]);
    m->model = NB_MOSAIC_GAUSS;
    for (int i = 0; i < 3 && cfg->value.mosaic_frame == NB_MOSAIC_LAB; i++)
        m->axes[i] = nb_v3(i == 0, i == 1, i == 2);
    return NB_OK;
}

/** Set the widths of the rotations: one for all axes, three, or a covariance. */
static nb_status set_spreads(const nb_settings *cfg, nb_mosaic *m, nb_error *err)
{
    const double spread = cfg->value.mosaic_spread_deg;
    nb_status st = NB_OK;
    double square = 0;
    m->spread = spread * NB_DEG;
    set_diagonal((const double[]){spread, spread, spread}, m);
    if (m->model == NB_MOSAIC_UNIFORM) /* limit, since no rotation is larger than pi */
        m->spread = fmin(m->spread, NB_PI);
    if (cfg->value.mosaic_aniso_deg.set) {
        st = check_aniso(cfg, err);
        set_diagonal(cfg->value.mosaic_aniso_deg.v, m);
    } else if (NB_TYPED(cfg, mosaic_tensor_deg2[0])) {
        st = set_tensor(cfg, m, err);
    } else {
        return NB_OK;
    }
    m->shaped = 1;
    for (int i = 0; i < 9; i++)
        square += m->root[i / 3][i % 3] * m->root[i / 3][i % 3] / 3;
    m->spread = sqrt(square);
    return st;
}

/** Check that the model and the spread allow -mosaic_tail. */
static nb_status check_tail(const nb_settings *cfg, const nb_mosaic *m, nb_error *err)
{
    const double tail = cfg->value.mosaic_tail_deg;
    if (tail == 0)
        return NB_OK;
    if (m->model == NB_MOSAIC_NANOBRAGG)
        return nb_fail(err, NB_ERR_INPUT,
                       "-mosaic_tail %g: needs -mosaic_model gauss or uniform", tail);
    if (!(m->spread > 0))
        return nb_fail(err, NB_ERR_INPUT,
                       "-mosaic_tail %g: needs -mosaic, -mosaic_aniso or -mosaic_tensor "
                       "above 0",
                       tail);
    return NB_OK;
}

nb_status nb_mosaic_resolve(const nb_settings *cfg, nb_vec3 astar, nb_vec3 c,
                            nb_vec3 spindle, nb_mosaic *out, nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    out->model = cfg->value.mosaic_model;
    out->seed = cfg->value.mosaic_seed.value;
    out->axes[0] = nb_unit(astar);
    out->axes[1] = nb_unit(nb_cross(c, astar));
    out->axes[2] = nb_unit(c);
    out->tail = cfg->value.mosaic_tail_deg * NB_DEG;
    out->spindle = spindle;
    st = set_spreads(cfg, out, err);
    return st ? st : check_tail(cfg, out, err);
}

/** Stream of Philox, used instead of a frame number. No frame has this number. */
enum { MOSAIC_STREAM = 0x7ffffffd };

static nb_philox_words draw(const nb_mosaic *m, int domain, uint32_t n)
{
    return nb_philox((uint64_t)m->seed, (uint64_t)domain, MOSAIC_STREAM, n);
}

double nb_normal52(nb_philox_words p, double *other)
{
    const double r = sqrt(-2 * log(nb_uniform52(p.w[0], p.w[1]))),
                 turn = 2 * NB_PI * nb_uniform52(p.w[2], p.w[3]);
    if (other)
        *other = r * sin(turn);
    return r * cos(turn);
}

/** Uniform deviates 2 n and 2 n + 1 of a domain. */
static void two_uniforms(const nb_mosaic *m, int domain, uint32_t n, double u[2])
{
    const nb_philox_words p = draw(m, domain, n);
    u[0] = nb_uniform52(p.w[0], p.w[1]);
    u[1] = nb_uniform52(p.w[2], p.w[3]);
}

/** Calculate x - sin x without cancellation. */
static double volume_within(double x)
{
    double y = x * x;
    if (x > 0.5)
        return x - sin(x);
    return x * y / 6 *
           (1 - y / 20 * (1 - y / 42 * (1 - y / 72 * (1 - y / 110 * (1 - y / 156)))));
}

/** Angle t with t - sin t = u (eta - sin eta). Newton's method begins above t, where the
 * function is convex. */
static double angle_within(double eta, double u)
{
    double target = u * volume_within(eta), t = eta * cbrt(u), half;
    for (int i = 0; i < 20; i++) {
        double step;
        half = sin(t / 2);
        step = (volume_within(t) - target) / (2 * half * half);
        t -= step;
        if (!(fabs(step) > 1e-15 * t))
            break;
    }
    return t;
}

/** Draw axis and share of the volume of a uniform rotation (invariant measure). */
static nb_vec3 uniform_draw(const nb_mosaic *m, int domain, double *share)
{
    double u[2], v[2], z, r;
    two_uniforms(m, domain, 0, u);
    two_uniforms(m, domain, 1, v);
    z = 2 * u[0] - 1;
    r = sqrt(1 - z * z);
    *share = v[0];
    return nb_v3(r * cos(2 * NB_PI * u[1]), r * sin(2 * NB_PI * u[1]), z);
}

static nb_mat3 uniform_rotation(const nb_mosaic *m, int domain)
{
    double share;
    nb_vec3 axis = uniform_draw(m, domain, &share);
    return nb_axis_rotation(axis, angle_within(m->spread, share));
}

/** Rotation vector: a root times the three independent normal numbers of a domain. */
static nb_vec3 normal_by(const nb_mosaic *m, const double (*root)[3], int domain)
{
    nb_vec3 w = {0, 0, 0};
    double n[3];
    n[0] = nb_normal52(draw(m, domain, 0), &n[1]);
    n[2] = nb_normal52(draw(m, domain, 1), NULL);
    for (int i = 0; i < 3; i++) {
        double x = 0;
        for (int j = 0; j <= i; j++)
            x += root[i][j] * n[j];
        w = nb_add(w, nb_scale(x, m->axes[i]));
    }
    return w;
}

static nb_vec3 normal_draw(const nb_mosaic *m, int domain)
{
    return normal_by(m, m->root, domain);
}

static nb_mat3 normal_rotation(const nb_mosaic *m, int domain)
{
    nb_vec3 w = normal_draw(m, domain);
    return nb_axis_rotation(nb_unit(w), nb_norm(w));
}

/** Angle (rad) of the tail: exponential, never negative. */
static double tail_of(const nb_mosaic *m, int domain)
{
    double u[2];
    two_uniforms(m, domain, 2, u);
    return -m->tail * log(u[0]);
}

/** Rate of a domain's rotation per rad of spread, gauss or uniform, without the tail. */
static nb_vec3 growth(const nb_mosaic *m, int domain)
{
    double share, angle, full = sin(m->spread / 2), part;
    nb_vec3 axis;
    if (m->model == NB_MOSAIC_GAUSS)
        return nb_scale(1 / m->spread, normal_draw(m, domain));
    axis = uniform_draw(m, domain, &share);
    angle = angle_within(m->spread, share);
    part = sin(angle / 2);
    /* at this limit the rotation does not change, since none is larger than pi */
    if (m->spread >= NB_PI || part == 0)
        return nb_v3(0, 0, 0);
    return nb_scale(share * (full / part) * (full / part), axis);
}

/** Rotation r followed by a rotation about the axis. */
static nb_mat3 turned(nb_mat3 r, nb_vec3 axis, double angle)
{
    nb_mat3 both = nb_axis_rotation(axis, angle);
    nb_multiply(both.m, r.m, both.m);
    return both;
}

void nb_mosaic_draw(const nb_mosaic *m, int count, nb_mat3 *rotations)
{
    if (m->model == NB_MOSAIC_NANOBRAGG || !(m->spread > 0))
        nb_mosaic_rotations(m->spread, m->seed, count, rotations);
    else
        for (int i = 0; i < count; i++) {
            rotations[i] = m->model == NB_MOSAIC_UNIFORM ? uniform_rotation(m, i)
                                                         : normal_rotation(m, i);
            if (m->tail != 0)
                rotations[i] = turned(rotations[i], m->spindle, tail_of(m, i));
        }
}

nb_mat3 nb_mosaic_in_lab(const nb_mosaic *m, const nb_mat3 *r)
{
    const nb_vec3 *e = m->axes;
    nb_vec3 column[3];
    nb_mat3 out;
    for (int k = 0; k < 3; k++) {
        const nb_vec3 unit = nb_v3(k == 0, k == 1, k == 2);
        const nb_vec3 t =
            nb_apply(r, nb_v3(nb_dot(e[0], unit), nb_dot(e[1], unit), nb_dot(e[2], unit)));
        column[k] =
            nb_add(nb_scale(t.x, e[0]), nb_add(nb_scale(t.y, e[1]), nb_scale(t.z, e[2])));
    }
    nb_put_columns(column[0], column[1], column[2], out.m);
    return out;
}

void nb_mosaic_growth(const nb_mosaic *m, int count, nb_vec3 *rates)
{
    if (m->model == NB_MOSAIC_NANOBRAGG)
        nb_mosaic_rates(m->seed, count, rates);
    for (int i = 0; i < count && m->model != NB_MOSAIC_NANOBRAGG; i++) {
        rates[i] = growth(m, i);
        if (m->tail != 0)
            rates[i] = nb_rotate_about(rates[i], m->spindle, tail_of(m, i));
    }
}

/** Derivative of Cholesky's triangle by number `which` of the covariance. */
static void root_rate(const nb_mosaic *m, int which, double d[3][3])
{
    static const int row[6] = {0, 1, 2, 1, 2, 2}, column[6] = {0, 1, 2, 0, 0, 1};
    const double(*L)[3] = m->root;
    memset(d, 0, 9 * sizeof **d);
    for (int j = 0; j < 3; j++)
        for (int i = j; i < 3; i++) {
            double left = i == row[which] && j == column[which];
            for (int k = 0; k < j; k++)
                left -= d[i][k] * L[j][k] + L[i][k] * d[j][k];
            d[i][j] = i == j ? left / (2 * L[j][j]) : (left - L[i][j] * d[j][j]) / L[j][j];
        }
}

/** Rotation that follows exp(w) if the rotation vector w changes by dw. */
static nb_vec3 turn_of_change(nb_vec3 w, nb_vec3 dw)
{
    const double angle = nb_norm(w), half = sin(angle / 2);
    const nb_vec3 a = nb_scale(1 / angle, w);
    const double s = sin(angle) / angle;
    return angle == 0
               ? dw
               : nb_add(nb_add(nb_scale(s, dw), nb_scale((1 - s) * nb_dot(a, dw), a)),
                        nb_scale(2 * half * half / angle, nb_cross(a, dw)));
}

void nb_mosaic_tensor_rates(const nb_mosaic *m, int which, int count, nb_vec3 *rates)
{
    double by[3][3];
    root_rate(m, which, by);
    for (int i = 0; i < count; i++) {
        rates[i] =
            turn_of_change(normal_draw(m, i), normal_by(m, (const double(*)[3])by, i));
        if (m->tail != 0)
            rates[i] = nb_rotate_about(rates[i], m->spindle, tail_of(m, i));
    }
}
