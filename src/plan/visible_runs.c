/* SPDX-License-Identifier: MIT */
/* Which part of a box of reflections is near the Ewald sphere, row by row.
 *
 * Everything is negated, as the boxes are: G = -q = h a* + k b* + l c* lies on the sphere of radius
 * kappa = 1/lambda round kappa i, i the direction of the beam.  A row is the line g + l c*; its samples
 * lie within `blur` of it.  |G - kappa i| - kappa falls as kappa grows, so that the sphere of some
 * kappa in [shortest, longest] comes within `blur` of G just if
 *   |G - longest i| <= longest + blur   and   |G - shortest i| >= shortest - blur.
 * Along a row these are the inside of one interval and the outside of another. */
#include <math.h>

#include "../base/memory.h"
#include "../physics/lattice.h"
#include "plan.h"

/* Orientations are taken together, in their order, as at most so many groups; and so many
 * evaluations for all rows. */
enum { MOST_GROUPS = 16, MOST_EVALUATIONS = 200000 };

/** Half a step of an index, and what rounding may add. */
#define HALF_STEP 0.51

/** Orientations that differ little, and all sources. */
typedef struct shell {
    nb_vec3 star[3];          /* of the mean orientation, 1/m */
    nb_vec3 incident;         /* unit */
    double shortest, longest; /* 1/lambda, 1/m */
    double blur;              /* what orientations and directions differ by, 1/m */
} shell;

/** Frobenius norm of (sum star_i u_i) - 1: how far a unit vector moves when its indices in orientation
 * u are taken for those in the orientation of `star`. */
static double difference(const nb_vec3 star[3], const nb_orientation *u)
{
    const nb_vec3 cell[3] = {u->a, u->b, u->c};
    nb_vec3 rows[3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        rows[0] = nb_add(rows[0], nb_scale(star[i].x, cell[i]));
        rows[1] = nb_add(rows[1], nb_scale(star[i].y, cell[i]));
        rows[2] = nb_add(rows[2], nb_scale(star[i].z, cell[i]));
    }
    for (int i = 0; i < 3; i++)
        sum += nb_dot(rows[i], rows[i]);
    return sqrt(sum);
}

static nb_orientation mean_of(const nb_orientation *u, int n)
{
    nb_orientation mean = u[0];
    for (int i = 1; i < n; i++) {
        mean.a = nb_add(mean.a, u[i].a);
        mean.b = nb_add(mean.b, u[i].b);
        mean.c = nb_add(mean.c, u[i].c);
    }
    mean.a = nb_scale(1.0 / n, mean.a);
    mean.b = nb_scale(1.0 / n, mean.b);
    mean.c = nb_scale(1.0 / n, mean.c);
    return mean;
}

/** n orientations with all sources.  q: the largest scattering vector. */
static shell shell_of(const nb_beam *beam, const nb_orientation *u, int n, double q)
{
    shell s = {.incident = beam->sources[0].incident, .shortest = INFINITY};
    nb_orientation mean = mean_of(u, n);
    double turn = 0, moved = 0;
    nb_reciprocal_cell(&mean, s.star);
    for (int i = 0; i < beam->n_sources; i++) {
        const nb_source *source = &beam->sources[i];
        s.shortest = fmin(s.shortest, 1 / source->lambda);
        s.longest = fmax(s.longest, 1 / source->lambda);
        turn = fmax(turn, nb_norm(nb_sub(source->incident, s.incident)));
    }
    for (int i = 0; i < n; i++)
        moved = fmax(moved, difference(s.star, &u[i]));
    s.blur = turn * s.longest + moved * q;
    return s;
}

/** The line's part inside |G - kappa i| = radius: middle -+ half; half < 0: none. */
static void cut_sphere(const shell *s, nb_vec3 g, int axis, double kappa, double radius,
                       double *middle, double *half)
{
    nb_vec3 from = nb_sub(g, nb_scale(kappa, s->incident)), star = s->star[axis];
    double length2 = nb_dot(star, star), along = nb_dot(from, star) / length2, rest;
    *middle = -along;
    rest = (radius * radius - nb_dot(from, from)) / length2 + along * along;
    *half = radius > 0 && rest >= 0 ? sqrt(rest) : -1;
}

/** Widen [*low, *high] by the part of [from, to] in [least, most]. */
static void widen(double from, double to, const double limit[2], double *low, double *high)
{
    from = fmax(from, limit[0]);
    to = fmin(to, limit[1]);
    if (from <= to) {
        *low = fmin(*low, from);
        *high = fmax(*high, to);
    }
}

