/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../physics/ray.h"
#include "picture.h"

/** A ring. Its label is at its highest row on the canvas. */
typedef struct ring {
    double target; /* 2 sin theta */
    int top;       /* highest row of the ring; INT_MAX: the ring is not drawn */
    double sum;    /* sum of the columns of the ring's pixels in that row */
    int count;
} ring;

typedef struct drawing {
    nb_canvas *canvas;
    nb_rgb colour, paper;
    int thick; /* width of a line, pixels */
} drawing;

/** Set 2 sin theta at the pixels of one row: |d - i|, directions of ray and beam. */
static void fill_row(const nb_panel *panel, int s, double *row)
{
    for (int f = 0; f < panel->columns; f++) {
        nb_vec3 p = nb_panel_point(panel, nb_subpixel(panel->pixel_fast, 1, f, 0),
                                   nb_subpixel(panel->pixel_slow, 1, s, 0), 0);
        row[f] = nb_norm(nb_sub(nb_unit(p), panel->beam));
    }
}

static void dot(const drawing *d, ring *r, int f, int s)
{
    nb_canvas_fill(d->canvas, f - d->thick / 2, s - d->thick / 2, d->thick, d->thick,
                   d->colour);
    if (r->top == INT_MAX)
        r->top = s;
    if (r->top == s) {
        r->sum += f;
        r->count++;
    }
}

/** Draw each pixel if the ring passes between it and the pixel on its right or below
 * it. */
static void draw_row(const drawing *d, ring *r, const double *row, const double *below,
                     int s)
{
    int width = d->canvas->width;
    for (int f = 0; f < width; f++) {
        int inside = row[f] < r->target;
        if ((f + 1 < width && (row[f + 1] < r->target) != inside) ||
            (below && (below[f] < r->target) != inside))
            dot(d, r, f, s);
    }
}

static void label(const drawing *d, const ring *r, double d_A)
{
    char text[24];
    int size = d->thick, width, x, y = r->top - nb_text_height(size) / 2;
    snprintf(text, sizeof text, "%g A", d_A);
    width = nb_text_width(text, size);
    x = (int)(r->sum / r->count) - width / 2;
    x = x + width > d->canvas->width ? d->canvas->width - width : x;
    x = x < 0 ? 0 : x;
    y = y < size ? size : y;
    nb_canvas_fill(d->canvas, x - size, y - size, width + 2 * size,
                   nb_text_height(size) + 2 * size, d->paper);
    nb_canvas_text(d->canvas, x, y, size, d->colour, text);
}

static void mark_centre(const drawing *d, const nb_panel *panel)
{
    int arm = 8 * d->thick;
    double f = panel->Fbeam / panel->pixel_fast, s = panel->Sbeam / panel->pixel_slow;
    if (!(f > -1e6 && f < 1e6 && s > -1e6 && s < 1e6))
        return;
    nb_canvas_fill(d->canvas, (int)floor(f) - arm, (int)floor(s) - d->thick / 2,
                   2 * arm + 1, d->thick, d->colour);
    nb_canvas_fill(d->canvas, (int)floor(f) - d->thick / 2, (int)floor(s) - arm, d->thick,
                   2 * arm + 1, d->colour);
}

static void draw_all(const drawing *d, const nb_panel *panel, ring *rings, int n,
                     double *rows[2])
{
    fill_row(panel, 0, rows[0]);
    for (int s = 0; s < panel->rows; s++) {
        double *row = rows[s & 1], *below = NULL;
        if (s + 1 < panel->rows)
            fill_row(panel, s + 1, below = rows[(s + 1) & 1]);
        for (int i = 0; i < n; i++)
            draw_row(d, &rings[i], row, below, s);
    }
}

nb_status nb_draw_rings(nb_canvas *canvas, const nb_panel *panel, double wavelength,
                        const nb_png_options *options, nb_error *err)
{
    const nb_rgb red = {214, 39, 40}, white = {255, 255, 255}, black = {0, 0, 0};
    const nb_rgb cyan = {90, 220, 255};
    int bright = options->colormap != NB_MAP_GREY, n = options->rings;
    int thick =
        1 + (canvas->width < canvas->height ? canvas->width : canvas->height) / 1000;
    drawing d = {canvas, bright ? cyan : red, bright ? black : white, thick};
    ring rings[NB_RINGS_MAX];
    double *rows[2];
    rows[0] =
        nb_alloc_raw(2 * (size_t)panel->columns, sizeof **rows, "resolution rings", err);
    if (!rows[0])
        return NB_ERR_NOMEM;
    rows[1] = rows[0] + panel->columns;
    n = n < NB_RINGS_MAX ? n : NB_RINGS_MAX;
    for (int i = 0; i < n; i++)
        rings[i] = (ring){wavelength * 1e10 / options->ring_A[i], INT_MAX, 0, 0};
    draw_all(&d, panel, rings, n, rows);
    for (int i = 0; i < n; i++)
        if (rings[i].top != INT_MAX)
            label(&d, &rings[i], options->ring_A[i]);
    mark_centre(&d, panel);
    nb_free(rows[0]);
    return NB_OK;
}

int nb_picture_is_grey(const nb_picture_job *job)
{
    const nb_png_options *o = job->options;
    return !job->marked && !o->rings &&
           (o->colormap == NB_MAP_GREY || o->colormap == NB_MAP_INVERSE);
}

/** Replace the levels of the preview by colours. For the grey map the levels are already
 * dark on white. */
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
    NB_TRY(colour(job, levels, &canvas, err));
    nb_free(levels);
    if (!st && rings)
        st = nb_draw_rings(&canvas, job->panel, job->wavelength, job->options, err);
    if (st)
        nb_free(canvas.pixels);
    else
        *pixels = canvas.pixels;
    return st;
}
