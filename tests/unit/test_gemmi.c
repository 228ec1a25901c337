/* SPDX-License-Identifier: MIT */
/* Models, reflection files, space groups and atomic tables. */
#include "structure_files.h"

#ifdef NB_HAVE_GEMMI
/* --- models -------------------------------------------------------------------------------- */
/* Compares the models in golden_data/structure_factors/models with facts that were found
 * by other means (grep, tables of space groups). */
UNIT_TEST(models_of_the_set)
{
    static const struct {
        const char *name;
        nb_structure_kind kind;
        size_t atoms;
        int models, ncs, has_frame, operators;
        const char *group;
        double a, gamma;
        int first_Z;
    } expected[] = {
        {"1aki.pdb", NB_STRUCTURE_PDB, 1079, 1, 0, 1, 4, "P 21 21 21", 59.062, 90, 7},
        {"1o1z.pdb", NB_STRUCTURE_PDB, 2302, 1, 0, 1, 4, "P 21 21 2", 132.41, 90, 7},
        {"5e5z.pdb", NB_STRUCTURE_PDB, 47, 1, 0, 1, 2, "P 1 21 1", 9.643, 90, 7},
        {"made-models.pdb", NB_STRUCTURE_PDB, 60, 3, 0, 0, 4, "P 21 21 21", 28, 90, 7},
        {"made-ncs.pdb", NB_STRUCTURE_PDB, 25, 1, 1, 0, 4, "P 41", 46, 90, 8},
        {"made-h3.pdb", NB_STRUCTURE_PDB, 76, 1, 0, 0, 9, "R 3:H", 51.3, 120, 6},
        {"made-r32.pdb", NB_STRUCTURE_PDB, 40, 1, 0, 0, 6, "R 3 2:R", 33.1, 73.2, 7},
        {"1pfe.cif.gz", NB_STRUCTURE_MMCIF, 342, 1, 0, 1, 12, "P 63 2 2", 39.374, 120, 8},
        {"5i55.cif", NB_STRUCTURE_MMCIF, 218, 1, 0, 1, 2, "P 1 21 1", 29.46, 90, 7},
        {"made-p1121.cif", NB_STRUCTURE_MMCIF, 40, 1, 0, 0, 2, "P 1 1 21", 31.2, 104.3, 30},
        {"4003024.cif", NB_STRUCTURE_SMALL, 4, 1, 0, 0, 48, "P m -3 m", 5.5592, 90, 55},
        {"made-small.cif", NB_STRUCTURE_SMALL, 7, 1, 0, 0, 4, "P 1 21/c 1", 8.412, 90, 26},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char path[80];
        snprintf(path, sizeof path, "models/%s", expected[i].name);
        nb_structure s = model(path);
        assert_int_equal(s.kind, expected[i].kind);
        assert_int_equal(s.n_atoms, expected[i].atoms);
        assert_int_equal(s.n_models, expected[i].models);
        assert_int_equal(s.n_ncs, expected[i].ncs);
        assert_int_equal(s.has_frame, expected[i].has_frame);
        assert_int_equal(s.symmetry.count, expected[i].operators);
        assert_string_equal(s.symmetry.name, expected[i].group);
        assert_true(s.cell[0] == expected[i].a && s.cell[5] == expected[i].gamma);
        assert_int_equal(s.atoms[0].Z, expected[i].first_Z);
        nb_structure_free(&s);
    }
}

/* Values of single atoms of each kind of file equal the atom's line in the file. */
UNIT_TEST(atoms)
{
    nb_structure s = model("models/1aki.pdb");
    const nb_atom *a = &s.atoms[2];
    assert_true(a->r[0] == 34.741 && a->r[1] == 20.264 && a->r[2] == -10.844);
    assert_true(a->occupancy == 1 && a->B == 16.85 && a->Z == 6 && !a->has_U);
    assert_true(a->serial == 3 && a->line == 13 && a->model == 0);
    assert_string_equal(a->name, "C");
    nb_structure_free(&s);
    s = model("models/5e5z.pdb");
    a = &s.atoms[2];
    assert_true(a->has_U);
    check_close(a->U[1], 0.0443, 1e-8);
    check_close(a->U[5], 0.0009, 1e-8);
    nb_structure_free(&s);
    s = model("models/made-small.cif");
    a = &s.atoms[1];
    assert_true(a->r[0] == 0.2134 && a->occupancy == 0.85 && a->Z == 35 && a->has_U);
    assert_true(a->U[0] == 0.041 && a->U[5] == 0.003);
    check_close(s.atoms[2].B, 0.051 * 8 * M_PI * M_PI, 1e-12);
    nb_structure_free(&s);
    s = model("models/made-ncs.pdb");
    assert_true(s.ncs[0].R[1] == -0.951057 && s.ncs[0].t[2] == 4.5 && !s.ncs[0].is_given);
    nb_structure_free(&s);
    s = model("models/made-models.pdb");
    assert_true(s.atoms[19].model == 0 && s.atoms[20].model == 1 && s.atoms[59].model == 2);
    nb_structure_free(&s);
}

