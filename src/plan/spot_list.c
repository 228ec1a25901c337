/* SPDX-License-Identifier: MIT */
#include "spots.h"

#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../physics/ray.h"

nb_spot_plane nb_spot_plane_of(const nb_panel *panel, const nb_sensor *sensor)
{
    nb_spot_plane plane = {.pixel = {panel->pixel_fast, panel->pixel_slow},
                           .depth = sensor->layers * sensor->layer_step};
    const nb_cone cone =
        nb_cone_of(panel, sensor, (double[2]){0, panel->columns * panel->pixel_fast},
                   (double[2]){0, panel->rows * panel->pixel_slow});
    nb_vec3 n = nb_unit(nb_cross(panel->fast, panel->slow)), axis[2];
    double volume = nb_dot(n, nb_cross(panel->fast, panel->slow));
    axis[0] = nb_scale(1 / volume, nb_cross(panel->slow, n));
    axis[1] = nb_scale(1 / volume, nb_cross(n, panel->fast));
    if (nb_dot(n, panel->pix0) < 0)
        n = nb_scale(-1, n);
    nb_spot_array(n, plane.n);
    plane.height = nb_dot(n, panel->pix0);
    plane.rise = nb_dot(n, panel->normal);
    for (int k = 0; k < 2; k++) {
        nb_spot_array(axis[k], plane.axis[k]);
        plane.start[k] = nb_dot(axis[k], panel->pix0);
        plane.lean[k] = nb_dot(axis[k], panel->normal);
    }
    nb_spot_array(cone.axis, plane.middle);
    plane.cosine = cone.cos_angle;
    return plane;
}

/* ------------------------------------------------------------------ growing arrays */

typedef struct tile_pair {
    uint32_t tile, spot;
} tile_pair;

typedef struct search {
    const nb_spots *spots;
    const nb_spot_limits *limits;
    nb_spot_list *list;
    tile_pair *pairs;
    size_t spots_room, pairs_room;
    double reach; /* largest R at which the strongest reflection has terms */
    /* largest distance of lit rays from the middle of a reflection of the group */
    double far;
    nb_error *err;
} search;

/** Make room for one more item. Returns 0 if memory is exhausted. */
static int grow(void *array, size_t n, size_t *room, size_t size, nb_error *err)
{
    size_t wanted = *room ? 2 * *room : 1024;
    if (n < *room)
        return 1;
    if (n >= UINT32_MAX || nb_grow(array, n, wanted, size, "list of spots", err))
        return 0;
    *room = wanted;
    return 1;
}

/* ------------------------------------------------------------------ one reflection */

/** First and last tile of a grid along an axis that contain pixels low..high. Returns 0
 * without such a tile. */
static int tiles_between(const nb_spot_grid *grid, int axis, int edge, double low,
                         double high, int range[2])
{
    const nb_region *r = &grid->region;
    const int from = axis ? r->smin : r->fmin, to = axis ? r->smax : r->fmax;
    if (high < from || low > to + 1 || !(low <= high))
        return 0;
    range[0] = low <= from ? 0 : ((int)low - from) / edge;
    range[1] = high >= to ? (to - from) / edge : ((int)high - from) / edge;
    return 1;
}

/** Tiles of a panel whose rays may be within `far` of p. Returns 0 without a tile. */
static int tiles_near(const search *s, int panel, const double p[3], double far,
                      int range[2][2])
{
    const nb_spot_grid *grid = &s->list->grids[panel];
    double pixels[2][2];
    int where;
    range[0][0] = range[1][0] = 0;
    range[0][1] = grid->across - 1;
    range[1][1] = grid->down - 1;
    if (grid->across == 0)
        return 0;
    where = nb_spot_near(&s->list->planes[panel], p, far, pixels);
    if (where != NB_SPOT_BOXED)
        return where;
    for (int k = 0; k < 2; k++)
        if (!tiles_between(grid, k, s->list->edge, pixels[k][0], pixels[k][1], range[k]))
            return 0;
    return 1;
}

