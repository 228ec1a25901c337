/* SPDX-License-Identifier: MIT */
/* Set parameters to new values (moves): make a new scene from the loaded files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "crystals.h"
#include "derive.h"

/** The simulation before the moves. Moves do not change its numbers of steps and its
 * automatic choices. */
struct nb_start {
    nb_config cfg;
    nb_inputs in;
    double cell[6];
    double spread_deg;      /* mosaic spread, deg */
    double wavelength_A;    /* mean wavelength of the sources, A */
    double matrix_lambda_A; /* A; 0 without a matrix */
    double default_F;
    /* number of panels; steps: 1 if the crystal changes along the frame */
    int n_panels, steps;
    nb_scan_middle middle;
};

/** All changes that the moves make, while they are collected. */
typedef struct changes {
    const struct nb_start *start;
    nb_displacement moved;
    double cell[6];
    int recell;
    double matrix[9], matrix_lambda_A;
    double lambda_factor; /* factor of the wavelengths in a file */
    double *F;            /* owned; changed table of F, or NULL */
    double default_F;
    nb_config cfg;
} changes;

/** Set the scene's numbers of steps and automatic choices in cfg, so that they stay. */
static void freeze(const nb_model *m, nb_config *cfg)
{
    const nb_scene *sc = &m->scene;
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
}

static void clear_start(void *object)
{
    struct nb_start *start = object;
    nb_inputs_drop(&start->in);
    nb_config_drop(&start->cfg);
}

/** Make the present simulation the start of moves.  Errors: NB_ERR_NOMEM. */
static nb_status take_start(nb_sim *sim, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    const nb_model *m = &sim->model;
    struct nb_start *s = nb_shared_new(sizeof *s, clear_start, "parameters", err);
    if (!s)
        return NB_ERR_NOMEM;
    nb_config_copy(&s->cfg, &sim->cfg);
    freeze(m, &s->cfg);
    s->in = nb_inputs_hold(&sim->in);
    if (s->in.limit == NB_LIMIT_OWN)
        s->in.limit = NB_LIMIT_ENOUGH;
    for (int i = 0; i < 6; i++) {
        nb_variable_name v = {.kind = NB_VAR_CELL, .axis = i, .panel = -1};
        s->cell[i] = nb_variable_value(&of, &v);
    }
    s->spread_deg = m->mosaic.spread / NB_DEG;
    s->wavelength_A = nb_sim_mean_wavelength(sim);
    s->matrix_lambda_A = s->in.matrix.lambda_A;
    if (s->in.matrix.given && !(s->matrix_lambda_A > 0))
        s->matrix_lambda_A = m->wavelength_A;
    s->default_F = m->settings.value.default_F;
    s->n_panels = m->scene.n_panels;
    s->steps = m->steps != NULL;
    s->middle = m->middle;
    nb_shared_drop(sim->start);
    sim->start = s;
    return NB_OK;
}

static nb_status own_panels(changes *c, nb_error *err)
{
    const int n = c->start->n_panels;
    if (c->moved.panels)
        return NB_OK;
    c->moved.n_panels = n;
    c->moved.panels = nb_alloc((size_t)n, sizeof *c->moved.panels, "panels", err);
    return c->moved.panels ? NB_OK : NB_ERR_NOMEM;
}