static nb_reflection_file reflections(const char *name)
{
    file_bytes file = set_file(name);
    nb_reflection_file out;
    nb_error err = {0};
    if (nb_reflection_file_parse(file.data, file.size, name, &out, &err))
        fail_msg("%s", err.message);
    nb_free(file.data);
    return out;
}

UNIT_TEST(reflections_of_the_set)
{
    static const struct {
        const char *name;
        size_t count;
        int operators;
        const char *group, *labels;
        double a, wavelength;
    } expected[] = {
        {"1CTJ.mtz", 85, 3, "R 3:R", "FMODEL/F PHIFMODEL/P ", 40.43, 1},
        {"6FXW.mtz", 195, 16, "F 2 2 2", "FMODEL/F PHIFMODEL/P ", 80.92, 1},
        {"6GUS.mtz", 220, 8, "I 41", "FMODEL/F PHIFMODEL/P ", 77.67, 1},
        {"6NSV.mtz", 340, 4, "P 2 21 21", "FMODEL/F PHIFMODEL/P ", 46.219, 1},
        {"made-intensities.mtz", 543, 12, "P 6 2 2",
         "IMEAN/J SIGIMEAN/Q I(+)/K SIGI(+)/M I(-)/K SIGI(-)/M ", 61, 1},
        {"made-pairs.mtz", 1270, 8, "P 43 21 2",
         "FreeR_flag/I F/F SIGF/Q F(+)/G SIGF(+)/L F(-)/G SIGF(-)/L FWT/F PHWT/P ", 57.3,
         0.98},
        {"made-scrambled.mtz", 1704, 4, "C 1 2 1", "FP/F SIGFP/Q DANO/D SIGDANO/Q ", 63.1,
         1},
        {"1dur-sf.cif", 3256, 4, "P 21 21 21",
         "crystal_id/R wavelength_id/R scale_group_code/R status/R F_meas_au/F "
         "F_meas_sigma_au/R ",
         30.52, 1.5418},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char path[80], labels[200] = "";
        snprintf(path, sizeof path, "reflections/%s", expected[i].name);
        nb_reflection_file f = reflections(path);
        for (int c = 0; c < f.n_columns; c++)
            snprintf(labels + strlen(labels), sizeof labels - strlen(labels), "%s/%c ",
                     f.columns[c].label, f.columns[c].type);
        assert_int_equal(f.count, expected[i].count);
        assert_int_equal(f.symmetry.count, expected[i].operators);
        assert_string_equal(f.symmetry.name, expected[i].group);
        assert_string_equal(labels, expected[i].labels);
        check_close(f.cell[0], expected[i].a, 1e-5);
        check_close(f.wavelength, expected[i].wavelength, 1e-6);
        assert_int_equal(f.is_cif, i == 7);
        assert_false(f.is_unmerged);
        nb_reflection_file_free(&f);
    }
}

/* --- space groups
 * -------------------------------------------------------------------------- */
static nb_status find(const char *name, const double *cell, nb_symmetry *out)
{
    nb_error err = {0};
    nb_status status = nb_symmetry_find(name, cell, out, &err);
    if (status) {
        assert_int_equal(out->count, 0);
        assert_non_null(strstr(err.message, name));
    }
    return status;
}

