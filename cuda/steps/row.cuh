/* SPDX-License-Identifier: MIT */
/** Rows of pixels, for kernels whose threads have four pixels of a row: geometry in
 * double, linear along the row; factors of pixels and rays; F of materials from cells. */
#ifndef NB_CUDA_ROW_CUH
#define NB_CUDA_ROW_CUH

#include <float.h>
#include <limits.h>

#include "../../src/physics/pixel.h"
#include "../backend/internal.h"
#include "depth.cuh"
#include "interference.cuh"
#include "shapes.cuh"

enum { PIXELS = 4 };
enum { POLAR_NONE, POLAR_PLAIN, POLAR_KAHN };

/** The product v.P for the points P of a row, at depth O below the front: base + F slope
 * + O depth. */
typedef struct line {
    double base, slope, depth;
} line;

typedef struct row_job {
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
    int *repair;
    const nb_cuda_direct_term *terms;
    int n_terms;
    const float *F2;
    nb_F2_index index;
    int N[3];
    int chunks;  /* number of neighbouring blocks of pixels for each block of threads */
    int aligned; /* 1: rows start at multiples of 16 bytes and have no mask */
    double edge_fast, edge_slow; /* edges of a sub-pixel, m */
    double scale;                /* factor that converts sums to photons */
    double plain_polar[2]; /* k_one: [0] + [1] cos^2, with scale and constants of omega */
    double along[2], square[3], beam[2],
        beam_slope; /* k_one: coefficients of polynomials in S, for plain_row */
    int polar, polar_oversampled;
    double K;
    /* direction of the first source, and its frame of nb_polarization */
    nb_vec3 incident, B, E;
    /* The members from here on are last, because k_one spills registers if the members
     * that it reads are at other places. */
    double path, inverse_path; /* thickness of a layer, in attenuation lengths; 1/path */
    nb_scene scene;
    nb_shape_form shape; /* for shapes other than parallelepipeds */
    nb_cuda_many many;
    /* round crystals with few steps: factors for nb_sphere_u2, for offsets in indices and
     * in units of 2^-32 */
    double sphere[3], sphere_steps[3];
} row_job;

/** A row of points for one sub-pixel and layer: P = base + F fast. */
typedef struct row_points {
    nb_vec3 base;
    double along, square; /* |P|^2 = square + F (along + F) */
    double first;         /* F of pixel 0 */
    line incident, B, E;  /* set only if the polarization needs them */
    line height;          /* P.normal, m; only for layers at their mean depth */
} row_points;

/** Four pixels of a row of points. */
typedef struct four {
    double F[PIXELS], r[PIXELS]; /* F along the row; r = 1/|P| */
    /* only for layers at their mean depth (DEEP): depth from the front face, m, and
     * captured fraction */
    double O[PIXELS];
    float captured[PIXELS];
} four;

static __device__ __forceinline__ double dot(nb_vec3 a, nb_vec3 b)
{
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}

static __device__ __forceinline__ line line_of(const row_job &p, nb_vec3 v, nb_vec3 base)
{
    line l = {dot(v, base), dot(v, p.panel.fast), dot(v, p.panel.normal)};
    return l;
}

static __device__ __forceinline__ double at(line l, double F)
{
    return fma(F, l.slope, l.base);
}

template <bool DEEP>
static __device__ __forceinline__ double at_pixel(line l, const four &x, int i)
{
    return DEEP ? fma(x.O[i], l.depth, at(l, x.F[i])) : at(l, x.F[i]);
}

static __device__ __forceinline__ row_points aim_row(const row_job &p, int s, int subs,
                                                     int subf, int layer)
{
    const nb_panel &panel = p.panel;
    double S =
        fma(p.edge_slow, (double)(s * p.scene.oversample + subs), 0.5 * p.edge_slow);
    double O = layer * p.sensor.layer_step;
    row_points row;
    row.base.x = fma(S, panel.slow.x, fma(O, panel.normal.x, panel.pix0.x));
    row.base.y = fma(S, panel.slow.y, fma(O, panel.normal.y, panel.pix0.y));
    row.base.z = fma(S, panel.slow.z, fma(O, panel.normal.z, panel.pix0.z));
    row.along = 2.0 * dot(row.base, panel.fast);
    row.square = dot(row.base, row.base);
    row.first = p.edge_fast * (subf + 0.5);
    row.height = line_of(p, panel.normal, row.base);
    row.incident = line_of(p, p.incident, row.base);
    if (p.polar == POLAR_KAHN) {
        row.B = line_of(p, p.B, row.base);
        row.E = line_of(p, p.E, row.base);
    }
    return row;
}

