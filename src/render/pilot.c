/* SPDX-License-Identifier: MIT */
#include "pilot.h"

#include <math.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "request.h"
#include "rows.h"

#define STRIP_SECONDS 0.004 /* of the larger strip */

/** The panel in the middle of the region of interest. */
static const nb_panel *middle_panel(const nb_scene *sc)
{
    const nb_region *roi = &sc->raster.roi;
    return &sc->panels[nb_panel_of_row(sc, (roi->smin + roi->smax) / 2)];
}

/** The scene of `rows` rows from the middle of that panel's region: a shorter panel. */
static nb_scene strip_of(const nb_scene *scene, int rows, nb_panel *panel)
{
    nb_scene strip = *scene;
    nb_raster *raster = &strip.raster;
    const nb_panel *from = middle_panel(scene);
    nb_region region = nb_panel_region(scene, from);
    int first = (region.smin + region.smax + 1 - rows) / 2;
    first = first > region.smin ? first : region.smin;
    *panel = *from;
    panel->pix0 = nb_add(panel->pix0, nb_scale(first * panel->pixel_slow, panel->slow));
    panel->Sbeam -= first * panel->pixel_slow;
    panel->rows = rows;
    panel->first_row = 0;
    panel->first_pixel = 0;
    if (raster->mask)
        raster->mask += from->first_pixel + (size_t)first * (size_t)from->columns;
    raster->columns = panel->columns;
    raster->rows = rows;
    raster->pixels = (size_t)rows * (size_t)panel->columns;
    raster->roi = (nb_region){region.fmin, region.fmax, 0, rows - 1};
    strip.panels = panel;
    strip.n_panels = 1;
    return strip;
}

/** Seconds of one rendering of so many rows; < 0: it failed. */
static double time_strip(const nb_backend *backend, nb_backend_state *state,
                         nb_precision precision, const nb_scene *scene, int rows,
                         float *image)
{
    nb_panel panel;
    nb_scene strip = strip_of(scene, rows, &panel);
    double start = nb_monotonic_seconds();
    nb_error err;
    if (nb_render_scene(backend, state, &strip, precision, image, &err) != NB_OK)
        return -1;
    return nb_monotonic_seconds() - start;
}

/** Rows in multiples of the threads, so that none of them waits. */
static int rows_for(double seconds, double row_seconds, int threads, int most)
{
    double rounds = fmax(ceil(seconds / row_seconds / threads), 1);
    double rows = fmin(rounds * threads, most);
    return (int)rows;
}

static double extrapolate(const nb_backend *backend, nb_backend_state *state,
                          nb_precision precision, const nb_scene *scene,
                          const int strips[2], float *image)
{
    int height = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    double small, large, row;
    if (time_strip(backend, state, precision, scene, strips[0], image) <
        0) /* wakes the threads */
        return -1;
    small = time_strip(backend, state, precision, scene, strips[0], image);
    large = time_strip(backend, state, precision, scene, strips[1], image);
    if (small < 0 || large < 0)
        return -1;
    row = strips[1] > strips[0] ? (large - small) / (strips[1] - strips[0]) : 0;
    if (!(row > 0))
        row = large / strips[1];
    return large + row * (height - strips[1]);
}

double nb_pilot_seconds(const nb_backend *backend, const nb_scene *scene,
                        const nb_render_options *options, double expected)
{
    int height = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    nb_region middle = nb_panel_region(scene, middle_panel(scene));
    int most = middle.smax - middle.smin + 1;
    int threads = nb_thread_count(options->threads);
    nb_render_options quiet = *options;
    nb_backend_state *state = NULL;
    double seconds = -1, row = fmax(expected, 1e-6) / height;
    int strips[2] = {rows_for(STRIP_SECONDS / 4, row, threads, most),
                     rows_for(STRIP_SECONDS, row, threads, most)};
    nb_error err;
    float *image;
    quiet.hooks = (nb_hooks){0};
    image = nb_alloc((size_t)strips[1] * (size_t)scene->raster.columns, sizeof *image,
                     "pilot rows", &err);
    if (image && backend->open(&quiet, &state, &err) == NB_OK)
        seconds = extrapolate(backend, state, options->precision, scene, strips, image);
    backend->close(state);
    nb_free(image);
    return seconds;
}
