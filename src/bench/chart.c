/* SPDX-License-Identifier: MIT */
#include "chart.h"

#include <math.h>
#include <stdio.h>
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

void nb_chart_range(const nb_chart *c, double *low, double *high)
{
    *low = INFINITY;
    *high = 0;
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < c->lines[i].count; k++) {
            *low = fmin(*low, c->lines[i].y[k]);
            *high = fmax(*high, c->lines[i].y[k]);
        }
}

#ifdef NB_HAVE_CAIRO

#define PI 3.14159265358979323846

/* The page, in units of a pixel of the SVG. */
enum {
    LEFT = 92,
    TOP = 74,
    PLOT_WIDTH = 520,
    PLOT_HEIGHT = 390,
    BOTTOM = 66,
    LEGEND_GAP = 26,
    LEGEND_ROW = 24,
    HEIGHT = TOP + PLOT_HEIGHT + BOTTOM
};
static const double png_scale = 1.5;

typedef struct pen {
    const nb_cairo *c;
    cairo_t *cr;
} pen;

static const double colours[NB_COLOURS][3] = {
    {0.000, 0.447, 0.698}, {0.902, 0.624, 0.000}, {0.000, 0.620, 0.451},
    {0.835, 0.369, 0.000}, {0.800, 0.475, 0.655}, {0.337, 0.706, 0.914},
    {0.35, 0.35, 0.35},    {0.000, 0.000, 0.000}};

static void ink(const pen *p, double grey)
{
    p->c->set_source_rgb(p->cr, grey, grey, grey);
}

static double text_width(const pen *p, const char *text)
{
    cairo_text_extents_t e;
    p->c->text_extents(p->cr, text, &e);
    return e.x_advance;
}

/** at: 0 begins at x, 0.5 is centred there, 1 ends there; y is the base line. */
static void write_text(const pen *p, double x, double y, double at, const char *text)
{
    p->c->move_to(p->cr, x - at * text_width(p, text), y);
    p->c->show_text(p->cr, text);
}

