/* SPDX-License-Identifier: MIT */
#include "diffuse_plane.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "diffuse_table.h"

/* largest distance from node to node, as u (in widths of a halo) */
#define NODE_MAX 0.3
#define NODE_APART 0.2 /* largest u from node to node on isolated halos */
#define ONE_RAY 0.055  /* largest u of a pixel with one ray, if each pixel is a node */
#define TWO_RAYS 0.6   /* largest u of a pixel with two rays along each edge */
/* largest u over the depth if one ray serves all layers: the error is up to u/2 */
#define ONE_LAYER 0.15

/** Factor (m) from a distance in reciprocal space to u, for halos and the change of X. */
static double scale_of(const nb_diffuse *d, double reach, double gamma)
{
    double X = 4 * NB_PI * NB_PI * d->sigma * d->sigma * reach;
    return hypot(2 * NB_PI * gamma, X) * 1e-10;
}

static nb_status merge_beam(nb_diffuse_plane *p, double reach, nb_error *err)
{
    const nb_beam *beam = &p->scene.beam;
    int n = beam->n_sources;
    double wave = 0, weight = 0;
    nb_vec3 mean = nb_v3(0, 0, 0);
    nb_merge_item *items =
        nb_alloc((size_t)n, sizeof *items, "sources of diffuse light", err);
    nb_light_beam *beams =
        nb_alloc((size_t)n, sizeof *beams, "sources of diffuse light", err);
    p->beams = beams;
    if (!items || !beams) {
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
    p->middle = (nb_light_beam){1, wave, nb_scale(wave, mean), mean};
    /* reach becomes 2 sin(theta), the shift of q per shift of wave number */
    reach = reach * 1e10 / wave;
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
        nb_light_beam *b = &beams[i];
        b->weight = items[i].weight;
        b->wave = y[0] / reach;
        b->p = nb_add(nb_scale(b->wave, mean), nb_v3(y[1], y[2], y[3]));
        b->incident = nb_unit(b->p);
    }
    nb_free(items);
    return NB_OK;
}

/** Find the matrix m (rows) that turns one cell into another. Returns 1 if m is a
 * rotation. */
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

/** Twice the unit quaternion of a rotation: the distance between two such quaternions is
 * about the angle between the rotations (Shepperd, J. Guid. Control 1, 223 (1978)). */
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

static nb_status merge_cells(nb_diffuse_plane *p, double reach, nb_error *err)
{
    const nb_lattice *lattice = &p->scene.lattice;
    const nb_orientation *first = lattice->orientations;
    int n = lattice->n_orientations, rigid = 1;
    nb_merge_item *items =
        nb_alloc((size_t)n, sizeof *items, "orientations of diffuse light", err);
    nb_light_cell *cells =
        nb_alloc((size_t)n, sizeof *cells, "orientations of diffuse light", err);
    p->cells = cells;
    if (!items || !cells) {
        nb_free(items);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        double m[9];
        items[i].weight = 1.0 / n;
        rigid = rigid && turn_of(first, &lattice->orientations[i], m);
        if (rigid)
            quaternion_of(m, items[i].y);
        cells[i] = (nb_light_cell){1.0 / n, lattice->orientations[i]};
    }
    p->n_cells = rigid && n > 1 ? nb_merge(items, n, p->per * reach * 1e10) : n;
    for (int i = 0; rigid && n > 1 && i < p->n_cells; i++)
        cells[i] =
            (nb_light_cell){items[i].weight,
                            {turned(items[i].y, first->a), turned(items[i].y, first->b),
                             turned(items[i].y, first->c)}};
    nb_free(items);
    return NB_OK;
}

/** Distance u from node to node. The error of a cubic is u^4 times the fraction of the
 * light that a strong halo (4 times the mean) has at its middle. Other halos add pi^2 /
 * (volume of an index cell) there. */
static double node_of(const nb_diffuse *d)
{
    double part = 0;
    for (int i = 0; i < d->n_forms; i++) {
        const double volume = sqrt(nb_diffuse_det(d->forms[i].u2));
        part = fmax(part, 4 * volume / (4 * volume + NB_PI * NB_PI));
    }
    return d->gauss ? NODE_MAX : fmin(NODE_MAX, NODE_APART / pow(part, 0.25));
}

