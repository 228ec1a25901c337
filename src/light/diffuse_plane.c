/* SPDX-License-Identifier: MIT */
#include "diffuse_plane.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../physics/structure_factor.h"
#include "merge.h"

#define NODE_U 0.3     /* u from one node to the next */
#define ONE_RAY 0.055  /* u of a pixel that one ray serves */
#define TWO_RAYS 0.6   /* that two rays along each edge serve */
#define ONE_LAYER 0.04 /* u of the shift by the depth that one layer serves */
enum {
    STEP_MOST = 8,
    NODES_FEW = 8 /* of a row, that are not divided to find those beyond -dmin */
};

/** Sources as q = wave d - p, orientations as cells. */
typedef struct beam_part {
    double weight, wave;
    nb_vec3 p, incident;
} beam_part;

typedef struct cell_part {
    double weight;
    nb_orientation cell;
} cell_part;

typedef struct plane {
    const nb_scene *scene;
    const nb_diffuse_table *table;
    double scale; /* of D */
    double per;   /* u for a distance in reciprocal space, m */
    int n_beams, n_cells;
    beam_part *beams; /* owned */
    cell_part *cells; /* owned */
    beam_part middle;
    double spread; /* of q by the sources, 1/m */
} plane;

/** How a panel is sampled. */
typedef struct sampling {
    int step;     /* pixels from node to node */
    int rays;     /* along an edge of a pixel */
    double apart; /* of two rays, in pixels; 0: the sub-pixels */
    int layers;   /* 1: all as one */
    int cut;      /* sources one by one, as far as -dmin lets them */
} sampling;

/** u of a distance: halos, and what X adds. */
static double scale_of(const nb_diffuse *d, double reach, double gamma)
{
    double X = 4 * NB_PI * NB_PI * d->sigma * d->sigma * reach;
    return hypot(2 * NB_PI * gamma, X) * 1e-10;
}

static nb_status merge_beam(plane *p, double reach, nb_error *err)
{
    const nb_beam *beam = &p->scene->beam;
    int n = beam->n_sources;
    double wave = 0, weight = 0;
    nb_vec3 mean = nb_v3(0, 0, 0);
    nb_merge_item *items =
        nb_alloc((size_t)n, sizeof *items, "sources of diffuse light", err);
    p->beams = nb_alloc((size_t)n, sizeof *p->beams, "sources of diffuse light", err);
    if (!items || !p->beams) {
        nb_free(items);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        const nb_source *s = &beam->sources[i];
        wave += s->weight / s->lambda;
        weight += s->weight;
        mean = nb_add(mean, nb_scale(s->weight, s->incident));
    }
    wave = weight > 0 ? wave / weight : 1 / beam->sources[0].lambda;
    mean = nb_unit(mean);
    p->middle = (beam_part){1, wave, nb_scale(wave, mean), mean};
    reach = reach * 1e10 /
            wave; /* 2 sin(theta), by which a change of the wave number moves q */
    for (int i = 0; i < n; i++) {
        const nb_source *s = &beam->sources[i];
        double k = 1 / s->lambda;
        nb_vec3 off = nb_scale(k, nb_sub(s->incident, mean));
        items[i] = (nb_merge_item){s->weight, {k * reach, off.x, off.y, off.z}};
        p->spread = fmax(p->spread, fabs(k - wave) * reach + nb_norm(off));
    }
    p->n_beams = nb_merge(items, n, p->per);
    for (int i = 0; i < p->n_beams; i++) {
        const double *y = items[i].y;
        beam_part *b = &p->beams[i];
        b->weight = items[i].weight;
        b->wave = y[0] / reach;
        b->p = nb_add(nb_scale(b->wave, mean), nb_v3(y[1], y[2], y[3]));
        b->incident = nb_unit(b->p);
    }
    nb_free(items);
    return NB_OK;
}

