/* SPDX-License-Identifier: MIT */
/* The geometry of a detector from a file: panels in the lab frame. */
#include "detector.h"

#include <math.h>

#include "../base/error.h"
#include "../physics/panels.h"
#include "units.h"

static nb_vec3 origin_of(const nb_geometry *g, const double origin[3])
{
    nb_vec3 at = nb_lab_of_nexus(g->convention, origin);
    if (g->shift.x != 0 || g->shift.y != 0 || g->shift.z != 0)
        at = nb_add(at, g->shift);
    return at;
}

static void displace(const nb_geometry *g, int k, nb_panel *panel)
{
    nb_body place = {panel->pix0, {panel->fast, panel->slow, panel->normal}};
    const nb_body own = place;
    nb_displace(g->moved, k, &g->body, &own, &place);
    panel->pix0 = place.origin;
    panel->fast = place.axis[0];
    panel->slow = place.axis[1];
    panel->normal = place.axis[2];
}

void nb_panel_place(const nb_geometry *g, const nb_panel_spec *spec, int k,
                    nb_panel *panel)
{
    nb_vec3 R;
    double ratio;
    panel->columns = spec->size[0];
    panel->rows = spec->size[1];
    panel->pixel_fast = spec->pixel[0];
    panel->pixel_slow = spec->pixel[1];
    panel->fast = nb_lab_of_nexus(g->convention, spec->fast);
    panel->slow = nb_lab_of_nexus(g->convention, spec->slow);
    panel->normal = nb_unit(nb_cross(panel->fast, panel->slow));
    panel->beam = g->beam;
    panel->pix0 = origin_of(g, spec->origin);
    if (g->moved)
        displace(g, k, panel);
    panel->close_distance = nb_dot(panel->pix0, panel->normal);
    if (panel->close_distance < 0) {
        panel->close_distance = -panel->close_distance;
        panel->normal = nb_scale(-1, panel->normal);
    }
    ratio = nb_dot(panel->beam, panel->normal);
    panel->distance = panel->close_distance / ratio;
    if (!isfinite(panel->distance)) /* the beam is parallel to the plane */
        panel->distance = panel->close_distance;
    R = nb_sub(nb_scale(panel->distance, panel->beam), panel->pix0);
    nb_panel_place_of(panel->fast, panel->slow, R, &panel->Fbeam, &panel->Sbeam);
}

/** Distance from the panel to the point where the beam hits its plane, m; 1e300 if the
 * beam misses the plane. */
static double beam_off(const nb_panel *panel)
{
    double f = panel->Fbeam - panel->columns * panel->pixel_fast;
    double s = panel->Sbeam - panel->rows * panel->pixel_slow;
    double df = fmax(0, fmax(-panel->Fbeam, f)), ds = fmax(0, fmax(-panel->Sbeam, s));
    int meets = nb_dot(panel->beam, panel->normal) > 0;
    return meets && isfinite(df + ds) ? sqrt(df * df + ds * ds) : 1e300;
}

/** Find the first panel that the beam hits, or the panel nearest to the beam. */
static int find_beam(const nb_geometry *g, const nb_detector_spec *d)
{
    double least = INFINITY;
    int best = 0;
    for (int k = 0; k < d->n_panels && least > 0; k++) {
        nb_panel panel;
        double off;
        nb_panel_place(g, &d->panels[k], k, &panel);
        off = beam_off(&panel);
        if (off < least) {
            least = off;
            best = k;
        }
    }
    return best;
}

void nb_geometry_take_panel(const nb_detector_spec *d, const nb_displacement *moved,
                            nb_geometry *g)
{
    nb_panel p;
    int k = find_beam(g, d);
    nb_panel_place(g, &d->panels[k], k, &p);
    g->body = (nb_body){p.pix0, {p.fast, p.slow, nb_unit(nb_cross(p.fast, p.slow))}};
    g->moved = moved;
    if (moved)
        nb_panel_place(g, &d->panels[k], k, &p);
    g->beam_panel = k;
    g->fpixels = p.columns;
    g->spixels = p.rows;
    g->pixel = p.pixel_fast;
    g->pixel_slow = p.pixel_slow;
    g->detsize_f = p.columns * p.pixel_fast;
    g->detsize_s = p.rows * p.pixel_slow;
    g->fast = p.fast;
    g->slow = p.slow;
    g->normal = p.normal;
    g->pix0 = p.pix0;
}

nb_status nb_geometry_frame(const nb_settings *cfg, nb_geometry *g, nb_error *err)
{
    if (g->convention == NB_CONV_ADXV)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-adxv: its frame is mirrored, which a detector from a file is not; "
            "type -mosflm, -xds or -dials");
    g->shift = nb_add(nb_scale(-cfg->value.beam_shift_mm[0] * NB_MM, g->fast),
                      nb_scale(-cfg->value.beam_shift_mm[1] * NB_MM, g->slow));
    return NB_OK;
}
