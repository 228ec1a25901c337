/* SPDX-License-Identifier: MIT */
/* Extreme cases, chosen by hand, in which a vector renderer could fail. */
#include <stdlib.h>
#include <string.h>

#include "../support/scenes.h"
#include "cases.h"

enum { SOURCES = NB_PATH_MAX / 2 };

/** Makes more weighted sources than fit into a small array. */
static void many_sources(check_case *c)
{
    c->sources = calloc(SOURCES, sizeof *c->sources);
    for (int i = 0; c->sources && i < SOURCES; i++)
        c->sources[i] = (nb_source_line){.x = -1,
                                         .y = 1e-4 * i,
                                         .intensity = 1 + i % 7,
                                         .lambda = (1 + 1e-5 * i) * 1e-10};
    c->inputs.sources = c->sources;
    c->inputs.n_sources = c->sources ? SOURCES : 0;
}

static void beyond_the_limit(check_case *c)
{
    for (int i = 0; i < 3; i++)
        c->cfg.cell[i] = 1e10;
}

static void negative(check_case *c)
{
    for (int i = 0; i < 125; i++)
        c->F[i] = -c->F[i];
}

/* Factors with a ratio too large for floats: an invisible reflection, h = 35, is much
 * larger than the others, about 100. */
static void one_of_1e25(check_case *c)
{
    c->F[40 * 9 * 9 - 1] = 1e25;
}

/* makes F as small as 1e-12 of the largest, all of which matter */
static void one_of_1e12(check_case *c)
{
    c->F[40 * 9 * 9 - 1] = 1e12;
}

/* The beam hits the middle of pixel (0,0). */
#define AT_PIXEL_ONE " -xds -ORGX 1 -ORGY 1"
#define TURNED " -misset 3 5 7"
#define OTHER " -misset 3 2 1"
#define FAR " -misset 11 22 33"
/* The size of the crystal in cells follows SIZED, with many steps per pixel, or ONE_STEP
 * -N: with one step every digit of the fringes is significant. */
#define ONE_STEP "-cell 70 80 90 90 90 90 -misset 10 20 30 -detpixels 47"
#define SIZED ONE_STEP " -dispersion 1 -dispsteps 4 -mosaic 0.5 -mosaic_domains 9 -N"
#define BOX(h, k, l, nh, nk, nl, seed) {h, k, l}, {nh, nk, nl}, seed

