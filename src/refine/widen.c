/* SPDX-License-Identifier: MIT */
/* Spots that are wider than those of a point in a parallel beam: a footprint is tried after the fit without one, and
 * stays if the deviance falls by more than its numbers cost: ln(pixels) each (Schwarz, Ann. Statist. 6, 461,
 * 1978), times the mean square of the residuals that are left, since what no number explains is no noise of counting. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../sim/footprint.h"
#include "../sim/sim.h"
#include "fit.h"

/* Mean square of residuals of a fit that needs nothing more; its own error comes on top. */
#define EXPLAINED 1.05
#define ERRORS 4
#define ALIKE 0.5 /* correlation of picture and model, where the orientation was found */
enum {
    PREPARED = 4, /* evaluations, at most, of what is there before something is tried */
    TRIED = 12,   /* and of the trial */
    LOOKED = 5    /* and before a trial that is far off ends */
};

/** All that a trial changes. */
typedef struct before {
    nb_fit_stand stand;
    nb_config *cfg;             /* owned */
    float *chosen, *background; /* owned */
    nb_radial radial;
    int64_t used;
    int stages;
} before;

static void forget(before *b)
{
    nb_free(b->cfg);
    nb_free(b->chosen);
    nb_free(b->background);
}

/** forget after an error, too. */
static nb_status keep(nb_fit *fit, before *b, nb_error *err)
{
    const size_t bytes = fit->pixels * sizeof *b->chosen;
    memset(b, 0, sizeof *b);
    b->cfg = nb_alloc_raw(1, sizeof *b->cfg, "configuration", err);
    b->chosen = nb_alloc_raw(fit->pixels, sizeof *b->chosen, "pixels of a fit", err);
    if (!b->cfg || !b->chosen)
        return NB_ERR_NOMEM;
    *b->cfg = *nb_sim_config(fit->sim);
    memcpy(b->chosen, fit->chosen, bytes);
    if (fit->background) {
        b->background =
            nb_alloc_raw(fit->pixels, sizeof *b->background, "background", err);
        if (!b->background)
            return NB_ERR_NOMEM;
        memcpy(b->background, fit->background, bytes);
    }
    b->radial = fit->radial;
    b->used = fit->used;
    b->stages = fit->out->n_stages;
    return nb_fit_remember(fit, &b->stand, err);
}

/** Back there; the stages since then count no more. */
static nb_status go_back(nb_fit *fit, const before *b, nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    nb_status st = nb_sim_change(fit->sim, b->cfg, err);
    fit->radial = b->radial;
    fit->used = b->used;
    memcpy(fit->chosen, b->chosen, fit->pixels * sizeof *b->chosen);
    if (b->background)
        memcpy(fit->background, b->background, fit->pixels * sizeof *b->background);
    for (int i = b->stages; i < fit->out->n_stages; i++)
        fit->out->stages[i].dropped = 1;
    return st ? st : nb_fit_stand_at(fit, &b->stand, none, err);
}

/** Set a flag of the simulation. */
static nb_status put(nb_fit *fit, const char *flag, const char *text, nb_error *err)
{
    return nb_sim_set(fit->sim, flag, text, err);
}

/** Marked, with no start of its own. */
static nb_status add(nb_fit *fit, const char *name, int marked[NB_FIT_MOST], nb_error *err)
{
    const nb_status st = nb_fit_add(fit, name, err);
    const int at = nb_fit_find(&fit->list, name);
    if (at >= 0) {
        fit->list.p[at].start = 0;
        marked[at] = 1;
    }
    return st;
}

static double cost_of(const nb_fit *fit, int numbers, const nb_fit_quality *q)
{
    return numbers * log((double)fit->used) * fmax(1, q->square);
}

/* The footprint. */

/** Which way the loss falls most from a small round footprint, deg: its slopes by the widths at 0 and at 45 deg. */
static nb_status steepest(nb_fit *fit, double width, double *angle, nb_error *err)
{
    static const char *const names[] = {"footprint_a", "footprint_b"};
    const nb_observation seen = nb_fit_observation(fit);
    double by[2] = {0};
    nb_status st = NB_OK;
    for (int k = 0; k < 2 && !st; k++) {
        double g[2 + NB_FIT_KNOTS_MAX] = {0};
        char text[80];
        snprintf(text, sizeof text, "gauss:%.17g:%.17g:%d", width, width, 45 * k);
        st = put(fit, "footprint", text, err);
        if (!st)
            st = nb_sim_normal(fit->sim, names, 2, &seen, NULL, g, NULL, err);
        by[k] = g[0] - g[1];
    }
    *angle = by[0] == 0 && by[1] == 0 ? 0 : 90 / NB_PI * atan2(-by[1], -by[0]);
    return st;
}

