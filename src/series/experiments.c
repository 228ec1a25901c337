/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>

#include "../base/error.h"
#include "../inputs/load.h"
#include "../sim/noise.h"
#include "../outputs/write.h"

/** Name the file of frame k: the master (*at: index in it), or a numbered file. */
static void image_of(void *user, int k, char *name, int *at)
{
    const nb_run *run = user;
    if (run->series->hdf5_file[0]) {
        *at = k;
        snprintf(name, NB_PATH_MAX, "%s", run->series->hdf5_file);
    } else if (nb_template_name(&run->work.name, k + 1, name, NULL)) {
        name[0] = '\0';
    }
}

/** Set the lowest and highest pixel values (ADU) that DIALS will trust. */
static void trust(const nb_run *run, double trusted[2])
{
    const nb_settings *all = &run->base->model.settings;
    const nb_config *cfg = &all->value;
    const double offset = cfg->adc_set ? cfg->adc_offset : 0;
    const nb_clipped *clipped = run->series->hdf5_file[0] ? &run->progress.clipped_hdf5
                                                          : &run->progress.clipped_output;
    trusted[0] = cfg->write_noise ? floor(offset - 6 * nb_noise_of(all).readout) : 0;
    trusted[0] = fmin(trusted[0], 0);
    trusted[1] = clipped->largest - 1;
}

nb_status nb_experiments_write(nb_run *run, nb_error *err)
{
    const char *path = run->base->cfg.exptout_file;
    const nb_format *format = run->work.name.format;
    nb_hdf5_crystals crystals = {0};
    nb_expt_stills stills = {
        .frames = run->frames.count, .truth = nb_truths_get, .user = run};
    nb_detector_spec detector;
    nb_outfile file;
    nb_status st = NB_OK;
    if (!path[0] || run->frames.rotation)
        return NB_OK;
    NB_FORWARD(nb_sim_detector_spec(run->base, &detector, err));
    if (run->series->hdf5_file[0] || (format && format->header))
        stills.image = image_of;
    trust(run, stills.trusted);
    if (nb_frames_have_crystals(&run->frames)) {
        st = nb_master_crystals(run, run->frames.count, &crystals, err);
        stills.crystals = &crystals;
    }
    NB_TRY(nb_outfile_open(&file, path, err));
    if (!st) {
        st = nb_expt_stills_write(run->base, &detector, &stills, &file, err);
        NB_TRY(nb_outfile_commit(&file, err));
        nb_outfile_abort(&file);
    }
    nb_master_crystals_free(&crystals);
    nb_detector_spec_free(&detector);
    return st;
}
