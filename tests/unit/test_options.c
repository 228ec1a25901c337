/* SPDX-License-Identifier: MIT */
/* The flags and their parser. */
#include "../support/check.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "../../src/base/text.h"
#include "../../src/cli/options.h"
#include "../../src/cli/common.h"

static nb_cli cli;
static nb_error err;

/** Parse flags typed with single blanks between them. */
static nb_status parse(const char *flags)
{
    static char copy[4096];
    char *argv[64] = {(char *)"nanobragg"};
    int argc = 1;

    snprintf(copy, sizeof copy, "%s", flags);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    memset(&err, 0, sizeof err);
    nb_cli_free(&cli);
    return nb_cli_parse(argc, argv, &cli, &err);
}

static void parse_ok(const char *flags)
{
    if (parse(flags))
        fail_msg("%s: %s", flags, err.message);
}

/** Checks that the flags are refused with a message that contains both texts. */
static void refused(const char *flags, const char *says, const char *and)
{
    if (parse(flags) != NB_ERR_INPUT)
        fail_msg("accepted: %s", flags);
    if (!strstr(err.message, says) || !strstr(err.message, and) ||
        strchr(err.message, '\n'))
        fail_msg("%s: %s", flags, err.message);
}

UNIT_TEST(flags_are_complete)
{
    int helps = 0;
    char text[200];

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        assert_true(f->name[0] && f->group[0] && f->help[0]);
        assert_true(nb_flag_index(f) < NB_FLAG_MAX - 1);
        assert_int_equal(nb_param_value(f, text, sizeof text)[0] == 0,
                         nb_flag_is_switch(f));
        assert_true(f->offset + f->size <= sizeof(nb_cli));
        helps += !strcmp(f->group, "Help");
    }
    assert_int_equal(helps, 3); /* -help, -help-json, -version */
}

/** Every spelling finds exactly its flag, with one dash and with two. */
UNIT_TEST(every_spelling_is_found)
{
    size_t spellings = 0;

    for (const nb_flag *f = NULL; (f = nb_flag_next(f));) {
        const char *cursor = f->synonyms;
        char word[64], typed[80];
        snprintf(word, sizeof word, "%s", f->name);
        do {
            snprintf(typed, sizeof typed, "--%s", word);
            assert_ptr_equal(nb_flag_find(typed), f);
            assert_ptr_equal(nb_flag_find(typed + 1), f);
            assert_null(nb_flag_find(typed + 2));
            spellings++;
        } while (nb_text_word(&cursor, word));
        assert_true(!cursor || !*cursor);
    }
    assert_true(spellings >= 145);
    assert_null(nb_flag_find("-shape")); /* a parameter without a flag */
}

UNIT_TEST(nothing_typed_leaves_the_defaults)
{
    static nb_config expected;
    nb_text line;

    nb_config_defaults(&expected);
    parse_ok("");
    assert_string_equal(cli.cfg.command_line, "nanobragg");
    /* the same function wrote both structs, so padding and NaN have equal bytes */
    line = cli.cfg.command_line;
    cli.cfg.command_line = expected.command_line;
    assert_memory_equal(&cli.cfg, &expected, sizeof expected);
    cli.cfg.command_line = line;
    assert_int_equal(cli.progress, 1);
}

UNIT_TEST(last_one_holds)
{
    parse_ok("-N 3 -Nb 7 --wave 2 -lambda 1.5 -Na 4");
    assert_true(cli.cfg.N[0] == 4);
    assert_true(cli.cfg.N[1] == 7);
    assert_true(cli.cfg.N[2] == 3);
    assert_true(cli.cfg.lambda_A == 1.5);
    parse_ok("-lambda 2 -energy 12000");
    assert_true(isnan(cli.cfg.lambda_A) && cli.cfg.energy_eV == 12000);
    parse_ok("-energy 12000 -lambda 2");
    assert_true(isnan(cli.cfg.energy_eV) && cli.cfg.lambda_A == 2);
    parse_ok("-misset random -misset 1 -2 3");
    assert_int_equal(cli.cfg.misset_mode, NB_MISSET_FIXED);
    assert_true(cli.cfg.misset_deg[1] == -2);
    parse_ok("-misset 1 2 3 -misset random");
    assert_int_equal(cli.cfg.misset_mode, NB_MISSET_RANDOM);
}

UNIT_TEST(cell_takes_what_are_numbers)
{
    parse_ok("-cell 10 -N 5");
    assert_int_equal(cli.cfg.cell_count, 1);
    parse_ok("-cell 70 80 90 75 85 95 -misset 1 2 3");
    assert_int_equal(cli.cfg.cell_count, 6);
    assert_true(cli.cfg.cell[5] == 95);
    parse_ok("-cell 10 20 30 0");
    assert_int_equal(cli.cfg.cell_count, 4);
    assert_true(cli.cfg.cell[3] == 90);
    refused("-cell 1 2 3 90 90 90 90", "'90'", "after -cell");
    refused("-cell 10 0", "-cell 0", "greater than 0");
    refused("-cell 10 10 10 -5", "-cell -5", "at least 0");
    refused("-cell", "-cell", "needs");
    refused("-cell abc", "'abc'", "not a number");
}

