/* SPDX-License-Identifier: MIT */
/** Slopes: derivatives of each pixel by parameters, which a request may ask for instead
 * of the image. Kernels calculate a fixed set of sums over the terms of a pixel
 * (nb_slope_sum). A parameter's slope is a weighted sum (contraction) of this set; the
 * weights are in the parameter's tangent. No kernel knows a parameter's name. */
#ifndef NB_RENDER_SUMS_H
#define NB_RENDER_SUMS_H

#include "../nanobragg/derivatives.h"
#include "../physics/scene.h"
#include "../physics/slopes.h"
#include "../plan/plan.h"
#include "backend.h"
#include "fit_pixel.h"

/** Sums over the terms of a pixel. w: weight of a term; g: gradient of the term by h, k,
 * l; v: gradient of the term by q. */
enum nb_slope_sum {
    NB_SLOPE_INDEX = 1, /* nine: w g_i h_j */
    NB_SLOPE_CELLS = 2, /* three: slopes by N */
    NB_SLOPE_RAY = 4,   /* three: w v/lambda, of each ray */
    /* one or six: w turn.(v x q), with nb_slope_job.turns of the orientation */
    NB_SLOPE_MOSAIC = 8,
    /* two: w spindle.(v x q), and the same times the place in the oscillation */
    NB_SLOPE_SPINDLE = 16,
    NB_SLOPE_FUDGE = 32, /* slope by the shape factor */
    /* two: -w v.q, and the same times the source's place in the spectrum */
    NB_SLOPE_WAVE = 64,
    NB_SLOPE_F = 128,     /* slopes by default_F and by entries of the table */
    NB_SLOPE_POLAR = 256, /* slope by the Kahn factor, if each term has a polarization */
    /* two: slopes by turns of the sources' directions; only on a CPU */
    NB_SLOPE_BEAM = 512
};

enum { NB_TURNS = 6 }; /* limit of nb_slope_job.n_turns */

/** Slopes of the scene's numbers by one parameter: changes per unit of the parameter. The
 * numbers up to default_F are in the order of nb_slope_sums (pixel_sums.h). */
typedef struct nb_tangent {
    double image, crystal; /* relative changes of all photons, of the crystal's photons */
    double background;     /* change of scene.background, electrons^2 */
    double index[9];       /* dh_i = index[3 i + j] h_j */
    double cells[3];       /* change of N */
    double mosaic[NB_TURNS]; /* multiply nb_slope_job.turns */
    double phi, osc;         /* rotation and oscillation, rad */
    double fudge;            /* shape factor */
    double wave;             /* dlambda/lambda of all sources */
    double spectrum;         /* factor of nb_slope_job.spectrum */
    double polarization;     /* change of Kahn's K */
    double default_F;        /* change of default_F, electrons */
    double beam[2];          /* factors of nb_slope_job.beam */
    /* number of the entry of nb_slope_job.entries that changes by 1 electron, or -1 */
    int entry;
    /* [n_panels], owned by the job; NULL: the detector does not move */
    nb_panel_slope *panels;
    /* changes of a, b of nb_footprint, m; renderers do not read them */
    nb_vec3 footprint[2];
} nb_tangent;

typedef struct nb_slope_job {
    const nb_scene *scene;
    int count;
    nb_tangent *tangents; /* [count] */
    unsigned sums;        /* bits of nb_slope_sum that the tangents need */
    nb_vec3 spindle;
    /* [n_turns][n_orientations], for MOSAIC: axis and rate, per rad of spread, or by the
     * six numbers of a tensor, as a relative change of the spread */
    nb_vec3 *turns;
    int n_turns;      /* 1 or NB_TURNS */
    double *spectrum; /* [n_sources], for WAVE: dlambda/lambda per unit of tangent.spectrum */
    /* [n_sources] each, for BEAM: change of a source's direction per rad of the
     * horizontal and of the vertical divergence; NULL: no change */
    nb_vec3 *beam[2];
    /* [n_entries]: indices of entries in a table of F; -1: outside the box */
    int64_t *entries;
    int n_entries;
} nb_slope_job;

