/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "picture.h"

enum { LARGEST = 800, SMALLEST = 320, MARGIN = 16, TEXT = 2, BAR = 14 };

/** Sizes of the drawing. */
typedef struct layout {
    /* edge of a dot, in pixels of the image (shrink) and of the canvas (grow) */
    int shrink, grow;
    int width, height; /* numbers of dots */
    int cell;          /* width of a part on the canvas, pixels */
} layout;

/** Data of the parts of the drawing. */
typedef struct shown {
    float *dots;       /* owned; a, b, each [height][width] */
    float *difference; /* a - b, after b in dots */
    uint8_t *levels;   /* owned; levels of a, b */
    double limit;      /* end of the scale of a - b: a percentile of |a - b| */
    double largest;    /* largest |a - b| */
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

/** Make one dot: the brightest pixels of its block, and the difference of largest
 * magnitude; NaN if the block has no value. */
static void reduce(const nb_sheet *p, const layout *l, int x, int y, float out[3])
{
    int last_f = (x + 1) * l->shrink, last_s = (y + 1) * l->shrink;
    float a = NAN, b = NAN, d = NAN;
    for (int s = y * l->shrink; s < last_s && s < p->slow; s++)
        for (int f = x * l->shrink; f < last_f && f < p->fast; f++) {
            size_t at = (size_t)s * (size_t)p->stride + (size_t)f;
            float diff = p->a[at] - p->b[at];
            a = fmaxf(a, p->a[at]); /* fmaxf ignores NaN */
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

/** Find the scale of a - b, which includes 99.8 % of the dots that differ, so that one
 * bad pixel does not hide all other differences. */
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
    o = nb_preview_of(p->colours);
    o.bright_spots = 1; /* bright spots have high levels, as the colour map needs */
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

/** Draw the scale from -limit to +limit, with numbers. */
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
    NB_TRY(nb_canvas_create(canvas, left_of(&l, 3), height, paper, err));
    if (!st) {
        draw_images(p, &l, &s, canvas);
        draw_words(&l, &s, canvas, ink);
        draw_bar(&l, s.limit, canvas, ink);
    }
    nb_free(s.dots);
    nb_free(s.levels);
    return st;
}

/* limit of the dots of a picture */
#define MAX_DOTS ((double)(1 << 28))

/** Position of a panel in dots: the pixel corner i, j is at x0 + i xf + j xs, y0 + i yf +
 * j ys. */
typedef struct projection {
    double x0, xf, xs, y0, yf, ys;
} projection;

/** Axes of the picture: right and down are -X and -Y of NeXus in every convention. */
typedef struct picture_axes {
    /* along: unit vector at right angles to right and down */
    nb_vec3 right, down, along, beam;
    double dot; /* m */
} picture_axes;

static nb_vec3 of(const double v[3])
{
    return nb_v3(v[0], v[1], v[2]);
}

static picture_axes axes_of(const nb_detector_spec *d)
{
    picture_axes a = {nb_v3(-1, 0, 0), nb_v3(0, -1, 0), nb_v3(0, 0, 1), nb_v3(0, 0, 1),
                      d->panels[0].pixel[0]};
    if (d->beam.set && fabs(d->beam.v[2]) > 0.1)
        a.beam = of(d->beam.v);
    return a;
}

/** Project a point along the beam into the plane, and give its position in dots. */
static void project(const picture_axes *a, nb_vec3 p, double *x, double *y)
{
    double t = nb_dot(p, a->along) / nb_dot(a->beam, a->along);
    nb_vec3 q = nb_sub(p, nb_scale(t, a->beam));
    *x = nb_dot(q, a->right) / a->dot;
    *y = nb_dot(q, a->down) / a->dot;
}

static projection projection_of(const picture_axes *a, const nb_panel_spec *p)
{
    projection to;
    project(a, of(p->origin), &to.x0, &to.y0);
    project(a, nb_scale(p->pixel[0], of(p->fast)), &to.xf, &to.yf);
    project(a, nb_scale(p->pixel[1], of(p->slow)), &to.xs, &to.ys);
    return to;
}

/** Widen a rectangle (x, y low; x, y high) to include a panel. */
static void widen(const projection *to, const int size[2], double box[4])
{
    for (int corner = 0; corner < 4; corner++) {
        double i = corner & 1 ? size[0] : 0, j = corner & 2 ? size[1] : 0;
        double x = to->x0 + i * to->xf + j * to->xs, y = to->y0 + i * to->yf + j * to->ys;
        box[0] = fmin(box[0], x);
        box[1] = fmin(box[1], y);
        box[2] = fmax(box[2], x);
        box[3] = fmax(box[3], y);
    }
}

/** Distance along the beam to the plane of a panel. */
static double distance_of(const picture_axes *a, const nb_panel_spec *p)
{
    nb_vec3 o = nb_cross(of(p->fast), of(p->slow));
    return nb_dot(of(p->origin), o) / nb_dot(a->beam, o);
}

/** Plane of the picture, for rings: at the panel whose middle is nearest to the beam. */
static nb_panel plane_of(const picture_axes *a, const nb_detector_spec *d,
                         const double box[4], const int size[2])
{
    nb_panel plane = {.columns = size[0], .rows = size[1]};
    double nearest = INFINITY, D = 1;
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        projection to = projection_of(a, p);
        double i = 0.5 * p->size[0], j = 0.5 * p->size[1];
        double r = hypot(to.x0 + i * to.xf + j * to.xs, to.y0 + i * to.yf + j * to.ys);
        double at = distance_of(a, p);
        if (r < nearest && isfinite(at)) {
            nearest = r;
            D = at;
        }
    }
    plane.pixel_fast = plane.pixel_slow = a->dot;
    plane.fast = a->right;
    plane.slow = a->down;
    plane.normal = plane.beam = a->beam;
    plane.pix0 = nb_add(nb_scale(D, a->beam), nb_add(nb_scale(box[0] * a->dot, a->right),
                                                     nb_scale(box[1] * a->dot, a->down)));
    plane.close_distance = plane.distance = D;
    plane.Fbeam = -box[0] * a->dot;
    plane.Sbeam = -box[1] * a->dot;
    plane.pixel_area = a->dot * a->dot;
    return plane;
}

/** A panel to draw. */
typedef struct drawing {
    projection to;
    const nb_panel_spec *panel;
    const nb_panel_pixels *pixels;
    const uint8_t *mask; /* mask of the panel, or NULL */
} drawing;

/** Pixel of this panel under the middle of a dot, or NULL. */
static const float *pixel_at(const drawing *g, double x, double y)
{
    const projection *p = &g->to;
    const double area = p->xf * p->ys - p->xs * p->yf;
    const double dx = x - p->x0, dy = y - p->y0;
    const double i = floor((dx * p->ys - dy * p->xs) / area);
    const double j = floor((dy * p->xf - dx * p->yf) / area);
    if (!(i >= 0 && j >= 0 && i < g->panel->size[0] && j < g->panel->size[1]))
        return NULL;
    if (g->mask && !g->mask[(size_t)j * (size_t)g->panel->size[0] + (size_t)i])
        return NULL;
    return g->pixels->first + (size_t)j * g->pixels->stride + (size_t)i;
}

static void draw(const drawing *g, const double box[4], nb_assembly *out)
{
    double own[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    int x0, x1, y0, y1;
    widen(&g->to, g->panel->size, own);
    x0 = (int)fmax(0, floor(own[0] - box[0]));
    y0 = (int)fmax(0, floor(own[1] - box[1]));
    x1 = (int)fmin(out->fast, ceil(own[2] - box[0]));
    y1 = (int)fmin(out->slow, ceil(own[3] - box[1]));
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const float *from = pixel_at(g, box[0] + x + 0.5, box[1] + y + 0.5);
            if (from)
                out->pixels[(size_t)y * (size_t)out->fast + (size_t)x] = *from;
        }
}

nb_status nb_assemble(const nb_detector_spec *d, const nb_panel_pixels *pixels, float gap,
                      nb_assembly *out, nb_error *err)
{
    const picture_axes axes = axes_of(d);
    double box[4] = {INFINITY, INFINITY, -INFINITY, -INFINITY}, dots;
    size_t first = 0;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < d->n_panels; k++) {
        const projection to = projection_of(&axes, &d->panels[k]);
        widen(&to, d->panels[k].size, box);
    }
    box[0] = floor(box[0] + 1e-6);
    box[1] = floor(box[1] + 1e-6);
    box[2] = ceil(box[2] - 1e-6);
    box[3] = ceil(box[3] - 1e-6);
    dots = (box[2] - box[0]) * (box[3] - box[1]);
    if (!(dots >= 1 && dots <= MAX_DOTS && box[2] - box[0] < 1e5 && box[3] - box[1] < 1e5))
        return nb_fail(err, NB_ERR_INPUT,
                       "a picture of the assembled detector would have %.0f x %.0f dots; "
                       "its panels are too far apart",
                       box[2] - box[0], box[3] - box[1]);
    out->fast = (int)(box[2] - box[0]);
    out->slow = (int)(box[3] - box[1]);
    out->pixels = nb_alloc_raw((size_t)dots, sizeof *out->pixels, "picture", err);
    if (!out->pixels)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < (size_t)dots; i++)
        out->pixels[i] = gap;
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        const drawing g = {projection_of(&axes, p), p, &pixels[k],
                           d->mask ? d->mask + first : NULL};
        draw(&g, box, out);
        first += (size_t)p->size[0] * (size_t)p->size[1];
    }
    out->panel = plane_of(&axes, d, box, (int[2]){out->fast, out->slow});
    return NB_OK;
}