UNIT_TEST(conventions_and_pivots)
{
    parse_ok("-xds");
    assert_int_equal(cli.cfg.convention, NB_CONV_XDS);
    assert_int_equal(cli.cfg.pivot_implied, NB_PIVOT_SAMPLE);
    parse_ok("-xds -fdet_vector 0 0 1");
    assert_int_equal(cli.cfg.convention, NB_CONV_CUSTOM);
    assert_int_equal(cli.cfg.pivot_implied, NB_PIVOT_SAMPLE);
    parse_ok("-fdet_vector 0 0 1 -mosflm");
    assert_int_equal(cli.cfg.convention, NB_CONV_MOSFLM);
    parse_ok("-dials -pix0_vector_mm 100 -1 2");
    assert_int_equal(cli.cfg.convention, NB_CONV_DIALS);
    assert_true(cli.cfg.pix0_m.set && cli.cfg.pix0_m.v[1] == -0.001);
    parse_ok("-pix0_vector 0 0 0.1");
    assert_int_equal(cli.cfg.convention, NB_CONV_UNSET);
    assert_true(cli.cfg.pix0_m.v[2] == 0.1);
    parse_ok("-pivot beam -twotheta 5");
    assert_int_equal(cli.cfg.pivot, NB_PIVOT_BEAM);
    assert_int_equal(cli.cfg.pivot_implied, NB_PIVOT_SAMPLE);
    parse_ok("-Xclose 5 -Xbeam 5");
    assert_int_equal(cli.cfg.pivot_implied, NB_PIVOT_BEAM);
    assert_int_equal(cli.cfg.pivot, NB_PIVOT_UNSET);
}

UNIT_TEST(side_effects)
{
    parse_ok("-nopolar -polar 0.9");
    assert_true(cli.cfg.polar_set && !cli.cfg.nopolar);
    parse_ok("-polar 0.9 -nopolar");
    assert_true(cli.cfg.nopolar);
    parse_ok("-divergence 2 -vdiv 3 -divsteps 4 -hdivsteps 5");
    assert_true(cli.cfg.hdiv_range_mrad == 2 && cli.cfg.vdiv_range_mrad == 3);
    assert_true(cli.cfg.hdiv_steps == 5 && cli.cfg.vdiv_steps == 4);
    parse_ok("-nonoise -nopgm -nofloat -noint");
    assert_false(cli.cfg.write_noise || cli.cfg.write_pgm || cli.cfg.write_float ||
                 cli.cfg.write_int);
    parse_ok("-nonoise -nopgm -nofloat -noint -noisefile n -pgmscale 2 -floatfile f "
             "-intfile i");
    assert_true(cli.cfg.write_noise && cli.cfg.write_pgm && cli.cfg.write_float &&
                cli.cfg.write_int);
    parse_ok("-xtalsize 0.5 -xtal_y 0.25");
    assert_true(cli.cfg.xtal_size_mm[0] == 0.5 && cli.cfg.xtal_size_mm[1] == 0.25 &&
                cli.cfg.xtal_size_mm[2] == 0.5);
    parse_ok("-detpixels 8 -detpixels_y 9 -roi 0 3 4 8");
    assert_true(cli.cfg.detpixels[0] == 8 && cli.cfg.detpixels[1] == 9);
    assert_true(cli.cfg.roi_set && cli.cfg.roi[3] == 8);
    parse_ok("-printout_pixel 3 4 -time json -trace_pixel 1 2 -help");
    assert_true(cli.printout && cli.printout_one && cli.printout_pixel[1] == 4);
    assert_true(cli.trace && cli.trace_pixel[0] == 1 && cli.time == NB_TIME_JSON);
    parse_ok("-detector_abs 300 -detector_abs inf -seed -5 -device cuda:3");
    assert_true(cli.cfg.abs_um == 0 && cli.cfg.seed.set && cli.cfg.seed.value == -5);
    assert_string_equal(cli.cfg.device, "cuda:3");
    parse_ok("-dispersion 2 -dispstep 0.5 -hkl some.hkl");
    assert_true(cli.cfg.dispersion_step_pct == 0.5);
    assert_string_equal(cli.cfg.hkl_file, "some.hkl");
}

/** -device has the words of the backends, in the table and in the completion. */
UNIT_TEST(device_words_are_the_backends)
{
    const char *word;
    char list[200] = "", value[200];
    int i;
    for (i = 0; (word = nb_device_word(i)); i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? " | " : "",
                 word);
        assert_int_equal(nb_device_check(word, NULL) == NB_OK, !strchr(word, 'N'));
    }
    assert_true(i >= 5);
    assert_string_equal(nb_param_value(nb_param_find("device"), value, sizeof value),
                        list);
    assert_int_equal(nb_device_check("cuda:999", NULL), NB_OK);
    assert_int_equal(nb_device_check("cuda:1000", NULL), NB_ERR_INPUT);
    assert_int_equal(nb_device_check("cuda:1x", NULL), NB_ERR_INPUT);
    assert_int_equal(nb_device_check("cudas", NULL), NB_ERR_INPUT);
    assert_int_equal(nb_device_check("", NULL), NB_OK);
}

