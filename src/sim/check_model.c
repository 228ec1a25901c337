/* SPDX-License-Identifier: MIT */
/* Numbers that are fine alone and too large together. */
#include <math.h>

#include "../base/error.h"
#include "../physics/limits.h"
#include "sim.h"

/** Is the detector at a finite place, and has the cell a finite volume? */
static nb_status check_places(const nb_geometry *g, const nb_crystal *x, nb_error *err)
{
    double place = nb_norm(g->pix0) + fabs(g->distance) + fabs(g->close_distance);
    if (!isfinite(place + g->Fbeam + g->Sbeam))
        return nb_fail(err, NB_ERR_INPUT,
                       "the detector position is not finite: check -pixel, -distance, "
                       "the beam centre and -pix0_vector");
    if (!isfinite(nb_norm(x->a) + nb_norm(x->b) + nb_norm(x->c)) || !(x->volume > 0) ||
        !isfinite(x->volume))
        return nb_fail(err, NB_ERR_INPUT,
                       "the unit cell has no finite volume: check -cell and -mat");
    return NB_OK;
}

nb_status nb_check_model(const nb_config *cfg, const nb_model *m, nb_error *err)
{
    if (!isfinite(m->fluence) && cfg->flux != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-flux %g x -exposure %g over -beamsize %g squared overflows",
                       cfg->flux, cfg->exposure_s, cfg->beamsize_mm);
    if (!isfinite(m->scene.intensity_scale) || !isfinite(m->scene.background))
        return nb_fail(err, NB_ERR_INPUT,
                       "-fluence %g x %g blocks of the crystal overflows", m->fluence,
                       m->blocks);
    if (!isfinite(nb_largest_amorphous(m->scene.amorphous)))
        return nb_fail(err, NB_ERR_INPUT,
                       "the amorphous background overflows; type a smaller -background, "
                       "-amorphous_thick or -molecules, or check the table");
    return check_places(&m->geometry, &m->crystal, err);
}
