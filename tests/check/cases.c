/* SPDX-License-Identifier: MIT */
#include "cases.h"
#include "physics/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(check_rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double check_uniform(check_rng *r, double low, double high)
{
    return low + (high - low) * (double)(next(r) >> 11) * 0x1p-53;
}

int check_below(check_rng *r, int n)
{
    return (int)(next(r) % (uint64_t)n);
}

static int chance(check_rng *r, int percent)
{
    return check_below(r, 100) < percent;
}

static int between(check_rng *r, int low, int high)
{
    return low + check_below(r, high - low + 1);
}

static double log_uniform(check_rng *r, double low, double high)
{
    return exp(check_uniform(r, log(low), log(high)));
}

static void crystal(nb_config *cfg, check_rng *r)
{
    static const double sizes[] = {1,  1,  2,    3,  4,  5,   6,   8,
                                   10, 12, 20.6, 21, 50, 100, 300, 1000};
    int i, triclinic = chance(r, 60), same = chance(r, 60);
    double a = log_uniform(r, 15, 250);
    cfg->cell_count = 6;
    for (i = 0; i < 3; i++) {
        cfg->cell[i] = chance(r, 70) ? a * check_uniform(r, 0.7, 1.4) : a;
        cfg->cell[3 + i] = triclinic ? check_uniform(r, 75, 105) : 90;
        cfg->N[i] = same && i ? cfg->N[0] : sizes[check_below(r, 16)];
    }
    cfg->shape =
        chance(r, 60) ? NB_SHAPE_SQUARE : (nb_shape)check_below(r, NB_SHAPE_COUNT);
    if (nb_shape_is_scaled((int)cfg->shape)) /* a small N keeps tails in the image */
        for (i = 0; i < 3; i++)
            cfg->N[i] = cfg->N[i] > 20 ? 20 : cfg->N[i];
    cfg->fudge = chance(r, 30) ? check_uniform(r, 0.5, 2) : 1;
    if (chance(r, 80)) {
        cfg->misset_mode = NB_MISSET_FIXED;
        for (i = 0; i < 3; i++)
            cfg->misset_deg[i] = check_uniform(r, -180, 180);
    }
    if (chance(r, 40)) {
        cfg->mosaic_spread_deg = chance(r, 20) ? 90 : log_uniform(r, 0.01, 5);
        cfg->mosaic_domains = between(r, 1, 70);
        cfg->mosaic_seed.set = 1;
        cfg->mosaic_seed.value = between(r, 1, 1000000);
    }
    if (chance(r, 30)) {
        cfg->phi_deg = check_uniform(r, -180, 180);
        cfg->osc_deg = log_uniform(r, 0.01, 90);
        cfg->phi_steps = between(r, 1, 12);
    }
    cfg->compat = chance(r, 15);
    cfg->interpolate = (nb_tristate)(check_below(r, 3) - 1);
}

static void beam(check_case *c, check_rng *r)
{
    nb_config *cfg = &c->cfg;
    cfg->lambda_A = log_uniform(r, 0.4, 7);
    if (chance(r, 30)) {
        cfg->hdiv_range_mrad = log_uniform(r, 0.1, 30);
        cfg->hdiv_steps = between(r, 1, 5);
    }
    if (chance(r, 30)) {
        cfg->vdiv_range_mrad = log_uniform(r, 0.1, 30);
        cfg->vdiv_steps = between(r, 1, 5);
    }
    cfg->square_div = chance(r, 50);
    if (chance(r, 40)) {
        cfg->dispersion_pct = log_uniform(r, 0.01, 10);
        cfg->dispersion_steps = between(r, 2, 40);
    }
    if (chance(r, 20)) {
        int i, n = chance(r, 10) ? 300 : between(r, 1, 9);
        c->sources = calloc((size_t)n, sizeof *c->sources);
        for (i = 0; c->sources && i < n; i++) {
            nb_source_line *s = &c->sources[i];
            s->x = -10;
            s->y = check_uniform(r, -0.2, 0.2);
            s->z = check_uniform(r, -0.2, 0.2);
            s->intensity = i && chance(r, 10) ? 0 : check_uniform(r, 0.1, 3);
            s->lambda = cfg->lambda_A * check_uniform(r, 0.97, 1.03) * 1e-10;
        }
        c->inputs.sources = c->sources;
        c->inputs.n_sources = n;
    }
    cfg->polarization = chance(r, 50) ? check_uniform(r, -1, 1) : 0;
    cfg->polar_set = 1;
    cfg->nopolar = chance(r, 15);
    cfg->fluence = chance(r, 20) ? log_uniform(r, 1e20, 1e32) : NAN;
}

