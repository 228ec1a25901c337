/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../model/units.h"
#include "../common/json_node.h"
#include "../common/panel_spec.h"
#include "geom.h"

/* A mask becomes a list of rectangles: a run of masked pixels is joined with an equal run
 * in the row above. */

typedef struct list {
    nb_mask_box *boxes;
    int n, limit;
    size_t room;
} list;

/** Find the box with the columns x[0] to x[1]-1 that ends with the row above y. */
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
    nb_mask_box *before = above(l, box.panel, box.y[0], box.x);
    if (before) {
        before->y[1] = box.y[1];
        return 1;
    }
    if (l->n == l->limit)
        return 0;
    if (nb_reserve(&l->boxes, (size_t)l->n, &l->room, sizeof box, "rectangles", NULL))
        return 0;
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

int nb_spec_mask_boxes(const nb_detector_spec *d, int limit, nb_mask_box **boxes)
{
    list l = {NULL, 0, limit, 0};
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

enum { MAX_BOXES = 20000, DIGITS = 17 };

typedef char number[400];

/** Print all digits of a double without exponent. */
static const char *decimal(double value, number out)
{
    int before = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
    int after = DIGITS - before;
    snprintf(out, sizeof(number), "%.*f", after < 1 ? 1 : after > 60 ? 60 : after, value);
    return out;
}

static void put_vector(nb_draft *t, const char *name, const char *key, const double v[3],
                       double scale)
{
    number x;
    nb_draft_put(t, "%s/%s =", name, key);
    for (int i = 0; i < 3; i++) {
        decimal(v[i] * scale, x);
        nb_draft_put(t, " %s%s%c", x[0] == '-' ? "" : "+", x, "xyz"[i]);
    }
    nb_draft_put(t, "\n");
}

static void put_panel(nb_draft *t, const nb_panel_spec *p, const int place[2], double clen)
{
    number x;
    double res = 1 / p->pixel[0];
    nb_draft_put(t, "\n%s/min_fs = %d\n%s/max_fs = %d\n", p->name, place[0], p->name,
                 place[0] + p->size[0] - 1);
    nb_draft_put(t, "%s/min_ss = %d\n%s/max_ss = %d\n", p->name, place[1], p->name,
                 place[1] + p->size[1] - 1);
    nb_draft_put(t, "%s/res = %s\n", p->name, decimal(res, x));
    put_vector(t, p->name, "fs", p->fast, 1);
    put_vector(t, p->name, "ss", p->slow, p->pixel[1] / p->pixel[0]);
    nb_draft_put(t, "%s/corner_x = %s\n", p->name, decimal(p->origin[0] * res, x));
    nb_draft_put(t, "%s/corner_y = %s\n", p->name, decimal(p->origin[1] * res, x));
    nb_draft_put(t, "%s/coffset = %s\n", p->name, decimal(p->origin[2] - clen, x));
    nb_draft_put(t, "%s/adu_per_photon = %s\n", p->name, decimal(p->gain, x));
    if (!isnan(p->saturation))
        nb_draft_put(t, "%s/max_adu = %s\n", p->name, decimal(p->saturation, x));
}

static void put_regions(nb_draft *t, const nb_geom_job *job)
{
    const nb_detector_spec *d = job->detector;
    nb_mask_box *boxes;
    int n = nb_spec_mask_boxes(d, MAX_BOXES, &boxes);
    if (n < 0)
        nb_notice(job->hooks,
                  "-geomout: the mask has too many pieces and is left out; the "
                  "mask of -hdf5 has it");
    for (int i = 0; i < n; i++) {
        const int *place = job->place[boxes[i].panel], *x = boxes[i].x, *y = boxes[i].y;
        nb_draft_put(t, "\nbad%d/min_fs = %d\nbad%d/max_fs = %d\n", i, place[0] + x[0], i,
                     place[0] + x[1] - 1);
        nb_draft_put(t, "bad%d/min_ss = %d\nbad%d/max_ss = %d\nbad%d/panel = %s\n", i,
                     place[1] + y[0], i, place[1] + y[1] - 1, i,
                     d->panels[boxes[i].panel].name);
    }
    nb_free(boxes);
}

static void put_head(nb_draft *t, const nb_geom_job *job)
{
    const nb_detector_spec *d = job->detector;
    number x;
    nb_draft_put(t, "; %s\n", job->maker);
    if (!isnan(d->wavelength_A))
        nb_draft_put(t, "photon_energy = %s\n",
                     decimal(NB_HC_EV_ANGSTROM / d->wavelength_A, x));
    nb_draft_put(t, "clen = %s\n", decimal(d->panels[0].origin[2], x));
    nb_draft_put(t, "data = /entry/data/data\ndim0 = %%\ndim1 = ss\ndim2 = fs\n");
    if (d->mask && job->mask)
        nb_draft_put(
            t,
            "mask0_file = %s\nmask0_data = /entry/instrument/detector/pixel_mask\n"
            "mask0_goodbits = 0x0\nmask0_badbits = 0xffff\n",
            job->mask);
}

nb_status nb_geom_print(const nb_geom_job *job, char **text, size_t *n, nb_error *err)
{
    const nb_detector_spec *d = job->detector;
    nb_draft t = {0};
    put_head(&t, job);
    for (int k = 0; k < d->n_panels; k++)
        put_panel(&t, &d->panels[k], job->place[k], d->panels[0].origin[2]);
    if (d->groups) {
        nb_draft_put(&t, "\n");
        nb_draft_bytes(&t, d->groups, strlen(d->groups));
    }
    if (d->mask && !job->mask)
        put_regions(&t, job);
    *text = t.data;
    *n = t.n;
    if (!t.failed)
        return NB_OK;
    nb_free(t.data);
    *text = NULL;
    return nb_fail_memory(err, t.room, "the geometry");
}
