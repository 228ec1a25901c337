/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/lattice.h"
#include "../physics/limits.h"
#include "../physics/ray.h"
#include "dark.h"
#include "spots.h"
#include "tiles.h"

enum { PAD = 16 };    /* rows are padded to the widest vector */
#define UP (1 + 1e-6) /* factor to round floats up */
/* Largest change of an index over one of the first, largest blocks. */
#define BLOCK_INDEX 0.4
/* if a ray has fewer steps, blocks are slower than single rays */
#define FEW_STEPS 8
#define MANY_STEPS 2e8    /* limit of the steps: lists need much memory */
#define LARGEST_TABLE 6e7 /* limit of the number of reflections of a table */

int nb_tiles_suit(const nb_scene *sc)
{
    return !nb_shape_ends(sc->lattice.shape);
}

static const char *refuse_crystal(const nb_plan *plan)
{
    const nb_lattice *lattice = &plan->scene->lattice;
    const nb_factor_table *sf = &plan->scene->factors.table;
    const double *N = lattice->N;
    if (!nb_tiles_suit(plan->scene))
        return "the shape has no tails";
    if (nb_shape_is_scaled(lattice->shape) &&
        !(lattice->fudge > 0 && lattice->fudge * plan->cells * plan->cells < 1e10))
        return "the size of the spots is not known";
    if (!(N[0] * N[1] * N[2] < 1e14))
        return "the crystal is too large for single precision";
    if (sf->interpolate)
        return "F is interpolated";
    if (!(plan->largest > 0) || !isfinite(plan->largest * plan->largest))
        return "nothing scatters";
    if (!((double)(sf->nh + 8) * (sf->nk + 8) * (sf->nl + 8) < LARGEST_TABLE) ||
        !((double)nb_table_values(sf) < INT32_MAX))
        return "the table of F is too large";
    return NULL;
}

/** True if the panel's normal is tilted, so that the mean depth is not monotonous over a
 * block. */
static int leans(const nb_panel *panel)
{
    return !(fabs(nb_dot(panel->normal, panel->fast)) < 1e-9 &&
             fabs(nb_dot(panel->normal, panel->slow)) < 1e-9 &&
             nb_dot(panel->normal, panel->pix0) > 0);
}

static const char *refuse_detector(const nb_scene *sc)
{
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        const char *why = nb_spots_refuse_panel(panel, sensor);
        if (why)
            return why;
        if (!(panel->close_distance > 0))
            return "the sample is in the plane of a panel";
        if ((sensor->absorb || sensor->mean_depth) && leans(panel))
            return "the sensor leans";
    }
    return NULL;
}

const char *nb_tiles_refuse(const nb_plan *plan)
{
    const nb_tolerance *may = &plan->tolerance;
    const char *why;
    if (plan->precision == NB_PRECISION_DOUBLE)
        return "double precision was asked for";
    if (!may->skip || !(may->part > 0 || may->photons > 0))
        return "no tolerance was asked for";
    if (!(plan->index < 1e5))
        return "Miller indices are too large";
    if (!(plan->steps >= FEW_STEPS))
        return "a ray has few steps";
    if (!(plan->steps < MANY_STEPS))
        return "a ray has too many steps";
    if (!(why = refuse_crystal(plan)) && !(why = nb_spots_refuse_beam(&plan->scene->beam)))
        why = refuse_detector(plan->scene);
    return why;
}

int nb_tile_block(const nb_tiles *t, const nb_panel *panel)
{
    const int os = t->scene->oversample;
    double step = fmax(panel->pixel_fast, panel->pixel_slow) / os / panel->close_distance;
    double off = fmax(t->length[0], fmax(t->length[1], t->length[2])) * t->kappa_max;
    int block = 4;
    while (block < 64 && off * step * 2 * block < BLOCK_INDEX)
        block *= 2;
    return block;
}

/* ------------------------------------------------------------------ sources */

typedef struct sorted {
    const nb_source *source;
    uint64_t code;
    int index;
} sorted;

