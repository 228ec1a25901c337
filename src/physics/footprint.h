/* SPDX-License-Identifier: MIT */
/** The footprint of the Bragg light: the cross-section of the crystal or the beam, and
 * its image on a panel (docs/physics.md, section 22). */
#ifndef NB_PHYSICS_FOOTPRINT_H
#define NB_PHYSICS_FOOTPRINT_H

#include "ray.h"

/** Light comes from the points x a + y b of the cross-section. (x, y) is standard normal,
 * or with `box` uniform within +-1/2. a = b = 0: all light comes from one point. */
typedef struct nb_footprint {
    int box;
    nb_vec3 a, b; /* m, perpendicular to the beam */
} nb_footprint;

static inline int nb_footprint_is_point(const nb_footprint *fp)
{
    return nb_dot(fp->a, fp->a) + nb_dot(fp->b, fp->b) == 0;
}

static inline double nb_footprint_det(nb_vec3 a, nb_vec3 b, nb_vec3 c)
{
    return nb_dot(a, nb_cross(b, c));
}

/** Calculate M, which describes the shift on a panel of light that comes from a point
 * other than the sample's origin: {fast by a, fast by b, slow by a, slow by b}, pixels.
 * Light from the origin hits the panel at (F, S), m. A point r shifts it by r - s1
 * (r.n)/(s1.n): s1 is the ray, n the plane's normal. */
static inline void nb_footprint_map(const nb_panel *panel, double F, double S, nb_vec3 a,
                                    nb_vec3 b, double M[4])
{
    nb_vec3 s1 = nb_panel_point(panel, F, S, 0), fast = panel->fast, slow = panel->slow;
    double whole;
    if (panel->curved) {
        const double u = (F - panel->Fbeam) / panel->distance,
                     v = (S - panel->Sbeam) / panel->distance;
        const nb_vec3 along =
            nb_add(nb_scale(cos(v), panel->beam), nb_scale(sin(v), panel->curved_slow));
        fast = nb_add(nb_scale(-sin(u), along), nb_scale(cos(u), panel->curved_fast));
        slow = nb_scale(cos(u), nb_add(nb_scale(-sin(v), panel->beam),
                                       nb_scale(cos(v), panel->curved_slow)));
    }
    whole = nb_footprint_det(fast, slow, s1);
    M[0] = nb_footprint_det(a, slow, s1) / whole / panel->pixel_fast;
    M[1] = nb_footprint_det(b, slow, s1) / whole / panel->pixel_fast;
    M[2] = nb_footprint_det(fast, a, s1) / whole / panel->pixel_slow;
    M[3] = nb_footprint_det(fast, b, s1) / whole / panel->pixel_slow;
}

#endif