static nb_status set_displacement(const nb_variable_name *v, double value, changes *c,
                                  nb_error *err)
{
    nb_place_change *change = &c->moved.whole;
    if (v->panel >= 0) {
        if (own_panels(c, err))
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

/** Copy the table of F into c->F, where it may be changed. */
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

static nb_status set_default_F(double value, changes *c, nb_error *err)
{
    const nb_inputs *in = &c->start->in;
    const size_t n = nb_table_values(&in->tables.box);
    nb_status st = own_table(in, c, err);
    for (size_t i = 0; i < n && c->F && !st; i++)
        if (c->F[i] == c->default_F)
            c->F[i] = value;
    c->cfg.default_F = c->default_F = value;
    return st;
}

/** Set F of a reflection in the first table; add the same difference to other tables. */
static nb_status set_F(const int hkl[3], double value, changes *c, nb_error *err)
{
    const nb_factor_table *box = &c->start->in.tables.box;
    const size_t voxels = nb_table_values(box) / (size_t)nb_table_count(box);
    nb_status st = own_table(&c->start->in, c, err);
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

static void set_mosaic(double value, changes *c)
{
    const double now = c->start->spread_deg;
    nb_config *cfg = &c->cfg;
    if (!nb_mosaic_widen(now > 0 ? value : 1, now > 0 ? now : 1, 0, cfg))
        cfg->mosaic_spread_deg = value;
}

static void set_lambda(double value, changes *c)
{
    if (c->start->in.lines) {
        c->lambda_factor = value / c->start->wavelength_A;
        return;
    }
    c->cfg.lambda_A = value;
    c->cfg.energy_eV = NAN;
}

static nb_status set_footprint(const nb_variable_name *v, double value, nb_config *cfg,
                               nb_error *err)
{
    nb_footprint_words w;
    char text[96];
    nb_status st = nb_footprint_read(cfg->footprint, &w, err);
    double *const members[] = {&w.a_mm, &w.b_mm, &w.angle_deg};
    if (st)
        return st;
    *members[v->axis] = value;
    NB_FORWARD(
        nb_text_put(&cfg->footprint, nb_footprint_write(&w, text, sizeof text), err));
    return nb_footprint_read(text, &w, err);
}

/** Set a parameter that is a number in the configuration. */
static void set_member(const nb_variable_name *v, double value, nb_config *cfg)
{
    memcpy((char *)cfg + v->member, &value, sizeof value);
    if (v->kind == NB_VAR_FLUENCE)
        cfg->flux = 0;
}

static nb_status set_value(const nb_variable_name *v, double value, changes *c,
                           nb_error *err)
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
    case NB_VAR_MOSAIC:
        set_mosaic(value, c);
        return NB_OK;
    case NB_VAR_LAMBDA:
        set_lambda(value, c);
        return NB_OK;
    case NB_VAR_FOOTPRINT:
        return set_footprint(v, value, &c->cfg, err);
    case NB_VAR_SHIFT:
    case NB_VAR_SHIFT_ALONG:
    case NB_VAR_TURN:
        return set_displacement(v, value, c, err);
    case NB_VAR_DEFAULT_F:
        return set_default_F(value, c, err);
    case NB_VAR_F:
        return set_F(v->hkl, value, c, err);
    case NB_VAR_ALL_F:
        return nb_fail(err, NB_ERR_INPUT, "F: set single ones, as F:1:-2:3");
    default:
        set_member(v, value, &c->cfg);
        return NB_OK;
    }
}

/** Make the matrix of a new cell. The direction of c and the plane of b and c do not
 * change. */
static void rebuild_matrix(const double m[9], changes *c)
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
    for (int i = 0; i < 3; i++)
        out[i] = nb_scale(c->matrix_lambda_A, out[i]);
    nb_put_columns(out[0], out[1], out[2], c->matrix);
    if (c->start->steps)
        nb_scan_to_reference(&c->start->middle, c->matrix, c->matrix);
}

static void begin(const struct nb_start *start, changes *c)
{
    c->start = start;
    nb_config_copy(&c->cfg, &start->cfg);
    c->lambda_factor = 1;
    c->default_F = start->default_F;
    memcpy(c->matrix, start->in.matrix.at, sizeof c->matrix);
    memcpy(c->cell, start->cell, sizeof c->cell);
    c->matrix_lambda_A = start->matrix_lambda_A;
}

/** Put a changed cell into the configuration or into the matrix. */
static void finish_cell(changes *c)
{
    const struct nb_start *start = c->start;
    double middle[9];
    if (!c->recell)
        return;
    if (start->in.matrix.given) {
        memcpy(middle, start->in.matrix.at, sizeof middle);
        if (start->steps)
            nb_scan_to_middle(&start->middle, start->in.matrix.at, middle);
        rebuild_matrix(middle, c);
        return;
    }
    c->cfg.cell_count = 6;
    memcpy(c->cfg.cell, c->cell, sizeof c->cell);
}

/** Replace the sources of a file by sources with scaled wavelengths. */
static nb_status scale_lines(nb_inputs *in, double factor, nb_error *err)
{
    const size_t n = (size_t)in->n_lines;
    nb_source_list list = {nb_alloc_raw(n, sizeof *list.rows, "sources", err),
                           in->n_lines},
                   *own;
    if (!list.rows)
        return NB_ERR_NOMEM;
    memcpy(list.rows, in->lines, n * sizeof *list.rows);
    for (size_t i = 0; i < n; i++)
        list.rows[i].lambda *= factor;
    if (nb_source_list_share(&list, &own, err))
        return NB_ERR_NOMEM;
    nb_inputs_take_sources(in, own);
    return NB_OK;
}

/** Move the contents of the changes into the simulation. */
static nb_status adopt(nb_sim *sim, changes *c, nb_error *err)
{
    nb_inputs *in = &sim->in, old = sim->in;
    double *F = c->F;
    nb_status st = NB_OK;
    nb_config_copy(&sim->cfg, &c->cfg);
    sim->moved = c->moved;
    c->moved.panels = NULL;
    *in = nb_inputs_hold(&c->start->in);
    nb_inputs_drop(&old);
    nb_inputs_show(in, &sim->cfg);
    memcpy(in->matrix.at, c->matrix, sizeof in->matrix.at);
    in->matrix.lambda_A = c->matrix_lambda_A;
    if (c->lambda_factor != 1)
        st = scale_lines(in, c->lambda_factor, err);
    if (st || !F)
        return st;
    c->F = NULL;
    return nb_tables_replace_F(&in->tables, F, err);
}