/** Order of sources: by direction, 1/wavelength, then as in the scene. */
static int compare_sources(const void *a, const void *b)
{
    const sorted *p = a, *q = b;
    const nb_source *x = p->source, *y = q->source;
    int order = nb_sign(x->incident.x - y->incident.x);
    order = order ? order : nb_sign(x->incident.y - y->incident.y);
    order = order ? order : nb_sign(x->incident.z - y->incident.z);
    order = order ? order : nb_sign(y->lambda - x->lambda);
    return order ? order : p->index - q->index;
}

static void put_source(nb_tiles *t, int at, const sorted *from, double weight)
{
    const nb_source *s = from->source;
    const double i[3] = {s->incident.x, s->incident.y, s->incident.z};
    t->source[at] = from->index;
    t->kappa[at] = 1 / s->lambda;
    t->kappa_f[at] = (float)t->kappa[at];
    t->weight[at] = weight;
    t->weight_f[at] = (float)(weight * UP);
    for (int x = 0; x < 3; x++) {
        t->incident[x][at] = i[x];
        t->incident_f[x][at] = (float)i[x];
    }
    t->kappa_max = fmax(t->kappa_max, t->kappa[at]);
}

static nb_vec3 incident_of(const nb_tiles *t, int at)
{
    return nb_v3(t->incident[0][at], t->incident[1][at], t->incident[2][at]);
}

static void fill_sources(nb_tiles *t, sorted *order)
{
    const nb_beam *beam = &t->scene->beam;
    const int n = beam->n_sources;
    for (int i = 0; i < n; i++)
        order[i] = (sorted){&beam->sources[i], 0, i};
    qsort(order, (size_t)n, sizeof *order, compare_sources);
    for (int i = 0; i < t->sources; i++)
        put_source(t, i, &order[i < n ? i : n - 1], i < n ? order[i].source->weight : 0);
    for (int i = 0; i < n; i++)
        t->beam = nb_add(t->beam, nb_scale(1.0 / n, beam->sources[i].incident));
    for (int i = 0; i < n; i++)
        t->spread = fmax(t->spread, nb_norm(nb_sub(beam->sources[i].incident, t->beam)));
}

/** Measure a column of sources: first .. first + n - 1. */
static void measure_column(nb_tiles *t, int column, int first, int n)
{
    double least = INFINITY, largest = 0, weights = 0, stray = 0, middle;
    nb_vec3 mean = nb_v3(0, 0, 0);
    int uniform = 1;
    for (int i = first; i < first + n; i++) {
        least = fmin(least, t->kappa[i]);
        largest = fmax(largest, t->kappa[i]);
        weights += t->weight[i];
        mean = nb_add(mean, nb_scale(1.0 / n, incident_of(t, i)));
        uniform &= !(nb_norm(nb_sub(incident_of(t, i), incident_of(t, first))) > 0);
    }
    if (uniform)
        mean = incident_of(t, first);
    for (int i = first; i < first + n; i++)
        stray = fmax(stray, nb_norm(nb_sub(incident_of(t, i), mean)));
    middle = 0.5 * (least + largest);
    t->towards[0][column] = mean.x;
    t->towards[1][column] = mean.y;
    t->towards[2][column] = mean.z;
    t->kappa_middle[column] = (float)middle;
    t->kappa_range[column] = (float)((largest - least) / (largest + least) * UP);
    t->stray[column] = (float)(stray * t->kappa_max * UP);
    t->weights[column] = (float)(weights * UP);
    t->uniform[column] = uniform;
    if (uniform && column > 0 && t->uniform[column - 1] &&
        mean.x == t->towards[0][column - 1] && mean.y == t->towards[1][column - 1] &&
        mean.z == t->towards[2][column - 1])
        t->uniform[column] = 2;
}

/* ------------------------------------------------------------------ orientations */

static void axes_of(const nb_orientation *u, nb_vec3 a[3])
{
    a[0] = u->a;
    a[1] = u->b;
    a[2] = u->c;
}

