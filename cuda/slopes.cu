/* SPDX-License-Identifier: MIT */
/* Derivatives on the device: tables, launches, and what comes back. */
#include "slopes.h"

#include <string.h>

#include "../src/physics/limits.h"

extern "C" {
#include "../src/plan/one_table.h"
}

enum { PARTS = 20, ALIGN = 64 };
#define CHUNK_BYTES 1e9 /* of planes on the device at a time */

struct nb_cuda_slopes {
    nb_cuda_mirror tables, spans; /* small arrays and structs; spans and their numbers */
    nb_cuda_mirror photons, background;
    nb_cuda_buffer planes, dloss, weights, partial, sums;
};

/** Bytes that go to the device in one piece, each part at its address there. */
typedef struct parcel {
    struct {
        const void *from;
        size_t at, bytes;
    } parts[PARTS];
    int n;
    size_t bytes;
    char *base; /* on the device */
} parcel;

static int add_part(parcel *p, const void *from, size_t bytes)
{
    p->parts[p->n].from = from;
    p->parts[p->n].at = p->bytes;
    p->parts[p->n].bytes = from ? bytes : 0;
    p->bytes += (p->parts[p->n].bytes + ALIGN - 1) / ALIGN * ALIGN;
    return p->n++;
}

/** Where a part will be; NULL for one that is not there. */
template <typename T> static const T *part_of(const parcel *p, int i, const T *from)
{
    return from ? (const T *)(p->base + p->parts[i].at) : NULL;
}

static nb_status reserve_parcel(nb_cuda_mirror *to, parcel *p, nb_error *err)
{
    nb_status st =
        nb_cuda_reserve(&to->device, p->bytes + ALIGN, "the tables of derivatives", err);
    p->base = (char *)to->device.at;
    return st;
}

static nb_status send_parcel(nb_backend_state *state, nb_cuda_mirror *to, const parcel *p,
                             nb_error *err)
{
    const char *what = "the tables of derivatives";
    char *bytes = (char *)nb_alloc(p->bytes + ALIGN, 1, what, err);
    nb_status st;
    if (!bytes)
        return NB_ERR_NOMEM;
    for (int i = 0; i < p->n; i++)
        if (p->parts[i].bytes)
            memcpy(bytes + p->parts[i].at, p->parts[i].from, p->parts[i].bytes);
    st = nb_cuda_upload_mirror(state, to, bytes, p->bytes + ALIGN, what, err);
    nb_free(bytes);
    return st;
}

/** A pass over pixels. */
typedef struct slope_pass {
    nb_backend_state *state;
    nb_cuda_slopes *own;
    const nb_slope_task *task;
    nb_plan plan;
    nb_term_case how;
    int fast;
    nb_cuda_launch launch;       /* its scene has the device's addresses */
    nb_cuda_factor_squares F2;   /* fast */
    nb_term_tables tables;       /* fast; on the host */
    nb_contraction contraction;  /* on the host */
    nb_cuda_slope_job job;       /* on the device */
    const nb_fit *fit;           /* there, of a normal equation's observation */
    int64_t pixels, chunk, done; /* chunk: pixels at a time */
} slope_pass;

static nb_engine engine_of(const nb_backend_state *state)
{
    nb_engine engine = {};
    engine.size = state->device.multiprocessors / 132.0;
    engine.fp64_ratio = state->device.fp64_ratio;
    return engine;
}

static int applies(const nb_slope_job *job, int numbers, const char **why)
{
    if (job->n_entries > NB_DEVICE_ENTRIES)
        *why = "more than 8 entries of F are named";
    else if (numbers > NB_CUDA_FIT_MOST)
        *why = "there are more than 170 parameters and knots";
    else
        return 1;
    return 0;
}

