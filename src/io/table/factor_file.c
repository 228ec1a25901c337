/* SPDX-License-Identifier: MIT */
#include "factor_file.h"

#include <string.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"

/* Fuzzing builds set a small one, so that two wild indices do not cost gigabytes a
 * run. */
#ifndef NB_SF_MAX_VOXELS
#define NB_SF_MAX_VOXELS (INT64_C(1) << 31)
#endif

int64_t nb_factor_file_voxels(const nb_factor_file *t)
{
    return ((int64_t)t->hmax - t->hmin + 1) * ((int64_t)t->kmax - t->kmin + 1) *
           ((int64_t)t->lmax - t->lmin + 1);
}

static int64_t physical_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : INT64_MAX;
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
    if (voxels > NB_SF_MAX_VOXELS || voxels > physical_memory() / 8)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, 0,
            "index limits %d..%d %d..%d %d..%d need a table of %.3g GB, more than "
            "allowed or than this machine has; is an index mistyped?",
            t->hmin, t->hmax, t->kmin, t->kmax, t->lmin, t->lmax, (double)voxels * 8e-9);
    return NB_OK;
}

nb_status nb_factor_file_alloc(nb_factor_file *t, const char *name, nb_error *err)
{
    nb_status status = nb_factor_file_check(t, name, err);
    t->F = NULL;
    if (status != NB_OK)
        return status;
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
