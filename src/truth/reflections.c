/* SPDX-License-Identifier: MIT */
#include "reflection_table.h"

#include <stdlib.h>
#include <string.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/pixel.h"
#include "../render/request.h"
#include "../render/simd.h"

/** Number of rows that are divided at the same time and then added up in order. */
enum { BLOCK = 32 };

/** Samples that are left out may hold this fraction of a pixel's photons. */
#define OMITTED 1e-6

/** In an image of floats, photons of the crystal are lost if they are fewer than this
 * fraction of the background. */
#define TOLD_APART 1e-5

/** A row of the image. */
typedef struct image_row {
    nb_reflection_table table;
    double photons, background, diffuse;
    int failed;
} image_row;

typedef struct finder {
    const nb_reflection_job *job;
    const nb_span *spans; /* spans of the rendered pixels */
    const size_t *first;  /* [rows + 1], first span of each row */
    int rows;
    const float *image; /* NULL: photons are those of samples */
    float *made;        /* owned; image that is made here, or NULL */
    float *background;  /* owned; photons of each pixel except Bragg light, or NULL */
    /* a pixel is divided only if the crystal has at least this number of photons in it */
    double cut;
    int divided; /* 1: the pixels are divided by spots */
    int dark;    /* 1: `background` is only the diffuse light of the mix */
} finder;

/** Scene of the image (after a footprint). */
static const nb_scene *seen_by(const nb_reflection_job *job)
{
    return job->spread ? job->spread->seen : job->scene;
}

/** Make all photons except those of the crystal. */
static nb_status render_background(finder *f, nb_error *err)
{
    const nb_reflection_job *job = f->job;
    const nb_scene *sc = seen_by(job);
    f->dark = !job->mix->background && !job->mix->add;
    if (f->dark && !job->mix->light)
        return NB_OK;
    f->background = nb_alloc_large(sc->raster.pixels, sizeof *f->background,
                                   "background of the image", err);
    if (!f->background)
        return NB_ERR_NOMEM;
    memset(f->background, 0, sc->raster.pixels * sizeof *f->background);
    if (job->mix->absorb && job->mix->light)
        nb_mix_absorb(job->mix, sc, job->threads, f->background);
    return nb_mix_apply(job->mix, sc, job->threads, f->background, err);
}

static double background_in(const finder *f, size_t pixel)
{
    return f->background ? f->background[pixel] : 0;
}

/** Photons of a pixel to divide, or 0. */
static double crystal_in(const finder *f, double photons, double background)
{
    photons -= background;
    return photons > 0 && photons >= f->cut && photons > TOLD_APART * background ? photons
                                                                                 : 0;
}

/** Photons of a pixel of the image to divide, or 0. */
static double photons_in(const finder *f, size_t pixel)
{
    const double background = background_in(f, pixel);
    return crystal_in(f, f->image[pixel] + (f->job->spread ? background : 0), background);
}

/** Photons that a weight of 1 stands for in a pixel. */
static double unit_in(const finder *f, const nb_panel *panel, int fast, int slow)
{
    const nb_scene *sc = f->job->scene;
    const size_t pixel = nb_panel_pixel(panel, fast, slow);
    const double factor = f->job->spread ? f->job->spread->parts[pixel]
                                         : nb_mix_crystal(f->job->mix, pixel);
    return factor * sc->intensity_scale *
           nb_cached_factors(sc, panel, &sc->sensors[panel->sensor], fast, slow);
}

/** Least weight of a sample that counts. */
static double least_weight(const finder *f, const nb_panel *panel, int fast, int slow,
                           double photons)
{
    const nb_scene *sc = f->job->scene;
    const double unit = unit_in(f, panel, fast, slow),
                 terms = (double)sc->samples * sc->sensors[panel->sensor].layers;
    return unit > 0 ? OMITTED * photons / (unit * terms) : INFINITY;
}

