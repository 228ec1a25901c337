/* SPDX-License-Identifier: MIT */
/* Spots that are wider than those of a point in a parallel beam: a footprint and a divergence are tried after the fit without
 * them, and stay if the deviance falls by more than their numbers cost: ln(pixels) each (Schwarz, Ann. Statist. 6, 461,
 * 1978), times the mean square of the residuals that are left, since what no number explains is no noise of counting.
 * Of both the one with the larger gain stays, and the other beside it if it gains again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
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

enum { DIVERGENCE, FOOTPRINT, WAYS }; /* in the order of their trials */

/** All that a trial changes. */
typedef struct before {
    nb_fit_stand stand;
    int marked[NB_FIT_MOST];
    double F_width;
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
static nb_status keep(nb_fit *fit, const int marked[NB_FIT_MOST], before *b, nb_error *err)
{
    const size_t bytes = fit->pixels * sizeof *b->chosen;
    memset(b, 0, sizeof *b);
    memcpy(b->marked, marked, sizeof b->marked);
    b->F_width = fit->F_width;
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
static nb_status go_back(nb_fit *fit, const before *b, int marked[NB_FIT_MOST],
                         nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    nb_status st = nb_sim_change(fit->sim, b->cfg, err);
    memcpy(marked, b->marked, sizeof b->marked);
    fit->F_width = b->F_width;
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

/* The divergence. */

enum { DIRECTIONS = 4 }; /* along an axis */

/** The angle of a pixel at the sample, mrad. */
static double pixel_angle(const nb_fit *fit)
{
    return fit->sim->model.scene.panels[0].pixel_fast /
           fit->sim->model.geometry.distance * 1e3;
}

/** Give the beam these widths, mrad; 0: no spread along that axis. */
static nb_status spread_beam(nb_fit *fit, const double width[2], nb_error *err)
{
    nb_config cfg = *nb_sim_config(fit->sim);
    cfg.hdiv_range_mrad = width[0] > 0 ? width[0] : NAN;
    cfg.vdiv_range_mrad = width[1] > 0 ? width[1] : NAN;
    cfg.hdiv_steps = width[0] > 0 ? DIRECTIONS : 0;
    cfg.vdiv_steps = width[1] > 0 ? DIRECTIONS : 0;
    return nb_sim_change(fit->sim, &cfg, err);
}

#define SLIGHT 0.3 /* pixels: a width whose image tells the slope of the loss */
#define BEGIN 1.5

/** The axes along which the loss falls with a slight divergence into width[2], mrad: there its start, else 0. */
static nb_status look_along(nb_fit *fit, double plain, double width[2], nb_error *err)
{
    const double pixel = pixel_angle(fit);
    double found[2];
    nb_status st = NB_OK;
    for (int a = 0; a < 2 && !st; a++) {
        nb_fit_quality q = {0};
        width[a] = SLIGHT * pixel;
        width[1 - a] = 0;
        if (!(st = spread_beam(fit, width, err)))
            st = nb_fit_rate(fit, NULL, &q, err);
        found[a] = q.loss < plain ? BEGIN * pixel : 0;
    }
    memcpy(width, found, sizeof found);
    return st;
}

static const char *const divergences[] = {"hdivrange", "vdivrange"};

static nb_status begin_divergence(nb_fit *fit, const double width[2],
                                  int marked[NB_FIT_MOST], nb_error *err)
{
    nb_status st = spread_beam(fit, width, err);
    for (int a = 0; a < 2 && !st; a++)
        if (width[a] > 0)
            st = add(fit, divergences[a], marked, err);
    return st;
}

/** Take a parameter from the end of the list that nothing is tied to. */
static void leave_out(nb_fit *fit, int at, int marked[NB_FIT_MOST])
{
    nb_fit_list *list = &fit->list;
    for (int i = at; i + 1 < list->count; i++) {
        list->p[i] = list->p[i + 1];
        list->p[i].tied = i;
        marked[i] = marked[i + 1];
    }
    list->count--;
}

/** Widths that no pixel shows go; *numbers: that are left. */
static nb_status hold_parallel(nb_fit *fit, int marked[NB_FIT_MOST], int *numbers,
                               nb_error *err)
{
    double width[2] = {0};
    int gone = 0;
    nb_status st;
    *numbers = 0;
    for (int a = 0; a < 2; a++) {
        const int at = nb_fit_find(&fit->list, divergences[a]);
        if (at < 0)
            continue;
        width[a] = fit->list.p[at].value;
        ++*numbers;
        if (width[a] >= A_LINE * pixel_angle(fit))
            continue;
        width[a] = 0;
        leave_out(fit, at, marked);
        --*numbers;
        gone = 1;
    }
    st = gone ? spread_beam(fit, width, err) : NB_OK;
    snprintf(fit->out->divergence.value, sizeof fit->out->divergence.value, "%.4g:%.4g",
             width[0], width[1]);
    return st;
}

/* Both. */

/** What is tried, and how far it is. */
typedef struct trial {
    int way;
    nb_refine_trial *to;
    double width[2];      /* of a divergence, mrad: its start */
    nb_fit_quality plain; /* without it */
} trial;

static nb_status begin(nb_fit *fit, const trial *t, int marked[NB_FIT_MOST], nb_error *err)
{
    return t->way == FOOTPRINT ? begin_footprint(fit, marked, err)
                               : begin_divergence(fit, t->width, marked, err);
}

/** Numbers that show nothing are held; *numbers: that are left. */
static nb_status hold(nb_fit *fit, const trial *t, int marked[NB_FIT_MOST], int *numbers,
                      nb_error *err)
{
    nb_status st = t->way == FOOTPRINT ? hold_lines(fit, numbers, err)
                                       : hold_parallel(fit, marked, numbers, err);
    if (t->way == FOOTPRINT)
        snprintf(t->to->value, sizeof t->to->value, "%s",
                 nb_sim_config(fit->sim)->footprint);
    return st;
}

/** The fit without them, on the pixels of the trials. */
static nb_status prepare(nb_fit *fit, const int marked[NB_FIT_MOST],
                         nb_fit_quality *plain, nb_error *err)
{
    nb_status st;
    fit->squares = 1;
    st = nb_fit_choose_spots(fit, err);
    if (!st)
        st = nb_fit_stage(fit, "before widening", marked, PREPARED, err);
    return st ? st : nb_fit_rate(fit, NULL, plain, err);
}

static int has_fringes(const nb_fit *fit)
{
    return nb_shape_law((int)nb_sim_config(fit->sim)->shape) == NB_LAW_FRINGES;
}

#define FAR_OFF 1.5 /* times the loss without it */
#define CLEAR 10    /* times its cost: a divergence comes near to its end in few steps */

/** A stage with it, short where it is far off. */
static nb_status refine(nb_fit *fit, const trial *t, const int marked[NB_FIT_MOST],
                        nb_error *err)
{
    static const char *const names[WAYS][2] = {{"divergence", "scaled divergence"},
                                               {"footprint", "scaled footprint"}};
    const char *name = names[t->way][fit->F_width > 0];
    nb_status st = nb_fit_stage(fit, name, marked, LOOKED, err);
    const nb_refine_stage *last = &fit->out->stages[fit->out->n_stages - 1];
    if (st || last->converged || last->loss > FAR_OFF * t->plain.loss ||
        (t->way == DIVERGENCE &&
         2 * (t->plain.loss - last->loss) > CLEAR * cost_of(fit, 2, &t->plain)))
        return st;
    return nb_fit_stage(fit, name, marked, TRIED, err);
}

/** With it, until it is clear whether it stays. */
static nb_status try_once(nb_fit *fit, const trial *t, int marked[NB_FIT_MOST],
                          nb_error *err)
{
    nb_fit_quality wide;
    int numbers = 0;
    nb_status st = begin(fit, t, marked, err);
    if (!st && fit->F_width <= 0 && has_fringes(fit))
        st = nb_fit_as_gaussian(fit, marked, 0, err);
    if (!st)
        st = refine(fit, t, marked, err);
    if (!st)
        st = hold(fit, t, marked, &numbers, err);
    if (!st)
        st = nb_fit_rate(fit, NULL, &wide, err);
    if (st)
        return st;
    t->to->gain = 2 * (t->plain.loss - wide.loss);
    t->to->cost = cost_of(fit, numbers, &wide);
    t->to->kept = numbers > (t->way == FOOTPRINT) && t->to->gain > t->to->cost;
    return NB_OK;
}

/** From where the search for cells began, with the structure factors as they are given: without it wide spots may have pushed
 * the numbers of cells far away, and the structure factors been taken for poor ones. */
static nb_status try_exact(nb_fit *fit, const nb_fit_stand *start, const trial *t,
                           int marked[NB_FIT_MOST], nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    nb_status st = nb_fit_stand_at(fit, start, none, err);
    for (int i = 0; i < NB_FIT_MOST; i++)
        marked[i] = 1;
    fit->F_width = fmax(0, 2 * fit->o->F_sigma);
    return st ? st : try_once(fit, t, marked, err);
}

#define HOPELESS 5.0 /* times the loss without it */

/** Both starts, from b; *exact: the first one stays.  *hopeless: it is far off, and is not tried again. */
static nb_status try_both(nb_fit *fit, const nb_fit_stand *start, const before *b,
                          const trial *t, int marked[NB_FIT_MOST], int *exact,
                          int *hopeless, nb_error *err)
{
    nb_status st = NB_OK;
    t->to->kept = 0;
    if (!*hopeless) {
        st = try_exact(fit, start, t, marked, err);
        *hopeless = t->plain.loss - t->to->gain / 2 > HOPELESS * t->plain.loss;
    }
    *exact = t->to->kept;
    if (st || *exact)
        return st;
    st = go_back(fit, b, marked, err);
    return st ? st : try_once(fit, t, marked, err);
}

static nb_status finish(nb_fit *fit, const trial *t, int marked[NB_FIT_MOST],
                        nb_error *err)
{
    static const char *const names[WAYS] = {"divergence again", "footprint again"};
    int numbers;
    nb_status st = nb_fit_choose_spots(fit, err);
    if (!st)
        st = nb_fit_stage(fit, names[t->way], marked, fit->o->evaluations, err);
    return st ? st : hold(fit, t, marked, &numbers, err);
}

/* Which of them stays. */

/** A way, where it led, and which stages led there. */
typedef struct led {
    trial t;
    before there; /* if it is kept */
    int may, exact, from, end;
} led;

/** Can the simulation have them, and is the width of spots free? */
static int may_be_wide(const nb_fit *fit, led ways[WAYS])
{
    const nb_config *cfg = nb_sim_config(fit->sim);
    const int may = cfg->psf == NB_PSF_NONE && !fit->o->joint &&
                    fit->o->schedule == NB_SCHEDULE_AUTO &&
                    (nb_fit_refines_cells(fit) || nb_fit_refines(fit, "mosaic"));
    ways[FOOTPRINT].may = may && !cfg->footprint[0];
    ways[DIVERGENCE].may = may && fit->sim->model.scene.beam.n_sources == 1 &&
                           !(cfg->hdiv_range_mrad > 0) && !(cfg->vdiv_range_mrad > 0) &&
                           !(cfg->hdiv_step_mrad > 0) && !(cfg->vdiv_step_mrad > 0) &&
                           !cfg->source_file[0];
    return ways[FOOTPRINT].may || ways[DIVERGENCE].may;
}

/** Does the loss fall with a slight footprint along any of four axes? */
static nb_status look_across(nb_fit *fit, double plain, int *falls, nb_error *err)
{
    const double pixel = fit->sim->model.scene.panels[0].pixel_fast * 1e3;
    nb_status st = NB_OK;
    *falls = 0;
    for (int k = 0; k < 4 && !st && !*falls; k++) {
        nb_fit_quality q = {0};
        char text[80];
        snprintf(text, sizeof text, "gauss:%.17g:0:%d", SLIGHT * pixel, 45 * k);
        if (!(st = put(fit, "footprint", text, err)))
            st = nb_fit_rate(fit, NULL, &q, err);
        *falls = q.loss < plain;
    }
    return st;
}

/** Does the loss fall with a slight one? */
static nb_status look(nb_fit *fit, trial *t, int *falls, nb_error *err)
{
    nb_status st;
    if (t->way == FOOTPRINT)
        return look_across(fit, t->plain.loss, falls, err);
    st = look_along(fit, t->plain.loss, t->width, err);
    *falls = t->width[0] > 0 || t->width[1] > 0;
    return st;
}

/** A footprint is not tried alone where a divergence stays and the loss does not fall with a slight one beside it.  The loss of
 * fringes has many minima, so that its slope in one of them tells nothing. */
static nb_status explains_enough(nb_fit *fit, const led *better, const led *w,
                                 int *enough, nb_error *err)
{
    trial beside = w->t;
    int marked[NB_FIT_MOST], falls = 1;
    nb_status st;
    *enough = 0;
    if (!better || has_fringes(fit))
        return NB_OK;
    st = go_back(fit, &better->there, marked, err);
    if (!st)
        st = nb_fit_rate(fit, NULL, &beside.plain, err);
    if (!st)
        st = look(fit, &beside, &falls, err);
    *enough = !falls;
    return st;
}

/** One way alone, from b. */
static nb_status go(nb_fit *fit, const nb_fit_stand *start, const before *b, led *w,
                    int *hopeless, nb_error *err)
{
    int marked[NB_FIT_MOST], falls = 1;
    nb_status st = go_back(fit, b, marked, err);
    if (!st && w->t.way == DIVERGENCE)
        st = look(fit, &w->t, &falls, err);
    if (st || !falls)
        return st;
    w->from = fit->out->n_stages;
    st = try_both(fit, start, b, &w->t, marked, &w->exact, hopeless, err);
    w->end = fit->out->n_stages;
    return st || !w->t.to->kept ? st : keep(fit, marked, &w->there, err);
}

/** The other way beside the better one. */
static nb_status go_on(nb_fit *fit, const led *better, led *other,
                       int marked[NB_FIT_MOST], nb_error *err)
{
    int falls;
    nb_status st = nb_fit_rate(fit, NULL, &other->t.plain, err);
    other->t.to->kept = 0;
    if (!st)
        st = look(fit, &other->t, &falls, err);
    if (!st && falls)
        st = try_once(fit, &other->t, marked, err);
    return st || other->t.to->kept ? st : go_back(fit, &better->there, marked, err);
}

/** To where the better one led, and on. */
static nb_status take(nb_fit *fit, const before *b, led *better, led *other,
                      int marked[NB_FIT_MOST], nb_error *err)
{
    nb_status st = go_back(fit, &better->there, marked, err);
    for (int i = b->stages; i < fit->out->n_stages; i++)
        fit->out->stages[i].dropped = i < better->from || i >= better->end;
    if (better->exact) {
        nb_free(fit->kept);
        fit->kept = NULL;
    }
    if (!st && other->t.to->kept)
        st = go_on(fit, better, other, marked, err);
    fit->squares = 0;
    if (!st)
        st = finish(fit, &better->t, marked, err);
    if (!st && other->t.to->kept) {
        int numbers;
        st = hold(fit, &other->t, marked, &numbers, err);
    }
    return st;
}

/** A divergence whose trial was cut short, to its end. */
static nb_status follow(nb_fit *fit, led *w, nb_error *err)
{
    nb_fit_quality q = {0};
    int marked[NB_FIT_MOST], numbers;
    nb_status st = go_back(fit, &w->there, marked, err);
    w->from = fit->out->n_stages;
    if (!st)
        st = nb_fit_stage(fit, "divergence", marked, TRIED, err);
    w->end = fit->out->n_stages;
    if (!st)
        st = hold(fit, &w->t, marked, &numbers, err);
    if (!st)
        st = nb_fit_rate(fit, NULL, &q, err);
    w->t.to->gain = 2 * (w->t.plain.loss - q.loss);
    forget(&w->there);
    return st ? st : keep(fit, marked, &w->there, err);
}

/** All ways from the fit without them; *better: NULL if none stays. */
static nb_status try_ways(nb_fit *fit, const nb_fit_stand *start, led ways[WAYS],
                          int marked[NB_FIT_MOST], led **better, nb_error *err)
{
    nb_fit_quality plain;
    before b = {0};
    int hopeless = 0;
    nb_status st = prepare(fit, marked, &plain, err);
    *better = NULL;
    if (!st)
        st = keep(fit, marked, &b, err);
    for (int k = 0; k < WAYS && !st; k++) {
        ways[k].t.plain = plain;
        int enough = !ways[k].may;
        ways[k].t.to->tried = ways[k].may;
        if (!enough)
            st = explains_enough(fit, *better, &ways[k], &enough, err);
        if (!enough && !st)
            st = go(fit, start, &b, &ways[k], &hopeless, err);
        if (!st && *better && ways[k].t.to->kept)
            st = follow(fit, *better, err);
        if (ways[k].t.to->kept && (!*better || ways[k].t.to->gain > (*better)->t.to->gain))
            *better = &ways[k];
    }
    if (!st && *better)
        st = take(fit, &b, *better, *better == ways ? ways + 1 : ways, marked, err);
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
    led ways[WAYS] = {{.t = {.way = DIVERGENCE, .to = &fit->out->divergence}},
                      {.t = {.way = FOOTPRINT, .to = &fit->out->footprint}}};
    led *better = NULL;
    nb_fit_quality q = {0};
    before b = {0};
    int found = 0;
    nb_status st = may_be_wide(fit, ways) ? is_found(fit, &found, err) : NB_OK;
    if (!st && found)
        st = nb_fit_rate(fit, NULL, &q, err);
    if (st || !found || q.square < EXPLAINED + ERRORS * sqrt(3 / (double)fit->used))
        return st;
    st = keep(fit, marked, &b, err);
    if (!st)
        st = try_ways(fit, start, ways, marked, &better, err);
    fit->squares = 0;
    *exact = better && better->exact;
    if (!st && !better)
        st = go_back(fit, &b, marked, err);
    for (int k = 0; k < WAYS; k++)
        forget(&ways[k].there);
    forget(&b);
    return st;
}
