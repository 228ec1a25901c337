/* SPDX-License-Identifier: MIT */
/** The work of each thread for an image from reflections (src/plan/spots.h). Host and
 * device compile it; a test on the host runs the same functions one after the other.
 *
 *   item       a column of reflections (h, k, all l) and some orientations of a group
 *   sight      a reflection of the column that a panel may see
 *   box        the sub-pixels that a sight may light in one orientation, by one run of
 *              sources, at one layer; it is fitted when these sub-pixels are calculated
 *   sums       sums of terms as integers, so that the order of terms changes no byte */
#ifndef NB_CUDA_SPOT_WORK_H
#define NB_CUDA_SPOT_WORK_H

#ifdef NB_GPU
#include "../backend/vendor.h"
#define NB_SPOT_INVERSE_ROOT(x) rsqrt(x)
#else
#define NB_SPOT_INVERSE_ROOT(x) (1 / sqrt(x))
#endif

#include "../../src/terms/spot_terms.h"

/* --- Sums over the sources that contribute to a ray of a Gaussian crystal --- */

/* sqrt(2) 2^x for |x| <= 1/2, by Remez's algorithm: relative error 2e-9 in exact
 * arithmetic. */
#define NB_SPOT_POWER_0 ((float)NB_SQRT_2)
#define NB_SPOT_POWER_1 0.980258167f
#define NB_SPOT_POWER_2 0.339731544f
#define NB_SPOT_POWER_3 0.0784935057f
#define NB_SPOT_POWER_4 0.0136025976f
#define NB_SPOT_POWER_5 0.00189503643f
#define NB_SPOT_POWER_6 0.000217022549f

/** The low bits of x + NB_SPOT_FIXED are x in units of 2^-23. */
#define NB_SPOT_FIXED 0x1.8p29
#define NB_SPOT_LEAST_POWER (-250)

/** 2^x for NB_SPOT_LEAST_POWER <= x <= 0, with a relative error of 1.5e-7; undefined for
 * other x. fixed: x + NB_SPOT_FIXED. */
NB_HD double nb_spot_power(double fixed)
{
    int64_t bits;
    uint32_t mantissa;
    float f, sum;
    double power;
    memcpy(&bits, &fixed, sizeof bits);
    mantissa = 0x3f800000u | ((uint32_t)bits & 0x7fffffu);
    memcpy(&f, &mantissa, sizeof f);
    f -= 1.5f;
    sum = fmaf(NB_SPOT_POWER_6, f, NB_SPOT_POWER_5);
    sum = fmaf(sum, f, NB_SPOT_POWER_4);
    sum = fmaf(sum, f, NB_SPOT_POWER_3);
    sum = fmaf(sum, f, NB_SPOT_POWER_2);
    sum = fmaf(sum, f, NB_SPOT_POWER_1);
    sum = fmaf(sum, f, NB_SPOT_POWER_0);
    memcpy(&mantissa, &sum, sizeof mantissa);
    /* convert to a double, times 2 to the whole part; 896 is the difference of the
     * exponents' biases */
    bits = ((int64_t)mantissa << 29) + ((int64_t)(((int32_t)bits >> 23) + 896) << 52);
    memcpy(&power, &bits, sizeof power);
    return power;
}

/** The sources of a run that contribute to a ray: entries of nb_spots from `first` on, up
 * to offset `high`. Each adds 2^(base - NB_SPOT_FIXED - (scale offset + shift)^2). */
typedef struct nb_spot_span {
    double scale, shift, base, high;
    int first;
} nb_spot_span;

NB_HD nb_spot_span nb_spot_span_of(const nb_spots *sp, const nb_spot_pair *pair,
                                   const nb_spot_lines *line)
{
    const double left = fmax(0.0, pair->spot->reach2 - line->across2);
    const double reach =
        left > 0 ? left * NB_SPOT_INVERSE_ROOT(left) * line->by_slope2 : 0;
    nb_spot_span span;
    span.scale = line->slope2 * line->by_slope2 * sp->fall_root;
    span.shift = line->shift * span.scale;
    span.base = fma(line->across2, sp->fall, NB_SPOT_FIXED);
    span.high = fmin(-line->shift + reach, line->last);
    span.first = (int)pair->run->first + nb_spot_entry(pair, -line->shift - reach);
    return span;
}

