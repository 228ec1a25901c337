/* SPDX-License-Identifier: MIT */
/* Materials of an amorphous background, quickly. Distances and angles are in double, F in
 * float from cells (src/terms/materials.h). A thread takes four pixels of a row, 32
 * apart, so that the lanes of a warp read neighbouring cells. */
#include "many.cuh"
#include "row.cuh"

enum {
    BLOCK_X = 32,
    BLOCK_Y = 4,
    WIDE = PIXELS * BLOCK_X,
    BLOCKS = 4, /* blocks of threads per multiprocessor */
    ONE_RAY_BLOCKS = 5,
    CHUNKS = 4 /* pieces of WIDE pixels for a block with one ray per pixel */
};

/** ONE_RAY: a ray of weight 1 per pixel. DEEP_RAYS: rays to the mean depth of layers. */
enum { ONE_RAY, ALL_RAYS, DEEP_RAYS };

/** Direction, wavelength and weight of a source, for a row of points. */
typedef struct material_source {
    line incident;
    double half; /* 1/(2 lambda), 1/m; times 2 sin(theta): sin(theta)/lambda */
    float weight;
} material_source;

template <bool DEEP>
static __device__ __forceinline__ material_source source_along(const row_job &p,
                                                               const nb_source &source,
                                                               const row_points &row)
{
    material_source s;
    s.incident = line_of(p, source.incident, row.base);
    s.half = 0.5 * inverse_of(source.lambda);
    s.weight = (float)source.weight;
    return s;
}

/** Add share x weight x F|F| of all materials and sources to four sums. */
template <bool DEEP>
static __device__ __forceinline__ void sum_materials(const material_job &p,
                                                     const row_job &at_panel,
                                                     const row_points &row, const four &x,
                                                     float sum[PIXELS])
{
    float error[PIXELS] = {};
    for (int k = 0; k < p.of.n; k++) {
        const nb_cells m = p.of.list[k];
        for (int j = 0; j < p.row.scene.beam.n_sources; j++) {
            const material_source source =
                source_along<DEEP>(at_panel, p.row.scene.beam.sources[j], row);
            const float weight = source.weight * m.share;
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                const double cosine = at_pixel<DEEP>(source.incident, x, i) * x.r[i];
                const float F = F_at(p, m, chord(cosine) * source.half);
                add_compensated(sum[i], error[i], weight * F * fabsf(F));
            }
        }
    }
}

/** Photons of four pixels of a row, with one ray of weight 1 per pixel. */
static __device__ __forceinline__ void one_ray(const material_job &p,
                                               const row_job &at_panel,
                                               const row_points &row, int f,
                                               float out[PIXELS])
{
    const four x = aim_pixels<false, false, BLOCK_X>(at_panel, row, f, 0);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        out[i] = 0;
    sum_materials<false>(p, at_panel, row, x, out);
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        out[i] *= cached<false>(at_panel, row, x, i);
}

/** Photons of four pixels of a row, with any number of rays. */
template <bool DEEP, bool MANY>
static __device__ __forceinline__ void all_rays(const material_job &p,
                                                const row_job &at_panel, int f, int s,
                                                float out[PIXELS])
{
    const int os = p.row.scene.oversample;
    float error[PIXELS] = {}, factor[PIXELS];
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        out[i] = 0;
    for (int layer = 0; layer < at_panel.sensor.layers; layer++)
        for (int sub = 0; sub < os * os; sub++) {
            forget<MANY>();
            const row_points row = aim_row(at_panel, s, sub / os, sub % os, layer);
            const four x = aim_pixels<false, DEEP, BLOCK_X>(at_panel, row, f, layer);
            float sum[PIXELS] = {};
            sum_materials<DEEP>(p, at_panel, row, x, sum);
#pragma unroll
            for (int i = 0; i < PIXELS; i++) {
                if (layer == 0 && sub == 0)
                    factor[i] = cached<DEEP>(at_panel, row, x, i);
                add_compensated(out[i], error[i],
                                sum[i] * ray_weight<DEEP>(at_panel, row, x, i, layer));
            }
        }
#pragma unroll
    for (int i = 0; i < PIXELS; i++)
        out[i] *= factor[i];
}

