/* SPDX-License-Identifier: MIT */
/** A chart of lines with markers, as SVG and PNG from the same drawing. */
#ifndef NB_BENCH_CHART_H
#define NB_BENCH_CHART_H

#include "axis.h"

#define NB_CHART_POINTS_MAX 32
#define NB_CHART_LINES_MAX 14

/** Colours that people with any kind of colour vision tell apart (Okabe and Ito). */
typedef enum nb_chart_colour {
    NB_COLOUR_BLUE = 0,
    NB_COLOUR_ORANGE,
    NB_COLOUR_GREEN,
    NB_COLOUR_RED,
    NB_COLOUR_PURPLE,
    NB_COLOUR_SKY,
    NB_COLOUR_GREY,
    NB_COLOUR_BLACK,
    NB_COLOURS
} nb_chart_colour;

typedef struct nb_chart_line {
    char label[96];
    nb_chart_colour colour; /* chooses the marker too */
    int dashed;             /* and hollow markers */
    int plain;              /* a guide: no markers */
    int count;
    double x[NB_CHART_POINTS_MAX], y[NB_CHART_POINTS_MAX];
} nb_chart_line;

typedef struct nb_chart {
    char title[128], subtitle[160], x_title[96], y_title[96];
    nb_axis x, y;
    int count;
    nb_chart_line lines[NB_CHART_LINES_MAX];
} nb_chart;

/** The next line, empty; the last one again when there are too many. */
nb_chart_line *nb_chart_add(nb_chart *c, nb_chart_colour colour, int dashed);
/** A point of a line, in order of x, if both are above 0. */
void nb_chart_point(nb_chart_line *line, double x, double y);
/** Lines without points go; 0 when none is left. */
int nb_chart_tidy(nb_chart *c);
/** Range of y over all lines. */
void nb_chart_range(const nb_chart *c, double *low, double *high);

#ifdef NB_HAVE_CAIRO
#include "cairo_lib.h"
/** Write PATH.svg and PATH.png.  Errors: NB_ERR_IO. */
nb_status nb_chart_draw(const nb_cairo *lib, const nb_chart *c, const char *path,
                        nb_error *err);
#endif

#endif
