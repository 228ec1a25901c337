/* SPDX-License-Identifier: MIT */
/* What a joint refinement does with one picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../sim/sim.h"
#include "joint.h"
#include "minimise.h"
#include "pages.h"

/** Correlation of model and picture after the fit of a picture by itself, below which it is left out. */
#define LEAST_ALIKE 0.5

void nb_joint_picture_free(nb_joint_picture *p)
{
    nb_free(p->block);
    nb_free(p->runs);
    nb_free(p->photons);
    nb_free(p->background);
    memset(p, 0, sizeof *p);
}

/* --- from the variables of a point to values --- */

/** x in the order of the space. */
static void in_space(const nb_joint *j, const nb_joint_point *point, double *x)
{
    for (int v = 0; v < j->n; v++)
        x[v] = point->x[j->place[v]];
}

/** Numbers of one picture in the order of the space. */
typedef struct work {
    double *x, *values, *g, *F, *G, *M;
    double *block; /* owned */
} work;

static nb_status open_work(const nb_joint *j, work *w, nb_error *err)
{
    const size_t n = (size_t)j->n, V = (size_t)nb_fit_space_values(&j->space);
    w->block = nb_alloc(2 * n + n * n + 2 * V + V * V + 3, sizeof(double), "fit", err);
    if (!w->block)
        return NB_ERR_NOMEM;
    w->x = w->block;
    w->G = w->x + n;
    w->M = w->G + n;
    w->g = w->M + n * n;
    w->F = w->g + V;
    w->values = w->F + V * V; /* and three angles behind the active ones */
    return NB_OK;
}

double nb_joint_value(const nb_joint *j, const nb_joint_point *point, int i, double *slope)
{
    double x[NB_FIT_MOST + NB_FIT_KNOTS_MAX], values[NB_FIT_MOST + NB_FIT_KNOTS_MAX];
    const int v = j->space.variable[i];
    in_space(j, point, x);
    nb_fit_space_values_of(&j->space, x, values);
    *slope = nb_fit_slope(&j->list.p[j->space.lead[v]], x[v]);
    return values[i];
}

static nb_status begin_at(const nb_joint *j, nb_sim *sim, int k, nb_error *err)
{
    return nb_crew_begin(&j->crew, sim, k, err);
}

/** The start, then values[active] and the orientation at once. */
static nb_status place_values(const nb_joint *j, nb_sim *sim, int k, const double *values,
                              nb_error *err)
{
    const int active = j->space.n_active;
    double all[NB_FIT_MOST + 3];
    nb_status st = begin_at(j, sim, k, err);
    memcpy(all, values, (size_t)active * sizeof *all);
    memcpy(all + active, j->pictures[k].misset, sizeof j->pictures[k].misset);
    return st ? st : nb_sim_set_parameters(sim, j->names, all, active + 3, err);
}

nb_status nb_joint_place(const nb_joint *j, nb_sim *sim, int k,
                         const nb_joint_point *point, nb_error *err)
{
    work w;
    nb_status st = open_work(j, &w, err);
    if (st)
        return st;
    in_space(j, point, w.x);
    nb_fit_space_values_of(&j->space, w.x, w.values);
    st = place_values(j, sim, k, w.values, err);
    nb_free(w.block);
    return st;
}

/* --- pixels --- */

/** The chosen pixels of a fit, without the others. */
static nb_status keep_pixels(const nb_fit *fit, nb_joint_picture *p, nb_error *err)
{
    size_t n = 0, runs = 0, at = 0;
    for (size_t i = 0; i < fit->pixels; i++)
        if (!isnan(fit->chosen[i])) {
            runs += i == 0 || isnan(fit->chosen[i - 1]);
            n++;
        }
    nb_free(p->runs);
    nb_free(p->photons);
    nb_free(p->background);
    p->background = NULL;
    p->runs = nb_alloc(runs + 1, sizeof *p->runs, "pixels", err);
    p->photons = nb_alloc_raw(n + 1, sizeof *p->photons, "pixels", err);
    if (fit->background)
        p->background = nb_alloc_raw(n + 1, sizeof *p->background, "pixels", err);
    if (!p->runs || !p->photons || (fit->background && !p->background))
        return NB_ERR_NOMEM;
    p->n_runs = 0;
    for (size_t i = 0; i < fit->pixels; i++) {
        if (isnan(fit->chosen[i]))
            continue;
        if (i == 0 || isnan(fit->chosen[i - 1]))
            p->runs[p->n_runs++] = (nb_joint_run){i, 0};
        p->runs[p->n_runs - 1].n++;
        if (fit->background)
            p->background[at] = fit->background[i];
        p->photons[at++] = fit->chosen[i];
    }
    return NB_OK;
}

