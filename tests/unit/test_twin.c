/* SPDX-License-Identifier: MIT */
/* Twins: parts whose lattices coincide are one scene, other parts are separate scenes.
 * Crystals share F after a dose. */
#include "../../src/sim/crystals.h"
#include "../../src/sim/light.h"
#include "../support/check.h"
#include "../support/scenes.h"

static nb_sim *sim_of(const char *words)
{
    const char *source = getenv("NB_SOURCE");
    char all[1000];
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    snprintf(all, sizeof all,
             "-hkl %s/golden_data/experiments/hkl/tet.hkl -misset 10 20 30 -lambda 1 "
             "-distance 100 -detpixels 8 -nointerpolate %s",
             source ? source : ".", words);
    nb_config_defaults(&cfg);
    nb_words(&cfg, all);
    cfg.write_dump = 0;
    nb_put_text(&cfg.device, "cpu");
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    return sim;
}

/** Number of scenes that an image with these words renders. */
static int scenes_of(const char *words)
{
    nb_sim *sim = sim_of(words);
    const int n = 1 + nb_sim_mix(sim).n_more;
    nb_sim_free(sim);
    return n;
}

/** Number of crystals that share the first crystal's table of F. */
static int sharing(const char *words)
{
    nb_sim *sim = sim_of(words);
    const nb_mix mix = nb_sim_mix(sim);
    const double *F = sim->model.scene.factors.table.F;
    int n = 0;
    assert_non_null(F);
    for (int i = 0; i < mix.n_more; i++)
        n += mix.more[i]->factors.table.F == F;
    nb_sim_free(sim);
    return n;
}

UNIT_TEST(crystals_share_what_a_dose_leaves)
{
    assert_int_equal(sharing("-cell 32 32 40 -N 8 -crystals 4"), 3);
    assert_int_equal(sharing("-cell 32 32 40 -N 8 -crystals 4 -dose 2 -osc 1"), 3);
    assert_int_equal(sharing("-cell 32 32 40 91 92 93 -N 8 -crystals 4 -dose 2 -osc 1 "
                             "-damage_half 9 -Badd 3"),
                     3);
    assert_int_equal(sharing("-cell 32 32 40 -N 8 -dose 2 -osc 1 -crystals "
                             "[{},{\"Badd\":3},{\"cell\":[32,33,40]},{\"N\":3}]"),
                     1);
}

UNIT_TEST(parts_on_one_lattice_are_one_scene)
{
    assert_int_equal(scenes_of("-cell 32 32 40 -N 8 -twin k,h,-l:0.3"), 1);
    assert_int_equal(
        scenes_of("-cell 32 32 40 -N 8 -mosaic 0.2 -mosaic_dom 3 -phisteps 2 "
                  "-osc 1 -twin k,h,-l:0.2;-h,-k,l:0.1;-h,-k,-l:0.1"),
        1);
    assert_int_equal(scenes_of("-cell 32 32 40 -N 8 -twin k,h,-l:0.3 -crystals 3"), 3);
    assert_int_equal(scenes_of("-cell 32 32 40 90 90 120 -N 8 -twin k,h,-l:0.3"), 1);
}

UNIT_TEST(other_parts_stay_scenes)
{
    assert_int_equal(scenes_of("-cell 32 32.01 40 -N 8 -twin k,h,-l:0.3"), 2);
    assert_int_equal(scenes_of("-cell 32 32 40 -Na 5 -Nb 8 -Nc 8 -twin k,h,-l:0.3"), 2);
    assert_int_equal(scenes_of("-cell 32 32 40 -Na 5 -Nb 8 -Nc 8 -gauss_xtal -twin "
                               "k,h,-l:0.3"),
                     2);
    assert_int_equal(scenes_of("-cell 32 32 40 -N 8 -twin k,h,-l:0.3;h+1/2l,-k,-l:0.2"),
                     2);
    /* this law skews the shape of the crystal, because shapes are defined in (dh Na, dk
     * Nb, dl Nc) */
    assert_int_equal(scenes_of("-cell 32 32 40 90 90 120 -N 8 -twin h+k,-k,-l:0.3"), 2);
    assert_int_equal(scenes_of("-cell 32 32 40 90 90 120 -N 8 -gauss_xtal -twin "
                               "h+k,-k,-l:0.3"),
                     2);
}

/** Builds the simulation again with other flags and checks F against a new simulation. */
static const double *rebuild(nb_sim *sim, const char *words)
{
    nb_sim *fresh = sim_of(words);
    const nb_factor_table *t = &sim->model.scene.factors.table,
                          *want = &fresh->model.scene.factors.table;
    nb_error err = {0};
    if (nb_sim_frame(sim, nb_sim_record(fresh), NULL, &err))
        fail_msg("%s: %s", words, err.message);
    assert_int_equal(nb_table_values(t), nb_table_values(want));
    assert_memory_equal(t->F, want->F, nb_table_values(t) * sizeof *t->F);
    assert_true(t->default_F == want->default_F);
    nb_sim_free(fresh);
    return t->F;
}

UNIT_TEST(mixed_tables_are_kept_while_they_are_the_same)
{
    const char *two = "-cell 32 32 40 -N 8 -twin k,h,-l:0.2;k,-h,l:0.1 -crystals 2";
    nb_sim *sim = sim_of("-cell 32 32 40 -N 8 -twin k,h,-l:0.3");
    const double *F = sim->model.scene.factors.table.F;
    assert_true(rebuild(sim, "-cell 32 32 40 -N 8 -twin k,h,-l:0.3 -misset 40 50 60") == F);
    rebuild(sim, "-cell 32 32 40 -N 8 -twin k,h,-l:0.2");
    rebuild(sim, "-cell 32 32 40 -N 8 -twin k,-h,l:0.2");
    F = rebuild(sim, two);
    assert_true(rebuild(sim, two) == F);
    assert_true(nb_sim_mix(sim).more[0]->factors.table.F == F);
    nb_sim_free(sim);
}
