/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>

static double total(const nb_times *t)
{
    return t->load + t->scene + t->start + t->render + t->statistics + t->noise + t->write;
}

static void written(const char *what, const char *file)
{
    if (file[0])
        printf("  %-12s %s\n", what, file);
}

static void files(const nb_config *cfg)
{
    puts("files written:");
    if (cfg->write_float)
        written("float", cfg->float_file);
    if (cfg->write_int)
        written("integer", cfg->int_file);
    if (cfg->write_noise)
        written("noise", cfg->noise_file);
    if (cfg->write_pgm)
        written("PGM", cfg->pgm_file);
    written("PNG", cfg->png_file);
    written("TIFF", cfg->tiff_file);
}

void nb_report_results(const nb_cli *cli, const nb_sim *sim, const nb_stats *stats)
{
    nb_times t;

    nb_sim_times(sim, &t);
    puts("image (photons per pixel):");
    printf("  %-12s %.9g at pixel %d %d (fast slow)\n", "maximum", stats->max,
           stats->max_fast, stats->max_slow);
    printf("  %-12s %.9g\n  %-12s %.9g\n  %-12s %.9g\n  %-12s %.9g\n", "sum", stats->sum,
           "mean", stats->mean, "rms", stats->rms, "rms dev.", stats->rmsd);
    printf("  %-12s %lld of %lld pixels, %.9g sr\n", "rendered",
           (long long)stats->rendered, (long long)stats->roi_pixels, stats->solid_angle);
    files(&cli->cfg);
    printf("seed:          %lld\n", (long long)nb_sim_seed(sim));
    printf("backend:       %s\n", nb_sim_backend(sim));
    printf("time:          %.3f s, of it %.3f s rendering\n", total(&t), t.render);
}

void nb_report_times(const nb_cli *cli, const nb_sim *sim)
{
    static const char *const names[] = {"load",       "scene", "start", "render",
                                        "statistics", "noise", "write"};
    enum { STAGES = sizeof names / sizeof *names };
    double seconds[STAGES];
    nb_times t;

    nb_sim_times(sim, &t);
    seconds[0] = t.load;
    seconds[1] = t.scene;
    seconds[2] = t.start;
    seconds[3] = t.render;
    seconds[4] = t.statistics;
    seconds[5] = t.noise;
    seconds[6] = t.write;
    if (cli->time == NB_TIME_TABLE) {
        puts("stage          seconds");
        for (int i = 0; i < STAGES; i++)
            printf("  %-12s %.6f\n", names[i], seconds[i]);
        printf("  %-12s %.6f\n", "total", total(&t));
    } else if (cli->time == NB_TIME_JSON) {
        for (int i = 0; i < STAGES; i++)
            printf("%s\"%s\": %.6f", i ? ", " : "{", names[i], seconds[i]);
        printf(", \"total\": %.6f}\n", total(&t));
    }
}