/** The matrix that turns the first cell into another: rows of m; returns whether it is a rotation. */
static int turn_of(const nb_orientation *from, const nb_orientation *to, double m[9])
{
    nb_vec3 star[3];
    const nb_vec3 *v[3] = {&to->a, &to->b, &to->c};
    double off = 0;
    nb_reciprocal_cell(from, star);
    memset(m, 0, 9 * sizeof *m);
    for (int k = 0; k < 3; k++) {
        const double a[3] = {v[k]->x, v[k]->y, v[k]->z},
                     b[3] = {star[k].x, star[k].y, star[k].z};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[3 * i + j] += a[i] * b[j];
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double dot = -(i == j);
            for (int k = 0; k < 3; k++)
                dot += m[3 * i + k] * m[3 * j + k];
            off = fmax(off, fabs(dot));
        }
    return off < 1e-9;
}

/** Twice the unit quaternion of a rotation: two of them are as far apart as their angle (Shepperd, J. Guid. Control 1,
 * 223 (1978)). */
static void quaternion_of(const double m[9], double y[4])
{
    const double trace = m[0] + m[4] + m[8];
    const double square[4] = {1 + trace, 1 + 2 * m[0] - trace, 1 + 2 * m[4] - trace,
                              1 + 2 * m[8] - trace};
    int best = 0, sign;
    double f;
    for (int i = 1; i < 4; i++)
        best = square[i] > square[best] ? i : best;
    f = 1 / sqrt(square[best]);
    y[best] = sqrt(square[best]);
    if (best == 0) {
        y[1] = (m[7] - m[5]) * f;
        y[2] = (m[2] - m[6]) * f;
        y[3] = (m[3] - m[1]) * f;
    } else {
        int i = best - 1, j = best % 3, k = (best + 1) % 3;
        y[0] = (m[3 * k + j] - m[3 * j + k]) * f;
        y[1 + j] = (m[3 * j + i] + m[3 * i + j]) * f;
        y[1 + k] = (m[3 * k + i] + m[3 * i + k]) * f;
    }
    sign = y[0] < 0 ? -1 : 1;
    for (int i = 0; i < 4; i++)
        y[i] *= sign;
}

static nb_vec3 turned(const double y[4], nb_vec3 v)
{
    double n = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3]), w = y[0] / n;
    nb_vec3 u = nb_v3(y[1] / n, y[2] / n, y[3] / n), t = nb_scale(2, nb_cross(u, v));
    return nb_add(v, nb_add(nb_scale(w, t), nb_cross(u, t)));
}

static nb_status merge_cells(plane *p, double reach, nb_error *err)
{
    const nb_lattice *lattice = &p->scene->lattice;
    const nb_orientation *first = lattice->orientations;
    int n = lattice->n_orientations, rigid = 1;
    nb_merge_item *items =
        nb_alloc((size_t)n, sizeof *items, "orientations of diffuse light", err);
    p->cells = nb_alloc((size_t)n, sizeof *p->cells, "orientations of diffuse light", err);
    if (!items || !p->cells) {
        nb_free(items);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        double m[9];
        items[i].weight = 1.0 / n;
        rigid = rigid && turn_of(first, &lattice->orientations[i], m);
        if (rigid)
            quaternion_of(m, items[i].y);
        p->cells[i] = (cell_part){1.0 / n, lattice->orientations[i]};
    }
    p->n_cells = rigid && n > 1 ? nb_merge(items, n, p->per * reach * 1e10) : n;
    for (int i = 0; rigid && n > 1 && i < p->n_cells; i++)
        p->cells[i] =
            (cell_part){items[i].weight,
                        {turned(items[i].y, first->a), turned(items[i].y, first->b),
                         turned(items[i].y, first->c)}};
    nb_free(items);
    return NB_OK;
}

static sampling sampling_of(const plane *p, const nb_panel *panel, const nb_sensor *sensor)
{
    double near = panel->curved ? panel->distance : panel->close_distance;
    double edge = fmax(panel->pixel_fast, panel->pixel_slow);
    double u = p->per * p->middle.wave / near, pixel = u * edge;
    double depth = u * sensor->layers * sensor->layer_step;
    int os = p->scene->oversample, step = pixel > 0 ? (int)(NODE_U / pixel) : STEP_MOST;
    sampling s = {
        step < 1           ? 1
        : step > STEP_MOST ? STEP_MOST
                           : step,
        os, 0,
        sensor->absorb && (depth < ONE_LAYER || panel->curved) ? 1 : sensor->layers, 0};
    if (pixel * sqrt(1 - 1.0 / os / os) < ONE_RAY)
        s.rays = 1;
    else if (pixel < TWO_RAYS && os > 2) {
        s.rays = 2;
        s.apart = sqrt((1 - 1.0 / os / os) / 3);
    }
    return s;
}

