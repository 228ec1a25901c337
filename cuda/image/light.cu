/* SPDX-License-Identifier: MIT */
/* Diffuse light on the device: calculate the nodes of all panels, and interpolate the
 * pixels between nodes. Operations are as in src/light and must not be contracted to fma
 * (nvcc -fmad=false). A node differs from the host's node only if the last bits of exp or
 * of a cosine change the rounding to float. Pixels between equal nodes are equal. */
#include "image.h"

#include <math.h>
#include <string.h>

extern "C" {
#include "../../src/light/diffuse_plane.h"
}

enum {
    NODES = 128, /* threads of a block */
    PIXELS = 256,
    ALIGNED = 256,      /* alignment of a table's arrays, bytes */
    NEAR_OF_A_LOOK = 16 /* reflections that take as long as one look-up in the spline */
};

#define KEPT_BYTES 256e6 /* limit of all tables together, if there are several */
/* limit of look-ups in a launch, short enough for a display's watchdog */
#define LOOKS_OF_A_LAUNCH 2e10

/** A panel, and where its nodes are. */
typedef struct light_panel {
    nb_panel panel;
    nb_sensor sensor;
    nb_light_grid grid;
    int64_t first_node;
    int first_block; /* first block of k_light_nodes, counted over all panels */
    int unused;
} light_panel;

typedef struct light_job {
    nb_diffuse_plane plane; /* arrays are device addresses */
    const light_panel *panels;
    int n_panels;
    int before; /* number of blocks (nodes) or rows (pixels) of earlier launches */
    int add;
    float *nodes, *image;
} light_job;

static __device__ int panel_of_block(const light_job &p, int block)
{
    const int low =
        nb_cuda_last(p.n_panels, [&](int i) { return p.panels[i].first_block <= block; });
    return low;
}

__global__ void __launch_bounds__(NODES) k_light_nodes(const NB_GRID_CONSTANT light_job p)
{
    const int block = p.before + (int)blockIdx.x;
    const light_panel &at = p.panels[panel_of_block(p, block)];
    const int64_t node = (int64_t)(block - at.first_block) * NODES + (int64_t)threadIdx.x;
    const int i = (int)(node / at.grid.wide), j = (int)(node % at.grid.wide);
    if (i < at.grid.high)
        p.nodes[at.first_node + node] =
            nb_light_node(&p.plane, &at.grid, &at.panel, &at.sensor, i, j);
}

/** Light of pixel (f, s) of a panel, from its nodes. */
static __device__ float between(const light_panel &at, const float *nodes, int f, int s)
{
    const nb_light_grid *g = &at.grid;
    const int step = g->s.step, x = f - g->r.fmin, y = s - g->r.smin, t = y % step;
    const float *a = nodes + at.first_node + (int64_t)(y / step) * g->wide + x / step;
    const float *b = a + g->wide, *c = b + g->wide, *d = c + g->wide;
    float line[4];
    if (!g->s.between)
        return *a;
    for (int k = 0; k < 4; k++)
        line[k] = nb_light_between(g, t, a[k], b[k], c[k], d[k]);
    return nb_light_between(g, x % step, line[0], line[1], line[2], line[3]);
}

/** Find the thread's pixel: its panel, column, row, and index in the stack. Returns NULL
 * if the pixel is not rendered. */
static __device__ const light_panel *panel_of_pixel(const light_job &p, int *f, int *s,
                                                    int64_t *pixel)
{
    const int row = p.before + (int)blockIdx.y;
    const int low = nb_cuda_last(
        p.n_panels, [&](int i) { return p.panels[i].panel.first_row <= row; });
    const light_panel *at = &p.panels[low];
    const nb_region r = at->grid.r;
    const uint8_t *mask = p.plane.scene.raster.mask;
    *f = (int)(blockIdx.x * PIXELS + threadIdx.x);
    *s = row - at->panel.first_row;
    *pixel = (int64_t)at->panel.first_pixel + (int64_t)*s * at->panel.columns + *f;
    return *s < r.smin || *s > r.smax || *f < r.fmin || *f > r.fmax ||
                   (mask && !mask[*pixel])
               ? NULL
               : at;
}

static __device__ void put(const light_job &p, int64_t pixel, float light)
{
    light = light > 0 ? light : 0;
    p.image[pixel] = p.add ? p.image[pixel] + light : light;
}

