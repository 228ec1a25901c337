/* SPDX-License-Identifier: MIT */
/* For scenes like those of auto.py: the time on the CPU as -device auto estimates it, the
 * ratio of this estimate to the time, and the time of an image (processor seconds divided
 * by the number of threads, least of three). One line per scene, in seconds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab.h"
#include "render/request.h"
#include "sim/sim.h"

static const char *const kinds[][2] = {
    {"square", ""},
    {"gauss", "-gauss_xtal"},
    {"gauss, every step", "-gauss_xtal -tolerance 0"},
    {"gauss, 1e-6", "-gauss_xtal -tolerance 1e-6 -dispersion 1 -dispsteps 10"},
    {"round", "-round_xtal"},
    {"thick", "-detector_thick 300 -detector_abs 200 -detector_thicksteps 4"},
    {"double", "-precision double"},
    {"top hats, every step", "-tophat_spots -tolerance 0"},
    {"square, 1e-3", "-tolerance 1e-3 -dispersion 1 -dispsteps 10"},
};

static void scene(const lab *l, const char *const kind[2], int domains)
{
    nb_config cfg =
        lab_config(NB_TRICLINIC " -seed 1 -detpixels 1024 -mosaic 0.5 -device cpu");
    const int threads = l->threads ? l->threads : 1;
    char why[200];
    double least = INFINITY;
    nb_sim *sim;
    nb_error err;
    cfg.pixel_mm = NAN;
    cfg.threads = threads;
    cfg.mosaic_domains = domains;
    nb_words(&cfg, kind[1]);
    sim = lab_sim(&cfg);
    const double guess = sim->engine.backend->estimate(
        &sim->model.scene, &sim->engine.options, why, sizeof why);
    float *image = lab_memory(sim->model.scene.raster.pixels * sizeof *image);
    for (int i = 0; i < 3; i++) {
        double start = lab_processor();
        lab_need(nb_sim_render(sim, image, NULL, &err), &err);
        least = fmin(least, (lab_processor() - start) / threads);
    }
    printf("| %s | %d | %.3f (%.2f) | %.3f |\n", kind[0], domains, guess, guess / least,
           least);
    fflush(stdout);
    free(image);
    nb_sim_free(sim);
}

int lab_choose(const lab *l)
{
    static const char *const usual[] = {"100", "300", "1000"};
    const int n = l->count ? l->count : 3;
    puts("| scene | domains | guess (of the time) | time |\n"
         "| --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int j = 0; j < n; j++)
            scene(l, kinds[i], atoi(lab_word(l, j, usual[j % 3])));
    return 0;
}