/** Position of a sample. The sample is left out if its weight is less than `least`. */
typedef struct sample_place {
    double fast, slow, weight, least;
    const nb_source *source;
    nb_vec3 q;
} sample_place;

/** Upper bound of F_latt^2 of the parallelepiped: |sin(pi N d)/sin(pi d)| <= min(N, 1/(2|d|)). */
static double lattice_bound(double d, double N)
{
    double limit = 0.25 / (d * d), top = N * N;
    return N > 1 ? limit < top ? limit : top : 1;
}

static int is_small(const nb_scene *sc, const nb_orientation *cell, const sample_place *at)
{
    double h, k, l, h0, k0, l0, F;
    if (nb_shape_law(sc->lattice.shape) != NB_LAW_FRINGES || sc->factors.table.interpolate)
        return 0;
    h = nb_dot(cell->a, at->q);
    k = nb_dot(cell->b, at->q);
    l = nb_dot(cell->c, at->q);
    h0 = nb_nearest_index(h);
    k0 = nb_nearest_index(k);
    l0 = nb_nearest_index(l);
    F = nb_F_nearest(&sc->factors.table, at->source->table, h0, k0, l0);
    return F * F * lattice_bound(h - h0, sc->lattice.N[0]) *
               lattice_bound(k - k0, sc->lattice.N[1]) *
               lattice_bound(l - l0, sc->lattice.N[2]) * at->weight <
           at->least;
}

/** Add the samples of all orientations for one ray and one source. */
static int add_orientations(const finder *f, const sample_place *at,
                            nb_reflection_table *t)
{
    const nb_scene *sc = f->job->scene;
    for (int i = 0; i < sc->lattice.n_orientations; i++) {
        double phi = f->job->phi_first + i / sc->lattice.n_domains * f->job->phi_step, w;
        nb_sample p;
        int hkl[3];
        if (is_small(sc, &sc->lattice.orientations[i], at))
            continue;
        p = nb_sample_at(&sc->lattice, &sc->factors.table, at->source->table,
                         &sc->lattice.orientations[i], at->q);
        w = p.F_cell * p.F_cell * p.F_latt * p.F_latt * at->weight;
        if (!(w > 0) || w < at->least)
            continue;
        hkl[0] = (int)p.h0;
        hkl[1] = (int)p.k0;
        hkl[2] = (int)p.l0;
        if (!nb_reflection_add(t, hkl,
                               (const double[NB_SUMS]){w, w * at->fast, w * at->slow,
                                                       w * phi, w * at->source->lambda}))
            return 0;
    }
    return 1;
}

/** Add the samples of the ray to one sub-pixel. */
static int add_sources(const finder *f, const nb_ray *ray, sample_place at,
                       nb_reflection_table *t)
{
    const nb_scene *sc = f->job->scene;
    double weight = at.weight;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        at.source = source;
        at.q = nb_scattering_vector(source, ray->direction);
        at.weight = weight * source->weight;
        if (nb_culled(&sc->factors, at.q))
            continue;
        if (sc->oversample_polar && !sc->beam.nopolar)
            at.weight *= nb_polarization(sc->beam.polarization, source->incident,
                                         ray->direction, sc->beam.polar_axis);
        if (!add_orientations(f, &at, t))
            return 0;
    }
    return 1;
}

static int divide_pixel(const finder *f, const nb_span *span, int fast, double photons,
                        nb_reflection_table *t)
{
    const nb_scene *sc = f->job->scene;
    const nb_panel *panel = &sc->panels[span->panel];
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    int os = sc->oversample, slow = span->slow;
    const double least = least_weight(f, panel, fast, slow, photons);
    for (int layer = 0; layer < sensor->layers; layer++)
        for (int s = 0; s < os; s++)
            for (int i = 0; i < os; i++) {
                nb_ray ray =
                    nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, fast, i),
                              nb_subpixel(panel->pixel_slow, os, slow, s), layer);
                sample_place at = {fast + (i + 0.5) / os,
                                   slow + (s + 0.5) / os,
                                   ray.capture,
                                   least,
                                   NULL,
                                   ray.direction};
                if (sc->oversample_omega)
                    at.weight *= ray.omega;
                if (!add_sources(f, &ray, at, t))
                    return 0;
            }
    nb_reflection_end_pixel(t, photons,
                            background_in(f, span->at + (size_t)(fast - span->fast)));
    return 1;
}

