/* SPDX-License-Identifier: MIT */
#include "slope_tables.h"

#include <math.h>
#include <string.h>

#include "../../src/base/memory.h"
#include "../../src/physics/limits.h"
#include "../../src/plan/fixed_point.h"

const char *nb_term_refuse(const nb_plan *plan, const nb_slope_job *job)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    const double F2 = sf->default_F * sf->default_F;
    const char *reason = nb_slopes_need_double(plan, job);
    if (reason)
        return reason;
    if (plan->cells > NB_TERM_MOST_CELLS)
        return "the crystal is too large for 32-bit fractions";
    if (!(plan->index < NB_FIXED_INDICES))
        return "Miller indices are too large for fixed point";
    if (!nb_plan_floats_carry(plan, sf->nh > 0 || F2 == 0 ? 1 : F2,
                              NB_TERM_RUN * nb_slope_steepest(plan)))
        return "single precision cannot hold the numbers";
    return NULL;
}

nb_term_case nb_term_case_of(const nb_slope_job *job)
{
    const nb_scene *sc = job->scene;
    const unsigned all = NB_SLOPE_RAY | NB_SLOPE_MOSAIC | NB_SLOPE_SPINDLE |
                         (job->spectrum ? NB_SLOPE_WAVE : 0);
    nb_term_case how = {0};
    how.gauss = nb_shape_law(sc->lattice.shape) == NB_LAW_DECAY;
    how.general = !how.gauss && (!nb_whole_cells(&sc->lattice) || sc->factors.dmin > 0);
    how.table = sc->factors.table.nh > 0;
    how.level =
        job->sums & all ? NB_TERMS_ALL
        : job->sums & (NB_SLOPE_INDEX | NB_SLOPE_CELLS | NB_SLOPE_WAVE | NB_SLOPE_FUDGE)
            ? NB_TERMS_CRYSTAL
            : NB_TERMS_IMAGE;
    return how;
}

static void set_axis(double N, int square, int i, nb_term_tables *t)
{
    const double whole = floor(N + 0.5);
    t->cells[i] = (int)whole;
    t->part[i] = (float)(N - whole);
    t->step[i] = (float)(N * NB_FIXED_STEP);
    t->tiny[i] = (float)N * NB_FIXED_TINY;
    t->part_of[i] = (float)(1 / N);
    t->edge[i] = nb_slope_edge(N);
    t->lift[i] = N > 1 || !square ? (float)N : 0.0f;
    t->inverse[i] = square ? 1 : 1 / N;
}

static void set_lattice(const nb_scene *sc, nb_term_tables *t)
{
    const nb_lattice *lattice = &sc->lattice;
    const double F = sc->factors.table.default_F;
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    double height = shape.height;
    for (int i = 0; i < 3; i++) {
        set_axis(lattice->N[i], shape.law == NB_LAW_FRINGES, i, t);
        height *= lattice->N[i];
    }
    t->width = shape.width;
    t->fall = (float)(-2.0 * lattice->fudge / shape.width * NB_LOG2_E);
    t->steep = (float)(-2.0 * lattice->fudge / shape.width);
    t->unit = height * height * (sc->factors.table.nh > 0 ? 1 : F * F);
    t->start = nb_fixed_start(sc->factors.table.nh > 0);
    t->dmin = sc->factors.dmin;
}

static void set_sources(const nb_slope_job *job, int side, nb_term_tables *t,
                        nb_term_source *sources, nb_term_group *groups)
{
    const nb_beam *beam = &job->scene->beam;
    t->wavenumber = 1.0 / beam->sources[0].lambda;
    t->weights = 0;
    for (int s = 0; s < beam->n_sources; s++) {
        const nb_source *source = &beam->sources[s];
        nb_term_group *last = t->n_groups ? &groups[t->n_groups - 1] : NULL;
        sources[s].wavenumber = 1.0 / source->lambda;
        sources[s].relative = (float)(sources[s].wavenumber / t->wavenumber);
        sources[s].weight = (float)(2 * source->weight);
        sources[s].spectrum =
            job->spectrum ? sources[s].relative * (float)job->spectrum[s] : 0;
        sources[s].table = side > 1 ? source->table : 0;
        t->weights += source->weight * job->scene->lattice.n_orientations;
        if (last && !memcmp(&last->incident, &source->incident, sizeof source->incident))
            last->end = s + 1;
        else
            groups[t->n_groups++] = (nb_term_group){source->incident, s, s + 1, 0};
        last = &groups[t->n_groups - 1];
        last->most = fmax(last->most, sources[s].wavenumber);
    }
    t->spectrum = job->spectrum && job->sums & NB_SLOPE_WAVE;
}