/** Sum of weight exp(-2 R^2/width), two terms at a time. weight NULL: all weights are 1. */
NB_HD double nb_spot_span_sum(const double *offset, const double *weight,
                              const nb_spot_span *span)
{
    double sums[2] = {0, 0};
    for (int a = span->first; offset[a] <= span->high; a += 2)
        for (int i = 0; i < 2; i++) { /* the arrays are padded */
            const double k = fma(offset[a + i], span->scale, span->shift),
                         power = nb_spot_power(fma(-k, k, span->base)),
                         term = weight ? power * weight[a + i] : power;
            sums[i] += offset[a + i] <= span->high ? term : 0;
        }
    return sums[0] + sums[1];
}

/** Sum of the weighted terms of a span. */
NB_HD double nb_spot_span_terms(const nb_spots *sp, const nb_spot_span *span)
{
    return sp->even > 0 ? sp->even * nb_spot_span_sum(sp->offset, NULL, span)
                        : nb_spot_span_sum(sp->offset, sp->weight, span);
}

/** Weighted F_latt^2/cells2 of a ray with one source. */
NB_HD double nb_spot_one_term(const nb_spots *sp, const nb_spot_pair *pair,
                              const nb_spot_ray *at, nb_law law, const nb_spot_aim *aim)
{
    const double R2 = nb_spot_radius2(aim);
    if (!(R2 <= pair->R2_max) || !(aim->last >= pair->offset[0]))
        return 0;
    if (law == NB_LAW_EDGE)
        return nb_spot_tophat_lit(pair, at, 0, R2) ? pair->weight[0] : 0;
    return nb_spot_decay_term(sp, pair, R2, 1);
}

/** Weighted F_latt^2/cells2 that a pair adds to a ray. law: sp->law. */
NB_HD double nb_spot_terms(const nb_spots *sp, const nb_spot_pair *pair,
                           const nb_spot_ray *at, nb_law law, const nb_spot_aim *aim)
{
    nb_spot_lines line;
    nb_spot_span span;
    if (pair->run->n == 1)
        return nb_spot_one_term(sp, pair, at, law, aim);
    line = nb_spot_lines_of(aim);
    if (!(line.across2 <= pair->R2_max))
        return 0;
    if (law == NB_LAW_EDGE) {
        const nb_spot_line one = {line.across2, line.slope2, line.shift, line.last};
        return nb_spot_tophat_weights(pair, at, &one);
    }
    span = nb_spot_span_of(sp, pair, &line);
    return nb_spot_span_terms(sp, &span);
}

/* --- The work of each thread --- */

enum {
    NB_SPOT_CHUNK = 256, /* limit of the orientations of an item */
    NB_SPOT_MARK = 32    /* number of pixels that share a mark */
};

/** Data of a pass; arrays are in the memory of the processor that runs it. */
typedef struct nb_spot_pass nb_spot_pass;
struct nb_spot_pass {
    nb_scene scene;
    nb_spots spots; /* its scene is not used */
    nb_spot_limits limits;
    double farthest, reach; /* largest |g| in 1/m; largest R */
    const nb_panel *panels;
    const nb_sensor *sensors;
    const nb_spot_plane *planes;
    const nb_region *regions; /* regions of the panels */
    int layers, chunks; /* largest number of layers of a panel, and of items of a group */
    int orientations;   /* largest number of orientations of an item */
    /* 1: all rays of a reflection have the same factor, and -dmin removes no ray */
    int plain;
    int64_t columns;
    double per_edge;          /* 1/oversample */
    double unit, per_unit;    /* unit of integer sums, electrons^2 [sr]; its inverse */
    const uint8_t *mask;      /* mask of the stack; NULL: all pixels of the regions */
    unsigned long long *sums; /* sums of the stack's pixels */
    unsigned char *marks; /* [pixels/NB_SPOT_MARK]: 1 if one of its pixels has a sum */
};

typedef struct nb_spot_item {
    nb_spot spot; /* h, k and the group */
    double p0[3], g0[3], v[3], b3[3];
    nb_spot_column column;
    /* first index l that is left out, and number of indices l that are left out */
    double hole, holes;
    int first, end;     /* orientations first .. end - 1 */
    int64_t candidates; /* number of sights to test */
} nb_spot_item;

typedef struct nb_spot_sight {
    nb_spot spot;
    int panel, first, end; /* orientations first .. end - 1 */
} nb_spot_sight;

