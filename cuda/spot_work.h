/* SPDX-License-Identifier: MIT */
/** What each thread does for a picture from its reflections (../src/plan/spots.h).  Host and device: a
 * test runs the same functions one after the other.
 *
 *   item       a column of reflections (h, k) and a few orientations of one group
 *   sight      a reflection of the column that a panel may see
 *   box        the sub-pixels that it may light in one orientation, by one run of sources
 *   sums       of terms, in whole units: their order does not matter, nor does the bytes' */
#ifndef NB_CUDA_SPOT_WORK_H
#define NB_CUDA_SPOT_WORK_H

#include "../src/plan/spot_terms.h"

enum {
    NB_SPOT_CHUNK = 256, /* orientations of an item, at most */
    NB_SPOT_MARK = 32    /* pixels that share a mark */
};

/** What a pass needs; arrays are where it runs. */
typedef struct nb_spot_pass {
    nb_scene scene;
    nb_spots spots; /* its scene is not used */
    nb_spot_limits limits;
    double farthest, reach; /* largest |g|, 1/m, and R */
    const nb_panel *panels;
    const nb_sensor *sensors;
    const nb_spot_plane *planes;
    const nb_region *regions; /* of the panels */
    int layers, chunks;       /* the most of a panel, of a group of orientations */
    int64_t columns;
    double unit, per_unit;    /* of the sums, electrons^2 [sr] */
    double water;             /* of a ray, electrons^2 */
    const uint8_t *mask;      /* of the stack, NULL: all pixels of the regions */
    unsigned long long *sums; /* of each pixel of the stack */
    unsigned char *marks;     /* [pixels/NB_SPOT_MARK]: one of them has a sum */
} nb_spot_pass;

typedef struct nb_spot_item {
    nb_spot spot; /* h, k and the group */
    double p0[3], g0[3], v[3], b3[3];
    nb_spot_column column;
    double hole, holes;         /* the first index that is left out, and how many are */
    int first, end;             /* orientations */
    int64_t candidates, lights; /* sights to try; of each sight boxes to try */
} nb_spot_item;

typedef struct nb_spot_sight {
    nb_spot spot;
    int panel;
} nb_spot_sight;

typedef struct nb_spot_box {
    nb_spot spot;
    int panel, layer, m, run;
    int u, v, width, height; /* sub-pixels of the panel */
} nb_spot_box;

NB_HD int64_t nb_spot_items(const nb_spot_pass *p)
{
    return p->columns * p->chunks * p->spots.n_groups;
}

/** Orientations of the item; 0: none. */
NB_HD int nb_spot_item_range(const nb_spot_pass *p, int64_t i, nb_spot_item *item)
{
    const int64_t rest = i / p->columns;
    const nb_spot_group *group = &p->spots.groups[rest / p->chunks];
    item->spot.group = (int32_t)(rest / p->chunks);
    item->first = group->first + (int)(rest % p->chunks) * NB_SPOT_CHUNK;
    item->end = item->first + NB_SPOT_CHUNK < group->end ? item->first + NB_SPOT_CHUNK
                                                         : group->end;
    return item->first < item->end;
}

/** Item i; 0: nothing of it can be seen. */
NB_HD int nb_spot_item_of(const nb_spot_pass *p, int64_t i, nb_spot_item *item)
{
    const nb_spots *sp = &p->spots;
    const double wave = 0.5 * (sp->longest + sp->shortest);
    const int64_t column = i % p->columns;
    const nb_spot_group *group;
    const nb_spot_cell *cell;
    double incident[3], far, last;
    if (!nb_spot_item_range(p, i, item))
        return 0;
    group = &sp->groups[item->spot.group];
    cell = &sp->cells[group->first];
    item->spot.h[0] = sp->box.low[0] + (int32_t)(column / sp->box.n[1]);
    item->spot.h[1] = sp->box.low[1] + (int32_t)(column % sp->box.n[1]);
    nb_spot_array(sp->incident, incident);
    for (int x = 0; x < 3; x++) {
        item->g0[x] = item->spot.h[0] * cell->b[0][x] + item->spot.h[1] * cell->b[1][x];
        item->b3[x] = cell->b[2][x];
        item->v[x] = wave * cell->b[2][x];
        item->p0[x] = incident[x] + wave * item->g0[x];
    }
    far = nb_spot_far(sp, group, p->reach, p->farthest) + NB_SPOT_ROOM;
    if (!nb_spot_column_of(sp, item->p0, item->v, far, &item->column))
        return 0;
    item->hole = fmax(item->column.from + 1, item->column.low);
    last = fmin(item->column.to - 1, item->column.high);
    item->holes = fmax(0.0, last - item->hole + 1); /* none: from is infinite */
    item->candidates = (int64_t)(item->column.high - item->column.low + 1 - item->holes) *
                       p->scene.n_panels;
    item->lights = (int64_t)(item->end - item->first) * sp->n_runs * p->layers;
    return item->candidates > 0;
}