/* The orders of groups are those of International Tables A. */
UNIT_TEST(space_groups)
{
    static const double rhombohedral[6] = {40, 40, 40, 80, 80, 80};
    static const double hexagonal[6] = {50, 50, 40, 90, 90, 120};
    static const struct {
        const char *text;
        const double *cell;
        int order;
        const char *name;
    } known[] = {
        {"P 21 21 21", NULL, 4, "P 21 21 21"},
        {"p212121", NULL, 4, "P 21 21 21"},
        {"  P21 21  21 ", NULL, 4, "P 21 21 21"},
        {"19", NULL, 4, "P 21 21 21"},
        {"P 2ac 2ab", NULL, 4, "P 21 21 21"},
        {"1", NULL, 1, "P 1"},
        {"P1", NULL, 1, "P 1"},
        {"P 21", NULL, 2, "P 1 21 1"},
        {"P 1 1 21", NULL, 2, "P 1 1 21"},
        {"P 1 21 1", NULL, 2, "P 1 21 1"},
        {"C2", NULL, 4, "C 1 2 1"},
        {"I121", NULL, 4, "I 1 2 1"},
        {"P 21 2 21", NULL, 4, "P 21 2 21"},
        {"P43212", NULL, 8, "P 43 21 2"},
        {"P 63 2 2", NULL, 12, "P 63 2 2"},
        {"R 3", NULL, 9, "R 3:H"},
        {"R 3", hexagonal, 9, "R 3:H"},
        {"R 3", rhombohedral, 3, "R 3:R"},
        {"H 3", NULL, 9, "R 3:H"},
        {"h32", hexagonal, 18, "R 3 2:H"},
        {"R 3 2 :R", hexagonal, 6, "R 3 2:R"},
        {"146", NULL, 9, "R 3:H"},
        {"146", rhombohedral, 3, "R 3:R"},
        {"155", hexagonal, 18, "R 3 2:H"},
        {"P 21/c", NULL, 4, "P 1 21/c 1"},
        {"-P 2ybc", NULL, 4, "P 1 21/c 1"},
        {"P 2c (y,z,x)", NULL, 2, "P 1 21 1"},
        {"P 2yb (x,y,z+1/4)", NULL, 2, "operators of the file"},
        {"F m -3 m", NULL, 192, "F m -3 m"},
        {"Fd-3m:2", NULL, 192, "F d -3 m:2"},
        {"230", NULL, 96, "I a -3 d"},
    };
    static const char *const unknown[] = {"P 9",
                                          "Q 2 2 2",
                                          "",
                                          "231",
                                          "0",
                                          "-1",
                                          "P 21 21 21 21",
                                          "x,y,z",
                                          "hello",
                                          "P 1 (1/24*x,1/24*y,1/24*z)",
                                          "P 1 (x+x,y,z)",
                                          "P 1 (x,y,z",
                                          "19.5",
                                          "P 2 2 2 extra"};
    nb_symmetry sg;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (find(known[i].text, known[i].cell, &sg))
            fail_msg("'%s' is unknown", known[i].text);
        assert_string_equal(sg.name, known[i].name);
        assert_int_equal(sg.count, known[i].order);
        assert_true(sg.ops[0].R[0] == 1 && sg.ops[0].R[1] == 0 && sg.ops[0].t[0] == 0);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (find(unknown[i], NULL, &sg) != NB_ERR_INPUT)
            fail_msg("'%s' is known as %s", unknown[i], sg.name);
}

static int is_number_of_order(int number, int order)
{
    char text[8];
    nb_symmetry sg;
    snprintf(text, sizeof text, "%d", number);
    return !find(text, NULL, &sg) && sg.count == order;
}

/* The order of a group is the order of its point group times the number of lattice points
 * of its cell. */
UNIT_TEST(space_group_numbers)
{
    assert_true(is_number_of_order(2, 2) && is_number_of_order(5, 4));
    assert_true(is_number_of_order(15, 8) && is_number_of_order(22, 16));
    assert_true(is_number_of_order(74, 16) && is_number_of_order(70, 32));
    assert_true(is_number_of_order(142, 32) && is_number_of_order(167, 36));
    assert_true(is_number_of_order(194, 24) && is_number_of_order(228, 192));
    for (int number = 1; number <= 230; number++) {
        char text[8];
        nb_symmetry sg;
        snprintf(text, sizeof text, "%d", number);
        assert_int_equal(find(text, NULL, &sg), NB_OK);
    }
}

