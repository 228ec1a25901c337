/* SPDX-License-Identifier: MIT */
/** What a request may ask for beside the image: for each parameter the slope of every pixel.
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
    NB_SLOPE_POLAR = 256, /* by the Kahn factor, where each term has its own polarization */
    NB_SLOPE_BEAM = 512 /* two: by turns of the sources' directions; no device makes them */
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
    double beam[2];        /* multiply nb_slope_job.beam */
    double crystal, image; /* relative change of the crystal's photons, of all photons */
    double background;     /* of scene.background, electrons^2 */
    double polarization;   /* Kahn's K */
    double default_F;      /* electrons */
    int entry;             /* of nb_slope_job.entries, changed by an electron; -1: none */
    nb_panel_slope *panels; /* [n_panels], owned by the job; NULL: the detector stays */
    nb_vec3 footprint[2]; /* a, b of nb_footprint, m: of what spreads the light of pixels; no renderer's */
} nb_tangent;

typedef struct nb_slope_job {
    const nb_scene *scene;
    int count;
    nb_tangent *tangents; /* [count] */
    unsigned sums;        /* bits of nb_slope_sum: those that a tangent contracts */
    nb_vec3 spindle;
    nb_vec3 *turns; /* [n_orientations], for MOSAIC: axis and rate, per rad of spread */
    double *spectrum; /* [n_sources], for WAVE: dlambda/lambda per unit of tangent.spectrum */
    nb_vec3 *beam[2]; /* [n_sources] each, for BEAM: how a source's direction moves, per rad of the width along the horizontal and the
                         vertical; NULL: it stays */
    int64_t *entries; /* [n_entries]: places in a table of F; -1: beyond the box */
    int n_entries;
} nb_slope_job;

/** Why no kernel in single precision makes the sums of a job, in a few words; NULL: one may. */
const char *nb_slopes_need_double(const nb_plan *plan, const nb_slope_job *job);

/** The largest of a term's sums other than F^2 L^2: a slope by h, times h. */
double nb_slope_steepest(const nb_plan *plan);

/** Slopes of the pixels of one row.  of: what the path prepared; the reference takes the job itself.  out[0 ... count][pixels
 * of the spans]: the image, photons, and then each parameter's slope, photons per unit; plane p begins at out + p stride. */
typedef void nb_slope_row(const void *of, const nb_span *spans, size_t n, double *out,
                          size_t stride);

/** The same in floats. */
typedef void nb_slope_floats(const void *of, const nb_span *spans, size_t n, float *out,
                             size_t stride);

/** Add to sums[count] the slopes of the pixels of one row, each times its dloss[]. */
typedef void nb_slope_dot(const void *of, const nb_span *spans, size_t n,
                          const double *dloss, double *sums);

/** Every sum in double, one term after the other: of any nb_slope_job. */
nb_slope_row nb_slopes_reference;

/* --- where sums go: rows are shared out over threads, and sums over pixels have a fixed order (pixels of a row, rows of a
 * stripe, stripes), whatever the threads --- */

enum {
    NB_PASS_STRIPES = 128,
    NB_PASS_PIECE = 256 /* pixels that are taken at once, at most: the slopes of all
                           parameters stay in a cache */
};

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

/** Planes that are wanted, the caller's; pixels outside the spans are left alone. */
typedef struct nb_slope_planes_out {
    nb_real_type type;
    void *planes;     /* [count][pixels of the stack]; NULL if count is 0 */
    float *image;     /* [pixels], or NULL */
    double *expected; /* the same in double, or NULL */
} nb_slope_planes_out;

/** A loss by its slopes, dloss[pixels of the stack] of `type`, in memory of the host or of the device that renders:
 * gradient[count] = sum of dloss dI/dp.  If a number of dloss is not finite, a device makes one of the gradient not finite. */
typedef struct nb_slope_loss {
    nb_real_type type;
    const void *dloss;
    double *gradient;
} nb_slope_loss;

/** A fit of n = count + knots numbers, and its equations: sums[1 + n + n^2], the loss, its gradient, the
 * lower half of the Fisher matrix. */
typedef struct nb_slope_fit_out {
    const nb_slope_fit *fit;
    double *sums;
} nb_slope_fit_out;

