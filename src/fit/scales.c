/* SPDX-License-Identifier: MIT */
/* Inexact structure factors. The light of reflection h has a scale exp(u_h). The prior of
 * u_h is normal. Its width is 2 s, where s is the relative sigma of F, and its mean is
 * s^2/2. The given F scatter about the true F, and -2 ln(1 + s e) for normal e has the
 * mean s^2. Strong reflections, which matter more, have a smaller mean, because large
 * given F are more often too large (Eddington, MNRAS 73, 359, 1913; by Wilson's
 * distribution the mean is 4 s^2 (1 - F^2/<F^2>)). The scales are eliminated: each step
 * of the fit uses the best scales, and the part that the scales explain is subtracted
 * from the normal equations (variable projection: Golub and Pereyra, Inverse Problems 19,
 * R1, 2003). Errors are clustered by reflection, because all pixels of a spot share the
 * error of F (Liang and Zeger, Biometrika 73, 13, 1986). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../render/fit_pixel.h"
#include "chosen.h"
#include "places.h"

/** Neighbouring pixels of the list with the same nearest reflection. */
typedef struct place {
    int64_t key;
    uint32_t pixel, n;
} place;

static int by_key(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->pixel > y->pixel) - (x->pixel < y->pixel);
}

static int64_t key_of(const int hkl[3])
{
    const int64_t cap = 1 << 20;
    return ((hkl[0] + cap / 2) * cap + hkl[1] + cap / 2) * cap + hkl[2] + cap / 2;
}

static void place_span(nb_chosen *c, const nb_span *span, size_t n, place *out)
{
    const nb_scene *sc = &c->sim->model.scene;
    const nb_panel *panel = &sc->panels[span->panel];
    for (int f = 0; f < span->n; f++, n++) {
        const int fast = span->fast + f;
        int hkl[3];
        nb_place_hkl(&sc->lattice,
                     nb_place_q(c->sim, panel, fast + 0.5, span->slow + 0.5), hkl);
        out[n] = (place){key_of(hkl), (uint32_t)n, 1};
        c->stol[n] = (float)nb_place_stol(c->sim, panel, fast, span->slow);
    }
}

static int team_of(const nb_chosen *c)
{
    return nb_image_threads(c->sim->engine.options.threads, (int64_t)c->n * 16);
}

/** List pixels, each with its nearest reflection. first[i]: first pixel of span i. */
static void list_places(nb_chosen *c, const size_t *first, place *out)
{
#pragma omp parallel for schedule(dynamic, 64) num_threads(team_of(c))
    for (long i = 0; i < (long)c->list.n; i++)
        place_span(c, &c->list.spans[i], first[i], out);
}

/** Join neighbours that have the same reflection. Returns the new number of places. */
static size_t join(place *all, size_t n)
{
    size_t to = 0;
    for (size_t i = 1; i < n; i++)
        if (all[i].key == all[to].key)
            all[to].n++;
        else
            all[++to] = all[i];
    return n ? to + 1 : 0;
}

/** Make groups from n sorted places. */
static nb_status divide(const place *all, size_t n, nb_chosen *c, nb_error *err)
{
    size_t at = 0;
    c->groups = 0;
    for (size_t i = 0; i < n; i++) {
        c->groups += i > 0 && all[i].key != all[i - 1].key;
        for (uint32_t k = 0; k < all[i].n; k++) {
            c->group[all[i].pixel + k] = c->groups;
            c->order[at++] = all[i].pixel + k;
        }
    }
    c->groups++;
    c->u = nb_alloc((size_t)c->groups, sizeof *c->u, "scales", err);
    c->begin = nb_alloc((size_t)c->groups + 1, sizeof *c->begin, "scales", err);
    if (!c->u || !c->begin)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < c->n; i++)
        c->begin[c->group[c->order[i]] + 1] = i + 1;
    return NB_OK;
}

nb_status nb_chosen_group(nb_chosen *c, nb_error *err)
{
    size_t n = 0, *first;
    place *all;
    nb_status st = NB_ERR_NOMEM;
    if (c->group)
        return NB_OK;
    first = nb_alloc_raw(c->list.n + 1, sizeof *first, "reflections", err);
    for (size_t i = 0; i < c->list.n && first; n += (size_t)c->list.spans[i++].n)
        first[i] = n;
    all = nb_alloc_raw(n + 1, sizeof *all, "reflections", err);
    c->group = nb_alloc_raw(n + 1, sizeof *c->group, "reflections", err);
    c->stol = nb_alloc_raw(n + 1, sizeof *c->stol, "reflections", err);
    c->order = nb_alloc_raw(n + 1, sizeof *c->order, "reflections", err);
    if (first && all && c->group && c->stol && c->order) {
        list_places(c, first, all);
        n = join(all, n);
        qsort(all, n, sizeof *all, by_key);
        st = divide(all, n, c, err);
    }
    nb_free(all);
    nb_free(first);
    return st;
}

