/* SPDX-License-Identifier: MIT */
/* A mask as rectangles: runs of a row, joined with equal runs of the row above. */
#include <string.h>

#include "../../base/memory.h"
#include "../common/panel_spec.h"

typedef struct list {
    nb_mask_box *boxes;
    int n, most, room;
} list;

/** The box that ends above row y with these columns. */
static nb_mask_box *above(const list *l, int panel, int y, const int x[2])
{
    for (int i = l->n - 1; i >= 0; i--) {
        nb_mask_box *box = &l->boxes[i];
        if (box->panel != panel || (box->y[1] < y && i < l->n - 2 * NB_PANEL_EDGE))
            return NULL;
        if (box->y[1] == y && box->x[0] == x[0] && box->x[1] == x[1])
            return box;
    }
    return NULL;
}

static int add(list *l, nb_mask_box box)
{
    nb_mask_box *before = above(l, box.panel, box.y[0], box.x), *larger;
    if (before) {
        before->y[1] = box.y[1];
        return 1;
    }
    if (l->n == l->most)
        return 0;
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        larger = nb_alloc((size_t)l->room, sizeof *larger, "rectangles", NULL);
        if (!larger)
            return 0;
        if (l->n)
            memcpy(larger, l->boxes, (size_t)l->n * sizeof *larger);
        nb_free(l->boxes);
        l->boxes = larger;
    }
    l->boxes[l->n++] = box;
    return 1;
}

static int add_row(list *l, int panel, int y, const uint8_t *row, int n)
{
    for (int i = 0; i < n; i++) {
        int first = i;
        while (i < n && !row[i])
            i++;
        if (i > first && !add(l, (nb_mask_box){panel, {first, i}, {y, y + 1}}))
            return 0;
    }
    return 1;
}

int nb_spec_mask_boxes(const nb_detector_spec *d, int most, nb_mask_box **boxes)
{
    list l = {NULL, 0, most, 0};
    const uint8_t *row = d->mask;
    *boxes = NULL;
    for (int k = 0; d->mask && k < d->n_panels; k++) {
        int nf = d->panels[k].size[0];
        for (int y = 0; y < d->panels[k].size[1]; y++, row += nf)
            if (!add_row(&l, k, y, row, nf)) {
                nb_free(l.boxes);
                return -1;
            }
    }
    *boxes = l.boxes;
    return l.n;
}
