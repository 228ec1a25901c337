/* SPDX-License-Identifier: MIT */
/* Mask pixels of a CrystFEL geometry: bad regions, edges, and arrays in HDF5 files. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "geom.h"
#include "../hdf5/hdf5_get.h"

static nb_status refuse(const nb_geom_text *text, const nb_geom_bad *bad,
                        const char *what, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, text->name, bad->name.line, "bad region %.*s: %s",
                      (int)fmin((double)(bad->name.end - bad->name.p), 60), bad->name.p,
                      what);
}

/** Mask a region of panel k; the limits of the region are pixels of the data. */
static nb_status mask_rows(const nb_geom_text *text, const nb_geom_bad *bad, int k,
                           nb_detector_spec *out, nb_error *err)
{
    const nb_geom_panel *p = &text->panels[k];
    if (bad->fs_first < p->fs_first || bad->fs_last > p->fs_last ||
        bad->ss_first < p->ss_first || bad->ss_last > p->ss_last)
        return refuse(text, bad, "it must lie in its panel", err);
    nb_spec_mask_box(out, k,
                     (int[2]){(int)(bad->fs_first - p->fs_first),
                              (int)(bad->fs_last - p->fs_first) + 1},
                     (int[2]){(int)(bad->ss_first - p->ss_first),
                              (int)(bad->ss_last - p->ss_first) + 1});
    return NB_OK;
}

/** Mask pixels of panel k between limits of x, y across the beam (unit: its pixel). */
static void mask_place(const nb_geom_text *text, const nb_geom_bad *bad, int k,
                       nb_detector_spec *out)
{
    const nb_geom_panel *from = &text->panels[k];
    const nb_panel_spec *p = &out->panels[k];
    uint8_t *to = out->mask + nb_spec_first_pixel(out, k);
    double x0 = from->corner_x + text->shift_m[0] * from->res;
    double y0 = from->corner_y + text->shift_m[1] * from->res;
    double fs[3], ss[3];
    if (nb_geom_direction(text, from->fs, fs, NULL) ||
        /* no errors, because both directions were read before */
        nb_geom_direction(text, from->ss, ss, NULL))
        return;
    for (int j = 0; j < p->size[1]; j++)
        for (int i = 0; i < p->size[0]; i++, to++) {
            double x = fs[0] * i + ss[0] * j + x0, y = fs[1] * i + ss[1] * j + y0;
            if (x > bad->x_least && x < bad->x_max && y > bad->y_least && y < bad->y_max)
                *to = 0;
        }
}

/** Panel of a region; -1: all panels, -2: unknown name. If the limits are in fs and ss
 * (rows = 1), a missing name means the only panel, as in CrystFEL. */
static int panel_of(const nb_geom_text *text, const nb_geom_bad *bad, int rows)
{
    if (!bad->panel.p && rows && text->n_panels == 1)
        return 0;
    if (!bad->panel.p)
        return -1;
    for (int k = 0; k < text->n_panels; k++)
        if (nb_piece_equal(text->panels[k].name, bad->panel))
            return k;
    return -2;
}

static nb_status mask_region(const nb_geom_text *text, const nb_geom_bad *bad,
                             nb_detector_spec *out, nb_error *err)
{
    int rows = bad->fs_last >= bad->fs_first && bad->ss_last >= bad->ss_first;
    int across = bad->x_max >= bad->x_least && bad->y_max >= bad->y_least;
    int only = panel_of(text, bad, rows);
    if (!rows && !across)
        return refuse(text, bad,
                      "it needs min_ and max_ of fs and ss, or of x and y, max not below "
                      "min",
                      err);
    if (only == -2)
        return refuse(text, bad, "its panel is not there", err);
    if (rows && only == -1)
        return refuse(text, bad, "it needs a panel, as its limits are of fs and ss", err);
    if (rows)
        return mask_rows(text, bad, only, out, err);
    for (int k = 0; k < text->n_panels; k++)
        if (only < 0 || k == only)
            mask_place(text, bad, k, out);
    return NB_OK;
}

