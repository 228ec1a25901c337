/* SPDX-License-Identifier: MIT */
/** A graph: axes with numbers, points, lines, bars.  What is outside of the axes is drawn at their ends. */
#ifndef NB_PICTURE_GRAPH_H
#define NB_PICTURE_GRAPH_H

#include "canvas.h"

typedef struct nb_graph {
    int width, height;     /* of the canvas, pixels */
    nb_canvas canvas;      /* owned pixels: nb_free */
    double x0, x1, y0, y1; /* the limits of the axes */
} nb_graph;

/** Words of a graph: its title, and what its axes are. */
typedef struct nb_graph_words {
    const char *title, *x, *y;
} nb_graph_words;

/** An empty graph of g->width x g->height pixels; x, y: the limits of its axes.  Errors: NB_ERR_NOMEM. */
nb_status nb_graph_create(nb_graph *g, const double x[2], const double y[2],
                          const nb_graph_words *words, nb_error *err);
void nb_graph_line(nb_graph *g, double x0, double y0, double x1, double y1, nb_rgb colour);
void nb_graph_point(nb_graph *g, double x, double y, nb_rgb colour);
/** A bar from the lower end of the axis to y. */
void nb_graph_bar(nb_graph *g, double x0, double x1, double y, nb_rgb colour);

#endif
