/* SPDX-License-Identifier: MIT */
#include "clipped.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char pixels_of[] = "clipped   %" PRId64 " pixel%s of ";

/** The largest scale of two digits that keeps the brightest pixel below 65535; 0: none. */
static double fitting_scale(const nb_config *cfg, const nb_stats *stats)
{
    double most = (65535 - cfg->adc_offset) / stats->max;
    double digit = pow(10, floor(log10(most)) - 1);
    return most > 0 ? floor(most / digit) * digit : 0;
}

static void report_integers(FILE *out, const nb_config *cfg, const nb_stats *stats,
                            int64_t n)
{
    int tiff = cfg->tiff_file[0] && cfg->tiff_bits == 16;
    double scale = fitting_scale(cfg, stats);
    if (n == 0)
        return;
    fprintf(out, pixels_of, n, n == 1 ? "" : "s");
    fprintf(out, "%s%s%s at 65535: ", cfg->write_int ? cfg->int_file : "",
            cfg->write_int && tiff ? ", " : "", tiff ? cfg->tiff_file : "");
    if (cfg->scale > 0 && scale > 0)
        fprintf(out, "to keep the values, type -scale %.2g", scale);
    else
        fprintf(out, "to keep the values, type -adc 0");
    fprintf(out, "%s\n", tiff ? ", or -tiffbits 32" : "");
}

/** Is it a bound of the detector's file?  Types of files differ by 1 between chains of noise. */
static int is_bounded(const nb_config *cfg, nb_noise_file file, double largest)
{
    return largest < nb_noise_largest(cfg, file) - 1;
}

/** What bounds these pixels; NULL: the type of the file. */
static const char *bound_of(const nb_config *cfg, nb_noise_file file, double largest)
{
    if (cfg->saturation < largest)
        return "brighter than -saturation";
    if (is_bounded(cfg, file, largest))
        return "brighter than the largest trusted value of their panel";
    return NULL;
}

/** "at 65535", or more where panels differ. */
static void put_limit(FILE *out, const nb_config *cfg, nb_noise_file file, double largest)
{
    fprintf(out, " at %.0f%s", largest, is_bounded(cfg, file, largest) ? " or above" : "");
}

static void report_noise(FILE *out, const nb_config *cfg, double largest, int64_t n)
{
    const char *bound = bound_of(cfg, NB_NOISE_U16, largest);
    if (n == 0)
        return;
    fprintf(out, pixels_of, n, n == 1 ? "" : "s");
    fputs(cfg->noise_file, out);
    put_limit(out, cfg, NB_NOISE_U16, largest);
    fprintf(out, ": %s\n",
            bound ? bound
            : cfg->compat
                ? "to keep the counts, type -stills 1 -output 'x_%d.cbf' without -compat"
                : "to keep the counts, type -stills 1 -output 'x_%d.cbf'");
}

void nb_report_clipped(FILE *out, const nb_config *cfg, const nb_sim *sim,
                       const nb_stats *stats)
{
    int64_t integer, noise;
    nb_sim_clipped(sim, &integer, &noise);
    report_integers(out, cfg, stats, integer);
    report_noise(out, cfg, nb_sim_noise_largest(sim, NB_NOISE_U16), noise);
}

/** A kind of file of a series, and what to do against its clipped pixels. */
typedef struct series_file {
    const char *name, *mend;
} series_file;

static void report_frames(FILE *out, const nb_config *cfg, const nb_series_progress *p,
                          const nb_clipped *c, const series_file *f)
{
    const char *bound = bound_of(cfg, c->file, c->largest);
    if (c->pixels == 0)
        return;
    fprintf(out, pixels_of, c->pixels, c->pixels == 1 ? "" : "s");
    fputs(f->name, out);
    put_limit(out, cfg, c->file, c->largest);
    fprintf(out, ", in %d of %d frames, most in frame %d (%" PRId64 "): %s\n", c->frames,
            p->done, c->worst + 1, c->most, bound ? bound : f->mend);
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
