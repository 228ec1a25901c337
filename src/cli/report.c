/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "clipped.h"
#include "outputs.h"

static double total(const nb_times *t)
{
    double sum = 0;
    for (const nb_fact *f = nb_times_facts(); f->name; f++)
        sum += nb_fact_number(f, t);
    return sum;
}

static void files(FILE *out, const nb_sim *sim)
{
    const char *names[NB_OUTPUTS_MAX];
    int n = nb_outputs_of(sim, names);

    for (int i = 0; i < n; i++)
        fprintf(out, "%s%s\n", i ? "          " : "files     ",
                nb_is_stdout(names[i]) ? "standard output" : names[i]);
    if (!n)
        fputs("files     none\n", out);
}

/* The same layout as nb_sim_report, which is printed before. */
void nb_report_results(const nb_cli *cli, const nb_sim *sim, const nb_stats *stats)
{
    FILE *out = cli->text;
    nb_times t;

    nb_sim_times(sim, &t);
    fprintf(out, "image     max %.9g at pixel %d %d (fast slow)", stats->max,
            stats->max_fast, stats->max_slow);
    if (nb_sim_panel(sim, 1, NULL))
        fprintf(out, " of panel %s", nb_sim_panel(sim, stats->max_panel, NULL));
    fprintf(out, ", sum %.9g photons\n", stats->sum);
    fprintf(out, "          mean %.9g, rms %.9g, rms deviation %.9g\n", stats->mean,
            stats->rms, stats->rmsd);
    fprintf(out, "          %lld of %lld pixels rendered, %.9g sr\n",
            (long long)stats->rendered, (long long)stats->roi_pixels, stats->solid_angle);
    nb_report_clipped(out, &cli->cfg, sim, stats);
    files(out, sim);
    fprintf(out, "seed      %lld\n", (long long)nb_sim_seed(sim));
    fprintf(out, "backend   %s\n", nb_sim_backend(sim));
    fprintf(out, "time      %.3f s, rendering %.3f s\n", total(&t), t.render);
}

/** Does the program write files meanwhile? */
static int is_overlapped(const nb_fact *stage)
{
    return !strcmp(stage->name, "noise") || !strcmp(stage->name, "write");
}

static void put_table(FILE *out, const nb_times *t, double wall)
{
    fprintf(out, "stage          seconds%s\n", wall > 0 ? " of all threads" : "");
    for (const nb_fact *f = nb_times_facts(); f->name; f++)
        if (nb_fact_number(f, t) > 0 || strcmp(f->name, "truth"))
            fprintf(out, "  %-12s %.6f%s\n", f->name, nb_fact_number(f, t),
                    is_overlapped(f) && !(wall > 0) ? " (overlapped: its share)" : "");
    fprintf(out, "  %-12s %.6f\n", "total", total(t));
    if (wall > 0)
        fprintf(out, "  %-12s %.6f (of the clock)\n", "series", wall);
    if (t->device_render > 0)
        fprintf(out,
                "of these, on the device\n  %-12s %.6f\n  %-12s %.6f (statistics and "
                "integers)\n  %-12s %.6f (threads wait for pixels)\n",
                "render", t->device_render, "effects", t->device_effects, "download",
                t->device_download);
}

static void put_json(FILE *out, const nb_times *t, double wall)
{
    const char *before = "{";
    for (const nb_fact *f = nb_times_facts(); f->name; f++, before = ", ")
        fprintf(out, "%s\"%s\": %.6f", before, f->key, nb_fact_number(f, t));
    fprintf(out, ", \"total\": %.6f", total(t));
    if (wall > 0)
        fprintf(out, ", \"series\": %.6f", wall);
    else
        fputs(", \"overlapped\": [\"noise\", \"write\"]", out);
    if (t->device_render > 0)
        fprintf(out,
                ", \"device\": {\"render\": %.6f, \"effects\": %.6f, \"download\": %.6f}",
                t->device_render, t->device_effects, t->device_download);
    fputs("}\n", out);
}

void nb_report_times(const nb_cli *cli, const nb_times *t, double wall)
{
    if (cli->time == NB_TIME_TABLE)
        put_table(cli->text, t, wall);
    else if (cli->time == NB_TIME_JSON)
        put_json(cli->text, t, wall);
}
