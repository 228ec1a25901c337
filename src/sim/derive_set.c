/* SPDX-License-Identifier: MIT */
/* New values of parameters: a new scene over the loaded files. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../derive/tangents.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "derive.h"

/** All that values change, while they are collected. */
typedef struct changes {
    nb_config cfg;
    nb_displacement moved;
    double cell[6];
    int recell;
    double matrix[9], matrix_lambda_A;
    double lambda_factor; /* of the wavelengths in a file */
    double *F;            /* another table, NULL: the old one */
    double default_F;
} changes;

/** Counts and choices stay as the scene made them. */
static void freeze(const nb_inputs *in, const nb_model *m, changes *c)
{
    const nb_scene *sc = &m->scene;
    nb_config *cfg = &c->cfg;
    cfg->oversample = sc->oversample;
    if (sc->factors.table.nh > 0)
        cfg->interpolate = sc->factors.table.interpolate ? NB_ON : NB_OFF;
    if (sc->lattice.n_domains > 1)
        cfg->mosaic_domains = sc->lattice.n_domains;
    if (m->phi_range > 0) {
        cfg->osc_deg = NB_VALUE_OR(cfg, osc_deg, m->phi_range / NB_DEG);
        cfg->phi_steps = sc->lattice.n_phi;
        cfg->phistep_deg = NAN;
    }
    if (cfg->misset_mode == NB_MISSET_RANDOM) {
        cfg->misset_mode = NB_MISSET_FIXED;
        for (int i = 0; i < 3; i++)
            cfg->misset_deg[i] = m->crystal.misset[i] / NB_DEG;
    }
    for (int i = 0; i < 3; i++) {
        cfg->N[i] = m->crystal.N[i];
        cfg->xtal_size_mm[i] = NAN;
    }
    c->matrix_lambda_A = in->matrix.lambda_A > 0 ? in->matrix.lambda_A : m->wavelength_A;
    if (!in->matrix.given)
        c->matrix_lambda_A = in->matrix.lambda_A;
}

static nb_status own_panels(const nb_model *model, changes *c, nb_error *err)
{
    const int n = model->scene.n_panels;
    if (c->moved.panels)
        return NB_OK;
    c->moved.n_panels = n;
    c->moved.panels = nb_alloc((size_t)n, sizeof *c->moved.panels, "panels", err);
    return c->moved.panels ? NB_OK : NB_ERR_NOMEM;
}

static nb_status set_displacement(const nb_model *model, const nb_variable_name *v,
                                  double value, changes *c, nb_error *err)
{
    nb_place_change *change = &c->moved.whole;
    if (v->panel >= 0) {
        if (own_panels(model, c, err))
            return NB_ERR_NOMEM;
        change = &c->moved.panels[v->panel];
    }
    if (v->kind == NB_VAR_SHIFT)
        change->shift[v->axis] = value * NB_MM;
    else if (v->kind == NB_VAR_SHIFT_ALONG)
        change->along[v->axis] = value * NB_MM;
    else
        change->turn[v->axis] = value * NB_DEG;
    return NB_OK;
}

/** A table of one's own, to be changed. */
static nb_status own_table(const nb_inputs *in, changes *c, nb_error *err)
{
    const size_t n = nb_table_values(&in->tables.box);
    if (c->F || in->tables.box.nh == 0)
        return NB_OK;
    if (!(c->F = nb_alloc_raw(n, sizeof *c->F, "structure factors", err)))
        return NB_ERR_NOMEM;
    memcpy(c->F, in->tables.box.F, n * sizeof *c->F);
    return NB_OK;
}

static nb_status set_default_F(const nb_sim *sim, double value, changes *c, nb_error *err)
{
    const size_t n = nb_table_values(&sim->in.tables.box);
    nb_status st = own_table(&sim->in, c, err);
    for (size_t i = 0; i < n && c->F && !st; i++)
        if (c->F[i] == c->default_F)
            c->F[i] = value;
    c->cfg.default_F = c->default_F = value;
    return st;
}