static void detector(nb_config *cfg, check_rng *r)
{
    double size;
    int i;
    cfg->convention = (nb_convention)between(r, NB_CONV_MOSFLM, NB_CONV_DIALS);
    cfg->detpixels[0] = between(r, 1, 61);
    cfg->detpixels[1] = between(r, 1, 37);
    cfg->pixel_mm = log_uniform(r, 0.02, 3);
    size = cfg->pixel_mm * cfg->detpixels[0];
    if (chance(r, 50))
        cfg->distance_mm = size * log_uniform(r, 0.3, 30);
    else
        cfg->close_distance_mm = size * log_uniform(r, 0.3, 30);
    if (chance(r, 50)) {
        cfg->Xbeam_mm = size * check_uniform(r, -0.5, 1.5);
        cfg->Ybeam_mm = size * check_uniform(r, -0.5, 1.5);
    } else if (chance(r, 50)) {
        cfg->orgx = cfg->detpixels[0] * check_uniform(r, -0.5, 1.5);
        cfg->orgy = cfg->detpixels[1] * check_uniform(r, -0.5, 1.5);
    }
    for (i = 0; i < 3; i++)
        if (chance(r, 30))
            cfg->rot_deg[i] = check_uniform(r, -40, 40);
    if (chance(r, 30))
        cfg->twotheta_deg = check_uniform(r, -60, 60);
    cfg->pivot = (nb_pivot)check_below(r, 3);
    cfg->curved = chance(r, 15);
    cfg->point_pixel = chance(r, 15);
    if (chance(r, 25)) {
        cfg->thick_um = log_uniform(r, 1, 1000);
        cfg->abs_um = chance(r, 80) ? log_uniform(r, 10, 10000) : NAN;
        cfg->thick_steps = between(r, 0, 5);
    }
    cfg->oversample = chance(r, 60) ? 1 : between(r, 1, 4);
    cfg->oversample_thick = chance(r, 20);
    cfg->oversample_polar = chance(r, 25);
    cfg->oversample_omega = chance(r, 25);
}

static void region(check_case *c, check_rng *r)
{
    nb_config *cfg = &c->cfg;
    int f = cfg->detpixels[0], s = cfg->detpixels[1], i;
    if (chance(r, 25)) {
        cfg->roi_set = 1;
        cfg->roi[0] = check_below(r, f);
        cfg->roi[1] = between(r, cfg->roi[0], f - 1);
        cfg->roi[2] = check_below(r, s);
        cfg->roi[3] = between(r, cfg->roi[2], s - 1);
    }
    if (chance(r, 20) && (c->mask = malloc((size_t)f * s))) {
        int dark = chance(r, 50) ? 50 : 95;
        for (i = 0; i < f * s; i++)
            c->mask[i] = !chance(r, dark);
        c->inputs.mask = c->mask;
    }
}

void check_fill_table(check_case *c, check_rng *r, const int low[3], const int count[3])
{
    size_t n = (size_t)count[0] * count[1] * count[2], i;
    nb_factor_table *sf = &c->inputs.table;
    c->F = malloc(n * sizeof *c->F);
    if (!c->F)
        return;
    for (i = 0; i < n; i++)
        c->F[i] = check_below(r, 8) ? check_uniform(r, 0, 200) : 0;
    sf->hmin = low[0];
    sf->kmin = low[1];
    sf->lmin = low[2];
    sf->nh = count[0];
    sf->nk = count[1];
    sf->nl = count[2];
    sf->F = c->F;
}

static void structure_factors(check_case *c, check_rng *r)
{
    int low[3], count[3], i, wide = chance(r, 40);
    c->cfg.default_F = chance(r, 15) ? 0 : log_uniform(r, 0.1, 1000);
    c->inputs.table.default_F = c->cfg.default_F;
    if (!chance(r, 55))
        return;
    for (i = 0; i < 3; i++) {
        int reach = wide ? between(r, 20, 60) : between(r, 0, 12);
        low[i] = -reach + between(r, -3, 3);
        count[i] = between(r, 1, 2 * reach + 1);
    }
    check_fill_table(c, r, low, count);
    if (chance(r, 10))
        for (i = 0; i < count[0] * count[1] * count[2]; i++)
            c->F[i] = c->cfg.default_F;
}

/** Counts the sources of the beam of a case; 0 if the case is not valid. */
static int count_sources(const check_case *c)
{
    nb_geometry g;
    nb_source *sources = NULL;
    nb_error err;
    int n = 0;
    if (c->inputs.sources)
        return c->inputs.n_sources;
    if (nb_geometry_build(NB_RESOLVED(&c->cfg), &g, &err) != NB_OK ||
        nb_beam_grid(NB_RESOLVED(&c->cfg), &g, NULL, &sources, &n, &err) != NB_OK)
        return 0;
    nb_free(sources);
    return n;
}

