/* SPDX-License-Identifier: MIT */
/** Vectors of three doubles in the lab frame, and rotations of vectors. */
#ifndef NB_PHYSICS_VEC3_H
#define NB_PHYSICS_VEC3_H

#include <math.h>

#include "hostdevice.h"

typedef struct nb_vec3 {
    double x, y, z;
} nb_vec3;

/** A rotation matrix, row major. */
typedef struct nb_mat3 {
    double m[9];
} nb_mat3;

NB_HD nb_vec3 nb_v3(double x, double y, double z)
{
    nb_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
NB_HD nb_vec3 nb_add(nb_vec3 a, nb_vec3 b)
{
    return nb_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
NB_HD nb_vec3 nb_sub(nb_vec3 a, nb_vec3 b)
{
    return nb_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
NB_HD nb_vec3 nb_scale(double k, nb_vec3 a)
{
    return nb_v3(k * a.x, k * a.y, k * a.z);
}
NB_HD double nb_dot(nb_vec3 a, nb_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
NB_HD nb_vec3 nb_cross(nb_vec3 a, nb_vec3 b)
{
    return nb_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
NB_HD double nb_norm(nb_vec3 a)
{
    return sqrt(nb_dot(a, a));
}
/** a/|a|; the zero vector stays zero. */
NB_HD nb_vec3 nb_unit(nb_vec3 a)
{
    double n = nb_norm(a);
    return n > 0 ? nb_scale(1.0 / n, a) : a;
}
NB_HD nb_vec3 nb_apply(const nb_mat3 *r, nb_vec3 v)
{
    return nb_v3(r->m[0] * v.x + r->m[1] * v.y + r->m[2] * v.z,
                 r->m[3] * v.x + r->m[4] * v.y + r->m[5] * v.z,
                 r->m[6] * v.x + r->m[7] * v.y + r->m[8] * v.z);
}

/** v rotated by angle [rad], right-handed, about the unit axis (Rodrigues' formula). */
NB_HD nb_vec3 nb_rotate_about(nb_vec3 v, nb_vec3 axis, double angle)
{
    double c = cos(angle), s = sin(angle), t = (1.0 - c) * nb_dot(axis, v);
    nb_vec3 w = nb_cross(axis, v);
    return nb_v3(axis.x * t + v.x * c + w.x * s, axis.y * t + v.y * c + w.y * s,
                 axis.z * t + v.z * c + w.z * s);
}

/** v rotated about the fixed lab axes X, then Y, then Z [rad], right-handed. */
NB_HD nb_vec3 nb_rotate_xyz(nb_vec3 v, double rx, double ry, double rz)
{
    if (rx != 0)
        v = nb_v3(v.x, v.y * cos(rx) - v.z * sin(rx), v.y * sin(rx) + v.z * cos(rx));
    if (ry != 0)
        v = nb_v3(v.x * cos(ry) + v.z * sin(ry), v.y, -v.x * sin(ry) + v.z * cos(ry));
    if (rz != 0)
        v = nb_v3(v.x * cos(rz) - v.y * sin(rz), v.x * sin(rz) + v.y * cos(rz), v.z);
    return v;
}

#endif
