/* SPDX-License-Identifier: MIT */
/* Images in blocks of rays (tile_work.h): each warp takes one first block after the
 * other. Sums are integers, so the order of the blocks changes no byte. */
#include "../steps/shapes.cuh"
#include "../backend/constants.cuh"
#include "../backend/render_job.h"
#include "../spots/spots.h"

#include <string.h>

extern "C" {
#include "../../src/plan/tiles.h"
#include "tile_setup.h"
}

enum {
    WARPS = 4,             /* number of warps per block of threads */
    BLOCKS = 5,            /* number of blocks of threads per multiprocessor */
    EXACT_BLOCKS = 4,      /* the same if terms are in doubles */
    BATCH = 4,             /* items that a warp takes together */
    QUEUE_TASKS = 1 << 21, /* limits of the queue */
    QUEUE_WORDS = 1 << 25,
    QUEUE_LEAST = 64, /* the smallest queue that is tried is 1/64 of the wanted one */
    PIXEL_STEPS = 2,  /* steps per thread, in the sum of a single pixel */
    PIXEL_BLOCKS = 64 /* limit of blocks for steps, and for rays, in this sum */
};

static constexpr int blocks_of(int how)
{
    return how & NB_TILE_EXACT ? EXACT_BLOCKS : BLOCKS;
}

/** Number of blocks per multiprocessor for which the compiler limits registers. */
static constexpr int resident_blocks(int how)
{
#ifdef NB_GPU_SPILLS
    return EXACT_BLOCKS;
#else
    return blocks_of(how);
#endif
}

#define LOOK 1e-3 /* approximate seconds of the first search */
#define FILL 1.5  /* safety factor of the counted tasks per launch */

/** Results of a pass. */
typedef struct tile_report {
    unsigned long long next, tally[NB_TILE_TALLIES];
    unsigned lack;    /* bits of a float: photons that are left out of a pixel */
    unsigned used[2]; /* used part of the queue */
    unsigned late;    /* index of the next task of the queue */
} tile_report;
static_assert(sizeof(tile_report) <= NB_SMALL_LOOK - NB_SMALL_TILES, "it has its place");

/** Add the results of a warp to those of the pass. */
static __device__ __forceinline__ void report_walk(const nb_tile_walk &walk, int count,
                                                   tile_report *report)
{
    if (threadIdx.x % 32 != 0)
        return;
    atomicMax(&report->lack, __float_as_uint(walk.lack * (1 + 1e-5f)));
    if (count)
        for (int i = 0; i < NB_TILE_TALLIES; i++)
            atomicAdd(&report->tally[i], (unsigned long long)walk.tally[i]);
}

/** The shared memory of this warp, with bins set to 0. */
static __device__ __forceinline__ nb_tile_shared *start_warp(nb_tile_shared *of)
{
    of += threadIdx.x / 32;
    of->bins[threadIdx.x % 32] = 0;
    gpuSyncLanes();
    return of;
}

/** Run the items first, first + stride ... The items are spread over the image, so that
 * all launches have similar numbers of tasks. */
template <int HOW>
__global__ void __launch_bounds__(32 * WARPS, resident_blocks(HOW))
    k_tiles(const NB_GRID_CONSTANT nb_tile_pass p, tile_report *report, int64_t first,
            int64_t stride)
{
    __shared__ nb_tile_shared shared[WARPS];
    const int lane = (int)threadIdx.x % 32;
    nb_tile_walk walk = {};
    walk.p = &p;
    walk.w = start_warp(shared);
    for (;;) {
        unsigned long long from = 0;
        if (lane == 0)
            from = atomicAdd(&report->next, (unsigned long long)BATCH);
        int64_t i = first + (int64_t)gpuShuffle(from, 0, 32) * stride;
        if (i >= p.items)
            break;
        for (int k = 0; k < BATCH && i < p.items; k++, i += stride)
            nb_tile_item(&walk, i, HOW);
    }
    report_walk(walk, p.only_count, report);
}

