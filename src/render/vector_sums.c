/* SPDX-License-Identifier: MIT */
#include "vector_sums.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/lattice.h"
#include "../plan/fixed_point.h"
#include "pixel_sums.h"
#include "vector_paths.h"

/* Limit in bytes of the table of incident directions. */
#define MAX_INCIDENT 2.5e8
enum {
    TOGETHER_MAX = NB_VECTOR_SUM_RUN / 2
}; /* limit of the sources of a group, whose gradients are added first */

static nb_slope_phase phase_of(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    if (nb_shape_law(lattice->shape) == NB_LAW_DECAY ||
        (plan->cells > NB_FIXED_CELLS && !nb_whole_cells(lattice)))
        return NB_PHASE_REAL;
    return (nb_slope_phase)nb_vector_mode(plan);
}

static const char *refuse_scene(const nb_scene *sc)
{
    if (sc->beam.n_sources > NB_VECTOR_MAX_FACTORS)
        return "there are too many sources";
    if (24.0 * sc->beam.n_sources * sc->lattice.n_orientations > MAX_INCIDENT)
        return "there are too many steps for its tables";
    return NULL;
}

static int applies(const nb_plan *plan, const char **why)
{
    const char *reason = plan->sums ? nb_vectors_refuse(plan) : "no slopes are wanted";
    const double turns = phase_of(plan) == NB_PHASE_FRINGES ? plan->cells : 1;
    if (!reason)
        reason = nb_slopes_need_double(plan, plan->sums);
    if (!reason)
        reason = refuse_scene(plan->scene);
    if (!reason)
        reason = nb_fixed_refuse(plan, turns, NB_VECTOR_SUM_RUN * nb_slope_steepest(plan));
    return reason ? nb_path_refuse(why, reason) : 1;
}

/** Approximate seconds. Up to 30 parameters take about as long as the photons alone. */
static double seconds(const nb_plan *plan)
{
    return 2 * nb_fixed_seconds(plan);
}

static nb_slope_level level_of(unsigned sums)
{
    if (sums & (NB_SLOPE_RAY | NB_SLOPE_MOSAIC | NB_SLOPE_SPINDLE | NB_SLOPE_FUDGE |
                NB_SLOPE_BEAM))
        return NB_SLOPES_ALL;
    if (sums & NB_SLOPE_CELLS)
        return NB_SLOPES_N;
    return sums & (NB_SLOPE_INDEX | NB_SLOPE_WAVE) ? NB_SLOPES_H : NB_SLOPES_IMAGE;
}

static void copy_vector(nb_vec3 from, double scale, float *to)
{
    to[0] = (float)(scale * from.x);
    to[1] = (float)(scale * from.y);
    to[2] = (float)(scale * from.z);
}

/** Allocate the tables. */
static nb_status reserve(nb_vector_slopes *v, nb_error *err)
{
    const nb_slope_job *job = v->job;
    size_t m = (size_t)job->scene->lattice.n_orientations,
           s = (size_t)job->scene->beam.n_sources;
    static const char what[] = "tables for derivatives";
    int spectrum = job->spectrum && (job->sums & NB_SLOPE_WAVE);
    if (!(v->cells = nb_alloc(m, sizeof *v->cells, what, err)) ||
        !(v->groups = nb_alloc(s, sizeof *v->groups, what, err)) ||
        !(v->relative = nb_alloc(s, sizeof *v->relative, what, err)) ||
        !(v->incident = nb_alloc(m * s, sizeof *v->incident, what, err)) ||
        ((job->sums & NB_SLOPE_MOSAIC) &&
         !(v->axes = nb_alloc(m * (size_t)job->n_turns, sizeof *v->axes, what, err))) ||
        ((job->sums & NB_SLOPE_SPINDLE) &&
         !(v->turned = nb_alloc(m, sizeof *v->turned, what, err))) ||
        ((job->sums & NB_SLOPE_BEAM) &&
         !(v->beam = nb_alloc(s, sizeof *v->beam, what, err))) ||
        (spectrum && !(v->spectrum = nb_alloc(s, sizeof *v->spectrum, what, err))))
        return NB_ERR_NOMEM;
    if (spectrum)
        v->level = NB_SLOPES_ALL;
    return NB_OK;
}

