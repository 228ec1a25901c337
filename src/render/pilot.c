/* SPDX-License-Identifier: MIT */
#include "pilot.h"

#include <math.h>

#include "../base/clock.h"
#include "../base/memory.h"
#include "rows.h"

#define STRIP_SECONDS 0.004 /* of the larger strip */

/** The scene of `rows` rows from the middle of the region of interest: a shorter panel. */
static nb_scene strip_of(const nb_scene *scene, int rows, nb_panel *panel)
{
    nb_scene strip = *scene;
    nb_raster *raster = &strip.raster;
    int first = (raster->roi.smin + raster->roi.smax + 1 - rows) / 2;
    first = first > raster->roi.smin ? first : raster->roi.smin;
    *panel = scene->panels[0];
    panel->pix0 = nb_add(panel->pix0, nb_scale(first * panel->pixel_slow, panel->slow));
    panel->Sbeam -= first * panel->pixel_slow;
    panel->rows = rows;
    if (raster->mask)
        raster->mask += (size_t)first * (size_t)raster->columns;
    raster->pixels = (size_t)rows * (size_t)raster->columns;
    raster->rows = rows;
    raster->roi.smin = 0;
    raster->roi.smax = rows - 1;
    strip.panels = panel;
    return strip;
}

/** Seconds of one rendering of so many rows; < 0: it failed. */
static double time_strip(const nb_backend *backend, nb_backend_state *state,
                         const nb_scene *scene, int rows, float *image)
{
    nb_panel panel;
    nb_scene strip = strip_of(scene, rows, &panel);
    double start = nb_monotonic_seconds();
    nb_error err;
    if (backend->render(state, &strip, image, &err) != NB_OK)
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
                          const nb_scene *scene, const int strips[2], float *image)
{
    int height = scene->raster.roi.smax - scene->raster.roi.smin + 1;
    double small, large, row;
    if (time_strip(backend, state, scene, strips[0], image) < 0) /* wakes the threads */
        return -1;
    small = time_strip(backend, state, scene, strips[0], image);
    large = time_strip(backend, state, scene, strips[1], image);
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
    int threads = nb_thread_count(options->threads);
    nb_render_options quiet = *options;
    nb_backend_state *state = NULL;
    double seconds = -1, row = fmax(expected, 1e-6) / height;
    int strips[2] = {rows_for(STRIP_SECONDS / 4, row, threads, height),
                     rows_for(STRIP_SECONDS, row, threads, height)};
    nb_error err;
    float *image;
    quiet.hooks = (nb_hooks){0};
    image = nb_alloc((size_t)strips[1] * (size_t)scene->raster.columns, sizeof *image,
                     "pilot rows", &err);
    if (image && backend->open(&quiet, &state, &err) == NB_OK)
        seconds = extrapolate(backend, state, scene, strips, image);
    backend->close(state);
    nb_free(image);
    return seconds;
}
