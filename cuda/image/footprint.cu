/* SPDX-License-Identifier: MIT */
/* Spread the Bragg light by the footprint. Taps are the fractions of a pixel's light that
 * reach its neighbours; each tile of a panel has taps. A block makes a piece of the
 * image, 32 pixels wide and 64 high: a warp has eight rows, a thread one column. For each
 * tile whose light reaches the piece, light and taps go to shared memory. A thread then
 * walks along columns of both: each number that it reads serves eight pixels. */
#include "image.h"

#include "../../src/physics/panels.h"

enum {
    WIDE = 32,
    EACH = 8, /* pixels of a thread */
    WARPS = 8,
    HIGH = EACH * WARPS
};

/** A panel for the kernel. Regions: end exclusive. */
typedef struct panel_job {
    int64_t first; /* first pixel in the stack */
    int columns, rows;
    int block, across;          /* blocks of earlier panels; blocks along fast */
    int tile, tiles[2];         /* first tile; number of tiles along fast and slow */
    int reach[2];               /* largest shift of light along fast and slow, pixels */
    nb_cuda_window to, sources; /* wanted pixels, and pixels with light */
} panel_job;

/** Taps, column by column: [2 fast + 1][height]. In each column 2 slow + 1 taps are not
 * 0. */
typedef struct taps_job {
    int at; /* index of the first number */
    int fast, slow, height;
} taps_job;

typedef struct footprint_job {
    const panel_job *panels;
    const int *tiles; /* number of the taps of each tile */
    const taps_job *taps;
    const float *numbers;
    const uint8_t *mask; /* mask of the stack, or NULL */
    const float *light;  /* image before the spread */
    float *out;
    int n_panels;
} footprint_job;

/** Number of rows of light that a block copies for taps of this height. */
__host__ __device__ static inline int rows_of(int height)
{
    return HIGH - EACH + height;
}

__device__ static const panel_job *panel_of_block(const footprint_job &job, int block)
{
    const int low =
        nb_cuda_last(job.n_panels, [&](int i) { return job.panels[i].block <= block; });
    return &job.panels[low];
}

/** Copy the tile's light around the piece at (f, s). Returns 1 if it is not all 0. */
__device__ static int fetch_light(const footprint_job &job, const panel_job &p,
                                  const nb_cuda_window &tile, const taps_job &taps, int f,
                                  int s, float *light)
{
    const int wide = WIDE + 2 * taps.fast, rows = rows_of(taps.height);
    int any = 0;
    for (int i = (int)(threadIdx.y * WIDE + threadIdx.x); i < wide * rows;
         i += WIDE * WARPS) {
        const int x = f - taps.fast + i % wide, y = s - taps.slow + i / wide;
        const int there = x >= tile.f0 && x < tile.f1 && y >= tile.s0 && y < tile.s1;
        const float v = there ? job.light[p.first + (int64_t)y * p.columns + x] : 0.0f;
        light[i] = v;
        any |= v != 0;
    }
    return any;
}

/** Add the light times the taps to the thread's pixels. window[]: the last eight taps. */
__device__ static void add_light(const taps_job &taps, const float *light,
                                 const float *numbers, float sum[EACH])
{
    const int wide = WIDE + 2 * taps.fast;
    for (int d = 0; d <= 2 * taps.fast; d++) {
        const float *column = light + threadIdx.y * EACH * wide + threadIdx.x + d;
        const float *k = numbers + d * taps.height;
        float window[EACH] = {};
        for (int r = 0; r < taps.height; r += EACH) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const float v = column[(r + i) * wide];
                window[i] = k[r + i];
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[j] = fmaf(window[(i - j) & (EACH - 1)], v, sum[j]);
            }
        }
    }
}

__device__ static nb_cuda_window tile_window(const panel_job &p, int i, int j)
{
    const nb_cuda_window w = {(int)((int64_t)p.columns * i / p.tiles[0]),
                              (int)((int64_t)p.columns * (i + 1) / p.tiles[0]),
                              (int)((int64_t)p.rows * j / p.tiles[1]),
                              (int)((int64_t)p.rows * (j + 1) / p.tiles[1])};
    return {max(w.f0, p.sources.f0), min(w.f1, p.sources.f1), max(w.s0, p.sources.s0),
            min(w.s1, p.sources.s1)};
}

/** True if light from the window reaches the piece at (f, s). */
__device__ static int reaches(const nb_cuda_window &w, const panel_job &p, int f, int s)
{
    return w.f0 < w.f1 && w.s0 < w.s1 && w.f0 < f + WIDE + p.reach[0] &&
           w.f1 > f - p.reach[0] && w.s0 < s + HIGH + p.reach[1] && w.s1 > s - p.reach[1];
}

