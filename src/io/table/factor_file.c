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

/** Copy the box, whose rows and planes have one value fewer than those of the file. */
static nb_status copy_box(const char *from, const char *name, nb_factor_file *t,
                          nb_error *err)
{
    const size_t nl = (size_t)(t->lmax - t->lmin + 1), row = (nl + 1) * sizeof *t->F;
    const size_t plane = (size_t)(t->kmax - t->kmin + 2) * row;
    double *to = t->F;
    for (int h = t->hmin; h <= t->hmax; h++, from += plane)
        for (int k = t->kmin; k <= t->kmax; k++, to += nl) {
            int finite = 1;
            memcpy(to, from + (size_t)(k - t->kmin) * row, nl * sizeof *to);
            for (size_t i = 0; i < nl; i++)
                finite &= isfinite(to[i]) != 0;
            if (!finite)
                return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                                  "a structure factor with h = %d, k = %d is not finite",
                                  h, k);
        }
    return NB_OK;
}

/** Read the limits into *t; *values: the first value. */
static nb_status read_limits(const char *data, size_t n, const char *name,
                             nb_factor_file *t, const char **values, nb_error *err)
{
    uint64_t bytes;
    nb_status st;
    if (!(*values = read_header(data, data + n, t)))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 1,
            "not a structure-factor dump: six index limits, newline and form "
            "feed must come first");
    NB_FORWARD(nb_factor_file_check(t, name, err));
    bytes = (uint64_t)(data + n - *values);
    if (padded_bytes(t) == bytes)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "%llu bytes of structure factors, but limits %d..%d %d..%d %d..%d "
                      "need %llu: the file is cut short or not a dump",
                      (unsigned long long)bytes, t->hmin, t->hmax, t->kmin, t->kmax,
                      t->lmin, t->lmax, (unsigned long long)padded_bytes(t));
}

nb_status nb_fdump_parse(const void *data, size_t n, const char *name,
                         nb_factor_file *out, nb_error *err)
{
    const char *values = NULL;
    nb_status st;
    memset(out, 0, sizeof *out);
    st = read_limits(data, n, name, out, &values, err);
    NB_TRY(nb_factor_file_alloc(out, name, err));
    NB_TRY(copy_box(values, name, out, err));
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
