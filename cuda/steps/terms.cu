/* SPDX-License-Identifier: MIT */
/* Tables for the fast kernels: coefficients of the steps, and the box of F^2. */
#include "../backend/internal.h"

#include "../../src/physics/pixel.h"

static __device__ nb_vec3 axis_of(const nb_orientation *u, int axis)
{
    return axis == 0 ? u->a : axis == 1 ? u->b : u->c;
}

typedef struct fragment_job {
    nb_scene scene;
    nb_cuda_factor_squares F2;
    int64_t count;
    nb_cuda_fragments to;
} fragment_job;

/** The negative index of a padding step. It is in the box of F^2 and at a zero of the
 * interference function (fraction 1/N), so that the step adds almost nothing and needs no
 * mask. */
static __device__ double idle_index(const fragment_job *p, int axis)
{
    double N = p->scene.lattice.N[axis];
    return p->F2.box.low[axis] + (N > 1 ? 1.0 / N : 0.25);
}

/** Fill lane 4*i+k of each octet: component k of step i, or for k = 3 its constant. */
__global__ void k_fragments(const NB_GRID_CONSTANT fragment_job p)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, step;
    int axis = (int)(i % 96) / 32, row = (int)(i % 32) / 4, k = (int)(i % 4);
    int table = p.F2.at != NULL;
    if (i >= p.count)
        return;
    step = i / 96 * 8 + row;
    if (step < (int64_t)p.scene.beam.n_sources * p.scene.lattice.n_orientations) {
        const nb_source *source = &p.scene.beam.sources[step % p.scene.beam.n_sources];
        nb_vec3 v =
            axis_of(&p.scene.lattice.orientations[step / p.scene.beam.n_sources], axis);
        double along = k == 0 ? v.x : k == 1 ? v.y : v.z;
        p.to.at[i] =
            k < 3 ? -along / source->lambda
                  : nb_fixed_start(table) + nb_dot(v, source->incident) / source->lambda;
        if (p.to.weights && axis == 0 && k == 0)
            p.to.weights[step] = (float)source->weight;
        if (p.to.tables && axis == 0 && k == 0)
            p.to.tables[step] = source->table;
    } else {
        p.to.at[i] = k < 3 ? 0.0 : nb_fixed_start(table) + idle_index(&p, axis);
        if (p.to.weights && axis == 0 && k == 0)
            p.to.weights[step] = 0;
        if (p.to.tables && axis == 0 && k == 0)
            p.to.tables[step] = 0;
    }
}

void nb_cuda_launch_fragments(const nb_scene *scene, const nb_cuda_factor_squares *F2,
                              const nb_cuda_fragments *to, cudaStream_t stream)
{
    fragment_job job = {*scene, *F2, ((int64_t)to->octets + 1) * 96, *to};
    k_fragments<<<(unsigned)((job.count + 255) / 256), 256, 0, stream>>>(job);
}

static __device__ void aim_term(const nb_scene &sc, const nb_panel &panel, int table,
                                int i, nb_cuda_direct_term *term)
{
    const nb_source *source = &sc.beam.sources[i % sc.beam.n_sources];
    for (int axis = 0; axis < 3; axis++) {
        nb_vec3 v = axis_of(&sc.lattice.orientations[i / sc.beam.n_sources], axis);
        v = nb_scale(-1.0 / source->lambda, v);
        term->axis[axis].vector = v;
        term->axis[axis].slope = nb_dot(v, panel.fast);
        term->axis[axis].constant = nb_fixed_start(table) - nb_dot(v, source->incident);
        term->depth[axis] = nb_dot(v, panel.normal);
        term->axis[axis].column[0] = nb_dot(v, panel.pix0);
        term->axis[axis].column[1] = nb_dot(v, panel.slow);
    }
    term->weight = (float)source->weight;
    term->table = source->table;
}

__global__ void k_direct_terms(const NB_GRID_CONSTANT nb_scene sc,
                               const NB_GRID_CONSTANT nb_panel panel, int table,
                               nb_cuda_direct_term *terms)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < sc.beam.n_sources * sc.lattice.n_orientations)
        aim_term(sc, panel, table, i, &terms[i]);
}

void nb_cuda_launch_direct_steps(const nb_scene *scene, const nb_panel *panel, int table,
                                 nb_cuda_direct_term *terms, cudaStream_t stream)
{
    unsigned count = (unsigned)(scene->beam.n_sources * scene->lattice.n_orientations);
    k_direct_terms<<<(count + 63) / 64, 64, 0, stream>>>(*scene, *panel, table, terms);
}

/** Fill the steps of all panels: blockIdx.y is the number of the panel. */
__global__ void k_panels_terms(const NB_GRID_CONSTANT nb_scene sc, const char *panels,
                               size_t apart, int table, nb_cuda_direct_term *terms)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int count = sc.beam.n_sources * sc.lattice.n_orientations;
    const nb_panel *panel = (const nb_panel *)(panels + apart * blockIdx.y);
    if (i < count)
        aim_term(sc, *panel, table, i, &terms[(size_t)count * blockIdx.y + i]);
}

void nb_cuda_launch_panels_steps(const nb_scene *scene, const void *panels, size_t apart,
                                 int n, int table, nb_cuda_direct_term *terms,
                                 cudaStream_t stream)
{
    unsigned count = (unsigned)(scene->beam.n_sources * scene->lattice.n_orientations);
    k_panels_terms<<<dim3((count + 63) / 64, (unsigned)n), 64, 0, stream>>>(
        *scene, (const char *)panels, apart, table, terms);
}

/** Fill F^2, one thread per value; values of all tables of a reflection are adjacent. */
__global__ void k_fill_F2(const NB_GRID_CONSTANT nb_factor_table sf,
                          const NB_GRID_CONSTANT nb_cuda_factor_squares F2, float *out)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t slab = (int64_t)F2.box.n[1] * F2.box.n[2], cell = i;
    int table = F2.table;
    double F;
    if (F2.side > 1) {
        cell = i / F2.side;
        table = (int)(i % F2.side);
    }
    if (cell >= slab * F2.box.n[0] || (F2.side > 1 && table >= sf.n_tables))
        return;
    F = nb_F_nearest(&sf, table, -(double)(F2.box.low[0] + cell / slab),
                     -(double)(F2.box.low[1] + cell % slab / F2.box.n[2]),
                     -(double)(F2.box.low[2] + cell % F2.box.n[2]));
    out[i] = (float)(F * F);
}

void nb_cuda_launch_fill_F2(const nb_factor_table *sf, const nb_cuda_factor_squares *F2,
                            float *out, cudaStream_t stream)
{
    int64_t values = (int64_t)F2->box.n[0] * F2->box.n[1] * F2->box.n[2] * F2->side;
    k_fill_F2<<<(unsigned)((values + 255) / 256), 256, 0, stream>>>(*sf, *F2, out);
}
