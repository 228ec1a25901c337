/* SPDX-License-Identifier: MIT */
/** Find and draw the boxes of spot_work.h, by blocks of threads.
 *
 * Find: boxes wait in shared memory until there is one for each thread. Then they are
 * fitted and put into a list, so that blocks of threads can share the work evenly.
 *
 * Draw: a block of threads takes fitted boxes and numbers their rays consecutively. Each
 * lane of a warp takes a ray of any box. Rays have different numbers of sources, so they
 * are queued until there is one for each lane. */
#ifndef NB_CUDA_SPOT_FIND_H
#define NB_CUDA_SPOT_FIND_H

#include "../backend/vendor.h"
#include "spot_work.h"

enum {
    DRAW_THREADS = 128,
    DRAW_LANES = 32,
    DRAW_RAYS = 128, /* number of rays that a warp takes at a time */
    DRAW_QUEUE = 2 * DRAW_LANES,
    DRAW_LARGE = 1 << 20 /* a box with more rays is drawn alone */
};

/** Queue of rays whose terms are not yet summed: their nb_spot_span and pixels. */
typedef struct draw_queue {
    double scale[DRAW_QUEUE], shift[DRAW_QUEUE], base[DRAW_QUEUE], high[DRAW_QUEUE];
    double counts[DRAW_QUEUE]; /* factor of a term, electrons^2 */
    size_t pixel[DRAW_QUEUE];
    int first[DRAW_QUEUE];
} draw_queue;

/** Shared data of a block for up to COUNT boxes. */
template <int COUNT> struct draw_lists {
    nb_spot_box boxes[COUNT];
    nb_spot_frame frames[COUNT];
    /* number of rays of all earlier boxes; the last entry is the total */
    unsigned rays[COUNT + 1];
    unsigned taken; /* number of rays that warps have taken */
    draw_queue queues[DRAW_THREADS / DRAW_LANES];
};

/** Position of a lane in the boxes. */
typedef struct draw_place {
    int box, u, v, du, dv, width; /* du, dv: step to the ray DRAW_LANES further */
    nb_spot_brush brush;
} draw_place;

static __device__ __forceinline__ int64_t draw_rays_of(const nb_spot_box &box)
{
    return (int64_t)box.width * box.height;
}

static __device__ __forceinline__ void draw_add(const nb_spot_pass &p, size_t pixel,
                                                unsigned long long units)
{
    if (units == 0)
        return;
    atomicAdd(p.sums + pixel, units);
    p.marks[pixel / NB_SPOT_MARK] = 1;
}

/** Replace each number by the sum of the numbers before it; list[n]: sum of all. By one
 * warp. */
static __device__ void draw_sum_before(unsigned *list, int n)
{
    const int lane = (int)threadIdx.x % DRAW_LANES;
    unsigned before = 0;
    for (int i = lane; i - lane < n; i += DRAW_LANES) {
        const unsigned number = i < n ? list[i] : 0;
        unsigned sum = number;
        for (int d = 1; d < DRAW_LANES; d *= 2) {
            const unsigned below =
                gpuShuffle(sum, lane >= d ? lane - d : lane, DRAW_LANES);
            sum += lane >= d ? below : 0;
        }
        if (i < n)
            list[i] = before + sum - number;
        before += gpuShuffle(sum, DRAW_LANES - 1, DRAW_LANES);
    }
    if (lane == 0)
        list[n] = before;
}

/** Index of the box that contains ray number `ray`. */
static __device__ int draw_box_of(const unsigned *rays, int n, unsigned ray)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (rays[middle] <= ray)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/** Move to ray number `ray`. at->box is the box of this ray or an earlier box. moved: 1
 * if *at is at the lane's previous ray, DRAW_LANES before. */
static __device__ __forceinline__ void draw_go(const nb_spot_pass &p, const unsigned *rays,
                                               const nb_spot_box *boxes, unsigned ray,
                                               bool moved, draw_place *at)
{
    int box = at->box;
    while (ray >= rays[box + 1])
        box++;
    if (moved && box == at->box) {
        at->u += at->du;
        at->v += at->dv + (at->u >= at->width);
        at->u -= at->u >= at->width ? at->width : 0;
        return;
    }
    const unsigned width = (unsigned)boxes[box].width, i = ray - rays[box];
    at->box = box;
    at->width = (int)width;
    at->u = (int)(i % width);
    at->v = (int)(i / width);
    at->du = (int)(DRAW_LANES % width);
    at->dv = (int)(DRAW_LANES / width);
    at->brush = nb_spot_brush_of(&p, &boxes[box]);
}

