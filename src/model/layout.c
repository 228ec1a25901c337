/* SPDX-License-Identifier: MIT */
#include "detector.h"

#include <limits.h>

static int overlap(const nb_panel_spec *a, const nb_panel_spec *b)
{
    for (int i = 0; i < 2; i++)
        if ((int64_t)a->place[i] + a->size[i] <= b->place[i] ||
            (int64_t)b->place[i] + b->size[i] <= a->place[i])
            return 0;
    return 1;
}

/** True if each panel has a separate place in the file, and an int can count all
 * pixels. */
static int file_has_places(const nb_detector_spec *d)
{
    int64_t size[2] = {0, 0};
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        if (p->place[0] < 0 || p->place[1] < 0)
            return 0;
        for (int i = 0; i < 2; i++)
            if ((int64_t)p->place[i] + p->size[i] > size[i])
                size[i] = (int64_t)p->place[i] + p->size[i];
        for (int j = 0; j < k; j++)
            if (overlap(p, &d->panels[j]))
                return 0;
    }
    return size[0] * size[1] <= INT_MAX;
}

nb_panel_canvas nb_layout_panels(const nb_detector_spec *d, nb_layout layout,
                                 int (*place)[2])
{
    nb_panel_canvas canvas = {{0, 0}, layout == NB_LAYOUT_FILE && file_has_places(d)};
    int below = 0;
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        const int at[2] = {canvas.as_file ? p->place[0] : 0,
                           canvas.as_file ? p->place[1] : below};
        below += p->size[1];
        for (int i = 0; i < 2; i++) {
            if (place)
                place[k][i] = at[i];
            if (at[i] + p->size[i] > canvas.size[i])
                canvas.size[i] = at[i] + p->size[i];
        }
    }
    return canvas;
}
