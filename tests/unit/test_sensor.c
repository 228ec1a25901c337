/* SPDX-License-Identifier: MIT */
/* Attenuation by sensor materials, which are chosen by name. */
#include "../support/check.h"

#include "../../src/base/xraylib_lib.h"
#include "../../src/model/detector.h"

static void need_library(void)
{
    nb_error err = {0};
    if (nb_xraylib_need("-sensor", "-detector_abs", &err))
        skip_because(err.message);
}

/** Compares mu (1/mm) at 12398.42 eV with an independent table of values like XCOM's. */
UNIT_TEST(attenuation_of_the_names)
{
    static const struct {
        const char *name;
        double density, mu;
    } table[] = {{"Si", 2.33, 4.211},    {"Silicon", 2.33, 4.211}, {"Ge", 5.323, 79.68},
                 {"GaAs", 5.317, 80.11}, {"CdTe", 5.85, 45.32},    {"CZT", 5.78, 45.92},
                 {"CsI", 4.51, 43.49},   {"Gd2O2S", 7.32, 95.17},  {"GOS", 7.32, 95.17},
                 {"Se", 4.28, 10.50},    {"diamond", 3.51, 0.4586}};
    need_library();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        nb_material m;
        nb_error err = {0};
        if (nb_material_find(table[i].name, 1.0, &m, &err))
            fail_msg("%s", err.message);
        assert_string_equal(m.name, table[i].name);
        check_close(m.density, table[i].density, 0);
        check_ratio(m.mu, table[i].mu * 1000, 5e-3);
    }
}

UNIT_TEST(formulas_and_densities)
{
    nb_material a, b, c;
    need_library();
    assert_int_equal(nb_material_find("Bi4Ge3O12:7.13", 1.0, &a, NULL), NB_OK);
    assert_string_equal(a.name, "Bi4Ge3O12");
    check_ratio(a.mu, 56.86e3, 5e-3);
    assert_int_equal(nb_material_find("CdTe", 1.0, &a, NULL), NB_OK);
    assert_int_equal(nb_material_find("CdTe:11.7", 1.0, &b, NULL), NB_OK);
    check_ratio(b.mu, 2 * a.mu, 1e-12);
    /* a mixture is the sum of its parts: Ga 69.723, As 74.9216 g/mol */
    assert_int_equal(nb_material_find("Ga:1", 1.2, &a, NULL), NB_OK);
    assert_int_equal(nb_material_find("As:1", 1.2, &b, NULL), NB_OK);
    assert_int_equal(nb_material_find("GaAs:1", 1.2, &c, NULL), NB_OK);
    check_ratio(c.mu, (69.723 * a.mu + 74.9216 * b.mu) / (69.723 + 74.9216), 1e-4);
    /* an element has a default density */
    assert_int_equal(nb_material_find("Cu", 1.0, &a, NULL), NB_OK);
    check_close(a.density, 8.96, 0.01);
    /* rays of lower energy stop sooner */
    assert_int_equal(nb_material_find("Si", 0.7, &a, NULL), NB_OK);
    assert_int_equal(nb_material_find("Si", 1.4, &b, NULL), NB_OK);
    check_ratio(b.mu, 8 * a.mu, 0.1);
}

UNIT_TEST(bad_materials_are_refused)
{
    static const struct {
        const char *text;
        double wavelength;
        const char *part;
    } bad[] = {{"unobtainium", 1, "unknown material; type Si"},
               {"", 1, "unknown material"},
               {":3", 1, "unknown material"},
               {"si", 1, "unknown material"},
               {"Water, Liquid:1", 1, "unknown material"},
               {"Bi4Ge3O12", 1, "needs its density"},
               {"Si:", 1, "no density"},
               {"Si:0", 1, "no density"},
               {"Si:-2", 1, "no density"},
               {"Si:1e9", 1, "no density"},
               {"Si:nan", 1, "no density"},
               {"Si:2.33:1", 1, "no density"},
               {"Si", 1e5, "type -detector_abs"},
               {"Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2Si2O2",
                1, "unknown material"}};
    need_library();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_material m;
        nb_error err = {0};
        if (nb_material_find(bad[i].text, bad[i].wavelength, &m, &err) != NB_ERR_INPUT ||
            !strstr(err.message, bad[i].part) || strchr(err.message, '\n'))
            fail_msg("'%s': %s", bad[i].text, err.message);
    }
}

static nb_config detector(const char *sensor)
{
    nb_config cfg = nb_suite_config(1, 3, 16);
    cfg.thick_um = 450;
    cfg.lambda_A = 1;
    nb_put_text(&cfg.sensor, "%s", sensor);
    return cfg;
}

/** Photons of a tiny detector far away, to which every ray is normal. */
static double photons(const char *sensor, double abs_um)
{
    nb_config cfg = detector(sensor);
    cfg.abs_um = abs_um;
    cfg.pixel_mm = 1e-4;
    cfg.distance_mm = 1000;
    cfg.oversample = 1;
    cfg.thick_steps = 1; /* with one layer at the front the solid angle is the same */
    cfg.layer_depth = NB_LAYER_FRONT;
    cfg.water_um = 100;
    nb_picture p = rendered(&cfg);
    double sum = 0;
    for (size_t i = 0; i < p.n; i++)
        sum += p.pixels[i];
    nb_picture_free(&p);
    return sum;
}

/** 450 um of Si stop 1 - exp(-mu T) of the photons. */
UNIT_TEST(a_sensor_stops_its_share)
{
    nb_material m;
    need_library();
    assert_int_equal(nb_material_find("Si", 1.0, &m, NULL), NB_OK);
    check_ratio(photons("Si", NAN) / photons("", INFINITY), 1 - exp(-m.mu * 450e-6), 1e-6);
    check_ratio(photons("Si", NAN), photons("", 1e6 / m.mu), 1e-6);
}

UNIT_TEST(contradictions_are_refused)
{
    nb_config cfg = detector("Si");
    cfg.abs_um = 300;
    check_refused(&cfg, NB_ERR_INPUT, "-sensor Si contradicts -detector_abs 300");
    cfg = detector("Si");
    cfg.thick_um = NAN;
    check_refused(&cfg, NB_ERR_INPUT, "-sensor Si needs a thickness: add -detector_thick");
}

UNIT_TEST(reports_name_the_material)
{
    nb_config cfg = detector("CdTe:6");
    nb_error err = {0};
    char *text;
    need_library();
    nb_sim *sim = created(&cfg);
    assert_int_equal(nb_sim_report(sim, &text, &err), NB_OK);
    assert_non_null(strstr(text, "sensor 450 um of CdTe, 6 g/cm3, in 2 layers"));
    nb_free(text);
    nb_sim_free(sim);
}
