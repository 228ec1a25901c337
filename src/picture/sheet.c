/* SPDX-License-Identifier: MIT */
#include "sheet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "preview.h"

enum { LARGEST = 800, SMALLEST = 320, MARGIN = 16, TEXT = 2, BAR = 14 };

/** The sizes of the drawing. */
typedef struct layout {
    int shrink, grow;  /* pixels a dot, screen pixels a dot */
    int width, height; /* dots */
    int cell;          /* screen pixels from part to part */
} layout;

/** Data of the parts of the drawing. */
typedef struct shown {
    float *dots;       /* owned: a, b, each [height][width] */
    float *difference; /* within dots, behind b: a - b */
    uint8_t *levels;   /* owned: of a, b */
    double limit;      /* end of the scale of a - b: a percentile of |a - b| */
    double largest;    /* |a - b| */
    float max[2];
} shown;

static layout plan(const nb_sheet *p)
{
    int larger = p->fast > p->slow ? p->fast : p->slow;
    layout l = {(larger + LARGEST - 1) / LARGEST, (SMALLEST + larger - 1) / larger, 0, 0,
                0};
    l.width = (p->fast + l.shrink - 1) / l.shrink;
    l.height = (p->slow + l.shrink - 1) / l.shrink;
    l.cell = l.width * l.grow < SMALLEST ? SMALLEST : l.width * l.grow;
    return l;
}

/** One dot: the brightest pixels of its block, and the difference of largest magnitude; NaN where the
 * block has no value. */
static void reduce(const nb_sheet *p, const layout *l, int x, int y, float out[3])
{
    int last_f = (x + 1) * l->shrink, last_s = (y + 1) * l->shrink;
    float a = NAN, b = NAN, d = NAN;
    for (int s = y * l->shrink; s < last_s && s < p->slow; s++)
        for (int f = x * l->shrink; f < last_f && f < p->fast; f++) {
            size_t at = (size_t)s * (size_t)p->stride + (size_t)f;
            float diff = p->a[at] - p->b[at];
            a = fmaxf(a, p->a[at]); /* the number where one is NaN */
            b = fmaxf(b, p->b[at]);
            d = isfinite(diff) && !(fabsf(diff) <= fabsf(d)) ? diff : d;
        }
    out[0] = isinf(a) ? 0 : a;
    out[1] = isinf(b) ? 0 : b;
    out[2] = d;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/** The scale of a - b contains 99.8 % of the dots that differ, so that one bad pixel does
 * not hide all others. */
static nb_status find_limit(shown *s, size_t n, nb_error *err)
{
    float *sizes = nb_alloc_raw(n, sizeof *sizes, "picture", err);
    size_t differ = 0;
    if (!sizes)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (fabsf(s->difference[i]) > 0)
            sizes[differ++] = fabsf(s->difference[i]);
    qsort(sizes, differ, sizeof *sizes, by_value);
    if (differ) {
        s->limit = sizes[(size_t)(0.998 * (double)(differ - 1))];
        s->largest = sizes[differ - 1];
    }
    nb_free(sizes);
    return NB_OK;
}

static nb_status fill(const nb_sheet *p, const layout *l, shown *s, nb_error *err)
{
    size_t n = (size_t)l->width * (size_t)l->height, at = 0;
    nb_png_options colours = {0};
    nb_preview_options o;
    nb_status st;
    memset(s, 0, sizeof *s);
    s->max[0] = s->max[1] = -INFINITY;
    if (!(s->dots = nb_alloc_raw(3 * n, sizeof *s->dots, "picture", err)) ||
        !(s->levels = nb_alloc_raw(2 * n, 1, "picture", err)))
        return NB_ERR_NOMEM;
    s->difference = s->dots + 2 * n;
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++, at++) {
            float dot[3];
            reduce(p, l, x, y, dot);
            s->dots[at] = dot[0];
            s->dots[n + at] = dot[1];
            s->difference[at] = dot[2];
            s->max[0] = fmaxf(s->max[0], dot[0]);
            s->max[1] = fmaxf(s->max[1], dot[1]);
        }
    if (p->colours)
        colours = *p->colours;
    o = nb_preview_of(&colours);
    o.bright_spots = 1; /* levels for the colour map */
    o.pedestal = p->pedestal;
    st = find_limit(s, n, err);
    return st ? st : nb_preview(s->dots, l->width, 2 * l->height, &o, s->levels, err);
}

static int left_of(const layout *l, int part)
{
    return MARGIN + part * (l->cell + MARGIN);
}