/** Record the tiles of a panel for the newest spot. */
static int add_tiles(search *s, int panel, int range[2][2])
{
    nb_spot_list *list = s->list;
    const nb_spot_grid *grid = &list->grids[panel];
    for (int y = range[1][0]; y <= range[1][1]; y++)
        for (int x = range[0][0]; x <= range[0][1]; x++) {
            if (!grow(&s->pairs, list->pairs, &s->pairs_room, sizeof *s->pairs, s->err))
                return 0;
            s->pairs[list->pairs++] =
                (tile_pair){(uint32_t)(grid->first + (size_t)y * grid->across + x),
                            (uint32_t)list->n};
        }
    return 1;
}

static double far_of(const search *s, const nb_spot_group *group, double reach, double g)
{
    return nb_spot_far(s->spots, group, reach, g) + NB_SPOT_ROOM * NB_SPOT_ROOM;
}

/** Add a reflection of a group. p: direction of the middle. Returns 0 if memory is
 * exhausted. */
static int add_reflection(search *s, const nb_spot_group *group, nb_spot spot,
                          const double p[3])
{
    const nb_spots *sp = s->spots;
    const int panels = sp->scene->n_panels;
    const double g = sqrt(spot.g2), off = fabs(sqrt(nb_spot_dot(p, p)) - 1);
    double far = far_of(s, group, s->reach, g);
    int seen = 0;
    if (off > far) /* no F makes the reflection visible */
        return 1;
    spot.reach2 =
        nb_spot_reach2(sp, s->limits, nb_spot_F2_of(&sp->scene->factors.table, spot.h));
    if (!(spot.reach2 > 0))
        return 1;
    far = far_of(s, group, sqrt(spot.reach2), g);
    if (off > far)
        return 1;
    for (int k = 0; k < panels; k++) {
        int range[2][2];
        if (!tiles_near(s, k, p, far, range))
            continue;
        seen = 1;
        if (!add_tiles(s, k, range))
            return 0;
    }
    if (!seen)
        return 1;
    if (!grow(&s->list->spots, s->list->n, &s->spots_room, sizeof spot, s->err))
        return 0;
    s->list->spots[s->list->n++] = spot;
    return 1;
}

/* ------------------------------------------------------------------ columns of l */

static int add_column(search *s, int group, nb_spot spot, const double p0[3],
                      const double g0[3])
{
    const nb_spots *sp = s->spots;
    const nb_spot_group *g = &sp->groups[group];
    const double *b3 = sp->cells[g->first].b[2], wave = 0.5 * (sp->longest + sp->shortest);
    const double v[3] = {wave * b3[0], wave * b3[1], wave * b3[2]};
    nb_spot_column c;
    if (!nb_spot_column_of(sp, p0, v, s->far, &c))
        return 1;
    for (double l = c.low; l <= c.high; l++) {
        double p[3], q[3];
        if (l > c.from && l < c.to) {
            l = c.to - 1;
            c.from = INFINITY;
            continue;
        }
        spot.h[2] = (int32_t)l;
        for (int x = 0; x < 3; x++) {
            p[x] = p0[x] + l * v[x];
            q[x] = g0[x] + l * b3[x];
        }
        spot.g2 = nb_spot_dot(q, q);
        if (!add_reflection(s, g, spot, p))
            return 0;
    }
    return 1;
}

