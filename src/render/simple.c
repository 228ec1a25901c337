/* SPDX-License-Identifier: MIT */
/* The path in fixed point for pixels with one ray of one step (kernel_simple.h). */
#include <math.h>

#include "vector_paths.h"

/** True if the numbers of a panel that kernel_simple.h keeps as floats are far from the
 * limits of floats. */
static int floats_suffice(const nb_plan *plan, const nb_panel *panel)
{
    const nb_scene *sc = plan->scene;
    double unit = plan->largest * plan->largest;
    /* approximate photons per F_latt^2 at 1 m */
    double photons =
        sc->intensity_scale * sc->beam.sources[0].weight * panel->pixel_area * unit;
    double size =
        fmax(panel->pixel_fast * panel->columns, panel->pixel_slow * panel->rows);
    return photons > 1e-18 && photons < 1e18 && panel->close_distance > 1e-4 &&
           fmax(size, panel->distance) < 1e4;
}

/** True for one ray per pixel and a flat panel. */
static int is_plain(const nb_scene *sc, const nb_panel *panel)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    return sensor->layers == 1 && !sensor->absorb && !panel->curved;
}

int nb_simple_applies(const nb_plan *plan, const char **why)
{
    const nb_scene *sc = plan->scene;
    if (!nb_fixed_applies(plan, why))
        return 0;
    for (int k = 0; k < sc->n_panels; k++)
        if (sc->samples != 1 || !is_plain(sc, &sc->panels[k]))
            return nb_path_refuse(why, "a pixel has more than one ray, step or factor");
    if (plan->largest == 0 || sc->factors.dmin > 0)
        return nb_path_refuse(why, "nothing scatters, or dmin leaves out reflections");
    for (int k = 0; k < sc->n_panels; k++)
        if (!floats_suffice(plan, &sc->panels[k]))
            return nb_path_refuse(why, "single precision cannot hold the geometry");
    return 1;
}

static nb_status prepare(nb_render *r, nb_error *err)
{
    return nb_vector_plans_build(r->plan, NB_SUMS_SIMPLE, r->kept, &r->plans, err);
}

const nb_path nb_path_simple = {.name = "simple",
                                .applies = nb_simple_applies,
                                .seconds = nb_fixed_seconds,
                                .prepare = prepare,
                                .run = nb_steps_run};
