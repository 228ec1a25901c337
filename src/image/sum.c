/* SPDX-License-Identifier: MIT */
#include "sum.h"

#include <math.h>
#include <string.h>

#include "../base/coefficients.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../physics/panels.h"

#define WHOLE_MAX 4e18 /* limit of a value of one frame */

nb_status nb_sum_open(nb_sum *sum, size_t pixels, nb_error *err)
{
    sum->pixel = nb_alloc(pixels, sizeof *sum->pixel, "-sumfile", err);
    sum->pixels = pixels;
    if (sum->pixel)
        pthread_mutex_init(&sum->lock, NULL);
    return sum->pixel ? NB_OK : NB_ERR_NOMEM;
}

void nb_sum_close(nb_sum *sum)
{
    if (!sum->pixel)
        return;
    pthread_mutex_destroy(&sum->lock);
    nb_free(sum->pixel);
    sum->pixel = NULL;
}

void nb_sum_pixel_add(nb_sum_pixel *to, const nb_sum_pixel *more)
{
    to->part += more->part;
    to->whole += more->whole + (int64_t)(to->part >> 52);
    to->part &= ((uint64_t)1 << 52) - 1;
}

static double value_of(nb_pixel_type type, const void *pixels, size_t i)
{
    switch (type) {
    case NB_PIXEL_U16:
        return ((const uint16_t *)pixels)[i];
    case NB_PIXEL_I16:
        return ((const int16_t *)pixels)[i];
    case NB_PIXEL_I32:
        return ((const int32_t *)pixels)[i];
    default:
        return ((const float *)pixels)[i];
    }
}

static void add_value(nb_sum_pixel *to, double value)
{
    const double whole = floor(value);
    nb_sum_pixel one;
    if (!(fabs(value) < WHOLE_MAX))
        return;
    one.whole = (int64_t)whole;
    /* below 2^52, because a double has 53 bits */
    one.part = (uint64_t)((value - whole) * NB_TWO_52);
    nb_sum_pixel_add(to, &one);
}

void nb_sum_add(nb_sum *sum, const nb_scene *sc, nb_pixel_type type, const void *pixels)
{
    const uint8_t *mask = sc->raster.mask;
    pthread_mutex_lock(&sum->lock);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_region r = nb_panel_region(sc, panel);
        for (int s = r.smin; s <= r.smax; s++) {
            const size_t row = nb_panel_pixel(panel, 0, s);
            for (size_t i = row + (size_t)r.fmin;
                 i <= row + (size_t)r.fmax && r.fmax >= r.fmin; i++)
                if (!mask || mask[i])
                    add_value(&sum->pixel[i], value_of(type, pixels, i));
        }
    }
    pthread_mutex_unlock(&sum->lock);
}

nb_status nb_sum_write(const nb_sum *sum, const char *path, nb_error *err)
{
    double *out = nb_alloc_large(sum->pixels, sizeof *out, "-sumfile", err);
    nb_status st;
    if (!out)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < sum->pixels; i++)
        out[i] = (double)sum->pixel[i].whole + (double)sum->pixel[i].part / NB_TWO_52;
    st = nb_outfile_put(path, out, sum->pixels * sizeof *out, err);
    nb_free(out);
    return st;
}
