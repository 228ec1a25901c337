/* SPDX-License-Identifier: MIT */
/* Levenberg and Marquardt over many pictures with variables in common: steps of Fisher scoring.  Sums over pictures have the
 * order of the pictures, so that they have the same bits for any number of threads and processes. */
#include "joint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/clock.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../series/ranks.h"
#include "../sim/write.h"
#include "minimise.h"
#include "pages.h"

/* A step that lowers the loss by less moves no variable by more than 0.05 sigma. */
#define LEAST_GAIN 1e-3
#define FIRST_DAMPING 1e-4
#define MOST_DAMPING 1e12

/* --- what is common --- */

/** The parameters that -joint names, and those that are tied to them. */
static nb_status mark_common(nb_joint *j, nb_error *err)
{
    char text[4096], (*names)[NB_VARIABLE_NAME] = NULL;
    int count = 0;
    nb_status st = nb_fit_translate(j->options.joint, text, sizeof text, err);
    if (!st)
        st = nb_sim_variables(j->crew.base, text, &names, &count, err);
    for (int i = 0; i < count && !st; i++) {
        const int at = nb_fit_find(&j->list, names[i]);
        if (at >= 0)
            for (int k = 0; k < j->list.count; k++)
                j->common[k] |= j->list.p[k].tied == j->list.p[at].tied;
        else
            st = nb_fail(err, NB_ERR_INPUT,
                         "-joint %s: it is not refined; add it to -refine", names[i]);
    }
    nb_free(names);
    return st;
}

/** Places of the variables: those of common parameters first.  The common ones get their start. */
static void order(nb_joint *j)
{
    const double levels[NB_FIT_KNOTS_MAX] = {0};
    double x[NB_FIT_MOST + NB_FIT_KNOTS_MAX];
    int next = 0;
    nb_fit_space_start(&j->space, levels, x);
    for (int own = 0; own < 2; own++) {
        for (int v = 0; v < j->n; v++)
            if ((v >= j->space.n_free || !j->common[j->space.lead[v]]) == own)
                j->place[v] = next++;
        if (!own)
            j->arrow.common = next;
    }
    j->arrow.own = j->n - j->arrow.common;
    for (int v = 0; v < j->space.n_free; v++)
        if (j->place[v] < j->arrow.common)
            j->x[j->place[v]] = x[v];
}

/** Each restraint counts once: of a common parameter, and of a picture's own. */
static void divide_restraints(nb_joint *j)
{
    j->restraints = j->list;
    for (int i = 0; i < j->list.count; i++)
        (j->common[i] ? &j->list : &j->restraints)->p[i].width = 0;
}

static nb_status name_all(nb_joint *j, nb_error *err)
{
    static const char *const angles[] = {"misset_x", "misset_y", "misset_z"};
    nb_fit fit = {.sim = j->crew.base, .o = &j->options};
    int marked[NB_FIT_MOST], extra = 0;
    nb_status st = nb_fit_check_options(fit.sim, &j->options, err);
    if (!st)
        st = nb_fit_name(&fit, err);
    j->list = fit.list;
    if (!st)
        st = mark_common(j, err);
    if (st)
        return st;
    if (nb_fit_background_of(fit.sim, &j->options) == NB_BACKGROUND_RADIAL)
        extra = j->options.knots;
    for (int i = 0; i < NB_FIT_MOST; i++)
        marked[i] = 1;
    nb_fit_space_make(&j->list, marked, extra, &j->space);
    j->n = nb_fit_space_variables(&j->space);
    order(j);
    divide_restraints(j);
    for (int i = 0; i < j->space.n_active; i++)
        j->names[i] = j->list.p[j->space.active[i]].name;
    memcpy(j->names + j->space.n_active, angles, sizeof angles);
    return j->arrow.common ? NB_OK
                           : nb_fail(err, NB_ERR_INPUT,
                                     "-joint: every common parameter is held; leave one "
                                     "free");
}

/** One experiment list has one detector, and one beam if the pictures do not begin with their own. */
static nb_status check_expt(const nb_joint *j, nb_error *err)
{
    static const char *const shared[] = {
        "distance", "close_distance", "Xbeam",      "Ybeam",     "ORG",      "shift_",
        "rot_fast", "rot_slow",       "rot_normal", "detector_", "twotheta", "lambda"};
    for (int i = 0; i < j->space.n_active && j->frames->exptout; i++)
        for (size_t k = 0; k < sizeof shared / sizeof *shared; k++)
            if (!j->common[j->space.active[i]] &&
                !strncmp(j->names[i], shared[k], strlen(shared[k])) &&
                !(j->crew.starts && !strcmp(j->names[i], "lambda")))
                return nb_fail(err, NB_ERR_INPUT,
                               "-exptout of several pictures has one detector and one "
                               "beam: add %s to -joint, or use -report",
                               j->names[i]);
    return NB_OK;
}

