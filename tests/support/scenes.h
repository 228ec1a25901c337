/* SPDX-License-Identifier: MIT */
/** Scenes as words of the command line, for tests and benchmarks. */
#ifndef NB_TESTS_SCENES_H
#define NB_TESTS_SCENES_H

#include "nanobragg.h"
#include "physics/scene.h"

/** One step per pixel. */
#define NB_SIMPLE                                                                        \
    "-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -distance 100 "          \
    "-pixel 0.1 -detpixels 1024 -oversample 1"
/** A crystal whose cell has no right angle. */
#define NB_TRICLINIC                                                                     \
    "-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 "           \
    "-distance 100 -pixel 0.1 -detpixels 2048 -oversample 1"
/** A thousand steps per pixel: 100 mosaic domains, 10 wavelengths. */
#define NB_HEAVY                                                                         \
    NB_TRICLINIC " -mosaic 0.5 -mosaic_domains 100 -dispersion 1 -dispsteps 10"

/** Sets parameters by a text "-name value ... -name value". A wrong word ends the program
 * with a message. */
void nb_words(nb_config *cfg, const char *words);

/** A table of the indices -half..half along each axis, with F[(2 half + 1)^3]; other
 * indices have default_F. */
static inline nb_factor_table nb_cube(const double *F, int half, double default_F)
{
    const int n = 2 * half + 1;
    return (nb_factor_table){.hmin = -half,
                             .kmin = -half,
                             .lmin = -half,
                             .nh = n,
                             .nk = n,
                             .nl = n,
                             .F = F,
                             .default_F = default_F};
}

#endif