/** Numbers of the runs to their places. */
static void spread(const nb_joint_picture *p, const float *values, float *plane)
{
    for (size_t k = 0; k < p->n_runs; k++) {
        memcpy(plane + p->runs[k].at, values, p->runs[k].n * sizeof *plane);
        values += p->runs[k].n;
    }
}

/** The planes of what is observed. */
typedef struct planes {
    float *photons, *background; /* owned; background may be NULL */
} planes;

static nb_status open_planes(const nb_joint_picture *p, size_t pixels, planes *out,
                             nb_error *err)
{
    out->background = NULL;
    out->photons = nb_alloc_raw(pixels, sizeof(float), "photons", err);
    if (p->background)
        out->background = nb_alloc(pixels, sizeof(float), "background", err);
    if (!out->photons || (p->background && !out->background))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels; i++)
        out->photons[i] = NAN;
    spread(p, p->photons, out->photons);
    if (p->background)
        spread(p, p->background, out->background);
    return NB_OK;
}

static void close_planes(planes *of)
{
    nb_free(of->photons);
    nb_free(of->background);
}

/* --- a picture by itself --- */

/** A fit of the picture, opened. */
typedef struct one {
    nb_fit fit;
    nb_refinement out;
    nb_image image;
} one;

static nb_status open_one(nb_joint *j, nb_sim *sim, int k, one *of, nb_error *err)
{
    nb_status st;
    memset(of, 0, sizeof *of);
    of->fit.sim = sim;
    of->fit.o = &j->options;
    of->fit.out = &of->out;
    st = nb_crew_read(&j->crew, sim, k, &of->image, err);
    return st ? st : nb_fit_open(&of->fit, &of->image, err);
}

static void close_one(one *of)
{
    nb_fit_free(&of->fit);
    nb_refinement_free(&of->out);
    nb_image_free(&of->image);
}

/** Common parameters move in no stage of a picture by itself.  Returns whether another one does. */
static int hold_common(const nb_joint *j, nb_fit_list *list)
{
    int moves = 0;
    for (int i = 0; i < list->count; i++) {
        list->p[i].fixed |= j->common[i];
        moves |= !list->p[i].fixed;
    }
    return moves;
}

static nb_status divide(const nb_joint *j, nb_joint_picture *p, nb_error *err)
{
    const size_t n = (size_t)j->n, extra = (size_t)j->space.extra;
    const size_t Y = (size_t)j->arrow.own * (size_t)(j->arrow.common + 1);
    double *at = p->block =
        nb_alloc(2 * (2 * n + n * n) + Y + extra, sizeof(double), "picture", err);
    nb_joint_point *const points[] = {&p->now, &p->tried};
    if (!at)
        return NB_ERR_NOMEM;
    for (int i = 0; i < 2; i++) {
        points[i]->x = at;
        points[i]->G = at + n;
        points[i]->M = at + 2 * n;
        at += 2 * n + n * n;
    }
    p->Y = at;
    p->knots = at + Y;
    return NB_OK;
}

static int is_rotation(const char *name)
{
    return !strncmp(name, "rot_", 4) && strchr("xyz", name[4]) && name[5] == '\0';
}

