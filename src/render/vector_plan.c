/* SPDX-License-Identifier: MIT */
#include "vector_plan.h"

#include "../base/memory.h"
#include "../physics/lattice.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../physics/structure_factor.h"

/* Limit of the size of the table of offsets. */
#define OFFSETS_MAX_BYTES ((size_t)32 << 20)

nb_fixed_mode nb_vector_mode(const nb_plan *plan)
{
    if (plan->cells > NB_FIXED_CELLS)
        return NB_FIXED_FRINGES;
    return nb_whole_cells(&plan->scene->lattice) ? NB_FIXED_INDEX : NB_FIXED_REAL;
}

static nb_status plan_sources(nb_vector_plan *p, nb_error *err)
{
    const nb_scene *sc = &p->scene;
    const nb_factor_table *sf = &sc->factors.table;
    int i;
    p->sources = nb_alloc((size_t)sc->beam.n_sources, sizeof *p->sources, "sources", err);
    if (!p->sources)
        return NB_ERR_NOMEM;
    p->has_factors = sc->factors.dmin > 0 || (sc->oversample_polar && !sc->beam.nopolar);
    for (i = 0; i < sc->beam.n_sources; i++) {
        nb_vector_source *to = &p->sources[i];
        to->incident = sc->beam.sources[i].incident;
        to->inv_lambda = 1.0 / sc->beam.sources[i].lambda;
        to->weight = sc->beam.sources[i].weight;
        to->B = nb_unit(nb_cross(sc->beam.polar_axis, to->incident));
        to->E = nb_unit(nb_cross(to->incident, to->B));
        to->F = sf->nh > 0 ? nb_table_at(sf, sc->beam.sources[i].table) : NULL;
        p->has_factors |= to->weight != 1.0;
    }
    return NB_OK;
}

/** Cosine and sine of the curved detector's angle along fast, for every column of
 * sub-pixels. */
static nb_status plan_columns(nb_vector_plan *p, nb_error *err)
{
    const nb_region *region = &p->region;
    const nb_panel *panel = &p->panel;
    int os = p->scene.oversample, f, sub;
    size_t columns = (size_t)(region->fmax - region->fmin + 1) * os;
    if (!panel->curved || nb_region_pixels(*region) == 0)
        return NB_OK;
    p->cos_u = nb_alloc(columns, sizeof *p->cos_u, "detector columns", err);
    p->sin_u = nb_alloc(columns, sizeof *p->sin_u, "detector columns", err);
    if (!p->cos_u || !p->sin_u)
        return NB_ERR_NOMEM;
    for (f = region->fmin; f <= region->fmax; f++)
        for (sub = 0; sub < os; sub++) {
            double u = (nb_subpixel(panel->pixel_fast, os, f, sub) - panel->Fbeam) /
                       panel->distance;
            size_t i = (size_t)(f - region->fmin) * os + sub;
            p->cos_u[i] = cos(u);
            p->sin_u[i] = sin(u);
        }
    return NB_OK;
}

void nb_fill_offsets(const nb_vector_plan *p, double start, double *to)
{
    const nb_scene *sc = &p->scene;
    for (int m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        for (int s = 0; s < sc->beam.n_sources; s++) {
            const nb_vector_source *b = &p->sources[s];
            *to++ = start + nb_dot(u->a, b->incident) * b->inv_lambda;
            *to++ = start + nb_dot(u->b, b->incident) * b->inv_lambda;
            *to++ = start + nb_dot(u->c, b->incident) * b->inv_lambda;
        }
    }
}

static nb_status plan_offsets(nb_vector_plan *p, nb_error *err)
{
    const nb_scene *sc = &p->scene;
    double start = nb_vector_start(p->table.kind, p->mode), bytes;
    double *to;
    bytes = (double)sc->lattice.n_orientations * sc->beam.n_sources * 3 * sizeof(double);
    if (p->table.kind == NB_F_ZERO || sc->beam.n_sources == 1 ||
        bytes > OFFSETS_MAX_BYTES ||
        (p->has_factors && sc->beam.n_sources > NB_VECTOR_MAX_FACTORS))
        return NB_OK;
    to = p->offsets = nb_alloc_raw((size_t)bytes, 1, "table of sources", err);
    if (!to)
        return NB_ERR_NOMEM;
    nb_fill_offsets(p, start, to);
    return NB_OK;
}

/** Point each source at its table in the squares. */
static void aim_tables(nb_vector_plan *p)
{
    const nb_beam *beam = &p->scene.beam;
    int i;
    for (i = 0; i < beam->n_sources && nb_has_tables(p->table.kind); i++)
        p->sources[i].F2 = p->table.F2 + beam->sources[i].table;
}

/** Set the data that all panels share. */
static nb_status plan_scene(const nb_plan *plan, nb_vector_sums sums,
                            nb_kept_squares *kept, nb_vector_plan *p, nb_error *err)
{
    nb_status st;
    p->scene = *plan->scene;
    p->mode = nb_vector_mode(plan);
    p->simple = sums == NB_SUMS_SIMPLE;
    p->fixed = sums != NB_SUMS_DOUBLE;
    if ((st = plan_sources(p, err)) != NB_OK || !p->fixed)
        return st;
    if ((st = nb_factor_squares_build(plan, kept ? kept : &p->squares, &p->table, err)) !=
        NB_OK)
        return st;
    aim_tables(p);
    return plan_offsets(p, err);
}

static nb_status plan_panel(nb_vector_plan *p, const nb_panel *panel, nb_error *err)
{
    p->panel = *panel;
    p->sensor = p->scene.sensors[panel->sensor];
    p->region = nb_panel_region(&p->scene, panel);
    p->edge = panel->pixel_fast / p->scene.oversample;
    return plan_columns(p, err);
}

nb_status nb_vector_plans_build(const nb_plan *plan, nb_vector_sums sums,
                                nb_kept_squares *kept, nb_vector_plan **plans,
                                nb_error *err)
{
    const nb_scene *sc = plan->scene;
    nb_vector_plan *p = nb_alloc((size_t)sc->n_panels, sizeof *p, "plan", err);
    nb_status st = p ? plan_scene(plan, sums, kept, p, err) : NB_ERR_NOMEM;
    for (int k = 0; k < sc->n_panels && !st; k++) {
        if (k > 0) {
            p[k] = p[0];
            p[k].cos_u = p[k].sin_u = NULL;
        }
        st = plan_panel(&p[k], &sc->panels[k], err);
    }
    if (st) {
        nb_vector_plans_free(p);
        p = NULL;
    }
    *plans = p;
    return st;
}

void nb_vector_plans_free(nb_vector_plan *p)
{
    if (!p)
        return;
    for (int k = 0; k < p[0].scene.n_panels; k++) {
        nb_free(p[k].cos_u);
        nb_free(p[k].sin_u);
    }
    if (!nb_has_tables(p[0].table.kind))
        nb_free(p[0].table.F2);
    nb_kept_squares_free(&p[0].squares);
    nb_free(p[0].sources);
    nb_free(p[0].offsets);
    nb_free(p);
}
