/* SPDX-License-Identifier: MIT */
#include "spots_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/picture.h"
#include "../support/scenes.h"
#include "spots_panels.h"

typedef struct cruel {
    const char *name, *words;
    int one_F;   /* 1: F is 0 for all reflections but one */
    double vary; /* the crystal changes along the frame by this fraction (check_vary) */
} cruel;

#define POWDER "-mosaic 180 -mosaic_dom 100"
#define THICK "-detector_thick 3000 -detector_thicksteps 4 -mosaic_dom 4"
#define SCAN "-osc 2 -phisteps 9 -mosaic_dom 5"

static const cruel cruels[] = {
    {"plain", "", 0, 0},
    {"one reflection", "", 1, 0},
    {"one reflection, powder", POWDER, 1, 0},
    {"unequal N", "-N 7 2 30", 0, 0},
    {"one cell", "-N 1 1 1", 0, 0},
    {"large N", "-N 1000 300 40 -oversample 6", 0, 0},
    {"unlit", "-mosaic_dom 1 -mosaic 0 -N 3000", 0, 0},
    {"steep", "-detector_rotx 80", 0, 0},
    {"swung", "-twotheta 80", 0, 0},
    {"behind", "-detector_roty 175", 0, 0},
    {"diverging", "-hdivrange 40 -vdivrange 40 -hdivsteps 4 -vdivsteps 4 -mosaic_dom 3",
     0, 0},
    {"white", "-dispersion 60 -dispsteps 41 -mosaic_dom 1", 0, 0},
    {"detector_thick", THICK " -detector_abs 500", 0, 0},
    {"thick at front", THICK " -detector_abs 500 -layer_depth front -detector_roty 30", 0,
     0},
    {"layers that do not absorb", THICK, 0, 0},
    {"fine",
     "-oversample 24 -mosaic_dom 1 -detpixels 20 -oversample_omega -oversample_polar", 0,
     0},
    {"spindle", "-osc 90 -phisteps 90 -mosaic_dom 1", 0, 0},
    {"powder", POWDER, 0, 0},
    {"small fudge", "-fudge 0.1", 0, 0},
    {"large fudge", "-fudge 10", 0, 0},
    /* the reflection 0 0 0 is at the middle of a pixel */
    {"000", "-xds -ORGX 20 -ORGY 20", 0, 0},
    {"coarse", "-pixel 20", 0, 0},
    {"water", "-water 50", 0, 0},
    {"dmin", "-dmin 4 -dispersion 5 -dispsteps 9 -mosaic_dom 4", 0, 0},
    {"curved", "-curved_det", 0, 0},
    {"polarized", "-polar 1 -oversample_polar -oversample_omega -oversample 2", 0, 0},
    {"points", "-point_pixel -compat", 0, 0},
    {"old metric", "-compat -cell 60 90 140 80 100 115", 0, 0},
    {"scan", SCAN, 0, 1e-5},
    {"scan of a cell that grows", SCAN, 0, 0.02},
    {"scan of a white beam", SCAN " -dispersion 5 -dispsteps 9", 0, 1e-3}};
enum { CRUELS = sizeof cruels / sizeof *cruels };

