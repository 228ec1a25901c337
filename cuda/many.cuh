/* SPDX-License-Identifier: MIT */
/** One launch for many panels: each block belongs to one of them. */
#ifndef NB_CUDA_MANY_CUH
#define NB_CUDA_MANY_CUH

#include "internal.h"

/** The panel of block `block` of them all: at once where the first has as many blocks as the others. */
static __device__ __forceinline__ int panel_of_block(const nb_cuda_many &many, int block)
{
    int low = min((int)blockIdx.x / many.even, many.n - 1), high = many.n - 1;
    if (many.first[low] <= block && block < many.first[low + 1])
        return low;
    low = 0;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (many.first[middle] <= block)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** The job of this block's panel.  MANY: a copy in shared memory, where an address needs no register; else the
 * kernel's own.  What all panels share a kernel may read from its own. */
template <bool MANY, class JOB>
static __device__ __forceinline__ const JOB &job_of_block(const JOB &p)
{
    if constexpr (MANY) {
        __shared__ JOB job;
        const int k = panel_of_block(p.many, (int)blockIdx.x + p.many.before);
        const uint64_t *from = (const uint64_t *)((const JOB *)p.many.jobs + k);
        static_assert(sizeof job % sizeof *from == 0, "copied by words");
        for (unsigned i = threadIdx.y * blockDim.x + threadIdx.x;
             i < sizeof job / sizeof *from; i += blockDim.x * blockDim.y)
            ((uint64_t *)&job)[i] = from[i];
        __syncthreads();
        return job;
    } else {
        return p;
    }
}

/** The block among those of its panel, at: across and down. */
template <bool MANY, class JOB>
static __device__ __forceinline__ unsigned block_x(const JOB &p, const JOB &at)
{
    if constexpr (MANY)
        return (blockIdx.x + p.many.before - at.many.before) % at.many.across;
    else
        return blockIdx.x;
}

template <bool MANY, class JOB>
static __device__ __forceinline__ unsigned block_y(const JOB &p, const JOB &at)
{
    if constexpr (MANY)
        return (blockIdx.x + p.many.before - at.many.before) / at.many.across;
    else
        return blockIdx.y;
}

/** Nothing that was read from a job in shared memory is kept in registers beyond this point. */
template <bool MANY> static __device__ __forceinline__ void forget()
{
    if constexpr (MANY)
        gpuForget();
}

/** The job for a launch of many panels, one of which it is. */
template <class JOB> static JOB job_of_many(JOB job, const nb_cuda_many *many)
{
    job.many = *many;
    return job;
}

#endif
