/* SPDX-License-Identifier: MIT */
/** Panels of a stack: find the panel of a row or a pixel, and the rendered part of a
 * panel. Host code. */
#ifndef NB_PHYSICS_PANELS_H
#define NB_PHYSICS_PANELS_H

#include "scene.h"

/** Index of the panel that holds a row of the stack. */
static inline int nb_panel_of_row(const nb_scene *sc, int row)
{
    int low = 0, high = sc->n_panels - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (sc->panels[middle].first_row <= row)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** Index of the panel that holds a pixel of the stack. */
static inline int nb_panel_of_pixel(const nb_scene *sc, size_t pixel)
{
    int low = 0, high = sc->n_panels - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (sc->panels[middle].first_pixel <= pixel)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** Index in the stack of pixel (fast, slow) of a panel. */
static inline size_t nb_panel_pixel(const nb_panel *panel, int fast, int slow)
{
    return panel->first_pixel + (size_t)slow * (size_t)panel->columns + (size_t)fast;
}

/** Index of the first pixel of a row of the stack. The row past the last one gives the number of
 * pixels. */
static inline size_t nb_row_start(const nb_scene *sc, int row)
{
    const nb_panel *panel = &sc->panels[nb_panel_of_row(sc, row)];
    return nb_panel_pixel(panel, 0, row - panel->first_row);
}

/** The part of a panel in the region of interest, in pixels of the panel; without rows or
 * columns if the panel is outside the region. */
static inline nb_region nb_panel_region(const nb_scene *sc, const nb_panel *panel)
{
    nb_region r = sc->raster.roi;
    r.smin = r.smin > panel->first_row ? r.smin - panel->first_row : 0;
    r.smax -= panel->first_row;
    if (r.smax > panel->rows - 1)
        r.smax = panel->rows - 1;
    if (r.fmax > panel->columns - 1)
        r.fmax = panel->columns - 1;
    return r;
}

/** True if all panels have the same width, so that the stack is a rectangle. */
static inline int nb_stack_is_even(const nb_scene *sc)
{
    for (int k = 1; k < sc->n_panels; k++)
        if (sc->panels[k].columns != sc->panels[0].columns)
            return 0;
    return 1;
}

/** Coordinates of a vector in a panel's plane along the panel's unit axes: R = F fast + S
 * slow. The axes need not be at right angles. */
static inline void nb_panel_place_of(nb_vec3 fast, nb_vec3 slow, nb_vec3 R, double *F,
                                     double *S)
{
    double c = nb_dot(fast, slow), f = nb_dot(fast, R), s = nb_dot(slow, R);
    int right = fabs(c) < 1e-9; /* axes at right angles, up to rounding */
    *F = right ? f : (f - c * s) / (1 - c * c);
    *S = right ? s : (s - c * f) / (1 - c * c);
}

/** Number of pixels in a region. */
static inline double nb_region_pixels(nb_region r)
{
    if (r.fmax < r.fmin || r.smax < r.smin)
        return 0;
    return (double)(r.fmax - r.fmin + 1) * (r.smax - r.smin + 1);
}

/** Number of pixels in the region of interest, including masked pixels. */
static inline double nb_rendered_pixels(const nb_scene *sc)
{
    double sum = 0;
    for (int k = 0; k < sc->n_panels; k++)
        sum += nb_region_pixels(nb_panel_region(sc, &sc->panels[k]));
    return sum;
}

/** Number of samples of the rendered pixels, in all layers. */
static inline double nb_rendered_samples(const nb_scene *sc)
{
    double sum = 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        sum += nb_region_pixels(nb_panel_region(sc, panel)) * (double)sc->samples *
               sc->sensors[panel->sensor].layers;
    }
    return sum;
}

#endif