/** Reason, in a few words, why no kernel in single precision can make the sums of a job;
 * otherwise NULL. */
const char *nb_slopes_need_double(const nb_plan *plan, const nb_slope_job *job);

/** Upper bound of a term's sums relative to F^2 L^2: bound of the term's slope by h,
 * times h. */
double nb_slope_steepest(const nb_plan *plan);

/** Calculate the slopes of the pixels of one row. of: data that the path prepared; for
 * the reference, the job. out[0 ... count][pixels of the spans]: the image, photons, and
 * then each parameter's slope, photons per unit; plane p begins at out + p stride. */
typedef void nb_slope_row(const void *of, const nb_span *spans, size_t n, double *out,
                          size_t stride);

/** nb_slope_row in floats. */
typedef void nb_slope_floats(const void *of, const nb_span *spans, size_t n, float *out,
                             size_t stride);

/** Add to sums[count] the slopes of the pixels of one row, each times its dloss[]. */
typedef void nb_slope_dot(const void *of, const nb_span *spans, size_t n,
                          const double *dloss, double *sums);

/** Every sum in double, one term after the other, for any nb_slope_job. */
nb_slope_row nb_slopes_reference;

/* --- destinations of slopes. Rows are in groups (stripes), each for one thread. Sums
 * over pixels have a fixed order (pixels of a row, rows of a stripe, stripes) for any
 * number of threads --- */

enum {
    NB_PASS_STRIPES = 128,
    /* limit of the pixels of a piece, so that slopes by all parameters stay in a cache */
    NB_PASS_PIECE = 256
};

/** Slopes of a piece of one row: the pixels of spans[0 .. n-1], one after the other in
 * each of the 1 + count planes of `values`. Planes are `stride` numbers apart. */
typedef struct nb_slope_values {
    const nb_span *spans;
    size_t n;
    const double *values;
    const float *floats; /* the slopes as floats if `values` is NULL; else NULL */
    size_t stride;
    int stripe; /* number of the group of rows; one thread gives its rows in order */
} nb_slope_values;

/** Wanted planes, in memory of the caller; pixels outside the spans keep their values. */
typedef struct nb_slope_planes_out {
    nb_real_type type;
    void *planes;     /* [count][pixels of the stack]; NULL if count is 0 */
    float *image;     /* [pixels], or NULL */
    double *expected; /* the image in double, or NULL */
} nb_slope_planes_out;

/** A loss given by its slopes by the pixels: dloss[pixels of the stack] of `type`, in
 * memory of the host or of the device that renders. gradient[count] = sum of dloss dI/dp.
 * If a number of dloss is not finite, a device returns a gradient with a number that is
 * not finite. */
typedef struct nb_slope_loss {
    nb_real_type type;
    const void *dloss;
    double *gradient;
} nb_slope_loss;

/** A fit of n = count + knots numbers, and its equations: sums[1 + n + n^2] are the loss,
 * its gradient, and the lower half of the Fisher matrix. */
typedef struct nb_slope_fit_out {
    const nb_slope_fit *fit;
    double *sums;
} nb_slope_fit_out;

/** The receiver of the slopes of pixels. A device makes one of the first three results
 * itself; only planes are copied to the host. A CPU calls the functions. */
typedef struct nb_slope_sink {
    /* one of the three is set; the others are NULL */
    const nb_slope_planes_out *planes;
    const nb_slope_loss *loss;
    const nb_slope_fit_out *fit;
    void *user;
    void (*take)(void *user, const nb_slope_values *row);
    /** Forget all slopes so far, because all of them will be given again
     * (nb_slope_audit). NULL: the new slopes simply replace the old ones. */
    void (*again)(void *user);
    /** For a sink that only needs sums of slopes times dloss: fill dloss[pixels of the
     * row] and return sums[count] of the row's stripe, to which a path adds. The path may
     * then call this instead of `take`. NULL: `take` gets every row. */
    double *(*weigh)(void *user, const nb_slope_values *row, double *dloss);
    int floats;  /* the sink takes floats */
    int stripes; /* limit of stripes; 0: NB_PASS_STRIPES */
} nb_slope_sink;