/** Adds tables of F for the same h k l as the first table; each source gets a table. */
static void tables_of_sources(check_case *c, check_rng *r)
{
    nb_factor_table *sf = &c->inputs.table;
    const size_t voxels = (size_t)sf->nh * (size_t)sf->nk * (size_t)sf->nl;
    int n = between(r, 2, 20), sources = count_sources(c), i;
    double *F;
    size_t k;
    if (!voxels || !sources || !(F = realloc(c->F, (size_t)n * voxels * sizeof *F)))
        return;
    for (k = voxels; k < (size_t)n * voxels; k++)
        F[k] = check_below(r, 8) ? check_uniform(r, 0, 200) : 0;
    sf->F = c->F = F;
    c->table_of_source = malloc((size_t)sources * sizeof *c->table_of_source);
    if (!c->table_of_source)
        return;
    for (i = 0; i < sources; i++)
        c->table_of_source[i] = check_below(r, n);
    sf->n_tables = n;
    c->inputs.table_of_source = c->table_of_source;
    c->inputs.n_of_source = sources;
}

/** A crystal that changes along its frame. */
typedef struct check_scan {
    nb_scan_points points;
    double A[9], change[3][9], setting[3][9];
} check_scan;

/** Matrix of a small random rotation, up to about `part` rad about each axis. */
static void small_turn(check_rng *r, double part, double m[9])
{
    const nb_vec3 v = nb_v3(check_uniform(r, -part, part), check_uniform(r, -part, part),
                            check_uniform(r, -part, part) + 1e-12);
    for (int j = 0; j < 3; j++) {
        nb_vec3 e = nb_rotate_about(nb_v3(j == 0, j == 1, j == 2), nb_unit(v), nb_norm(v));
        m[j] = e.x;
        m[3 + j] = e.y;
        m[6 + j] = e.z;
    }
}

void check_vary(check_case *c, check_rng *r, double part)
{
    const nb_settings *all = NB_RESOLVED(&c->cfg);
    const nb_crystal_inputs in = {NULL, 1, 1};
    nb_crystal x;
    nb_config *cfg = &c->cfg;
    check_scan *s = calloc(1, sizeof *s);
    if (!s || nb_crystal_build(all, &in, NULL, &x, NULL)) {
        free(s);
        return;
    }
    const nb_vec3 star[3] = {x.astar, x.bstar, x.cstar};
    for (int j = 0; j < 3; j++) {
        s->A[j] = star[j].x;
        s->A[3 + j] = star[j].y;
        s->A[6 + j] = star[j].z;
    }
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 9; i++)
            s->change[k][i] = (i % 4 == 0) + check_uniform(r, -part, part);
        small_turn(r, part, s->setting[k]);
    }
    s->points = (nb_scan_points){.n = 3, .change = s->change, .setting = s->setting};
    cfg->cell_count = 0;
    cfg->misset_mode = NB_MISSET_NONE;
    c->scan = s;
    c->inputs.matrix = s->A;
    c->inputs.matrix_lambda_A = 1;
    c->inputs.scan = &s->points;
}

void check_random_case(check_case *c, uint64_t seed, int index)
{
    check_rng r = {seed * 0x100000001b3u + (uint64_t)index * 0x9e3779b97f4a7c15u + 1};
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "random-%d", index);
    nb_config_defaults(&c->cfg);
    c->steps_limit = 3e5;
    crystal(&c->cfg, &r);
    beam(c, &r);
    detector(&c->cfg, &r);
    region(c, &r);
    structure_factors(c, &r);
    if (chance(&r, 15))
        c->cfg.water_um = log_uniform(&r, 0.001, 0.1);
    if (chance(&r, 15))
        c->cfg.dmin_A = log_uniform(&r, 0.5, 20);
    c->cfg.layer_depth = (nb_layer_depth)check_below(&r, 3);
    c->cfg.curved_omega = (nb_curved_omega)check_below(&r, 3);
    if (chance(&r, 40))
        tables_of_sources(c, &r);
    if (index % 5 == 2)
        check_vary(c, &r, log_uniform(&r, 1e-7, 0.02));
}

void check_free_case(check_case *c)
{
    free(c->F);
    free(c->sources);
    free(c->table_of_source);
    free(c->mask);
    free(c->scan);
    nb_detector_spec_free(&c->detector);
    memset(c, 0, sizeof *c);
}