/** Numbers of the spans' pixels. */
static nb_status send_spans(slope_pass *pass, nb_error *err)
{
    const nb_slope_task *task = pass->task;
    parcel p = {};
    int64_t *before = (int64_t *)nb_alloc_raw(task->n + 1, sizeof *before, "pixels", err);
    nb_status st;
    if (!before)
        return NB_ERR_NOMEM;
    before[0] = 0;
    for (size_t i = 0; i < task->n; i++)
        before[i + 1] = before[i] + task->spans[i].n;
    int spans = add_part(&p, task->spans, task->n * sizeof *task->spans);
    int numbers = add_part(&p, before, (task->n + 1) * sizeof *before);
    st = reserve_parcel(&pass->own->spans, &p, err);
    if (!st)
        st = send_parcel(pass->state, &pass->own->spans, &p, err);
    pass->job.pixels.spans = part_of(&p, spans, task->spans);
    pass->job.pixels.before = part_of(&p, numbers, before);
    pass->job.pixels.n = (int)task->n;
    pass->pixels = before[task->n];
    nb_free(before);
    return st;
}

/** Sensors that panels name. */
static size_t sensor_count(const nb_scene *sc)
{
    int n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        n = sc->panels[k].sensor >= n ? sc->panels[k].sensor + 1 : n;
    return (size_t)n;
}

/** What a fit has beside the pictures that are sent by themselves. */
typedef struct fit_parts {
    nb_observation seen;
    nb_fit fit;
    const float *photons, *background; /* on the device */
} fit_parts;

/** Everything small: the job with its scene, the tables of the terms, what contracts, a fit. */
static nb_status send_tables(slope_pass *pass, const nb_fit *fit, fit_parts *there,
                             nb_error *err)
{
    const nb_slope_job *job = pass->task->job;
    const nb_scene *sc = job->scene;
    const size_t m = (size_t)sc->lattice.n_orientations, s = (size_t)sc->beam.n_sources;
    const nb_observation *seen = fit ? fit->seen : NULL;
    nb_scene scene = pass->launch.scene;
    nb_slope_job copy = *job;
    nb_term_tables *t = &pass->tables;
    nb_contraction *c = &pass->contraction;
    parcel p = {};
    nb_status st;
    int at[] = {add_part(&p, sc->panels, (size_t)sc->n_panels * sizeof *sc->panels),
                add_part(&p, sc->sensors, sensor_count(sc) * sizeof *sc->sensors),
                add_part(&p, &scene, sizeof scene),
                add_part(&p, &copy, sizeof copy),
                add_part(&p, job->turns, m * sizeof *job->turns),
                add_part(&p, job->spectrum, s * sizeof *job->spectrum),
                add_part(&p, job->entries, (size_t)job->n_entries * sizeof *job->entries),
                add_part(&p, c->first, (size_t)(c->rows + 1) * sizeof *c->first),
                add_part(&p, c->terms, (size_t)c->n * sizeof *c->terms),
                add_part(&p, t->orientations, m * sizeof *t->orientations),
                add_part(&p, t->sources, s * sizeof *t->sources),
                add_part(&p, t->groups, (size_t)t->n_groups * sizeof *t->groups),
                add_part(&p, fit ? &there->fit : NULL, sizeof there->fit),
                add_part(&p, fit ? &there->seen : NULL, sizeof there->seen),
                add_part(&p, fit ? seen->knots : NULL,
                         fit ? (size_t)seen->n_knots * sizeof *seen->knots : 0),
                add_part(&p, fit ? seen->values : NULL,
                         fit ? (size_t)seen->n_knots * sizeof *seen->values : 0)};
    if ((st = reserve_parcel(&pass->own->tables, &p, err)))
        return st;
    pass->job.panels = scene.panels = part_of(&p, at[0], sc->panels);
    pass->job.sensors = scene.sensors = part_of(&p, at[1], sc->sensors);
    copy.scene = part_of(&p, at[2], &scene);
    pass->job.job = part_of(&p, at[3], &copy);
    copy.turns = (nb_vec3 *)part_of(&p, at[4], job->turns);
    copy.spectrum = (double *)part_of(&p, at[5], job->spectrum);
    copy.entries = (int64_t *)part_of(&p, at[6], job->entries);
    copy.tangents = NULL;
    copy.given = NULL;
    pass->job.first = part_of(&p, at[7], c->first);
    pass->job.terms = part_of(&p, at[8], c->terms);
    pass->job.tables = *t;
    pass->job.tables.exact = scene.lattice.orientations;
    pass->job.tables.orientations = part_of(&p, at[9], t->orientations);
    pass->job.tables.sources = part_of(&p, at[10], t->sources);
    pass->job.tables.groups = part_of(&p, at[11], t->groups);
    if (fit) {
        there->seen = *seen;
        there->seen.photons = there->photons;
        there->seen.background = there->background;
        there->seen.knots = part_of(&p, at[14], seen->knots);
        there->seen.values = part_of(&p, at[15], seen->values);
        there->fit = *fit;
        there->fit.scene = copy.scene;
        there->fit.seen = part_of(&p, at[13], &there->seen);
        pass->fit = part_of(&p, at[12], &there->fit);
    }
    return send_parcel(pass->state, &pass->own->tables, &p, err);
}

