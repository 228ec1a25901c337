/* SPDX-License-Identifier: MIT */
/* One stage of a fit: some parameters, some pixels, until nothing changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../sim/derive.h"
#include "../base/clock.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "fit.h"
#include "minimise.h"
#include "scales.h"

#define LEAST_MODEL 1e-9 /* photons, as in the loss */

/** What the loss of lmder needs. */
typedef struct stage {
    nb_fit *fit;
    nb_fit_space space;
    nb_slope_pixels pixels; /* the chosen ones; owned */
    nb_fit_groups groups;   /* of these; owned */
    const char *names[NB_FIT_MOST];
    double *values, *g, *F; /* by the values */
} stage;

static nb_status remember(nb_fit *fit, double loss)
{
    nb_refinement *out = fit->out;
    if (out->n_history == fit->history_room) {
        int room = fit->history_room ? 2 * fit->history_room : 256;
        if (nb_grow(&out->history, (size_t)out->n_history, (size_t)room,
                    sizeof *out->history, "history", NULL))
            return NB_OK; /* a picture is not worth the fit */
        fit->history_room = room;
    }
    out->history[out->n_history++] = loss / (double)fit->used;
    return NB_OK;
}

/** The equations with scales of the reflections. */
static nb_status equate(stage *s, double *loss, nb_error *err)
{
    const nb_fit_names names = {s->space.n_active, s->names};
    nb_fit_equations e = {.g = s->g, .F = s->F};
    nb_status st = nb_fit_equate(s->fit, &s->groups, &names, &s->pixels, &e, err);
    *loss = e.loss;
    return st;
}

static nb_status loss_at(void *user, int n, const double *x, double *loss, double *G,
                         double *M, nb_error *err)
{
    stage *s = user;
    nb_fit *fit = s->fit;
    nb_observation seen;
    int active = s->space.n_active;
    nb_status st;
    (void)n;
    nb_fit_space_values_of(&s->space, x, s->values);
    for (int k = 0; k < fit->radial.n; k++)
        fit->radial.level[k] = s->values[active + k];
    seen = nb_fit_observation(fit);
    st = nb_sim_set_parameters(fit->sim, s->names, s->values, active, err);
    if (!st && s->groups.width > 0)
        st = equate(s, loss, err);
    else if (!st)
        st = nb_sim_normal_at(fit->sim, s->names, active, &seen, &s->pixels, loss, s->g,
                              s->F, err);
    fit->out->evaluations++;
    if (st)
        return st;
    nb_fit_space_chain(&s->space, x, s->values, loss, s->g, s->F, G, M);
    return remember(fit, *loss);
}

/** Names of the variables with a part in a vector. */
static void list_names(const stage *s, const double *vector, char *text, size_t size)
{
    double most = 0;
    size_t used = 0;
    int n = nb_fit_space_variables(&s->space);
    for (int v = 0; v < n; v++)
        most = fmax(most, fabs(vector[v]));
    text[0] = '\0';
    for (int v = 0; v < n && used < size; v++)
        if (fabs(vector[v]) > 0.1 * most)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     v < s->space.n_free
                                         ? s->fit->list.p[s->space.lead[v]].name
                                         : "background");
}

/** Refuse variables whose effects are combinations of others'. */
static nb_status check_apart(stage *s, const double *x, nb_error *err)
{
    int n = nb_fit_space_variables(&s->space);
    size_t N = (size_t)n;
    double *work = nb_alloc(2 * N * N + 2 * N, sizeof *work, "fit", err);
    double *M = work, *inverse, *G, *vector, loss, worst;
    char text[160];
    nb_status st;
    if (!work)
        return NB_ERR_NOMEM;
    inverse = work + N * N;
    G = inverse + N * N;
    vector = G + N;
    st = loss_at(s, n, x, &loss, G, M, err);
    if (!st)
        st = nb_fit_invert(n, M, inverse, &worst, vector, err);
    if (!st && worst < NB_TOLD_APART) {
        list_names(s, vector, text, sizeof text);
        st =
            nb_fail(err, NB_ERR_INPUT,
                    "-refine: this picture cannot tell these parameters apart: %s; leave "
                    "one out, or restrain one",
                    text);
    }
    nb_free(work);
    return st;
}

nb_status nb_fit_apply(nb_fit *fit, nb_error *err)
{
    const char *names[NB_FIT_MOST];
    double values[NB_FIT_MOST];
    for (int i = 0; i < fit->list.count; i++) {
        names[i] = fit->list.p[i].name;
        values[i] = fit->list.p[i].value;
    }
    return nb_sim_set_parameters(fit->sim, names, values, fit->list.count, err);
}

