/* SPDX-License-Identifier: MIT */
/* The scene's arrays and the fast kernels' tables, on the device. */
#include "state.h"

#include <string.h>

#include "../../src/base/coefficients.h"
#include "../../src/physics/limits.h"
#include "../../src/physics/ray.h"
#include "host.h"

extern "C" {
#include "../../src/plan/plan.h"
}

enum {
    MAX_CELLS = 1 << 28, /* limit of F^2 values in one table: 1 GiB */
    /* limit of F^2 values in several tables, which may take up to half of the free
     * memory */
    MAX_VALUES = 1 << 30,
    /* the number of adjacent tables is a multiple of this, to fill cache sectors */
    SIDE = 8,
    HASH_THREADS = 16
};

static nb_status upload(nb_cuda_buffer *buffer, const void *from, size_t bytes,
                        const char *what, cudaStream_t stream, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_cuda_reserve(buffer, bytes ? bytes : 1, what, err));
    return nb_cuda_check(
        err, cudaMemcpyAsync(buffer->at, from, bytes, cudaMemcpyHostToDevice, stream),
        what);
}

/** Keep a host copy of an array of the scene. *changed: 1 if the array differed from the
 * previous copy. */
static nb_status remember(nb_backend_state *state, nb_cuda_mirror *mirror,
                          const void *from, size_t bytes, const char *what, int *changed,
                          nb_error *err)
{
    *changed = mirror->bytes != bytes || memcmp(mirror->sent, from, bytes) != 0;
    if (!*changed)
        return NB_OK;
    state->is_prepared = 0;
    state->change++;
    mirror->bytes = 0;
    nb_free(mirror->sent);
    mirror->sent = nb_alloc_raw(bytes, 1, what, err);
    if (!mirror->sent)
        return NB_ERR_NOMEM;
    memcpy(mirror->sent, from, bytes);
    mirror->bytes = bytes;
    return NB_OK;
}

nb_status nb_cuda_upload_mirror(nb_backend_state *state, nb_cuda_mirror *mirror,
                                const void *from, size_t bytes, const char *what,
                                nb_error *err)
{
    int changed;
    nb_status st = remember(state, mirror, from, bytes, what, &changed, err);
    if (!st && changed)
        st = upload(&mirror->device, mirror->sent, bytes, what, state->stream, err);
    if (st)
        mirror->bytes = 0;
    return st;
}

