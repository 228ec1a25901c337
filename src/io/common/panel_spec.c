/* SPDX-License-Identifier: MIT */
#include "panel_spec.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"

#define LARGEST_SKEW 0.09  /* limit of |fast . slow| (5 deg); real panels: ~0.001 */
#define CLOSEST_PLANE 1e-9 /* m */
#define LARGEST_LENGTH 1e6 /* m */

double nb_length3(const double v[3])
{
    return sqrt(nb_dot3(v, v));
}

void nb_unit3(double v[3])
{
    double length = nb_length3(v);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

void nb_turn_dxtbx(double v[3])
{
    v[0] = -v[0];
    v[2] = -v[2];
}

nb_status nb_detector_spec_new(int n, nb_detector_spec *detector, nb_error *err)
{
    NB_REFUSE_NULL(detector);
    memset(detector, 0, sizeof *detector);
    detector->wavelength_A = detector->polarization = NAN;
    detector->phi_deg = detector->osc_deg = detector->exposure_s = NAN;
    if (n < 1 || n > NB_PANELS_MAX)
        return nb_fail(err, NB_ERR_INPUT, "%d panels: a detector has 1 to %d", n,
                       NB_PANELS_MAX);
    detector->panels = nb_alloc((size_t)n, sizeof *detector->panels, "panels", err);
    NB_NEED(detector->panels);
    detector->n_panels = n;
    for (int k = 0; k < n; k++) {
        nb_panel_spec *panel = &detector->panels[k];
        snprintf(panel->name, sizeof panel->name, "p%d", k);
        panel->gain = 1;
        panel->saturation = NAN;
        panel->place[0] = panel->place[1] = -1;
    }
    return NB_OK;
}

/** Copy n rows of `size` bytes to new memory; NULL stays NULL. */
static nb_status copy_points(const void *from, int n, size_t size, void *to, nb_error *err)
{
    void *copy = from ? nb_alloc((size_t)n, size, "scan points", err) : NULL;
    if (copy)
        memcpy(copy, from, (size_t)n * size);
    memcpy(to, &copy, sizeof copy);
    return !from || copy ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_scan_points_copy(const nb_scan_points *from, nb_scan_points *to,
                              nb_error *err)
{
    nb_status st;
    *to = *from;
    to->change = to->setting = NULL;
    to->beam = NULL;
    if ((st = copy_points(from->change, from->n, sizeof *to->change, &to->change, err)) ||
        (st = copy_points(from->setting, from->n, sizeof *to->setting, &to->setting, err)) ||
        (st = copy_points(from->beam, from->n, sizeof *to->beam, &to->beam, err)))
        nb_scan_points_free(to);
    return st;
}

void nb_scan_points_free(nb_scan_points *points)
{
    nb_free(points->change);
    nb_free(points->setting);
    nb_free(points->beam);
    memset(points, 0, sizeof *points);
}

nb_status nb_detector_spec_copy(const nb_detector_spec *from, nb_detector_spec *to,
                                nb_error *err)
{
    NB_REFUSE_NULL(from && to);
    nb_detector_spec copy;
    nb_status st;
    memset(to, 0, sizeof *to);
    NB_FORWARD(nb_detector_spec_new(from->n_panels, &copy, err));
    *to = *from;
    to->panels = copy.panels;
    to->mask = NULL;
    to->groups = NULL;
    memset(&to->scan, 0, sizeof to->scan);
    memcpy(to->panels, from->panels, (size_t)from->n_panels * sizeof *to->panels);
    st = nb_spec_copy_groups(from, to, err);
    NB_TRY(nb_scan_points_copy(&from->scan, &to->scan, err));
    if (!st && from->mask && !(st = nb_spec_need_mask(to, err)))
        memcpy(to->mask, from->mask, nb_spec_first_pixel(from, from->n_panels));
    if (st)
        nb_detector_spec_free(to);
    return st;
}

nb_status nb_spec_copy_groups(const nb_detector_spec *from, nb_detector_spec *to,
                              nb_error *err)
{
    const size_t n = from->groups ? strlen(from->groups) + 1 : 0;
    if (n && !(to->groups = nb_alloc_raw(n, 1, "groups of panels", err)))
        return NB_ERR_NOMEM;
    if (n)
        memcpy(to->groups, from->groups, n);
    return NB_OK;
}

void nb_detector_spec_free(nb_detector_spec *detector)
{
    if (!detector)
        return;
    nb_free(detector->panels);
    nb_free(detector->mask);
    nb_free(detector->groups);
    nb_scan_points_free(&detector->scan);
    memset(detector, 0, sizeof *detector);
}

/** Fail with the name of the place in the file, if it has a name, and a formatted
 * text. */
__attribute__((format(printf, 3, 4))) static nb_status wrong(const nb_place_in_file *at,
                                                             nb_error *err,
                                                             const char *format, ...)
{
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return nb_fail_at(err, NB_ERR_INPUT, at->file, at->line, "%s%s%s", at->name,
                      at->name[0] ? ": " : "", text);
}

static nb_status check_numbers(const nb_panel_spec *p, const nb_place_in_file *at,
                               nb_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (p->size[i] < 1 || p->size[i] > NB_PANEL_EDGE)
            return wrong(at, err, "%d x %d pixels: a panel has 1 to %d along an edge",
                         p->size[0], p->size[1], NB_PANEL_EDGE);
        if (!(p->pixel[i] > 0 && p->pixel[i] < LARGEST_LENGTH))
            return wrong(at, err, "a pixel of %g x %g mm is not possible",
                         p->pixel[0] * 1e3, p->pixel[1] * 1e3);
    }
    if (!(p->thickness >= 0 && p->thickness < LARGEST_LENGTH))
        return wrong(at, err, "the thickness of the sensor must be 0 or above");
    if (!isnan(p->attenuation) && !(p->attenuation >= 0 && isfinite(p->attenuation)))
        return wrong(at, err, "the attenuation of the sensor must be 0 or above");
    if (!(p->gain > 0 && isfinite(p->gain)))
        return wrong(at, err, "the gain must be above 0");
    if (isinf(p->saturation))
        return wrong(at, err, "the largest trusted value must be finite");
    return NB_OK;
}

nb_status nb_panel_spec_check(nb_panel_spec *p, const nb_place_in_file *at, nb_error *err)
{
    nb_status st;
    double normal[3], f = nb_length3(p->fast), s = nb_length3(p->slow);
    NB_FORWARD(check_numbers(p, at, err));
    if (!(f > 0 && isfinite(f) && s > 0 && isfinite(s)))
        return wrong(at, err, "the fast and slow axes need a direction");
    for (int i = 0; i < 3; i++)
        if (!(fabs(p->origin[i]) < LARGEST_LENGTH))
            return wrong(at, err, "the origin is not within 1e6 m");
    if (f != 1)
        nb_unit3(p->fast);
    if (s != 1)
        nb_unit3(p->slow);
    if (fabs(nb_dot3(p->fast, p->slow)) > LARGEST_SKEW)
        return wrong(at, err,
                     "the fast and slow axes are not at right angles: the cosine between "
                     "them is %.3g (at most %g)",
                     nb_dot3(p->fast, p->slow), LARGEST_SKEW);
    nb_cross3(p->fast, p->slow, normal);
    nb_unit3(normal);
    if (fabs(nb_dot3(p->origin, normal)) < CLOSEST_PLANE)
        return wrong(at, err, "the plane of the panel goes through the sample");
    return NB_OK;
}

size_t nb_spec_first_pixel(const nb_detector_spec *detector, int k)
{
    size_t sum = 0;
    for (int i = 0; i < k; i++)
        sum += (size_t)detector->panels[i].size[0] * (size_t)detector->panels[i].size[1];
    return sum;
}

nb_status nb_spec_check_size(const nb_detector_spec *detector, const char *file,
                             nb_error *err)
{
    size_t pixels = nb_spec_first_pixel(detector, detector->n_panels);
    if (pixels > INT_MAX)
        return nb_fail_at(err, NB_ERR_INPUT, file, 0,
                          "the panels have %zu pixels together; at most %d", pixels,
                          INT_MAX);
    return NB_OK;
}

nb_status nb_spec_need_mask(nb_detector_spec *detector, nb_error *err)
{
    size_t pixels = nb_spec_first_pixel(detector, detector->n_panels);
    if (detector->mask)
        return NB_OK;
    if (!(detector->mask = nb_alloc_raw(pixels, 1, "mask of the panels", err)))
        return NB_ERR_NOMEM;
    memset(detector->mask, 1, pixels);
    return NB_OK;
}

void nb_spec_mask_box(nb_detector_spec *detector, int panel, const int x[2],
                      const int y[2])
{
    const int *size = detector->panels[panel].size;
    uint8_t *first = detector->mask + nb_spec_first_pixel(detector, panel);
    int x0 = x[0] > 0 ? x[0] : 0, x1 = x[1] < size[0] ? x[1] : size[0];
    int y1 = y[1] < size[1] ? y[1] : size[1];
    for (int j = y[0] > 0 ? y[0] : 0; x0 < x1 && j < y1; j++)
        memset(first + (size_t)j * (size_t)size[0] + x0, 0, (size_t)(x1 - x0));
}

void nb_spec_drop_mask(nb_detector_spec *detector)
{
    size_t pixels = nb_spec_first_pixel(detector, detector->n_panels);
    if (!detector->mask || memchr(detector->mask, 0, pixels))
        return;
    nb_free(detector->mask);
    detector->mask = NULL;
}

void nb_spec_positive_osc(nb_detector_spec *detector)
{
    if (!(detector->osc_deg < 0))
        return;
    detector->osc_deg = -detector->osc_deg;
    detector->phi_deg = -detector->phi_deg;
    for (int i = 0; i < 3; i++)
        detector->spindle.v[i] = -detector->spindle.v[i];
}
