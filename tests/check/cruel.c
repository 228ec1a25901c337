/* SPDX-License-Identifier: MIT */
/* Selected cases in which a vector renderer could fail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static void start(check_case *c, const char *name, double cell, int N, int pixels)
{
    int i;
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    nb_config_defaults(&c->cfg);
    c->cfg.cell_count = 6;
    for (i = 0; i < 3; i++) {
        c->cfg.cell[i] = cell;
        c->cfg.cell[3 + i] = 90;
        c->cfg.N[i] = N;
    }
    c->cfg.detpixels[0] = c->cfg.detpixels[1] = pixels;
    c->cfg.pixel_mm = 0.1;
    c->cfg.distance_mm = 100;
    c->cfg.lambda_A = 1;
    c->cfg.oversample = 1;
    c->cfg.convention = NB_CONV_MOSFLM;
    c->cfg.default_F = c->inputs.table.default_F = 100;
}

static void turn(check_case *c, double x, double y, double z)
{
    c->cfg.misset_mode = NB_MISSET_FIXED;
    c->cfg.misset_deg[0] = x;
    c->cfg.misset_deg[1] = y;
    c->cfg.misset_deg[2] = z;
}

static void at_pixel_one(check_case *c) /* the beam hits the middle of pixel (0,0) */
{
    c->cfg.convention = NB_CONV_XDS;
    c->cfg.orgx = c->cfg.orgy = 1;
}

/** Aligned cell, whole indices on pixels, h = k = l = 0 at the first. */
static void whole_indices(check_case *c)
{
    start(c, "whole-indices", 100, 21, 33);
    at_pixel_one(c);
    c->cfg.pixel_mm = 1;
    c->cfg.distance_mm = 80;
}

static void zero_everywhere(check_case *c)
{
    start(c, "zero-index-everywhere", 10, 7, 19);
    at_pixel_one(c);
    c->cfg.pixel_mm = 1e-9;
}

static void zero_with_table(check_case *c)
{
    const int low[3] = {-3, -3, -3}, count[3] = {7, 6, 5};
    check_rng r = {5};
    start(c, "zero-index-table-many-sources", 30, 6, 19);
    at_pixel_one(c);
    c->cfg.pixel_mm = 0.5;
    c->cfg.dispersion_pct = 2;
    c->cfg.dispersion_steps = 5;
    check_fill_table(c, &r, low, count);
}

static void half_indices(check_case *c) /* N 1: the rounding of a half decides which F is used */
{
    const int low[3] = {-9, -9, -9}, count[3] = {19, 19, 19};
    check_rng r = {6};
    start(c, "index-zero-plane-N1-table", 40, 1, 33);
    at_pixel_one(c);
    c->cfg.interpolate = NB_OFF;
    c->cfg.pixel_mm = 2;
    check_fill_table(c, &r, low, count);
}

static void large_index(check_case *c)
{
    start(c, "index-10000", 4000, 5, 24);
    turn(c, 11, 22, 33);
    c->cfg.lambda_A = 0.5;
    c->cfg.pixel_mm = 20;
    c->cfg.distance_mm = 100;
}

static void larger_index(check_case *c)
{
    start(c, "index-beyond-fixed-point", 300000, 3, 17);
    turn(c, 11, 22, 33);
    c->cfg.lambda_A = 0.5;
    c->cfg.pixel_mm = 20;
}

static void too_large_index(check_case *c)
{
    start(c, "index-beyond-32-bits", 1e10, 3, 9);
    turn(c, 11, 22, 33);
    c->cfg.pixel_mm = 20;
}

static void large_index_table(check_case *c)
{
    const int low[3] = {-100, -60, -7}, count[3] = {230, 90, 77};
    check_rng r = {7};
    start(c, "clamped-table", 2000, 4, 21);
    turn(c, 11, 22, 33);
    c->cfg.pixel_mm = 1;
    c->cfg.mosaic_spread_deg = 90;
    c->cfg.mosaic_domains = 40;
    check_fill_table(c, &r, low, count);
}

