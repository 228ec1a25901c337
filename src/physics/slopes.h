/* SPDX-License-Identifier: MIT */
/** Derivatives (slopes) of the terms of a pixel's sum (docs/physics.md, section 26):
 * slopes of the lattice transform and of F by the Miller indices, of the polarization,
 * of a curved panel's directions and of the depth in a layer. panel_pull.h has slopes by
 * the detector's position. */
#ifndef NB_PHYSICS_SLOPES_H
#define NB_PHYSICS_SLOPES_H

#include "amorphous.h"
#include "lattice.h"
#include "ray.h"
#include "structure_factor.h"

/** F_latt and its slopes. */
typedef struct nb_lattice_slope {
    double L;
    double d[3];  /* slopes by h, k, l */
    double N[3];  /* slopes by the numbers of cells */
    double fudge; /* slope by the shape factor */
} nb_lattice_slope;

/* Limits of pi N d, and of x in S(x), below which the closed forms lose digits. */
#define NB_FRINGE_SERIES 0.1
#define NB_SPHERE_SLOPE_SERIES 0.5

/** d/dd of sin(pi N d)/sin(pi d) = s. */
NB_HD double nb_interference_slope(double d, double N, double s)
{
    double x = NB_PI * d, x2 = x * x, N2 = N * N, e = N - 1, sine, cosine;
    if (fabs(N * x) < NB_FRINGE_SERIES) {
        double n2 = e * (N + 1), n4 = n2 * (N2 + 1), n6 = n2 * (N2 * N2 + N2 + 1),
               n8 = n4 * (N2 * N2 + 1);
        return -NB_PI * s * x *
               (n2 / 3 + x2 * (n4 / 45 + x2 * (2 * n6 / 945 + x2 * (n8 / 4725))));
    }
    sine = sin(x);
    cosine = cos(x);
    if (N < 1.5) /* rearranged, because N cos(N x) and s cos(x) nearly cancel */
        return NB_PI *
               (e * sine * cosine * cos(e * x) - sin(e * x) * (1 + e * sine * sine)) /
               (sine * sine);
    return NB_PI * (N * cos(NB_PI * (N * d)) - s * cosine) / sine;
}

/** d/dN of sin(pi N d)/sin(pi d). */
NB_HD double nb_interference_by_N(double d, double N)
{
    return d == 0 ? 1.0 : NB_PI * d * cos(NB_PI * (N * d)) / sin(NB_PI * d);
}

/** S'(x)/x, with S the sphere's transform (nb_sphere_transform). */
NB_HD double nb_sphere_slope(double x)
{
    double y = x * x;
    if (x < NB_SPHERE_SLOPE_SERIES)
        return -1.0 / 5 +
               y * (1.0 / 70 + y * (-1.0 / 2520 +
                                    y * (1.0 / 166320 + y * (-1.0 / 17297280 +
                                                             y * (1.0 / 2594592000.0)))));
    return 3.0 * (sin(x) / x - nb_sphere_transform(x)) / y;
}

NB_HD nb_lattice_slope nb_fringes_slope(const nb_lattice *lattice, const double d[3])
{
    nb_lattice_slope out = {1, {0, 0, 0}, {0, 0, 0}, 0};
    double s[3], slope[3];
    int i;
    for (i = 0; i < 3; i++) {
        double N = lattice->N[i];
        s[i] = N > 1 ? nb_interference(d[i], N) : 1.0;
        slope[i] = N > 1 ? nb_interference_slope(d[i], N, s[i]) : 0.0;
        if (N > 1)
            out.L *= s[i];
    }
    for (i = 0; i < 3; i++) {
        double others = s[(i + 1) % 3] * s[(i + 2) % 3];
        out.d[i] = slope[i] * others;
        out.N[i] = nb_interference_by_N(d[i], lattice->N[i]) * others;
    }
    return out;
}

