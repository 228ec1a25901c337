/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../model/detector.h"
#include "../params/params.h"

static size_t pixels_of(const nb_panel_spec *p)
{
    return (size_t)p->size[0] * (size_t)p->size[1];
}

static int in_stack(const nb_detector_spec *d, const nb_image *image, nb_panel_pixels *out)
{
    size_t first = 0;
    for (int k = 0; k < d->n_panels; k++) {
        out[k] = (nb_panel_pixels){image->pixels + first, (size_t)d->panels[k].size[0]};
        first += pixels_of(&d->panels[k]);
    }
    return first == (size_t)image->fast * (size_t)image->slow;
}

void nb_stack_size(const nb_detector_spec *d, int *fast, int *slow)
{
    size_t pixels = 0, width = (size_t)d->panels[0].size[0];
    for (int k = 0; k < d->n_panels; k++)
        pixels += pixels_of(&d->panels[k]);
    if (pixels % width)
        width = pixels;
    *fast = (int)width;
    *slow = (int)(pixels / width);
}

int nb_panels_in_image(const nb_detector_spec *d, const nb_image *image,
                       nb_panel_pixels *out)
{
    int(*place)[2], found = 0;
    if (!strcmp(image->format, "float"))
        return in_stack(d, image, out);
    if (!(place = nb_alloc((size_t)d->n_panels, sizeof *place, "layout", NULL)))
        return 0;
    for (int i = 0; i < 2 && !found; i++) {
        const nb_layout layout = i ? NB_LAYOUT_FILE : NB_LAYOUT_STACK;
        const nb_panel_canvas canvas = nb_layout_panels(d, layout, place);
        found = canvas.size[0] == image->fast && canvas.size[1] == image->slow;
    }
    for (int k = 0; found && k < d->n_panels; k++)
        out[k] =
            (nb_panel_pixels){image->pixels + (size_t)place[k][1] * (size_t)image->fast +
                                  (size_t)place[k][0],
                              (size_t)image->fast};
    nb_free(place);
    return found;
}

int nb_panel_in_image(const nb_image *image, int fast, int slow, int at[2])
{
    const nb_detector_spec *d = image->detector;
    const float *pixel = image->pixels + (size_t)slow * (size_t)image->fast + fast;
    nb_panel_pixels *where;
    int panel = -1;
    if (!d || d->n_panels < 2 ||
        !(where = nb_alloc((size_t)d->n_panels, sizeof *where, "panels", NULL)))
        return -1;
    for (int k = 0; nb_panels_in_image(d, image, where) && panel < 0 && k < d->n_panels;
         k++) {
        const ptrdiff_t off = pixel - where[k].first;
        at[0] = off >= 0 ? (int)((size_t)off % where[k].stride) : -1;
        at[1] = off >= 0 ? (int)((size_t)off / where[k].stride) : -1;
        if (at[0] >= 0 && at[0] < d->panels[k].size[0] && at[1] < d->panels[k].size[1])
            panel = k;
    }
    nb_free(where);
    return panel;
}

nb_status nb_image_find_panels(const char *hdf5, const nb_config *typed, nb_image *image,
                               nb_error *err)
{
    const int named = typed && nb_config_geometry_flag(typed);
    NB_OWN_CONFIG cfg = {0};
    nb_detector_spec *d = nb_alloc(1, sizeof *d, "detector", err);
    nb_error unheard = {0};
    nb_status st = d ? NB_OK : NB_ERR_NOMEM;
    nb_config_defaults(&cfg);
    if (!st && named) {
        nb_config_copy(&cfg, typed);
        st = nb_config_load_geometry(&cfg, NULL, d, err);
    } else if (!st && hdf5 && !(st = nb_text_put(&cfg.nxmx_file, hdf5, err))) {
        if (nb_config_load_geometry(&cfg, NULL, d, &unheard))
            /* HDF5 without NXmx geometry is treated as one panel */
            memset(d, 0, sizeof *d);
    }
    if (!st && d->n_panels > !named) {
        image->detector = d;
        d = NULL;
    }
    if (d)
        nb_detector_spec_free(d);
    nb_free(d);
    return st;
}
