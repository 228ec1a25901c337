/* SPDX-License-Identifier: MIT */
/* Slopes on the device: upload of tables, and launches. */
#include "slopes.h"

#include <limits.h>
#include <string.h>

enum { PARTS = 20, ALIGN = 64 };
#define CHUNK_BYTES 1e9 /* limit of the planes on the device at one time */

/** Several arrays (parts) that are sent to the device in one transfer. */
typedef struct parcel {
    struct {
        const void *from;
        size_t at, bytes;
    } parts[PARTS];
    int n;
    size_t bytes;
    char *base; /* address on the device */
} parcel;

static int add_part(parcel *p, const void *from, size_t bytes)
{
    p->parts[p->n].from = from;
    p->parts[p->n].at = p->bytes;
    p->parts[p->n].bytes = from ? bytes : 0;
    p->bytes += (p->parts[p->n].bytes + ALIGN - 1) / ALIGN * ALIGN;
    return p->n++;
}

/** Address that part i will have on the device; NULL if `from` is NULL. */
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

/** Send the spans and the numbers of their pixels. */
static nb_status send_spans(nb_cuda_slope_pass *pass, nb_error *err)
{
    const nb_slope_task *task = pass->task;
    nb_cuda_slopes *memory = pass->memory;
    parcel p = {};
    int64_t *before;
    nb_status st;
    if (task->number != 0 && task->number == memory->spans_of) {
        pass->job.pixels = memory->pixels;
        pass->pixels = memory->n_pixels;
        return NB_OK;
    }
    memory->spans_of = 0;
    before = (int64_t *)nb_alloc_raw(task->n + 1, sizeof *before, "pixels", err);
    if (!before)
        return NB_ERR_NOMEM;
    before[0] = 0;
    pass->job.pixels.width = task->spans[0].n;
    for (size_t i = 0; i < task->n; i++) {
        before[i + 1] = before[i] + task->spans[i].n;
        if (task->spans[i].n != pass->job.pixels.width)
            pass->job.pixels.width = 0;
    }
    if (before[task->n] > INT_MAX)
        pass->job.pixels.width = 0;
    int spans = add_part(&p, task->spans, task->n * sizeof *task->spans);
    int numbers = add_part(&p, before, (task->n + 1) * sizeof *before);
    st = reserve_parcel(&memory->spans, &p, err);
    NB_TRY(send_parcel(pass->state, &memory->spans, &p, err));
    pass->job.pixels.spans = part_of(&p, spans, task->spans);
    pass->job.pixels.before = part_of(&p, numbers, before);
    pass->job.pixels.n = (int)task->n;
    memory->pixels = pass->job.pixels;
    memory->n_pixels = pass->pixels = before[task->n];
    memory->spans_of = st ? 0 : task->number;
    nb_free(before);
    return st;
}

/** Number of sensors: one more than the largest index in the panels. */
static size_t sensor_count(const nb_scene *sc)
{
    int n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        n = sc->panels[k].sensor >= n ? sc->panels[k].sensor + 1 : n;
    return (size_t)n;
}

/** A fit with device addresses; its images are sent separately. */
typedef struct fit_parts {
    nb_observation seen;
    nb_slope_fit fit;
    const float *photons, *background; /* on the device */
} fit_parts;

/** Set the device addresses of parts at[0 ... 3]: the fit, its observation, knots, and
 * values at the knots. */
static void place_fit(nb_cuda_slope_pass *pass, const parcel *p, const int *at,
                      const nb_slope_fit *fit, const nb_scene *scene, fit_parts *on_device)
{
    on_device->seen = *fit->seen;
    on_device->seen.photons = on_device->photons;
    on_device->seen.background = on_device->background;
    on_device->seen.knots = part_of(p, at[2], fit->seen->knots);
    on_device->seen.values = part_of(p, at[3], fit->seen->values);
    on_device->fit = *fit;
    on_device->fit.scene = scene;
    on_device->fit.seen = part_of(p, at[1], &on_device->seen);
    pass->fit = part_of(p, at[0], &on_device->fit);
}

/** Set the device addresses of parts at[0 ... 3]: order, rows, moves and panels of a
 * plain job. */
