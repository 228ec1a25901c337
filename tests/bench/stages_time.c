/* SPDX-License-Identifier: MIT */
#include "stages_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/fibre.h"
#include "image/poisson.h"
#include "base/clock.h"
#include "median.h"

enum { REPEATS = 9 };

static double device_seconds(const nb_backend *backend, const nb_backend_state *state)
{
    nb_device_times t = {0};
    backend->device->times(state, &t);
    return t.effects;
}

static int time_one(const nb_backend *backend, nb_backend_state *state,
                    const nb_scene *scene, const char *name, const nb_stage *stages, int n)
{
    nb_product product = {.type = NB_PIXEL_U16, .stages = n, .scale = 1, .adc_offset = 40};
    nb_product *const at[] = {&product};
    double device[REPEATS] = {0}, wall[REPEATS] = {0}, first = 0;
    nb_error err = {0};
    memcpy(product.chain, stages, (size_t)n * sizeof *stages);
    product.stage = stages[n - 1];
    for (int i = -1; i < REPEATS; i++) {
        double start = nb_monotonic_seconds(), before = device_seconds(backend, state);
        if (backend->device->image.make(state, scene, at, 1, &err) != NB_OK) {
            printf("stages-%-24s failed: %s\n", name, err.message);
            return 1;
        }
        if (i < 0)
            first = nb_monotonic_seconds() - start;
        else {
            wall[i] = nb_monotonic_seconds() - start;
            device[i] = device_seconds(backend, state) - before;
        }
    }
    printf("stages-%d-%-24s %9.3f %9.3f %9.3f\n", scene->raster.columns, name,
           bench_median(device, REPEATS) * 1e3, bench_median(wall, REPEATS) * 1e3,
           first * 1e3);
    fflush(stdout);
    return 0;
}

int time_stages(const nb_backend *backend, nb_backend_state *state, const nb_scene *scene)
{
    const nb_stage counts = {.kind = NB_STAGE_POISSON, .seed = 1, .error = NB_NOISE_ERROR};
    const nb_stage flicker = {.kind = NB_STAGE_FLICKER, .amount = 0.9};
    const nb_stage dead = {.kind = NB_STAGE_DEADTIME, .amount = 1e-6};
    const nb_stage gauss = {
        .kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS, .amount = 46e-6};
    const nb_stage wide = {.kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS, .amount = 1e-3};
    const nb_stage calibration = {.kind = NB_STAGE_CALIBRATION, .seed = 5, .amount = 0.03};
    const nb_stage gain = {.kind = NB_STAGE_GAIN, .amount = 1.7};
    const nb_stage readout = {.kind = NB_STAGE_READOUT, .seed = 1, .amount = 3};
    nb_stage fibre = {.kind = NB_STAGE_SPREAD, .shape = NB_PSF_FIBRE, .amount = 46e-6};
    int failed = 0;
    if (nb_fibres_new(&fibre.fibres, NULL) != NB_OK)
        return 1;
    printf("%-35s %9s %9s %9s\n", "# stages", "device_ms", "wall_ms", "first_ms");
#define TIME(name, ...)                                                                  \
    do {                                                                                 \
        const nb_stage s[] = {__VA_ARGS__};                                              \
        failed += time_one(backend, state, scene, name, s, (int)(sizeof s / sizeof *s)); \
    } while (0)
    TIME("counts", counts);
    TIME("gain-calibration-readout", calibration, gain, readout);
    TIME("counts-readout-chain", flicker, dead, counts, calibration, gain, readout);
    TIME("psf-gauss", gauss, gain);
    TIME("psf-gauss-1mm", wide, gain);
    TIME("psf-fibre", fibre, gain);
    TIME("all-gauss", flicker, dead, counts, gauss, calibration, gain, readout);
    TIME("all-fibre", flicker, dead, counts, fibre, calibration, gain, readout);
#undef TIME
    nb_fibres_free(fibre.fibres);
    return failed;
}
