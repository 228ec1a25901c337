/* SPDX-License-Identifier: MIT */
#include "crystal.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../params/params.h"
#include "units.h"

/** A cell with its angles in radians. */
typedef struct cell {
    double a, b, c, alpha, beta, gamma, volume;
} cell;

static nb_status read_cell(const nb_settings *cfg, cell *out, nb_error *err)
{
    double v[6], s, square;
    for (int i = 0; i < 6; i++) {
        v[i] = i < cfg->value.cell_count ? cfg->value.cell[i] : 0;
        if (i < 3 && v[i] <= 0 && i > 0 && i >= cfg->value.cell_count)
            v[i] = v[0]; /* edges that are missing in -cell equal a */
        if (i >= 3 && v[i] <= 0)
            v[i] = 90;
        if (!(v[i] > 0) || !isfinite(v[i]) || (i >= 3 && v[i] >= 180))
            return nb_fail(
                err, NB_ERR_INPUT,
                "-cell %g: edges must be above 0 A and angles between 0 and 180 deg",
                v[i]);
    }
    out->a = v[0];
    out->b = v[1];
    out->c = v[2];
    out->alpha = v[3] * NB_DEG;
    out->beta = v[4] * NB_DEG;
    out->gamma = v[5] * NB_DEG;
    s = (out->alpha + out->beta + out->gamma) / 2;
    square = sin(s) * sin(s - out->alpha) * sin(s - out->beta) * sin(s - out->gamma);
    if (!(square > 1e-12))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-cell: angles %g %g %g enclose no volume (each must be less than the "
            "sum of the others, all together less than 360)",
            v[3], v[4], v[5]);
    out->volume = 2 * out->a * out->b * out->c * sqrt(square);
    return NB_OK;
}

static double clamp_unit(double x)
{
    return x > 1 ? 1 : x < -1 ? -1 : x;
}

/** a* along x, b* in the xy plane (International Tables A, 1.3; Busing & Levy 1967). */
static void reciprocal_from_cell(const cell *u, int compat, nb_crystal *x)
{
    double V = u->volume, as = u->b * u->c * sin(u->alpha) / V;
    double bs = u->c * u->a * sin(u->beta) / V, cs = u->a * u->b * sin(u->gamma) / V;
    double cos_als =
        (cos(u->beta) * cos(u->gamma) - cos(u->alpha)) / (sin(u->beta) * sin(u->gamma));
    double cos_bes =
        (cos(u->gamma) * cos(u->alpha) - cos(u->beta)) / (sin(u->gamma) * sin(u->alpha));
    double cos_gas =
        (cos(u->alpha) * cos(u->beta) - cos(u->gamma)) / (sin(u->alpha) * sin(u->beta));
    double sin_gas = clamp_unit(u->c / (V * as * bs));
    double cz = 1.0 / u->c;
    /* the factor of the direct cell, as in nanoBragg; it is wrong unless sin(gamma) =
     * sin(gamma*) */
    if (compat)
        cz = cs * V / (u->a * u->b * u->c * sin_gas);
    x->astar = nb_v3(as, 0, 0);
    x->bstar = nb_v3(bs * cos_gas, bs * sin_gas, 0);
    x->cstar = nb_v3(cs * cos_bes, cs * (cos_als - cos_bes * cos_gas) / sin_gas, cz);
}

static void reciprocal_from_matrix(const double *m, double lambda_A, nb_crystal *x)
{
    double k = 1.0 / lambda_A;
    x->astar = nb_scale(k, nb_v3(m[0], m[3], m[6]));
    x->bstar = nb_scale(k, nb_v3(m[1], m[4], m[7]));
    x->cstar = nb_scale(k, nb_v3(m[2], m[5], m[8]));
}