/** More scenes, as pairs of a flag's name and value. */
static const char *const flags[][9] = {
    {"N", "1 1 8"},
    {"N", "8", "mosaic_dom", "40"},
    {"N", "2 3 4", "dispersion", "10", "dispsteps", "9"},
    {"N", "5 1 300"},
    {"N", "20.5 3.3 7.9"},
    {"N", "1000", "oversample", "24", "detpixels", "8", "mosaic_dom", "2"},
    {"N", "4", "mosaic", "0", "mosaic_dom", "1", "oversample", "10"},
    {"N", "30", "mosaic_dom", "17", "mosaic", "0.01"},
    {"N", "30", "mosaic_dom", "16", "mosaic", "60"},
    {"N", "12", "dispersion", "100", "dispsteps", "33", "mosaic_dom", "2"},
    {"N", "12", "dispsteps", "16", "dispersion", "0.001"},
    {"twotheta", "-80", "N", "20"},
    {"twotheta", "60", "detector_rotx", "30", "detector_roty", "-40"},
    {"detector_rotx", "80", "oversample", "2"},
    {"detector_roty", "-80", "detector_thick", "500", "detector_abs", "300"},
    {"detector_rotz", "45", "hdivrange", "10", "hdivsteps", "3"},
    {"detector_roty", "150", "N", "9"},
    {"hdivrange", "100", "vdivrange", "100", "divsteps", "3", "mosaic_dom", "4"},
    {"hdivrange", "1", "hdivsteps", "20", "mosaic_dom", "1", "mosaic", "0"},
    {"vdivrange", "5", "vdivsteps", "5", "dispersion", "2", "dispsteps", "5"},
    {"osc", "90", "phisteps", "40", "mosaic_dom", "1", "N", "25"},
    {"osc", "360", "phisteps", "36", "mosaic_dom", "1"},
    {"fudge", "0.1", "N", "3", "mosaic_dom", "20"},
    {"fudge", "10", "N", "3", "mosaic_dom", "20"},
    {"fudge", "10", "N", "100", "mosaic_dom", "30"},
    {"default_F", "100", "N", "10", "dispersion", "3", "dispsteps", "4"},
    {"pixel", "40", "distance", "60"},
    {"pixel", "0.05", "distance", "200", "N", "60", "mosaic_dom", "30"},
    {"lambda", "0.1", "pixel", "0.5", "N", "40"},
    {"lambda", "8", "N", "15", "mosaic_dom", "33"},
    {"detector_thick", "3000", "detector_abs", "100", "detector_thicksteps", "3",
     "detector_rotx", "40"},
    {"dmin", "9", "oversample", "3", "mosaic_dom", "10"}};
enum { FLAGS = sizeof flags / sizeof *flags };

static void set_flags(check_case *c, const char *const *pairs)
{
    nb_error err = {0};
    for (; *pairs; pairs += 2)
        if (nb_config_set(&c->cfg, pairs[0], pairs[1], &err)) {
            printf("not ok spots-cruel-flags # %s\n", err.message);
            exit(EXIT_FAILURE);
        }
    c->inputs.table.default_F = c->cfg.default_F;
}

enum { EDGE = 25, HALF = EDGE / 2, LIT = (11 * EDGE + 14) * EDGE + 10 };

/** The scene that the other scenes change. */
static void plain(check_case *c, int i, nb_shape shape)
{
    const int low[3] = {-HALF, -HALF, -HALF}, count[3] = {EDGE, EDGE, EDGE};
    check_rng rng = {(uint64_t)i + 1};
    *c = (check_case){.name = ""};
    c->cfg = nb_suite_config(1, 15, 40);
    nb_words(&c->cfg, "-cell 50 60 70 80 95 105 -misset 10 20 30 -isa auto -pixel 2 "
                      "-nointerpolate -default_F 0 "
                      "-mosaic 0.5 -mosaic_dom 12");
    c->cfg.shape = shape;
    check_fill_table(c, &rng, low, count);
}

int check_spots_scene(check_case *c, int i, nb_shape shape)
{
    const char *const *pairs = NULL;
    plain(c, i, shape);
    if (i >= CRUELS + FLAGS)
        pairs = check_spots_panels(c, i - CRUELS - FLAGS);
    else if (i >= CRUELS) {
        pairs = flags[i - CRUELS];
        snprintf(c->name, sizeof c->name, "%s %s", pairs[0], pairs[1]);
    }
    if (i >= CRUELS && !pairs) {
        check_free_case(c);
        return 0;
    }
    if (pairs) {
        set_flags(c, pairs);
        return 1;
    }
    snprintf(c->name, sizeof c->name, "%s", cruels[i].name);
    for (int k = 0; cruels[i].one_F && k < EDGE * EDGE * EDGE; k++)
        c->F[k] = k == LIT ? 100 : 0;
    nb_words(&c->cfg, cruels[i].words);
    if (cruels[i].vary > 0)
        check_vary(c, &(check_rng){(uint64_t)i}, cruels[i].vary);
    return 1;
}