/** Add the photons of the pixels of a span: all photons, background, and diffuse
 * light. */
static void sum_span(const finder *f, const nb_span *span, image_row *row)
{
    double photons = row->photons, background = row->background, diffuse = 0;
    for (int i = 0; f->image && i < span->n; i++)
        photons += f->image[span->at + (size_t)i];
    for (int i = 0; f->background && !f->dark && i < span->n; i++)
        background += f->background[span->at + (size_t)i];
    for (int i = 0; f->job->mix->light && i < span->n; i++)
        diffuse += nb_mix_light(f->job->mix, span->at + (size_t)i);
    row->photons = photons;
    row->background = background - (f->dark ? 0 : diffuse);
    row->diffuse += diffuse;
}

static void divide_span(const finder *f, const nb_span *span, image_row *row)
{
    row->table.panel = span->panel;
    for (int i = 0; i < span->n && !row->failed; i++) {
        const double photons = photons_in(f, span->at + (size_t)i);
        if (photons > 0)
            row->failed = !divide_pixel(f, span, span->fast + i, photons, &row->table);
    }
}

static void divide_row(const finder *f, int r, image_row *row)
{
    for (size_t i = f->first[r]; i < f->first[r + 1]; i++) {
        sum_span(f, &f->spans[i], row);
        if (!f->divided)
            divide_span(f, &f->spans[i], row);
    }
}

/** Add the rows of a block in order, and empty them. Returns 0 if memory is exhausted. */
static int collect(image_row *rows, int n, image_row *all)
{
    int ok = 1;
    for (int i = 0; i < n; i++) {
        ok = ok && !rows[i].failed && nb_reflection_merge(&all->table, &rows[i].table);
        all->photons += rows[i].photons;
        all->background += rows[i].background;
        all->diffuse += rows[i].diffuse;
        nb_reflection_table_free(&rows[i].table);
        memset(&rows[i], 0, sizeof rows[i]);
    }
    return ok;
}

/* ------------------------------------------------------------------ by spots */

/** Photons of a pixel to divide (0 if masked, 1 without an image); a function for
 * nb_spot_shares. */
static double photons_at(const void *user, int k, int fast, int slow, double *least,
                         double *background)
{
    const finder *f = user;
    const nb_scene *sc = f->job->scene;
    const nb_panel *panel = &sc->panels[k];
    const size_t pixel = nb_panel_pixel(panel, fast, slow);
    double photons = 0;
    *background = background_in(f, pixel);
    *least = 0;
    if (sc->raster.mask && !sc->raster.mask[pixel])
        return 0;
    if (!f->image)
        return 1;
    photons = photons_in(f, pixel);
    if (photons > 0)
        *least = least_weight(f, panel, fast, slow, photons);
    return photons;
}

/** Photons of a pixel with this sum of weights; a function for nb_spot_shares. */
static double own_photons(const void *user, int k, int fast, int slow, double weight,
                          double *divided)
{
    const finder *f = user;
    const nb_panel *panel = &f->job->scene->panels[k];
    const size_t pixel = nb_panel_pixel(panel, fast, slow);
    const double photons = weight * unit_in(f, panel, fast, slow),
                 background = background_in(f, pixel);
    *divided = crystal_in(f, photons + background, background);
    return photons;
}

/** Photons that the dimmest divided pixel may lack: fewer than the least weight of a
 * sample. */
