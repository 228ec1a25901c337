/* SPDX-License-Identifier: MIT */
/** Derivatives by a backend that renders on a device (nb_backend_device.slopes).  What a pass makes of the
 * slopes is made there, too: planes are fetched only where planes are wanted. */
#ifndef NB_DERIVE_SLOPE_DEVICE_H
#define NB_DERIVE_SLOPE_DEVICE_H

#include "fit_pixel.h"
#include "slope_job.h"

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
    const nb_fit *fit;
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
