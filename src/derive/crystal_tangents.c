/* SPDX-License-Identifier: MIT */
/* Tangents by rotations and cell of the crystal: dh = E h, with a constant matrix E. */
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../params/params.h"
#include "variables.h"

static const nb_vec3 unit_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static void set_index(const nb_crystal *x, const nb_vec3 da[3], nb_tangent *t)
{
    const nb_orientation u = {x->a, x->b, x->c};
    nb_vec3 reciprocal[3];
    nb_reciprocal_cell(&u, reciprocal);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t->index[3 * i + j] = nb_dot(da[i], reciprocal[j]);
}

/** Tangent by the angle, in degrees, of a rotation about n. */
static void turn_crystal(const nb_crystal *x, nb_vec3 n, nb_tangent *t)
{
    const nb_vec3 axes[3] = {x->a, x->b, x->c};
    nb_vec3 da[3];
    for (int i = 0; i < 3; i++)
        da[i] = nb_scale(NB_DEG, nb_cross(n, axes[i]));
    set_index(x, da, t);
}

/** Axis of a misset angle after the rotations of the crystal that follow it. */
static nb_vec3 misset_axis(const nb_subject *of, int axis)
{
    const double *angle = of->crystal->misset, *r = of->moved->rot;
    nb_vec3 n = nb_rotate_xyz(unit_axes[axis], 0, axis < 1 ? angle[1] : 0,
                              axis < 2 ? angle[2] : 0);
    return nb_turn(nb_v3(r[0], r[1], r[2]), n);
}

/** Slopes of the cell vectors (rows: a, b, c) in the frame of the cell, by one of the six
 * numbers: docs/physics.md, section 26. */
static void cell_slopes(const double cell[6], int axis, double out[3][3])
{
    const double a = cell[0], b = cell[1], c = cell[2];
    const double ca = cos(cell[3] * NB_DEG), sa = sin(cell[3] * NB_DEG);
    const double cb = cos(cell[4] * NB_DEG), sb = sin(cell[4] * NB_DEG);
    const double cg = cos(cell[5] * NB_DEG), sg = sin(cell[5] * NB_DEG);
    const double w = sqrt(1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg);
    const double rows[6][3][3] = {
        {{w / sa, (cg - ca * cb) / sa, cb}, {0, 0, 0}, {0, 0, 0}},
        {{0, 0, 0}, {0, sa, ca}, {0, 0, 0}},
        {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}},
        {{a * ((ca - cb * cg) / w - w * ca / (sa * sa)), a * (cb - ca * cg) / (sa * sa), 0},
         {0, b * ca, -b * sa},
         {0, 0, 0}},
        {{a * sb * (cb - ca * cg) / (w * sa), a * sb * ca / sa, -a * sb},
         {0, 0, 0},
         {0, 0, 0}},
        {{a * sg * (cg - ca * cb) / (w * sa), -a * sg / sa, 0}, {0, 0, 0}, {0, 0, 0}}};
    (void)c;
    for (int i = 0; i < 9; i++)
        out[i / 3][i % 3] =
            rows[axis][i / 3][i % 3] * (axis < 3 ? NB_ANGSTROM : NB_ANGSTROM * NB_DEG);
}

static void stretch_crystal(const nb_crystal *x, int axis, nb_tangent *t)
{
    double cell[6], s[3][3];
    nb_vec3 e[3], da[3];
    nb_cell_of(x, cell);
    cell_slopes(cell, axis, s);
    e[2] = nb_unit(x->c);
    e[1] = nb_unit(nb_sub(x->b, nb_scale(nb_dot(x->b, e[2]), e[2])));
    e[0] = nb_cross(e[1], e[2]);
    if (nb_dot(x->a, e[0]) < 0)
        e[0] = nb_scale(-1, e[0]);
    for (int i = 0; i < 3; i++)
        da[i] = nb_add(nb_scale(s[i][0], e[0]),
                       nb_add(nb_scale(s[i][1], e[1]), nb_scale(s[i][2], e[2])));
    set_index(x, da, t);
}

/** Change the crystal's axes so that its indices change by h times `index`, then turn the
 * crystal by the law of the twin. */
static nb_crystal moved_twin(const nb_subject *of, const nb_twin *laws,
                             const double index[9], double h)
{
    const nb_vec3 was[3] = {of->crystal->a, of->crystal->b, of->crystal->c};
    nb_crystal x = *of->crystal;
    nb_vec3 *const axes[3] = {&x.a, &x.b, &x.c}, star[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            *axes[i] = nb_add(*axes[i], nb_scale(h * index[3 * i + j], was[j]));
    nb_reciprocal_cell(&(nb_orientation){x.a, x.b, x.c}, star);
    x.astar = star[0];
    x.bstar = star[1];
    x.cstar = star[2];
    (void)nb_twin_turn(laws, of->twin, &x);
    return x;
}

/** Replace the tangent of the first part of a twin by that of this part: a central
 * difference. It is right to 1e-10, since the rotation of the twin law is a smooth
 * function of the axes. */
static void turn_tangent(const nb_subject *of, nb_tangent *t)
{
    double max = 0;
    nb_twin laws;
    for (int i = 0; i < 9; i++)
        max = fmax(max, fabs(t->index[i]));
    if (of->twin == 0 || max == 0 || nb_twin_read(of->cfg->value.twin, &laws, NULL))
        return;
    const double h = 1e-5 / max;
    const nb_crystal up = moved_twin(of, &laws, t->index, h),
                     down = moved_twin(of, &laws, t->index, -h);
    const nb_vec3 da[3] = {nb_scale(0.5 / h, nb_sub(up.a, down.a)),
                           nb_scale(0.5 / h, nb_sub(up.b, down.b)),
                           nb_scale(0.5 / h, nb_sub(up.c, down.c))};
    set_index(&of->model->crystal, da, t);
}

/** Exponent n if the number of blocks in the beam falls as (volume of a block)^-n. */
static double blocks_fall(const nb_settings *cfg, const nb_crystal *x)
{
    if (NB_TYPED(cfg, crystal_volume_um3))
        return 1;
    return cfg->value.clip_crystal && nb_crystal_in_beam(cfg, x) < 1 ? 2.0 / 3 : 0;
}

void nb_crystal_tangent(const nb_subject *of, const nb_variable_name *v, nb_tangent *t)
{
    const nb_crystal *x = of->crystal;
    const double *r = of->moved->rot;
    const double held = blocks_fall(of->cfg, x);
    switch (v->kind) {
    case NB_VAR_MISSET:
        turn_crystal(x, misset_axis(of, v->axis), t);
        break;
    case NB_VAR_ROT:
        turn_crystal(x, nb_turn_rate(nb_v3(r[0], r[1], r[2]), unit_axes[v->axis]), t);
        break;
    case NB_VAR_CELL:
        stretch_crystal(x, v->axis, t);
        if (held > 0) /* fewer blocks of a larger cell fill the crystal */
            t->crystal = -held * (t->index[0] + t->index[4] + t->index[8]);
        break;
    case NB_VAR_CELLS:
        t->cells[v->axis] = 1;
        if (held > 0)
            t->crystal = -held / x->N[v->axis];
        break;
    default:
        break;
    }
    turn_tangent(of, t);
}