NB_HD nb_lattice_slope nb_sphere_law_slope(const nb_lattice *lattice, int shape,
                                           const double d[3])
{
    const double *N = lattice->N;
    double g = lattice->fudge, R2 = 0, k;
    nb_lattice_slope out;
    int i;
    for (i = 0; i < 3; i++)
        R2 += d[i] * N[i] * (d[i] * N[i]);
    out.L = nb_lattice_factor_of(lattice, shape, d[0], d[1], d[2]);
    k = N[0] * N[1] * N[2] * nb_shape_row_of(shape).height * NB_PI * NB_PI *
        nb_sphere_slope(NB_PI * sqrt(g * R2));
    for (i = 0; i < 3; i++) {
        out.d[i] = k * g * N[i] * N[i] * d[i];
        out.N[i] = out.L / N[i] + k * g * N[i] * d[i] * d[i];
    }
    out.fudge = k * R2 / 2;
    return out;
}

NB_HD nb_lattice_slope nb_decay_slope(const nb_lattice *lattice, int shape,
                                      const double d[3])
{
    const double *N = lattice->N;
    const double width = nb_shape_row_of(shape).width;
    double k = 2 * lattice->fudge / width, R2 = 0;
    nb_lattice_slope out;
    int i;
    out.L = nb_lattice_factor_of(lattice, shape, d[0], d[1], d[2]);
    for (i = 0; i < 3; i++) {
        R2 += d[i] * N[i] * (d[i] * N[i]);
        out.d[i] = -k * N[i] * N[i] * d[i] * out.L;
        out.N[i] = out.L / N[i] - k * N[i] * d[i] * d[i] * out.L;
    }
    out.fudge = -R2 / width * out.L;
    return out;
}

/** nb_lattice_slope_at for a shape that the compiler knows as a constant. */
NB_HD nb_lattice_slope nb_lattice_slope_of(const nb_lattice *lattice, int shape,
                                           const double d[3])
{
    nb_lattice_slope flat = {0, {0, 0, 0}, {0, 0, 0}, 0};
    switch (nb_shape_law(shape)) {
    case NB_LAW_SPHERE:
        return nb_sphere_law_slope(lattice, shape, d);
    case NB_LAW_DECAY:
        return nb_decay_slope(lattice, shape, d);
    case NB_LAW_FRINGES:
        return nb_fringes_slope(lattice, d);
    case NB_LAW_EDGE:
        flat.L = nb_lattice_factor_of(lattice, shape, d[0], d[1], d[2]);
    }
    return flat;
}

/** F_latt and its slopes at the offset d, in Miller indices, from the nearest reflection.
 * All slopes of the top hat are 0. */
NB_HD nb_lattice_slope nb_lattice_slope_at(const nb_lattice *lattice, const double d[3])
{
    const nb_lattice_slope none = {0, {0, 0, 0}, {0, 0, 0}, 0};
    switch (lattice->shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        return nb_lattice_slope_of(lattice, number, d);
        NB_SHAPES(NB_DO)
#undef NB_DO
    default:
        return none;
    }
}

/** F of a sample, the slopes of F, and the entries of the table that F depends on: the
 * nearest entry, or with interpolation the 64 entries around the sample. */
typedef struct nb_F_slope {
    double F;
    double d[3];      /* slopes by h, k, l; 0 if F is that of the nearest reflection */
    int interpolated; /* 0: the nearest F, at `entry`; the weights are not set */
    /* index of F in the table, or of the first of 64 if interpolated; -1 outside the box */
    int64_t entry;
    double w[3][4]; /* cubic weights along h, k, l */
} nb_F_slope;

/** Slopes of nb_cubic_weights by t. */
NB_HD void nb_cubic_slopes(double t, double w[4])
{
    w[0] = -(3 * t * t - 6 * t + 2) / 6.0;
    w[1] = (3 * t * t - 4 * t - 1) / 2.0;
    w[2] = -(3 * t * t - 2 * t - 2) / 2.0;
    w[3] = (3 * t * t - 1) / 6.0;
}