static nb_light_sampling sampling_of(const nb_diffuse_plane *p, const nb_panel *panel,
                                     const nb_sensor *sensor)
{
    double near = panel->curved ? panel->distance : panel->close_distance;
    double edge = fmax(panel->pixel_fast, panel->pixel_slow);
    double u = p->per * p->middle.wave / near, pixel = u * edge;
    double depth = u * sensor->layers * sensor->layer_step;
    const int os = p->scene.oversample;
    const double steps = pixel > 0 ? fmin(p->node / pixel, NB_LIGHT_STEP) : NB_LIGHT_STEP;
    nb_light_sampling s = {.step = steps < 1 ? 1 : (int)steps,
                           .between = steps >= 2 || (steps >= 1 && os > 1)};
    s.layers = depth < ONE_LAYER || panel->curved ? 1 : sensor->layers;
    s.rays = s.between || pixel * sqrt(1 - 1.0 / os / os) < ONE_RAY ? 1 : os;
    /* two rays with the mean and the mean square of the sub-pixels */
    if (s.rays > 2 && pixel < TWO_RAYS) {
        s.rays = 2;
        s.apart = sqrt((1 - 1.0 / os / os) / 3);
    }
    return s;
}

/** Apply -dmin to pixels f .. f + n - 1 of a row: halve the range until all its pixels
 * are on one side of the limit. */
static void limit_pixels(const nb_diffuse_plane *p, const nb_panel *panel, int f, int n,
                         int s, float *image)
{
    const nb_sensor *sensor = &p->scene.sensors[panel->sensor];
    const nb_light_sampling all = nb_light_every(&p->scene, sensor);
    const int side = nb_light_side(p, panel, sensor, f, n, s, 0);
    if (side < 0)
        memset(image, 0, (size_t)n * sizeof *image);
    else if (side == 0 && n > 1) {
        limit_pixels(p, panel, f, n / 2, s, image);
        limit_pixels(p, panel, f + n / 2, n - n / 2, s, image + n / 2);
    } else if (side == 0)
        *image = (float)nb_light_pixel(p, &all, panel, sensor, f, s);
}

nb_light_grid nb_light_grid_of(const nb_diffuse_plane *p, const nb_panel *panel)
{
    nb_light_grid g = {.r = nb_panel_region(&p->scene, panel)};
    const int os = p->scene.oversample;
    int step;
    g.s = sampling_of(p, panel, &p->scene.sensors[panel->sensor]);
    if (!(nb_region_pixels(g.r) > 0))
        return g;
    step = g.s.step;
    g.wide = (g.r.fmax - g.r.fmin) / step + (g.s.between ? 4 : 1);
    g.high = (g.r.smax - g.r.smin) / step + (g.s.between ? 4 : 1);
    for (int t = 0; t < step; t++) {
        double w[4], sum[4] = {0};
        for (int i = 0; i < os; i++) {
            nb_cubic_weights((t + (i + 0.5) / os - 0.5) / step, w);
            for (int k = 0; k < 4; k++)
                sum[k] += w[k] / os;
        }
        for (int k = 0; k < 4; k++)
            g.w[k][t] = (float)sum[k];
    }
    return g;
}

/** A panel, the grid of its nodes, and their light. */
typedef struct nodes {
    const nb_panel *panel;
    nb_light_grid grid;
    float *light; /* owned */
} nodes;

/** Interpolate row s between rows of nodes by a cubic, at each column of nodes. */
static void between_rows(const nodes *n, int s, float *line)
{
    const int step = n->grid.s.step, i = (s - n->grid.r.smin) / step,
              t = (s - n->grid.r.smin) % step;
    const size_t wide = (size_t)n->grid.wide;
    const float *a = n->light + (size_t)i * wide, *b = a + wide, *c = b + wide,
                *d = c + wide;
    const float w[4] = {n->grid.w[0][t], n->grid.w[1][t], n->grid.w[2][t],
                        n->grid.w[3][t]};
#pragma omp simd
    for (size_t j = 0; j < wide; j++)
        line[j] = w[0] * a[j] + w[1] * b[j] + w[2] * c[j] + w[3] * d[j];
}

/** Interpolate between nodes of a row by cubics: `step` numbers for each four nodes. */
static void between_columns(const nodes *n, const float *line, float *out)
{
    const int step = n->grid.s.step;
    for (int j = 0; j + 3 < n->grid.wide; j++, out += step) {
        const float *a = line + j;
#pragma omp simd
        /* the next j overwrites the numbers from out[step] on */
        for (int t = 0; t < NB_LIGHT_STEP; t++)
            out[t] = n->grid.w[0][t] * a[0] + n->grid.w[1][t] * a[1] +
                     n->grid.w[2][t] * a[2] + n->grid.w[3][t] * a[3];
    }
}

/** Number of floats for a line of nodes and the pixels between them. */
static size_t line_room(const nodes *n)
{
    return (size_t)n->grid.wide * (size_t)(n->grid.s.step + 1) + NB_LIGHT_STEP;
}

