/* SPDX-License-Identifier: MIT */
/* The scene's arrays and the fast kernels' tables, on the device. */
#include "state.h"

#include <float.h>
#include <string.h>

#include "../src/base/coefficients.h"
#include "../src/physics/ray.h"
#include "parallel.h"

enum {
    SIDE = 4,            /* boxes of directions along each edge of the window */
    SAMPLES = 8,         /* intervals of a box along each edge */
    MAX_CELLS = 1 << 28, /* of F^2: 1 GiB */
    HASH_THREADS = 16
};

static nb_status upload(nb_cuda_buffer *buffer, const void *from, size_t bytes,
                        const char *what, gpuStream_t stream, nb_error *err)
{
    nb_status st = nb_cuda_reserve(buffer, bytes ? bytes : 1, what, err);
    if (st)
        return st;
    return nb_cuda_check(
        err, gpuMemcpyAsync(buffer->at, from, bytes, gpuMemcpyHostToDevice, stream), what);
}

/** As upload, unless the same bytes are there already. */
static nb_status upload_mirror(nb_backend_state *state, nb_cuda_mirror *mirror,
                               const void *from, size_t bytes, const char *what,
                               nb_error *err)
{
    nb_status st;
    if (mirror->bytes == bytes && memcmp(mirror->sent, from, bytes) == 0)
        return NB_OK;
    state->is_prepared = 0;
    mirror->bytes = 0;
    nb_free(mirror->sent);
    mirror->sent = nb_alloc_raw(bytes, 1, what, err);
    if (!mirror->sent)
        return NB_ERR_NOMEM;
    memcpy(mirror->sent, from, bytes);
    st = upload(&mirror->device, mirror->sent, bytes, what, state->stream, err);
    if (!st)
        mirror->bytes = bytes;
    return st;
}

typedef struct hash_job {
    const uint64_t *words;
    size_t count;
    uint64_t sums[HASH_THREADS];
} hash_job;

static void hash_slice(void *context, int thread, int threads)
{
    hash_job *job = (hash_job *)context;
    size_t first = job->count * (size_t)thread / (size_t)threads, i, k;
    size_t end = job->count * ((size_t)thread + 1) / (size_t)threads;
    uint64_t h[4] = {first + 1, first + 2, first + 3, first + 4};
    for (i = first; i + 4 <= end; i += 4)
        for (k = 0; k < 4; k++)
            h[k] = (h[k] ^ job->words[i + k]) * NB_GOLDEN_BITS + (h[k] >> 29);
    for (; i < end; i++)
        h[0] = (h[0] ^ job->words[i]) * NB_GOLDEN_BITS + (h[0] >> 29);
    job->sums[thread] = h[0] ^ (h[1] << 1) ^ (h[2] << 2) ^ (h[3] << 3);
}

/** A fingerprint of the table, for it is worth a tenth of the time to send it. */
static uint64_t hash_table(const double *F, size_t count)
{
    hash_job job = {(const uint64_t *)F, count, {}};
    uint64_t sum = count;
    int t, threads = nb_cuda_thread_limit();
    threads = threads > HASH_THREADS ? (int)HASH_THREADS : threads;
    nb_cuda_parallel(threads, hash_slice, &job);
    for (t = 0; t < threads; t++)
        sum = (sum ^ job.sums[t]) * 0xff51afd7ed558ccdu + (sum >> 31);
    return sum;
}

/** The structure factors, unless the same ones are there already. */
static nb_status upload_table(nb_backend_state *state, const nb_factor_table *sf,
                              nb_error *err)
{
    size_t count = (size_t)sf->nh * sf->nk * sf->nl;
    uint64_t hash;
    nb_status st;
    if (sf->nh == 0)
        return NB_OK;
    hash = hash_table(sf->F, count);
    if (state->F.at && state->F_count == count && state->F_hash == hash)
        return NB_OK;
    state->F_count = 0;
    state->is_prepared = 0;
    st = upload(&state->F, sf->F, count * sizeof *sf->F, "the structure factors",
                state->stream, err);
    if (st)
        return st;
    state->F_count = count;
    state->F_hash = hash;
    return NB_OK;
}