UNIT_TEST(errors_name_flag_value_and_mend)
{
    refused("-detpixel 5", "-detpixel'", "did you mean -detpixels");
    refused("-Lamda 5", "-Lamda", "did you mean -lambda");
    refused("-photon_energy 9000", "-photon_energy", "did you mean -energy?");
    refused("-osc_width 1", "-osc_width", "did you mean -osc?");
    refused("-beam_center 1", "-beam_center", "did you mean -Xbeam?");
    refused("-nosuchthingatall", "-nosuchthingatall", "-help");
    refused("stray", "'stray'", "dash");
    refused("-detpixels=5", "-detpixels=5", "write -detpixels 5");
    refused("-lambda 1.2x", "-lambda '1.2x'", "write -lambda");
    refused("-lambda", "-lambda", "needs a value");
    refused("-misset 1 2", "-misset needs 3 values", "2 given");
    refused("-hkl -N 5", "-hkl needs", "the flag -N follows");
    refused("-N 0", "-N 0", "at least 1");
    refused("-N -3", "-N -3", "at least 1");
    refused("-N 0.5", "-N 0.5", "at least 1");
    refused("-pixel 0", "-pixel 0", "greater than 0");
    refused("-polar 2", "-polar 2", "at most 1");
    refused("-roi 5 2 0 0", "-roi 5 2 0 0", "minimum");
    refused("-device gpu", "'gpu'", "cuda");
    refused("-device cuda:x", "'cuda:x'", "cuda:N");
    refused("-precision quad", "'quad'", "mixed, double, single");
    refused("-beam_vector 0 0 0", "-beam_vector", "zero vector");
    refused("-stol x.stol -Q y.stol", "-stol x.stol", "-Q y.stol");
    refused("-detpixels 5 -detsize_f 3", "-detpixels_f 5", "-detsize_f 3");
    refused("-distance 5 -close_distance 3", "-distance 5", "-close_distance 3");
    refused("-fluence 1e9 -flux 3", "-fluence 1000000000", "-flux 3");
    refused("-floatfile a -noisefile a", "-floatfile a", "-noisefile a");
    parse_ok("-fluence 1e9 -flux 0");
    parse_ok("-detpixels_f 5 -detsize_s 3");
    parse_ok("-Na 5 -sample_y 3");
}

UNIT_TEST(long_values_are_cut_or_refused)
{
    static char flags[3600];

    snprintf(flags, sizeof flags, "-hkl ");
    memset(flags + 5, 'x', NB_PATH_MAX);
    refused(flags, "-hkl", "longer");
    flags[5 + NB_PATH_MAX - 1] = '\0';
    parse_ok(flags);
    assert_int_equal(strlen(cli.cfg.hkl_file), NB_PATH_MAX - 1);
    snprintf(flags + 5 + NB_PATH_MAX - 1, 2200, " -mat %.1000s -img %.1000s", flags + 5,
             flags + 5);
    parse_ok(flags);
    assert_int_equal(strlen(cli.cfg.command_line), 2047);
    assert_string_equal(cli.cfg.command_line + 2047 - 4, " ...");
}

UNIT_TEST(command_line_is_quoted)
{
    char *argv[] = {(char *)"./x", (char *)"-hkl", (char *)"my file", (char *)"-pgmfile",
                    (char *)"a\nb"};

    nb_cli_free(&cli);
    assert_int_equal(nb_cli_parse(5, argv, &cli, &err), NB_OK);
    assert_string_equal(cli.cfg.command_line, "nanobragg -hkl 'my file' -pgmfile 'a b'");
}

/** Without a terminal, the first line of progress is printed after half a minute. With
 * -quiet no line is printed. */
UNIT_TEST(progress_in_a_log_is_rare)
{
    nb_progress progress;

    nb_progress_init(&progress, 1, 1);
    if (progress.terminal)
        return;
    progress.last -= 100;
    assert_int_equal(nb_progress_is_due(&progress), 0);
    nb_progress_init(&progress, 1, 0);
    assert_int_equal(nb_progress_is_due(&progress), 0);
    progress.last -= 31;
    assert_int_equal(nb_progress_is_due(&progress), 1);
    assert_int_equal(nb_progress_is_due(&progress), 0);
    assert_string_equal(nb_progress_stop(&progress), "\n");
}

/** -help also accepts some words that are not flags, and names existing flags for
 * them. */
UNIT_TEST(words_of_others_have_flags)
{
    static const char *const words[] = {"oscillation", "capillary",   "saxs",
                                        "laue",        "pink",        "xfel",
                                        "jungfrau",    "beam_center", "hit"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *cursor = nb_flags_meant(words[i]);
        char word[64], dashed[66];
        assert_non_null(cursor);
        while (nb_text_word(&cursor, word)) {
            snprintf(dashed, sizeof dashed, "-%s", word);
            assert_non_null(nb_flag_find(dashed));
        }
    }
}