/** A start whose long axis is along the steepest way. */
static nb_status begin_footprint(nb_fit *fit, int marked[NB_FIT_MOST], nb_error *err)
{
    static const char *const names[] = {"footprint_a", "footprint_b", "footprint_angle"};
    const double pixel = fit->sim->model.scene.panels[0].pixel_fast * 1e3;
    double angle;
    char text[100];
    nb_status st = steepest(fit, pixel, &angle, err);
    snprintf(text, sizeof text, "gauss:%.17g:%.17g:%.17g", 1.4 * pixel, 0.8 * pixel,
             angle);
    if (!st)
        st = put(fit, "footprint", text, err);
    for (int i = 0; i < 3 && !st; i++)
        st = add(fit, names[i], marked, err);
    return st;
}

#define A_LINE                                                                           \
    0.25 /* pixels: narrower, a width is that of a line for the picture's pixels */

/** Widths that no pixel shows become 0 and stay; *numbers: that are left. */
static nb_status hold_lines(nb_fit *fit, int *numbers, nb_error *err)
{
    static const char *const names[] = {"footprint_a", "footprint_b"};
    const double pixel = fit->sim->model.scene.panels[0].pixel_fast * 1e3;
    *numbers = 3;
    for (int i = 0; i < 2; i++) {
        nb_fit_parameter *p = &fit->list.p[nb_fit_find(&fit->list, names[i])];
        if (p->value >= A_LINE * pixel)
            continue;
        p->value = 0;
        p->fixed = 1;
        --*numbers;
    }
    return *numbers == 3 ? NB_OK : nb_fit_apply(fit, err);
}

/** The fit without a footprint, on the pixels of the trial. */
static nb_status prepare(nb_fit *fit, const int marked[NB_FIT_MOST],
                         nb_fit_quality *plain, nb_error *err)
{
    nb_status st;
    fit->squares = 1;
    st = nb_fit_choose_spots(fit, err);
    if (!st)
        st = nb_fit_stage(fit, "before the footprint", marked, PREPARED, err);
    return st ? st : nb_fit_rate(fit, NULL, plain, err);
}

static int has_fringes(const nb_fit *fit)
{
    return nb_shape_law((int)nb_sim_config(fit->sim)->shape) == NB_LAW_FRINGES;
}

#define FAR_OFF 1.5 /* times the loss without a footprint */

/** A stage with it, short where it is far off. */
static nb_status refine_footprint(nb_fit *fit, const int marked[NB_FIT_MOST],
                                  double plain, nb_error *err)
{
    const char *name = fit->F_width > 0 ? "scaled footprint" : "footprint";
    nb_status st = nb_fit_stage(fit, name, marked, LOOKED, err);
    const nb_refine_stage *last = &fit->out->stages[fit->out->n_stages - 1];
    if (st || last->converged || last->loss > FAR_OFF * plain)
        return st;
    return nb_fit_stage(fit, name, marked, TRIED, err);
}

/** With it, until it is clear whether it stays. */
static nb_status try_footprint(nb_fit *fit, int marked[NB_FIT_MOST],
                               const nb_fit_quality *plain, nb_error *err)
{
    nb_refine_trial *t = &fit->out->footprint;
    nb_fit_quality wide;
    int numbers = 0;
    nb_status st = begin_footprint(fit, marked, err);
    if (!st && fit->F_width <= 0 && has_fringes(fit))
        st = nb_fit_as_gaussian(fit, marked, 0, err);
    if (!st)
        st = refine_footprint(fit, marked, plain->loss, err);
    if (!st)
        st = hold_lines(fit, &numbers, err);
    if (!st)
        st = nb_fit_rate(fit, NULL, &wide, err);
    if (st)
        return st;
    t->gain = 2 * (plain->loss - wide.loss);
    t->cost = cost_of(fit, numbers, &wide);
    t->kept = numbers > 1 && t->gain > t->cost;
    return NB_OK;
}