/** In all tables by the same difference. */
static nb_status set_F(const nb_sim *sim, const int hkl[3], double value, changes *c,
                       nb_error *err)
{
    const nb_factor_table *box = &sim->in.tables.box;
    const size_t voxels = nb_table_values(box) / (size_t)nb_table_count(box);
    nb_status st = own_table(&sim->in, c, err);
    size_t at;
    double by;
    if (st || !c->F)
        return st;
    at = nb_factor_table_at(box, hkl[0], hkl[1], hkl[2]);
    by = value - c->F[at];
    c->F[at] = value;
    for (int n = 1; n < nb_table_count(box); n++)
        c->F[(size_t)n * voxels + at] += by;
    return NB_OK;
}

static void set_mosaic(const nb_model *model, double value, nb_config *cfg)
{
    const double now = model->mosaic.spread / NB_DEG;
    if (!cfg->mosaic_aniso_deg.set)
        cfg->mosaic_spread_deg = value;
    for (int i = 0; i < 3 && cfg->mosaic_aniso_deg.set && now > 0; i++)
        cfg->mosaic_aniso_deg.v[i] *= value / now;
}

static void set_lambda(const nb_sim *sim, double value, changes *c)
{
    if (sim->in.lines) {
        c->lambda_factor = value / nb_sim_mean_wavelength(sim);
        return;
    }
    c->cfg.lambda_A = value;
    c->cfg.energy_eV = NAN;
}

static nb_status set_footprint(const nb_variable_name *v, double value, nb_config *cfg,
                               nb_error *err)
{
    nb_footprint_words w;
    nb_status st = nb_footprint_read(cfg->footprint, &w, err);
    double *const members[] = {&w.a_mm, &w.b_mm, &w.angle_deg};
    if (st)
        return st;
    *members[v->axis] = value;
    nb_footprint_write(&w, cfg->footprint, sizeof cfg->footprint);
    return nb_footprint_read(cfg->footprint, &w, err);
}

static void set_field(const nb_variable_name *v, double value, nb_config *cfg)
{
    double *const centre[] = {&cfg->Xbeam_mm, &cfg->Ybeam_mm, &cfg->orgx, &cfg->orgy};
    double *const tilt[] = {&cfg->rot_deg[0], &cfg->rot_deg[1], &cfg->rot_deg[2],
                            &cfg->twotheta_deg};
    switch (v->kind) {
    case NB_VAR_PHI:
        cfg->phi_deg = value;
        break;
    case NB_VAR_OSC:
        cfg->osc_deg = value;
        break;
    case NB_VAR_DISPERSION:
        cfg->dispersion_pct = value;
        break;
    case NB_VAR_DIVERGENCE:
        *(v->axis ? &cfg->vdiv_range_mrad : &cfg->hdiv_range_mrad) = value;
        break;
    case NB_VAR_DISTANCE:
        cfg->distance_mm = value;
        break;
    case NB_VAR_CLOSE_DISTANCE:
        cfg->close_distance_mm = value;
        break;
    case NB_VAR_CENTRE:
        *centre[v->axis] = value;
        break;
    case NB_VAR_TILT:
        *tilt[v->axis] = value;
        break;
    case NB_VAR_THICK:
        cfg->thick_um = value;
        break;
    case NB_VAR_ABS:
        cfg->abs_um = value;
        break;
    case NB_VAR_POLAR:
        cfg->polarization = value;
        break;
    case NB_VAR_FUDGE:
        cfg->fudge = value;
        break;
    case NB_VAR_FLUENCE:
        cfg->fluence = value;
        cfg->flux = 0;
        break;
    default:
        cfg->water_um = value;
        break;
    }
}

static nb_status set_value(const nb_sim *sim, const nb_variable_name *v, double value,
                           changes *c, nb_error *err)
{
    switch (v->kind) {
    case NB_VAR_MISSET:
        c->cfg.misset_mode = NB_MISSET_FIXED;
        c->cfg.misset_deg[v->axis] = value;
        return NB_OK;
    case NB_VAR_ROT:
        c->moved.rot[v->axis] = value * NB_DEG;
        return NB_OK;
    case NB_VAR_CELL:
        c->cell[v->axis] = value;
        c->recell = 1;
        return NB_OK;
    case NB_VAR_CELLS:
        c->cfg.N[v->axis] = value;
        return NB_OK;
    case NB_VAR_MOSAIC:
        set_mosaic(&sim->model, value, &c->cfg);
        return NB_OK;
    case NB_VAR_LAMBDA:
        set_lambda(sim, value, c);
        return NB_OK;
    case NB_VAR_FOOTPRINT:
        return set_footprint(v, value, &c->cfg, err);
    case NB_VAR_SHIFT:
    case NB_VAR_SHIFT_ALONG:
    case NB_VAR_TURN:
        return set_displacement(&sim->model, v, value, c, err);
    case NB_VAR_DEFAULT_F:
        return set_default_F(sim, value, c, err);
    case NB_VAR_F:
        return set_F(sim, v->hkl, value, c, err);
    case NB_VAR_ALL_F:
        return nb_fail(err, NB_ERR_INPUT, "F: set single ones, as F:1:-2:3");
    default:
        set_field(v, value, &c->cfg);
        return NB_OK;
    }
}