static void table_out_of_sight(check_case *c)
{
    const int low[3] = {900, 900, 900}, count[3] = {3, 3, 3};
    check_rng r = {8};
    start(c, "table-out-of-sight", 50, 4, 21);
    check_fill_table(c, &r, low, count);
}

static void sized(check_case *c, int N)
{
    char name[32];
    snprintf(name, sizeof name, "N-%d", N);
    start(c, name, 70, N, 47);
    turn(c, 10, 20, 30);
    c->cfg.cell[1] = 80;
    c->cfg.cell[2] = 90;
    c->cfg.dispersion_pct = 1;
    c->cfg.dispersion_steps = 4;
    c->cfg.mosaic_spread_deg = 0.5;
    c->cfg.mosaic_domains = 9;
}
static void N1(check_case *c)
{
    sized(c, 1);
}
static void N2(check_case *c)
{
    sized(c, 2);
}
static void N5(check_case *c)
{
    sized(c, 5);
}
static void N64(check_case *c)
{
    sized(c, 64);
}
static void N1000(check_case *c)
{
    sized(c, 1000);
}
static void N1001(check_case *c)
{
    sized(c, 1001);
}
static void N10000(check_case *c)
{
    sized(c, 10000);
}

/** One step: every digit of the fringes is significant, also between the peaks. */
static void N150(check_case *c)
{
    sized(c, 150);
    snprintf(c->name, sizeof c->name, "one-step-N-150");
    c->cfg.dispersion_steps = c->cfg.mosaic_domains = 0;
    c->cfg.dispersion_pct = c->cfg.mosaic_spread_deg = NAN;
}

static void cells_not_whole(check_case *c)
{
    N150(c);
    snprintf(c->name, sizeof c->name, "one-step-N-99.6");
    c->cfg.N[0] = 99.6;
    c->cfg.N[1] = 1.0000001;
    c->cfg.N[2] = 12.5;
}

static void many_steps_not_whole(check_case *c)
{
    sized(c, 8);
    snprintf(c->name, sizeof c->name, "N-8.37");
    c->cfg.N[0] = 8.37;
    c->cfg.N[1] = 5.5;
    c->cfg.N[2] = 1;
}

static void interpolated(check_case *c)
{
    const int low[3] = {-6, -6, -6}, count[3] = {12, 13, 11};
    check_rng r = {11};
    start(c, "interpolated", 40, 2, 47);
    turn(c, 3, 2, 1);
    c->cfg.interpolate = NB_ON;
    check_fill_table(c, &r, low, count);
}

/** A sharp peak alone: the effect of the fixed point's steps of 2^-32. */
static void sharp_peak(check_case *c)
{
    start(c, "sharp-peak-N1000", 100, 1000, 63);
    at_pixel_one(c);
    c->cfg.pixel_mm = 0.00001;
    c->cfg.orgx = c->cfg.orgy = 32;
}

static void powder(check_case *c)
{
    start(c, "powder", 100, 4, 25);
    c->cfg.pixel_mm = 1.6;
    c->cfg.mosaic_spread_deg = 90;
    c->cfg.mosaic_domains = 500;
}

static void many_sources(check_case *c)
{
    int i, n = NB_PATH_MAX / 2;
    start(c, "512-weighted-sources", 60, 6, 13);
    turn(c, 1, 2, 3);
    c->sources = calloc((size_t)n, sizeof *c->sources);
    for (i = 0; c->sources && i < n; i++) {
        c->sources[i].x = -1;
        c->sources[i].y = 1e-4 * i;
        c->sources[i].intensity = 1 + i % 7;
        c->sources[i].lambda = (1 + 1e-5 * i) * 1e-10;
    }
    c->inputs.sources = c->sources;
    c->inputs.n_sources = c->sources ? n : 0;
    c->cfg.dmin_A = 2;
}

static void all_zero(check_case *c)
{
    start(c, "nothing-scatters", 60, 6, 13);
    c->cfg.default_F = c->inputs.table.default_F = 0;
}