/** The sum over orientations of D at q. */
static double cell_sum(const plane *p, nb_vec3 q)
{
    double sum = 0;
    for (int j = 0; j < p->n_cells; j++) {
        const nb_orientation *c = &p->cells[j].cell;
        sum += p->cells[j].weight * nb_diffuse_table_at(p->table, nb_dot(c->a, q),
                                                        nb_dot(c->b, q), nb_dot(c->c, q));
    }
    return sum;
}

static double polarized(const nb_scene *sc, nb_vec3 incident, nb_vec3 direction)
{
    return sc->oversample_polar && !sc->beam.nopolar
               ? nb_polarization(sc->beam.polarization, incident, direction,
                                 sc->beam.polar_axis)
               : 1;
}

/** The sum over sources and orientations of D along a ray. */
static double ray_sum(const plane *p, nb_vec3 direction)
{
    const nb_scene *sc = p->scene;
    double sum = 0;
    for (int i = 0; i < p->n_beams; i++) {
        const beam_part *b = &p->beams[i];
        nb_vec3 q = nb_sub(nb_scale(b->wave, direction), b->p);
        sum += b->weight * cell_sum(p, q) * polarized(sc, b->incident, direction);
    }
    return sum / sc->beam.n_sources;
}

/** The same of the sources themselves, without those that -dmin removes. */
static double cut_ray_sum(const plane *p, nb_vec3 direction)
{
    const nb_scene *sc = p->scene;
    double sum = 0;
    for (int i = 0; i < sc->beam.n_sources; i++) {
        const nb_source *source = &sc->beam.sources[i];
        nb_vec3 q = nb_scattering_vector(source, direction);
        if (!nb_culled(&sc->factors, q))
            sum += source->weight * cell_sum(p, q) *
                   polarized(sc, source->incident, direction);
    }
    return sum / sc->beam.n_sources;
}

/** A ray to a point, that of all layers together at the depth where half of the light stops, on the average. */
static nb_ray ray_of(const sampling *s, const nb_panel *panel, const nb_sensor *sensor,
                     double F, double S, int layer)
{
    nb_sensor whole = *sensor;
    if (s->layers == sensor->layers)
        return nb_ray_to(panel, sensor, F, S, layer);
    whole.layer_step *= sensor->layers;
    whole.layers = 1;
    whole.mean_depth = sensor->mu > 0;
    return nb_ray_to(panel, &whole, F, S, 0);
}

/** Middle of a ray's part of a pixel, in pixels. */
static double ray_place(const sampling *s, int pixel, int i)
{
    double part = s->apart > 0 ? (i - 0.5) * s->apart : (i + 0.5) / s->rays - 0.5;
    return pixel + 0.5 + part;
}

/** Photons of the diffuse light in a pixel, which may lie beside its panel. */
static double pixel_light(const plane *p, const sampling *s, const nb_panel *panel, int f,
                          int row)
{
    const nb_scene *sc = p->scene;
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    double sum = 0;
    for (int layer = 0; layer < s->layers; layer++)
        for (int i = 0; i < s->rays; i++)
            for (int j = 0; j < s->rays; j++) {
                nb_ray ray =
                    ray_of(s, panel, sensor, panel->pixel_fast * ray_place(s, f, j),
                           panel->pixel_slow * ray_place(s, row, i), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * (s->cut ? cut_ray_sum(p, ray.direction)
                                        : ray_sum(p, ray.direction));
            }
    return sc->intensity_scale * p->scale * (double)sc->samples / (s->rays * s->rays) *
           sum * nb_cached_factors(sc, panel, sensor, f, row);
}

/** Where pixels f .. f + n - 1 of a row are, and those up to `about` beside them: 1 inside of -dmin, -1 outside, 0: a ray
 * may be cut. */
static int side_of(const plane *p, const nb_panel *panel, int f, int n, int s, int about)
{
    const nb_sensor *sensor = &p->scene->sensors[panel->sensor];
    const nb_ray ray =
        nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, 1, f + n / 2, 0),
                  nb_subpixel(panel->pixel_slow, 1, s, 0), 0);
    const double q = nb_norm(nb_sub(nb_scale(p->middle.wave, ray.direction), p->middle.p));
    const double limit = 1 / p->scene->factors.dmin;
    const double away = (n / 2 + about) * panel->pixel_fast + about * panel->pixel_slow;
    const double path = ray.airpath - away;
    const double blur =
        p->spread * 1.01 + p->middle.wave / path *
                               (away + panel->pixel_fast + panel->pixel_slow +
                                sensor->layers * sensor->layer_step);
    if (!(path > 0))
        return 0;
    return q + blur < limit ? 1 : q - blur > limit ? -1 : 0;
}

