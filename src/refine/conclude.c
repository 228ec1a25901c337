/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../sim/sim.h"
#include "fit.h"
#include "minimise.h"
#include "scales.h"

/* The spots of a refined model and their reflections. */

enum { BOX = 3, MOST = 1000 }; /* pixels to each side; spots */

/** Is the model's pixel the brightest of its box?  *chi2: the sum of squared residuals there. */
static int is_peak(const nb_refinement *r, size_t at, double *chi2)
{
    int x = (int)(at % (size_t)r->fast), y = (int)(at / (size_t)r->fast);
    *chi2 = 0;
    for (int s = y - BOX; s <= y + BOX; s++)
        for (int f = x - BOX; f <= x + BOX; f++) {
            size_t i = (size_t)s * (size_t)r->fast + (size_t)f;
            if (s < 0 || f < 0 || s >= r->slow || f >= r->fast)
                continue;
            if (r->model[i] > r->model[at] || (i < at && r->model[i] == r->model[at]))
                return 0;
            if (isfinite(r->residual[i]))
                *chi2 += (double)r->residual[i] * r->residual[i];
        }
    return 1;
}

/** q of a pixel's middle, at the mean wavelength, 1/m. */
static nb_vec3 q_of(const nb_sim *sim, size_t at)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *p = &sc->panels[nb_panel_of_pixel(sc, at)];
    const size_t in = at - p->first_pixel;
    return nb_fit_q(sim, p, (double)(in % (size_t)p->columns) + 0.5,
                    (double)(in / (size_t)p->columns) + 0.5);
}

static int brightest_first(const void *a, const void *b)
{
    const nb_refined_spot *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? 1 : -1;
    return x->pixel[1] != y->pixel[1] ? x->pixel[1] - y->pixel[1]
                                      : x->pixel[0] - y->pixel[0];
}

static nb_refined_spot spot_at(const nb_refinement *r, size_t at, double chi2)
{
    return (nb_refined_spot){
        .pixel = {(int)(at % (size_t)r->fast), (int)(at / (size_t)r->fast)},
        .model = r->model[at],
        .observed = r->observed[at],
        .chi2 = chi2};
}

nb_status nb_fit_list_spots(nb_fit *fit, nb_error *err)
{
    nb_refinement *r = fit->out;
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        int n = 0;
        for (size_t i = 0; i < fit->pixels; i++) {
            double chi2;
            if (!r->used[i] || !isfinite(r->model[i]) || !is_peak(r, i, &chi2))
                continue;
            if (pass)
                r->spots[n] = spot_at(r, i, chi2);
            n++;
        }
        if (!pass && !(r->spots = nb_alloc((size_t)n + 1, sizeof *r->spots, "spots", err)))
            return NB_ERR_NOMEM;
        found = n;
    }
    qsort(r->spots, (size_t)found, sizeof *r->spots, brightest_first);
    r->n_spots = found < MOST ? found : MOST;
    for (int i = 0; i < r->n_spots; i++) {
        nb_refined_spot *s = &r->spots[i];
        const size_t at = (size_t)s->pixel[1] * (size_t)r->fast + (size_t)s->pixel[0];
        nb_fit_nearest(&fit->sim->model.scene.lattice, q_of(fit->sim, at), s->hkl);
    }
    return NB_OK;
}

/* What a finished fit says: errors, correlations, and whether it is to be believed. */

#define LEAST_CORRELATION 0.5 /* of model and picture; right fits have 0.98 */
#define MOST_CELL_CHANGE 0.1  /* of an edge */
/* Saturated pixels are the strongest ones.  Without them a wrong number of cells can explain what remains, with a
 * correlation of 0.66 to 0.93. */
#define LEAST_BESIDE_FULL 0.95
#define FULL_PART 0.5    /* of what they hold, and of their number */
#define LEAST_MODEL 1e-9 /* photons, as in the loss */

static int is_rotation(const char *name)
{
    return !strcmp(name, "rot_x") || !strcmp(name, "rot_y") || !strcmp(name, "rot_z");
}

/** Work of the errors: everything by the values of the space. */
typedef struct errors {
    const nb_fit *fit;
    nb_fit_space space;
    const char *names[NB_FIT_MOST];
    double *x, *values, *g, *F, *held, *scores; /* by the values */
    double *G, *M, *C, *counting; /* by the variables; C, counting: covariances */
    int clusters;
    double *block; /* owned */
    double worst;  /* smallest eigenvalue over the largest */
} errors;

