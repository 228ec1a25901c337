/* SPDX-License-Identifier: MIT */
/** Draws fitted boxes of spot_work.h by a block of threads. The rays of some boxes are numbered
 * consecutively; each lane of a warp takes a ray of any box. Rays have different numbers of
 * sources; they are queued until there is one for each lane. */
#ifndef NB_CUDA_SPOT_DRAW_H
#define NB_CUDA_SPOT_DRAW_H

#include "spot_work.h"
#include "../backend/vendor.h"

enum {
    DRAW_THREADS = 128,
    DRAW_LANES = 32,
    DRAW_RAYS = 128, /* number that a warp takes at a time */
    DRAW_QUEUE = 2 * DRAW_LANES,
    DRAW_LARGE = 1 << 20 /* least rays of a box that is drawn by itself */
};

/** Rays whose terms are not summed yet. */
typedef struct draw_queue {
    double scale[DRAW_QUEUE], shift[DRAW_QUEUE], base[DRAW_QUEUE], high[DRAW_QUEUE];
    double counts[DRAW_QUEUE]; /* factor of a term, electrons^2 */
    size_t pixel[DRAW_QUEUE];
    int first[DRAW_QUEUE];
} draw_queue;

/** Shared data of a block for MOST boxes. */
template <int MOST> struct draw_lists {
    nb_spot_box boxes[MOST];
    nb_spot_frame frames[MOST];
    unsigned rays[MOST + 1]; /* before each box, and of all */
    unsigned taken;          /* rays */
    draw_queue queues[DRAW_THREADS / DRAW_LANES];
};

/** Position of a lane in the boxes. */
typedef struct draw_place {
    int box, u, v, du, dv, width; /* du, dv: to the ray DRAW_LANES further */
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

/** Replace the numbers by the sums of those before; list[n]: sum of all. By one warp. */
static __device__ void draw_sum_before(unsigned *list, int n)
{
    const int lane = (int)threadIdx.x % DRAW_LANES;
    unsigned before = 0;
    for (int i = lane; i - lane < n; i += DRAW_LANES) {
        const unsigned own = i < n ? list[i] : 0;
        unsigned sum = own;
        for (int d = 1; d < DRAW_LANES; d *= 2) {
            const unsigned below =
                gpuShuffle(sum, lane >= d ? lane - d : lane, DRAW_LANES);
            sum += lane >= d ? below : 0;
        }
        if (i < n)
            list[i] = before + sum - own;
        before += gpuShuffle(sum, DRAW_LANES - 1, DRAW_LANES);
    }
    if (lane == 0)
        list[n] = before;
}

/** The last of n boxes that has no more rays than `ray` before it. */
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

/** Move to a ray; at->box: at most the box of the ray; with `moved` that of the lane's last
 * ray. */
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

/** The span of the lane's ray. Returns 0 if there are no terms to sum. */
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
    if (!(line.across2 <= brush->pair.most))
        return 0;
    *span = nb_spot_span_of(&p.spots, &brush->pair, &line);
    *counts = nb_spot_counts(&p, PLAIN, brush, &ray);
    return p.spots.offset[span->first] <= span->high;
}

/** Put the lanes' rays with terms into the queue; returns its length. */
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
template <int LAW, bool PLAIN, int MOST>
static __device__ __forceinline__ void draw_rays(const nb_spot_pass &p,
                                                 draw_lists<MOST> &lists, int n)
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

/** Draw n <= MOST fitted boxes by all threads of the block. PLAIN: the pass is plain. */
template <int LAW, bool PLAIN, int MOST>
static __device__ __forceinline__ void draw_boxes(const nb_spot_pass &p,
                                                  draw_lists<MOST> &lists,
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

#endif
