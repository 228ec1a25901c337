/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "../physics/panels.h"
#include "../physics/ray.h"
#include "scene_build.h"
#include "units.h"

enum { EDGE = 32 }; /* number of points along each edge of a panel */

/** Directions to the rim of the rendered part of a panel. */
typedef struct rim {
    nb_vec3 d[8 * EDGE];
    int n;
} rim;

static void add_point(const nb_panel *panel, double F, double S, double O, rim *r)
{
    r->d[r->n++] = nb_unit(nb_panel_point(panel, F, S, O));
}

/** Make corners and points between them, at both faces of the sensor. Upstream of the
 * crystal, the angle to the beam may be largest between corners. */
static rim rim_of(const nb_scene *sc, const nb_panel *panel)
{
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    const nb_region g = nb_panel_region(sc, panel);
    double F[2] = {g.fmin * panel->pixel_fast, (g.fmax + 1) * panel->pixel_fast};
    double S[2] = {g.smin * panel->pixel_slow, (g.smax + 1) * panel->pixel_slow};
    rim r;
    r.n = 0;
    if (nb_region_pixels(g) == 0)
        return r;
    for (int side = 0; side < 2; side++) {
        double O = side * sensor->layers * sensor->layer_step;
        for (int i = 0; i < EDGE; i++) {
            double t = (double)i / EDGE, f = F[0] + t * (F[1] - F[0]),
                   s = S[0] + t * (S[1] - S[0]);
            add_point(panel, f, S[0], O, &r);
            add_point(panel, F[1], s, O, &r);
            add_point(panel, F[1] + F[0] - f, S[1], O, &r);
            add_point(panel, F[0], S[1] + S[0] - s, O, &r);
        }
    }
    return r;
}

/** True if the reversed beam hits the rendered part of a flat panel: |q| is largest
 * there. */
static int sees_back(const nb_scene *sc, const nb_panel *panel, nb_vec3 beam)
{
    const nb_region g = nb_panel_region(sc, panel);
    double along = -nb_dot(beam, panel->normal), to = nb_dot(panel->pix0, panel->normal);
    double f, s;
    nb_vec3 at;
    if (panel->curved || nb_region_pixels(g) == 0 || !(to / along > 0))
        return 0;
    at = nb_sub(nb_scale(-to / along, beam), panel->pix0);
    nb_panel_place_of(panel->fast, panel->slow, at, &f, &s);
    f /= panel->pixel_fast;
    s /= panel->pixel_slow;
    return f >= g.fmin && f <= g.fmax + 1 && s >= g.smin && s <= g.smax + 1;
}

double nb_scene_reach(const nb_scene *sc)
{
    double largest = 0;
    for (int p = 0; p < sc->n_panels; p++) {
        const nb_panel *panel = &sc->panels[p];
        rim r = rim_of(sc, panel);
        for (int i = 0; i < sc->beam.n_sources; i++) {
            const nb_source *source = &sc->beam.sources[i];
            double q = 0;
            for (int k = 0; k < r.n; k++)
                q = fmax(q, nb_norm(nb_sub(r.d[k], source->incident)));
            if (r.n && sees_back(sc, panel, source->incident))
                q = 2;
            largest = fmax(largest, q / (source->lambda / NB_ANGSTROM));
        }
    }
    return largest;
}
