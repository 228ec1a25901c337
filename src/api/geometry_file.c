/* SPDX-License-Identifier: MIT */
#include "geometry_file.h"

#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/expt.h"
#include "../io/geom.h"
#include "../io/nxmx.h"
#include "../model/beam.h"
#include "../model/units.h"
#include "../params/params.h"

static nb_geometry_typed typed_of(const nb_config *cfg)
{
    int wavelength = !isnan(cfg->lambda_A) || !isnan(cfg->energy_eV);
    return (nb_geometry_typed){
        cfg->distance_mm, wavelength ? nb_beam_wavelength(cfg) : NAN, cfg->expt_number,
        cfg->convention == NB_CONV_UNSET ? NB_CONV_MOSFLM : cfg->convention,
        cfg->max_read_MB};
}

static nb_status read_expt(const char *path, const nb_geometry_typed *typed,
                           const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    char *data;
    size_t n;
    nb_status st = nb_read_file(path, "-expt", NB_GEOMETRY_BYTES, &data, &n, err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    st = nb_expt_parse(data, n, path, typed, hooks, out, err);
    nb_free(data);
    return st;
}

nb_status nb_read_geometry(const nb_config *cfg, const nb_hooks *hooks,
                           nb_detector_spec *out, nb_error *err)
{
    const nb_geometry_typed typed = typed_of(cfg);
    memset(out, 0, sizeof *out);
    if (cfg->geom_file[0])
        return nb_geom_read(cfg->geom_file, &typed, hooks, out, err);
    if (cfg->expt_file[0])
        return read_expt(cfg->expt_file, &typed, hooks, out, err);
    if (cfg->nxmx_file[0])
        return nb_nxmx_read(cfg->nxmx_file, &typed, hooks, out, err);
    return NB_OK;
}

nb_status nb_config_load_geometry(nb_config *cfg, const nb_hooks *hooks,
                                  nb_detector_spec *detector, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && detector);
    nb_status st = nb_config_check(cfg, err);
    memset(detector, 0, sizeof *detector);
    if (!st)
        st = nb_read_geometry(cfg, hooks, detector, err);
    if (!st && detector->n_panels)
        cfg->detector = detector;
    return st;
}
