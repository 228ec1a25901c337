/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/factor_file.h"
#include "factors.h"

/** cos of degrees, exact where cells are. */
static double cos_degrees(double x)
{
    return x == 90 ? 0 : x == 120 ? -0.5 : x == 60 ? 0.5 : cos(x * (M_PI / 180));
}

void nb_reciprocal_metric(const double cell[6], double G[6])
{
    double a = cell[0], b = cell[1], c = cell[2];
    double ab = a * b * cos_degrees(cell[5]), ac = a * c * cos_degrees(cell[4]);
    double bc = b * c * cos_degrees(cell[3]), aa = a * a, bb = b * b, cc = c * c;
    double x = bb * cc - bc * bc, xy = ac * bc - ab * cc, xz = ab * bc - ac * bb;
    double det = aa * x + ab * xy + ac * xz; /* the square of the volume */
    G[0] = x / det;
    G[1] = (aa * cc - ac * ac) / det;
    G[2] = (aa * bb - ab * ab) / det;
    G[3] = 2 * xy / det;
    G[4] = 2 * xz / det;
    G[5] = 2 * (ab * ac - bc * aa) / det;
}

void nb_index_limits(const double cell[6], double dmin, int H[3])
{
    /* h is the product of s and a: |h| <= |s| |a|, whatever the angles */
    for (int i = 0; i < 3; i++)
        H[i] = (int)fmin(floor(cell[i] * sqrt(nb_s_squared_limit(dmin))), 1e9);
}

int nb_row_of_l(const double G[6], double limit, int h, int k, int L, int *first,
                int *last)
{
    double p = (G[4] * h + G[5] * k) / (2 * G[2]);
    double square = p * p - (G[0] * h * h + G[1] * k * k + G[3] * h * k - limit) / G[2];
    double half = sqrt(fmax(square, 0));
    /* the roots are rounded: one step more, then the test that everybody makes */
    int l0 = (int)fmax(floor(-p - half), -L), l1 = (int)fmin(ceil(half - p), L);
    while (l0 <= l1 && !(nb_s_squared(G, h, k, l0) <= limit))
        l0++;
    while (l0 <= l1 && !(nb_s_squared(G, h, k, l1) <= limit))
        l1--;
    *first = l0;
    *last = l1;
    return l0 <= l1;
}

nb_status nb_factor_grid_new(const double cell[6], const int H[3], nb_factor_grid *out,
                             nb_error *err)
{
    nb_factor_file box = {.hmin = -H[0],
                          .hmax = H[0],
                          .kmin = -H[1],
                          .kmax = H[1],
                          .lmin = -H[2],
                          .lmax = H[2]};
    size_t voxels;
    memset(out, 0, sizeof *out);
    if (nb_factor_file_check(&box, "", NULL) != NB_OK)
        return nb_fail(err, NB_ERR_INPUT,
                       "a table of h k l up to %d %d %d is too large (indices to %d, and "
                       "the memory of this machine): give a larger -dmin",
                       H[0], H[1], H[2], NB_SF_MAX_INDEX);
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
