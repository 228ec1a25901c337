/* SPDX-License-Identifier: MIT */
#include "spots_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../support/picture.h"
#include "spots_panels.h"

static void small_N(nb_config *c)
{
    nb_config_set(c, "N", "7 2 30", NULL);
}
static void single_cell(nb_config *c)
{
    nb_config_set(c, "N", "1 1 1", NULL);
}
static void large_N(nb_config *c)
{
    nb_config_set(c, "N", "1000 300 40", NULL);
    c->oversample = 6;
}
static void unlit(nb_config *c)
{
    c->mosaic_domains = 1;
    c->mosaic_spread_deg = 0;
    nb_config_set(c, "N", "3000", NULL);
}
static void steep(nb_config *c)
{
    c->rot_deg[0] = 80;
}
static void swung(nb_config *c)
{
    c->twotheta_deg = 80;
}
static void behind(nb_config *c)
{
    c->rot_deg[1] = 175;
}
static void diverging(nb_config *c)
{
    c->hdiv_range_mrad = c->vdiv_range_mrad = 40;
    c->hdiv_steps = c->vdiv_steps = 4;
    c->mosaic_domains = 3;
}
static void white(nb_config *c)
{
    c->dispersion_pct = 60;
    c->dispersion_steps = 41;
    c->mosaic_domains = 1;
}
static void thick(nb_config *c)
{
    c->thick_um = 3000;
    c->abs_um = 500;
    c->thick_steps = 4;
    c->mosaic_domains = 4;
}
static void thick_at_front(nb_config *c)
{
    thick(c);
    c->layer_depth = NB_LAYER_FRONT;
    c->rot_deg[1] = 30;
}
static void transparent(nb_config *c)
{
    thick(c);
    c->abs_um = NAN;
}
static void fine(nb_config *c)
{
    c->oversample = 24;
    c->mosaic_domains = 1;
    c->detpixels[0] = c->detpixels[1] = 20;
    c->oversample_omega = c->oversample_polar = 1;
}
static void spindle(nb_config *c)
{
    c->osc_deg = 90;
    c->phi_steps = 90;
    c->mosaic_domains = 1;
}
static void powder(nb_config *c)
{
    c->mosaic_spread_deg = 180;
    c->mosaic_domains = 100;
}
static void small_fudge(nb_config *c)
{
    c->fudge = 0.1;
}
static void large_fudge(nb_config *c)
{
    c->fudge = 10;
}
static void straight(nb_config *c)
{
    c->convention = NB_CONV_XDS; /* 000 on the middle of a pixel */
    c->orgx = c->orgy = 20;
}
static void coarse(nb_config *c)
{
    c->pixel_mm = 20;
}
static void wet(nb_config *c)
{
    c->water_um = 50;
}
static void cut(nb_config *c)
{
    c->dmin_A = 4;
    c->dispersion_pct = 5;
    c->dispersion_steps = 9;
    c->mosaic_domains = 4;
}
static void bent(nb_config *c)
{
    c->curved = 1;
}
static void polarized(nb_config *c)
{
    c->polarization = 1;
    c->oversample_polar = c->oversample_omega = 1;
    c->oversample = 2;
}
static void points(nb_config *c)
{
    c->point_pixel = c->compat = 1;
}
static void old_metric(nb_config *c)
{
    c->compat = 1;
    nb_config_set(c, "cell", "60 90 140 80 100 115", NULL);
}
static void rotation(nb_config *c)
{
    c->osc_deg = 2;
    c->phi_steps = 9;
    c->mosaic_domains = 5;
}
static void white_rotation(nb_config *c)
{
    rotation(c);
    c->dispersion_pct = 5;
    c->dispersion_steps = 9;
}
static void as_it_is(nb_config *c)
{
    (void)c;
}

typedef struct cruel {
    const char *name;
    void (*change)(nb_config *c);
    int one_F;   /* all reflections but one are 0 */
    double vary; /* the crystal changes along its frame: check_vary */
} cruel;

static const cruel cruels[] = {{"plain", as_it_is, 0, 0},
                               {"one reflection", as_it_is, 1, 0},
                               {"one reflection, powder", powder, 1, 0},
                               {"unequal N", small_N, 0, 0},
                               {"one cell", single_cell, 0, 0},
                               {"large N", large_N, 0, 0},
                               {"unlit", unlit, 0, 0},
                               {"steep", steep, 0, 0},
                               {"swung", swung, 0, 0},
                               {"behind", behind, 0, 0},
                               {"diverging", diverging, 0, 0},
                               {"white", white, 0, 0},
                               {"detector_thick", thick, 0, 0},
                               {"thick at front", thick_at_front, 0, 0},
                               {"layers that do not absorb", transparent, 0, 0},
                               {"fine", fine, 0, 0},
                               {"spindle", spindle, 0, 0},
                               {"powder", powder, 0, 0},
                               {"small fudge", small_fudge, 0, 0},
                               {"large fudge", large_fudge, 0, 0},
                               {"000", straight, 0, 0},
                               {"coarse", coarse, 0, 0},
                               {"water", wet, 0, 0},
                               {"dmin", cut, 0, 0},
                               {"curved", bent, 0, 0},
                               {"polarized", polarized, 0, 0},
                               {"points", points, 0, 0},
                               {"old metric", old_metric, 0, 0},
                               {"scan", rotation, 0, 1e-5},
                               {"scan of a cell that grows", rotation, 0, 0.02},
                               {"scan of a white beam", white_rotation, 0, 1e-3}};
enum { CRUELS = sizeof cruels / sizeof *cruels };

/** More of them, in flags: pairs of name and value. */
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

/** The scene that the others change. */
static void plain(check_case *c, int i, nb_shape shape)
{
    const int low[3] = {-HALF, -HALF, -HALF}, count[3] = {EDGE, EDGE, EDGE};
    check_rng rng = {(uint64_t)i + 1};
    *c = (check_case){.name = ""};
    c->cfg = nb_suite_config(1, 15, 40);
    nb_config_set(&c->cfg, "cell", "50 60 70 80 95 105", NULL);
    nb_config_set(&c->cfg, "misset", "10 20 30", NULL);
    c->cfg.isa = NB_ISA_AUTO;
    c->cfg.pixel_mm = 2;
    c->cfg.interpolate = NB_OFF;
    c->cfg.default_F = 0;
    c->cfg.mosaic_spread_deg = 0.5;
    c->cfg.mosaic_domains = 12;
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
    cruels[i].change(&c->cfg);
    if (cruels[i].vary > 0)
        check_vary(c, &(check_rng){(uint64_t)i}, cruels[i].vary);
    return 1;
}