/** Does a region have any of these pixels? */
NB_HD int nb_spot_meets(const nb_region *r, double range[2][2])
{
    return r->fmin <= r->fmax && r->smin <= r->smax && range[0][1] >= r->fmin &&
           range[0][0] <= r->fmax + 1 && range[1][1] >= r->smin &&
           range[1][0] <= r->smax + 1;
}

/** Sight i of an item; 0: the panel does not see the reflection. */
NB_HD int nb_spot_sight_of(const nb_spot_pass *p, const nb_spot_item *item, int64_t i,
                           nb_spot_sight *sight)
{
    const nb_spots *sp = &p->spots;
    const nb_region *region;
    double l = item->column.low + (double)(i / p->scene.n_panels), dir[3], g[3], far,
           range[2][2];
    int where;
    if (item->holes > 0 && l >= item->hole)
        l += item->holes;
    sight->spot = item->spot;
    sight->spot.h[2] = (int32_t)l;
    sight->panel = (int)(i % p->scene.n_panels);
    sight->spot.reach2 = nb_spot_reach2(
        sp, &p->limits, nb_spot_F2_of(&p->scene.factors.table, sight->spot.h));
    if (!(sight->spot.reach2 > 0))
        return 0;
    for (int x = 0; x < 3; x++) {
        dir[x] = item->p0[x] + l * item->v[x];
        g[x] = item->g0[x] + l * item->b3[x];
    }
    sight->spot.g2 = nb_spot_dot(g, g);
    far = nb_spot_far(sp, &sp->groups[item->spot.group], sqrt(sight->spot.reach2),
                      sqrt(sight->spot.g2)) +
          NB_SPOT_ROOM * NB_SPOT_ROOM;
    if (fabs(sqrt(nb_spot_dot(dir, dir)) - 1) > far)
        return 0;
    region = &p->regions[sight->panel];
    where = nb_spot_near(&p->planes[sight->panel], dir, far, range);
    if (where != NB_SPOT_BOXED)
        return where && region->fmin <= region->fmax && region->smin <= region->smax;
    return nb_spot_meets(region, range);
}

/** Does any source light the reflection in the box's orientation? */
NB_HD int nb_spot_excited(const nb_spots *sp, const nb_spot *spot, int m)
{
    const double *a = sp->along + m, *b = a + sp->stride, *c = b + sp->stride;
    double most;
    const double middle = nb_spot_excitation(sp, spot, &most);
    return fabs(a[0] * spot->h[0] + b[0] * spot->h[1] + c[0] * spot->h[2] + middle) <=
           most;
}

/** Box i of a sight; 0: nothing is lit. */
NB_HD int nb_spot_box_of(const nb_spot_pass *p, const nb_spot_item *item,
                         const nb_spot_sight *sight, int64_t i, nb_spot_box *box)
{
    const nb_spots *sp = &p->spots;
    const nb_region *r = &p->regions[sight->panel];
    const nb_sensor *sensor = &p->sensors[p->panels[sight->panel].sensor];
    const int os = p->scene.oversample, n = item->end - item->first;
    const int f0 = r->fmin * os, s0 = r->smin * os, nu = (r->fmax - r->fmin + 1) * os,
              nv = (r->smax - r->smin + 1) * os;
    const int64_t rest = i / n;
    int to[2][2] = {{0, nu - 1}, {0, nv - 1}}, where;
    double g[3], range[2][2];
    box->m = item->first + (int)(i % n);
    box->run = (int)(rest % sp->n_runs);
    box->layer = (int)(rest / sp->n_runs);
    if (box->layer >= sensor->layers || !nb_spot_excited(sp, &sight->spot, box->m))
        return 0;
    const nb_spot_screen screen =
        nb_spot_screen_of(&p->planes[sight->panel], sensor, box->layer);
    nb_spot_point(&sp->cells[box->m], sight->spot.h, g);
    where = nb_spot_seen(sp, &screen, &sight->spot, &sp->cells[box->m],
                         &sp->runs[box->run], g, range);
    if (!where || (where == NB_SPOT_BOXED && !(nb_spot_clip(range[0], os, f0, nu, to[0]) &&
                                               nb_spot_clip(range[1], os, s0, nv, to[1]))))
        return 0;
    box->spot = sight->spot;
    box->panel = sight->panel;
    box->u = f0 + to[0][0];
    box->v = s0 + to[1][0];
    box->width = to[0][1] - to[0][0] + 1;
    box->height = to[1][1] - to[1][0] + 1;
    return 1;
}

