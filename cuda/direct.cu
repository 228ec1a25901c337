/* SPDX-License-Identifier: MIT */
/* Few steps a pixel: a thread takes four pixels of a row, with their distances and Miller
 * indices in double and everything else in float.  Along a row the position is linear, so an
 * index costs two multiply-adds. */
#include "internal.h"

#include "../src/physics/pixel.h"
#include "interference.cuh"

enum { PIXELS = 4, BLOCK_X = 32, BLOCK_Y = 8 };

typedef struct float3_pod {
    float x, y, z;
} float3_pod;

typedef struct direct_job {
    nb_scene scene;
    nb_cuda_window window;
    float *image;
    const nb_cuda_direct_step *steps;
    int n_steps;
    const float *F2;
    nb_F2_index index;
    int N[3];
    int rays, aligned;       /* aligned: rows start on 16 bytes */
    double fast2;            /* |fast|^2 */
    float scale, background; /* of the image; of one ray */
    float K;                 /* polarization; incident, B and E are the first source's */
    float3_pod incident, B, E;
    float area, close; /* solid angle = area r^2 [close r] for r = 1/distance */
} direct_job;

/** Four positions along a row, as base + F fast, and their 1/distance. */
typedef struct row_points {
    nb_vec3 base;
    double F[PIXELS], r[PIXELS];
} row_points;

static __device__ __forceinline__ float dot3(float3_pod a, float3_pod b)
{
    return fmaf(a.x, b.x, fmaf(a.y, b.y, a.z * b.z));
}

/** 1/sqrt to double precision: float, then one third-order Newton step. */
static __device__ __forceinline__ double inverse_root(double x)
{
    double r = rsqrtf((float)x), e = fma(-x, r * r, 1.0);
    return fma(r * e, fma(e, 0.375, 0.5), r);
}

static __device__ __forceinline__ void aim_row(const direct_job &p, int ray, int f, int s,
                                               row_points *at)
{
    const nb_detector &det = p.scene.det;
    int os = p.scene.oversample, sub = ray % (os * os), layer = ray / (os * os), i;
    double S = nb_subpixel(&det, os, s, sub / os), F = nb_subpixel(&det, os, f, sub % os);
    at->base =
        nb_add(nb_add(nb_scale(S, det.slow), nb_scale(layer * det.layer_step, det.normal)),
               det.pix0);
    double along = 2.0 * nb_dot(at->base, det.fast), square = nb_dot(at->base, at->base);
#pragma unroll
    for (i = 0; i < PIXELS; i++) {
        at->F[i] = fma((double)i, det.pixel, F);
        at->r[i] = inverse_root(fma(at->F[i], fma(at->F[i], p.fast2, along), square));
    }
}

/** nb_polarization in float for the first source. */
static __device__ __forceinline__ float polarize(const direct_job &p, float3_pod d)
{
    float c = dot3(p.incident, d), c2 = c * c, b, e, in_plane, cosine;
    if (p.K == 0)
        return fmaf(0.5f, c2, 0.5f);
    b = dot3(p.B, d);
    e = dot3(p.E, d);
    in_plane = fmaf(b, b, e * e);
    cosine = in_plane > 0 ? (e - b) * (e + b) / in_plane : 1.0f;
    return 0.5f * (1.0f + c2 - p.K * cosine * (1.0f - c2));
}

static __device__ __forceinline__ float3_pod direction(const direct_job &p,
                                                       const row_points &at, int i)
{
    const nb_vec3 &fast = p.scene.det.fast;
    float r = (float)at.r[i], F = (float)at.F[i];
    float3_pod d = {fmaf(F, (float)fast.x, (float)at.base.x) * r,
                    fmaf(F, (float)fast.y, (float)at.base.y) * r,
                    fmaf(F, (float)fast.z, (float)at.base.z) * r};
    return d;
}

static __device__ __forceinline__ float solid_angle(const direct_job &p, float r)
{
    return p.scene.det.point_pixel ? p.area * r * r : p.area * r * r * (p.close * r);
}

/** What is taken from the pixel's first ray. */
static __device__ __forceinline__ float cached(const direct_job &p, const row_points &at,
                                               int i)
{
    float factor = p.scale;
    if (!p.scene.nopolar && !p.scene.oversample_polar)
        factor *= polarize(p, direction(p, at, i));
    if (!p.scene.oversample_omega)
        factor *= solid_angle(p, (float)at.r[i]);
    return factor;
}

/** What is taken from every ray. */
static __device__ __forceinline__ float ray_weight(const direct_job &p,
                                                   const row_points &at, int i, int layer)
{
    float weight = 1;
    if (p.scene.det.absorb) {
        nb_detector det = p.scene.det;
        det.curved = 0;
        nb_vec3 d = nb_scale(at.r[i], nb_add(at.base, nb_scale(at.F[i], det.fast)));
        weight = (float)nb_capture(&det, layer, d);
    }
    if (p.scene.oversample_omega)
        weight *= solid_angle(p, (float)at.r[i]);
    if (p.scene.oversample_polar && !p.scene.nopolar)
        weight *= polarize(p, direction(p, at, i));
    return weight;
}