/** Add the materials to a block of pixels. The image is read while sums are calculated. */
template <int RAYS, bool MANY>
static __device__ __forceinline__ void add_block(const material_job &p,
                                                 const row_job &at_panel,
                                                 unsigned x_block, unsigned y_block)
{
    const int s = at_panel.window.s0 + (int)(y_block * BLOCK_Y + threadIdx.y);
    const uint8_t *mask = at_panel.scene.raster.mask;
    int f = at_panel.window.f0 + (int)(x_block * at_panel.chunks * WIDE + threadIdx.x);
    if (f >= at_panel.window.f1 || s >= at_panel.window.s1)
        return;
    row_points row;
    if (RAYS == ONE_RAY)
        row = aim_row(at_panel, s, 0, 0, 0);
#pragma unroll 1
    for (int c = 0; c < at_panel.chunks && f < at_panel.window.f1; c++, f += WIDE) {
        const size_t pixel = (size_t)s * at_panel.panel.columns + f;
        float *image = at_panel.image + pixel, before[PIXELS], value[PIXELS];
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            before[i] = f + i * BLOCK_X < at_panel.window.f1 ? image[i * BLOCK_X] : 0;
        if (RAYS == ONE_RAY)
            one_ray(p, at_panel, row, f, value);
        else
            all_rays<RAYS == DEEP_RAYS, MANY>(p, at_panel, f, s, value);
#pragma unroll
        for (int i = 0; i < PIXELS; i++)
            if (f + i * BLOCK_X < at_panel.window.f1 &&
                (!mask || mask[pixel + i * BLOCK_X]))
                image[i * BLOCK_X] = before[i] + value[i];
    }
}

template <int RAYS, bool MANY>
__global__ void __launch_bounds__(BLOCK_X *BLOCK_Y,
                                  RAYS == ONE_RAY ? ONE_RAY_BLOCKS : BLOCKS)
    k_materials(const NB_GRID_CONSTANT material_job p)
{
    if constexpr (MANY)
        for_blocks<false>(p.row, [&](const row_job &at_panel, unsigned x, unsigned y) {
            add_block<RAYS, true>(p, at_panel, x, y);
        });
    else
        add_block<RAYS, false>(p, p.row, blockIdx.x, blockIdx.y);
}

/** ONE_RAY, ALL_RAYS or DEEP_RAYS for a launch. */
static int rays_of(const nb_cuda_launch *launch)
{
    const nb_scene *sc = &launch->scene;
    const nb_sensor *sensor = &launch->sensor;
    if (sensor->mean_depth)
        return DEEP_RAYS;
    return sensor->layers == 1 && sc->oversample == 1 && !sensor->absorb &&
                   !sc->oversample_omega && (sc->beam.nopolar || !sc->oversample_polar)
               ? ONE_RAY
               : ALL_RAYS;
}

static row_job make_job(const nb_cuda_launch *launch, dim3 *grid)
{
    const nb_cuda_terms none = {};
    const nb_cuda_window *w = &launch->window;
    row_job job = make_row_job(launch, &none);
    const int across = (w->f1 - w->f0 + WIDE - 1) / WIDE;
    job.chunks = rays_of(launch) != ONE_RAY ? 1 : across < CHUNKS ? across : (int)CHUNKS;
    *grid = dim3((unsigned)((across + job.chunks - 1) / job.chunks),
                 (unsigned)(w->s1 - w->s0 + BLOCK_Y - 1) / BLOCK_Y);
    /* The number of molecules is in the scale, so that floats can hold scale and sums. */
    job.scale = launch->scene.intensity_scale * launch->cells.molecules *
                launch->scene.lattice.n_orientations;
    job.many.across = (int)grid->x;
    return job;
}

int nb_cuda_materials_job(const nb_cuda_launch *launch, int before, void *to)
{
    dim3 grid;
    const row_job job = make_job(launch, &grid);
    return put_job(job, before, (int)(grid.x * grid.y), to);
}

void nb_cuda_launch_materials(const nb_cuda_launch *launch, const nb_cuda_many *many)
{
    static void (*const kernels[][2])(material_job) = {
        {k_materials<ONE_RAY, false>, k_materials<ONE_RAY, true>},
        {k_materials<ALL_RAYS, false>, k_materials<ALL_RAYS, true>},
        {k_materials<DEEP_RAYS, false>, k_materials<DEEP_RAYS, true>}};
    const int rays = rays_of(launch);
    dim3 grid;
    material_job job = {launch->cells, make_job(launch, &grid), 0};
    if (many) {
        const int at_once = rays == ONE_RAY ? ONE_RAY_BLOCKS : BLOCKS;
        job.row = job_of_many(job.row, many);
        grid = dim3((unsigned)min(many->blocks, at_once * launch->multiprocessors));
    }
    kernels[rays][many != NULL]<<<grid, dim3(BLOCK_X, BLOCK_Y), 0, launch->stream>>>(job);
}
