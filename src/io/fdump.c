/* SPDX-License-Identifier: MIT */
#include "fdump.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "text.h"

/* Six integers, then newline and form feed; NULL when it reads otherwise. */
static const char *read_header(const char *p, const char *end, nb_sf_table *t)
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

static uint64_t padded_bytes(const nb_sf_table *t)
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

static nb_status copy_box(const char *p, const char *name, nb_sf_table *t, nb_error *err)
{
    int nh = t->hmax - t->hmin + 1, nk = t->kmax - t->kmin + 1;
    int nl = t->lmax - t->lmin + 1;
    double *row = t->F;
    for (int h = 0; h < nh; h++) {
        for (int k = 0; k < nk; k++, row += nl) {
            memcpy(row, p, (size_t)nl * sizeof *row);
            p += ((size_t)nl + 1) * sizeof *row;
            if (!all_finite(row, nl))
                return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                                  "a structure factor with h = %d, k = %d is not finite",
                                  t->hmin + h, t->kmin + k);
        }
        p += ((size_t)nl + 1) * sizeof *row;
    }
    return NB_OK;
}

nb_status nb_fdump_parse(const void *data, size_t n, const char *name, nb_sf_table *out,
                         nb_error *err)
{
    nb_sf_table t = {0};
    const char *end = (const char *)data + n, *values = read_header(data, end, &t);
    nb_status status;
    memset(out, 0, sizeof *out);
    if (!values)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 1,
            "not a structure-factor dump: six index limits, newline and form "
            "feed must come first");
    status = nb_sf_table_check(&t, name, err);
    if (status != NB_OK)
        return status;
    if (padded_bytes(&t) != (uint64_t)(end - values))
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "%zu bytes of structure factors, but limits %d..%d %d..%d %d..%d "
            "need %llu: cut short or not a dump",
            (size_t)(end - values), t.hmin, t.hmax, t.kmin, t.kmax, t.lmin, t.lmax,
            (unsigned long long)padded_bytes(&t));
    status = nb_sf_table_alloc(&t, name, err);
    if (status == NB_OK)
        status = copy_box(values, name, &t, err);
    if (status != NB_OK) {
        nb_sf_table_free(&t);
        return status;
    }
    t.reflections = nb_sf_table_voxels(&t);
    *out = t;
    return NB_OK;
}

size_t nb_fdump_header(const nb_sf_table *t, char out[NB_FDUMP_HEADER])
{
    return (size_t)snprintf(out, NB_FDUMP_HEADER, "%d %d %d %d %d %d\n\f", t->hmin,
                            t->hmax, t->kmin, t->kmax, t->lmin, t->lmax);
}

nb_status nb_fdump_write(const nb_sf_table *t, nb_fdump_sink sink, void *user,
                         nb_error *err)
{
    int nh = t->hmax - t->hmin + 1, nk = t->kmax - t->kmin + 1;
    int nl = t->lmax - t->lmin + 1;
    size_t pitch = (size_t)nl + 1;
    size_t plane_bytes = ((size_t)nk + 1) * pitch * sizeof(double);
    const double *row = t->F;
    char header[NB_FDUMP_HEADER];
    nb_status status;
    double *plane = nb_alloc(plane_bytes, 1, "one plane of a structure-factor dump", err);
    if (!plane)
        return NB_ERR_NOMEM;
    status = sink(user, header, nb_fdump_header(t, header), err);
    for (int h = 0; h < nh && status == NB_OK; h++) {
        for (int k = 0; k < nk; k++, row += nl)
            memcpy(plane + (size_t)k * pitch, row, (size_t)nl * sizeof *row);
        status = sink(user, plane, plane_bytes, err);
    }
    if (status == NB_OK) {
        memset(plane, 0, plane_bytes);
        status = sink(user, plane, plane_bytes, err);
    }
    nb_free(plane);
    return status;
}