/** Set real-space vectors. A typed cell fixes their lengths and the volume. */
static nb_status real_from_reciprocal(const cell *typed, nb_crystal *x, nb_error *err)
{
    nb_vec3 bc = nb_cross(x->bstar, x->cstar), ca = nb_cross(x->cstar, x->astar),
            ab = nb_cross(x->astar, x->bstar), a, b, c;
    double Vstar = nb_dot(x->astar, bc);
    if (!isfinite(Vstar) ||
        !(fabs(Vstar) > 1e-9 * nb_norm(x->astar) * nb_norm(x->bstar) * nb_norm(x->cstar)))
        return nb_fail(err, NB_ERR_INPUT,
                       "-mat: a*, b* and c* lie in one plane; this is not a lattice");
    if (typed) {
        bc = nb_scale(typed->a / typed->volume, nb_unit(bc));
        ca = nb_scale(typed->b / typed->volume, nb_unit(ca));
        ab = nb_scale(typed->c / typed->volume, nb_unit(ab));
        Vstar = copysign(1.0 / typed->volume, Vstar);
    }
    x->volume = fabs(1.0 / Vstar);
    a = nb_scale(1.0 / Vstar, bc);
    b = nb_scale(1.0 / Vstar, ca);
    c = nb_scale(1.0 / Vstar, ab);
    x->astar = nb_scale(Vstar, nb_cross(b, c));
    x->bstar = nb_scale(Vstar, nb_cross(c, a));
    x->cstar = nb_scale(Vstar, nb_cross(a, b));
    x->edge[0] = nb_norm(a);
    x->edge[1] = nb_norm(b);
    x->edge[2] = nb_norm(c);
    x->a = nb_scale(NB_ANGSTROM, a);
    x->b = nb_scale(NB_ANGSTROM, b);
    x->c = nb_scale(NB_ANGSTROM, c);
    return NB_OK;
}

static void turn_by_misset(const nb_settings *cfg, int64_t default_seed, nb_crystal *x)
{
    double *m = x->misset;
    x->misset_seed =
        NB_TYPED(cfg, misset_seed) ? cfg->value.misset_seed.value : default_seed;
    for (int i = 0; i < 3; i++)
        m[i] = cfg->value.misset_mode == NB_MISSET_FIXED
                   ? cfg->value.misset_deg[i] * NB_DEG
                   : 0;
    if (cfg->value.misset_mode == NB_MISSET_RANDOM && cfg->value.compat)
        nb_misset_random_compat(x->misset_seed, m);
    else if (cfg->value.misset_mode == NB_MISSET_RANDOM)
        (void)nb_misset_random(x->misset_seed, 0, m, NULL);
    x->astar = nb_rotate_xyz(x->astar, m[0], m[1], m[2]);
    x->bstar = nb_rotate_xyz(x->bstar, m[0], m[1], m[2]);
    x->cstar = nb_rotate_xyz(x->cstar, m[0], m[1], m[2]);
}

static nb_status set_cell_counts(const nb_settings *cfg, const nb_hooks *hooks,
                                 nb_crystal *x, nb_error *err)
{
    double beam = cfg->value.beamsize_mm, size;
    for (int i = 0; i < 3; i++) {
        x->N[i] = fmax(cfg->value.N[i], 1);
        size = NB_TYPED_OR(cfg, xtal_size_mm[i], 0);
        if (!(size > 0))
            continue;
        if (i > 0 && size > beam) {
            nb_notice(hooks,
                      "the crystal of %g mm along %s is wider than the beam: only %g mm "
                      "are illuminated (-beamsize)",
                      size, i == 1 ? "b" : "c", beam);
            size = beam;
        }
        x->N[i] = nb_ceil_ratio(size * NB_MM / (x->edge[i] * NB_ANGSTROM));
        if (!(x->N[i] > 1))
            x->N[i] = 1;
        if (!(x->N[i] <= 1e9))
            return nb_fail(err, NB_ERR_INPUT,
                           "a crystal of %g mm has %g cells, which is too "
                           "many; type a smaller -samplesize",
                           size, x->N[i]);
    }
    return NB_OK;
}

nb_status nb_crystal_build(const nb_settings *cfg, const nb_crystal_inputs *inputs,
                           const nb_hooks *hooks, nb_crystal *x, nb_error *err)
{
    cell typed = {0};
    nb_status st;
    memset(x, 0, sizeof *x);
    x->growth = 1;
    if (cfg->value.cell_count > 0) {
        NB_FORWARD(read_cell(cfg, &typed, err));
        reciprocal_from_cell(&typed, cfg->value.compat, x);
    }
    x->placed = inputs->matrix != NULL;
    if (inputs->matrix)
        reciprocal_from_matrix(inputs->matrix, inputs->lambda_A, x);
    turn_by_misset(cfg, inputs->default_seed, x);
    NB_FORWARD(real_from_reciprocal(cfg->value.cell_count > 0 ? &typed : NULL, x, err));
    return set_cell_counts(cfg, hooks, x, err);
}

