/* SPDX-License-Identifier: MIT */
/* Pixels whose noise is in doubt and whose value is a sum over scenes: the device lists them, the host calculates
 * them (src/image/noise.h), and the device draws again. */
#include "image.h"

#include "mix.h"

enum { BLOCK = 256 };

static const unsigned long long LEAST = 4096; /* doubts that have room */

/** *n counts all; those that have no room are left out. */
__global__ void __launch_bounds__(BLOCK)
    k_list_doubts(const unsigned *doubts, int64_t words, const float *image,
                  unsigned long long room, nb_doubt *list, unsigned long long *n)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    unsigned bits = i < words ? doubts[i] : 0;
    if (!bits)
        return;
    unsigned long long at = atomicAdd(n, (unsigned long long)__popc(bits));
    for (; bits && at < room; bits &= bits - 1, at++) {
        const int64_t pixel = i * 32 + __ffs((int)bits) - 1;
        list[at] = {pixel, image[pixel], image[pixel]};
    }
}

nb_cuda_settling nb_cuda_settling_of(nb_backend_state *state, const nb_product *product,
                                     nb_error *err)
{
    const nb_photons *photons = product->photons;
    const int by_host = photons && (photons->mix.n_more || photons->mix.absorb);
    return {state, by_host ? photons : NULL, NB_OK, err};
}

int nb_cuda_has_doubts(const nb_backend_state *state, const nb_product *product,
                       const nb_stage *counts)
{
    const int mixed = product->photons && !nb_mix_is_plain(&product->photons->mix);
    return counts->error > 0 && (mixed || !nb_cuda_is_exact(state));
}

/** The list begins with their number. */
static nb_status list_doubts(nb_cuda_settling *by, const float *image,
                             const unsigned *doubts, unsigned long long room,
                             unsigned long long *n)
{
    nb_backend_state *state = by->state;
    const nb_raster *raster = &by->by_host->scene->raster;
    const int64_t words = ((int64_t)raster->columns * raster->rows + 31) / 32;
    nb_cuda_buffer *listed = &state->products.listed;
    nb_status st =
        nb_cuda_reserve(listed, sizeof(nb_doubt) * (room + 1), "noise in doubt", by->err);
    unsigned long long *count = (unsigned long long *)listed->at;
    if (!st)
        st = nb_cuda_check(by->err, gpuMemsetAsync(count, 0, sizeof *count, state->stream),
                           "listing noise in doubt");
    if (st)
        return st;
    k_list_doubts<<<(unsigned)((words + BLOCK - 1) / BLOCK), BLOCK, 0, state->stream>>>(
        doubts, words, image, room, (nb_doubt *)listed->at + 1, count);
    st = nb_cuda_check(by->err, gpuGetLastError(), "starting a kernel");
    if (!st)
        st = nb_cuda_check(
            by->err,
            gpuMemcpyAsync(n, count, sizeof *n, gpuMemcpyDeviceToHost, state->stream),
            "listing noise in doubt");
    return st ? st
              : nb_cuda_check(by->err, gpuStreamSynchronize(state->stream),
                              "listing noise in doubt");
}

/** Down, calculated, and up again. */
static nb_status calculate(nb_cuda_settling *by, nb_doubt *there, int64_t n)
{
    const char *doing = "settling noise in doubt";
    const size_t bytes = (size_t)n * sizeof *there;
    gpuStream_t stream = by->state->stream;
    nb_doubt *here = (nb_doubt *)nb_alloc_raw((size_t)n, sizeof *here, doing, by->err);
    nb_status st = here ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        st = nb_cuda_check(
            by->err, gpuMemcpyAsync(here, there, bytes, gpuMemcpyDeviceToHost, stream),
            doing);
    if (!st)
        st = nb_cuda_check(by->err, gpuStreamSynchronize(stream), doing);
    if (!st)
        st = nb_cuda_fetch_light(by->state, &by->by_host->mix,
                                 by->by_host->scene->raster.pixels, by->err);
    if (!st) {
        nb_noise_settle(by->by_host, here, n);
        st = nb_cuda_check(
            by->err, gpuMemcpyAsync(there, here, bytes, gpuMemcpyHostToDevice, stream),
            doing);
    }
    if (!st)
        st = nb_cuda_check(by->err, gpuStreamSynchronize(stream), doing);
    nb_free(here);
    return st;
}

const nb_doubt *nb_cuda_settle_by_host(nb_cuda_settling *by, const float *image,
                                       const unsigned *doubts, int64_t *n)
{
    const size_t held = by->state->products.listed.bytes / sizeof(nb_doubt);
    unsigned long long room = held > LEAST ? held - 1 : LEAST, count = 0;
    nb_doubt *list;
    by->status = list_doubts(by, image, doubts, room, &count);
    if (!by->status && count > room)
        by->status = list_doubts(by, image, doubts, count, &count);
    list = (nb_doubt *)by->state->products.listed.at + 1;
    if (!by->status && count)
        by->status = calculate(by, list, (int64_t)count);
    *n = (int64_t)count;
    return by->status || !count ? NULL : list;
}
