/* SPDX-License-Identifier: MIT */
/* The CUDA backend: open, render, describe, close. */
#include "../image/image.h"

#include <stdio.h>

#include "../../src/physics/limits.h"
#include "host.h"

static nb_status render(nb_backend_state *state, const nb_scene *sc,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    nb_status st = nb_request_check(request, sc, planes->pixels, "cuda", err);
    NB_TRY(nb_cuda_check_places(request, sc, err));
    NB_TRY(nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device"));
    if (st)
        return st;
    if (request->sums)
        return nb_cuda_render_slopes(state, request, err);
    state->options.precision = request->precision;
    state->products.columns = (size_t)sc->raster.columns;
    state->products.rows = sc->raster.rows;
    return nb_cuda_render_request(state, sc, request, planes->image, err);
}

/** Estimated seconds. The first context and the upload of the table of F are counted
 * once, the transfer over PCIe and the kernel for each image. */
static double estimate(const nb_scene *sc, const nb_render_options *options, char *why,
                       size_t why_size)
{
    const double start = 0.27, bytes_per_second = 10e9;
    const nb_factor_table *sf = &sc->factors.table;
    double table = sf->nh > 0 ? 8.0 * (double)nb_table_values(sf) : 0;
    double image = 4.0 * (double)sc->raster.pixels;
    nb_cuda_device device;
    const nb_path *path;
    const char *reason;
    nb_engine engine;
    nb_plan plan;
    if (!nb_cuda_probe(options->device_index, &device, why, why_size))
        return -1;
    engine = nb_cuda_engine(&device);
    plan = nb_cuda_plan_of(sc, options->precision, &options->tolerance, &engine);
    path = nb_cuda_choose_path(&plan, &reason);
    snprintf(why, why_size, "compute capability %d.%d, %s%s%s", device.major,
             device.minor, path->how, *reason ? ": " : "", reason);
    return start + table / bytes_per_second +
           (image / bytes_per_second + path->seconds(&plan)) *
               (options->images > 1 ? options->images : 1);
}

static void close_cuda(nb_backend_state *state)
{
    int i;
    if (!state)
        return;
    cudaSetDevice(state->device.index);
    nb_cuda_products_close(&state->products);
    nb_cuda_slopes_free(state->slopes);
    nb_cuda_footprint_release(&state->footprint);
    nb_cuda_mix_release(&state->mix);
    nb_cuda_diffuse_release(&state->diffuse);
    nb_cuda_buffer *const buffers[] = {
        &state->tile_pairs, &state->spot_sums, &state->image, &state->F,
        &state->lit,        &state->sums,      &state->terms, &state->F2,
        &state->weights,    &state->tables,    &state->small, &state->tile_queue,
        &state->spot_boxes, &state->aside};
    nb_cuda_mirror *const mirrors[] = {
        &state->sources,   &state->orientations, &state->spans,       &state->amorphous,
        &state->materials, &state->pieces,       &state->buckets,     &state->panels,
        &state->sensors,   &state->spot_tables,  &state->tile_tables, &state->mask,
        &state->jobs[0],   &state->jobs[1]};
    for (nb_cuda_buffer *buffer : buffers)
        nb_cuda_release(buffer);
    for (nb_cuda_mirror *mirror : mirrors)
        nb_cuda_release_mirror(mirror);
    nb_cuda_ring_free(state->ring);
    if (state->repair)
        cudaFreeHost(state->repair);
    if (state->brightest)
        cudaFreeHost(state->brightest);
    for (i = 0; i < 2; i++)
        if (state->bands[i])
            cudaEventDestroy(state->bands[i]);
    if (state->began)
        cudaEventDestroy(state->began);
    if (state->ended)
        cudaEventDestroy(state->ended);
    if (state->stream)
        cudaStreamDestroy(state->stream);
    if (state->options.device_alone)
        cudaDeviceReset();
    nb_free(state);
}

/** Make the first calls that need a context. They take the largest part of the start-up
 * time. */
static nb_status start_device(nb_backend_state *state, nb_error *err)
{
    nb_cuda_device *d = &state->device;
    cudaDeviceProp properties;
    int threads =
            state->options.threads > 0 ? state->options.threads : nb_cuda_thread_limit(),
        i;
    nb_status st;
    if ((st = nb_cuda_check(err, cudaSetDevice(d->index), "choosing the device")) ||
        (st = nb_cuda_check(err, cudaFree(NULL), "starting the device")) ||
        (st = nb_cuda_check(err, cudaGetDeviceProperties(&properties, d->index),
                            "asking for the device's properties")) ||
        (st = nb_cuda_check(
             err, cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking),
             "creating a stream")))
        return st;
    snprintf(d->name, sizeof d->name, "%s", properties.name);
    d->has_tensor = d->has_tensor && nb_cuda_has_tensor_code();
    for (i = 0; i < 2 && !st; i++)
        st = nb_cuda_check(
            err, cudaEventCreateWithFlags(&state->bands[i], cudaEventDisableTiming),
            "creating an event");
    NB_TRY(nb_cuda_check(err, cudaEventCreate(&state->began), "creating an event"));
    NB_TRY(nb_cuda_check(err, cudaEventCreate(&state->ended), "creating an event"));
    NB_TRY(nb_cuda_check(err, cudaMallocHost((void **)&state->repair, sizeof(int)),
                         "reserving pinned memory"));
    NB_TRY(nb_cuda_check(
        err, cudaMallocHost((void **)&state->brightest, sizeof *state->brightest),
        "reserving pinned memory"));
    NB_TRY(nb_cuda_products_open(&state->products, err));
    return st ? st : nb_cuda_ring_create(d->index, threads, &state->ring, err);
}

static nb_status open_cuda(const nb_render_options *options, nb_backend_state **state,
                           nb_error *err)
{
    nb_backend_state *s = (nb_backend_state *)nb_alloc(1, sizeof *s, "renderer", err);
    char why[200];
    nb_status st;
    *state = NULL;
    if (!s)
        return NB_ERR_NOMEM;
    s->options = *options;
    s->path = nb_cuda_paths[0];
    if (!nb_cuda_probe(options->device_index, &s->device, why, sizeof why)) {
        nb_free(s);
        return nb_fail(err, NB_ERR_DEVICE, "cuda: %s", why);
    }
    st = start_device(s, err);
    if (st)
        close_cuda(s);
    else
        *state = s;
    return st;
}

static nb_lack lack(const nb_backend_state *state)
{
    const nb_spots_result *left = &state->notes.left;
    if (!state->path->skips || !(left->bound > 0))
        return {0, 0};
    return {left->bound, nb_spots_part(left)};
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    const char *refused = state->notes.left.refused;
    const int ineffective = state->asked && refused;
    char how[300];
    if (state->path->describe)
        state->path->describe(&state->notes, how, sizeof how);
    else
        snprintf(how, sizeof how, "%s%s%s", state->path->how,
                 ineffective ? "; -tolerance has no effect: " : "",
                 ineffective ? refused : "");
    snprintf(line, size, "cuda:%d, %s, %s", state->device.index, state->device.name, how);
}

extern "C" const nb_backend nb_backend_cuda = {"cuda",
                                               nb_cuda_words,
                                               nb_cuda_parse,
                                               &nb_cuda_feature,
                                               estimate,
                                               open_cuda,
                                               render,
                                               lack,
                                               describe,
                                               close_cuda,
                                               &nb_cuda_device_entries,
                                               nb_cuda_may_be_present};