static nb_status open_joint(nb_joint *j, const nb_config *cfg, const nb_hooks *hooks,
                            nb_error *err)
{
    const size_t count = (size_t)j->frames->count;
    nb_status st = nb_crew_open(&j->crew, cfg, j->frames, hooks, err);
    size_t c;
    if (!st)
        st = name_all(j, err);
    if (!st)
        st = check_expt(j, err);
    if (!st)
        st = nb_fit_pages_check(j->frames, j->crew.base, err);
    if (!st)
        st = nb_lines_open(&j->lines, j->frames->report, j->frames->count,
                           j->frames->ranks, err);
    if (st)
        return st;
    c = (size_t)j->arrow.common;
    j->pictures = nb_alloc(count, sizeof *j->pictures, "pictures", err);
    j->shares = nb_alloc(count, nb_arrow_share(&j->arrow) * sizeof(double), "sums", err);
    j->numbers = nb_alloc(16 * count + c * c, sizeof(double), "sums", err);
    if (!j->pictures || !j->shares || !j->numbers)
        return NB_ERR_NOMEM;
    j->edges = j->numbers + count;
    j->beams = j->edges + 9 * count;
    j->deviance = j->beams + 4 * count;
    j->C = j->deviance + 2 * count;
    return NB_OK;
}

static void close_joint(nb_joint *j)
{
    for (int k = 0; j->pictures && k < j->frames->count; k++)
        nb_joint_picture_free(&j->pictures[k]);
    nb_free(j->pictures);
    nb_free(j->shares);
    nb_free(j->numbers);
    nb_crew_close(&j->crew);
}

/* --- sums --- */

/** Do it with all pictures of all processes. */
static nb_status each(nb_joint *j, nb_status (*work)(void *, nb_sim *, int, nb_error *),
                      nb_error *err)
{
    const nb_crew_task task = {j, work, NULL};
    nb_status st = nb_crew_each(&j->crew, &task, err);
    if (!st && atomic_load(&j->crew.stop))
        st = nb_fail(err, NB_ERR_CANCELLED, "interrupted");
    return nb_ranks_agree(j->frames->ranks, st, err);
}

/** The sum of the numbers of all pictures. */
static double sum_numbers(nb_joint *j)
{
    const size_t count = (size_t)j->frames->count;
    double sum = 0;
    nb_ranks_merge(j->frames->ranks, j->numbers, count * sizeof *j->numbers);
    for (size_t k = 0; k < count; k++)
        sum += j->numbers[k];
    return sum;
}

/** The value of a common parameter where x[common] is. */
static double common_value(const nb_joint *j, const double *x, int i, double *slope)
{
    double all[NB_FIT_MOST + NB_FIT_KNOTS_MAX] = {0};
    const nb_joint_point at = {.x = all};
    memcpy(all, x, (size_t)j->arrow.common * sizeof *x);
    return nb_joint_value(j, &at, i, slope);
}

/** Restraints of the common variables x[common]: their loss, gradient [common] and diagonal [common]. */
static double restrain(const nb_joint *j, const double *x, double *G, double *D)
{
    double loss = 0;
    memset(G, 0, (size_t)j->arrow.common * sizeof *G);
    memset(D, 0, (size_t)j->arrow.common * sizeof *D);
    for (int i = 0; i < j->space.n_active; i++) {
        const nb_fit_parameter *p = &j->restraints.p[j->space.active[i]];
        const int v = j->space.variable[i];
        double slope, off;
        if (!(p->width > 0))
            continue;
        off = (common_value(j, x, i, &slope) - p->restraint) / p->width;
        loss += off * off / 2;
        G[j->place[v]] += off / p->width * slope;
        D[j->place[v]] += slope * slope / (p->width * p->width);
    }
    return loss;
}