__global__ void __launch_bounds__(PIXELS)
    k_light_pixels(const NB_GRID_CONSTANT light_job p)
{
    int f, s;
    int64_t pixel;
    const light_panel *at = panel_of_pixel(p, &f, &s, &pixel);
    if (at)
        put(p, pixel, between(*at, p.nodes, f, s));
}

/** k_light_pixels for scenes with -dmin: halve the row as limit_pixels in src/light does,
 * until a piece is on one side of the limit or is a single pixel. */
__global__ void __launch_bounds__(PIXELS) k_light_limit(const NB_GRID_CONSTANT light_job p)
{
    int f, s, side = 0;
    int64_t pixel;
    const light_panel *at = panel_of_pixel(p, &f, &s, &pixel);
    if (!at)
        return;
    int first = at->grid.r.fmin, n = at->grid.r.fmax - first + 1;
    while ((side = nb_light_side(&p.plane, &at->panel, &at->sensor, first, n, s, 0)) == 0 &&
           n > 1) {
        const int half = n / 2;
        if (f < first + half) {
            n = half;
        } else {
            first += half;
            n -= half;
        }
    }
    if (side > 0) {
        put(p, pixel, between(*at, p.nodes, f, s));
    } else if (side == 0) {
        const nb_light_sampling every = nb_light_every(&p.plane.scene, &at->sensor);
        put(p, pixel,
            (float)nb_light_pixel(&p.plane, &every, &at->panel, &at->sensor, f, s));
    } else if (!p.add) {
        p.image[pixel] = 0;
    }
}

/* --- the table --- */

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/** Send one array to the place *at of `to`; *array becomes its device address. */
static nb_status send_array(nb_backend_state *state, const nb_cuda_buffer *to, size_t *at,
                            void **array, size_t bytes, nb_error *err)
{
    void *on_device = (char *)to->at + *at;
    nb_status st = NB_OK;
    if (!*array)
        return NB_OK;
    st = nb_cuda_check(
        err,
        cudaMemcpyAsync(on_device, *array, bytes, cudaMemcpyHostToDevice, state->stream),
        "sending a table of diffuse light");
    *array = on_device;
    *at += aligned(bytes);
    return st;
}

typedef struct part_bytes {
    size_t c, power, near;
} part_bytes;

static part_bytes bytes_of(const nb_diffuse_table *t, const nb_diffuse_part *p)
{
    const size_t points = (size_t)p->n[0] * (size_t)p->n[1] * (size_t)p->n[2];
    const size_t box = (size_t)t->n[0] * (size_t)t->n[1] * (size_t)t->n[2];
    return {p->c ? (points + NB_DIFFUSE_BEHIND) * sizeof *p->c : 0,
            p->power ? box * sizeof *p->power : 0,
            p->near ? NB_NEAR_ROWS * (size_t)p->columns * sizeof *p->near : 0};
}

static size_t table_bytes(const nb_diffuse_table *t)
{
    size_t sum = aligned(sizeof *t);
    for (int r = 0; r < t->model.n_forms; r++) {
        const part_bytes b = bytes_of(t, &t->parts[r]);
        sum += aligned(b.c) + aligned(b.power) + aligned(b.near);
    }
    return sum;
}

static nb_status send_table(nb_backend_state *state, const nb_diffuse_table *table,
                            const nb_cuda_buffer *to, nb_error *err)
{
    nb_diffuse_table *on_device =
        (nb_diffuse_table *)nb_alloc_raw(1, sizeof *on_device, "diffuse light", err);
    size_t at = aligned(sizeof *on_device);
    nb_status st;
    NB_FORWARD(on_device ? NB_OK : NB_ERR_NOMEM);
    *on_device = *table;
    for (int r = 0; r < table->model.n_forms && !st; r++) {
        nb_diffuse_part *p = &on_device->parts[r];
        const part_bytes b = bytes_of(table, p);
        st = send_array(state, to, &at, (void **)&p->c, b.c, err);
        NB_TRY(send_array(state, to, &at, (void **)&p->power, b.power, err));
        NB_TRY(send_array(state, to, &at, (void **)&p->near, b.near, err));
    }
    NB_TRY(nb_cuda_check(err,
                         cudaMemcpyAsync(to->at, on_device, sizeof *on_device,
                                         cudaMemcpyHostToDevice, state->stream),
                         "sending a table of diffuse light"));
    nb_free(on_device);
    return st;
}