/** nb_polarization for pixel i of four, with the first source's direction. */
template <bool DEEP>
static __device__ __forceinline__ double polarize(const row_job &p, const row_points &row,
                                                  const four &x, int i)
{
    double r = x.r[i], c = at_pixel<DEEP>(row.incident, x, i) * r, c2 = c * c, b, e,
           in_plane;
    float cosine;
    if (p.polar == POLAR_PLAIN)
        return fma(0.5, c2, 0.5);
    b = at_pixel<DEEP>(row.B, x, i);
    e = at_pixel<DEEP>(row.E, x, i);
    in_plane = fma(b, b, e * e);
    cosine =
        (float)((e - b) * (e + b) * (r * r)) * nb_reciprocal((float)(in_plane * (r * r)));
    if (!(in_plane > 0))
        cosine = 1.0f;
    return 0.5 * (1.0 + c2 - p.K * cosine * (1.0 - c2));
}

static __device__ __forceinline__ double solid_angle(const row_job &p, double r)
{
    double omega = p.panel.pixel_area * (r * r);
    return p.panel.point_pixel ? omega : omega * (p.panel.close_distance * r);
}

/** Factors that are calculated once per pixel, for its first ray, with the scale. */
template <bool DEEP>
static __device__ __forceinline__ float cached(const row_job &p, const row_points &row,
                                               const four &x, int i)
{
    double factor = p.scale;
    if (p.polar != POLAR_NONE && !p.polar_oversampled)
        factor *= polarize<DEEP>(p, row, x, i);
    if (!p.scene.oversample_omega)
        factor *= solid_angle(p, x.r[i]);
    return (float)factor;
}

/** Factors that are calculated for every ray. */
template <bool DEEP>
static __device__ __forceinline__ float ray_weight(const row_job &p, const row_points &row,
                                                   const four &x, int i, int layer)
{
    double weight = DEEP ? x.captured[i] : 1;
    if (!DEEP && p.sensor.absorb) {
        nb_panel panel = p.panel;
        panel.curved = 0;
        weight =
            nb_capture(&panel, &p.sensor, layer,
                       nb_scale(x.r[i], nb_add(row.base, nb_scale(x.F[i], panel.fast))));
    }
    if (p.scene.oversample_omega)
        weight *= solid_angle(p, x.r[i]);
    if (p.polar_oversampled)
        weight *= polarize<DEEP>(p, row, x, i);
    return (float)weight;
}

static __device__ __forceinline__ void store(const row_job &p, int f, int s,
                                             const float value[PIXELS])
{
    const uint8_t *mask = p.scene.raster.mask;
    size_t pixel = (size_t)s * p.panel.columns + f;
    int i;
    if (!(fabsf((value[0] + value[1]) + (value[2] + value[3])) <= FLT_MAX))
        *p.repair = 1;
    if (p.aligned && f >= p.window.f0 && f + PIXELS <= p.window.f1) {
        *(float4 *)(p.image + pixel) = make_float4(value[0], value[1], value[2], value[3]);
        return;
    }
#pragma unroll
    for (i = 0; i < PIXELS; i++)
        if (f + i >= p.window.f0 && f + i < p.window.f1 && (!mask || mask[pixel + i]))
            p.image[pixel + i] = value[i];
}

static __device__ __forceinline__ double line_at_row(const double a[2], double S)
{
    return fma(S, a[1], a[0]);
}

/** Set the lines and constants for the indices of one step along a row. */
static __device__ __forceinline__ void term_lines(const nb_cuda_direct_term &step,
                                                  const row_points &row, line lines[3],
                                                  double constants[3])
{
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        lines[axis].base = dot(step.axis[axis].vector, row.base);
        lines[axis].slope = step.axis[axis].slope;
        lines[axis].depth = step.depth[axis];
        constants[axis] = step.axis[axis].constant;
    }
}

/** Positions F of four pixels along the row, from column f on, APART columns apart.
 * first: position of column 0. With a table, positions outside the window are moved to
 * its edge, because the table has no F^2 for them. */
