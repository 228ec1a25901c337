/* SPDX-License-Identifier: MIT */
#include "spot_grid.h"

#include <stdlib.h>

#include "grid.h"

static void draw(const check_grid *g, const nb_spot_pass *p, const nb_spot_box *box)
{
    nb_spot_brush brush = nb_spot_brush_of(p, box);
    const nb_spot_frame frame = nb_spot_frame_of(p, box);
    for (int v = 0; v < box->height; v++)
        for (int u = 0; u < box->width; u++) {
            const unsigned long long add =
                nb_spot_units(p, p->plain, &brush, box, &frame, p->spots.law, u, v);
            const size_t pixel = nb_spot_pixel(&brush);
            if (add == 0)
                continue;
            g->sums[pixel] += add;
            g->marks[pixel / NB_SPOT_MARK] = 1;
        }
}

/** Adds a possible reflection's light (nb_spot_sight) for a layer and an nb_spot_run. */
static void light(const check_grid *g, const nb_spot_pass *p, const nb_spot_sight *sight,
                  int run, int layer)
{
    nb_spot_box box;
    for (int m = sight->first; m < sight->end; m++) {
        if (!nb_spot_light(p, sight, m, run, layer, &box))
            continue;
        nb_spot_fit(p, &box);
        if (box.width > 0)
            draw(g, p, &box);
    }
}

static void run_item(const check_grid *g, const nb_spot_pass *p, int64_t i)
{
    nb_spot_item item;
    nb_spot_sight sight;
    if (!nb_spot_item_of(p, i, &item))
        return;
    for (int64_t k = 0; k < item.candidates; k++)
        if (nb_spot_sight_of(p, &item, k, &sight))
            for (int j = 0; j < p->spots.n_runs * p->layers; j++)
                light(g, p, &sight, j % p->spots.n_runs, j / p->spots.n_runs);
}

check_grid check_grid_new(const nb_scene *sc, float *image)
{
    const size_t pixels = sc->raster.pixels;
    return (check_grid){image, calloc(pixels, sizeof(unsigned long long)),
                        calloc(pixels / NB_SPOT_MARK + 1, 1), 0};
}

void check_grid_free(check_grid *g)
{
    free(g->sums);
    free(g->marks);
}

void check_grid_finish(check_grid *g, const nb_spot_pass *pass, double *brightest)
{
    const size_t pixels = pass->scene.raster.pixels;
    for (size_t i = 0; i < pixels; i++) {
        const int marked = g->marks[i / NB_SPOT_MARK];
        const double photons = marked ? nb_spot_photons(pass, i, g->sums[i]) : 0;
        g->sums[i] = 0;
        if (brightest && photons > *brightest) {
            *brightest = photons;
            g->brightest = i;
        }
        if (!brightest)
            g->image[i] = (float)photons;
        if (i % NB_SPOT_MARK == NB_SPOT_MARK - 1 || i == pixels - 1)
            g->marks[i / NB_SPOT_MARK] = 0;
    }
}

nb_status check_grid_run(void *context, const nb_spot_pass *pass, double *brightest,
                         nb_error *err)
{
    check_grid *g = context;
    (void)err;
    for (int64_t i = 0; i < nb_spot_items(pass); i++)
        run_item(g, pass, i);
    check_grid_finish(g, pass, brightest);
    return NB_OK;
}

nb_status check_grid_render(const nb_plan *plan, float *image, nb_spots_result *result,
                            nb_error *err)
{
    check_grid g = check_grid_new(plan->scene, image);
    nb_scene unmasked = *plan->scene;
    nb_plan of = *plan;
    nb_spot_setup setup;
    nb_status st;
    unmasked.raster.mask = NULL;
    of.scene = &unmasked;
    st = nb_spot_setup_build(&of, &setup, err);
    if (!st && g.sums && g.marks) {
        setup.pass.mask = plan->scene->raster.mask;
        st = nb_spot_setup_render(&setup, check_grid_run, &g, result, err);
        nb_spot_setup_free(&setup);
    }
    check_grid_free(&g);
    return st;
}