/** The pictures of a fit. */
static nb_status send_pictures(slope_pass *pass, const nb_fit *fit, fit_parts *there,
                               nb_error *err)
{
    const size_t bytes = fit->scene->raster.pixels * sizeof(float);
    nb_cuda_slopes *own = pass->own;
    nb_status st = nb_cuda_upload_mirror(pass->state, &own->photons, fit->seen->photons,
                                         bytes, "the picture", err);
    if (!st && fit->seen->background)
        st = nb_cuda_upload_mirror(pass->state, &own->background, fit->seen->background,
                                   bytes, "the background", err);
    there->photons = (const float *)own->photons.device.at;
    there->background =
        fit->seen->background ? (const float *)own->background.device.at : NULL;
    return st;
}

/** Tables of the terms, if they can be in single precision. */
static nb_status prepare_terms(slope_pass *pass, nb_error *err)
{
    const nb_slope_job *job = pass->task->job;
    const nb_scene *sc = job->scene;
    const int table = sc->factors.table.nh > 0;
    int fits = 1;
    nb_status st = NB_OK;
    if (nb_term_refuse(&pass->plan, job))
        return NB_OK;
    pass->F2.side = 1;
    if (table) {
        st = nb_cuda_prepare_F2(pass->state, &pass->plan, &pass->launch, &pass->F2, &fits,
                                err);
        pass->state->is_prepared = 0; /* the renderer's table is overwritten */
    }
    if (st || !fits)
        return st;
    st = nb_term_tables_build(job, pass->F2.side, &pass->tables, err);
    if (!st && table)
        nb_term_squares(&pass->tables, pass->F2.at, &pass->F2.box, pass->F2.side);
    pass->fast = !st;
    pass->how = nb_term_case_of(job);
    return st;
}

/** How many pixels at a time; so many in any launch that it takes a third of a second. */
static void cut(slope_pass *pass, size_t bytes)
{
    double most = CHUNK_BYTES / ((double)bytes * pass->job.planes);
    pass->chunk = most < pass->pixels ? (int64_t)most : pass->pixels;
    pass->chunk = (pass->chunk + NB_CUDA_SLICE - 1) / NB_CUDA_SLICE * NB_CUDA_SLICE;
}

static nb_cuda_slopes *slopes_of(nb_backend_state *state, nb_error *err)
{
    if (!state->slopes)
        state->slopes =
            (nb_cuda_slopes *)nb_alloc(1, sizeof *state->slopes, "derivatives", err);
    return state->slopes;
}

/** Everything that launches need, for planes of numbers of so many bytes. */
static nb_status open_pass(nb_backend_state *state, const nb_slope_task *task,
                           const nb_fit *fit, size_t bytes, slope_pass *pass,
                           nb_error *err)
{
    const nb_engine engine = engine_of(state);
    fit_parts there = {};
    nb_status st;
    memset((void *)pass, 0, sizeof *pass);
    pass->state = state;
    pass->task = task;
    pass->plan = nb_plan_of(task->job->scene, task->precision, &engine);
    pass->job.planes = task->job->count + 1;
    pass->job.moves = nb_slope_job_moves(task->job);
    if (!(pass->own = slopes_of(state, err)))
        return NB_ERR_NOMEM;
    if ((st = nb_cuda_check(err, gpuSetDevice(state->device.index),
                            "choosing the device")) ||
        (st = nb_cuda_upload(state, task->job->scene, &pass->launch, err)) ||
        (st = prepare_terms(pass, err)) ||
        (st = nb_contraction_build(task->job, &pass->contraction, err)) ||
        (st = send_spans(pass, err)) ||
        (fit && (st = send_pictures(pass, fit, &there, err))) ||
        (st = send_tables(pass, fit, &there, err)))
        return st;
    cut(pass, bytes);
    pass->job.stride = pass->chunk;
    return nb_cuda_reserve(&pass->own->planes,
                           (size_t)pass->chunk * pass->job.planes * bytes,
                           "the derivatives", err);
}