/** Middle of all orientations, and the largest distance from the middle. */
static void measure_crystal(nb_tiles *t)
{
    const nb_lattice *lattice = &t->scene->lattice;
    const int n = lattice->n_orientations;
    for (int m = 0; m < n; m++) {
        nb_vec3 a[3];
        axes_of(&lattice->orientations[m], a);
        for (int i = 0; i < 3; i++)
            t->cell[i] = nb_add(t->cell[i], nb_scale(1.0 / n, a[i]));
    }
    for (int m = 0; m < n; m++) {
        nb_vec3 a[3];
        axes_of(&lattice->orientations[m], a);
        for (int i = 0; i < 3; i++) {
            t->turn[i] = fmax(t->turn[i], nb_norm(nb_sub(a[i], t->cell[i])));
            t->length[i] = fmax(t->length[i], nb_norm(a[i]));
        }
    }
    for (int i = 0; i < 3; i++)
        t->length_f[i] = (float)(t->length[i] * (1 + 1e-6));
}

/** Axis of the rotation from the first orientation, times twice the sine of the angle. */
static nb_vec3 turn_of(const nb_vec3 reciprocal[3], const nb_orientation *u)
{
    nb_vec3 a[3], turn = nb_v3(0, 0, 0);
    axes_of(u, a);
    for (int i = 0; i < 3; i++)
        turn = nb_add(turn, nb_cross(reciprocal[i], a[i]));
    return turn;
}

/** Position of a rotation on a space-filling curve. Neighbours on the curve are
 * neighbours in space. */
static uint64_t curve_of(nb_vec3 turn, double largest)
{
    const double x[3] = {turn.x, turn.y, turn.z};
    uint64_t code = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t q = (uint64_t)fmin(fmax((x[i] / largest + 1) * 511.5, 0), 1023);
        for (int bit = 0; bit < 10; bit++)
            code |= (q >> bit & 1) << (3 * bit + i);
    }
    return code;
}

static int compare_codes(const void *a, const void *b)
{
    const sorted *p = a, *q = b;
    return p->code != q->code ? (p->code > q->code) - (p->code < q->code)
                              : p->index - q->index;
}

static void fill_orientations(nb_tiles *t, sorted *order)
{
    const nb_orientation *from = t->scene->lattice.orientations;
    const int n = t->scene->lattice.n_orientations;
    const size_t stride = (size_t)t->orientations;
    nb_vec3 reciprocal[3];
    double largest = 1e-12;
    nb_reciprocal_cell(&from[0], reciprocal);
    for (int m = 0; m < n; m++)
        largest = fmax(largest, nb_norm(turn_of(reciprocal, &from[m])));
    for (int m = 0; m < n; m++)
        order[m] = (sorted){NULL, curve_of(turn_of(reciprocal, &from[m]), largest), m};
    if (!t->by_source)
        qsort(order, (size_t)n, sizeof *order, compare_codes);
    for (size_t m = 0; m < stride; m++) {
        nb_vec3 a[3];
        t->present[m] = m < (size_t)n;
        axes_of(&from[order[m < (size_t)n ? m : (size_t)n - 1].index], a);
        for (size_t i = 0; i < 3; i++) {
            t->cells[3 * i * stride + m] = a[i].x;
            t->cells[(3 * i + 1) * stride + m] = a[i].y;
            t->cells[(3 * i + 2) * stride + m] = a[i].z;
        }
        for (size_t j = 0; j < 9; j++)
            t->cells_f[j * stride + m] = (float)t->cells[j * stride + m];
    }
}

static nb_vec3 axis_of(const nb_tiles *t, int axis, int m)
{
    const double *a = t->cells + (size_t)(3 * axis) * (size_t)t->orientations + m;
    return nb_v3(a[0], a[t->orientations], a[2 * (size_t)t->orientations]);
}

