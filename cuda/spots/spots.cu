/* SPDX-License-Identifier: MIT */
/* Images from reflections (spot_work.h). Sums are integers, so the order of terms and of
 * blocks changes no byte. */
#include "../backend/render_job.h"
#include "spots.h"

#include "spot_find.h"
#include "../backend/host.h"

extern "C" {
#include "spot_setup.h"
}

/* limit of the seconds of a launch, for display watchdogs, progress and SIGINT */
#define PART 0.3
#define SPOTS_DIM 1e3 /* argument of nb_spots_work_of: count all reflections */

enum {
    BLOCKS = 5,          /* number of blocks of threads that draw, per multiprocessor */
    BOXES = 64,          /* limit of boxes that a block draws together */
    TURNS = 4,           /* approximate number of times that a block takes boxes */
    BOXES_MIN = 1 << 12, /* limits of the length of the list of boxes */
    BOXES_MAX = 1 << 20,
    SCAN = 256,      /* threads that read marks */
    SCAN_BLOCKS = 8, /* number of blocks of SCAN threads per multiprocessor */
    SCAN_MARKS = 4   /* smallest number of marks that a warp reads together */
};

/* ------------------------------------------------------------------ terms */

/** Draw all boxes of the list. */
template <int LAW, bool PLAIN>
__global__ void __launch_bounds__(DRAW_THREADS, BLOCKS)
    k_spot_boxes(const NB_GRID_CONSTANT nb_spot_pass p, box_list list)
{
    __shared__ draw_lists<BOXES> lists;
    __shared__ unsigned next;
    const unsigned found = list.counts[FOUND], n = found < list.room ? found : list.room,
                   share = n / (gridDim.x * TURNS) + 1,
                   each = share < BOXES ? share : BOXES;
    for (;;) {
        if (threadIdx.x == 0)
            next = atomicAdd(&list.counts[NEXT_BOX], each);
        __syncthreads();
        const unsigned first = next;
        if (first >= n)
            break;
        draw_boxes<LAW, PLAIN>(p, lists, list.boxes + first,
                               (int)(n - first < each ? n - first : each));
    }
}

/* ------------------------------------------------------------------ pixels */

/** Read the sum of a pixel whose mark is set, and set the sum to 0. */
static __device__ __forceinline__ unsigned long long take_sum(const nb_spot_pass &p,
                                                              size_t pixel)
{
    const unsigned long long sum = p.sums[pixel];
    if (sum > 0)
        p.sums[pixel] = 0;
    return sum;
}

/** Return the set marks among `each` marks (up to one for each lane) from `first` on, and
 * clear these marks. */
static __device__ __forceinline__ unsigned take_marks(const nb_spot_pass &p, size_t first,
                                                      int each)
{
    const size_t pixels = p.scene.raster.pixels, lane = threadIdx.x % NB_SPOT_MARK,
                 k = first + lane;
    const int marked = (int)lane < each && k * NB_SPOT_MARK < pixels && p.marks[k] != 0;
    if (marked)
        p.marks[k] = 0;
    return gpuBallot(marked);
}

/** Write the pixels of a mark to the image, one for each lane. lit: 1 if the mark was
 * set. */
static __device__ __forceinline__ void fill_mark(const nb_spot_pass &p, size_t mark,
                                                 bool lit, float *image)
{
    const size_t i = mark * NB_SPOT_MARK + threadIdx.x % NB_SPOT_MARK;
    if (i >= p.scene.raster.pixels)
        return;
    const unsigned long long sum = lit ? take_sum(p, i) : 0;
    image[i] = sum > 0 ? (float)nb_spot_photons(&p, i, sum) : 0;
}

/** Write the image; a warp takes `each` marks together. */
__global__ void __launch_bounds__(SCAN)
    k_spot_image(const NB_GRID_CONSTANT nb_spot_pass p, int each, float *image)
{
    const size_t pixels = p.scene.raster.pixels, lane = threadIdx.x % NB_SPOT_MARK,
                 warps = (size_t)gridDim.x * (SCAN / NB_SPOT_MARK),
                 warp = (size_t)blockIdx.x * (SCAN / NB_SPOT_MARK) +
                        threadIdx.x / NB_SPOT_MARK;
    const float4 dark = {0, 0, 0, 0};
    for (size_t first = warp * each; first * NB_SPOT_MARK < pixels; first += warps * each) {
        const unsigned lit = take_marks(p, first, each);
        /* a lane writes four dark pixels at once */
        for (int k = 0; k < each; k += SCAN_MARKS) {
            const unsigned some = lit >> k & ((1u << SCAN_MARKS) - 1);
            const size_t at = first + k;
            if (some == 0 && (at + SCAN_MARKS) * NB_SPOT_MARK <= pixels)
                ((float4 *)(image + at * NB_SPOT_MARK))[lane] = dark;
            else
                for (int i = 0; i < SCAN_MARKS; i++)
                    fill_mark(p, at + i, some >> i & 1, image);
        }
    }
}