static const struct {
    const char *name, *words;
    int low[3], count[3]; /* box of the table of structure factors */
    uint64_t seed;
    void (*more)(check_case *c);
} cases[] = {
    /* Miller indices of pixels: whole; halves, whose rounding chooses F; large */
    {.name = "whole-indices",
     .words = "-N 21 -detpixels 33 -pixel 1 -distance 80" AT_PIXEL_ONE},
    {.name = "zero-index-everywhere",
     .words = "-cell 10 -N 7 -detpixels 19 -pixel 1e-9" AT_PIXEL_ONE},
    {"zero-index-table-many-sources",
     "-cell 30 -N 6 -detpixels 19 -pixel 0.5 -dispersion 2 -dispsteps 5" AT_PIXEL_ONE,
     BOX(-3, -3, -3, 7, 6, 5, 5), NULL},
    {"index-zero-plane-N1-table",
     "-cell 40 -N 1 -detpixels 33 -nointerpolate -pixel 2" AT_PIXEL_ONE,
     BOX(-9, -9, -9, 19, 19, 19, 6), NULL},
    {.name = "index-10000",
     .words = "-cell 4000 -N 5 -detpixels 24 -lambda 0.5 -pixel 20" FAR},
    {.name = "index-beyond-fixed-point",
     .words = "-cell 300000 -N 3 -detpixels 17 -lambda 0.5 -pixel 20" FAR},
    {.name = "index-beyond-32-bits",
     .words = "-cell 1 1 1 90 90 90 -N 3 -detpixels 9 -pixel 20" FAR,
     .more = beyond_the_limit},
    {"clamped-table",
     "-cell 2000 -N 4 -detpixels 21 -pixel 1 -mosaic 90 -mosaic_domains 40" FAR,
     BOX(-100, -60, -7, 230, 90, 77, 7), NULL},
    {"table-out-of-sight", "-cell 50 -N 4 -detpixels 21", BOX(900, 900, 900, 3, 3, 3, 8),
     NULL},
    /* --- sizes of the crystal --- */
    {.name = "N-1", .words = SIZED " 1"},
    {.name = "N-2", .words = SIZED " 2"},
    {.name = "N-5", .words = SIZED " 5"},
    {.name = "N-64", .words = SIZED " 64"},
    {.name = "N-1000", .words = SIZED " 1000"},
    {.name = "N-1001", .words = SIZED " 1001"},
    {.name = "N-10000", .words = SIZED " 10000"},
    {.name = "one-step-N-150", .words = ONE_STEP " -N 150"},
    {.name = "one-step-N-99.6", .words = ONE_STEP " -N 99.6 1.0000001 12.5"},
    {.name = "N-8.37", .words = SIZED " 8.37 5.5 1"},
    {"interpolated", "-cell 40 -N 2 -detpixels 47 -misset 3 2 1 -interpolate",
     BOX(-6, -6, -6, 12, 13, 11, 11), NULL},
    /* a single sharp peak shows the rounding of fixed-point indices to 2^-32 */
    {.name = "sharp-peak-N1000",
     .words = "-N 1000 -detpixels 63 -pixel 0.00001 -xds -ORGX 32 -ORGY 32"},
    {.name = "powder",
     .words = "-N 4 -detpixels 25 -pixel 1.6 -mosaic 90 -mosaic_domains 500"},
    {.name = "512-weighted-sources",
     .words = "-cell 60 -N 6 -detpixels 13 -misset 1 2 3 -dmin 2",
     .more = many_sources},
    /* --- brightness: no light, water only, values too small or too large for a float
     * --- */
    {.name = "nothing-scatters", .words = "-cell 60 -N 6 -detpixels 13 -default_F 0"},
    {.name = "water-only",
     .words = "-cell 60 -N 6 -detpixels 13 -default_F 0 -water 1 -dispersion 1 "
              "-dispsteps 3"},
    {.name = "crystal-in-water",
     .words = "-detpixels 45 -water 10 -pixel 1 -polar 0.5" TURNED},
    {.name = "faint", .words = "-detpixels 33 -fluence 1e-3" TURNED},
    {"negative-amplitudes", "-cell 40 -N 3 -detpixels 31" OTHER,
     BOX(-2, -2, -2, 5, 5, 5, 9), negative},
    {"one-F-of-1e25", "-cell 60 -detpixels 33 -mosaic 0.5 -mosaic_domains 5" TURNED,
     BOX(-4, -4, -4, 40, 9, 9, 12), one_of_1e25},
    {"one-F-of-1e12", "-cell 60 -detpixels 33 -mosaic 0.5 -mosaic_domains 5" TURNED,
     BOX(-4, -4, -4, 40, 9, 9, 12), one_of_1e12},
    {.name = "F-of-1e25",
     .words = "-detpixels 21 -default_F 1e25 -fluence 1 -water 1" TURNED},
    {.name = "F-of-1e-25", .words = "-detpixels 21 -default_F 1e-25 -fluence 1e75" TURNED},
    {.name = "N-10000000", /* (N^3)^2 is too large for a float */
     .words = "-cell 1 -N 10000000 -detpixels 21 -lambda 5000 -fluence 1e10"},
    /* --- detectors --- */
    {.name = "one-pixel", .words = "-detpixels 1" OTHER},
    {.name = "one-row", .words = "-detpixels_x 1003 -detpixels_y 1" OTHER},
    {.name = "one-column", .words = "-detpixels_x 1 -detpixels_y 101" OTHER},
    {.name = "70-layer-lines",
     .words = "-detpixels 11 -oversample 5 -detector_thick 300 -detector_abs 200 "
              "-detector_thicksteps 14"},
    {.name = "70-layer-lines-at-the-front",
     .words = "-detpixels 11 -oversample 5 -detector_thick 300 -detector_abs 200 "
              "-detector_thicksteps 14 -layer_depth front"},
    /* almost no absorption, so that the mean depth is calculated by a series */
    {.name = "thin-layers",
     .words = "-detpixels 45 -detector_thick 500 -detector_abs 1e8 "
              "-detector_thicksteps 3" TURNED},
    {.name = "round-centre",
     .words = "-N 12 -detpixels 31 -round_xtal -pixel 1e-7" AT_PIXEL_ONE},
    {"89-degrees", "-cell 30 -N 4 -detpixels 31 -pixel 300 -distance 10" OTHER,
     BOX(-30, -30, -30, 61, 61, 61, 10), NULL},
    /* the path in the sensor is thousands of attenuation lengths */
    {.name = "89-degrees-layers",
     .words = "-N 4 -detpixels 31 -pixel 300 -distance 10 -detector_thick 3000 "
              "-detector_abs 30 -detector_thicksteps 2" OTHER},
    {.name = "skew-normal-layers", /* a normal that is oblique to the rows */
     .words = "-detpixels 41 -odet_vector 0.8 0 0.6 -pixel 2 -detector_thick 900 "
              "-detector_abs 300 -detector_thicksteps 3" OTHER},
    /* the detector extends to 90 degrees on each side; solid angles are exact */
    {.name = "curved-to-90-degrees",
     .words = "-N 4 -detpixels 41 -curved_det -curved_omega exact -oversample_omega "
              "-oversample 2 -pixel 7.66 -detector_thick 900 -detector_abs 300 "
              "-detector_thicksteps 3" OTHER},
};

int check_cruel_case(check_case *c, int i)
{
    check_rng r;
    memset(c, 0, sizeof *c);
    if (i < 0 || i >= (int)(sizeof cases / sizeof cases[0]))
        return 0;
    r.state = cases[i].seed;
    snprintf(c->name, sizeof c->name, "%s", cases[i].name);
    nb_config_defaults(&c->cfg);
    nb_words(
        &c->cfg,
        "-mosflm -cell 100 100 100 90 90 90 -N 5 -default_F 100 -lambda 1 -distance 100 "
        "-pixel 0.1 -oversample 1");
    nb_words(&c->cfg, cases[i].words);
    c->inputs.table.default_F = c->cfg.default_F;
    if (cases[i].count[0])
        check_fill_table(c, &r, cases[i].low, cases[i].count);
    if (cases[i].more && (c->F || !cases[i].count[0]))
        cases[i].more(c);
    return 1;
}