/** Keep host copies of panels and sensors, only to notice changes. */
static nb_status remember_panels(nb_backend_state *state, const nb_scene *sc,
                                 nb_error *err)
{
    int changed, n = 0;
    for (int k = 0; k < sc->n_panels; k++)
        n = sc->panels[k].sensor >= n ? sc->panels[k].sensor + 1 : n;
    nb_status st =
        remember(state, &state->panels, sc->panels,
                 (size_t)sc->n_panels * sizeof *sc->panels, "the panels", &changed, err);
    return st ? st
              : remember(state, &state->sensors, sc->sensors,
                         (size_t)n * sizeof *sc->sensors, "the sensors", &changed, err);
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

/** Hash of the table. To calculate it takes a tenth of the time of the upload. */
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

/** Upload the structure factors, unless the same ones are on the device. */
static nb_status upload_table(nb_backend_state *state, const nb_factor_table *sf,
                              nb_error *err)
{
    size_t count = nb_table_values(sf);
    uint64_t hash;
    nb_status st;
    if (sf->nh == 0)
        return NB_OK;
    hash = sf->measured && sf->hash ? sf->hash : hash_table(sf->F, count);
    if (state->F.at && state->F_count == count && state->F_hash == hash)
        return NB_OK;
    state->F_count = 0;
    state->is_prepared = 0;
    NB_FORWARD(upload(&state->F, sf->F, count * sizeof *sf->F, "the structure factors",
                      state->stream, err));
    state->F_count = count;
    state->F_hash = hash;
    return NB_OK;
}

void nb_cuda_set_panel(const nb_backend_state *state, const nb_scene *sc, int k,
                       const uint8_t *lit, nb_cuda_launch *launch)
{
    const nb_panel *panel = &sc->panels[k];
    launch->panel = *panel;
    launch->sensor = sc->sensors[panel->sensor];
    launch->image = (float *)state->image.at + panel->first_pixel;
    launch->scene.raster.mask = lit ? lit + panel->first_pixel : NULL;
}

/** Upload the tables of the materials; *on_device: their address on the device, or NULL
 * without materials. */
static nb_status upload_materials(nb_backend_state *state, const nb_amorphous *a,
                                  const nb_amorphous **on_device, nb_error *err)
{
    nb_amorphous copy;
    const char *what = "the materials";
    size_t pieces = 0, buckets = 0;
    nb_status st;
    *on_device = NULL;
    for (int i = 0; a && i < a->n; i++) {
        const nb_scatterer *m = &a->materials[i];
        size_t last = (size_t)m->first_bucket + (size_t)m->n_buckets;
        buckets = last + 1;
        pieces = (size_t)m->first_piece + (size_t)a->buckets[last] + 1;
    }
    if (!a)
        return NB_OK;
    if ((st = nb_cuda_upload_mirror(state, &state->materials, a->materials,
                                    (size_t)a->n * sizeof *a->materials, what, err)) ||
        (st = nb_cuda_upload_mirror(state, &state->pieces, a->pieces,
                                    pieces * sizeof *a->pieces, what, err)) ||
        (st = nb_cuda_upload_mirror(state, &state->buckets, a->buckets,
                                    buckets * sizeof *a->buckets, what, err)))
        return st;
    copy = {a->n, (const nb_scatterer *)state->materials.device.at,
            (const nb_table_piece *)state->pieces.device.at,
            (const int32_t *)state->buckets.device.at, a->hash};
    st = nb_cuda_upload_mirror(state, &state->amorphous, &copy, sizeof copy, what, err);
    *on_device = (const nb_amorphous *)state->amorphous.device.at;
    return st;
}

nb_status nb_cuda_upload(nb_backend_state *state, const nb_scene *sc,
                         nb_cuda_launch *launch, nb_error *err)
{
    size_t pixels = sc->raster.pixels;
    size_t sources = (size_t)sc->beam.n_sources * sizeof *sc->beam.sources;
    size_t orientations =
        (size_t)sc->lattice.n_orientations * sizeof *sc->lattice.orientations;
    const nb_amorphous *amorphous;
    nb_status st;
    if ((st = nb_cuda_reserve(&state->image, pixels * sizeof(float), "the image", err)) ||
        (st = nb_cuda_reserve(&state->small, NB_SMALL_BYTES, "counters", err)) ||
        (st = nb_cuda_upload_mirror(state, &state->sources, sc->beam.sources, sources,
                                    "the sources", err)) ||
        (st = nb_cuda_upload_mirror(state, &state->orientations, sc->lattice.orientations,
                                    orientations, "the orientations", err)))
        return st;
    if ((st = upload_table(state, &sc->factors.table, err)) ||
        (st = remember_panels(state, sc, err)) ||
        (st = upload_materials(state, sc->amorphous, &amorphous, err)))
        return st;
    /* The mask is for products of the image; a renderer uses the spans of the request. */
    if (sc->raster.mask &&
        (st = nb_cuda_upload_mirror(state, &state->mask, sc->raster.mask, pixels,
                                    "the mask", err)))
        return st;
    state->mask_of = sc->raster.mask;
    launch->scene = *sc;
    launch->scene.panels = NULL;
    launch->scene.sensors = NULL;
    launch->scene.amorphous = amorphous;
    launch->scene.beam.sources = (const nb_source *)state->sources.device.at;
    launch->scene.lattice.orientations =
        (const nb_orientation *)state->orientations.device.at;
    launch->scene.factors.table.F = (const double *)state->F.at;
    nb_cuda_set_panel(state, sc, 0, NULL, launch);
    launch->repair = (int *)((char *)state->small.at + NB_SMALL_REPAIR);
    launch->stream = state->stream;
    launch->multiprocessors = state->device.multiprocessors;
    launch->first_incident = sc->beam.sources[0].incident;
    return NB_OK;
}

int nb_cuda_has_room(const nb_backend_state *state, double bytes)
{
    size_t available = 0, all = 0;
    return bytes <= (double)state->F2.bytes ||
           (cudaMemGetInfo(&available, &all) == cudaSuccess &&
            bytes <= (double)(available + state->F2.bytes) / 2);
}

/** True if the tables of F^2 fit. */
static int tables_fit(const nb_backend_state *state, const nb_cuda_factor_squares *F2)
{
    double cells = nb_index_box_count(&F2->box), values = cells * F2->side;
    if (F2->side == 1)
        return cells <= MAX_CELLS;
    return values <= MAX_VALUES && nb_cuda_has_room(state, values * sizeof(float));
}

nb_status nb_cuda_prepare_F2(nb_backend_state *state, const nb_plan *plan,
                             const nb_cuda_launch *launch, nb_cuda_factor_squares *F2,
                             int *fits, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    size_t values;
    nb_status st;
    if (sc->factors.table.nh == 0)
        return NB_OK;
    NB_FORWARD(nb_visible_box(plan, &F2->box, err));
    F2->table = sc->beam.sources[0].table;
    if (!nb_one_table(&sc->beam))
        F2->side = (nb_table_count(&sc->factors.table) + SIDE - 1) / SIDE * SIDE;
    *fits = tables_fit(state, F2);
    if (!*fits)
        return NB_OK;
    values = (size_t)nb_index_box_count(&F2->box) * (size_t)F2->side;
    NB_FORWARD(nb_cuda_reserve(&state->F2, values * sizeof(float),
                               "the table of structure factors", err));
    F2->at = (const float *)state->F2.at;
    nb_cuda_launch_fill_F2(&launch->scene.factors.table, F2, (float *)state->F2.at,
                           state->stream);
    return NB_OK;
}

void nb_cuda_aim_terms(const nb_cuda_launch *launch, const nb_cuda_terms *terms)
{
    if (!terms->direct)
        return;
    nb_cuda_launch_direct_steps(&launch->scene, &launch->panel, terms->F2.at != NULL,
                                (nb_cuda_direct_term *)terms->direct, launch->stream);
}

void nb_cuda_aim_panels(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                        const void *panels, size_t apart)
{
    nb_cuda_launch_panels_steps(&launch->scene, panels, apart, terms->panels,
                                terms->F2.at != NULL,
                                (nb_cuda_direct_term *)terms->direct, launch->stream);
}

void nb_cuda_begin_terms(const nb_plan *plan, nb_cuda_terms *terms)
{
    const nb_scene *sc = plan->scene;
    const double F = sc->factors.table.default_F;
    terms->count = sc->beam.n_sources * sc->lattice.n_orientations;
    terms->F2.side = 1;
    terms->F2.constant = (float)(F * F);
}
