/* SPDX-License-Identifier: MIT */
/* The choice of columns of a reflection file. */
#include "../support/check.h"
#include "reflection_samples.h"

typedef struct choice_case {
    const char *columns; /* label:type ... */
    const char *labels;
    const char *taken; /* indices plus, minus, difference, phase, "I"; or "!" and error */
} choice_case;

static const choice_case choices[] = {
    /* a pair (amplitudes, else intensities) is preferred, wherever its columns stand */
    {"F:F SIGF:Q F(+):G SIGF(+):L F(-):G I(+):K I(-):K", "", "2 4 -1 -1"},
    {"F(-):G F(+):G", "", "1 0 -1 -1"},
    {"pdbx_F_minus:G pdbx_F_plus:G", "", "1 0 -1 -1"},
    {"F-obs(+):G F-model(+):G F-obs(-):G F-model(-):G", "", "0 2 -1 -1"},
    {"G1:G G2:G", "", "0 1 -1 -1"},
    {"IMEAN:J I(+):K I(-):K", "", "1 2 -1 -1 I"},
    {"I(+):K I(-):K FP:F", "", "0 1 -1 -1 I"},
    /* without a pair: a column with a preferred label, else the only column of a type */
    {"F:F FP:F FOBS:F", "", "1 -1 -1 -1"},
    {"FOBS:F F:F", "", "1 -1 -1 -1"},
    {"FC:F FMEAN:F", "", "1 -1 -1 -1"},
    {"FWT:F PHWT:P F_native:F DELFWT:F 2FOFCWT_no_fill:F FOFCWT:F FDM:F ANOM:F", "",
     "2 -1 -1 -1"},
    {"F(+):G FNAT:F IMEAN:J", "", "1 -1 -1 -1"},
    {"I:J IMEAN:J FWT:F", "", "1 -1 -1 -1 I"},
    {"I-obs:J SIGI:Q", "", "0 -1 -1 -1 I"},
    {"F_squared_meas:J intensity_meas:J", "", "1 -1 -1 -1 I"},
    {"F1:F F2:F IMEAN:J", "", "!F1 (F), F2 (F); name one with -mtzlabel"},
    {"FP:F FP:F", "", "!several columns may be meant"},
    {"IA:J IB:J", "", "!IA (J), IB (J)"},
    {"SIGF:Q PHI:P", "", "!SIGF (Q), PHI (P)"},
    {"FWT:F PHWT:P", "", "!no column of amplitudes"},
    {"", "", "!columns: none"},
    /* labels that a user types */
    {"F:F FWT:F", "FWT", "1 -1 -1 -1"},
    {"F:F F(-):G", "F(-)", "1 -1 -1 -1"},
    {"F:F I(-):K", "I(-)", "1 -1 -1 -1 I"},
    {"IMEAN:J", "IMEAN", "0 -1 -1 -1 I"},
    {"F(-):G F(+):G", "F(-),F(+)", "0 1 -1 -1"},
    {"I(+):K I(-):K", "I(+),I(-)", "0 1 -1 -1 I"},
    {"FP:F DANO:D", "FP,DANO", "0 -1 1 -1"},
    {"FC:F PHIC:P", "FC,PHIC", "0 -1 -1 1"},
    {"F:F SIGF:Q", "SIGF", "!type Q"},
    {"F:F PHI:P", "PHI", "!neither an amplitude"},
    {"F:F PHI:P", "PHI,F", "!PHI (P) and F (F) do not go together"},
    {"F(+):G I(-):K", "F(+),I(-)", "!do not go together"},
    {"F(+):G F(-):G", "F(+),F(+)", "!do not go together"},
    {"F(+):G PHI:P", "F(+),PHI", "!do not go together"},
    {"IMEAN:J DANO:D", "IMEAN,DANO", "!do not go together"},
    {"A:F B:F", "A,B", "!do not go together"},
    {"F:F G:G", "H", "!no column 'H' (-mtzlabel); its columns: F (F), G (G)"},
    {"F:F", "f", "!no column 'f'"},
    {"F:F", "F,", "!no column ''"},
    {"F:F", ",F", "!no column ''"},
    {"F:F D:D P:P", "F,D,P", "!one label or two"},
    {"F:F F:F", "F", "!several columns have the label 'F'"},
};

UNIT_TEST(columns_are_chosen)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const choice_case *c = &choices[i];
        nb_reflection_file file = sample_columns(c->columns);
        nb_column_choice got;
        nb_error err = {0};
        char text[60];
        nb_status st = nb_columns_choose(&file, c->labels, "a.mtz", &got, &err);
        snprintf(text, sizeof text, "%d %d %d %d%s", got.plus, got.minus, got.difference,
                 got.phase, got.intensities ? " I" : "");
        if (c->taken[0] == '!' ? st != NB_ERR_INPUT || !strstr(err.message, c->taken + 1) ||
                                     strncmp(err.message, "a.mtz: ", 7) != 0
                               : st != NB_OK || strcmp(text, c->taken) != 0)
            fail_msg("'%s' of '%s': expected %s, got %s %s", c->labels, c->columns,
                     c->taken, text, err.message);
        sample_free(&file);
    }
}

UNIT_TEST(long_lists_of_columns_fit_an_error)
{
    nb_reflection_file file = sample_columns("");
    nb_column_choice got;
    nb_error err = {0};
    for (int i = 0; i < 200; i++)
        sample_column(&file, "A_label_of_thirty-nine_characters_so_so", 'Q', NULL);
    assert_int_equal(nb_columns_choose(&file, "", "a.mtz", &got, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, ", ..."));
    sample_free(&file);
}

UNIT_TEST(unmerged_files_are_refused)
{
    nb_reflection_file file = sample_columns("IMEAN:J");
    nb_column_choice got;
    nb_error err = {0};
    file.is_unmerged = 1;
    assert_int_equal(nb_columns_choose(&file, "", "a.mtz", &got, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "merge"));
    sample_free(&file);
}

UNIT_TEST(columns_are_described)
{
    nb_reflection_file file = sample_columns("F:F F(+):G F(-):G D:D P:P");
    nb_column_choice c;
    char text[100];
    nb_columns_choose(&file, "F", "", &c, NULL);
    nb_columns_describe(&file, &c, text, sizeof text);
    assert_string_equal(text, "F");
    nb_columns_choose(&file, "F,P", "", &c, NULL);
    nb_columns_describe(&file, &c, text, sizeof text);
    assert_string_equal(text, "F and P");
    nb_columns_choose(&file, "", "", &c, NULL);
    nb_columns_describe(&file, &c, text, sizeof text);
    assert_string_equal(text, "F(+) and F(-)");
    sample_free(&file);
}