__device__ static void put(const footprint_job &job, const panel_job &p, int f, int s,
                           const float sum[EACH])
{
    if (f >= p.columns)
        return;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const int y = s + i;
        const int64_t at = p.first + (int64_t)y * p.columns + f;
        const int in = f >= p.to.f0 && f < p.to.f1 && y >= p.to.s0 && y < p.to.s1;
        if (y < p.rows)
            job.out[at] = in && (!job.mask || job.mask[at]) ? sum[i] : 0.0f;
    }
}

__global__ void __launch_bounds__(WIDE *WARPS) k_spread(footprint_job job, int room)
{
    extern __shared__ float shared[];
    float *light = shared, *numbers = shared + room;
    const panel_job p = *panel_of_block(job, (int)blockIdx.x);
    const int block = (int)blockIdx.x - p.block;
    const int f = block % p.across * WIDE, s = block / p.across * HIGH;
    float sum[EACH] = {};
    for (int i = 0; i < p.tiles[0] * p.tiles[1]; i++) {
        const nb_cuda_window tile = tile_window(p, i % p.tiles[0], i / p.tiles[0]);
        if (!reaches(tile, p, f, s))
            continue;
        const taps_job taps = job.taps[job.tiles[p.tile + i]];
        const int any = fetch_light(job, p, tile, taps, f, s, light);
        for (int n = (int)(threadIdx.y * WIDE + threadIdx.x);
             n < (2 * taps.fast + 1) * taps.height; n += WIDE * WARPS)
            numbers[n] = job.numbers[taps.at + n];
        if (__syncthreads_or(any))
            add_light(taps, light, numbers, sum);
        __syncthreads();
    }
    put(job, p, f + (int)threadIdx.x, s + (int)threadIdx.y * EACH, sum);
}

/* --- host --- */

static nb_cuda_window window_of(nb_region r)
{
    if (r.fmax < r.fmin || r.smax < r.smin)
        return {0, 0, 0, 0};
    return {r.fmin, r.fmax + 1, r.smin, r.smax + 1};
}

static nb_status upload_panels(nb_backend_state *state, const nb_footprint_plan *plan,
                               const nb_scene *sc, const nb_scene *sources, int *blocks,
                               nb_error *err)
{
    const size_t n = (size_t)sc->n_panels;
    panel_job *jobs = (panel_job *)nb_alloc(n, sizeof *jobs, "panels", err);
    nb_status st = NB_ERR_NOMEM;
    *blocks = 0;
    for (int k = 0; jobs && k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        const nb_footprint_panel *on = &plan->panels[k];
        panel_job *to = &jobs[k];
        to->first = (int64_t)p->first_pixel;
        to->columns = p->columns;
        to->rows = p->rows;
        to->block = *blocks;
        to->across = (p->columns + WIDE - 1) / WIDE;
        to->tile = on->tile;
        to->tiles[0] = on->across;
        to->tiles[1] = on->down;
        to->reach[0] = on->fast;
        to->reach[1] = on->slow;
        to->to = window_of(nb_panel_region(sc, p));
        to->sources = window_of(nb_panel_region(sources, p));
        *blocks += to->across * ((p->rows + HIGH - 1) / HIGH);
    }
    if (jobs)
        st = nb_cuda_upload_mirror(state, &state->footprint.panels, jobs,
                                   n * sizeof *jobs, "the panels", err);
    nb_free(jobs);
    return st;
}

static int height_of(const nb_taps *t)
{
    return (2 * t->slow + 1 + EACH - 1 + EACH - 1) / EACH * EACH;
}

static nb_status upload_tiles(nb_backend_state *state, const nb_footprint_plan *plan,
                              nb_error *err)
{
    int *tiles = (int *)nb_alloc((size_t)plan->n_tiles, sizeof *tiles, "footprint", err);
    nb_status st = NB_ERR_NOMEM;
    for (int i = 0; tiles && i < plan->n_tiles; i++)
        tiles[i] = plan->tiles[i].taps;
    if (tiles)
        st = nb_cuda_upload_mirror(state, &state->footprint.tiles, tiles,
                                   (size_t)plan->n_tiles * sizeof *tiles, "the footprint",
                                   err);
    nb_free(tiles);
    return st;
}

/** Write taps column by column. plain: work space for the taps in rows. */
static void put_taps(const nb_taps *t, int height, float *plain, float *to)
{
    const int wide = 2 * t->fast + 1;
    nb_taps_floats(t, plain);
    for (int d = 0; d < wide; d++)
        for (int e = 0; e <= 2 * t->slow; e++)
            to[d * height + e] = plain[e * wide + d];
}

