/* SPDX-License-Identifier: MIT */
/* Derivatives of light with -footprint. K spreads the light I of a lattice: the slopes
 * are K dI/dp + (dK/dp) I. The gradient of a loss uses the adjoint of K. */
#include "footprint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"

/** A job of the light without background, and the plan of the light's footprint. */
typedef struct spreading {
    const nb_slope_job *job;
    const nb_scene *wanted;
    nb_footprint_parts parts;
    nb_slope_job light; /* the job in all pixels whose light reaches wanted pixels */
    nb_slope_run run;   /* run of the job `light` */
} spreading;

/** Open *s. The caller frees s->parts, after an error too. */
static nb_status open_spreading(const nb_sim *sim, const nb_slope_run *run,
                                const nb_scene *wanted, spreading *s, nb_error *err)
{
    *s = (spreading){.job = run->job, .wanted = wanted, .light = *run->job, .run = *run};
    s->light.scene = &s->parts.bragg;
    s->run.job = &s->light;
    return nb_footprint_parts_of(&sim->model.footprint, wanted, run->job->count > 0,
                                 &s->parts, err);
}

/* --- slopes of the taps, the parts of a pixel's light that its neighbours get --- */

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

/** Slope by a parameter of a tile's nb_footprint_map.  For a moving panel it is a central
 * difference: the map is a ratio of determinants, so a step of 1e-5 is accurate. */
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

/** Make the slopes of a tile's taps, *out (nb_free), or NULL if all are 0. */
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

/** Make dK/dp, the slopes of each tile's taps: *out (free_slopes), or NULL if it is 0. */
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

/* --- the pixels of a list --- */

static void spread(const spreading *s, double *const *taps, int back, const double *from,
                   double *to)
{
    nb_footprint_pass(s->parts.plan, s->wanted, taps, back, s->run.threads, from, to);
}

/** Spread light[1 + count][from->n], image and slopes of the pixels that have light, over
 * the pixels of `to`: values[1 + count][to->n]. Errors: NB_ERR_NOMEM. */
static nb_status spread_light(const spreading *s, const nb_footprint *fp,
                              const nb_slope_list *from, const double *light,
                              const nb_slope_list *to, double *values, nb_error *err)
{
    const size_t pixels = s->wanted->raster.pixels;
    double *all = nb_alloc(3 * pixels, sizeof *all, "derivatives", err);
    double *image = all, *slope = all + pixels, *out = slope + pixels;
    nb_status st = all ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; k <= s->job->count && !st; k++) {
        double *plane = k > 0 ? slope : image, **taps = NULL;
        memset(plane, 0, pixels * sizeof *plane);
        nb_slope_list_scatter(from, light + (size_t)k * from->n, plane);
        spread(s, NULL, 0, plane, out);
        if (k > 0)
            st = taps_slopes(s, fp, k - 1, &taps, err);
        if (taps && !st) {
            spread(s, taps, 0, image, slope);
            for (size_t i = 0; i < pixels; i++)
                out[i] += slope[i];
        }
        free_slopes(s, taps);
        nb_slope_list_gather(to, out, pixels, 1, to->n, values + (size_t)k * to->n);
    }
    nb_free(all);
    return st;
}

/** Render the light; the caller frees *from, *pixels, *light, also after an error. */
static nb_status render_light(const spreading *s, nb_slope_list *from,
                              nb_slope_pixels *pixels, double **light, nb_error *err)
{
    const size_t planes = (size_t)s->job->count + 1;
    nb_status st = nb_slope_scene_pixels(&s->parts.bragg, pixels, err);
    NB_TRY(nb_slope_list_open(&s->parts.bragg, pixels, from, err));
    if (!st &&
        !(*light = nb_alloc_raw(planes * from->n + 1, sizeof **light, "derivatives", err)))
        st = NB_ERR_NOMEM;
    return st ? st : nb_slope_list_fill(&s->run, from, from->n, *light, err);
}

/** Copy the scene with a mask that has only the listed pixels. Free *mask with
 * nb_free. */
static nb_status scene_of_list(const nb_scene *all, const nb_slope_list *list,
                               nb_scene *scene, uint8_t **mask, nb_error *err)
{
    *scene = *all;
    if (!(*mask = nb_alloc(scene->raster.pixels, 1, "mask", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < list->pixels->n; i++)
        memset(*mask + list->pixels->spans[i].at, 1, (size_t)list->pixels->spans[i].n);
    scene->raster.mask = *mask;
    return NB_OK;
}

nb_status nb_sim_footprint_at(const nb_sim *sim, const nb_slope_run *run,
                              const nb_slope_list *list, double *values, nb_error *err)
{
    nb_scene wanted;
    spreading s = {0};
    nb_slope_pixels pixels = {0};
    nb_slope_list from = {0};
    double *light = NULL;
    uint8_t *mask;
    nb_status st = scene_of_list(run->job->scene, list, &wanted, &mask, err);
    NB_TRY(open_spreading(sim, run, &wanted, &s, err));
    NB_TRY(render_light(&s, &from, &pixels, &light, err));
    NB_TRY(spread_light(&s, &sim->model.footprint, &from, light, list, values, err));
    nb_footprint_parts_free(&s.parts);
    nb_slope_pixels_free(&pixels);
    nb_slope_list_free(&from);
    nb_free(light);
    nb_free(mask);
    return st;
}

/* --- pullback --- */

/** Add the part of a gradient that comes from the taps: dloss times (dK/dp) I. */
static nb_status pull_taps(const spreading *s, const nb_footprint *fp,
                           const double *dloss, double *gradient, nb_error *err)
{
    const size_t pixels = s->wanted->raster.pixels;
    nb_slope_job image = s->light;
    nb_slope_run run = s->run;
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

nb_status nb_sim_footprint_pullback(const nb_sim *sim, const nb_slope_run *run,
                                    const double *dloss, double *gradient,
                                    nb_hkl_gradient *F, nb_error *err)
{
    const nb_scene *sc = run->job->scene;
    double *before = nb_alloc_raw(sc->raster.pixels, sizeof *before, "loss", err);
    spreading s;
    nb_status st = open_spreading(sim, run, sc, &s, err);
    if (!st && !before)
        st = NB_ERR_NOMEM;
    if (!st) {
        spread(&s, NULL, 1, dloss, before);
        st = nb_slope_pullback(&s.run, NB_REAL_FLOAT64, before, gradient, err);
    }
    NB_TRY(pull_taps(&s, &sim->model.footprint, dloss, gradient, err));
    if (!st && F)
        st = nb_slope_F(&s.run, NB_REAL_FLOAT64, before, F, err);
    nb_footprint_parts_free(&s.parts);
    nb_free(before);
    return st;
}
