/* SPDX-License-Identifier: MIT */
/* Make tables of F from files: sum a model; expand, scale and fill reflections. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/store.h"
#include "../params/params.h"
#include "factors.h"

#define ELEMENTS_WITH_F 92 /* the tables of f' end with uranium */

int nb_factor_files_are_constant(const nb_factor_files *files)
{
    return files->list_path != NULL;
}

int nb_factor_files_rotations(const nb_factor_files *files, int8_t R[NB_SYMOPS_MAX][9])
{
    const int n = files ? files->symmetry.count : 0;
    for (int i = 0; i < n; i++)
        memcpy(R[i], files->symmetry.ops[i].R, sizeof R[i]);
    return n;
}

const double *nb_factor_files_cell(const nb_factor_files *files,
                                   const nb_crystal *crystal, double own[6])
{
    int differs = 0;
    if (!files->cell_is_typed)
        return files->cell;
    nb_factor_cell_of(crystal, own);
    for (int i = 0; i < 6; i++) {
        own[i] /= i < 3 ? crystal->growth : 1;
        differs |= fabs(own[i] - files->cell[i]) > 1e-13 * own[i];
    }
    return differs ? own : files->cell;
}

nb_factor_weight nb_factor_weight_of(const nb_factor_files *files,
                                     const nb_crystal *crystal, const nb_settings *all)
{
    const double scale = all->value.F_scale;
    nb_factor_weight w = {.k = scale == NB_FSCALE_MODEL ? 1 : scale,
                          .B = all->value.B_add};
    double own[6];
    memcpy(w.cell,
           crystal && w.B != 0 ? nb_factor_files_cell(files, crystal, own) : files->cell,
           sizeof w.cell);
    return w;
}

/* --- a model --- */

