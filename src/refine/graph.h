/* SPDX-License-Identifier: MIT */
/** A small graph on a canvas: axes with numbers, points, lines, bars. */
#ifndef NB_REFINE_GRAPH_H
#define NB_REFINE_GRAPH_H

#include "../picture/canvas.h"

typedef struct nb_graph {
    nb_canvas canvas;      /* owned pixels: nb_free */
    double x0, x1, y0, y1; /* the limits of the axes */
} nb_graph;

/** An empty graph with axes.  x and y are their titles.  Errors: NB_ERR_NOMEM. */
nb_status nb_graph_create(nb_graph *graph, const double x[2], const double y[2],
                          const char *title, const char *x_title, const char *y_title,
                          nb_error *err);

void nb_graph_line(nb_graph *graph, double x0, double y0, double x1, double y1,
                   nb_rgb colour);
void nb_graph_point(nb_graph *graph, double x, double y, nb_rgb colour);
/** A bar from 0 (or the lower end of the axis) to y. */
void nb_graph_bar(nb_graph *graph, double x0, double x1, double y, nb_rgb colour);

/** Write a canvas as PNG. */
nb_status nb_canvas_write(const nb_canvas *canvas, const char *path, nb_error *err);

#endif