/** Who takes the slopes of pixels.  A device makes one of the first three itself, and fetches planes only where planes are
 * wanted; a CPU calls the functions. */
typedef struct nb_slope_sink {
    const nb_slope_planes_out *planes; /* one of these three; the others NULL */
    const nb_slope_loss *loss;
    const nb_slope_fit_out *fit;
    void *user;
    void (*take)(void *user, const nb_slope_values *row);
    /** Forget all that was taken: it comes again (audit.h).  NULL: what comes replaces it. */
    void (*again)(void *user);
    /** Of a sink that only adds slopes times a loss by the pixels: fill dloss[pixels of the row] and give the
     * sums [count] that the stripe adds to.  A path may then leave out the rows.  NULL: every row is taken. */
    double *(*weigh)(void *user, const nb_slope_values *row, double *dloss);
    int floats;  /* it takes floats */
    int stripes; /* most of them; 0: NB_PASS_STRIPES */
} nb_slope_sink;

/** What a request asks for instead of an image: nb_request.sums. */
typedef struct nb_sums {
    const nb_slope_job *job; /* of the scene that is rendered */
    const nb_slope_sink *sink;
    uint64_t number; /* of the list of spans: a device keeps it and its observation; 0: it does not */
} nb_sums;

/** How a path makes rows. */
typedef struct nb_slope_rows {
    const void *of;
    nb_slope_row *row;       /* NULL: the sink takes pixels without values */
    nb_slope_floats *floats; /* the same numbers, if the sink takes floats; NULL */
    nb_slope_dot *dot; /* the sums of a sink that weighs, quicker than its rows; NULL */
    int single;        /* in single precision: audit.h */
} nb_slope_rows;

/** Give the slopes of a request's pixels to its sink.  Errors: NB_ERR_NOMEM, NB_ERR_CANCELLED. */
nb_status nb_slopes_walk(const nb_request *request, const nb_slope_rows *rows,
                         int threads, const nb_hooks *hooks, nb_error *err);

/* Are slopes in single precision good enough?  Their errors are parts of 1e-7 of the largest value that a term could have, not of its value.
 * Where a picture has few samples near a reflection's peak, one pixel may outshine all others, and a parameter's slope
 * may nearly cancel there: then the errors are large for the plane's largest value.  So pictures of few peaks are
 * compared with the reference in their strongest pixels; where the difference is too large, strong pixels take the
 * reference's values. */

/** What is known of the values of a pass: for each of its stripes the largest of each plane, and the pixel where the
 * crystal's slopes are strongest. */
typedef struct nb_slope_audit {
    const nb_slope_job *job;
    int stripes, planes; /* planes: 1 + count, the image first */
    double *weight; /* [planes]: of |value| in a pixel's strength; owned, with all that follows */
    double *most;     /* [stripes][planes]: of |value| */
    double *values;   /* [stripes][planes]: of the strongest pixel */
    double *strength; /* [stripes]: of that pixel */
    nb_span *at;      /* [stripes]: that pixel; n = 0: none */
} nb_slope_audit;

/** Are few of the picture's samples near a peak? */
int nb_slope_audit_wanted(const nb_slope_job *job);

/** The job must outlive it.  Errors: NB_ERR_NOMEM.  Free it after an error, too. */
nb_status nb_slope_audit_open(const nb_slope_job *job, int stripes, nb_slope_audit *out,
                              nb_error *err);
/** Pieces of one stripe come in order. */
void nb_slope_audit_take(nb_slope_audit *audit, const nb_slope_values *piece);

/** The strength from which on pixels must be calculated in double; INFINITY: none. */
double nb_slope_audit_limit(const nb_slope_audit *audit);

/** Put the reference's values to all pixels of a piece that are so strong. */
void nb_slope_audit_mend(const nb_slope_audit *audit, double limit,
                         const nb_slope_values *piece, double *values);

void nb_slope_audit_close(nb_slope_audit *audit); /* zeroed is fine */

/** Planes with their image that are there, of spans[n].  *weak: they must be calculated in double.  Errors: NB_ERR_NOMEM. */
nb_status nb_slope_audit_planes(const nb_slope_job *job, const nb_span *spans, size_t n,
                                const nb_slope_planes_out *out, int *weak, nb_error *err);

#endif