/** The matrix of a new cell in the old orientation U: the cell's frame stays. */
static void rebuild_matrix(const nb_model *model, const double m[9], changes *c)
{
    const double *x = c->cell;
    const double ca = cos(x[3] * NB_DEG), sa = sin(x[3] * NB_DEG),
                 cb = cos(x[4] * NB_DEG), cg = cos(x[5] * NB_DEG);
    const double w = sqrt(1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg);
    nb_orientation star = {nb_v3(m[0], m[3], m[6]), nb_v3(m[1], m[4], m[7]),
                           nb_v3(m[2], m[5], m[8])};
    nb_vec3 real[3], e[3], out[3];
    nb_orientation cell;
    nb_reciprocal_cell(&star, real);
    e[2] = nb_unit(real[2]);
    e[1] = nb_unit(nb_sub(real[1], nb_scale(nb_dot(real[1], e[2]), e[2])));
    e[0] = nb_cross(e[1], e[2]);
    if (nb_dot(real[0], e[0]) < 0)
        e[0] = nb_scale(-1, e[0]);
    cell.a = nb_scale(
        x[0], nb_add(nb_scale(w / sa, e[0]),
                     nb_add(nb_scale((cg - ca * cb) / sa, e[1]), nb_scale(cb, e[2]))));
    cell.b = nb_scale(x[1], nb_add(nb_scale(sa, e[1]), nb_scale(ca, e[2])));
    cell.c = nb_scale(x[2], e[2]);
    nb_reciprocal_cell(&cell, out);
    for (int i = 0; i < 3; i++) {
        c->matrix[i] = out[i].x * c->matrix_lambda_A;
        c->matrix[3 + i] = out[i].y * c->matrix_lambda_A;
        c->matrix[6 + i] = out[i].z * c->matrix_lambda_A;
    }
    if (model->steps)
        nb_scan_to_reference(&model->middle, c->matrix, c->matrix);
}

/** c is zero. */
static nb_status begin(const nb_sim *sim, changes *c, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    const size_t panels = (size_t)sim->moved.n_panels;
    c->cfg = sim->cfg;
    c->moved = sim->moved;
    c->lambda_factor = 1;
    c->default_F = sim->model.settings.value.default_F;
    memcpy(c->matrix, sim->in.matrix.at, sizeof c->matrix);
    for (int i = 0; i < 6; i++) {
        nb_variable_name v = {.kind = NB_VAR_CELL, .axis = i, .panel = -1};
        c->cell[i] = nb_variable_value(&of, &v);
    }
    freeze(&sim->in, &sim->model, c);
    if (!sim->moved.panels)
        return NB_OK;
    c->moved.panels = nb_alloc(panels, sizeof *c->moved.panels, "panels", err);
    if (!c->moved.panels)
        return NB_ERR_NOMEM;
    memcpy(c->moved.panels, sim->moved.panels, panels * sizeof *c->moved.panels);
    return NB_OK;
}

/** The cell was changed: in the configuration, or in the matrix. */
static void finish_cell(const nb_inputs *in, const nb_model *model, changes *c)
{
    double middle[9];
    if (!c->recell)
        return;
    if (in->matrix.given) {
        memcpy(middle, in->matrix.at, sizeof middle);
        if (model->steps)
            nb_scan_to_middle(&model->middle, in->matrix.at, middle);
        rebuild_matrix(model, middle, c);
        return;
    }
    c->cfg.cell_count = 6;
    memcpy(c->cfg.cell, c->cell, sizeof c->cell);
}