static void mask_edges(const nb_geom_panel *p, int k, nb_detector_spec *out)
{
    int nf = out->panels[k].size[0], ns = out->panels[k].size[1];
    int n = p->no_index ? NB_PANEL_EDGE : (int)fmin(p->edge, NB_PANEL_EDGE);
    if (n == 0)
        return;
    nb_spec_mask_box(out, k, (int[2]){0, n}, (int[2]){0, ns});
    nb_spec_mask_box(out, k, (int[2]){nf - n, nf}, (int[2]){0, ns});
    nb_spec_mask_box(out, k, (int[2]){0, nf}, (int[2]){0, n});
    nb_spec_mask_box(out, k, (int[2]){0, nf}, (int[2]){ns - n, ns});
}

nb_status nb_geom_mask(const nb_geom_text *text, nb_detector_spec *out, nb_error *err)
{
    int any = text->n_bad > 0;
    nb_status st;
    for (int k = 0; k < text->n_panels; k++)
        any |= text->panels[k].no_index || text->panels[k].edge > 0;
    if (!any)
        return NB_OK;
    NB_FORWARD(nb_spec_need_mask(out, err));
    for (int i = 0; !st && i < text->n_bad; i++)
        st = mask_region(text, &text->bad[i], out, err);
    for (int k = 0; !st && k < text->n_panels; k++)
        mask_edges(&text->panels[k], k, out);
    return st;
}

/* --- masks in HDF5 files --- */

static nb_status copy_span(const nb_geom_text *text, nb_piece span, char *out,
                           size_t size, nb_error *err)
{
    size_t n = (size_t)(span.end - span.p);
    if (n >= size)
        return nb_geom_fail(text, span, "the name is too long", err);
    memcpy(out, span.p, n);
    out[n] = '\0';
    return NB_OK;
}

/** Find a file by its name. Try a relative name also in the folder of the geometry. */
static nb_status find_file(const nb_geom_text *text, nb_piece span,
                           char path[NB_PATH_MAX], nb_error *err)
{
    char beside[2 * NB_PATH_MAX];
    const char *slash = strrchr(text->name, '/');
    nb_status st = copy_span(text, span, path, NB_PATH_MAX, err);
    if (st || access(path, F_OK) == 0)
        return st;
    if (path[0] != '/' && slash &&
        snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - text->name), text->name,
                 path) < NB_PATH_MAX &&
        access(beside, F_OK) == 0) {
        memcpy(path, beside, strlen(beside) + 1);
        return NB_OK;
    }
    return nb_fail_at(err, NB_ERR_INPUT, text->name, span.line, "the mask %s: %s", path,
                      strerror(errno));
}

static int is_same(const nb_geom_mask_file *a, const nb_geom_mask_file *b)
{
    return nb_piece_equal(a->file, b->file) && nb_piece_equal(a->data, b->data);
}

/** The box of a panel in an array, and the distances in the array between neighbours
 * along fs and ss. */
typedef struct cut {
    nb_h5_box box;
    hsize_t step_fs, step_ss;
} cut;

/** Find the cut of a panel from the dimensions without frames; 0 if they do not fit. */
static int cut_of(const nb_geom_panel *p, const nb_panel_spec *size, const nb_h5_set *set,
                  cut *out)
{
    int dims[NB_GEOM_DIMS], n = 0, skip, fs = 0, ss = 0;
    hsize_t step = 1;
    for (int i = 0; i < NB_GEOM_DIMS; i++)
        if (p->dims[i] != NB_GEOM_UNSET && p->dims[i] != NB_GEOM_FRAME)
            dims[n++] = p->dims[i];
    if (n == 0) {
        dims[n++] = NB_GEOM_SS;
        dims[n++] = NB_GEOM_FS;
    }
    if (n != set->rank)
        return 0;
    skip = NB_H5_RANK - n;
    *out = (cut){{{0, 0, 0}, {1, 1, 1}}, 1, 1};
    for (int i = 0; i < n; i++) {
        double first = dims[i] >= 0            ? dims[i]
                       : dims[i] == NB_GEOM_FS ? p->fs_first
                                               : p->ss_first;
        double count = dims[i] >= 0            ? 1
                       : dims[i] == NB_GEOM_FS ? size->size[0]
                                               : size->size[1];
        if (first + count > (double)set->dims[skip + i])
            return 0;
        out->box.first[skip + i] = (hsize_t)first;
        out->box.count[skip + i] = (hsize_t)count;
    }
    for (int i = n - 1; i >= 0; i--) {
        fs = dims[i] == NB_GEOM_FS;
        ss = dims[i] == NB_GEOM_SS;
        out->step_fs = fs ? step : out->step_fs;
        out->step_ss = ss ? step : out->step_ss;
        step *= out->box.count[skip + i];
    }
    return 1;
}