static void water_only(check_case *c)
{
    all_zero(c);
    snprintf(c->name, sizeof c->name, "water-only");
    c->cfg.water_um = 1;
    c->cfg.dispersion_pct = 1;
    c->cfg.dispersion_steps = 3;
}

/** The plainest picture, with as much water as crystal. */
static void crystal_in_water(check_case *c)
{
    start(c, "crystal-in-water", 100, 5, 45);
    turn(c, 3, 5, 7);
    c->cfg.water_um = 10;
    c->cfg.pixel_mm = 1;
    c->cfg.polarization = 0.5;
    c->cfg.polar_set = 1;
}

/** The same with intermediate values that a float cannot hold. */
static void faint(check_case *c)
{
    start(c, "faint", 100, 5, 33);
    turn(c, 3, 5, 7);
    c->cfg.fluence = 1e-3;
}

static void negative_F(check_case *c)
{
    const int low[3] = {-2, -2, -2}, count[3] = {5, 5, 5};
    check_rng r = {9};
    int i;
    start(c, "negative-amplitudes", 40, 3, 31);
    turn(c, 3, 2, 1);
    check_fill_table(c, &r, low, count);
    for (i = 0; i < 125; i++)
        c->F[i] = -c->F[i];
}

/** Factors with a ratio too large for floats: one invisible reflection is `most`, the
 * others are about 100. */
static void one_large(check_case *c, const char *name, double most)
{
    const int low[3] = {-4, -4, -4}, count[3] = {40, 9, 9};
    check_rng r = {12};
    start(c, name, 60, 5, 33);
    turn(c, 3, 5, 7);
    c->cfg.mosaic_spread_deg = 0.5;
    c->cfg.mosaic_domains = 5;
    check_fill_table(c, &r, low, count);
    if (c->F)
        c->F[40 * 9 * 9 - 1] = most; /* h = 35 */
}

static void one_F_of_1e25(check_case *c)
{
    one_large(c, "one-F-of-1e25", 1e25);
}

/** Every reflection is significant, down to 1e-12 of the largest. */
static void one_F_of_1e12(check_case *c)
{
    one_large(c, "one-F-of-1e12", 1e12);
}

static void large_F(check_case *c)
{
    start(c, "F-of-1e25", 100, 5, 21);
    turn(c, 3, 5, 7);
    c->cfg.default_F = c->inputs.table.default_F = 1e25;
    c->cfg.fluence = 1;
    c->cfg.water_um = 1;
}

static void small_F(check_case *c)
{
    start(c, "F-of-1e-25", 100, 5, 21);
    turn(c, 3, 5, 7);
    c->cfg.default_F = c->inputs.table.default_F = 1e-25;
    c->cfg.fluence = 1e75;
}

/** (N^3)^2 is beyond a float. */
static void many_cells(check_case *c)
{
    start(c, "N-10000000", 1, 10000000, 21);
    c->cfg.lambda_A = 5000;
    c->cfg.fluence = 1e10;
}

static void one_pixel(check_case *c)
{
    start(c, "one-pixel", 100, 5, 1);
    turn(c, 3, 2, 1);
}

static void one_row(check_case *c)
{
    start(c, "one-row", 100, 5, 1);
    c->cfg.detpixels[0] = 1003;
    turn(c, 3, 2, 1);
}

static void one_column(check_case *c)
{
    start(c, "one-column", 100, 5, 1);
    c->cfg.detpixels[1] = 101;
    turn(c, 3, 2, 1);
}

static void many_lines(check_case *c)
{
    start(c, "70-layer-lines", 100, 5, 11);
    c->cfg.oversample = 5;
    c->cfg.thick_um = 300;
    c->cfg.abs_um = 200;
    c->cfg.thick_steps = 14;
}

static void many_lines_at_the_front(check_case *c)
{
    many_lines(c);
    snprintf(c->name, sizeof c->name, "70-layer-lines-at-the-front");
    c->cfg.layer_depth = NB_LAYER_FRONT;
}

