/* SPDX-License-Identifier: MIT */
/* Find the part of a box of reflections near the Ewald sphere, row by row.
 *
 * Signs are negative, as in the boxes: G = -q = h a* + k b* + l c* lies on a sphere of
 * radius kappa = 1/lambda around kappa i, i the direction of the beam. A row is a line g
 * + l c*, with samples within `blur` of the line. |G - kappa i| - kappa falls as kappa
 * grows. So a sphere of kappa in [shortest, longest] is within `blur` of G if and only if
 *   |G - longest i| <= longest + blur   and   |G - shortest i| >= shortest - blur.
 * On a line, the first condition holds inside one interval and the second outside
 * another. A row has samples on all lines of a square, which reaches half an index to
 * each side. The near end f of an interval is convex over the square, the far end
 * concave. A corner has the largest f. Since f(x) + f(2c - x) >= 2 f(c) for the middle c,
 * f is at least 2 f(c) - largest f. */
#include <math.h>

#include "../base/memory.h"
#include "../physics/lattice.h"
#include "plan.h"

/* Limits of the groups of consecutive orientations and of the evaluations for all rows */
enum { MAX_GROUPS = 16, MAX_EVALUATIONS = 200000 };

/** Half a step of an index, plus a margin for rounding. */
#define HALF_STEP 0.51

/** A group of similar orientations, with all sources. */
typedef struct shell {
    nb_vec3 star[3];          /* 1/m; reciprocal axes of the mean orientation */
    nb_vec3 incident;         /* direction of the beam, unit */
    double shortest, longest; /* 1/m; range of 1/lambda */
    double blur;              /* 1/m; largest shift by orientations and directions */
} shell;

/** Frobenius norm of (sum star_i u_i) - 1. This is the largest shift of a unit vector if
 * its indices for orientation u are used as indices for the orientation of `star`. */
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

/** Make a group of n orientations with all sources. q: largest scattering vector, 1/m. */
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

/** Part of a line inside the sphere |G - kappa i| = radius; empty if from > to. */
typedef struct cut {
    double from, to;
} cut;

static cut cut_sphere(const shell *s, nb_vec3 g, int axis, double kappa, double radius)
{
    const nb_vec3 from = nb_sub(g, nb_scale(kappa, s->incident)), star = s->star[axis];
    const double inverse2 = 1 / nb_dot(star, star), along = nb_dot(from, star) * inverse2,
                 rest = (radius * radius - nb_dot(from, from)) * inverse2 + along * along;
    const double half = radius > 0 && rest >= 0 ? sqrt(rest) : NAN;
    const cut c = {-along - half, -along + half};
    return half >= 0 ? c : (cut){INFINITY, -INFINITY};
}

static int is_cut(cut c)
{
    return c.from <= c.to;
}

/** Visible part of a row, in indices along the axis. */
typedef struct range {
    double low, high;
} range;

/** Widen *r by the part of [from, to] in [limit[0], limit[1]]. */
static void widen(double from, double to, const double limit[2], range *r)
{
    from = fmax(from, limit[0]);
    to = fmin(to, limit[1]);
    if (from <= to) {
        r->low = fmin(r->low, from);
        r->high = fmax(r->high, to);
    }
}

/** Widen *r by the part inside the outer cut and outside the inner cut. */
static void widen_between(cut outer, cut inner, const double limit[2], range *r)
{
    if (!is_cut(inner)) {
        widen(outer.from, outer.to, limit, r);
        return;
    }
    widen(outer.from, fmin(outer.to, inner.from), limit, r);
    widen(fmax(outer.from, inner.to), outer.to, limit, r);
}

/** Widen *r by the middle line of a row, with a blur that includes the whole square. */
static void widen_by_line(const shell *s, nb_vec3 g, int axis, const double limit[2],
                          range *r)
{
    const nb_vec3 *x = &s->star[(axis + 1) % 3], *y = &s->star[(axis + 2) % 3];
    double wide = HALF_STEP * fmax(nb_norm(nb_add(*x, *y)),
                                   nb_norm(nb_sub(*x, *y))); /* half diagonal */
    const double blur = wide + s->blur;
    const cut outer = cut_sphere(s, g, axis, s->longest, s->longest + blur);
    if (is_cut(outer))
        widen_between(outer, cut_sphere(s, g, axis, s->shortest, s->shortest - blur),
                      limit, r);
}

/** Cuts of the outer and the inner sphere with the line at a corner of squares. */
typedef struct corner {
    cut outer, inner;
} corner;

/** Blur of lines whose position is exact up to rounding. */
static double sharp_blur(const shell *s, int axis)
{
    const double room = HALF_STEP - 0.5;
    return s->blur +
           room * (nb_norm(s->star[(axis + 1) % 3]) + nb_norm(s->star[(axis + 2) % 3]));
}

static corner corner_at(const shell *s, nb_vec3 g, int axis)
{
    const double blur = sharp_blur(s, axis);
    const corner c = {cut_sphere(s, g, axis, s->longest, s->longest + blur),
                      cut_sphere(s, g, axis, s->shortest, s->shortest - blur)};
    return c;
}

