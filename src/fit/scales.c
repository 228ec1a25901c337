/* SPDX-License-Identifier: MIT */
/* Structure factors that are not exact.  The light of each reflection h has a scale exp(u_h) with a normal prior of u_h, whose
 * width is twice the relative sigma s of F.  Its mean is s^2/2: that of -2 ln(1 + s e) for normal e, s^2, since the given F are spread
 * about the true ones, less what strong reflections, which tell the most, have: among given F that are large there are more that are
 * too large (Eddington, MNRAS 73, 359, 1913; by Wilson's distribution it is 4 s^2 (1 - F^2/<F^2>)).  The scales are eliminated: at each step of the fit they take their best values,
 * and the normal equations lose what the scales explain (variable projection: Golub and Pereyra, Inverse Problems 19, R1, 2003).
 * Errors are clustered by reflection, because all pixels of a spot share the error of its F (Liang and Zeger, Biometrika 73, 13,
 * 1986). */
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

/* Which reflection a pixel belongs to. */

/** A pixel of the list and its reflection. */
typedef struct place {
    int64_t key;
    uint32_t pixel;
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
    const int64_t most = 1 << 20;
    return ((hkl[0] + most / 2) * most + hkl[1] + most / 2) * most + hkl[2] + most / 2;
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
        out[n] = (place){key_of(hkl), (uint32_t)n};
        c->stol[n] = (float)nb_place_stol(c->sim, panel, fast, span->slow);
    }
}

static int team_of(const nb_chosen *c)
{
    return nb_image_threads(c->sim->engine.options.threads, (int64_t)c->n * 16);
}

/** Pixels in order, with the reflections next to them; first[spans]: of each span. */
static void list_places(nb_chosen *c, const size_t *first, place *out)
{
    const int team = team_of(c);
    long i;
    (void)team;
#pragma omp parallel for schedule(dynamic, 64) num_threads(team)
    for (i = 0; i < (long)c->list.n; i++)
        place_span(c, &c->list.spans[i], first[i], out);
}

/** Groups from the sorted places. */
static nb_status divide(const place *all, nb_chosen *c, nb_error *err)
{
    c->groups = 0;
    for (size_t i = 0; i < c->n; i++) {
        c->groups += i > 0 && all[i].key != all[i - 1].key;
        c->group[all[i].pixel] = c->groups;
        c->order[i] = all[i].pixel;
    }
    c->groups++;
    c->u = nb_alloc((size_t)c->groups, sizeof *c->u, "scales", err);
    c->begin = nb_alloc((size_t)c->groups + 1, sizeof *c->begin, "scales", err);
    if (!c->u || !c->begin)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < c->n; i++)
        c->begin[c->group[all[i].pixel] + 1] = i + 1;
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
        qsort(all, n, sizeof *all, by_key);
        st = divide(all, c, err);
    }
    nb_free(all);
    nb_free(first);
    return st;
}

/* A background that is piecewise linear in sin theta/lambda. */

/** Part of the hat behind x, and its number in *k. */
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

/** Its slopes by the levels, added to hats[n]. */
static void add_hats(const nb_observation *o, double x, double *hats)
{
    int k;
    const double part = hat_at(o, x, &k);
    hats[k] += 1 - part;
    if (part > 0)
        hats[k + 1] += part;
}

/* The model of a pixel: exp(u) crystal + rest. */

/** All pixels of a list at some values. */
typedef struct model {
    nb_chosen *of;
    int count;      /* parameters */
    double *values; /* owned; [1 + planes][pixels]: image and planes */
    double *rest, *slope, *weight,
        *loss; /* owned, one block; [pixels]; slope and weight: of the loss by the model */
    double *g, *h, *scale; /* owned, one block; [groups]: sums of the loss by u; exp(u) */
    const double *water_plane; /* in values; NULL: there is no water */
    double water_um;
    int fluence; /* number of -fluence among the parameters; -1: it is held */
} model;

static void close_model(model *m)
{
    nb_free(m->values);
    nb_free(m->rest);
    nb_free(m->g);
}

/** Photons of a pixel without the crystal and the water. */
static double under(const nb_chosen *c, size_t i)
{
    return (c->seen.background ? c->seen.background[c->at[i]] : 0) +
           (c->seen.n_knots ? level_at(&c->seen, c->stol[i]) : 0);
}

static nb_status open_memory(model *m, int planes, nb_error *err)
{
    const size_t n = m->of->n, groups = (size_t)m->of->groups;
    m->values =
        nb_alloc_raw(((size_t)planes + 1) * n + 1, sizeof *m->values, "slopes", err);
    m->rest = nb_alloc(4 * n + 1, sizeof *m->rest, "model", err);
    m->g = nb_alloc(3 * groups + 1, sizeof *m->g, "scales", err);
    if (!m->values || !m->rest || !m->g)
        return NB_ERR_NOMEM;
    m->slope = m->rest + n;
    m->weight = m->slope + n;
    m->loss = m->weight + n;
    m->h = m->g + groups;
    m->scale = m->h + groups;
    return NB_OK;
}

