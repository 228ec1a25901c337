/* SPDX-License-Identifier: MIT */
/* What -device auto believes of the CPU, for the scenes of auto.py: the estimate, and the time of the whole image, processor seconds of its threads, the least of three.  One line a scene, seconds.
 *
 *   choose_time [THREADS [DOMAINS...]]      (one thread, 100 300 1000 domains) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/sim.h"
#include "render/choose.h"

typedef struct kind {
    const char *name;
    const char *set[4][2];
} kind;

static const kind kinds[] = {
    {"square", {{0}}},
    {"gauss", {{"gauss_xtal", "1"}}},
    {"gauss, every step", {{"gauss_xtal", "1"}, {"tolerance", "0"}}},
    {"gauss, 1e-6",
     {{"gauss_xtal", "1"}, {"tolerance", "1e-6"}, {"dispersion", "1"}, {"dispsteps", "10"}}},
    {"round", {{"round_xtal", "1"}}},
    {"thick", {{"detector_thick", "300"}, {"detector_abs", "200"}, {"thicksteps", "4"}}},
    {"double", {{"precision", "double"}}},
    {"top hats, every step", {{"tophat_spots", "1"}, {"tolerance", "0"}}},
    {"square, 1e-3", {{"tolerance", "1e-3"}, {"dispersion", "1"}, {"dispsteps", "10"}}},
};

static const char *const base[][2] = {{"cell", "70 80 90 75 85 95"},
                                      {"misset", "10 20 30"},
                                      {"default_F", "100"},
                                      {"N", "20"},
                                      {"lambda", "1"},
                                      {"distance", "100"},
                                      {"oversample", "1"},
                                      {"seed", "1"},
                                      {"detpixels", "1024"},
                                      {"mosaic", "0.5"},
                                      {"device", "cpu"}};

static void set(nb_config *cfg, const char *const pair[2])
{
    nb_error err;
    if (nb_config_set(cfg, pair[0], pair[1], &err) != NB_OK) {
        fprintf(stderr, "choose_time: %s\n", err.message);
        exit(1);
    }
}

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void scene(const kind *k, const char *threads, const char *domains)
{
    nb_config cfg;
    nb_sim *sim = NULL;
    nb_error err;
    char why[200];
    double least = 1e9;
    nb_config_defaults(&cfg);
    for (size_t i = 0; i < sizeof base / sizeof *base; i++)
        set(&cfg, base[i]);
    for (int i = 0; i < 4 && k->set[i][0]; i++)
        set(&cfg, k->set[i]);
    set(&cfg, (const char *const[]){"threads", threads});
    set(&cfg, (const char *const[]){"mosaic_domains", domains});
    if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK) {
        fprintf(stderr, "choose_time: %s\n", err.message);
        exit(1);
    }
    const double guess =
        sim->backend->estimate(&sim->model.scene, &sim->options, why, sizeof why);
    double start;
    float *image = malloc(sim->model.scene.raster.pixels * sizeof *image);
    for (int i = 0; i < 3 && image; i++) {
        start = processor_seconds();
        if (nb_sim_render(sim, image, NULL, &err) != NB_OK)
            exit(1);
        least = fmin(least, (processor_seconds() - start) / atoi(threads));
    }
    printf("| %s | %s | %.3f (%.2f) | %.3f |\n", k->name, domains, guess, guess / least,
           least);
    fflush(stdout);
    free(image);
    nb_sim_free(sim);
}

int main(int argc, char **argv)
{
    static const char *const some[] = {"100", "300", "1000"};
    const char *threads = argc > 1 ? argv[1] : "1";
    const int n = argc > 2 ? argc - 2 : 3;
    puts("| scene | domains | guess (of the time) | time |\n"
         "| --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int j = 0; j < n; j++)
            scene(&kinds[i], threads, argc > 2 ? argv[2 + j] : some[j]);
    return 0;
}
