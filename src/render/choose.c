/* SPDX-License-Identifier: MIT */
#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "pilot.h"
#include "simd.h"

/* Seconds.  A first guess of the CPU's time may be wrong by a factor of three: from here on a few rows
 * are timed. */
#define WORTH_TIMING 0.1
/* No process with a device takes less (reports/cuda): below it there is nothing to ask. */
#define DEVICE_LEAST 0.3
/* Of a device's start, asking what it is takes so much: spent already when the answer is there. */
#define ASKING 0.15

/* The vector renderer, unless the reference was asked for by name. */
const nb_backend *nb_backend_cpu(const nb_render_options *options)
{
    return options->isa == NB_ISA_SCALAR ? &nb_backend_scalar : &nb_backend_simd;
}

/** The index after "cuda:", -1 for plain "cuda" and for "cuda:all", of which a series makes more,
 * -2 for anything else. */
static int cuda_index(const char *device)
{
    char *end;
    long index;
    if (strcmp(device, "cuda") == 0 || strcmp(device, "cuda:all") == 0)
        return -1;
    if (strncmp(device, "cuda:", 5) != 0 || device[5] < '0' || device[5] > '9')
        return -2;
    index = strtol(device + 5, &end, 10);
    return *end == 0 && index < 1024 ? (int)index : -2;
}

static nb_status take_cuda(const nb_scene *scene, const nb_render_options *options,
                           const char *device, const nb_backend **backend, char *reason,
                           size_t reason_size, nb_error *err)
{
    char why[200] = "";
    if (nb_backend_cuda.estimate(scene, options, why, sizeof why) < 0)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "-device %s: %s; use -device cpu", device,
                       why);
    *backend = &nb_backend_cuda;
    snprintf(reason, reason_size, "%s", why);
    return NB_OK;
}

/** Seconds of all images, by a few rows of one. */
static double time_cpu(const nb_backend *backend, const nb_scene *scene,
                       const nb_render_options *options, double guess)
{
    int images = options->images > 1 ? options->images : 1;
    double measured = nb_pilot_seconds(backend, scene, options, guess / images);
    return measured < 0 ? guess : measured * images;
}

nb_status nb_backend_choose(const nb_scene *scene, const char *device,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err)
{
    int automatic = device[0] == 0 || strcmp(device, "auto") == 0;
    char why_cpu[200] = "", why_cuda[200] = "";
    double cpu, cuda = -1;
    options->device_index = -1;
    if (!automatic && strcmp(device, "cpu") != 0) {
        options->device_index = cuda_index(device);
        if (options->device_index == -2)
            return nb_fail(err, NB_ERR_INPUT,
                           "-device %s: must be auto, cpu, cuda, cuda:N or cuda:all",
                           device);
        return take_cuda(scene, options, device, backend, reason, reason_size, err);
    }
    *backend = nb_backend_cpu(options);
    cpu = (*backend)->estimate(scene, options, why_cpu, sizeof why_cpu);
    if (automatic && options->isa == NB_ISA_AUTO && nb_backend_cuda.present()) {
        cpu = cpu > WORTH_TIMING ? time_cpu(*backend, scene, options, cpu) : cpu;
        if (cpu < 0 || cpu > DEVICE_LEAST)
            cuda = nb_backend_cuda.estimate(scene, options, why_cuda, sizeof why_cuda);
        if (cuda >= 0)
            cuda = cuda > ASKING ? cuda - ASKING : 0;
    }
    if (cuda >= 0 && (cpu < 0 || cuda < cpu)) {
        *backend = &nb_backend_cuda;
        snprintf(reason, reason_size, "%s: about %.2g s against %.2g s on the CPU",
                 why_cuda, cuda, cpu);
        return NB_OK;
    }
    if (cpu < 0)
        return nb_fail(err, NB_ERR_UNSUPPORTED, "-device cpu: %s", why_cpu);
    snprintf(reason, reason_size, "%s", why_cpu);
    return NB_OK;
}