/** Run the tasks of the queue. */
template <int HOW>
__global__ void __launch_bounds__(32 * WARPS, resident_blocks(HOW))
    k_tiles_late(const NB_GRID_CONSTANT nb_tile_pass p, tile_report *report)
{
    __shared__ nb_tile_shared shared[WARPS];
    nb_tile_walk walk = {};
    walk.p = &p;
    walk.w = start_warp(shared);
    const unsigned n = min(p.queue.used[0], p.queue.tasks_max);
    for (;;) {
        const unsigned i = nb_lanes_reserve(&report->late, 1);
        if (i >= n)
            break;
        nb_tile_late_item(&walk, i, HOW);
    }
    report_walk(walk, p.only_count, report);
}

/** Sum all terms of the pixel that a search found, as integers that are rounded down. */
template <int HOW>
__global__ void __launch_bounds__(32 * WARPS)
    k_tile_pixel(const NB_GRID_CONSTANT nb_tile_pass p, nb_cuda_look *look)
{
    double sum = nb_tile_pixel_sum(&p, (unsigned)look->key, blockIdx.y, gridDim.y,
                                   (int64_t)blockIdx.x * blockDim.x + threadIdx.x,
                                   (int64_t)gridDim.x * blockDim.x, HOW);
    for (int half = 16; half > 0; half /= 2)
        sum += gpuShuffleXor(sum, half, 32);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&look->sum, (unsigned long long)(sum * p.spots.per_unit));
}

__global__ void k_tile_photons(const NB_GRID_CONSTANT nb_spot_pass p, nb_cuda_look *look)
{
    look->photons = nb_spot_photons(&p, (unsigned)look->key, look->sum);
}

/** Fill nb_tile_factors.pairs: the largest F^2 of each reflection, and the largest F^2 of
 * the reflection and its neighbours. */
__global__ void __launch_bounds__(256)
    k_tile_pairs(const nb_factor_table sf, const nb_tile_factors f, double per_unit,
                 float2 *pairs)
{
    const int64_t n = (int64_t)f.n[0] * f.n[1] * f.n[2];
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int at[3] = {(int)(i / ((int64_t)f.n[1] * f.n[2])),
                           (int)(i / f.n[2] % f.n[1]), (int)(i % f.n[2])};
        float largest = 0;
        for (int k = 0; k < 27; k++) {
            const int to[3] = {at[0] + k / 9 - 1, at[1] + k / 3 % 3 - 1,
                               at[2] + k % 3 - 1};
            if (to[0] >= 0 && to[0] < f.n[0] && to[1] >= 0 && to[1] < f.n[1] &&
                to[2] >= 0 && to[2] < f.n[2])
                largest = fmaxf(largest, nb_tile_square(&sf, &f, to, per_unit));
        }
        pairs[((int64_t)at[0] << f.shift[0]) + ((int64_t)at[1] << f.shift[1]) + at[2]] =
            make_float2(nb_tile_square(&sf, &f, at, per_unit), largest);
    }
}

/* ------------------------------------------------------------------ one render */

/** Start k_tiles for a part of the items, and k_tiles_late for its tasks. */
template <int HOW>
static void launch_part(const nb_cuda_spot_run *r, const nb_tile_setup *setup,
                        tile_report *report, int64_t first, int64_t stride)
{
    const unsigned blocks = (unsigned)(r->launch->multiprocessors * blocks_of(HOW));
    k_tiles<HOW><<<blocks, 32 * WARPS, 0, r->launch->stream>>>(setup->pass, report, first,
                                                               stride);
    k_tiles_late<HOW><<<blocks, 32 * WARPS, 0, r->launch->stream>>>(setup->pass, report);
}

/** Call launch with shape and exactness as a constant. nb_tiles_refuse excludes shapes
 * that end. */
template <class LAUNCH> static void with_how(const nb_tile_setup *setup, LAUNCH launch)
{
    switch (setup->pass.lattice.shape) {
#define NB_DO(number, ...)                                                               \
    case number:                                                                         \
        if constexpr (!nb_shape_ends(number))                                            \
            with_constants(launch, one_of<number, number | NB_TILE_EXACT>{               \
                                       number | (setup->exact ? NB_TILE_EXACT : 0)});    \
        break;
        NB_SHAPES(NB_DO)
#undef NB_DO
    }
}

/** Run all items in launches of up to a third of a second, for display watchdogs,
 * progress and SIGINT. */
