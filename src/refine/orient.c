/* SPDX-License-Identifier: MIT */
/* A blurred crystal is found from one or two degrees off.  From further off pictures of many orientations are compared:
 * spots of a crystal of three cells to a resolution of 0.07 of its cell are 1.2 degrees wide. */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"

enum { REACH = 6, MOST_PIXELS = 16384 };
#define STEP 1.25 /* deg */
#define APART 2.2 /* steps between two of the best */

/** Sums of two pictures. */
typedef struct sums {
    double n, a, b, aa, bb, ab;
} sums;

static void add(sums *s, double x, double y)
{
    s->n++;
    s->a += x;
    s->b += y;
    s->aa += x * x;
    s->bb += y * y;
    s->ab += x * y;
}

static double pearson(const sums *s)
{
    const double xx = s->aa - s->a * s->a / s->n, yy = s->bb - s->b * s->b / s->n;
    return xx > 0 && yy > 0 ? (s->ab - s->a * s->b / s->n) / sqrt(xx * yy) : 0;
}

nb_status nb_fit_correlation(nb_fit *fit, double *correlation, nb_error *err)
{
    nb_status st = nb_fit_image(fit, fit->chosen, err);
    sums s = {0};
    for (size_t i = 0; i < fit->pixels && !st; i++)
        if (!isnan(fit->chosen[i]))
            add(&s, fit->chosen[i], fit->expected[i]);
    *correlation = pearson(&s);
    return st;
}

typedef struct trials {
    nb_fit *fit;
    nb_search_pixels of;
    float *image; /* owned; [pixels] */
    nb_turn_tried *best;
    int wanted, found, images;
} trials;

/** Roots: a few strong spots are not all. */
static double root_correlation(const trials *t)
{
    sums s = {0};
    for (size_t i = 0; i < t->of.n; i++)
        add(&s, sqrt(fmax(t->fit->chosen[t->of.pixel[i]], 0)),
            sqrt(fmax(t->image[t->of.pixel[i]], 0)));
    return pearson(&s);
}

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/** Keep it if it is among the best.  Neighbours of a better one are not; those of a worse one replace it. */
static void keep(trials *t, const nb_turn_tried *turn)
{
    int at = 0, end;
    for (int i = 0; i < t->found; i++)
        if (distance(t->best[i].by, turn->by) < APART * STEP &&
            t->best[i].correlation >= turn->correlation)
            return;
    end = 0;
    for (int i = 0; i < t->found; i++)
        if (distance(t->best[i].by, turn->by) >= APART * STEP)
            t->best[end++] = t->best[i];
    t->found = end;
    while (at < t->found && t->best[at].correlation >= turn->correlation)
        at++;
    if (at == t->wanted)
        return;
    end = t->found < t->wanted ? t->found++ : t->wanted - 1;
    memmove(t->best + at + 1, t->best + at, (size_t)(end - at) * sizeof *t->best);
    t->best[at] = *turn;
}

static const char *const axes[3] = {"rot_x", "rot_y", "rot_z"};

/** May the crystal turn so? */
static int allowed(const nb_fit *fit, const double by[3])
{
    for (int i = 0; i < 3; i++) {
        const int at = nb_fit_find(&fit->list, axes[i]);
        const nb_fit_parameter *p = at >= 0 ? &fit->list.p[at] : NULL;
        if (by[i] != 0 &&
            (!p || p->fixed ||
             (p->map == NB_MAP_BOUNDED && !(by[i] > p->low && by[i] < p->high))))
            return 0;
    }
    return by[0] * by[0] + by[1] * by[1] + by[2] * by[2] <=
           REACH * REACH * STEP * STEP * (1 + 1e-9);
}

static nb_status try_turn(trials *t, const int at[3], nb_error *err)
{
    nb_turn_tried turn = {{at[0] * STEP, at[1] * STEP, at[2] * STEP}, 0};
    nb_status st;
    if (!allowed(t->fit, turn.by))
        return NB_OK;
    st = nb_sim_set_parameters(t->fit->sim, axes, turn.by, 3, err);
    if (!st)
        st = nb_fit_render(t->fit, t->of.spans, t->of.n_spans, t->image, err);
    if (st)
        return st;
    t->images++;
    turn.correlation = root_correlation(t);
    keep(t, &turn);
    return NB_OK;
}

static nb_status try_all(trials *t, nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    nb_status st = NB_OK;
    int at[3];
    for (at[0] = -REACH; at[0] <= REACH && !st; at[0]++)
        for (at[1] = -REACH; at[1] <= REACH && !st; at[1]++)
            for (at[2] = -REACH; at[2] <= REACH && !st; at[2]++)
                st = try_turn(t, at, err);
    return st ? st : nb_sim_set_parameters(t->fit->sim, axes, none, 3, err);
}

nb_status nb_fit_orient(nb_fit *fit, int wanted, nb_turn_tried *best, int *found,
                        nb_error *err)
{
    const double start = nb_monotonic_seconds();
    const int64_t chosen = fit->used;
    trials t = {.fit = fit, .best = best, .wanted = wanted};
    nb_status st = nb_search_pixels_list(fit, 0, MOST_PIXELS, &t.of, err);
    if (!st && !(t.image = nb_alloc_raw(fit->pixels, sizeof *t.image, "search", err)))
        st = NB_ERR_NOMEM;
    if (!st)
        st = try_all(&t, err);
    *found = t.found;
    fit->out->images += t.images;
    fit->used = (int64_t)t.of.n;
    if (!st)
        nb_fit_note_stage(fit, "orientations", t.images, 0, 1,
                          nb_monotonic_seconds() - start);
    fit->used = chosen;
    nb_search_pixels_free(&t.of);
    nb_free(t.image);
    return st;
}