static double angle_between(nb_vec3 a, nb_vec3 b)
{
    return atan2(nb_norm(nb_cross(a, b)), nb_dot(a, b)) / NB_DEG;
}

void nb_cell_of(const nb_crystal *x, double out[6])
{
    out[0] = nb_norm(x->a) / NB_ANGSTROM;
    out[1] = nb_norm(x->b) / NB_ANGSTROM;
    out[2] = nb_norm(x->c) / NB_ANGSTROM;
    out[3] = angle_between(x->b, x->c);
    out[4] = angle_between(x->c, x->a);
    out[5] = angle_between(x->a, x->b);
}

void nb_put_columns(nb_vec3 a, nb_vec3 b, nb_vec3 c, double matrix[9])
{
    const double rows[9] = {a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z};
    memcpy(matrix, rows, sizeof rows);
}

static double degrees(double angle)
{
    const double d = angle / NB_DEG;
    const double tries[] = {nb_typeable(d), d, nextafter(d, -INFINITY),
                            nextafter(d, INFINITY)};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (tries[i] * NB_DEG == angle)
            return tries[i];
    return d;
}

void nb_crystal_misset(const nb_crystal *x, double deg[3])
{
    for (int i = 0; i < 3; i++)
        deg[i] = x->placed ? NAN : degrees(x->misset[i]);
}

void nb_crystal_grow(double growth, nb_crystal *x)
{
    nb_vec3 *const real[] = {&x->a, &x->b, &x->c}, *const inverse[] = {
                                                       &x->astar, &x->bstar, &x->cstar};
    if (growth == 1)
        return;
    for (int i = 0; i < 3; i++) {
        *real[i] = nb_scale(growth, *real[i]);
        *inverse[i] = nb_scale(1 / growth, *inverse[i]);
        x->edge[i] *= growth;
    }
    x->volume *= growth * growth * growth;
    x->growth *= growth;
}

void nb_crystal_shape_metric(const nb_crystal *x, int compat, double m[6])
{
    double cells = x->N[0] * x->N[1] * x->N[2], k = cells * cells;
    memset(m, 0, 6 * sizeof *m);
    if (!compat) { /* R = |(dh Na, dk Nb, dl Nc)| */
        m[0] = x->N[0] * x->N[0];
        m[1] = x->N[1] * x->N[1];
        m[2] = x->N[2] * x->N[2];
        return;
    }
    m[0] = k * nb_dot(x->astar, x->astar);
    m[1] = k * nb_dot(x->bstar, x->bstar);
    m[2] = k * nb_dot(x->cstar, x->cstar);
    m[3] = 2 * k * nb_dot(x->astar, x->bstar);
    m[4] = 2 * k * nb_dot(x->astar, x->cstar);
    m[5] = 2 * k * nb_dot(x->bstar, x->cstar);
}

double nb_crystal_block_um3(const nb_crystal *x)
{
    return fabs(x->volume) * x->N[0] * x->N[1] * x->N[2] * 1e-12;
}

/** Number of blocks of the whole crystal, whose volume is that before the dose. */
static double whole_blocks(const nb_settings *cfg, const nb_crystal *x)
{
    const double g = x->growth;
    if (NB_TYPED(cfg, crystal_volume_um3))
        return cfg->value.crystal_volume_um3 / (nb_crystal_block_um3(x) / (g * g * g));
    return cfg->value.blocks;
}

double nb_crystal_in_beam(const nb_settings *cfg, const nb_crystal *x)
{
    const double beam_um = cfg->value.beamsize_mm * 1e3;
    const double volume = whole_blocks(cfg, x) * nb_crystal_block_um3(x);
    const double part = beam_um / cbrt(volume);
    return NB_TYPED(cfg, crystal_volume_um3) || NB_TYPED(cfg, blocks)
               ? fmin(1, part * part)
               : 1;
}

double nb_crystal_blocks(const nb_settings *cfg, const nb_crystal *x)
{
    return whole_blocks(cfg, x) *
           (cfg->value.clip_crystal ? nb_crystal_in_beam(cfg, x) : 1);
}
