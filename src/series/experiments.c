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

nb_status nb_experiments_open(nb_run *run, nb_error *err)
{
    nb_experiments *e = &run->experiments;
    const char *path = run->base->cfg.exptout_file;
    nb_status st;
    e->wanted = path[0] && !run->frames.rotation && run->place.rank == 0;
    e->file.fd = -1;
    if (!e->wanted)
        return NB_OK;
    st = nb_sim_detector_spec(run->base, &e->detector, err);
    return st ? st : nb_outfile_open(&e->file, path, err);
}

/** Set the lowest and highest pixel value (ADU) that DIALS shall trust. */
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
    nb_experiments *e = &run->experiments;
    const nb_format *format = run->work.name.format;
    nb_hdf5_crystals crystals = {0};
    nb_expt_stills stills = {
        .frames = run->frames.count, .truth = nb_truths_get, .user = run};
    nb_status st = NB_OK;
    if (!e->wanted)
        return NB_OK;
    if (run->series->hdf5_file[0] || (format && format->header))
        stills.image = image_of;
    trust(run, stills.trusted);
    if (nb_frames_have_crystals(&run->frames)) {
        st = nb_master_crystals(run, run->frames.count, &crystals, err);
        stills.crystals = &crystals;
    }
    NB_TRY(nb_expt_stills_write(run->base, &e->detector, &stills, &e->file, err));
    nb_master_crystals_free(&crystals);
    return st ? st : nb_outfile_commit(&e->file, err);
}

void nb_experiments_close(nb_experiments *e)
{
    if (!e->wanted)
        return;
    nb_outfile_abort(&e->file);
    nb_detector_spec_free(&e->detector);
}