/** Variables, orientation and pixels of a fit.  The rotation goes into the orientation. */
static nb_status keep(const nb_joint *j, nb_fit *fit, nb_joint_picture *p, nb_error *err)
{
    double x[NB_FIT_MOST + NB_FIT_KNOTS_MAX];
    nb_fit_space space = j->space;
    nb_status st = p->block ? NB_OK : divide(j, p, err);
    if (st)
        return st;
    space.list = &fit->list;
    for (int i = 0; i < fit->list.count; i++)
        if (is_rotation(fit->list.p[i].name))
            fit->list.p[i].value = 0;
    p->sigma = fit->sigma;
    nb_fit_space_start(&space, fit->radial.level, x);
    for (int v = 0; v < j->n; v++)
        p->now.x[j->place[v]] = x[v];
    for (int v = 0; v < j->space.n_free; v++) /* the same bits in all pictures */
        if (j->common[j->space.lead[v]] && !is_rotation(j->list.p[j->space.lead[v]].name))
            p->now.x[j->place[v]] = j->x[j->place[v]];
    memcpy(p->knots, fit->radial.knot, (size_t)j->space.extra * sizeof *p->knots);
    st = nb_sim_fold_rotation(fit->sim, p->misset, err);
    return st ? st : keep_pixels(fit, p, err);
}

/** Errors that are of this picture alone. */
static int is_of_picture(nb_status st)
{
    return st == NB_ERR_INPUT || st == NB_ERR_IO;
}

/** Tell what became of a picture: one that is left out is counted at the end. */
static nb_status tell(nb_joint *j, const nb_fit_told *told, nb_error *err)
{
    const nb_refinement *result = told->result;
    char *line;
    int stop = 0;
    nb_status st = nb_fit_told_line(told, &line, err);
    if (st)
        return st;
#pragma omp critical(nb_refine_done)
    {
        stop = j->frames->done(j->frames->user, told->number, result,
                               result ? "" : told->why);
        stop |= nb_lines_put(&j->lines, told->number, line,
                             result && !result->converged) != NB_OK;
    }
    if (stop)
        atomic_store(&j->crew.stop, 1);
    return NB_OK;
}

static nb_status leave_out(nb_joint *j, int k, const char *why, nb_error *err)
{
    char text[sizeof err->message + 200];
    if (j->options.schedule != NB_SCHEDULE_NONE && !j->again)
        return NB_OK; /* tried again with better common parameters */
    snprintf(text, sizeof text, "%.150s: left out: %s", j->frames->images[k], why);
    return tell(j, &(nb_fit_told){.frames = j->frames, .number = k, .why = text}, err);
}

/** The common parameters as they are now, for a picture that begins late. */
static void give_common(const nb_joint *j, nb_fit_list *list)
{
    double x[NB_FIT_MOST + NB_FIT_KNOTS_MAX] = {0}, slope;
    const nb_joint_point at = {.x = x};
    memcpy(x, j->x, (size_t)j->arrow.common * sizeof *x);
    for (int i = 0; i < j->space.n_active && j->again; i++)
        if (j->common[j->space.active[i]])
            list->p[j->space.active[i]].value = nb_joint_value(j, &at, i, &slope);
}

/** The picture by itself.  Its model must then be like it. */
static nb_status fit_alone(nb_joint *j, nb_fit *fit, nb_joint_picture *p, nb_error *err)
{
    const int runs = hold_common(j, &fit->list) && j->options.schedule != NB_SCHEDULE_NONE;
    nb_status st = runs ? nb_fit_run(fit, err) : nb_fit_begin(fit, err);
    if (!st)
        st = keep(j, fit, p, err);
    if (!st && runs)
        st = nb_fit_measure(fit, err);
    if (!st && runs && !(fit->out->picture_correlation >= LEAST_ALIKE))
        return nb_fail(err, NB_ERR_INPUT,
                       "model and picture have a correlation of %.3f, below %g",
                       fit->out->picture_correlation, LEAST_ALIKE);
    return st;
}

nb_status nb_joint_prepare(void *joint, nb_sim *sim, int k, nb_error *err)
{
    nb_joint *j = joint;
    one of;
    nb_status st = begin_at(j, sim, k, err);
    if (st)
        return st;
    st = open_one(j, sim, k, &of, err);
    give_common(j, &of.fit.list);
    if (!st)
        st = fit_alone(j, &of.fit, &j->pictures[k], err);
    j->pictures[k].used = !st;
    close_one(&of);
    return is_of_picture(st) ? leave_out(j, k, err->message, err) : st;
}

