/* SPDX-License-Identifier: MIT */
/** The 32 lanes of a warp, for code that also the host compiles. There the lanes run one after the
 * other, and variables of a lane are arrays. */
#ifndef NB_CUDA_TILE_LANES_H
#define NB_CUDA_TILE_LANES_H

#include <stdint.h>

#ifdef NB_GPU
#include "../backend/vendor.h"
#endif

#include "../../src/physics/hostdevice.h"

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
#define NB_TILE_COUNT(to, x) atomicAdd(to, x) /* in shared memory */

/** Sum of the numbers of this lane and all lanes before it. */
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

/** Lanes of the same remainder by 4. */
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

/** Add n to a counter once; returns what it was. */
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

/** Number of lanes before this one whose bit is set. */
NB_HD int nb_lanes_before(uint32_t bits, int lane)
{
    return nb_lanes_count(bits & ((1u << lane) - 1));
}

#endif