/** A number that is larger for pixels with more photons. */
static __device__ __forceinline__ unsigned long long key_of(double photons, size_t pixel)
{
    return (unsigned long long)__float_as_uint((float)photons) << 32 | (unsigned)pixel;
}

/** Find the brightest pixel. *brightest: bits of its photons; *key: key_of. A warp takes
 * `each` marks together. */
__global__ void __launch_bounds__(SCAN)
    k_spot_brightest(const NB_GRID_CONSTANT nb_spot_pass p, int each,
                     unsigned long long *brightest, unsigned long long *key)
{
    const size_t pixels = p.scene.raster.pixels, lane = threadIdx.x % NB_SPOT_MARK,
                 warps = (size_t)gridDim.x * (SCAN / NB_SPOT_MARK),
                 warp = (size_t)blockIdx.x * (SCAN / NB_SPOT_MARK) +
                        threadIdx.x / NB_SPOT_MARK;
    unsigned long long best = 0;
    double peak = 0;
    for (size_t first = warp * each; first * NB_SPOT_MARK < pixels; first += warps * each)
        for (unsigned lit = take_marks(p, first, each); lit; lit &= lit - 1) {
            const size_t i = (first + (size_t)__ffs((int)lit) - 1) * NB_SPOT_MARK + lane;
            const unsigned long long sum = i < pixels ? take_sum(p, i) : 0;
            if (sum > 0) {
                const double photons = nb_spot_photons(&p, i, sum);
                peak = fmax(peak, photons);
                best = max(best, key_of(photons, i));
            }
        }
    for (int half = NB_SPOT_MARK / 2; half > 0; half /= 2) {
        peak = fmax(peak, gpuShuffleXor(peak, half, 32));
        best = max(best, gpuShuffleXor(best, half, 32));
    }
    if (lane == 0 && peak > 0) {
        atomicMax(brightest, (unsigned long long)__double_as_longlong(peak));
        atomicMax(key, best);
    }
}

/* ------------------------------------------------------------------ one render */

typedef void find_kernel(nb_spot_pass pass, box_list list, int64_t first, int64_t end,
                         int batch);
typedef void draw_kernel(nb_spot_pass pass, box_list list);

template <int LAW>
static void kernels_of(const nb_spot_pass *pass, find_kernel **find, draw_kernel **draw)
{
    *find = pass->plain ? k_spots<LAW, true> : k_spots<LAW, false>;
    *draw = pass->plain ? k_spot_boxes<LAW, true> : k_spot_boxes<LAW, false>;
}

/** Find and draw the boxes of items first .. end - 1. */
static nb_status launch_part(const nb_cuda_spot_run *r, const nb_spot_pass *pass,
                             int64_t first, int64_t end, nb_error *err)
{
    const int64_t blocks_max = (int64_t)r->launch->multiprocessors * FIND_BLOCKS,
                  share = (end - first) / (blocks_max * FIND_TURNS) + 1,
                  batch = share < FIND_BATCH ? share : (int64_t)FIND_BATCH,
                  wanted = (end - first + batch - 1) / batch;
    const nb_cuda_buffer *boxes = &r->state->spot_boxes;
    const box_list list = {(nb_spot_box *)boxes->at, r->room,
                           (unsigned *)((char *)r->state->small.at + NB_SMALL_SPOTS)};
    static_assert(COUNTS * sizeof *list.counts <= NB_SMALL_BYTES - NB_SMALL_SPOTS,
                  "they have their place");
    find_kernel *find;
    draw_kernel *draw;
    nb_status st;
    NB_FORWARD(nb_cuda_check(
        err,
        cudaMemsetAsync(list.counts, 0, COUNTS * sizeof *list.counts, r->launch->stream),
        "clearing counters"));
    if (pass->spots.law == NB_LAW_EDGE)
        kernels_of<NB_LAW_EDGE>(pass, &find, &draw);
    else
        kernels_of<NB_LAW_DECAY>(pass, &find, &draw);
    find<<<(unsigned)(wanted < blocks_max ? wanted : blocks_max), FIND_THREADS, 0,
           r->launch->stream>>>(*pass, list, first, end, (int)batch);
    draw<<<(unsigned)(r->launch->multiprocessors * BLOCKS), DRAW_THREADS, 0, r->launch->stream>>>(
        *pass, list);
    return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
}

