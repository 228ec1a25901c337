/* SPDX-License-Identifier: MIT */
/* Mix planes with the image on the device: factors of pixels, and light that is added
 * before and after these factors. Operations are as in src/image/mix.c and must not be
 * contracted to fma (nvcc -fmad=false), so that the bits are the same. */
#include "image.h"

#include "../../src/image/photons.h"

enum { BLOCK = 256, EACH = 4 /* pixels of a thread */ };

typedef struct mix_job {
    nb_mix mix;
    const nb_mix_row *rows;
    const uint8_t *mask; /* mask of the stack, or NULL */
    float *image;
} mix_job;

/** The photons of a pixel after absorption by the crystal. */
static __device__ float absorbed(const mix_job &p, int64_t pixel)
{
    const float photons = p.image[pixel];
    return p.mix.absorb ? (float)nb_mix_absorbed(&p.mix, (size_t)pixel, photons) : photons;
}

/** Mix a piece of a row of the stack, by a block of threads. */
__global__ void __launch_bounds__(BLOCK) k_mix(const NB_GRID_CONSTANT mix_job p)
{
    const nb_mix_row row = p.rows[blockIdx.y];
    const int first = (int)blockIdx.x * BLOCK * EACH + (int)threadIdx.x;
    if ((int)blockIdx.x * BLOCK * EACH >= row.end)
        return;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int f = first + i * BLOCK;
        const int64_t pixel = row.start + f;
        if (f >= row.first && f < row.end && (!p.mask || p.mask[pixel]))
            p.image[pixel] = (float)nb_mix_pixel(&p.mix, (size_t)pixel,
                                                 absorbed(p, pixel) +
                                                     nb_mix_under(&p.mix, (size_t)pixel));
    }
}

nb_status nb_cuda_mask(nb_backend_state *state, const nb_scene *sc, const uint8_t **mask,
                       nb_error *err)
{
    nb_cuda_mirror *mirror = &state->footprint.mask;
    nb_status st = NB_OK;
    *mask = NULL;
    if (!sc->raster.mask)
        return NB_OK;
    if (sc->raster.mask == state->mask_of)
        mirror = &state->mask;
    else
        st = nb_cuda_upload_mirror(state, mirror, sc->raster.mask, sc->raster.pixels,
                                   "the mask", err);
    *mask = (const uint8_t *)mirror->device.at;
    return st;
}

static nb_status send(nb_backend_state *state, nb_cuda_buffer *buffer, const float *from,
                      size_t pixels, nb_error *err)
{
    const size_t bytes = pixels * sizeof *from;
    nb_status st = from ? nb_cuda_reserve(buffer, bytes, "an image to mix", err) : NB_OK;
    if (st || !from)
        return st;
    return nb_cuda_check(
        err,
        cudaMemcpyAsync(buffer->at, from, bytes, cudaMemcpyHostToDevice, state->stream),
        "uploading an image to mix");
}

static nb_status send_planes(nb_backend_state *state, const nb_mix *mix, size_t pixels,
                             nb_error *err)
{
    nb_cuda_mix *on_device = &state->mix;
    const int kept = mix->hash && mix->hash == on_device->hash;
    /* 1: light.cu made the light on the device */
    const int is_on_device = mix->late && mix->late->missing;
    nb_status st =
        is_on_device ? NB_OK : send(state, &on_device->light, mix->light, pixels, err);
    if (!st && !kept) {
        on_device->hash = 0;
        st = send(state, &on_device->transmission, mix->transmission, pixels, err);
        NB_TRY(send(state, &on_device->add, mix->add, pixels, err));
        if (!st)
            on_device->hash = mix->hash;
    }
    if (!st && mix->absorb && mix->absorb_hash != on_device->absorb_hash) {
        on_device->absorb_hash = 0;
        st = send(state, &on_device->absorb, mix->absorb, pixels, err);
        if (!st)
            on_device->absorb_hash = mix->absorb_hash;
    }
    if (!st && mix->under && mix->under_key != on_device->under_key) {
        on_device->under_key = 0;
        st = send(state, &on_device->under, mix->under, pixels, err);
        if (!st)
            on_device->under_key = mix->under_key;
    }
    return st;
}