static void place_plain(const nb_plain_rows *plain, const parcel *p, const int *at,
                        nb_plain_rows *on_device)
{
    *on_device = *plain;
    on_device->order = (int *)part_of(p, at[0], plain->order);
    on_device->rows = (float *)part_of(p, at[1], plain->rows);
    on_device->moves = (double *)part_of(p, at[2], plain->moves);
    on_device->panels = (nb_plain_panel *)part_of(p, at[3], plain->panels);
}

/** Send all small data: the job with its scene, tables for terms, contractions, a fit. */
static nb_status send_tables(nb_cuda_slope_pass *pass, const nb_slope_fit *fit,
                             fit_parts *on_device, nb_error *err)
{
    const nb_slope_job *job = pass->task->job;
    const nb_scene *sc = job->scene;
    const size_t m = (size_t)sc->lattice.n_orientations, s = (size_t)sc->beam.n_sources;
    const nb_observation *seen = fit ? fit->seen : NULL;
    nb_scene scene = pass->launch.scene;
    nb_slope_job copy = *job;
    nb_term_tables *t = &pass->tables;
    nb_contraction *c = &pass->contraction;
    const nb_plain_rows *plain = &pass->plain;
    const size_t planes = (size_t)plain->planes;
    parcel p = {};
    nb_status st;
    int at[] = {
        add_part(&p, sc->panels, (size_t)sc->n_panels * sizeof *sc->panels),
        add_part(&p, sc->sensors, sensor_count(sc) * sizeof *sc->sensors),
        add_part(&p, &scene, sizeof scene),
        add_part(&p, &copy, sizeof copy),
        add_part(&p, job->turns, m * (size_t)job->n_turns * sizeof *job->turns),
        add_part(&p, job->spectrum, s * sizeof *job->spectrum),
        add_part(&p, job->entries, (size_t)job->n_entries * sizeof *job->entries),
        add_part(&p, c->first, (size_t)(c->rows + 1) * sizeof *c->first),
        add_part(&p, c->terms, (size_t)c->n * sizeof *c->terms),
        add_part(&p, t->orientations, m * sizeof *t->orientations),
        add_part(&p, t->sources, s * sizeof *t->sources),
        add_part(&p, t->groups, (size_t)t->n_groups * sizeof *t->groups),
        add_part(&p, fit ? &on_device->fit : NULL, sizeof on_device->fit),
        add_part(&p, fit ? &on_device->seen : NULL, sizeof on_device->seen),
        add_part(&p, fit ? seen->knots : NULL,
                 fit ? (size_t)seen->n_knots * sizeof *seen->knots : 0),
        add_part(&p, fit ? seen->values : NULL,
                 fit ? (size_t)seen->n_knots * sizeof *seen->values : 0),
        add_part(&p, plain->order, planes * sizeof *plain->order),
        add_part(&p, plain->rows, planes * NB_PLAIN_TOTALS * sizeof *plain->rows),
        add_part(&p, plain->moves,
                 planes * (size_t)sc->n_panels * NB_PLAIN_MOVES * sizeof *plain->moves),
        add_part(&p, plain->panels, (size_t)sc->n_panels * sizeof *plain->panels)};
    NB_FORWARD(reserve_parcel(&pass->memory->tables, &p, err));
    pass->job.panels = scene.panels = part_of(&p, at[0], sc->panels);
    pass->job.sensors = scene.sensors = part_of(&p, at[1], sc->sensors);
    copy.scene = part_of(&p, at[2], &scene);
    pass->job.job = part_of(&p, at[3], &copy);
    copy.turns = (nb_vec3 *)part_of(&p, at[4], job->turns);
    copy.spectrum = (double *)part_of(&p, at[5], job->spectrum);
    copy.entries = (int64_t *)part_of(&p, at[6], job->entries);
    copy.tangents = NULL;
    pass->job.first = part_of(&p, at[7], c->first);
    pass->job.terms = part_of(&p, at[8], c->terms);
    pass->job.tables = *t;
    pass->job.tables.orientations = part_of(&p, at[9], t->orientations);
    pass->job.tables.sources = part_of(&p, at[10], t->sources);
    pass->job.tables.groups = part_of(&p, at[11], t->groups);
    place_plain(plain, &p, at + 16, &pass->plain_on_device.rows);
    if (fit)
        place_fit(pass, &p, at + 12, fit, copy.scene, on_device);
    return send_parcel(pass->state, &pass->memory->tables, &p, err);
}

