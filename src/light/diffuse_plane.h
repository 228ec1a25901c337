/* SPDX-License-Identifier: MIT */
/** Diffuse light of every pixel of an image, from a table. */
#ifndef NB_LIGHT_DIFFUSE_PLANE_H
#define NB_LIGHT_DIFFUSE_PLANE_H

#include "diffuse_look.h"

/* Host and devices share this code. If halos are smooth, samples of a pixel are merged,
 * and pixels are interpolated between nodes (docs/physics.md). u is a distance in units
 * of a halo's width. */

enum { NB_LIGHT_STEP = 8 }; /* limit of the pixels from node to node */

/** A source or merged sources. A ray along the unit vector d has q = wave d - p (1/m). */
typedef struct nb_light_beam {
    double weight, wave;
    nb_vec3 p, incident;
} nb_light_beam;

/** An orientation or merged orientations. */
typedef struct nb_light_cell {
    double weight;
    nb_orientation cell;
} nb_light_cell;

/** Data of the light of all pixels. Arrays are in the memory of the host or device. */
typedef struct nb_diffuse_plane {
    nb_scene scene; /* panels and sensors are in the memory of the host */
    const nb_diffuse_table *table;
    double scale; /* factor that turns D/scale of the table into D */
    double per;   /* m; factor from a distance in reciprocal space to u */
    double node;  /* largest distance from node to node, in u */
    int n_beams, n_cells;
    const nb_light_beam *beams; /* owned */
    const nb_light_cell *cells; /* owned */
    nb_light_beam middle;
    double spread; /* 1/m; largest change of q between `middle` and a source */
} nb_diffuse_plane;

/** Sampling of a panel. */
typedef struct nb_light_sampling {
    int step;     /* pixels from node to node */
    int between;  /* 1: cubics give the pixels between nodes; 0: each pixel is a node */
    int rays;     /* number of rays along an edge of a pixel */
    double apart; /* distance of two rays, in pixels; 0: rays hit the sub-pixels */
    int layers;   /* number of layers; 1 takes all layers as one */
    int cut;      /* 1: -dmin removes the sources one by one, without merging */
} nb_light_sampling;

/** Nodes of a panel. Node (i, j) is at row smin + step (i - 1) of the pixels and column
 * fmin + step (j - 1), without the -1 if each pixel is a node. */
typedef struct nb_light_grid {
    nb_region r; /* pixels; empty without light */
    nb_light_sampling s;
    int wide, high;            /* number of nodes along fast and slow */
    float w[4][NB_LIGHT_STEP]; /* weights of four nodes, by place of a pixel in a step */
} nb_light_grid;

/** Sum over orientations of D at q. */
NB_HD double nb_light_cell_sum(const nb_diffuse_plane *p, nb_vec3 q)
{
    double sum = 0;
    for (int j = 0; j < p->n_cells; j++) {
        const nb_orientation *c = &p->cells[j].cell;
        sum += p->cells[j].weight * nb_diffuse_look(p->table, nb_dot(c->a, q),
                                                    nb_dot(c->b, q), nb_dot(c->c, q));
    }
    return sum;
}

NB_HD double nb_light_polarized(const nb_scene *sc, nb_vec3 incident, nb_vec3 direction)
{
    return sc->oversample_polar && !sc->beam.nopolar
               ? nb_polarization(sc->beam.polarization, incident, direction,
                                 sc->beam.polar_axis)
               : 1;
}

/** Sum over sources and orientations of D along a ray. cut = 1: sources of the scene for
 * which the ray has d >= dmin; cut = 0: merged sources. */
NB_HD_CALL double nb_light_ray_sum(const nb_diffuse_plane *p, nb_vec3 direction, int cut)
{
    const nb_scene *sc = &p->scene;
    const int n = cut ? sc->beam.n_sources : p->n_beams;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double weight;
        nb_vec3 q, incident;
        if (cut) {
            const nb_source *source = &sc->beam.sources[i];
            q = nb_scattering_vector(source, direction);
            weight = source->weight;
            incident = source->incident;
        } else {
            const nb_light_beam *b = &p->beams[i];
            q = nb_sub(nb_scale(b->wave, direction), b->p);
            weight = b->weight;
            incident = b->incident;
        }
        if (!cut || !nb_culled(&sc->factors, q))
            sum += weight * nb_light_cell_sum(p, q) *
                   nb_light_polarized(sc, incident, direction);
    }
    return sum / sc->beam.n_sources;
}

/** A ray to a point of a layer, or to the mean of all layers, which are weighted by their
 * capture. */
NB_HD nb_ray nb_light_ray(const nb_light_sampling *s, const nb_panel *panel,
                          const nb_sensor *sensor, double F, double S, int layer)
{
    const int all = s->layers != sensor->layers, end = all ? sensor->layers : layer + 1;
    double stopped = 0;
    nb_vec3 sum = {0, 0, 0};
    nb_ray ray;
    for (int i = all ? 0 : layer; i < end; i++) {
        ray = nb_ray_to(panel, sensor, F, S, i);
        stopped += ray.capture;
        sum = nb_add(sum, nb_scale(ray.capture * ray.airpath, ray.direction));
    }
    if (!all)
        return ray;
    ray = nb_ray_along(nb_scale(1 / stopped, sum));
    ray.capture = stopped;
    ray.omega = nb_solid_angle(panel, &ray);
    return ray;
}