/** Values and background of the picture as it is into a fit. */
static void give_values(const nb_joint *j, const nb_joint_picture *p, nb_fit *fit)
{
    double x[NB_FIT_MOST + NB_FIT_KNOTS_MAX], values[NB_FIT_MOST + NB_FIT_KNOTS_MAX];
    const int active = j->space.n_active, extra = j->space.extra;
    in_space(j, &p->now, x);
    nb_fit_space_values_of(&j->space, x, values);
    for (int i = 0; i < active; i++)
        fit->list.p[j->space.active[i]].value = values[i];
    fit->radial.n = extra;
    for (int i = 0; i < extra; i++) {
        fit->radial.knot[i] = p->knots[i];
        fit->radial.level[i] = values[active + i];
    }
}

nb_status nb_joint_choose(void *joint, nb_sim *sim, int k, nb_error *err)
{
    nb_joint *j = joint;
    nb_joint_picture *p = &j->pictures[k];
    one of;
    nb_status st;
    if (!p->used)
        return nb_joint_prepare(j, sim, k, err);
    if ((st = begin_at(j, sim, k, err)))
        return st;
    st = open_one(j, sim, k, &of, err);
    if (!st)
        st = nb_joint_place(j, sim, k, &p->now, err);
    if (!st) {
        give_values(j, p, &of.fit);
        st = nb_fit_choose_spots(&of.fit, err);
    }
    if (!st)
        st = keep(j, &of.fit, p, err);
    close_one(&of);
    return st;
}

/* --- equations --- */

/** From the order of the space to that of the arrow. */
static void order(const nb_joint *j, const work *w, nb_joint_point *point)
{
    const int n = j->n;
    for (int v = 0; v < n; v++) {
        const int a = j->place[v];
        point->G[a] = w->G[v];
        for (int u = 0; u < n; u++)
            point->M[a * n + j->place[u]] = w->M[v * n + u];
    }
}

static nb_status equations(const nb_joint *j, nb_sim *sim, int k, work *w,
                           nb_joint_point *point, nb_error *err)
{
    const nb_joint_picture *p = &j->pictures[k];
    const int active = j->space.n_active;
    planes of;
    nb_status st = place_values(j, sim, k, w->values, err);
    if (st)
        return st;
    st = open_planes(p, sim->model.scene.raster.pixels, &of, err);
    if (!st) {
        const nb_observation seen = {.photons = of.photons,
                                     .likelihood = j->options.likelihood,
                                     .sigma = p->sigma,
                                     .background = of.background,
                                     .n_knots = j->space.extra,
                                     .knots = p->knots,
                                     .values = w->values + active};
        st = nb_sim_normal(sim, j->names, active, &seen, &point->loss, w->g, w->F, err);
    }
    close_planes(&of);
    if (st)
        return st;
    nb_fit_space_chain(&j->space, w->x, w->values, &point->loss, w->g, w->F, w->G, w->M);
    order(j, w, point);
    return NB_OK;
}

nb_status nb_joint_evaluate(void *joint, nb_sim *sim, int k, nb_error *err)
{
    nb_joint *j = joint;
    nb_joint_picture *p = &j->pictures[k];
    nb_joint_point *point = j->try ? &p->tried : &p->now;
    work w;
    nb_status st;
    if (!p->used)
        return NB_OK;
    if ((st = open_work(j, &w, err)))
        return st;
    in_space(j, point, w.x);
    nb_fit_space_values_of(&j->space, w.x, w.values);
    st = equations(j, sim, k, &w, point, err);
    nb_free(w.block);
    if (st == NB_ERR_INPUT && j->try) {
        point->loss = INFINITY;
        return NB_OK;
    }
    return st;
}

/* --- the result --- */

/** Covariance of two values of the picture, both its own. */
static double covariance(const nb_joint *j, const nb_joint_picture *p,
                         const double *inverse, int a, int b)
{
    const int c = j->arrow.common;
    double slope_a, slope_b;
    nb_joint_value(j, &p->now, a, &slope_a);
    nb_joint_value(j, &p->now, b, &slope_b);
    return slope_a * slope_b *
           nb_arrow_covariance(&j->arrow, inverse, p->Y, j->C,
                               j->place[j->space.variable[a]] - c,
                               j->place[j->space.variable[b]] - c);
}

