/* SPDX-License-Identifier: MIT */
#include "pilot.h"

#include <math.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "request.h"
#include "rows.h"

enum { LEAST_COLUMNS = 32 /* of a strip */ };

typedef struct strip {
    int rows, columns;
} strip;

/** What is rendered, and how thoroughly. */
typedef struct trial {
    const nb_backend *backend;
    const nb_scene *scene;
    nb_render_options options;
    nb_backend_state *state;
    float *image;
    double seconds; /* of the larger strip, about */
    int turns;      /* the least time of so many counts */
} trial;

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
static double time_strip(const trial *t, strip size)
{
    nb_panel panel;
    nb_scene part = scene_of(t->scene, size, &panel);
    double least = INFINITY;
    nb_error err;
    for (int turn = 0; turn < t->turns; turn++) {
        double start = nb_monotonic_seconds();
        if (nb_render_scene(t->backend, t->state, &part, t->options.precision, t->image,
                            &err) != NB_OK)
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

static double pixels_of(const nb_region *roi)
{
    return (roi->smax - roi->smin + 1.0) * (roi->fmax - roi->fmin + 1.0);
}

static double extrapolate(const trial *t, const strip strips[2])
{
    const double all = pixels_of(&t->scene->raster.roi);
    double small, large, pixel, pixels[2];
    if (time_strip(t, strips[0]) < 0) /* wakes the threads */
        return -1;
    small = time_strip(t, strips[0]);
    large = time_strip(t, strips[1]);
    if (small < 0 || large < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        pixels[i] = (double)strips[i].rows * strips[i].columns;
    pixel = pixels[1] > pixels[0] ? (large - small) / (pixels[1] - pixels[0]) : 0;
    if (!(pixel > 0))
        pixel = large / pixels[1];
    return large + pixel * (all - pixels[1]);
}

/** Seconds of the whole scene, which is expected to take so long. */
static double run(trial *t, double expected)
{
    const nb_scene *scene = t->scene;
    int height = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    nb_region middle = nb_panel_region(scene, middle_panel(scene));
    const strip most = {middle.smax - middle.smin + 1, middle.fmax - middle.fmin + 1};
    int threads = nb_thread_count(t->options.threads);
    double seconds = -1, row = fmax(expected, 1e-6) / height;
    strip strips[2] = {strip_for(t->seconds / 4, row, threads, most),
                       strip_for(t->seconds, row, threads, most)};
    nb_error err;
    t->options.hooks = (nb_hooks){0};
    t->image = nb_alloc((size_t)strips[1].rows * (size_t)scene->raster.columns,
                        sizeof *t->image, "pilot rows", &err);
    if (t->image && t->backend->open(&t->options, &t->state, &err) == NB_OK)
        seconds = extrapolate(t, strips);
    t->backend->close(t->state);
    nb_free(t->image);
    return seconds;
}

double nb_pilot_seconds(const nb_backend *backend, const nb_scene *scene,
                        const nb_render_options *options, double expected)
{
    trial t = {backend, scene, *options, NULL, NULL, 0.004, 2};
    return run(&t, expected);
}

double nb_pilot_pace(const nb_backend *backend, const nb_scene *scene,
                     const nb_render_options *options)
{
    trial t = {backend, scene, *options, NULL, NULL, 0.0007, 2};
    char unused[200];
    double expected, measured = -1;
    t.options.threads = t.options.images = 1;
    t.options.tolerance = (nb_tolerance){0};
    expected = backend->estimate(scene, &t.options, unused, sizeof unused);
    if (expected * LEAST_COLUMNS < 2 * t.seconds * pixels_of(&scene->raster.roi))
        measured = run(&t, expected);
    return measured > 0 && expected > 0 ? measured / expected : 0;
}