static nb_status open_errors(nb_fit *fit, errors *e, nb_error *err)
{
    int marked[NB_FIT_MOST];
    size_t V, N;
    for (int i = 0; i < NB_FIT_MOST; i++)
        marked[i] = 1;
    memset(e, 0, sizeof *e);
    e->fit = fit;
    nb_fit_space_make(&fit->list, marked, fit->radial.n, &e->space);
    V = (size_t)nb_fit_space_values(&e->space);
    N = (size_t)nb_fit_space_variables(&e->space);
    e->block =
        nb_alloc(2 * N + 2 * V + 3 * V * V + 3 * N * N, sizeof *e->block, "errors", err);
    if (!e->block)
        return NB_ERR_NOMEM;
    e->x = e->block;
    e->G = e->x + N;
    e->values = e->G + N;
    e->g = e->values + V;
    e->F = e->g + V;
    e->held = e->F + V * V;
    e->scores = e->held + V * V;
    e->M = e->scores + V * V;
    e->C = e->M + N * N;
    e->counting = e->C + N * N;
    for (int i = 0; i < e->space.n_active; i++)
        e->names[i] = fit->list.p[e->space.active[i]].name;
    return NB_OK;
}

/** Equations of the finished fit; its model goes into fit->scaled where reflections have scales. */
static nb_status equate(nb_fit *fit, errors *e, nb_error *err)
{
    const nb_observation seen = nb_fit_observation(fit);
    const nb_fit_names names = {e->space.n_active, e->names};
    nb_fit_equations of = {.g = e->g, .F = e->F, .held = e->held, .scores = e->scores};
    nb_slope_pixels pixels = {0};
    nb_fit_groups groups = {0};
    nb_status st = nb_sim_observe(fit->sim, &seen, &pixels, err);
    if (!st)
        st = nb_fit_group(fit, &pixels, &groups, err);
    groups.width = fit->F_width;
    if (!st && fit->F_width > 0 &&
        !(fit->scaled = nb_alloc(fit->pixels, sizeof *fit->scaled, "model", err)))
        st = NB_ERR_NOMEM;
    of.model = fit->scaled;
    if (!st)
        st = nb_fit_equate(fit, &groups, &names, &pixels, &of, err);
    fit->out->loss = of.loss;
    e->clusters = of.clusters;
    nb_fit_groups_free(&groups);
    nb_slope_pixels_free(&pixels);
    return st;
}

/** A matrix by the values as one by the variables, with restraints, into e->M. */
static void to_variables(errors *e, double *by_values, double *loss)
{
    nb_fit_space_chain(&e->space, e->x, e->values, loss, e->g, by_values, e->G, e->M);
}

/** C = C S C, S the products of the reflections' gradients in e->M, for the few reflections that there are. */
static nb_status spread_of_scores(errors *e, int n, nb_error *err)
{
    const double few = (double)e->clusters / fmax(1, e->clusters - n);
    double *half = nb_alloc((size_t)n * (size_t)n, sizeof *half, "errors", err);
    if (!half)
        return NB_ERR_NOMEM;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                half[i * n + j] += e->C[i * n + k] * e->M[k * n + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += half[i * n + k] * e->C[k * n + j];
            e->M[i * n + j] = few * sum;
        }
    nb_free(half);
    return NB_OK;
}