/** Image and planes; without a plane of the water its own is added behind them. */
static nb_status open_model(nb_chosen *c, const char *const *names, int count, model *m,
                            nb_error *err)
{
    const char *all[NB_VARIABLES_MAX + 1];
    const nb_pixels_seen of = {&c->seen, &c->list};
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
    NB_TRY(nb_sim_slopes_at(c->sim, all, planes, &of, m->values, err));
    if (m->water_um > 0)
        m->water_plane = m->values + ((size_t)at + 1) * c->n;
    for (size_t i = 0; i < c->n && !st; i++) {
        const double w = m->water_plane ? m->water_plane[i] * m->water_um / 3 : 0;
        m->values[i] -= w; /* of the crystal alone */
        m->rest[i] = w + under(c, i);
    }
    return st;
}

/** Slopes and weights of the losses of a reflection's pixels, and their sums; the losses, too, if they are wanted. */
static inline void compare_group(model *m, int k, const int gauss, const int wanted)
{
    const nb_chosen *of = m->of;
    const double scale = m->scale[k] = exp(of->u[k]);
    double g = 0, h = 0;
    for (size_t j = of->begin[k]; j < of->begin[k + 1]; j++) {
        const size_t i = of->order[j];
        const double light = scale * m->values[i], n = m->of->seen.photons[of->at[i]];
        const nb_fit_pixel p =
            gauss ? nb_gauss_pixel(n, light + m->rest[i], m->of->seen.sigma)
                  : nb_poisson_pixel(n, light + m->rest[i]);
        if (wanted)
            m->loss[i] = p.loss;
        m->slope[i] = p.slope;
        m->weight[i] = p.weight;
        g += p.slope * light;
        h += p.weight * light * light;
    }
    m->g[k] = g;
    m->h[k] = h;
}

/** The same of all; the sum of the losses, if they are wanted, in the order of the pixels. */
static double compare(model *m, int wanted)
{
    const int gauss = m->of->seen.likelihood == NB_LIKELIHOOD_GAUSS;
    const int team = team_of(m->of);
    double loss = 0;
    int k;
    (void)team;
#pragma omp parallel for schedule(dynamic, 32) num_threads(team)
    for (k = 0; k < m->of->groups; k++)
        if (gauss)
            compare_group(m, k, 1, 1);
        else if (wanted)
            compare_group(m, k, 0, 1);
        else
            compare_group(m, k, 0, 0);
    for (size_t i = 0; i < m->of->n && wanted; i++)
        loss += m->loss[i];
    return loss;
}

enum { INNER = 12 };
#define INNER_STEP 0.7  /* of u, at most */
#define INNER_DONE 1e-7 /* of u */

/** The best scales for these values, from those that were; the loss with their priors. */
static double settle(model *m)
{
    nb_chosen *of = m->of;
    const double prior = of->width > 0 ? 1 / (of->width * of->width) : 0;
    const double mean = of->width * of->width / 8;
    double loss, most = 1;
    compare(m, 0);
    for (int step = 0; step < INNER && prior > 0 && most >= INNER_DONE; step++) {
        most = 0;
        for (int k = 0; k < of->groups; k++) {
            const double by = -(m->g[k] + prior * (of->u[k] - mean)) / (m->h[k] + prior);
            const double du = fmax(-INNER_STEP, fmin(INNER_STEP, by));
            of->u[k] += du;
            most = fmax(most, fabs(du));
        }
        if (step + 1 < INNER && most >= INNER_DONE)
            compare(m, 0);
    }
    loss = compare(m, 1);
    for (int k = 0; k < of->groups; k++)
        loss += prior * (of->u[k] - mean) * (of->u[k] - mean) / 2;
    return loss;
}

/* Normal equations. */

/** Slopes of pixel i's model by the named parameters and the knots: row[n]. */
static void row_of(const model *m, size_t i, double *row)
{
    const nb_chosen *of = m->of;
    const size_t n = of->n;
    const double scale = m->scale[of->group[i]];
    const double light = m->values[i];
    for (int j = 0; j < m->count; j++) {
        const double *plane = m->values + ((size_t)j + 1) * n;
        row[j] = plane == m->water_plane ? plane[i] : scale * plane[i];
    }
    if (m->water_plane && m->fluence >= 0) { /* it lights the water, too */
        const double w = m->water_plane[i] * m->water_um / 3;
        const double plane = m->values[((size_t)m->fluence + 1) * n + i];
        row[m->fluence] = light + w > 0 ? plane * (scale * light + w) / (light + w) : 0;
    }
    memset(row + m->count, 0, (size_t)of->seen.n_knots * sizeof *row);
    if (of->seen.n_knots)
        add_hats(&of->seen, of->stol[i], row + m->count);
}