static void font(const pen *p, double size, int bold)
{
    p->c->select_font_face(p->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    p->c->set_font_size(p->cr, size);
}

static void segment(const pen *p, double x0, double y0, double x1, double y1)
{
    p->c->move_to(p->cr, x0, y0);
    p->c->line_to(p->cr, x1, y1);
    p->c->stroke(p->cr);
}

static double at_x(const nb_chart *c, double value)
{
    return LEFT + PLOT_WIDTH * nb_axis_place(&c->x, value);
}

static double at_y(const nb_chart *c, double value)
{
    return TOP + PLOT_HEIGHT * (1 - nb_axis_place(&c->y, value));
}

/** Labels that would touch the one before are left out; their ticks stay. */
static void draw_x_axis(const pen *p, const nb_chart *c)
{
    const double floor_y = TOP + PLOT_HEIGHT, gap = 8;
    double end = 0;
    for (int i = 0; i < c->x.count; i++) {
        double x = at_x(c, c->x.tick[i]), half = text_width(p, c->x.label[i]) / 2;
        ink(p, 0.90);
        segment(p, x, TOP, x, floor_y);
        ink(p, 0.2);
        segment(p, x, floor_y, x, floor_y + 6);
        if (x - half < end + gap)
            continue;
        write_text(p, x, floor_y + 22, 0.5, c->x.label[i]);
        end = x + half;
    }
}

static void draw_y_axis(const pen *p, const nb_chart *c)
{
    for (int i = 0; i < c->y.minor_count; i++) {
        double y = at_y(c, c->y.minor[i]);
        ink(p, 0.955);
        segment(p, LEFT, y, LEFT + PLOT_WIDTH, y);
        ink(p, 0.2);
        segment(p, LEFT - 3, y, LEFT, y);
    }
    for (int i = 0; i < c->y.count; i++) {
        double y = at_y(c, c->y.tick[i]);
        ink(p, 0.86);
        segment(p, LEFT, y, LEFT + PLOT_WIDTH, y);
        ink(p, 0.2);
        segment(p, LEFT - 6, y, LEFT, y);
        write_text(p, LEFT - 10, y + 4.5, 1, c->y.label[i]);
    }
}

static void draw_titles(const pen *p, const nb_chart *c)
{
    ink(p, 0);
    font(p, 17, 1);
    write_text(p, LEFT, 30, 0, c->title);
    font(p, 12, 0);
    ink(p, 0.3);
    write_text(p, LEFT, 52, 0, c->subtitle);
    ink(p, 0);
    font(p, 13.5, 0);
    write_text(p, LEFT + PLOT_WIDTH / 2.0, TOP + PLOT_HEIGHT + 50, 0.5, c->x_title);
    p->c->save(p->cr);
    p->c->translate(p->cr, 20, TOP + PLOT_HEIGHT / 2.0);
    p->c->rotate(p->cr, -PI / 2);
    write_text(p, 0, 0, 0.5, c->y_title);
    p->c->restore(p->cr);
}

/** A shape for each colour, so that no one needs to see colours. */
static void outline(const pen *p, nb_chart_colour shape, double x, double y)
{
    static const int corners[NB_COLOURS] = {0, 4, 3, 4, 5, 3, 6, 6};
    static const double turn[NB_COLOURS] = {0,       PI / 4,  PI / 6, 0,
                                            -PI / 2, -PI / 6, 0,      PI / 6};
    static const double radius[NB_COLOURS] = {4.6, 5.8, 6.0, 6.2, 5.8, 6.0, 5.4, 5.4};
    int n = corners[shape];
    if (!n)
        p->c->arc(p->cr, x, y, radius[shape], 0, 2 * PI);
    for (int i = 0; i < n; i++) {
        double angle = turn[shape] + 2 * PI * i / n;
        double px = x + radius[shape] * cos(angle), py = y + radius[shape] * sin(angle);
        if (i)
            p->c->line_to(p->cr, px, py);
        else
            p->c->move_to(p->cr, px, py);
    }
    p->c->close_path(p->cr);
}

static void use_colour(const pen *p, const nb_chart_line *line)
{
    const double *rgb = colours[line->colour];
    p->c->set_source_rgb(p->cr, rgb[0], rgb[1], rgb[2]);
}

static void draw_marker(const pen *p, const nb_chart_line *line, double x, double y)
{
    outline(p, line->colour, x, y);
    if (line->dashed)
        ink(p, 1);
    else
        use_colour(p, line);
    p->c->fill_preserve(p->cr);
    use_colour(p, line);
    p->c->set_line_width(p->cr, 1.6);
    p->c->stroke(p->cr);
}

static void dash(const pen *p, const nb_chart_line *line)
{
    static const double pattern[] = {6, 4};
    p->c->set_dash(p->cr, pattern, line->dashed ? 2 : 0, 0);
    p->c->set_line_width(p->cr, line->plain ? 1.4 : 2);
}

static void draw_line(const pen *p, const nb_chart *c, const nb_chart_line *line)
{
    use_colour(p, line);
    dash(p, line);
    for (int i = 0; i < line->count; i++) {
        if (i)
            p->c->line_to(p->cr, at_x(c, line->x[i]), at_y(c, line->y[i]));
        else
            p->c->move_to(p->cr, at_x(c, line->x[i]), at_y(c, line->y[i]));
    }
    p->c->stroke(p->cr);
    p->c->set_dash(p->cr, NULL, 0, 0);
    for (int i = 0; i < line->count && !line->plain; i++)
        draw_marker(p, line, at_x(c, line->x[i]), at_y(c, line->y[i]));
}

/** Beside the plot, where nothing lies under it. */
static void draw_legend(const pen *p, const nb_chart *c)
{
    const double x = LEFT + PLOT_WIDTH + LEGEND_GAP, sample = 34;
    font(p, 12.5, 0);
    for (int i = 0; i < c->count; i++) {
        const nb_chart_line *line = &c->lines[i];
        double y = TOP + 12 + i * LEGEND_ROW;
        use_colour(p, line);
        dash(p, line);
        segment(p, x, y, x + sample, y);
        p->c->set_dash(p->cr, NULL, 0, 0);
        if (!line->plain)
            draw_marker(p, line, x + sample / 2, y);
        ink(p, 0);
        write_text(p, x + sample + 8, y + 4.5, 0, line->label);
    }
}

static void draw_all(const pen *p, const nb_chart *c)
{
    ink(p, 1);
    p->c->paint(p->cr);
    p->c->set_line_width(p->cr, 1);
    font(p, 12.5, 0);
    draw_y_axis(p, c);
    draw_x_axis(p, c);
    ink(p, 0.2);
    p->c->rectangle(p->cr, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
    p->c->stroke(p->cr);
    draw_titles(p, c);
    p->c->save(p->cr);
    p->c->rectangle(p->cr, LEFT - 8, TOP - 8, PLOT_WIDTH + 16, PLOT_HEIGHT + 16);
    p->c->clip(p->cr);
    p->c->set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
    for (int i = c->count - 1; i >= 0; i--) /* the first lies on top */
        draw_line(p, c, &c->lines[i]);
    p->c->restore(p->cr);
    draw_legend(p, c);
}

/** As wide as the longest label of the legend needs. */
static double page_width(const nb_cairo *lib, const nb_chart *c)
{
    cairo_surface_t *surface = lib->image_surface_create(CAIRO_FORMAT_RGB24, 8, 8);
    pen p = {lib, lib->create(surface)};
    double widest = 0, width;
    font(&p, 12.5, 0);
    for (int i = 0; i < c->count; i++)
        widest = fmax(widest, text_width(&p, c->lines[i].label));
    width = LEFT + PLOT_WIDTH + LEGEND_GAP + 34 + 8 + widest + 16;
    font(&p, 17, 1);
    width = fmax(width, LEFT + text_width(&p, c->title) + 16);
    font(&p, 12, 0);
    width = fmax(width, LEFT + text_width(&p, c->subtitle) + 16);
    lib->destroy(p.cr);
    lib->surface_destroy(surface);
    return ceil(width);
}

static cairo_status_t draw_on(const nb_cairo *lib, const nb_chart *c,
                              cairo_surface_t *surface, double scale, const char *png)
{
    pen p = {lib, lib->create(surface)};
    cairo_status_t status;
    lib->scale(p.cr, scale, scale);
    draw_all(&p, c);
    status = lib->status(p.cr);
    lib->destroy(p.cr);
    if (!status && png)
        status = lib->surface_write_to_png(surface, png);
    lib->surface_finish(surface);
    status = status ? status : lib->surface_status(surface);
    lib->surface_destroy(surface);
    return status;
}

nb_status nb_chart_draw(const nb_cairo *lib, const nb_chart *c, const char *path,
                        nb_error *err)
{
    char svg[NB_PATH_MAX], png[NB_PATH_MAX];
    double width = page_width(lib, c);
    cairo_status_t status;
    snprintf(svg, sizeof svg, "%.*s.svg", NB_PATH_MAX - 8, path);
    snprintf(png, sizeof png, "%.*s.png", NB_PATH_MAX - 8, path);
    status = draw_on(lib, c, lib->svg_surface_create(svg, width, HEIGHT), 1, NULL);
    if (!status)
        status =
            draw_on(lib, c,
                    lib->image_surface_create(CAIRO_FORMAT_RGB24, (int)(width * png_scale),
                                              (int)(HEIGHT * png_scale)),
                    png_scale, png);
    if (!status)
        return NB_OK;
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "plot %.300s: %s", path,
             lib->status_to_string(status));
    return NB_ERR_IO;
}
#endif
