/* SPDX-License-Identifier: MIT */
/** Mean depths of a sensor's layers in double, with fast roots and quotients. */
#ifndef NB_CUDA_DEPTH_CUH
#define NB_CUDA_DEPTH_CUH

#include "../../src/physics/ray.h"

/** 1/sqrt(x) in double precision: an approximation to 20 bits, then one third-order
 * Newton step. */
static __device__ __forceinline__ double inverse_root(double x)
{
    double r = gpuRoughRoot(x), e;
    e = fma(-x, r * r, 1.0);
    return fma(r * e, fma(e, 0.375, 0.5), r);
}

/** 1/x in double precision, in the same way. */
static __device__ __forceinline__ double inverse_of(double x)
{
    double r = gpuRoughReciprocal(x), e;
    e = fma(-x, r, 1.0);
    return fma(r, fma(e, e, e), r);
}

/** nb_mean_depth and nb_capture with one exponential. path: in attenuation lengths;
 * inverse: 1/path. The fraction that passes is the same for each earlier layer. */
static __device__ __forceinline__ double mean_depth(double path, double inverse,
                                                    int layer, float *captured)
{
    double stopped = -expm1(-path), passing = 1.0 - stopped, reaching = 1.0;
    /* the fraction that passes a layer, to the power of `layer` */
    for (int n = layer; n > 0; n >>= 1) {
        reaching *= n & 1 ? passing : 1.0;
        passing *= passing;
    }
    *captured = (float)(reaching * stopped);
    return fabs(path) < NB_THIN_LAYER ? fma(path, -1.0 / 12.0, 0.5)
                                      : inverse + (1.0 - inverse_of(stopped));
}

#endif