/** Measure a row of orientations: first .. first + n - 1. */
static void measure_row(nb_tiles *t, int row, int first, int n)
{
    for (int i = 0; i < 3; i++) {
        float *to = t->middle + (size_t)(3 * i) * t->row_stride + row;
        nb_vec3 mean = nb_v3(0, 0, 0);
        double away = 0;
        for (int m = first; m < first + n; m++)
            mean = nb_add(mean, nb_scale(1.0 / n, axis_of(t, i, m)));
        for (int m = first; m < first + n; m++)
            away = fmax(away, nb_norm(nb_sub(axis_of(t, i, m), mean)));
        to[0] = (float)mean.x;
        to[t->row_stride] = (float)mean.y;
        to[2 * t->row_stride] = (float)mean.z;
        t->away[(size_t)i * t->row_stride + (size_t)row] =
            (float)(away * t->kappa_max * UP);
    }
    for (int m = first; m < first + n; m++)
        t->count[row] += (float)t->present[m];
}

/* ------------------------------------------------------------------ memory */

static int groups_of(int n)
{
    return (n + NB_TILE_STEPS - 1) / NB_TILE_STEPS;
}

/** Choose groups of sources or of orientations, whichever gives fewer groups. Groups of
 * sources are preferred, because sources differ less from each other. */
static void set_sizes(nb_tiles *t)
{
    const int M = t->scene->lattice.n_orientations, S = t->scene->beam.n_sources;
    t->by_source = nb_table_count(&t->scene->factors.table) == 1 &&
                   (double)groups_of(S) * M <= 1.5 * groups_of(M) * S;
    t->sources = t->by_source ? groups_of(S) * NB_TILE_STEPS : S;
    t->orientations = t->by_source ? M : groups_of(M) * NB_TILE_STEPS;
    t->rows = t->by_source ? M : groups_of(M);
    t->columns = t->by_source ? groups_of(S) : S;
    t->row_stride = (size_t)(t->rows + PAD - 1) / PAD * PAD;
}

/** Take n numbers of a size from the memory at *used, and advance *used. If base is NULL,
 * only count the bytes. */
static void *cut(char *base, size_t *used, size_t n, size_t size)
{
    void *at = base ? base + *used : NULL;
    *used += (n * size + 63) / 64 * 64 + 64;
    return at;
}

static size_t place_arrays(nb_tiles *t, char *base)
{
    const size_t M = (size_t)t->orientations, S = (size_t)t->sources, R = t->row_stride,
                 C = (size_t)t->columns + 1, d = sizeof(double), f = sizeof(float);
    size_t used = 0;
    t->cells = cut(base, &used, 9 * M, d);
    t->present = cut(base, &used, M, d);
    t->kappa = cut(base, &used, S, d);
    t->weight = cut(base, &used, S, d);
    t->source = cut(base, &used, S, sizeof(int));
    t->cells_f = cut(base, &used, 9 * M, f);
    t->kappa_f = cut(base, &used, S, f);
    t->weight_f = cut(base, &used, S, f);
    for (int x = 0; x < 3; x++) {
        t->incident[x] = cut(base, &used, S, d);
        t->incident_f[x] = cut(base, &used, S, f);
        t->towards[x] = cut(base, &used, C, d);
    }
    t->middle = cut(base, &used, 9 * R, f);
    t->away = cut(base, &used, 3 * R, f);
    t->count = cut(base, &used, R, f);
    t->kappa_middle = cut(base, &used, C, f);
    t->kappa_range = cut(base, &used, C, f);
    t->stray = cut(base, &used, C, f);
    t->weights = cut(base, &used, C, f);
    t->uniform = cut(base, &used, C, sizeof(int));
    return used;
}

/** Set the numbers for the bound of a lattice factor. */
static void set_shape(nb_tiles *t)
{
    const nb_lattice *lattice = &t->scene->lattice;
    const double *N = lattice->N, cells = N[0] * N[1] * N[2];
    const double height = nb_shape_row_of(lattice->shape).height;
    for (int i = 0; i < 3; i++) {
        t->least[i] = (float)(1 / (N[i] * N[i]) / UP);
        t->radius[i] = (float)(lattice->fudge * (NB_PI * N[i]) * (NB_PI * N[i]) / UP);
    }
    t->peak = (float)(height * cells * (height * cells) * (1 + 1e-5));
}

