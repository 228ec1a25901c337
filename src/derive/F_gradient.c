/* SPDX-License-Identifier: MIT */
/* Gradient of a loss by every entry of the table of F. */
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/pixel.h"
#include "../render/request.h"
#include "products.h"

enum { MAX_STRIPES = 16 };
#define MAX_BYTES 2.5e8 /* bytes; limit of the tables of all stripes together */

/** Tables of gradients, one for each stripe (rows that one thread takes in order). */
typedef struct F_sink {
    const nb_scene *scene;
    nb_real_type type;
    const void *dloss;
    size_t voxels;
    double *gradient; /* [stripes][voxels] */
    uint8_t *seen;    /* [stripes][voxels], 1 for entries that a pixel sees */
} F_sink;

/** Table for the contributions of a stripe. */
typedef struct F_table {
    const nb_factor_table *box;
    double *gradient;
    uint8_t *seen;
} F_table;

static void add(const F_table *to, int64_t at, double x)
{
    to->gradient[at] += x;
    to->seen[at] = 1;
}

static void scatter(const F_table *to, const nb_F_slope *F, double x)
{
    if (F->entry < 0)
        return;
    if (!F->interpolated) {
        add(to, F->entry, x);
        return;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int m = 0; m < 4; m++)
                add(to, F->entry + ((int64_t)i * to->box->nk + j) * to->box->nl + m,
                    x * F->w[0][i] * F->w[1][j] * F->w[2][m]);
}

/** Add all orientations of one source. weight: slope of the loss by F^2 L^2 (L: the
 * lattice factor). */
static void add_source(const nb_scene *sc, const nb_source *source, nb_vec3 q,
                       double weight, const F_table *to)
{
    for (int m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        const double h[3] = {nb_dot(u->a, q), nb_dot(u->b, q), nb_dot(u->c, q)};
        double h0[3], L;
        nb_F_slope F;
        for (int i = 0; i < 3; i++)
            h0[i] = nb_nearest_index(h[i]);
        L = nb_lattice_factor(&sc->lattice, h[0] - h0[0], h[1] - h0[1], h[2] - h0[2]);
        if (L == 0)
            continue;
        nb_F_slope_at(&sc->factors.table, source->table, h, h0, &F);
        scatter(to, &F, weight * 2 * F.F * L * L);
    }
}

static void add_ray(const nb_scene *sc, const nb_ray *ray, double weight,
                    const F_table *to)
{
    for (int j = 0; j < sc->beam.n_sources; j++) {
        const nb_source *source = &sc->beam.sources[j];
        nb_vec3 q = nb_scattering_vector(source, ray->direction);
        double w = weight * source->weight;
        if (nb_culled(&sc->factors, q))
            continue;
        if (sc->oversample_polar && !sc->beam.nopolar)
            w *= nb_polarization(sc->beam.polarization, source->incident, ray->direction,
                                 sc->beam.polar_axis);
        add_source(sc, source, q, w, to);
    }
}

static void add_pixel(const F_sink *k, const nb_span *span, int f, double dloss,
                      const F_table *to)
{
    const nb_scene *sc = k->scene;
    const nb_panel *panel = &sc->panels[span->panel];
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    int os = sc->oversample;
    double scale =
        dloss * sc->intensity_scale * nb_cached_factors(sc, panel, sensor, f, span->slow);
    for (int layer = 0; layer < sensor->layers; layer++)
        for (int i = 0; i < os * os; i++) {
            nb_ray ray =
                nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, os, f, i % os),
                          nb_subpixel(panel->pixel_slow, os, span->slow, i / os), layer);
            add_ray(sc, &ray,
                    scale * ray.capture * (sc->oversample_omega ? ray.omega : 1), to);
        }
}