/** x[common], which all pictures have: from the process of the first one. */
static void common_x(const nb_joint *j, double *x)
{
    const nb_joint_picture *p = &j->pictures[j->first];
    memset(x, 0, NB_FIT_MOST * sizeof *x);
    if (p->used)
        memcpy(x, p->now.x, (size_t)j->arrow.common * sizeof *x);
    nb_ranks_merge(j->frames->ranks, x, NB_FIT_MOST * sizeof *x);
}

/** The loss of all pictures where they are, or are tried. */
static nb_status loss_of(nb_joint *j, int tried, const double *x, double *loss,
                         nb_error *err)
{
    double G[NB_FIT_MOST], D[NB_FIT_MOST];
    nb_status st;
    j->try = tried;
    j->evaluations++;
    if ((st = each(j, nb_joint_evaluate, err)))
        return st;
    for (int k = 0; k < j->frames->count; k++) {
        const nb_joint_picture *p = &j->pictures[k];
        j->numbers[k] = p->used ? (tried ? p->tried.loss : p->now.loss) : 0;
    }
    *loss = sum_numbers(j) + restrain(j, x, G, D);
    return NB_OK;
}

/** The common equations: the sum of the shares, with restraints. */
static nb_status reduce(nb_joint *j, double damping, const double *x, double *sum,
                        nb_error *err)
{
    const size_t count = (size_t)j->frames->count, share = nb_arrow_share(&j->arrow);
    const int c = j->arrow.common;
    double G[NB_FIT_MOST], D[NB_FIT_MOST];
    double *work = nb_alloc(nb_arrow_work(&j->arrow) + 1, sizeof *work, "fit", err);
    nb_status st = nb_ranks_agree(j->frames->ranks, work ? NB_OK : NB_ERR_NOMEM, err);
    memset(j->shares, 0, count * share * sizeof *j->shares);
    for (size_t k = 0; k < count && !st; k++) {
        nb_joint_picture *p = &j->pictures[k];
        if (p->used)
            nb_arrow_eliminate(&j->arrow, p->now.M, p->now.G, damping,
                               j->shares + k * share, p->Y, work);
    }
    nb_free(work);
    if (st)
        return st;
    nb_ranks_merge(j->frames->ranks, j->shares, count * share * sizeof *j->shares);
    memset(sum, 0, share * sizeof *sum);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < share; i++)
            sum[i] += j->shares[k * share + i];
    restrain(j, x, G, D);
    for (int i = 0; i < c; i++) {
        sum[i * c + i] += D[i];
        sum[c * c + i] += G[i];
        sum[c * c + c + i] += D[i];
    }
    return NB_OK;
}

/* --- steps --- */

/** Where the minimisation is. */
typedef struct walk {
    double x[NB_FIT_MOST], step[NB_FIT_MOST]; /* of the common variables */
    double loss, damping, grow;
    double *sum; /* owned; the share of all */
} walk;

/** The step of all pictures at this damping into `tried`; *gain: what the equations say of it. */
static int take_step(nb_joint *j, walk *w, double *gain, double *work)
{
    const int c = j->arrow.common;
    double step[NB_FIT_MOST + NB_FIT_KNOTS_MAX], G[NB_FIT_MOST], D[NB_FIT_MOST];
    if (!nb_arrow_common_step(&j->arrow, w->sum, w->damping, w->step, work))
        return 0;
    for (int k = 0; k < j->frames->count; k++) {
        nb_joint_picture *p = &j->pictures[k];
        j->numbers[k] = 0;
        if (!p->used)
            continue;
        nb_arrow_step(&j->arrow, w->step, p->Y, step);
        j->numbers[k] = nb_arrow_gain(&j->arrow, p->now.M, p->now.G, step);
        for (int i = 0; i < j->n; i++)
            p->tried.x[i] = p->now.x[i] + step[i];
    }
    *gain = sum_numbers(j);
    restrain(j, w->x, G, D);
    for (int i = 0; i < c; i++)
        *gain -= w->step[i] * (G[i] + D[i] * w->step[i] / 2);
    return 1;
}

static void accept(nb_joint *j)
{
    for (int k = 0; k < j->frames->count; k++) {
        nb_joint_picture *p = &j->pictures[k];
        const nb_joint_point now = p->now;
        p->now = p->tried;
        p->tried = now;
    }
}

