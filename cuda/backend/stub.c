/* SPDX-License-Identifier: MIT */
/* The CUDA backend of a build without nvcc: it only reports that it is missing. */
#include "../../src/render/backend.h"

#ifdef NB_HAVE_CUDA
typedef int nb_cuda_stub_is_empty; /* C does not allow a file without a declaration */
#else

#include <stdio.h>

#include <math.h>

#include "../../src/base/error.h"
#include "host.h"
#include "vendor.h"

#define REASON "built without CUDA (nvcc was not found)"

static double estimate(const nb_scene *scene, const nb_render_options *options, char *why,
                       size_t why_size)
{
    (void)scene;
    (void)options;
    snprintf(why, why_size, "%s", REASON);
    return -1;
}

static nb_status open_nothing(const nb_render_options *options, nb_backend_state **state,
                              nb_error *err)
{
    (void)options;
    *state = NULL;
    return nb_fail(err, NB_ERR_UNSUPPORTED, "cuda: %s", REASON);
}

static nb_status render(nb_backend_state *state, const nb_scene *scene,
                        const nb_request *request, const nb_planes *planes, nb_error *err)
{
    (void)state;
    (void)scene;
    (void)request;
    (void)planes;
    return nb_fail(err, NB_ERR_UNSUPPORTED, "cuda: %s", REASON);
}

static void describe(const nb_backend_state *state, char *line, size_t size)
{
    (void)state;
    snprintf(line, size, "%s", REASON);
}

static void close_nothing(nb_backend_state *state)
{
    (void)state;
}

const nb_spots_result *nb_cuda_left(const nb_backend_state *state)
{
    static const nb_spots_result nothing = {REASON, 0, 0, 0};
    (void)state;
    return &nothing;
}

double nb_cuda_kernel_seconds(const nb_backend_state *state)
{
    (void)state;
    return NAN;
}

void nb_cuda_hold(const nb_backend_state *state, double seconds)
{
    (void)state;
    (void)seconds;
}

void *nb_cuda_pinned(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void nb_cuda_pinned_free(void *memory)
{
    (void)memory;
}

void *nb_cuda_take_all_but(const nb_backend_state *state, size_t bytes)
{
    (void)state;
    (void)bytes;
    return NULL;
}

void nb_cuda_give_back(void *memory)
{
    (void)memory;
}

static int never(void)
{
    return 0;
}

const nb_backend nb_backend_cuda = {.name = "cuda",
                                    .words = nb_cuda_words,
                                    .parse = nb_cuda_parse,
                                    .feature = &nb_cuda_feature,
                                    .estimate = estimate,
                                    .open = open_nothing,
                                    .render = render,
                                    .describe = describe,
                                    .close = close_nothing,
                                    .present = never};

#endif
