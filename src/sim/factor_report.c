/* SPDX-License-Identifier: MIT */
/* What is said of structure factors: lines of a report, and JSON. */
#include "../base/text.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/units.h"

enum { LINE = 400 };

/** Place of -h -k -l, where h k l is at i; -1: outside of the box. */
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

/* --- words --- */

static const char *kind_of(const nb_factor_sums *m)
{
    static const char *const of_model[] = {"PDB model", "mmCIF model",
                                           "small-molecule CIF"};
    if (m->files->list_path)
        return m->files->hkl.rows      ? "list"
               : m->files->list.is_cif ? "structure-factor CIF"
                                       : "MTZ";
    return of_model[m->files->model.kind];
}

static const char *method_of(const nb_partials *p)
{
    return p->method == NB_SUM_FFT ? "FFT" : "direct sum";
}

/** "C 613, N 193", cut where the line is full. */
static void list_atoms(const nb_partials *p, char text[LINE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < p->n_elements && used + 24 < LINE; i++)
        used +=
            (size_t)snprintf(text + used, LINE - used, "%s%s %zu", used ? ", " : "",
                             nb_element_symbol(p->elements[i].Z), p->elements[i].atoms);
}

/** "Zn -5.41 0.46", of all elements. */
static void list_anomalous(const nb_partials *p, const nb_wave *wave, char text[LINE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < p->n_elements && used + 48 < LINE; i++)
        used += (size_t)snprintf(text + used, LINE - used, "%s%s %.3g %.3g",
                                 used ? ", " : "", nb_element_symbol(p->elements[i].Z),
                                 wave->f[i].f1, wave->f[i].f2);
}

/* --- lines --- */

static void put_source(nb_report_text *t, const nb_factor_sums *m)
{
    const double *c = m->files->cell;
    const nb_symmetry *sg = &m->files->symmetry;
    nb_report_put(t, "factors   %.200s: %s, cell %.6g %.6g %.6g A  %.6g %.6g %.6g deg, ",
                  m->files->list_path ? m->files->list_path : m->files->model_path,
                  kind_of(m), c[0], c[1], c[2], c[3], c[4], c[5]);
    if (sg->count)
        nb_report_put(t, "space group %s, %d operator%s\n", sg->name, sg->count,
                      sg->count == 1 ? "" : "s");
    else
        nb_report_put(t, "every reflection as listed\n");
}

static void put_atoms(nb_report_text *t, const nb_factor_sums *m)
{
    const nb_partials *p = &m->partials;
    char atoms[LINE], models[64];
    int used = m->files->settings.value.model;
    list_atoms(p, atoms);
    if (m->files->model.n_models < 2)
        snprintf(models, sizeof models, "1 model");
    else if (used == NB_MODEL_ALL)
        snprintf(models, sizeof models, "average of %d models", m->files->model.n_models);
    else
        snprintf(models, sizeof models, "model %d of %d", used, m->files->model.n_models);
    nb_report_put(t,
                  "          %s%s, %zu atoms: %s; %zu on special positions, %zu in "
                  "alternative conformations",
                  models, m->files->list_path ? " as well" : "", p->atoms, atoms,
                  p->special, p->alternates);
    if (m->files->model.n_ncs)
        nb_report_put(t, "; %d NCS operators %s", m->files->model.n_ncs,
                      m->files->settings.value.ncs == NB_NCS_APPLY ? "applied"
                                                                   : "ignored");
    nb_report_put(t, "\n");
}

static void put_anomalous(nb_report_text *t, const nb_factor_sums *m,
                          const nb_waves *waves)
{
    char text[LINE];
    if (m->files->settings.value.anomalous == NB_ANOMALOUS_OFF) {
        nb_report_put(t, "          no f' and f'' (-anomalous off)\n");
        return;
    }
    list_anomalous(&m->partials, waves->group, text);
    nb_report_put(t, "          f' f'' at %.7g A: %s electrons\n",
                  waves->group[0].wavelength, text);
    if (waves->n > 1) {
        const nb_wave *last = &waves->group[waves->n - 1];
        list_anomalous(&m->partials, last, text);
        nb_report_put(t, "          ... at %.7g A: %s electrons\n", last->wavelength,
                      text);
        nb_report_put(t, "          %d tables, one for each group of wavelengths\n",
                      waves->n);
    }
}