nb_status nb_cuda_upload(nb_backend_state *state, const nb_scene *sc,
                         nb_cuda_launch *launch, nb_error *err)
{
    size_t pixels = (size_t)sc->raster.columns * sc->raster.rows;
    size_t sources = (size_t)sc->beam.n_sources * sizeof *sc->beam.sources;
    size_t orientations =
        (size_t)sc->lattice.n_orientations * sizeof *sc->lattice.orientations;
    nb_status st;
    if ((st = nb_cuda_reserve(&state->image, pixels * sizeof(float), "the image", err)) ||
        (st = nb_cuda_reserve(&state->small, NB_SMALL_BYTES, "counters", err)) ||
        (st = upload_mirror(state, &state->sources, sc->beam.sources, sources,
                            "the sources", err)) ||
        (st = upload_mirror(state, &state->orientations, sc->lattice.orientations,
                            orientations, "the orientations", err)))
        return st;
    if ((st = upload_table(state, &sc->factors.table, err)))
        return st;
    if (sc->raster.mask && (st = upload(&state->mask, sc->raster.mask, pixels, "the mask",
                                        state->stream, err)))
        return st;
    launch->scene = *sc;
    launch->scene.panels = NULL;
    launch->scene.sensors = NULL;
    launch->panel = sc->panels[0];
    launch->sensor = sc->sensors[launch->panel.sensor];
    launch->scene.beam.sources = (const nb_source *)state->sources.device.at;
    launch->scene.lattice.orientations =
        (const nb_orientation *)state->orientations.device.at;
    launch->scene.factors.table.F = (const double *)state->F.at;
    launch->scene.raster.mask = sc->raster.mask ? (const uint8_t *)state->mask.at : NULL;
    launch->image = (float *)state->image.at;
    launch->repair = (int *)((char *)state->small.at + NB_SMALL_REPAIR);
    launch->stream = state->stream;
    launch->multiprocessors = state->device.multiprocessors;
    launch->first_incident = sc->beam.sources[0].incident;
    return NB_OK;
}

/** Widen box by the direction to (f, s), in pixels from the corner. */
static void add_direction(double box[6], const nb_panel *panel, double f, double s)
{
    nb_vec3 d =
        nb_unit(nb_panel_point(panel, f * panel->pixel_fast, s * panel->pixel_slow, 0));
    box[0] = fmin(box[0], d.x);
    box[1] = fmin(box[1], d.y);
    box[2] = fmin(box[2], d.z);
    box[3] = fmax(box[3], d.x);
    box[4] = fmax(box[4], d.y);
    box[5] = fmax(box[5], d.z);
}

/** How far a direction can be from the nearest sampled one: a step dx at distance R
 * turns it by dx/R at the most, and the plane is nowhere nearer than close_distance. */
static double sampling_margin(const nb_scene *sc)
{
    const nb_region *roi = &sc->raster.roi;
    const nb_panel *panel = sc->panels;
    const nb_sensor *sensor = sc->sensors;
    double cells = SIDE * SAMPLES;
    double df = (roi->fmax - roi->fmin + 1) * panel->pixel_fast / cells;
    double ds = (roi->smax - roi->smin + 1) * panel->pixel_slow / cells;
    double depth =
        sensor->layers > 1 || sensor->mean_depth ? sensor->layers * sensor->layer_step : 0;
    return (0.5 * sqrt(df * df + ds * ds) + depth) / fabs(panel->close_distance);
}

