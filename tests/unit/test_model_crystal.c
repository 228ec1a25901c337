/* SPDX-License-Identifier: MIT */
/* Unit cells and orientation: the lattice has the typed cell. */
#include "../support/check.h"

#include "model/crystal.h"
#include "physics/hostdevice.h"

#define ANGSTROM 1e-10

static const double cells[][6] = {
    {100, 100, 100, 90, 90, 90}, {50, 60, 70, 90, 90, 90},   {50, 60, 70, 90, 105, 90},
    {50, 60, 70, 90, 90, 110},   {80, 80, 120, 90, 90, 120}, {60, 60, 60, 60, 60, 60},
    {60, 60, 60, 100, 100, 100}, {70, 80, 90, 75, 85, 95},   {25, 35, 45, 110, 95, 70},
    {30, 200, 11, 140, 100, 50}, {70, 80, 90, 60, 70, 125},
};
enum { CELLS = sizeof cells / sizeof *cells };

static nb_crystal built(const nb_config *cfg, const double *matrix)
{
    nb_crystal_inputs in = {matrix, 1.0, 7};
    nb_crystal x;
    nb_error err = {0};
    if (nb_crystal_build(NB_RESOLVED(cfg), &in, NULL, &x, &err))
        fail_msg("%s", err.message);
    return x;
}

static nb_config cell_config(const double cell[6])
{
    nb_config cfg = nb_test_config();
    memcpy(cfg.cell, cell, 6 * sizeof *cell);
    cfg.cell_count = 6;
    return cfg;
}

/** Scalar product of axes i and j of the typed cell. */
static double metric(const double cell[6], int i, int j)
{
    return i == j ? cell[i] * cell[i] : cell[i] * cell[j] * cos(cell[6 - i - j] * NB_DEG);
}

/** Checks the metric tensor of `cell`, and that a*, b*, c* are reciprocal to a, b, c. */
static void check_lattice(const nb_crystal *x, const double cell[6], double tolerance)
{
    const nb_vec3 real[3] = {x->a, x->b, x->c}, star[3] = {x->astar, x->bstar, x->cstar};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double scale = cell[i] * cell[j];
            check_close(nb_dot(real[i], real[j]) / (ANGSTROM * ANGSTROM) / scale,
                        metric(cell, i, j) / scale, tolerance);
            check_close(nb_dot(real[i], star[j]) / ANGSTROM, i == j, 1e-11);
        }
    check_ratio(x->volume, nb_dot(x->a, nb_cross(x->b, x->c)) * 1e30, 1e-12);
}

UNIT_TEST(typed_cells)
{
    for (int i = 0; i < CELLS; i++) {
        nb_config cfg = cell_config(cells[i]);
        nb_crystal x = built(&cfg, NULL);
        check_lattice(&x, cells[i], 1e-12);
        for (int k = 0; k < 3; k++)
            check_ratio(x.edge[k], cells[i][k], 1e-12);
        /* in the standard setting a* is along x and b* in the xy plane, so c is along
         * z */
        check_close(x.astar.y, 0, 1e-15);
        check_close(x.astar.z, 0, 1e-15);
        check_close(x.bstar.z, 0, 1e-15);
        assert_true(x.astar.x > 0 && x.bstar.y > 0 && x.cstar.z > 0);
        check_close(x.c.x, 0, 1e-20);
        check_close(x.c.y, 0, 1e-20);
        nb_set_misset(&cfg, 33, -71, 155);
        x = built(&cfg, NULL);
        check_lattice(&x, cells[i], 1e-12);
    }
}

/* With -compat triclinic and rhombohedral cells keep their lengths, not their angles. By
 * the contract the angles of 60 60 60 60 60 60 become 57.85 57.85 58.53. */