/* A background that is piecewise linear in sin theta/lambda. */

/** Weight at x of the level of knot *k + 1; knot *k, before x, has 1 - this weight. */
static double hat_at(const nb_observation *o, double x, int *k)
{
    *k = 0;
    if (o->n_knots < 2 || x <= o->knots[0])
        return 0;
    while (*k < o->n_knots - 2 && x > o->knots[*k + 1])
        ++*k;
    return fmin(1, (x - o->knots[*k]) / (o->knots[*k + 1] - o->knots[*k]));
}

static double level_at(const nb_observation *o, double x)
{
    int k;
    const double part = hat_at(o, x, &k);
    return o->values[k] * (1 - part) + (part > 0 ? o->values[k + 1] * part : 0);
}

/** Add the slopes of level_at by the levels to hats[n]. */
static void add_hats(const nb_observation *o, double x, double *hats)
{
    int k;
    const double part = hat_at(o, x, &k);
    hats[k] += 1 - part;
    if (part > 0)
        hats[k + 1] += part;
}

/* The model of a pixel: exp(u) crystal + rest. */

/** Model of the pixels. Arrays [pixels] are in the order of nb_chosen.order. The memory
 * is nb_chosen.room. */
typedef struct model {
    nb_chosen *of;
    int count;                     /* number of parameters */
    double *values;                /* [1 + planes][n], by pixels: image and planes */
    double *counts, *light, *rest; /* [pixels] */
    /* [pixels], slope and weight of the loss by the model */
    double *slope, *weight;
    double *h, *scale; /* [groups]: curvature of the loss by u; exp(u) */
    /* plane of the water in `values`, or NULL without water */
    const double *water_plane;
    double water_um;
    int fluence; /* number of -fluence among the parameters; -1 if it is held */
} model;

static nb_status open_memory(model *m, int planes, nb_error *err)
{
    const size_t n = m->of->n, groups = (size_t)m->of->groups;
    const size_t size = ((size_t)planes + 6) * n + 2 * groups;
    double **const arrays[] = {&m->counts, &m->light, &m->rest, &m->slope, &m->weight};
    nb_status st;
    if (size > m->of->cap)
        NB_FORWARD(nb_grow(&m->of->room, 0, size, sizeof *m->of->room, "slopes", err));
    m->of->cap = size > m->of->cap ? size : m->of->cap;
    m->values = m->of->room;
    for (size_t i = 0; i < 5; i++)
        *arrays[i] = m->values + ((size_t)planes + 1 + i) * n;
    m->h = m->weight + n;
    m->scale = m->h + groups;
    return NB_OK;
}

/** Make image and planes. A plane of the water is added last unless it is named. */
static nb_status open_model(nb_chosen *c, const char *const *names, int count, model *m,
                            nb_error *err)
{
    const char *all[NB_VARIABLES_MAX + 1];
    int planes = count, at = -1;
    nb_status st;
    *m = (model){.of = c, .count = count, .fluence = -1};
    m->water_um = nb_sim_config(c->sim)->water_um;
    for (int i = 0; i < planes; i++) {
        all[i] = names[i];
        at = strcmp(all[i], "water") ? at : i;
        m->fluence = strcmp(all[i], "fluence") ? m->fluence : i;
    }
    if (m->water_um > 0 && at < 0)
        all[at = planes++] = "water";
    st = open_memory(m, planes, err);
    NB_TRY(nb_chosen_slopes(c, all, planes, m->values, err));
    if (m->water_um > 0)
        m->water_plane = m->values + ((size_t)at + 1) * c->n;
    return st;
}

static double water_of(const model *m, size_t i)
{
    return m->water_plane ? m->water_plane[i] * m->water_um / 3 : 0;
}

/** Photons of the pixels of a reflection: counts, light of the crystal, and the rest. */
static void gather_group(model *m, int k)
{
    const nb_chosen *of = m->of;
    for (size_t j = of->begin[k]; j < of->begin[k + 1]; j++) {
        const size_t i = of->order[j], at = of->at[i];
        const double w = water_of(m, i);
        m->counts[j] = of->seen.photons[at];
        m->light[j] = m->values[i] - w;
        m->rest[j] = w + (of->seen.background ? of->seen.background[at] : 0) +
                     (of->seen.n_knots ? level_at(&of->seen, of->stol[i]) : 0);
    }
}

/** Slopes and weights of the losses of the pixels of a reflection. *g: slope of their sum
 * by u; m->h: its curvature. Returns the sum of the losses if `wanted` is 1. */