static nb_status launch_items(const nb_cuda_spot_run *r, const nb_tile_setup *setup,
                              tile_report *report, nb_error *err)
{
    const nb_hooks *hooks = &r->state->options.hooks;
    const int64_t items =
                      (setup->pass.items + setup->pass.stride - 1) / setup->pass.stride,
                  parts = (int64_t)fmin(fmax(ceil(fmax(setup->seconds, 1e-9) / 0.3),
                                             ceil(FILL * setup->queued * (double)items)),
                                        fmax(1.0, (double)items));
    cudaStream_t stream = r->launch->stream;
    nb_status st = NB_OK;
    for (int64_t i = 0; i < parts && !st; i++) {
        /* this also clears the counters of the queue */
        if ((st = nb_cuda_check(
                 err, cudaMemsetAsync(&report->next, 0, sizeof report->next, stream),
                 "clearing a counter")) ||
            (st = nb_cuda_check(
                 err, cudaMemsetAsync(report->used, 0, 3 * sizeof(unsigned), stream),
                 "clearing a counter")))
            break;
        with_how(setup, [&](auto HOW) {
            launch_part<HOW>(r, setup, report, i * setup->pass.stride,
                             parts * setup->pass.stride);
        });
        st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
        if (!st && parts > 1)
            st = nb_cuda_check(err, cudaStreamSynchronize(stream), "rendering");
        if (!st && !setup->pass.only_count && hooks->progress &&
            hooks->progress(hooks->user, (double)(i + 1) / (double)parts))
            st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    }
    return st;
}

/** The member `pixel` of nb_tile_runner. */
static nb_status run_pixel(void *context, const nb_tile_setup *setup,
                           const nb_tile_pass *pass, double *photons, nb_error *err)
{
    const nb_cuda_spot_run *r = (const nb_cuda_spot_run *)context;
    nb_cuda_look *look = (nb_cuda_look *)((char *)r->state->small.at + NB_SMALL_LOOK);
    const int os = pass->spots.scene.oversample;
    const double steps = (double)pass->tiles.orientations * pass->tiles.sources,
                 each = PIXEL_STEPS * 32.0 * WARPS;
    const dim3 blocks((unsigned)fmin(PIXEL_BLOCKS, ceil(steps / each)),
                      (unsigned)fmin(PIXEL_BLOCKS, (double)os * os * pass->spots.layers));
    cudaStream_t stream = r->launch->stream;
    nb_status st;
    with_how(setup, [&](auto HOW) {
        k_tile_pixel<HOW><<<blocks, 32 * WARPS, 0, stream>>>(*pass, look);
    });
    k_tile_photons<<<1, 1, 0, stream>>>(pass->spots, look);
    st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    return st ? st : nb_cuda_fetch_brightest(r, &look->photons, photons, err);
}

/** The member `tiles` of nb_tile_runner. */
static nb_status run_tiles(void *context, nb_tile_setup *setup, double *counts,
                           double *lack, nb_error *err)
{
    const nb_cuda_spot_run *r = (const nb_cuda_spot_run *)context;
    tile_report *report = (tile_report *)((char *)r->state->small.at + NB_SMALL_TILES),
                back;
    cudaStream_t stream = r->launch->stream;
    float lacks;
    nb_status st = nb_cuda_check(err, cudaMemsetAsync(report, 0, sizeof *report, stream),
                                 "clearing counters");
    NB_TRY(launch_items(r, setup, report, err));
    if (!st && !counts) {
        nb_cuda_launch_spot_image(r->launch, &setup->pass.spots,
                                  (float *)r->state->image.at);
        st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
        NB_TRY(nb_cuda_check(err, cudaEventRecord(r->state->ended, stream), "rendering"));
    }
    NB_TRY(nb_cuda_check(
        err, cudaMemcpyAsync(&back, report, sizeof back, cudaMemcpyDeviceToHost, stream),
        "fetching counters"));
    NB_TRY(nb_cuda_check(err, cudaStreamSynchronize(stream), "rendering"));
    if (st)
        return st;
    memcpy(&lacks, &back.lack, sizeof lacks);
    *lack = lacks;
    if (counts && setup->pass.queue.tasks_max > 0)
        setup->queued = fmax((double)back.used[0] / setup->pass.queue.tasks_max,
                             (double)back.used[1] / setup->pass.queue.words_max) *
                        (double)setup->pass.stride / (double)setup->pass.items;
    for (int i = 0; i < NB_TILE_TALLIES && counts; i++)
        counts[i] = (double)back.tally[i];
    return NB_OK;
}

