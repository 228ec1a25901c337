/* SPDX-License-Identifier: MIT */
#include "spots_room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cuda/backend/host.h"
#include "../support/picture.h"
#include "sim/sim.h"
#include "base/error.h"
#include "render/request.h"

enum { EDGE = 1024, PICTURES = 3, ROOMS = 6 };

/** Free memory of the device (MiB): the first is enough for everything, the last too
 * little for any sum. */
static const size_t rooms[ROOMS] = {512, 64, 32, 24, 18, 14};

typedef struct room_case {
    const char *name;
    nb_shape shape;
    double tolerance;
} room_case;
static const room_case cases[PICTURES] = {{"square", NB_SHAPE_SQUARE, 1e-3},
                                          {"round", NB_SHAPE_ROUND, 1e-3},
                                          {"gauss", NB_SHAPE_GAUSS, 1e-6}};

static nb_config config_of(const room_case *c)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    nb_put_golden(&cfg.hkl_file, "lysozyme_P1.hkl");
    nb_set_cell(&cfg, 79.1, 79.1, 37.9, 90, 90, 90);
    nb_set_misset(&cfg, 10, 20, 30);
    nb_set_N(&cfg, 50);
    nb_set_pixels(&cfg, EDGE, EDGE);
    cfg.lambda_A = 1;
    cfg.distance_mm = 100;
    cfg.pixel_mm = 0.2;
    cfg.oversample = 1;
    cfg.mosaic_spread_deg = 0.2;
    cfg.mosaic_domains = 100;
    cfg.dispersion_pct = 0.5;
    cfg.dispersion_steps = 100;
    cfg.shape = c->shape;
    cfg.tolerance = c->tolerance;
    cfg.write_dump = 0;
    return cfg;
}

/** Renders with `room` bytes free on the device, or all memory if `room` is 0. *refused:
 * reason why every step was summed, or NULL. */
static nb_status render(const nb_sim *sim, size_t room, const char **refused,
                        float *image, nb_error *err)
{
    const nb_render_options options = {.device_index = -1};
    const nb_request as = {.precision = NB_PRECISION_MIXED,
                           .tolerance = sim->engine.options.tolerance};
    nb_backend_state *state = NULL;
    void *taken = NULL;
    nb_status st = nb_backend_cuda.open(&options, &state, err);
    if (st)
        return st;
    if (room > 0 && !(taken = nb_cuda_take_all_but(state, room)))
        st = nb_fail(err, NB_ERR_DEVICE, "the device's memory cannot be taken");
    if (!st)
        st = nb_render_scene_as(&nb_backend_cuda, state, &sim->model.scene, &as, image,
                                err);
    *refused = nb_cuda_left(state)->refused;
    nb_cuda_give_back(taken);
    nb_backend_cuda.close(state);
    return st;
}

/** Renders with little memory. Returns 0 unless the image equals `whole`, or `steps` if
 * every step was summed; *every is then 1. */
static int one_room(const nb_sim *sim, const float *whole, const float *steps, int room,
                    float *image, int *every)
{
    const size_t bytes = sim->model.scene.raster.pixels * sizeof *image;
    const char *refused, *wrong = NULL;
    nb_error err;
    memset(image, 0xff, bytes);
    if (render(sim, rooms[room] << 20, &refused, image, &err))
        wrong = err.message;
    else if (memcmp(image, refused ? steps : whole, bytes) != 0)
        wrong = "other bytes";
    *every = !wrong && refused;
    printf("#   %zu MiB: %s\n", rooms[room], wrong ? wrong : refused ? refused : "fine");
    return !wrong;
}

static int run_case(const room_case *c, const nb_sim *sim, float *image[3])
{
    nb_sim plain = *sim;
    const char *refused;
    nb_error err;
    int good = 1, without = 0, every;
    plain.engine.options.tolerance = (nb_tolerance){0};
    /* two renders with all memory, which also load the kernels */
    if (render(sim, 0, &refused, image[0], &err) || refused ||
        render(&plain, 0, &refused, image[1], &err)) {
        printf("#   %s\n", refused ? refused : err.message);
        return 0;
    }
    printf("# %s with little room on the device\n", c->name);
    for (int i = 0; i < ROOMS; i++) {
        good &= one_room(sim, image[0], image[1], i, image[2], &every);
        without += every;
    }
    return good && without > 0 && without < ROOMS;
}

int check_spots_room(void)
{
    int failed = 0;
    for (int i = 0; i < PICTURES; i++) {
        nb_config cfg = config_of(&cases[i]);
        float *image[3];
        nb_error err = {0};
        nb_sim *sim = NULL;
        int good = nb_sim_create(&cfg, NULL, &sim, &err) == NB_OK;
        for (int k = 0; k < 3; k++)
            good &= (image[k] = malloc((size_t)EDGE * EDGE * sizeof(float))) != NULL;
        good = good && run_case(&cases[i], sim, image);
        failed += !good;
        printf("%s spots-room-%s%s%s\n", good ? "ok" : "not ok", cases[i].name,
               err.message[0] ? " # " : "", err.message);
        fflush(stdout);
        for (int k = 0; k < 3; k++)
            free(image[k]);
        nb_sim_free(sim);
    }
    return failed;
}
