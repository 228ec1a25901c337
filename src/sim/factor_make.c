/* SPDX-License-Identifier: MIT */
/* From the files' contents to tables of F: sums of a model, expansion, scale and fills. */
#include <math.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../params/params.h"
#include "factors.h"

#define ELEMENTS_WITH_F 92 /* the tables of f' end with uranium */

int nb_factor_maker_is_constant(const nb_factor_maker *m)
{
    return m->list_path != NULL;
}

double nb_factor_maker_scale(const nb_factor_maker *m)
{
    const double scale = m->settings.value.F_scale;
    return scale == NB_FSCALE_MODEL ? 1 : scale;
}

/* --- a model --- */

static nb_model_options options_of(const nb_factor_maker *m, double dmin, int threads)
{
    const nb_config *cfg = &m->settings.value;
    int small = m->model.kind == NB_STRUCTURE_SMALL;
    return (nb_model_options){.dmin = dmin,
                              .k_sol = small ? NB_TYPED_OR(&m->settings, k_sol, 0)
                                             : cfg->k_sol,
                              .B_sol = cfg->B_sol,
                              .drop_hydrogens = cfg->hydrogens == NB_HYDROGENS_DROP,
                              .model = cfg->model == NB_MODEL_ALL ? 0 : cfg->model,
                              .apply_ncs = cfg->ncs == NB_NCS_APPLY,
                              .with_000 = cfg->F000 == NB_F000_CALC,
                              .method = cfg->sf_method == NB_SF_DIRECT ? NB_SUM_DIRECT
                                        : cfg->sf_method == NB_SF_FFT  ? NB_SUM_FFT
                                                                       : NB_SUM_AUTO,
                              .threads = threads,
                              .isa = cfg->isa};
}

/** What a user should know of the sum. */
static void say_model(const nb_factor_maker *m, const nb_hooks *hooks)
{
    for (size_t i = 0; i < m->typed.count; i++) {
        int Z = nb_element_number(m->typed.rows[i].element), found = 0;
        for (int e = 0; e < m->partials.n_elements; e++)
            found |= m->partials.elements[e].Z == Z;
        if (!found)
            nb_notice(hooks, "-fprime %s has no effect: %s has no such atom",
                      m->typed.rows[i].element, m->model_path);
    }
    for (int e = 0; e < m->partials.n_elements; e++)
        if (m->partials.elements[e].Z > ELEMENTS_WITH_F &&
            m->settings.value.anomalous != NB_ANOMALOUS_OFF)
            nb_notice(hooks, "%s: no f' and f'' are known for %s; they are 0 (-fprime)",
                      m->model_path, nb_element_symbol(m->partials.elements[e].Z));
}

static nb_status sum_model(nb_factor_maker *m, double dmin, int threads,
                           const nb_hooks *hooks, nb_error *err)
{
    nb_model_options options = options_of(m, dmin, threads);
    nb_status st =
        nb_partials_make(&m->model, &options, m->model_path, hooks, &m->partials, err);
    if (!st)
        say_model(m, hooks);
    return st;
}

void nb_factor_maker_limits(const nb_factor_maker *m, int H[3])
{
    if (m->list_path)
        memcpy(H, m->grid.H, 3 * sizeof *H);
    else
        nb_index_limits(m->partials.cell, m->partials.dmin, H);
}

/** The model's table, as large as the limit of its partials. */
static nb_status model_grid(const nb_factor_maker *m, const nb_wave *wave, int threads,
                            nb_factor_grid *out, nb_error *err)
{
    int H[3];
    nb_status st;
    nb_index_limits(m->partials.cell, m->partials.dmin, H);
    if ((st = nb_factor_grid_new(m->partials.cell, H, out, err)))
        return st;
    if ((st = nb_factor_grid_add_phases(out, err))) {
        nb_factor_grid_free(out);
        return st;
    }
    out->wavelength = wave->wavelength;
    nb_partials_combine(&m->partials, wave->f, 0, 1, threads, out);
    return NB_OK;
}

/* --- reflections --- */

static size_t origin_of(const nb_factor_grid *grid)
{
    return nb_factor_grid_at(grid, 0, 0, 0);
}

/** F(000) as typed. */
static void put_000(const nb_factor_maker *m, double scale, nb_factor_grid *grid)
{
    const double F = NB_TYPED_OR(&m->settings, F000, NAN);
    size_t at = origin_of(grid);
    if (!(F >= 0))
        return;
    grid->F[at] = F * scale;
    if (grid->phase)
        grid->phase[at] = 0;
}

/** F(000) of the model; other reflections keep what they have. */
static void copy_000(const nb_factor_grid *model, nb_factor_grid *grid)
{
    grid->F[origin_of(grid)] = model->F[origin_of(model)];
    if (grid->phase && model->phase)
        grid->phase[origin_of(grid)] = model->phase[origin_of(model)];
}