/** True if a source has the same direction as the sources of a group. */
static int fits_group(const nb_vector_source *s, const nb_slope_group *group,
                      const nb_vector_source *sources)
{
    const nb_vec3 a = s->incident, b = sources[group->first].incident;
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void fill_sources(nb_vector_slopes *v)
{
    const nb_scene *sc = v->job->scene;
    const nb_vector_source *sources = v->plans->sources;
    v->start =
        v->phase == NB_PHASE_INDEX || v->phase == NB_PHASE_PARTS ? nb_fixed_start(1) : 0;
    for (int s = 0; s < sc->beam.n_sources; s++) {
        nb_slope_group *group = &v->groups[v->n_groups];
        const int same = v->n_groups > 0 && fits_group(&sources[s], group - 1, sources);
        if (same && s - group[-1].first < TOGETHER_MAX)
            group[-1].end++;
        else
            v->groups[v->n_groups++] =
                (nb_slope_group){s, s + 1, same ? v->n_directions - 1 : v->n_directions++};
        group = &v->groups[v->n_groups - 1];
        if (group->end - group->first > v->together)
            v->together = group->end - group->first;
        v->relative[s] = (float)(sources[s].inv_lambda / v->wavenumber);
        if (v->spectrum)
            v->spectrum[s] = (float)(v->job->spectrum[s] * v->relative[s]);
    }
    for (int m = 0; m < sc->lattice.n_orientations; m++)
        for (int k = 0; k < v->n_groups; k++) {
            const nb_orientation *u = &sc->lattice.orientations[m];
            const nb_vec3 i = sources[v->groups[k].first].incident;
            double *to = v->incident[m * v->n_directions + v->groups[k].direction];
            to[0] = nb_dot(u->a, i);
            to[1] = nb_dot(u->b, i);
            to[2] = nb_dot(u->c, i);
        }
}

/** Fill v->beam: the changes of the incident directions. */
static void fill_beam(nb_vector_slopes *v)
{
    for (int k = 0; k < v->n_groups; k++)
        for (int a = 0; a < 2; a++)
            if (v->job->beam[a])
                copy_vector(v->job->beam[a][v->groups[k].first], 1,
                            v->beam[v->groups[k].direction][a]);
}

static void fill(nb_vector_slopes *v)
{
    const nb_lattice *lattice = &v->job->scene->lattice;
    double scale[3];
    for (int i = 0; i < 3; i++)
        scale[i] = nb_slope_varies(lattice, i) ? v->wavenumber : 0;
    for (int m = 0; m < lattice->n_orientations; m++) {
        const nb_orientation *u = &lattice->orientations[m];
        copy_vector(u->a, scale[0], v->cells[m]);
        copy_vector(u->b, scale[1], v->cells[m] + 3);
        copy_vector(u->c, scale[2], v->cells[m] + 6);
        if (v->turned)
            v->turned[m] = (float)((m / lattice->n_domains + 0.5) / lattice->n_phi);
    }
    for (int m = 0; v->axes && m < lattice->n_orientations * v->job->n_turns; m++)
        copy_vector(v->job->turns[m], 1, v->axes[m]);
    fill_sources(v);
    if (v->beam)
        fill_beam(v);
}

static void fill_line(const nb_vector_slopes *v, const nb_tangent *t, nb_slope_line *line)
{
    const nb_scene *sc = v->job->scene;
    double by[SLOPE_SUMS] = {0}, F = sc->factors.table.default_F;
    by[SLOPE_IMAGE] = t->crystal + t->image + (F != 0 ? 2 * t->default_F / F : 0);
    for (int i = 0; i < 9; i++)
        by[SLOPE_H + i] = t->index[i] - (i % 4 == 0 ? t->wave : 0);
    for (int i = 0; i < 3; i++)
        by[SLOPE_N + i] = t->cells[i];
    by[SLOPE_PHI] = -t->phi;
    by[SLOPE_OSC] = -t->osc;
    for (int i = 0; i < NB_TURNS; i++)
        by[nb_slope_turn(i)] = -t->mosaic[i];
    by[SLOPE_DISPERSION] = -t->spectrum;
    by[SLOPE_FUDGE] = -2.0 / v->width * t->fudge;
    by[SLOPE_BEAM] = t->beam[0];
    by[SLOPE_BEAM + 1] = t->beam[1];
    line->captured = v->weights * (t->background + t->image * sc->background);
    line->light_captured =
        v->weights > 0 ? (float)(line->captured / (v->weights * v->unit)) : 0;
    line->polarization = t->polarization;
    memcpy(line->beam, t->beam, sizeof line->beam);
    for (int i = 0; i < SLOPE_SUMS; i++)
        if (by[i] != 0) {
            line->sum[line->n] = i;
            line->light[i] = (float)by[i];
            if (i >= SLOPE_N && i < SLOPE_V)
                line->light_parts |= 1u << (i - (i - SLOPE_N) % 3);
            line->by[line->n++] = v->unit * by[i];
        }
}

static void fill_place(const nb_panel_slope *by, nb_place_line *line)
{
    const nb_vec3 vectors[4] = {by->pix0, by->fast, by->slow, by->normal};
    double all[PULL_SUMS];
    for (int i = 0; i < 4; i++) {
        all[3 * i] = vectors[i].x;
        all[3 * i + 1] = vectors[i].y;
        all[3 * i + 2] = vectors[i].z;
    }
    all[PULL_CLOSE] = by->close_distance;
    all[PULL_STEP] = by->layer_step;
    all[PULL_MU] = by->mu;
    for (int i = 0; i < PULL_SUMS; i++)
        if (all[i] != 0) {
            line->sum[line->n] = i;
            line->by[line->n++] = all[i];
        }
}

static nb_status fill_places(nb_vector_slopes *v, nb_error *err)
{
    const nb_slope_job *job = v->job;
    const size_t count = (size_t)job->count, panels = (size_t)job->scene->n_panels;
    if (!nb_slope_job_moves(job))
        return NB_OK;
    v->places = nb_alloc(panels * count, sizeof *v->places, "tables for derivatives", err);
    if (!v->places)
        return NB_ERR_NOMEM;
    for (size_t k = 0; k < panels; k++)
        for (size_t i = 0; i < count; i++)
            if (job->tangents[i].panels)
                fill_place(&job->tangents[i].panels[k], &v->places[k * count + i]);
    return NB_OK;
}

static nb_status fill_lines(nb_vector_slopes *v, nb_error *err)
{
    const nb_slope_job *job = v->job;
    v->lines =
        nb_alloc((size_t)job->count + 1, sizeof *v->lines, "tables for derivatives", err);
    if (!v->lines)
        return NB_ERR_NOMEM;
    for (int i = 0; i < job->count; i++)
        fill_line(v, &job->tangents[i], &v->lines[i]);
    return fill_places(v, err);
}

/** True for a light scene: each pixel has one step, floats hold its numbers, and the sums
 * of kernel_slope_light.h suffice for all parameters. */
static int is_light(const nb_vector_slopes *v, const nb_plan *plan)
{
    const char *why;
    if (v->places || v->level > NB_SLOPES_N || !nb_simple_applies(plan, &why))
        return 0;
    for (int i = 0; i < v->job->count; i++)
        if (v->lines[i].polarization != 0)
            return 0;
    return v->phase != NB_PHASE_REAL;
}

static void close_tables(nb_vector_slopes *v)
{
    nb_vector_plans_free(v->plans);
    nb_free(v->lines);
    nb_free(v->places);
    nb_free(v->incident);
    nb_free(v->groups);
    nb_free(v->relative);
    nb_free(v->cells);
    nb_free(v->axes);
    nb_free(v->turned);
    nb_free(v->spectrum);
    nb_free(v->beam);
}

/** Fill the tables; v is zeroed. close_tables frees v, after an error, too. */
static nb_status open_tables(const nb_render *r, nb_vector_slopes *v, nb_error *err)
{
    const nb_plan *plan = r->plan;
    const nb_lattice *lattice = &plan->scene->lattice;
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    double height = lattice->N[0] * lattice->N[1] * lattice->N[2] * shape.height;
    nb_status st;
    v->job = plan->sums;
    v->light_dot = r->kernels.slope_dot;
    v->phase = phase_of(plan);
    v->level = level_of(v->job->sums);
    if ((st = nb_vector_plans_build(plan, NB_SUMS_FIXED, NULL, &v->plans, err)) ||
        (st = reserve(v, err)))
        return st;
    v->width = shape.width;
    v->unit = v->plans->table.unit;
    if (shape.law == NB_LAW_DECAY)
        v->unit *= ldexp(height * height, -SLOPE_RAISED);
    v->wavenumber = v->plans->sources[0].inv_lambda;
    for (int i = 0; i < plan->scene->beam.n_sources && !plan->scene->amorphous; i++)
        v->weights += v->plans->sources[i].weight * lattice->n_orientations;
    fill(v);
    NB_FORWARD(fill_lines(v, err));
    v->light = !plan->scene->amorphous && is_light(v, plan);
    return NB_OK;
}

/** Make the parameters' slopes from the sums of a light scene's pixels. */
static void light_dot(const void *of, const nb_span *spans, size_t n, const double *dloss,
                      double *sums)
{
    const nb_vector_slopes *v = of;
    double total[SLOPE_LIGHT] = {0};
    v->light_dot(v, spans, n, dloss, total);
    for (int i = 0; i < v->job->count; i++) {
        const nb_slope_line *by = &v->lines[i];
        sums[i] += by->light_captured * total[SLOPE_CAPTURED];
        for (int k = 0; k < by->n; k++)
            sums[i] += by->light[by->sum[k]] * total[by->sum[k]];
    }
}

/** Add the slopes of the materials by the reference, which has few terms per ray, to the
 * crystal's slopes by the kernel. */
static void add_materials(const void *of, const nb_span *spans, size_t n, double *out,
                          size_t stride)
{
    const nb_vector_slopes *v = of;
    double slopes[1 + NB_VARIABLES_MAX];
    v->crystal(of, spans, n, out, stride);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n; k++, out++) {
            const nb_span pixel = {spans[i].panel, spans[i].fast + k, spans[i].slow, 1,
                                   spans[i].at + (size_t)k};
            nb_slopes_reference(&v->materials, &pixel, 1, slopes, 1);
            for (int p = 0; p <= v->job->count; p++)
                out[(size_t)p * stride] += slopes[p];
        }
}

static nb_status run(nb_render *r, nb_error *err)
{
    nb_vector_slopes v = {.crystal = r->kernels.slopes};
    nb_slope_rows rows = {.of = &v, .row = r->kernels.slopes, .single = 1};
    nb_scene dark = *r->plan->scene;
    nb_status st = open_tables(r, &v, err);
    if (dark.amorphous) {
        dark.factors.dmin = INFINITY;
        dark.factors.table.nh = 0;
        dark.factors.table.default_F = 0;
        v.materials = *v.job;
        v.materials.scene = &dark;
        rows.row = add_materials;
    }
    if (v.light) {
        rows.floats = r->kernels.slope_floats;
        rows.dot = light_dot;
    }
    NB_TRY(nb_slopes_walk(r->request, &rows, r->threads, r->hooks, err));
    close_tables(&v);
    return st;
}

const nb_path nb_path_slopes = {
    .name = "slopes", .sums = 1, .applies = applies, .seconds = seconds, .run = run};
