/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../sim/sim.h"
#include "fit.h"

/** Which pixels count. */
typedef struct choice {
    const nb_fit *fit;
    int spots; /* only those of spots */
    int every; /* of so many rows one */
} choice;

static int counts(const choice *c, size_t pixel)
{
    return !isnan(c->fit->chosen[pixel]) && (!c->spots || c->fit->spots[pixel]);
}

static size_t count_all(const choice *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->fit->pixels; i++)
        n += (size_t)counts(c, i);
    return n;
}

/** The pixels of row s of panel k. */
static void add_row(const choice *c, int k, int s, nb_search_pixels *out)
{
    nb_span *spans = out->spans + out->n_spans;
    const size_t n = nb_fit_row_spans(c->fit, c->fit->chosen,
                                      c->spots ? c->fit->spots : NULL, k, s, spans);
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < spans[i].n; f++)
            out->pixel[out->n++] = spans[i].at + (size_t)f;
    out->n_spans += n;
}

static void add_rows(const choice *c, nb_search_pixels *out)
{
    const nb_scene *sc = &c->fit->sim->model.scene;
    for (int k = 0; k < sc->n_panels; k++)
        for (int s = 0; s < sc->panels[k].rows; s++)
            if ((sc->panels[k].first_row + s) % c->every == 0)
                add_row(c, k, s, out);
}

nb_status nb_search_pixels_list(const nb_fit *fit, int spots, size_t most,
                                nb_search_pixels *out, nb_error *err)
{
    choice c = {fit, spots, 1};
    size_t n = count_all(&c);
    memset(out, 0, sizeof *out);
    if (n > most)
        c.every = (int)((n + most - 1) / most);
    if (n == 0 && c.spots) {
        c.spots = 0;
        n = count_all(&c);
    }
    out->pixel = nb_alloc_raw(n + 1, sizeof *out->pixel, "pixels of a search", err);
    out->spans = nb_alloc_raw(n + 1, sizeof *out->spans, "pixels of a search", err);
    if (!out->pixel || !out->spans)
        return NB_ERR_NOMEM;
    add_rows(&c, out);
    if (out->n == 0) { /* none in those rows */
        c.every = 1;
        add_rows(&c, out);
    }
    return NB_OK;
}

void nb_search_pixels_free(nb_search_pixels *p)
{
    nb_free(p->pixel);
    nb_free(p->spans);
    memset(p, 0, sizeof *p);
}

/* Fringes and few mosaic domains give a loss many minima along the numbers of cells and the mosaic spread:
 * images along each of them, with scale and a flat background fitted to each. */

enum { REACH = 18, ROUNDS = 2, STEPS = 4 };
#define CELLS_STEP 0.03  /* of ln N, in the first round */
#define MOSAIC_STEP 0.12 /* of ln of the spread */
#define MOST_MOSAIC 90   /* deg; -mosaic has a limit */
#define GOOD_FIT 1.03    /* mean square of residuals over sigma; right fits have 1 */
#define LEAST_MODEL 1e-9 /* photons, as in the loss */
#define LITTLE 0.02      /* of the loss: a scale need not be better */
#define ENOUGH 8192      /* pixels that tell the best of a row of trials */

typedef struct search {
    nb_fit *fit;
    nb_search_pixels of;
    float *image;                     /* owned; [pixels] */
    double *counts, *under, *crystal; /* owned, one block; [of.n] */
    int scaled;                       /* the scale is free */
    int images;
} search;

/** How good it is, and the scale with it. */
typedef struct trial {
    double loss, scale;
} trial;

/** few: some of the spots' pixels, or all that are chosen. */
static nb_status open_search(nb_fit *fit, int few, search *s, nb_error *err)
{
    int fluence = nb_fit_find(&fit->list, "fluence");
    nb_status st;
    memset(s, 0, sizeof *s);
    s->fit = fit;
    if ((st = nb_search_pixels_list(fit, few, few ? ENOUGH : fit->pixels, &s->of, err)))
        return st;
    s->counts = nb_alloc_raw(3 * s->of.n, sizeof *s->counts, "search", err);
    s->image = nb_alloc_raw(fit->pixels, sizeof *s->image, "search", err);
    if (!s->counts || !s->image)
        return NB_ERR_NOMEM;
    s->under = s->counts + s->of.n;
    s->crystal = s->under + s->of.n;
    for (size_t i = 0; i < s->of.n; i++) {
        const size_t pixel = s->of.pixel[i];
        s->counts[i] = fit->chosen[pixel];
        s->under[i] = (fit->background ? fit->background[pixel] : 0) +
                      nb_radial_at(&fit->radial, fit->stol[pixel]);
    }
    s->scaled = fluence >= 0 && !fit->list.p[fluence].fixed;
    return NB_OK;
}

