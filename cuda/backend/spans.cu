/* SPDX-License-Identifier: MIT */
/* Mark the pixels of a request: a byte for each pixel of the image. */
#include "state.h"

/** Mark the pixels of a span; 32 threads for each span. */
__global__ void k_light(const nb_span *spans, size_t n, uint8_t *lit)
{
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i < n)
        for (int k = (int)(threadIdx.x % 32); k < spans[i].n; k += 32)
            lit[spans[i].at + (size_t)k] = 1;
}

nb_status nb_cuda_check_places(const nb_request *request, const nb_scene *sc,
                               nb_error *err)
{
    for (size_t i = 0; request->spans && i < request->n; i++) {
        const nb_span *s = &request->spans[i];
        const nb_panel *panel = &sc->panels[s->panel];
        size_t row = panel->first_pixel + (size_t)s->slow * (size_t)panel->columns;
        if (s->at != row + (size_t)s->fast)
            return nb_fail(err, NB_ERR_UNSUPPORTED,
                           "the cuda renderer puts pixels only where the image "
                           "has them (span %zu of a request)",
                           i);
    }
    return NB_OK;
}

nb_status nb_cuda_light(nb_backend_state *state, const nb_request *request, size_t pixels,
                        const uint8_t **lit, nb_error *err)
{
    const unsigned blocks = (unsigned)((request->n * 32 + 255) / 256);
    nb_status st = nb_cuda_upload_mirror(state, &state->spans, request->spans,
                                         request->n * sizeof *request->spans,
                                         "the list of pixels", err);
    NB_TRY(nb_cuda_reserve(&state->lit, pixels, "the marks of the pixels", err));
    NB_TRY(nb_cuda_check(err, cudaMemsetAsync(state->lit.at, 0, pixels, state->stream),
                         "marking pixels"));
    if (st)
        return st;
    k_light<<<blocks, 256, 0, state->stream>>>((const nb_span *)state->spans.device.at,
                                               request->n, (uint8_t *)state->lit.at);
    *lit = (const uint8_t *)state->lit.at;
    return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
}