/** Send the images of a fit. */
static nb_status send_pictures(nb_cuda_slope_pass *pass, const nb_slope_fit *fit,
                               fit_parts *on_device, nb_error *err)
{
    const size_t bytes = fit->scene->raster.pixels * sizeof(float);
    const uint64_t number = pass->task->number;
    nb_cuda_slopes *memory = pass->memory;
    nb_status st = NB_OK;
    if (number == 0 || number != memory->pictures_of) {
        memory->pictures_of = 0;
        st = nb_cuda_upload_mirror(pass->state, &memory->photons, fit->seen->photons,
                                   bytes, "the picture", err);
        if (!st && fit->seen->background)
            st = nb_cuda_upload_mirror(pass->state, &memory->background,
                                       fit->seen->background, bytes, "the background",
                                       err);
        memory->pictures_of = st ? 0 : number;
    }
    on_device->photons = (const float *)memory->photons.device.at;
    on_device->background =
        fit->seen->background ? (const float *)memory->background.device.at : NULL;
    pass->photons = on_device->photons;
    pass->background = on_device->background;
    return st;
}

/** Make the tables for terms in single precision, unless nb_term_refuse refuses. */
static nb_status prepare_terms(nb_cuda_slope_pass *pass, nb_error *err)
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
        /* 0, because the table of the renderer was overwritten */
        pass->state->is_prepared = 0;
    }
    if (st || !fits)
        return st;
    st = nb_term_tables_build(job, pass->F2.side, &pass->tables, err);
    if (!st && table)
        nb_term_squares(&pass->tables, pass->F2.at, &pass->F2.box, pass->F2.side);
    NB_TRY(nb_plain_rows_build(job, &pass->tables, pass->task->spans, pass->task->n,
                               &pass->plain, err));
    pass->fast = !st;
    pass->how = nb_term_case_of(job);
    if (!st && pass->plain.planes > 0) {
        pass->how = nb_plain_case_of(job);
        pass->plain_on_device.frame = nb_plain_frame_of(job, &pass->tables);
        pass->plain_on_device.first = pass->plain.panels[0];
        pass->plain_on_device.n_panels = sc->n_panels;
    }
    return st;
}

/** True if sums over pixels need no planes. A parameter that moves panels needs sums for
 * each panel. */
static int pulls_plain(const nb_cuda_slope_pass *pass)
{
    return pass->plain.planes > 0 &&
           (!pass->job.moves || pass->task->job->scene->n_panels == 1);
}

/** Set the number of pixels of a chunk. */
static void cut(nb_cuda_slope_pass *pass)
{
    double limit = CHUNK_BYTES / ((double)pass->bytes * pass->job.planes);
    pass->chunk = limit < pass->pixels ? (int64_t)limit : pass->pixels;
    pass->chunk = (pass->chunk + NB_CUDA_SLICE - 1) / NB_CUDA_SLICE * NB_CUDA_SLICE;
}

static nb_cuda_slopes *slopes_of(nb_backend_state *state, nb_error *err)
{
    if (!state->slopes)
        state->slopes =
            (nb_cuda_slopes *)nb_alloc(1, sizeof *state->slopes, "derivatives", err);
    return state->slopes;
}

static nb_status reserve_planes(nb_cuda_slope_pass *pass, nb_error *err)
{
    nb_cuda_buffer *planes = &pass->memory->planes;
    nb_status st = nb_cuda_reserve(
        planes, (size_t)pass->chunk * (size_t)pass->job.planes * pass->bytes,
        "the derivatives", err);
    pass->job.out = pass->bytes == sizeof(double) ? (double *)planes->at : NULL;
    pass->job.single = pass->bytes == sizeof(double) ? NULL : (float *)planes->at;
    return st;
}