/* --- tables -------------------------------------------------------------------------------- */
UNIT_TEST(elements)
{
    for (int Z = 1; Z <= 118; Z++)
        assert_int_equal(nb_element_number(nb_element_symbol(Z)), Z);
    assert_int_equal(nb_element_number("SE"), 34);
    assert_int_equal(nb_element_number("zn"), 30);
    assert_int_equal(nb_element_number("D"), 1);
    assert_int_equal(nb_element_number("X"), 0);
    assert_int_equal(nb_element_number(""), 0);
    assert_int_equal(nb_element_number("UNK"), 0);
    assert_int_equal(nb_element_number("C1"), 0);
}

static double f0_of(const double *abc, double s)
{
    double f = abc[8];
    for (int i = 0; i < 4; i++)
        f += abc[i] * exp(-abc[4 + i] * s * s / 4);
    return f;
}

UNIT_TEST(scattering)
{
    double abc[9], f1, f2;
    for (int Z = 1; Z <= 98; Z++) { /* the sum is the number of electrons */
        assert_true(nb_element_f0(Z, abc));
        check_close(f0_of(abc, 0), Z, 0.06);
    }
    assert_true(nb_element_f0(6, abc));
    assert_true(abc[0] == 2.31 && abc[4] == 20.8439 && abc[8] == 0.2156);
    check_close(f0_of(abc, 1), 1.69, 0.01); /* International Tables C, 6.1.1.1 */
    assert_false(nb_element_f0(0, abc) || nb_element_f0(99, abc) ||
                 nb_element_f0(-1, abc));
    nb_element_anomalous(30, 12398.419843320026 / 1.28, &f1, &f2);
    check_close(f1, -5.4, 0.1);
    nb_element_anomalous(34, 12398.419843320026 / 0.9, &f1, &f2); /* above the K edge */
    check_above(f2, 3);
    nb_element_anomalous(2, 12398, &f1, &f2);
    assert_true(f1 == 0 && f2 == 0);
    nb_element_anomalous(93, 12398, &f1, &f2);
    assert_true(f1 == 0 && f2 == 0);
    check_close(nb_element_radius(6), 1.775, 1e-6);
    check_close(nb_element_radius(30), 1.39, 1e-6);
}

/* --- MTZ ----------------------------------------------------------------------------------- */
UNIT_TEST(mtz_round_trip)
{
    int hkl[3][3] = {{0, 0, 1}, {-3, 4, 5}, {7, 0, 12}};
    float F[3] = {12.5f, NAN, 1e6f}, phase[3] = {-90, NAN, 33.25f};
    nb_column columns[2] = {{.label = "F(+)", .type = 'G', .value = F},
                            {.label = "PHI(+)", .type = 'P', .value = phase}};
    nb_reflection_file file = {.cell = {30.5, 40.25, 50.125, 90, 101.5, 90},
                               .wavelength = 0.97934,
                               .count = 3,
                               .hkl = hkl,
                               .columns = columns,
                               .n_columns = 2},
                       again;
    char *bytes;
    size_t size;
    nb_error err = {0};
    assert_int_equal(nb_mtz_write(&file, "nanobragg", &bytes, &size, &err), NB_OK);
    assert_int_equal(nb_content_of(bytes, size), NB_CONTENT_MTZ);
    assert_int_equal(nb_reflection_file_parse(bytes, size, "again", &again, &err), NB_OK);
    assert_int_equal(again.count, 3);
    assert_memory_equal(again.hkl, hkl, sizeof hkl);
    assert_int_equal(again.n_columns, 2);
    assert_string_equal(again.columns[0].label, "F(+)");
    assert_int_equal(again.columns[1].type, 'P');
    assert_true(again.columns[0].value[0] == F[0] && isnan(again.columns[0].value[1]));
    assert_true(again.columns[1].value[2] == phase[2]);
    assert_memory_equal(again.cell, file.cell, sizeof file.cell);
    check_close(again.wavelength, file.wavelength, 1e-9);
    assert_string_equal(again.symmetry.name, "P 1");
    nb_reflection_file_free(&again);
    nb_free(bytes);
}

#else
SKIPPED(models_of_the_set)
SKIPPED(atoms)
SKIPPED(reflections_of_the_set)
SKIPPED(mtz_round_trip)
SKIPPED(space_groups)
SKIPPED(space_group_numbers)
SKIPPED(elements)
SKIPPED(scattering)
#endif