template <bool TABLE>
static __device__ __forceinline__ void add_step(const direct_job &p,
                                                const nb_cuda_direct_step &step,
                                                const row_points &at, float sum[PIXELS])
{
    double base[3];
    int axis, i;
#pragma unroll
    for (axis = 0; axis < 3; axis++)
        base[axis] = nb_dot(step.axis[axis].vector, at.base);
#pragma unroll
    for (i = 0; i < PIXELS; i++) {
        const int flip = TABLE ? (int)0x80000000 : 0;
        int w[3], cell = p.index.offset;
        float r, scale = step.weight;
#pragma unroll
        for (axis = 0; axis < 3; axis++) {
            double t = fma(fma(at.F[i], step.axis[axis].slope, base[axis]), at.r[i],
                           step.axis[axis].constant);
            w[axis] =
                (__double2loint(t) ^ flip) | 1; /* never 0/0; 2^-32 off at the most */
            cell += __double2hiint(t) * (axis == 0   ? p.index.stride_h
                                         : axis == 1 ? p.index.stride_k
                                                     : 1);
        }
        r = nb_interference_product<4, 4>(w, p.N);
        if (TABLE)
            scale *= __ldg(p.F2 + cell);
        sum[i] = fmaf(r * r, scale, sum[i]);
    }
}

static __device__ __forceinline__ void store(const direct_job &p, int f, int s,
                                             const float value[PIXELS])
{
    const nb_detector &det = p.scene.det;
    size_t pixel = (size_t)s * det.fpixels + f;
    int i;
    if (p.aligned && f >= p.window.f0 && f + PIXELS <= p.window.f1) {
        *(float4 *)(p.image + pixel) = make_float4(value[0], value[1], value[2], value[3]);
        return;
    }
#pragma unroll
    for (i = 0; i < PIXELS; i++)
        if (f + i >= p.window.f0 && f + i < p.window.f1 &&
            (!det.mask || det.mask[pixel + i]))
            p.image[pixel + i] = value[i];
}

template <bool TABLE>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    k_direct(const __grid_constant__ direct_job p)
{
    int f = (p.window.f0 & ~(PIXELS - 1)) +
            (int)(blockIdx.x * BLOCK_X + threadIdx.x) * PIXELS;
    int s = p.window.s0 + (int)(blockIdx.y * BLOCK_Y + threadIdx.y), ray, i, k;
    float value[PIXELS] = {}, factor[PIXELS];
    if (f >= p.window.f1 || s >= p.window.s1)
        return;
    for (ray = 0; ray < p.rays; ray++) {
        row_points at;
        float sum[PIXELS] = {};
        aim_row(p, ray, f, s, &at);
        for (k = 0; k < p.n_steps; k++)
            add_step<TABLE>(p, p.steps[k], at, sum);
        if (ray == 0)
#pragma unroll
            for (i = 0; i < PIXELS; i++)
                factor[i] = cached(p, at, i);
        int layer = ray / (p.scene.oversample * p.scene.oversample);
#pragma unroll
        for (i = 0; i < PIXELS; i++)
            value[i] = fmaf(sum[i] + p.background, ray_weight(p, at, i, layer), value[i]);
    }
#pragma unroll
    for (i = 0; i < PIXELS; i++)
        value[i] *= factor[i];
    store(p, f, s, value);
}

static float3_pod to_float(nb_vec3 v)
{
    float3_pod f = {(float)v.x, (float)v.y, (float)v.z};
    return f;
}

/** nb_polarization's frame, worked out once for the first source. */
static void set_polarization(direct_job *job, const nb_cuda_launch *launch)
{
    nb_vec3 incident = launch->first_incident;
    nb_vec3 B = nb_unit(nb_cross(launch->scene.polar_axis, incident));
    job->K = (float)launch->scene.polarization;
    job->incident = to_float(incident);
    job->B = to_float(B);
    job->E = to_float(nb_unit(nb_cross(incident, B)));
}

void nb_cuda_launch_direct(const nb_cuda_launch *launch, const nb_cuda_steps *steps)
{
    const nb_scene *sc = &launch->scene;
    const nb_cuda_window *w = &launch->window;
    int first = w->f0 & ~(PIXELS - 1), i;
    int across = (w->f1 - first + PIXELS * BLOCK_X - 1) / (PIXELS * BLOCK_X);
    dim3 grid((unsigned)across, (unsigned)(w->s1 - w->s0 + BLOCK_Y - 1) / BLOCK_Y);
    int dark = !steps->F2.at && steps->F2.constant == 0; /* water at the most */
    double term = steps->F2.at || dark ? 1.0 : steps->F2.constant;
    direct_job job = {};
    job.scene = *sc;
    job.window = *w;
    job.image = launch->image;
    job.steps = steps->direct;
    job.n_steps = dark ? 0 : steps->count;
    job.F2 = steps->F2.at;
    job.index = nb_make_F2_index(&steps->F2);
    for (i = 0; i < 3; i++)
        job.N[i] = (int)sc->N[i];
    job.rays = sc->oversample * sc->oversample * sc->det.layers;
    job.aligned = sc->det.fpixels % PIXELS == 0 && !sc->det.mask;
    job.fast2 = nb_dot(sc->det.fast, sc->det.fast);
    job.scale = (float)(sc->intensity_scale * term);
    job.background = (float)(sc->background * steps->weight_sum / term);
    job.area = (float)sc->det.pixel_area;
    job.close = (float)sc->det.close_distance;
    set_polarization(&job, launch);
    if (steps->F2.at)
        k_direct<true><<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
    else
        k_direct<false><<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}