nb_status nb_cuda_pass_open(nb_backend_state *state, const nb_slope_task *task,
                            const nb_cuda_pass_want *want, nb_cuda_slope_pass *pass,
                            nb_error *err)
{
    const nb_slope_fit *fit = want->fit;
    const nb_engine engine = nb_cuda_engine(&state->device);
    fit_parts on_device = {};
    nb_status st;
    memset((void *)pass, 0, sizeof *pass);
    pass->state = state;
    pass->task = task;
    pass->plan = nb_plan_of(task->job->scene, task->precision, &engine);
    pass->job.planes = task->job->count + 1;
    pass->job.moves = nb_slope_job_moves(task->job);
    if (!(pass->memory = slopes_of(state, err)))
        return NB_ERR_NOMEM;
    if ((st = nb_cuda_check(err, cudaSetDevice(state->device.index),
                            "choosing the device")) ||
        (st = nb_cuda_upload(state, task->job->scene, &pass->launch, err)) ||
        (st = prepare_terms(pass, err)) ||
        (st = nb_contraction_build(task->job, &pass->contraction, err)) ||
        (st = send_spans(pass, err)) ||
        (fit && (st = send_pictures(pass, fit, &on_device, err))) ||
        (st = send_tables(pass, fit, &on_device, err)))
        return st;
    pass->pulls = want->pulls && pulls_plain(pass);
    /* kernels in double precision make sums from doubles */
    pass->bytes = want->exact || (!pass->fast && (fit || want->pulls)) ? sizeof(double)
                                                                       : sizeof(float);
    cut(pass);
    pass->job.stride = pass->chunk;
    return pass->pulls ? NB_OK : reserve_planes(pass, err);
}

void nb_cuda_pass_close(nb_cuda_slope_pass *pass)
{
    nb_plain_rows_free(&pass->plain);
    nb_term_tables_free(&pass->tables);
    nb_contraction_free(&pass->contraction);
}

/** Wait for the kernels, report progress, and stop if the caller asks to. */
static nb_status report(nb_cuda_slope_pass *pass, nb_error *err)
{
    const nb_hooks *hooks = pass->task->hooks;
    nb_status st = nb_cuda_check(err, cudaStreamSynchronize(pass->state->stream),
                                 "calculating derivatives");
    if (!st && hooks && hooks->progress &&
        hooks->progress(hooks->user, (double)pass->done / (double)pass->pixels))
        st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the slopes were finished");
    return st;
}

nb_status nb_cuda_pass_begin(nb_cuda_slope_pass *pass, nb_error *err)
{
    return nb_cuda_check(err, cudaEventRecord(pass->state->began, pass->state->stream),
                         "calculating derivatives");
}

nb_status nb_cuda_pass_mark(nb_cuda_slope_pass *pass, nb_error *err)
{
    return nb_cuda_check(err, cudaEventRecord(pass->state->ended, pass->state->stream),
                         "calculating derivatives");
}

nb_status nb_cuda_pass_chunk(nb_cuda_slope_pass *pass, int64_t origin, nb_error *err)
{
    const double rate = (pass->fast ? 60e9 : 6e9) * pass->plan.engine.size;
    const double pixels = 0.3 * rate / pass->plan.terms;
    const int64_t last =
        origin + pass->chunk < pass->pixels ? origin + pass->chunk : pass->pixels;
    const int64_t least = NB_CUDA_SLICE, limit = pass->chunk;
    const int64_t step = pixels < (double)least   ? least
                         : pixels < (double)limit ? (int64_t)(pixels / least) * least
                                                  : limit;
    nb_status st = NB_OK;
    if (origin == 0)
        st = nb_cuda_pass_begin(pass, err);
    pass->job.origin = origin;
    for (int64_t from = origin; from < last && !st; from += step) {
        pass->job.from = from;
        pass->job.end = from + step < last ? from + step : last;
        if (pass->plain.planes > 0)
            nb_cuda_launch_slopes_plain(&pass->job, &pass->plain_on_device, &pass->how,
                                        pass->state->stream);
        else if (pass->fast)
            nb_cuda_launch_slopes_fast(&pass->job, &pass->how, pass->state->stream);
        else
            nb_cuda_launch_slopes_double(&pass->job, pass->state->stream);
        st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
        pass->done = pass->job.end;
        if (!st &&
            (step < pass->pixels || (pass->task->hooks && pass->task->hooks->progress)))
            st = report(pass, err);
    }
    pass->job.end = last;
    return st ? st : nb_cuda_pass_mark(pass, err);
}

void nb_cuda_slopes_free(nb_cuda_slopes *memory)
{
    if (!memory)
        return;
    nb_cuda_mirror *const mirrors[] = {&memory->tables, &memory->spans, &memory->photons,
                                       &memory->background};
    nb_cuda_buffer *const buffers[] = {&memory->planes, &memory->dloss, &memory->weights,
                                       &memory->partial, &memory->sums};
    for (nb_cuda_mirror *mirror : mirrors)
        nb_cuda_release_mirror(mirror);
    for (nb_cuda_buffer *buffer : buffers)
        nb_cuda_release(buffer);
    nb_free(memory);
}