/** Slopes that a request wants instead of an image: nb_request.sums. */
typedef struct nb_sums {
    const nb_slope_job *job; /* job of the rendered scene */
    const nb_slope_sink *sink;
    /* identifies the list of spans, so that a device keeps the list and its observation
     * for the next request with this number; 0: keep nothing */
    uint64_t number;
} nb_sums;

/** Functions of a path that make rows. */
typedef struct nb_slope_rows {
    const void *of;
    nb_slope_row *row; /* NULL: the sink takes the pixels without values */
    /* the same numbers as floats, if the sink takes floats; may be NULL */
    nb_slope_floats *floats;
    /* add to the sums of sink->weigh, quicker than by `row`; may be NULL */
    nb_slope_dot *dot;
    int single; /* the rows are in single precision: see nb_slope_audit */
} nb_slope_rows;

/** Give the slopes of a request's pixels to its sink.  Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_slopes_walk(const nb_request *request, const nb_slope_rows *rows,
                         int threads, const nb_hooks *hooks, nb_error *err);

/* Audit of slopes in single precision. Their errors are about 1e-7 of the largest value
 * that a term could have, not of the term's value. If an image has few samples near a
 * peak, one pixel may be brighter than all others, and a parameter's slope may nearly
 * cancel in this pixel: then the errors are large relative to the plane's largest value.
 * So the strongest pixels of such images are compared with the reference. If a difference
 * is too large, strong pixels get the reference's values. */

/** Statistics of all values: for each stripe the largest value of each plane, and the
 * pixel with the largest slopes of the crystal. */
typedef struct nb_slope_audit {
    const nb_slope_job *job;
    int stripes, planes; /* planes: 1 + count, the image first */
    /* [planes]: factor of |value| in a pixel's strength; owned, like all arrays below */
    double *weight;
    double *peak;     /* [stripes][planes]: largest |value| */
    double *values;   /* [stripes][planes]: values of the strongest pixel */
    double *strength; /* [stripes]: strength of that pixel */
    nb_span *at;      /* [stripes]: that pixel; n = 0: not found */
} nb_slope_audit;

/** True if so few samples of the image are near a peak that an audit is needed. */
int nb_slope_audit_wanted(const nb_slope_job *job);

/** Open an audit; the job must outlive it. Errors: NB_ERR_NOMEM; the audit must be closed
 * after an error, too. */
nb_status nb_slope_audit_open(const nb_slope_job *job, int stripes, nb_slope_audit *out,
                              nb_error *err);
/** Add a piece to the statistics. The pieces of a stripe must come in order. */
void nb_slope_audit_take(nb_slope_audit *audit, const nb_slope_values *piece);

/** Pixels of at least this strength must be calculated in double. INFINITY: no pixel
 * must. */
double nb_slope_audit_limit(const nb_slope_audit *audit);

/** Replace the values of the pixels of a piece that have at least this strength by values
 * of the reference. */
void nb_slope_audit_mend(const nb_slope_audit *audit, double limit,
                         const nb_slope_values *piece, double *values);

void nb_slope_audit_close(nb_slope_audit *audit); /* The audit may be all zero. */

/** Audit the pixels of spans[n] after all planes and the image are finished. *weak: 1 if
 * planes must be calculated in double. Errors: NB_ERR_NOMEM. */
nb_status nb_slope_audit_planes(const nb_slope_job *job, const nb_span *spans, size_t n,
                                const nb_slope_planes_out *out, int *weak, nb_error *err);

#endif