/** Sum the terms of the last n rays of a queue, one for each lane. */
static __device__ __forceinline__ void draw_terms(const nb_spot_pass &p,
                                                  const draw_queue &queue, int end, int n)
{
    const int lane = (int)threadIdx.x % DRAW_LANES, i = end - n + lane;
    gpuSyncLanes();
    if (lane < n) {
        const nb_spot_span span = {queue.scale[i], queue.shift[i], queue.base[i],
                                   queue.high[i], queue.first[i]};
        const double sum = nb_spot_span_terms(&p.spots, &span) * queue.counts[i];
        draw_add(p, queue.pixel[i], sum > 0 ? nb_spot_whole(&p, sum, NB_LAW_DECAY) : 0);
    }
    gpuSyncLanes();
}

/** Add the ray of a lane at once if that is quick. Otherwise set *span to the sources of
 * the ray and *counts to the factor of its terms. Returns 1 if the span has terms to
 * sum. */
template <int LAW, bool PLAIN>
static __device__ __forceinline__ int draw_ray(const nb_spot_pass &p,
                                               const nb_spot_box &box,
                                               const nb_spot_frame &frame, draw_place *at,
                                               nb_spot_span *span, double *counts)
{
    nb_spot_brush *brush = &at->brush;
    if (LAW == NB_LAW_EDGE || brush->pair.run->n == 1) {
        const unsigned long long units =
            nb_spot_units(&p, PLAIN, brush, &box, &frame, (nb_law)LAW, at->u, at->v);
        draw_add(p, nb_spot_pixel(brush), units);
        return 0;
    }
    nb_ray ray;
    const nb_spot_aim aim =
        nb_spot_aim_at(&p, PLAIN, brush, &box, &frame, at->u, at->v, &ray);
    const nb_spot_lines line = nb_spot_lines_of(&aim);
    if (!(line.across2 <= brush->pair.R2_max))
        return 0;
    *span = nb_spot_span_of(&p.spots, &brush->pair, &line);
    *counts = nb_spot_counts(&p, PLAIN, brush, &ray);
    return p.spots.offset[span->first] <= span->high;
}

/** Append the rays of lanes with `lit` to the queue; returns the queue's length. */
static __device__ __forceinline__ int draw_push(draw_queue &queue, int waiting, int lit,
                                                const nb_spot_span &span, double counts,
                                                const nb_spot_brush &brush)
{
    const unsigned lanes = gpuBallot(lit), below = (1u << threadIdx.x % DRAW_LANES) - 1;
    if (lit) {
        const int i = waiting + __popc(lanes & below);
        queue.scale[i] = span.scale;
        queue.shift[i] = span.shift;
        queue.base[i] = span.base;
        queue.high[i] = span.high;
        queue.first[i] = span.first;
        queue.counts[i] = counts;
        queue.pixel[i] = nb_spot_pixel(&brush);
    }
    return waiting + __popc(lanes);
}

/** Draw the rays of the n boxes in the lists, by all warps of the block. */
template <int LAW, bool PLAIN, int COUNT>
static __device__ __forceinline__ void draw_rays(const nb_spot_pass &p,
                                                 draw_lists<COUNT> &lists, int n)
{
    const unsigned lane = threadIdx.x % DRAW_LANES, all = lists.rays[n];
    draw_queue &queue = lists.queues[threadIdx.x / DRAW_LANES];
    draw_place at;
    int waiting = 0;
    for (;;) {
        unsigned first = lane == 0 ? atomicAdd(&lists.taken, (unsigned)DRAW_RAYS) : 0;
        first = gpuShuffle(first, 0, DRAW_LANES);
        if (first >= all)
            break;
        const unsigned end = first + DRAW_RAYS < all ? first + DRAW_RAYS : all;
        at.box = draw_box_of(lists.rays, n, first + lane < end ? first + lane : first);
        for (unsigned ray = first + lane; ray - lane < end; ray += DRAW_LANES) {
            nb_spot_span span;
            double counts;
            int lit = 0;
            if (ray < end) {
                draw_go(p, lists.rays, lists.boxes, ray, ray >= first + DRAW_LANES, &at);
                lit = draw_ray<LAW, PLAIN>(p, lists.boxes[at.box], lists.frames[at.box],
                                           &at, &span, &counts);
            }
            if (LAW == NB_LAW_EDGE)
                continue;
            waiting = draw_push(queue, waiting, lit, span, counts, at.brush);
            if (waiting >= DRAW_LANES) {
                draw_terms(p, queue, waiting, DRAW_LANES);
                waiting -= DRAW_LANES;
            }
        }
    }
    if (LAW != NB_LAW_EDGE)
        draw_terms(p, queue, waiting, waiting);
}

