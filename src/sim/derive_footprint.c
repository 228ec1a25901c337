/* SPDX-License-Identifier: MIT */
/* Derivatives with -footprint.  The image is K I + B: K spreads the light I of the crystal, B is the background.  So
 * its slopes are K dI/dp + (dK/dp) I + dB/dp, and a loss goes back through the adjoint of K. */
#include "footprint.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"

/** A job, and what spreads its light. */
typedef struct spreading {
    const nb_slope_job *job;
    const nb_scene *wanted;
    nb_footprint_parts parts;
    nb_slope_job light,
        rest; /* of the crystal, of the background; their tangents are owned */
    nb_slope_run light_run, rest_run;
    int threads;
} spreading;

static void close_spreading(spreading *s)
{
    nb_footprint_parts_free(&s->parts);
    nb_free(s->light.tangents);
    nb_free(s->rest.tangents);
}

/** Tangents of the light, which has no background, and of the background, which has no crystal. */
static void divide_tangents(spreading *s)
{
    for (int i = 0; i < s->job->count; i++) {
        const nb_tangent *t = &s->job->tangents[i];
        s->light.tangents[i] = *t;
        s->light.tangents[i].background = 0;
        s->rest.tangents[i] = (nb_tangent){.wave = t->wave,
                                           .spectrum = t->spectrum,
                                           .beam = {t->beam[0], t->beam[1]},
                                           .image = t->image,
                                           .background = t->background,
                                           .polarization = t->polarization,
                                           .entry = -1,
                                           .panels = t->panels};
    }
    s->rest.sums &= NB_SLOPE_RAY | NB_SLOPE_WAVE | NB_SLOPE_POLAR | NB_SLOPE_BEAM;
    s->rest.n_entries = 0;
}

/** After an error, too: close_spreading. */
static nb_status open_spreading(const nb_sim *sim, const nb_slope_run *run,
                                const nb_scene *wanted, spreading *s, nb_error *err)
{
    const nb_slope_job *job = run->job;
    const size_t n = (size_t)job->count;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->job = job;
    s->wanted = wanted;
    s->threads = run->threads;
    st = nb_footprint_parts_of(&sim->model.footprint, wanted, n > 0, &s->parts, err);
    s->light = s->rest = *job;
    s->light.scene = &s->parts.bragg;
    s->rest.scene = &s->parts.rest;
    s->light.tangents = nb_alloc(n, sizeof *s->light.tangents, "parameters", err);
    s->rest.tangents = nb_alloc(n, sizeof *s->rest.tangents, "parameters", err);
    if (!s->light.tangents || !s->rest.tangents)
        return NB_ERR_NOMEM;
    divide_tangents(s);
    s->light_run = s->rest_run = *run;
    s->light_run.job = &s->light;
    s->rest_run.job = &s->rest;
    return st;
}

/* --- how the taps move --- */

static nb_panel moved(const nb_panel *p, const nb_panel_slope *by, double h)
{
    nb_panel to = *p;
    to.pix0 = nb_add(p->pix0, nb_scale(h, by->pix0));
    to.fast = nb_add(p->fast, nb_scale(h, by->fast));
    to.slow = nb_add(p->slow, nb_scale(h, by->slow));
    to.distance += h * by->distance;
    to.Fbeam += h * by->Fbeam;
    to.Sbeam += h * by->Sbeam;
    to.curved_fast = nb_add(p->curved_fast, nb_scale(h * by->roll, p->curved_slow));
    to.curved_slow = nb_sub(p->curved_slow, nb_scale(h * by->roll, p->curved_fast));
    return to;
}

/** The slope of the map of a tile by a parameter.  That by the panel is a difference: the map is a ratio of determinants,
 * whose second difference over a step of 1e-5 is far below the digits of the slope. */
static void map_slope(const nb_footprint *fp, const nb_panel *p,
                      const nb_footprint_tile *tile, const nb_tangent *t,
                      const nb_panel_slope *by, double slope[4])
{
    nb_footprint_map(p, tile->F, tile->S, t->footprint[0], t->footprint[1], slope);
    if (by) {
        const double R = nb_norm(nb_panel_point(p, tile->F, tile->S, 0));
        const double rate =
            nb_norm(by->fast) + nb_norm(by->slow) + fabs(by->roll) +
            (nb_norm(by->pix0) + fabs(by->distance) + fabs(by->Fbeam) + fabs(by->Sbeam)) /
                R;
        const double h = 1e-5 / rate;
        nb_panel up, down;
        double A[4], B[4];
        if (!(rate > 0))
            return;
        up = moved(p, by, h);
        down = moved(p, by, -h);
        nb_footprint_map(&up, tile->F, tile->S, fp->a, fp->b, A);
        nb_footprint_map(&down, tile->F, tile->S, fp->a, fp->b, B);
        for (int i = 0; i < 4; i++)
            slope[i] += (A[i] - B[i]) / (2 * h);
    }
}

