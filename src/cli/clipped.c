/* SPDX-License-Identifier: MIT */
#include "clipped.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

static void report_noise(FILE *out, const nb_config *cfg, int64_t n)
{
    int typed = cfg->saturation < nb_noise_largest(cfg, NB_NOISE_U16);
    if (n == 0)
        return;
    fprintf(out, pixels_of, n, n == 1 ? "" : "s");
    fprintf(out, "%s at %.0f: ", cfg->noise_file, nb_noise_largest(cfg, NB_NOISE_U16));
    fprintf(out, "%s\n",
            typed ? "brighter than -saturation"
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
    report_noise(out, cfg, noise);
}

static void report_frames(FILE *out, const nb_series_progress *p, const nb_clipped *c,
                          const char *name, double limit, const char *mend)
{
    if (c->pixels == 0)
        return;
    fprintf(out, pixels_of, c->pixels, c->pixels == 1 ? "" : "s");
    fprintf(out, "%s at %.0f, in %d of %d frames, most in frame %d (%" PRId64 "): %s\n",
            name, limit, c->frames, p->done, c->worst + 1, c->most, mend);
}

static int ends_in(const char *name, const char *extension)
{
    size_t n = strlen(name), m = strlen(extension);
    return n >= m && !strcasecmp(name + n - m, extension);
}

/** What to do against clipped pixels; wide: 32 bits did not hold them. */
static const char *mend_of(const nb_config *cfg, double limit, int wide, const char *more,
                           const char *none)
{
    if (cfg->saturation < limit)
        return "brighter than -saturation";
    return wide || cfg->compat ? none : more;
}

void nb_report_clipped_series(FILE *out, const nb_cli *cli, const nb_series_progress *p)
{
    static const nb_noise_file kinds[] = {[NB_HDF5_U16] = NB_NOISE_HDF5_U16,
                                          [NB_HDF5_I32] = NB_NOISE_I32,
                                          [NB_HDF5_F32] = NB_NOISE_I32,
                                          [NB_HDF5_I16] = NB_NOISE_HDF5_I16};
    const nb_series *s = &cli->series;
    const nb_config *cfg = &cli->cfg;
    int cbf = ends_in(s->output, ".cbf"), i32 = s->hdf5_type == NB_HDF5_I32;
    double of_files = nb_noise_largest(cfg, cbf ? NB_NOISE_I32 : NB_NOISE_U16);
    double of_hdf5 = nb_noise_largest(cfg, kinds[s->hdf5_type]);
    report_frames(
        out, p, &p->clipped_output, s->output, of_files,
        mend_of(cfg, of_files, cbf, "use .cbf", "use .bin (photons without noise)"));
    report_frames(out, p, &p->clipped_hdf5, s->hdf5_file, of_hdf5,
                  mend_of(cfg, of_hdf5, i32, "use -hdf5type int32",
                          "use -hdf5type float32 (photons without noise)"));
}
