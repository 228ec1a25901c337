/* SPDX-License-Identifier: MIT */
#include "spots_panels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/units.h"

/** Place of a panel. Without turns the panel faces the crystal, and its slow axis leads
 * away from the beam. */
typedef struct piece {
    double theta, phi; /* angles of the panel's middle from the beam and about the
                        * beam; degrees */
    double turn, tilt; /* rotations about this direction, then about fast; degrees */
    double skew;       /* slow leans towards fast; degrees */
    double distance;   /* distance of the panel's middle, in mm */
    double shift[2];   /* shift of the panel's middle along its edges, in mm */
    double pixel[2];   /* mm */
    int size[2];
    double thick, depth; /* sensor and its attenuation depth, um */
} piece;

typedef struct detector {
    const char *name;
    int n;
    void (*place)(int k, piece *p); /* panel k */
    void (*finish)(nb_model *model);
    int masked;
    const char *flags[5];
} detector;

/* ------------------------------------------------------------------ panels */

static void nine(int k, piece *p) /* nine panels with gaps of a pixel or less */
{
    p->shift[0] = (k % 3 - 1) * 30;
    p->shift[1] = (k / 3 - 1) * 28.5;
}
/* strips without gaps, so that every spot is on several panels */
static void strips(int k, piece *p)
{
    p->size[0] = 45;
    p->size[1] = 1;
    p->shift[1] = 2 * (k - 4);
    p->theta = 12;
}
static void sizes(int k, piece *p)
{
    p->theta = 13 * k;
    p->phi = 137 * k;
    p->distance = 30 + 20 * k;
    p->pixel[0] = 0.5 + 0.3 * k;
    p->pixel[1] = 3.1 - 0.3 * k;
    p->size[0] = 3 + 3 * (k * 5 % 9);
    p->size[1] = 1 + 3 * (8 - k);
}
static void steep(int k, piece *p)
{
    p->theta = 8 * k;
    p->phi = 40 * k;
    p->turn = 25 * k;
    p->tilt = k % 2 ? -10 * k : 10 * k;
}
static void all_round(int k, piece *p)
{
    p->theta = 22.5 * k;
    p->phi = 100 * k;
    p->distance = 60;
    p->size[0] = 10 + k;
}
static void behind(int k, piece *p)
{
    p->theta = k == 3 ? 0 : 180 - 30 * k;
    p->phi = 90 * k;
    p->tilt = 25 * k;
    p->size[0] = 20;
}
static void single_pixels(int k, piece *p)
{
    p->theta = 7 * k;
    p->phi = 70 * k;
    p->size[0] = p->size[1] = 1;
    p->pixel[0] = 8;
    p->pixel[1] = 5;
}
/* sensors that are thicker than many pixels are wide */
static void sensors(int k, piece *p)
{
    p->theta = 10 * k;
    p->tilt = k < 3 ? 0 : 15 * k - 20;
    p->distance = 25;
    p->pixel[0] = p->pixel[1] = 0.5;
    p->size[0] = p->size[1] = 20;
    p->thick = k % 3 * 1500;
    p->depth = 500 + 900 * k;
}
static void skewed(int k, piece *p)
{
    p->theta = 9 * k;
    p->phi = 50 * k;
    p->turn = 37 * k;
    p->skew = 12 * (k - 3);
}
/* panels one behind the other; the last panel is nearest and brightest */
static void one_after_another(int k, piece *p)
{
    p->theta = 20;
    p->distance = 1215 / pow(3, k);
    p->pixel[0] = p->pixel[1] = 8 / pow(2, k);
    p->size[1] = 6 + 4 * k;
}

/* ------------------------------------------------------------------ after the model */

/** Limits the region of interest: rows from the middle of a panel to the middle of
 * another panel, and columns to a part of the wide panels. */
static void in_part(nb_model *m)
{
    m->scene.raster.roi = (nb_region){2, 17, 30, 98};
}

static void bend_one(nb_model *m)
{
    nb_panel *panel = &m->detector->panels[5];
    panel->curved = 1;
    panel->curved_fast = panel->fast;
    panel->curved_slow = panel->slow;
}

