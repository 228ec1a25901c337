/* SPDX-License-Identifier: MIT */
/* Values of parameters in a simulation, and checks of the parameters. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/structure_factor.h"
#include "variables.h"

static double cell_value(const nb_subject *of, int axis)
{
    double cell[6];
    nb_cell_of(&of->model->crystal, cell);
    if (of->cfg->value.cell_count > axis && of->cfg->value.cell[axis] > 0 &&
        !of->has_matrix)
        return of->cfg->value.cell[axis];
    return cell[axis];
}

/** Offset in nb_config of a flag of the beam centre. */
static size_t centre_member(int axis)
{
    const size_t members[] = {offsetof(nb_config, Xbeam_mm), offsetof(nb_config, Ybeam_mm),
                              offsetof(nb_config, orgx), offsetof(nb_config, orgy)};
    return members[axis];
}

static double centre_value(const nb_subject *of, int axis)
{
    const nb_geometry *g = &of->model->geometry;
    const double now[] = {g->Xbeam / NB_MM, g->Ybeam / NB_MM,
                          g->placed.Fclose / g->pixel + 0.5,
                          g->placed.Sclose / g->pixel + 0.5};
    const double typed[] = {of->cfg->value.Xbeam_mm, of->cfg->value.Ybeam_mm,
                            of->cfg->value.orgx, of->cfg->value.orgy};
    return nb_said_or(typed[axis], now[axis]);
}

nb_centre_rate nb_centre_rate_of(const nb_subject *of, int axis)
{
    nb_geometry at = of->model->geometry, beyond = at;
    nb_settings cfg = *of->cfg;
    const double value = centre_value(of, axis);
    nb_settings_put(&cfg, centre_member(axis), value);
    nb_geometry_centre(&cfg, &at);
    /* The beam centre is linear in the flag: a step of any size gives the rate. */
    nb_settings_put(&cfg, centre_member(axis), value + 1);
    nb_geometry_centre(&cfg, &beyond);
    return (nb_centre_rate){beyond.Fbeam - at.Fbeam, beyond.Sbeam - at.Sbeam,
                            beyond.Fclose - at.Fclose, beyond.Sclose - at.Sclose};
}

int nb_centre_moves(const nb_subject *of, int axis)
{
    nb_centre_rate r;
    if (of->cfg->value.detector || of->cfg->value.pix0_m.set)
        return 0;
    r = nb_centre_rate_of(of, axis);
    return of->model->geometry.pivot == NB_PIVOT_BEAM ? r.Fbeam != 0 || r.Sbeam != 0
                                                      : r.Fclose != 0 || r.Sclose != 0;
}

static const nb_place_change *change_of(const nb_subject *of, int panel)
{
    static const nb_place_change none = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (panel < 0)
        return &of->moved->whole;
    return of->moved->panels && panel < of->moved->n_panels ? &of->moved->panels[panel]
                                                            : &none;
}

static double footprint_value(const nb_subject *of, int axis)
{
    nb_footprint_words w;
    const nb_status st = nb_footprint_read(of->cfg->value.footprint, &w, NULL);
    const double values[] = {w.a_mm, w.b_mm, w.angle_deg};
    return st ? NAN : values[axis];
}

double nb_variable_value(const nb_subject *of, const nb_variable_name *v)
{
    const nb_model *m = of->model;
    const nb_settings *cfg = of->cfg;
    const nb_place_change *change = change_of(of, v->panel);
    double value; /* value of the flag */
    memcpy(&value, (const char *)&cfg->value + v->member, sizeof value);
    switch (v->kind) {
    case NB_VAR_MISSET:
        return cfg->value.misset_mode == NB_MISSET_FIXED
                   ? cfg->value.misset_deg[v->axis]
                   : m->crystal.misset[v->axis] / NB_DEG;
    case NB_VAR_ROT:
        return of->moved->rot[v->axis] / NB_DEG;
    case NB_VAR_CELL:
        return cell_value(of, v->axis);
    case NB_VAR_CELLS:
        return m->crystal.N[v->axis];
    case NB_VAR_MOSAIC:
        return m->mosaic.shaped ? m->mosaic.spread / NB_DEG : value;
    case NB_VAR_OSC:
        return NB_TYPED(cfg, osc_deg) ? value : m->phi_range / NB_DEG;
    case NB_VAR_LAMBDA:
        return of->wavelength_A;
    case NB_VAR_DIVERGENCE:
        return nb_is_typed(cfg, v->member) ? value : 0;
    case NB_VAR_FOOTPRINT:
        return footprint_value(of, v->axis);
    case NB_VAR_CLOSE_DISTANCE:
        return NB_TYPED(cfg, close_distance_mm)
                   ? value
                   : m->geometry.placed.close_distance / NB_MM;
    case NB_VAR_CENTRE:
        return centre_value(of, v->axis);
    case NB_VAR_TILT:
        return nb_said_or(value, 0);
    case NB_VAR_SHIFT:
        return change->shift[v->axis] / NB_MM;
    case NB_VAR_SHIFT_ALONG:
        return change->along[v->axis] / NB_MM;
    case NB_VAR_TURN:
        return change->turn[v->axis] / NB_DEG;
    case NB_VAR_FLUENCE:
        return nb_beam_incident(cfg);
    case NB_VAR_F:
        return nb_F_nearest(of->F, 0, v->hkl[0], v->hkl[1], v->hkl[2]);
    case NB_VAR_ALL_F:
        return NAN;
    default:
        return value;
    }
}

