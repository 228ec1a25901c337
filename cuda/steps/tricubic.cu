/* SPDX-License-Identifier: MIT */
/* Structure factors between reflections (tricubic): indices in double, F and lattice
 * factors in float.
 *
 * The caches cannot deliver 64 values for each step. So a thread keeps the coefficients
 * of a cell (cubic_cells.h), and loads others when a step is in another cell. Consecutive
 * steps have the same orientation and differ in wavelength, so that they share the
 * products of the axes with the direction. F is a sum of 64 values that may cancel, so
 * errors of floats matter where F passes through 0. A pixel therefore has a second sum,
 * with the largest F of each cell. If the second sum is much larger than the first, the
 * warp calculates the pixel's steps again in double. */
#include <float.h>

#include "../backend/constants.cuh"
#include "../backend/render_job.h"
#include "many.cuh"
#include "tensor_job.cuh"

enum {
    WARPS = 4, /* number of warps per block */
    BLOCKS = 4,
    RUN = 64 /* approximate number of steps that are summed in one float */
};

/** A source: -1/lambda, 1/m; its weight; the number of sources from this one on that have
 * the same direction, up to RUN. */
typedef struct cubic_wave {
    double inverse;
    float weight;
    int run;
} cubic_wave;

static __device__ __forceinline__ cubic_wave wave_at(const tensor_job &p, int source)
{
    const double2 words = __ldg((const double2 *)p.waves + source);
    return {words.x, __int_as_float(__double2loint(words.y)), __double2hiint(words.y)};
}

static __device__ __forceinline__ double product_of(const nb_vec3 &v, const nb_vec3 &q)
{
    return fma(v.x, q.x, fma(v.y, q.y, v.z * q.z));
}

/** Set along[] to the dot products of an orientation's axes and (d - incident direction):
 * the Miller indices times lambda. */
static __device__ __forceinline__ void aim_axes(const tensor_job &p, int orientation,
                                                int source, const nb_vec3 &d,
                                                double along[3])
{
    const nb_orientation &o = p.scene.lattice.orientations[orientation];
    const nb_vec3 q = nb_sub(d, p.scene.beam.sources[source].incident);
    along[0] = product_of(o.a, q);
    along[1] = product_of(o.b, q);
    along[2] = product_of(o.c, q);
}

/** F_latt^2 from the low words of fixed-point indices. */
template <int LAW>
static __device__ __forceinline__ float lattice_at(const tensor_job &p, const int low[3])
{
    if constexpr (LAW == NB_LAW_FRINGES) {
        const float lattice = nb_interference_product(low, p.N);
        return lattice * lattice;
    } else {
        return nb_shape_square<LAW>(low, p.shape);
    }
}

/** Data of a thread in shared memory: sums of F^2 F_latt^2 of a ray and of all rays, the
 * same sums with the largest F of each cell, and the ray's direction. */
enum { LIGHT, LARGEST, SUM, SUM_LARGEST, X, Y, Z, KEPT };
typedef double cubic_memory[KEPT][32 * WARPS];

/** The words of a step's fixed-point indices, and the number of its cell. */
typedef struct cubic_place {
    int high[3], low[3], at;
} cubic_place;

template <bool WHOLE>
static __device__ __forceinline__ cubic_place place_of(const tensor_job &p,
                                                       const double along[3],
                                                       double inverse)
{
    cubic_place to;
#pragma unroll
    for (int axis = 0; axis < 3; axis++) {
        const double t = fma(along[axis], inverse, NB_FIXED_MAGIC);
        to.high[axis] = __double2hiint(t);
        to.low[axis] = __double2loint(t);
    }
    to.at = WHOLE ? nb_cubic_number(&p.cubic, to.high) : nb_cubic_find(&p.cubic, to.high);
    return to;
}

/** F_latt^2 of a step, which is calculated while the cell is loaded. *F2, *scale2:
 * squares of F and of the cell's scale. */
