/* SPDX-License-Identifier: MIT */
/* Pictures from reflections (spot_work.h).  A block takes items; what it finds waits in shared memory until
 * there is enough for all its threads.  Sums are whole numbers, so their order, and with it that of the
 * blocks, changes no byte. */
#include "spots.h"

#include "timing.h"

extern "C" {
#include "spot_setup.h"
}

enum {
    THREADS = 128,
    BLOCKS = 4,        /* of a multiprocessor */
    LANES = 8,         /* threads that draw a box */
    BATCH = 16,        /* items that a block takes together, at most */
    WAITING = 256,     /* boxes, at most */
    LARGE = 64 * LANES /* sub-pixels from which on all threads draw a box */
};

/* ------------------------------------------------------------------ terms */

/** What the threads of a block share. */
typedef struct shared_lists {
    nb_spot_item items[BATCH];
    int64_t candidates[BATCH];
    nb_spot_sight sights[THREADS];
    nb_spot_box boxes[WAITING];
    int n_sights, n_boxes;
} shared_lists;

/** The terms of a box, by threads number `first` of `step`. */
template <int SHAPE>
static __device__ void draw_box(const nb_spot_pass &p, const nb_spot_box &box, int first,
                                int step)
{
    nb_spot_brush brush = nb_spot_brush_of(&p, &box);
    if (!(brush.pair.F2 > 0))
        return;
    int u = first % box.width, v = first / box.width;
    const int du = step % box.width, dv = step / box.width;
    while (v < box.height) {
        size_t pixel = 0;
        unsigned long long add =
            nb_spot_units(&p, &brush, SHAPE, box.u + u, box.v + v, &pixel);
        if (add > 0) {
            atomicAdd(p.sums + pixel, add);
            p.marks[pixel / NB_SPOT_MARK] = 1;
        }
        u += du;
        v += dv + (u >= box.width);
        u -= u >= box.width ? box.width : 0;
    }
}

static __device__ __forceinline__ bool is_large(const nb_spot_box &box)
{
    return (int64_t)box.width * box.height > LARGE;
}

/** The first n boxes that wait, by all threads of the block. */
template <int SHAPE>
static __device__ gpuCall void draw_boxes(const nb_spot_pass &p, shared_lists &lists,
                                          int n)
{
    const int thread = (int)threadIdx.x;
    int large = 0;
    for (int i = thread; i < n; i += THREADS)
        nb_spot_fit(&p, &lists.boxes[i]);
    __syncthreads();
    for (int i = thread / LANES; large < 2;) {
        if (i >= n) { /* first boxes for some threads each, then those for all of them */
            large++;
            i = 0;
            continue;
        }
        const nb_spot_box &box = lists.boxes[i];
        if (box.width > 0 && is_large(box) == (large > 0))
            draw_box<SHAPE>(p, box, large ? thread : thread % LANES,
                            large ? THREADS : LANES);
        i += large ? 1 : THREADS / LANES;
    }
    __syncthreads();
    if (thread == 0)
        lists.n_boxes = 0;
    __syncthreads();
}

/** The boxes of the block's sights by one run at one layer; returns how many wait. */
template <int SHAPE>
static __device__ int light_sights(const nb_spot_pass &p, shared_lists &lists,
                                   int n_sights, int run, int layer, int waiting)
{
    const int each = p.orientations, n = n_sights * each;
    for (int first = 0; first < n; first += THREADS) {
        const int i = first + (int)threadIdx.x;
        const nb_spot_sight &sight = lists.sights[i < n ? i / each : 0];
        const int m = sight.first + i % each;
        nb_spot_box box;
        const int lit =
            i < n && m < sight.end && nb_spot_light(&p, &sight, m, run, layer, &box);
        if (lit)
            lists.boxes[atomicAdd(&lists.n_boxes, 1)] = box;
        waiting += __syncthreads_count(lit);
        if (waiting <= WAITING - THREADS)
            continue;
        draw_boxes<SHAPE>(p, lists, waiting);
        waiting = 0;
    }
    return waiting;
}