/** Position of ray i of a pixel along an edge, in pixels. */
NB_HD double nb_light_place(const nb_light_sampling *s, int pixel, int i)
{
    double part = s->apart > 0 ? (i - 0.5) * s->apart : (i + 0.5) / s->rays - 0.5;
    return pixel + 0.5 + part;
}

/** Photons of the diffuse light in a pixel, which may lie outside of the panel. */
NB_HD double nb_light_pixel(const nb_diffuse_plane *p, const nb_light_sampling *s,
                            const nb_panel *panel, const nb_sensor *sensor, int f, int row)
{
    const nb_scene *sc = &p->scene;
    double sum = 0;
    for (int layer = 0; layer < s->layers; layer++)
        for (int i = 0; i < s->rays; i++)
            for (int j = 0; j < s->rays; j++) {
                nb_ray ray = nb_light_ray(
                    s, panel, sensor, panel->pixel_fast * nb_light_place(s, f, j),
                    panel->pixel_slow * nb_light_place(s, row, i), layer);
                double weight = ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
                sum += weight * nb_light_ray_sum(p, ray.direction, s->cut);
            }
    return sc->intensity_scale * p->scale * (double)sc->samples / (s->rays * s->rays) *
           sum * nb_cached_factors(sc, panel, sensor, f, row);
}

/** Compare pixels f .. f + n - 1 of a row, and all pixels up to `about` pixels away, with
 * -dmin: 1 if all have d > dmin, -1 if all have d < dmin, 0 if dmin may lie between. */
NB_HD int nb_light_side(const nb_diffuse_plane *p, const nb_panel *panel,
                        const nb_sensor *sensor, int f, int n, int s, int about)
{
    const nb_ray ray =
        nb_ray_to(panel, sensor, nb_subpixel(panel->pixel_fast, 1, f + n / 2, 0),
                  nb_subpixel(panel->pixel_slow, 1, s, 0), 0);
    const double q = nb_norm(nb_sub(nb_scale(p->middle.wave, ray.direction), p->middle.p));
    const double limit = 1 / p->scene.factors.dmin;
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

/** Sampling of pixels that -dmin may affect: every ray of every source. */
NB_HD nb_light_sampling nb_light_every(const nb_scene *sc, const nb_sensor *sensor)
{
    const nb_light_sampling every = {1, 0, sc->oversample, 0, sensor->layers, 1};
    return every;
}

/** Light of node (i, j). Masked pixels and nodes whose pixels -dmin leaves out get 0. */
NB_HD float nb_light_node(const nb_diffuse_plane *p, const nb_light_grid *g,
                          const nb_panel *panel, const nb_sensor *sensor, int i, int j)
{
    const int step = g->s.step, off = g->s.between;
    const int f = g->r.fmin + step * (j - off), row = g->r.smin + step * (i - off);
    const uint8_t *mask = off ? NULL : p->scene.raster.mask;
    if (mask &&
        !mask[panel->first_pixel + (size_t)row * (size_t)panel->columns + (size_t)f])
        return 0;
    if (p->scene.factors.dmin > 0 &&
        nb_light_side(p, panel, sensor, f, 1, row, 2 * step) < 0)
        return 0;
    return (float)nb_light_pixel(p, &g->s, panel, sensor, f, row);
}

/** Interpolate along an axis, with the same operations in the same order on host and
 * devices. */
NB_HD float nb_light_between(const nb_light_grid *g, int t, float a, float b, float c,
                             float d)
{
    return g->w[0][t] * a + g->w[1][t] * b + g->w[2][t] * c + g->w[3][t] * d;
}

/** Merge sources and orientations of a scene for light up to |q| = reach (1/A). *plane
 * refers to arrays of the scene. The caller sets plane->table. Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_new(const nb_scene *scene, const nb_diffuse *model,
                               double reach, nb_diffuse_plane *plane, nb_error *err);

/** Number of look-ups of the whole detector, also if only a part is rendered. */
double nb_diffuse_plane_samples(const nb_diffuse_plane *plane);

/** Write photons to image[pixels of the stack], 0 in pixels that are not rendered. Any
 * number of threads (see nb_image_threads) gives the same bytes. Errors: NB_ERR_NOMEM. */
nb_status nb_diffuse_plane_fill(const nb_diffuse_plane *plane, int threads, float *image,
                                nb_error *err);

void nb_diffuse_plane_clear(nb_diffuse_plane *plane);

/** Sampling and nodes of a panel. */
nb_light_grid nb_light_grid_of(const nb_diffuse_plane *plane, const nb_panel *panel);

/* Merge many samples of a smooth function into few: equal weight, mean and covariance */

#define NB_MERGE_SPACE 4

/** A sample with y, the argument of the function (a vector). */
typedef struct nb_merge_item {
    double weight, y[NB_MERGE_SPACE];
} nb_merge_item;

/** Merge n samples in place. Returns their number. per (1/length) bounds the function:
 * |f''| <= 4.2 f per^2. If 2.1 per^2 (mean square distance) is below 5e-4, one sample
 * replaces all (an error of second order). Otherwise samples near the mean become pairs
 * (fourth order), and distant samples stay. */
int nb_merge(nb_merge_item *items, int n, double per);

#endif
