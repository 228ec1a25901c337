/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <string.h>

#include "../base/memory.h"
#include "../physics/limits.h"
#include "../physics/ray.h"

/* Bounds of the fixed-point kernel: cells along an axis up to which steps of 2^-32 of
 * an index are fine enough; |h|, or N |h|, that the magic number holds; bytes of the
 * table of offsets. */
#define FIXED_MAX_N 100.0
#define FIXED_MAX_H 500000.0
#define OFFSETS_MAX_BYTES ((size_t)32 << 20)

/** Bound of |h| over the whole sphere of directions: cheap. */
static double index_bound(const nb_scene *sc)
{
    double length = 0, inv_lambda = 0;
    int i;
    for (i = 0; i < sc->beam.n_sources; i++)
        inv_lambda = fmax(inv_lambda, 1.0 / sc->beam.sources[i].lambda);
    for (i = 0; i < sc->lattice.n_orientations; i++) {
        const nb_orientation *u = &sc->lattice.orientations[i];
        length = fmax(length, fmax(nb_norm(u->a), fmax(nb_norm(u->b), nb_norm(u->c))));
    }
    return 2.0 * length * inv_lambda;
}

const char *nb_simd_reference_reason(const nb_scene *sc)
{
    const nb_factor_table *sf = &sc->factors.table;
    if (!(index_bound(sc) < 2e9))
        return "Miller indices do not fit in 32 bits";
    if ((double)sf->nh * sf->nk * sf->nl >= (double)INT32_MAX)
        return "the structure-factor table has more than 2^31 entries";
    return NULL;
}

static nb_status plan_sources(nb_plan *p, nb_error *err)
{
    const nb_scene *sc = &p->scene;
    int i;
    p->sources = nb_alloc((size_t)sc->beam.n_sources, sizeof *p->sources, "sources", err);
    if (!p->sources)
        return NB_ERR_NOMEM;
    p->has_factors = sc->factors.dmin > 0 || (sc->oversample_polar && !sc->beam.nopolar);
    for (i = 0; i < sc->beam.n_sources; i++) {
        nb_plan_source *to = &p->sources[i];
        to->incident = sc->beam.sources[i].incident;
        to->inv_lambda = 1.0 / sc->beam.sources[i].lambda;
        to->weight = sc->beam.sources[i].weight;
        to->B = nb_unit(nb_cross(sc->beam.polar_axis, to->incident));
        to->E = nb_unit(nb_cross(to->incident, to->B));
        p->has_factors |= to->weight != 1.0;
    }
    return NB_OK;
}

/** Cosine and sine of the curved detector's angle along fast, for every column of sub-
 * pixels. */