/** Reserve the queue, as large as the image needs or memory allows. A small queue needs
 * more launches; without a queue a warp runs its tasks at once. The size changes no
 * byte. */
static nb_status reserve_queue(nb_backend_state *state, const nb_tile_setup *setup,
                               nb_tile_queue *q, nb_error *err)
{
    const int64_t groups = (int64_t)setup->tiles.rows * setup->tiles.columns,
                  blocks = setup->items[1] * setup->spots.pass.layers;
    const double tasks = fmin(QUEUE_TASKS, (double)blocks * nb_tile_task_limit(groups)),
                 words = fmin(QUEUE_WORDS, (double)blocks * (double)groups);
    nb_status st = NB_ERR_DEVICE;
    *q = {};
    q->used = ((tile_report *)((char *)state->small.at + NB_SMALL_TILES))->used;
    for (int part = 1; part <= QUEUE_LEAST && st; part *= 8) {
        q->tasks_max = (unsigned)(tasks / part) + 1;
        q->words_max = (unsigned)(words / part) + 1;
        st = nb_cuda_reserve(&state->tile_queue,
                             q->tasks_max * sizeof *q->tasks +
                                 q->words_max * sizeof *q->words,
                             "blocks that wait", err);
        if (st && !state->tile_queue.full)
            return st;
    }
    if (st) {
        q->tasks_max = 0;
        state->tile_queue.full = 0; /* rendering also works without a queue */
        return NB_OK;
    }
    q->tasks = (nb_tile_late *)state->tile_queue.at;
    q->words = (uint32_t *)(q->tasks + q->tasks_max);
    return NB_OK;
}

/** Upload the tables of the passes. */
static nb_status upload_tables(nb_backend_state *state, const nb_cuda_launch *launch,
                               nb_tile_setup *setup, nb_error *err)
{
    const size_t bytes = nb_tile_setup_pairs(setup);
    nb_scene on_device = launch->scene;
    nb_status st = nb_cuda_upload_mirror(state, &state->spot_tables, setup->spots.tables,
                                         setup->spots.bytes, "tables of spots", err);
    NB_TRY(nb_cuda_upload_mirror(state, &state->tile_tables, setup->tables, setup->bytes,
                                 "tables of blocks", err));
    NB_TRY(nb_cuda_reserve(&state->tile_pairs, bytes, "bounds of structure factors", err));
    if (st)
        return st;
    on_device.n_panels = setup->like.n_panels;
    nb_spot_setup_move(&setup->spots, state->spot_tables.device.at, &on_device);
    setup->spots.pass.mask = launch->scene.raster.mask;
    st = nb_cuda_reserve_sums(state, &setup->spots.pass, err);
    NB_TRY(reserve_queue(state, setup, &setup->pass.queue, err));
    if (st)
        return st;
    nb_tile_setup_move(setup, state->tile_tables.device.at);
    setup->pass.tiles.factors.pairs = (float *)state->tile_pairs.at;
    k_tile_pairs<<<(unsigned)launch->multiprocessors * 8, 256, 0, launch->stream>>>(
        on_device.factors.table, setup->pass.tiles.factors, 1 / setup->tiles.unit,
        (float2 *)state->tile_pairs.at);
    return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
}

nb_status nb_cuda_tiles_run(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_plan *plan = &job->plan;
    const nb_cuda_launch *launch = &job->launch;
    nb_spots_result *result = &state->notes.left;
    nb_cuda_spot_run render;
    const nb_tile_runner run = {nb_cuda_run_spots, run_pixel, run_tiles, &render};
    const nb_cuda_tile_choice choice = nb_cuda_choose_tiles(plan);
    nb_tile_setup setup;
    nb_status st;
    NB_FORWARD(nb_tile_setup_build(plan, &setup, err));
    setup.exact = choice.exact;
    setup.every = choice.every;
    setup.size = plan->engine.size;
    st = nb_cuda_spot_run_of(state, plan, launch, LOOK, &render, err);
    NB_TRY(upload_tables(state, launch, &setup, err));
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->began, state->stream), "rendering"));
    NB_TRY(nb_tile_setup_render(&setup, &run, result, err));
    state->spot_pixels = st ? 0 : setup.pass.spots.scene.raster.pixels;
    nb_tile_setup_free(&setup);
    return st;
}
