/* SPDX-License-Identifier: MIT */
/* Numbers of a run that several outputs print. Each has a row of a table. */
#include <stddef.h>

#include "../nanobragg.h"

#define REAL(type, field) NB_FACT_DOUBLE, offsetof(type, field), 0
#define WHOLE(type, field) NB_FACT_INT, offsetof(type, field), 0
#define LONG(type, field) NB_FACT_INT64, offsetof(type, field), 0

static const nb_fact stats[] = {
    {"max", "max_photons", "photons", REAL(nb_stats, max)},
    {"max_fast", "max_fast", "", WHOLE(nb_stats, max_fast)},
    {"max_slow", "max_slow", "", WHOLE(nb_stats, max_slow)},
    {"max_panel", "max_panel", "", NB_FACT_INT, offsetof(nb_stats, max_panel), 1},
    {"sum", "sum_photons", "photons", REAL(nb_stats, sum)},
    {"mean", "mean_photons", "photons", REAL(nb_stats, mean)},
    {"rms", "rms_photons", "photons", REAL(nb_stats, rms)},
    {"rmsd", "rms_deviation_photons", "photons", REAL(nb_stats, rmsd)},
    {"rendered", "rendered_pixels", "pixels", LONG(nb_stats, rendered)},
    {"roi_pixels", "roi_pixels", "pixels", LONG(nb_stats, roi_pixels)},
    {"solid_angle", "solid_angle_sr", "sr", REAL(nb_stats, solid_angle)},
    {NULL, NULL, NULL, NB_FACT_DOUBLE, 0, 0},
};

static const nb_fact times[] = {
    {"load", "load", "s", REAL(nb_times, load)},
    {"factors", "factors", "s", REAL(nb_times, factors)},
    {"scene", "scene", "s", REAL(nb_times, scene)},
    {"start", "start", "s", REAL(nb_times, start)},
    {"render", "render", "s", REAL(nb_times, render)},
    {"statistics", "statistics", "s", REAL(nb_times, statistics)},
    {"noise", "noise", "s", REAL(nb_times, noise)},
    {"write", "write", "s", REAL(nb_times, write)},
    {"truth", "truth", "s", REAL(nb_times, truth)},
    {NULL, NULL, NULL, NB_FACT_DOUBLE, 0, 0},
};

const nb_fact *nb_stats_facts(void)
{
    return stats;
}

const nb_fact *nb_times_facts(void)
{
    return times;
}

double nb_fact_number(const nb_fact *fact, const void *of)
{
    const void *at = (const char *)of + fact->offset;
    switch (fact->kind) {
    case NB_FACT_INT:
        return *(const int *)at;
    case NB_FACT_INT64:
        return (double)*(const int64_t *)at;
    default:
        return *(const double *)at;
    }
}
