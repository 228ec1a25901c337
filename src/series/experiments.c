/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../sim/load.h"
#include "../sim/noise.h"
#include "../sim/write.h"

/** "../" for each part of a relative folder; 0: it has parts that go up, or no room. */
static int climb(const char *folder, const char *end, char up[NB_PATH_MAX])
{
    size_t used = 0, n;
    for (; folder < end; folder += n + 1) {
        n = strcspn(folder, "/");
        if (!n || (n == 1 && folder[0] == '.'))
            continue;
        if ((n == 2 && !strncmp(folder, "..", 2)) || used + 4 > NB_PATH_MAX)
            return 0;
        memcpy(up + used, "../", 3);
        used += 3;
    }
    up[used] = '\0';
    return 1;
}

/** Bytes of the folders that both paths begin with. */
static size_t shared(const char *from, const char *end, const char *image)
{
    size_t n = 0, m;
    for (; from + n < end; n += m) {
        m = strcspn(from + n, "/") + 1;
        if (strncmp(from + n, image + n, m) != 0)
            break;
    }
    return n;
}

/** The name of `image` from the folder of the file `from`; the whole path where that is not known. */
static void name_from(const char *from, const char *image, char out[NB_PATH_MAX])
{
    const char *slash = strrchr(from, '/'), *end = slash ? slash + 1 : from;
    const int rooted = image[0] == '/', alike = rooted == (from[0] == '/');
    const size_t n = alike ? shared(from, end, image) : 0;
    char before[NB_PATH_MAX];
    int bytes = -1;
    if (alike && (!rooted || n > 1) && climb(from + n, end, before))
        bytes = snprintf(out, NB_PATH_MAX, "%s%s", before, image + n);
    else if (!rooted && getcwd(before, sizeof before))
        bytes = snprintf(out, NB_PATH_MAX, "%s/%s", before, image);
    if (bytes < 0 || bytes >= NB_PATH_MAX)
        snprintf(out, NB_PATH_MAX, "%s", image);
}

/** The image of frame k: in the master, or a file of its own. */
static void image_of(void *user, int k, char *name, int *at)
{
    const nb_run *run = user;
    char path[NB_PATH_MAX];
    if (run->series->hdf5_file[0]) {
        *at = k;
        name_from(run->base->cfg.exptout_file, run->series->hdf5_file, name);
        return;
    }
    name[0] = '\0';
    if (!nb_template_name(&run->work.name, k + 1, path, NULL))
        name_from(run->base->cfg.exptout_file, path, name);
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

/** Counts that DIALS trusts. */
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
    nb_expt_stills stills = {.frames = run->frames.count,
                             .truth = nb_truths_get,
                             .truth_user = run,
                             .image_user = run};
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
