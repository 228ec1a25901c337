/* SPDX-License-Identifier: MIT */
/* Structure factors in a box of indices. Fuzzing builds set a small NB_SF_MAX_VOXELS, so
 * that a file with two distant indices does not need gigabytes. */
#include "factor_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"

#ifndef NB_SF_MAX_VOXELS
#define NB_SF_MAX_VOXELS (INT64_C(1) << 31)
#endif

int64_t nb_factor_file_voxels(const nb_factor_file *t)
{
    return ((int64_t)t->hmax - t->hmin + 1) * ((int64_t)t->kmax - t->kmin + 1) *
           ((int64_t)t->lmax - t->lmin + 1);
}

static int bad_range(int min, int max)
{
    return min > max || min < -NB_SF_MAX_INDEX || max > NB_SF_MAX_INDEX;
}

nb_status nb_factor_file_check(const nb_factor_file *t, const char *name, nb_error *err)
{
    int64_t voxels;
    if (bad_range(t->hmin, t->hmax) || bad_range(t->kmin, t->kmax) ||
        bad_range(t->lmin, t->lmax))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "index limits %d..%d %d..%d %d..%d are not ordered or beyond +-%d", t->hmin,
            t->hmax, t->kmin, t->kmax, t->lmin, t->lmax, NB_SF_MAX_INDEX);
    voxels = nb_factor_file_voxels(t);
    if (voxels > NB_SF_MAX_VOXELS || (double)voxels > nb_machine_memory() / 8)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "index limits %d..%d %d..%d %d..%d need a table of %.3g GB, more than "
            "allowed or than this machine has; is an index mistyped?",
            t->hmin, t->hmax, t->kmin, t->kmax, t->lmin, t->lmax, (double)voxels * 8e-9);
    return NB_OK;
}

nb_status nb_factor_file_alloc(nb_factor_file *t, const char *name, nb_error *err)
{
    nb_status st;
    t->F = NULL;
    NB_FORWARD(nb_factor_file_check(t, name, err));
    t->F = nb_alloc_raw((size_t)nb_factor_file_voxels(t), sizeof *t->F,
                        "structure factors", err);
    return t->F ? NB_OK : NB_ERR_NOMEM;
}

void nb_factor_file_free(nb_factor_file *t)
{
    if (t) {
        nb_free(t->F);
        memset(t, 0, sizeof *t);
    }
}

/* Read six integers, newline and form feed; NULL for other text. */
static const char *read_header(const char *p, const char *end, nb_factor_file *t)
{
    int *limits[6] = {&t->hmin, &t->hmax, &t->kmin, &t->kmax, &t->lmin, &t->lmax};
    for (int i = 0; i < 6; i++) {
        const char *start = p;
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (i > 0 && p == start)
            return NULL;
        p = nb_text_int(p, end, limits[i]);
        if (!p)
            return NULL;
    }
    return end - p >= 2 && p[0] == '\n' && p[1] == '\f' ? p + 2 : NULL;
}

static uint64_t padded_bytes(const nb_factor_file *t)
{
    return (uint64_t)(t->hmax - t->hmin + 2) * (uint64_t)(t->kmax - t->kmin + 2) *
           (uint64_t)(t->lmax - t->lmin + 2) * sizeof(double);
}

static int all_finite(const double *v, int n)
{
    int finite = 1;
    for (int i = 0; i < n; i++)
        finite &= isfinite(v[i]) != 0;
    return finite;
}

/** Copy a plane of constant h. Its rows have one value more than those of the table. */
static nb_status copy_plane(const double *plane, int h, const char *name,
                            nb_factor_file *t, nb_error *err)
{
    int nk = t->kmax - t->kmin + 1, nl = t->lmax - t->lmin + 1;
    double *row = t->F + (size_t)h * (size_t)nk * (size_t)nl;
    for (int k = 0; k < nk; k++, row += nl, plane += nl + 1) {
        memcpy(row, plane, (size_t)nl * sizeof *row);
        if (!all_finite(row, nl))
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "a structure factor with h = %d, k = %d is not finite",
                              t->hmin + h, t->kmin + k);
    }
    return NB_OK;
}

