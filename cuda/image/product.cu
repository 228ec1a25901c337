/* SPDX-License-Identifier: MIT */
/* Entries of nb_image_device: sums of the last image, which stays on the device, integer
 * images, and copies of rows. */
#include "image.h"

#include <time.h>

#include "../../src/image/photons.h"
#include "../backend/host.h"
#include "../slopes/slopes.h"

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/** Copy the scene, with the addresses of its arrays on the device after the last render.
 * Panels and sensors keep host addresses, because kernels get them by value. */
static nb_status to_device(nb_backend_state *state, const nb_scene *sc,
                           nb_scene *on_device, nb_error *err)
{
    nb_status st = nb_cuda_mask(state, sc, &on_device->raster.mask, err);
    const uint8_t *mask = on_device->raster.mask;
    *on_device = *sc;
    on_device->beam.sources = (const nb_source *)state->sources.device.at;
    on_device->lattice.orientations =
        (const nb_orientation *)state->orientations.device.at;
    on_device->factors.table.F = (const double *)state->F.at;
    on_device->raster.mask = mask;
    on_device->amorphous =
        sc->amorphous ? (const nb_amorphous *)state->amorphous.device.at : NULL;
    return st;
}

/** Wait for the launched work, and add its time to products.seconds. */
static nb_status finish(nb_backend_state *state, const char *doing, nb_error *err)
{
    float ms = 0;
    nb_status st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    NB_TRY(
        nb_cuda_check(err, cudaEventRecord(state->products.ended, state->stream), doing));
    NB_TRY(nb_cuda_check(err, cudaStreamSynchronize(state->stream), doing));
    if (!st && cudaEventElapsedTime(&ms, state->products.began, state->products.ended) ==
                   cudaSuccess)
        state->products.seconds += ms * 1e-3;
    return st;
}

static nb_status begin(nb_backend_state *state, nb_error *err)
{
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    return st ? st
              : nb_cuda_check(err, cudaEventRecord(state->products.began, state->stream),
                              "starting a kernel");
}

static nb_status sum_rows(nb_backend_state *state, const nb_scene *sc, nb_row_sums *sums,
                          nb_error *err)
{
    nb_scene on_device;
    size_t bytes = (size_t)(sc->raster.roi.smax - sc->raster.roi.smin + 1) * sizeof *sums;
    nb_status st =
        nb_cuda_reserve(&state->products.sums, bytes, "the sums of the rows", err);
    if (st || (st = to_device(state, sc, &on_device, err)) || (st = begin(state, err)))
        return st;
    nb_cuda_launch_sums(&on_device, (const float *)state->image.at,
                        (nb_row_sums *)state->products.sums.at, state->stream);
    NB_FORWARD(nb_cuda_check(err,
                             cudaMemcpyAsync(sums, state->products.sums.at, bytes,
                                             cudaMemcpyDeviceToHost, state->stream),
                             "adding up the image"));
    return finish(state, "adding up the image", err);
}

/** True if the fibres' point spread is among the product's stages. */
static int has_fibres(const nb_product *p)
{
    for (int i = 0; i < p->stages; i++)
        if (p->chain[i].kind == NB_STAGE_SPREAD && p->chain[i].shape != NB_PSF_GAUSS)
            return 1;
    return 0;
}

static int makes(const nb_backend_state *state, const nb_product *product)
{
    if (nb_product_is_chained(product))
        return !(state->products.chains.no_fft && has_fibres(product));
    return product->stages ? product->stage.kind == NB_STAGE_POISSON
                           : !product->ends_at_16_bits;
}

static nb_status launch_one(nb_backend_state *state, const nb_scene *on_device,
                            const nb_product *product, int i, nb_error *err)
{
    int chained = nb_product_is_chained(product);
    size_t pixels = (size_t)on_device->raster.columns * on_device->raster.rows;
    size_t size = nb_pixel_bytes(product->type);
    unsigned long long *counter =
        (unsigned long long *)((char *)state->small.at + NB_SMALL_OVERLOADS) + i;
    nb_status st;
    NB_FORWARD(nb_cuda_reserve(&state->products.image[i], pixels * size,
                               "an integer image", err));
    state->products.pixel_bytes[i] = size;
    if (chained)
        return nb_cuda_chain_make(state, on_device, product, i, counter, err);
    nb_cuda_launch_product(on_device, (const float *)state->image.at, product,
                           state->products.image[i].at, counter, state->stream);
    return NB_OK;
}

static nb_status make(nb_backend_state *state, const nb_scene *sc,
                      nb_product *const *products, int n, nb_error *err)
{
    nb_scene on_device;
    unsigned long long overloads[NB_PRODUCTS_MAX] = {};
    char *counters = (char *)state->small.at + NB_SMALL_OVERLOADS;
    int i;
    nb_status st = nb_cuda_ring_pieces(state->ring, &state->products.pieces, err);
    NB_TRY(to_device(state, sc, &on_device, err));
    nb_cuda_chain_begin(state);
    for (i = 0; i < n && !st; i++)
        if (has_fibres(products[i]) && (st = nb_cuda_fft_need(err)))
            state->products.chains.no_fft = 1; /* makes() then refuses such products */
    if (st || (st = begin(state, err)) ||
        (st = nb_cuda_check(err,
                            cudaMemsetAsync(counters, 0, sizeof overloads, state->stream),
                            "making integers")))
        return st;
    for (i = 0; i < n && !st; i++)
        st = launch_one(state, &on_device, products[i], i, err);
    NB_TRY(nb_cuda_check(err,
                         cudaMemcpyAsync(overloads, counters, sizeof overloads,
                                         cudaMemcpyDeviceToHost, state->stream),
                         "making integers"));
    NB_TRY(finish(state, "making integers", err));
    for (i = 0; i < n && !st; i++)
        products[i]->overloads = (int64_t)overloads[i];
    return st;
}

