/* SPDX-License-Identifier: MIT */
/* Compares F_latt^2 of round crystals, by a device for few steps, with the reference. */
#include "../support/check.h"

#include "../../src/terms/shapes.h"

/* Floats are accurate unless `doubt` is set. Doubles are accurate everywhere. */
UNIT_TEST(zeros_of_a_sphere_show)
{
    double worst = 0, worst_of_wave = 0;
    int doubts = 0;
    enum { COUNT = 400000 };
    for (int i = 0; i < COUNT; i++) {
        const double u = 120.0 * (i + 0.37) / COUNT, x = NB_PI * u,
                     F = nb_sphere_transform(x), wave = fmin(1, 3 / (x * x));
        int doubt;
        const float near = nb_sphere_near(u * u, &doubt);
        worst_of_wave = fmax(worst_of_wave, fabs(near - F * F) / (wave * wave));
        if (doubt) {
            const float exact = nb_sphere_exact(u * u);
            assert_true(fabs(exact - F * F) <= 1e-7 * F * F + 1e-12 * wave * wave);
            doubts++;
        } else {
            worst = fmax(worst, fabs(near - F * F) / (F * F));
        }
    }
    printf("# a float's worst error: %.1e of the value, %.1e of the wave's height; %.2f "
           "%% in doubt\n",
           worst, worst_of_wave, 100.0 * doubts / COUNT);
    assert_true(worst < 6e-5 && worst_of_wave < 8e-7);
    assert_true(doubts > COUNT / 2000 && doubts < COUNT / 200);
}

UNIT_TEST(a_reflection_is_whole)
{
    const double m[3] = {1e6, 4, 9}, none[3] = {0, 0, 0}, d[3] = {1e-3, 0.5, -1.0 / 3};
    int doubt;
    assert_true(nb_sphere_near(nb_sphere_u2(m, none), &doubt) == 1 && !doubt);
    check_ratio(nb_sphere_u2(m, d), 3, 1e-12);
}