static void close_pass(slope_pass *pass)
{
    nb_term_tables_free(&pass->tables);
    nb_contraction_free(&pass->contraction);
}

/** Wait, and ask the caller whether to go on. */
static nb_status report(slope_pass *pass, nb_error *err)
{
    const nb_hooks *hooks = pass->task->hooks;
    nb_status st = nb_cuda_check(err, gpuStreamSynchronize(pass->state->stream),
                                 "calculating derivatives");
    if (!st && hooks && hooks->progress &&
        hooks->progress(hooks->user, (double)pass->done / (double)pass->pixels))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the slopes were finished");
    return st;
}

/** The end of the kernels so far, for nb_cuda_kernel_seconds. */
static nb_status mark_end(slope_pass *pass, nb_error *err)
{
    return nb_cuda_check(err, gpuEventRecord(pass->state->ended, pass->state->stream),
                         "calculating derivatives");
}

/** The planes of the chunk that begins at a pixel. */
static nb_status run_chunk(slope_pass *pass, int64_t origin, nb_error *err)
{
    const double rate = (pass->fast ? 60e9 : 6e9) * pass->plan.engine.size;
    const double pixels = 0.3 * rate / pass->plan.terms;
    const int64_t last =
        origin + pass->chunk < pass->pixels ? origin + pass->chunk : pass->pixels;
    const int64_t least = NB_CUDA_SLICE, most = pass->chunk;
    const int64_t step = pixels < (double)least  ? least
                         : pixels < (double)most ? (int64_t)pixels
                                                 : most;
    nb_status st = NB_OK;
    if (origin == 0)
        st = nb_cuda_check(err, gpuEventRecord(pass->state->began, pass->state->stream),
                           "calculating derivatives");
    pass->job.origin = origin;
    for (int64_t from = origin; from < last && !st; from += step) {
        pass->job.from = from;
        pass->job.end = from + step < last ? from + step : last;
        if (pass->fast)
            nb_cuda_launch_slopes_fast(&pass->job, &pass->how, pass->state->stream);
        else
            nb_cuda_launch_slopes_double(&pass->job, pass->state->stream);
        st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
        pass->done = pass->job.end;
        if (!st &&
            (step < pass->pixels || (pass->task->hooks && pass->task->hooks->progress)))
            st = report(pass, err);
    }
    pass->job.end = last;
    return st ? st : mark_end(pass, err);
}

/** Where planes go on the host. */
typedef struct planes_job {
    const nb_slope_planes_out *out;
    size_t pixels; /* of the stack */
    size_t bytes;  /* of a number of the device */
    char *staging; /* owned; NULL: planes lie as the device has them */
} planes_job;

/** A plane of the caller's, from numbers as the device has them. */
static void put_plane(const planes_job *job, const nb_slope_task *task, int64_t origin,
                      int64_t end, const char *from, int plane)
{
    const nb_slope_planes_out *out = job->out;
    int64_t number = 0;
    for (size_t k = 0; k < task->n; number += task->spans[k++].n) {
        const nb_span *span = &task->spans[k];
        int64_t first = number > origin ? number : origin,
                last = number + span->n < end ? number + span->n : end;
        for (int64_t i = first; i < last; i++) {
            const size_t at = span->at + (size_t)(i - number), j = (size_t)(i - origin);
            const double x = job->bytes == sizeof(float) ? ((const float *)from)[j]
                                                         : ((const double *)from)[j];
            if (plane > 0 && out->type == NB_REAL_FLOAT32)
                ((float *)out->planes)[(size_t)(plane - 1) * job->pixels + at] = (float)x;
            else if (plane > 0)
                ((double *)out->planes)[(size_t)(plane - 1) * job->pixels + at] = x;
            if (plane == 0 && out->image)
                out->image[at] = (float)x;
            if (plane == 0 && out->expected)
                out->expected[at] = x;
        }
    }
}

