/* SPDX-License-Identifier: MIT */
/** A chart of lines with markers, as commands of gnuplot. */
#ifndef NB_BENCH_CHART_H
#define NB_BENCH_CHART_H

#include <stdio.h>

#define NB_CHART_POINTS_MAX 32
#define NB_CHART_LINES_MAX 14

/** Colours that people with any kind of colour vision can distinguish (Okabe and Ito). */
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
    int dashed;
    int plain; /* a guide: no markers */
    int count;
    double x[NB_CHART_POINTS_MAX], y[NB_CHART_POINTS_MAX];
} nb_chart_line;

typedef struct nb_chart {
    char title[128], subtitle[160], x_title[96], y_title[96];
    const char *y_format; /* of gnuplot's numbers */
    int count;
    nb_chart_line lines[NB_CHART_LINES_MAX];
} nb_chart;

/** A new empty line; the last one again if there are too many. */
nb_chart_line *nb_chart_add(nb_chart *c, nb_chart_colour colour, int dashed);
/** A point of a line, in order of x, if both are above 0. */
void nb_chart_point(nb_chart_line *line, double x, double y);
/** Remove lines without points; 0 if none is left. */
int nb_chart_tidy(nb_chart *c);

/** Write the commands that draw NAME.svg and NAME.png: both axes logarithmic, labels at the `count`
 * values x. */
void nb_chart_write(FILE *out, const nb_chart *c, const char *name, const double *x,
                    int count);

#endif
