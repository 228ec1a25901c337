/* SPDX-License-Identifier: MIT */
#include "draw.h"

#include <math.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "canvas.h"
#include "preview.h"
#include "rings.h"

int nb_picture_is_grey(const nb_picture_job *job)
{
    const nb_png_options *o = job->options;
    return !job->marked && !o->rings &&
           (o->colormap == NB_MAP_GREY || o->colormap == NB_MAP_INVERSE);
}

/** Colours of the preview's levels. For the grey map the levels are already dark on white. */
static nb_status colour(const nb_picture_job *job, const uint8_t *levels,
                        nb_canvas *canvas, nb_error *err)
{
    const nb_rgb paper = {255, 255, 255};
    nb_colormap map =
        job->options->colormap == NB_MAP_GREY ? NB_MAP_INVERSE : job->options->colormap;
    size_t n = (size_t)job->fast * (size_t)job->slow;
    const nb_rgb left_out = nb_left_out_colour(job->options->colormap);
    nb_rgb table[256];
    nb_status st = nb_canvas_create(canvas, job->fast, job->slow, paper, err);
    for (int i = 0; i < 256; i++)
        table[i] = nb_colormap_at(map, i);
    for (size_t i = 0; !st && i < n; i++)
        canvas->pixels[i] =
            job->marked && isnan(job->image[i]) ? left_out : table[levels[i]];
    return st;
}

nb_status nb_picture_draw(const nb_picture_job *job, void **pixels, nb_error *err)
{
    nb_preview_options preview = nb_preview_of(job->options);
    int rings = job->options->rings;
    nb_canvas canvas = {0};
    uint8_t *levels;
    nb_status st;
    *pixels = NULL;
    preview.pedestal = job->pedestal;
    if (rings && !job->panel)
        return nb_fail(err, NB_ERR_INPUT,
                       "-pngrings: distance, pixel size or wavelength of this image are "
                       "unknown; give -distance, -pixel and -lambda");
    levels = nb_alloc_raw((size_t)job->fast * (size_t)job->slow, 1, "picture", err);
    if (!levels)
        return NB_ERR_NOMEM;
    st = nb_preview(job->image, job->fast, job->slow, &preview, levels, err);
    if (!st && nb_picture_is_grey(job)) {
        *pixels = levels;
        return NB_OK;
    }
    if (!st)
        st = colour(job, levels, &canvas, err);
    nb_free(levels);
    if (!st && rings)
        st = nb_draw_rings(&canvas, job->panel, job->wavelength, job->options, err);
    if (st)
        nb_free(canvas.pixels);
    else
        *pixels = canvas.pixels;
    return st;
}
