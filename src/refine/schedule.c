/* SPDX-License-Identifier: MIT */
/* The way into the minimum: large blurred spots of few parameters first, the true crystal last. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../sim/sim.h"
#include "fit.h"

enum { BLURRED_STEPS = 25, BRIGHT_PIXELS = 30, TURNS = 3 };
/* Correlation of the picture and the last blurred crystal.  Right orientations had 0.86 and more, of weak stills too; a wrong
 * one has 0.1. */
#define FOUND 0.5

static int begins(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/** Parameters of the blurred stages: 1 from the first on, 2 from the third on, 0 later. */
static int class_of(const char *name)
{
    static const char *const later[] = {
        "cell_", "distance", "close_distance", "Xbeam",    "Ybeam",
        "ORG",   "shift_",   "rot_fast",       "rot_slow", "rot_normal"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (begins(name, later[i]))
            return 2;
    return begins(name, "rot_") || !strcmp(name, "fluence") || !strcmp(name, "water");
}

static void mark(const nb_fit *fit, int stage, int marked[NB_FIT_MOST])
{
    for (int i = 0; i < fit->list.count; i++) {
        int class = class_of(fit->list.p[i].name);
        marked[i] = class == 1 || (class == 2 && stage >= 2);
    }
}

static void mark_all(const nb_fit *fit, int marked[NB_FIT_MOST])
{
    for (int i = 0; i < fit->list.count; i++)
        marked[i] = 1;
}

/** Multiply a parameter of the simulation, and what the list says of it. */
static nb_status multiply(nb_fit *fit, const char *name, double by, nb_error *err)
{
    int at = nb_fit_find(&fit->list, name);
    nb_variable v;
    nb_status st = nb_sim_parameter(fit->sim, name, &v, err);
    if (st)
        return st;
    v.value *= by;
    if (at >= 0) {
        nb_fit_parameter *p = &fit->list.p[at];
        p->value = v.value;
        p->low *= by;
        p->high *= by;
        p->restraint *= by;
        p->width *= by;
    }
    return nb_sim_set_parameters(fit->sim, &name, &v.value, 1, err);
}

/** Bounds and restraints as they were. */
static void keep_limits(nb_fit *fit, const nb_fit_list *before)
{
    for (int i = 0; i < fit->list.count; i++) {
        nb_fit_parameter *p = &fit->list.p[i];
        p->low = before->p[i].low;
        p->high = before->p[i].high;
        p->restraint = before->p[i].restraint;
        p->width = before->p[i].width;
        if (p->map == NB_MAP_BOUNDED && !p->fixed)
            p->value = fmin(p->high, fmax(p->low, p->value));
    }
}

/** More fluence and so much less water that its photons stay. */
static nb_status rescale(nb_fit *fit, double by, nb_error *err)
{
    nb_status st = multiply(fit, "fluence", by, err);
    if (!st && nb_sim_config(fit->sim)->water_um > 0)
        st = multiply(fit, "water", 1 / cbrt(by), err);
    return st;
}

/* times the longest edge */
static const double blurred_cells[] = {3, 5, 8, 13};

/** Give the simulation the blurred crystal: Gaussian, fewer cells; *factor keeps the spots' integrals. */
static nb_status blur(nb_fit *fit, double n, const double edges[3], double longest,
                      double *factor, nb_error *err)
{
    nb_config cfg = *nb_sim_config(fit->sim);
    nb_status st;
    *factor = 1;
    for (int i = 0; i < 3; i++) {
        double N = fit->sim->model.scene.lattice.N[i],
               fewer = fmin(N, n * longest / edges[i]);
        cfg.N[i] = fewer;
        cfg.xtal_size_mm[i] = NAN;
        *factor *= N / fewer;
    }
    if (!nb_shape_is_scaled((int)cfg.shape))
        cfg.fudge = 1;
    cfg.shape = (nb_shape)NB_SHAPE_SMOOTH;
    cfg.mosaic_domains = 1;
    cfg.oversample = 1;
    cfg.phi_steps = 1;
    cfg.phistep_deg = NAN;
    st = nb_sim_change(fit->sim, &cfg, err);
    return st ? st : rescale(fit, *factor, err);
}

/** The true crystal again, with the orientation, cell and geometry of the blurred one; bounds and
 * restraints as before. */
static nb_status sharpen(nb_fit *fit, const nb_config *truth, const nb_fit_list *before,
                         double factor, nb_error *err)
{
    nb_config cfg = *nb_sim_config(fit->sim);
    nb_status st;
    memcpy(cfg.N, truth->N, sizeof cfg.N);
    memcpy(cfg.xtal_size_mm, truth->xtal_size_mm, sizeof cfg.xtal_size_mm);
    cfg.fudge = truth->fudge;
    cfg.shape = truth->shape;
    cfg.mosaic_domains = truth->mosaic_domains;
    cfg.oversample = truth->oversample;
    cfg.phi_steps = truth->phi_steps;
    cfg.phistep_deg = truth->phistep_deg;
    st = nb_sim_change(fit->sim, &cfg, err);
    if (!st)
        st = rescale(fit, 1 / factor, err);
    keep_limits(fit, before);
    return st;
}

/** A start whose water has the photons of the picture: by its thickness, or by the scale. */
static nb_status begin_water(nb_fit *fit, nb_error *err)
{
    static const char *const water = "water";
    const nb_fit_list before = fit->list;
    double seen = 0, has = 0;
    nb_radial rough;
    float *plane;
    nb_status st;
    if (fit->kind != NB_BACKGROUND_WATER)
        return NB_OK;
    plane = nb_alloc_raw(fit->pixels, sizeof *plane, "water", err);
    st = plane ? nb_radial_estimate(fit, fit->high, fit->o->knots, &rough, err)
               : NB_ERR_NOMEM;
    if (!st) /* its photons are as its thickness cubed */
        st = nb_sim_derivatives(fit->sim, &water, 1, NB_REAL_FLOAT32, plane, NULL, err);
    for (size_t i = 0; i < fit->pixels && !st; i++)
        if (!isnan(fit->photons[i])) {
            seen += nb_radial_at(&rough, fit->stol[i]);
            has += plane[i] * nb_sim_config(fit->sim)->water_um / 3;
        }
    nb_free(plane);
    if (st || !(seen > 0 && has > 0))
        return st;
    if (nb_fit_refines(fit, "water"))
        st = multiply(fit, "water", cbrt(seen / has), err);
    else if (nb_fit_refines(fit, "fluence"))
        st = multiply(fit, "fluence", seen / has, err);
    keep_limits(fit, &before);
    return st ? st : nb_fit_apply(fit, err);
}

/** Knots and levels over the pixels of a stage, or the fixed background of one with planes. */
static nb_status begin_background(nb_fit *fit, double high, nb_error *err)
{
    nb_radial rough;
    nb_status st;
    if (fit->kind == NB_BACKGROUND_RADIAL)
        return nb_radial_estimate(fit, high, fit->o->knots, &fit->radial, err);
    if (fit->kind != NB_BACKGROUND_PLANES)
        return NB_OK;
    st = nb_radial_estimate(fit, high, fit->o->knots, &rough, err);
    for (size_t i = 0; i < fit->pixels && !st; i++)
        fit->background[i] = (float)nb_radial_at(&rough, fit->stol[i]);
    return st;
}

/** The least d of a stage, as sin theta/lambda, widened until enough bright pixels are inside. */
static nb_status reach(const nb_fit *fit, double d, double *high, nb_error *err)
{
    nb_radial rough;
    nb_status st = nb_radial_estimate(fit, fit->high, fit->o->knots, &rough, err);
    *high = d > 0 ? fmin(fit->high, fmax(1 / (2 * d), fit->low)) : fit->high;
    while (!st && *high < fit->high && nb_fit_bright(fit, &rough, *high) < BRIGHT_PIXELS)
        *high = fmin(fit->high, *high * 1.1);
    return st;
}

/** The sharp crystal as it was before a blurred stage. */
typedef struct sharp {
    nb_config truth;
    nb_fit_list list;
    double factor; /* of the fluence */
} sharp;

/** Pixels, background and crystal of a blurred stage. */
static nb_status begin_blurred(nb_fit *fit, int stage, sharp *before, nb_error *err)
{
    static const double least_d[] = {0.07, 0.05, 0, 0};
    const nb_crystal *x = &fit->sim->model.crystal;
    const double edges[3] = {nb_norm(x->a), nb_norm(x->b), nb_norm(x->c)};
    double longest = fmax(edges[0], fmax(edges[1], edges[2])), high;
    nb_status st = reach(fit, least_d[stage] * longest * 1e10, &high, err);
    before->truth = *nb_sim_config(fit->sim);
    before->list = fit->list;
    if (!st)
        st = begin_background(fit, high, err);
    if (!st)
        st = blur(fit, blurred_cells[stage], edges, longest, &before->factor, err);
    if (!st)
        nb_fit_choose_range(fit, high);
    return st;
}

static nb_status blurred_stage(nb_fit *fit, int stage, double *correlation, nb_error *err)
{
    sharp before;
    int marked[NB_FIT_MOST];
    char name[24];
    nb_status st = begin_blurred(fit, stage, &before, err);
    if (st)
        return st;
    mark(fit, stage, marked);
    snprintf(name, sizeof name, "blurred %g", blurred_cells[stage]);
    st = nb_fit_stage(fit, name, marked, BLURRED_STEPS, err);
    if (!st)
        st = nb_fit_correlation(fit, correlation, err);
    return st ? st : sharpen(fit, &before.truth, &before.list, before.factor, err);
}

/** All of them; *correlation: of the last one. */
static nb_status blurred_stages(nb_fit *fit, double *correlation, nb_error *err)
{
    const nb_crystal *x = &fit->sim->model.crystal;
    const double edges[3] = {nb_norm(x->a), nb_norm(x->b), nb_norm(x->c)};
    double longest = fmax(edges[0], fmax(edges[1], edges[2])), size = 0;
    int stages;
    nb_status st = NB_OK;
    for (int i = 0; i < 3; i++)
        size = fmax(size, fit->sim->model.scene.lattice.N[i] * edges[i]);
    stages = size > 16 * longest ? 4 : 3;
    for (int k = 0; k < stages && !st; k++)
        st = blurred_stage(fit, k, correlation, err);
    return st;
}

/** The orientation was not found from the start: begin with those whose blurred pictures are the most like the observed
 * one.  The best way stays. */
static nb_status seek(nb_fit *fit, const nb_fit_stand *start, double correlation,
                      nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    nb_turn_tried turns[TURNS];
    sharp before = {.factor = 1};
    nb_fit_stand best;
    int found = 0;
    nb_status st = nb_fit_remember(fit, &best, err);
    if (!st)
        st = nb_fit_stand_at(fit, start, none, err);
    if (!st)
        st = begin_blurred(fit, 0, &before, err);
    if (!st)
        st = nb_fit_orient(fit, TURNS, turns, &found, err);
    if (!st)
        st = sharpen(fit, &before.truth, &before.list, before.factor, err);
    for (int k = 0; k < found && !st && correlation < FOUND; k++) {
        double now = 0;
        st = nb_fit_stand_at(fit, start, turns[k].by, err);
        if (!st)
            st = blurred_stages(fit, &now, err);
        if (!st && now > correlation) {
            correlation = now;
            st = nb_fit_remember(fit, &best, err);
        }
    }
    return st ? st : nb_fit_stand_at(fit, &best, none, err);
}

/** Does the lattice explain the picture's spots well enough? */
static int agrees(const nb_fit *fit)
{
    return fit->n_peaks >= NB_PEAKS_ENOUGH && nb_fit_agreement(fit) >= NB_AGREES;
}

/** Turn the crystal so that its lattice explains the picture's spots; *found: it does. */
static nb_status index_peaks(nb_fit *fit, const nb_fit_stand *start, int *found,
                             nb_error *err)
{
    static const double none[3] = {0, 0, 0};
    const double began = nb_monotonic_seconds();
    double by[3];
    nb_status st;
    *found = 0;
    if (!nb_fit_index(fit, by))
        return NB_OK;
    if ((st = nb_fit_stand_at(fit, start, by, err)))
        return st;
    *found = agrees(fit);
    nb_fit_note_stage(fit, "indexing", 0, 0, *found, nb_monotonic_seconds() - began);
    return *found ? NB_OK : nb_fit_stand_at(fit, start, none, err);
}

/** The way to the orientation: the start's, one that indexes the spots, or that of the blurred crystals. */
static nb_status orient(nb_fit *fit, nb_error *err)
{
    double correlation = 0;
    nb_fit_stand start;
    int found = agrees(fit);
    nb_status st = begin_water(fit, err);
    if (!st)
        st = nb_fit_remember(fit, &start, err);
    if (!st && !found)
        st = index_peaks(fit, &start, &found, err);
    if (!st && !found)
        st = blurred_stages(fit, &correlation, err);
    if (!st && !found && correlation < FOUND && !agrees(fit))
        st = seek(fit, &start, correlation, err);
    if (!st)
        st = begin_background(fit, fit->high, err);
    return st;
}

#define MOST_SPREAD 2.0
#define LEAST_SPREAD 0.04 /* of the scales; F that are right to 2 % count as exact */
/* Of the misfit.  Scales of right spots explain 0.98 and more of it, those of a measured still, whose spots have another shape
 * than the model's, 0.6.  Strong spots of a wrong shape would pull the orientation, if their intensities were free.  So the
 * lattice stays where the given F put it, and scales and shapes are refined. */
#define LEAST_EXPLAINED 0.8
#define LEAST_PART 0.3 /* below it scales tell nothing */
enum { SCALED = 2 };

/** The width of the scales' prior: twice the relative sigma of F, as given or as the picture shows it.  *hold: the lattice. */
static nb_status choose_width(nb_fit *fit, int *hold, nb_error *err)
{
    double spread, explained;
    nb_status st;
    *hold = 0;
    if (fit->o->F_sigma >= 0) {
        fit->F_width = 2 * fit->o->F_sigma;
        return NB_OK;
    }
    st = nb_fit_spread(fit, &spread, &explained, err);
    if (st)
        return st;
    *hold = explained < LEAST_EXPLAINED;
    fit->F_width =
        spread < LEAST_SPREAD || explained < LEAST_PART ? 0 : fmin(spread, MOST_SPREAD);
    return NB_OK;
}

/** Only what shapes the spots moves from here on; *any: there is something. */
static nb_status hold_lattice(nb_fit *fit, int marked[NB_FIT_MOST], int *any,
                              nb_error *err)
{
    const double width = fit->F_width;
    nb_status st;
    fit->F_width = 0;
    st = nb_fit_keep_errors(fit, err);
    fit->F_width = width;
    *any = fit->radial.n > 0;
    for (int i = 0; i < fit->list.count; i++) {
        marked[i] = nb_fit_is_shape(fit->list.p[i].name);
        *any |= marked[i] && !fit->list.p[i].fixed;
    }
    return st;
}

#define COLLAPSED 0.01 /* of its start */

/** Widths that poor structure factors made vanish start again: at 0 their logarithm has no slope. */
static nb_status revive(nb_fit *fit, nb_error *err)
{
    int any = 0;
    for (int i = 0; i < fit->list.count; i++) {
        nb_fit_parameter *p = &fit->list.p[i];
        if (p->map != NB_MAP_LOG || p->fixed || !(p->value < COLLAPSED * p->start) ||
            begins(p->name, "fluence") || begins(p->name, "water"))
            continue;
        p->value = p->start;
        any = 1;
    }
    return any ? nb_fit_apply(fit, err) : NB_OK;
}

/** Structure factors that are not exact: stages with a scale of each reflection. */
static nb_status with_scales(nb_fit *fit, int marked[NB_FIT_MOST], nb_error *err)
{
    static const char *const names[2][SCALED] = {
        {"scaled F", "scaled F again"}, {"scaled shapes", "scaled shapes again"}};
    int any = 1, hold = 0;
    nb_status st = NB_OK;
    for (int k = 0; k < SCALED && !st && any; k++) {
        if (!fit->kept)
            st = choose_width(fit, &hold, err);
        if (st || fit->F_width <= 0)
            return st;
        if (hold && !fit->kept)
            st = hold_lattice(fit, marked, &any, err);
        if (!st && !k)
            st = revive(fit, err);
        if (!st)
            st = nb_fit_choose_spots(fit, err);
        if (!st && any)
            st = nb_fit_stage(fit, names[fit->kept != NULL][k], marked,
                              fit->o->evaluations, err);
    }
    return st;
}

nb_status nb_fit_begin(nb_fit *fit, nb_error *err)
{
    nb_status st = begin_background(fit, fit->high, err);
    if (!st)
        st = nb_fit_apply(fit, err);
    if (!st)
        st = nb_fit_find_peaks(fit, err);
    if (!st)
        fit->out->start_agreement = nb_fit_agreement(fit);
    return st ? st : nb_fit_choose_spots(fit, err);
}

/** Cells and mosaic spread of crystals whose loss has many minima. */
static nb_status search(nb_fit *fit, const int marked[NB_FIT_MOST], nb_error *err)
{
    nb_status st = NB_OK;
    if (nb_fit_refines_cells(fit))
        st = nb_fit_as_gaussian(fit, marked, 1, err);
    if (!st)
        st = nb_fit_choose_spots(fit, err);
    return st ? st : nb_fit_search(fit, err);
}

/** The true shape, twice; without a schedule once. */
static nb_status true_shape(nb_fit *fit, int marked[NB_FIT_MOST], int searched,
                            nb_error *err)
{
    const int times = fit->o->schedule != NB_SCHEDULE_NONE ? 2 : 1;
    nb_status st = NB_OK;
    for (int k = 0; k < times && !st; k++) {
        st = nb_fit_choose_spots(fit, err);
        if (!st && k && searched)
            st = nb_fit_search_again(fit, err);
        if (!st)
            st = nb_fit_stage(fit, k ? "true shape again" : "true shape", marked,
                              fit->o->evaluations, err);
    }
    return st ? st : with_scales(fit, marked, err);
}

/** The same with a footprint, if it helps. */
static nb_status widen(nb_fit *fit, const nb_fit_stand *start, int marked[NB_FIT_MOST],
                       nb_error *err)
{
    int exact = 0;
    nb_status st = nb_fit_widen(fit, start, marked, &exact, err);
    if (st || !exact)
        return st;
    mark_all(fit, marked);
    return with_scales(fit, marked, err);
}

static int may_turn(const nb_fit *fit)
{
    return nb_fit_refines(fit, "rot_x") || nb_fit_refines(fit, "rot_y") ||
           nb_fit_refines(fit, "rot_z");
}

nb_status nb_fit_run(nb_fit *fit, nb_error *err)
{
    const int square = nb_shape_law((int)nb_sim_config(fit->sim)->shape) == NB_LAW_FRINGES;
    const int planned = fit->o->schedule != NB_SCHEDULE_NONE;
    const int searched =
        planned && square && (nb_fit_refines_cells(fit) || nb_fit_refines(fit, "mosaic"));
    int marked[NB_FIT_MOST];
    nb_fit_stand start;
    nb_status st = nb_fit_begin(fit, err);
    if (!st && fit->o->keep_start)
        st = nb_fit_keep_start(fit, err);
    mark_all(fit, marked);
    if (!st)
        st = nb_fit_check_apart(fit, marked, err);
    if (!st && planned && may_turn(fit))
        st = orient(fit, err);
    if (!st)
        st = nb_fit_remember(fit, &start, err);
    if (!st && searched)
        st = search(fit, marked, err);
    if (!st && agrees(fit))
        st = nb_fit_mask_foreign(fit, err);
    if (!st)
        st = true_shape(fit, marked, searched, err);
    return st || !planned ? st : widen(fit, &start, marked, err);
}