/** The crystal of the simulation as it is. */
static nb_status draw_crystal(search *s, nb_error *err)
{
    nb_fit *fit = s->fit;
    const nb_search_pixels *of = &s->of;
    int spread = nb_fit_spreads(fit);
    nb_status st = spread ? nb_fit_image(fit, fit->chosen, err)
                          : nb_fit_render(fit, of->spans, of->n_spans, s->image, err);
    for (size_t i = 0; i < of->n && !st; i++)
        s->crystal[i] = spread ? fit->expected[of->pixel[i]] : s->image[of->pixel[i]];
    return st;
}

/** Gradient and Fisher matrix by scale and flat background, and the loss if it is asked for. */
static double sums(const search *s, double scale, double flat, int wanted, double g[2],
                   double F[3])
{
    int gauss = s->fit->o->likelihood == NB_LIKELIHOOD_GAUSS;
    double read = s->fit->sigma * s->fit->sigma, loss = 0;
    double g0 = 0, g1 = 0, F0 = 0, F1 = 0, F2 = 0;
    for (size_t i = 0; i < s->of.n; i++) {
        double c = s->crystal[i], n = s->counts[i];
        double m = fmax(scale * c + s->under[i] + flat, LEAST_MODEL);
        double slope, weight;
        if (gauss) {
            double V = m + read, d = n - m;
            if (wanted)
                loss += (d * d / V + log(V)) / 2;
            slope = -d / V + (1 - d * d / V) / (2 * V);
            weight = 1 / V + 1 / (2 * V * V);
        } else {
            if (wanted)
                loss += m - n + (n > 0 ? n * log(n / m) : 0);
            slope = 1 - n / m;
            weight = 1 / m;
        }
        g0 += slope * c;
        g1 += slope;
        F0 += weight * c * c;
        F1 += weight * c;
        F2 += weight;
    }
    g[0] = g0, g[1] = g1;
    F[0] = F0, F[1] = F1, F[2] = F2;
    return loss;
}

/** A first scale: least squares weighted by the counts. */
static double first_scale(const search *s)
{
    double a = 0, b = 0, read = s->fit->sigma * s->fit->sigma;
    for (size_t i = 0; i < s->of.n; i++) {
        double w = 1 / fmax(s->counts[i] + read, 1);
        a += w * s->crystal[i] * (s->counts[i] - s->under[i]);
        b += w * s->crystal[i] * s->crystal[i];
    }
    return a > 0 && b > 0 ? a / b : 1;
}

static trial fit_scale(const search *s)
{
    double scale = s->scaled ? first_scale(s) : 1, flat = 0, g[2], F[3];
    for (int step = 0; step < STEPS; step++) {
        double det, ds, db;
        sums(s, scale, flat, 0, g, F);
        if (!s->scaled)
            g[0] = F[1] = 0;
        det = F[0] * F[2] - F[1] * F[1];
        if (!(det > 0))
            break;
        ds = -(F[2] * g[0] - F[1] * g[1]) / det;
        db = -(F[0] * g[1] - F[1] * g[0]) / det;
        scale = scale + ds > scale / 4 ? fmin(scale + ds, 4 * scale) : scale / 4;
        flat += db;
        if (-(g[0] * ds + g[1] * db) < LITTLE)
            break;
    }
    return (trial){sums(s, scale, flat, 1, g, F), scale};
}

static nb_status try_value(search *s, const char *name, double value, trial *out,
                           nb_error *err)
{
    nb_fit *fit = s->fit;
    nb_status st = nb_sim_set_parameters(fit->sim, &name, &value, 1, err);
    if (!st)
        st = draw_crystal(s, err);
    if (st)
        return st;
    s->images++;
    *out = fit_scale(s);
    return NB_OK;
}

