/* SPDX-License-Identifier: MIT */
/** F of materials at an angle, in float from cells (material_cells.h). */
#ifndef NB_CUDA_MATERIAL_LOOK_CUH
#define NB_CUDA_MATERIAL_LOOK_CUH

#include "../backend/internal.h"
#include "row.cuh"

/** Data of a launch with materials, without its panels. */
typedef struct material_job {
    nb_cuda_cells of;
    row_job row;
    float share; /* of all molecules, against the crystal: k_one_wet only */
} material_job;

/** |d - i| = 2 sin(theta), from the cosine between both. */
static __device__ __forceinline__ double chord(double cosine)
{
    const double tiny = 1e-200; /* keeps the root finite in the direct beam */
    const double square = fabs(fma(-2.0, cosine, 2.0)) + tiny, r = gpuRoughRoot(square),
                 s = square * r, e = fma(-s, r, 1.0);
    return fma(0.5 * s, e, s); /* to 1e-12 */
}

/** F at x = sin(theta)/lambda outside of the cells. */
static __device__ __noinline__ float F_of_pieces(const nb_amorphous *a, int material,
                                                 double x)
{
    return (float)nb_piece_F(nb_piece_of(a, &a->materials[material], x), x);
}

/** F at x. */
static __device__ __forceinline__ float F_at(const material_job &p, const nb_cells &m,
                                             double x)
{
    const double t = fma(x, m.per, m.shift), sum = t + NB_CELL_MAGIC;
    const int cell = min(max(__double2loint(sum), 0), m.last);
    const float4 at = __ldg((const float4 *)p.of.cells + m.first + cell);
    const float c[4] = {at.x, at.y, at.z, at.w};
    if (at.x != at.x)
        return F_of_pieces(p.row.scene.amorphous, m.material, x);
    return nb_cell_F(c, (float)(t - (sum - NB_CELL_MAGIC)) + 0.5f);
}

#endif
