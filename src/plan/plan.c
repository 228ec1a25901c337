/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <math.h>

#include "../physics/lattice.h"
#include "../physics/limits.h"
#include "../physics/panels.h"

/** Upper bound of |h|, |k| and |l|: |a| |d - i|/lambda <= 2 |a|/lambda. */
static double index_bound(const nb_lattice *lattice, const nb_beam *beam)
{
    double length2 = 0, inv_lambda = 0;
    for (int i = 0; i < beam->n_sources; i++)
        inv_lambda = fmax(inv_lambda, 1.0 / beam->sources[i].lambda);
    for (int i = 0; i < lattice->n_orientations; i++) {
        const nb_orientation *u = &lattice->orientations[i];
        length2 = fmax(length2, nb_dot(u->a, u->a));
        length2 = fmax(length2, nb_dot(u->b, u->b));
        length2 = fmax(length2, nb_dot(u->c, u->c));
    }
    return 2.0 * sqrt(length2) * inv_lambda;
}

nb_plan nb_plan_of(const nb_scene *sc, nb_precision precision, const nb_engine *engine)
{
    const double *N = sc->lattice.N;
    nb_plan p = {.scene = sc, .precision = precision, .engine = *engine, .weight = 1};
    int layers = 0;
    for (int i = 0; i < sc->n_panels; i++)
        layers = (int)fmax(layers, sc->sensors[sc->panels[i].sensor].layers);
    for (int i = 0; i < sc->beam.n_sources; i++)
        p.weight = fmax(p.weight, fabs(sc->beam.sources[i].weight));
    p.pixels = nb_rendered_pixels(sc);
    p.steps = (double)sc->beam.n_sources * sc->lattice.n_orientations;
    p.rays = nb_rendered_samples(sc) / p.steps;
    p.terms = (double)sc->samples * layers;
    p.cells = fmax(N[0], fmax(N[1], N[2]));
    p.largest = nb_largest_F(&sc->factors.table);
    p.index = index_bound(&sc->lattice, &sc->beam);
    return p;
}

int nb_plan_floats_carry(const nb_plan *plan, double unit, double terms)
{
    return nb_floats_carry(plan->scene, unit, terms, plan->weight);
}

const char *nb_plan_needs_double(const nb_plan *plan, double real_cells)
{
    if (plan->precision == NB_PRECISION_DOUBLE)
        return "double precision was asked for";
    if (nb_shape_law(plan->scene->lattice.shape) != NB_LAW_FRINGES)
        return "only the parallelepiped has a fast kernel";
    if (!(plan->cells <= real_cells) && !nb_whole_cells(&plan->scene->lattice))
        return "the number of cells is not whole";
    return NULL;
}
