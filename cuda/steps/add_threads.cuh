/* SPDX-License-Identifier: MIT */
/** Sums over the threads of a block in a fixed order. */
#ifndef NB_CUDA_ADD_THREADS_CUH
#define NB_CUDA_ADD_THREADS_CUH

#include "../backend/vendor.h"

/** Sum of the values of a block's threads, in its first thread; THREADS: a power of two. */
template <int THREADS> static __device__ double nb_add_threads(double own)
{
    __shared__ double all[THREADS];
    const int me = (int)threadIdx.x;
    __syncthreads(); /* the sum before this one has been read */
    all[me] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            all[me] += all[me + half];
    }
    return all[0];
}

#endif