NB_HD void nb_tricubic_slope(const nb_factor_table *sf, int n, const double h[3],
                             nb_F_slope *out)
{
    const int start[3] = {sf->hmin, sf->kmin, sf->lmin};
    const double *F = nb_table_at(sf, n);
    double slope[3][4];
    int64_t at[3];
    int i, j, m;
    for (i = 0; i < 3; i++) {
        double below = floor(h[i]);
        at[i] = (int64_t)below - 1 - start[i];
        nb_cubic_weights(h[i] - below, out->w[i]);
        nb_cubic_slopes(h[i] - below, slope[i]);
    }
    out->entry = (at[0] * sf->nk + at[1]) * sf->nl + at[2];
    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            const double *row = F + out->entry + ((int64_t)i * sf->nk + j) * sf->nl;
            double along = 0, steep = 0;
            for (m = 0; m < 4; m++) {
                along += out->w[2][m] * row[m];
                steep += slope[2][m] * row[m];
            }
            out->d[0] += slope[0][i] * out->w[1][j] * along;
            out->d[1] += out->w[0][i] * slope[1][j] * along;
            out->d[2] += out->w[0][i] * out->w[1][j] * steep;
        }
    out->F = nb_F_tricubic(sf, n, h[0], h[1], h[2]);
    out->interpolated = 1;
}

/** nb_structure_factor from table n, with slopes. */
NB_HD void nb_F_slope_at(const nb_factor_table *sf, int n, const double h[3],
                         const double h0[3], nb_F_slope *out)
{
    double i = h0[0] - sf->hmin, j = h0[1] - sf->kmin, k = h0[2] - sf->lmin;
    out->d[0] = out->d[1] = out->d[2] = 0;
    out->interpolated = 0;
    out->entry = -1;
    out->F = sf->default_F;
    if (sf->nh == 0)
        return;
    if (sf->interpolate && nb_cubic_fits(h[0], sf->hmin, sf->nh) &&
        nb_cubic_fits(h[1], sf->kmin, sf->nk) && nb_cubic_fits(h[2], sf->lmin, sf->nl)) {
        nb_tricubic_slope(sf, n, h, out);
        return;
    }
    if (!(i >= 0 && i < sf->nh && j >= 0 && j < sf->nk && k >= 0 && k < sf->nl))
        return;
    out->entry = ((int64_t)i * sf->nk + (int64_t)j) * sf->nl + (int64_t)k;
    out->F = nb_table_at(sf, n)[out->entry];
}

/** Slope of nb_polarization by the direction (docs/physics.md, section 14, has the same
 * c, e and b). */
NB_HD nb_vec3 nb_polarization_slope(double K, nb_vec3 incident, nb_vec3 direction,
                                    nb_vec3 axis)
{
    nb_vec3 B = nb_unit(nb_cross(axis, incident)), E = nb_unit(nb_cross(incident, B));
    double c = nb_dot(incident, direction), b = nb_dot(direction, B),
           e = nb_dot(direction, E);
    return nb_add(nb_scale(c, incident), nb_add(nb_scale(K * b, B), nb_scale(-K * e, E)));
}

/** The unit vectors B and E of nb_polarization, and their changes. */
typedef struct nb_turning_frame {
    nb_vec3 B, E, dB, dE;
} nb_turning_frame;

/** Calculate B and E, and their changes if the incident direction moves by `by`. `by` is
 * at right angles to `incident`. */
NB_HD nb_turning_frame nb_turning_frame_of(nb_vec3 incident, nb_vec3 axis, nb_vec3 by)
{
    const nb_vec3 across = nb_cross(axis, incident);
    const double length = nb_norm(across);
    nb_turning_frame f;
    f.B = nb_scale(1 / length, across);
    f.E = nb_cross(incident, f.B);
    f.dB = nb_scale(1 / length, nb_cross(axis, by));
    f.dB = nb_sub(f.dB, nb_scale(nb_dot(f.B, f.dB), f.B));
    f.dE = nb_add(nb_cross(by, f.B), nb_cross(incident, f.dB));
    return f;
}

/** Slope of nb_polarization if the incident direction moves by `by`. `by` is at right
 * angles to `incident`. */
