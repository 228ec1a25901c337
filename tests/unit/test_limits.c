/* SPDX-License-Identifier: MIT */
/* Values too large for a float, in an image and in a series; structure factors whose
 * ratio is too large for floats. */
#include "../support/check.h"

#include "physics/limits.h"

enum { PIXELS = 12 };

/** Renders into the caller's memory (with or without statistics) or into the
 * simulation's. */
static nb_status render_one(const nb_config *cfg, int with_stats, int own, nb_error *err)
{
    static float image[PIXELS * PIXELS];
    nb_stats stats;
    nb_sim *sim = created(cfg);
    nb_status st = nb_sim_render(sim, own ? NULL : image, with_stats ? &stats : NULL, err);
    if (st && own) {
        const float *none;
        assert_int_equal(nb_sim_image(sim, &none, NULL), NB_ERR_INTERNAL);
    }
    nb_sim_free(sim);
    return st;
}

static void check_overflow(const nb_config *cfg, const char *cause)
{
    for (int i = 0; i < 4; i++) {
        nb_error err = {0};
        nb_status st = render_one(cfg, i & 1, i >> 1, &err);
        if (st != NB_ERR_INPUT || !strstr(err.message, cause))
            fail_msg("expected an overflow by %s, got %s: %s", cause, nb_status_name(st),
                     err.message);
    }
}

static nb_config vectors(void)
{
    nb_config cfg = nb_suite_config(1, 5, PIXELS);
    cfg.isa = NB_ISA_AUTO;
    cfg.precision = NB_PRECISION_MIXED;
    return cfg;
}

UNIT_TEST(an_overflow_names_its_cause)
{
    static const nb_isa sets[] = {NB_ISA_AUTO, NB_ISA_SCALAR};
    for (int i = 0; i < 2; i++) {
        nb_config cfg = vectors();
        cfg.isa = sets[i];
        cfg.fluence = 1e75;
        check_overflow(&cfg, "-fluence");
        cfg.fluence = NAN;
        cfg.flux = 1e60;
        cfg.beamsize_mm = 1e-3;
        check_overflow(&cfg, "-flux");
        cfg = vectors();
        cfg.isa = sets[i];
        cfg.blocks = 1e60;
        check_overflow(&cfg, "-blocks");
        cfg = vectors();
        cfg.isa = sets[i];
        cfg.default_F = 1e25;
        check_overflow(&cfg, "-default_F");
        cfg.default_F = 100;
        cfg.water_um = 1e9;
        cfg.fluence = 1e38;
        check_overflow(&cfg, "-water");
    }
}

UNIT_TEST(the_largest_image_is_no_error)
{
    nb_config cfg = vectors();
    nb_picture p;
    p = rendered(&cfg);
    cfg.fluence = 1.2e29 * 3e38 / p.stats.max;
    nb_picture_free(&p);
    p = rendered(&cfg);
    check_ratio(p.stats.max, 3e38, 0.1);
    nb_picture_free(&p);
}

/* One reflection of 1e25 outside the view of the detector, and the visible
 * reflections. */
UNIT_TEST(one_large_factor)
{
    nb_config cfg = vectors();
    nb_picture mixed, reference;
    const char *text = "0 0 0 100\n0 1 0 70\n0 0 1 40\n0 -1 0 20\n0 0 -1 7\n"
                       "50 50 50 1e25\n";
    nb_put_scratch(&cfg.hkl_file, "large.hkl");
    nb_put_scratch(&cfg.dump_file, "large.dump");
    assert_true(nb_scratch_write(cfg.hkl_file, text, strlen(text)));
    cfg.default_F = NAN;
    mixed = rendered(&cfg);
    cfg.isa = NB_ISA_SCALAR;
    reference = rendered(&cfg);
    check_above(reference.stats.max, 1);
    check_same(mixed, reference, 1e-6);
    nb_picture_free(&mixed);
    nb_picture_free(&reference);
    remove(cfg.hkl_file);
}

UNIT_TEST(a_series_stops_at_the_frame)
{
    nb_config cfg = vectors();
    nb_series series = nb_test_series();
    nb_error err = {0};
    char path[NB_PATH_MAX];
    cfg.default_F = 1e25;
    cfg.seed = (nb_seed){1, 3};
    series.stills = 2;
    nb_put_scratch(&series.output, "large_%d.bin");
    assert_int_equal(nb_series_run(&cfg, &series, NULL, NULL, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-default_F"));
    nb_scratch_path(path, "large_1.bin");
    assert_null(nb_file_bytes(path, &(size_t){0}));
}

UNIT_TEST(extremes_of_a_table)
{
    const double F[8] = {0, -3, 0.5, 2, 0, 1, 7, -0.25};
    nb_factor_table box = {.nh = 2, .nk = 2, .nl = 2, .F = F};
    nb_factor_table_measure(&box);
    assert_true(box.largest == 7 && box.least == 0 && box.dimmest == 0.25);
    assert_true(nb_largest_F(&box) == 7 && nb_dimmest_F(&box) == 0.25);
    box.default_F = 9;
    assert_true(nb_largest_F(&box) == 9 && nb_dimmest_F(&box) == 0.25);
    box.default_F = 0.125;
    assert_true(nb_largest_F(&box) == 7 && nb_dimmest_F(&box) == 0.125);
    box.nh = 0;
    assert_true(nb_largest_F(&box) == 0.125 && nb_dimmest_F(&box) == 0.125);
}
