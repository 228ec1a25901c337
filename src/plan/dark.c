/* SPDX-License-Identifier: MIT */
#include "dark.h"

#include "../physics/limits.h"
#include "../physics/structure_factor.h"

/* Smallest number of steps per entry of the table. With fewer steps, reading the table
 * takes longer than it saves. */
#define STEPS_PER_ENTRY 16
/* Half the edge of the box of indices, around a reflection, in which its F has an effect:
 * as the nearest F, and as one of the 64 of a tricubic. Kernels with steps of 2^-32 of an
 * index need the margin. */
#define NEAREST_REACH (0.5 + 1e-6)
#define TRICUBIC_REACH (2 + 1e-6)
#define ROOM 1e-6 /* margins for rounding: relative to |q|, and in rad */
/* Largest angle of a cone that meets a plane in a bounded, convex figure. */
#define WIDEST (80 * NB_DEG)

static void gram(const nb_orientation *u, double g[6])
{
    g[0] = nb_dot(u->a, u->a);
    g[1] = nb_dot(u->b, u->b);
    g[2] = nb_dot(u->c, u->c);
    g[3] = nb_dot(u->a, u->b);
    g[4] = nb_dot(u->a, u->c);
    g[5] = nb_dot(u->b, u->c);
}

int nb_cells_alike(const nb_orientation *a, const nb_orientation *b)
{
    const double room = 1e-9;
    double first[6], other[6], largest;
    gram(a, first);
    gram(b, other);
    largest = room * fmin(first[0], fmin(first[1], first[2]));
    for (int i = 0; i < 6; i++)
        if (!(fabs(other[i] - first[i]) <= largest))
            return 0;
    return 1;
}

int nb_cells_are_equal(const nb_lattice *lattice)
{
    for (int m = 1; m < lattice->n_orientations; m++)
        if (!nb_cells_alike(&lattice->orientations[0], &lattice->orientations[m]))
            return 0;
    return 1;
}

/** Largest |q|^2 over the parallelepiped of +-half around a reflection. |q|^2 is convex,
 * so that a corner has the largest. */
static double farthest2(const nb_vec3 b[3], const double h[3], double half)
{
    double largest = 0;
    for (int corner = 0; corner < 8; corner++) {
        nb_vec3 q = nb_v3(0, 0, 0);
        for (int i = 0; i < 3; i++)
            q = nb_add(q, nb_scale(h[i] + (corner >> i & 1 ? half : -half), b[i]));
        largest = fmax(largest, nb_dot(q, q));
    }
    return largest;
}

/** Largest |q|^2 so far, and the limit below which no reflection can exceed it. */
typedef struct reach_search {
    nb_vec3 b[3];
    /* corner: largest distance in 1/m of the box's corners from the reflection */
    double half, corner;
    double largest,
        less; /* squares; a reflection with |q|^2 below `less` cannot be the farthest */
} reach_search;

static reach_search reach_search_of(const nb_orientation *cell, double half)
{
    reach_search s = {.half = half};
    nb_reciprocal_cell(cell, s.b);
    s.corner = half * (nb_norm(s.b[0]) + nb_norm(s.b[1]) + nb_norm(s.b[2]));
    return s;
}

/** Test a reflection. Only few reflections need a test of the corners. */
static void look_at(reach_search *s, double h, double k, double l)
{
    const nb_vec3 q =
        nb_add(nb_scale(h, s->b[0]), nb_add(nb_scale(k, s->b[1]), nb_scale(l, s->b[2])));
    const double hkl[3] = {h, k, l};
    double far;
    if (nb_dot(q, q) < s->less)
        return;
    far = farthest2(s->b, hkl, s->half);
    if (far > s->largest) {
        const double less = sqrt(far) * (1 - ROOM) - s->corner;
        s->largest = far;
        s->less = less > 0 ? less * less : 0;
    }
}

/** Test the first and last F > 0 of a row. Reflections between are nearer. */
static void look_at_row(reach_search *s, const double *row, int n, const double first[3])
{
    int low = 0, high = n - 1;
    while (low < n && row[low] == 0)
        low++;
    if (low == n)
        return;
    while (row[high] == 0)
        high--;
    look_at(s, first[0], first[1], first[2] + low);
    look_at(s, first[0], first[1], first[2] + high);
}

/** Largest |q| in 1/m in the boxes of +-half around reflections with F > 0; or
 * INFINITY. */
static double factor_reach(const nb_scene *sc, double half)
{
    const nb_factor_table *sf = &sc->factors.table;
    reach_search search;
    if (sf->default_F != 0)
        return INFINITY;
    search = reach_search_of(&sc->lattice.orientations[0], half);
    for (int t = 0; t < nb_table_count(sf) && sf->nh > 0; t++) {
        const double *row = nb_table_at(sf, t);
        for (int i = 0; i < sf->nh; i++)
            for (int j = 0; j < sf->nk; j++, row += sf->nl) {
                const double first[3] = {sf->hmin + i, sf->kmin + j, sf->lmin};
                look_at_row(&search, row, sf->nl, first);
            }
    }
    return sqrt(search.largest);
}