static void take(void *sink, const nb_slope_values *row)
{
    const F_sink *k = sink;
    const size_t at = (size_t)row->stripe * k->voxels;
    const F_table to = {&k->scene->factors.table, k->gradient + at, k->seen + at};
    for (size_t i = 0; i < row->n; i++) {
        const nb_span *span = &row->spans[i];
        for (int f = 0; f < span->n; f++)
            add_pixel(k, span, span->fast + f,
                      nb_real(k->type, k->dloss, span->at + (size_t)f), &to);
    }
}

/** List the entries that were seen, in the order of the table. */
static nb_status list(const F_sink *k, nb_hkl_gradient *F, nb_error *err)
{
    const nb_factor_table *box = &k->scene->factors.table;
    size_t n = 0;
    for (size_t i = 0; i < k->voxels; i++)
        n += k->seen[i];
    F->hkl = nb_alloc_raw(n, sizeof *F->hkl, "gradient of F", err);
    F->gradient = nb_alloc_raw(n, sizeof *F->gradient, "gradient of F", err);
    if (!F->hkl || !F->gradient) {
        nb_hkl_gradient_free(F);
        return NB_ERR_NOMEM;
    }
    for (size_t i = 0; i < k->voxels; i++) {
        size_t nl = (size_t)box->nl, nk = (size_t)box->nk;
        if (!k->seen[i])
            continue;
        F->hkl[F->count][0] = (int32_t)(i / nl / nk) + box->hmin;
        F->hkl[F->count][1] = (int32_t)(i / nl % nk) + box->kmin;
        F->hkl[F->count][2] = (int32_t)(i % nl) + box->lmin;
        F->gradient[F->count++] = k->gradient[i];
    }
    return NB_OK;
}

/** Call take() for all pixels, which calculates the gradient of each pixel. */
static nb_status walk(const nb_slope_run *run, const nb_slope_sink *sink, nb_error *err)
{
    const nb_sums sums = {.job = run->job, .sink = sink};
    nb_request request = {.sums = &sums};
    nb_span *spans;
    nb_status st = nb_spans_build(run->job->scene, &spans, &request.n, err);
    request.spans = spans;
    NB_TRY(nb_slopes_walk(&request, &(nb_slope_rows){0}, run->threads, run->hooks, err));
    nb_free(spans);
    return st;
}

nb_status nb_slope_F(const nb_slope_run *run, nb_real_type type, const void *dloss,
                     nb_hkl_gradient *F, nb_error *err)
{
    const nb_factor_table *box = &run->job->scene->factors.table;
    F_sink k = {.scene = run->job->scene, .type = type, .dloss = dloss};
    nb_slope_sink sink = {.user = &k, .take = take};
    nb_status st;
    double room;
    memset(F, 0, sizeof *F);
    k.voxels = (size_t)box->nh * (size_t)box->nk * (size_t)box->nl;
    /* the number of stripes depends on the size of the table, so that the result does not
     * depend on the number of threads */
    room = MAX_BYTES / (9.0 * (double)(k.voxels + 1));
    sink.stripes = room > MAX_STRIPES ? MAX_STRIPES : room < 1 ? 1 : (int)room;
    k.gradient = nb_alloc((size_t)sink.stripes * k.voxels, sizeof *k.gradient,
                          "gradient of F", err);
    k.seen = nb_alloc((size_t)sink.stripes * k.voxels, 1, "gradient of F", err);
    st = k.gradient && k.seen ? NB_OK : NB_ERR_NOMEM;
    if (!st && k.voxels > 0)
        st = walk(run, &sink, err);
    for (size_t s = 1; s < (size_t)sink.stripes && !st; s++)
        for (size_t i = 0; i < k.voxels; i++) {
            k.gradient[i] += k.gradient[s * k.voxels + i];
            k.seen[i] |= k.seen[s * k.voxels + i];
        }
    NB_TRY(list(&k, F, err));
    nb_free(k.gradient);
    nb_free(k.seen);
    return st;
}

void nb_hkl_gradient_free(nb_hkl_gradient *F)
{
    if (!F)
        return;
    nb_free(F->hkl);
    nb_free(F->gradient);
    memset(F, 0, sizeof *F);
}