/** Pixels f .. f + n - 1 of a row behind -dmin: halves, until one ray settles each. */
static void limit_pixels(const plane *p, const nb_panel *panel, int f, int n, int s,
                         float *image)
{
    const nb_sensor *sensor = &p->scene->sensors[panel->sensor];
    const sampling all = {1, p->scene->oversample, 0, sensor->layers, 1};
    const int side = side_of(p, panel, f, n, s, 0);
    if (side < 0)
        memset(image, 0, (size_t)n * sizeof *image);
    else if (side == 0 && n > 1) {
        limit_pixels(p, panel, f, n / 2, s, image);
        limit_pixels(p, panel, f + n / 2, n - n / 2, s, image + n / 2);
    } else if (side == 0)
        *image = (float)pixel_light(p, &all, panel, f, s);
}

/** A part of a panel and the light of its nodes: node (i, j) is at pixel first + step (j - 1). */
typedef struct nodes {
    const nb_panel *panel;
    nb_region r;
    sampling s;
    int wide, high;
    float *light;          /* owned */
    float w[4][STEP_MOST]; /* of the nodes about a pixel, by its place behind the second */
} nodes;

static nb_status new_nodes(const plane *p, const nb_panel *panel, nodes *n, nb_error *err)
{
    int step;
    memset(n, 0, sizeof *n);
    n->panel = panel;
    n->r = nb_panel_region(p->scene, panel);
    n->s = sampling_of(p, panel, &p->scene->sensors[panel->sensor]);
    if (!(nb_region_pixels(n->r) > 0))
        return NB_OK;
    step = n->s.step;
    n->wide = (n->r.fmax - n->r.fmin) / step + (step > 1 ? 4 : 1);
    n->high = (n->r.smax - n->r.smin) / step + (step > 1 ? 4 : 1);
    for (int t = 0; t < step; t++) {
        double w[4];
        nb_cubic_weights((double)t / step, w);
        for (int k = 0; k < 4; k++)
            n->w[k][t] = (float)w[k];
    }
    n->light = nb_alloc_raw((size_t)n->wide * (size_t)n->high, sizeof *n->light,
                            "diffuse light", err);
    return n->light ? NB_OK : NB_ERR_NOMEM;
}

/** Nodes j .. j + count - 1 of row i; those that no pixel inside of -dmin needs are 0. */
static void light_nodes(const plane *p, const nodes *n, int i, int j, int count)
{
    const int step = n->s.step, off = step > 1, row = n->r.smin + step * (i - off);
    const uint8_t *mask = p->scene->raster.mask;
    float *light = n->light + (size_t)i * (size_t)n->wide + j;
    const int first = n->r.fmin + step * (j - off);
    if (p->scene->factors.dmin > 0 &&
        side_of(p, n->panel, first, (count - 1) * step + 1, row, 2 * step) < 0) {
        memset(light, 0, (size_t)count * sizeof *light);
        return;
    }
    if (p->scene->factors.dmin > 0 && count > NODES_FEW) {
        light_nodes(p, n, i, j, count / 2);
        light_nodes(p, n, i, j + count / 2, count - count / 2);
        return;
    }
    for (int k = 0; k < count; k++) {
        const int f = first + k * step;
        const size_t pixel =
            n->panel->first_pixel + (size_t)row * (size_t)n->panel->columns + (size_t)f;
        light[k] = !off && mask && !mask[pixel]
                       ? 0
                       : (float)pixel_light(p, &n->s, n->panel, f, row);
    }
}