/** Widen [*low, *high] by the indices along `axis` that the row at g is seen at. */
static void widen_by_shell(const shell *s, nb_vec3 g, int axis, const double limit[2],
                           double *low, double *high)
{
    const nb_vec3 *x = &s->star[(axis + 1) % 3], *y = &s->star[(axis + 2) % 3];
    double wide = HALF_STEP * fmax(nb_norm(nb_add(*x, *y)),
                                   nb_norm(nb_sub(*x, *y))); /* half diagonal */
    double blur = wide + s->blur, middle[2], half[2];
    cut_sphere(s, g, axis, s->longest, s->longest + blur, &middle[0], &half[0]);
    cut_sphere(s, g, axis, s->shortest, s->shortest - blur, &middle[1], &half[1]);
    if (half[0] < 0)
        return;
    if (half[1] < 0) {
        widen(middle[0] - half[0], middle[0] + half[0], limit, low, high);
        return;
    }
    widen(middle[0] - half[0], fmin(middle[0] + half[0], middle[1] - half[1]), limit, low,
          high);
    widen(fmax(middle[0] - half[0], middle[1] + half[1]), middle[0] + half[0], limit, low,
          high);
}

static nb_index_run run_of(const shell *shells, int n_shells, const nb_index_box *box,
                           int axis, const double at[3])
{
    const double least = box->low[axis], most = least + box->n[axis] - 1;
    const double limit[2] = {least - HALF_STEP, most + HALF_STEP};
    double low = INFINITY, high = -INFINITY;
    nb_index_run run = {0, 0};
    for (int i = 0; i < n_shells; i++) {
        const nb_vec3 *star = shells[i].star;
        nb_vec3 g = nb_add(nb_scale(at[0], star[0]),
                           nb_add(nb_scale(at[1], star[1]), nb_scale(at[2], star[2])));
        widen_by_shell(&shells[i], g, axis, limit, &low, &high);
    }
    if (!(low <= high))
        return run;
    run.first = (int32_t)(fmax(ceil(low - HALF_STEP), least) - least);
    run.end = (int32_t)(fmin(floor(high + HALF_STEP), most) - least) + 1;
    return run;
}

static void find_runs(const shell *shells, int n_shells, const nb_index_box *box,
                      int axis, nb_index_run *runs)
{
    const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    double at[3] = {0, 0, 0};
    for (int i = 0; i < box->n[a]; i++)
        for (int j = 0; j < box->n[b]; j++) {
            at[a] = (double)box->low[a] + i;
            at[b] = (double)box->low[b] + j;
            *runs++ = run_of(shells, n_shells, box, axis, at);
        }
}

/** Groups of the orientations; returns how many. */
static int make_shells(const nb_scene *sc, double rows, double q,
                       shell shells[MOST_GROUPS])
{
    const nb_lattice *lattice = &sc->lattice;
    int n = (int)fmax(1, fmin(MOST_GROUPS, MOST_EVALUATIONS / rows));
    n = n < lattice->n_orientations ? n : lattice->n_orientations;
    for (int i = 0; i < n; i++) {
        int first = (int)((int64_t)lattice->n_orientations * i / n);
        int end = (int)((int64_t)lattice->n_orientations * (i + 1) / n);
        shells[i] = shell_of(&sc->beam, lattice->orientations + first, end - first, q);
    }
    return n;
}

nb_status nb_visible_runs(const nb_plan *plan, const nb_index_box *box, int axis,
                          nb_index_run **runs, nb_error *err)
{
    const size_t rows = (size_t)box->n[(axis + 1) % 3] * (size_t)box->n[(axis + 2) % 3];
    shell shells[MOST_GROUPS];
    double q;
    nb_status st = nb_largest_q(plan->scene, &q, err);
    *runs = NULL;
    if (st)
        return st;
    *runs = nb_alloc_raw(rows, sizeof **runs, "rows of reflections", err);
    if (!*runs)
        return NB_ERR_NOMEM;
    find_runs(shells, make_shells(plan->scene, (double)rows, q, shells), box, axis, *runs);
    return NB_OK;
}

int nb_steepest_axis(const nb_scene *sc)
{
    nb_vec3 star[3], beam = sc->beam.sources[0].incident;
    int best = 2;
    nb_reciprocal_cell(&sc->lattice.orientations[0], star);
    for (int axis = 0; axis < 2; axis++)
        if (fabs(nb_dot(star[axis], beam)) > fabs(nb_dot(star[best], beam)))
            best = axis;
    return best;
}
