/* SPDX-License-Identifier: MIT */
/** Limits of device generations, and instructions that have no function in CUDA C or that
 * differ between generations. */
#ifndef NB_CUDA_VENDOR_H
#define NB_CUDA_VENDOR_H
#define NB_GPU_VENDOR 1 /* tells src/terms/lane.h that this header was included first */

#ifdef NB_GPU /* the definitions from here on are for the GPU's compiler */

#include <cuda_runtime.h>

#ifdef __CUDA_ARCH__
#define NB_GPU_DEVICE_PASS 1 /* the compiler makes code for the device */
#endif

/* --- Fourier transforms, in a library that is loaded at the first use --- */
#if __has_include(<cufft.h>)
#include <cufft.h>
#define NB_GPU_HAVE_FFT 1
#define NB_GPU_TEXT_(x) #x
#define NB_GPU_TEXT(x) NB_GPU_TEXT_(x)
#define NB_GPU_FFT_SONAME "libcufft.so." NB_GPU_TEXT(CUFFT_VER_MAJOR)
/* Functions of the library that this backend calls: name in this backend, name in the
 * library. */
/* clang-format off */
#define NB_GPU_FFT_FUNCTIONS(X) \
    X(create, cufftCreate) X(destroy, cufftDestroy) X(allocate_self, cufftSetAutoAllocation) \
    X(plan_many, cufftMakePlanMany) X(set_work, cufftSetWorkArea) X(set_stream, cufftSetStream) \
    X(forward, cufftExecD2Z) X(back, cufftExecZ2D)
/* clang-format on */
#endif

/* Devices whose FP64 tensor cores are faster than plain FP64. NB_GPU_TENSOR_CODE has the
 * same list. */
#define NB_GPU_HAS_TENSOR(major, minor)                                                  \
    ((minor) == 0 && ((major) == 8 || (major) == 9 || (major) == 10))
#if defined(__CUDA_ARCH__) &&                                                            \
    (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
#define NB_GPU_TENSOR_CODE 1
#endif

/* --- kernels: lanes are the 32 threads of a warp --- */

#define NB_GRID_CONSTANT __grid_constant__
#define gpuShuffle(value, lane, width) __shfl_sync(0xffffffffu, value, lane, width)
#define gpuShuffleXor(value, mask, width) __shfl_xor_sync(0xffffffffu, value, mask, width)
#define gpuBallot(predicate) __ballot_sync(0xffffffffu, predicate)
#define gpuSyncLanes() __syncwarp()
/* makes the compiler read values from memory again */
#define gpuForget() asm volatile("" ::: "memory")

/** 1/sqrt(x) to about 20 bits. */
static __device__ __forceinline__ double gpuRoughRoot(double x)
{
    double r;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}

/** 1/x to about 20 bits. */
static __device__ __forceinline__ double gpuRoughReciprocal(double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    return r;
}

/** 1/x to 1 ulp, without the slow path for denormal x. */
static __device__ __forceinline__ float gpuReciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/** 1/sqrt(x) to 2 ulp. */
static __device__ __forceinline__ float gpuInverseRoot(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

static __device__ __forceinline__ unsigned long long gpuNanoseconds(void)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

#ifdef NB_GPU_TENSOR_CODE
/** d = A B by the 32 lanes of a warp, for A of 8 x 4 and B of 4 x 8 doubles. Lane 4 i + k
 * has A[i][k] and B[k][i]; lane 4 i + j has d[i][2 j] and d[i][2 j + 1]. */
static __device__ __forceinline__ void gpuMultiply(double d[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=d"(d[0]), "=d"(d[1])
        : "d"(a), "d"(b), "d"(0.0));
}

/** d += A B, for A of 16 x 8 and B of 8 x 8 doubles. Parts of A, in the layout of
 * gpuMultiply: a[0] and a[2] are columns 0 ... 3 and 4 ... 7 of the upper eight rows,
 * a[1] and a[3] of the lower ones. b[0] and b[1] are rows 0 ... 3 and 4 ... 7 of B. d[0]
 * and d[1] are of the upper rows, d[2] and d[3] of the lower ones. At compute capability
 * 9.0 this takes half the time of four small products. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
#define NB_GPU_TENSOR_TALL 1
static __device__ __forceinline__ void gpuMultiplyAddTall(double d[4], const double a[4],
                                                          const double b[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#endif

/** d += A B, with the layout of gpuMultiply. */
static __device__ __forceinline__ void gpuMultiplyAdd(double d[2], double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
}
#endif

#endif
/* Defined for older devices, for which the compiler spills registers. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define NB_GPU_SPILLS 1
#endif
/* Keeps a function from being inlined, which would take too many registers. From compute
 * capability 10.0 on the call would spill registers, so the macro is empty. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000
#define gpuCall __noinline__
#else
#define gpuCall
#endif

#endif