static nb_status read_box(const nb_input *in, uint64_t offset, nb_factor_file *t,
                          nb_error *err)
{
    int nh = t->hmax - t->hmin + 1;
    size_t rows = (size_t)(t->kmax - t->kmin + 2);
    size_t bytes = rows * (size_t)(t->lmax - t->lmin + 2) * sizeof(double);
    double *plane = nb_alloc_raw(bytes, 1, "one plane of structure factors", err);
    nb_status st = plane ? NB_OK : NB_ERR_NOMEM;
    for (int h = 0; !st && h < nh; h++, offset += bytes)
        if (!(st = nb_input_read(in, offset, plane, bytes, err)))
            st = copy_plane(plane, h, in->path, t, err);
    nb_free(plane);
    return st;
}

/** Read the limits into *t, and the offset of the first value into *values. */
static nb_status read_limits(const nb_input *in, nb_factor_file *t, uint64_t *values,
                             nb_error *err)
{
    char head[NB_FDUMP_HEADER];
    size_t n = in->bytes < sizeof head ? (size_t)in->bytes : sizeof head;
    nb_status st = nb_input_read(in, 0, head, n, err);
    const char *end = st ? NULL : read_header(head, head + n, t);
    if (st)
        return st;
    if (!end)
        return nb_fail_at(
            err, NB_ERR_INPUT, in->path, 1,
            "not a structure-factor dump: six index limits, newline and form "
            "feed must come first");
    *values = (uint64_t)(end - head);
    NB_FORWARD(nb_factor_file_check(t, in->path, err));
    if (padded_bytes(t) == in->bytes - *values)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, in->path, 0,
                      "%llu bytes of structure factors, but limits %d..%d %d..%d %d..%d "
                      "need %llu: the file is cut short or not a dump",
                      (unsigned long long)(in->bytes - *values), t->hmin, t->hmax, t->kmin,
                      t->kmax, t->lmin, t->lmax, (unsigned long long)padded_bytes(t));
}

nb_status nb_fdump_read(const nb_input *in, nb_factor_file *out, nb_error *err)
{
    uint64_t values = 0;
    nb_status st;
    memset(out, 0, sizeof *out);
    st = read_limits(in, out, &values, err);
    NB_TRY(nb_factor_file_alloc(out, in->path, err));
    NB_TRY(read_box(in, values, out, err));
    if (st)
        nb_factor_file_free(out);
    else
        out->reflections = nb_factor_file_voxels(out);
    return st;
}

size_t nb_fdump_header(const nb_factor_file *t, char out[NB_FDUMP_HEADER])
{
    return (size_t)snprintf(out, NB_FDUMP_HEADER, "%d %d %d %d %d %d\n\f", t->hmin,
                            t->hmax, t->kmin, t->kmax, t->lmin, t->lmax);
}

nb_status nb_fdump_write(const nb_factor_file *t, nb_fdump_sink sink, void *user,
                         nb_error *err)
{
    int nh = t->hmax - t->hmin + 1, nk = t->kmax - t->kmin + 1;
    int nl = t->lmax - t->lmin + 1;
    size_t pitch = (size_t)nl + 1;
    size_t plane_bytes = ((size_t)nk + 1) * pitch * sizeof(double);
    const double *row = t->F;
    char header[NB_FDUMP_HEADER];
    nb_status st;
    double *plane = nb_alloc(plane_bytes, 1, "one plane of a structure-factor dump", err);
    NB_NEED(plane);
    st = sink(user, header, nb_fdump_header(t, header), err);
    for (int h = 0; h < nh && !st; h++) {
        for (int k = 0; k < nk; k++, row += nl)
            memcpy(plane + (size_t)k * pitch, row, (size_t)nl * sizeof *row);
        st = sink(user, plane, plane_bytes, err);
    }
    if (!st) {
        memset(plane, 0, plane_bytes);
        st = sink(user, plane, plane_bytes, err);
    }
    nb_free(plane);
    return st;
}