nb_status nb_sim_apply_moves(nb_sim *sim, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    changes *c = nb_alloc(1, sizeof *c, "parameters", err);
    nb_variable_name v;
    nb_status st = c ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        begin(sim->start, c);
    for (int i = 0; i < sim->moves->n && !st; i++)
        if (!(st = nb_variable_parse(&of, sim->moves->at[i].name, &v, err)))
            st = set_value(&v, sim->moves->at[i].value, c, err);
    if (!st) {
        finish_cell(c);
        st = nb_config_check_fields(&c->cfg, err);
    }
    NB_TRY(adopt(sim, c, err));
    if (c) {
        nb_free(c->F);
        nb_free(c->moved.panels);
        nb_config_drop(&c->cfg);
    }
    nb_free(c);
    return st;
}

nb_status nb_sim_widen_start(nb_sim *sim, int *farther, nb_error *err)
{
    const struct nb_start *old = sim->start;
    struct nb_start *s;
    *farther = sim->in.sums != old->in.sums;
    if (!*farther)
        return NB_OK;
    if (!(s = nb_shared_new(sizeof *s, clear_start, "parameters", err)))
        return NB_ERR_NOMEM;
    *s = *old;
    s->cfg = (nb_config){0};
    nb_config_copy(&s->cfg, &old->cfg);
    s->in = nb_inputs_hold(&old->in);
    nb_shared_drop(s->in.sums);
    nb_tables_drop(&s->in.tables);
    s->in.sums = nb_shared_hold(sim->in.sums);
    s->in.tables = nb_tables_hold(&sim->in.tables);
    nb_shared_drop(old);
    sim->start = s;
    return NB_OK;
}

/** Set a moved parameter of the beam or the detector in the record of a crystal. */
static void move_frame(const nb_sim *sim, const nb_variable_name *v, double value,
                       nb_config *cfg)
{
    if (v->kind == NB_VAR_FOOTPRINT) {
        (void)set_footprint(v, value, cfg, NULL);
    } else if (v->kind == NB_VAR_LAMBDA && !sim->in.lines) {
        cfg->lambda_A = value;
        cfg->energy_eV = NAN;
    } else if (v->kind != NB_VAR_LAMBDA && v->kind != NB_VAR_SHIFT &&
               v->kind != NB_VAR_SHIFT_ALONG && v->kind != NB_VAR_TURN) {
        set_member(v, value, cfg);
    }
}

/** Set a moved parameter of a crystal that has the flags of the first one. */
static void move_crystal(const struct nb_start *start, const nb_variable_name *v,
                         double value, nb_config *cfg)
{
    if (v->kind == NB_VAR_CELL) {
        for (int i = cfg->cell_count; i < 6; i++) /* -cell with fewer than six numbers */
            cfg->cell[i] = start->cell[i];
        cfg->cell_count = 6;
        cfg->cell[v->axis] = value;
        return;
    }
    set_member(v, value, cfg);
    if (v->kind == NB_VAR_CELLS)
        cfg->xtal_size_mm[v->axis] = NAN;
}

void nb_sim_move_further(const nb_sim *sim, nb_further *x)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name v;
    for (int i = 0; sim->moves && i < sim->moves->n; i++) {
        const double value = sim->moves->at[i].value;
        if (nb_variable_parse(&of, sim->moves->at[i].name, &v, NULL))
            continue;
        if (nb_variable_is_of_frame(&v))
            move_frame(sim, &v, value, &x->cfg);
        else if (x->crystal > 0 && nb_sim_moves_crystal(sim, x, &v))
            move_crystal(sim->start, &v, value, &x->cfg);
    }
}

/* --- the list of moves --- */

/** Copy the moves of `old` (may be NULL), with memory for `more` further moves. */
static nb_moves *moves_like(const nb_moves *old, int more, nb_error *err)
{
    const int n = old ? old->n : 0;
    nb_moves *moves = nb_shared_new(
        sizeof *moves + (size_t)(n + more) * sizeof *moves->at, NULL, "parameters", err);
    for (int i = 0; moves && i < n; i++)
        moves->at[moves->n++] = old->at[i];
    return moves;
}