/** excess: of the variances over those of counting. */
static void put_rotation(const nb_joint *j, const nb_joint_picture *p,
                         const double *inverse, double excess, nb_refinement *out)
{
    for (int a = 0; a < j->space.n_active; a++) {
        const nb_fit_parameter *q = &j->list.p[j->space.active[a]];
        if (!is_rotation(q->name) || j->common[j->space.active[a]])
            continue;
        out->rotated = 1;
        for (int b = 0; b < j->space.n_active; b++) {
            const nb_fit_parameter *r = &j->list.p[j->space.active[b]];
            if (is_rotation(r->name) && !j->common[j->space.active[b]])
                out->rotation_covariance[q->name[4] - 'x'][r->name[4] - 'x'] =
                    covariance(j, p, inverse, a, b);
        }
    }
    memcpy(out->misset_deg, p->misset, sizeof out->misset_deg);
    for (int i = 0; i < 3; i++)
        out->rotation_sigma_counting_deg[i] = sqrt(out->rotation_covariance[i][i]);
    for (int i = 0; i < 9; i++)
        out->rotation_covariance[i / 3][i % 3] *= excess;
    for (int i = 0; i < 3; i++)
        out->rotation_sigma_deg[i] = sqrt(out->rotation_covariance[i][i]);
}

static nb_status put_own(const nb_joint *j, const nb_joint_picture *p, nb_refinement *out,
                         nb_error *err)
{
    const int c = j->arrow.common, m = j->arrow.own, n = j->n;
    const double excess = fmax(1, out->deviance_per_pixel); /* of the variances */
    double *A = nb_alloc(2 * (size_t)m * (size_t)m + 1, sizeof *A, "results", err);
    nb_status st;
    out->parameters =
        nb_alloc((size_t)j->space.n_active + 1, sizeof *out->parameters, "results", err);
    if (!A || !out->parameters) {
        nb_free(A);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < m; i++)
        for (int k = 0; k < m; k++)
            A[i * m + k] = p->now.M[(c + i) * n + c + k];
    st = nb_fit_invert(m, A, A + m * m, NULL, NULL, err);
    for (int i = 0; i < j->space.n_active && !st; i++) {
        const nb_fit_parameter *q = &j->list.p[j->space.active[i]];
        nb_refined *r = &out->parameters[out->n_parameters];
        double slope, variance;
        if (is_rotation(q->name) || j->common[j->space.active[i]])
            continue;
        memcpy(r->name, q->name, sizeof r->name);
        r->unit = q->unit;
        r->start = q->start;
        r->value = nb_joint_value(j, &p->now, i, &slope);
        variance = covariance(j, p, A + m * m, i, i);
        r->sigma_counting = variance > 0 ? sqrt(variance) : NAN;
        r->sigma = r->sigma_counting * sqrt(excess);
        out->n_parameters++;
    }
    if (!st)
        put_rotation(j, p, A + m * m, excess, out);
    nb_free(A);
    return st;
}

/** Deviance and correlation of the pixels of the picture. */
static nb_status measure(nb_joint *j, nb_sim *sim, int k, one *of, nb_error *err)
{
    nb_joint_picture *p = &j->pictures[k];
    nb_status st = nb_joint_place(j, sim, k, &p->now, err);
    if (st)
        return st;
    give_values(j, p, &of->fit);
    for (size_t i = 0; i < of->fit.pixels; i++)
        of->fit.chosen[i] = NAN;
    spread(p, p->photons, of->fit.chosen);
    if (p->background)
        spread(p, p->background, of->fit.background);
    for (size_t i = 0; i < p->n_runs; i++)
        of->fit.used += (int64_t)p->runs[i].n;
    return nb_fit_measure(&of->fit, err);
}