static nb_status send_rows(nb_backend_state *state, const nb_mix *mix, const nb_scene *sc,
                           nb_error *err)
{
    const size_t n = (size_t)sc->raster.rows;
    nb_mix_row *rows = (nb_mix_row *)nb_alloc(n, sizeof *rows, "rows", err);
    nb_mix acting = *mix;
    nb_status st = NB_ERR_NOMEM;
    if (mix->absorb)
        acting.acts = NULL; /* absorption acts on all pixels */
    for (int i = 0; rows && i < sc->raster.rows; i++)
        rows[i] = nb_mix_row_of(&acting, sc, i);
    if (rows)
        st = nb_cuda_upload_mirror(state, &state->mix.rows, rows, n * sizeof *rows,
                                   "rows", err);
    nb_free(rows);
    return st;
}

/** Start the kernel for all rows, in pieces, because a grid has up to 65535 rows. */
static void launch(nb_backend_state *state, mix_job job, const nb_scene *sc)
{
    const int high = 65535;
    const unsigned across =
        (unsigned)((sc->raster.columns + BLOCK * EACH - 1) / (BLOCK * EACH));
    for (int first = 0; first < sc->raster.rows; first += high) {
        const int left = sc->raster.rows - first;
        k_mix<<<dim3(across, (unsigned)(left < high ? left : high)), BLOCK, 0, state->stream>>>(
            job);
        job.rows += high;
    }
}

static nb_mix device_mix(const nb_backend_state *state, const nb_mix *mix)
{
    nb_mix on_device = *mix;
    on_device.light = mix->light ? (const float *)state->mix.light.at : NULL;
    on_device.transmission =
        mix->transmission ? (const float *)state->mix.transmission.at : NULL;
    on_device.absorb = mix->absorb ? (const float *)state->mix.absorb.at : NULL;
    on_device.under = mix->under ? (const float *)state->mix.under.at : NULL;
    on_device.add = mix->add ? (const float *)state->mix.add.at : NULL;
    return on_device;
}

nb_status nb_cuda_mix_image(nb_backend_state *state, const nb_scene *sc,
                            const nb_mix *mix, nb_error *err)
{
    mix_job job = {};
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    NB_TRY(nb_cuda_mask(state, sc, &job.mask, err));
    NB_TRY(send_planes(state, mix, sc->raster.pixels, err));
    NB_TRY(send_rows(state, mix, sc, err));
    if (st)
        return st;
    job.mix = device_mix(state, mix);
    job.rows = (const nb_mix_row *)state->mix.rows.device.at;
    job.image = (float *)state->image.at;
    launch(state, job, sc);
    st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->ended, state->stream),
                         "recording an event"));
    return st;
}

__global__ void __launch_bounds__(BLOCK)
    k_add(const float *__restrict__ from, size_t n, float *__restrict__ image)
{
    const size_t step = (size_t)gridDim.x * BLOCK;
    for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += step)
        image[i] += from[i];
}

nb_status nb_cuda_add_aside(nb_backend_state *state, size_t pixels, nb_error *err)
{
    const size_t blocks = (pixels + BLOCK * EACH - 1) / (BLOCK * EACH);
    nb_status st;
    NB_FORWARD(
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device"));
    k_add<<<(unsigned)(blocks < 65535 ? blocks : 65535), BLOCK, 0, state->stream>>>(
        (const float *)state->aside.at, pixels, (float *)state->image.at);
    st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->ended, state->stream),
                         "recording an event"));
    return st;
}

void nb_cuda_mix_release(nb_cuda_mix *mix)
{
    nb_cuda_release(&mix->transmission);
    nb_cuda_release(&mix->add);
    nb_cuda_release(&mix->light);
    nb_cuda_release(&mix->absorb);
    nb_cuda_release(&mix->under);
    nb_cuda_release_mirror(&mix->rows);
}
