/* SPDX-License-Identifier: MIT */
#include "write.h"

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/detector/geom.h"

nb_status nb_sim_print_geometry(const nb_sim *sim, const nb_detector_spec *d,
                                const char *hdf5, char **text, size_t *n, nb_error *err)
{
    int(*place)[2] = nb_alloc((size_t)d->n_panels, sizeof *place, "layout", err);
    nb_geom_job job = {d, place, hdf5, "written by nanobragg " NB_VERSION, &sim->hooks};
    nb_status st;
    *text = NULL;
    if (!place)
        return NB_ERR_NOMEM;
    nb_sim_canvas(sim, place);
    st = nb_geom_print(&job, text, n, err);
    nb_free(place);
    return st;
}

static nb_status write_geom(const nb_sim *sim, const nb_detector_spec *d,
                            const char *hdf5, nb_error *err)
{
    char *text;
    size_t n;
    nb_status st = nb_sim_print_geometry(sim, d, hdf5, &text, &n, err);
    NB_TRY(nb_outfile_put(sim->cfg.geomout_file, text, n, err));
    nb_free(text);
    return st;
}

nb_status nb_sim_write_detector(const nb_sim *sim, const char *hdf5, int frames,
                                nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_detector_spec d;
    nb_status st;
    if (!cfg->geomout_file[0] && !cfg->exptout_file[0])
        return NB_OK;
    NB_FORWARD(nb_sim_detector_spec(sim, &d, err));
    if (cfg->geomout_file[0])
        st = write_geom(sim, &d, hdf5, err);
    if (!st && cfg->exptout_file[0] && frames > 0)
        st = nb_expt_write(sim, &d, frames, err);
    nb_detector_spec_free(&d);
    return st;
}

nb_status nb_sim_write_geometry(const nb_sim *sim, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    nb_status st = nb_sim_write_detector(sim, NULL, 1, err);
    return st ? st : nb_sim_write_spectrum(sim, err);
}