static nb_status launch_items(const nb_cuda_spot_run *r, const nb_spot_pass *pass,
                              nb_error *err)
{
    const nb_hooks *hooks = &r->state->options.hooks;
    const int64_t items = nb_spot_items(pass), parts = r->parts < items ? r->parts : items;
    nb_status st = NB_OK;
    for (int64_t i = 0; i < parts && !st; i++) {
        const int64_t first = items / parts * i,
                      end = i == parts - 1 ? items : items / parts * (i + 1);
        st = launch_part(r, pass, first, end, err);
        if (!st && parts > 1)
            st = nb_cuda_check(err, cudaStreamSynchronize(r->launch->stream), "rendering");
        if (!st && hooks->progress &&
            hooks->progress(hooks->user, (double)(i + 1) / (double)parts))
            st = nb_fail(err, NB_ERR_CANCELLED, "stopped before the image was finished");
    }
    return st;
}

nb_status nb_cuda_fetch_brightest(const nb_cuda_spot_run *r, const void *from,
                                  double *brightest, nb_error *err)
{
    double *pinned = r->state->brightest;
    nb_status st =
        nb_cuda_check(err,
                      cudaMemcpyAsync(pinned, from, sizeof *pinned,
                                      cudaMemcpyDeviceToHost, r->launch->stream),
                      "fetching the brightest pixel");
    NB_TRY(nb_cuda_check(err, cudaStreamSynchronize(r->launch->stream), "rendering"));
    *brightest = st ? 0 : *pinned;
    return st;
}

/** Number of marks that a warp reads together, so that all warps have work. */
static int marks_of_warp(const nb_cuda_launch *launch, const nb_spot_pass *pass)
{
    const size_t warps =
        (size_t)launch->multiprocessors * SCAN_BLOCKS * (SCAN / NB_SPOT_MARK);
    const size_t each =
        pass->scene.raster.pixels / NB_SPOT_MARK / warps / SCAN_MARKS * SCAN_MARKS;
    return each < SCAN_MARKS     ? (int)SCAN_MARKS
           : each < NB_SPOT_MARK ? (int)each
                                 : (int)NB_SPOT_MARK;
}

void nb_cuda_launch_spot_image(const nb_cuda_launch *launch, const nb_spot_pass *pass,
                               float *image)
{
    k_spot_image<<<(unsigned)(launch->multiprocessors * SCAN_BLOCKS), SCAN, 0, launch->stream>>>(
        *pass, marks_of_warp(launch, pass), image);
}

nb_status nb_cuda_run_spots(void *context, const nb_spot_pass *pass, double *brightest,
                            nb_error *err)
{
    const nb_cuda_spot_run *r = (const nb_cuda_spot_run *)context;
    const unsigned blocks = (unsigned)(r->launch->multiprocessors * SCAN_BLOCKS);
    unsigned long long *peak =
        (unsigned long long *)((char *)r->state->small.at + NB_SMALL_BRIGHTEST);
    nb_cuda_look *look = (nb_cuda_look *)((char *)r->state->small.at + NB_SMALL_LOOK);
    nb_status st = NB_OK;
    if (nb_spot_items(pass) > 0)
        st = launch_items(r, pass, err);
    if (st)
        return st;
    if (!brightest) {
        nb_cuda_launch_spot_image(r->launch, pass, (float *)r->state->image.at);
        return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    }
    st = nb_cuda_check(err, cudaMemsetAsync(peak, 0, sizeof *peak, r->launch->stream),
                       "clearing the brightest pixel");
    NB_TRY(nb_cuda_check(err, cudaMemsetAsync(look, 0, sizeof *look, r->launch->stream),
                         "clearing the brightest pixel"));
    if (st)
        return st;
    k_spot_brightest<<<blocks, SCAN, 0, r->launch->stream>>>(
        *pass, marks_of_warp(r->launch, pass), peak, &look->key);
    st = nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
    return st ? st : nb_cuda_fetch_brightest(r, peak, brightest, err);
}