/** The orientation, and the crystal and the beam for -exptout. */
static nb_status put_crystal(nb_joint *j, nb_sim *sim, int k, nb_error *err)
{
    const nb_crystal *x = &sim->model.crystal;
    nb_status st = nb_sim_fold_rotation(sim, j->pictures[k].misset, err);
    const nb_vec3 along = sim->model.geometry.beam;
    double *to = j->edges + 9 * (size_t)k, *beam = j->beams + 4 * (size_t)k;
    const nb_vec3 edges[3] = {x->a, x->b, x->c};
    for (int i = 0; i < 3 && !st; i++) {
        to[3 * i] = edges[i].x;
        to[3 * i + 1] = edges[i].y;
        to[3 * i + 2] = edges[i].z;
    }
    beam[0] = nb_sim_wavelength(sim);
    beam[1] = along.x;
    beam[2] = along.y;
    beam[3] = along.z;
    return st;
}

/** The model of the start, for a page; sim is there before and after. */
static nb_status keep_before(nb_joint *j, nb_sim *sim, int k, float **before,
                             nb_error *err)
{
    one start;
    nb_status st = open_one(j, sim, k, &start, err);
    if (!st)
        st = nb_fit_begin(&start.fit, err);
    if (!st)
        st = nb_fit_keep_start(&start.fit, err);
    *before = start.out.before;
    start.out.before = NULL;
    close_one(&start);
    return st ? st : begin_at(j, sim, k, err);
}

/** The values of the common parameters; their number. */
static int list_common(const nb_joint *j, const nb_joint_picture *p, nb_refined *list)
{
    int n = 0;
    double slope;
    for (int i = 0; i < j->space.n_active; i++) {
        if (!j->common[j->space.active[i]])
            continue;
        memset(&list[n], 0, sizeof *list);
        memcpy(list[n].name, j->names[i], sizeof list[n].name);
        list[n++].value = nb_joint_value(j, &p->now, i, &slope);
    }
    return n;
}

/** The verdict, and the line of the report. */
static nb_status conclude(nb_joint *j, nb_sim *sim, int k, const double *misset, one *of,
                          nb_error *err)
{
    nb_refined common[NB_FIT_MOST];
    nb_refinement *out = &of->out;
    out->loss = j->pictures[k].now.loss;
    out->picture = j->frames->images[k];
    out->converged = j->converged && out->picture_correlation >= LEAST_ALIKE;
    snprintf(out->status, sizeof out->status, "%s",
             out->converged || !j->converged
                 ? j->status
                 : "not converged: model and picture are not alike");
    j->deviance[2 * k] = out->deviance_per_pixel * (double)out->pixels;
    j->deviance[2 * k + 1] = (double)out->pixels;
    return tell(j,
                &(nb_fit_told){.frames = j->frames,
                               .number = k,
                               .sim = sim,
                               .misset = misset,
                               .result = out,
                               .common = common,
                               .n_common = list_common(j, &j->pictures[k], common)},
                err);
}

/** What is told of the picture beside its verdict.  sim: at the start; afterwards it is at the result. */
static nb_status put_all(nb_joint *j, nb_sim *sim, int k, one *of, nb_error *err)
{
    nb_status st = measure(j, sim, k, of, err);
    if (!st)
        st = put_crystal(j, sim, k, err);
    if (!st)
        st = put_own(j, &j->pictures[k], &of->out, err);
    if (!st && of->out.before)
        st = nb_fit_list_spots(&of->fit, err);
    return st;
}

nb_status nb_joint_finish(void *joint, nb_sim *sim, int k, nb_error *err)
{
    nb_joint *j = joint;
    float *before = NULL;
    double start[3];
    one of;
    nb_status st;
    if (!j->pictures[k].used)
        return NB_OK;
    if ((st = begin_at(j, sim, k, err)))
        return st;
    memcpy(start, sim->model.crystal.misset, sizeof start);
    if (nb_fit_on_page(j->frames, sim, k))
        st = keep_before(j, sim, k, &before, err);
    if (st) {
        nb_free(before);
        return st;
    }
    st = open_one(j, sim, k, &of, err);
    of.out.before = before;
    if (!st)
        st = put_all(j, sim, k, &of, err);
    if (!st)
        st = conclude(j, sim, k, start, &of, err);
    close_one(&of);
    return st;
}
