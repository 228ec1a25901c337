/* SPDX-License-Identifier: MIT */
/* Facts of structure factors, and the lines of a report from these facts. */
#include "../base/text.h"
#include "report.h"

#include <math.h>
#include <string.h>

#include "../model/units.h"

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

static void add_elements(nb_json to, const char *key, const nb_factor_sums *m,
                         const nb_wave *wave)
{
    const nb_partials *p = &m->partials;
    nb_json list = nb_json_array(to, key);
    for (int i = 0; i < p->n_elements; i++) {
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "element", nb_element_symbol(p->elements[i].Z));
        nb_json_number(one, "atoms", (double)p->elements[i].atoms);
        if (!m->files->list_path) {
            nb_json_number(one, "f_prime", wave->f[i].f1);
            nb_json_number(one, "f_double_prime", wave->f[i].f2);
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
    add_elements(to, "elements", m, waves->group);
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

/** Add facts of m. crystal: crystal of the image, or NULL; s: statistics of the first
 * table. */
static void add_sums(nb_json to, const nb_factor_sums *m, const nb_crystal *crystal,
                     const nb_waves *waves, const nb_factor_stats *s)
{
    double own[6];
    nb_json_text(to, "kind", kind_of(m));
    memcpy(own, crystal ? nb_factor_files_cell(m->files, crystal, own) : m->files->cell,
           sizeof own);
    for (int i = 0; i < 6; i++)
        own[i] = nb_typeable(own[i]);
    nb_json_numbers(to, "cell", own, 6);
    nb_json_text(to, "space_group", m->files->symmetry.name);
    nb_json_number(to, "operators", m->files->symmetry.count);
    if (m->files->model_path)
        add_model(to, m, waves);
    if (m->files->list_path)
        add_list(to, m);
    nb_json_number(to, "dmin_A", nb_typeable(m->dmin));
    nb_json_number(to, "reflections", (double)s->reflections);
    nb_json_number(to, "F000", isnan(s->F000) ? 0 : s->F000);
    nb_json_number(to, "rms_F", s->rms);
    nb_json_number(to, "friedel_difference", s->friedel);
}

void nb_sim_factors_node(const nb_sim *sim, nb_json root)
{
    const nb_tables *tables = &sim->in.tables;
    nb_json to, list;
    if (!sim->in.sums)
        return;
    to = nb_json_object(root, "structure_factors");
    add_sums(to, sim->in.sums, &sim->model.crystal, tables->waves, &tables->stats);
    nb_json_number(to, "B_add", tables->weight.B);
    nb_json_number(to, "tables", tables->waves->n);
    nb_json_number(to, "table_bytes",
                   (double)tables->waves->n *
                       (double)nb_factor_file_voxels(tables->file) * sizeof(double));
    list = nb_json_array(to, "table_wavelengths");
    for (int i = 0; i < tables->waves->n; i++) {
        nb_json one = nb_json_add_object(list);
        nb_json_number(one, "wavelength_A", tables->waves->group[i].wavelength);
    }
}

/* --- lines --- */

/* clang-format off */
static const char *const lines[] = {
    "factors   [{reflection_file}][{reflection_file!}{model}]: {kind}, cell {text.edges} A  {text.angles} deg, "
        "[{operators?}space group {space_group}, {operators:} operator[{operators#1}s]]"
        "[{operators!}every reflection as listed]",
    "          [{text.models=1}1 model][{text.models=all}average of {models:} models]"
        "[model {text.used:} of {models:}][{reflection_file?} as well], {atoms:} atoms: "
        "[@elements|, |{element} {atoms:}]; {special_positions:} on special positions, "
        "{alternative_conformations:} in alternative conformations"
        "[{ncs_operators?}; {ncs_operators:} NCS operators [{ncs_applied?}applied][{ncs_applied!}ignored]]",
    "          no f' and f'' (-anomalous off){text.no_anomalous?}",
    "          f' f'' at {text.first_A:7} A: [@elements|, |{element} {f_prime:3} {f_double_prime:3}] electrons",
    "          ... at {text.last_A:7} A: [@text.last|, |{element} {f_prime:3} {f_double_prime:3}] electrons",
    "          {text.tables:} tables, one for each group of wavelengths",
    "          [{text.solvent?}solvent {solvent_fraction:%.1} % of the cell, k_sol {k_sol} e/A^3, B_sol {B_sol} A^2]"
        "[{text.solvent!}no bulk solvent]; F(000) {F000}[, {text.F000_beyond} beyond a cell of solvent]{model?}",
    "          {columns} as [{intensities?}intensities][{intensities!}amplitudes in electrons], "
        "{given:} reflections with a value",
    "          d >= [{text.limit_A:4}][{text.limit_A!}inf] A: {completeness:%.2} % complete, {filled:} filled; others get {text.fill}",
    "          Fo = {scale_k:5} exp(-{scale_B:4} s^2/4) F of the model",
    "          [{reflection_file!}d >= {text.model_A:4} A by [{method=fft}FFT][{method=direct}direct sum]"
        "[{grid.0?} on {grid.0:} x {grid.1:} x {grid.2:} points]: {unique_reflections:} unique reflections, ]"
        "{reflections:} of P1, rms F {rms_F:5}, mean |F(+) - F(-)| / mean F {friedel_difference:3}",
    "          F multiplied by {text.scale} exp(-{text.B} s^2/4)",
    NULL};
/* clang-format on */

static void add_model_text(nb_json to, const nb_factor_sums *m, const nb_waves *waves,
                           const nb_factor_stats *s)
{
    const nb_partials *p = &m->partials;
    const nb_settings *all = &m->files->settings;
    const int solvent = p->k_sol > 0 && p->M, used = all->value.model;
    const nb_wave *last = &waves->group[waves->n - 1];
    if (m->files->model.n_models < 2 || used == NB_MODEL_ALL)
        nb_json_text(to, "models", m->files->model.n_models < 2 ? "1" : "all");
    else
        nb_json_number(to, "used", used);
    nb_json_flag(to, "solvent", solvent);
    if (solvent && !NB_TYPED(all, F_scale) && all->value.F000 == NB_F000_CALC)
        nb_json_number(to, "F000_beyond", s->F000 - p->k_sol * nb_cell_volume(p->cell));
    if (m->files->list_path)
        return;
    nb_json_number(to, "model_A", p->dmin);
    if (all->value.anomalous == NB_ANOMALOUS_OFF) {
        nb_json_flag(to, "no_anomalous", 1);
        return;
    }
    nb_json_number(to, "first_A", waves->group[0].wavelength);
    if (waves->n > 1) {
        nb_json_number(to, "last_A", last->wavelength);
        add_elements(to, "last", m, last);
        nb_json_number(to, "tables", waves->n);
    }
}

void nb_factor_sums_put(nb_draft *t, nb_json facts, const nb_factor_sums *m,
                        const nb_settings *all, const nb_waves *waves,
                        const nb_factor_stats *s)
{
    static const char *const fills[] = {"", "-default_F", "the rms of its shell",
                                        "the model"};
    const nb_factor_weight weight = nb_factor_weight_of(m->files, NULL, all);
    nb_json to = nb_json_object(facts, "text");
    nb_json_numbers(to, "edges", m->files->cell, 3);
    nb_json_numbers(to, "angles", m->files->cell + 3, 3);
    if (m->files->model_path)
        add_model_text(to, m, waves, s);
    if (m->files->list_path) {
        nb_json_number(to, "limit_A", m->expansion.limit);
        nb_json_text(to, "fill", fills[m->files->settings.value.fill]);
    }
    if (weight.B != 0 ||
        (NB_TYPED(all, F_scale) && all->value.F_scale != NB_FSCALE_MODEL)) {
        nb_json_number(to, "scale", weight.k);
        nb_json_number(to, "B", weight.B);
    }
    nb_report_lines(t, facts, lines);
}

nb_status nb_factor_sums_report(const nb_factor_sums *sums, const nb_settings *all,
                                const nb_waves *waves, const nb_factor_grid *grid,
                                char **report, nb_error *err)
{
    const nb_factor_box box = nb_factor_box_of(grid->H);
    nb_factor_stats stats = nb_factor_stats_of(grid->F, grid->absent, &box);
    nb_draft text = {0};
    int failed = 0;
    const nb_json facts = {cJSON_CreateObject(), &failed};
    add_sums(facts, sums, NULL, waves, &stats);
    nb_factor_sums_put(&text, facts, sums, all, waves, &stats);
    cJSON_Delete(facts.json);
    return nb_report_end(&text, report, err);
}