/** From where the search for cells began, with the structure factors as they are given: without a footprint wide spots may have pushed
 * the numbers of cells far away, and the structure factors been taken for poor ones. */
static nb_status try_exact(nb_fit *fit, const nb_fit_stand *start,
                           const nb_fit_quality *plain, nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    const double width = fit->F_width;
    int all[NB_FIT_MOST];
    nb_status st = nb_fit_stand_at(fit, start, none, err);
    for (int i = 0; i < NB_FIT_MOST; i++)
        all[i] = 1;
    fit->F_width = fmax(0, 2 * fit->o->F_sigma);
    if (!st)
        st = try_footprint(fit, all, plain, err);
    if (!st && !fit->out->footprint.kept)
        fit->F_width = width;
    return st;
}

/** Until nothing changes. */
static nb_status finish_footprint(nb_fit *fit, const int marked[NB_FIT_MOST],
                                  nb_error *err)
{
    int numbers;
    nb_status st = nb_fit_choose_spots(fit, err);
    if (!st)
        st = nb_fit_stage(fit, "footprint again", marked, fit->o->evaluations, err);
    if (!st)
        st = hold_lines(fit, &numbers, err);
    snprintf(fit->out->footprint.value, sizeof fit->out->footprint.value, "%s",
             nb_sim_config(fit->sim)->footprint);
    return st;
}

/** Can the simulation have one, and is the width of spots free? */
static int may_be_wide(const nb_fit *fit)
{
    const nb_config *cfg = nb_sim_config(fit->sim);
    return !cfg->footprint[0] && cfg->psf == NB_PSF_NONE && !fit->o->joint &&
           fit->o->schedule == NB_SCHEDULE_AUTO &&
           (nb_fit_refines_cells(fit) || nb_fit_refines(fit, "mosaic"));
}

/** Both ways; *exact: the first one. */
static nb_status try_both(nb_fit *fit, const nb_fit_stand *start, int marked[NB_FIT_MOST],
                          int *exact, nb_error *err)
{
    nb_refine_trial *t = &fit->out->footprint;
    nb_fit_quality plain;
    before b = {0};
    nb_status st = prepare(fit, marked, &plain, err);
    if (!st)
        st = keep(fit, &b, err);
    if (!st)
        st = try_exact(fit, start, &plain, err);
    *exact = t->kept;
    if (!st && !t->kept)
        st = go_back(fit, &b, err);
    if (!st && !t->kept)
        st = try_footprint(fit, marked, &plain, err);
    if (!st && *exact) {
        nb_free(fit->kept);
        fit->kept = NULL;
        for (int i = 0; i < NB_FIT_MOST; i++)
            marked[i] = 1;
    }
    forget(&b);
    return st;
}

/** Of a crystal whose orientation was not found nothing can be said. */
static nb_status is_found(nb_fit *fit, int *found, nb_error *err)
{
    double correlation = 0;
    nb_status st = NB_OK;
    *found = fit->n_peaks >= NB_PEAKS_ENOUGH && nb_fit_agreement(fit) >= NB_AGREES_AT_END;
    if (!*found)
        st = nb_fit_correlation(fit, &correlation, err);
    *found |= correlation >= ALIKE;
    return st;
}

nb_status nb_fit_widen(nb_fit *fit, const nb_fit_stand *start, int marked[NB_FIT_MOST],
                       int *exact, nb_error *err)
{
    nb_fit_quality q = {0};
    before b = {0};
    int found = 0;
    nb_status st = may_be_wide(fit) ? is_found(fit, &found, err) : NB_OK;
    if (!st && found)
        st = nb_fit_rate(fit, NULL, &q, err);
    if (st || !found || q.square < EXPLAINED + ERRORS * sqrt(3 / (double)fit->used))
        return st;
    fit->out->footprint.tried = 1;
    st = keep(fit, &b, err);
    if (!st)
        st = try_both(fit, start, marked, exact, err);
    fit->squares = 0;
    if (!st)
        st = fit->out->footprint.kept ? finish_footprint(fit, marked, err)
                                      : go_back(fit, &b, err);
    forget(&b);
    return st;
}
