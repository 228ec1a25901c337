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
#include "paths.h"
}

/** Device memory that grows on demand and lives as long as the renderer. */
typedef struct nb_cuda_buffer {
    void *at; /* device address, NULL when empty */
    size_t bytes;
    int full; /* the last reservation failed */
} nb_cuda_buffer;

/** Properties of the device that decide choices. */
typedef struct nb_cuda_device {
    int index;
    char name[256];
    int major, minor, multiprocessors;
    double clock_ghz;
    int fp64_ratio; /* FP32 operations in the time of one FP64 operation */
    /* this build has FP64 tensor-core kernels, and they are faster on the device */
    int has_tensor;
} nb_cuda_device;

/** F^2 on the device: one number, or floats for a box of all reflections that pixels can
 * see. at[(((-h-low[0])*n[1] + -k-low[1])*n[2] + -l-low[2])*side + table]. The values of
 * one reflection in all tables are adjacent, because consecutive sources have nearly the
 * same wavelength and so see the same reflection, each in its table. */
typedef struct nb_cuda_factor_squares {
    const float *at; /* NULL: constant */
    float constant;
    nb_index_box box;
    int side;  /* number of adjacent tables; 1 for one table */
    int table; /* number of the table, if there is only one */
} nb_cuda_factor_squares;

/** A rectangle of pixels, first inclusive, end exclusive. */
typedef struct nb_cuda_window {
    int f0, f1, s0, s1;
} nb_cuda_window;

/** Data of every launch. */
typedef struct nb_cuda_launch {
    /* arrays are device addresses; panels, sensors are NULL; mask starts at the panel */
    nb_scene scene;
    nb_panel panel;
    nb_sensor sensor;
    nb_cuda_window window; /* in the panel's pixels */
    float *image;          /* device; [rows][columns] of the panel */
    int *repair; /* device: set if a pixel is NaN and must be calculated again */
    cudaStream_t stream;
    int multiprocessors;
    nb_vec3 first_incident; /* direction of the first source, copied from host memory */
    int few_round;          /* value of nb_cuda_is_few_round */
} nb_cuda_launch;

/** Several panels for one launch (many.cuh). */
typedef struct nb_cuda_many {
    const void *jobs; /* device: one per panel */
    const int *first; /* device, [n + 1]: number of blocks of all earlier panels */
    int n;
    /* number of blocks of all panels before this launch, or in a panel's job before the
     * panel */
    int before;
    int blocks; /* number for all panels of the launch */
    /* number of blocks of the first panel that has any, to guess a block's panel */
    int even;
    int across; /* in a panel's job: blocks along fast */
    int unused;
} nb_cuda_many;

/** A part of the steps of a pixel: orientations first..first+count-1. */
typedef struct nb_cuda_part {
    int first, count;
    /* device, layout of the image: sums of the parts so far; NULL for a single part */
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
    const int *wanted; /* not 0 if a pixel needs a repair */
    nb_cuda_part part;
    nb_cuda_many many;
} nb_cuda_plain_job;

/** One step (source, orientation) for the direct kernel. On each axis -h at P = base + F
 * fast is (vector.base + F slope)/|P| + constant; the constant includes the start of
 * fixed-point numbers. */
typedef struct nb_cuda_direct_term {
    struct {
        nb_vec3 vector; /* -a/lambda */
        double slope, constant;
        double column[2]; /* vector.base of layer 0 is [0] + [1] S, S metres along slow */
    } axis[3];            /* terms.cu fills these numbers */
    float weight;
    int table;       /* number of the table of the step's source */
    double depth[3]; /* axis[].vector.normal: change per metre of depth */
} nb_cuda_direct_term;

/** The tables of the fast kernels. */
typedef struct nb_cuda_terms {
    int count;  /* sources * orientations */
    int octets; /* groups of 8 steps, for the tensor cores */
    /* [octets + 1][3 axes][32 lanes]: the octet after the last one is only prefetched */
    const double *fragments;
    const float *weights; /* [8*(octets + 1)]; NULL when every step weighs 1 */
    /* [8*(octets + 1)]: tables of the steps; NULL for one table */
    const int *tables;
    const nb_cuda_direct_term *direct; /* [panels][count] */
    int panels; /* number of panels in `direct`; 1: only the panel of the launch */
    nb_cuda_factor_squares F2;
    nb_cubic_table cubic; /* this and the next members are for the tricubic kernel */
    int is_cubic;
    const void *waves; /* sources (cubic_wave of tricubic.cu) */
} nb_cuda_terms;

