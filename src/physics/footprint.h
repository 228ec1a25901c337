/* SPDX-License-Identifier: MIT */
/** The footprint of the Bragg light: the cross-section of crystal or beam, and where a panel sees it
 * (docs/physics.md, section 22). */
#ifndef NB_PHYSICS_FOOTPRINT_H
#define NB_PHYSICS_FOOTPRINT_H

#include "ray.h"

/** Light from the point x a + y b of the cross-section; (x, y) has the standard normal distribution, or
 * is uniform within +-1/2 (box).  a = b = 0: a point. */
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

/** How the image of the sample's origin at (F, S) of a panel, m, moves when the light comes from a or b instead:
 * M = {fast by a, fast by b, slow by a, slow by b}, pixels.  With s1 the diffracted ray and n the plane's normal
 * the point r moves the image by r - s1 (r.n)/(s1.n). */
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
