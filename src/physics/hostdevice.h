/* SPDX-License-Identifier: MIT */
/** Functions that both the CPU and the GPU compile. */
#ifndef NB_PHYSICS_HOSTDEVICE_H
#define NB_PHYSICS_HOSTDEVICE_H

#ifdef NB_GPU
#define NB_HD static __host__ __device__ inline
/* For long functions that are rarely called: the device does not inline them. */
#define NB_HD_CALL static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define NB_HD static inline
#define NB_HD_CALL NB_HD
#endif

#define NB_PI 3.14159265358979323846
#define NB_DEG (NB_PI / 180.0)

#endif