/** -Fscale model and -fill model. */
static nb_status use_model(nb_factor_maker *m, double dmin, double wavelength,
                           int threads, const nb_hooks *hooks, nb_error *err)
{
    const nb_config *cfg = &m->settings.value;
    nb_factor_grid model = {0};
    nb_waves waves = {0};
    double k = 1, B = 0;
    nb_status st;
    if ((st = nb_waves_one(m, wavelength, hooks, &waves, err)))
        return st;
    st = model_grid(m, waves.group, threads, &model, err);
    nb_waves_free(&waves);
    if (!st)
        st = nb_scale_to_model(&m->grid, &model, dmin, &k, &B, err);
    m->scale_k = k;
    m->scale_B = B;
    if (!st && cfg->F_scale == NB_FSCALE_MODEL) {
        nb_factor_grid_scale(&m->grid, 1 / k, -B);
        k = 1;
        B = 0;
    }
    if (!st && cfg->fill == NB_FILL_MODEL)
        m->filled = nb_fill_model(&m->grid, &model, dmin, k, B);
    if (!st && cfg->F000 == NB_F000_CALC)
        copy_000(&model, &m->grid);
    nb_factor_grid_free(&model);
    return st;
}

static nb_status expand(nb_factor_maker *m, double dmin, const nb_hooks *hooks,
                        nb_error *err)
{
    nb_expansion_request r = {.file = m->hkl.rows ? NULL : &m->list,
                              .columns = m->columns,
                              .list = m->hkl.rows ? &m->hkl : NULL,
                              .sg = &m->symmetry,
                              .dmin = dmin,
                              .whole_sphere = 1,
                              .name = m->list_path,
                              .hooks = hooks};
    memcpy(r.cell, m->cell, sizeof r.cell);
    return nb_expand(&r, &m->grid, &m->expansion, err);
}

/** Where fills end: at the typed limit, else at the file's. */
static double fill_limit(const nb_factor_maker *m)
{
    return m->settings.value.dmin_A > 0 ? m->settings.value.dmin_A : m->expansion.dmin;
}

static nb_status make_list(nb_factor_maker *m, double dmin, double wavelength,
                           int threads, const nb_hooks *hooks, nb_error *err)
{
    const nb_config *cfg = &m->settings.value;
    nb_status st = expand(m, dmin, hooks, err);
    if (!st && m->model_path) {
        double ratio = nb_metric_ratio(m->cell, m->model.cell);
        st = sum_model(m, m->expansion.limit / fmax(1, ratio * (1 + 1e-9)), threads,
                       hooks, err);
        if (!st)
            st = use_model(m, fill_limit(m), wavelength, threads, hooks, err);
    }
    if (st)
        return st;
    if (cfg->fill == NB_FILL_SHELL)
        m->filled = nb_fill_shell(&m->grid, fill_limit(m));
    put_000(m, 1, &m->grid);
    if (cfg->B_add != 0 || nb_factor_maker_scale(m) != 1)
        nb_factor_grid_scale(&m->grid, nb_factor_maker_scale(m), cfg->B_add);
    m->dmin = m->expansion.limit;
    return NB_OK;
}

/* --- both --- */

static nb_status check_dmin(double dmin, nb_error *err)
{
    if (dmin >= NB_SHORTEST_D || dmin == 0)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "structure factors to %.3g A are wanted, but scattering factors are "
                   "known to %g A only: give a larger -dmin",
                   dmin, NB_SHORTEST_D);
}

nb_status nb_factor_maker_make(nb_factor_maker *m, double dmin, double wavelength_A,
                               int threads, const nb_hooks *hooks, nb_error *err)
{
    double start = nb_monotonic_seconds();
    nb_status st = m->model_path ? check_dmin(dmin, err) : NB_OK;
    nb_partials_free(&m->partials);
    nb_factor_grid_free(&m->grid);
    m->dmin = 0;
    if (st)
        return st;
    if (m->list_path) {
        st = make_list(m, dmin, wavelength_A, threads, hooks, err);
    } else {
        st = sum_model(m, dmin, threads, hooks, err);
        m->dmin = st ? 0 : dmin;
    }
    m->seconds += nb_monotonic_seconds() - start;
    return st;
}

void nb_factor_maker_fill(const nb_factor_maker *m, const nb_wave *wave, int threads,
                          nb_factor_grid *out)
{
    size_t n = nb_factor_grid_voxels(out);
    if (m->list_path) {
        out->wavelength = m->grid.wavelength;
        memcpy(out->F, m->grid.F, n * sizeof *out->F);
        return;
    }
    out->wavelength = wave->wavelength;
    nb_partials_combine(&m->partials, wave->f, m->settings.value.B_add,
                        nb_factor_maker_scale(m), threads, out);
    put_000(m, nb_factor_maker_scale(m), out);
}

/** Phases and marks of absence of reflections. */
static nb_status copy_more(const nb_factor_grid *from, nb_factor_grid *out, nb_error *err)
{
    size_t n = nb_factor_grid_voxels(from);
    nb_status st = NB_OK;
    if (from->absent && !(st = nb_factor_grid_add_absences(out, err)))
        memcpy(out->absent, from->absent, n * sizeof *out->absent);
    if (!st && from->phase && !(st = nb_factor_grid_add_phases(out, err)))
        memcpy(out->phase, from->phase, n * sizeof *out->phase);
    return st;
}

nb_status nb_factor_maker_grid(const nb_factor_maker *m, const nb_wave *wave, int threads,
                               nb_factor_grid *out, nb_error *err)
{
    int H[3];
    nb_status st;
    nb_factor_maker_limits(m, H);
    if ((st = nb_factor_grid_new(m->cell, H, out, err)))
        return st;
    st = m->list_path ? copy_more(&m->grid, out, err)
                      : nb_factor_grid_add_phases(out, err);
    if (st)
        nb_factor_grid_free(out);
    else
        nb_factor_maker_fill(m, wave, threads, out);
    return st;
}
