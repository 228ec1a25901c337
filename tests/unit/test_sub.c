/* SPDX-License-Identifier: MIT */
/* Subcommands that take flags of the main table. */
#include "../support/check.h"

#include "../../src/cli/options.h"
#include "../../src/cli/subcommands.h"

static nb_status parse(char **argv, int argc, nb_sub_line *line, nb_error *err)
{
    int help;
    return nb_sub_parse(&nb_command_sf, argc, argv, NULL, line, &help, err);
}

/** -cell takes one to six numbers. */
UNIT_TEST(a_cell_has_as_many_words_as_are_numbers)
{
    char *one[] = {"nanobragg", "sf", "-cell", "30", "-dmin", "2"};
    char *six[] = {"nanobragg", "sf",  "-cell", "30",    "40", "50",
                   "90",        "100", "90",    "-dmin", "2"};
    char *seven[] = {"nanobragg", "sf", "-cell", "30", "40",
                     "50",        "90", "100",   "90", "7"};
    char *none[] = {"nanobragg", "sf", "-dmin", "2", "-cell"};
    nb_sub_line line;
    nb_error err = {0};
    assert_int_equal(parse(one, 6, &line, &err), NB_OK);
    assert_true(line.cli.cfg.cell[0] == 30 && line.cli.cfg.dmin_A == 2);
    nb_cli_free(&line.cli);
    assert_int_equal(parse(six, 11, &line, &err), NB_OK);
    assert_true(line.cli.cfg.cell[1] == 40 && line.cli.cfg.cell[4] == 100 &&
                line.cli.cfg.dmin_A == 2);
    nb_cli_free(&line.cli);
    assert_int_equal(parse(seven, 10, &line, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "'7' is one operand too many"));
    nb_cli_free(&line.cli);
    assert_int_equal(parse(none, 5, &line, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-cell needs a value"));
    nb_cli_free(&line.cli);
}
