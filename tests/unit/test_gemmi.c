/* SPDX-License-Identifier: MIT */
/* Models, reflection files, space groups and atomic tables. */
#include "structure_files.h"

#ifdef NB_HAVE_GEMMI
/* --- models -------------------------------------------------------------------------------- */
static nb_structure model(const char *name)
{
    file_bytes file = set_file(name);
    nb_structure out;
    nb_error err = {0};
    if (nb_structure_parse(file.data, file.size, name, &out, &err))
        fail_msg("%s", err.message);
    nb_free(file.data);
    return out;
}

/* What the files of the set hold, by other means (grep, the space groups' tables). */
static void models_of_the_set(void **state)
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
    (void)state;
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

/* One atom of each kind of file, as its line has it. */
static void atoms(void **state)
{
    nb_structure s = model("models/1aki.pdb");
    const nb_atom *a = &s.atoms[2];
    (void)state;
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

static void reflections_of_the_set(void **state)
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
    (void)state;
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
#else
#define SKIPPED(name)                                                                    \
    static void name(void **state)                                                       \
    {                                                                                    \
        (void)state;                                                                     \
        skip_because("this build has no gemmi");                                         \
    }
SKIPPED(models_of_the_set)
SKIPPED(atoms)
SKIPPED(reflections_of_the_set)
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(models_of_the_set), TEST(atoms),
                                       TEST(reflections_of_the_set)};
    return RUN_TESTS("gemmi", tests);
}