/** One step; *done: nothing changes any more. */
static nb_status step_once(nb_joint *j, walk *w, double *work, int *done, nb_error *err)
{
    double x[NB_FIT_MOST], gain = 0, loss, ratio;
    nb_status st = reduce(j, w->damping, w->x, w->sum, err);
    if (st)
        return st;
    if (!take_step(j, w, &gain, work)) {
        w->damping = fmax(w->damping * w->grow, FIRST_DAMPING);
        w->grow *= 2;
        return NB_OK;
    }
    *done = gain < LEAST_GAIN;
    for (int i = 0; i < j->arrow.common; i++)
        x[i] = w->x[i] + w->step[i];
    if ((st = loss_of(j, 1, x, &loss, err)))
        return st;
    ratio = gain > 0 ? (w->loss - loss) / gain : -1;
    if (!(loss < w->loss)) { /* infinite, too */
        w->damping *= w->grow;
        w->grow *= 2;
        return NB_OK;
    }
    accept(j);
    memcpy(w->x, x, sizeof w->x);
    w->loss = loss;
    w->damping *= fmax(1.0 / 10, 1 - pow(2 * ratio - 1, 3));
    w->grow = 2;
    return NB_OK;
}

/** Names of the common parameters with a part in a vector. */
static void list_names(const nb_joint *j, const double *vector, char *text, size_t size)
{
    double most = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int a = 0; a < j->arrow.common; a++)
        most = fmax(most, fabs(vector[a]));
    for (int v = 0; v < j->space.n_free && used < size; v++)
        if (j->place[v] < j->arrow.common && fabs(vector[j->place[v]]) > 0.1 * most)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     j->list.p[j->space.lead[v]].name);
}

/** The covariance of the common variables.  Refuse those that all pictures together cannot tell apart. */
static nb_status invert(nb_joint *j, const walk *w, nb_error *err)
{
    double worst, vector[NB_FIT_MOST];
    char text[160];
    nb_status st = nb_fit_invert(j->arrow.common, w->sum, j->C, &worst, vector, err);
    if (st || worst >= NB_TOLD_APART)
        return st;
    list_names(j, vector, text, sizeof text);
    return nb_fail(err, NB_ERR_INPUT,
                   "-joint: the pictures cannot tell these parameters apart: %s; leave "
                   "one out, or restrain one",
                   text);
}

static void note_stage(nb_joint *j, const char *name, const walk *w, int evaluations,
                       double start)
{
    nb_refine_stage s = {.evaluations = evaluations,
                         .loss = w->loss,
                         .converged = j->converged,
                         .seconds = nb_monotonic_seconds() - start};
    snprintf(s.name, sizeof s.name, "%s", name);
    for (int k = 0; k < j->frames->count; k++)
        for (size_t i = 0; i < j->pictures[k].n_runs && j->pictures[k].used; i++)
            s.pixels += (int64_t)j->pictures[k].runs[i].n;
    if (j->stage && nb_ranks_rank(j->frames->ranks) == 0)
        j->stage(j->options.user, &s);
}

/** From where the pictures are to the minimum. */
static nb_status minimise(nb_joint *j, const char *name, walk *w, nb_error *err)
{
    const double start = nb_monotonic_seconds();
    const int before = j->evaluations;
    double *work = nb_alloc(nb_arrow_work(&j->arrow) + 1, sizeof *work, "fit", err);
    int done = 0;
    nb_status st = nb_ranks_agree(j->frames->ranks, work ? NB_OK : NB_ERR_NOMEM, err);
    if (!st)
        common_x(j, w->x);
    w->damping = FIRST_DAMPING;
    w->grow = 2;
    if (!st)
        st = loss_of(j, 0, w->x, &w->loss, err);
    if (!st)
        st = reduce(j, 0, w->x, w->sum, err);
    if (!st)
        st = invert(j, w, err);
    while (!st && !done && j->evaluations - before < j->options.evaluations &&
           w->damping < MOST_DAMPING)
        st = step_once(j, w, work, &done, err);
    j->converged = done;
    nb_free(work);
    if (!st)
        note_stage(j, name, w, j->evaluations - before, start);
    return st;
}

/* --- all of it --- */

/** Numbers of the common parameters among the active ones. */
static int list_common(const nb_joint *j, int of[NB_FIT_MOST])
{
    int n = 0;
    for (int i = 0; i < j->space.n_active; i++)
        if (j->common[j->space.active[i]])
            of[n++] = i;
    return n;
}

enum { LEAST_PICTURES = 3 }; /* a variable, for their gradients to tell errors */

/** Variances[common] over those of counting, at least 1: the deviance a pixel, or, of enough pictures, the products of
 * their gradients, which share what the model of a picture does not explain (Liang and Zeger, as in a single fit). */
