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

#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../render/fit_pixel.h"
#include "fit.h"
#include "scales.h"

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

static void place_span(const nb_fit *fit, const nb_span *span, size_t n, place *out)
{
    const nb_scene *sc = &fit->sim->model.scene;
    for (int f = 0; f < span->n; f++, n++) {
        int hkl[3];
        nb_fit_nearest(&sc->lattice,
                       nb_fit_q(fit->sim, &sc->panels[span->panel], span->fast + f + 0.5,
                                span->slow + 0.5),
                       hkl);
        out[n] = (place){key_of(hkl), (uint32_t)n};
    }
}

static int team_of(const nb_fit *fit, size_t pixels)
{
    return nb_image_threads(fit->sim->engine.options.threads, (int64_t)pixels * 16);
}

/** Pixels of the list in order, with the reflections next to them; first[spans]: of each span. */
static void list_places(const nb_fit *fit, const nb_slope_pixels *pixels,
                        const size_t *first, size_t n, place *out)
{
    const int team = team_of(fit, n);
    long i;
    (void)team;
#pragma omp parallel for schedule(dynamic, 64) num_threads(team)
    for (i = 0; i < (long)pixels->n; i++)
        place_span(fit, &pixels->spans[i], first[i], out);
}

/** Groups from the sorted places. */
static nb_status divide(const place *all, nb_fit_groups *out, nb_error *err)
{
    for (size_t i = 0; i < out->pixels; i++) {
        out->n += i > 0 && all[i].key != all[i - 1].key;
        out->group[all[i].pixel] = out->n;
        out->order[i] = all[i].pixel;
    }
    out->n++;
    out->u = nb_alloc((size_t)out->n, sizeof *out->u, "scales", err);
    out->begin = nb_alloc((size_t)out->n + 1, sizeof *out->begin, "scales", err);
    if (!out->u || !out->begin)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < out->pixels; i++)
        out->begin[out->group[all[i].pixel] + 1] = i + 1;
    return NB_OK;
}

nb_status nb_fit_group(const nb_fit *fit, const nb_slope_pixels *pixels,
                       nb_fit_groups *out, nb_error *err)
{
    size_t n = 0, *first = nb_alloc_raw(pixels->n + 1, sizeof *first, "reflections", err);
    place *all;
    nb_status st = NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels->n && first; n += (size_t)pixels->spans[i++].n)
        first[i] = n;
    memset(out, 0, sizeof *out);
    out->pixels = n;
    all = nb_alloc_raw(n + 1, sizeof *all, "reflections", err);
    out->group = nb_alloc_raw(n + 1, sizeof *out->group, "reflections", err);
    out->at = nb_alloc_raw(n + 1, sizeof *out->at, "reflections", err);
    out->order = nb_alloc_raw(n + 1, sizeof *out->order, "reflections", err);
    if (first && all && out->group && out->at && out->order) {
        list_places(fit, pixels, first, n, all);
        qsort(all, n, sizeof *all, by_key);
        st = divide(all, out, err);
    }
    for (size_t i = 0; i < pixels->n && !st; i++)
        for (int f = 0; f < pixels->spans[i].n; f++)
            out->at[first[i] + (size_t)f] = pixels->spans[i].at + (size_t)f;
    nb_free(all);
    nb_free(first);
    return st;
}

void nb_fit_groups_free(nb_fit_groups *g)
{
    nb_free(g->group);
    nb_free(g->at);
    nb_free(g->order);
    nb_free(g->begin);
    nb_free(g->u);
    memset(g, 0, sizeof *g);
}

/* The model of a pixel: exp(u) crystal + rest. */

