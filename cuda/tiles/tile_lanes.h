/* SPDX-License-Identifier: MIT */
/** The 32 lanes of a warp, for code that the host also compiles. On the host the lanes
 * run one after the other, and variables of a lane are arrays. */
#ifndef NB_CUDA_TILE_LANES_H
#define NB_CUDA_TILE_LANES_H

#include <stdint.h>

#include "../../src/physics/hostdevice.h"

#ifdef NB_GPU
#include "../backend/vendor.h"
#endif

#include "../../src/terms/tile_bounds.h"

enum { NB_TILE_LANES = 32 };

/* Functions of a warp are inlined, so that its state stays in registers. */
#ifdef NB_GPU
#define NB_TILE_HD static __host__ __device__ __forceinline__
#else
#define NB_TILE_HD static inline
#endif

#ifdef NB_GPU_DEVICE_PASS
#define NB_TILE_ROLLED                                                                   \
    _Pragma(                                                                             \
        "unroll 1") /* not unrolled, because warps wait for instructions of long loops */
#define NB_TILE_TWICE _Pragma("unroll 2")
#else
#define NB_TILE_ROLLED
#define NB_TILE_TWICE
#endif

#ifdef NB_GPU_DEVICE_PASS

#define NB_EACH_LANE(lane)                                                               \
    for (int lane __attribute__((unused)) = (int)(threadIdx.x % NB_TILE_LANES),          \
                  once_ = 1;                                                             \
         once_; once_ = 0)
#define NB_LANE_OF(type, x) type x
#define NB_LANE_ARG(type, x) type x
#define NB_LANE_REF(type, x) type *x
#define NB_LANE_PASS(x) &x
#define NB_LANE(x) x
#define NB_LANE_IN(x) (*x)
#define NB_TILE_ADD(to, x) atomicAdd(to, x)
#define NB_TILE_COUNT(to, x) atomicAdd(to, x) /* the counter is in shared memory */

/** Sum of the numbers of this lane and all earlier lanes. */
static __device__ __forceinline__ void nb_lanes_prefix(uint32_t *x)
{
    const int lane = (int)(threadIdx.x % NB_TILE_LANES);
    for (int far = 1; far < NB_TILE_LANES; far *= 2) {
        const uint32_t before =
            gpuShuffle(*x, (lane - far) & (NB_TILE_LANES - 1), NB_TILE_LANES);
        *x += lane >= far ? before : 0;
    }
}

static __device__ __forceinline__ uint32_t nb_lanes_get(uint32_t x, int lane)
{
    return gpuShuffle(x, lane, NB_TILE_LANES);
}

static __device__ __forceinline__ float nb_lanes_add(float x)
{
    for (int half = NB_TILE_LANES / 2; half > 0; half /= 2)
        x += gpuShuffleXor(x, half, NB_TILE_LANES);
    return x;
}

/** Sum over the lanes with the same remainder by 4. */
static __device__ __forceinline__ void nb_lanes_add_quads(double *x)
{
    for (int half = NB_TILE_LANES / 2; half > 2; half /= 2)
        *x += gpuShuffleXor(*x, half, NB_TILE_LANES);
}

/** Sums of four numbers over all lanes; lane i gets the sum of number i % 4. */
static __device__ __forceinline__ double nb_lanes_add_fours(const float x[4])
{
    const int lane = (int)(threadIdx.x % NB_TILE_LANES);
    const double a = lane & 2 ? x[2] : x[0], b = lane & 2 ? x[3] : x[1],
                 c = lane & 2 ? x[0] : x[2], d = lane & 2 ? x[1] : x[3];
    const double even = a + gpuShuffleXor(c, 2, NB_TILE_LANES),
                 odd = b + gpuShuffleXor(d, 2, NB_TILE_LANES);
    double sum =
        (lane & 1 ? odd : even) + gpuShuffleXor(lane & 1 ? even : odd, 1, NB_TILE_LANES);
    nb_lanes_add_quads(&sum);
    return sum;
}

static __device__ __forceinline__ uint32_t nb_lanes_ballot(int x)
{
    return gpuBallot(x);
}

static __device__ __forceinline__ int nb_lanes_count(uint32_t bits)
{
    return __popc(bits);
}

static __device__ __forceinline__ void nb_lanes_meet(void)
{
    gpuSyncLanes();
}

