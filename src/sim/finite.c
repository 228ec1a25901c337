/* SPDX-License-Identifier: MIT */
/* Refuse models and images that overflow.  For an image the error names the cause. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "../base/error.h"
#include "../physics/limits.h"
#include "sim.h"

/** Check that the position of the detector and the volume of the cell are finite. */
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

/** A factor of a pixel's photons that may be too large. */
typedef struct suspect {
    double excess; /* the factor divided by a generous limit (excess_of) */
    const char *what, *unit;
    double value;
    const char *mend;
} suspect;

/** The factor divided by a generous limit; infinite for NaN, which is then the cause. */
static double excess_of(double factor, double generous)
{
    return isnan(factor) ? INFINITY : factor / generous;
}

static suspect find_cause(const nb_model *model)
{
    const nb_scene *sc = &model->scene;
    double F = nb_largest_F(&sc->factors.table),
           cells = sc->lattice.N[0] * sc->lattice.N[1] * sc->lattice.N[2];
    double omega = 0, fluence = model->fluence;
    for (int k = 0; k < sc->n_panels; k++)
        omega = fmax(omega, nb_largest_solid_angle(&sc->panels[k]));
    const suspect all[] = {
        {excess_of(fluence, 1e36), "a fluence", "photons/m^2", fluence,
         model->settings.value.flux != 0
             ? "type a smaller -flux or -exposure, or a larger -beamsize"
             : "type a smaller -fluence"},
        {excess_of(F * F, 1e12), "a structure factor", "electrons", F,
         "check -hkl and -default_F"},
        {excess_of(cells * cells, 1e30), "a crystal", "unit cells", cells,
         "type a smaller -N or -samplesize"},
        {excess_of(model->blocks, 1e20), "a crystal", "blocks", model->blocks,
         "type a smaller -blocks or -crystal_volume"},
        {excess_of(sc->background, 1e26), "a cube of water", "um",
         model->settings.value.water_um, "type a smaller -water"},
        {excess_of(nb_largest_amorphous(sc->amorphous), 1e26), "an amorphous background",
         "electrons^2", nb_largest_amorphous(sc->amorphous),
         "type a smaller -background, -amorphous_thick or -molecules"},
        {excess_of(omega, 10), "a pixel", "sr", omega,
         "type a smaller -pixel or a larger -distance"},
        {sc->lattice.fudge > 0 ? 0 : INFINITY, "-fudge", "", sc->lattice.fudge,
         "it must be above 0"}};
    suspect worst = all[0];
    for (size_t i = 1; i < sizeof all / sizeof *all; i++)
        if (all[i].excess > worst.excess)
            worst = all[i];
    return worst;
}

int nb_model_may_overflow(const nb_model *model)
{
    return !(nb_photon_bound(&model->scene) < FLT_MAX);
}

nb_status nb_model_check_finite(const nb_model *model, const nb_stats *stats,
                                nb_error *err)
{
    suspect cause;
    if (isfinite(stats->sum))
        return NB_OK;
    if (!nb_model_may_overflow(model))
        return nb_fail(err, NB_ERR_INTERNAL,
                       "a pixel is not a finite number; please report it with this "
                       "command, and try -isa scalar -device cpu");
    cause = find_cause(model);
    return nb_fail(err, NB_ERR_INPUT,
                   "the image overflows: a pixel would have more than %.1e photons: %s "
                   "of %.3g %s is too large; %s",
                   (double)FLT_MAX, cause.what, cause.value, cause.unit, cause.mend);
}