/** Scaled wavelengths in the place of those of a file. */
static nb_status scale_lines(nb_inputs *in, double factor, nb_error *err)
{
    const size_t n = (size_t)in->n_lines;
    nb_source_list list = {nb_alloc_raw(n, sizeof *list.rows, "sources", err),
                           in->n_lines};
    if (!list.rows)
        return NB_ERR_NOMEM;
    memcpy(list.rows, in->lines, n * sizeof *list.rows);
    for (size_t i = 0; i < n; i++)
        list.rows[i].lambda *= factor;
    return nb_inputs_take_sources(in, &list, err);
}

/** The simulation owns what the changes owned. */
static nb_status adopt(nb_sim *sim, changes *c, nb_error *err)
{
    nb_inputs *in = &sim->in;
    double *F = c->F;
    nb_status st = NB_OK;
    sim->cfg = c->cfg;
    sim->moved = c->moved;
    c->moved.panels = NULL;
    memcpy(in->matrix.at, c->matrix, sizeof in->matrix.at);
    in->matrix.lambda_A = c->matrix_lambda_A;
    if (c->lambda_factor != 1)
        st = scale_lines(in, c->lambda_factor, err);
    if (st || !F)
        return st;
    c->F = NULL;
    return nb_tables_replace_F(&in->tables, F, err);
}

static nb_status take_changes(nb_sim *sim, changes *c, nb_error *err)
{
    nb_status st = nb_config_check_fields(&c->cfg, err);
    if (st || (st = nb_sim_begin(sim, err)))
        return st;
    return nb_sim_end(sim, adopt(sim, c, err), err);
}

nb_status nb_sim_set_parameters(nb_sim *sim, const char *const *names,
                                const double *values, int count, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && (values || count == 0));
    const nb_subject of = nb_sim_subject(sim);
    changes *c = nb_alloc(1, sizeof *c, "parameters", err);
    nb_variable_name *v = NULL;
    nb_status st = c ? nb_sim_names(sim, names, count, &v, err) : NB_ERR_NOMEM;
    if (!st)
        st = begin(sim, c, err);
    for (int i = 0; i < count && !st; i++) {
        if (!isfinite(values[i]))
            st = nb_fail(err, NB_ERR_INPUT, "%s %g: must be a finite number", v[i].name,
                         values[i]);
        if (!st)
            st = nb_variable_check(&of, &v[i], err);
        if (!st)
            st = set_value(sim, &v[i], values[i], c, err);
    }
    if (!st) {
        finish_cell(&sim->in, &sim->model, c);
        st = take_changes(sim, c, err);
    }
    if (c) {
        nb_free(c->F);
        nb_free(c->moved.panels);
    }
    nb_free(v);
    nb_free(c);
    return st;
}

/** Angles about x, y, z in this order; at y = 90 deg the third is 0. */
static void angles_of(const nb_vec3 columns[3], double angles[3])
{
    const nb_vec3 x = columns[0], y = columns[1], z = columns[2];
    const double flat = sqrt(x.x * x.x + x.y * x.y);
    angles[1] = atan2(-x.z, flat);
    angles[0] = flat > 1e-12 ? atan2(y.z, z.z) : atan2(-z.y, y.y);
    angles[2] = flat > 1e-12 ? atan2(x.y, x.x) : 0;
}

nb_status nb_sim_fold_rotation(nb_sim *sim, double misset_deg[3], nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim);
    static const char *const names[] = {"rot_x",    "rot_y",    "rot_z",
                                        "misset_x", "misset_y", "misset_z"};
    const double *m = sim->model.crystal.misset, *r = sim->moved.rot;
    nb_vec3 columns[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double angles[3], values[6] = {0};
    nb_status st = NB_OK;
    for (int i = 0; i < 3; i++)
        columns[i] =
            nb_turn(nb_v3(r[0], r[1], r[2]), nb_rotate_xyz(columns[i], m[0], m[1], m[2]));
    angles_of(columns, angles);
    for (int i = 0; i < 3; i++)
        values[3 + i] = angles[i] / NB_DEG;
    if (r[0] != 0 || r[1] != 0 || r[2] != 0)
        st = nb_sim_set_parameters(sim, names, values, 6, err);
    for (int i = 0; i < 3 && misset_deg && !st; i++)
        misset_deg[i] = sim->model.crystal.misset[i] / NB_DEG;
    return st;
}