static void excess_of(const nb_joint *j, const nb_refinement *out, double *excess)
{
    const int c = j->arrow.common;
    const size_t share = nb_arrow_share(&j->arrow);
    const double few = (double)out->pictures / fmax(1, out->pictures - c);
    for (int a = 0; a < c; a++) {
        double sum = 0;
        for (int k = 0; k < j->frames->count; k++) {
            const double *G = j->shares + (size_t)k * share + (size_t)c * (size_t)c;
            double step = 0;
            for (int b = 0; b < c; b++)
                step += j->C[a * c + b] * G[b];
            sum += step * step;
        }
        excess[a] = fmax(1, out->deviance_per_pixel);
        if (out->pictures >= LEAST_PICTURES * c)
            excess[a] = fmax(excess[a], few * sum / j->C[a * c + a]);
    }
}

static nb_status put_common(const nb_joint *j, const double *x, nb_refinement *out,
                            nb_error *err)
{
    double excess[NB_FIT_MOST];
    const int c = j->arrow.common;
    int of[NB_FIT_MOST], n = list_common(j, of);
    out->parameters = nb_alloc((size_t)n + 1, sizeof *out->parameters, "results", err);
    out->correlation =
        nb_alloc((size_t)n * (size_t)n + 1, sizeof *out->correlation, "results", err);
    out->correlated = nb_alloc((size_t)n + 1, sizeof *out->correlated, "results", err);
    if (!out->parameters || !out->correlation || !out->correlated)
        return NB_ERR_NOMEM;
    out->n_parameters = out->n_correlated = n;
    excess_of(j, out, excess);
    for (int i = 0; i < n; i++) {
        const nb_fit_parameter *q = &j->list.p[j->space.active[of[i]]];
        const int a = j->place[j->space.variable[of[i]]];
        nb_refined *r = &out->parameters[i];
        double slope;
        memcpy(r->name, q->name, sizeof r->name);
        memcpy(out->correlated[i], q->name, sizeof r->name);
        r->unit = q->unit;
        r->start = q->start;
        r->value = common_value(j, x, of[i], &slope);
        r->sigma_counting = fabs(slope) * sqrt(j->C[a * c + a]);
        r->sigma = r->sigma_counting * sqrt(excess[a]);
        for (int k = 0; k < n; k++) {
            const int b = j->place[j->space.variable[of[k]]];
            out->correlation[i * n + k] =
                j->C[a * c + b] / sqrt(j->C[a * c + a] * j->C[b * c + b]);
        }
    }
    return NB_OK;
}

/** Deviance over all pictures; merged over processes. */
static void put_deviance(nb_joint *j, nb_refinement *out)
{
    const size_t count = (size_t)j->frames->count;
    double sum = 0, pixels = 0;
    nb_ranks_merge(j->frames->ranks, j->deviance, 2 * count * sizeof *j->deviance);
    for (size_t k = 0; k < count; k++) {
        sum += j->deviance[2 * k];
        pixels += j->deviance[2 * k + 1];
    }
    out->pixels = (int64_t)pixels;
    out->deviance_per_pixel = sum / pixels;
}

/** Detector and beam of the common parameters, and a crystal for each picture; its beam, where pictures have their own. */
static nb_status write_expt(nb_joint *j, const double *x, nb_error *err)
{
    const nb_expt_list list = {
        .path = j->frames->exptout,
        .names = j->frames->images,
        .edges = (const double(*)[9])(const void *)j->edges,
        .beams = j->crew.starts ? (const double(*)[4])(const void *)j->beams : NULL,
        .count = j->frames->count};
    nb_sim *sim = j->crew.sims[0];
    const char *names[NB_FIT_MOST];
    double values[NB_FIT_MOST], slope;
    int of[NB_FIT_MOST], n = list_common(j, of);
    nb_status st = nb_crew_begin(&j->crew, sim, 0, err);
    for (int i = 0; i < n; i++) {
        names[i] = j->names[of[i]];
        values[i] = common_value(j, x, of[i], &slope);
    }
    if (!st)
        st = nb_sim_set_parameters(sim, names, values, n, err);
    return st ? st : nb_expt_list_write(sim, &list, err);
}