/** Number of the piece of pinned memory (nb_cuda_pieces) that holds an address, or -1. */
static int piece_at(const nb_backend_state *state, const void *memory)
{
    const nb_cuda_pieces *p = &state->products.pieces;
    const char *at = (const char *)memory;
    if (!p->at || at < p->at || at >= p->at + p->bytes * (size_t)p->count)
        return -1;
    return (int)((size_t)(at - p->at) / p->bytes);
}

static nb_status fetch(nb_backend_state *state, int i, int first, int rows, void *out,
                       nb_error *err)
{
    const char *from =
        (const char *)(i < 0 ? state->image.at : state->products.image[i].at);
    size_t size = i < 0 ? sizeof(float) : state->products.pixel_bytes[i];
    size_t row = state->products.columns * size;
    int piece = piece_at(state, out);
    int64_t start = now_ns();
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    from += (size_t)first * row;
    if (!st && piece < 0 && rows == state->products.rows) {
        st = nb_cuda_download(state->ring, out, from, (size_t)rows * row, state->stream,
                              err);
    } else if (!st) {
        cudaStream_t stream =
            piece < 0 ? state->stream : state->products.streams[piece % NB_CUDA_STREAMS];
        st = nb_cuda_check(err,
                           cudaMemcpyAsync(out, from, (size_t)rows * row,
                                           cudaMemcpyDeviceToHost, stream),
                           "downloading");
        NB_TRY(nb_cuda_check(err, cudaStreamSynchronize(stream), "downloading"));
    }
    __atomic_fetch_add(&state->products.download_ns, now_ns() - start, __ATOMIC_RELAXED);
    return st;
}

static void *take(nb_backend_state *state, size_t bytes)
{
    nb_cuda_pieces *p = &state->products.pieces;
    uint32_t taken = __atomic_load_n(&state->products.taken, __ATOMIC_ACQUIRE);
    int k;
    if (bytes > p->bytes)
        return NULL;
    for (k = 0; k < p->count; k++)
        if (!(taken >> k & 1) &&
            !(__atomic_fetch_or(&state->products.taken, 1u << k, __ATOMIC_ACQ_REL) >> k &
              1))
            return p->at + (size_t)k * p->bytes;
    return NULL;
}

static void give(nb_backend_state *state, void *memory)
{
    int k = piece_at(state, memory);
    if (k >= 0)
        __atomic_fetch_and(&state->products.taken, ~(1u << k), __ATOMIC_ACQ_REL);
}

static void *allocate(int device_index, size_t bytes)
{
    void *memory = NULL;
    if (cudaSetDevice(device_index < 0 ? 0 : device_index) == cudaSuccess &&
        cudaHostAlloc(&memory, bytes, cudaHostAllocPortable) == cudaSuccess)
        return memory;
    cudaGetLastError();
    return NULL;
}

static void release(void *memory)
{
    if (memory)
        cudaFreeHost(memory);
}

static void warm(int device_index)
{
    if (cudaSetDevice(device_index < 0 ? 0 : device_index) == cudaSuccess)
        cudaFree(NULL);
    cudaGetLastError();
}

static void times(const nb_backend_state *state, nb_device_times *out)
{
    double kernels = nb_cuda_kernel_seconds(state);
    out->kernels = kernels == kernels ? kernels : 0;
    out->effects = state->products.seconds;
    out->download = (double)state->products.download_ns * 1e-9;
}

static int count_devices(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    cudaGetLastError();
    return count;
}

nb_status nb_cuda_products_open(nb_cuda_products *products, nb_error *err)
{
    int i;
    nb_status st =
        nb_cuda_check(err, cudaEventCreate(&products->began), "creating an event");
    NB_TRY(nb_cuda_check(err, cudaEventCreate(&products->ended), "creating an event"));
    for (i = 0; i < NB_CUDA_STREAMS && !st; i++)
        st = nb_cuda_check(
            err, cudaStreamCreateWithFlags(&products->streams[i], cudaStreamNonBlocking),
            "creating a stream");
    return st;
}

void nb_cuda_products_close(nb_cuda_products *products)
{
    int i;
    for (i = 0; i < NB_PRODUCTS_MAX; i++)
        nb_cuda_release(&products->image[i]);
    nb_cuda_release(&products->sums);
    nb_cuda_chain_release(&products->chains);
    for (i = 0; i < NB_CUDA_STREAMS; i++)
        if (products->streams[i])
            cudaStreamDestroy(products->streams[i]);
    if (products->began)
        cudaEventDestroy(products->began);
    if (products->ended)
        cudaEventDestroy(products->ended);
}

extern const nb_backend_device nb_cuda_device_entries = {
    warm,
    {makes, sum_rows, make, fetch, take, give, allocate, release, nb_cuda_locate,
     nb_cuda_replace, nb_cuda_settle, nb_cuda_copy, nb_cuda_discard, nb_cuda_set_aside,
     nb_cuda_spread, nb_cuda_add_aside, nb_cuda_mix_image, nb_cuda_make_light},
    times,
    count_devices,
    nb_cuda_makes_slopes};