/** Add n to a counter, once per warp. Returns the counter's previous value. */
static __device__ __forceinline__ unsigned nb_lanes_reserve(unsigned *counter, unsigned n)
{
    unsigned at = 0;
    if (threadIdx.x % NB_TILE_LANES == 0)
        at = atomicAdd(counter, n);
    return gpuShuffle(at, 0, NB_TILE_LANES);
}

#else

#define NB_EACH_LANE(lane) for (int lane = 0; lane < NB_TILE_LANES; lane++)
#define NB_LANE_OF(type, x) type x[NB_TILE_LANES]
#define NB_LANE_ARG(type, x) type x[NB_TILE_LANES]
#define NB_LANE_REF(type, x) type x[NB_TILE_LANES]
#define NB_LANE_PASS(x) x
#define NB_LANE(x) x[lane]
#define NB_LANE_IN(x) x[lane]
#define NB_TILE_ADD(to, x) (*(to) += (x))
#define NB_TILE_COUNT(to, x) (*(to) += (x))

NB_HD void nb_lanes_prefix(uint32_t x[NB_TILE_LANES])
{
    for (int lane = 1; lane < NB_TILE_LANES; lane++)
        x[lane] += x[lane - 1];
}

NB_HD uint32_t nb_lanes_get(const uint32_t x[NB_TILE_LANES], int lane)
{
    return x[lane];
}

NB_HD float nb_lanes_add(const float x[NB_TILE_LANES])
{
    float sum = 0;
    NB_EACH_LANE(lane)
    sum += x[lane];
    return sum;
}

NB_HD void nb_lanes_add_quads(double x[NB_TILE_LANES])
{
    for (int lane = 4; lane < NB_TILE_LANES; lane++)
        x[lane % 4] += x[lane];
}

NB_HD uint32_t nb_lanes_ballot(const int x[NB_TILE_LANES])
{
    uint32_t bits = 0;
    NB_EACH_LANE(lane)
    bits |= (uint32_t)(x[lane] != 0) << lane;
    return bits;
}

