/* SPDX-License-Identifier: MIT */
#include "crystal.h"

#include "../base/philox.h"

nb_mat3 nb_axis_rotation(nb_vec3 u, double angle)
{
    double c = cos(angle), s = sin(angle), t = 1.0 - c;
    nb_mat3 r = {{t * u.x * u.x + c, t * u.x * u.y - s * u.z, t * u.x * u.z + s * u.y,
                  t * u.x * u.y + s * u.z, t * u.y * u.y + c, t * u.y * u.z - s * u.x,
                  t * u.x * u.z - s * u.y, t * u.y * u.z + s * u.x, t * u.z * u.z + c}};
    return r;
}

void nb_rotation_angles(const nb_mat3 *U, double angles[3])
{
    nb_vec3 x = nb_unit(nb_v3(U->m[0], U->m[1], U->m[2]));
    nb_vec3 y = nb_unit(nb_v3(U->m[3], U->m[4], U->m[5]));
    nb_vec3 z = nb_unit(nb_v3(U->m[6], U->m[7], U->m[8]));
    if (z.x * z.x < 1.0) {
        angles[0] = atan2(z.y, z.z);
        angles[1] = atan2(-z.x, sqrt(z.y * z.y + z.z * z.z));
        angles[2] = atan2(y.x, x.x);
    } else { /* gimbal lock, which nanoBragg resolves in this way at +90 deg */
        angles[0] = atan2(1, 1) * 4;
        angles[1] = atan2(1, 1) * (z.x < 0 ? 2 : -2);
        angles[2] = atan2(x.y, -y.y);
    }
}

/** Draw the axis of a domain's rotation. *share: ratio of the rotation angle to the
 * spread. */
static nb_vec3 next_mosaic_draw(nb_ran1 *rng, float *share)
{
    double r1 = 2.0 * nb_ran1_next(rng) - 1.0;
    double r2 = 2.0 * nb_ran1_next(rng) - 1.0;
    double r3 = 2.0 * nb_ran1_next(rng) - 1.0;
    double s = sqrt(1.0 - r2 * r2);
    *share = powf((float)(1.0 - r3 * r3), (float)(1.0 / 3.0));
    return nb_v3(s * sin(NB_PI * r1), s * cos(NB_PI * r1), r2);
}

/** Rotation of a domain, in nanoBragg's mixture of single and double precision. */
static nb_mat3 next_mosaic_rotation(nb_ran1 *rng, float spread)
{
    float share;
    nb_vec3 axis = next_mosaic_draw(rng, &share);
    return nb_axis_rotation(axis, spread * share);
}

void nb_mosaic_rates(int64_t seed, int count, nb_vec3 *rates)
{
    nb_ran1 rng;
    nb_ran1_seed(&rng, seed);
    for (int i = 0; i < count; i++) {
        float share;
        nb_vec3 axis = next_mosaic_draw(&rng, &share);
        rates[i] = nb_scale(i > 0 ? share : 0, axis);
    }
}

void nb_mosaic_rotations(double spread, int64_t seed, int count, nb_mat3 *rotations)
{
    static const nb_mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    nb_ran1 rng;
    nb_ran1_seed(&rng, seed);
    for (int i = 0; i < count; i++)
        rotations[i] = next_mosaic_rotation(&rng, (float)spread);
    /* domain 0 also draws three numbers, which it does not use */
    rotations[0] = identity;
}

void nb_misset_random_compat(int64_t seed, double angles[3])
{
    nb_ran1 rng;
    nb_mat3 U;
    nb_ran1_seed(&rng, seed);
    U = next_mosaic_rotation(&rng, 90.0f);
    nb_rotation_angles(&U, angles);
}

/** Stream of Philox, used instead of a frame number. No frame has this number. */
enum { MISSET_STREAM = 0x7fffffff };

nb_status nb_misset_random(int64_t seed, int crystal, double angles[3], nb_error *err)
{
    const uint64_t item = (uint64_t)crystal;
    nb_philox_words p = nb_philox((uint64_t)seed, item, MISSET_STREAM, 0);
    nb_philox_words r = nb_philox((uint64_t)seed, item, MISSET_STREAM, 1);
    double u = nb_uniform52(p.w[0], p.w[1]);
    double a1 = 2 * NB_PI * nb_uniform52(p.w[2], p.w[3]);
    double a2 = 2 * NB_PI * nb_uniform52(r.w[0], r.w[1]);
    double a = sqrt(1.0 - u), b = sqrt(u);
    double x = a * sin(a1), y = a * cos(a1), z = b * sin(a2), w = b * cos(a2);
    nb_mat3 U = {{1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
                  2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                  2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)}};
    (void)err;
    nb_rotation_angles(&U, angles);
    return NB_OK;
}