/** Layers that stop almost no photons: the series of the mean depth. */
static void thin_layers(check_case *c)
{
    start(c, "thin-layers", 100, 5, 45);
    turn(c, 3, 5, 7);
    c->cfg.thick_um = 500;
    c->cfg.abs_um = 1e8;
    c->cfg.thick_steps = 3;
}

static void round_centre(check_case *c)
{
    start(c, "round-centre", 100, 12, 31);
    at_pixel_one(c);
    c->cfg.shape = NB_SHAPE_ROUND;
    c->cfg.pixel_mm = 1e-7;
}

static void wide_angle(check_case *c)
{
    const int low[3] = {-30, -30, -30}, count[3] = {61, 61, 61};
    check_rng r = {10};
    start(c, "89-degrees", 30, 4, 31);
    turn(c, 3, 2, 1);
    c->cfg.pixel_mm = 300;
    c->cfg.distance_mm = 10;
    check_fill_table(c, &r, low, count);
}

/** Layers of thousands of attenuation lengths along the ray. */
static void grazing_layers(check_case *c)
{
    start(c, "89-degrees-layers", 100, 4, 31);
    turn(c, 3, 2, 1);
    c->cfg.pixel_mm = 300;
    c->cfg.distance_mm = 10;
    c->cfg.thick_um = 3000;
    c->cfg.abs_um = 30;
    c->cfg.thick_steps = 2;
}

/** A normal that is not across the rows. */
static void skew_layers(check_case *c)
{
    start(c, "skew-normal-layers", 100, 5, 41);
    turn(c, 3, 2, 1);
    c->cfg.convention = NB_CONV_CUSTOM;
    c->cfg.odet_vector = (nb_opt3){1, {0.8, 0, 0.6}};
    c->cfg.pixel_mm = 2;
    c->cfg.thick_um = 900;
    c->cfg.abs_um = 300;
    c->cfg.thick_steps = 3;
}

/** A detector curved over a quarter of the sphere, and the area of its pixels. */
static void bent_detector(check_case *c)
{
    start(c, "curved-to-90-degrees", 100, 4, 41);
    turn(c, 3, 2, 1);
    c->cfg.curved = 1;
    c->cfg.curved_omega = NB_OMEGA_EXACT;
    c->cfg.oversample_omega = 1;
    c->cfg.oversample = 2;
    c->cfg.pixel_mm = 7.66;
    c->cfg.thick_um = 900;
    c->cfg.abs_um = 300;
    c->cfg.thick_steps = 3;
}

int check_cruel_case(check_case *c, int i)
{
    static void (*const cases[])(check_case *) = {whole_indices,
                                                  zero_everywhere,
                                                  zero_with_table,
                                                  half_indices,
                                                  large_index,
                                                  larger_index,
                                                  too_large_index,
                                                  large_index_table,
                                                  table_out_of_sight,
                                                  N1,
                                                  N2,
                                                  N5,
                                                  N64,
                                                  N1000,
                                                  N1001,
                                                  N10000,
                                                  N150,
                                                  cells_not_whole,
                                                  many_steps_not_whole,
                                                  interpolated,
                                                  sharp_peak,
                                                  powder,
                                                  many_sources,
                                                  all_zero,
                                                  water_only,
                                                  crystal_in_water,
                                                  faint,
                                                  negative_F,
                                                  one_F_of_1e25,
                                                  one_F_of_1e12,
                                                  large_F,
                                                  small_F,
                                                  many_cells,
                                                  one_pixel,
                                                  one_row,
                                                  one_column,
                                                  many_lines,
                                                  many_lines_at_the_front,
                                                  thin_layers,
                                                  round_centre,
                                                  wide_angle,
                                                  grazing_layers,
                                                  skew_layers,
                                                  bent_detector};
    if (i < 0 || i >= (int)(sizeof cases / sizeof cases[0]))
        return 0;
    cases[i](c);
    return 1;
}