/* For R < 0.6, the ratio of sinc^2(R) to the Gaussian is smallest at R = 0.6, and that of
 * the sphere at R = 0. */
double nb_tiles_like(const nb_scene *scene, nb_scene *like)
{
    const nb_lattice *lattice = &scene->lattice;
    const nb_shape_row shape = nb_shape_row_of(lattice->shape);
    *like = *scene;
    like->lattice.shape = NB_SHAPE_SMOOTH;
    if (!nb_shape_is_scaled(lattice->shape))
        like->lattice.fudge = 1;
    for (int i = 0; i < 3; i++) {
        like->lattice.radius2[i] = lattice->N[i] * lattice->N[i];
        like->lattice.radius2[3 + i] = 0;
    }
    return shape.height * shape.height * (shape.law == NB_LAW_SPHERE ? 1 - 1e-6 : 0.798);
}

nb_status nb_tiles_build_steps(const nb_plan *plan, nb_tiles *t, nb_error *err)
{
    const nb_scene *sc = plan->scene;
    const int M = sc->lattice.n_orientations, S = sc->beam.n_sources;
    sorted *order;
    nb_status st = NB_ERR_NOMEM;
    memset(t, 0, sizeof *t);
    t->scene = sc;
    t->shape = sc->lattice.shape;
    t->unit = plan->largest * plan->largest;
    t->varies = sc->factors.dmin > 0 || (sc->oversample_polar && !sc->beam.nopolar);
    set_sizes(t);
    order = nb_alloc((size_t)(M > S ? M : S), sizeof *order, "steps", err);
    t->bytes = place_arrays(t, NULL);
    t->memory = nb_alloc(t->bytes, 1, "steps", err);
    if (order && t->memory) {
        place_arrays(t, t->memory);
        fill_sources(t, order);
        measure_crystal(t);
        fill_orientations(t, order);
        for (int c = 0, n = t->by_source ? NB_TILE_STEPS : 1; c < t->columns; c++)
            measure_column(t, c, c * n, n);
        measure_column(t, t->columns, 0, t->sources);
        for (int r = 0, n = t->by_source ? 1 : NB_TILE_STEPS; r < t->rows; r++)
            measure_row(t, r, r * n, n);
        set_shape(t);
        nb_tile_factors_shape(&sc->factors.table, &t->factors);
        st = NB_OK;
    }
    nb_free(order);
    if (st)
        nb_tiles_free(t);
    return st;
}

nb_status nb_tiles_build(const nb_plan *plan, nb_tiles *t, nb_error *err)
{
    nb_status st = nb_tiles_build_steps(plan, t, err);
    NB_TRY(nb_tile_factors_build(&plan->scene->factors.table, t->unit, &t->factors, err));
    if (st)
        nb_tiles_free(t);
    return st;
}

void nb_tiles_free(nb_tiles *t)
{
    nb_free(t->memory);
    nb_free(t->factors.pairs);
    memset(t, 0, sizeof *t);
}

/* ------------------------------------------------------------------ time */

/** Largest change of an index from one sub-pixel to the next. */
static double index_of_step(const nb_plan *plan)
{
    const nb_scene *sc = plan->scene;
    const nb_orientation *cell = &sc->lattice.orientations[0];
    const double length = fmax(nb_norm(cell->a), fmax(nb_norm(cell->b), nb_norm(cell->c)));
    double largest = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        largest = fmax(largest, fmax(panel->pixel_fast, panel->pixel_slow) /
                                    panel->close_distance);
    }
    return length * largest / sc->oversample / sc->beam.sources[0].lambda;
}

/* The constants are fitted to the blocks of 263 random scenes (reports/cpu). */
double nb_tiles_gain(const nb_plan *plan)
{
    const double part = plan->tolerance.part > 0 ? plan->tolerance.part : 1e-4;
    const double index = fmax(1e-6, index_of_step(plan));
    const double *N = plan->scene->lattice.N, cells = cbrt(N[0] * N[1] * N[2]);
    if (nb_shape_law(plan->scene->lattice.shape) == NB_LAW_SPHERE)
        return 0.24 * pow(plan->steps, 0.25) * sqrt(cells / index) * pow(part, 0.2);
    return 0.041 * pow(plan->steps, 0.4) * pow(cells, 0.25) * pow(part, 0.085) /
           sqrt(index);
}