/** Along one parameter; the best value stays, with its scale. */
static nb_status along(search *s, const char *name, double step, nb_error *err)
{
    nb_fit_list *list = &s->fit->list;
    int at = nb_fit_find(list, name), fluence = nb_fit_find(list, "fluence");
    double centre, best = NAN;
    trial top = {INFINITY, 1};
    nb_fit_parameter *p;
    if (at < 0 || list->p[at].fixed)
        return NB_OK;
    p = &list->p[at];
    centre = p->value;
    for (int j = -REACH; j <= REACH; j++) {
        double value = centre * exp(j * step);
        trial t;
        nb_status st;
        if ((p->map == NB_MAP_LOG_CELLS && value <= 1) ||
            (!strcmp(name, "mosaic") && value > MOST_MOSAIC) ||
            (p->map == NB_MAP_BOUNDED && (value <= p->low || value >= p->high)))
            continue;
        if ((st = try_value(s, name, value, &t, err)))
            return st;
        if (t.loss < top.loss) {
            top = t;
            best = value;
        }
    }
    if (isnan(best))
        return NB_OK;
    p->value = best;
    if (s->scaled && list->p[fluence].map != NB_MAP_BOUNDED)
        list->p[fluence].value *= top.scale;
    return nb_fit_apply(s->fit, err);
}

/** Mean square of residuals over their sigma, of the crystal as it is. */
static nb_status misfit(search *s, double *square, nb_error *err)
{
    const double read = s->fit->sigma * s->fit->sigma;
    const int gauss = s->fit->o->likelihood == NB_LIKELIHOOD_GAUSS;
    nb_status st = draw_crystal(s, err);
    double sum = 0;
    for (size_t i = 0; i < s->of.n && !st; i++) {
        const double m = fmax(s->crystal[i] + s->under[i], LEAST_MODEL),
                     d = s->counts[i] - m;
        sum += d * d / (m + (gauss ? read : 0));
    }
    *square = sum / (double)s->of.n;
    return st;
}

/** Along all, twice. */
static nb_status search_all(search *s, nb_error *err)
{
    static const char *const names[] = {"N_a", "N_b", "N_c", "mosaic"};
    double step = 1;
    nb_status st = NB_OK;
    for (int round = 0; round < ROUNDS && !st; round++, step /= 2)
        for (int i = 0; i < 4 && !st; i++) {
            int k = round ? (i + 3) % 4 : i; /* the second round begins with the spread */
            st = along(s, names[k], step * (k == 3 ? MOSAIC_STEP : CELLS_STEP), err);
        }
    return st;
}

/** Free the search and note it. */
static void end_search(search *s, const char *name, double start, nb_status st)
{
    nb_fit *fit = s->fit;
    const int64_t chosen = fit->used;
    fit->out->images += s->images;
    if (!st && s->images > 0) {
        fit->used = (int64_t)s->of.n;
        nb_fit_note_stage(fit, name, s->images, fit_scale(s).loss, 1,
                          nb_monotonic_seconds() - start);
        fit->used = chosen;
    }
    nb_search_pixels_free(&s->of);
    nb_free(s->counts);
    nb_free(s->image);
}

nb_status nb_fit_search(nb_fit *fit, nb_error *err)
{
    double start = nb_monotonic_seconds();
    int mosaic = nb_fit_find(&fit->list, "mosaic");
    search s;
    nb_status st = open_search(fit, 1, &s, err);
    if (mosaic >= 0 && !fit->list.p[mosaic].fixed)
        fit->list.p[mosaic].value = fit->start_mosaic;
    if (!st)
        st = nb_fit_apply(fit, err);
    if (!st)
        st = search_all(&s, err);
    if (!st)
        st = draw_crystal(&s, err);
    end_search(&s, "search", start, st);
    return st;
}

nb_status nb_fit_search_again(nb_fit *fit, nb_error *err)
{
    double start = nb_monotonic_seconds(), square = 0;
    search s;
    nb_status st = open_search(fit, 0, &s, err);
    if (!st)
        st = misfit(&s, &square, err);
    if (!st && square > GOOD_FIT) {
        st = search_all(&s, err);
        if (!st)
            st = draw_crystal(&s, err);
    }
    end_search(&s, "search again", start, st);
    return st;
}

nb_status nb_fit_as_gaussian(nb_fit *fit, const int marked[NB_FIT_MOST], int choose,
                             nb_error *err)
{
    nb_config cfg = *nb_sim_config(fit->sim);
    const double fudge = cfg.fudge;
    const nb_shape shape = cfg.shape;
    nb_status st;
    cfg.shape = (nb_shape)NB_SHAPE_SMOOTH;
    cfg.fudge = 1;
    st = nb_sim_change(fit->sim, &cfg, err);
    if (!st && choose)
        st = nb_fit_choose_spots(fit, err);
    if (!st)
        st = nb_fit_stage(fit, "Gaussian", marked, fit->o->evaluations, err);
    if (st)
        return st;
    cfg = *nb_sim_config(fit->sim);
    cfg.shape = shape;
    cfg.fudge = fudge;
    return nb_sim_change(fit->sim, &cfg, err);
}