static void mask_values(const nb_geom_mask_file *mask, const cut *c,
                        const int64_t *values, int k, nb_detector_spec *out)
{
    const nb_panel_spec *p = &out->panels[k];
    uint8_t *to = out->mask + nb_spec_first_pixel(out, k);
    uint64_t good = (uint64_t)mask->good, bad = (uint64_t)mask->bad;
    for (int j = 0; j < p->size[1]; j++)
        for (int i = 0; i < p->size[0]; i++, to++) {
            uint64_t v =
                (uint64_t)values[(hsize_t)j * c->step_ss + (hsize_t)i * c->step_fs];
            if ((v & good) != good || (v & bad) != 0)
                *to = 0;
        }
}

static nb_status mask_set(const nb_geom_text *text, const nb_geom_mask_file *mask,
                          const nb_h5_set *set, int k, nb_detector_spec *out,
                          nb_error *err)
{
    const nb_panel_spec *p = &out->panels[k];
    int64_t *values;
    cut c;
    nb_status st;
    if (!cut_of(&text->panels[k], p, set, &c))
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "%s does not hold panel %s: other dimensions or too small",
                          set->path, p->name);
    values = nb_alloc_raw((size_t)p->size[0] * (size_t)p->size[1], sizeof *values,
                          "mask of a panel", err);
    NB_NEED(values);
    st = nb_h5_set_read(set, &c.box, H5T_NATIVE_INT64, values, err);
    if (!st)
        mask_values(mask, &c, values, k, out);
    nb_free(values);
    return st;
}

/** Mask panel k and later panels with the same mask, from the data set `name`. */
static nb_status read_mask(const nb_geom_text *text, int k, int number,
                           const nb_h5_input *in, const char *name, nb_detector_spec *out,
                           nb_error *err)
{
    const nb_geom_mask_file *mask = &text->panels[k].masks[number];
    nb_h5_set set;
    nb_status st = NB_OK;
    if (!nb_h5_set_open(in, name, -1, &set))
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "no mask %s", name);
    for (; !st && k < text->n_panels; k++) {
        if (is_same(&text->panels[k].masks[number], mask))
            st = mask_set(text, &text->panels[k].masks[number], &set, k, out, err);
    }
    nb_h5_set_close(&set);
    return st;
}

/** Open the file of a mask once and mask all its panels. */
static nb_status mask_file(const nb_geom_text *text, int k, int number,
                           nb_detector_spec *out, nb_error *err)
{
    const nb_geom_mask_file *mask = &text->panels[k].masks[number];
    char path[NB_PATH_MAX], name[NB_PATH_MAX];
    nb_h5_input in;
    nb_status st;
    NB_FORWARD(find_file(text, mask->file, path, err));
    NB_FORWARD(copy_span(text, mask->data, name, sizeof name, err));
    NB_FORWARD(nb_h5_start(&in, path, NULL, err));
    return nb_h5_stop(&in, read_mask(text, k, number, &in, name, out, err), err);
}

/** True if an earlier panel has the same mask. */
static int is_repeated(const nb_geom_text *text, int k, int number)
{
    const nb_geom_mask_file *mask = &text->panels[k].masks[number];
    for (int j = 0; j < k; j++)
        if (is_same(&text->panels[j].masks[number], mask))
            return 1;
    return 0;
}

nb_status nb_geom_mask_files(const nb_geom_text *text, nb_detector_spec *out,
                             nb_error *err)
{
    int missing = 0;
    nb_status st = NB_OK;
    for (int k = 0; !st && k < text->n_panels; k++)
        for (int i = 0; !st && i < NB_GEOM_MASKS; i++) {
            const nb_geom_mask_file *mask = &text->panels[k].masks[i];
            if (!mask->data.p)
                continue;
            if (!mask->file.p && !missing++)
                nb_notice(text->hooks,
                          "%s:%ld: a mask without a file lies in the data, which are not "
                          "read: it masks nothing",
                          text->name, mask->data.line);
            if (!mask->file.p || is_repeated(text, k, i))
                continue;
            st = nb_spec_need_mask(out, err);
            NB_TRY(mask_file(text, k, i, out, err));
        }
    nb_spec_drop_mask(out);
    return st;
}
