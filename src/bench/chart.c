/* SPDX-License-Identifier: MIT */
#include "chart.h"

#include <math.h>
#include <string.h>

nb_chart_line *nb_chart_add(nb_chart *c, nb_chart_colour colour, int dashed)
{
    nb_chart_line *line =
        &c->lines[c->count < NB_CHART_LINES_MAX ? c->count++ : c->count - 1];
    memset(line, 0, sizeof *line);
    line->colour = colour;
    line->dashed = dashed;
    return line;
}

void nb_chart_point(nb_chart_line *line, double x, double y)
{
    int k = line->count;
    if (!(x > 0 && y > 0) || k == NB_CHART_POINTS_MAX)
        return;
    for (; k > 0 && line->x[k - 1] > x; k--) {
        line->x[k] = line->x[k - 1];
        line->y[k] = line->y[k - 1];
    }
    line->x[k] = x;
    line->y[k] = y;
    line->count++;
}

int nb_chart_tidy(nb_chart *c)
{
    int kept = 0, measured = 0;
    for (int i = 0; i < c->count; i++)
        if (c->lines[i].count) {
            measured += !c->lines[i].plain;
            c->lines[kept++] = c->lines[i];
        }
    c->count = kept;
    return measured > 0;
}

/** Text in gnuplot's single quotes; quotes inside are doubled. */
static void write_text(FILE *out, const char *command, const char *text)
{
    fprintf(out, "%s '", command);
    for (; *text; text++)
        fprintf(out, *text == '\'' ? "''" : "%c", *text);
    fputs("'", out);
}

static void write_data(FILE *out, const nb_chart *c)
{
    fputs("$points << end\n", out);
    for (int i = 0; i < c->count; i++) {
        for (int k = 0; k < c->lines[i].count; k++)
            fprintf(out, "%.9g %.9g\n", c->lines[i].x[k], c->lines[i].y[k]);
        fputs("\n\n", out); /* the next index */
    }
    fputs("end\n", out);
}

static void write_lines(FILE *out, const nb_chart *c)
{
    static const char *const colours[NB_COLOURS] = {"#0072b2", "#e69f00", "#009e73",
                                                    "#d55e00", "#cc79a7", "#56b4e9",
                                                    "#808080", "#000000"};
    static const int markers[NB_COLOURS] = {7, 5, 9, 11, 13, 15, 4, 6};
    for (int i = 0; i < c->count; i++) {
        const nb_chart_line *l = &c->lines[i];
        fprintf(out, "%s$points index %d with %s lc rgb '%s' lw 2 dt %d",
                i ? ", " : "plot ", i, l->plain ? "lines" : "linespoints",
                colours[l->colour], l->dashed ? 2 : 1);
        if (!l->plain)
            fprintf(out, " pt %d", markers[l->colour]);
        write_text(out, " title", l->label);
    }
    fputs("\n", out);
}

/** The range of the data; labels also at 2 and 5 if there are few powers of ten. */
static void write_y_axis(FILE *out, const nb_chart *c)
{
    double low = c->lines[0].y[0], high = low;
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < c->lines[i].count; k++) {
            low = fmin(low, c->lines[i].y[k]);
            high = fmax(high, c->lines[i].y[k]);
        }
    fprintf(out, "unset ytics\nset yrange [%.3g:%.3g]\nset format y '%s'\nset ytics 10\n",
            0.7 * low, 1.4 * high, c->y_format);
    if (high < 200 * low)
        fprintf(out,
                "set for [e=-9:9] ytics add (gprintf('%s', 2*10.0**e) 2*10.0**e, "
                "gprintf('%s', 5*10.0**e) 5*10.0**e)\n",
                c->y_format, c->y_format);
}

void nb_chart_write(FILE *out, const nb_chart *c, const char *name, const double *x,
                    int count)
{
    write_data(out, c);
    fputs("set logscale xy\nset grid\nset key outside right noenhanced\nset xtics (", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%.9g", i ? ", " : "", x[i]);
    fprintf(out, ")\nset xrange [%.9g:%.9g]\n", x[0] / 1.5, x[count - 1] * 1.5);
    write_y_axis(out, c);
    write_text(out, "set label 1", c->title);
    fputs(" at graph 0, 1.09 font ',16' noenhanced\n", out);
    write_text(out, "set label 2", c->subtitle);
    fputs(" at graph 0, 1.035 noenhanced\n", out);
    write_text(out, "set xlabel", c->x_title);
    write_text(out, "\nset ylabel", c->y_title);
    fputs("\nset tmargin 5\n", out);
    fprintf(
        out, "set terminal svg size 900,540 background 'white' noenhanced\nset output '%s.svg'\n",
        name);
    write_lines(out, c);
    fprintf(out,
            "set terminal pngcairo size 1350,810 fontscale 1.2 noenhanced\nset output "
            "'%s.png'\nreplot\nunset output\n",
            name);
}