/** Draw a large box by all threads of the block. */
template <int LAW, bool PLAIN>
static __device__ gpuCall void draw_large(const nb_spot_pass &p, const nb_spot_box &box,
                                          const nb_spot_frame &frame)
{
    nb_spot_brush brush = nb_spot_brush_of(&p, &box);
    for (int v = 0; v < box.height; v++)
        for (int u = (int)threadIdx.x; u < box.width; u += DRAW_THREADS) {
            const unsigned long long units =
                nb_spot_units(&p, PLAIN, &brush, &box, &frame, (nb_law)LAW, u, v);
            draw_add(p, nb_spot_pixel(&brush), units);
        }
}

/** Draw n <= COUNT fitted boxes by all threads of the block. PLAIN: the pass is plain. */
template <int LAW, bool PLAIN, int COUNT>
static __device__ __forceinline__ void draw_boxes(const nb_spot_pass &p,
                                                  draw_lists<COUNT> &lists,
                                                  const nb_spot_box *boxes, int n)
{
    int large = 0;
    for (int i = (int)threadIdx.x; i < n; i += DRAW_THREADS) {
        const nb_spot_box box = boxes[i];
        const int64_t rays = draw_rays_of(box);
        lists.boxes[i] = box;
        if (PLAIN)
            lists.frames[i] = nb_spot_frame_of(&p, &box);
        large |= rays > DRAW_LARGE;
        lists.rays[i] = rays > DRAW_LARGE ? 0 : (unsigned)rays;
    }
    large = __syncthreads_or(large);
    if (threadIdx.x < DRAW_LANES)
        draw_sum_before(lists.rays, n);
    if (threadIdx.x == 0)
        lists.taken = 0;
    __syncthreads();
    draw_rays<LAW, PLAIN>(p, lists, n);
    for (int i = 0; large && i < n; i++)
        if (draw_rays_of(lists.boxes[i]) > DRAW_LARGE)
            draw_large<LAW, PLAIN>(p, lists.boxes[i], lists.frames[i]);
    __syncthreads();
}

enum {
    FIND_THREADS = DRAW_THREADS,
    FIND_BLOCKS = 4, /* number of blocks per multiprocessor */
    FIND_BATCH = 8,  /* limit of items that a block takes together */
    FIND_TURNS = 1,  /* number of times that a block takes items */
    FIND_DRAWS = 16  /* number of boxes that a block draws together */
};

/** The list of fitted boxes that wait to be drawn. */
typedef struct box_list {
    nb_spot_box *boxes;
    unsigned room;
    unsigned *counts; /* counters (COUNTS) */
} box_list;

enum { NEXT_BATCH, FOUND, NEXT_BOX, COUNTS };

/** Shared data of a block that finds boxes. */
typedef struct found_lists {
    nb_spot_item items[FIND_BATCH];
    int64_t candidates[FIND_BATCH];
    nb_spot_sight sights[FIND_THREADS];
    nb_spot_box boxes[2 * FIND_THREADS]; /* boxes that are not yet fitted */
    draw_lists<FIND_DRAWS> draw;
    int n_sights, n_boxes, n_overflow;
    unsigned batch; /* number of the current batch of items */
} found_lists;

/** Draw the first n of lists.boxes, which are fitted. */
template <int LAW, bool PLAIN>
static __device__ gpuCall void draw_overflow(const nb_spot_pass &p, found_lists &lists,
                                             int n)
{
    for (int first = 0; first < n; first += FIND_DRAWS)
        draw_boxes<LAW, PLAIN>(p, lists.draw, lists.boxes + first,
                               n - first < FIND_DRAWS ? n - first : (int)FIND_DRAWS);
}

/** Fit the first n <= FIND_THREADS of `waiting` boxes and put them into the list; draw
 * them if the list is full. Returns the number of boxes that still wait. */
template <int LAW, bool PLAIN>
static __device__ int settle_boxes(const nb_spot_pass &p, found_lists &lists,
                                   const box_list &list, int waiting, int n)
{
    const int thread = (int)threadIdx.x, lane = thread % DRAW_LANES, left = waiting - n;
    nb_spot_box box;
    box.width = 0;
    if (thread < n) {
        box = lists.boxes[thread];
        nb_spot_fit(&p, &box);
    }
    const unsigned lanes = gpuBallot(box.width > 0);
    unsigned at = 0;
    if (lane == 0 && lanes)
        at = atomicAdd(&list.counts[FOUND], (unsigned)__popc(lanes));
    at = gpuShuffle(at, 0, DRAW_LANES) + __popc(lanes & ((1u << lane) - 1));
    const bool overflows = box.width > 0 && at >= list.room;
    if (box.width > 0 && !overflows)
        list.boxes[at] = box;
    if (thread == 0)
        lists.n_overflow = 0;
    const int n_overflow = __syncthreads_count(overflows);
    if (n_overflow > 0) {
        if (overflows)
            lists.boxes[atomicAdd(&lists.n_overflow, 1)] = box;
        __syncthreads();
        draw_overflow<LAW, PLAIN>(p, lists, n_overflow);
    }
    if (thread < left)
        lists.boxes[thread] = lists.boxes[n + thread];
    if (thread == 0)
        lists.n_boxes = left;
    __syncthreads();
    return left;
}