static void put_solvent(nb_report_text *t, const nb_factor_sums *m,
                        const nb_factor_stats *s)
{
    const nb_partials *p = &m->partials;
    const nb_settings *all = &m->files->settings;
    const int solvent = p->k_sol > 0 && p->M, scaled = NB_TYPED(all, F_scale);
    if (solvent)
        nb_report_put(
            t, "          solvent %.1f %% of the cell, k_sol %g e/A^3, B_sol %g A^2; ",
            100 * p->solvent_fraction, p->k_sol, p->B_sol);
    else
        nb_report_put(t, "          no bulk solvent; ");
    nb_report_put(t, "F(000) %.6g", isnan(s->F000) ? 0 : s->F000);
    if (solvent && !scaled && all->value.F000 == NB_F000_CALC)
        nb_report_put(t, ", %.6g beyond a cell of solvent",
                      s->F000 - p->k_sol * nb_cell_volume(p->cell));
    nb_report_put(t, "\n");
}

static void put_values(nb_report_text *t, const nb_factor_stats *s)
{
    nb_report_put(t, "%zu of P1, rms F %.5g, mean |F(+) - F(-)| / mean F %.3g\n",
                  s->reflections, s->rms, s->friedel);
}

static void put_sum(nb_report_text *t, const nb_factor_sums *m, const nb_factor_stats *s)
{
    const nb_partials *p = &m->partials;
    char grid[64] = "";
    if (p->density_grid[0])
        snprintf(grid, sizeof grid, " on %d x %d x %d points", p->density_grid[0],
                 p->density_grid[1], p->density_grid[2]);
    nb_report_put(t, "          d >= %.4g A by %s%s: %zu unique reflections, ", p->dmin,
                  method_of(p), grid, p->n);
    put_values(t, s);
}

/** Of reflections: columns, completeness, fills and scale. */
static void put_list(nb_report_text *t, const nb_factor_sums *m, const nb_factor_stats *s)
{
    static const char *const fills[] = {"", "-default_F", "the rms of its shell",
                                        "the model"};
    const nb_expansion *e = &m->expansion;
    size_t whole = e->present + e->missing;
    char columns[200] = "F";
    if (!m->files->hkl.rows)
        nb_columns_describe(&m->files->list, &m->files->columns, columns, sizeof columns);
    nb_report_put(t, "          %s as %s, %zu reflections with a value\n", columns,
                  m->files->columns.intensities ? "intensities"
                                                : "amplitudes in electrons",
                  e->given);
    nb_report_put(t,
                  "          d >= %.4g A: %.2f %% complete, %zu filled; others get %s\n",
                  e->limit, whole ? 100.0 * (double)e->present / (double)whole : 0,
                  m->filled, fills[m->files->settings.value.fill]);
    if (!isnan(m->scale_k))
        nb_report_put(t, "          Fo = %.5g exp(-%.4g s^2/4) F of the model\n",
                      m->scale_k, m->scale_B);
    nb_report_put(t, "          ");
    put_values(t, s);
}

void nb_factor_sums_put(nb_report_text *t, const nb_factor_sums *m, const nb_settings *all,
                        const nb_waves *waves, const nb_factor_stats *stats)
{
    const nb_factor_weight weight = nb_factor_weight_of(m->files, NULL, all);
    put_source(t, m);
    if (m->files->model_path) {
        put_atoms(t, m);
        if (!m->files->list_path)
            put_anomalous(t, m, waves);
        put_solvent(t, m, stats);
    }
    if (m->files->list_path)
        put_list(t, m, stats);
    else
        put_sum(t, m, stats);
    if (weight.B != 0 || (NB_TYPED(all, F_scale) && all->value.F_scale != NB_FSCALE_MODEL))
        nb_report_put(t, "          F multiplied by %g exp(-%g s^2/4)\n", weight.k,
                      weight.B);
}

nb_status nb_factor_sums_report(const nb_factor_sums *sums, const nb_settings *all,
                                const nb_waves *waves, const nb_factor_grid *grid,
                                char **report, nb_error *err)
{
    const nb_factor_box box = nb_factor_box_of(grid->H);
    nb_factor_stats stats = nb_factor_stats_of(grid->F, grid->absent, &box);
    nb_report_text text = {0};
    nb_factor_sums_put(&text, sums, all, waves, &stats);
    return nb_report_end(&text, report, err);
}

/* --- JSON --- */