/** Add a move at the end; an older move of this name is removed. */
static void add_move(nb_moves *moves, const char *name, double value)
{
    int kept = 0;
    for (int i = 0; i < moves->n; i++)
        if (strcmp(moves->at[i].name, name))
            moves->at[kept++] = moves->at[i];
    moves->n = kept + 1;
    snprintf(moves->at[kept].name, sizeof moves->at[kept].name, "%s", name);
    moves->at[kept].value = value;
}

/** True if typing `row` replaces a move of the parameter `name`, whose flag is `flag`. */
static int sets(const nb_param *row, const char *name, const char *flag)
{
    static const struct {
        nb_member row;
        const char *name;
    } others[] = {{NB_MEMBER(flux), "fluence"},
                  {NB_MEMBER(exposure_s), "fluence"},
                  {NB_MEMBER(beamsize_mm), "fluence"},
                  {NB_MEMBER(energy_eV), "lambda"},
                  {NB_MEMBER(mat_file), "cell_"},
                  {NB_MEMBER(xtal_size_mm), "N_"},
                  {NB_MEMBER(xtal_size_mm[0]), "N_a"},
                  {NB_MEMBER(xtal_size_mm[1]), "N_b"},
                  {NB_MEMBER(xtal_size_mm[2]), "N_c"},
                  {NB_MEMBER(N), "N_"},
                  {NB_MEMBER(mosaic_aniso_deg), "mosaic"},
                  {NB_MEMBER(mosaic_tensor_deg2), "mosaic"},
                  {NB_MEMBER(sensor), "detector_abs"},
                  {NB_MEMBER(source_file), "lambda"},
                  {NB_MEMBER(close_distance_mm), "distance"},
                  {NB_MEMBER(distance_mm), "close_distance"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (nb_param_is(row, others[i].row) &&
            !strncmp(name, others[i].name, strlen(others[i].name)))
            return 1;
    /* the row -divergence sets both ranges */
    if (NB_IS(row, hdiv_range_mrad) && row->flags & NB_PARAM_VIEW)
        return !strcmp(name + 1, "divrange");
    if (name[0] == 'F' && name[1] == ':')
        return nb_param_makes_factors(row);
    return flag[0] == '-' && nb_param_find(flag + 1) == row;
}

nb_status nb_moves_without(const nb_moves **moves, const nb_param *row, nb_error *err)
{
    nb_moves *left;
    if (!*moves)
        return NB_OK;
    if (!(left = moves_like(NULL, (*moves)->n, err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < (*moves)->n; i++)
        if (!sets(row, (*moves)->at[i].name, nb_variable_flag((*moves)->at[i].name)))
            left->at[left->n++] = (*moves)->at[i];
    nb_shared_drop(*moves);
    *moves = left;
    return NB_OK;
}

nb_status nb_sim_keep_moves(nb_sim *sim, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_moves *left;
    nb_status st;
    if (!(left = moves_like(NULL, sim->moves->n, err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < sim->moves->n; i++) {
        const struct nb_move *move = &sim->moves->at[i];
        nb_variable_name v;
        nb_error why = {0};
        if (!nb_variable_parse(&of, move->name, &v, &why) &&
            !nb_variable_check(&of, &v, &why))
            left->at[left->n++] = *move;
        else
            nb_notice(&sim->hooks, "the value of set_parameters is gone: %s", why.message);
    }
    nb_shared_drop(sim->moves);
    sim->moves = left;
    if (!left->n)
        return NB_OK;
    st = take_start(sim, err);
    return st ? st : nb_sim_apply_moves(sim, err);
}

nb_status nb_sim_add_moves(nb_sim *sim, const char *const *names, const double *values,
                           int count, const nb_moves **out, nb_error *err)
{
    const nb_subject of = nb_sim_subject(sim);
    nb_variable_name *v = NULL;
    nb_moves *moves = NULL;
    nb_status st = nb_sim_names(sim, names, count, &v, err);
    for (int i = 0; i < count && !st; i++) {
        if (!isfinite(values[i]))
            st = nb_fail(err, NB_ERR_INPUT, "%s %g: must be a finite number", v[i].name,
                         values[i]);
        NB_TRY(nb_variable_check(&of, &v[i], err));
    }
    if (!st && !(moves = moves_like(sim->moves, count, err)))
        st = NB_ERR_NOMEM;
    for (int i = 0; i < count && !st; i++)
        add_move(moves, v[i].name, values[i]);
    nb_free(v);
    *out = moves;
    return st || sim->start ? st : take_start(sim, err);
}

int nb_sim_moves(const nb_sim *sim)
{
    return sim && sim->moves ? sim->moves->n : 0;
}

const char *nb_sim_move(const nb_sim *sim, int i, double *value)
{
    *value = sim->moves->at[i].value;
    return sim->moves->at[i].name;
}
