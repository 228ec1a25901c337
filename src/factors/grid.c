/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/table/factor_file.h"
#include "factors.h"

nb_status nb_factor_grid_check(const int H[3], nb_error *err)
{
    nb_factor_file box = {.hmin = -H[0],
                          .hmax = H[0],
                          .kmin = -H[1],
                          .kmax = H[1],
                          .lmin = -H[2],
                          .lmax = H[2]};
    if (nb_factor_file_check(&box, "", NULL) == NB_OK)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "a table of h k l up to %d %d %d is too large (indices to %d, and the "
                   "memory of this machine): give a larger -dmin",
                   H[0], H[1], H[2], NB_SF_MAX_INDEX);
}

nb_status nb_factor_grid_new(const double cell[6], const int H[3], nb_factor_grid *out,
                             nb_error *err)
{
    size_t voxels;
    memset(out, 0, sizeof *out);
    if (nb_factor_grid_check(H, err) != NB_OK)
        return NB_ERR_INPUT;
    memcpy(out->H, H, sizeof out->H);
    memcpy(out->cell, cell, sizeof out->cell);
    voxels = nb_factor_grid_voxels(out);
    out->F = nb_alloc_raw(voxels, sizeof *out->F, "structure factors", err);
    if (!out->F) {
        memset(out, 0, sizeof *out);
        return NB_ERR_NOMEM;
    }
    for (size_t i = 0; i < voxels; i++)
        out->F[i] = NAN;
    return NB_OK;
}

nb_status nb_factor_grid_add_phases(nb_factor_grid *grid, nb_error *err)
{
    size_t voxels = nb_factor_grid_voxels(grid);
    if (grid->phase)
        return NB_OK;
    grid->phase = nb_alloc_raw(voxels, sizeof *grid->phase, "phases", err);
    for (size_t i = 0; grid->phase && i < voxels; i++)
        grid->phase[i] = NAN;
    return grid->phase ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_factor_grid_add_absences(nb_factor_grid *grid, nb_error *err)
{
    if (!grid->absent)
        grid->absent = nb_alloc(nb_factor_grid_voxels(grid), 1, "absences", err);
    return grid->absent ? NB_OK : NB_ERR_NOMEM;
}

void nb_factor_grid_free(nb_factor_grid *grid)
{
    if (grid) {
        nb_free(grid->F);
        nb_free(grid->phase);
        nb_free(grid->absent);
        memset(grid, 0, sizeof *grid);
    }
}