/** The sight of candidate i of all items; 0: none. */
static __device__ int sight_of(const nb_spot_pass &p, const shared_lists &lists,
                               int64_t i, int batch, nb_spot_sight *sight)
{
    int k = 0;
    while (k < batch && i >= lists.candidates[k])
        i -= lists.candidates[k++];
    return k < batch && nb_spot_sight_of(&p, &lists.items[k], i, sight);
}

/** The sights of the block's items, and their boxes; returns how many boxes wait. */
template <int SHAPE>
static __device__ int find_sights(const nb_spot_pass &p, shared_lists &lists, int batch,
                                  int waiting)
{
    int64_t candidates = 0;
    for (int k = 0; k < batch; k++)
        candidates += lists.candidates[k];
    for (int64_t from = 0; from < candidates; from += THREADS) {
        nb_spot_sight sight;
        const int seen = sight_of(p, lists, from + threadIdx.x, batch, &sight);
        if (seen)
            lists.sights[atomicAdd(&lists.n_sights, 1)] = sight;
        const int n = __syncthreads_count(seen);
        if (n == 0)
            continue;
        for (int k = 0; k < p.spots.n_runs * p.layers; k++)
            waiting = light_sights<SHAPE>(p, lists, n, k % p.spots.n_runs,
                                          k / p.spots.n_runs, waiting);
        __syncthreads();
        if (threadIdx.x == 0)
            lists.n_sights = 0;
        __syncthreads();
    }
    return waiting;
}

/** Items first .. end - 1; a block takes `batch` of them together. */
template <int SHAPE>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    k_spots(const NB_GRID_CONSTANT nb_spot_pass p, int64_t first, int64_t end, int batch)
{
    __shared__ shared_lists lists;
    const int thread = (int)threadIdx.x;
    int waiting = 0;
    if (thread == 0)
        lists.n_sights = lists.n_boxes = 0;
    const int64_t blocks = gridDim.x; /* neighbours, which are lit together, go apart */
    for (int64_t i = first + blockIdx.x; i < end; i += blocks * batch) {
        __syncthreads(); /* the items before are done */
        if (thread < batch) {
            const int64_t k = i + thread * blocks;
            nb_spot_item *item = &lists.items[thread];
            lists.candidates[thread] =
                k < end && nb_spot_item_of(&p, k, item) ? item->candidates : 0;
        }
        __syncthreads();
        waiting = find_sights<SHAPE>(p, lists, batch, waiting);
    }
    __syncthreads();
    draw_boxes<SHAPE>(p, lists, waiting);
}

/* ------------------------------------------------------------------ pixels */

/** The sum of a pixel whose mark is set; it is 0 afterwards. */
static __device__ __forceinline__ unsigned long long take_sum(const nb_spot_pass &p,
                                                              size_t pixel)
{
    const unsigned long long sum = p.sums[pixel];
    if (sum > 0)
        p.sums[pixel] = 0;
    return sum;
}

/** A warp for each mark: the image. */
__global__ void __launch_bounds__(256)
    k_spot_image(const NB_GRID_CONSTANT nb_spot_pass p, float *image)
{
    const size_t pixels = p.scene.raster.pixels;
    const size_t threads = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < pixels;
         i += threads) {
        const int marked = p.marks[i / NB_SPOT_MARK];
        float value = 0;
        gpuSyncLanes(); /* all have read the mark */
        if (marked && i % NB_SPOT_MARK == 0)
            p.marks[i / NB_SPOT_MARK] = 0;
        if (marked || p.water > 0) {
            unsigned long long sum = marked ? take_sum(p, i) : 0;
            if (sum > 0 || p.water > 0)
                value = (float)nb_spot_photons(&p, i, sum);
        }
        image[i] = value;
    }
}

/** A pixel and its photons, in the order of these. */
static __device__ __forceinline__ unsigned long long key_of(double photons, size_t pixel)
{
    return (unsigned long long)__float_as_uint((float)photons) << 32 | (unsigned)pixel;
}

