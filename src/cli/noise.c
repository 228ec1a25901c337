/* SPDX-License-Identifier: MIT */
/* nanobragg noise IN OUT: add background and noise to existing images. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common.h"
#include "options.h"
#include "sub.h"
#include "subcommands.h"

static const nb_sub_option options[] = {
    {"size", 2, "fast slow",
     "pixels of float images without header (default: square, or the detector's)",
     NB_SUB_WHOLE(nb_series, input_size, 1, 1000000)},
    {"pedestal", 1, "x",
     "value of an input pixel without photons (default: that of the header, else 0)",
     NB_SUB_NUMBER(nb_series, input_pedestal, -1e9, 1e9)},
    {"unit", 1, "x", "photons of one unit of the input (default: 1)",
     NB_SUB_NUMBER(nb_series, input_unit, 1e-30, 1e30)},
    NB_SUB_END};

static void defaults(void *target)
{
    ((nb_series *)target)->input_pedestal = NAN;
}

static int ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && !strcasecmp(name + n - m, ending);
}

/** Take the names of input and output. */
static nb_status take_names(const nb_sub_line *line, nb_series *s, nb_error *err)
{
    const char *in = line->operands[0], *out = line->operands[1];
    const int hdf5 = ends_with(out, ".h5") || ends_with(out, ".hdf5") ||
                     ends_with(out, ".nxs") || ends_with(out, ".cxi");
    const char *const names[] = {in, out};
    for (int i = 0; i < 2; i++)
        if (!names[i][0] || strlen(names[i]) >= NB_PATH_MAX)
            return nb_cli_fail(err, "'%.60s': a file name has 1 to %d bytes", names[i],
                               NB_PATH_MAX - 1);
    return nb_text_put(&s->input, in, err) ||
                   nb_text_put(hdf5 ? &s->hdf5_file : &s->output, out, err)
               ? NB_ERR_NOMEM
               : NB_OK;
}

/** Print a note if the output has floats, to which no noise is added. */
static void say_floats(const nb_series *s)
{
    if (s->hdf5_file[0] ? s->hdf5_type == NB_HDF5_F32 : ends_with(s->output, ".bin"))
        nb_cli_say("note", "floats hold the photons with background, but without noise; "
                           "write uint16, int32, .img or .cbf for counts");
}

static nb_status make(const nb_series *own, const nb_sub_line *line, nb_cli *cli,
                      nb_error *err)
{
    nb_series *s = &cli->series;
    nb_progress progress;
    nb_ranks *ranks = NULL;
    nb_status st = take_names(line, s, err);
    NB_TRY(nb_cli_join(line->word_count + 2, line->words - 2, &cli->cfg.command_line, err));
    memset(cli->typed, 0, sizeof cli->typed); /* no notes on flags of single images */
    memcpy(s->input_size, own->input_size, sizeof own->input_size);
    s->input_pedestal_set = !isnan(own->input_pedestal);
    s->input_pedestal = isnan(own->input_pedestal) ? 0 : own->input_pedestal;
    s->input_unit = own->input_unit;
    nb_progress_init(&progress, cli->progress, cli->quiet);
    NB_TRY(nb_ranks_join(&ranks, err));
    if (!st) {
        say_floats(s);
        st = nb_cli_run_series(cli, ranks, &progress, err);
    }
    nb_ranks_leave(ranks);
    return st;
}

static int run(void *target, nb_sub_line *line)
{
    nb_error err = {0};
    nb_status st;
    int rank;
    nb_stop_on_signals();
    st = make(target, line, &line->cli, &err);
    nb_ranks_launched(&rank);
    return rank == 0 || err.message[0] ? nb_cli_end(st, &err) : nb_cli_exit_status(st);
}

_Static_assert(sizeof(nb_series) <= NB_SUB_TARGET, "raise NB_SUB_TARGET");

const nb_sub_command nb_command_noise = {
    .name = "noise",
    .usage = "IN OUT [flags]",
    .what = "Adds background and noise to images that exist",
    .see = "series.md",
    .options = options,
    .borrowed =
        "hdf5type compress frames_per_file resume time_limit seed flicker deadtime "
        "exposure nopoisson psf "
        "psf_fwhm calibration calib_seed "
        "gainmap gain readout_noise adc saturation background water stol 4stol Q "
        "amorphous_thick density MW molecules fluence flux beamsize lambda energy "
        "dispersion dispsteps sourcefile polar nopolar mask roi geom expt expt_number "
        "expt_image "
        "nxmx panel layout pixel distance close_distance mosflm xds adxv denzo dials "
        "Xbeam Ybeam Xclose Yclose ORGX ORGY detector_rotx detector_roty detector_rotz "
        "twotheta twotheta_axis pivot fdet_vector sdet_vector odet_vector beam_vector "
        "polar_vector spindle_axis pix0_vector_mm curved_det point_pixel sensor "
        "detector_thick detector_abs detector_thicksteps oversample phi osc tiffbits "
        "colormap pngscale pnggamma pnglog pngmax pngblocks pngrings pngshow geomout "
        "exptout report "
        "threads isa progress noprogress quiet",
    .operands = 2,
    .statuses = "0 done, 1 a file cannot be written, or no memory, 2 bad input, 130 "
                "interrupted",
    .defaults = defaults,
    .run = run,
};
