/* SPDX-License-Identifier: MIT */
/* The edge of a top hat in floats (src/terms/shapes.h), with the operations of a GPU.
 * Steps that are lit or dark in floats are so in double, also with the largest rounding
 * errors of the fractional indices. Floats leave few steps undecided. */
#include "../support/check.h"

#include "../../src/terms/shapes.h"

enum { CRYSTALS = 300, STEPS = 20000 };

static double uniform(double low, double high)
{
    return low + (high - low) * (double)rand() / RAND_MAX;
}

/** A crystal with a random positive form R^2; every fourth form has oblique axes. */
static nb_lattice a_crystal(int n)
{
    nb_lattice lattice = {.shape = NB_SHAPE_TOPHAT, .fudge = n % 3 ? 1 : uniform(0.2, 5)};
    const double lean = n % 4 ? 0 : 0.4;
    double L[3][3];
    for (int i = 0; i < 3; i++) {
        lattice.N[i] = exp(uniform(log(2.5), log(n % 5 ? 200 : 5000)));
        for (int j = 0; j < 3; j++)
            L[i][j] = lattice.N[i] * (i == j ? 1 : uniform(-lean, lean));
    }
    for (int i = 0; i < 3; i++) {
        lattice.radius2[0] += L[i][0] * L[i][0];
        lattice.radius2[1] += L[i][1] * L[i][1];
        lattice.radius2[2] += L[i][2] * L[i][2];
        lattice.radius2[3] += 2 * L[i][0] * L[i][1];
        lattice.radius2[4] += 2 * L[i][0] * L[i][2];
        lattice.radius2[5] += 2 * L[i][1] * L[i][2];
    }
    return lattice;
}

/** Makes a step close to the edge: its R^2 is (1 + off) times that of the edge. */
static void at_edge(const nb_lattice *lattice, double off, double d[3])
{
    double r2 = 0, scale;
    for (int i = 0; i < 3; i++)
        d[i] = uniform(-1, 1) / lattice->N[i];
    r2 = nb_shape_radius2(lattice->radius2, d[0], d[1], d[2]) * lattice->fudge;
    scale = sqrt(nb_shape_row_of(lattice->shape).width / r2 * (1 + off));
    for (int i = 0; i < 3; i++)
        d[i] *= scale;
}

/** Result of a kernel whose fractions are off by `worst`: 1 lit, 0 dark, -1 undecided. */
static int seen(const nb_shape_form *form, const double d[3], double worst)
{
    float x[3], r2;
    for (int i = 0; i < 3; i++) {
        const double shift = worst * (rand() % 2 ? 1 : -1);
        x[i] = (float)(int32_t)lrint((d[i] + shift) / NB_FIXED_STEP);
    }
    r2 = nb_shape_form_at(form, x[0], x[1], x[2]);
    return r2 > form->outside ? 0 : r2 < form->inside ? 1 : -1;
}

UNIT_TEST(sides_are_right)
{
    const double worst = NB_EDGE_FRACTION - 0.5 * NB_FIXED_STEP;
    int wrong = 0, tried = 0, decided = 0;
    for (int n = 0; n < CRYSTALS; n++) {
        const nb_lattice lattice = a_crystal(n);
        const double doubt = nb_edge_doubt(&lattice);
        const nb_shape_form form = nb_edge_form(&lattice);
        if (!(doubt < NB_EDGE_DOUBT))
            continue;
        for (int i = 0; i < STEPS; i++) {
            double d[3];
            int lit, is;
            at_edge(&lattice, doubt * uniform(-2.5, 2.5), d);
            if (fabs(d[0]) > 0.5 || fabs(d[1]) > 0.5 || fabs(d[2]) > 0.5)
                continue;
            lit = nb_lattice_factor(&lattice, d[0], d[1], d[2]) > 0;
            is = seen(&form, d, worst);
            wrong += is >= 0 && is != lit;
            decided += is >= 0;
            tried++;
        }
    }
    assert_int_equal(wrong, 0);
    /* floats must be allowed for more than half of the crystals */
    assert_true(tried > CRYSTALS / 2 * STEPS);
    assert_true(decided > tried / 10);
}

/** Compares the reach of a spot with many points of its edge. Floats are refused if the
 * reach is near 0.5. */
UNIT_TEST(reach_is_the_spot_s)
{
    for (int n = 0; n < CRYSTALS; n++) {
        const nb_lattice lattice = a_crystal(n);
        double reach[3], extent[3] = {0, 0, 0}, d[3];
        nb_edge_reach(&lattice, reach);
        for (int i = 0; i < 4000; i++) {
            at_edge(&lattice, 0, d);
            for (int k = 0; k < 3; k++)
                extent[k] = fmax(extent[k], fabs(d[k]));
        }
        for (int k = 0; k < 3; k++) {
            assert_true(extent[k] <= reach[k] * (1 + 1e-9));
            assert_true(n % 4 == 0 || extent[k] > 0.8 * reach[k]); /* not oblique */
            assert_true(reach[k] < 0.499 || isinf(nb_edge_doubt(&lattice)));
        }
    }
}