static void add_matrix(int V, const double *a, double factor, double *to)
{
    for (int i = 0; i < V; i++)
        for (int j = 0; j < V; j++)
            to[i * V + j] += factor * a[i] * a[j];
}

/** The sums of all reflections: scores and mixed, [groups][V] each; fisher[V][V] with the scales held. */
static void add_pixels(const model *m, int V, double *scores, double *mixed,
                       double *fisher, double *row)
{
    const nb_chosen *of = m->of;
    for (size_t i = 0; i < of->n; i++) {
        const size_t k = (size_t)of->group[i];
        const double light = m->scale[k] * m->values[i];
        row_of(m, i, row);
        for (int a = 0; a < V; a++) {
            const double w = m->weight[i] * row[a];
            if (row[a] == 0) /* most knots */
                continue;
            scores[k * (size_t)V + (size_t)a] += m->slope[i] * row[a];
            mixed[k * (size_t)V + (size_t)a] += w * light;
            for (int b = 0; b <= a; b++)
                fisher[a * V + b] += w * row[b];
        }
    }
    for (int a = 0; a < V; a++)
        for (int b = 0; b < a; b++)
            fisher[b * V + a] = fisher[a * V + b];
}

/** From the sums: gradient, matrix without the scales, and products of scores. */
static void eliminate(const model *m, int V, const double *scores, const double *mixed,
                      nb_scaled_sums *out)
{
    const nb_chosen *of = m->of;
    const double prior = of->width > 0 ? 1 / (of->width * of->width) : 0;
    memset(out->g, 0, (size_t)V * sizeof *out->g);
    if (out->held)
        memcpy(out->held, out->F, (size_t)V * (size_t)V * sizeof *out->F);
    if (out->scores)
        memset(out->scores, 0, (size_t)V * (size_t)V * sizeof *out->scores);
    out->clusters = 0;
    for (int k = 0; k < of->groups; k++) {
        const double *score = scores + (size_t)k * (size_t)V;
        for (int a = 0; a < V; a++)
            out->g[a] += score[a];
        if (prior > 0)
            add_matrix(V, mixed + (size_t)k * (size_t)V, -1 / (m->h[k] + prior), out->F);
        if (out->scores)
            add_matrix(V, score, 1, out->scores);
        out->clusters += m->h[k] > 1;
    }
}

nb_status nb_chosen_scaled(nb_chosen *c, const char *const *names, int count,
                           nb_scaled_sums *out, nb_error *err)
{
    const int V = count + c->seen.n_knots;
    nb_status st = nb_chosen_group(c, err);
    const size_t size = (size_t)c->groups * (size_t)V;
    double *work =
        st ? NULL : nb_alloc(2 * size + (size_t)V + 1, sizeof *work, "equations", err);
    model m = {0};
    st = work ? open_model(c, names, count, &m, err) : NB_ERR_NOMEM;
    if (!st) {
        out->loss = settle(&m);
        memset(out->F, 0, (size_t)V * (size_t)V * sizeof *out->F);
        add_pixels(&m, V, work, work + size, out->F, work + 2 * size);
        eliminate(&m, V, work, work + size, out);
        for (size_t i = 0; i < c->n && out->model; i++)
            out->model[i] = m.scale[c->group[i]] * m.values[i] + m.rest[i];
    }
    close_model(&m);
    nb_free(work);
    return st;
}

/* How wrong the structure factors are. */

#define WELL_KNOWN 0.15 /* sigma of u from counts, at most */
enum { LEAST_KNOWN = 12 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/** The spread of u over its reflections, without that of counting: by the median of distances from the median. */
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
    nb_status st = nb_chosen_group(c, err);
    double *u = st ? NULL : nb_alloc_raw((size_t)c->groups + 1, sizeof *u, "scales", err);
    double known = 0;
    size_t n = 0;
    model m = {0};
    st = u ? open_model(c, NULL, 0, &m, err) : NB_ERR_NOMEM;
    if (!st) {
        const double noise = (double)c->n / 2, exact = compare(&m, 1);
        const double width = c->width;
        c->width = 2; /* hardly a prior */
        *explained = 1 - fmax(0, settle(&m) - noise) / fmax(1, exact - noise);
        c->width = width;
    }
    for (int k = 0; k < c->groups && !st; k++)
        if (m.h[k] * WELL_KNOWN * WELL_KNOWN > 1) {
            u[n++] = c->u[k];
            known += 1 / m.h[k];
        }
    *spread = st ? 0 : spread_of(u, n, known / fmax(1, (double)n));
    memset(c->u, 0, (size_t)c->groups * sizeof *c->u);
    close_model(&m);
    nb_free(u);
    return st;
}
