/* SPDX-License-Identifier: MIT */
/** Common parts of the kernel with FP64 tensor cores and the tricubic kernel: a warp
 * renders a tile of pixels with many steps. */
#ifndef NB_CUDA_TENSOR_JOB_CUH
#define NB_CUDA_TENSOR_JOB_CUH

#include "../../src/physics/pixel.h"
#include "depth.cuh"
#include "shapes.cuh"

enum { ROWS = 4, COLUMNS = 8 }; /* size of a warp's tile, pixels */

typedef struct tensor_job {
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
    int *repair;
    const double *fragments;
    const float *weights;
    const int *tables;
    const float *F2;
    nb_F2_index index;
    int N[3];
    int first, end, add;       /* members of nb_cuda_octets */
    double term;               /* unit of the sums: constant F^2 or 1, times the height */
    double path, inverse_path; /* thickness of a layer, in attenuation lengths; 1/path */
    double edge_fast, edge_slow; /* edges of a sub-pixel, m */
    nb_shape_form shape;         /* for shapes other than parallelepipeds */
    nb_cuda_many many;
    nb_cubic_table cubic; /* `waves` and this member are only for the tricubic kernel */
    /* sources (cubic_wave) for the tricubic kernel, with one more as padding */
    const void *waves;
} tensor_job;

/** nb_go_deep for a flat panel. front: position on the layer's front face. */
static __device__ __forceinline__ nb_ray go_deep(const tensor_job &p, nb_vec3 front,
                                                 int layer)
{
    const nb_panel &panel = p.panel;
    double parallax = nb_dot(front, panel.normal) * inverse_root(nb_dot(front, front));
    float captured;
    double depth = mean_depth(p.path * inverse_of(parallax), parallax * p.inverse_path,
                              layer, &captured);
    nb_ray ray;
    ray.position = nb_add(front, nb_scale(depth * p.sensor.layer_step, panel.normal));
    ray.airpath = nb_norm(ray.position);
    ray.direction = nb_scale(inverse_of(ray.airpath), ray.position);
    ray.capture = captured;
    ray.omega = p.scene.oversample_omega ? nb_solid_angle(&panel, &ray) : 1.0;
    return ray;
}

/** Direction and weight of ray number ray_index (sub-pixel and layer) of a pixel. Panels
 * are flat. */
static __device__ __forceinline__ nb_vec3 aim(const tensor_job &p, int ray_index, int f,
                                              int s, float *weight)
{
    const nb_scene &sc = p.scene;
    nb_panel panel = p.panel;
    int os = sc.oversample, sub = ray_index % (os * os), layer = ray_index / (os * os);
    double F = nb_edge_point(p.edge_fast, os, f, sub % os);
    double S = nb_edge_point(p.edge_slow, os, s, sub / os), w;
    nb_ray ray;
    panel.curved = 0;
    ray =
        p.sensor.mean_depth
            ? go_deep(p, nb_panel_point(&panel, F, S, layer * p.sensor.layer_step), layer)
            : nb_ray_to(&panel, &p.sensor, F, S, layer);
    w = ray.capture;
    if (sc.oversample_omega)
        w *= ray.omega;
    if (sc.oversample_polar && !sc.beam.nopolar)
        w *= nb_polarization(sc.beam.polarization, sc.beam.sources[0].incident,
                             ray.direction, sc.beam.polar_axis);
    *weight = (float)w;
    return ray.direction;
}

/** Make the job of a panel. Its blocks, of `warps` warps each, are in one row. */
static tensor_job make_tensor_job(const nb_cuda_launch *launch, const nb_cuda_terms *terms,
                                  const nb_cuda_octets *octets, int warps)
{
    const nb_scene *sc = &launch->scene;
    const nb_cuda_window *w = &launch->window;
    int across = (w->f1 - w->f0 + COLUMNS - 1) / COLUMNS, i;
    int tiles = across * ((w->s1 - w->s0 + ROWS - 1) / ROWS);
    tensor_job job = {};
    job.scene = *sc;
    job.panel = launch->panel;
    job.sensor = launch->sensor;
    job.window = *w;
    job.image = launch->image;
    job.repair = launch->repair;
    job.fragments = terms->fragments;
    job.weights = terms->weights;
    job.tables = terms->tables;
    job.F2 = terms->F2.at;
    job.index = nb_make_F2_index(&terms->F2);
    for (i = 0; i < 3; i++)
        job.N[i] = (int)sc->lattice.N[i];
    job.first = octets->first;
    job.end = octets->end;
    job.add = octets->add;
    job.term = (terms->F2.at || terms->is_cubic ? 1.0 : terms->F2.constant) *
               nb_shape_height2(&sc->lattice);
    job.shape = nb_make_shape_form(&sc->lattice);
    job.path = launch->sensor.layer_step * launch->sensor.mu;
    job.inverse_path = 1.0 / job.path;
    job.edge_fast = launch->panel.pixel_fast / sc->oversample;
    job.edge_slow = launch->panel.pixel_slow / sc->oversample;
    job.cubic = terms->cubic;
    job.waves = terms->waves;
    job.many.across = (tiles + warps - 1) / warps;
    return job;
}

#endif