/** Upload the taps. room: number of floats in shared memory for light, and for taps. */
static nb_status upload_taps(nb_backend_state *state, const nb_footprint_plan *plan,
                             int room[2], nb_error *err)
{
    const size_t n = (size_t)plan->n_taps;
    taps_job *jobs = (taps_job *)nb_alloc(n, sizeof *jobs, "footprint", err);
    float *numbers = NULL;
    int used = 0;
    nb_status st = NB_ERR_NOMEM;
    room[0] = room[1] = 0;
    for (size_t i = 0; jobs && i < n; i++) {
        const nb_taps *t = &plan->taps[i];
        const int height = height_of(t), size = (2 * t->fast + 1) * height;
        jobs[i] = {used, t->fast, t->slow, height};
        used += size;
        room[0] = max(room[0], (WIDE + 2 * t->fast) * rows_of(height));
        room[1] = max(room[1], size);
    }
    if (jobs)
        numbers = (float *)nb_alloc((size_t)used + (size_t)room[1], sizeof *numbers,
                                    "footprint", err);
    for (size_t i = 0; numbers && i < n; i++)
        put_taps(&plan->taps[i], jobs[i].height, numbers + used, numbers + jobs[i].at);
    if (numbers)
        st = nb_cuda_upload_mirror(state, &state->footprint.taps, jobs, n * sizeof *jobs,
                                   "the footprint", err);
    NB_TRY(nb_cuda_upload_mirror(state, &state->footprint.numbers, numbers,
                                 (size_t)used * sizeof *numbers, "the footprint", err));
    nb_free(numbers);
    nb_free(jobs);
    return st;
}

static void swap(nb_cuda_buffer *a, nb_cuda_buffer *b)
{
    const nb_cuda_buffer was = *a;
    *a = *b;
    *b = was;
}

nb_status nb_cuda_set_aside(nb_backend_state *state, size_t pixels, nb_error *err)
{
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    NB_TRY(nb_cuda_reserve(&state->aside, pixels * sizeof(float), "a second image", err));
    if (!st)
        swap(&state->image, &state->aside);
    return st;
}

static nb_status launch(nb_backend_state *state, footprint_job *job, const int room[2],
                        int blocks, nb_error *err)
{
    const size_t bytes = (size_t)(room[0] + room[1]) * sizeof(float);
    const dim3 threads(WIDE, WARPS);
    nb_cuda_footprint *fp = &state->footprint;
    job->panels = (const panel_job *)fp->panels.device.at;
    job->tiles = (const int *)fp->tiles.device.at;
    job->taps = (const taps_job *)fp->taps.device.at;
    job->numbers = (const float *)fp->numbers.device.at;
    job->light = (const float *)state->image.at;
    job->out = (float *)fp->out.at;
    k_spread<<<blocks, threads, bytes, state->stream>>>(*job, room[0]);
    return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
}

nb_status nb_cuda_spread(nb_backend_state *state, const nb_footprint_plan *plan,
                         const nb_scene *sc, const nb_scene *sources, nb_error *err)
{
    nb_cuda_footprint *fp = &state->footprint;
    footprint_job job = {};
    int room[2], blocks;
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    NB_TRY(nb_cuda_reserve(&fp->out, sc->raster.pixels * sizeof(float), "the footprint",
                           err));
    NB_TRY(upload_panels(state, plan, sc, sources, &blocks, err));
    NB_TRY(upload_tiles(state, plan, err));
    NB_TRY(upload_taps(state, plan, room, err));
    if (!st && sc->raster.mask) {
        st = nb_cuda_upload_mirror(state, &fp->mask, sc->raster.mask, sc->raster.pixels,
                                   "the mask", err);
        job.mask = (const uint8_t *)fp->mask.device.at;
    }
    job.n_panels = sc->n_panels;
    if (!st && blocks > 0)
        st = launch(state, &job, room, blocks, err);
    if (!st)
        swap(&state->image, &fp->out);
    NB_TRY(nb_cuda_check(err, cudaEventRecord(state->ended, state->stream),
                         "recording an event"));
    return st;
}

void nb_cuda_footprint_release(nb_cuda_footprint *fp)
{
    nb_cuda_mirror *const mirrors[] = {&fp->panels, &fp->tiles, &fp->taps, &fp->numbers,
                                       &fp->mask};
    for (nb_cuda_mirror *mirror : mirrors)
        nb_cuda_release_mirror(mirror);
    nb_cuda_release(&fp->out);
}