nb_status nb_fit_remember(nb_fit *fit, nb_fit_stand *s, nb_error *err)
{
    s->list = fit->list;
    return nb_sim_fold_rotation(fit->sim, s->misset, err);
}

nb_status nb_fit_stand_at(nb_fit *fit, const nb_fit_stand *s, const double turn[3],
                          nb_error *err)
{
    static const char *const names[] = {"rot_x",    "rot_y",    "rot_z",
                                        "misset_x", "misset_y", "misset_z"};
    const double values[6] = {turn[0],      turn[1],      turn[2],
                              s->misset[0], s->misset[1], s->misset[2]};
    nb_status st;
    fit->list = s->list;
    st = nb_fit_apply(fit, err);
    if (!st)
        st = nb_sim_set_parameters(fit->sim, names, values, 6, err);
    return st ? st : nb_sim_fold_rotation(fit->sim, NULL, err);
}

/** Into the list and the simulation; rotations into the orientation. */
static nb_status settle(stage *s, const double *x, nb_error *err)
{
    nb_fit *fit = s->fit;
    nb_status st;
    int turned = 0;
    nb_fit_space_values_of(&s->space, x, s->values);
    for (int i = 0; i < s->space.n_active; i++)
        fit->list.p[s->space.active[i]].value = s->values[i];
    for (int k = 0; k < fit->radial.n; k++)
        fit->radial.level[k] = s->values[s->space.n_active + k];
    st = nb_fit_apply(fit, err);
    for (int i = 0; i < fit->list.count; i++)
        if (!strncmp(fit->list.p[i].name, "rot_", 4) && fit->list.p[i].name[5] == '\0') {
            turned = 1;
            fit->list.p[i].value = 0;
        }
    return st || !turned ? st : nb_sim_fold_rotation(fit->sim, NULL, err);
}