static nb_model_options options_of(const nb_factor_sums *m, double dmin, int threads)
{
    const nb_config *cfg = &m->files->settings.value;
    int small = m->files->model.kind == NB_STRUCTURE_SMALL;
    return (nb_model_options){.dmin = dmin,
                              .k_sol = small ? NB_TYPED_OR(&m->files->settings, k_sol, 0)
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

/** Note that scattering at small angles depends on F(000) minus the F(000) of a cell full
 * of solvent. */
static void say_000(const nb_factor_sums *m, const nb_hooks *hooks)
{
    if (m->files->settings.value.F000 == NB_F000_CALC && m->partials.M)
        nb_notice(hooks,
                  "-F000 calc counts the electrons of all solvent of the cell; small "
                  "angles see what is beyond a cell of solvent: the report says it, and "
                  "-F000 takes it without its sign");
}

/** Give notes on the sum of a model. */
static void say_model(const nb_factor_sums *m, const nb_hooks *hooks)
{
    say_000(m, hooks);
    for (size_t i = 0; i < m->files->typed.count; i++) {
        int Z = nb_element_number(m->files->typed.rows[i].element), found = 0;
        for (int e = 0; e < m->partials.n_elements; e++)
            found |= m->partials.elements[e].Z == Z;
        if (!found)
            nb_notice(hooks, "-fprime %s has no effect: %s has no such atom",
                      m->files->typed.rows[i].element, m->files->model_path);
    }
    for (int e = 0; e < m->partials.n_elements; e++)
        if (m->partials.elements[e].Z > ELEMENTS_WITH_F &&
            m->files->settings.value.anomalous != NB_ANOMALOUS_OFF)
            nb_notice(hooks, "%s: no f' and f'' are known for %s; they are 0 (-fprime)",
                      m->files->model_path, nb_element_symbol(m->partials.elements[e].Z));
}

static nb_status sum_model(nb_factor_sums *m, double dmin, int threads,
                           const nb_hooks *hooks, nb_error *err)
{
    nb_model_options options = options_of(m, dmin, threads);
    nb_status st = nb_partials_make(&m->files->model, &options, m->files->model_path,
                                    hooks, &m->partials, err);
    if (!st)
        say_model(m, hooks);
    return st;
}

nb_factor_box nb_factor_sums_box(const nb_factor_sums *m)
{
    int H[3];
    if (m->files->list_path)
        return nb_factor_box_of(m->grid.H);
    nb_index_limits(m->partials.cell, m->partials.dmin, H);
    return nb_factor_box_of(H);
}

/** Make the model's table from its partial sums, up to their limit. */
static nb_status model_grid(const nb_factor_sums *m, const nb_wave *wave, int threads,
                            nb_factor_grid *out, nb_error *err)
{
    int H[3];
    nb_status st;
    nb_index_limits(m->partials.cell, m->partials.dmin, H);
    NB_FORWARD(nb_factor_grid_new(m->partials.cell, H, out, err));
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

/** Set F(000) to the typed value times a scale, if a value is typed. */
static void put_000(const nb_factor_sums *m, double scale, nb_factor_grid *grid)
{
    const double F = NB_TYPED_OR(&m->files->settings, F000, NAN);
    size_t at = origin_of(grid);
    if (!(F >= 0))
        return;
    grid->F[at] = F * scale;
    if (grid->phase)
        grid->phase[at] = 0;
}

/** Copy F(000) of the model; other reflections do not change. */
static void copy_000(const nb_factor_grid *model, nb_factor_grid *grid)
{
    grid->F[origin_of(grid)] = model->F[origin_of(model)];
    if (grid->phase && model->phase)
        grid->phase[origin_of(grid)] = model->phase[origin_of(model)];
}

/** Apply -Fscale model and -fill model. */
static nb_status use_model(nb_factor_sums *m, double dmin, double wavelength, int threads,
                           const nb_hooks *hooks, nb_error *err)
{
    const nb_config *cfg = &m->files->settings.value;
    nb_factor_grid model = {0};
    nb_waves waves = {0};
    double k = 1, B = 0;
    nb_status st;
    NB_FORWARD(nb_waves_one(m, wavelength, hooks, &waves, err));
    st = model_grid(m, waves.group, threads, &model, err);
    nb_waves_free(&waves);
    NB_TRY(nb_scale_to_model(&m->grid, &model, dmin, &k, &B, err));
    m->scale_k = k;
    m->scale_B = B;
    if (!st && cfg->F_scale == NB_FSCALE_MODEL) {
        const nb_factor_box box = nb_factor_box_of(m->grid.H);
        nb_factor_weight w = {.k = 1 / k, .B = -B};
        memcpy(w.cell, m->grid.cell, sizeof w.cell);
        nb_factor_grid_weigh(&m->grid, w, &box, threads, m->grid.F);
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

static nb_status expand(nb_factor_sums *m, double dmin, const nb_hooks *hooks,
                        nb_error *err)
{
    nb_expansion_request r = {.file = m->files->hkl.rows ? NULL : &m->files->list,
                              .columns = m->files->columns,
                              .list = m->files->hkl.rows ? &m->files->hkl : NULL,
                              .sg = &m->files->symmetry,
                              .dmin = dmin,
                              .whole_sphere = 1,
                              .name = m->files->list_path,
                              .hooks = hooks};
    memcpy(r.cell, m->files->cell, sizeof r.cell);
    return nb_expand(&r, &m->grid, &m->expansion, err);
}

/** Limit d (A) up to which -fill adds reflections: -dmin, or else the file's limit. */
static double fill_limit(const nb_factor_sums *m)
{
    return m->files->settings.value.dmin_A > 0 ? m->files->settings.value.dmin_A
                                               : m->expansion.dmin;
}

static nb_status make_list(nb_factor_sums *m, double dmin, double wavelength, int threads,
                           const nb_hooks *hooks, nb_error *err)
{
    const nb_config *cfg = &m->files->settings.value;
    nb_status st = expand(m, dmin, hooks, err);
    if (!st && m->files->model_path) {
        double ratio = nb_metric_ratio(m->files->cell, m->files->model.cell);
        st = sum_model(m, m->expansion.limit / fmax(1, ratio * (1 + 1e-9)), threads,
                       hooks, err);
        NB_TRY(use_model(m, fill_limit(m), wavelength, threads, hooks, err));
    }
    if (st)
        return st;
    if (cfg->fill == NB_FILL_SHELL)
        m->filled = nb_fill_shell(&m->grid, fill_limit(m));
    put_000(m, 1, &m->grid);
    m->filled_box = nb_factor_grid_filled(&m->grid);
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

static void free_sums(void *object)
{
    nb_factor_sums *m = object;
    nb_shared_drop(m->files);
    nb_partials_free(&m->partials);
    nb_factor_grid_free(&m->grid);
}

nb_status nb_factor_sums_make(const nb_factor_files *files, double dmin,
                              double wavelength_A, int threads, const nb_hooks *hooks,
                              nb_factor_sums **out, nb_error *err)
{
    nb_status st = files->model_path ? check_dmin(dmin, err) : NB_OK;
    nb_factor_sums *m;
    *out = NULL;
    if (st)
        return st;
    if (!(m = nb_shared_new(sizeof *m, free_sums, "structure factors", err)))
        return NB_ERR_NOMEM;
    m->files = nb_shared_hold(files);
    m->dmin = m->asked = dmin; /* make_list sets the limit of a list */
    m->scale_k = m->scale_B = NAN;
    st = files->list_path ? make_list(m, dmin, wavelength_A, threads, hooks, err)
                          : sum_model(m, dmin, threads, hooks, err);
    if (st)
        nb_shared_drop(m);
    else
        *out = m;
    return st;
}

/** Combine the partial sums of a model with f' and f'' to a table. */
static void combine(const nb_factor_sums *m, nb_factor_weight weight, const nb_wave *wave,
                    int threads, nb_factor_grid *out)
{
    nb_partials_combine(&m->partials, wave->f, weight.B, weight.k, threads, out);
    put_000(m, weight.k, out);
}

void nb_factor_sums_fill(const nb_factor_sums *m, nb_factor_weight weight,
                         const nb_wave *wave, const nb_factor_box *box, int threads,
                         double *F)
{
    const size_t n = nb_factor_box_voxels(box);
    nb_factor_grid grid = {.F = F};
    if (m->files->list_path) {
        nb_factor_grid_weigh(&m->grid, weight, box, threads, F);
        return;
    }
    for (size_t i = 0; i < n; i++)
        F[i] = NAN;
    for (int i = 0; i < 3; i++)
        grid.H[i] = -box->low[i];
    combine(m, weight, wave, threads, &grid);
}

/** Copy phases and marks of absent reflections. */
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

/** Refuse F that exceed the floats of a file. */
static nb_status check_finite(const nb_factor_sums *m, const nb_factor_grid *grid,
                              nb_error *err)
{
    const nb_config *cfg = &m->files->settings.value;
    for (size_t i = 0, n = nb_factor_grid_voxels(grid); i < n; i++)
        if (grid->F[i] > FLT_MAX)
            return nb_fail(
                err, NB_ERR_INPUT,
                "F of %g electrons is too large for a file of F: check -Badd %g, "
                "-Fscale %g and the F of %.200s",
                grid->F[i], cfg->B_add, cfg->F_scale,
                m->files->list_path ? m->files->list_path : m->files->model_path);
    return NB_OK;
}

nb_status nb_factor_sums_grid(const nb_factor_sums *m, nb_factor_weight weight,
                              const nb_wave *wave, int threads, nb_factor_grid *out,
                              nb_error *err)
{
    const nb_factor_box box = nb_factor_sums_box(m);
    const int H[3] = {-box.low[0], -box.low[1], -box.low[2]};
    nb_status st;
    NB_FORWARD(nb_factor_grid_new(m->files->cell, H, out, err));
    st = m->files->list_path ? copy_more(&m->grid, out, err)
                             : nb_factor_grid_add_phases(out, err);
    if (st) {
        nb_factor_grid_free(out);
        return st;
    }
    out->wavelength = m->files->list_path ? m->grid.wavelength : wave->wavelength;
    if (m->files->list_path)
        nb_factor_grid_weigh(&m->grid, weight, &box, threads, out->F);
    else
        combine(m, weight, wave, threads, out);
    if ((st = check_finite(m, out, err)))
        nb_factor_grid_free(out);
    return st;
}

/** Index of the Friedel mate of the reflection with index i, or -1 outside of the box. */
static ptrdiff_t mate_of(const nb_factor_box *box, ptrdiff_t i)
{
    const int *n = box->n;
    const int at[3] = {(int)(i / n[2] / n[1]), (int)(i / n[2] % n[1]), (int)(i % n[2])};
    ptrdiff_t to = 0;
    for (int k = 0; k < 3; k++) {
        const int mate = -(at[k] + box->low[k]) - box->low[k];
        if (mate < 0 || mate >= n[k])
            return -1;
        to = to * n[k] + mate;
    }
    return to;
}

nb_factor_stats nb_factor_stats_of(const double *F, const uint8_t *absent,
                                   const nb_factor_box *box)
{
    nb_factor_stats s = {.F000 = NAN};
    const ptrdiff_t voxels = (ptrdiff_t)nb_factor_box_voxels(box);
    const int mates = nb_factor_box_has_mates(box);
    double sum = 0, squares = 0, differences = 0;
    for (ptrdiff_t i = 0; i < voxels; i++) {
        if (isnan(F[i]) || (absent && absent[i]))
            continue;
        const ptrdiff_t mate = mates ? voxels - 1 - i : mate_of(box, i);
        if (mate == i) {
            s.F000 = F[i];
            continue;
        }
        s.reflections++;
        sum += F[i];
        squares += F[i] * F[i];
        differences += mate < 0 || isnan(F[mate]) ? 0 : fabs(F[i] - F[mate]);
    }
    s.rms = s.reflections ? sqrt(squares / (double)s.reflections) : 0;
    s.friedel = sum > 0 ? differences / sum : 0;
    return s;
}
