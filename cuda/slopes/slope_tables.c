/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../../src/base/memory.h"
#include "../../src/physics/limits.h"
#include "../../src/plan/fixed_point.h"
#include "../../src/render/pixel_sums.h"
#include "slope_tables.h"

const char *nb_term_refuse(const nb_plan *plan, const nb_slope_job *job)
{
    const nb_scene *sc = plan->scene;
    const nb_factor_table *sf = &sc->factors.table;
    const double F2 = sf->default_F * sf->default_F;
    const char *reason = nb_slopes_need_double(plan, job);
    if (reason)
        return reason;
    if (job->sums & NB_SLOPE_MOSAIC && job->n_turns > 1)
        return "slopes by a mosaic tensor are wanted";
    if (plan->cells > NB_TERM_CELLS_MAX)
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
        last->largest = fmax(last->largest, sources[s].wavenumber);
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

/** Set the constants for rays with one term, from the first orientation and source. */
static void set_constants(const nb_scene *sc, nb_term_tables *t)
{
    const nb_orientation *u = &sc->lattice.orientations[0];
    const nb_vec3 axes[3] = {u->a, u->b, u->c};
    for (int i = 0; i < 3; i++) {
        const double h = t->wavenumber * nb_dot(axes[i], t->groups[0].incident);
        double error;
        t->constant[i] = t->start + h;
        error = h - (t->constant[i] - t->start) + NB_FIXED_TINY;
        if (fabs(error) < NB_FIXED_TINY)
            error = NB_FIXED_TINY;
        t->aside[i] = (float)error;
        t->aside_turns[i] = (float)(sc->lattice.N[i] * error);
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

enum { PLANES_MAX = 290 }; /* limit of planes: their rows fit a block's shared memory */

#define MASK(number, bits) bits,
static const unsigned masks[] = {NB_PLAIN_KINDS(MASK)};

/** True if pixels have one ray, and all panels are flat and stop all photons. */
static int has_plain_rays(const nb_scene *sc)
{
    if (sc->oversample != 1 || sc->amorphous)
        return 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        if (panel->curved || sensor->layers != 1 || sensor->absorb)
            return 0;
    }
    return 1;
}

static int is_plain(const nb_slope_job *job)
{
    const nb_scene *sc = job->scene;
    return has_plain_rays(sc) && job->count < PLANES_MAX &&
           (double)sc->beam.n_sources * sc->lattice.n_orientations <= NB_TERM_RUN;
}

static int has_one_term(const nb_scene *sc)
{
    return sc->beam.n_sources == 1 && sc->lattice.n_orientations == 1;
}

nb_term_case nb_plain_case_of(const nb_slope_job *job)
{
    nb_term_case how = nb_term_case_of(job);
    int all = how.level == NB_TERMS_ALL;
    for (int i = 0; i < job->count; i++)
        all |= job->tangents[i].panels || job->tangents[i].polarization != 0;
    how.level = all ? NB_TERMS_ALL : NB_TERMS_CRYSTAL;
    how.one = has_one_term(job->scene);
    return how;
}

/** Cell axis i (a, b or c) of the first orientation, m. */
static nb_vec3 cell_of(const nb_term_tables *t, int i)
{
    const double *x = t->orientations[0].exact + 3 * (size_t)i;
    return nb_v3(x[0], x[1], x[2]);
}

nb_plain_frame nb_plain_frame_of(const nb_slope_job *job, const nb_term_tables *t)
{
    const nb_scene *sc = job->scene;
    const nb_vec3 incident = sc->beam.sources[0].incident,
                  B = nb_unit(nb_cross(sc->beam.polar_axis, incident));
    nb_plain_frame p = {.polar = !sc->beam.nopolar,
                        .K = (float)sc->beam.polarization,
                        .along = {incident, B, nb_unit(nb_cross(incident, B))},
                        .unit = 0.5 * t->unit,
                        .slope = -t->unit * t->wavenumber,
                        .background = sc->background * t->weights};
    p.wavenumber = t->wavenumber;
    p.weight = t->sources[0].weight;
    p.table = t->sources[0].table;
    for (int i = 0; i < 9; i++)
        p.cell[i] = t->orientations[0].cell[i] * t->lift[i / 3];
    return p;
}

static nb_plain_panel panel_of(const nb_panel *panel, const nb_term_tables *t,
                               const nb_plain_frame *frame)
{
    const nb_vec3 x[3] = {panel->pix0, panel->slow, panel->fast};
    nb_plain_panel to = {
        .point = {x[0], x[1], x[2]},
        .nearest = {-nb_dot(x[0], x[2]), -nb_dot(x[1], x[2])},
        .square = {nb_dot(x[0], x[0]), 2 * nb_dot(x[0], x[1]), nb_dot(x[1], x[1])},
        .pixel = {panel->pixel_fast, panel->pixel_slow},
        .area =
            (float)(panel->pixel_area * (panel->point_pixel ? 1 : panel->close_distance)),
        .is_point = panel->point_pixel};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            to.index[i][k] = -t->wavenumber * nb_dot(cell_of(t, i), x[k]);
            to.kahn[i][k] = nb_dot(frame->along[i], x[k]);
        }
    return to;
}

/** For rays with one term: add `unit` times a turn of the crystal about `axis` to the
 * weights index[9]. The nine gradients times h contain the effect of a turn. */
static void add_turn(const nb_term_tables *t, nb_vec3 axis, double unit, double *index)
{
    const nb_vec3 a = cell_of(t, 0), b = cell_of(t, 1), c = cell_of(t, 2);
    const double volume = nb_dot(a, nb_cross(b, c));
    const nb_vec3 reciprocal[3] = {nb_cross(b, c), nb_cross(c, a), nb_cross(a, b)};
    for (int i = 0; i < 9; i++)
        index[i] +=
            unit / volume * nb_dot(nb_cross(axis, cell_of(t, i / 3)), reciprocal[i % 3]);
}

/** For rays with one term: set the weights of gradients times -h. */
static void weigh_one(const nb_slope_job *job, const nb_term_tables *t,
                      const nb_tangent *by, double unit, float *w)
{
    double index[9];
    for (int i = 0; i < 9; i++)
        index[i] = by->index[i];
    for (int i = 0; i < 9; i += 4)
        index[i] -=
            by->wave + (t->spectrum ? by->spectrum * (double)t->sources[0].spectrum : 0);
    add_turn(t, job->spindle, by->phi + by->osc * (double)t->orientations[0].place, index);
    if (t->turns)
        add_turn(t, job->turns[0], by->mosaic[0], index);
    for (int i = 0; i < 9; i++)
        w[NB_PLAIN_INDEX + i / 3 * 4 + i % 3] =
            (float)(unit * (double)t->lift[i / 3] * index[i]);
}

/** Set the weights w of a plane. In nb_term_run, slopes are by -h, and `image` is twice
 * the value. */
static void weigh(const nb_slope_job *job, const nb_term_tables *t, const nb_tangent *by,
                  int one, float *w)
{
    const nb_scene *sc = job->scene;
    const double scale = sc->intensity_scale, unit = scale * t->unit,
                 slope = -unit * t->wavenumber, F = sc->factors.table.default_F;
    w[NB_PLAIN_IMAGE] =
        (float)(0.5 * unit *
                (by->image + by->crystal + (F != 0 ? 2 * by->default_F / F : 0)));
    w[NB_PLAIN_ONE] =
        (float)(scale * t->weights * (by->image * sc->background + by->background));
    w[NB_PLAIN_POLAR] = (float)(scale * by->polarization);
    w[NB_PLAIN_FUDGE] = (float)(-unit / t->width * by->fudge);
    for (int i = 0; i < 3; i++)
        w[NB_PLAIN_CELLS + i] = (float)(unit * t->inverse[i] * by->cells[i]);
    if (one) {
        weigh_one(job, t, by, unit, w);
        return;
    }
    for (int i = 0; i < 9; i++)
        w[NB_PLAIN_INDEX + i / 3 * 4 + i % 3] =
            (float)(slope * (by->index[i] - (i % 4 == 0 ? by->wave : 0)));
    w[NB_PLAIN_SPECTRUM] = (float)(-slope * by->spectrum);
    w[NB_PLAIN_MOSAIC] = (float)(slope * by->mosaic[0]);
    w[NB_PLAIN_PHI] = (float)(slope * by->phi);
    w[NB_PLAIN_OSC] = (float)(slope * by->osc);
}

static void put_scaled(nb_vec3 from, double scale, double *to)
{
    to[0] = scale * from.x;
    to[1] = scale * from.y;
    to[2] = scale * from.z;
}

static void weigh_moves(double scale, const nb_panel *panel, const nb_panel_slope *by,
                        double *w)
{
    put_scaled(by->pix0, scale, w);
    put_scaled(by->fast, scale, w + 3);
    put_scaled(by->slow, scale, w + 6);
    w[9] = scale * by->close_distance / panel->close_distance;
}

/** The first kind of planes that has all groups that a row of weights needs. */
static int kind_of(const float *row, int moves)
{
    unsigned needs = moves ? 1u << NB_PLAIN_PLACE : 0;
    int kind = 0;
    for (int i = 0; i < NB_PLAIN_TOTALS; i++)
        needs |= row[i] != 0 ? 1u << i / 4 : 0;
    while (needs & ~masks[kind])
        kind++;
    return kind;
}

/** Sort the rows by their kinds. all: [planes][NB_PLAIN_TOTALS], by number of the plane. */
static void sort_rows(const nb_slope_job *job, const float *all, nb_plain_rows *out)
{
    int n = 0;
    for (int kind = 0; kind < NB_PLAIN_KINDS_COUNT; kind++) {
        out->first[kind] = n;
        for (int p = 0; p < out->planes; p++) {
            const float *row = all + (size_t)p * NB_PLAIN_TOTALS;
            if (kind_of(row, p > 0 && job->tangents[p - 1].panels) != kind)
                continue;
            memcpy(out->rows + (size_t)n * NB_PLAIN_TOTALS, row,
                   NB_PLAIN_TOTALS * sizeof *row);
            out->order[n++] = p;
        }
    }
    out->first[NB_PLAIN_KINDS_COUNT] = n;
}

/** Change the origin of F and S in the weights w from the corner to the panel's middle. */
static void shift_moves(const double middle[2], double *w)
{
    for (int i = 0; i < 3; i++)
        w[i] += middle[0] * w[3 + i] + middle[1] * w[6 + i];
}

/** Set the middle of the spans on each panel, approximately: from some of the spans. */
static void find_middles(const nb_slope_job *job, const nb_span *spans, size_t n,
                         nb_plain_panel *panels)
{
    const nb_scene *sc = job->scene;
    const size_t some = 1 + n / 256;
    for (int k = 0; k < sc->n_panels; k++) {
        double F = 0, S = 0;
        int seen = 0;
        for (size_t i = 0; i < n; i += some)
            if (spans[i].panel == k) {
                F += spans[i].fast + 0.5 * spans[i].n;
                S += spans[i].slow + 0.5;
                seen++;
            }
        panels[k].middle[0] = sc->panels[k].pixel_fast * (seen ? F / seen : 0);
        panels[k].middle[1] = sc->panels[k].pixel_slow * (seen ? S / seen : 0);
    }
}

static void fill_moves(const nb_slope_job *job, nb_plain_rows *out)
{
    const nb_scene *sc = job->scene;
    for (int k = 0; k < sc->n_panels; k++)
        for (int n = 0; n < out->planes; n++) {
            const int p = out->order[n];
            const size_t row = (size_t)k * (size_t)out->planes + (size_t)n;
            double *to = out->moves + row * NB_PLAIN_MOVES;
            if (p > 0 && job->tangents[p - 1].panels)
                weigh_moves(sc->intensity_scale, &sc->panels[k],
                            &job->tangents[p - 1].panels[k], to);
            shift_moves(out->panels[k].middle, to);
        }
}

nb_status nb_plain_rows_build(const nb_slope_job *job, const nb_term_tables *t,
                              const nb_span *spans, size_t n, nb_plain_rows *out,
                              nb_error *err)
{
    static const char what[] = "tables for derivatives";
    const nb_tangent image = {.image = 1, .entry = -1};
    const size_t planes = (size_t)job->count + 1;
    const int one = has_one_term(job->scene);
    float *all;
    memset(out, 0, sizeof *out);
    if (!is_plain(job))
        return NB_OK;
    out->order = nb_alloc(planes, sizeof *out->order, what, err);
    out->rows = nb_alloc(planes * NB_PLAIN_TOTALS, sizeof *out->rows, what, err);
    out->moves = nb_alloc(planes * (size_t)job->scene->n_panels,
                          NB_PLAIN_MOVES * sizeof *out->moves, what, err);
    all = nb_alloc(planes * NB_PLAIN_TOTALS, sizeof *all, what, err);
    out->panels = nb_alloc((size_t)job->scene->n_panels, sizeof *out->panels, what, err);
    if (!out->order || !out->rows || !out->moves || !out->panels || !all) {
        nb_free(all);
        return NB_ERR_NOMEM;
    }
    out->planes = (int)planes;
    const nb_plain_frame frame = nb_plain_frame_of(job, t);
    for (int k = 0; k < job->scene->n_panels; k++)
        out->panels[k] = panel_of(&job->scene->panels[k], t, &frame);
    if (nb_slope_job_moves(job))
        find_middles(job, spans, n, out->panels);
    weigh(job, t, &image, one, all);
    for (int i = 0; i < job->count; i++)
        weigh(job, t, &job->tangents[i], one, all + (size_t)(i + 1) * NB_PLAIN_TOTALS);
    sort_rows(job, all, out);
    fill_moves(job, out);
    nb_free(all);
    return NB_OK;
}

/** Set w to the weights of a pullback's numbers in row n. */
static void pull_row(const nb_plain_rows *rows, int n, int level, double *w)
{
    const int numbers = level >= NB_TERMS_ALL ? NB_PLAIN_TOTALS : NB_PULL_CRYSTAL;
    for (int i = 0; i < numbers; i++)
        w[i] = (double)rows
                   ->rows[(size_t)n * NB_PLAIN_TOTALS + (size_t)nb_pull_number(i, level)];
    for (int i = 0; i < NB_PLAIN_MOVES && level >= NB_TERMS_ALL; i++)
        w[NB_PULL_MOVES + i] = rows->moves[(size_t)n * NB_PLAIN_MOVES + (size_t)i];
}

static int pull_numbers(int level)
{
    return level >= NB_TERMS_ALL ? (int)NB_PULL_ALL : (int)NB_PULL_CRYSTAL;
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void nb_plain_contract(const nb_plain_rows *rows, const double *sums, int level,
                       double *gradient)
{
    double w[NB_PULL_ALL];
    for (int n = 0; n < rows->planes; n++) {
        if (rows->order[n] == 0)
            continue;
        pull_row(rows, n, level, w);
        gradient[rows->order[n] - 1] = dot(w, sums, pull_numbers(level));
    }
}

void nb_plain_image(const nb_plain_rows *rows, float image[2])
{
    for (int n = 0; n < rows->planes; n++)
        if (rows->order[n] == 0) {
            image[0] = rows->rows[(size_t)n * NB_PLAIN_TOTALS + NB_PLAIN_IMAGE];
            image[1] = rows->rows[(size_t)n * NB_PLAIN_TOTALS + NB_PLAIN_ONE];
        }
}

void nb_plain_equations(const nb_plain_rows *rows, const double *items, int level,
                        double *sums)
{
    const int numbers = pull_numbers(level), count = rows->planes - 1;
    double all[NB_PULL_ALL + 1][NB_PULL_ALL], w[NB_PULL_ALL], part[NB_PULL_ALL];
    sums[0] = items[0];
    for (int i = 0; i <= numbers; i++)
        for (int j = 0; j <= i && j < numbers; j++) {
            all[i][j] = items[1 + i * (i + 1) / 2 + j];
            if (i < numbers)
                all[j][i] = all[i][j];
        }
    for (int n = 0; n < rows->planes; n++) {
        const int p = rows->order[n] - 1;
        if (p < 0)
            continue;
        pull_row(rows, n, level, w);
        sums[1 + p] = dot(w, all[numbers], numbers);
        for (int i = 0; i < numbers; i++)
            part[i] = dot(w, all[i], numbers);
        for (int k = 0; k < rows->planes; k++) {
            const int q = rows->order[k] - 1;
            if (q < 0 || q > p)
                continue;
            pull_row(rows, k, level, w);
            sums[1 + count + p * count + q] = dot(w, part, numbers);
        }
    }
}

void nb_plain_rows_free(nb_plain_rows *rows)
{
    nb_free(rows->order);
    nb_free(rows->rows);
    nb_free(rows->moves);
    nb_free(rows->panels);
    memset(rows, 0, sizeof *rows);
}