/** Largest |q| at which the crystal scatters, 1/m. */
static double crystal_reach(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    double dmin = sc->factors.dmin, reach = dmin > 0 ? 1.0 / dmin : INFINITY;
    double half = sf->interpolate ? TRICUBIC_REACH : NEAREST_REACH;
    if (plan->rays * plan->steps > STEPS_PER_ENTRY * (double)nb_table_values(sf) &&
        nb_cells_are_equal(&sc->lattice))
        reach = fmin(reach, factor_reach(sc, half));
    return reach;
}

/** Angle of a cone around `axis` that contains all sources' cones; INFINITY: all rays. */
static double widest_angle(const nb_beam *beam, nb_vec3 axis, double reach)
{
    double angle = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        const nb_source *s = &beam->sources[i];
        double half_sine = 0.5 * s->lambda * reach * (1 + ROOM);
        double off = nb_norm(nb_cross(axis, s->incident));
        if (!(half_sine < 1) || !(nb_dot(axis, s->incident) > 0))
            return INFINITY;
        angle = fmax(angle, 2 * asin(half_sine) + asin(fmin(1, off)));
    }
    return angle + ROOM;
}

nb_lit_cone nb_lit_cone_of(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    nb_lit_cone cone = {1, {0, 0, 0}, 0};
    double reach;
    if (nb_shape_is_scaled(sc->lattice.shape) && !(sc->lattice.fudge > 0))
        /* not a test of the product: F_latt may be infinite, and 0 times infinity is
         * NaN */
        return cone;
    reach = crystal_reach(plan);
    if (!isfinite(reach))
        return cone;
    for (int i = 0; i < sc->beam.n_sources; i++)
        cone.axis = nb_add(cone.axis, sc->beam.sources[i].incident);
    cone.axis = nb_unit(cone.axis);
    cone.angle = widest_angle(&sc->beam, cone.axis, reach);
    cone.all = !(cone.angle < WIDEST);
    return cone;
}

nb_lit_panel nb_lit_panel_of(const nb_lit_cone *cone, const nb_panel *panel,
                             const nb_sensor *sensor)
{
    nb_lit_panel lit = {.all = 1};
    double nearest =
        fabs(nb_dot(panel->pix0, nb_unit(nb_cross(panel->fast, panel->slow))));
    /* the ray is that to the middle of a pixel's front face */
    double size = 0.5 * (panel->pixel_fast + panel->pixel_slow) +
                  sensor->layers * sensor->layer_step;
    double angle;
    if (cone->all || panel->curved || !(size < 0.5 * nearest))
        return lit;
    angle = cone->angle + asin(size / nearest);
    lit.all = !(angle < WIDEST);
    lit.axis = cone->axis;
    lit.cos2 = cos(angle) * cos(angle);
    lit.pixel = panel->pixel_fast;
    lit.along = panel->fast;
    lit.step = nb_scale(panel->pixel_slow, panel->slow);
    lit.start = nb_add(panel->pix0, nb_add(nb_scale(0.5 * panel->pixel_fast, panel->fast),
                                           nb_scale(0.5, lit.step)));
    lit.columns = panel->columns;
    return lit;
}

static int bounded(double x, int largest)
{
    return x < 0 ? 0 : x > largest ? largest : (int)x;
}

/* On a row P = U + x V, the cone (P.axis)^2 > cos^2 P^2 is p x^2 + 2 q x + r > 0. If p <
 * 0, both ends of the row are outside the cone. */
void nb_lit_columns(const nb_lit_panel *lit, int slow, int *first, int *last)
{
    nb_vec3 U = nb_add(lit->start, nb_scale(slow, lit->step)), V = lit->along;
    double u = nb_dot(U, lit->axis), v = nb_dot(V, lit->axis);
    double p = v * v - lit->cos2, q = u * v - lit->cos2 * nb_dot(U, V);
    double r = u * u - lit->cos2 * nb_dot(U, U), root2 = q * q - p * r, low, high;
    *first = 0;
    *last = lit->columns - 1;
    if (lit->all || !(p < -1e-3))
        return;
    low = -q / p;
    /* outside the cone, or in the cone's mirror image behind the sample */
    if (root2 < 0 || u + v * low < 0) {
        *last = -1;
        return;
    }
    high = low - sqrt(root2) / p;
    low += sqrt(root2) / p;
    *first = bounded(floor(low / lit->pixel) - 1, lit->columns);
    *last = bounded(ceil(high / lit->pixel) + 2, lit->columns) - 1;
}