static const detector detectors[] = {
    {"nine panels", 9, nine, NULL, 0, {NULL}},
    {"nine, wide spots", 9, nine, NULL, 0, {"mosaic", "4", "oversample", "2"}},
    {"strips", 9, strips, NULL, 0, {"N", "8 20 12", "mosaic", "6"}},
    {"sizes", 9, sizes, NULL, 0, {"oversample", "2"}},
    {"sizes, in part", 9, sizes, in_part, 0, {"dispersion", "3", "dispsteps", "9"}},
    {"steep panels", 9, steep, NULL, 0, {"N", "20"}},
    {"all round", 9, all_round, NULL, 0, {"default_F", "30", "oversample", "2"}},
    {"panels behind", 4, behind, NULL, 0, {"default_F", "30", "oversample", "2"}},
    {"single pixels", 9, single_pixels, NULL, 0, {"mosaic", "20", "mosaic_dom", "60"}},
    {"sensors", 7, sensors, NULL, 0, {"detector_thicksteps", "3", "mosaic", "6"}},
    {"sensors, dark rim", 7, sensors, NULL, 0, {"detector_thicksteps", "8", "dmin", "2.9"}},
    {"skewed panels", 7, skewed, NULL, 0, {"hdivrange", "10", "hdivsteps", "3"}},
    {"one after another", 5, one_after_another, NULL, 0, {"N", "9", "mosaic", "5"}},
    {"masked panels", 9, nine, NULL, 1, {"oversample_omega", "1", "mosaic", "4"}},
    {"one curved panel", 6, nine, bend_one, 0, {"mosaic", "6"}}};

/* ------------------------------------------------------------------ cases */

/** Sets the sum a x + b y. */
static void mix(double a, const double x[3], double b, const double y[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a * x[i] + b * y[i];
}

/** Turns x and y by an angle in their plane. */
static void turn(double degrees, double x[3], double y[3])
{
    const double c = cos(degrees * NB_DEG), s = sin(degrees * NB_DEG);
    double fast[3], slow[3];
    mix(c, x, s, y, fast);
    mix(-s, x, c, y, slow);
    memcpy(x, fast, sizeof fast);
    memcpy(y, slow, sizeof slow);
}

static void stand(const piece *p, nb_panel_spec *spec)
{
    double fast[3] = {1, 0, 0}, slow[3] = {0, 1, 0}, away[3] = {0, 0, 1}, middle[3];
    turn(p->phi, fast, slow);
    turn(-p->theta, slow, away);
    mix(p->distance * NB_MM, away, 0, away, middle);
    turn(p->turn, fast, slow);
    turn(p->tilt, slow, away);
    mix(sin(p->skew * NB_DEG), fast, cos(p->skew * NB_DEG), slow, slow);
    memcpy(spec->fast, fast, sizeof fast);
    memcpy(spec->slow, slow, sizeof slow);
    double corner[2];
    for (int i = 0; i < 2; i++) {
        spec->size[i] = p->size[i];
        spec->pixel[i] = p->pixel[i] * NB_MM;
        corner[i] = (p->shift[i] - 0.5 * p->size[i] * p->pixel[i]) * NB_MM;
    }
    mix(corner[0], fast, corner[1], slow, spec->origin);
    mix(1, spec->origin, 1, middle, spec->origin);
    spec->thickness = p->thick * NB_UM;
    spec->attenuation = p->depth > 0 ? 1 / (p->depth * NB_UM) : NAN;
}

/** Masks one panel in four, and half of the pixels of the other panels. */
static void mask(check_case *c, const nb_detector_spec *spec)
{
    check_rng rng = {17};
    size_t n = 0, at = 0;
    for (int k = 0; k < spec->n_panels; k++)
        n += (size_t)spec->panels[k].size[0] * (size_t)spec->panels[k].size[1];
    c->inputs.mask = c->mask = calloc(n, 1);
    for (int k = 0; k < spec->n_panels && c->mask; k++) {
        const size_t pixels =
            (size_t)spec->panels[k].size[0] * (size_t)spec->panels[k].size[1];
        for (size_t i = 0; i < pixels; i++)
            c->mask[at++] = k % 4 != 1 && check_below(&rng, 2);
    }
}

/** Sets a crystal with spots in every direction. */
static void light(nb_config *cfg)
{
    nb_config_set(cfg, "cell", "13 15 18 80 95 105", NULL);
    cfg->lambda_A = 2;
    cfg->mosaic_spread_deg = 2;
    cfg->mosaic_domains = 30;
}

const char *const *check_spots_panels(check_case *c, int i)
{
    const detector *d = &detectors[i];
    nb_error err;
    if (i >= (int)(sizeof detectors / sizeof *detectors))
        return NULL;
    snprintf(c->name, sizeof c->name, "%s", d->name);
    if (nb_detector_spec_new(d->n, &c->detector, &err)) {
        printf("not ok spots-cruel-panels # %s\n", err.message);
        exit(EXIT_FAILURE);
    }
    for (int k = 0; k < d->n; k++) {
        piece p = {.distance = 100, .pixel = {2, 2}, .size = {14, 14}};
        d->place(k, &p);
        stand(&p, &c->detector.panels[k]);
    }
    light(&c->cfg);
    c->cfg.detector = &c->detector;
    c->finish = d->finish;
    if (d->masked)
        mask(c, &c->detector);
    return d->flags;
}