template <int LAW, bool WHOLE>
static __device__ __forceinline__ float one_step(const tensor_job &p,
                                                 const cubic_place &to,
                                                 nb_cubic_cell *cell, float *F2,
                                                 float *scale2)
{
    /* far from a reflection F_latt^2 is 0 in a float, and F is not needed */
    constexpr bool ends = LAW == NB_LAW_DECAY || LAW == NB_LAW_EDGE;
    float lattice = 0;
    if (ends) {
        lattice = lattice_at<LAW>(p, to.low);
        if (lattice == 0) {
            *F2 = *scale2 = 0;
            return 0;
        }
    }
    if ((WHOLE || to.at >= 0) && to.at != cell->at)
        nb_cubic_load(&p.cubic, to.at, cell);
    if (!ends)
        lattice = lattice_at<LAW>(p, to.low);
    if (!WHOLE && to.at < 0) {
        const float F = (float)nb_cubic_nearest(&p.cubic, to.high, to.low);
        *F2 = *scale2 = F * F;
    } else {
        const float u[3] = {nb_cubic_distance(to.low[0]), nb_cubic_distance(to.low[1]),
                            nb_cubic_distance(to.low[2])};
        const float F = nb_cubic_at(cell, u);
        *F2 = F * F;
        *scale2 = cell->scale2;
    }
    return lattice;
}

/** Add sources first .. end - 1, which have one direction, for an orientation. */
template <int LAW, bool WHOLE>
static __device__ __forceinline__ void add_sources(const tensor_job &p, int first,
                                                   int end, const double along[3],
                                                   nb_cubic_cell *cell, float *light,
                                                   float *largest)
{
    cubic_wave next = wave_at(p, first);
#pragma unroll 1
    for (int source = first; source < end; source++) {
        const cubic_wave wave = next;
        float F2, scale2;
        next = wave_at(p, source + 1); /* the last source has padding after it */
        const cubic_place to = place_of<WHOLE>(p, along, wave.inverse);
        const float weight = one_step<LAW, WHOLE>(p, to, cell, &F2, &scale2) * wave.weight;
        *light = fmaf(F2, weight, *light);
        *largest = fmaf(scale2, weight, *largest);
    }
}

/** Add the sums along the ray to LIGHT and LARGEST. */
template <int LAW, bool WHOLE>
static __device__ __forceinline__ void sum_steps(const tensor_job &p, cubic_memory memory,
                                                 nb_cubic_cell *cell)
{
    const int sources = p.scene.beam.n_sources, n = p.scene.lattice.n_orientations;
    const int me = (int)threadIdx.x;
    float light = 0, largest = 0;
    int summed = 0;
    for (int orientation = 0; orientation < n; orientation++)
        for (int first = 0, end; first < sources; first = end) {
            double along[3];
            end = first + wave_at(p, first).run;
            aim_axes(p, orientation, first, {memory[X][me], memory[Y][me], memory[Z][me]},
                     along);
            add_sources<LAW, WHOLE>(p, first, end, along, cell, &light, &largest);
            summed += end - first;
            if (summed < RUN)
                continue;
            memory[LIGHT][me] += light;
            memory[LARGEST][me] += largest;
            light = largest = 0;
            summed = 0;
        }
    memory[LIGHT][me] += light;
    memory[LARGEST][me] += largest;
}

/** Sum along a ray with F in double, by a warp: each lane takes every 32nd step. */
template <int LAW>
static __device__ __noinline__ double sum_exactly(const tensor_job &p, const nb_vec3 &d,
                                                  int lane)
{
    const int sources = p.scene.beam.n_sources;
    const int count = sources * p.scene.lattice.n_orientations;
    double total = 0;
#pragma unroll 1
    for (int k = lane; k < count; k += 32) {
        const int source = k % sources;
        const cubic_wave wave = wave_at(p, source);
        double along[3];
        aim_axes(p, k / sources, source, d, along);
        const cubic_place to = place_of<false>(p, along, wave.inverse);
        const double F = to.at < 0 ? nb_cubic_nearest(&p.cubic, to.high, to.low)
                                   : nb_cubic_exact(&p.cubic, to.at, to.low);
        total += lattice_at<LAW>(p, to.low) * wave.weight * (F * F);
    }
    for (int half = 16; half > 0; half /= 2)
        total += gpuShuffleXor(total, half, 32);
    return total;
}

/** Sum over the rays of a pixel. *in_doubt: 1 if the sum must be calculated again. */
template <int LAW, bool WHOLE>
static __device__ __forceinline__ double sum_rays(const tensor_job &p,
                                                  const tensor_job &at, int rays, int f,
                                                  int s, cubic_memory memory,
                                                  bool *in_doubt)
{
    const int me = (int)threadIdx.x;
    nb_cubic_cell cell;
    cell.at = -1;
    memory[SUM][me] = memory[SUM_LARGEST][me] = 0;
    for (int ray = 0; ray < rays; ray++) {
        float weight;
        const nb_vec3 d = aim(at, ray, f, s, &weight);
        memory[LIGHT][me] = memory[LARGEST][me] = 0;
        memory[X][me] = d.x;
        memory[Y][me] = d.y;
        memory[Z][me] = d.z;
        sum_steps<LAW, WHOLE>(p, memory, &cell);
        memory[SUM][me] += memory[LIGHT][me] * p.term * weight;
        memory[SUM_LARGEST][me] += memory[LARGEST][me] * p.term * weight;
    }
    *in_doubt = memory[SUM_LARGEST][me] > NB_CUBIC_DOUBT * memory[SUM][me];
    return memory[SUM][me];
}