UNIT_TEST(compat_cells)
{
    static const double expected[][4] = {{5, 57.85, 57.85, 58.53},
                                         {7, 75.04, 85.01, 95.01}};
    for (int i = 0; i < CELLS; i++) {
        nb_config cfg = cell_config(cells[i]);
        nb_crystal x;
        cfg.compat = 1;
        x = built(&cfg, NULL);
        /* the first five cells (monoclinic, hexagonal and simpler ones) do not change */
        if (i < 5)
            check_lattice(&x, cells[i], 1e-12);
        for (int k = 0; k < 3; k++)
            check_ratio(x.edge[k], cells[i][k], 1e-12);
    }
    for (int i = 0; i < 2; i++) {
        nb_config cfg = cell_config(cells[(int)expected[i][0]]);
        nb_crystal x;
        cfg.compat = 1;
        x = built(&cfg, NULL);
        check_close(acos(nb_dot(nb_unit(x.b), nb_unit(x.c))) / NB_DEG, expected[i][1],
                    0.006);
        check_close(acos(nb_dot(nb_unit(x.c), nb_unit(x.a))) / NB_DEG, expected[i][2],
                    0.006);
        check_close(acos(nb_dot(nb_unit(x.a), nb_unit(x.b))) / NB_DEG, expected[i][3],
                    0.006);
    }
}

UNIT_TEST(short_cells)
{
    static const double cube[6] = {50, 50, 50, 90, 90, 90},
                        tall[6] = {50, 60, 50, 90, 90, 90};
    nb_config cfg = nb_test_config();
    nb_crystal x;
    cfg.cell[0] = 50;
    cfg.cell_count = 1;
    x = built(&cfg, NULL);
    check_lattice(&x, cube, 1e-12);
    cfg.cell[1] = 60;
    cfg.cell_count = 2;
    x = built(&cfg, NULL);
    check_lattice(&x, tall, 1e-12);
    cfg = cell_config(cube);
    cfg.cell[3] = cfg.cell[4] = 0; /* missing angles are right angles */
    x = built(&cfg, NULL);
    check_lattice(&x, cube, 1e-12);
}

UNIT_TEST(impossible_cells)
{
    static const double wrong[][6] = {
        {0, 10, 10, 90, 90, 90},     {10, -5, 10, 90, 90, 90},
        {10, 10, 10, 120, 120, 120}, {10, 10, 10, 30, 40, 100},
        {10, 10, 10, 180, 90, 90},   {10, 10, 10, 150, 150, 150},
        {NAN, 10, 10, 90, 90, 90},   {10, 10, INFINITY, 90, 90, 90},
        {10, 10, 10, 90, 200, 90},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nb_config cfg = cell_config(wrong[i]);
        nb_crystal_inputs in = {NULL, 1, 0};
        nb_crystal x;
        nb_error err = {0};
        assert_int_equal(nb_crystal_build(NB_RESOLVED(&cfg), &in, NULL, &x, &err),
                         NB_ERR_INPUT);
        assert_non_null(strstr(err.message, "-cell"));
    }
}

/* A MOSFLM matrix holds lambda times a*, b*, c* in its columns. */
UNIT_TEST(matrix)
{
    const double lambda = 0.9;
    for (int i = 0; i < CELLS; i++) {
        nb_config cfg = cell_config(cells[i]), bare = nb_test_config();
        nb_crystal_inputs in = {NULL, lambda, 0};
        nb_crystal x, y;
        double m[9];
        nb_error err;
        nb_set_misset(&cfg, 12, 34, 56);
        x = built(&cfg, NULL);
        m[0] = lambda * x.astar.x, m[1] = lambda * x.bstar.x, m[2] = lambda * x.cstar.x;
        m[3] = lambda * x.astar.y, m[4] = lambda * x.bstar.y, m[5] = lambda * x.cstar.y;
        m[6] = lambda * x.astar.z, m[7] = lambda * x.bstar.z, m[8] = lambda * x.cstar.z;
        in.matrix = m;
        assert_int_equal(nb_crystal_build(NB_RESOLVED(&bare), &in, NULL, &y, &err), NB_OK);
        check_lattice(&y, cells[i], 1e-11);
        check_vector(nb_sub(y.a, x.a), 0, 0, 0, 1e-11 * cells[i][0] * ANGSTROM);
        check_vector(nb_sub(y.c, x.c), 0, 0, 0, 1e-11 * cells[i][2] * ANGSTROM);
        nb_set_misset(&bare, 5, 6, 7); /* these angles act in addition to the matrix */
        assert_int_equal(nb_crystal_build(NB_RESOLVED(&bare), &in, NULL, &y, &err), NB_OK);
        x.a = nb_rotate_xyz(x.a, 5 * NB_DEG, 6 * NB_DEG, 7 * NB_DEG);
        check_vector(nb_sub(y.a, x.a), 0, 0, 0, 1e-11 * cells[i][0] * ANGSTROM);
        /* the three axes lie in one plane */
        m[2] = m[0] + m[1], m[5] = m[3] + m[4], m[8] = m[6] + m[7];
        assert_int_equal(nb_crystal_build(NB_RESOLVED(&bare), &in, NULL, &y, &err),
                         NB_ERR_INPUT);
    }
}