enum {
    /* extra entries on each side of the table: one whose neighbours are in the table, and
     * one without such neighbours */
    RIM = 2
};

static int bits_of(int n)
{
    int bits = 0;
    while (n > 1 << bits)
        bits++;
    return bits;
}

/** Row (h, k) of the pairs, along l. */
static float *row_of(const nb_tile_factors *f, int h, int k)
{
    return f->pairs + 2 * (((size_t)h << f->shift[0]) + ((size_t)k << f->shift[1]));
}

/** Fill a row with F^2 of each entry, and with the largest F^2 of the entry and its
 * neighbours along the row. */
static void fill_row(const nb_factor_table *sf, double per_unit, nb_tile_factors *f,
                     int h, int k)
{
    float *row = row_of(f, h, k);
    const int n = f->n[2];
    int at[3] = {h, k, 0};
    for (; at[2] < n; at[2]++)
        row[2 * at[2]] = nb_tile_square(sf, f, at, per_unit);
    row[1] = fmaxf(row[0], row[2]);
    for (int l = 1; l < n - 1; l++) {
        const float largest =
            row[2 * l - 2] > row[2 * l + 2] ? row[2 * l - 2] : row[2 * l + 2];
        row[2 * l + 1] = largest > row[2 * l] ? largest : row[2 * l];
    }
    row[2 * n - 1] = fmaxf(row[2 * n - 2], row[2 * n - 4]);
}

/** Replace the second number of each pair in n rows, `apart` floats apart, by the largest
 * of this row, the row before and the row after. before: work space, [length]. */
static void spread_rows(float *row, size_t apart, int n, int length,
                        float *restrict before)
{
    memset(before, 0, (size_t)length * sizeof *before);
    for (int i = 0; i < n; i++, row += apart) {
        /* the last row has no row after it */
        const float *after = i + 1 < n ? row + apart : row;
        for (int l = 0; l < length; l++) {
            const float here = row[2 * l + 1], next = after[2 * l + 1],
                        largest = before[l] > next ? before[l] : next;
            row[2 * l + 1] = largest > here ? largest : here;
            before[l] = here;
        }
    }
}

void nb_tile_factors_shape(const nb_factor_table *sf, nb_tile_factors *f)
{
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin}, n[3] = {sf->nh, sf->nk, sf->nl};
    for (int i = 0; i < 3; i++) {
        f->low[i] = first[i] - RIM;
        f->n[i] = n[i] + 2 * RIM;
    }
    f->shift[1] = bits_of(f->n[2]);
    f->shift[0] = f->shift[1] + bits_of(f->n[1]);
}

nb_status nb_tile_factors_build(const nb_factor_table *sf, double unit,
                                nb_tile_factors *f, nb_error *err)
{
    float *before;
    nb_tile_factors_shape(sf, f);
    before = nb_alloc((size_t)f->n[2], sizeof *before, "bounds of structure factors", err);
    f->pairs = nb_alloc((size_t)f->n[0] << f->shift[0], 2 * sizeof *f->pairs,
                        "bounds of structure factors", err);
    for (int h = 0; h < f->n[0] && before && f->pairs; h++) {
        for (int k = 0; k < f->n[1]; k++)
            fill_row(sf, 1 / unit, f, h, k);
        spread_rows(row_of(f, h, 0), (size_t)2 << f->shift[1], f->n[1], f->n[2], before);
    }
    for (int k = 0; k < f->n[1] && before && f->pairs; k++)
        spread_rows(row_of(f, 0, k), (size_t)2 << f->shift[0], f->n[0], f->n[2], before);
    nb_free(before);
    return before && f->pairs ? NB_OK : NB_ERR_NOMEM;
}
