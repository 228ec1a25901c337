/* SPDX-License-Identifier: MIT */
/** One launch for many panels: a block belongs to one panel. JOB: a panel's job. */
#ifndef NB_CUDA_MANY_CUH
#define NB_CUDA_MANY_CUH

#include <string.h>

#include "../backend/internal.h"

/** The panel of block `block`, counted over all panels. If all panels have the same
 * number of blocks, one division finds it. */
static __device__ __forceinline__ int panel_of_block(const nb_cuda_many &many, int block)
{
    int low = min((block - many.before) / many.even, many.n - 1), high = many.n - 1;
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

/** Copy panel k's job to shared memory; all threads of the block take part. */
template <class JOB>
static __device__ __forceinline__ void fetch_job(const nb_cuda_many &many, int k, JOB *job)
{
    const uint64_t *from = (const uint64_t *)((const JOB *)many.jobs + k);
    static_assert(sizeof *job % sizeof *from == 0, "copied by words");
    for (unsigned i = threadIdx.y * blockDim.x + threadIdx.x;
         i < sizeof *job / sizeof *from; i += blockDim.x * blockDim.y)
        ((uint64_t *)job)[i] = from[i];
    __syncthreads();
}

/** Call work(job, x, y) for several blocks of pixels, one after the other, so that a job
 * is fetched once for many blocks. With COUNTED, x and y are counted instead of
 * calculated by divisions, which takes two more registers. */
template <bool COUNTED, class JOB, class WORK>
static __device__ __forceinline__ void for_blocks(const JOB &p, WORK work)
{
    __shared__ JOB job;
    const nb_cuda_many &many = p.many;
    int block = many.before + (int)((int64_t)many.blocks * blockIdx.x / gridDim.x);
    const int end =
        many.before + (int)((int64_t)many.blocks * (blockIdx.x + 1) / gridDim.x);
    for (int k = panel_of_block(many, block); block < end; k++) {
        const int stop = min(end, many.first[k + 1]);
        if (block >= stop) /* a panel without blocks */
            continue;
        __syncthreads();
        fetch_job(many, k, &job);
        if constexpr (COUNTED) {
            const unsigned i = (unsigned)(block - job.many.before),
                           across = job.many.across;
            unsigned x = i % across, y = i / across;
            for (; block < stop; block++) {
                work(job, x, y);
                x = x + 1 < across ? x + 1 : 0;
                y += x == 0;
            }
        } else {
            for (; block < stop; block++) {
                const unsigned at = (unsigned)(block - job.many.before);
                work(job, at % job.many.across, at / job.many.across);
            }
        }
    }
}

/** The job of this block's panel. With MANY it is a copy in shared memory, whose address
 * needs no register; otherwise it is the kernel's parameter. Values that are the same for
 * all panels may also be read from the parameter. */
template <bool MANY, class JOB>
static __device__ __forceinline__ const JOB &job_of_block(const JOB &p)
{
    if constexpr (MANY) {
        __shared__ JOB job;
        const int k = panel_of_block(p.many, (int)blockIdx.x + p.many.before);
        fetch_job(p.many, k, &job);
        return job;
    } else {
        return p;
    }
}

/** Number of the block along fast in its panel; block_y: along slow. */
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

/** Make the compiler read values of a job in shared memory again after this point instead
 * of keeping them in registers. */
template <bool MANY> static __device__ __forceinline__ void forget()
{
    if constexpr (MANY)
        gpuForget();
}

/** Store a panel's job; before: number of blocks of earlier panels. Returns the number of
 * the panel's blocks. */
template <class JOB> static int put_job(JOB job, int before, int blocks, void *to)
{
    job.many.before = before;
    memcpy(to, &job, sizeof job);
    return blocks;
}

/** The job for a launch of many panels, from the job of one panel. */
template <class JOB> static JOB job_of_many(JOB job, const nb_cuda_many *many)
{
    job.many = *many;
    return job;
}

#endif
