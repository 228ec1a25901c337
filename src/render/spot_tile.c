/* SPDX-License-Identifier: MIT */
#include "spot_tile.h"

#include "../base/memory.h"
#include "../physics/pixel.h"

#define ROOM 1e-6    /* for rounding, in parts of R and in sub-pixels */
#define GRAZING 0.01 /* of rays along a panel no box is made */

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** Distance of a lit point from its reflection, at most; 1/m. */
static double distance(const nb_spots *sp, const nb_spot *spot)
{
    return sqrt(spot->reach2) * (1 + ROOM) * sp->axis;
}

double nb_spot_slack(const nb_spots *sp, const nb_spot *spot)
{
    const double rho = distance(sp, spot);
    return rho * (1 + 0.5 * rho * sp->longest) + ROOM * rho;
}

/** Wavelengths of a run that may light g; 0: none. */
static int lit_wavelengths(const nb_spots *sp, const nb_spot *spot,
                           const nb_spot_run *run, double e, double l[2])
{
    const double slack = nb_spot_slack(sp, spot);
    l[0] = run->shortest;
    l[1] = run->longest;
    if (spot->g2 > 0) {
        l[0] = fmax(l[0], (-e - slack) * 2 / spot->g2);
        l[1] = fmin(l[1], (-e + slack) * 2 / spot->g2);
    }
    return l[0] <= l[1];
}

/** How far d.axis/d.n of a lit ray is from `ratio`, times d.n/lambda, at most. */
static double extent(const nb_spot_plane *plane, int axis, const nb_spot_cell *cell,
                     double ratio, double reach2)
{
    double across[3], sum = 0;
    for (int x = 0; x < 3; x++)
        across[x] = plane->axis[axis][x] - ratio * plane->n[x];
    for (int i = 0; i < 3; i++) {
        double y = across[0] * cell->E[0][i] + across[1] * cell->E[1][i] +
                   across[2] * cell->E[2][i];
        sum += y * y;
    }
    return sqrt(sum * reach2) * (1 + ROOM);
}

/** The box along an axis, from pixels of the panel to sub-pixels of the tile; 0: none. */
static int clip(const nb_spot_tile *t, int axis, double low, double high, int range[2])
{
    const int os = t->plan->scene.oversample, n = axis ? t->nv : t->nu;
    const double start = (double)(axis ? t->s0 : t->f0) * os + 0.5;
    low = ceil(low * os - start - ROOM);
    high = floor(high * os - start + ROOM);
    if (!(high >= 0) || !(low < n) || low > high)
        return 0;
    range[0] = low > 0 ? (int)low : 0;
    range[1] = high < n ? (int)high : n - 1;
    return 1;
}

int nb_spot_box(const nb_spot_tile *t, const nb_spot *spot, const nb_spot_cell *cell,
                const nb_spot_run *run, const double g[3], int box[2][2])
{
    const nb_spot_plane *plane = t->plane;
    const nb_sensor *sensor = &t->plan->sensor;
    const double i[3] = {run->incident.x, run->incident.y, run->incident.z};
    const double step = sensor->layer_step;
    const double depth[2] = {t->layer * step,
                             (t->layer + (sensor->mean_depth ? 1 : 0)) * step};
    double l[2], w[2], far, least;
    if (!lit_wavelengths(t->spots, spot, run, dot(i, g), l))
        return 0;
    far = l[1] * distance(t->spots, spot);
    for (int j = 0; j < 2; j++)
        w[j] = dot(i, plane->n) + l[j] * dot(g, plane->n);
    if (fmax(w[0], w[1]) + far < 0)
        return 0;
    least = fmin(w[0], w[1]) - far;
    box[0][0] = box[1][0] = 0;
    box[0][1] = t->nu - 1;
    box[1][1] = t->nv - 1;
    for (int k = 0; k < 2 && least > GRAZING; k++) {
        double ratio[2], off = 0, low, high;
        for (int j = 0; j < 2; j++) { /* at both ends of the wavelengths */
            ratio[j] = (dot(i, plane->axis[k]) + l[j] * dot(g, plane->axis[k])) / w[j];
            off = fmax(off, extent(plane, k, cell, ratio[j], spot->reach2));
        }
        off *= l[1] / least;
        const double ends[2] = {fmin(ratio[0], ratio[1]) - off,
                                fmax(ratio[0], ratio[1]) + off};
        nb_spot_extent(plane, k, ends, depth, &low, &high);
        if (!clip(t, k, low, high, box[k]))
            return 0;
    }
    return 1;
}

int nb_spot_lit(const nb_spot_tile *t, const nb_spot *spot, int orientation, int source,
                int u, int v)
{
    const nb_scene *sc = t->spots->scene;
    const nb_panel *panel = &t->plan->panel;
    const int os = sc->oversample;
    const int f = t->f0 + u / os, s = t->s0 + v / os;
    const nb_ray ray =
        nb_ray_to(panel, &t->plan->sensor, nb_subpixel(panel->pixel_fast, os, f, u % os),
                  nb_subpixel(panel->pixel_slow, os, s, v % os), t->layer);
    const nb_vec3 q = nb_scattering_vector(&sc->beam.sources[source], ray.direction);
    const nb_sample p =
        nb_sample_at(&sc->lattice, &sc->factors.table, sc->beam.sources[source].table,
                     &sc->lattice.orientations[orientation], q);
    return p.F_latt != 0 && p.h0 == spot->h[0] && p.k0 == spot->h[1] && p.l0 == spot->h[2];
}

nb_status nb_spot_tile_alloc(nb_spot_tile *t, int edge, nb_error *err)
{
    const size_t pitch = (size_t)edge + 2 * NB_SPOT_PAD, n = (size_t)edge * pitch;
    double **arrays[] = {&t->x, &t->y, &t->z, &t->factor, &t->sum};
    t->pitch = pitch;
    t->aimed = nb_alloc((size_t)edge, 1, "tile", err);
    t->touched = nb_alloc((size_t)edge, 1, "tile", err);
    for (int i = 0; i < 5; i++)
        *arrays[i] = nb_alloc(n, sizeof(double), "tile", err);
    return t->aimed && t->touched && t->x && t->y && t->z && t->factor && t->sum
               ? NB_OK
               : NB_ERR_NOMEM;
}

void nb_spot_tile_free(nb_spot_tile *t)
{
    nb_free(t->x);
    nb_free(t->y);
    nb_free(t->z);
    nb_free(t->factor);
    nb_free(t->sum);
    nb_free(t->aimed);
    nb_free(t->touched);
}
