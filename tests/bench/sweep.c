/* SPDX-License-Identifier: MIT */
/* Searches for a tolerance that makes a render slower.  Random scenes, shapes of the
 * crystal and tolerances are each rendered with the tolerance and with every step, in
 * alternation in one process.  Times are processor seconds of one thread on the CPU, or
 * seconds of a warm call on a device with a copy to pinned memory: the least of some
 * turns (of more turns if renders are quick).
 *
 * Words: COUNT, SEED, square|round|gauss|tophat.  Prints a line for each scene whose gain
 * (time with every step over time with the tolerance) is below LITTLE, then a summary for
 * each path.  Exit status 1 if the gain of a scene is below WANTED. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/picture.h"
#include "sim/sim.h"
#include "base/threads.h"
#include "lab.h"
#include "params/params.h"
#include "physics/panels.h"
#include "render/request.h"
#include "render/simd.h"

enum { TURNS = 5, MAX_TURNS = 100, WAYS = 4 };
#define LEAST_SPENT 0.05 /* s: turns are repeated until this time is spent */
#define WANTED 0.95
#define LITTLE 1.0

static const char *const way_names[WAYS] = {
    "blocks of rays", "reflections", "every step after a trial", "every step at once"};

typedef struct sweep {
    const nb_backend *backend;
    nb_backend_state *state;
    int device, tried;
    const char *shape;      /* shape of the crystals; NULL: random */
    double fewest, largest; /* limits of the number of steps of a scene */
    uint64_t random;
    int n[WAYS], slow[WAYS];
    double worst[WAYS], sum[WAYS]; /* least gain; sum of log(gain) */
} sweep;

static int below(sweep *s, int n)
{
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (int)((s->random >> 33) % (uint64_t)n);
}

#define ONE_OF(s, list) (list)[below(s, (int)(sizeof(list) / sizeof *(list)))]

static double seconds_now(const sweep *s)
{
    return s->device ? nb_monotonic_seconds() : lab_processor();
}

static nb_config a_scene(sweep *s)
{
    static const int edges[] = {256, 512, 1024, 2048},
                     sizes[] = {5, 8, 10, 14, 20, 50, 100, 300},
                     domains[] = {1, 5, 25, 100, 400}, sources[] = {1, 10, 50, 100};
    static const double tolerances[] = {1e-2, 1e-3, 1e-4, 1e-5,
                                        1e-6, 1e-8, NAN /* NAN: the default tolerance */};
    static const nb_shape shapes[] = {NB_SHAPE_SQUARE, NB_SHAPE_SQUARE, NB_SHAPE_SQUARE,
                                      NB_SHAPE_ROUND,  NB_SHAPE_ROUND,  NB_SHAPE_ROUND,
                                      NB_SHAPE_GAUSS,  NB_SHAPE_TOPHAT};
    const int edge = ONE_OF(s, edges), far = below(s, 2);
    nb_config cfg;
    nb_config_defaults(&cfg);
    nb_set_cell(&cfg, 79.1, 79.1, 37.9, 90, 90, 90);
    if (below(s, 4))
        nb_put_golden(&cfg.hkl_file, "lysozyme_P1.hkl");
    else
        cfg.default_F = 100;
    nb_set_misset(&cfg, below(s, 90), below(s, 90), below(s, 90));
    nb_set_N(&cfg, ONE_OF(s, sizes));
    nb_set_pixels(&cfg, edge, edge);
    cfg.lambda_A = far ? 1.3 : 1;
    cfg.distance_mm = far ? 150 : 100;
    cfg.pixel_mm = (far ? 300.0 : 200.0) / (edge * (1 + below(s, 4)));
    cfg.oversample = below(s, 4) ? 1 : 2;
    cfg.mosaic_domains = ONE_OF(s, domains);
    cfg.mosaic_spread_deg = cfg.mosaic_domains > 1 ? 0.05 * (1 + below(s, 20)) : 0;
    cfg.dispersion_steps = ONE_OF(s, sources);
    cfg.dispersion_pct = cfg.dispersion_steps > 1 ? 0.1 * (1 + below(s, 20)) : 0;
    cfg.shape = ONE_OF(s, shapes);
    for (int i = 0;
         s->shape && strcmp(s->shape, nb_param_choice("shape", (int)cfg.shape)) != 0; i++)
        cfg.shape = shapes[i];
    cfg.tolerance = ONE_OF(s, tolerances);
    if (isnan(cfg.tolerance) && !nb_shape_ends((int)cfg.shape))
        cfg.tolerance = 1e-3; /* these shapes have no default tolerance */
    cfg.threads = 1;
    cfg.write_dump = 0;
    return cfg;
}

/** Why the renderer took every step, or NULL if it left out light. *way: the path. */
static const char *way_of(const nb_config *cfg, const char *line, int *way)
{
    const int tails = !nb_shape_ends((int)cfg->shape);
    const char *why = strstr(line, "no effect: ");
    if (why)
        why += strlen("no effect: ");
    *way = tails ? 0 : 1;
    if (why)
        *way =
            tails && !strstr(why, "every step is quick") && !strstr(why, "seems") ? 2 : 3;
    return why;
}

