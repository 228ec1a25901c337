/* SPDX-License-Identifier: MIT */
/* Unusual, bad and damaged models and reflection files; kinds of bytes. */
#include "structure_files.h"

#include "../../src/base/memory.h"

#ifdef NB_HAVE_GEMMI
/* --- bad input ----------------------------------------------------------------------------- */
#define ATOM                                                                             \
    "ATOM      1  CA  ALA A   1       1.000   2.000   3.000  1.00 10.00           C  \n"
#define CELL                                                                             \
    "CRYST1   30.000   32.000   36.000  90.00  90.00  90.00 P 2 2 2                 \n"
#define SITES                                                                            \
    "loop_\n_atom_site_label\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_" \
    "z\n"

/* Checks that the message names the file, the line (0: no line) and the reason. */
static void check_bad_model(const char *text, long line, const char *reason)
{
    nb_structure s;
    nb_error err = {0};
    assert_int_equal(nb_structure_parse(text, strlen(text), "bad.pdb", &s, &err),
                     NB_ERR_INPUT);
    assert_null(s.atoms);
    if (!strstr(err.message, reason) || !strstr(err.message, "bad.pdb") ||
        err.line != line)
        fail_msg("expected '%s' in line %ld, got: %s", reason, line, err.message);
}

UNIT_TEST(bad_models)
{
    check_bad_model("", 0, "no PDB, mmCIF or small-molecule CIF");
    check_bad_model("\001\002\003", 0, "no PDB, mmCIF");
    check_bad_model(CELL, 0, "no atom");
    check_bad_model(CELL ATOM "ATOM      2  CB  ALA A   1    ********   2.000   3.000\n",
                    3, "x is no number: ********");
    check_bad_model(CELL "HETATM    2  CB  ALA A   1       1.000     nan   3.000\n", 2,
                    "y is no number: nan");
    check_bad_model(CELL "ATOM      2  CB  ALA A   1       1.000   2.000     inf\n", 2,
                    "z is no number: inf");
    check_bad_model(CELL "ATOM      2  CB  ALA A   1       1.000   2.000        \n", 2,
                    "z is blank");
    check_bad_model(CELL "ATOM      2  CB  ALA A   1       1.000   2.000     3.\n", 0,
                    "Problem in line 2: The line is too short");
    check_bad_model("MODEL        1\n" ATOM "ENDMDL\nMODEL        1\n" ATOM, 0,
                    "Problem in line 4: duplicate MODEL number");
    check_bad_model(CELL "ATOM      2  CB  ALA A   1       1.000   2.000   3.000  1.x0\n",
                    2, "occupancy is no number: 1.x0");
    check_bad_model("CRYST1   30.000   32.000   36.000  10.00 170.00  10.00 P 1\n" ATOM,
                    0, "no volume");
    check_bad_model("CRYST1   30.000   3*.000   36.000  90.00  90.00  90.00 P 1\n" ATOM,
                    1, "a constant of CRYST1 is no number");
    check_bad_model("data_a\n" SITES "C1 0 0\n", 2, "Wrong number of values");
    check_bad_model("data_a\n_cell_length_a 'x\n" SITES "C1 0 0 0\n", 2, "unterminated");
    check_bad_model("data_a\n_entry.id a\n", 0, "no atom");
    check_bad_model("data_a\n" SITES "C1 0 0 0\nC2 0 ? 0\n", 8, "no coordinates");
    check_bad_model("data_a\n" SITES "C1 0 0 0\nC2 0 1x 0\n", 8, "no number: 1x");
    check_bad_model(
        "data_a\n_cell_length_a 5\n_cell_length_b -5\n_cell_length_c 5\n" SITES
        "C1 0 0 0\n",
        0, "no volume");
    check_bad_model("data_a\n_space_group_symop_operation_xyz x,y\n" SITES "C1 0 0 0\n",
                    2, "no symmetry operator: x,y");
}

