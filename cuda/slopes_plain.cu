/* SPDX-License-Identifier: MIT */
/* Derivatives where a pixel has one ray and few terms, and no parameter moves the detector: all sums stay in registers,
 * and parameters contract them in single precision. */
#include "slope_place.cuh"

#include "depth.cuh"

enum { THREADS = 128 };

typedef struct plain_job {
    nb_cuda_slope_job all;
    const float *weights; /* [planes][NB_PLAIN_TOTALS] */
    int polar;            /* 0: nopolar */
    float K;
    float incident[3], B[3], E[3]; /* of the first source: nb_polarization's frame */
} plain_job;

/** Direction and distance of a pixel's middle. */
static __device__ __forceinline__ double aim(const nb_panel *panel, int f, int s,
                                             nb_vec3 *d)
{
    const double F = panel->pixel_fast * (f + 0.5), S = panel->pixel_slow * (s + 0.5);
    const nb_vec3 P = {fma(F, panel->fast.x, fma(S, panel->slow.x, panel->pix0.x)),
                       fma(F, panel->fast.y, fma(S, panel->slow.y, panel->pix0.y)),
                       fma(F, panel->fast.z, fma(S, panel->slow.z, panel->pix0.z))};
    const double r = inverse_root(fma(P.x, P.x, fma(P.y, P.y, P.z * P.z)));
    d->x = P.x * r;
    d->y = P.y * r;
    d->z = P.z * r;
    return r;
}

static __device__ __forceinline__ float along(const float v[3], const nb_vec3 &d)
{
    return fmaf(v[0], (float)d.x, fmaf(v[1], (float)d.y, v[2] * (float)d.z));
}

/** Polarization and solid angle. */
static __device__ __forceinline__ float factor_of(const plain_job &p,
                                                  const nb_panel *panel, const nb_vec3 &d,
                                                  double r)
{
    double omega = panel->pixel_area * (r * r);
    float factor =
        (float)(panel->point_pixel ? omega : omega * (panel->close_distance * r));
    if (!p.polar)
        return factor;
    float c = along(p.incident, d), c2 = c * c, kahn = 0;
    if (p.K != 0) {
        float b = along(p.B, d), e = along(p.E, d), in_plane = fmaf(b, b, e * e);
        kahn = p.K * (in_plane > 0 ? (e - b) * (e + b) / in_plane : 1.0f) * (1.0f - c2);
    }
    return factor * (0.5f * (1.0f + c2 - kahn));
}

template <int GENERAL, int TABLE>
__global__ void __launch_bounds__(THREADS, 5)
    k_slopes_plain(const NB_GRID_CONSTANT plain_job p)
{
    const int64_t i = p.all.from + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.all.end)
        return;
    const nb_pixel_place place = place_of(p.all, i);
    nb_term_run run;
    nb_vec3 d;
    const double r = aim(place.panel, place.f, place.s, &d);
    const float factor = factor_of(p, place.panel, d, r);
    memset(&run, 0, sizeof run);
    nb_plain_sums(&p.all.tables, d, &run,
                  nb_term_case{0, GENERAL, TABLE, NB_TERMS_CRYSTAL});
    const int64_t at = i - p.all.origin;
    for (int k = 0; k < p.all.planes; k++) {
        const float sum = nb_plain_value(p.weights + k * NB_PLAIN_TOTALS, &run);
        if (p.all.single)
            p.all.single[k * p.all.stride + at] = sum * factor;
        else
            p.all.out[k * p.all.stride + at] = (double)(sum * factor);
    }
}

static void put(nb_vec3 from, float to[3])
{
    to[0] = (float)from.x;
    to[1] = (float)from.y;
    to[2] = (float)from.z;
}

void nb_cuda_launch_slopes_plain(const nb_cuda_slope_job *job, const nb_scene *sc,
                                 const float *weights, const nb_term_case *how,
                                 gpuStream_t stream)
{
    static void (*const kernels[2][2])(plain_job) = {
        {k_slopes_plain<0, 0>, k_slopes_plain<0, 1>},
        {k_slopes_plain<1, 0>, k_slopes_plain<1, 1>}};
    const unsigned blocks = (unsigned)((job->end - job->from + THREADS - 1) / THREADS);
    const nb_vec3 incident = sc->beam.sources[0].incident,
                  B = nb_unit(nb_cross(sc->beam.polar_axis, incident));
    plain_job p = {*job, weights, !sc->beam.nopolar, (float)sc->beam.polarization, {},
                   {},   {}};
    put(incident, p.incident);
    put(B, p.B);
    put(nb_unit(nb_cross(incident, B)), p.E);
    kernels[how->general][how->table]<<<blocks, THREADS, 0, stream>>>(p);
}
