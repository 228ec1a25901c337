/* SPDX-License-Identifier: MIT */
/** What a pass over the pixels is to make: the image, and for each parameter the slope of every pixel.
 * A pixel's terms make a fixed set of sums (nb_slope_sum); parameters only contract them, by numbers
 * that a tangent holds.  No kernel knows a parameter's name. */
#ifndef NB_RENDER_SUMS_H
#define NB_RENDER_SUMS_H

#include "../nanobragg/derivatives.h"
#include "../physics/scene.h"
#include "../physics/slopes.h"
#include "../plan/plan.h"
#include "backend.h"
#include "fit_pixel.h"

/** Sums over the terms of a pixel.  w: a term's weight; g its gradient by h, k, l; v that by q. */
enum nb_slope_sum {
    NB_SLOPE_INDEX = 1,    /* nine: w g_i h_j */
    NB_SLOPE_CELLS = 2,    /* three: by N */
    NB_SLOPE_RAY = 4,      /* three: w v/lambda, of each ray */
    NB_SLOPE_MOSAIC = 8,   /* w turn.(v x q), turn: of the orientation */
    NB_SLOPE_SPINDLE = 16, /* two: w s.(v x q), and times the place in the oscillation */
    NB_SLOPE_FUDGE = 32,   /* by the shape factor */
    NB_SLOPE_WAVE = 64,    /* two: -w v.q, and times the source's place in the spectrum */
    NB_SLOPE_F = 128,      /* by default_F and by entries of the table */
    NB_SLOPE_POLAR = 256 /* by the Kahn factor, where each term has its own polarization */
};

/** How one parameter moves the scene, per unit of it. */
typedef struct nb_tangent {
    double index[9]; /* dh_i = index[3 i + j] h_j */
    double cells[3]; /* of N */
    double mosaic;   /* spread, rad */
    double phi, osc; /* rad */
    double fudge;
    double wave;           /* dlambda/lambda of all sources */
    double spectrum;       /* multiplies nb_slope_job.spectrum */
    double crystal, image; /* relative change of the crystal's photons, of all photons */
    double background;     /* of scene.background, electrons^2 */
    double polarization;   /* Kahn's K */
    double default_F;      /* electrons */
    int entry;             /* of nb_slope_job.entries, changed by an electron; -1: none */
    nb_panel_slope *panels; /* [n_panels], owned by the job; NULL: the detector stays */
} nb_tangent;

typedef struct nb_slope_job {
    const nb_scene *scene;
    int count;
    nb_tangent *tangents; /* [count] */
    unsigned sums;        /* bits of nb_slope_sum: those that a tangent contracts */
    nb_vec3 spindle;
    nb_vec3 *turns; /* [n_orientations], for MOSAIC: axis and rate, per rad of spread */
    double *spectrum; /* [n_sources], for WAVE: dlambda/lambda per unit of tangent.spectrum */
    int64_t *entries; /* [n_entries]: places in a table of F; -1: beyond the box */
    int n_entries;
    const double *given; /* [1 + count][pixels]: rows are copied from there; NULL: calculated */
} nb_slope_job;

/** Why no kernel in single precision makes the sums of a job, in a few words; NULL: one may. */
const char *nb_slopes_need_double(const nb_plan *plan, const nb_slope_job *job);

/** The largest of a term's sums beside F^2 L^2: a slope by h, times h. */
double nb_slope_steepest(const nb_plan *plan);

/** Slopes of the pixels of one row; state: the engine's.  out[0 ... count][pixels of the spans]: the image, photons, and
 * then each parameter's slope, photons per unit; plane p begins at out + p stride. */
typedef void nb_slope_row(const nb_slope_job *job, const void *state,
                          const nb_span *spans, size_t n, double *out, size_t stride);

/** The same in floats. */
typedef void nb_slope_floats(const nb_slope_job *job, const void *state,
                             const nb_span *spans, size_t n, float *out, size_t stride);

/** Add to sums[count] the slopes of the pixels of one row, each times its dloss[]. */
typedef void nb_slope_dot(const nb_slope_job *job, const void *state, const nb_span *spans,
                          size_t n, const double *dloss, double *sums);

/** How a pass is to calculate. */
typedef struct nb_slope_way {
    nb_precision precision;
    nb_isa isa; /* SCALAR: no vectors */
} nb_slope_way;

/** A way to calculate rows.  The engines are listed from the quickest on; the last one is the
 * reference and takes every job. */
typedef struct nb_slope_engine {
    const char *name;
    /** Can it do this job?  If not, *why says so in a few words. */
    int (*applies)(const nb_slope_job *job, const nb_slope_way *way, const char **why);
    /** What its rows need of the job, which must outlive it.  Errors: NB_ERR_NOMEM. */
    nb_status (*open)(const nb_slope_job *job, const nb_slope_way *way, void **state,
                      nb_error *err);
    nb_slope_row *row;
    void (*close)(void *state);
    /** What makes rows of floats, whose numbers are its rows', or NULL, as dot. */
    nb_slope_floats *(*floats)(const void *state);
    /** What makes such sums quicker than its rows, or NULL, which may depend on the job; NULL: nothing does. */
    nb_slope_dot *(*dot)(const void *state);
} nb_slope_engine;

