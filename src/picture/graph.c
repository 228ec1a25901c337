/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT = 100, RIGHT = 24, TOP = 64, BOTTOM = 60, TEXT = 2 };

static const nb_rgb black = {0, 0, 0}, pale = {225, 225, 225}, white = {255, 255, 255};

static int column(const nb_graph *g, double x)
{
    double part = fmin(1.05, fmax(-0.05, (x - g->x0) / (g->x1 - g->x0)));
    return LEFT + (int)floor(part * (g->canvas.width - LEFT - RIGHT) + 0.5);
}

static int row(const nb_graph *g, double y)
{
    double part = fmin(1.05, fmax(-0.05, (y - g->y0) / (g->y1 - g->y0)));
    return g->canvas.height - BOTTOM -
           (int)floor(part * (g->canvas.height - TOP - BOTTOM) + 0.5);
}

/** The distance of ticks: 1, 2 or 5 times a power of ten. */
static double tick_of(double range)
{
    double unit = pow(10, floor(log10(range / 4)));
    double n = range / 4 / unit;
    return unit * (n < 1.5 ? 1 : n < 3.5 ? 2 : n < 7.5 ? 5 : 10);
}

static void axis(nb_graph *g, int upright)
{
    double low = upright ? g->y0 : g->x0, high = upright ? g->y1 : g->x1;
    double step = tick_of(high - low);
    for (double v = ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) {
        char text[24];
        int at = upright ? row(g, v) : column(g, v);
        snprintf(text, sizeof text, "%.5g", fabs(v) < 1e-9 * step ? 0 : v);
        if (upright) {
            nb_canvas_fill(&g->canvas, LEFT, at, g->canvas.width - LEFT - RIGHT, 1, pale);
            nb_canvas_text(&g->canvas, LEFT - 8 - nb_text_width(text, TEXT),
                           at - nb_text_height(TEXT) / 2, TEXT, black, text);
        } else {
            nb_canvas_fill(&g->canvas, at, TOP, 1, g->canvas.height - TOP - BOTTOM, pale);
            nb_canvas_text(&g->canvas, at - nb_text_width(text, TEXT) / 2,
                           g->canvas.height - BOTTOM + 8, TEXT, black, text);
        }
    }
}

nb_status nb_graph_create(nb_graph *g, const double x[2], const double y[2],
                          const nb_graph_words *words, nb_error *err)
{
    nb_status st = nb_canvas_create(&g->canvas, g->width, g->height, white, err);
    if (st)
        return st;
    g->x0 = x[0];
    g->x1 = x[1] > x[0] ? x[1] : x[0] + 1;
    g->y0 = y[0];
    g->y1 = y[1] > y[0] ? y[1] : y[0] + 1;
    axis(g, 0);
    axis(g, 1);
    nb_canvas_fill(&g->canvas, LEFT, TOP, 1, g->canvas.height - TOP - BOTTOM, black);
    nb_canvas_fill(&g->canvas, LEFT, g->canvas.height - BOTTOM,
                   g->canvas.width - LEFT - RIGHT, 1, black);
    nb_canvas_text(&g->canvas, (g->canvas.width - nb_text_width(words->title, TEXT)) / 2,
                   6, TEXT, black, words->title);
    nb_canvas_text(&g->canvas, 8, 32, TEXT, black, words->y);
    nb_canvas_text(&g->canvas, g->canvas.width - RIGHT - nb_text_width(words->x, TEXT),
                   g->canvas.height - 24, TEXT, black, words->x);
    return NB_OK;
}

void nb_graph_line(nb_graph *g, double x0, double y0, double x1, double y1, nb_rgb colour)
{
    int a = column(g, x0), b = row(g, y0), c = column(g, x1), d = row(g, y1);
    int n = abs(c - a) > abs(d - b) ? abs(c - a) : abs(d - b);
    for (int i = 0; i <= n; i++) {
        double part = n ? (double)i / n : 0;
        nb_canvas_fill(&g->canvas, a + (int)floor(part * (c - a) + 0.5),
                       b + (int)floor(part * (d - b) + 0.5), 2, 2, colour);
    }
}

void nb_graph_point(nb_graph *g, double x, double y, nb_rgb colour)
{
    nb_canvas_fill(&g->canvas, column(g, x) - 2, row(g, y) - 2, 6, 6, colour);
}

void nb_graph_bar(nb_graph *g, double x0, double x1, double y, nb_rgb colour)
{
    int left = column(g, x0), right = column(g, x1), top = row(g, y);
    nb_canvas_fill(&g->canvas, left, top, right - left, g->canvas.height - BOTTOM - top,
                   colour);
}