NB_HD double nb_polarization_turn(double K, nb_vec3 incident, nb_vec3 direction,
                                  nb_vec3 axis, nb_vec3 by)
{
    const nb_turning_frame f = nb_turning_frame_of(incident, axis, by);
    return nb_dot(incident, direction) * nb_dot(by, direction) -
           K * (nb_dot(direction, f.E) * nb_dot(direction, f.dE) -
                nb_dot(direction, f.B) * nb_dot(direction, f.dB));
}

/** Slope of nb_polarization by the Kahn factor. */
NB_HD double nb_polarization_by_K(nb_vec3 incident, nb_vec3 direction, nb_vec3 axis)
{
    nb_vec3 B = nb_unit(nb_cross(axis, incident)), E = nb_unit(nb_cross(incident, B));
    double b = nb_dot(direction, B), e = nb_dot(direction, E);
    return -0.5 * (e * e - b * b);
}

/** Slope of nb_amorphous_at by x = sin(theta)/lambda. */
NB_HD double nb_amorphous_slope(const nb_amorphous *a, double x)
{
    double sum = 0;
    int i;
    for (i = 0; i < a->n; i++) {
        const nb_scatterer *m = &a->materials[i];
        const nb_table_piece *p = nb_piece_of(a, m, x);
        double inner = p->d2 + (x - p->before) * p->d3,
               first = p->d1 + (x - p->next) * inner;
        double F = p->F + (x - p->x) * first;
        double low = fmin(p->F, p->F_next), high = fmax(p->F, p->F_next);
        if (F > low && F < high) /* otherwise F is constant at its limit */
            sum += m->molecules * 2 * fabs(F) *
                   (first + (x - p->x) * (inner + (x - p->next) * p->d3));
    }
    return sum;
}

/** Slopes of the members of nb_panel and nb_sensor that have these names, by a parameter
 * that moves panel and sensor. */
typedef struct nb_panel_slope {
    nb_vec3 pix0, fast, slow, normal;
    double close_distance, distance, Fbeam, Sbeam;
    /* curved panel: curved_fast turns towards curved_slow about the beam, rad */
    double roll;
    double layer_step, mu;
} nb_panel_slope;

/** Slopes of the members of nb_ray that have these names. */
typedef struct nb_ray_slope {
    nb_vec3 direction;
    double omega, capture;
} nb_ray_slope;

/** Angles u, v of a point of a curved panel; direction e; slopes of e by u, v and roll. */
typedef struct nb_curved_frame {
    double u, v;
    nb_vec3 e, by_u, by_v, by_roll;
} nb_curved_frame;

NB_HD nb_curved_frame nb_curved_frame_at(const nb_panel *panel, double F, double S)
{
    nb_vec3 b = panel->beam, s = panel->curved_slow, f = panel->curved_fast;
    nb_curved_frame c;
    double cu, su, cv, sv;
    c.u = (F - panel->Fbeam) / panel->distance;
    c.v = (S - panel->Sbeam) / panel->distance;
    cu = cos(c.u);
    su = sin(c.u);
    cv = cos(c.v);
    sv = sin(c.v);
    c.e = nb_add(nb_scale(cu * cv, b), nb_add(nb_scale(cu * sv, s), nb_scale(su, f)));
    c.by_u = nb_add(nb_scale(-su * cv, b), nb_add(nb_scale(-su * sv, s), nb_scale(cu, f)));
    c.by_v = nb_add(nb_scale(-cu * sv, b), nb_scale(cu * cv, s));
    c.by_roll = nb_add(nb_scale(su, s), nb_scale(-cu * sv, f));
    return c;
}

/* The last coefficient of the series in nb_mean_depth_slope. */
#define NB_DEPTH_SLOPE_5 (7601.0 / 1307674368000.0)

/** Slope of nb_mean_depth by the path. */
NB_HD double nb_mean_depth_slope(double path)
{
    double y = path * path, e;
    if (path < 0.5)
        return -1.0 / 12 +
               y * (1.0 / 240 +
                    y * (-1.0 / 6048 + y * (1.0 / 172800 +
                                            y * (-1.0 / 5322240 + y * NB_DEPTH_SLOPE_5))));
    e = exp(-path);
    return -1.0 / y + e / ((1 - e) * (1 - e));
}

#endif
