/* SPDX-License-Identifier: MIT */
/** Declarations for the files of the CUDA backend: device memory, the scene on the device, and the
 * entries of kernels. */
#ifndef NB_CUDA_INTERNAL_H
#define NB_CUDA_INTERNAL_H

#include "vendor.h"

extern "C" {
#include "../../src/base/error.h"
#include "../../src/base/memory.h"
#include "../../src/physics/scene.h"
#include "../../src/plan/fixed_point.h"
#include "../../src/render/backend.h"
#include "../../src/render/request.h"
#include "../../src/terms/cubic_cells.h"
#include "../../src/terms/materials.h"
#include "paths.h"
}

/** Device memory that grows on demand and lives as long as the renderer. */
typedef struct nb_cuda_buffer {
    void *at; /* device address, NULL when empty */
    size_t bytes;
    int full; /* the last reservation failed */
} nb_cuda_buffer;

/** Properties of the device on which choices depend. */
typedef struct nb_cuda_device {
    int index;
    char name[256];
    int major, minor, multiprocessors;
    double clock_ghz;
    int fp64_ratio; /* FP32 operations in the time of one FP64 operation */
    /* this build has FP64 tensor-core kernels, and they are faster on it */
    int has_tensor;
} nb_cuda_device;

/** F^2 on the device: a float box that covers every reflection that the image can touch,
 * or one number. at[(((-h-low[0])*n[1] + -k-low[1])*n[2] + -l-low[2])*side + table]:
 * consecutive sources have nearly the same wavelength and see the same reflection, each
 * in a different table. */
typedef struct nb_cuda_factor_squares {
    const float *at; /* NULL: constant */
    float constant;
    nb_index_box box;
    int side;  /* number of adjacent tables; 1 for one table */
    int table; /* number of the only table */
} nb_cuda_factor_squares;

/** The scene's materials as cells, on the device. */
typedef struct nb_cuda_cells {
    const nb_cell *cells; /* or NULL without cells */
    const nb_cells *list;
    int n;
    double molecules; /* number for all materials */
    double per;       /* largest number of cells per metre */
} nb_cuda_cells;

/** A rectangle of pixels, first inclusive, end exclusive. */
typedef struct nb_cuda_window {
    int f0, f1, s0, s1;
} nb_cuda_window;

/** Data of every launch. */
typedef struct nb_cuda_launch {
    /* arrays are device addresses; panels and sensors are NULL, mask is the panel's */
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window; /* in the panel's pixels */
    float *image;          /* device, the panel's [rows][columns] */
    int *repair; /* device: set when a pixel is NaN and must be calculated again */
    cudaStream_t stream;
    int multiprocessors;
    nb_vec3 first_incident; /* direction of the first source, in host memory */
    nb_cuda_cells cells;
    int few_round; /* nb_cuda_is_few_round */
} nb_cuda_launch;

/** Several panels for one launch (many.cuh). */
typedef struct nb_cuda_many {
    const void *jobs; /* device: one per panel */
    const int *first; /* device, [n + 1]: sum of the blocks of all earlier panels */
    int n;
    /* blocks of all panels before the first one; in a panel's job: before that panel */
    int before;
    int blocks; /* number for all panels of the launch */
    int even;   /* blocks of the first panel that has blocks */
    int across; /* in a panel's job: blocks along fast */
    int unused;
} nb_cuda_many;

/** A part of the steps of a pixel: orientations first..first+count-1. */
typedef struct nb_cuda_part {
    int first, count;
    /* device, like the image: the sum so far; NULL for a single part */
    double *sums;
    int is_first, is_last;
} nb_cuda_part;

/** Data of a panel for the kernels in double precision. */
typedef struct nb_cuda_plain_job {
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window;
    float *image;
    const int *wanted;  /* for the repair: nonzero if a pixel needs a repair */
    int with_materials; /* for the repair: pixels contain the photons of materials */
    nb_cuda_part part;
    nb_cuda_many many;
} nb_cuda_plain_job;

/** Description of one step for the direct kernel. On each axis the Miller index at P =
 * base + F fast is (vector.base + F slope)/|P| + constant, where the constant holds the
 * magic number. */
typedef struct nb_cuda_direct_term {
    struct {
        nb_vec3 vector; /* -a/lambda */
        double slope, constant;
        double column[2]; /* vector.base of layer 0 is [0] + [1] S, S metres along slow */
    } axis[3];            /* for -h: see terms.cu */
    float weight;
    int table;       /* table of its source */
    double depth[3]; /* axis[].vector.normal: change per metre of depth */
} nb_cuda_direct_term;

/** The tables of the fast kernels. */
typedef struct nb_cuda_terms {
    int count;  /* sources * orientations */
    int octets; /* groups of 8 steps, for the tensor cores */
    /* [octets + 1][3 axes][32 lanes]: the last octet is for prefetching */
    const double *fragments;
    const float *weights; /* [8*(octets + 1)]; NULL when every step weighs 1 */
    /* [8*(octets + 1)]: tables of the steps; NULL for one table */
    const int *tables;
    const nb_cuda_direct_term *direct; /* [panels][count] */
    int panels;                        /* 1: the panel of the launch; else all panels */
    nb_cuda_factor_squares F2;
    nb_cubic_table cubic; /* for the tricubic kernel, like the next two */
    int is_cubic;
    const void *waves; /* sources */
    double weight_sum; /* sum over all steps */
} nb_cuda_terms;