static int top(void)
{
    return 2 * MARGIN + nb_text_height(TEXT);
}

static nb_rgb dot_colour(nb_colormap map, const shown *s, int part, size_t n, size_t i)
{
    const size_t at = (size_t)part * n + i;
    if (isnan(s->dots[at]))
        return nb_left_out_colour(map);
    return part < 2 ? nb_colormap_at(map, s->levels[at])
                    : nb_signed_colour(s->dots[at] / (s->limit > 0 ? s->limit : 1));
}

static void draw_images(const nb_sheet *p, const layout *l, const shown *s, nb_canvas *c)
{
    nb_colormap map = p->colours ? p->colours->colormap : NB_MAP_GREY;
    size_t n = (size_t)l->width * (size_t)l->height;
    for (int part = 0; part < 3; part++)
        for (size_t i = 0; i < n; i++) {
            int x = left_of(l, part) + (int)(i % (size_t)l->width) * l->grow;
            int y = top() + (int)(i / (size_t)l->width) * l->grow;
            nb_rgb colour = dot_colour(map, s, part, n, i);
            nb_canvas_fill(c, x, y, l->grow, l->grow, colour);
        }
}

static void frame(nb_canvas *c, int x, int y, int width, int height, nb_rgb colour)
{
    nb_canvas_fill(c, x - 1, y - 1, width + 2, 1, colour);
    nb_canvas_fill(c, x - 1, y + height, width + 2, 1, colour);
    nb_canvas_fill(c, x - 1, y - 1, 1, height + 2, colour);
    nb_canvas_fill(c, x + width, y - 1, 1, height + 2, colour);
}

/** From -limit to +limit, with its numbers. */
static void draw_bar(const layout *l, double limit, nb_canvas *c, nb_rgb ink)
{
    int x = left_of(l, 2), y = top() + l->height * l->grow + MARGIN / 2;
    int width = l->cell;
    char text[24];
    for (int i = 0; i < width; i++)
        nb_canvas_fill(c, x + i, y, 1, BAR, nb_signed_colour(2.0 * i / (width - 1) - 1));
    frame(c, x, y, width, BAR, ink);
    y += BAR + MARGIN / 2;
    snprintf(text, sizeof text, "%.3g", -limit);
    nb_canvas_text(c, x, y, TEXT, ink, limit > 0 ? text : "0");
    nb_canvas_text(c, x + (width - nb_text_width("0", TEXT)) / 2, y, TEXT, ink, "0");
    snprintf(text, sizeof text, "+%.3g", limit);
    nb_canvas_text(c, x + width - nb_text_width(text, TEXT), y, TEXT, ink,
                   limit > 0 ? text : " 0");
}

static void draw_words(const layout *l, const shown *s, nb_canvas *c, nb_rgb ink)
{
    static const char *const titles[] = {"A", "B", "A - B"};
    int below = top() + l->height * l->grow + MARGIN / 2;
    for (int part = 0; part < 3; part++) {
        int x = left_of(l, part);
        nb_canvas_text(c, x, MARGIN, TEXT, ink, titles[part]);
        char text[48];
        frame(c, x, top(), l->width * l->grow, l->height * l->grow, ink);
        if (part < 2) {
            snprintf(text, sizeof text, "max %.4g", (double)s->max[part]);
            nb_canvas_text(c, x, below, TEXT, ink, text);
        } else if (s->largest > s->limit) {
            snprintf(text, sizeof text, "largest %.3g", s->largest);
            nb_canvas_text(c, x + l->cell - nb_text_width(text, TEXT), MARGIN, TEXT, ink,
                           text);
        }
    }
}

nb_status nb_draw_sheet(const nb_sheet *p, nb_canvas *canvas, nb_error *err)
{
    const nb_rgb paper = {255, 255, 255}, ink = {40, 40, 40};
    layout l = plan(p);
    shown s;
    int height = top() + l.height * l.grow + 2 * MARGIN + BAR + nb_text_height(TEXT);
    nb_status st = fill(p, &l, &s, err);
    memset(canvas, 0, sizeof *canvas);
    if (!st)
        st = nb_canvas_create(canvas, left_of(&l, 3), height, paper, err);
    if (!st) {
        draw_images(p, &l, &s, canvas);
        draw_words(&l, &s, canvas, ink);
        draw_bar(&l, s.limit, canvas, ink);
    }
    nb_free(s.dots);
    nb_free(s.levels);
    return st;
}