void nb_fit_note_stage(nb_fit *fit, const char *name, int evaluations, double loss,
                       int converged, double seconds)
{
    nb_refinement *out = fit->out;
    nb_refine_stage *s;
    if (out->n_stages == NB_REFINE_STAGES_MAX) /* the first one goes */
        memmove(out->stages, out->stages + 1,
                (size_t)--out->n_stages * sizeof *out->stages);
    s = &out->stages[out->n_stages++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->pixels = fit->used;
    s->evaluations = evaluations;
    s->loss = loss;
    s->converged = converged;
    s->seconds = seconds;
    if (fit->o->stage)
        fit->o->stage(fit->o->user, s);
}

static void close_stage(stage *s)
{
    nb_free(s->values);
    nb_slope_pixels_free(&s->pixels);
    nb_fit_groups_free(&s->groups);
}

/** Close it after an error, too. */
static nb_status open_stage(nb_fit *fit, const int marked[NB_FIT_MOST], stage *s,
                            double **x, nb_error *err)
{
    const nb_observation seen = nb_fit_observation(fit);
    size_t values;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->fit = fit;
    nb_fit_space_make(&fit->list, marked, fit->radial.n, &s->space);
    values = (size_t)nb_fit_space_values(&s->space);
    for (int i = 0; i < s->space.n_active; i++)
        s->names[i] = fit->list.p[s->space.active[i]].name;
    s->values = nb_alloc(2 * values + values * values + NB_FIT_MOST + NB_FIT_KNOTS_MAX,
                         sizeof *s->values, "fit", err);
    if (!s->values)
        return NB_ERR_NOMEM;
    s->g = s->values + values;
    s->F = s->g + values;
    *x = s->F + values * values;
    nb_fit_space_start(&s->space, fit->radial.level, *x);
    if ((st = nb_sim_observe(fit->sim, &seen, &s->pixels, err)) || fit->F_width <= 0)
        return st;
    st = nb_fit_group(fit, &s->pixels, &s->groups, err);
    s->groups.width = fit->F_width;
    return st;
}

nb_status nb_fit_spread(nb_fit *fit, double *spread, double *explained, nb_error *err)
{
    const nb_observation seen = nb_fit_observation(fit);
    nb_slope_pixels pixels = {0};
    nb_fit_groups groups = {0};
    nb_status st = nb_sim_observe(fit->sim, &seen, &pixels, err);
    if (!st)
        st = nb_fit_group(fit, &pixels, &groups, err);
    if (!st)
        st = nb_fit_scale_spread(fit, &groups, &pixels, spread, explained, err);
    nb_fit_groups_free(&groups);
    nb_slope_pixels_free(&pixels);
    return st;
}

/** What a step to the best values would gain, by slopes at x. */
static nb_status gain_of(stage *s, const double *x, double *gain, nb_error *err)
{
    const int n = nb_fit_space_variables(&s->space);
    const size_t N = (size_t)n;
    double *work = nb_alloc(2 * N * N + N + 1, sizeof *work, "fit", err), loss;
    double *M = work, *inverse = work + N * N, *G = inverse + N * N;
    nb_status st = work ? loss_at(s, n, x, &loss, G, M, err) : NB_ERR_NOMEM;
    if (!st)
        st = nb_fit_invert(n, M, inverse, NULL, NULL, err);
    *gain = 0;
    for (size_t i = 0; i < N && !st; i++)
        for (size_t j = 0; j < N; j++)
            *gain += G[i] * inverse[i * N + j] * G[j] / 2;
    nb_free(work);
    return st;
}

/** Mean square of residuals over their sigma, of a model[pixels]. */
static double square_of(const nb_fit *fit, const double *model)
{
    const double read = fit->sigma * fit->sigma;
    const int gauss = fit->o->likelihood == NB_LIKELIHOOD_GAUSS;
    double sum = 0;
    for (size_t i = 0; i < fit->pixels; i++)
        if (!isnan(fit->chosen[i])) {
            const double m = fmax(model[i], LEAST_MODEL), d = fit->chosen[i] - m;
            sum += d * d / (m + (gauss ? read : 0));
        }
    return sum / (double)fit->used;
}

/** Loss and residuals; the stage has the pixels. */
static nb_status rate(stage *s, nb_fit_quality *out, nb_error *err)
{
    const nb_fit_names none = {0};
    nb_fit_equations e = {.g = s->g, .F = s->F};
    nb_status st = NB_OK;
    if (!s->groups.pixels)
        st = nb_fit_group(s->fit, &s->pixels, &s->groups, err);
    s->groups.width = s->fit->F_width;
    e.model = st ? NULL : nb_alloc(s->fit->pixels, sizeof *e.model, "model", err);
    if (!e.model)
        return NB_ERR_NOMEM;
    st = nb_fit_equate(s->fit, &s->groups, &none, &s->pixels, &e, err);
    out->loss = e.loss;
    out->square = st ? 0 : square_of(s->fit, e.model);
    nb_free(e.model);
    return st;
}

nb_status nb_fit_rate(nb_fit *fit, const int marked[NB_FIT_MOST], nb_fit_quality *out,
                      nb_error *err)
{
    static const int none[NB_FIT_MOST];
    double *x;
    stage s;
    nb_status st = open_stage(fit, marked ? marked : none, &s, &x, err);
    *out = (nb_fit_quality){0};
    if (!st)
        st = rate(&s, out, err);
    if (!st && marked)
        st = gain_of(&s, x, &out->gain, err);
    close_stage(&s);
    return st;
}

nb_status nb_fit_stage(nb_fit *fit, const char *name, const int marked[NB_FIT_MOST],
                       int most, nb_error *err)
{
    double start = nb_monotonic_seconds(), *x;
    stage s;
    nb_minimise_job job = {.loss = loss_at, .user = &s, .most = most};
    nb_minimum found = {0};
    nb_status st = open_stage(fit, marked, &s, &x, err);
    if (st) {
        close_stage(&s);
        return st;
    }
    job.n = nb_fit_space_variables(&s.space);
    job.x = x;
    if (fit->o->likelihood == NB_LIKELIHOOD_GAUSS)
        job.floor = (double)fit->used * log(fit->sigma); /* V is at least sigma^2 */
    if (job.n == 0)
        st = nb_fail(err, NB_ERR_INPUT,
                     "-refine: every parameter is held; leave one free");
    if (!st)
        st = nb_minimise(&job, &found, err);
    if (!st)
        st = settle(&s, x, err);
    close_stage(&s);
    if (!st)
        nb_fit_note_stage(fit, name, found.evaluations, found.loss, found.converged,
                          nb_monotonic_seconds() - start);
    return st;
}

nb_status nb_fit_check_apart(nb_fit *fit, const int marked[NB_FIT_MOST], nb_error *err)
{
    double *x;
    stage s;
    nb_status st = open_stage(fit, marked, &s, &x, err);
    if (st) {
        close_stage(&s);
        return st;
    }
    if (s.space.n_free == 0)
        st = nb_fail(err, NB_ERR_INPUT,
                     "-refine: every parameter is held; leave one free");
    if (!st)
        st = check_apart(&s, x, err);
    close_stage(&s);
    return st;
}