/* With -mat and -cell the matrix gives the orientation, the cell the lengths. */
UNIT_TEST(matrix_and_cell)
{
    static const double m[9] = {0.01, 0, 0, 0, 0.02, 0, 0, 0, 0.025};
    static const double cell[6] = {90, 45, 44, 90, 90, 90};
    nb_config cfg = cell_config(cell);
    nb_crystal x = built(&cfg, m);
    check_lattice(&x, cell, 1e-12);
    check_vector(nb_unit(x.a), 1, 0, 0, 1e-15);
}

UNIT_TEST(cells_in_a_crystal)
{
    nb_config cfg = cell_config(cells[7]); /* this cell has the edges 70, 80 and 90 A */
    nb_crystal x;
    x = built(&cfg, NULL);
    for (int i = 0; i < 3; i++)
        check_close(x.N[i], 1, 0);
    cfg.N[0] = 4, cfg.N[1] = 5, cfg.N[2] = 6;
    cfg.xtal_size_mm[1] = 80e-7 * 12; /* an exact multiple is not rounded up */
    cfg.xtal_size_mm[2] = 90e-7 * 12.0001;
    x = built(&cfg, NULL);
    check_close(x.N[0], 4, 0);
    check_close(x.N[1], 12, 0);
    check_close(x.N[2], 13, 0);
    cfg.xtal_size_mm[0] = 1e9;
    cfg.beamsize_mm = 1e12;
    {
        nb_crystal_inputs in = {NULL, 1, 0};
        nb_error err;
        assert_int_equal(nb_crystal_build(NB_RESOLVED(&cfg), &in, NULL, &x, &err),
                         NB_ERR_INPUT);
    }
}

/* R^2 of the gaussian shapes: |(dh Na, dk Nb, dl Nc)|^2, or in -compat |dq|^2 Na^2 Nb^2 Nc^2. */
UNIT_TEST(shape_metrics)
{
    nb_config cfg = cell_config(cells[7]);
    const double d[3] = {0.1, -0.2, 0.07};
    double m[6], R2;
    nb_vec3 dq;
    nb_crystal x;
    cfg.N[0] = 3, cfg.N[1] = 4, cfg.N[2] = 5;
    x = built(&cfg, NULL);
    for (int compat = 0; compat < 2; compat++) {
        nb_crystal_shape_metric(&x, compat, m);
        R2 = m[0] * d[0] * d[0] + m[1] * d[1] * d[1] + m[2] * d[2] * d[2] +
             m[3] * d[0] * d[1] + m[4] * d[0] * d[2] + m[5] * d[1] * d[2];
        dq = nb_add(nb_scale(d[0], x.astar),
                    nb_add(nb_scale(d[1], x.bstar), nb_scale(d[2], x.cstar)));
        check_ratio(R2, compat ? nb_dot(dq, dq) * 3600 : 0.09 + 0.64 + 0.1225, 1e-12);
    }
}

UNIT_TEST(random_misset_seeds)
{
    nb_config cfg = cell_config(cells[7]);
    nb_crystal x, y, z;
    cfg.misset_mode = NB_MISSET_RANDOM;
    x = built(&cfg, NULL); /* the seed of the run, 7 here */
    cfg.misset_seed = (nb_seed){1, 7};
    y = built(&cfg, NULL);
    cfg.misset_seed.value = 8;
    z = built(&cfg, NULL);
    check_lattice(&x, cells[7], 1e-12);
    assert_memory_equal(&x, &y, sizeof x);
    assert_true(fabs(x.misset[0] - z.misset[0]) > 1e-6);
    cfg.misset_mode = NB_MISSET_FIXED;
    for (int i = 0; i < 3; i++)
        cfg.misset_deg[i] = x.misset[i] / NB_DEG;
    y = built(&cfg, NULL);
    check_vector(nb_sub(y.a, x.a), 0, 0, 0, 1e-22);
}