/** A warp for each mark: the bits of the brightest pixel, photons, and which it is. */
__global__ void __launch_bounds__(256)
    k_spot_brightest(const NB_GRID_CONSTANT nb_spot_pass p, unsigned long long *brightest,
                     unsigned long long *key)
{
    const size_t pixels = p.scene.raster.pixels, lane = threadIdx.x % NB_SPOT_MARK,
                 marks = (pixels + NB_SPOT_MARK - 1) / NB_SPOT_MARK,
                 warps = (size_t)gridDim.x * blockDim.x / NB_SPOT_MARK;
    unsigned long long best = 0;
    double most = 0;
    for (size_t k = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / NB_SPOT_MARK;
         k < marks; k += warps) {
        const size_t i = k * NB_SPOT_MARK + lane;
        const int marked = p.marks[k];
        gpuSyncLanes();
        if (!marked)
            continue;
        if (lane == 0)
            p.marks[k] = 0;
        unsigned long long sum = i < pixels ? take_sum(p, i) : 0;
        if (sum > 0) {
            const double photons = nb_spot_photons(&p, i, sum);
            most = fmax(most, photons);
            best = max(best, key_of(photons, i));
        }
    }
    for (int half = NB_SPOT_MARK / 2; half > 0; half /= 2) {
        most = fmax(most, gpuShuffleXor(most, half, 32));
        best = max(best, gpuShuffleXor(best, half, 32));
    }
    if (lane == 0 && most > 0) {
        atomicMax(brightest, (unsigned long long)__double_as_longlong(most));
        atomicMax(key, best);
    }
}

/* ------------------------------------------------------------------ one render */

/** Launches of a third of a second at most: display watchdogs, progress and SIGINT. */
static nb_status launch_items(const nb_cuda_spot_run *r, const nb_spot_pass *pass,
                              nb_error *err)
{
    const nb_hooks *hooks = &r->state->options.hooks;
    const int64_t items = nb_spot_items(pass),
                  parts = (int64_t)fmin(ceil(r->seconds / 0.3), fmax(1.0, (double)items));
    const int64_t most = (int64_t)r->launch->multiprocessors * BLOCKS;
    void (*const kernel)(nb_spot_pass, int64_t, int64_t, int) =
        pass->spots.shape == NB_LATTICE_TOPHAT ? k_spots<NB_LATTICE_TOPHAT>
                                               : k_spots<NB_LATTICE_GAUSS>;
    nb_status st = NB_OK;
    for (int64_t i = 0; i < parts && !st; i++) {
        const int64_t first = items / parts * i,
                      end = i == parts - 1 ? items : items / parts * (i + 1);
        const int64_t share = (end - first + most - 1) / most;
        const int batch = share < BATCH ? (int)share : (int)BATCH;
        const int64_t wanted = (end - first + batch - 1) / batch;
        const unsigned blocks = wanted > most ? (unsigned)most : (unsigned)wanted;
        kernel<<<blocks, THREADS, 0, r->launch->stream>>>(*pass, first, end, batch);
        st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
        if (!st && parts > 1)
            st = nb_cuda_check(err, gpuStreamSynchronize(r->launch->stream), "rendering");
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
    nb_status st = nb_cuda_check(err,
                                 gpuMemcpyAsync(pinned, from, sizeof *pinned,
                                                gpuMemcpyDeviceToHost, r->launch->stream),
                                 "fetching the brightest pixel");
    if (!st)
        st = nb_cuda_check(err, gpuStreamSynchronize(r->launch->stream), "rendering");
    *brightest = st ? 0 : *pinned;
    return st;
}

void nb_cuda_launch_spot_image(const nb_cuda_launch *launch, const nb_spot_pass *pass,
                               float *image)
{
    k_spot_image<<<(unsigned)(launch->multiprocessors * 8), 256, 0, launch->stream>>>(
        *pass, image);
}

nb_status nb_cuda_run_spots(void *context, const nb_spot_pass *pass, double *brightest,
                            nb_error *err)
{
    const nb_cuda_spot_run *r = (const nb_cuda_spot_run *)context;
    const unsigned blocks = (unsigned)(r->launch->multiprocessors * 8);
    unsigned long long *most =
        (unsigned long long *)((char *)r->state->small.at + NB_SMALL_BRIGHTEST);
    nb_cuda_look *look = (nb_cuda_look *)((char *)r->state->small.at + NB_SMALL_LOOK);
    nb_status st = NB_OK;
    if (nb_spot_items(pass) > 0)
        st = launch_items(r, pass, err);
    if (st)
        return st;
    if (!brightest) {
        nb_cuda_launch_spot_image(r->launch, pass, (float *)r->state->image.at);
        return nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    }
    st = nb_cuda_check(err, gpuMemsetAsync(most, 0, sizeof *most, r->launch->stream),
                       "clearing the brightest pixel");
    if (!st)
        st = nb_cuda_check(err, gpuMemsetAsync(look, 0, sizeof *look, r->launch->stream),
                           "clearing the brightest pixel");
    if (st)
        return st;
    k_spot_brightest<<<blocks, 256, 0, r->launch->stream>>>(*pass, most, &look->key);
    st = nb_cuda_check(err, gpuGetLastError(), "starting a kernel");
    return st ? st : nb_cuda_fetch_brightest(r, most, brightest, err);
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
        if (!st)
            st = nb_cuda_check(
                err, gpuMemsetAsync(state->spot_sums.at, 0, sums + marks, state->stream),
                "clearing sums");
    }
    pass->sums = (unsigned long long *)state->spot_sums.at;
    pass->marks = (unsigned char *)state->spot_sums.at + sums;
    return st;
}