/** The slopes of a tile's taps; *out is NULL where they stay.  *out: nb_free. */
static nb_status tile_slopes(const nb_taps *taps, const double slope[4], double **out,
                             nb_error *err)
{
    const size_t n = nb_taps_count(taps);
    *out = NULL;
    if (slope[0] == 0 && slope[1] == 0 && slope[2] == 0 && slope[3] == 0)
        return NB_OK;
    if (!(*out = nb_alloc(n, sizeof **out, "footprint", err)))
        return NB_ERR_NOMEM;
    for (int k = 0; k < 4; k++)
        for (size_t i = 0; i < n; i++)
            (*out)[i] += slope[k] * taps->by[k][i];
    return NB_OK;
}

static void free_slopes(const spreading *s, double **slopes)
{
    for (int i = 0; slopes && i < s->parts.plan->n_tiles; i++)
        nb_free(slopes[i]);
    nb_free(slopes);
}

/** dK/dp of every tile; *out is NULL if it is 0.  free_slopes. */
static nb_status taps_slopes(const spreading *s, const nb_footprint *fp, int p,
                             double ***out, nb_error *err)
{
    const nb_footprint_plan *plan = s->parts.plan;
    const nb_tangent *t = &s->job->tangents[p];
    const double own = nb_norm(t->footprint[0]) + nb_norm(t->footprint[1]);
    nb_status st = NB_OK;
    *out = NULL;
    if (!t->panels && own == 0)
        return NB_OK;
    if (!(*out = nb_alloc((size_t)plan->n_tiles, sizeof **out, "footprint", err)))
        return NB_ERR_NOMEM;
    for (int k = 0; k < plan->n_panels; k++) {
        const nb_footprint_panel *on = &plan->panels[k];
        for (int i = 0; i < on->across * on->down && !st; i++) {
            const nb_footprint_tile *tile = &plan->tiles[on->tile + i];
            double slope[4];
            map_slope(fp, &s->wanted->panels[k], tile, t,
                      t->panels ? &t->panels[k] : NULL, slope);
            st = tile_slopes(&plan->taps[tile->taps], slope, &(*out)[on->tile + i], err);
        }
    }
    return st;
}

/* --- planes --- */

static void keep_wanted(const nb_scene *sc, double *values)
{
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, p);
        for (int y = 0; y < p->rows; y++)
            for (int x = 0; x < p->columns; x++) {
                const size_t i =
                    p->first_pixel + (size_t)y * (size_t)p->columns + (size_t)x;
                if (y < r.smin || y > r.smax || x < r.fmin || x > r.fmax ||
                    (sc->raster.mask && !sc->raster.mask[i]))
                    values[i] = 0;
            }
    }
}

static void spread(const spreading *s, double *const *taps, int back, const double *from,
                   double *to)
{
    nb_footprint_pass(s->parts.plan, s->wanted, taps, back, s->threads, from, to);
}

/** Plane p (0: the image) behind the footprint; light: the image before it; work[2][pixels]. */
static nb_status spread_plane(const spreading *s, const nb_footprint *fp, int p,
                              const double *light, double *plane, double *work,
                              nb_error *err)
{
    const size_t pixels = s->wanted->raster.pixels;
    double *more = work + pixels, **slopes = NULL;
    nb_status st = p > 0 ? taps_slopes(s, fp, p - 1, &slopes, err) : NB_OK;
    if (!st) {
        spread(s, NULL, 0, plane, work);
        if (slopes)
            spread(s, slopes, 0, light, more);
        for (size_t i = 0; i < pixels; i++)
            plane[i] = work[i] + (slopes ? more[i] : 0);
        keep_wanted(s->wanted, plane);
    }
    free_slopes(s, slopes);
    return st;
}

/** Add the slopes of the background. */
static nb_status add_rest(const spreading *s, double *given, nb_error *err)
{
    const size_t n = s->wanted->raster.pixels * ((size_t)s->job->count + 1);
    double *rest;
    nb_slope_planes_out out = {.type = NB_REAL_FLOAT64};
    nb_status st;
    if (!s->parts.has_rest)
        return NB_OK;
    if (!(rest = nb_alloc(n, sizeof *rest, "derivatives", err)))
        return NB_ERR_NOMEM;
    out.expected = rest;
    out.planes = s->job->count > 0 ? rest + s->wanted->raster.pixels : NULL;
    st = nb_slope_fill(&s->rest_run, &out, err);
    for (size_t i = 0; i < n && !st; i++)
        given[i] += rest[i];
    nb_free(rest);
    return st;
}

