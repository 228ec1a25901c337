/* SPDX-License-Identifier: MIT */
/** vendor.h for AMD: HIP on devices of the CDNA and GCN families. */
#ifndef NB_CUDA_VENDOR_HIP_H
#define NB_CUDA_VENDOR_HIP_H

#define NB_GPU_WORD "hip" /* in -device */
#define NB_GPU_TOOLKIT "HIP"
#define NB_GPU_VENDOR "AMD"
#define NB_GPU_COMPILER "hipcc"
#define NB_GPU_VISIBLE "HIP_VISIBLE_DEVICES"
#define NB_GPU_FILES                                                                     \
    {                                                                                    \
        "/dev/kfd"                                                                       \
    }

#ifdef NB_GPU

#include <hip/hip_runtime.h>

#ifdef __HIP_DEVICE_COMPILE__
#define NB_GPU_DEVICE_PASS 1
#endif

/* Random123 does not know HIP. */
#define R123_CUDA_DEVICE __host__ __device__
#define R123_USE_SSE 0

#define gpuDevAttrClockRate hipDeviceAttributeClockRate
#define gpuDevAttrComputeCapabilityMajor hipDeviceAttributeComputeCapabilityMajor
#define gpuDevAttrComputeCapabilityMinor hipDeviceAttributeComputeCapabilityMinor
#define gpuDevAttrMultiProcessorCount hipDeviceAttributeMultiprocessorCount
#define gpuDevAttrSingleToDoublePrecisionPerfRatio                                       \
    hipDeviceAttributeSingleToDoublePrecisionPerfRatio
#define gpuDeviceAttr hipDeviceAttribute_t
#define gpuDeviceGetAttribute hipDeviceGetAttribute
#define gpuDeviceProp hipDeviceProp_t
#define gpuDeviceSynchronize hipDeviceSynchronize
#define gpuDeviceReset hipDeviceReset
#define gpuDriverGetVersion hipDriverGetVersion
#define gpuErrorDevicesUnavailable hipErrorContextAlreadyInUse
#define gpuErrorMemoryAllocation hipErrorOutOfMemory
#define gpuErrorNoDevice hipErrorNoDevice
#define gpuError_t hipError_t
#define gpuEventCreate hipEventCreate
#define gpuEventCreateWithFlags hipEventCreateWithFlags
#define gpuEventDestroy hipEventDestroy
#define gpuEventDisableTiming hipEventDisableTiming
#define gpuEventElapsedTime hipEventElapsedTime
#define gpuEventRecord hipEventRecord
#define gpuEventSynchronize hipEventSynchronize
#define gpuEvent_t hipEvent_t
#define gpuFree hipFree
#define gpuFreeHost hipHostFree
#define gpuFuncAttributes hipFuncAttributes
#define gpuFuncGetAttributes hipFuncGetAttributes
#define gpuGetDevice hipGetDevice
#define gpuGetDeviceCount hipGetDeviceCount
#define gpuGetDeviceProperties hipGetDeviceProperties
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuHostAlloc hipHostMalloc
#define gpuHostAllocPortable hipHostMallocPortable
#define gpuMalloc hipMalloc
#define gpuMallocHost(memory, bytes) hipHostMalloc(memory, bytes, 0)
#define gpuMemGetInfo hipMemGetInfo
#define gpuMemcpy hipMemcpy
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpyDefault hipMemcpyDefault
#define gpuMemcpyDeviceToHost hipMemcpyDeviceToHost
#define gpuMemcpyHostToDevice hipMemcpyHostToDevice
#define gpuMemsetAsync hipMemsetAsync
#define gpuPointerAttributes hipPointerAttribute_t
#define gpuPointerGetAttributes hipPointerGetAttributes
#define gpuRuntimeGetVersion hipRuntimeGetVersion
#define gpuSetDevice hipSetDevice
#define gpuStreamCreateWithFlags hipStreamCreateWithFlags
#define gpuStreamDestroy hipStreamDestroy
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuStream_t hipStream_t
#define gpuSuccess hipSuccess
#define gpuIsPinned(attributes) ((attributes).memoryType == hipMemoryTypeHost)
#define gpuIsOnDevice(attributes) ((attributes).memoryType == hipMemoryTypeDevice)

#define NB_GPU_MAJOR(version) ((version) / 10000000)
#define NB_GPU_MINOR(version) ((version) / 100000 % 100)

#define NB_GPU_GENERATION "architecture gfx"
#define NB_GPU_OLDEST_MAJOR 9
#define NB_GPU_OLDEST_MINOR 0
#define NB_GPU_HAS_TENSOR(major, minor)                                                  \
    0 /* AMD's matrix instructions have other fragments */

/* --- kernels: lanes are half of a wavefront of 64 --- */

#define NB_GRID_CONSTANT
#define gpuShuffle(value, lane, width) __shfl(value, lane, width)
#define gpuShuffleXor(value, mask, width) __shfl_xor(value, mask, width)
#define gpuBallot(predicate) ((unsigned)(__ballot(predicate) >> (__lane_id() & 32)))
#define gpuAny(predicate) (gpuBallot(predicate) != 0)
#define gpuSyncLanes() __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront")
#define gpuForget() asm volatile("" ::: "memory")

static __device__ __forceinline__ unsigned gpuSumLanes(unsigned x)
{
    for (int half = 16; half > 0; half /= 2)
        x += gpuShuffleXor(x, half, 32);
    return x;
}

static __device__ __forceinline__ double gpuRoughRoot(double x)
{
    return __builtin_amdgcn_rsq(x);
}

static __device__ __forceinline__ double gpuRoughReciprocal(double x)
{
    return __builtin_amdgcn_rcp(x);
}

template <typename T> static __device__ __forceinline__ void gpuStoreOnce(T *to, T x)
{
    *to = x;
}

static __device__ __forceinline__ float gpuInverseRoot(float x)
{
    return __builtin_amdgcn_rsqf(x);
}

static __device__ __forceinline__ float gpuReciprocal(float x)
{
    return __builtin_amdgcn_rcpf(x);
}

static __device__ __forceinline__ unsigned long long gpuNanoseconds(void)
{
    return 10 * __builtin_amdgcn_s_memrealtime(); /* counts at 100 MHz */
}

#endif
#endif