/** All pixels of a list at some values. */
typedef struct model {
    const nb_fit *fit;
    nb_fit_groups *groups;
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

/** Image and planes; without a plane of the water its own is added behind them. */
static nb_status open_model(nb_fit *fit, nb_fit_groups *groups, const nb_fit_names *names,
                            const nb_slope_pixels *pixels, model *m, nb_error *err)
{
    const char *all[NB_FIT_MOST + 1];
    const size_t n = groups->pixels;
    const nb_observation seen = nb_fit_observation(fit);
    const nb_pixels_seen of = {&seen, pixels};
    const double *water = NULL;
    int planes = names->count, at = -1;
    nb_status st;
    *m = (model){.fit = fit, .groups = groups, .count = names->count, .fluence = -1};
    m->water_um = nb_sim_config(fit->sim)->water_um;
    for (int i = 0; i < planes; i++) {
        all[i] = names->name[i];
        at = strcmp(all[i], "water") ? at : i;
        m->fluence = strcmp(all[i], "fluence") ? m->fluence : i;
    }
    if (m->water_um > 0 && at < 0)
        all[at = planes++] = "water";
    m->values =
        nb_alloc_raw(((size_t)planes + 1) * n + 1, sizeof *m->values, "slopes", err);
    m->rest = nb_alloc(4 * n + 1, sizeof *m->rest, "model", err);
    m->g = nb_alloc(3 * (size_t)groups->n + 1, sizeof *m->g, "scales", err);
    if (!m->values || !m->rest || !m->g)
        return NB_ERR_NOMEM;
    m->slope = m->rest + n;
    m->weight = m->slope + n;
    m->loss = m->weight + n;
    m->h = m->g + groups->n;
    m->scale = m->h + groups->n;
    st = nb_sim_slopes_at(fit->sim, all, planes, &of, m->values, err);
    if (m->water_um > 0)
        water = m->values + ((size_t)at + 1) * n;
    m->water_plane = water;
    for (size_t i = 0; i < n && !st; i++) {
        const double w = water ? water[i] * m->water_um / 3 : 0;
        m->values[i] -= w; /* of the crystal alone */
        m->rest[i] = w + (fit->background ? fit->background[groups->at[i]] : 0) +
                     nb_radial_at(&fit->radial, fit->stol[groups->at[i]]);
    }
    return st;
}

/** Slopes and weights of the losses of a reflection's pixels, and their sums; the losses, too, if they are wanted. */
static inline void compare_group(model *m, int k, const int gauss, const int wanted)
{
    const nb_fit_groups *groups = m->groups;
    const double scale = m->scale[k] = exp(groups->u[k]);
    double g = 0, h = 0;
    for (size_t j = groups->begin[k]; j < groups->begin[k + 1]; j++) {
        const size_t i = groups->order[j];
        const double light = scale * m->values[i], n = m->fit->chosen[groups->at[i]];
        const nb_fit_pixel p = gauss ? nb_gauss_pixel(n, light + m->rest[i], m->fit->sigma)
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
    const int gauss = m->fit->o->likelihood == NB_LIKELIHOOD_GAUSS;
    const int team = team_of(m->fit, m->groups->pixels);
    double loss = 0;
    int k;
    (void)team;
#pragma omp parallel for schedule(dynamic, 32) num_threads(team)
    for (k = 0; k < m->groups->n; k++)
        if (gauss)
            compare_group(m, k, 1, 1);
        else if (wanted)
            compare_group(m, k, 0, 1);
        else
            compare_group(m, k, 0, 0);
    for (size_t i = 0; i < m->groups->pixels && wanted; i++)
        loss += m->loss[i];
    return loss;
}

enum { INNER = 12 };
#define INNER_STEP 0.7  /* of u, at most */
#define INNER_DONE 1e-7 /* of u */

/** The best scales for these values, from those that were; the loss with their priors. */
static double settle(model *m)
{
    nb_fit_groups *groups = m->groups;
    const double prior = groups->width > 0 ? 1 / (groups->width * groups->width) : 0;
    const double mean = groups->width * groups->width / 8;
    double loss, most = 1;
    compare(m, 0);
    for (int step = 0; step < INNER && prior > 0 && most >= INNER_DONE; step++) {
        most = 0;
        for (int k = 0; k < groups->n; k++) {
            const double by =
                -(m->g[k] + prior * (groups->u[k] - mean)) / (m->h[k] + prior);
            const double du = fmax(-INNER_STEP, fmin(INNER_STEP, by));
            groups->u[k] += du;
            most = fmax(most, fabs(du));
        }
        if (step + 1 < INNER && most >= INNER_DONE)
            compare(m, 0);
    }
    loss = compare(m, 1);
    for (int k = 0; k < groups->n; k++)
        loss += prior * (groups->u[k] - mean) * (groups->u[k] - mean) / 2;
    return loss;
}

/* Normal equations. */

/** Slopes of pixel i's model by the named parameters and the knots: row[n]. */
static void row_of(const model *m, size_t i, double *row)
{
    const nb_fit *fit = m->fit;
    const nb_fit_groups *groups = m->groups;
    const size_t n = groups->pixels;
    const double scale = m->scale[groups->group[i]];
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
    memset(row + m->count, 0, (size_t)fit->radial.n * sizeof *row);
    if (fit->radial.n)
        nb_radial_hats(&fit->radial, fit->stol[groups->at[i]], row + m->count);
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
    const nb_fit_groups *groups = m->groups;
    for (size_t i = 0; i < groups->pixels; i++) {
        const size_t k = (size_t)groups->group[i];
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
                      nb_fit_equations *out)
{
    const nb_fit_groups *groups = m->groups;
    const double prior = groups->width > 0 ? 1 / (groups->width * groups->width) : 0;
    memset(out->g, 0, (size_t)V * sizeof *out->g);
    if (out->held)
        memcpy(out->held, out->F, (size_t)V * (size_t)V * sizeof *out->F);
    if (out->scores)
        memset(out->scores, 0, (size_t)V * (size_t)V * sizeof *out->scores);
    out->clusters = 0;
    for (int k = 0; k < groups->n; k++) {
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

nb_status nb_fit_equate(nb_fit *fit, nb_fit_groups *groups, const nb_fit_names *names,
                        const nb_slope_pixels *pixels, nb_fit_equations *out,
                        nb_error *err)
{
    const int V = names->count + fit->radial.n;
    const size_t size = (size_t)groups->n * (size_t)V;
    double *work = nb_alloc(2 * size + (size_t)V + 1, sizeof *work, "equations", err);
    model m = {0};
    nb_status st = work ? open_model(fit, groups, names, pixels, &m, err) : NB_ERR_NOMEM;
    if (!st) {
        out->loss = settle(&m);
        memset(out->F, 0, (size_t)V * (size_t)V * sizeof *out->F);
        add_pixels(&m, V, work, work + size, out->F, work + 2 * size);
        eliminate(&m, V, work, work + size, out);
        for (size_t i = 0; i < groups->pixels && out->model; i++)
            out->model[groups->at[i]] =
                m.scale[groups->group[i]] * m.values[i] + m.rest[i];
    }
    close_model(&m);
    nb_free(work);
    return st;
}

/* How wrong the structure factors are. */

#define WELL_KNOWN 0.15 /* sigma of u from counts, at most */
enum { LEAST_KNOWN = 12 };

/** The spread of u over its reflections, without that of counting: by the median of distances from the median. */
static double spread_of(double *u, size_t n, double counting)
{
    double middle, mad;
    if (n < LEAST_KNOWN)
        return 0;
    qsort(u, n, sizeof *u, nb_fit_by_value);
    middle = u[n / 2];
    for (size_t i = 0; i < n; i++)
        u[i] = fabs(u[i] - middle);
    qsort(u, n, sizeof *u, nb_fit_by_value);
    mad = 1.4826 * u[n / 2];
    return sqrt(fmax(0, mad * mad - counting));
}

nb_status nb_fit_scale_spread(nb_fit *fit, nb_fit_groups *groups,
                              const nb_slope_pixels *pixels, double *spread,
                              double *explained, nb_error *err)
{
    const nb_fit_names none = {0};
    double *u = nb_alloc_raw((size_t)groups->n + 1, sizeof *u, "scales", err), known = 0;
    const double width = groups->width;
    size_t n = 0;
    model m = {0};
    nb_status st = u ? open_model(fit, groups, &none, pixels, &m, err) : NB_ERR_NOMEM;
    if (!st) {
        const double noise = (double)groups->pixels / 2, exact = compare(&m, 1);
        groups->width = 2; /* hardly a prior */
        *explained = 1 - fmax(0, settle(&m) - noise) / fmax(1, exact - noise);
        groups->width = width;
    }
    for (int k = 0; k < groups->n && !st; k++)
        if (m.h[k] * WELL_KNOWN * WELL_KNOWN > 1) {
            u[n++] = groups->u[k];
            known += 1 / m.h[k];
        }
    *spread = st ? 0 : spread_of(u, n, known / fmax(1, (double)n));
    memset(groups->u, 0, (size_t)groups->n * sizeof *groups->u);
    close_model(&m);
    nb_free(u);
    return st;
}