template <bool TABLE, int APART = 1>
static __device__ __forceinline__ void pixel_positions(const row_job &p, double first,
                                                       int f, double F[PIXELS])
{
    double pixel = p.panel.pixel_fast, here = fma((double)f, pixel, first);
    int i;
#pragma unroll
    for (i = 0; i < PIXELS; i++)
        F[i] = fma((double)(i * APART), pixel, here);
    if (TABLE && (f < p.window.f0 || f + (PIXELS - 1) * APART >= p.window.f1))
        for (i = 0; i < PIXELS; i++)
            F[i] = fmin(fmax(F[i], fma((double)p.window.f0, pixel, first)),
                        fma((double)(p.window.f1 - 1), pixel, first));
}

/** Positions and 1/distances of four pixels; with DEEP, at the mean depth of the layer. */
template <bool TABLE, bool DEEP, int APART = 1>
static __device__ __forceinline__ four aim_pixels(const row_job &p, const row_points &row,
                                                  int f, int layer)
{
    four x;
    pixel_positions<TABLE, APART>(p, row.first, f, x.F);
#pragma unroll
    for (int i = 0; i < PIXELS; i++) {
        double square = fma(x.F[i], row.along + x.F[i], row.square);
        x.r[i] = inverse_root(square);
        if (DEEP) {
            double height = at(row.height, x.F[i]), parallax = height * x.r[i];
            x.O[i] = p.sensor.layer_step * mean_depth(p.path * inverse_of(parallax),
                                                      parallax * p.inverse_path, layer,
                                                      &x.captured[i]);
            x.r[i] = inverse_root(fma(x.O[i], fma(2.0, height, x.O[i]), square));
        }
    }
    return x;
}

/** sum += x, with the rounding error kept in `error` (Kahan). */
static __device__ __forceinline__ void add_compensated(float &sum, float &error, float x)
{
    float y = __fsub_rn(x, error), t = __fadd_rn(sum, y);
    error = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
}

/** Set the numbers for the polarization, with the frame of the first source. */
static void set_polarization(row_job *job, const nb_cuda_launch *launch)
{
    const nb_scene *sc = &launch->scene;
    job->K = sc->beam.polarization;
    job->incident = launch->first_incident;
    job->B = nb_unit(nb_cross(sc->beam.polar_axis, job->incident));
    job->E = nb_unit(nb_cross(job->incident, job->B));
    job->polar = sc->beam.nopolar ? POLAR_NONE : job->K == 0 ? POLAR_PLAIN : POLAR_KAHN;
    job->polar_oversampled = sc->oversample_polar && !sc->beam.nopolar;
}

/** Make a job, without `many` and `chunks`. */
static row_job make_row_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms)
{
    const nb_scene *sc = &launch->scene;
    /* 1: nothing scatters, so the image is dark */
    int dark = !terms->F2.at && terms->F2.constant == 0;
    double term = (terms->F2.at || dark ? 1.0 : terms->F2.constant) *
                  nb_shape_height2(&sc->lattice);
    row_job job = {};
    job.scene = *sc;
    job.panel = launch->panel;
    job.sensor = launch->sensor;
    job.window = launch->window;
    job.image = launch->image;
    job.repair = launch->repair;
    job.terms = terms->direct;
    job.n_terms = dark ? 0 : terms->count;
    job.F2 = terms->F2.at;
    job.index = nb_make_F2_index(&terms->F2);
    for (int i = 0; i < 3; i++)
        job.N[i] = (int)sc->lattice.N[i];
    for (int i = 0; i < 3; i++) {
        job.sphere[i] = sc->lattice.N[i] * sc->lattice.N[i] * sc->lattice.fudge;
        job.sphere_steps[i] = job.sphere[i] * NB_FIXED_STEP * NB_FIXED_STEP;
    }
    job.shape = nb_make_shape_form(&sc->lattice);
    job.aligned = launch->panel.columns % PIXELS == 0 &&
                  launch->panel.first_pixel % PIXELS == 0 && !sc->raster.mask;
    job.edge_fast = launch->panel.pixel_fast / sc->oversample;
    job.edge_slow = launch->panel.pixel_slow / sc->oversample;
    job.path = launch->sensor.layer_step * launch->sensor.mu;
    job.inverse_path = 1.0 / job.path;
    job.scale = sc->intensity_scale * term;
    set_polarization(&job, launch);
    return job;
}

#endif