typedef struct nb_spot_box {
    nb_spot spot;
    int panel, layer, m, run;
    int u, v, width, height; /* first sub-pixel of the panel; size in sub-pixels */
    double F2;               /* F^2 (Na Nb Nc)^2 */
} nb_spot_box;

NB_HD int64_t nb_spot_items(const nb_spot_pass *p)
{
    return p->columns * p->chunks * p->spots.n_groups;
}

/** Set the orientations of item i. Returns 0 if the item has no orientations. */
NB_HD int nb_spot_item_range(const nb_spot_pass *p, int64_t i, nb_spot_item *item)
{
    const int64_t part = i / p->columns;
    const nb_spot_group *group = &p->spots.groups[part / p->chunks];
    item->spot.group = (int32_t)(part / p->chunks);
    item->first = group->first + (int)(part % p->chunks) * NB_SPOT_CHUNK;
    item->end = item->first + NB_SPOT_CHUNK < group->end ? item->first + NB_SPOT_CHUNK
                                                         : group->end;
    return item->first < item->end;
}

/** Set item i. Returns 0 if no panel can see any part of the item. */
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
    /* holes is 0 if no l is left out: `from` is then infinite */
    item->holes = fmax(0.0, last - item->hole + 1);
    item->candidates = (int64_t)(item->column.high - item->column.low + 1 - item->holes) *
                       p->scene.n_panels;
    return item->candidates > 0;
}

/** True if a region overlaps the pixels range[axis][0] .. range[axis][1]. */
NB_HD int nb_spot_meets(const nb_region *r, double range[2][2])
{
    return r->fmin <= r->fmax && r->smin <= r->smax && range[0][1] >= r->fmin &&
           range[0][0] <= r->fmax + 1 && range[1][1] >= r->smin &&
           range[1][0] <= r->smax + 1;
}

/** Set sight i of an item. Returns 0 if the panel does not see the reflection. */
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
    sight->first = item->first;
    sight->end = item->end;
    /* not above the reach at which terms are far below the unit of the sums */
    sight->spot.reach2 =
        fmin(NB_SPOT_LEAST_POWER / sp->fall,
             nb_spot_reach2(sp, &p->limits,
                            nb_spot_F2_of(&p->scene.factors.table, sight->spot.h)));
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

/** True if a source excites the reflection in orientation m. */
NB_HD int nb_spot_excited(const nb_spots *sp, const nb_spot *spot, int m)
{
    const double *a = sp->along + m, *b = a + sp->stride, *c = b + sp->stride;
    double limit;
    const double middle = nb_spot_excitation(sp, spot, &limit);
    return fabs(a[0] * spot->h[0] + b[0] * spot->h[1] + c[0] * spot->h[2] + middle) <=
           limit;
}

/** Set a box, not yet fitted: a sight in orientation m, for a run of sources, at a layer.
 * Returns 0 if no source excites the reflection. */
NB_HD int nb_spot_light(const nb_spot_pass *p, const nb_spot_sight *sight, int m, int run,
                        int layer, nb_spot_box *box)
{
    if (layer >= p->sensors[p->panels[sight->panel].sensor].layers ||
        !nb_spot_excited(&p->spots, &sight->spot, m))
        return 0;
    box->spot = sight->spot;
    box->panel = sight->panel;
    box->layer = layer;
    box->m = m;
    box->run = run;
    return 1;
}

/** Fit a box: calculate its sub-pixels and F2. The width of an empty box is 0. */
NB_HD void nb_spot_fit(const nb_spot_pass *p, nb_spot_box *box)
{
    const nb_spots *sp = &p->spots;
    const nb_region *r = &p->regions[box->panel];
    const nb_spot spot = box->spot;
    const nb_spot_view view =
        nb_spot_view_of(&p->planes[box->panel], &p->sensors[p->panels[box->panel].sensor],
                        box->layer, &sp->runs[box->run], &sp->cells[box->m], 0);
    const int os = p->scene.oversample;
    const nb_spot_field field[2] = {{os, r->fmin * os, (r->fmax - r->fmin + 1) * os},
                                    {os, r->smin * os, (r->smax - r->smin + 1) * os}};
    double g[3], ends[2][2];
    int lit;
    nb_spot_point(&sp->cells[box->m], spot.h, g);
    lit = nb_spot_box_of(sp, &view, &spot, g, field, ends);
    box->width = box->height = 0;
    box->F2 = nb_spot_peak(sp, &p->scene.factors.table, &spot, &sp->runs[box->run]);
    if (!(box->F2 > 0) || !lit)
        return;
    box->u = field[0].first + (int)ends[0][0];
    box->v = field[1].first + (int)ends[1][0];
    box->width = (int)(ends[0][1] - ends[0][0]) + 1;
    box->height = (int)(ends[1][1] - ends[1][0]) + 1;
}