/** Boxes that hold every direction from the sample to the window's pixels. */
static void direction_boxes(const nb_scene *sc, double boxes[SIDE * SIDE][6])
{
    const nb_region *roi = &sc->raster.roi;
    double margin = sampling_margin(sc);
    double df = (roi->fmax - roi->fmin + 1) / (double)(SIDE * SAMPLES);
    double ds = (roi->smax - roi->smin + 1) / (double)(SIDE * SAMPLES);
    int b, i, j;
    for (b = 0; b < SIDE * SIDE; b++) {
        double *box = boxes[b];
        for (i = 0; i < 3; i++) {
            box[i] = 2;
            box[i + 3] = -2;
        }
        for (i = 0; i <= SAMPLES; i++)
            for (j = 0; j <= SAMPLES; j++)
                add_direction(box, sc->panels, roi->fmin + (b % SIDE * SAMPLES + i) * df,
                              roi->smin + (b / SIDE * SAMPLES + j) * ds);
        for (i = 0; i < 3; i++) {
            box[i] = fmax(box[i] - margin, -1.0);
            box[i + 3] = fmin(box[i + 3] + margin, 1.0);
        }
    }
}

/** The box of reflections that the window can see, and its F^2. */
static nb_status prepare_F2(nb_backend_state *state, const nb_scene *sc,
                            const nb_cuda_launch *launch, nb_cuda_factor_squares *F2,
                            int *fits, nb_error *err)
{
    double boxes[SIDE * SIDE][6], cells = 1;
    char *small = (char *)state->small.at;
    int bounds[6], i;
    nb_status st;
    direction_boxes(sc, boxes);
    if ((st = nb_cuda_check(err,
                            gpuMemcpyAsync(small + NB_SMALL_BOXES, boxes, sizeof boxes,
                                           gpuMemcpyHostToDevice, state->stream),
                            "sending directions")))
        return st;
    nb_cuda_launch_bounds(&launch->scene, (const double *)(small + NB_SMALL_BOXES),
                          SIDE * SIDE, (int *)(small + NB_SMALL_BOUNDS), state->stream);
    if ((st = nb_cuda_check(err,
                            gpuMemcpyAsync(bounds, small + NB_SMALL_BOUNDS, sizeof bounds,
                                           gpuMemcpyDeviceToHost, state->stream),
                            "finding the visible reflections")) ||
        (st = nb_cuda_check(err, gpuStreamSynchronize(state->stream),
                            "finding the visible reflections")))
        return st;
    for (i = 0; i < 3; i++) { /* negative, one more on each side for rounding */
        F2->low[i] = -bounds[i + 3] - 1;
        F2->size[i] = bounds[i + 3] - bounds[i] + 3;
        cells *= F2->size[i];
    }
    *fits = cells <= MAX_CELLS;
    if (!*fits)
        return NB_OK;
    if ((st = nb_cuda_reserve(&state->F2, (size_t)cells * sizeof(float),
                              "the table of structure factors", err)))
        return st;
    F2->at = (const float *)state->F2.at;
    nb_cuda_launch_fill_F2(&launch->scene.factors.table, F2, (float *)state->F2.at,
                           state->stream);
    return NB_OK;
}

static int equal_weights(const nb_scene *sc, double *sum)
{
    int i, equal = sc->lattice.N[0] > 1 || sc->lattice.N[1] > 1 ||
                   sc->lattice.N[2] > 1; /* idle steps add 0 */
    *sum = 0;
    for (i = 0; i < sc->beam.n_sources; i++) {
        *sum += sc->beam.sources[i].weight * sc->lattice.n_orientations;
        equal = equal && (float)sc->beam.sources[i].weight == 1.0f;
    }
    return equal;
}

static nb_status prepare_fragments(nb_backend_state *state, const nb_cuda_launch *launch,
                                   int equal, nb_cuda_steps *steps, nb_error *err)
{
    size_t octets = ((size_t)steps->count + 7) / 8;
    nb_status st;
    steps->octets = (int)octets;
    if ((st = nb_cuda_reserve(&state->steps, (octets + 1) * 96 * sizeof(double),
                              "the steps", err)) ||
        (!equal && (st = nb_cuda_reserve(&state->weights, (octets + 1) * 8 * sizeof(float),
                                         "the weights", err))))
        return st;
    steps->fragments = (const double *)state->steps.at;
    steps->weights = equal ? NULL : (const float *)state->weights.at;
    nb_cuda_launch_fragments(&launch->scene, &steps->F2, steps->octets,
                             (double *)state->steps.at,
                             equal ? NULL : (float *)state->weights.at, state->stream);
    return NB_OK;
}

