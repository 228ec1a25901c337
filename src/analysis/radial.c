/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <math.h>

#include "../base/error.h"
#include "../base/memory.h"

typedef struct ring {
    double a, b;
    int64_t pixels;
} ring;

static double radius(const double centre[2], double f, double s)
{
    return hypot(f + 0.5 - centre[0], s + 0.5 - centre[1]);
}

/** Largest radius of the rectangle: the radius of a corner. */
static double largest_radius(const nb_pair *p, const double centre[2])
{
    double far = 0;
    for (int i = 0; i < 4; i++)
        far = fmax(far, radius(centre, p->roi[i & 1], p->roi[2 + (i >> 1)]));
    return far;
}

static void fill(const nb_pair *p, const double centre[2], ring *rings)
{
    for (int s = p->roi[2]; s <= p->roi[3]; s++)
        for (int f = p->roi[0]; f <= p->roi[1]; f++) {
            size_t at = (size_t)s * (size_t)p->fast + (size_t)f;
            ring *r = &rings[(size_t)radius(centre, f, s)];
            if (nb_pair_leaves_out(p, at))
                continue;
            r->a += p->a[at];
            r->b += p->b[at];
            r->pixels++;
        }
}

static void measure(const ring *rings, size_t n, nb_difference *d)
{
    double differences = 0, squares = 0, highest = 0;
    for (size_t i = 0; i < n; i++) {
        double pixels = (double)rings[i].pixels, a, b;
        if (!rings[i].pixels)
            continue;
        a = rings[i].a / pixels;
        b = rings[i].b / pixels;
        differences += pixels * (a - b) * (a - b);
        squares += pixels * b * b;
        highest = fmax(highest, fabs(b));
        if (fabs(a - b) > fabs(d->radial_worst)) {
            d->radial_worst = a - b;
            d->radial_worst_radius = (double)i + 0.5;
        }
        d->radial_rings++;
    }
    d->radial_difference = differences == 0 ? 0 : sqrt(differences / squares);
    d->radial_worst = d->radial_worst == 0 ? 0 : d->radial_worst / highest;
}

nb_status nb_compare_radial(const nb_pair *p, const double centre[2], nb_difference *d,
                            nb_error *err)
{
    double far = largest_radius(p, centre);
    size_t n;
    ring *rings;
    if (!(far < 1e8))
        return nb_fail(err, NB_ERR_INPUT, "the centre %g %g is too far from the image",
                       centre[0], centre[1]);
    n = (size_t)far + 1;
    rings = nb_alloc(n, sizeof *rings, "radial profile", err);
    if (!rings)
        return NB_ERR_NOMEM;
    fill(p, centre, rings);
    measure(rings, n, d);
    nb_free(rings);
    return NB_OK;
}