/** The last line, the callback and the experiments, at rank 0. */
static nb_status tell_common(nb_joint *j, const double *x, int used, double start,
                             nb_error *err)
{
    nb_refinement out = {.converged = j->converged,
                         .loss = j->loss,
                         .evaluations = j->evaluations,
                         .pictures = used,
                         .left_out = j->frames->count - used};
    char *line = NULL;
    nb_status st = NB_OK;
    put_deviance(j, &out);
    nb_ranks_merge(j->frames->ranks, j->edges, /* and beams */
                   13 * (size_t)j->frames->count * sizeof *j->edges);
    if (nb_ranks_rank(j->frames->ranks) > 0)
        return NB_OK;
    out.seconds = nb_monotonic_seconds() - start;
    memcpy(out.status, j->status, sizeof out.status);
    st = put_common(j, x, &out, err);
    if (!st && nb_is_page(j->frames->report))
        st = nb_fit_page_end(j->frames, j->crew.base, &out, &line, err);
    else if (!st && j->frames->report)
        st = nb_refinement_json(&out, &line, err);
    if (!st && line)
        nb_lines_add(&j->lines, line);
    if (!st && j->frames->joint)
        j->frames->joint(j->frames->user, &out);
    if (!st && j->frames->exptout)
        st = write_expt(j, x, err);
    nb_free(line);
    nb_refinement_free(&out);
    return st;
}

/** How many pictures are used, and which is the first. */
static int count_used(nb_joint *j)
{
    int used = 0;
    for (int k = 0; k < j->frames->count; k++)
        j->numbers[k] = j->pictures[k].used;
    used = (int)sum_numbers(j);
    for (j->first = 0; used && !(j->numbers[j->first] > 0);)
        j->first++;
    return used;
}

/** Twice: pixels are chosen again where the first ended. */
static nb_status minimise_all(nb_joint *j, walk *w, int *used, nb_error *err)
{
    nb_status st = minimise(j, "joint", w, err);
    memcpy(j->x, w->x, sizeof j->x);
    j->again = 1;
    if (!st && j->options.schedule != NB_SCHEDULE_NONE)
        st = each(j, nb_joint_choose, err);
    if (!st)
        *used = count_used(j);
    if (!st && j->options.schedule != NB_SCHEDULE_NONE)
        st = minimise(j, "joint again", w, err);
    if (!st)
        st = reduce(j, 0, w->x, w->sum, err);
    if (!st)
        st = invert(j, w, err);
    j->loss = w->loss;
    snprintf(j->status, sizeof j->status, "%s",
             j->converged ? "converged"
                          : "not converged: the loss still fell; raise -maxiter");
    return st;
}

static nb_status run(nb_joint *j, nb_error *err)
{
    const double start = nb_monotonic_seconds();
    walk w = {.sum = nb_alloc(nb_arrow_share(&j->arrow), sizeof(double), "sums", err)};
    int used = 0;
    nb_status st = nb_ranks_agree(j->frames->ranks, w.sum ? NB_OK : NB_ERR_NOMEM, err);
    if (!st)
        st = each(j, nb_joint_prepare, err);
    if (!st && !(used = count_used(j)))
        st = nb_fail(err, NB_ERR_INPUT,
                     "-joint: no picture can be used: their files cannot be read, or no "
                     "model is like its picture; refine one by itself to see why");
    if (!st)
        st = minimise_all(j, &w, &used, err);
    if (!st && nb_ranks_rank(j->frames->ranks) == 0)
        j->lines.lost += j->frames->count - used;
    if (!st)
        st = each(j, nb_joint_finish, err);
    nb_free(w.sum);
    if (!st)
        nb_lines_end(&j->lines);
    return st ? st : tell_common(j, w.x, used, start, err);
}

nb_status nb_refine_joint(const nb_config *cfg, const nb_refine_frames *frames,
                          const nb_refine_options *options, const nb_hooks *hooks,
                          nb_error *err)
{
    nb_joint *j = nb_alloc(1, sizeof *j, "joint refinement", err);
    nb_status st = NB_OK;
    if (!j)
        return NB_ERR_NOMEM;
    j->frames = frames;
    j->options = *options;
    j->options.stage = NULL; /* of the pictures */
    j->stage = options->stage;
    j->lines.file.fd = -1;
    st = nb_ranks_agree(frames->ranks, open_joint(j, cfg, hooks, err), err);
    if (!st)
        st = run(j, err);
    if (frames->lost)
        *frames->lost = j->lines.lost + (!st && !j->converged);
    st = nb_lines_close(&j->lines, st, err);
    close_joint(j);
    nb_free(j);
    return nb_ranks_agree(frames->ranks, st, err);
}
