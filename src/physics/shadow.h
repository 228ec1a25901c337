/* SPDX-License-Identifier: MIT */
/** Shadows of stops between sample and detector (docs/physics.md, section 24). */
#ifndef NB_PHYSICS_SHADOW_H
#define NB_PHYSICS_SHADOW_H

#include <math.h>

#include "vec3.h"

enum { NB_SHADOW_MOST = 16 };

/** A disc about the beam, or a bar from the beam outwards, whose end is round. */
typedef struct nb_shadow_item {
    int bar;
    double half;         /* of its diameter or width, m */
    double cosa, sina;   /* of the bar's angle, from fast to slow */
    double transmission; /* of light that meets it */
} nb_shadow_item;

/** On the plane at right angles to the beam, `distance` from the sample. */
typedef struct nb_shadow {
    int n;
    nb_shadow_item items[NB_SHADOW_MOST];
    nb_vec3 beam, fast, slow; /* unit, at right angles to each other */
    double distance;          /* m */
} nb_shadow;

/** How far (x, y) is outside of an item, m; below 0 inside.  It changes by no more than the way of (x, y). */
static inline double nb_shadow_over(const nb_shadow_item *item, double x, double y)
{
    const double u = x * item->cosa + y * item->sina, v = -x * item->sina + y * item->cosa;
    return (item->bar && u >= 0 ? fabs(v) : sqrt(x * x + y * y)) - item->half;
}

/** Where a ray meets the plane; 0: it does not. */
static inline int nb_shadow_place(const nb_shadow *s, nb_vec3 direction, double *x,
                                  double *y)
{
    const double along = nb_dot(direction, s->beam);
    *x = s->distance * nb_dot(direction, s->fast) / along;
    *y = s->distance * nb_dot(direction, s->slow) / along;
    return along > 0;
}

/** What a pixel of this edge (m) at the place gets of its light. */
static inline double nb_shadow_factor(const nb_shadow *s, double x, double y, double edge)
{
    double factor = 1;
    for (int i = 0; i < s->n; i++) {
        const double t = s->items[i].transmission;
        const double part = 0.5 + nb_shadow_over(&s->items[i], x, y) / edge;
        factor *= t + (1 - t) * fmin(fmax(part, 0), 1);
    }
    return factor;
}

/* --- The body of a crystal that absorbs (docs/physics.md, section 24) --- */

enum { NB_TURNS_MOST = 8 };

typedef struct nb_absorber {
    double mu;      /* 1/m; 0: nothing is absorbed */
    int box;        /* or a sphere */
    double half[3]; /* of its edges; of a sphere the radius, m */
    nb_vec3 beam;   /* unit */
    int turns;      /* how many positions of a box a frame is the mean of */
    nb_vec3 axis[NB_TURNS_MOST][3]; /* of its edges, unit */
} nb_absorber;

#endif