/** Widen *r by bounds of the cuts over a square, from four corners and the middle. */
static void widen_by_corners(const corner at[4], cut middle, const double limit[2],
                             range *r)
{
    cut outer = {-INFINITY, INFINITY}, inner = {-INFINITY, INFINITY};
    int all_inner = 1;
    for (int i = 0; i < 4; i++) {
        outer.from = fmax(outer.from, at[i].outer.from);
        outer.to = fmin(outer.to, at[i].outer.to);
        inner.from = fmax(inner.from, at[i].inner.from);
        inner.to = fmin(inner.to, at[i].inner.to);
        all_inner &= is_cut(at[i].inner);
    }
    outer.from = 2 * middle.from - outer.from;
    outer.to = 2 * middle.to - outer.to;
    if (!all_inner || !is_cut(inner))
        inner = (cut){INFINITY, -INFINITY};
    widen_between(outer, inner, limit, r);
}

/** Rows of a box along an axis, and their visible parts. */
typedef struct row_table {
    const nb_index_box *box;
    int axis, a, b;   /* a < b: the other axes */
    double limit[2];  /* limits of indices along the axis */
    range *seen;      /* owned; visible part of each row */
    corner *lines[2]; /* owned; corners on both sides of a line of rows */
} row_table;

/** Point of row (i, j) of the box. i and j may be fractions. */
static nb_vec3 row_point(const row_table *t, const shell *s, double i, double j)
{
    return nb_add(nb_scale(t->box->low[t->a] + i, s->star[t->a]),
                  nb_scale(t->box->low[t->b] + j, s->star[t->b]));
}

static void aim_corners(const row_table *t, const shell *s, double i, corner *line)
{
    for (int j = 0; j <= t->box->n[t->b]; j++)
        line[j] = corner_at(s, row_point(t, s, i, j - 0.5), t->axis);
}

/** Widen the visible part of row (i, j), between two lines of corners. */
static void widen_row(const row_table *t, const shell *s, int i, int j)
{
    const corner at[4] = {t->lines[0][j], t->lines[0][j + 1], t->lines[1][j],
                          t->lines[1][j + 1]};
    const nb_vec3 g = row_point(t, s, i, j);
    range *r = &t->seen[(size_t)i * (size_t)t->box->n[t->b] + (size_t)j];
    const cut middle =
        cut_sphere(s, g, t->axis, s->longest, s->longest + sharp_blur(s, t->axis));
    if (is_cut(middle) && is_cut(at[0].outer) && is_cut(at[1].outer) &&
        is_cut(at[2].outer) && is_cut(at[3].outer))
        widen_by_corners(at, middle, t->limit, r);
    else
        widen_by_line(s, g, t->axis, t->limit, r);
}

static void add_shell(row_table *t, const shell *s)
{
    aim_corners(t, s, -0.5, t->lines[0]);
    for (int i = 0; i < t->box->n[t->a]; i++) {
        corner *before = t->lines[0];
        aim_corners(t, s, i + 0.5, t->lines[1]);
        for (int j = 0; j < t->box->n[t->b]; j++)
            widen_row(t, s, i, j);
        t->lines[0] = t->lines[1];
        t->lines[1] = before;
    }
}

static nb_index_run run_of(const row_table *t, range r)
{
    const double least = t->box->low[t->axis], largest = least + t->box->n[t->axis] - 1;
    nb_index_run run = {0, 0};
    if (!(r.low <= r.high))
        return run;
    run.first = (int32_t)(fmax(ceil(r.low - HALF_STEP), least) - least);
    run.end = (int32_t)(fmin(floor(r.high + HALF_STEP), largest) - least) + 1;
    return run;
}

static nb_status open_rows(const nb_index_box *box, int axis, row_table *t, nb_error *err)
{
    const double least = box->low[axis], largest = least + box->n[axis] - 1;
    *t = (row_table){.box = box,
                     .axis = axis,
                     .a = axis == 0 ? 1 : 0,
                     .b = axis == 2 ? 1 : 2,
                     .limit = {least - HALF_STEP, largest + HALF_STEP}};
    const size_t across = (size_t)box->n[t->b], rows = (size_t)box->n[t->a] * across;
    t->seen = nb_alloc_raw(rows, sizeof *t->seen, "rows of reflections", err);
    for (int i = 0; i < 2; i++)
        t->lines[i] =
            nb_alloc_raw(across + 1, sizeof *t->lines[i], "rows of reflections", err);
    if (!t->seen || !t->lines[0] || !t->lines[1])
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++)
        t->seen[i] = (range){INFINITY, -INFINITY};
    return NB_OK;
}

static void close_rows(row_table *t)
{
    nb_free(t->seen);
    nb_free(t->lines[0]);
    nb_free(t->lines[1]);
}

/** Divide the orientations into groups. Returns their number. */
static int make_shells(const nb_scene *sc, double rows, double q, shell shells[MAX_GROUPS])
{
    const nb_lattice *lattice = &sc->lattice;
    int n = (int)fmax(1, fmin(MAX_GROUPS, MAX_EVALUATIONS / rows));
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
    shell shells[MAX_GROUPS];
    row_table t;
    double q;
    nb_status st = nb_largest_q(plan->scene, &q, err);
    *runs = NULL;
    if (st)
        return st;
    st = open_rows(box, axis, &t, err);
    *runs = st ? NULL : nb_alloc_raw(rows, sizeof **runs, "rows of reflections", err);
    if (*runs) {
        const int n = make_shells(plan->scene, (double)rows, q, shells);
        for (int i = 0; i < n; i++)
            add_shell(&t, &shells[i]);
        for (size_t i = 0; i < rows; i++)
            (*runs)[i] = run_of(&t, t.seen[i]);
    }
    close_rows(&t);
    return *runs ? NB_OK : NB_ERR_NOMEM;
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
