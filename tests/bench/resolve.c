/* SPDX-License-Identifier: MIT */
/* Processor time (us) to resolve a record (make a configuration and inputs from it), as
 * for every frame and every change: without files, and with files that are already
 * loaded. The row without files fails above a limit. */
#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "sim/sim.h"

enum { CALLS = 100 };
#define LIMIT_US 100

/** Resolve the record of a simulation many times: median and least time of a call, us. */
static void measure(const nb_sim *sim, int repeats, double *median, double *least)
{
    static double took[LAB_MAX_REPEATS];
    static nb_config cfg;
    nb_inputs in;
    nb_error err;
    for (int i = -3; i < repeats; i++) { /* negative rounds do not count */
        const double start = lab_processor();
        for (int k = 0; k < CALLS; k++) {
            lab_need(nb_resolve_record(&sim->in, &sim->typed, sim->seed, NULL, NULL, &cfg,
                                       &in, &err),
                     &err);
            nb_inputs_drop(&in);
        }
        took[i < 0 ? 0 : i] = (lab_processor() - start) / CALLS;
    }
    *median = lab_median(took, repeats) * 1e6; /* sorts took */
    *least = took[0] * 1e6;
}

int lab_resolve(const lab *l)
{
    static const struct {
        const char *name, *words;
        double limit_us; /* limit of the median, or 0 */
    } rows[] = {
        {"no files", "-default_F 100 -cell 70 80 90 90 90 90", LIMIT_US},
        {"-hkl", "-hkl golden_data/lysozyme_P1.hkl -cell 79.1 79.1 37.9 90 90 90", 0},
        {"-geom",
         "-default_F 100 -cell 70 80 90 90 90 90 -geom "
         "golden_data/detectors/geom/quad.geom",
         0}};
    const int repeats = lab_repeats(l, 101);
    int failed = 0;
    printf("| record | median, us | least, us | limit, us (0: none) |\n| --- | --- | --- "
           "| --- |\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const nb_config cfg = lab_config(rows[i].words);
        nb_sim *sim = lab_sim(&cfg);
        double median, least;
        measure(sim, repeats, &median, &least);
        printf("| %s | %.1f | %.1f | %.0f |\n", rows[i].name, median, least,
               rows[i].limit_us);
        fflush(stdout);
        failed += rows[i].limit_us > 0 && median > rows[i].limit_us;
        nb_sim_free(sim);
    }
    return failed;
}
