/* SPDX-License-Identifier: MIT */
/** Finds the boxes of spot_work.h by blocks of threads. Boxes wait in shared memory until there is
 * one for each thread; then they are fitted and put into a list, from which work is shared
 * evenly. */
#ifndef NB_CUDA_SPOT_FIND_H
#define NB_CUDA_SPOT_FIND_H

#include "spot_draw.h"

enum {
    FIND_THREADS = DRAW_THREADS,
    FIND_BLOCKS = 4, /* of a multiprocessor */
    FIND_BATCH = 8,  /* largest number of items that a block takes together, */
    FIND_TURNS = 1,  /* and the number of times that it takes some */
    FIND_DRAWS = 16  /* number of boxes that it draws together */
};

/** The list of fitted boxes that are not drawn yet. */
typedef struct box_list {
    nb_spot_box *boxes;
    unsigned room;
    unsigned *counts; /* COUNTS */
} box_list;

enum { NEXT_BATCH, FOUND, NEXT_BOX, COUNTS };

/** Shared data of a block that finds boxes. */
typedef struct found_lists {
    nb_spot_item items[FIND_BATCH];
    int64_t candidates[FIND_BATCH];
    nb_spot_sight sights[FIND_THREADS];
    nb_spot_box boxes[2 * FIND_THREADS]; /* not fitted */
    draw_lists<FIND_DRAWS> draw;
    int n_sights, n_boxes, n_rest;
    unsigned batch; /* item that is done now */
} found_lists;

/** Draw the first n of a block's boxes. */
template <int LAW, bool PLAIN>
static __device__ gpuCall void draw_rest(const nb_spot_pass &p, found_lists &lists, int n)
{
    for (int first = 0; first < n; first += FIND_DRAWS)
        draw_boxes<LAW, PLAIN>(p, lists.draw, lists.boxes + first,
                               n - first < FIND_DRAWS ? n - first : (int)FIND_DRAWS);
}

/** Fit the first n <= FIND_THREADS waiting boxes and put them into the list, or draw them if the
 * list is full; returns the number of boxes left. */
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
    const bool rests = box.width > 0 && at >= list.room;
    if (box.width > 0 && !rests)
        list.boxes[at] = box;
    if (thread == 0)
        lists.n_rest = 0;
    const int n_rest = __syncthreads_count(rests);
    if (n_rest > 0) {
        if (rests)
            lists.boxes[atomicAdd(&lists.n_rest, 1)] = box;
        __syncthreads();
        draw_rest<LAW, PLAIN>(p, lists, n_rest);
    }
    if (thread < left)
        lists.boxes[thread] = lists.boxes[n + thread];
    if (thread == 0)
        lists.n_boxes = left;
    __syncthreads();
    return left;
}

/** Find the boxes of the block's sights for one run at one layer; returns the number of waiting
 * boxes. */
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

/** The sight of candidate i of all items. Returns 0 if there is none. */
static __device__ int sight_of(const nb_spot_pass &p, const found_lists &lists, int64_t i,
                               int batch, nb_spot_sight *sight)
{
    int k = 0;
    while (k < batch && i >= lists.candidates[k])
        i -= lists.candidates[k++];
    return k < batch && nb_spot_sight_of(&p, &lists.items[k], i, sight);
}

/** Find the sights of the block's items, and their boxes; returns the number of waiting boxes. */
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

/** Find the boxes of items first .. end - 1. A block takes `batch` items, and then the next free
 * ones, because some items have most of the boxes. */
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
        __syncthreads(); /* items before it are done */
        const int64_t at = lists.batch;
        if (at >= batches)
            break;
        if (thread <
            batch) { /* neighbouring items, which have many boxes together, go to different blocks */
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