/* Unusual models that are good. */
UNIT_TEST(odd_models)
{
    static const struct {
        const char *text;
        double a;
        int operators, Z;
        size_t blank_occupancies, blank_B, missing_U;
    } odd[] = {
        {ATOM, 0, 0, 6, 0, 0, 0},
        {"CRYST1    1.000    1.000    1.000  90.00  90.00  90.00 P 1\n" ATOM, 0, 1, 6, 0,
         0, 0},
        {"CRYST1                                90.00  90.00  90.00 P 1           "
         "1\n" ATOM,
         0, 0, 6, 0, 0, 0},
        {"\xEF\xBB\xBF"
         "data_a\n" SITES "Fe1 0 0 0\n",
         0, 0, 26, 0, 0, 1},
        {CELL "ATOM      1  CA  ALA A   1       1.000   2.000   3.000\n", 30, 4, 6, 1, 1,
         0},
        {CELL "ATOM      1 CA   CA  A   1       1.000   2.000   3.000\n", 30, 4, 20, 1, 1,
         0},
        {CELL "ATOM      1 HG11 VAL A   1       1.000   2.000   3.000\n", 30, 4, 1, 1, 1,
         0},
        {CELL "ATOM      1  X   UNK A   1       1.000   2.000   3.000  1.00  5.00        "
              "   X\n",
         30, 4, 0, 0, 0, 0},
        {CELL "ATOM      1  D1  DOD A   1       1.000   2.000   3.000  1.00  5.00        "
              "   D\n",
         30, 4, 1, 0, 0, 0},
        {"data_a\n" SITES "Fe1 0 0 0\n", 0, 0, 26, 0, 0, 1},
        {"data_a\n_cell_length_a 5(1)\n_cell_length_b 5.0\n_cell_length_c +5\n"
         "_symmetry_Int_Tables_number 19\n" SITES "OW1 .5 -0 1e-1\n",
         5, 4, 8, 0, 0, 1},
        {"data_a\nloop_\n_symmetry_equiv_pos_as_xyz\n'x, y, z'\n'-x, 0.5+y, "
         "1/2-z'\n" SITES "UNK1 0 0 0\n",
         0, 2, 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        nb_structure s;
        nb_error err = {0};
        if (nb_structure_parse(odd[i].text, strlen(odd[i].text), "odd", &s, &err))
            fail_msg("%zu: %s", i, err.message);
        assert_true(s.cell[0] == odd[i].a);
        assert_int_equal(s.symmetry.count, odd[i].operators);
        assert_int_equal(s.atoms[0].Z, odd[i].Z);
        assert_int_equal(s.blank_occupancies, odd[i].blank_occupancies);
        assert_int_equal(s.blank_B, odd[i].blank_B);
        assert_int_equal(s.missing_U, odd[i].missing_U);
        nb_structure_free(&s);
    }
}

/* -sg may replace an unknown symbol, so the symbol is kept. */
UNIT_TEST(unknown_groups)
{
    static const char *const texts[] = {
        "CRYST1   30.000   32.000   36.000  90.00  90.00  90.00 P 9 2\n" ATOM,
        "data_a\n_space_group_name_Hall 'P 9 2'\n" SITES "C1 0 0 0\n",
        "data_a\n_symmetry_space_group_name_H-M 'P 9 2'\n" SITES "C1 0 0 0\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_structure s;
        nb_error err = {0};
        if (nb_structure_parse(texts[i], strlen(texts[i]), "unknown", &s, &err))
            fail_msg("%s", err.message);
        assert_int_equal(s.symmetry.count, 0);
        assert_string_equal(s.symmetry.name, "P 9 2");
        nb_structure_free(&s);
    }
}

/* Atoms have the order and line numbers of the file, whatever the residues; also CIF. */
UNIT_TEST(order_of_atoms)
{
    const char *const text = CELL
        "ATOM      7  CA  ALA A   1       1.000   2.000   3.000  1.00 10.00           C\n"
        "ATOM  A0000  CA  ALA A   2       2.000   2.000   3.000  1.00 10.00           C\n"
        "ATOM      9  CB AALA A   1       3.000   2.000   3.000  0.25 10.00           C\n"
        "END\n" ATOM;
    nb_structure s;
    assert_int_equal(nb_structure_parse(text, strlen(text), "order", &s, NULL), NB_OK);
    assert_int_equal(s.n_atoms, 3);
    for (int i = 0; i < 3; i++)
        assert_true(s.atoms[i].r[0] == i + 1 && s.atoms[i].line == i + 2);
    assert_int_equal(s.atoms[1].serial, 100000);
    assert_true(s.atoms[2].is_alternate && !s.atoms[1].is_alternate);
    assert_true(s.atoms[2].occupancy == 0.25);
    nb_structure_free(&s);
    s = model("models/5i55.cif");
    assert_int_equal(s.atoms[0].line, 1529);
    assert_int_equal(s.atoms[2].line, 1531);
    nb_structure_free(&s);
}

/* --- damaged files ------------------------------------------------------------------------- */
static void check_damaged(const char *name, const char *data, size_t size)
{
    nb_structure s;
    nb_reflection_file f;
    nb_error err = {0};
    nb_status status = nb_structure_parse(data, size, name, &s, &err);
    if (status != NB_OK && status != NB_ERR_INPUT)
        fail_msg("%s: %s", name, err.message);
    assert_true(status ? !s.atoms && err.message[0] : s.n_atoms > 0);
    nb_structure_free(&s);
    status = nb_reflection_file_parse(data, size, name, &f, &err);
    if (status != NB_OK && status != NB_ERR_INPUT)
        fail_msg("%s: %s", name, err.message);
    assert_true(status ? !f.columns && err.message[0] : f.count > 0 || f.is_unmerged);
    nb_reflection_file_free(&f);
}

/* Copies the data to a block of exactly this size, so that a sanitizer sees a read past
 * the end. */
static char *exact_copy(const char *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    return copy;
}

static void damage(const char *name)
{
    enum { CUTS = 20, CHANGES = 200, TIMES = 2 };
    file_bytes file = set_file(name);
    uint32_t random = 12345;
    for (size_t i = 0; i < CUTS; i++) {
        char *copy = exact_copy(file.data, i * file.size / CUTS);
        check_damaged(name, copy, i * file.size / CUTS);
        free(copy);
    }
    for (int time = 0; time < TIMES; time++) {
        char *copy = exact_copy(file.data, file.size);
        for (int i = 0; i < CHANGES; i++) {
            random = random * 1664525 + 1013904223;
            copy[(random >> 4) % file.size] = (char)(random >> 24);
        }
        check_damaged(name, copy, file.size);
        free(copy);
    }
    nb_free(file.data);
}

UNIT_TEST(damaged_files)
{
    static const char *const names[] = {"models/1aki.pdb",
                                        "models/1dur.pdb",
                                        "models/1o1z.pdb",
                                        "models/1orc.pdb",
                                        "models/1pfe.cif.gz",
                                        "models/4003024.cif",
                                        "models/4hhh_frag.pdb",
                                        "models/4oz7.pdb",
                                        "models/5e5z.pdb",
                                        "models/5i55.cif",
                                        "models/made-frame.pdb",
                                        "models/made-h3.pdb",
                                        "models/made-hydrogens.pdb",
                                        "models/made-models.pdb",
                                        "models/made-ncs.pdb",
                                        "models/made-p1121.cif",
                                        "models/made-r32.pdb",
                                        "models/made-scale.pdb",
                                        "models/made-small.cif",
                                        "models/made-special.pdb",
                                        "reflections/1CTJ.mtz",
                                        "reflections/1dur-sf.cif",
                                        "reflections/6FXW.mtz",
                                        "reflections/6GUS.mtz",
                                        "reflections/6NSV.mtz",
                                        "reflections/made-intensities.mtz",
                                        "reflections/made-pairs.mtz",
                                        "reflections/made-scrambled.mtz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        damage(names[i]);
}

/* Only a whole header that fits the file is read. */
UNIT_TEST(truncated_mtz)
{
    file_bytes file = set_file("reflections/made-intensities.mtz");
    nb_reflection_file f;
    nb_error err = {0};
    size_t end = file.size;
    while (memcmp(file.data + end - 4, "END ", 4) != 0)
        end--;
    assert_int_equal(nb_reflection_file_parse(file.data, end - 4, "cut", &f, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "no END"));
    for (size_t size = 0; size < end - 4; size += 997) {
        char *copy = exact_copy(file.data, size);
        assert_int_equal(nb_reflection_file_parse(copy, size, "cut", &f, &err),
                         NB_ERR_INPUT);
        free(copy);
    }
    nb_free(file.data);
}

/* Each allocation of nanobragg (not of gemmi) fails once; the sanitizer's build shows
 * that no memory leaks. */
UNIT_TEST(without_memory)
{
    static const char *const names[] = {"models/made-small.cif", "models/made-p1121.cif",
                                        "models/made-ncs.pdb", "reflections/1CTJ.mtz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        file_bytes file = set_file(names[i]);
        nb_status status = NB_ERR_NOMEM;
        nb_structure s = {0};
        nb_reflection_file f = {0};
        nb_error err;
        for (long n = 1; status == NB_ERR_NOMEM && n < 100; n++) {
            nb_alloc_fail_after(n);
            status = i < 3 ? nb_structure_parse(file.data, file.size, names[i], &s, &err)
                           : nb_reflection_file_parse(file.data, file.size, names[i], &f,
                                                      &err);
            assert_true(status == NB_OK || status == NB_ERR_NOMEM);
        }
        nb_alloc_fail_after(0);
        assert_int_equal(status, NB_OK);
        nb_structure_free(&s);
        nb_reflection_file_free(&f);
        nb_free(file.data);
    }
}

#else
SKIPPED(unknown_groups)
SKIPPED(order_of_atoms)
SKIPPED(odd_models)
SKIPPED(bad_models)
SKIPPED(damaged_files)
SKIPPED(truncated_mtz)
SKIPPED(without_memory)
#endif

/* --- with and without gemmi ---------------------------------------------------------------- */
UNIT_TEST(contents)
{
    static const struct {
        const char *text;
        nb_content content;
    } of[] = {
        {"", NB_CONTENT_UNKNOWN},
        {"hello\n", NB_CONTENT_UNKNOWN},
        {"MTZ \x15", NB_CONTENT_MTZ},
        {"HEADER    X\n", NB_CONTENT_PDB},
        {"ATOM      1  CA\n", NB_CONTENT_PDB},
        {"REMARK data_x\n", NB_CONTENT_PDB},
        {"# data\ndata_x\n_atom_site.Cartn_x 1\n", NB_CONTENT_MMCIF},
        {"\xef\xbb\xbf"
         "data_x\n_ATOM_SITE.CARTN_X 1\n",
         NB_CONTENT_MMCIF},
        {"data_x\n_atom_site_fract_x 1\n", NB_CONTENT_SMALL},
        {"data_x\n_refln.index_h 1\n", NB_CONTENT_REFLECTION_CIF},
        {"data_x\n_diffrn_refln_index_h 1\n", NB_CONTENT_REFLECTION_CIF},
        {"data_x\n_reflns.number_all 1\n", NB_CONTENT_CIF_OTHER},
        {"data_x\n_atom_site.Cartn_x 1\n_refln.index_h 1\n",
         NB_CONTENT_MODEL_AND_REFLECTIONS},
        {"data_x\n_a\n;\n_atom_site.Cartn_x\n;\n_b '_refln.index_h x'\n",
         NB_CONTENT_CIF_OTHER},
        {"data_x # _atom_site.Cartn_x\n", NB_CONTENT_CIF_OTHER},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (nb_content_of(of[i].text, strlen(of[i].text)) != of[i].content)
            fail_msg("content of '%s'", of[i].text);
}
