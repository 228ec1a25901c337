/* SPDX-License-Identifier: MIT */
/* Which flags go together with a detector from a file. */
#include <string.h>

#include "../base/error.h"
#include "params.h"

static const char *const files[] = {"geom", "expt", "nxmx"};

/** What places or sizes a detector, which a file does then.  The first that is set is named. */
static const char *const replaced[] = {
    "detpixels_f",    "detpixels_s",   "detsize_f",     "detsize_s",     "pixel",
    "close_distance", "Xbeam",         "Ybeam",         "Xclose",        "Yclose",
    "ORGX",           "ORGY",          "detector_rotx", "detector_roty", "detector_rotz",
    "twotheta",       "twotheta_axis", "pivot",         "fdet_vector",   "sdet_vector",
    "odet_vector",    "pix0_vector",   "curved_det",    "img",           "adxv"};

/** -detpixels where both of its sides were typed alike. */
static const char *name_of(const nb_config *cfg, const char *name)
{
    if (!strcmp(name, "detpixels_f") && cfg->detpixels[0] == cfg->detpixels[1])
        return "detpixels";
    if (!strcmp(name, "detsize_f") && cfg->detsize_mm[0] == cfg->detsize_mm[1])
        return "detsize";
    return name;
}

static nb_status check_replaced(const nb_config *cfg, const char *file, nb_error *err)
{
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (nb_param_is_set(nb_param_find(replaced[i]), cfg))
            return nb_fail(err, NB_ERR_INPUT,
                           "-%s contradicts -%s: the file says where the detector is and "
                           "how large; leave one of them out",
                           name_of(cfg, replaced[i]), file);
    if (strcmp(file, "geom") != 0 && nb_param_is_set(nb_param_find("distance"), cfg))
        return nb_fail(err, NB_ERR_INPUT,
                       "-distance contradicts -%s: the file says where the detector is; "
                       "leave one of them out",
                       file);
    return NB_OK;
}

const char *nb_config_geometry_flag(const nb_config *cfg)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (nb_param_is_set(nb_param_find(files[i]), cfg))
            return files[i];
    return NULL;
}

nb_status nb_config_check_geometry(const nb_config *cfg, nb_error *err)
{
    const char *first = nb_config_geometry_flag(cfg);
    for (size_t i = 0; first && i < sizeof files / sizeof *files; i++)
        if (strcmp(first, files[i]) != 0 && nb_param_is_set(nb_param_find(files[i]), cfg))
            return nb_fail(err, NB_ERR_INPUT,
                           "-%s contradicts -%s: both describe the detector; give one of "
                           "them",
                           files[i], first);
    if (cfg->expt_number >= 0 && !cfg->expt_file[0])
        return nb_fail(err, NB_ERR_INPUT, "-expt_number needs -expt FILE");
    if (cfg->expt_image[0] && !cfg->expt_file[0])
        return nb_fail(err, NB_ERR_INPUT, "-expt_image %.60s needs -expt FILE",
                       cfg->expt_image);
    return first ? check_replaced(cfg, first, err) : NB_OK;
}
