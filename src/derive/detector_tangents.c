/* SPDX-License-Identifier: MIT */
/* Slopes by parameters of the detector. Each parameter moves a panel as a rigid body. */
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "variables.h"

/** Rates of change of a panel's origin and axes, and of the panel's point that the beam
 * hits. */
typedef struct motion {
    nb_vec3 velocity, spin, spot;
} motion;

static const nb_vec3 zero = {0, 0, 0};
static const nb_vec3 unit_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/** Set the rate of the point that the beam hits, if this point moves with the panel. */
static motion with_spot(const nb_panel *p, motion by)
{
    nb_vec3 arm = nb_sub(nb_scale(p->distance, p->beam), p->pix0);
    by.spot = nb_add(by.velocity, nb_cross(by.spin, arm));
    return by;
}

/** Slopes of a panel that moves as a rigid body (docs/physics.md, section 4, step 6). The
 * rates of distance and beam centre follow from the rate of the point that the beam hits.
 * If that rate is 0, they are exactly 0 too. */
static nb_panel_slope rigid(const nb_panel *p, motion by)
{
    nb_panel_slope s = {0};
    nb_vec3 along;
    double ratio = nb_dot(p->beam, p->normal);
    s.pix0 = by.velocity;
    s.fast = nb_cross(by.spin, p->fast);
    s.slow = nb_cross(by.spin, p->slow);
    s.normal = nb_cross(by.spin, p->normal);
    s.close_distance = nb_dot(s.pix0, p->normal) + nb_dot(p->pix0, s.normal);
    if (ratio != 0)
        s.distance = nb_dot(by.spot, p->normal) / ratio;
    along = nb_sub(nb_scale(s.distance, p->beam), by.spot);
    nb_panel_place_of(p->fast, p->slow, along, &s.Fbeam, &s.Sbeam);
    if (p->curved) /* across the beam, the fast axis turns towards the slow axis */
        s.roll = nb_dot(s.fast, p->curved_slow) /
                 nb_norm(nb_sub(p->fast, nb_scale(nb_dot(p->fast, p->beam), p->beam)));
    return s;
}

static double sign(double x)
{
    return x < 0 ? -1 : 1;
}

/** Shift of the detector: by the change dC of the close distance along the normal (pivot
 * sample), or by the change dD of the distance along the beam. */
static nb_vec3 approach(const nb_geometry *g, double dC, double dD)
{
    return g->pivot == NB_PIVOT_SAMPLE ? nb_scale(dC, g->body.axis[2])
                                       : nb_scale(dD, g->beam);
}

static int is_displaced(const nb_displacement *moved)
{
    const double *number = (const double *)&moved->whole;
    for (size_t i = 0; i < sizeof moved->whole / sizeof *number; i++)
        if (number[i] != 0)
            return 1;
    return moved->panels != NULL;
}

static motion tilt(const nb_subject *of, int axis)
{
    const nb_geometry *g = &of->model->geometry;
    const nb_placement *at = &g->placed;
    const nb_body *body = &g->body;
    double swung = of->cfg->value.close_twotheta_deg * NB_DEG, dr, dC = 0, dD = 0;
    nb_vec3 n0 = zero, n = g->twotheta_axis,
            o = nb_rotate_xyz(at->typed_normal, g->rotx, g->roty, g->rotz);
    motion by;
    if (axis < 3) {
        n0 = nb_rotate_xyz(unit_axes[axis], 0, axis < 1 ? g->roty : 0,
                           axis < 2 ? g->rotz : 0);
        n = nb_rotate_about(n0, g->twotheta_axis, g->twotheta);
    }
    dr = nb_dot(g->beam, nb_rotate_about(nb_cross(n0, o), g->twotheta_axis, swung));
    if (!NB_TYPED(of->cfg, close_distance_mm))
        dC = fabs(of->cfg->value.distance_mm * NB_MM) * sign(at->ratio) * dr;
    else
        dD = -at->close_distance / (at->ratio * at->ratio) * dr;
    by.spin = nb_scale(NB_DEG, n);
    by.velocity = by.spot = nb_scale(NB_DEG, approach(g, dC, dD));
    if (g->pivot == NB_PIVOT_SAMPLE)
        by.velocity = nb_add(by.velocity, nb_cross(by.spin, body->origin));
    else
        by.velocity = nb_sub(
            by.velocity, nb_cross(by.spin, nb_add(nb_scale(at->Fbeam, body->axis[0]),
                                                  nb_scale(at->Sbeam, body->axis[1]))));
    return by;
}

static nb_vec3 centre(const nb_subject *of, int axis)
{
    const nb_geometry *g = &of->model->geometry;
    const nb_centre_rate r = nb_centre_rate_of(of, axis);
    int sample = g->pivot == NB_PIVOT_SAMPLE;
    return nb_add(nb_scale(sample ? -r.Fclose : -r.Fbeam, g->body.axis[0]),
                  nb_scale(sample ? -r.Sclose : -r.Sbeam, g->body.axis[1]));
}