NB_HD int nb_lanes_count(uint32_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

NB_HD void nb_lanes_meet(void)
{
}

NB_HD unsigned nb_lanes_reserve(unsigned *counter, unsigned n)
{
    const unsigned at = *counter;
    *counter += n;
    return at;
}

#endif

/** Number of earlier lanes whose bit is set. */
NB_HD int nb_lanes_before(uint32_t bits, int lane)
{
    return nb_lanes_count(bits & ((1u << lane) - 1));
}

/* The groups and steps of nb_tiles in packs of four numbers, so that a lane loads a pack
 * at once (nb_tiles has separate arrays, for vectors). */

typedef struct nb_tile_four {
    float x, y, z, w;
} nb_tile_four;

typedef struct nb_tile_two {
    float x, y;
} nb_tile_two;

/** Packed arrays, in the memory of the processor that runs the pass. */
typedef struct nb_tile_packs {
    const nb_tile_four *rows; /* [3][rows]: x, y, z of an axis of `middle`, and `away` */
    /* [columns + 1]: kappa_middle, kappa_range, stray, weight */
    const nb_tile_four *columns;
    const nb_tile_four *axes;   /* [3][orientations]: x, y, z of an axis */
    const nb_tile_two *sources; /* [sources]: kappa, weight */
} nb_tile_packs;

NB_HD nb_tile_four nb_tile_four_at(const nb_tile_four *at)
{
#ifdef NB_GPU_DEVICE_PASS
    const float4 x = __ldg((const float4 *)at);
    const nb_tile_four four = {x.x, x.y, x.z, x.w};
    return four;
#else
    return *at;
#endif
}

NB_HD nb_tile_two nb_tile_two_at(const nb_tile_two *at)
{
#ifdef NB_GPU_DEVICE_PASS
    const float2 x = __ldg((const float2 *)at);
    const nb_tile_two two = {x.x, x.y};
    return two;
#else
    return *at;
#endif
}

/** A group: the orientations of a row and the sources of a column. */
typedef struct nb_step_group {
    float a[9];            /* axes of the middle orientation: nb_tiles.middle */
    float away[3];         /* nb_tiles.away */
    nb_tile_column column; /* column.weight: sum of the weights of the group's steps */
} nb_step_group;

NB_TILE_HD nb_step_group nb_tile_group_at(const nb_tiles *t, const nb_tile_packs *from,
                                          int row, int column)
{
    const nb_tile_four c = nb_tile_four_at(&from->columns[column]);
    nb_step_group g;
    g.column.kappa = c.x;
    g.column.range = c.y;
    g.column.stray = c.z;
    g.column.weight = t->by_source ? c.w : c.w * t->count[row];
    for (int i = 0; i < 3; i++) {
        const nb_tile_four a = nb_tile_four_at(&from->rows[i * t->rows + row]);
        g.a[3 * i] = a.x;
        g.a[3 * i + 1] = a.y;
        g.a[3 * i + 2] = a.z;
        g.away[i] = a.w;
    }
    return g;
}

/** Upper bound of a group's sum. q: the block's middle ray minus the column's
 * direction. */
NB_TERM vf nb_tile_packed_bound(const nb_tiles *t, const nb_ray_block *b,
                                const nb_step_group *g, const float q[3], const int shape)
{
    vf middle[3], away[3];
    for (int i = 0; i < 3; i++) {
        const float *a = g->a + 3 * i;
        middle[i] = vf_fma(vf_set(a[0]), vf_set(q[0]),
                           vf_fma(vf_set(a[1]), vf_set(q[1]), vf_set(a[2] * q[2])));
        away[i] = vf_set(g->away[i]);
    }
    return nb_tile_group_bound(t, b, &g->column, middle, away, shape) * g->column.weight;
}

/** Upper bound of a step's term with its weight. along: dot products of the step's axes
 * and (the block's middle ray - the source's direction). */
NB_TERM vf nb_tile_along_bound(const nb_tiles *t, const nb_ray_block *b, float kappa,
                               float weight, const float along[3], const int shape)
{
    const vf h[3] = {vf_set(along[0] * kappa), vf_set(along[1] * kappa),
                     vf_set(along[2] * kappa)};
    return nb_tile_step_bound(t, b, h, shape) * weight;
}

/** Set along[] to the dot products of an orientation's axes and q, which is the block's
 * middle ray minus the source's direction. */
NB_TILE_HD void nb_tile_along(const nb_tiles *t, const nb_tile_packs *from,
                              int orientation, const float q[3], float along[3])
{
    for (int i = 0; i < 3; i++) {
        const nb_tile_four a =
            nb_tile_four_at(&from->axes[i * t->orientations + orientation]);
        along[i] = fmaf(a.x, q[0], fmaf(a.y, q[1], a.z * q[2]));
    }
}

/* ------------------------------------------------------------------ on the host */

/** Number of packs of four numbers. */
static inline size_t nb_tile_packs_fours(const nb_tiles *t)
{
    return 3 * (size_t)t->rows + (size_t)t->columns + 1 + 3 * (size_t)t->orientations;
}

static inline size_t nb_tile_packs_bytes(const nb_tiles *t)
{
    return nb_tile_packs_fours(t) * sizeof(nb_tile_four) +
           (size_t)t->sources * sizeof(nb_tile_two);
}

/** The addresses of the packs in a piece of memory. */
static inline nb_tile_packs nb_tile_packs_in(const nb_tiles *t, const void *bytes)
{
    nb_tile_packs p;
    p.rows = (const nb_tile_four *)bytes;
    p.columns = p.rows + 3 * (size_t)t->rows;
    p.axes = p.columns + t->columns + 1;
    p.sources = (const nb_tile_two *)(p.rows + nb_tile_packs_fours(t));
    return p;
}

/** Pack three axes of n orientations, from arrays `stride` apart; w: fourth numbers. */
static inline nb_tile_four *nb_tile_pack_axes(nb_tile_four *to, const float *from,
                                              const float *w, size_t n, size_t stride)
{
    for (size_t i = 0; i < 3; i++)
        for (size_t m = 0; m < n; m++, to++) {
            const float *a = from + 3 * i * stride + m;
            *to =
                (nb_tile_four){a[0], a[stride], a[2 * stride], w ? w[i * stride + m] : 0};
        }
    return to;
}

static inline void nb_tile_packs_fill(const nb_tiles *t, void *bytes)
{
    nb_tile_four *to = (nb_tile_four *)bytes;
    nb_tile_two *two;
    to = nb_tile_pack_axes(to, t->middle, t->away, (size_t)t->rows, t->row_stride);
    for (int c = 0; c <= t->columns; c++)
        *to++ = (nb_tile_four){t->kappa_middle[c], t->kappa_range[c], t->stray[c],
                               t->weights[c]};
    to = nb_tile_pack_axes(to, t->cells_f, NULL, (size_t)t->orientations,
                           (size_t)t->orientations);
    two = (nb_tile_two *)to;
    for (int s = 0; s < t->sources; s++)
        two[s] = (nb_tile_two){t->kappa_f[s], t->weight_f[s]};
}

#endif
