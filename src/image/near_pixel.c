/* SPDX-License-Identifier: MIT */
#include "near_pixel.h"

#include "../physics/limits.h"
#include "../physics/pixel.h"

/* Part of the photons that may be left out, and what rounding may add to an index. */
#define LEFT_OUT 1e-18
#define ROUNDING 1e-9

/** The rays of a pixel, and how far an index may be from a whole number where a term counts. */
typedef struct nearness {
    const nb_beam *beam;
    nb_vec3 direction; /* unit */
    double chord;      /* |d - direction| of every ray, at most */
    double across[3];
    double kappa[2]; /* wavenumbers of the first run of sources, 1/m */
    int end;         /* of that run */
} nearness;

/** R^2 beyond which all terms of the scene are below LEFT_OUT of the photons; 0: no such limit. */
static double reach2(const nb_scene *sc, double photons)
{
    const double fudge = sc->lattice.fudge, bound = nb_photon_bound(sc);
    const nb_shape_row shape = nb_shape_row_of(sc->lattice.shape);
    if (!(fudge > 0) || !isfinite(bound) || !(photons > 0))
        return 0;
    if (shape.law == NB_LAW_EDGE)
        return shape.width / fudge;
    if (shape.law != NB_LAW_DECAY)
        return 0;
    return fmax(0, 0.5 * shape.width / fudge * log(bound / (LEFT_OUT * photons)));
}

/** The half edges of the box around the ellipsoid d.M.d <= R2; 0: M is none. */
static int box_of(const double *m, double R2, double half[3])
{
    const double xx = m[0], yy = m[1], zz = m[2], xy = 0.5 * m[3], xz = 0.5 * m[4],
                 yz = 0.5 * m[5];
    const double minor[3] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy};
    const double volume =
        xx * minor[0] - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
    for (int i = 0; i < 3; i++) {
        half[i] = sqrt(R2 * (1 + ROUNDING) * minor[i] / volume) + ROUNDING;
        if (!(volume > 0) || !isfinite(half[i]))
            return 0;
    }
    return 1;
}

/** The directions within a pixel: those of its corners, at the first depth and the last, hold the rest. */
static void aim(const nb_scene *sc, const nb_panel *panel, int f, int s, nearness *n)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const int os = sc->oversample, depths = sensor->layers - !sensor->mean_depth;
    nb_vec3 at[8], sum = {0, 0, 0};
    for (int i = 0; i < 8; i++) {
        const double F = nb_subpixel(panel->pixel_fast, os, f, i & 1 ? os - 1 : 0),
                     S = nb_subpixel(panel->pixel_slow, os, s, i & 2 ? os - 1 : 0);
        at[i] =
            nb_unit(nb_panel_point(panel, F, S, i & 4 ? depths * sensor->layer_step : 0));
        sum = nb_add(sum, at[i]);
    }
    n->direction = nb_unit(sum);
    n->chord = 0;
    for (int i = 0; i < 8; i++)
        n->chord = fmax(n->chord, nb_norm(nb_sub(at[i], n->direction)));
}

/** Sources first..end-1 of one direction and their wavenumbers, 1/m; returns the end. */
static int run_of(const nb_beam *beam, int first, double kappa[2])
{
    const nb_vec3 *from = &beam->sources[first].incident;
    int end = first;
    kappa[0] = INFINITY;
    kappa[1] = 0;
    for (; end < beam->n_sources; end++) {
        const nb_source *source = &beam->sources[end];
        if (nb_norm(nb_sub(source->incident, *from)) > 0)
            break;
        kappa[0] = fmin(kappa[0], 1 / source->lambda);
        kappa[1] = fmax(kappa[1], 1 / source->lambda);
    }
    return end;
}

/** Does an index of a ray come within `across` of a whole number?  axis: of the cell, m. */
static int index_is_near(const nearness *n, nb_vec3 axis, nb_vec3 incident,
                         const double kappa[2], double across)
{
    const double along = nb_dot(axis, nb_sub(n->direction, incident));
    const double room = across + nb_norm(axis) * n->chord * kappa[1];
    const double low = fmin(along * kappa[0], along * kappa[1]) - room,
                 high = fmax(along * kappa[0], along * kappa[1]) + room;
    return floor(high) >= low;
}

static int is_near(const nearness *n, const nb_orientation *u)
{
    double kappa[2] = {n->kappa[0], n->kappa[1]};
    for (int i = 0, end = n->end; i < n->beam->n_sources; i = end) {
        const nb_vec3 incident = n->beam->sources[i].incident;
        if (i > 0)
            end = run_of(n->beam, i, kappa);
        if (index_is_near(n, u->a, incident, kappa, n->across[0]) &&
            index_is_near(n, u->b, incident, kappa, n->across[1]) &&
            index_is_near(n, u->c, incident, kappa, n->across[2]))
            return 1;
    }
    return 0;
}

int nb_near_orientations(const nb_scene *sc, const nb_panel *panel, int f, int s,
                         double photons, nb_orientation near[NB_NEAR_MOST])
{
    const nb_lattice *lattice = &sc->lattice;
    const double R2 = reach2(sc, photons);
    nearness n = {.beam = &sc->beam};
    int count = 0;
    if (panel->curved || !(R2 > 0) || !box_of(lattice->radius2, R2, n.across))
        return -1;
    aim(sc, panel, f, s, &n);
    n.end = run_of(n.beam, 0, n.kappa);
    for (int i = 0; i < lattice->n_orientations; i++)
        if (is_near(&n, &lattice->orientations[i])) {
            if (count == NB_NEAR_MOST)
                return -1;
            near[count++] = lattice->orientations[i];
        }
    return count;
}

double nb_near_pixel(const nb_scene *sc, const nb_panel *panel, int f, int s,
                     double photons)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    nb_orientation orientations[NB_NEAR_MOST];
    const int count = nb_near_orientations(sc, panel, f, s, photons, orientations);
    nb_scene near = *sc;
    double value;
    if (count < 0)
        return nb_pixel_intensity(sc, panel, sensor, f, s);
    if (count > 0)
        near.lattice.orientations = orientations;
    near.lattice.n_orientations = count > 0 ? count : 1;
    near.background *= (double)sc->lattice.n_orientations / near.lattice.n_orientations;
    near.amorphous = NULL; /* it counts the orientations */
    value = nb_pixel_intensity(&near, panel, sensor, f, s);
    if (sc->amorphous)
        value += nb_pixel_background(sc, sc->amorphous, panel, sensor, f, s);
    return value;
}