/** Find the boxes of the block's sights, for one run of sources and one layer. Returns
 * the number of boxes that wait. */
template <int LAW, bool PLAIN>
static __device__ int light_sights(const nb_spot_pass &p, found_lists &lists,
                                   const box_list &list, int n_sights, int run, int layer,
                                   int waiting)
{
    const int each = p.orientations, n = n_sights * each;
    for (int first = 0; first < n; first += FIND_THREADS) {
        const int i = first + (int)threadIdx.x;
        const nb_spot_sight &sight = lists.sights[i < n ? i / each : 0];
        const int m = sight.first + i % each;
        nb_spot_box box;
        const int lit =
            i < n && m < sight.end && nb_spot_light(&p, &sight, m, run, layer, &box);
        if (lit)
            lists.boxes[atomicAdd(&lists.n_boxes, 1)] = box;
        waiting += __syncthreads_count(lit);
        if (waiting > FIND_THREADS)
            waiting = settle_boxes<LAW, PLAIN>(p, lists, list, waiting, FIND_THREADS);
    }
    return waiting;
}

/** Set *sight to candidate i of a batch. Returns 0 if no panel sees this reflection. */
static __device__ int sight_of(const nb_spot_pass &p, const found_lists &lists, int64_t i,
                               int batch, nb_spot_sight *sight)
{
    int k = 0;
    while (k < batch && i >= lists.candidates[k])
        i -= lists.candidates[k++];
    return k < batch && nb_spot_sight_of(&p, &lists.items[k], i, sight);
}

/** Find the sights of the block's items, and their boxes; returns the waiting boxes. */
template <int LAW, bool PLAIN>
static __device__ int find_sights(const nb_spot_pass &p, found_lists &lists,
                                  const box_list &list, int batch, int waiting)
{
    int64_t candidates = 0;
    for (int k = 0; k < batch; k++)
        candidates += lists.candidates[k];
    for (int64_t from = 0; from < candidates; from += FIND_THREADS) {
        nb_spot_sight sight;
        const int seen = sight_of(p, lists, from + threadIdx.x, batch, &sight);
        if (seen)
            lists.sights[atomicAdd(&lists.n_sights, 1)] = sight;
        const int n = __syncthreads_count(seen);
        if (n == 0)
            continue;
        for (int k = 0; k < p.spots.n_runs * p.layers; k++)
            waiting = light_sights<LAW, PLAIN>(p, lists, list, n, k % p.spots.n_runs,
                                               k / p.spots.n_runs, waiting);
        __syncthreads();
        if (threadIdx.x == 0)
            lists.n_sights = 0;
        __syncthreads();
    }
    return waiting;
}

/** Find the boxes of items first .. end - 1. Blocks take `batch` items at a time until
 * all are taken, because a few items have more than half of the boxes. */
template <int LAW, bool PLAIN>
__global__ void __launch_bounds__(FIND_THREADS, FIND_BLOCKS)
    k_spots(const NB_GRID_CONSTANT nb_spot_pass p, box_list list, int64_t first,
            int64_t end, int batch)
{
    __shared__ found_lists lists;
    const int thread = (int)threadIdx.x;
    int waiting = 0;
    if (thread == 0)
        lists.n_sights = lists.n_boxes = 0;
    const int64_t batches = (end - first + batch - 1) / batch;
    for (;;) {
        if (thread == 0)
            lists.batch = atomicAdd(&list.counts[NEXT_BATCH], 1u);
        __syncthreads(); /* wait until the earlier items are done */
        const int64_t at = lists.batch;
        if (at >= batches)
            break;
        /* neighbouring items may all have many boxes, so they go to different blocks */
        if (thread < batch) {
            const int64_t k = first + at + thread * batches;
            nb_spot_item *item = &lists.items[thread];
            lists.candidates[thread] =
                k < end && nb_spot_item_of(&p, k, item) ? item->candidates : 0;
        }
        __syncthreads();
        waiting = find_sights<LAW, PLAIN>(p, lists, list, batch, waiting);
    }
    settle_boxes<LAW, PLAIN>(p, lists, list, waiting, waiting);
}

#endif
