/* SPDX-License-Identifier: MIT */
#include "starts.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/hdf5/hdf5_read.h"
#include "../io/table/orientations.h"
#include "../render/request.h"
#include "../inputs/load.h"
#include "../sim/sim.h"
#include "../sim/sim.h"

/** Check that each picture has an experiment, and that one simulation can hold them. */
static nb_status check_starts(const nb_starts *starts, const char *file, nb_error *err)
{
    const nb_expt_start *all = starts->expt;
    for (int k = 0; k < starts->count; k++) {
        const char *name = starts->pictures[k];
        if (all[k].number < 0)
            return nb_fail(err, NB_ERR_INPUT,
                           "-expt %.200s: no experiment has the image %.200s, but others "
                           "have theirs; type -expt_number for one start of all",
                           file, name);
        if (all[k].number != all[0].number && (all[k].varies || all[0].varies))
            return nb_fail(err, NB_ERR_INPUT,
                           "-expt %.200s: the crystal of experiment %d changes along its "
                           "scan, and %.200s is of another one; refine each by itself",
                           file, all[all[k].varies ? k : 0].number, name);
    }
    return NB_OK;
}

/** Find each picture's experiment by image name. *cfg gets that of the first picture. */
static nb_status load_starts(nb_starts *starts, nb_config *cfg, const nb_hooks *hooks,
                             nb_error *err)
{
    const nb_expt_names names = {starts->pictures, starts->count};
    int found = 0;
    nb_status st;
    if (!cfg->expt_file[0] || cfg->expt_number >= 0 || cfg->expt_image[0] ||
        starts->missets)
        return NB_OK;
    starts->expt =
        nb_alloc((size_t)starts->count, sizeof *starts->expt, "experiments", err);
    st = starts->expt ? nb_read_starts(cfg, &names, starts->expt, err) : NB_ERR_NOMEM;
    for (int k = 0; k < starts->count && !st; k++)
        found += starts->expt[k].number >= 0;
    if (st || !found) {
        nb_free(starts->expt);
        starts->expt = NULL;
        return st;
    }
    NB_FORWARD(check_starts(starts, cfg->expt_file, err));
    cfg->expt_number = starts->expt[0].number;
    nb_notice(
        hooks,
        "%s: each picture begins with crystal, beam and angle of the experiment that "
        "has its image; the detector is that of the first",
        cfg->expt_file);
    return NB_OK;
}

static nb_status open_base(nb_starts *starts, const nb_config *typed,
                           const nb_hooks *hooks, nb_error *err)
{
    nb_status st;
    if (!(starts->typed = nb_configs_new(1, err)))
        return NB_ERR_NOMEM;
    nb_config_copy(starts->typed, typed);
    st = load_starts(starts, starts->typed, hooks, err);
    return st ? st
              : nb_sim_create_for(starts->typed, starts->count, hooks, &starts->base, err);
}

nb_status nb_starts_open(nb_starts *starts, const nb_config *cfg,
                         const char *orientations, const nb_hooks *hooks, nb_error *err)
{
    nb_status st = NB_OK;
    starts->reader = nb_alloc(1, sizeof *starts->reader, "reader of HDF5", err);
    if (!starts->reader)
        return NB_ERR_NOMEM;
    if (orientations)
        st = nb_orientations_load(orientations, starts->count, &starts->missets, err);
    return st ? st : open_base(starts, cfg, hooks, err);
}

void nb_starts_close(nb_starts *starts)
{
    nb_free(starts->missets);
    nb_free(starts->expt);
    nb_config_free(starts->typed);
    nb_hdf5_reader_free(starts->reader);
    nb_sim_free(starts->base);
    memset(starts, 0, sizeof *starts);
}

/** GPUs for the fits; count is 0 if the fits run on the CPU. */
static nb_pool_devices devices_of(const nb_starts *starts)
{
    const nb_backend *backend = starts->base->engine.backend;
    nb_device asked;
    if (!backend->device)
        return (nb_pool_devices){-1, 0, 0};
    (void)nb_backend_of(starts->base->cfg.device, &asked);
    return nb_pool_devices_of(&asked, backend->device->count(), 0, 1);
}

/* number of pictures that a device refines at the same time */
enum { DEVICE_WORKERS = 8 };

int nb_starts_workers(const nb_starts *starts, int *threads)
{
    const int all = nb_threads_of(nb_sim_config(starts->base));
    const int devices = devices_of(starts).count;
    int n = devices && DEVICE_WORKERS * devices < all ? DEVICE_WORKERS * devices : all;
    n = n < starts->count ? n : starts->count;
    *threads = n > 1 ? 1 : all;
    return n > 1 ? n : 1;
}

nb_status nb_starts_sim(const nb_starts *starts, const nb_hooks *hooks, int threads,
                        int place, nb_sim **sim, nb_error *err)
{
    const nb_pool_devices devices = devices_of(starts);
    const nb_status st = nb_sim_clone(starts->base, hooks, threads, sim, err);
    if (!st && devices.count) /* simulations take the devices in turn */
        (*sim)->engine.options.device_index =
            devices.first + place % devices.count * devices.step;
    return st;
}

nb_status nb_starts_begin(const nb_starts *starts, nb_sim *sim, int picture, nb_error *err)
{
    nb_matrix matrix = {0};
    nb_frame_extra extra = {0};
    int own = 0;
    NB_OWN_CONFIG cfg = {0};
    nb_config_copy(&cfg, nb_sim_record(starts->base));
    if (starts->missets) {
        cfg.misset_mode = NB_MISSET_FIXED;
        memcpy(cfg.misset_deg, starts->missets[picture], sizeof cfg.misset_deg);
    }
    if (starts->expt)
        own = nb_use_start(starts->typed, &starts->expt[picture], &cfg, &matrix);
    extra.matrix = own ? &matrix : NULL;
    return nb_sim_frame(sim, &cfg, &extra, err);
}

nb_status nb_starts_read(const nb_starts *starts, const nb_sim *sim, int picture,
                         nb_image *out, nb_error *err)
{
    char name[NB_PATH_MAX];
    nb_hdf5_wanted frame = {name, 0, 1, NULL, starts->reader};
    int fast, slow;
    if (nb_hdf5_frame_of(starts->pictures[picture], name, &frame.frame))
        return nb_hdf5_read_image(&frame, out, err);
    nb_sim_size(sim, &fast, &slow);
    return nb_image_read(starts->pictures[picture], fast, slow, NULL, out, err);
}