/** The cubic between rows of nodes, of each column of nodes. */
static void between_rows(const nodes *n, int s, float *line)
{
    const int step = n->s.step, i = (s - n->r.smin) / step, t = (s - n->r.smin) % step;
    const size_t wide = (size_t)n->wide;
    const float *a = n->light + (size_t)i * wide, *b = a + wide, *c = b + wide,
                *d = c + wide;
    const float w[4] = {n->w[0][t], n->w[1][t], n->w[2][t], n->w[3][t]};
#ifdef _OPENMP
#pragma omp simd
#endif
    for (size_t j = 0; j < wide; j++)
        line[j] = w[0] * a[j] + w[1] * b[j] + w[2] * c[j] + w[3] * d[j];
}

/** The cubic between the nodes of a row, as long as there are four: step numbers for each. */
static void between_columns(const nodes *n, const float *line, float *out)
{
    const int step = n->s.step;
    for (int j = 0; j + 3 < n->wide; j++, out += step) {
        const float *a = line + j;
#ifdef _OPENMP
#pragma omp simd
#endif
        for (int t = 0; t < STEP_MOST; t++) /* those behind `step` are written again */
            out[t] = n->w[0][t] * a[0] + n->w[1][t] * a[1] + n->w[2][t] * a[2] +
                     n->w[3][t] * a[3];
    }
}

/** Floats of a line of nodes, and of its pixels. */
static size_t line_room(const nodes *n)
{
    return (size_t)n->wide * (size_t)(n->s.step + 1) + STEP_MOST;
}

/** line: room for line_room floats. */
static void pixel_row(const plane *p, const nodes *n, int s, float *line, float *image)
{
    const nb_scene *sc = p->scene;
    const size_t start =
        n->panel->first_pixel + (size_t)s * (size_t)n->panel->columns + (size_t)n->r.fmin;
    const int pixels = n->r.fmax - n->r.fmin + 1;
    const float *light = n->light + (size_t)(s - n->r.smin) * (size_t)n->wide;
    if (n->s.step > 1) {
        between_rows(n, s, line);
        between_columns(n, line, line + n->wide);
        light = line + n->wide;
    }
#ifdef _OPENMP
#pragma omp simd
#endif
    for (int f = 0; f < pixels; f++)
        image[start + (size_t)f] = light[f] > 0 ? light[f] : 0;
    if (sc->factors.dmin > 0)
        limit_pixels(p, n->panel, n->r.fmin, pixels, s, &image[start]);
    for (int f = 0; sc->raster.mask && f < pixels; f++)
        if (!sc->raster.mask[start + (size_t)f])
            image[start + (size_t)f] = 0;
}

static nb_status panel_light(const plane *p, const nb_panel *panel, int threads,
                             float *image, nb_error *err)
{
    nodes n;
    float *lines = NULL;
    nb_status st = new_nodes(p, panel, &n, err);
    if (!st && n.light)
        lines = nb_alloc_raw(line_room(&n) * (size_t)threads, sizeof *lines,
                             "diffuse light", err);
    if (!st && n.light && !lines)
        st = NB_ERR_NOMEM;
    if (!st && lines) {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
        {
            float *line = lines;
#ifdef _OPENMP
            line += line_room(&n) * (size_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
#endif
            for (int i = 0; i < n.high; i++)
                light_nodes(p, &n, i, 0, n.wide);
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 8)
#endif
            for (int s = n.r.smin; s <= n.r.smax; s++)
                pixel_row(p, &n, s, line, image);
        }
    }
    nb_free(lines);
    nb_free(n.light);
    return st;
}

nb_status nb_diffuse_plane(const nb_scene *scene, const nb_diffuse_table *table,
                           double scale, int threads, float *image, nb_error *err)
{
    plane p = {.scene = scene, .table = table, .scale = scale};
    nb_status st;
    memset(image, 0, scene->raster.pixels * sizeof *image);
    p.per = scale_of(&table->model, table->reach, table->model.gamma);
    st = merge_beam(&p, table->reach, err);
    if (!st)
        st = merge_cells(&p, table->reach, err);
    for (int i = 0; !st && i < scene->n_panels; i++)
        st = panel_light(&p, &scene->panels[i],
                         nb_image_threads(threads, (int64_t)scene->raster.pixels), image,
                         err);
    nb_free(p.beams);
    nb_free(p.cells);
    return st;
}