/** Write row s of the pixels. line has room for line_room floats. */
static void pixel_row(const nb_diffuse_plane *p, const nodes *n, int s, float *line,
                      float *image)
{
    const nb_scene *sc = &p->scene;
    const size_t start = n->panel->first_pixel + (size_t)s * (size_t)n->panel->columns +
                         (size_t)n->grid.r.fmin;
    const int pixels = n->grid.r.fmax - n->grid.r.fmin + 1;
    const float *light = n->light + (size_t)(s - n->grid.r.smin) * (size_t)n->grid.wide;
    if (n->grid.s.between) {
        between_rows(n, s, line);
        between_columns(n, line, line + n->grid.wide);
        light = line + n->grid.wide;
    }
#pragma omp simd
    for (int f = 0; f < pixels; f++)
        image[start + (size_t)f] = light[f] > 0 ? light[f] : 0;
    if (sc->factors.dmin > 0)
        limit_pixels(p, n->panel, n->grid.r.fmin, pixels, s, &image[start]);
    for (int f = 0; sc->raster.mask && f < pixels; f++)
        if (!sc->raster.mask[start + (size_t)f])
            image[start + (size_t)f] = 0;
}

static nb_status panel_light(const nb_diffuse_plane *p, const nb_panel *panel,
                             int threads, float *image, nb_error *err)
{
    const nb_sensor *sensor = &p->scene.sensors[panel->sensor];
    nodes n = {panel, nb_light_grid_of(p, panel), NULL};
    nb_asking *asking = nb_asking_now();
    float *lines = NULL;
    nb_status st = NB_OK;
    if (n.grid.wide > 0) {
        n.light = nb_alloc_raw((size_t)n.grid.wide * (size_t)n.grid.high, sizeof *n.light,
                               "diffuse light", err);
        lines = nb_alloc_raw(line_room(&n) * (size_t)threads, sizeof *lines,
                             "diffuse light", err);
        st = n.light && lines ? NB_OK : NB_ERR_NOMEM;
    }
    if (!st && lines) {
#pragma omp parallel num_threads(threads)
        {
            float *line = lines;
#ifdef _OPENMP
            line += line_room(&n) * (size_t)omp_get_thread_num();
#pragma omp for schedule(dynamic, 1)
#endif
            for (int i = 0; i < n.grid.high; i++)
                for (int j = 0; j < n.grid.wide && !nb_stop_asked(asking); j++)
                    n.light[(size_t)i * (size_t)n.grid.wide + (size_t)j] =
                        nb_light_node(p, &n.grid, panel, sensor, i, j);
#pragma omp for schedule(dynamic, 8)
            for (int s = n.grid.r.smin; s <= n.grid.r.smax; s++)
                if (!nb_stop_asked(asking))
                    pixel_row(p, &n, s, line, image);
        }
    }
    nb_free(lines);
    nb_free(n.light);
    return st ? st : nb_stop_status(asking, err);
}

nb_status nb_diffuse_plane_new(const nb_scene *scene, const nb_diffuse *model,
                               double reach, nb_diffuse_plane *p, nb_error *err)
{
    nb_status st;
    *p = (nb_diffuse_plane){.scene = *scene, .scale = model->scale};
    p->per = scale_of(model, reach, model->gamma);
    p->node = node_of(model);
    st = merge_beam(p, reach, err);
    NB_TRY(merge_cells(p, reach, err));
    if (st)
        nb_diffuse_plane_clear(p);
    return st;
}

double nb_diffuse_plane_samples(const nb_diffuse_plane *p)
{
    nb_diffuse_plane whole = *p;
    nb_raster *raster = &whole.scene.raster;
    /* 1: -dmin limits; calculate every ray of every source */
    const int limited = p->scene.factors.dmin > 0;
    double sum = 0;
    raster->roi = (nb_region){0, raster->columns - 1, 0, raster->rows - 1};
    for (int i = 0; i < p->scene.n_panels; i++) {
        const nb_panel *panel = &p->scene.panels[i];
        const nb_sensor *sensor = &p->scene.sensors[panel->sensor];
        const nb_light_grid g = nb_light_grid_of(&whole, panel);
        const nb_light_sampling s = limited ? nb_light_every(&p->scene, sensor) : g.s;
        const double points =
            limited ? (double)panel->columns * panel->rows : (double)g.wide * g.high;
        sum += points * s.rays * s.rays * s.layers;
    }
    return sum * p->n_cells * (limited ? p->scene.beam.n_sources : p->n_beams);
}

nb_status nb_diffuse_plane_fill(const nb_diffuse_plane *p, int threads, float *image,
                                nb_error *err)
{
    const nb_scene *scene = &p->scene;
    nb_status st = NB_OK;
    memset(image, 0, scene->raster.pixels * sizeof *image);
    for (int i = 0; !st && i < scene->n_panels; i++)
        st = panel_light(p, &scene->panels[i],
                         nb_image_threads(threads, (int64_t)scene->raster.pixels), image,
                         err);
    return st;
}

void nb_diffuse_plane_clear(nb_diffuse_plane *p)
{
    nb_free((void *)(uintptr_t)p->beams);
    nb_free((void *)(uintptr_t)p->cells);
    p->beams = NULL;
    p->cells = NULL;
}