/** Common data of the rays of a box. */
typedef struct nb_spot_brush {
    nb_spot_pair pair;
    nb_spot_ray at;
} nb_spot_brush;

NB_HD nb_spot_brush nb_spot_brush_of(const nb_spot_pass *p, const nb_spot_box *box)
{
    const nb_panel *panel = &p->panels[box->panel];
    nb_spot_brush brush;
    brush.pair = nb_spot_pair_with(&p->spots, box->F2, &box->spot, box->m,
                                   &p->spots.runs[box->run]);
    brush.at.scene = &p->scene;
    brush.at.panel = panel;
    brush.at.sensor = &p->sensors[panel->sensor];
    brush.at.sources = p->spots.source;
    brush.at.layer = box->layer;
    return brush;
}

/** Rays of a box in coordinates of the crystal. start + u fast + v slow is A times the
 * vector to the middle of sub-pixel (u, v) of the box. The square of this vector is a
 * polynomial in u and v. */
typedef struct nb_spot_frame {
    double start[3], fast[3], slow[3];
    double incident[3]; /* A times the sources' direction */
    double Lh[3];
    double square[6]; /* coefficients of 1, u, v, u^2, u v, v^2; m^2 */
    double middle;    /* middle kappa of the run, 1/m */
} nb_spot_frame;

NB_HD double nb_spot_row(const double A[3], nb_vec3 x)
{
    return fma(x.x, A[0], fma(x.y, A[1], x.z * A[2]));
}

NB_HD nb_spot_frame nb_spot_frame_of(const nb_spot_pass *p, const nb_spot_box *box)
{
    const nb_spot_brush brush = nb_spot_brush_of(p, box);
    const nb_panel *panel = brush.at.panel;
    const nb_vec3 fast = nb_scale(panel->pixel_fast * p->per_edge, panel->fast),
                  slow = nb_scale(panel->pixel_slow * p->per_edge, panel->slow),
                  depth =
                      nb_scale(box->layer * brush.at.sensor->layer_step, panel->normal),
                  way = nb_add(
                      nb_add(panel->pix0, depth),
                      nb_add(nb_scale(box->u + 0.5, fast), nb_scale(box->v + 0.5, slow)));
    nb_spot_frame frame;
    for (int i = 0; i < 3; i++) {
        const double *A = brush.pair.A[i];
        frame.start[i] = nb_spot_row(A, way);
        frame.fast[i] = nb_spot_row(A, fast);
        frame.slow[i] = nb_spot_row(A, slow);
        frame.incident[i] = nb_spot_row(A, brush.pair.run->incident);
        frame.Lh[i] = brush.pair.Lh[i];
    }
    frame.square[0] = nb_dot(way, way);
    frame.square[1] = 2 * nb_dot(way, fast);
    frame.square[2] = 2 * nb_dot(way, slow);
    frame.square[3] = nb_dot(fast, fast);
    frame.square[4] = 2 * nb_dot(fast, slow);
    frame.square[5] = nb_dot(slow, slow);
    frame.middle = brush.pair.run->middle;
    return frame;
}

/** The ray to sub-pixel (u, v) of the frame's box. */
NB_HD nb_spot_aim nb_spot_frame_aim(const nb_spot_frame *frame, int u, int v)
{
    const double *s = frame->square, x = u, y = v;
    const double square = fma(fma(s[3], x, fma(s[4], y, s[1])), x,
                              fma(fma(s[5], y, s[2]), y, s[0])),
                 inverse = NB_SPOT_INVERSE_ROOT(square);
    nb_spot_aim aim;
    for (int i = 0; i < 3; i++) {
        const double way = fma(frame->slow[i], y, fma(frame->fast[i], x, frame->start[i]));
        aim.G[i] = fma(way, inverse, -frame->incident[i]);
        aim.U[i] = fma(aim.G[i], frame->middle, -frame->Lh[i]);
    }
    aim.last = 1e100;
    return aim;
}

