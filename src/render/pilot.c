/* SPDX-License-Identifier: MIT */
#include "pilot.h"

#include <math.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "request.h"
#include "rows.h"

#define STRIP_SECONDS 0.004 /* of the larger strip */
enum {
    LEAST_COLUMNS = 32, /* of a strip */
    TURNS = 2           /* the least time of so many counts */
};

typedef struct strip {
    int rows, columns;
} strip;

/** The panel in the middle of the region of interest. */
static const nb_panel *middle_panel(const nb_scene *sc)
{
    const nb_region *roi = &sc->raster.roi;
    return &sc->panels[nb_panel_of_row(sc, (roi->smin + roi->smax) / 2)];
}

/** The scene of some rows from the middle of that panel's region, and of columns between its edge and its middle:
 * a shorter panel. */
static nb_scene scene_of(const nb_scene *scene, strip size, nb_panel *panel)
{
    nb_scene part = *scene;
    nb_raster *raster = &part.raster;
    const nb_panel *from = middle_panel(scene);
    nb_region region = nb_panel_region(scene, from);
    int first = (region.smin + region.smax + 1 - size.rows) / 2;
    int left = region.fmin + (region.fmax - region.fmin + 1 - size.columns) / 4;
    first = first > region.smin ? first : region.smin;
    *panel = *from;
    panel->pix0 = nb_add(panel->pix0, nb_scale(first * panel->pixel_slow, panel->slow));
    panel->Sbeam -= first * panel->pixel_slow;
    panel->rows = size.rows;
    panel->first_row = 0;
    panel->first_pixel = 0;
    if (raster->mask)
        raster->mask += from->first_pixel + (size_t)first * (size_t)from->columns;
    raster->columns = panel->columns;
    raster->rows = size.rows;
    raster->pixels = (size_t)size.rows * (size_t)panel->columns;
    raster->roi = (nb_region){left, left + size.columns - 1, 0, size.rows - 1};
    part.panels = panel;
    part.n_panels = 1;
    return part;
}

/** Seconds of a strip; < 0: it failed. */
static double time_strip(const nb_backend *backend, nb_backend_state *state,
                         nb_precision precision, const nb_scene *scene, strip size,
                         float *image)
{
    nb_panel panel;
    nb_scene part = scene_of(scene, size, &panel);
    double least = INFINITY;
    nb_error err;
    for (int turn = 0; turn < TURNS; turn++) {
        double start = nb_monotonic_seconds();
        if (nb_render_scene(backend, state, &part, precision, image, &err) != NB_OK)
            return -1;
        least = fmin(least, nb_monotonic_seconds() - start);
    }
    return least;
}

/** A strip of about so many seconds: rows in multiples of the threads, so that none of them waits, and fewer
 * columns where one row a thread takes longer. */
static strip strip_for(double seconds, double row_seconds, int threads, strip most)
{
    double rounds = fmax(ceil(seconds / row_seconds / threads), 1);
    double rows = fmin(rounds * threads, most.rows);
    double part = fmin(seconds / (rows * row_seconds), 1);
    double columns = rounds > 1 ? most.columns : fmax(part * most.columns, LEAST_COLUMNS);
    return (strip){(int)rows, (int)fmin(columns, most.columns)};
}

static double extrapolate(const nb_backend *backend, nb_backend_state *state,
                          nb_precision precision, const nb_scene *scene,
                          const strip strips[2], float *image)
{
    const nb_region *roi = &scene->raster.roi;
    const double all = (roi->smax - roi->smin + 1.0) * (roi->fmax - roi->fmin + 1.0);
    double small, large, pixel, pixels[2];
    if (time_strip(backend, state, precision, scene, strips[0], image) <
        0) /* wakes the threads */
        return -1;
    small = time_strip(backend, state, precision, scene, strips[0], image);
    large = time_strip(backend, state, precision, scene, strips[1], image);
    if (small < 0 || large < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        pixels[i] = (double)strips[i].rows * strips[i].columns;
    pixel = pixels[1] > pixels[0] ? (large - small) / (pixels[1] - pixels[0]) : 0;
    if (!(pixel > 0))
        pixel = large / pixels[1];
    return large + pixel * (all - pixels[1]);
}

double nb_pilot_seconds(const nb_backend *backend, const nb_scene *scene,
                        const nb_render_options *options, double expected)
{
    int height = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    nb_region middle = nb_panel_region(scene, middle_panel(scene));
    const strip most = {middle.smax - middle.smin + 1, middle.fmax - middle.fmin + 1};
    int threads = nb_thread_count(options->threads);
    nb_render_options quiet = *options;
    nb_backend_state *state = NULL;
    double seconds = -1, row = fmax(expected, 1e-6) / height;
    strip strips[2] = {strip_for(STRIP_SECONDS / 4, row, threads, most),
                       strip_for(STRIP_SECONDS, row, threads, most)};
    nb_error err;
    float *image;
    quiet.hooks = (nb_hooks){0};
    image = nb_alloc((size_t)strips[1].rows * (size_t)scene->raster.columns,
                     sizeof *image, "pilot rows", &err);
    if (image && backend->open(&quiet, &state, &err) == NB_OK)
        seconds = extrapolate(backend, state, options->precision, scene, strips, image);
    backend->close(state);
    nb_free(image);
    return seconds;
}