/** Free older tables, but not the first, until the size of all tables is within the
 * limit. */
static void drop_others(nb_cuda_diffuse *light, double limit)
{
    double sum = 0;
    for (int i = 0; i < NB_CUDA_LIGHTS; i++) {
        nb_cuda_diffuse_table *t = &light->tables[i];
        sum += (double)t->at.bytes;
        if (i > 0 && sum > limit) {
            sum -= (double)t->at.bytes;
            nb_cuda_release(&t->at);
            t->mark = 0;
        }
    }
}

/** Upload a table, unless it is kept on the device. *on_device: its address. The table
 * becomes the first of the kept tables. */
static nb_status take_table(nb_backend_state *state, const nb_diffuse_table *table,
                            const nb_diffuse_table **on_device, nb_error *err)
{
    nb_cuda_diffuse *light = &state->diffuse;
    nb_cuda_diffuse_table *first = light->tables;
    const size_t bytes = table_bytes(table);
    nb_status st;
    int i = 0;
    while (i < NB_CUDA_LIGHTS - 1 && !(table->mark && first[i].mark == table->mark))
        i++;
    nb_cuda_diffuse_table taken = first[i];
    memmove(first + 1, first, (size_t)i * sizeof *first);
    *first = taken;
    if (!table->mark || taken.mark != table->mark) {
        first->mark = 0;
        st = nb_cuda_reserve(&first->at, bytes, "a table of diffuse light", err);
        if (st) {
            drop_others(light, 0);
            st = nb_cuda_reserve(&first->at, bytes, "a table of diffuse light", err);
        }
        NB_TRY(send_table(state, table, &first->at, err));
        if (st)
            return st;
        first->mark = table->mark;
        drop_others(light, KEPT_BYTES);
    }
    *on_device = (const nb_diffuse_table *)first->at.at;
    return NB_OK;
}

/* --- the plane --- */

/** Upload all panels. *blocks, *nodes: total numbers. */
static nb_status send_panels(nb_backend_state *state, const nb_diffuse_plane *plane,
                             int *blocks, int64_t *nodes, nb_error *err)
{
    const nb_scene *sc = &plane->scene;
    const size_t n = (size_t)sc->n_panels;
    light_panel *all = (light_panel *)nb_alloc(n, sizeof *all, "panels", err);
    nb_status st = NB_ERR_NOMEM;
    *blocks = 0;
    *nodes = 0;
    for (size_t k = 0; all && k < n; k++) {
        light_panel *p = &all[k];
        p->panel = sc->panels[k];
        p->sensor = sc->sensors[p->panel.sensor];
        p->grid = nb_light_grid_of(plane, &sc->panels[k]);
        p->first_node = *nodes;
        p->first_block = *blocks;
        const int64_t count = (int64_t)p->grid.wide * p->grid.high;
        *nodes += count;
        *blocks += (int)((count + NODES - 1) / NODES);
    }
    if (all)
        st = nb_cuda_upload_mirror(state, &state->diffuse.panels, all, n * sizeof *all,
                                   "panels", err);
    nb_free(all);
    return st;
}

/** Upload the plane's arrays. *on_device: the plane with device addresses. */
static nb_status send_plane(nb_backend_state *state, const nb_diffuse_plane *plane,
                            nb_diffuse_plane *on_device, nb_error *err)
{
    nb_cuda_diffuse *light = &state->diffuse;
    const nb_beam *beam = &plane->scene.beam;
    nb_status st;
    *on_device = *plane;
    st = take_table(state, plane->table, &on_device->table, err);
    NB_TRY(nb_cuda_mask(state, &plane->scene, &on_device->scene.raster.mask, err));
    NB_TRY(nb_cuda_upload_mirror(state, &light->beams, plane->beams,
                                 (size_t)plane->n_beams * sizeof *plane->beams, "sources",
                                 err));
    NB_TRY(nb_cuda_upload_mirror(state, &light->cells, plane->cells,
                                 (size_t)plane->n_cells * sizeof *plane->cells,
                                 "orientations", err));
    NB_TRY(nb_cuda_upload_mirror(state, &light->sources, beam->sources,
                                 (size_t)beam->n_sources * sizeof *beam->sources,
                                 "sources", err));
    on_device->beams = (const nb_light_beam *)light->beams.device.at;
    on_device->cells = (const nb_light_cell *)light->cells.device.at;
    on_device->scene.beam.sources = (const nb_source *)light->sources.device.at;
    return st;
}