/** The last of n numbers for which `holds` is true; it is true for the first ones. */
template <class HOLDS>
static __device__ __forceinline__ int nb_cuda_last(int n, const HOLDS &holds)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (holds(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* --- device.cu --- */
nb_status nb_cuda_check(nb_error *err, cudaError_t code, const char *doing);
/** Reserve at least `bytes` on the device. If the buffer grows, its content is undefined. */
nb_status nb_cuda_reserve(nb_cuda_buffer *buffer, size_t bytes, const char *what,
                          nb_error *err);
void nb_cuda_release(nb_cuda_buffer *buffer);
/** Check that device `index` can render; -1: the first device. Returns 0, with the reason
 * in `why`, if it cannot. */
int nb_cuda_probe(int index, nb_cuda_device *device, char *why, size_t why_size);

/** Numbers of the device that decide the path. */
nb_engine nb_cuda_engine(const nb_cuda_device *device);

/* --- download.cu --- */
/** Pinned memory between the device and the caller's memory. */
typedef struct nb_cuda_ring nb_cuda_ring;
nb_status nb_cuda_ring_create(int device, int threads, nb_cuda_ring **ring, nb_error *err);
void nb_cuda_ring_free(nb_cuda_ring *ring);
/** Copy bytes from the device to the host after the queued work of `stream`. Returns when
 * the copy is finished. */
nb_status nb_cuda_download(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                           cudaStream_t stream, nb_error *err);
/** Copy bytes of the host, or of another device, to `to` on the device in the stream's
 * order. `from` must stay valid until the copy is finished. */
nb_status nb_cuda_send(nb_cuda_ring *ring, void *to, const void *from, size_t bytes,
                       cudaStream_t stream, nb_error *err);
/** True if the memory is on this device. */
int nb_cuda_is_on(const void *memory, int device);
/** The ring's memory, usable between downloads: one piece for each thread, up to 32. */
typedef struct nb_cuda_pieces {
    char *at; /* pinned; the ring owns it */
    size_t bytes;
    int count;
} nb_cuda_pieces;
nb_status nb_cuda_ring_pieces(nb_cuda_ring *ring, nb_cuda_pieces *pieces, nb_error *err);

/* In the following functions, `many` describes several panels of one launch, whose jobs
 * the ..._job functions have written. If it is NULL, only the panel of `launch` is
 * rendered. A ..._job function writes the job of the panel of its `launch`, whose window
 * must have pixels, and returns the panel's number of blocks. before: number of blocks of
 * all earlier panels. */

/* --- double.cu --- */
/** If *launch->repair is set, calculate every pixel of the window that is not finite
 * again. */
void nb_cuda_launch_repair(const nb_cuda_launch *launch, const nb_cuda_many *many);
/* size of a job, which the repair also uses */
extern const size_t nb_cuda_plain_job_bytes;
int nb_cuda_plain_job_of(const nb_cuda_launch *launch, int before, void *to);

/* --- terms.cu --- */
void nb_cuda_launch_fill_F2(const nb_factor_table *sf, const nb_cuda_factor_squares *F2,
                            float *out, cudaStream_t stream);
/** Destination of the coefficients of the tensor cores' steps. */
typedef struct nb_cuda_fragments {
    int octets;
    double *at;     /* the three arrays have the layout of nb_cuda_terms */
    float *weights; /* may be NULL */
    int *tables;    /* weights, or NULL */
} nb_cuda_fragments;
void nb_cuda_launch_fragments(const nb_scene *scene, const nb_cuda_factor_squares *F2,
                              const nb_cuda_fragments *to, cudaStream_t stream);
void nb_cuda_launch_direct_steps(const nb_scene *scene, const nb_panel *panel, int table,
                                 nb_cuda_direct_term *terms, cudaStream_t stream);
/** nb_cuda_launch_direct_steps for n panels. panels: device address of the first
 * nb_panel; panels are `apart` bytes apart. */
void nb_cuda_launch_panels_steps(const nb_scene *scene, const void *panels, size_t apart,
                                 int n, int table, nb_cuda_direct_term *terms,
                                 cudaStream_t stream);

/* --- tensor.cu --- */
/** True if the code for this device has the FP64 tensor-core kernels. */
int nb_cuda_has_tensor_code(void);
/** Octets (8 steps each) first .. end-1 of a launch; add: add to the image. */
typedef struct nb_cuda_octets {
    int first, end, add;
} nb_cuda_octets;

/* --- direct.cu --- */
extern const size_t nb_cuda_direct_job_bytes; /* a job begins with its nb_panel */

#endif