template <int LAW>
static __device__ __forceinline__ double sum_rays_exactly(const tensor_job &p,
                                                          const tensor_job &at, int rays,
                                                          int f, int s, int lane)
{
    double sum = 0;
    for (int ray = 0; ray < rays; ray++) {
        float weight;
        const nb_vec3 d = aim(at, ray, f, s, &weight);
        sum += sum_exactly<LAW>(p, d, lane) * p.term * weight;
    }
    return sum;
}

static __device__ __forceinline__ void put_pixel(const tensor_job &p, const tensor_job &at,
                                                 int f, int s, double sum)
{
    nb_panel flat = at.panel;
    flat.curved = 0;
    float value = (float)(p.scene.intensity_scale * sum *
                          nb_cached_factors(&p.scene, &flat, &at.sensor, f, s));
    at.image[(size_t)s * at.panel.columns + f] = value;
    if (!(fabsf(value) <= FLT_MAX))
        *p.repair = 1;
}

/** Each thread renders a pixel; then a warp calculates each pixel in doubt again. */
template <int LAW, bool WHOLE, bool MANY>
__global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    k_tricubic(const NB_GRID_CONSTANT tensor_job p)
{
    __shared__ cubic_memory memory;
    const tensor_job &at = job_of_block<MANY>(p);
    int lane = (int)(threadIdx.x & 31);
    int across = (at.window.f1 - at.window.f0 + COLUMNS - 1) / COLUMNS;
    int tile = (int)(block_x<MANY>(p, at) * WARPS + (threadIdx.x >> 5));
    int f = at.window.f0 + tile % across * COLUMNS + (lane & 7);
    int s = at.window.s0 + tile / across * ROWS + (lane >> 3);
    int rays = p.scene.oversample * p.scene.oversample * at.sensor.layers;
    bool mine =
        f < at.window.f1 && s < at.window.s1 &&
        !(at.scene.raster.mask && !at.scene.raster.mask[(size_t)s * at.panel.columns + f]);
    bool in_doubt = false;
    double sum = mine ? sum_rays<LAW, WHOLE>(p, at, rays, f, s, memory, &in_doubt) : 0;
    for (unsigned left = gpuBallot(in_doubt); left; left &= left - 1) {
        const int owner = __ffs((int)left) - 1;
        const double exact = sum_rays_exactly<LAW>(p, at, rays, gpuShuffle(f, owner, 32),
                                                   gpuShuffle(s, owner, 32), lane);
        sum = lane == owner ? exact : sum;
    }
    if (mine)
        put_pixel(p, at, f, s, sum);
}

typedef void (*tricubic_kernel)(tensor_job);

static tricubic_kernel choose_kernel(int law, int whole, int many)
{
    return with_constants(
        [](auto LAW, auto WHOLE, auto MANY) -> tricubic_kernel {
            return k_tricubic<LAW, WHOLE != 0, MANY != 0>;
        },
        one_of<NB_LAW_SPHERE, NB_LAW_DECAY, NB_LAW_EDGE, NB_LAW_FRINGES>{law},
        one_of<0, 1>{whole}, one_of<0, 1>{many});
}

static tensor_job make_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms)
{
    const nb_cuda_octets octets = {0, 0, 0};
    return make_tensor_job(launch, terms, &octets, WARPS);
}

static int put_panel_job(const nb_cuda_job *job, const nb_cuda_terms *terms, int before,
                         void *to)
{
    const tensor_job of_panel = make_job(&job->launch, terms);
    return put_job(of_panel, before, of_panel.many.across, to);
}

static void submit(nb_cuda_job *render, int part)
{
    const nb_cuda_launch *launch = &render->launch;
    const nb_cuda_many *many = render->many[NB_JOBS_FAST];
    tensor_job job = make_job(launch, &render->terms);
    const tricubic_kernel kernel = choose_kernel(
        nb_shape_law(launch->scene.lattice.shape), job.cubic.whole, many != NULL);
    const unsigned blocks = (unsigned)(many ? many->blocks : job.many.across);
    (void)part; /* not used, because there is only one part */
    if (many)
        job = job_of_many(job, many);
    kernel<<<blocks, 32 * WARPS, 0, launch->stream>>>(job);
}