static nb_status check_F(const nb_subject *of, const nb_variable_name *v, nb_error *err)
{
    const nb_factor_table *sf = &of->model->scene.factors.table;
    const int *h = v->hkl;
    if (sf->nh > 0 && h[0] >= sf->hmin && h[0] < sf->hmin + sf->nh && h[1] >= sf->kmin &&
        h[1] < sf->kmin + sf->nk && h[2] >= sf->lmin && h[2] < sf->lmin + sf->nl)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s: the table of F has no such entry%s", v->name,
                   sf->nh > 0 ? "" : " (there is no table: -hkl, -pdb, -mtz)");
}

/** Check a parameter of the detector if flags place the detector. */
static nb_status check_placement(const nb_subject *of, const nb_variable_name *v,
                                 nb_error *err)
{
    int close = NB_TYPED(of->cfg, close_distance_mm);
    if (of->cfg->value.detector || of->cfg->value.pix0_m.set)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s: %s places the detector; use shift_x, shift_y, shift_z, "
                       "rot_fast, rot_slow, rot_normal",
                       v->name, of->cfg->value.detector ? "a file" : "-pix0_vector");
    if (v->kind == NB_VAR_DISTANCE && close)
        return nb_fail(err, NB_ERR_INPUT,
                       "distance: -close_distance is typed; use close_distance");
    if (v->kind == NB_VAR_CLOSE_DISTANCE && !close)
        return nb_fail(err, NB_ERR_INPUT,
                       "close_distance: -close_distance is not typed; use distance");
    return NB_OK;
}

static nb_status check_sensor(const nb_subject *of, const nb_variable_name *v,
                              nb_error *err)
{
    const int typed = nb_is_typed(of->cfg, v->member) &&
                      (v->kind == NB_VAR_THICK || !of->cfg->value.sensor[0]);
    if (typed || !nb_scene_absorbs(&of->model->scene))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s: type a start value, %s um", v->name, v->flag);
}

/** A divergence step without a range means two directions. Refuse such a step, and ask
 * for a range. */
static nb_status check_divergence(const nb_subject *of, const nb_variable_name *v,
                                  nb_error *err)
{
    const int step =
        v->axis ? NB_TYPED(of->cfg, vdiv_step_mrad) : NB_TYPED(of->cfg, hdiv_step_mrad);
    return step && !nb_is_typed(of->cfg, v->member)
               ? nb_fail(err, NB_ERR_INPUT, "%s: type a start value, %s", v->name, v->flag)
               : NB_OK;
}

/** Refuse a tensor without a start value, or one that is only semidefinite: its root has
 * no slope. */
static nb_status check_tensor(const nb_subject *of, const nb_variable_name *v,
                              nb_error *err)
{
    const double(*root)[3] = of->model->mosaic.root;
    if (!nb_is_typed(of->cfg, v->member))
        return nb_fail(err, NB_ERR_INPUT,
                       "%s: type a start value, -mosaic_tensor xx yy zz xy xz yz",
                       v->name);
    return root[0][0] > 0 && root[1][1] > 0 && root[2][2] > 0
               ? NB_OK
               : nb_fail(err, NB_ERR_INPUT,
                         "%s: -mosaic_tensor has an axis without rotations; raise xx, yy "
                         "or zz",
                         v->name);
}

static nb_status check_kind(const nb_subject *of, const nb_variable_name *v, nb_error *err)
{
    switch (v->kind) {
    case NB_VAR_CELL:
        if (of->has_matrix && of->cfg->value.cell_count > 0)
            return nb_fail(err, NB_ERR_INPUT,
                           "%s: both -mat and -cell are given; leave -cell out", v->name);
        return NB_OK;
    case NB_VAR_FOOTPRINT:
        return of->cfg->value.footprint[0]
                   ? NB_OK
                   : nb_fail(err, NB_ERR_INPUT,
                             "%s: type a start value, -footprint gauss:a:b:angle",
                             v->name);
    case NB_VAR_TENSOR:
        return check_tensor(of, v, err);
    case NB_VAR_F:
        return check_F(of, v, err);
    case NB_VAR_DIVERGENCE:
        return check_divergence(of, v, err);
    case NB_VAR_THICK:
    case NB_VAR_ABS:
        return check_sensor(of, v, err);
    case NB_VAR_DISTANCE:
    case NB_VAR_CLOSE_DISTANCE:
    case NB_VAR_CENTRE:
    case NB_VAR_TILT:
        return check_placement(of, v, err);
    default:
        return NB_OK;
    }
}

nb_status nb_variable_check(const nb_subject *of, const nb_variable_name *v, nb_error *err)
{
    int scale = v->kind == NB_VAR_FLUENCE || v->kind == NB_VAR_WATER ||
                v->kind >= NB_VAR_DEFAULT_F;
    if (of->cfg->value.compat)
        return nb_fail(err, NB_ERR_INPUT, "%s: there are no derivatives with -compat",
                       v->name);
    if (nb_shape_law((int)of->cfg->value.shape) == NB_LAW_EDGE && !scale)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s: top-hat spots have no slope; only fluence, water, default_F "
                       "and F have derivatives",
                       v->name);
    return check_kind(of, v, err);
}