static int add_group(search *s, int group)
{
    const nb_spots *sp = s->spots;
    const nb_spot_group *g = &sp->groups[group];
    const nb_spot_cell *cell = &sp->cells[g->first];
    const double wave = 0.5 * (sp->longest + sp->shortest), far = nb_spots_farthest(sp);
    double incident[3];
    nb_spot_array(sp->incident, incident);
    s->reach = sqrt(nb_spot_reach2(sp, s->limits, sp->max));
    s->far = nb_spot_far(sp, g, s->reach, far) + NB_SPOT_ROOM;
    for (int i = 0; i < sp->box.n[0]; i++)
        for (int j = 0; j < sp->box.n[1]; j++) {
            nb_spot spot = {.h = {sp->box.low[0] + i, sp->box.low[1] + j, 0},
                            .group = group};
            double p[3], g0[3];
            for (int x = 0; x < 3; x++) {
                g0[x] = spot.h[0] * cell->b[0][x] + spot.h[1] * cell->b[1][x];
                p[x] = incident[x] + wave * g0[x];
            }
            if (!add_column(s, group, spot, p, g0))
                return 0;
        }
    return 1;
}

/* ------------------------------------------------------------------ tiles */

static nb_status set_grids(const nb_spots *sp, const nb_region *regions,
                           nb_spot_list *list, nb_error *err)
{
    const int n = sp->scene->n_panels;
    list->grids = nb_alloc((size_t)n, sizeof *list->grids, "panels", err);
    list->planes = nb_alloc((size_t)n, sizeof *list->planes, "panels", err);
    if (!list->grids || !list->planes)
        return NB_ERR_NOMEM;
    for (int k = 0; k < n; k++) {
        const nb_panel *panel = &sp->scene->panels[k];
        nb_spot_grid *grid = &list->grids[k];
        const nb_region *r = &regions[k];
        grid->region = *r;
        grid->first = list->tiles;
        list->planes[k] = nb_spot_plane_of(panel, &sp->scene->sensors[panel->sensor]);
        if (nb_region_pixels(*r) == 0)
            continue;
        grid->across = (r->fmax - r->fmin) / list->edge + 1;
        grid->down = (r->smax - r->smin) / list->edge + 1;
        list->tiles += (size_t)grid->across * (size_t)grid->down;
    }
    return NB_OK;
}

/** Sort the pairs by tile. Pairs of a tile stay in order. */
static nb_status sort_pairs(nb_spot_list *list, const tile_pair *pairs, nb_error *err)
{
    list->first = nb_alloc(list->tiles + 2, sizeof *list->first, "tiles", err);
    list->of = nb_alloc_raw(list->pairs + 1, sizeof *list->of, "tiles", err);
    if (!list->first || !list->of)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < list->pairs; i++)
        list->first[pairs[i].tile + 2]++;
    for (size_t i = 1; i <= list->tiles; i++)
        list->first[i + 1] += list->first[i];
    /* first[t + 1]: index of the next pair of tile t */
    for (size_t i = 0; i < list->pairs; i++)
        list->of[list->first[pairs[i].tile + 1]++] = pairs[i].spot;
    return NB_OK;
}

nb_status nb_spot_list_build(const nb_spots *sp, const nb_spot_limits *limits,
                             const nb_region *regions, int edge, nb_spot_list *list,
                             nb_error *err)
{
    search s = {.spots = sp, .limits = limits, .list = list, .err = err};
    nb_status st;
    memset(list, 0, sizeof *list);
    list->edge = edge;
    st = set_grids(sp, regions, list, err);
    if (!st && list->tiles >= UINT32_MAX)
        st = nb_fail(err, NB_ERR_NOMEM, "the panels have too many tiles of %d pixels",
                     edge);
    for (int k = 0; k < sp->n_groups && !st; k++)
        st = add_group(&s, k) ? NB_OK : NB_ERR_NOMEM;
    NB_TRY(sort_pairs(list, s.pairs, err));
    nb_free(s.pairs);
    if (st)
        nb_spot_list_free(list);
    return st;
}

void nb_spot_list_free(nb_spot_list *list)
{
    nb_free(list->planes);
    nb_free(list->grids);
    nb_free(list->spots);
    nb_free(list->first);
    nb_free(list->of);
    memset(list, 0, sizeof *list);
}