/* --- device.cu --- */
nb_status nb_cuda_check(nb_error *err, cudaError_t code, const char *doing);
/** Reserve at least `bytes` on the device. The content is undefined when it had to grow. */
nb_status nb_cuda_reserve(nb_cuda_buffer *buffer, size_t bytes, const char *what,
                          nb_error *err);
void nb_cuda_release(nb_cuda_buffer *buffer);
/** Find a device that can render; -1: the first. Returns 0 and a reason in `why` if there
 * is no such device. */
int nb_cuda_probe(int index, nb_cuda_device *device, char *why, size_t why_size);

/** Facts about the device for the choice of a path. */
nb_engine nb_cuda_engine(const nb_cuda_device *device);

/* --- download.cu --- */
/** Pinned memory between the device and the caller's memory. */
typedef struct nb_cuda_ring nb_cuda_ring;
nb_status nb_cuda_ring_create(int device, int threads, nb_cuda_ring **ring, nb_error *err);
void nb_cuda_ring_free(nb_cuda_ring *ring);
/** Copy bytes to `to` after the present work of `stream`; returns when the copy is
 * finished. */
nb_status nb_cuda_download(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                           cudaStream_t stream, nb_error *err);
/** Copy bytes of the host, or of another device, to `to` on the device, in the stream's
 * order; `from` must stay valid until the copy is finished. */
nb_status nb_cuda_send(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                       cudaStream_t stream, nb_error *err);
/** True if the memory is on this device. */
int nb_cuda_is_on(const void *memory, int device);
/** The ring's memory between downloads, divided into one piece for each thread, at most 32. */
typedef struct nb_cuda_pieces {
    char *at; /* pinned; the ring owns it */
    size_t bytes;
    int count;
} nb_cuda_pieces;
nb_status nb_cuda_ring_pieces(nb_cuda_ring *ring, nb_cuda_pieces *pieces, nb_error *err);

/* Below, `many` is several panels in one launch, with the jobs that the ..._job functions
 * write; launch and terms then belong to one panel. NULL: the panel of the launch. A
 * ..._job function returns the number of blocks of the panel of its launch, whose window
 * must have pixels; before: number of blocks of all earlier panels. */

/* --- double.cu --- */
/** Calculate every pixel of the window that is not finite again, if *launch->repair is
 * set: only the crystal, or the crystal with_materials. */
void nb_cuda_launch_repair(const nb_cuda_launch *launch, int with_materials,
                           const nb_cuda_many *many);
extern const size_t nb_cuda_plain_job_bytes; /* also of the repair and of the materials */
int nb_cuda_plain_job_of(const nb_cuda_launch *launch, int before, void *to);

/* --- background.cu --- */
/** Add the materials to every pixel of the window.  exact: with every bit of src/physics. */
void nb_cuda_launch_background(const nb_cuda_launch *launch, int exact,
                               const nb_cuda_many *many);

/* --- materials.cu --- */
/** The materials of flat panels from their cells, in float; factors that need it are in
 * double. */
void nb_cuda_launch_materials(const nb_cuda_launch *launch, const nb_cuda_many *many);
/** The job has nb_cuda_direct_job_bytes. */
int nb_cuda_materials_job(const nb_cuda_launch *launch, int before, void *to);

/* --- terms.cu --- */
void nb_cuda_launch_fill_F2(const nb_factor_table *sf, const nb_cuda_factor_squares *F2,
                            float *out, cudaStream_t stream);
/** Destination of the coefficients of the tensor cores' steps. */
typedef struct nb_cuda_fragments {
    int octets;
    double *at;     /* layout as in nb_cuda_terms, also of the next two */
    float *weights; /* may be NULL */
    int *tables;    /* may be NULL */
} nb_cuda_fragments;
void nb_cuda_launch_fragments(const nb_scene *scene, const nb_cuda_factor_squares *F2,
                              const nb_cuda_fragments *to, cudaStream_t stream);
void nb_cuda_launch_direct_steps(const nb_scene *scene, const nb_panel *panel, int table,
                                 nb_cuda_direct_term *terms, cudaStream_t stream);
/** nb_cuda_launch_direct_steps for n panels in a row. panels: on the device, the first of
 * n panels that are `apart` bytes apart. */
void nb_cuda_launch_panels_steps(const nb_scene *scene, const void *panels, size_t apart,
                                 int n, int table, nb_cuda_direct_term *terms,
                                 cudaStream_t stream);

/* --- tensor.cu --- */
/** True if the code for this device has the FP64 tensor-core kernels. */
int nb_cuda_has_tensor_code(void);
/** Octets first..end-1 of the window's pixels; with `add` they are added to the image. */
typedef struct nb_cuda_octets {
    int first, end, add;
} nb_cuda_octets;

/* --- direct.cu --- */
extern const size_t nb_cuda_direct_job_bytes; /* the panel is first */

#endif
