/* SPDX-License-Identifier: MIT */
/* The table of parameters: setting, getting and checking values by names. */
#include <float.h>
#include <locale.h>

#include "../../src/params/params.h"
#include "../support/check.h"

static nb_config cfg;
static nb_error err;

static void fresh(void)
{
    nb_config_defaults(&cfg);
    memset(&err, 0, sizeof err);
}

static void set(const char *name, const char *text)
{
    if (nb_put(&cfg, name, text, &err))
        fail_msg("%s %s: %s", name, text, err.message);
}

static void refused(const char *name, const char *text, const char *says)
{
    nb_config before;
    fresh();
    before = cfg;
    if (nb_config_set(&cfg, name, text, &err) != NB_ERR_INPUT)
        fail_msg("accepted: %s %s", name, text);
    if (!strstr(err.message, says) || strchr(err.message, '\n'))
        fail_msg("%s %s: %s", name, text, err.message);
    assert_memory_equal(&cfg, &before, sizeof cfg);
}

static const char *got(const char *name)
{
    static char text[NB_PARAM_TEXT];
    if (nb_config_get(&cfg, name, text, sizeof text, &err))
        fail_msg("%s: %s", name, err.message);
    return text;
}

/* Rows are complete for help and messages; their limits exclude the value for unset. */
UNIT_TEST(rows_are_complete)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    assert_true(count > 150);
    for (size_t i = 0; i < count; i++) {
        const nb_param *p = &table[i];
        size_t end = p->flags & NB_PARAM_SERIES ? sizeof(nb_series) : sizeof(nb_config);
        char value[200];
        assert_true(p->name[0] && p->group[0] && p->help[0] && p->size > 0);
        assert_true(p->offset + p->size <= end);
        assert_ptr_equal(nb_param_find(p->name), p);
        assert_true(strlen(nb_param_value(p, value, sizeof value)) < sizeof value - 1);
        if (p->kind == NB_KIND_CHOICE && !p->choices)
            fail_msg("%s has no choices", p->name);
        if ((p->kind == NB_KIND_NUMBER || p->kind == NB_KIND_INTEGER) &&
            !(p->low < p->high))
            fail_msg("%s has no limits", p->name);
        assert_true(nb_param_words(p, NULL) <= NB_PARAM_WORDS);
        for (size_t j = 0; j < i; j++)
            if (p->header && table[j].header && p->place == table[j].place)
                fail_msg("%s and %s have the same place", p->name, table[j].name);
    }
}

/* Only rows with NB_PARAM_VIEW share bytes: a fingerprint then takes each byte once. */
UNIT_TEST(fields_have_one_owner)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const nb_param *a = &table[i], *b = &table[j];
            if ((a->flags | b->flags) & NB_PARAM_VIEW ||
                (a->flags ^ b->flags) & NB_PARAM_SERIES)
                continue;
            if (a->offset < b->offset + b->size && b->offset < a->offset + a->size)
                fail_msg("%s and %s share bytes", a->name, b->name);
        }
}