static inline double compare_group(model *m, int k, const int gauss, const int wanted,
                                   double *g)
{
    const double scale = m->scale[k] = exp(m->of->u[k]), sigma = m->of->seen.sigma;
    double loss = 0, slopes = 0, h = 0;
    for (size_t j = m->of->begin[k]; j < m->of->begin[k + 1]; j++) {
        const double light = scale * m->light[j], all = light + m->rest[j];
        const nb_fit_pixel p = gauss ? nb_gauss_pixel(m->counts[j], all, sigma)
                                     : nb_poisson_pixel(m->counts[j], all);
        if (wanted) {
            loss += p.loss;
            m->slope[j] = p.slope;
            m->weight[j] = p.weight;
        }
        slopes += p.slope * light;
        h += p.weight * light * light;
    }
    *g = slopes;
    m->h[k] = h;
    return loss;
}

enum { INNER = 12 };
#define INNER_STEP 0.7 /* largest step of u when a scale is found */
/* the search of the scale ends after a step of u that is smaller than this */
#define INNER_DONE 1e-7

/** Find the best scale of a reflection, beginning with the previous scale. Returns the
 * loss plus the prior. */
static inline double settle_group(model *m, int k, const int gauss)
{
    const nb_chosen *of = m->of;
    const double prior = of->width > 0 ? 1 / (of->width * of->width) : 0;
    const double mean = of->width * of->width / 8;
    double g, by, du = 1, *u = &of->u[k];
    for (int step = 0; step < INNER && prior > 0 && fabs(du) >= INNER_DONE; step++) {
        compare_group(m, k, gauss, 0, &g);
        by = -(g + prior * (*u - mean)) / (m->h[k] + prior);
        du = fmax(-INNER_STEP, fmin(INNER_STEP, by));
        *u += du;
    }
    return compare_group(m, k, gauss, 1, &g) + prior * (*u - mean) * (*u - mean) / 2;
}

/** Write to row[V] the slopes of pixel i, which has index j in the arrays, by named
 * parameters and knots. */
static void row_of(const model *m, size_t i, size_t j, double scale, double *row)
{
    const nb_chosen *of = m->of;
    for (int p = 0; p < m->count; p++) {
        const double *plane = m->values + ((size_t)p + 1) * of->n;
        row[p] = plane == m->water_plane ? plane[i] : scale * plane[i];
    }
    if (m->water_plane && m->fluence >= 0) { /* the fluence lights the water too */
        const double w = water_of(m, i), light = m->light[j];
        const double plane = m->values[((size_t)m->fluence + 1) * of->n + i];
        row[m->fluence] = light + w > 0 ? plane * (scale * light + w) / (light + w) : 0;
    }
    memset(row + m->count, 0, (size_t)of->seen.n_knots * sizeof *row);
    if (of->seen.n_knots)
        add_hats(&of->seen, of->stol[i], row + m->count);
}

/** Sums over some of the reflections, by V values. Matrices [V][V] are lower halves. */
typedef struct stripe {
    double *loss, *clusters, *g;
    /* F for fixed scales; part that the scales explain; scores */
    double *held, *lost, *scores;
    double *row, *score, *mixed; /* work, [V] */
} stripe;

/* number of partial sums, which are added in order for any number of threads */
enum { STRIPES = 64 };

static stripe stripe_in(double *work, size_t V)
{
    double *const rows = work + 3 * V * V;
    return (stripe){.loss = rows + 4 * V,
                    .clusters = rows + 4 * V + 1,
                    .held = work,
                    .lost = work + V * V,
                    .scores = work + 2 * V * V,
                    .g = rows,
                    .row = rows + V,
                    .score = rows + 2 * V,
                    .mixed = rows + 3 * V};
}

/** Find the scale of a reflection, then add the sums. */
static void add_group(model *m, int k, int V, const stripe *s)
{
    const nb_chosen *of = m->of;
    const int gauss = of->seen.likelihood == NB_LIKELIHOOD_GAUSS;
    gather_group(m, k);
    *s->loss += gauss ? settle_group(m, k, 1) : settle_group(m, k, 0);
    *s->clusters += m->h[k] > 1;
    if (V == 0)
        return;
    memset(s->score, 0, 2 * (size_t)V * sizeof *s->score);
    for (size_t j = of->begin[k]; j < of->begin[k + 1]; j++) {
        const double light = m->scale[k] * m->light[j];
        row_of(m, of->order[j], j, m->scale[k], s->row);
        for (int a = 0; a < V; a++) {
            const double w = m->weight[j] * s->row[a];
            if (s->row[a] == 0) /* 0 for nearly all knots */
                continue;
            s->score[a] += m->slope[j] * s->row[a];
            s->mixed[a] += w * light;
            for (int b = 0; b <= a; b++)
                s->held[a * V + b] += w * s->row[b];
        }
    }
    for (int a = 0; a < V; a++) {
        const double prior = of->width > 0 ? 1 / (of->width * of->width) : INFINITY;
        const double by = s->mixed[a] / (m->h[k] + prior);
        s->g[a] += s->score[a];
        for (int b = 0; b <= a; b++) {
            s->lost[a * V + b] += by * s->mixed[b];
            s->scores[a * V + b] += s->score[a] * s->score[b];
        }
    }
}