nb_status nb_cuda_reserve_sums(nb_backend_state *state, nb_spot_pass *pass, nb_error *err)
{
    const size_t pixels = pass->scene.raster.pixels,
                 marks = (pixels + NB_SPOT_MARK - 1) / NB_SPOT_MARK,
                 sums = (pixels * sizeof *pass->sums + 15) / 16 * 16;
    nb_status st = NB_OK;
    if (state->spot_pixels != pixels) {
        state->spot_pixels = 0;
        st = nb_cuda_reserve(&state->spot_sums, sums + marks, "the sums of the spots",
                             err);
        NB_TRY(nb_cuda_check(
            err, cudaMemsetAsync(state->spot_sums.at, 0, sums + marks, state->stream),
            "clearing sums"));
    }
    pass->sums = (unsigned long long *)state->spot_sums.at;
    pass->marks = (unsigned char *)state->spot_sums.at + sums;
    return st;
}

nb_status nb_cuda_spot_run_of(nb_backend_state *state, const nb_plan *plan,
                              const nb_cuda_launch *launch, double seconds,
                              nb_cuda_spot_run *run, nb_error *err)
{
    const double pairs = 2 * nb_spots_work_of(plan, SPOTS_DIM).pairs;
    nb_status st;
    *run = {state, launch, (int64_t)ceil(fmax(fmax(seconds / PART, pairs / BOXES_MAX), 1)),
            (unsigned)fmin(BOXES_MAX, pairs + BOXES_MIN)};
    st = nb_cuda_reserve(&state->spot_boxes, run->room * sizeof(nb_spot_box), "boxes",
                         err);
    if (!st || !state->spot_boxes.full)
        return st;
    state->spot_boxes.full = 0; /* without a list, blocks draw the boxes that they find */
    run->room = 0;
    return NB_OK;
}

int nb_cuda_spots_lack_room(nb_backend_state *state)
{
    nb_cuda_buffer *const buffers[] = {
        &state->spot_sums,  &state->tile_pairs,         &state->tile_queue,
        &state->spot_boxes, &state->spot_tables.device, &state->tile_tables.device};
    int full = 0;
    for (const nb_cuda_buffer *buffer : buffers)
        full |= buffer->full;
    if (!full)
        return 0;
    cudaStreamSynchronize(state->stream);
    for (nb_cuda_buffer *buffer : buffers)
        nb_cuda_release(buffer);
    state->spot_pixels = 0;
    /* 0: the tables on the device are no longer valid */
    state->spot_tables.bytes = state->tile_tables.bytes = 0;
    return 1;
}

nb_status nb_cuda_spots_run(nb_cuda_job *job, nb_error *err)
{
    nb_backend_state *state = job->state;
    const nb_plan *plan = &job->plan;
    const nb_cuda_launch *launch = &job->launch;
    nb_spots_result *result = &state->notes.left;
    nb_cuda_spot_run render;
    nb_spot_setup setup;
    nb_scene on_device = launch->scene;
    nb_status st;
    NB_FORWARD(nb_spot_setup_build(plan, &setup, err));
    on_device.n_panels = plan->scene->n_panels;
    st = nb_cuda_upload_mirror(state, &state->spot_tables, setup.tables, setup.bytes,
                               "tables of spots", err);
    nb_spot_setup_move(&setup, state->spot_tables.device.at, &on_device);
    setup.pass.mask = launch->scene.raster.mask;
    NB_TRY(nb_cuda_reserve_sums(state, &setup.pass, err));
    NB_TRY(nb_cuda_spot_run_of(state, plan, launch, state->path->seconds(plan), &render,
                               err));
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->began, state->stream), "rendering"));
    NB_TRY(nb_spot_setup_render(&setup, nb_cuda_run_spots, &render, result, err));
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->ended, state->stream), "rendering"));
    state->spot_pixels = st ? 0 : setup.pass.scene.raster.pixels;
    nb_spot_setup_free(&setup);
    return st;
}

const nb_spots_result *nb_cuda_left(const nb_backend_state *state)
{
    return &state->notes.left;
}
