/* SPDX-License-Identifier: MIT */
#include "sub.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

static void put_pixels(FILE *out, int64_t n, const char *of)
{
    fprintf(out, "clipped   %" PRId64 " pixel%s of %s", n, n == 1 ? "" : "s", of);
}

/** Largest scale of two digits that keeps the brightest pixel below 65535, or 0. */
static double fitting_scale(const nb_config *cfg, const nb_stats *stats)
{
    double scale = (65535 - cfg->adc_offset) / stats->max;
    double digit = pow(10, floor(log10(scale)) - 1);
    return scale > 0 ? floor(scale / digit) * digit : 0;
}

static void report_integers(FILE *out, const nb_config *cfg, const nb_stats *stats,
                            int64_t n)
{
    int tiff = cfg->tiff_file[0] && cfg->tiff_bits == 16;
    double scale = fitting_scale(cfg, stats);
    if (n == 0)
        return;
    put_pixels(out, n, cfg->write_int ? cfg->int_file : "");
    fprintf(out, "%s%s at 65535: ", cfg->write_int && tiff ? ", " : "",
            tiff ? cfg->tiff_file : "");
    if (cfg->scale > 0 && scale > 0)
        fprintf(out, "to keep the values, type -scale %.2g", scale);
    else
        fprintf(out, "to keep the values, type -adc 0");
    fprintf(out, "%s\n", tiff ? ", or -tiffbits 32" : "");
}

/** True if the limit comes from the file of the detector. A difference of 1 does not
 * count: the whole chain of noise also changes the largest value of a type by 1. */
static int is_bounded(const nb_config *cfg, nb_noise_file file, double largest)
{
    return largest < nb_noise_largest(cfg, file) - 1;
}

/** Reason for the limit of the pixels, or NULL if it is the type of the file. */
static const char *bound_of(const nb_config *cfg, nb_noise_file file, double largest)
{
    if (cfg->saturation < largest)
        return "brighter than -saturation";
    if (is_bounded(cfg, file, largest))
        return "brighter than the largest trusted value of their panel";
    return NULL;
}

/** Print "at 65535", with "or above" if the limits of panels may differ. */
static void put_limit(FILE *out, const nb_config *cfg, nb_noise_file file, double largest)
{
    fprintf(out, " at %.0f%s", largest, is_bounded(cfg, file, largest) ? " or above" : "");
}

static void report_noise(FILE *out, const nb_config *cfg, double largest, int64_t n)
{
    const char *bound = bound_of(cfg, NB_NOISE_U16, largest);
    if (n == 0)
        return;
    put_pixels(out, n, cfg->noise_file);
    put_limit(out, cfg, NB_NOISE_U16, largest);
    fprintf(out, ": %s\n",
            bound ? bound
            : cfg->compat
                ? "to keep the counts, type -stills 1 -output 'x_%d.cbf' without -compat"
                : "to keep the counts, type -stills 1 -output 'x_%d.cbf'");
}

/* Report clipped pixels in the files of a single image, if there are any. */
static void report_clipped(FILE *out, const nb_config *cfg, const nb_sim *sim,
                           const nb_stats *stats)
{
    int64_t integer, noise;
    nb_sim_clipped(sim, &integer, &noise);
    report_integers(out, cfg, stats, integer);
    report_noise(out, cfg, nb_sim_noise_largest(sim, NB_NOISE_U16), noise);
}

/** Name of an output of a series, and advice against clipped pixels. */
typedef struct series_file {
    const char *name, *mend;
} series_file;

static void report_frames(FILE *out, const nb_config *cfg, const nb_series_progress *p,
                          const nb_clipped *c, const series_file *f)
{
    const char *bound = bound_of(cfg, c->file, c->largest);
    if (c->pixels == 0)
        return;
    put_pixels(out, c->pixels, f->name);
    put_limit(out, cfg, c->file, c->largest);
    fprintf(out, ", in %d of %d frames, most in frame %d (%" PRId64 "): %s\n", c->frames,
            p->done, c->worst + 1, c->max, bound ? bound : f->mend);
}

void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p)
{
    const nb_series *s = &cli->series;
    const nb_config *cfg = &cli->cfg;
    int wide = p->clipped_output.file == NB_NOISE_I32 || cfg->compat;
    int i32 = s->hdf5_type == NB_HDF5_I32 || cfg->compat;
    const series_file file = {s->output,
                              wide ? "use .bin (photons without noise)" : "use .cbf"};
    const series_file hdf5 = {s->hdf5_file,
                              i32 ? "use -hdf5type float32 (photons without noise)"
                                  : "use -hdf5type int32"};
    report_frames(out, cfg, p, &p->clipped_output, &file);
    report_frames(out, cfg, p, &p->clipped_hdf5, &hdf5);
}

static double total(const nb_times *t)
{
    double sum = 0;
    for (const nb_fact *f = nb_times_facts(); f->name; f++)
        sum += nb_fact_number(f, t);
    return sum;
}

void nb_report_file(FILE *out, int k, const char *path)
{
    fprintf(out, "%s%s\n", k ? "          " : "files     ",
            nb_is_stdout(path) ? "standard output" : path);
}

static void files(FILE *out, const nb_sim *sim)
{
    nb_file_use all[NB_FILES_MAX];
    const int n = nb_sim_files(sim, all);
    for (int i = 0; i < n && all[i].written; i++)
        nb_report_file(out, i, all[i].path);
    if (!n || !all[0].written)
        fputs("files     none\n", out);
}

/* The lines have the layout of nb_sim_report, which is printed before them. */
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
    report_clipped(out, &cli->cfg, sim, stats);
    files(out, sim);
    fprintf(out, "seed      %lld\n", (long long)nb_sim_seed(sim));
    fprintf(out, "backend   %s\n", nb_sim_backend(sim));
    fprintf(out, "time      %.3f s, rendering %.3f s\n", total(&t), t.render);
}

/** True for a stage that runs at the same time as the writing of files. */
static int is_overlapped(const nb_fact *stage)
{
    return !strcmp(stage->name, "noise") || !strcmp(stage->name, "write");
}

static void put_table(FILE *out, const nb_times *t, double wall)
{
    fprintf(out, "stage          seconds%s\n",
            wall > 0 ? " of the clock, of all threads together" : "");
    for (const nb_fact *f = nb_times_facts(); f->name; f++)
        if (nb_fact_number(f, t) > 0 || f->offset != offsetof(nb_times, truth))
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