static void fill_half(int V, const double *half, const double *less, double *to)
{
    for (int a = 0; a < V && to; a++)
        for (int b = 0; b <= a; b++)
            to[a * V + b] = to[b * V + a] = half[a * V + b] - (less ? less[a * V + b] : 0);
}

/** Find the best scales, beginning with the previous scales, and the sums by V values. If
 * V is 0, calculate only the loss and the number of reflections. */
static nb_status add_up(model *m, int V, nb_scaled_sums *out, nb_error *err)
{
    const size_t size = (size_t)V * (4 + 3 * (size_t)V) + 2;
    const int groups = m->of->groups;
    double *work = nb_alloc(STRIPES, size * sizeof *work, "equations", err);
    stripe all[STRIPES];
    if (!work)
        return NB_ERR_NOMEM;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team_of(m->of))
    for (int s = 0; s < STRIPES; s++) {
        all[s] = stripe_in(work + (size_t)s * size, (size_t)V);
        for (int k = (int)((int64_t)groups * s / STRIPES);
             k < (int)((int64_t)groups * (s + 1) / STRIPES); k++)
            add_group(m, k, V, &all[s]);
    }
    for (size_t i = size; i < STRIPES * size; i++)
        work[i % size] += work[i];
    out->loss = *all[0].loss;
    out->clusters = (int)*all[0].clusters;
    if (V > 0)
        memcpy(out->g, all[0].g, (size_t)V * sizeof *out->g);
    fill_half(V, all[0].held, all[0].lost, out->F);
    fill_half(V, all[0].held, NULL, out->held);
    fill_half(V, all[0].scores, NULL, out->scores);
    nb_free(work);
    return NB_OK;
}

nb_status nb_chosen_scaled(nb_chosen *c, const char *const *names, int count,
                           nb_scaled_sums *out, nb_error *err)
{
    model m = {0};
    nb_status st = nb_chosen_group(c, err);
    NB_TRY(open_model(c, names, count, &m, err));
    NB_TRY(add_up(&m, count + c->seen.n_knots, out, err));
    for (int k = 0; k < c->groups && !st && out->model; k++)
        for (size_t j = c->begin[k]; j < c->begin[k + 1]; j++)
            out->model[c->order[j]] = m.scale[k] * m.light[j] + m.rest[j];
    return st;
}

/* a reflection is strong if counting noise gives u a smaller sigma than this */
#define WELL_KNOWN 0.15
enum { LEAST_KNOWN = 12 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** Spread of u without counting noise, from the median of distances from the median. */
static double spread_of(double *u, size_t n, double counting)
{
    double middle, mad;
    if (n < LEAST_KNOWN)
        return 0;
    qsort(u, n, sizeof *u, by_value);
    middle = u[n / 2];
    for (size_t i = 0; i < n; i++)
        u[i] = fabs(u[i] - middle);
    qsort(u, n, sizeof *u, by_value);
    mad = 1.4826 * u[n / 2];
    return sqrt(fmax(0, mad * mad - counting));
}

nb_status nb_chosen_spread(nb_chosen *c, double *spread, double *explained, nb_error *err)
{
    const double width = c->width, noise = (double)c->n / 2;
    nb_scaled_sums exact = {0}, free_ = {0};
    nb_status st = nb_chosen_group(c, err);
    double *u = st ? NULL : nb_alloc_raw((size_t)c->groups + 1, sizeof *u, "scales", err);
    double known = 0;
    size_t n = 0;
    model m = {0};
    st = u ? open_model(c, NULL, 0, &m, err) : NB_ERR_NOMEM;
    c->width = 0;
    NB_TRY(add_up(&m, 0, &exact, err));
    c->width = 2; /* a weak prior */
    NB_TRY(add_up(&m, 0, &free_, err));
    c->width = width;
    *explained = 1 - fmax(0, free_.loss - noise) / fmax(1, exact.loss - noise);
    for (int k = 0; k < c->groups && !st; k++)
        if (m.h[k] * WELL_KNOWN * WELL_KNOWN > 1) {
            u[n++] = c->u[k];
            known += 1 / m.h[k];
        }
    *spread = st ? 0 : spread_of(u, n, known / fmax(1, (double)n));
    if (!st)
        memset(c->u, 0, (size_t)c->groups * sizeof *c->u);
    nb_free(u);
    return st;
}