UNIT_TEST(set_and_get)
{
    static const char *const rows[][3] = {
        /* name, text, text that returns */
        {"lambda", "1.5", "1.5"},
        {"wave", "0.1", "0.1"},
        {"N", "7", "7 7 7"},
        {"N", "7 8 9", "7 8 9"},
        {"Nb", "12", "12"},
        {"Nb", "10.4", "10.4"},
        {"samplesize", "0.25", "0.25 0.25 0.25"},
        {"cell", "70 80 90", "70 80 90"},
        {"cell", "70 80 90 0 95 100.5", "70 80 90 90 95 100.5"},
        {"misset", "10 -20 30", "10 -20 30"},
        {"misset", "random", "random"},
        {"shape", "Round", "round"},
        {"convention", "xds", "xds"},
        {"xds", "1", "1"},
        {"xds", "0", "0"},
        {"nopolar", "on", "1"},
        {"interpolate", "false", "0"},
        {"nointerpolate", "true", "1"},
        {"detector_abs", "inf", "inf"},
        {"detector_abs", "300", "300"},
        {"beam_vector", "1 0 -0.001", "1 0 -0.001"},
        {"pix0_vector", "0.1 0 0", "0.1 0 0"},
        {"pix0_vector_mm", "100 -1 2.5", "100 -1 2.5"},
        {"seed", "-9223372036854775808", "-9223372036854775808"},
        {"hkl", "my file.hkl", "my file.hkl"},
        {"device", "cuda:12", "cuda:12"},
        {"tiffbits", "16", "16"},
        {"roi", "0 10 5 8", "0 10 5 8"},
        {"pngscale", "99.5", "99.5"},
        {"pngscale", "-1:20", "-1:20"},
        {"pngrings", "3,2.5,1", "3,2.5,1"},
        {"precision", "double", "double"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nb_config first;
        fresh();
        set(rows[i][0], rows[i][1]);
        assert_string_equal(got(rows[i][0]), rows[i][2]);
        first = cfg;
        set(rows[i][0], got(rows[i][0]));
        assert_true(nb_same_config(&cfg, &first)); /* a value that is read can be set */
    }
}

UNIT_TEST(what_is_unset)
{
    fresh();
    assert_string_equal(got("lambda"), "");
    assert_string_equal(got("cell"), "");
    assert_string_equal(got("roi"), "");
    assert_string_equal(got("seed"), "");
    assert_string_equal(got("pivot"), "");
    assert_string_equal(got("oversample"), "");
    assert_string_equal(got("interpolate"), "");
    assert_string_equal(got("fudge"), "1"); /* returns its value, although unset */
    assert_string_equal(got("tiffbits"), "32");
    assert_string_equal(got("shape"), "square");
    assert_string_equal(got("nopolar"), "0");
    assert_string_equal(got("floatfile"), "floatimage.bin");
}

/** Any text can be replaced; copies of a configuration then keep the old text. */
UNIT_TEST(texts_are_shared_by_copies)
{
    nb_config copy = {0};
    fresh();
    assert_int_equal(nb_text_put(&cfg.float_file, "mine.bin", &err), NB_OK);
    nb_config_copy(&copy, &cfg);
    assert_ptr_equal(copy.float_file, cfg.float_file);
    assert_int_equal(nb_text_put(&cfg.float_file, "other.bin", &err), NB_OK);
    assert_string_equal(copy.float_file, "mine.bin");
    nb_config_copy(&copy, &cfg);
    nb_config_drop(&cfg);
    nb_config_drop(&cfg);
    assert_string_equal(cfg.float_file, "");
    assert_string_equal(copy.float_file, "other.bin");
    nb_config_drop(&copy);
}

UNIT_TEST(refusals)
{
    refused("lamda", "1", "unknown parameter 'lamda'");
    refused("frames", "5", "nb_series");
    refused("lambda", "", "needs 1 value");
    refused("lambda", "1 2", "needs 1 value");
    refused("lambda", "1.2x", "-lambda '1.2x': not a number; write -lambda l (A)");
    refused("wave", "0", "-wave 0: the value must be at least 1e-06");
    refused("lambda", "nan", "not a number");
    refused("lambda", "1e999", "too large");
    refused("N", "0", "at least 1");
    refused("N", "5 6", "needs 3 values (2 given)");
    refused("N", "0.5", "at least 1");
    refused("Nb", "x", "not a number");
    refused("dispersion", "199.5", "at least 0 and at most 199");
    refused("osc", "2e6", "at most 1000000");
    refused("cell", "10 10 10 90 90 180", "less than 180");
    refused("misset", "1 2", "-misset");
    refused("misset", "1", "must be x y z | random");
    refused("shape", "cube", "shape 'cube': must be one of square, round, gauss, tophat");
    refused("pivot", "", "-pivot");
    refused("tiffbits", "24", "-tiffbits '24': must be one of 16, 32");
    refused("device", "cuda:1234", "-device 'cuda:1234': must be one of auto | cpu");
    refused("device", "cuda:N", "-device");
    refused("beam_vector", "0 0 0", "zero vector");
    refused("pngscale", "5:5", "must be auto | P | lo:hi");
    refused("pngrings", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "-pngrings");
    refused("nopolar", "maybe", "must be 1 or 0");
    refused("hkl", "", "file name is empty");
}

UNIT_TEST(numbers_are_strict)
{
    static const char *const bad[] = {" 1",   "1.2x", "nan", "inf", "-inf",
                                      "0x10", "1e",   "--1", "1-2", "e5",
                                      ".",    "+",    "1,5", "1d3", ""};
    static const char *const no_whole[] = {"1.0", "1e3", "1x", "", " 1", "0x1"};
    const nb_param *phi = nb_param_find("phi"), *seed = nb_param_find("seed");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (nb_param_set(phi, &cfg, &bad[i], 1, &err) != NB_ERR_INPUT ||
            !strstr(err.message, "not a number"))
            fail_msg("'%s' is taken for a number: %s", bad[i], err.message);
    for (size_t i = 0; i < sizeof no_whole / sizeof *no_whole; i++)
        if (nb_param_set(seed, &cfg, &no_whole[i], 1, &err) != NB_ERR_INPUT ||
            !strstr(err.message, "not a whole number"))
            fail_msg("'%s' is taken for a whole number: %s", no_whole[i], err.message);
    refused("seed", "9223372036854775808", "too large");
    set("phi", "-1.5e-3");
    assert_true(cfg.phi_deg == -1.5e-3);
    set("phi", "+.5");
    assert_true(cfg.phi_deg == 0.5);
}

UNIT_TEST(numbers)
{
    const double two[] = {1, 0.5}, cell[] = {70, 80, 90, 75, 85, 95}, tiny = 0.1 + 0.2;
    fresh();
    assert_int_equal(nb_config_set_array(&cfg, "cell", cell, 6, &err), NB_OK);
    assert_memory_equal(cfg.cell, cell, sizeof cell);
    assert_int_equal(nb_config_set_array(&cfg, "phi", &tiny, 1, &err), NB_OK);
    assert_true(cfg.phi_deg == tiny);
    assert_int_equal(nb_config_set_array(&cfg, "nopolar", two, 1, &err), NB_OK);
    assert_int_equal(cfg.nopolar, 1);
    assert_int_equal(nb_config_set_array(&cfg, "Na", two + 1, 1, &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_set_array(&cfg, "phi", two, 2, &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_set_array(&cfg, "phi", &(double){NAN}, 1, &err),
                     NB_ERR_INPUT);
    const double many[NB_PARAM_WORDS + 1] = {0};
    assert_int_equal(nb_config_set_array(&cfg, "phi", many, NB_PARAM_WORDS + 1, &err),
                     NB_ERR_INPUT);
}

UNIT_TEST(what_follows)
{
    fresh();
    set("lambda", "2"), set("energy", "12000");
    assert_true(isnan(cfg.lambda_A) && cfg.energy_eV == 12000);
    set("xds", "1");
    assert_int_equal(cfg.pivot_implied, NB_PIVOT_SAMPLE);
    set("Xbeam", "50");
    assert_int_equal(cfg.pivot_implied, NB_PIVOT_BEAM);
    set("fdet_vector", "0 0 1");
    assert_int_equal(cfg.convention, NB_CONV_CUSTOM);
    set("nopolar", "1"), set("polar", "0.9");
    assert_true(cfg.polar_set && !cfg.nopolar);
    set("divergence", "2");
    assert_true(cfg.hdiv_range_mrad == 2 && cfg.vdiv_range_mrad == 2);
    set("nofloat", "1");
    assert_false(cfg.write_float);
    set("floatfile", "f.bin");
    assert_true(cfg.write_float);
}

/* The library refuses the values that the program refuses, also if they did not come from
 * flags. */
UNIT_TEST(check_refuses)
{
    static const char *const pairs[][4] = {
        {"detpixels", "8", "detsize_f", "3"},   {"detpixels_s", "8", "detsize", "3"},
        {"Nb", "8", "samplesize", "3"},         {"N", "8", "sample_z", "3"},
        {"crystal_volume", "8", "blocks", "3"}, {"distance", "8", "close_distance", "3"},
        {"fluence", "1e20", "flux", "3"},       {"pnggamma", "1", "pnglog", "1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        fresh();
        set(pairs[i][0], pairs[i][1]);
        assert_int_equal(nb_config_check(&cfg, &err), NB_OK);
        set(pairs[i][2], pairs[i][3]);
        check_refused(&cfg, NB_ERR_INPUT, "contradicts");
    }
    fresh();
    set("fluence", "1e20"), set("flux", "0"), set("detpixels_f", "5"),
        set("detsize_s", "3");
    assert_int_equal(nb_config_check(&cfg, &err), NB_OK);
    set("roi", "5 2 0 0");
    check_refused(&cfg, NB_ERR_INPUT, "a minimum is larger than its maximum");
    fresh();
    cfg.shape = (nb_shape)7;
    check_refused(&cfg, NB_ERR_INPUT,
                  "shape 7: must be one of square, round, gauss, tophat");
    fresh();
    cfg.tiff_bits = 24;
    check_refused(&cfg, NB_ERR_INPUT, "-tiffbits 24: must be one of 16, 32");
    fresh();
    cfg.dispersion_pct = 199.5;
    check_refused(&cfg, NB_ERR_INPUT, "-dispersion 199.5: the value must be at least 0");
    fresh();
    cfg.osc_deg = 2e6;
    check_refused(&cfg, NB_ERR_INPUT, "-osc 2000000: the value must be at least 0");
    fresh();
    nb_put_text(&cfg.device, "gpu");
    check_refused(&cfg, NB_ERR_INPUT, "-device gpu: must be one of auto, cpu");
    fresh();
    cfg.fdet_vector.set = 1;
    check_refused(&cfg, NB_ERR_INPUT, "zero vector");
}

/* A value in a field is refused exactly if its row refuses the value as text. */
UNIT_TEST(limits_hold_for_text_and_field)
{
    size_t count;
    const nb_param *table = nb_params(&count);
    for (size_t i = 0; i < count; i++) {
        const nb_param *p = &table[i];
        const double at[] = {p->low, p->high, nextafter(p->low, -DBL_MAX),
                             nextafter(p->high, DBL_MAX), 0};
        if (p->kind != NB_KIND_NUMBER || p->flags & NB_PARAM_SERIES)
            continue;
        for (int j = 0; j < 5; j++) {
            nb_status by_text, by_field;
            int n = p->flags & NB_PARAM_FILLS ? 1 : nb_param_words(p, NULL);
            double v[NB_PARAM_WORDS];
            for (int k = 0; k < NB_PARAM_WORDS; k++)
                v[k] = at[j];
            if (!isfinite(at[j]))
                continue;
            fresh();
            by_text = nb_config_set_array(&cfg, p->name, v, n, &err);
            fresh();
            memcpy((char *)&cfg + p->offset, &at[j], sizeof at[j]);
            by_field = nb_config_check_fields(&cfg, &err);
            if (by_text != by_field && at[j] != p->unset)
                fail_msg("%s %.17g: %s as text, %s in the field", p->name, at[j],
                         nb_status_name(by_text), nb_status_name(by_field));
        }
    }
}

UNIT_TEST(a_number_that_is_not_set_has_its_fallback)
{
    fresh();
    assert_true(!NB_GIVEN(&cfg, distance_mm) && NB_VALUE(&cfg, distance_mm) == 100);
    assert_true(NB_VALUE(&cfg, detsize_mm[1]) == 102.4);
    assert_true(NB_VALUE(&cfg, rot_deg[2]) == 0); /* unset: default of -detector_rotz */
    assert_true(NB_VALUE(&cfg, k_sol) == 0.435);  /* the help adds words to the number */
    assert_true(NB_VALUE(&cfg, fluence) == 125932015286227086360700780544.0);
    assert_true(isnan(NB_VALUE(&cfg, crystal_volume_um3))); /* default: not a number */
    assert_true(NB_VALUE_OR(&cfg, gain, 3) == 3);
    cfg.rot_deg[2] = 5;
    cfg.gain = 2;
    assert_true(NB_GIVEN(&cfg, rot_deg[2]) && !NB_GIVEN(&cfg, rot_deg[1]));
    assert_true(NB_VALUE(&cfg, rot_deg[2]) == 5 && NB_VALUE_OR(&cfg, gain, 3) == 2);
}

/* Numbers, choices and seeds have the defaults of the rows that the help prints. */
UNIT_TEST(settings_have_every_default_of_the_rows)
{
    static nb_settings all;
    const nb_config *v = &all.value;
    fresh();
    set("osc", "2"), set("misset", "1 2 3"), set("detector_roty", "4"),
        set("ncs", "apply");
    assert_ptr_equal(nb_resolve(&cfg, &all), &all);
    assert_true(v->distance_mm == 100 && v->rot_deg[0] == 0 && v->rot_deg[1] == 4);
    assert_true(v->N[0] == 1 && v->N[2] == 1 && v->osc_deg == 2 && v->F_scale == 1);
    assert_true(v->model == 1 && v->expt_number == 0);
    assert_true(v->mosaic_seed.set && v->mosaic_seed.value == 12345678);
    assert_true(v->calib_seed.set && v->calib_seed.value == 123456789 && !v->seed.set);
    assert_true(v->convention == NB_CONV_MOSFLM && v->layer_depth == NB_LAYER_MEAN);
    assert_true(v->anomalous == NB_ANOMALOUS_EACH && v->ncs == NB_NCS_APPLY);
    assert_true(v->mosaic_domains == 0 && v->phi_steps == 0); /* rules set these later */
    assert_true(isnan(v->orgx) && isnan(v->crystal_volume_um3) && isnan(v->tolerance));
    assert_true(NB_TYPED(&all, osc_deg) && !NB_TYPED(&all, phi_deg));
    assert_true(NB_TYPED(&all, rot_deg[1]) && !NB_TYPED(&all, rot_deg[0]));
    assert_true(NB_TYPED(&all, misset_deg) && NB_TYPED(&all, ncs));
    assert_true(!NB_TYPED(&all, mosaic_seed) && !NB_TYPED(&all, convention));
    assert_true(NB_TYPED_OR(&all, osc_deg, 7) == 2 && NB_TYPED_OR(&all, phi_deg, 7) == 7);
    nb_settings_put(&all, offsetof(nb_config, phi_deg), 5);
    assert_true(NB_TYPED(&all, phi_deg) && v->phi_deg == 5);
    cfg.compat = 1;
    assert_int_equal(nb_resolve(&cfg, &all)->value.layer_depth, NB_LAYER_FRONT);
}

UNIT_TEST(pointers)
{
    char text[4];
    fresh();
    assert_int_equal(nb_config_set(NULL, "phi", "1", &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_set(&cfg, NULL, "1", &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_set(&cfg, "phi", NULL, &err), NB_ERR_INPUT);
    assert_int_equal(nb_config_get(&cfg, "floatfile", text, sizeof text, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "more than 3 bytes"));
    assert_int_equal(nb_config_check(NULL, &err), NB_ERR_INPUT);
    assert_int_equal(nb_param_set(NULL, &cfg, NULL, 0, &err), NB_ERR_INPUT);
    assert_null(nb_param_find(NULL));
    assert_null(nb_param_find(""));
    assert_non_null(nb_params(NULL));
}