static nb_status plan_columns(nb_plan *p, nb_error *err)
{
    const nb_region *region = &p->region;
    const nb_panel *panel = &p->panel;
    int os = p->scene.oversample, f, sub;
    size_t columns = (size_t)(region->fmax - region->fmin + 1) * os;
    if (!panel->curved)
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

static nb_status plan_offsets(nb_plan *p, nb_error *err)
{
    const nb_scene *sc = &p->scene;
    double start = nb_fixed_start(p->table.kind, p->mode), bytes;
    double *to;
    int m, s;
    bytes = (double)sc->lattice.n_orientations * sc->beam.n_sources * 3 * sizeof(double);
    if (p->table.kind == NB_F_ZERO || sc->beam.n_sources == 1 ||
        bytes > OFFSETS_MAX_BYTES ||
        (p->has_factors && sc->beam.n_sources > NB_PLAN_MAX_FACTORS))
        return NB_OK;
    to = p->offsets = nb_alloc_raw((size_t)bytes, 1, "table of sources", err);
    if (!to)
        return NB_ERR_NOMEM;
    for (m = 0; m < sc->lattice.n_orientations; m++) {
        const nb_orientation *u = &sc->lattice.orientations[m];
        for (s = 0; s < sc->beam.n_sources; s++) {
            const nb_plan_source *b = &p->sources[s];
            *to++ = start + nb_dot(u->a, b->incident) * b->inv_lambda;
            *to++ = start + nb_dot(u->b, b->incident) * b->inv_lambda;
            *to++ = start + nb_dot(u->c, b->incident) * b->inv_lambda;
        }
    }
    return NB_OK;
}

/** Do floats hold F^2 relative to the largest, F_latt^2 and a run of their sums? */
static int floats_hold_terms(const nb_scene *sc)
{
    double most = nb_largest_F(&sc->factors.table), weight = 1;
    int i;
    for (i = 0; i < sc->beam.n_sources; i++)
        weight = fmax(weight, fabs(sc->beam.sources[i].weight));
    return nb_floats_carry(sc, most * most, NB_PLAN_SUM_RUN, weight);
}

static nb_arithmetic choose_arithmetic(const nb_scene *sc, nb_precision precision,
                                       nb_fixed_mode *mode)
{
    double cells = fmax(sc->lattice.N[0], fmax(sc->lattice.N[1], sc->lattice.N[2]));
    *mode = cells > FIXED_MAX_N ? NB_FIXED_FRINGES : NB_FIXED_INDEX;
    if (precision == NB_PRECISION_DOUBLE || sc->lattice.shape != NB_LATTICE_SQUARE ||
        sc->factors.table.interpolate || !floats_hold_terms(sc) ||
        !(index_bound(sc) * (*mode == NB_FIXED_FRINGES ? cells : 1) < FIXED_MAX_H))
        return NB_ARITH_DOUBLE;
    return NB_ARITH_FIXED;
}

static nb_status plan_fixed(nb_plan *p, nb_error *err)
{
    const nb_scene *sc = &p->scene;
    const nb_region *region = &p->region;
    nb_hkl_range range = {{0}, {0}};
    double work = (double)(region->fmax - region->fmin + 1) *
                  (region->smax - region->smin + 1) * (double)sc->samples *
                  p->sensor.layers;
    nb_status st;
    if (sc->factors.table.nh > 0)
        range = nb_visible_range(sc);
    if ((st = nb_factor_squares_build(&sc->factors.table, &range, work, &p->table, err)) !=
        NB_OK)
        return st;
    return plan_offsets(p, err);
}

/** Are the numbers that kernel_simple.h keeps as floats far from a float's limits? */
static int floats_suffice(const nb_plan *p)
{
    const nb_scene *sc = &p->scene;
    const nb_panel *panel = &p->panel;
    double photons = sc->intensity_scale * sc->beam.sources[0].weight *
                     panel->pixel_area * p->table.unit; /* per F_latt^2 at 1 m, about */
    double size =
        fmax(panel->pixel_fast * panel->columns, panel->pixel_slow * panel->rows);
    return photons > 1e-18 && photons < 1e18 && panel->close_distance > 1e-4 &&
           fmax(size, panel->distance) < 1e4 && sc->background < 1e18 * p->table.unit;
}

static int is_simple(const nb_plan *p)
{
    const nb_scene *sc = &p->scene;
    return p->arithmetic == NB_ARITH_FIXED && p->table.kind != NB_F_ZERO &&
           sc->samples == 1 && p->sensor.layers == 1 && !p->sensor.absorb &&
           !p->panel.curved && !(sc->factors.dmin > 0) && floats_suffice(p);
}

nb_status nb_plan_build(const nb_scene *scene, nb_precision precision, nb_plan *p,
                        nb_error *err)
{
    nb_status st;
    memset(p, 0, sizeof *p);
    p->scene = *scene;
    p->panel = scene->panels[0];
    p->sensor = scene->sensors[p->panel.sensor];
    p->region = scene->raster.roi;
    p->edge = p->panel.pixel_fast / scene->oversample;
    /* not where N is 1: there the two polynomials are to cancel */
    p->fastest = precision == NB_PRECISION_SINGLE && scene->lattice.N[0] > 1 &&
                 scene->lattice.N[1] > 1 && scene->lattice.N[2] > 1;
    p->arithmetic = choose_arithmetic(scene, precision, &p->mode);
    if ((st = plan_sources(p, err)) != NB_OK || (st = plan_columns(p, err)) != NB_OK ||
        (p->arithmetic == NB_ARITH_FIXED && (st = plan_fixed(p, err)) != NB_OK)) {
        nb_plan_free(p);
        return st;
    }
    p->simple = is_simple(p);
    return NB_OK;
}

void nb_plan_free(nb_plan *p)
{
    if (!p)
        return;
    nb_free(p->table.F2);
    nb_free(p->sources);
    nb_free(p->offsets);
    nb_free(p->cos_u);
    nb_free(p->sin_u);
    memset(p, 0, sizeof *p);
}
