/* SPDX-License-Identifier: MIT */
/** Shadows of stops between sample and detector (docs/physics.md, section 24). */
#ifndef NB_PHYSICS_SHADOW_H
#define NB_PHYSICS_SHADOW_H

#include <math.h>

#include "vec3.h"

enum { NB_SHADOW_MAX = 16 };

/** A disc around the beam, or a bar that starts at the beam with a round end. */
typedef struct nb_shadow_item {
    int bar;
    double half;         /* half the diameter or the width, m */
    double cosa, sina;   /* cosine and sine of the bar's angle from fast towards slow */
    double transmission; /* fraction of the light that passes the item */
} nb_shadow_item;

/** Stops in the plane at right angles to the beam, `distance` from the sample. */
typedef struct nb_shadow {
    int n;
    nb_shadow_item items[NB_SHADOW_MAX];
    nb_vec3 beam, fast, slow; /* unit, at right angles to each other */
    double distance;          /* m */
} nb_shadow;

/** Distance of (x, y) from the edge of an item, m; negative inside. A move of (x, y)
 * changes the distance by at most the length of the move. */
static inline double nb_shadow_over(const nb_shadow_item *item, double x, double y)
{
    const double u = x * item->cosa + y * item->sina, v = -x * item->sina + y * item->cosa;
    return (item->bar && u >= 0 ? fabs(v) : sqrt(x * x + y * y)) - item->half;
}

/** Set (*x, *y), m, to a ray's point in the stops' plane. Returns 0 if it misses. */
static inline int nb_shadow_place(const nb_shadow *s, nb_vec3 direction, double *x,
                                  double *y)
{
    const double along = nb_dot(direction, s->beam);
    *x = s->distance * nb_dot(direction, s->fast) / along;
    *y = s->distance * nb_dot(direction, s->slow) / along;
    return along > 0;
}

/** Fraction of a pixel's light that passes the stops. The pixel is at (x, y) in the plane
 * of the stops and `edge` wide there, m. */
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

enum { NB_TURNS_MAX = 8 };

typedef struct nb_absorber {
    double mu;      /* 1/m; 0: nothing is absorbed */
    int box;        /* 1: a box; 0: a sphere */
    double half[3]; /* half the edges of a box, or the radius of a sphere, m */
    nb_vec3 beam;   /* unit */
    int turns;      /* number of rotated positions of a box that a frame averages */
    nb_vec3 axis[NB_TURNS_MAX][3]; /* directions of the edges, unit */
} nb_absorber;

#endif