extern const nb_slope_engine nb_slope_scalar, nb_slope_vector;

/** The quickest engine that applies. */
const nb_slope_engine *nb_slope_engine_for(const nb_slope_job *job,
                                           const nb_slope_way *way);

/* --- one pass over the pixels of a job: rows are shared out over threads, and sums over pixels have a fixed order
 * (pixels of a row, rows of a stripe, stripes), whatever the threads --- */

enum {
    NB_PASS_STRIPES = 128,
    NB_PASS_PIECE = 256 /* pixels that are taken at once, at most: the slopes of all
                           parameters stay in a cache */
};

/** The pixels of a pass, in order.  Many passes over scenes of the same pixels may share a list. */
typedef struct nb_slope_pixels {
    nb_span *spans; /* owned, [n] */
    size_t n;
    size_t *first; /* owned, [rows + 1]: the spans of each row */
    int rows;
    uint64_t number; /* tells lists of a simulation apart, so that a device is sent each once; 0: it is used once */
} nb_slope_pixels;

/** Slopes of a piece of one row: of spans[0 .. n-1], whose pixels follow each other in each of the 1 + count
 * planes of values, `stride` apart. */
typedef struct nb_slope_values {
    const nb_span *spans;
    size_t n;
    const double *values;
    const float *floats; /* instead of values; else NULL */
    size_t stride;
    int stripe; /* rows of one stripe come in order, by one thread */
} nb_slope_values;

typedef struct nb_slope_pass {
    const nb_slope_job *job;
    const nb_slope_pixels *pixels; /* NULL: all of the region */
    nb_slope_way way;
    int threads; /* 0: all */
    int stripes; /* most of them; 0: NB_PASS_STRIPES */
    const nb_hooks *hooks;
    void *sink;
    void (*take)(void *sink, const nb_slope_values *row);
    /** Forget all that was taken: it comes again (audit.h).  NULL: what comes replaces it. */
    void (*again)(void *sink);
    /** Of a sink that only adds slopes times a loss by the pixels: fill dloss[pixels of the row] and give the
     * sums [count] that the stripe adds to.  The engine may then leave out the rows.  NULL: every row is taken. */
    double *(*weigh)(void *sink, const nb_slope_values *row, double *dloss);
    int floats;        /* it takes floats */
    nb_slope_row *row; /* NULL: that of the quickest engine */
} nb_slope_pass;

/** List the rendered pixels of a job; wanted: [pixels of the stack], 0: left out, or NULL.  Free the list after an error,
 * too.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_pixels_list(const nb_slope_job *job, const uint8_t *wanted,
                               nb_slope_pixels *out, nb_error *err);
void nb_slope_pixels_free(nb_slope_pixels *pixels); /* zeroed is fine */

/** Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_slope_pass_run(const nb_slope_pass *pass, nb_error *err);

/* --- derivatives by a backend that renders on a device (nb_backend_device.slopes); what a pass makes of the slopes is
 * made there, too: planes are fetched only where planes are wanted --- */

/** Pixels of a job. */
typedef struct nb_slope_task {
    const nb_slope_job *job;
    nb_precision precision;
    const nb_span *spans; /* in order; each pixel once */
    size_t n;
    uint64_t number; /* of their list (nb_slope_pixels): a device keeps it and its observation; 0: it does not */
    const nb_hooks *hooks; /* may be NULL */
} nb_slope_task;

/** Planes that are wanted, the caller's; pixels outside the spans are left alone. */
typedef struct nb_slope_planes_out {
    nb_real_type type;
    void *planes;     /* [count][pixels of the stack]; NULL if count is 0 */
    float *image;     /* [pixels], or NULL */
    double *expected; /* the same in double, or NULL */
} nb_slope_planes_out;

/** A fit of n = count + knots numbers, and its equations: sums[1 + n + n^2], the loss, its gradient, the
 * lower half of the Fisher matrix. */
typedef struct nb_slope_fit_out {
    const nb_slope_fit *fit;
    double *sums;
} nb_slope_fit_out;

typedef struct nb_slope_device {
    /** Can it do this job, whose sums over pixels are of so many numbers (parameters and knots)?  If not, *why says
     * so in a few words. */
    int (*applies)(const nb_slope_job *job, int numbers, const char **why);
    /** Errors of all three: NB_ERR_NOMEM, NB_ERR_DEVICE, NB_ERR_CANCELLED. */
    nb_status (*planes)(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_planes_out *out, nb_error *err);
    /** gradient[count] = sum of dloss dI/dp; dloss[pixels of the stack] of `type`, in memory of the
     * host or the device.  If a number of dloss is not finite, one of the gradient is not. */
    nb_status (*pullback)(nb_backend_state *state, const nb_slope_task *task,
                          nb_real_type type, const void *dloss, double *gradient,
                          nb_error *err);
    nb_status (*normal)(nb_backend_state *state, const nb_slope_task *task,
                        const nb_slope_fit_out *out, nb_error *err);
} nb_slope_device;

#endif
