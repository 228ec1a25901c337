/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include "../physics/lattice.h"
#include "units.h"

enum { NEWTON_STEPS = 20 };

/* Smallest usable determinant of the mean of the rotations. If it is smaller, the domains
 * spread too far. */
#define NO_MEAN 0.3

/** Multiply a matrix, given by columns, with a vector. */
static nb_vec3 times(const nb_vec3 m[3], nb_vec3 v)
{
    return nb_add(nb_scale(v.x, m[0]), nb_add(nb_scale(v.y, m[1]), nb_scale(v.z, m[2])));
}

/** a*, b*, c* [1/A] at the first spindle step, without the rotations of the step. */
static void start_of(const nb_model *m, nb_vec3 star[3])
{
    const nb_crystal *x = &m->crystal;
    nb_orientation u = {x->a, x->b, x->c};
    star[0] = x->astar;
    star[1] = x->bstar;
    star[2] = x->cstar;
    if (!m->steps)
        return;
    u = nb_scan_mix(m->steps, u);
    nb_reciprocal_cell(&u, star);
    for (int i = 0; i < 3; i++)
        star[i] = nb_scale(NB_ANGSTROM, star[i]);
}

/** Undo the rotation of the first spindle step. */
static nb_vec3 unturned(const nb_model *m, nb_vec3 v)
{
    const double *t;
    if (!m->steps)
        return v;
    t = m->steps->turn.m;
    return nb_v3(t[0] * v.x + t[3] * v.y + t[6] * v.z,
                 t[1] * v.x + t[4] * v.y + t[7] * v.z,
                 t[2] * v.x + t[5] * v.y + t[8] * v.z);
}

/** Mean rotation matrix of the domains. It maps a, b, c to their means over domains. */
static void mean_rotation(const nb_model *m, double phi, nb_vec3 mean[3])
{
    const nb_lattice *lattice = &m->scene.lattice;
    nb_vec3 star[3], sum[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int j = 0; j < lattice->n_domains; j++) {
        const nb_orientation *u = &lattice->orientations[j];
        const nb_vec3 cell[3] = {u->a, u->b, u->c};
        for (int i = 0; i < 3; i++)
            sum[i] = nb_add(sum[i], cell[i]);
    }
    start_of(m, star);
    for (int i = 0; i < 3; i++)
        sum[i] = unturned(m, nb_scale(1 / NB_ANGSTROM / lattice->n_domains,
                                      nb_rotate_about(sum[i], m->geometry.spindle, -phi)));
    mean[0] = times(sum, nb_v3(star[0].x, star[1].x, star[2].x));
    mean[1] = times(sum, nb_v3(star[0].y, star[1].y, star[2].y));
    mean[2] = times(sum, nb_v3(star[0].z, star[1].z, star[2].z));
}

/** Set r to the nearest rotation (Newton, polar decomposition). Returns 0 if r is too far
 * from a rotation. */
static int make_rotation(nb_vec3 r[3])
{
    if (!(nb_dot(r[0], nb_cross(r[1], r[2])) > NO_MEAN))
        return 0;
    for (int step = 0; step < NEWTON_STEPS; step++) {
        const double volume = nb_dot(r[0], nb_cross(r[1], r[2]));
        const nb_vec3 inverse[3] = {nb_cross(r[1], r[2]), nb_cross(r[2], r[0]),
                                    nb_cross(r[0], r[1])};
        for (int i = 0; i < 3; i++)
            r[i] = nb_scale(0.5, nb_add(r[i], nb_scale(1 / volume, inverse[i])));
    }
    return 1;
}

double nb_model_drawn(const nb_model *m, double phi, nb_vec3 reciprocal[3])
{
    const nb_crystal *x = &m->crystal;
    const nb_vec3 star[3] = {x->astar, x->bstar, x->cstar};
    nb_vec3 r[3], twice;
    mean_rotation(m, phi, r);
    if (!make_rotation(r)) {
        for (int i = 0; i < 3; i++)
            reciprocal[i] = nb_v3(NAN, NAN, NAN);
        return NAN;
    }
    for (int i = 0; i < 3; i++)
        reciprocal[i] = times(r, star[i]);
    /* 2 sin(angle) is the length of this vector */
    twice = nb_v3(r[1].z - r[2].y, r[2].x - r[0].z, r[0].y - r[1].x);
    return atan2(nb_norm(twice), r[0].x + r[1].y + r[2].z - 1);
}