int nb_cuda_spots_lack_room(nb_backend_state *state)
{
    nb_cuda_buffer *const buffers[] = {&state->spot_sums, &state->tile_pairs,
                                       &state->tile_queue, &state->spot_tables.device,
                                       &state->tile_tables.device};
    int full = 0;
    for (const nb_cuda_buffer *buffer : buffers)
        full |= buffer->full;
    if (!full)
        return 0;
    gpuStreamSynchronize(state->stream);
    for (nb_cuda_buffer *buffer : buffers)
        nb_cuda_release(buffer);
    state->spot_pixels = 0;
    state->spot_tables.bytes = state->tile_tables.bytes = 0; /* not valid */
    return 1;
}

nb_status nb_cuda_render_spots(nb_backend_state *state, const nb_plan *plan,
                               const nb_cuda_launch *launch, nb_spots_result *result,
                               nb_error *err)
{
    nb_cuda_spot_run render = {state, launch, nb_cuda_paths[NB_PATH_SPOTS].seconds(plan)};
    nb_spot_setup setup;
    nb_scene there = launch->scene;
    nb_status st = nb_spot_setup_build(plan, &setup, err);
    if (st)
        return st;
    there.n_panels = plan->scene->n_panels;
    st = nb_cuda_upload_mirror(state, &state->spot_tables, setup.tables, setup.bytes,
                               "tables of spots", err);
    nb_spot_setup_move(&setup, state->spot_tables.device.at, &there);
    setup.pass.mask = launch->scene.raster.mask;
    if (!st)
        st = nb_cuda_reserve_sums(state, &setup.pass, err);
    if (!st)
        st = nb_cuda_check(err, gpuEventRecord(state->began, state->stream), "rendering");
    if (!st)
        st = nb_spot_setup_render(&setup, nb_cuda_run_spots, &render, result, err);
    if (!st)
        st = nb_cuda_check(err, gpuEventRecord(state->ended, state->stream), "rendering");
    state->spot_pixels = st ? 0 : setup.pass.scene.raster.pixels;
    nb_spot_setup_free(&setup);
    return st;
}

const nb_spots_result *nb_cuda_left(const nb_backend_state *state)
{
    return &state->left;
}
