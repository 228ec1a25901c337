/* SPDX-License-Identifier: MIT */
#include "choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"

/** -isa scalar and -precision double both mean the reference. */
static const nb_backend *cpu_backend(const nb_render_options *options)
{
    (void)options;
    return &nb_backend_scalar;
}

nb_status nb_backend_choose(const nb_scene *scene, const char *device,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err)
{
    char why[200] = "";
    options->device_index = -1;
    *backend = cpu_backend(options);
    if (device[0] == 0 || strcmp(device, "auto") == 0 || strcmp(device, "cpu") == 0) {
        if ((*backend)->estimate(scene, options, why, sizeof why) < 0)
            return nb_fail(err, NB_ERR_UNSUPPORTED, "-device cpu: %s", why);
        snprintf(reason, reason_size, "%s", why);
        return NB_OK;
    }
    if (strcmp(device, "cuda") == 0 || strncmp(device, "cuda:", 5) == 0)
        return nb_fail(err, NB_ERR_UNSUPPORTED,
                       "-device %s: this build has no CUDA backend; use -device cpu", device);
    return nb_fail(err, NB_ERR_INPUT, "-device %s: must be auto, cpu, cuda or cuda:N", device);
}
