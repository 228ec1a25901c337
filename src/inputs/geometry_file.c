/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/outfile.h"
#include "../io/detector/expt.h"
#include "../io/detector/geom.h"
#include "../io/hdf5/hdf5_read.h"
#include "../model/beam.h"
#include "../model/units.h"
#include "../params/params.h"

nb_geometry_typed nb_geometry_typed_of(const nb_config *cfg)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    int wavelength = NB_TYPED(all, lambda_A) || NB_TYPED(all, energy_eV);
    return (nb_geometry_typed){NB_TYPED_OR(all, distance_mm, NAN),
                               wavelength ? nb_beam_wavelength(all) : NAN,
                               cfg->expt_number,
                               all->value.convention,
                               cfg->source_file[0] != 0,
                               cfg->expt_image};
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

nb_status nb_read_starts(const nb_config *cfg, const nb_expt_names *of,
                         nb_expt_start *out, nb_error *err)
{
    const char *path = cfg->expt_file;
    char *data;
    size_t n;
    nb_status st;
    NB_FORWARD(nb_read_file(path, "-expt", NB_GEOMETRY_BYTES, &data, &n, err));
    st = nb_expt_starts(data, n, path, of, out, err);
    nb_free(data);
    return st;
}

/** Fields that this kind of geometry file can have but this file lacks.  A CrystFEL
 * geometry can have only the wavelength. */
static unsigned open_fields(const nb_config *cfg, const nb_detector_spec *d)
{
    unsigned open = isnan(d->wavelength_A) ? NB_OPEN_WAVELENGTH : 0;
    int sensors = 0;
    if (cfg->geom_file[0])
        return open;
    for (int k = 0; k < d->n_panels; k++)
        sensors |= d->panels[k].thickness > 0;
    return open | (isnan(d->phi_deg) ? NB_OPEN_START : 0) |
           (isnan(d->osc_deg) ? NB_OPEN_WIDTH : 0) | (sensors ? 0 : NB_OPEN_SENSOR) |
           (isnan(d->polarization) ? NB_OPEN_POLARIZATION : 0) |
           (cfg->expt_file[0] && !d->beam.set ? NB_OPEN_BEAM : 0);
}

/** Refuse experiments or NXmx without a wavelength: the image would be wrong. */
nb_status nb_say_open_geometry(const nb_config *cfg, const nb_detector_spec *spec,
                               const nb_hooks *hooks, nb_error *err)
{
    const nb_param *row = nb_param_first_set(NB_PARAM_GEOMETRY, cfg);
    const char *name = row ? nb_text_at(cfg, row->offset) : "";
    const unsigned open = row ? open_fields(cfg, spec) : 0;
    char flag[NB_PARAM_LABEL];
    if (open & NB_OPEN_WAVELENGTH && !cfg->geom_file[0] && !NB_GIVEN(cfg, lambda_A) &&
        !NB_GIVEN(cfg, energy_eV) && !cfg->source_file[0])
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "no wavelength: type -lambda, -energy or -sourcefile");
    if (row)
        nb_header_say_open(cfg, open, nb_param_label(row, flag), name, hooks);
    return NB_OK;
}

nb_status nb_read_geometry(const nb_config *cfg, const nb_hooks *hooks,
                           nb_detector_spec *out, nb_error *err)
{
    const nb_geometry_typed typed = nb_geometry_typed_of(cfg);
    const char *name = cfg->nxmx_file;
    memset(out, 0, sizeof *out);
    if (cfg->geom_file[0])
        return nb_geom_read(cfg->geom_file, &typed, hooks, out, err);
    if (cfg->expt_file[0])
        return read_expt(cfg->expt_file, &typed, hooks, out, err);
    return name[0] ? nb_nxmx_read(name, &typed, hooks, out, err) : NB_OK;
}

nb_status nb_config_load_geometry(nb_config *cfg, const nb_hooks *hooks,
                                  nb_detector_spec *detector, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(cfg && detector);
    nb_status st = nb_config_check_rules(cfg, err);
    memset(detector, 0, sizeof *detector);
    NB_TRY(nb_read_geometry(cfg, hooks, detector, err));
    if (!st && detector->n_panels && (st = nb_say_open_geometry(cfg, detector, hooks, err)))
        nb_detector_spec_free(detector);
    if (!st && detector->n_panels)
        cfg->detector = detector;
    return st;
}