/** What ray (u, v) of a box adds to the sum of *pixel, in units; 0: nothing.  shape: the lattice's. */
NB_HD unsigned long long nb_spot_units(const nb_spot_pass *p, const nb_spot_box *box,
                                       const nb_spot_pair *pair, int shape, int u, int v,
                                       size_t *pixel)
{
    const nb_scene *sc = &p->scene;
    const nb_panel *panel = &p->panels[box->panel];
    const nb_spot_ray at = {sc, panel,     &p->sensors[panel->sensor], p->spots.source, u,
                            v,  box->layer};
    const nb_ray ray = nb_spot_ray_of(&at);
    double sum = nb_spot_terms(pair, &at, shape, ray.direction);
    if (!(sum > 0))
        return 0;
    sum *= pair->F2 * ray.capture;
    if (sc->oversample_omega)
        sum *= ray.omega;
    if (sc->oversample_polar && !sc->beam.nopolar)
        sum *= nb_polarization(sc->beam.polarization, pair->run->incident, ray.direction,
                               sc->beam.polar_axis);
    *pixel = panel->first_pixel + (size_t)(v / sc->oversample) * (size_t)panel->columns +
             (size_t)(u / sc->oversample);
    if (!(sum > 0))
        return 0;
    return (unsigned long long)fmax(1.0, sum * p->per_unit + 0.5); /* lit is not 0 */
}

/* ------------------------------------------------------------------ from sums to photons */

NB_HD int nb_spot_panel_of(const nb_spot_pass *p, size_t pixel)
{
    int low = 0, high = p->scene.n_panels - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (p->panels[middle].first_pixel <= pixel)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** Water of all rays of a pixel, electrons^2 [sr]. */
NB_HD double nb_spot_water(const nb_spot_pass *p, const nb_panel *panel,
                           const nb_sensor *sensor, int f, int s)
{
    const nb_scene *sc = &p->scene;
    const int os = sc->oversample, polar = sc->oversample_polar && !sc->beam.nopolar;
    double sum = 0;
    if (!sensor->absorb && !sensor->mean_depth && !sc->oversample_omega && !polar)
        return p->water * os * os * sensor->layers;
    for (int i = 0; i < sensor->layers * os * os; i++) {
        const nb_spot_ray at = {sc,
                                panel,
                                sensor,
                                p->spots.source,
                                f * os + i % os,
                                s * os + i / os % os,
                                i / (os * os)};
        const nb_ray ray = nb_spot_ray_of(&at);
        double part = polar ? 0 : p->water;
        for (int k = 0; polar && k < sc->beam.n_sources; k++)
            part += sc->background * sc->lattice.n_orientations *
                    sc->beam.sources[k].weight *
                    nb_polarization(sc->beam.polarization, sc->beam.sources[k].incident,
                                    ray.direction, sc->beam.polar_axis);
        sum += part * ray.capture * (sc->oversample_omega ? ray.omega : 1);
    }
    return sum;
}

/** Photons of a pixel of the stack with this sum; 0 outside of its panel's region and in the mask. */
NB_HD double nb_spot_photons(const nb_spot_pass *p, size_t pixel, unsigned long long sum)
{
    const int k = nb_spot_panel_of(p, pixel);
    const nb_region *r = &p->regions[k];
    nb_panel panel = p->panels[k];
    const nb_sensor *sensor = &p->sensors[panel.sensor];
    const size_t at = pixel - panel.first_pixel;
    const int f = (int)(at % (size_t)panel.columns), s = (int)(at / (size_t)panel.columns);
    double terms = (double)sum * p->unit;
    panel.curved = 0; /* for the compiler */
    if (f < r->fmin || f > r->fmax || s < r->smin || s > r->smax ||
        (p->mask && !p->mask[pixel]))
        return 0;
    if (p->water > 0)
        terms += nb_spot_water(p, &panel, sensor, f, s);
    return terms > 0 ? terms * p->scene.intensity_scale *
                           nb_cached_factors(&p->scene, &panel, sensor, f, s)
                     : 0;
}

#endif