/** A sum as an integer number of units. It is rounded down, because otherwise thousands
 * of dim terms could make a pixel too bright. The sum of a top hat is rounded to nearest,
 * and is at least 1. */
NB_HD unsigned long long nb_spot_whole(const nb_spot_pass *p, double sum, const nb_law law)
{
    const double units = sum * p->per_unit;
    return (unsigned long long)(law == NB_LAW_EDGE ? fmax(1.0, units + 0.5) : units);
}

/** The ray to sub-pixel (u, v) of a box. In a plain pass the frame of the box gives the
 * ray, and *ray gets factors of 1. Otherwise the frame is unused, and *ray is set with
 * its direction. */
NB_HD nb_spot_aim nb_spot_aim_at(const nb_spot_pass *p, int plain, nb_spot_brush *brush,
                                 const nb_spot_box *box, const nb_spot_frame *frame,
                                 int u, int v, nb_ray *ray)
{
    nb_vec3 q;
    double way[3];
    brush->at.u = box->u + u;
    brush->at.v = box->v + v;
    if (plain) {
        ray->capture = ray->omega = 1;
        return nb_spot_frame_aim(frame, u, v);
    }
    *ray = nb_spot_ray_of(&brush->at);
    q = nb_sub(ray->direction, brush->pair.run->incident);
    way[0] = q.x;
    way[1] = q.y;
    way[2] = q.z;
    return nb_spot_aim_of(&brush->pair, p->scene.factors.dmin, way);
}

/** Factor of the terms of a ray. */
NB_HD double nb_spot_counts(const nb_spot_pass *p, int plain, const nb_spot_brush *brush,
                            const nb_ray *ray)
{
    const nb_scene *sc = &p->scene;
    double counts = brush->pair.F2;
    if (plain)
        return counts;
    counts *= ray->capture;
    if (sc->oversample_omega)
        counts *= ray->omega;
    if (sc->oversample_polar && !sc->beam.nopolar)
        counts *= nb_polarization(sc->beam.polarization, brush->pair.run->incident,
                                  ray->direction, sc->beam.polar_axis);
    return counts;
}

/** The pixel of the stack that contains the ray. */
NB_HD size_t nb_spot_pixel(const nb_spot_brush *brush)
{
    const int os = brush->at.scene->oversample;
    const nb_panel *panel = brush->at.panel;
    const int f = os == 1 ? brush->at.u : brush->at.u / os,
              s = os == 1 ? brush->at.v : brush->at.v / os;
    return panel->first_pixel + (size_t)s * (size_t)panel->columns + (size_t)f;
}

/** Units that a ray adds to the sum of its pixel. law: p->spots.law; other parameters:
 * see nb_spot_aim_at. */
NB_HD unsigned long long nb_spot_units(const nb_spot_pass *p, int plain,
                                       nb_spot_brush *brush, const nb_spot_box *box,
                                       const nb_spot_frame *frame, nb_law law, int u,
                                       int v)
{
    nb_ray ray;
    nb_spot_aim aim = nb_spot_aim_at(p, plain, brush, box, frame, u, v, &ray);
    double sum = nb_spot_terms(&p->spots, &brush->pair, &brush->at, law, &aim);
    if (!(sum > 0))
        return 0;
    sum *= nb_spot_counts(p, plain, brush, &ray);
    return sum > 0 ? nb_spot_whole(p, sum, law) : 0;
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

/** Photons of a pixel of the stack with this sum; 0 if the pixel is outside the region of
 * its panel or masked. */
NB_HD double nb_spot_photons(const nb_spot_pass *p, size_t pixel, unsigned long long sum)
{
    const int k = nb_spot_panel_of(p, pixel);
    const nb_region *r = &p->regions[k];
    nb_panel panel = p->panels[k];
    const nb_sensor *sensor = &p->sensors[panel.sensor];
    const size_t at = pixel - panel.first_pixel;
    const int f = (int)(at % (size_t)panel.columns), s = (int)(at / (size_t)panel.columns);
    const double terms = (double)sum * p->unit;
    panel.curved = 0; /* lets the compiler drop code for curved panels */
    if (f < r->fmin || f > r->fmax || s < r->smin || s > r->smax ||
        (p->mask && !p->mask[pixel]))
        return 0;
    return terms > 0 ? terms * p->scene.intensity_scale *
                           nb_cached_factors(&p->scene, &panel, sensor, f, s)
                     : 0;
}

#endif