/** Motion of a panel by a flag that places the detector. */
static motion placement(const nb_subject *of, const nb_variable_name *v,
                        const nb_panel *panel)
{
    const nb_geometry *g = &of->model->geometry;
    const double *along = of->moved->whole.along;
    const double r = g->placed.ratio;
    motion by = {zero, zero, zero};
    switch (v->kind) {
    case NB_VAR_DISTANCE:
        by.velocity = nb_scale(NB_MM, approach(g, fabs(r), sign(r)));
        break;
    case NB_VAR_CLOSE_DISTANCE:
        by.velocity = nb_scale(NB_MM, approach(g, 1, 1 / r));
        break;
    case NB_VAR_CENTRE:
        by.velocity = centre(of, v->axis);
        break;
    default:
        by = tilt(of, v->axis);
        by.velocity =
            nb_add(by.velocity, nb_cross(by.spin, nb_along_axes(&g->body, along)));
        if (g->pivot != NB_PIVOT_SAMPLE && !is_displaced(of->moved))
            return by; /* The panel turns about the point that the beam hits. */
        break;
    }
    return with_spot(panel, by);
}

/** Position of panel k without displacements. */
static nb_body undisplaced(const nb_subject *of, int k)
{
    nb_geometry plain = of->model->geometry;
    nb_panel p;
    if (!of->cfg->value.detector)
        return plain.body;
    plain.moved = NULL;
    nb_panel_place(&plain, &of->cfg->value.detector->panels[k], k, &p);
    return (nb_body){p.pix0, {p.fast, p.slow, nb_unit(nb_cross(p.fast, p.slow))}};
}

/** Motion of panel k by a shift or rotation of the whole detector. */
static motion displace_whole(const nb_subject *of, const nb_variable_name *v, int k)
{
    const nb_body *body = &of->model->geometry.body;
    nb_vec3 w = nb_along_axes(body, of->moved->whole.turn);
    motion by = {zero, zero, zero};
    if (v->kind == NB_VAR_SHIFT)
        by.velocity = nb_scale(NB_MM, unit_axes[v->axis]);
    if (v->kind == NB_VAR_SHIFT_ALONG)
        by.velocity = nb_scale(NB_MM, body->axis[v->axis]);
    if (v->kind == NB_VAR_TURN) {
        nb_vec3 arm = nb_sub(undisplaced(of, k).origin, body->origin);
        by.spin = nb_scale(NB_DEG, nb_turn_rate(w, body->axis[v->axis]));
        by.velocity = nb_cross(by.spin, nb_turn(w, arm));
    }
    return by;
}

/** Motion of panel k by a shift or rotation of this panel. */
static motion displace_panel(const nb_subject *of, const nb_variable_name *v, int k)
{
    const nb_displacement *moved = of->moved;
    const nb_body own = undisplaced(of, k);
    nb_vec3 whole = nb_along_axes(&of->model->geometry.body, moved->whole.turn), w = zero;
    motion by = {zero, zero, zero};
    if (moved->panels && k < moved->n_panels)
        w = nb_along_axes(&own, moved->panels[k].turn);
    if (v->kind == NB_VAR_SHIFT)
        by.velocity = nb_scale(NB_MM, unit_axes[v->axis]);
    if (v->kind == NB_VAR_SHIFT_ALONG)
        by.velocity = nb_scale(NB_MM, own.axis[v->axis]);
    if (v->kind == NB_VAR_TURN)
        by.spin = nb_scale(NB_DEG, nb_turn(whole, nb_turn_rate(w, own.axis[v->axis])));
    return by;
}

/** True if the attenuation depth follows the thickness. */
static int depth_follows(const nb_settings *cfg, int k)
{
    const nb_panel_spec *spec =
        cfg->value.detector ? &cfg->value.detector->panels[k] : NULL;
    return !NB_TYPED(cfg, abs_um) && !cfg->value.sensor[0] &&
           (!spec || (isnan(spec->attenuation) && !spec->material[0]));
}

static nb_panel_slope sensor_tangent(const nb_subject *of, const nb_variable_name *v,
                                     int k)
{
    const nb_scene *sc = &of->model->scene;
    const nb_sensor *sensor = &sc->sensors[sc->panels[k].sensor];
    nb_panel_slope s = {0};
    if (!sensor->absorb)
        return s;
    if (v->kind == NB_VAR_ABS) {
        s.mu = -sensor->mu / of->cfg->value.abs_um;
        return s;
    }
    s.layer_step = NB_UM / sensor->layers;
    if (depth_follows(of->cfg, k))
        s.mu = -sensor->mu / of->cfg->value.thick_um;
    return s;
}

nb_panel_slope nb_panel_tangent(const nb_subject *of, const nb_variable_name *v, int k)
{
    const nb_panel *panel = &of->model->scene.panels[k];
    switch (v->kind) {
    case NB_VAR_THICK:
    case NB_VAR_ABS:
        return sensor_tangent(of, v, k);
    case NB_VAR_SHIFT:
    case NB_VAR_SHIFT_ALONG:
    case NB_VAR_TURN:
        if (v->panel < 0)
            return rigid(panel, with_spot(panel, displace_whole(of, v, k)));
        return v->panel == k ? rigid(panel, with_spot(panel, displace_panel(of, v, k)))
                             : (nb_panel_slope){0};
    default:
        return rigid(panel, placement(of, v, panel));
    }
}
