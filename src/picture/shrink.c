/* SPDX-License-Identifier: MIT */
#include "shrink.h"

#include <math.h>

#include "../base/memory.h"

/** One block; NaN: all of it is left out. */
static float block(const nb_picture_job *job, int side, int x, int y)
{
    const int last_f = (x + 1) * side < job->fast ? (x + 1) * side : job->fast;
    const int last_s = (y + 1) * side < job->slow ? (y + 1) * side : job->slow;
    float brightest = NAN;
    double sum = 0;
    for (int s = y * side; s < last_s; s++)
        for (int f = x * side; f < last_f; f++) {
            const float value = job->image[(size_t)s * (size_t)job->fast + (size_t)f];
            brightest = fmaxf(brightest, value); /* the number where one is NaN */
            sum += isnan(value) ? 0 : value - job->pedestal;
        }
    if (isnan(brightest) || job->options->blocks == NB_PNG_BRIGHTEST)
        return brightest;
    return (float)(sum + job->pedestal);
}

/** The panel in blocks for pixels. */
static nb_panel panel_of_blocks(const nb_panel *panel, int side, int fast, int slow)
{
    nb_panel p = *panel;
    p.columns = fast;
    p.rows = slow;
    p.pixel_fast *= side;
    p.pixel_slow *= side;
    p.pixel_area *= (double)side * side;
    return p;
}

nb_status nb_shrink(nb_picture_job *job, nb_panel *panel, float **pixels, nb_error *err)
{
    const int most = job->options->most;
    const int larger = job->fast > job->slow ? job->fast : job->slow;
    const int side = most > 0 ? (larger - 1) / most + 1 : 1;
    const int fast = (job->fast - 1) / side + 1, slow = (job->slow - 1) / side + 1;
    *pixels = NULL;
    if (side == 1)
        return NB_OK;
    *pixels = nb_alloc_raw((size_t)fast * (size_t)slow, sizeof **pixels, "picture", err);
    if (!*pixels)
        return NB_ERR_NOMEM;
    for (int y = 0; y < slow; y++)
        for (int x = 0; x < fast; x++)
            (*pixels)[(size_t)y * (size_t)fast + (size_t)x] = block(job, side, x, y);
    if (job->panel) {
        *panel = panel_of_blocks(job->panel, side, fast, slow);
        job->panel = panel;
    }
    job->image = *pixels;
    job->fast = fast;
    job->slow = slow;
    return NB_OK;
}