/** The variances of C become those of M where these are larger; correlations are those of M. */
static void take_larger(errors *e, int n)
{
    double *variance = e->G;
    for (int i = 0; i < n; i++) {
        const double most = fmax(e->C[i * n + i], e->counting[i * n + i]);
        variance[i] = sqrt(fmax(1, most / e->M[i * n + i]));
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            e->C[i * n + j] = variance[i] * variance[j] * e->M[i * n + j];
}

enum {
    LEAST_CLUSTERS = 3
}; /* reflections a variable, for their gradients to tell errors */

/** Covariances of the variables: e->counting if all were exact, e->C with what the model does not explain. */
static nb_status covariance(nb_fit *fit, errors *e, nb_error *err)
{
    const int n = nb_fit_space_variables(&e->space);
    nb_status st;
    nb_fit_space_start(&e->space, fit->radial.level, e->x);
    nb_fit_space_values_of(&e->space, e->x, e->values);
    st = equate(fit, e, err);
    if (st)
        return st;
    to_variables(e, e->held, &fit->out->loss);
    st = nb_fit_invert(n, e->M, e->counting, NULL, NULL, err);
    if (st)
        return st;
    to_variables(e, e->F, &(double){0});
    st = nb_fit_invert(n, e->M, e->C, &e->worst, NULL, err);
    to_variables(e, e->scores, &(double){0});
    if (st || e->clusters < LEAST_CLUSTERS * n)
        return st;
    st = spread_of_scores(e, n, err);
    if (!st)
        take_larger(e, n);
    return st;
}

/** Covariance of two values; slopes are small differences of the map, exact enough and short. */
static double slope_at(const errors *e, int i)
{
    int v = e->space.variable[i];
    return nb_fit_slope(&e->space.list->p[e->space.lead[v]], e->x[v]);
}

static double product_of(const errors *e, const double *C, int i, int j)
{
    const int n = nb_fit_space_variables(&e->space), V = e->fit->n_kept;
    const int shapes = nb_fit_is_shape(e->names[i]) + nb_fit_is_shape(e->names[j]);
    if (e->fit->kept && shapes == 1)
        return 0; /* of different fits */
    if (e->fit->kept && !shapes)
        return e->fit->kept[(C == e->counting ? V * V : 0) + i * V + j];
    return slope_at(e, i) * slope_at(e, j) *
           C[e->space.variable[i] * n + e->space.variable[j]];
}

static double covariance_of(const errors *e, int i, int j)
{
    return product_of(e, e->C, i, j);
}

/** Numbers of the active values: parameters first, then rotations. */
static int ordered(const nb_fit *fit, const errors *e, int order[NB_FIT_MOST])
{
    int n = 0;
    for (int turned = 0; turned < 2; turned++)
        for (int i = 0; i < e->space.n_active; i++)
            if (is_rotation(fit->list.p[e->space.active[i]].name) == turned)
                order[n++] = i;
    return n;
}

static void put_rotation(const nb_fit *fit, const errors *e, nb_refinement *out)
{
    int at[3] = {-1, -1, -1};
    for (int i = 0; i < e->space.n_active; i++) {
        const char *name = fit->list.p[e->space.active[i]].name;
        if (is_rotation(name))
            at[name[4] - 'x'] = i;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (at[i] >= 0 && at[j] >= 0) {
                out->rotated = 1;
                out->rotation_covariance[i][j] = covariance_of(e, at[i], at[j]);
            }
    for (int i = 0; i < 3; i++) {
        out->rotation_sigma_deg[i] = sqrt(out->rotation_covariance[i][i]);
        if (at[i] >= 0)
            out->rotation_sigma_counting_deg[i] =
                sqrt(product_of(e, e->counting, at[i], at[i]));
    }
}

static nb_status put_parameters(nb_fit *fit, const errors *e, nb_error *err)
{
    nb_refinement *out = fit->out;
    int order[NB_FIT_MOST], n = ordered(fit, e, order);
    size_t N = (size_t)n;
    out->parameters = nb_alloc(N + 1, sizeof *out->parameters, "results", err);
    out->correlation = nb_alloc(N * N + 1, sizeof *out->correlation, "results", err);
    out->correlated = nb_alloc(N + 1, sizeof *out->correlated, "results", err);
    if (!out->parameters || !out->correlation || !out->correlated)
        return NB_ERR_NOMEM;
    out->n_correlated = n;
    for (int k = 0; k < n; k++) {
        const nb_fit_parameter *p = &fit->list.p[e->space.active[order[k]]];
        nb_refined *r = &out->parameters[out->n_parameters];
        double variance = covariance_of(e, order[k], order[k]);
        memcpy(out->correlated[k], p->name, sizeof p->name);
        for (int l = 0; l < n; l++) {
            double other = covariance_of(e, order[l], order[l]);
            out->correlation[k * n + l] =
                k == l ? 1 : covariance_of(e, order[k], order[l]) / sqrt(variance * other);
        }
        if (is_rotation(p->name))
            continue;
        memcpy(r->name, p->name, sizeof r->name);
        r->unit = p->unit;
        r->start = p->start;
        r->value = p->value;
        r->at_bound = nb_fit_at_bound(&fit->list.p[p->tied]);
        r->sigma = r->at_bound || !(variance > 0) ? NAN : sqrt(variance);
        r->sigma_counting =
            isnan(r->sigma) ? NAN : sqrt(product_of(e, e->counting, order[k], order[k]));
        out->n_parameters++;
    }
    return NB_OK;
}

nb_status nb_fit_keep_errors(nb_fit *fit, nb_error *err)
{
    errors e;
    nb_status st = open_errors(fit, &e, err);
    const int V = e.space.n_active;
    double *kept = NULL;
    if (!st)
        st = covariance(fit, &e, err);
    if (!st && !(kept = nb_alloc(2 * (size_t)V * (size_t)V, sizeof *kept, "errors", err)))
        st = NB_ERR_NOMEM;
    for (int i = 0; i < V * V && !st; i++) {
        kept[i] = product_of(&e, e.C, i / V, i % V);
        kept[V * V + i] = product_of(&e, e.counting, i / V, i % V);
    }
    fit->kept = kept;
    fit->n_kept = V;
    nb_free(e.block);
    return st;
}

/** The model of a pixel with the structure factors as given, after nb_fit_image, photons. */
static double model_at(const nb_fit *fit, size_t i)
{
    return fit->expected[i] + (fit->background ? fit->background[i] : 0) +
           nb_radial_at(&fit->radial, fit->stol[i]);
}

nb_status nb_fit_keep_start(nb_fit *fit, nb_error *err)
{
    nb_status st = nb_fit_image(fit, fit->photons, err);
    float *before = nb_alloc(fit->pixels, sizeof *before, "results", err);
    fit->out->before = before;
    for (size_t i = 0; before && !st && i < fit->pixels; i++)
        before[i] = isnan(fit->photons[i]) ? NAN : (float)model_at(fit, i);
    return st || before ? st : NB_ERR_NOMEM;
}

/** The model in every pixel, and the residuals. */
static nb_status put_pictures(nb_fit *fit, nb_error *err)
{
    nb_refinement *out = fit->out;
    int gauss = fit->o->likelihood == NB_LIKELIHOOD_GAUSS;
    double read = gauss ? fit->sigma * fit->sigma : 0;
    nb_status st = nb_fit_image(fit, fit->photons, err);
    out->model = nb_alloc(fit->pixels, sizeof *out->model, "results", err);
    out->residual = nb_alloc(fit->pixels, sizeof *out->residual, "results", err);
    out->used = nb_alloc(fit->pixels, 1, "results", err);
    if (st || !out->model || !out->residual || !out->used)
        return st ? st : NB_ERR_NOMEM;
    for (size_t i = 0; i < fit->pixels; i++) {
        double m = model_at(fit, i);
        out->used[i] = !isnan(fit->chosen[i]);
        fit->expected[i] = m; /* with the structure factors as given */
        m = fmax(fit->scaled && out->used[i] ? fit->scaled[i] : m, LEAST_MODEL);
        out->model[i] = isnan(fit->photons[i]) ? NAN : (float)m;
        out->residual[i] = (float)((fit->photons[i] - m) / sqrt(m + read));
    }
    nb_sim_size(fit->sim, &out->fast, &out->slow);
    out->observed = fit->photons;
    out->stol = fit->stol;
    out->masked = fit->masked;
    fit->photons = fit->stol = NULL;
    fit->masked = NULL;
    return NB_OK;
}

/** Pearson's, of picture and model over the pixels of the last stage; given: with the structure factors as given. */
static double correlate(const nb_fit *fit, int given)
{
    const nb_refinement *r = fit->out;
    double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < fit->pixels; i++) {
            const double x = r->observed[i];
            const double y = given ? fit->expected[i] : r->model[i];
            if (!r->used[i])
                continue;
            if (!pass) {
                n++;
                a += x;
                b += y;
                continue;
            }
            aa += (x - a / n) * (x - a / n);
            bb += (y - b / n) * (y - b / n);
            ab += (x - a / n) * (y - b / n);
        }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/** Pixels' part of the loss, twice and a pixel; given: as above. */
static double deviance(const nb_fit *fit, int given)
{
    const nb_refinement *r = fit->out;
    double read = fit->o->likelihood == NB_LIKELIHOOD_GAUSS ? fit->sigma * fit->sigma : -1;
    double sum = 0;
    for (size_t i = 0; i < fit->pixels; i++) {
        double n, m;
        if (!r->used[i])
            continue;
        n = r->observed[i];
        m = given ? fmax(fit->expected[i], LEAST_MODEL) : r->model[i];
        if (read >= 0)
            sum += (n - m) * (n - m) / (m + read);
        else
            sum += 2 * (m - n + (n > 0 ? n * log(n / m) : 0));
    }
    return sum / (double)fit->used;
}

/** Saturated pixels, and of these where the model is far too low. */
typedef struct full_pixels {
    int64_t n, low;
} full_pixels;

/** Before the pictures are made: it uses fit->expected. */
static nb_status count_full(nb_fit *fit, full_pixels *full, nb_error *err)
{
    nb_status st;
    full->n = full->low = 0;
    for (size_t i = 0; i < fit->pixels; i++)
        full->n += !isnan(fit->full[i]);
    if (full->n == 0 || (st = nb_fit_image(fit, fit->full, err)))
        return full->n == 0 ? NB_OK : st;
    for (size_t i = 0; i < fit->pixels; i++)
        if (!isnan(fit->full[i])) {
            full->low += model_at(fit, i) < FULL_PART * fit->full[i];
        }
    return NB_OK;
}

/** Does what is left without saturated pixels tell the crystal? */
static int full_pixels_fit(const full_pixels *full, nb_refinement *out)
{
    const long long n = (long long)full->n;
    if (n == 0 || ((double)full->low <= FULL_PART * (double)n &&
                   out->picture_correlation >= LEAST_BESIDE_FULL))
        return 1;
    snprintf(out->status, sizeof out->status,
             "not converged: saturated pixels: %lld (model far too low: %lld), "
             "correlation beside them %.3f (least: %g); try "
             "other -Na -Nb -Nc or less light, or -mask hot pixels",
             n, (long long)full->low, out->picture_correlation, LEAST_BESIDE_FULL);
    return 0;
}

/** By the places of the spots, whose intensities may be poor; of few spots by model and picture. */
static int orientation_found(const nb_refinement *out)
{
    return (out->peaks >= NB_PEAKS_ENOUGH && out->agreement >= NB_AGREES_AT_END) ||
           out->given_F_correlation >= LEAST_CORRELATION;
}

static void judge(nb_fit *fit, double worst, const full_pixels *full, nb_refinement *out)
{
    const nb_crystal *x = &fit->sim->model.crystal;
    const double edges[3] = {nb_norm(x->a), nb_norm(x->b), nb_norm(x->c)};
    const nb_refine_stage *last = &out->stages[out->n_stages - 1];
    while (last > out->stages && last->dropped)
        last--;
    out->converged = 0;
    for (int i = 0; i < 3; i++)
        if (!(fabs(edges[i] / fit->start_edges[i] - 1) <= MOST_CELL_CHANGE)) {
            snprintf(
                out->status, sizeof out->status,
                "not converged: cell edge %c went from %.4g to %.4g A, more than 10 %%",
                "abc"[i], fit -> start_edges[i] * 1e10, edges[i] * 1e10);
            return;
        }
    if (!orientation_found(out)) {
        snprintf(out->status, sizeof out->status,
                 "not converged: the orientation was not found: of %d spots the lattice "
                 "explains %.0f %% beyond chance, and the correlation is %.3f",
                 out->peaks, 100 * out->agreement, out->given_F_correlation);
        return;
    }
    if (!full_pixels_fit(full, out))
        return;
    if (worst < NB_TOLD_APART) {
        snprintf(
            out->status, sizeof out->status,
            "not converged: at the end the picture does not tell the parameters apart");
        return;
    }
    if (!last->converged) {
        snprintf(
            out->status, sizeof out->status,
            "not converged: the loss still fell after %d evaluations; raise -maxiter",
            last->evaluations);
        return;
    }
    out->converged = 1;
    snprintf(out->status, sizeof out->status, "converged");
}

nb_status nb_fit_measure(nb_fit *fit, nb_error *err)
{
    nb_refinement *out = fit->out;
    nb_status st = put_pictures(fit, err);
    if (st)
        return st;
    out->pixels = fit->used;
    out->deviance_per_pixel = deviance(fit, 0);
    out->given_F_deviance = deviance(fit, 1);
    out->picture_correlation = correlate(fit, 0);
    out->given_F_correlation = correlate(fit, 1);
    out->F_sigma = fit->F_width / 2;
    out->peaks = fit->n_peaks;
    out->agreement = nb_fit_agreement(fit);
    return NB_OK;
}

nb_status nb_fit_conclude(nb_fit *fit, nb_error *err)
{
    nb_refinement *out = fit->out;
    full_pixels full;
    errors e;
    nb_status st = open_errors(fit, &e, err);
    if (!st)
        st = covariance(fit, &e, err);
    if (!st)
        st = put_parameters(fit, &e, err);
    if (!st)
        put_rotation(fit, &e, out);
    nb_free(e.block);
    if (!st && out->rotated)
        st = nb_sim_fold_rotation(fit->sim, out->misset_deg, err);
    if (!st)
        st = count_full(fit, &full, err);
    if (!st)
        st = nb_fit_measure(fit, err);
    if (st)
        return st;
    if ((st = nb_fit_list_spots(fit, err)))
        return st;
    judge(fit, e.worst, &full, out);
    return NB_OK;
}
