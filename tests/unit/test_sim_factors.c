/* SPDX-License-Identifier: MIT */
/* Tables of structure factors of a simulation: by public calls, and in the scene. */
#include "../support/check.h"

#include "sim/sim.h"
#include "base/memory.h"
#include "io/structure/gemmi.h"

enum { WAVES = 3 };
static const double wavelengths[WAVES] = {1.73, 1.741, 1.75}; /* A; near iron's K edge */

/** Configuration of the model `name` of golden_data, three wavelengths and dmin 4 A. */
static nb_config spectrum(const char *name)
{
    nb_config cfg = nb_suite_config(1, 3, 0);
    const char *source = getenv("NB_SOURCE");
    char lines[256] = "";
    for (int i = 0; i < WAVES; i++) /* not in order of wavelength */
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines),
                 "-10 0 0 %d %.4fe-10\n", i + 1, wavelengths[(i + 1) % WAVES]);
    cfg.cell_count = 0;
    cfg.default_F = 3;
    nb_set_pixels(&cfg, 24, 24);
    cfg.pixel_mm = 5;
    nb_put_text(&cfg.pdb_file, "%s/golden_data/structure_factors/models/%s",
                source ? source : ".", name);
    nb_put_scratch(&cfg.source_file, "three.src");
    assert_true(nb_scratch_write(cfg.source_file, lines, strlen(lines)));
    cfg.dmin_A = 4;
    cfg.anomalous_tol = 0;
    cfg.threads = 2;
    return cfg;
}

static double scene_F(const nb_factor_table *t, int table, const nb_factor_list *l,
                      size_t i)
{
    size_t at = (size_t)(l->h[i] - t->hmin);
    at = (at * (size_t)t->nk + (size_t)(l->k[i] - t->kmin)) * (size_t)t->nl;
    at += (size_t)(l->l[i] - t->lmin);
    return t->F[(size_t)table * (size_t)t->nh * (size_t)t->nk * (size_t)t->nl + at];
}

/** Checks a table of the simulation: it has the F of the scene, and every reflection of a
 * list that is made for its wavelength alone. */
static void check_table(const nb_sim *sim, const nb_config *cfg, int table)
{
    const nb_factor_table *t = &sim->model.scene.factors.table;
    nb_factor_list alone, all;
    nb_config one = *cfg;
    nb_error err = {0};
    double friedel = 0;
    size_t j = 0;
    one.source_file = nb_no_text;
    one.lambda_A = wavelengths[table];
    assert_int_equal(nb_config_factors(&one, NULL, &alone, &err), NB_OK);
    assert_int_equal(nb_sim_factors(sim, table, &all, &err), NB_OK);
    check_close(alone.wavelength_A, wavelengths[table], 1e-9);
    check_close(all.wavelength_A, wavelengths[table], 1e-9);
    assert_true(alone.count > 500 && all.count >= alone.count);
    for (size_t i = 0; i < all.count; i++) /* the same bytes, also outside -dmin */
        if (all.h[i] || all.k[i] || all.l[i])
            assert_true(scene_F(t, table, &all, i) == all.F[i]);
    for (size_t i = 0; i < alone.count; i++) {
        while (j < all.count && (all.h[j] != alone.h[i] || all.k[j] != alone.k[i] ||
                                 all.l[j] != alone.l[i]))
            j++; /* both lists are in order */
        assert_true(j < all.count);
        check_close(all.F[j], alone.F[i], 1e-6 * (1 + alone.F[i]));
        friedel = fmax(friedel, fabs(alone.F[i] - alone.F[alone.count - 1 - i]));
    }
    assert_true(friedel > 0.1); /* mates differ */
    nb_factor_list_free(&alone);
    nb_factor_list_free(&all);
}

static void check_extremes(const nb_sim *sim)
{
    nb_factor_table again = sim->model.scene.factors.table;
    const nb_factor_table was = again;
    assert_true(was.measured);
    nb_factor_table_measure(&again);
    assert_true(again.largest == was.largest && again.least == was.least);
    assert_true(again.dimmest == was.dimmest && again.hash == was.hash);
}

static void check_model(const char *name, void (*change)(nb_config *cfg))
{
    nb_config cfg = spectrum(name);
    nb_factor_list list;
    nb_error err = {0};
    nb_sim *sim;
    if (change)
        change(&cfg);
    if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK)
        fail_msg("%s", err.message);
    assert_int_equal(nb_sim_factor_tables(sim), WAVES);
    for (int i = 0; i < WAVES; i++)
        check_table(sim, &cfg, i);
    check_extremes(sim);
    assert_int_equal(nb_sim_factors(sim, WAVES, &list, &err), NB_ERR_INPUT);
    assert_int_equal(nb_sim_factors(sim, -1, &list, &err), NB_ERR_INPUT);
    nb_sim_free(sim);
    remove(cfg.source_file);
}

static void with_B_and_scale(nb_config *cfg)
{
    cfg->B_add = 12;
    cfg->F_scale = 1.5;
    cfg->F000 = 77;
    cfg->threads = 1;
}

static void with_F000(nb_config *cfg)
{
    cfg->F000 = NB_F000_CALC;
    cfg->k_sol = 0;
}

UNIT_TEST(tables_of_a_spectrum)
{
    if (!*nb_gemmi_version())
        skip_because("this build has no gemmi");
    check_model("1dur.pdb", NULL);
    check_model("1dur.pdb", with_B_and_scale);
    check_model("1dur.pdb", with_F000);
}

UNIT_TEST(a_list_has_one_table)
{
    nb_config cfg = spectrum("1dur.pdb");
    nb_factor_list list;
    nb_error err = {0};
    nb_sim *sim;
    cfg.pdb_file = nb_no_text;
    cfg.cell_count = 6;
    for (int i = 0; i < 6; i++)
        cfg.cell[i] = i < 3 ? 30 : 90;
    nb_put_scratch(&cfg.hkl_file, "three.hkl");
    assert_true(nb_scratch_write(cfg.hkl_file, "0 0 1 5\n1 2 0 7\n", 16));
    cfg.anomalous_tol = nb_suite_config(1, 3, 0).anomalous_tol;
    assert_int_equal(nb_sim_create(&cfg, NULL, &sim, &err), NB_OK);
    assert_int_equal(nb_sim_factor_tables(sim), 1);
    assert_int_equal(nb_sim_factors(sim, 0, &list, &err), NB_OK);
    assert_int_equal(list.count, 2 * 3 * 2);
    assert_true(list.cell[0] == 0 && isnan(list.phase[0]));
    nb_factor_list_free(&list);
    nb_sim_free(sim);
    remove(cfg.hkl_file);
    remove(cfg.source_file);
}