/** The caller's memory that takes a plane of the chunk as it is, or NULL. */
static char *place_for(const planes_job *job, const slope_pass *pass, int plane)
{
    const nb_slope_planes_out *out = job->out;
    const nb_slope_task *task = pass->task;
    const nb_span *last = &task->spans[task->n - 1];
    const size_t first = task->spans[0].at;
    if (last->at + (size_t)last->n - first != (size_t)pass->pixels)
        return NULL; /* pixels are left out */
    if (plane > 0)
        return (char *)out->planes +
               ((size_t)(plane - 1) * job->pixels + first + (size_t)pass->job.origin) *
                   job->bytes;
    if (job->bytes == sizeof(float) && !out->expected)
        return (char *)(out->image + first + pass->job.origin);
    return NULL;
}

static nb_status fetch_plane(const planes_job *job, slope_pass *pass, int plane,
                             nb_error *err)
{
    const size_t n = (size_t)(pass->job.end - pass->job.origin);
    const char *from = (const char *)pass->own->planes.at +
                       (size_t)plane * (size_t)pass->job.stride * job->bytes;
    char *to;
    nb_status st;
    if (plane == 0 && !job->out->image && !job->out->expected)
        return NB_OK;
    to = place_for(job, pass, plane);
    st = nb_cuda_download(pass->state->ring, to ? to : job->staging, from, n * job->bytes,
                          pass->state->stream, err);
    if (!st && !to)
        put_plane(job, pass->task, pass->job.origin, pass->job.end, job->staging, plane);
    return st;
}

static nb_status planes(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_planes_out *out, nb_error *err)
{
    const int exact = out->expected || out->type == NB_REAL_FLOAT64;
    planes_job job = {out, task->job->scene->raster.pixels,
                      exact ? sizeof(double) : sizeof(float), NULL};
    slope_pass pass;
    nb_status st = open_pass(state, task, NULL, job.bytes, &pass, err);
    if (!st && !(job.staging = (char *)nb_alloc_raw((size_t)pass.chunk, job.bytes,
                                                    "derivatives", err)))
        st = NB_ERR_NOMEM;
    pass.job.out = exact ? (double *)pass.own->planes.at : NULL;
    pass.job.single = exact ? NULL : (float *)pass.own->planes.at;
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk) {
        st = run_chunk(&pass, at, err);
        for (int p = 0; p < pass.job.planes && !st; p++)
            st = fetch_plane(&job, &pass, p, err);
    }
    if (st)
        gpuStreamSynchronize(state->stream);
    nb_free(job.staging);
    close_pass(&pass);
    return st;
}

/** Memory for sums over pixels, which begin at 0. */
static nb_status open_sums(slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    nb_cuda_slopes *own = pass->own;
    const size_t slices = (size_t)(pass->chunk / NB_CUDA_SLICE),
                 items = (size_t)job->items;
    nb_status st;
    if ((st = nb_cuda_reserve(&own->partial, slices * items * sizeof(double),
                              "sums over pixels", err)) ||
        (st = nb_cuda_reserve(&own->sums, items * sizeof(double), "sums over pixels", err)))
        return st;
    pass->job.out = (double *)own->planes.at;
    job->pixels = pass->job.pixels;
    job->planes = pass->job.out;
    job->stride = pass->job.stride;
    job->partial = (double *)own->partial.at;
    return nb_cuda_check(
        err, gpuMemsetAsync(own->sums.at, 0, items * sizeof(double), pass->state->stream),
        "clearing sums");
}

/** Add up a chunk. */
static nb_status sum_chunk(slope_pass *pass, nb_cuda_fit_job *job, nb_error *err)
{
    nb_status st;
    job->origin = pass->job.origin;
    job->end = pass->job.end;
    job->slices = (int)((job->end - job->origin + NB_CUDA_SLICE - 1) / NB_CUDA_SLICE);
    nb_cuda_launch_fit(job, (double *)pass->own->sums.at, pass->state->stream);
    st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    return st ? st : mark_end(pass, err);
}