static void add_elements(nb_json to, const nb_factor_sums *m, const nb_waves *waves)
{
    const nb_partials *p = &m->partials;
    nb_json list = nb_json_array(to, "elements");
    for (int i = 0; i < p->n_elements; i++) {
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "element", nb_element_symbol(p->elements[i].Z));
        nb_json_number(one, "atoms", (double)p->elements[i].atoms);
        if (!m->files->list_path) {
            nb_json_number(one, "f_prime", waves->group[0].f[i].f1);
            nb_json_number(one, "f_double_prime", waves->group[0].f[i].f2);
        }
    }
}

static void add_model(nb_json to, const nb_factor_sums *m, const nb_waves *waves)
{
    const nb_partials *p = &m->partials;
    double grid[3], mask[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = p->density_grid[i];
        mask[i] = p->solvent_grid[i];
    }
    nb_json_text(to, "model", m->files->model_path);
    nb_json_number(to, "models", m->files->model.n_models);
    nb_json_number(to, "ncs_operators", m->files->model.n_ncs);
    nb_json_flag(to, "ncs_applied", m->files->settings.value.ncs == NB_NCS_APPLY);
    nb_json_number(to, "atoms", (double)p->atoms);
    add_elements(to, m, waves);
    nb_json_number(to, "special_positions", (double)p->special);
    nb_json_number(to, "alternative_conformations", (double)p->alternates);
    nb_json_text(to, "method", p->method == NB_SUM_FFT ? "fft" : "direct");
    nb_json_numbers(to, "grid", grid, 3);
    nb_json_number(to, "unique_reflections", (double)p->n);
    nb_json_number(to, "solvent_fraction", p->solvent_fraction);
    nb_json_numbers(to, "solvent_grid", mask, 3);
    nb_json_number(to, "k_sol", p->k_sol);
    nb_json_number(to, "B_sol", p->B_sol);
}

static void add_list(nb_json to, const nb_factor_sums *m)
{
    const nb_expansion *e = &m->expansion;
    size_t whole = e->present + e->missing;
    char columns[200] = "F";
    if (!m->files->hkl.rows)
        nb_columns_describe(&m->files->list, &m->files->columns, columns, sizeof columns);
    nb_json_text(to, "reflection_file", m->files->list_path);
    nb_json_text(to, "columns", columns);
    nb_json_flag(to, "intensities", m->files->columns.intensities);
    nb_json_number(to, "given", (double)e->given);
    nb_json_number(to, "completeness", whole ? (double)e->present / (double)whole : 0);
    nb_json_number(to, "filled", (double)m->filled);
    nb_json_number(to, "scale_k", m->scale_k);
    nb_json_number(to, "scale_B", m->scale_B);
}

void nb_sim_factors_node(const nb_sim *sim, nb_json root)
{
    const nb_factor_sums *m = sim->in.sums;
    const nb_factor_stats *s = &sim->in.tables.stats;
    double own[6];
    nb_json to, list;
    if (!m)
        return;
    to = nb_json_object(root, "structure_factors");
    nb_json_text(to, "kind", kind_of(m));
    memcpy(own, nb_factor_files_cell(m->files, &sim->model.crystal, own), sizeof own);
    for (int i = 0; i < 6; i++)
        own[i] = nb_typeable(own[i]);
    nb_json_numbers(to, "cell", own, 6);
    nb_json_text(to, "space_group", m->files->symmetry.name);
    nb_json_number(to, "operators", m->files->symmetry.count);
    if (m->files->model_path)
        add_model(to, m, sim->in.tables.waves);
    if (m->files->list_path)
        add_list(to, m);
    nb_json_number(to, "dmin_A", nb_typeable(m->dmin));
    nb_json_number(to, "reflections", (double)s->reflections);
    nb_json_number(to, "F000", isnan(s->F000) ? 0 : s->F000);
    nb_json_number(to, "rms_F", s->rms);
    nb_json_number(to, "friedel_difference", s->friedel);
    nb_json_number(to, "B_add", sim->in.tables.weight.B);
    nb_json_number(to, "tables", sim->in.tables.waves->n);
    nb_json_number(to, "table_bytes",
                   (double)sim->in.tables.waves->n *
                       (double)nb_factor_file_voxels(sim->in.tables.file) *
                       sizeof(double));
    list = nb_json_array(to, "table_wavelengths");
    for (int i = 0; i < sim->in.tables.waves->n; i++) {
        nb_json one = nb_json_add_object(list);
        nb_json_number(one, "wavelength_A", sim->in.tables.waves->group[i].wavelength);
    }
}