/** Largest number of look-ups for a block of nodes of any panel: for each sample a
 * spline, and the reflections near the sample. */
static double looks_of(const nb_diffuse_plane *plane)
{
    const nb_diffuse_table *t = plane->table;
    const double box = (double)t->n[0] * t->n[1] * t->n[2];
    double largest = 1, each = 0;
    for (int k = 0; k < plane->scene.n_panels; k++) {
        const nb_light_grid g = nb_light_grid_of(plane, &plane->scene.panels[k]);
        largest = fmax(largest, (double)g.s.rays * g.s.rays * g.s.layers);
    }
    for (int r = 0; r < t->model.n_forms; r++)
        each += 1 + fmin(box, t->parts[r].many * pow(t->parts[r].near2, 1.5)) /
                        NEAR_OF_A_LOOK;
    return largest * NODES * plane->n_beams * plane->n_cells * each;
}

static void launch_nodes(nb_backend_state *state, light_job job, int blocks, double looks)
{
    const int piece = (int)fmax(1.0, fmin(1 << 20, LOOKS_OF_A_LAUNCH / looks));
    for (job.before = 0; job.before < blocks; job.before += piece) {
        const int left = blocks - job.before;
        k_light_nodes<<<(unsigned)(left < piece ? left : piece), NODES, 0, state->stream>>>(
            job);
    }
}

/** Start the kernel for all rows, in pieces, because a grid has up to 65535 rows. */
static void launch_pixels(nb_backend_state *state, light_job job, const nb_scene *sc)
{
    const int high = 65535, wide = sc->raster.columns;
    for (job.before = 0; job.before < sc->raster.rows; job.before += high) {
        const int left = sc->raster.rows - job.before;
        const dim3 grid((unsigned)((wide + PIXELS - 1) / PIXELS),
                        (unsigned)(left < high ? left : high));
        if (sc->factors.dmin > 0)
            k_light_limit<<<grid, PIXELS, 0, state->stream>>>(job);
        else
            k_light_pixels<<<grid, PIXELS, 0, state->stream>>>(job);
    }
}

nb_status nb_cuda_make_light(nb_backend_state *state, const nb_diffuse_plane *plane,
                             int add, nb_error *err)
{
    const size_t bytes = plane->scene.raster.pixels * sizeof(float);
    light_job job = {};
    int blocks = 0;
    int64_t nodes = 0;
    nb_status st =
        nb_cuda_check(err, cudaSetDevice(state->device.index), "choosing the device");
    NB_TRY(send_plane(state, plane, &job.plane, err));
    NB_TRY(send_panels(state, plane, &blocks, &nodes, err));
    NB_TRY(nb_cuda_reserve(&state->diffuse.nodes, (size_t)(nodes + 1) * sizeof(float),
                           "nodes of diffuse light", err));
    if (!st && !add)
        st = nb_cuda_reserve(&state->mix.light, bytes, "diffuse light", err);
    if (!st && !add)
        st = nb_cuda_check(err,
                           cudaMemsetAsync(state->mix.light.at, 0, bytes, state->stream),
                           "making diffuse light");
    if (st)
        return st;
    job.panels = (const light_panel *)state->diffuse.panels.device.at;
    job.n_panels = plane->scene.n_panels;
    job.add = add;
    job.nodes = (float *)state->diffuse.nodes.at;
    job.image = (float *)state->mix.light.at;
    launch_nodes(state, job, blocks, looks_of(plane));
    launch_pixels(state, job, &plane->scene);
    return nb_cuda_check(err, cudaGetLastError(), "starting a kernel");
}

void nb_cuda_diffuse_release(nb_cuda_diffuse *light)
{
    nb_cuda_mirror *const mirrors[] = {&light->beams, &light->cells, &light->sources,
                                       &light->panels};
    for (nb_cuda_diffuse_table &table : light->tables)
        nb_cuda_release(&table.at);
    nb_cuda_release(&light->nodes);
    for (nb_cuda_mirror *mirror : mirrors)
        nb_cuda_release_mirror(mirror);
}