/** Fill cells: one thread for the coefficients of a power of l, one for the scale. */
__global__ void k_cubic_cells(const NB_GRID_CONSTANT nb_cubic_table table, int64_t n,
                              float *cells)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, cell = i / 5;
    const int part = (int)(i % 5);
    float c[16];
    if (cell >= n)
        return;
    float4 *to = (float4 *)(cells + NB_CUBIC_FLOATS * cell + 16 * part);
    nb_cubic_part(&table, cell, part, c);
    for (int k = 0; k < (part == 4 ? 1 : 4); k++)
        to[k] = make_float4(c[4 * k], c[4 * k + 1], c[4 * k + 2], c[4 * k + 3]);
}

/** Fill the allocated cells of a table; table->F is on the device. */
static void launch_cells(const nb_cubic_table *table, float *cells, cudaStream_t stream)
{
    const int64_t n = (int64_t)nb_cubic_cells(table);
    if (n > 0)
        k_cubic_cells<<<(unsigned)((5 * n + 255) / 256), 256, 0, stream>>>(*table, n,
                                                                           cells);
}

static __device__ bool is_same(const nb_vec3 &a, const nb_vec3 &b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

__global__ void k_cubic_waves(const NB_GRID_CONSTANT nb_beam beam, cubic_wave *waves)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    cubic_wave wave = {0, 0, 0};
    if (i > beam.n_sources)
        return;
    if (i < beam.n_sources) {
        const nb_source &source = beam.sources[i];
        wave.inverse = -1.0 / source.lambda;
        wave.weight = (float)source.weight;
        while (wave.run < RUN && i + wave.run < beam.n_sources &&
               is_same(source.incident, beam.sources[i + wave.run].incident))
            wave.run++;
    }
    waves[i] = wave;
}

/** Size of the array of cubic_wave. */
static size_t wave_bytes(const nb_beam *beam)
{
    return ((size_t)beam->n_sources + 1) * sizeof(cubic_wave);
}

/** Fill the array of cubic_wave from the sources on the device. */
static void launch_waves(const nb_beam *beam, void *waves, cudaStream_t stream)
{
    k_cubic_waves<<<(unsigned)beam->n_sources / 256 + 1, 256, 0, stream>>>(
        *beam, (cubic_wave *)waves);
}

/* ------------------------------------------------------------------ the path's kernel */

enum {
    /* limit of the number of cells: 8.5 GiB; half of the free memory is another limit */
    MAX_CUBICS = 1 << 25,
    CUBIC_BYTES = NB_CUBIC_FLOATS * sizeof(float)
};

/** Prepare the cells of the table, and the sources. */
static nb_status prepare(nb_cuda_job *job, int *fits, nb_error *err)
{
    nb_backend_state *state = job->state;
    nb_cuda_terms *terms = &job->terms;
    const nb_scene *sc = &job->launch.scene;
    nb_index_box box;
    double cells;
    nb_status st;
    NB_FORWARD(nb_visible_box(&job->plan, &box, err));
    terms->cubic = nb_cubic_table_of(&sc->factors.table,
                                     job->plan.scene->beam.sources[0].table, &box);
    terms->is_cubic = 1;
    cells = nb_cubic_cells(&terms->cubic);
    *fits = cells <= MAX_CUBICS && nb_cuda_has_room(state, cells * CUBIC_BYTES);
    if (!*fits)
        return NB_OK;
    if ((st = nb_cuda_reserve(&state->F2, (size_t)cells * CUBIC_BYTES + 1,
                              "the table of structure factors", err)) ||
        (st = nb_cuda_reserve(&state->terms, wave_bytes(&sc->beam), "the sources", err)))
        return st;
    terms->cubic.cells = (const float *)state->F2.at;
    launch_cells(&terms->cubic, (float *)state->F2.at, state->stream);
    launch_waves(&sc->beam, state->terms.at, state->stream);
    terms->waves = state->terms.at;
    return NB_OK;
}

extern "C" const nb_path_kernel nb_cuda_kernel_tricubic = {.rate = nb_cuda_tricubic_rate,
                                                           .prepare = prepare,
                                                           .parts = NULL,
                                                           .submit = submit,
                                                           .job = put_panel_job,
                                                           .job_bytes = sizeof(tensor_job),
                                                           .repair = NB_REPAIR_ALWAYS,
                                                           .adds_parts = 0};