/** Renders once; returns the seconds that this took. */
static double one(const sweep *s, const nb_sim *sim, const nb_request *as, float *image)
{
    nb_error err;
    const double start = seconds_now(s);
    if (nb_render_scene_as(s->backend, s->state, &sim->model.scene, as, image, &err)) {
        printf("%s\n", err.message);
        return NAN;
    }
    return seconds_now(s) - start;
}

static void count(sweep *s, int way, double gain)
{
    s->worst[way] = s->n[way] ? fmin(s->worst[way], gain) : gain;
    s->sum[way] += log(gain);
    s->slow[way] += gain < WANTED;
    s->n[way]++;
}

static void compare(sweep *s, const nb_config *cfg, const nb_sim *sim, float *image)
{
    const nb_request part = {.precision = NB_PRECISION_MIXED,
                             .tolerance = sim->engine.options.tolerance},
                     all = {.precision = NB_PRECISION_MIXED};
    double with = INFINITY, every = INFINITY, spent = 0, gain;
    const char *why;
    char line[600];
    int way;
    for (int turn = 0; turn <= TURNS || (turn <= MAX_TURNS && spent < LEAST_SPENT);
         turn++) {
        const double a = one(s, sim, &all, image), b = one(s, sim, &part, image);
        spent += a + b;
        if (turn == 0)
            continue; /* this turn includes work that is done once */
        every = fmin(every, a);
        with = fmin(with, b);
    }
    s->backend->describe(s->state, line, sizeof line);
    why = way_of(cfg, line, &way);
    gain = every / with;
    count(s, way, gain);
    if (gain < LITTLE || getenv("PART_SWEEP_ALL"))
        printf("| %s, %s | %g | %g | %d^2 | %d x %d x %d | %.2f | %.2f | %.2f | %s |\n",
               nb_param_choice("shape", (int)cfg->shape),
               cfg->hkl_file[0] ? "table" : "constant", cfg->N[0], cfg->tolerance,
               sim->model.scene.raster.columns, cfg->mosaic_domains,
               cfg->dispersion_steps, cfg->oversample * cfg->oversample, every * 1e3,
               with * 1e3, gain, why ? why : way_names[way]);
    fflush(stdout);
}

/** Test a random scene. Returns 0 if it was skipped: too many or too few steps. */
static int run(sweep *s)
{
    nb_config cfg = a_scene(s);
    const double steps = (double)cfg.detpixels[0] * cfg.detpixels[1] * cfg.mosaic_domains *
                         cfg.dispersion_steps * cfg.oversample * cfg.oversample;
    nb_error err = {0};
    nb_sim *sim = NULL;
    float *image;
    if (steps < s->fewest || steps > s->largest || nb_sim_create(&cfg, NULL, &sim, &err)) {
        if (err.message[0])
            printf("%s\n", err.message);
        return 0;
    }
    const size_t bytes = sim->model.scene.raster.pixels * sizeof *image;
    image = s->device ? nb_cuda_pinned(bytes) : malloc(bytes);
    if (image)
        compare(s, &cfg, sim, image);
    s->device ? nb_cuda_pinned_free(image) : free(image);
    nb_sim_free(sim);
    return 1;
}

static int summarise(const sweep *s)
{
    int slow = 0, n = 0;
    printf(
        "\n| way taken | scenes | gain: least | mean | below %g |\n| --- | --- | --- | "
        "--- | --- |\n",
        WANTED);
    for (int way = 0; way < WAYS; way++) {
        slow += s->slow[way];
        n += s->n[way];
        if (s->n[way])
            printf("| %s | %d | %.2f | %.2f | %d |\n", way_names[way], s->n[way],
                   s->worst[way], exp(s->sum[way] / s->n[way]), s->slow[way]);
    }
    printf("\n%d of %d scenes are below %g\n", slow, n, WANTED);
    return slow;
}

int lab_sweep(const lab *l)
{
    const nb_render_options options = {.device_index = -1, .threads = 1};
    const int scenes = atoi(lab_word(l, 0, "60"));
    sweep s = {.backend = &nb_backend_simd, .fewest = 5e6, .largest = 6e8};
    nb_error err;
    s.random = strtoull(lab_word(l, 1, "1"), NULL, 10);
    s.shape = lab_word(l, 2, NULL);
    s.device = lab_is_cuda(l);
    if (s.device) {
        s.backend = &nb_backend_cuda;
        s.fewest = 2e7;
        s.largest = 6e10;
        if (!(s.state = lab_open_cuda("sweep")))
            return 0;
    } else
        lab_need(s.backend->open(&options, &s.state, &err), &err);
    printf("| crystal, F | N | tolerance | pixels | domains x wavelengths x sub-pixels | "
           "every step, ms | with the tolerance, ms | gain | way |\n| --- | --- | --- | "
           "--- | --- | --- | --- | --- | --- |\n");
    for (int i = 0; i < scenes;)
        i += run(&s);
    s.backend->close(s.state);
    return summarise(&s);
}
