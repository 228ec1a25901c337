/* SPDX-License-Identifier: MIT */
/** Sums over a block's threads in a fixed order, and small matrix products by warps. */
#ifndef NB_CUDA_WARP_SUMS_CUH
#define NB_CUDA_WARP_SUMS_CUH

#include "../backend/vendor.h"

/** Sum of the values of a block's threads, in the first thread; THREADS: a power of
 * two. */
template <int THREADS> static __device__ double nb_add_threads(double value)
{
    __shared__ double all[THREADS];
    const int me = (int)threadIdx.x;
    __syncthreads(); /* wait until all threads have read the previous sum */
    all[me] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            all[me] += all[me + half];
    }
    return all[0];
}

/** c += A B, like gpuMultiplyAdd. */
static __device__ __forceinline__ void multiply_add(double c[2], double a, double b)
{
#ifdef NB_GPU_TENSOR_CODE
    gpuMultiplyAdd(c, a, b);
#else
    const int lane = (int)threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
/* Not unrolled: a kernel of many products would take half a minute and 0.5 GB to compile. */
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        const double x = gpuShuffle(a, row + k, 32);
        c[0] = fma(x, gpuShuffle(b, column + k, 32), c[0]);
        c[1] = fma(x, gpuShuffle(b, column + 4 + k, 32), c[1]);
    }
#endif
}

/** d += A B, like gpuMultiplyAddTall. */
static __device__ __forceinline__ void multiply_add_tall(double d[4], const double a[4],
                                                         const double b[2])
{
#ifdef NB_GPU_TENSOR_TALL
    gpuMultiplyAddTall(d, a, b);
#else
#pragma unroll
    for (int k = 0; k < 2; k++) {
        multiply_add(d, a[2 * k], b[k]);
        multiply_add(d + 2, a[2 * k + 1], b[k]);
    }
#endif
}

#endif