nb_status nb_sim_footprint_slopes(const nb_sim *sim, const nb_slope_run *run,
                                  const nb_scene *wanted, double *given, nb_error *err)
{
    const nb_footprint *fp = &sim->model.footprint;
    const size_t pixels = wanted->raster.pixels;
    const int count = run->job->count;
    nb_slope_planes_out out = {.type = NB_REAL_FLOAT64,
                               .planes = count > 0 ? given + pixels : NULL,
                               .expected = given};
    spreading s;
    double *work = nb_alloc(2 * pixels, sizeof *work, "footprint", err);
    nb_status st = open_spreading(sim, run, wanted, &s, err);
    if (!st && !work)
        st = NB_ERR_NOMEM;
    if (!st)
        st = nb_slope_fill(&s.light_run, &out, err);
    for (int p = count; p >= 0 && !st; p--) /* the image last: others need it as it was */
        st = spread_plane(&s, fp, p, given, given + (size_t)p * pixels, work, err);
    if (!st)
        st = add_rest(&s, given, err);
    close_spreading(&s);
    nb_free(work);
    return st;
}

nb_status nb_sim_footprint_planes(const nb_sim *sim, const nb_slope_run *run,
                                  nb_real_type type, void *planes, float *image,
                                  nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const size_t pixels = sc->raster.pixels, n = pixels * (size_t)run->job->count;
    double *given = nb_alloc_large(n + pixels, sizeof *given, "derivatives", err);
    nb_status st =
        given ? nb_sim_footprint_slopes(sim, run, sc, given, err) : NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels && image && !st; i++)
        image[i] = (float)given[i];
    for (size_t i = 0; i < n && !st; i++)
        if (type == NB_REAL_FLOAT32)
            ((float *)planes)[i] = (float)given[pixels + i];
        else
            ((double *)planes)[i] = given[pixels + i];
    nb_free(given);
    return st;
}

/* --- pullback --- */

/** The part of a gradient that comes from the taps: the loss's slopes times (dK/dp) I. */
static nb_status pull_taps(const spreading *s, const nb_footprint *fp,
                           const double *dloss, double *gradient, nb_error *err)
{
    const size_t pixels = s->wanted->raster.pixels;
    nb_slope_job image = s->light;
    nb_slope_run run = s->light_run;
    double *light = NULL, *more = NULL;
    nb_status st = NB_OK;
    image.count = 0;
    image.sums = 0;
    run.job = &image;
    for (int p = 0; p < s->job->count && !st; p++) {
        double **slopes;
        st = taps_slopes(s, fp, p, &slopes, err);
        if (!st && slopes && !light) {
            light = nb_alloc_raw(pixels, sizeof *light, "image", err);
            more = nb_alloc_raw(pixels, sizeof *more, "image", err);
            st = light && more ? nb_slope_image(&run, light, err) : NB_ERR_NOMEM;
        }
        if (!st && slopes) {
            spread(s, slopes, 0, light, more);
            for (size_t i = 0; i < pixels; i++)
                gradient[p] += dloss[i] * more[i];
        }
        free_slopes(s, slopes);
    }
    nb_free(light);
    nb_free(more);
    return st;
}

/** Add the gradient of the background. */
static nb_status pull_rest(const spreading *s, const double *dloss, double *gradient,
                           nb_error *err)
{
    double rest[NB_VARIABLES_MAX];
    nb_status st;
    if (!s->parts.has_rest || s->job->count == 0)
        return NB_OK;
    st = nb_slope_pullback(&s->rest_run, NB_REAL_FLOAT64, dloss, rest, err);
    for (int p = 0; p < s->job->count && !st; p++)
        gradient[p] += rest[p];
    return st;
}

nb_status nb_sim_footprint_pullback(const nb_sim *sim, const nb_slope_run *run,
                                    nb_real_type type, const void *dloss,
                                    double *gradient, nb_hkl_gradient *F, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const size_t pixels = sc->raster.pixels;
    double *behind = nb_alloc_raw(pixels, sizeof *behind, "loss", err);
    double *before = nb_alloc_raw(pixels, sizeof *before, "loss", err);
    spreading s;
    nb_status st = open_spreading(sim, run, sc, &s, err);
    if (!st && !(behind && before))
        st = NB_ERR_NOMEM;
    if (!st) {
        for (size_t i = 0; i < pixels; i++)
            behind[i] = nb_real(type, dloss, i);
        keep_wanted(sc, behind);
        spread(&s, NULL, 1, behind, before);
        st = nb_slope_pullback(&s.light_run, NB_REAL_FLOAT64, before, gradient, err);
    }
    if (!st)
        st = pull_taps(&s, &sim->model.footprint, behind, gradient, err);
    if (!st)
        st = pull_rest(&s, behind, gradient, err);
    if (!st && F)
        st = nb_slope_F(&s.light_run, NB_REAL_FLOAT64, before, F, err);
    close_spreading(&s);
    nb_free(behind);
    nb_free(before);
    return st;
}
