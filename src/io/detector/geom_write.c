/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../../model/units.h"
#include "../common/panel_spec.h"
#include "geom.h"

/* A mask as rectangles: runs of a row, joined with equal runs of the row above. */

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

enum { MOST_BOXES = 20000, DIGITS = 17 };

/** Text that grows. */
typedef struct text {
    char *data;
    size_t n, room;
    int failed;
} text;

static void put_bytes(text *t, const char *bytes, size_t n)
{
    char *larger;
    if (!t->failed && t->n + n > t->room) {
        t->room = 2 * (t->n + n) + 65536;
        if (!(larger = nb_alloc_raw(t->room, 1, "geometry", NULL))) {
            t->failed = 1;
            return;
        }
        if (t->n)
            memcpy(larger, t->data, t->n);
        nb_free(t->data);
        t->data = larger;
    }
    if (t->failed)
        return;
    memcpy(t->data + t->n, bytes, n);
    t->n += n;
}

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...)
{
    char line[2 * NB_PATH_MAX];
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof line)
        t->failed = 1;
    else
        put_bytes(t, line, (size_t)n);
}

typedef char number[400];

/** All digits of a double, without exponent. */
static const char *decimal(double value, number out)
{
    int before = value == 0 ? 1 : (int)floor(log10(fabs(value))) + 1;
    int after = DIGITS - before;
    snprintf(out, sizeof(number), "%.*f", after < 1 ? 1 : after > 60 ? 60 : after, value);
    return out;
}

static void put_vector(text *t, const char *name, const char *key, const double v[3],
                       double scale)
{
    number x;
    put(t, "%s/%s =", name, key);
    for (int i = 0; i < 3; i++) {
        decimal(v[i] * scale, x);
        put(t, " %s%s%c", x[0] == '-' ? "" : "+", x, "xyz"[i]);
    }
    put(t, "\n");
}

static void put_panel(text *t, const nb_panel_spec *p, const int place[2], double clen)
{
    number x;
    double res = 1 / p->pixel[0];
    put(t, "\n%s/min_fs = %d\n%s/max_fs = %d\n", p->name, place[0], p->name,
        place[0] + p->size[0] - 1);
    put(t, "%s/min_ss = %d\n%s/max_ss = %d\n", p->name, place[1], p->name,
        place[1] + p->size[1] - 1);
    put(t, "%s/res = %s\n", p->name, decimal(res, x));
    put_vector(t, p->name, "fs", p->fast, 1);
    put_vector(t, p->name, "ss", p->slow, p->pixel[1] / p->pixel[0]);
    put(t, "%s/corner_x = %s\n", p->name, decimal(p->origin[0] * res, x));
    put(t, "%s/corner_y = %s\n", p->name, decimal(p->origin[1] * res, x));
    put(t, "%s/coffset = %s\n", p->name, decimal(p->origin[2] - clen, x));
    put(t, "%s/adu_per_photon = %s\n", p->name, decimal(p->gain, x));
    if (!isnan(p->saturation))
        put(t, "%s/max_adu = %s\n", p->name, decimal(p->saturation, x));
}

static void put_regions(text *t, const nb_geom_job *job)
{
    const nb_detector_spec *d = job->detector;
    nb_mask_box *boxes;
    int n = nb_spec_mask_boxes(d, MOST_BOXES, &boxes);
    if (n < 0)
        nb_notice(job->hooks,
                  "-geomout: the mask has too many pieces and is left out; the "
                  "mask of -hdf5 has it");
    for (int i = 0; i < n; i++) {
        const int *place = job->place[boxes[i].panel], *x = boxes[i].x, *y = boxes[i].y;
        put(t, "\nbad%d/min_fs = %d\nbad%d/max_fs = %d\n", i, place[0] + x[0], i,
            place[0] + x[1] - 1);
        put(t, "bad%d/min_ss = %d\nbad%d/max_ss = %d\nbad%d/panel = %s\n", i,
            place[1] + y[0], i, place[1] + y[1] - 1, i, d->panels[boxes[i].panel].name);
    }
    nb_free(boxes);
}

static void put_head(text *t, const nb_geom_job *job)
{
    const nb_detector_spec *d = job->detector;
    number x;
    put(t, "; %s\n", job->maker);
    if (!isnan(d->wavelength_A))
        put(t, "photon_energy = %s eV\n", decimal(NB_HC_EV_ANGSTROM / d->wavelength_A, x));
    put(t, "clen = %s m\n", decimal(d->panels[0].origin[2], x));
    put(t, "data = /entry/data/data\ndim0 = %%\ndim1 = ss\ndim2 = fs\n");
    if (d->mask && job->mask)
        put(t,
            "mask0_file = %s\nmask0_data = /entry/instrument/detector/pixel_mask\n"
            "mask0_goodbits = 0x0\nmask0_badbits = 0xffff\n",
            job->mask);
}

nb_status nb_geom_write(const char *path, const nb_geom_job *job, nb_error *err)
{
    const nb_detector_spec *d = job->detector;
    text t = {NULL, 0, 0, 0};
    nb_status st;
    put_head(&t, job);
    for (int k = 0; k < d->n_panels; k++)
        put_panel(&t, &d->panels[k], job->place[k], d->panels[0].origin[2]);
    if (d->groups) {
        put(&t, "\n");
        put_bytes(&t, d->groups, strlen(d->groups));
    }
    if (d->mask && !job->mask)
        put_regions(&t, job);
    st = t.failed ? nb_fail_memory(err, t.room, "the geometry")
                  : nb_outfile_put(path, t.data, t.n, err);
    nb_free(t.data);
    return st;
}
