/* SPDX-License-Identifier: MIT */
/* Note parts of the detector that DIALS cannot read from an image file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../io/common/panel_spec.h"
#include "../sim/sim.h"
#include "write.h"

static const char *names(int lost)
{
    return lost == NB_LOST_TILT      ? "the detector's tilt"
           : lost == NB_LOST_SPINDLE ? "the spindle axis"
                                     : "the detector's tilt and the spindle axis";
}

void nb_notice_material(const nb_model *model, const nb_hooks *hooks)
{
    static const char *const read[] = {"", "Si", "Silicon", "CdTe", "GaAs"};
    const char *name = model->detector->material.name;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        if (!strcmp(name, read[i]))
            return;
    nb_notice(
        hooks,
        "DIALS knows sensors of Si, CdTe and GaAs; it may refuse the HDF5 master of a "
        "sensor of %s",
        name);
}

/** Note properties of a geometry file's panel that SMV cannot hold, so that -img does not
 * find them. */
static void notice_unkept(const nb_model *model, const nb_hooks *hooks)
{
    const nb_scene *sc = &model->scene;
    const nb_panel *p = sc->panels;
    const double square = 1e-9, right = 1e-9;
    const struct {
        int lost;
        const char *name;
    } parts[] = {{fabs(p->pixel_fast - p->pixel_slow) > square * p->pixel_fast,
                  "unequal edges of pixels"},
                 {fabs(nb_dot(p->fast, p->slow)) > right, "oblique axes"},
                 {sc->sensors[p->sensor].absorb, "the sensor"},
                 {sc->raster.mask != NULL, "masked pixels"}};
    char text[120] = "";
    size_t used = 0;
    if (!model->settings.value.detector || sc->n_panels > 1)
        return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].lost)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used ? ", " : "", parts[i].name);
    if (used)
        nb_notice(hooks,
                  "SMV does not hold these parts of the detector: %s; -img does not "
                  "restore them",
                  text);
}

void nb_notice_lost(const nb_sim *sim, const nb_hooks *hooks, nb_header_kind header)
{
    const int simple = header == NB_HEADER_SIMPLE;
    const nb_image_meta m = nb_sim_describe(sim);
    int lost = nb_simple_header_loses(&m);
    if (simple)
        notice_unkept(&sim->model, hooks);
    if (lost && simple)
        nb_notice(hooks,
                  "DIALS cannot read %s from SMV; use -hdf5 FILE or -output "
                  "'img_%%05d.cbf' (for one image with -stills 1 or -frames 1)",
                  names(lost));
    else if (lost && m.thick_mm > 0)
        nb_notice(hooks, "DIALS cannot read the sensor's thickness from a CBF with a "
                         "tilted detector or another spindle axis; use -hdf5");
}
