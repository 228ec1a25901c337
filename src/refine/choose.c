/* SPDX-License-Identifier: MIT */
/* Which pixels a stage uses. */
#include <math.h>
#include <string.h>

#include "../sim/footprint.h"
#include "../sim/sim.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "fit.h"

#define SAMPLE 0.05 /* of the pixels outside of spots */
#define BRIGHT_SIGMA 6

/** A number from 0 to 1 that depends on the pixel alone (SplitMix64). */
static double draw(uint64_t pixel)
{
    uint64_t z = (pixel + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

enum {
    SQUARES = 5000, /* in a picture, about */
    WIDEST = 16     /* pixels along their edge */
};

/** The edge of the squares that the sample outside of spots consists of: single pixels, but where a footprint brings light from
 * around them, which has to be rendered. */
static int sample_edge(const nb_fit *fit)
{
    const int edge = (int)sqrt((double)fit->pixels / SQUARES);
    if (!nb_sim_has_footprint(fit->sim) && !fit->squares)
        return 1;
    return edge < 1 ? 1 : edge > WIDEST ? WIDEST : edge;
}

/** Is pixel f of row s of a panel in the sample? */
static int is_sampled(const nb_panel *panel, int f, int s, int edge)
{
    return draw(nb_panel_pixel(panel, f / edge, s / edge)) < SAMPLE;
}

/** Spots and the sample. */
static void choose(nb_fit *fit)
{
    const nb_scene *sc = &fit->sim->model.scene;
    const int edge = sample_edge(fit);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        size_t i = panel->first_pixel;
        for (int s = 0; s < panel->rows; s++)
            for (int f = 0; f < panel->columns; f++, i++)
                fit->chosen[i] =
                    fit->o->select_all || fit->spots[i] || is_sampled(panel, f, s, edge)
                        ? fit->photons[i]
                        : NAN;
    }
}

static void count(nb_fit *fit)
{
    fit->used = 0;
    for (size_t i = 0; i < fit->pixels; i++)
        fit->used += !isnan(fit->chosen[i]);
}

void nb_fit_choose_range(nb_fit *fit, double high)
{
    for (size_t i = 0; i < fit->pixels; i++)
        fit->chosen[i] = fit->stol[i] <= high ? fit->photons[i] : NAN;
    count(fit);
}

int64_t nb_fit_bright(const nb_fit *fit, const nb_radial *background, double high)
{
    int64_t n = 0;
    for (size_t i = 0; i < fit->pixels; i++)
        if (fit->stol[i] <= high && !isnan(fit->photons[i])) {
            double b = nb_radial_at(background, fit->stol[i]);
            n += fit->photons[i] >
                 b + BRIGHT_SIGMA * sqrt(b + fit->sigma * fit->sigma) + 1;
        }
    return n;
}

/** The background of each pixel where no crystal is: level[pixels]. */
static nb_status levels(nb_fit *fit, float *level, nb_error *err)
{
    static const char *const water[] = {"water"};
    const nb_config *cfg = nb_sim_config(fit->sim);
    nb_radial rough = fit->radial;
    nb_status st = NB_OK;
    memset(level, 0, fit->pixels * sizeof *level);
    if (fit->kind == NB_BACKGROUND_WATER && cfg->water_um > 0) {
        /* the water's photons are as its thickness cubed */
        st = nb_sim_derivatives(fit->sim, water, 1, NB_REAL_FLOAT32, level, NULL, err);
        for (size_t i = 0; i < fit->pixels && !st; i++)
            level[i] *= (float)(cfg->water_um / 3);
        return st;
    }
    if (fit->kind == NB_BACKGROUND_PLANES)
        st = nb_radial_estimate(fit, fit->high, fit->o->knots, &rough, err);
    for (size_t i = 0; i < fit->pixels && !st && rough.n; i++)
        level[i] = (float)nb_radial_at(&rough, fit->stol[i]);
    return st;
}

/** Mark the box about a pixel. */
static void mark(uint8_t *spots, const nb_panel *panel, int f, int s, int half)
{
    int f0 = f > half ? f - half : 0, s0 = s > half ? s - half : 0;
    int f1 = f + half < panel->columns ? f + half : panel->columns - 1;
    int s1 = s + half < panel->rows ? s + half : panel->rows - 1;
    for (int y = s0; y <= s1; y++)
        memset(spots + nb_panel_pixel(panel, f0, y), 1, (size_t)(f1 - f0 + 1));
}

/** Mark boxes where picture or model stands above the level. */
static void mark_spots(const nb_fit *fit, const float *level)
{
    const nb_scene *sc = &fit->sim->model.scene;
    int water = fit->kind == NB_BACKGROUND_WATER;
    memset(fit->spots, 0, fit->pixels);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        size_t at = panel->first_pixel;
        for (int s = 0; s < panel->rows; s++)
            for (int f = 0; f < panel->columns; f++, at++) {
                double b = level[at], model = fit->expected[at] + (water ? 0 : b);
                double limit =
                    b + fit->o->spot_sigma * sqrt(b + fit->sigma * fit->sigma) + 1;
                if (!isnan(fit->photons[at]) && (fit->photons[at] > limit || model > limit))
                    mark(fit->spots, panel, f, s, fit->o->spot_half);
            }
    }
}

nb_status nb_fit_choose_spots(nb_fit *fit, nb_error *err)
{
    float *level = nb_alloc_raw(fit->pixels, sizeof *level, "levels", err);
    nb_status st = level ? NB_OK : NB_ERR_NOMEM;
    if (!st)
        st = nb_fit_image(fit, fit->photons, err);
    if (!st)
        st = levels(fit, level, err);
    if (!st)
        mark_spots(fit, level);
    if (!st)
        choose(fit);
    if (!st && fit->kind == NB_BACKGROUND_PLANES) {
        memcpy(fit->background, level, fit->pixels * sizeof *level);
        st = nb_fit_planes(fit, fit->spots, err);
    }
    if (!st)
        count(fit);
    nb_free(level);
    return st;
}

nb_observation nb_fit_observation(const nb_fit *fit)
{
    return (nb_observation){.photons = fit->chosen,
                            .likelihood = fit->o->likelihood,
                            .sigma = fit->sigma,
                            .background = fit->background,
                            .n_knots = fit->radial.n,
                            .knots = fit->radial.knot,
                            .values = fit->radial.level};
}
