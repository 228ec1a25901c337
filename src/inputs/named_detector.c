/* SPDX-License-Identifier: MIT */
/* The detector of -detector: default values and gaps. */
#include <stdio.h>
#include <string.h>

#include "../base/memory.h"
#include "../params/params.h"
#include "load.h"

nb_status nb_load_named_detector(nb_config *cfg, nb_error *err)
{
    const nb_known_detector *d;
    int binning;
    nb_status st = nb_detector_named(cfg, &d, &binning, err);
    if (st || !d)
        return st;
    for (int i = 0; i < 2; i++)
        cfg->detpixels[i] = nb_detector_pixels(d, i, binning);
    cfg->pixel_mm = NB_VALUE_OR(cfg, pixel_mm, d->pixel_um * binning / 1e3);
    cfg->thick_um = NB_VALUE_OR(cfg, thick_um, d->sensor_um);
    if (!cfg->sensor[0] && !NB_GIVEN(cfg, abs_um) && cfg->thick_um > 0)
        st = nb_text_put(&cfg->sensor, d->sensor, err);
    if (d->saturation > 0)
        cfg->saturation = NB_VALUE_OR(cfg, saturation, d->saturation);
    if (d->counting && !cfg->adc_set) {
        cfg->adc_offset = 0;
        cfg->adc_set = 1;
    }
    return st;
}

/** True if pixel i along this axis is between modules, or in dead columns of a module. */
static int is_between(const nb_known_detector *d, int axis, int i)
{
    const int at = i % (d->module[axis] + d->gap[axis]), middle = d->module[axis] / 2;
    return at >= d->module[axis] || (axis == 0 && at >= middle - d->dead_columns / 2 &&
                                     at < middle + (d->dead_columns + 1) / 2);
}

static int has_dead_pixels(const nb_known_detector *d)
{
    return d->disc || d->dead_columns || d->gap[0] || d->gap[1];
}

nb_status nb_mask_named_detector(const nb_config *cfg, uint8_t **mask, nb_error *err)
{
    const nb_known_detector *d;
    int binning;
    nb_status st = nb_detector_named(cfg, &d, &binning, err);
    if (st || !d || !has_dead_pixels(d))
        return st;
    const int nf = nb_detector_pixels(d, 0, binning),
              ns = nb_detector_pixels(d, 1, binning);
    if (!*mask) {
        if (!(*mask = nb_alloc_raw((size_t)nf * (size_t)ns, 1, "mask", err)))
            return NB_ERR_NOMEM;
        memset(*mask, 1, (size_t)nf * (size_t)ns);
    }
    for (int j = 0; j < ns; j++)
        for (int i = 0; i < nf; i++) {
            const double x = i + 0.5 - nf / 2.0, y = j + 0.5 - ns / 2.0;
            if (is_between(d, 0, i * binning) || is_between(d, 1, j * binning) ||
                (d->disc && x * x + y * y > nf * (nf / 4.0)))
                (*mask)[(size_t)j * (size_t)nf + (size_t)i] = 0;
        }
    return NB_OK;
}
