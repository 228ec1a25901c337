/* SPDX-License-Identifier: MIT */
/* How the detector's place follows from its parameters: each moves a panel as a rigid body. */
#include "../model/panels_geometry.h"
#include "../model/units.h"
#include "tangents.h"

/** Rates of a panel's origin and of its axes. */
typedef struct motion {
    nb_vec3 velocity, spin;
} motion;

static const nb_vec3 zero = {0, 0, 0};
static const nb_vec3 unit_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

int nb_moves_panels(nb_variable_kind kind)
{
    return kind >= NB_VAR_DISTANCE && kind <= NB_VAR_ABS;
}

/** d unit(v) for d v. */
static nb_vec3 unit_slope(nb_vec3 v, nb_vec3 dv)
{
    double n = nb_norm(v);
    nb_vec3 e = nb_scale(1 / n, v);
    return nb_scale(1 / n, nb_sub(dv, nb_scale(nb_dot(e, dv), e)));
}

static void bend(const nb_panel *p, nb_panel_slope *s)
{
    nb_vec3 b = p->beam, f = p->curved_fast, F, dF, S, dS;
    F = nb_sub(p->fast, nb_scale(nb_dot(p->fast, b), b));
    dF = nb_sub(s->fast, nb_scale(nb_dot(s->fast, b), b));
    s->curved_fast = unit_slope(F, dF);
    S = nb_sub(p->slow,
               nb_add(nb_scale(nb_dot(p->slow, b), b), nb_scale(nb_dot(p->slow, f), f)));
    dS = nb_sub(s->slow, nb_scale(nb_dot(s->slow, b), b));
    dS = nb_sub(dS, nb_scale(nb_dot(s->slow, f) + nb_dot(p->slow, s->curved_fast), f));
    dS = nb_sub(dS, nb_scale(nb_dot(p->slow, f), s->curved_fast));
    s->curved_slow = unit_slope(S, dS);
}

/** Step 6 of docs/physics.md, section 4. */
static nb_panel_slope rigid(const nb_panel *p, motion by)
{
    nb_panel_slope s = {0};
    nb_vec3 X, dX;
    double ratio = nb_dot(p->beam, p->normal), C = p->close_distance, dC;
    s.pix0 = by.velocity;
    s.fast = nb_cross(by.spin, p->fast);
    s.slow = nb_cross(by.spin, p->slow);
    s.normal = nb_cross(by.spin, p->normal);
    dC = nb_dot(s.pix0, p->normal) + nb_dot(p->pix0, s.normal);
    s.close_distance = dC;
    if (ratio != 0)
        s.distance = dC / ratio - C * nb_dot(p->beam, s.normal) / (ratio * ratio);
    X = nb_sub(nb_scale(p->distance, p->beam), p->pix0);
    dX = nb_sub(nb_scale(s.distance, p->beam), s.pix0);
    s.Fbeam = nb_dot(s.fast, X) + nb_dot(p->fast, dX);
    s.Sbeam = nb_dot(s.slow, X) + nb_dot(p->slow, dX);
    if (p->curved)
        bend(p, &s);
    return s;
}

static double sign(double x)
{
    return x < 0 ? -1 : 1;
}

/** How flags place the detector along the beam or its normal: the close distance and the distance
 * change. */
static nb_vec3 approach(const nb_geometry *g, double dC, double dD)
{
    return g->pivot == NB_PIVOT_SAMPLE ? nb_scale(dC, g->body.axis[2])
                                       : nb_scale(dD, g->beam);
}

static motion tilt(const nb_subject *of, int axis)
{
    const nb_geometry *g = &of->model->geometry;
    const nb_placement *at = &g->placed;
    const nb_body *body = &g->body;
    double swung = nb_or(of->cfg->close_twotheta_deg, 0) * NB_DEG, dr, dC = 0, dD = 0;
    nb_vec3 n0 = zero, n = g->twotheta_axis,
            o = nb_rotate_xyz(at->typed_normal, g->rotx, g->roty, g->rotz);
    motion by;
    if (axis < 3) {
        n0 = nb_rotate_xyz(unit_axes[axis], 0, axis < 1 ? g->roty : 0,
                           axis < 2 ? g->rotz : 0);
        n = nb_rotate_about(n0, g->twotheta_axis,
                            NB_SLOPE_MUTANT(TWOTHETA_ORDER, 0, g->twotheta));
    }
    dr = nb_dot(g->beam, nb_rotate_about(nb_cross(n0, o), g->twotheta_axis, swung));
    if (isnan(of->cfg->close_distance_mm))
        dC = NB_SLOPE_MUTANT(CLOSE_DISTANCE, 0, 1) *
             fabs(nb_or(of->cfg->distance_mm, 100) * NB_MM) * sign(at->ratio) * dr;
    else
        dD = -at->close_distance / (at->ratio * at->ratio) * dr;
    by.spin = nb_scale(NB_DEG, n);
    by.velocity = nb_scale(NB_DEG, approach(g, dC, dD));
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

/** By a flag of the detector's place. */
static motion placement(const nb_subject *of, const nb_variable_name *v)
{
    const nb_geometry *g = &of->model->geometry;
    const double *along = of->moved->whole.along;
    const double r = g->placed.ratio;
    motion by = {zero, zero};
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
        break;
    }
    return by;
}

/** The place of panel k before it was displaced. */
static nb_body undisplaced(const nb_subject *of, int k)
{
    nb_geometry plain = of->model->geometry;
    nb_panel p;
    if (!of->cfg->detector)
        return plain.body;
    plain.moved = NULL;
    nb_panel_place(&plain, &of->cfg->detector->panels[k], k, &p);
    return (nb_body){p.pix0, {p.fast, p.slow, nb_unit(nb_cross(p.fast, p.slow))}};
}

/** Shifts and rotations of the whole detector. */
static motion displace_whole(const nb_subject *of, const nb_variable_name *v, int k)
{
    const nb_body *body = &of->model->geometry.body;
    nb_vec3 w = nb_along_axes(body, of->moved->whole.turn);
    motion by = {zero, zero};
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

/** Those of panel k. */
static motion displace_panel(const nb_subject *of, const nb_variable_name *v, int k)
{
    const nb_displacement *moved = of->moved;
    const nb_body own = undisplaced(of, k);
    nb_vec3 whole = nb_along_axes(&of->model->geometry.body, moved->whole.turn), w = zero;
    motion by = {zero, zero};
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

/** Does the attenuation depth follow the thickness? */
static int depth_follows(const nb_config *cfg, int k)
{
    const nb_panel_spec *spec = cfg->detector ? &cfg->detector->panels[k] : NULL;
    return isnan(cfg->abs_um) && !cfg->sensor[0] &&
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
        s.mu = -sensor->mu / of->cfg->abs_um;
        return s;
    }
    s.layer_step = NB_UM / sensor->layers;
    if (depth_follows(of->cfg, k))
        s.mu = -sensor->mu / of->cfg->thick_um;
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
            return rigid(panel, displace_whole(of, v, k));
        return v->panel == k ? rigid(panel, displace_panel(of, v, k))
                             : (nb_panel_slope){0};
    default:
        return rigid(panel, placement(of, v));
    }
}