nb_orientation nb_cuda_mean_orientation(const nb_scene *sc)
{
    nb_orientation mean = sc->lattice.orientations[0];
    double share = 1.0 / sc->lattice.n_orientations;
    int i;
    for (i = 1; i < sc->lattice.n_orientations; i++) {
        mean.a = nb_add(mean.a, sc->lattice.orientations[i].a);
        mean.b = nb_add(mean.b, sc->lattice.orientations[i].b);
        mean.c = nb_add(mean.c, sc->lattice.orientations[i].c);
    }
    mean.a = nb_scale(share, mean.a);
    mean.b = nb_scale(share, mean.b);
    mean.c = nb_scale(share, mean.c);
    return mean;
}

/** Steps of the mean orientation, one a source, and the orientations' residuals. */
static nb_status prepare_residuals(nb_backend_state *state, const nb_scene *sc,
                                   const nb_cuda_launch *launch, nb_cuda_steps *steps,
                                   nb_error *err)
{
    nb_orientation mean = nb_cuda_mean_orientation(sc);
    nb_scene centre = launch->scene;
    char *at;
    size_t bytes = (size_t)sc->lattice.n_orientations * 3 * 4 * sizeof(float);
    nb_status st = nb_cuda_reserve(
        &state->steps,
        bytes + sizeof mean + (size_t)sc->beam.n_sources * sizeof *steps->direct + 64,
        "the steps", err);
    if (st)
        return st;
    at = (char *)state->steps.at; /* residuals, the mean, the steps */
    st = nb_cuda_check(err,
                       gpuMemcpyAsync(at + bytes, &mean, sizeof mean,
                                      gpuMemcpyHostToDevice, state->stream),
                       "sending the mean orientation");
    if (st)
        return st;
    centre.lattice.orientations = (const nb_orientation *)(at + bytes);
    centre.lattice.n_orientations = 1;
    steps->residuals = at;
    steps->direct = (const nb_cuda_direct_step *)(at + bytes + sizeof mean);
    nb_cuda_launch_residuals(&launch->scene, &mean, at, state->stream);
    nb_cuda_launch_direct_steps(&centre, &launch->panel, steps->F2.at != NULL,
                                (nb_cuda_direct_step *)(at + bytes + sizeof mean),
                                state->stream);
    return NB_OK;
}

nb_status nb_cuda_prepare_steps(nb_backend_state *state, const nb_scene *sc,
                                const nb_cuda_launch *launch, nb_cuda_path path,
                                nb_cuda_steps *steps, int *fits, nb_error *err)
{
    int equal = equal_weights(sc, &steps->weight_sum);
    nb_status st;
    *fits = 1;
    steps->count = sc->beam.n_sources * sc->lattice.n_orientations;
    steps->F2.constant =
        (float)(sc->factors.table.default_F * sc->factors.table.default_F);
    if (sc->factors.table.nh > 0 &&
        ((st = prepare_F2(state, sc, launch, &steps->F2, fits, err)) || !*fits))
        return st;
    if (path == NB_PATH_TENSOR)
        return prepare_fragments(state, launch, equal, steps, err);
    if (path == NB_PATH_RESIDUAL)
        return prepare_residuals(state, sc, launch, steps, err);
    st = nb_cuda_reserve(&state->steps, (size_t)steps->count * sizeof *steps->direct,
                         "the steps", err);
    if (st)
        return st;
    steps->direct = (const nb_cuda_direct_step *)state->steps.at;
    nb_cuda_launch_direct_steps(&launch->scene, &launch->panel, steps->F2.at != NULL,
                                (nb_cuda_direct_step *)state->steps.at, state->stream);
    return NB_OK;
}