static void put(nb_vec3 from, double *exact, float *to)
{
    const double x[3] = {from.x, from.y, from.z};
    for (int i = 0; i < 3; i++) {
        to[i] = (float)x[i];
        if (exact)
            exact[i] = x[i];
    }
}

static void set_orientations(const nb_slope_job *job, nb_term_tables *t,
                             nb_term_orientation *to)
{
    const nb_lattice *lattice = &job->scene->lattice;
    t->n_orientations = lattice->n_orientations;
    t->spindle = job->spindle;
    t->turns = job->turns && job->sums & NB_SLOPE_MOSAIC;
    for (int m = 0; m < lattice->n_orientations; m++) {
        const nb_orientation *u = &lattice->orientations[m];
        put(u->a, to[m].exact, to[m].cell);
        put(u->b, to[m].exact + 3, to[m].cell + 3);
        put(u->c, to[m].exact + 6, to[m].cell + 6);
        if (t->turns)
            put(job->turns[m], NULL, to[m].turn);
        to[m].place = (float)((m / lattice->n_domains + 0.5) / lattice->n_phi);
    }
}

/** Of the first orientation and source. */
static void set_constants(const nb_scene *sc, nb_term_tables *t)
{
    const nb_orientation *u = &sc->lattice.orientations[0];
    const nb_vec3 axes[3] = {u->a, u->b, u->c};
    for (int i = 0; i < 3; i++) {
        const double h = t->wavenumber * nb_dot(axes[i], t->groups[0].incident);
        double lost;
        t->constant[i] = t->start + h;
        lost = h - (t->constant[i] - t->start) + NB_FIXED_TINY;
        if (fabs(lost) < NB_FIXED_TINY)
            lost = NB_FIXED_TINY;
        t->aside[i] = (float)lost;
        t->aside_turns[i] = (float)(sc->lattice.N[i] * lost);
    }
}

nb_status nb_term_tables_build(const nb_slope_job *job, int side, nb_term_tables *out,
                               nb_error *err)
{
    static const char what[] = "tables for derivatives";
    const nb_scene *sc = job->scene;
    const size_t sources = (size_t)sc->beam.n_sources;
    nb_term_orientation *u;
    nb_term_source *s;
    nb_term_group *g;
    memset(out, 0, sizeof *out);
    out->orientations = u =
        nb_alloc((size_t)sc->lattice.n_orientations, sizeof *u, what, err);
    out->sources = s = nb_alloc(sources, sizeof *s, what, err);
    out->groups = g = nb_alloc(sources, sizeof *g, what, err);
    if (!u || !s || !g)
        return NB_ERR_NOMEM;
    set_lattice(sc, out);
    set_sources(job, side, out, s, g);
    set_orientations(job, out, u);
    set_constants(sc, out);
    return NB_OK;
}

void nb_term_squares(nb_term_tables *t, const float *F2, const nb_index_box *box, int side)
{
    const uint32_t l = (uint32_t)box->n[2] * (uint32_t)side;
    const uint32_t stride[3] = {(uint32_t)box->n[1] * l, l, (uint32_t)side};
    for (int i = 0; i < 3; i++)
        t->stride[i] = (int)stride[i];
    t->offset = nb_fixed_offset(box->low, stride);
    t->F2 = F2;
}

void nb_term_tables_free(nb_term_tables *t)
{
    nb_free((void *)t->orientations);
    nb_free((void *)t->sources);
    nb_free((void *)t->groups);
    memset(t, 0, sizeof *t);
}
