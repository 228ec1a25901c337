/* SPDX-License-Identifier: MIT */
#include "assemble.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"

/* dots of a picture */
#define MOST_DOTS ((double)(1 << 28))

/** A panel's plane in the picture, dots: x = x0 + i xf + j xs and y = y0 + i yf + j ys of its pixel edges i, j. */
typedef struct projection {
    double x0, xf, xs, y0, yf, ys;
} projection;

/** Axes of the picture: right and down are -X and -Y of NeXus in every convention. */
typedef struct picture_axes {
    nb_vec3 right, down, along, beam; /* along: normal of the two */
    double dot;                       /* m */
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

/** Along the beam into the plane, dots. */
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

/** Widen a rectangle (x, y low; x, y high) by a panel. */
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

/** Distance along the beam to the panel's plane. */
static double distance_of(const picture_axes *a, const nb_panel_spec *p)
{
    nb_vec3 o = nb_cross(of(p->fast), of(p->slow));
    return nb_dot(of(p->origin), o) / nb_dot(a->beam, o);
}

/** The plane of the picture, for rings: at the panel whose middle is nearest to the beam. */
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

/** A panel being drawn. */
typedef struct drawing {
    projection to;
    const nb_panel_spec *panel;
    const nb_panel_pixels *pixels;
    const uint8_t *mask; /* of the panel; NULL: none */
} drawing;

/** The pixel of this panel under the middle of a dot; NULL: none. */
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
    if (!(dots >= 1 && dots <= MOST_DOTS && box[2] - box[0] < 1e5 && box[3] - box[1] < 1e5))
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