static double bound_of(const finder *f)
{
    const nb_beam *beam = &f->job->scene->beam;
    double sum = 0, max = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        sum += beam->sources[i].weight;
        max = fmax(max, beam->sources[i].weight);
    }
    max *= fmax(1, f->job->mix->max);
    return max > 0 ? OMITTED * f->cut * sum / (max * beam->n_sources) : 0;
}

/** Function of an instruction set that draws spots, or NULL. */
static nb_spot_draw *draw_of(nb_isa isa)
{
    const nb_kernel_set *set = nb_kernel_sets;
    nb_isa here;
    if (nb_cpu_choose(isa, &here, NULL) != NB_OK)
        return NULL;
    while (set->isa != here && set->draw)
        set++;
    return set->draw;
}

/** Divide the pixels by reflections and set f->divided, if spots of the crystal end. */
static nb_status divide_by_spots(finder *f, nb_reflection_table *table, nb_error *err)
{
    const nb_reflection_job *job = f->job;
    nb_spot_draw *const draw = draw_of(job->isa);
    const nb_engine engine = {0};
    nb_scene whole = *job->scene;
    nb_plan plan;
    nb_spots spots;
    nb_spot_limits limits = {0};
    nb_spots_result result = {0};
    nb_status st;
    whole.raster.mask = NULL;
    whole.raster.roi = (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    plan = nb_plan_of(&whole, NB_PRECISION_MIXED, &engine);
    plan.tolerance = (nb_tolerance){.skip = job->by_spots, .photons = bound_of(f)};
    if (!draw || nb_spots_refuse(&plan))
        return NB_OK;
    NB_FORWARD(nb_spots_build(&plan, &spots, err));
    nb_spots_limit(&spots, &plan.tolerance, &limits, &result);
    f->divided = !result.refused;
    if (f->divided) {
        nb_spot_shares shares = {.job = job,
                                 .spots = &spots,
                                 .limits = &limits,
                                 .photons = photons_at,
                                 .own = f->image ? NULL : own_photons,
                                 .user = f,
                                 .draw = draw};
        nb_vector_plan *plans = NULL;
        st = nb_vector_plans_build(&plan, NB_SUMS_DOUBLE, NULL, &plans, err);
        shares.plans = plans;
        NB_TRY(nb_spot_shares_add(&shares, table, err));
        nb_vector_plans_free(plans);
    }
    nb_spots_free(&spots);
    return st;
}

/* ------------------------------------------------------------------ the list */

static int by_index(const void *a, const void *b)
{
    const nb_reflection *x = a, *y = b;
    if (x->h != y->h)
        return x->h < y->h ? -1 : 1;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    if (x->l != y->l)
        return x->l < y->l ? -1 : 1;
    return (x->panel > y->panel) - (x->panel < y->panel);
}

/** Table of the source with the nearest wavelength [m], or the first of equals. */
static int table_near(const nb_beam *beam, double lambda)
{
    const nb_source *best = beam->sources;
    for (int i = 1; i < beam->n_sources; i++)
        if (fabs(beam->sources[i].lambda - lambda) < fabs(best->lambda - lambda))
            best = &beam->sources[i];
    return best->table;
}

static nb_reflection reflection_of(const nb_scene *sc, const nb_reflection_entry *e)
{
    double n = e->sum[NB_SUM_WEIGHT];
    nb_reflection spot = {0};
    spot.h = e->h;
    spot.k = e->k;
    spot.l = e->l;
    spot.panel = e->panel;
    spot.fast = e->sum[NB_SUM_FAST] / n;
    spot.slow = e->sum[NB_SUM_SLOW] / n;
    spot.intensity = n;
    spot.peak = e->peak;
    spot.background = e->under / n;
    spot.pixels = n * n / e->square;
    spot.sigma = n / sqrt(e->fit);
    spot.phi_deg = e->sum[NB_SUM_PHI] / n / NB_DEG;
    spot.wavelength_A = e->sum[NB_SUM_LAMBDA] / n * 1e10;
    spot.F = nb_F_nearest(&sc->factors.table,
                          sc->factors.table.n_tables > 1
                              ? table_near(&sc->beam, e->sum[NB_SUM_LAMBDA] / n)
                              : 0,
                          e->h, e->k, e->l);
    return spot;
}

static nb_status make_list(const finder *f, const image_row *all, nb_reflections *out,
                           nb_error *err)
{
    const nb_reflection_job *job = f->job;
    const nb_reflection_table *t = &all->table;
    double listed = 0;
    out->list = nb_alloc((size_t)t->count, sizeof *out->list, "spots", err);
    if (!out->list)
        return NB_ERR_NOMEM;
    for (int i = 0; i < t->count; i++) {
        double n = t->list[i].sum[NB_SUM_WEIGHT];
        if (n > 0 && n >= job->minimum)
            out->list[out->count++] = reflection_of(job->scene, &t->list[i]);
    }
    if (out->count)
        qsort(out->list, out->count, sizeof *out->list, by_index);
    for (size_t i = 0; i < out->count; i++)
        listed += out->list[i].intensity;
    out->panels = job->scene->n_panels;
    out->background = all->background;
    out->diffuse = all->diffuse;
    out->unassigned = -listed;
    out->unassigned += f->image ? all->photons : t->photons;
    if (f->image && !job->spread)
        out->unassigned -= all->background + all->diffuse;
    return NB_OK;
}

/** Make the image if no image is given and the pixels are not divided by spots. */
static nb_status make_image(finder *f, nb_error *err)
{
    nb_status st;
    if (f->image || f->divided)
        return NB_OK;
    f->made = nb_alloc_large(f->job->scene->raster.pixels, sizeof *f->made, "image", err);
    if (!f->made)
        return NB_ERR_NOMEM;
    NB_FORWARD(f->job->render(f->job->user, f->made, err));
    f->image = f->made;
    return NB_OK;
}

/** Divide the rows, a block at a time. */
static nb_status divide_image(const finder *f, image_row *rows, image_row *all,
                              nb_error *err)
{
    const nb_hooks *hooks = f->job->hooks;
    int threads = nb_thread_count(f->job->threads);
    (void)threads;
    for (int first = 0; first < f->rows; first += BLOCK) {
        int n = f->rows - first < BLOCK ? f->rows - first : BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
        for (int i = 0; i < n; i++)
            divide_row(f, first + i, &rows[i]);
        if (!collect(rows, n, all))
            return nb_fail_memory(err, 0, "spots");
        if (hooks && hooks->progress &&
            hooks->progress(hooks->user, (double)(first + n) / f->rows))
            return nb_fail(err, NB_ERR_CANCELLED, "stopped before the spots were listed");
    }
    return NB_OK;
}

nb_status nb_reflections_find(const nb_reflection_job *job, nb_reflections *out,
                              nb_error *err)
{
    finder f = {.job = job, .image = job->image, .cut = job->minimum / 1000};
    image_row *rows = nb_alloc(BLOCK, sizeof *rows, "spots", err), all = {0};
    nb_request request = {0};
    nb_span *spans = NULL;
    size_t *first = NULL;
    nb_status st =
        rows ? nb_spans_build(job->scene, &spans, &request.n, err) : NB_ERR_NOMEM;
    memset(out, 0, sizeof *out);
    f.spans = request.spans = spans;
    NB_TRY(nb_request_rows(&request, &first, &f.rows, err));
    f.first = first;
    NB_TRY(render_background(&f, err));
    NB_TRY(divide_by_spots(&f, &all.table, err));
    NB_TRY(make_image(&f, err));
    NB_TRY(divide_image(&f, rows, &all, err));
    NB_TRY(make_list(&f, &all, out, err));
    nb_reflection_table_free(&all.table);
    nb_free(f.made);
    nb_free(f.background);
    nb_free(first);
    nb_free(spans);
    nb_free(rows);
    return st;
}