static nb_status fetch_sums(slope_pass *pass, const nb_cuda_fit_job *job, double *to,
                            nb_error *err)
{
    return nb_cuda_download(pass->state->ring, to, pass->own->sums.at,
                            (size_t)job->items * sizeof *to, pass->state->stream, err);
}

static nb_status pullback(nb_backend_state *state, const nb_slope_task *task,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_error *err)
{
    const size_t bytes = task->job->scene->raster.pixels *
                         (type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double));
    nb_cuda_fit_job job = {};
    slope_pass pass;
    nb_cuda_slopes *own;
    nb_status st = open_pass(state, task, NULL, sizeof(double), &pass, err);
    own = pass.own;
    job.count = job.n = job.items = task->job->count;
    if (!st)
        st = open_sums(&pass, &job, err);
    if (!st)
        st = nb_cuda_reserve(&own->dloss, bytes, "the slope of the loss", err);
    if (!st)
        st = nb_cuda_reserve(&own->weights, (size_t)pass.chunk * sizeof(double),
                             "the slope of the loss", err);
    if (!st)
        st = nb_cuda_check(
            err,
            gpuMemcpyAsync(own->dloss.at, dloss, bytes, gpuMemcpyDefault, state->stream),
            "sending the slope of the loss");
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk) {
        if ((st = run_chunk(&pass, at, err)))
            break;
        nb_cuda_launch_gather(&pass.job.pixels, type, own->dloss.at, at,
                              pass.job.end - at, (double *)own->weights.at, state->stream);
        job.dloss = (const double *)own->weights.at;
        st = sum_chunk(&pass, &job, err);
    }
    if (!st)
        st = fetch_sums(&pass, &job, gradient, err);
    if (st)
        gpuStreamSynchronize(state->stream);
    close_pass(&pass);
    return st;
}

/** Items of the device to the matrix' place. */
static void unpack(const nb_cuda_fit_job *job, const double *items, double *sums)
{
    const int n = job->n;
    memcpy(sums, items, (size_t)(1 + n) * sizeof *sums);
    for (int i = 0, k = 1 + n; i < n; i++)
        for (int j = 0; j <= i; j++, k++)
            sums[1 + n + i * n + j] = items[k];
}

static nb_status normal(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_fit_out *out, nb_error *err)
{
    nb_cuda_fit_job job = {};
    slope_pass pass;
    double *items = NULL;
    nb_status st = open_pass(state, task, out->fit, sizeof(double), &pass, err);
    job.count = task->job->count;
    job.n = job.count + out->fit->seen->n_knots;
    job.items = 1 + job.n + job.n * (job.n + 1) / 2;
    job.fit = pass.fit;
    if (!st)
        st = open_sums(&pass, &job, err);
    if (!st &&
        !(items = (double *)nb_alloc((size_t)job.items, sizeof *items, "equations", err)))
        st = NB_ERR_NOMEM;
    for (int64_t at = 0; at < pass.pixels && !st; at += pass.chunk)
        if (!(st = run_chunk(&pass, at, err)))
            st = sum_chunk(&pass, &job, err);
    if (!st)
        st = fetch_sums(&pass, &job, items, err);
    if (!st)
        unpack(&job, items, out->sums);
    else
        gpuStreamSynchronize(state->stream);
    nb_free(items);
    close_pass(&pass);
    return st;
}

void nb_cuda_slopes_free(nb_cuda_slopes *own)
{
    if (!own)
        return;
    nb_cuda_mirror *const mirrors[] = {&own->tables, &own->spans, &own->photons,
                                       &own->background};
    nb_cuda_buffer *const buffers[] = {&own->planes, &own->dloss, &own->weights,
                                       &own->partial, &own->sums};
    for (nb_cuda_mirror *mirror : mirrors) {
        nb_cuda_release(&mirror->device);
        nb_free(mirror->sent);
    }
    for (nb_cuda_buffer *buffer : buffers)
        nb_cuda_release(buffer);
    nb_free(own);
}

extern const nb_slope_device nb_cuda_slope_device = {applies, planes, pullback, normal};
