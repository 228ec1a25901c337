/* SPDX-License-Identifier: MIT */
/** A backend renders a scene to a float image. The scalar backend always exists. */
#ifndef NB_RENDER_BACKEND_H
#define NB_RENDER_BACKEND_H

#include "../image/photons.h"
#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../plan/plan.h"

struct nb_backend;
struct nb_slope_job;

typedef struct nb_render_options {
    int threads;            /* 0: all threads of the machine */
    nb_isa isa;             /* AUTO: the widest instruction set of this CPU */
    nb_precision precision; /* for estimates; nb_request.precision is for a render */
    int device_index;       /* -1: any device */
    nb_hooks hooks;
    /* 1: no other code in this process uses the device, so that `close` may reset it */
    int device_alone;
    /* number of images to render, for the choice of a backend; 0 counts as 1 */
    int images;
    nb_tolerance tolerance; /* for estimates; nb_request.tolerance is for a render */
    /* Called before a backend looks for its device (up to 0.15 s), so that the caller can
     * start the device at the same time; or NULL. */
    void (*asking)(void *user, const struct nb_backend *backend);
    void *asking_user;
} nb_render_options;

/** The device that a word of -device selects. */
typedef struct nb_device {
    int index; /* -1: any */
    int all;   /* 1: every device of the host, for the frames of a series */
} nb_device;

/** n pixels of a row of a panel; at: index of the first pixel in each plane. */
typedef struct nb_span {
    int panel, fast, slow, n;
    size_t at;
} nb_span;

/** A request to render. request.h converts a region of interest, a mask or single pixels
 * to spans. */
typedef struct nb_request {
    /* in the order of the planes; NULL: the n rows of the scene's region, which has no
     * mask */
    const nb_span *spans;
    size_t n;
    /* NULL: render the image; else calculate slopes for a sink (sums.h), and leave the
     * planes unchanged */
    const struct nb_sums *sums;
    nb_precision precision; /* precision of the pixels */
    nb_tolerance tolerance; /* upper limit of the light that the backend leaves out */
} nb_request;

/** Destination of a render: arrays of `pixels` numbers, 0 outside the spans. */
typedef struct nb_planes {
    /* NULL: the image stays in the device's memory (nb_backend_device) */
    float *image;
    size_t pixels;
} nb_planes;

/** Largest light that is left out of a pixel: in photons, and as a part of the brightest
 * pixel's photons. */
typedef struct nb_lack {
    double photons, part;
} nb_lack;

/** Where the device's time went, seconds. */
typedef struct nb_device_times {
    double kernels;  /* rendering, by the device's clock */
    double effects;  /* statistics and integers, by the device's clock */
    double download; /* waiting for pixels, summed over threads */
} nb_device_times;

/** Functions of a backend that makes the image in device memory. render may then be
 * called with planes->image NULL, and leaves the image in that memory. */
typedef struct nb_backend_device {
    /** Start the device, so that the first open waits less. Allocates nothing; `open`
     * reports errors. May be called from any thread. */
    void (*warm)(int device_index);
    nb_image_device image;
    void (*times)(const nb_backend_state *state, nb_device_times *times);
    int (*count)(void); /* devices of this host */
    /** True if render makes the slopes of a job (sums.h); numbers: number of parameters
     * plus knots of a fit. Otherwise *why is the reason in a few words. NULL: the
     * backend makes no slopes. */
    int (*makes_slopes)(const struct nb_slope_job *job, int numbers, const char **why);
} nb_backend_device;

typedef struct nb_backend {
    const char *name;
    /** Words of -device that select the backend, with N for a number, and NULL at the
     * end. NULL without words. */
    const char *const *words;
    /** Returns 1 and fills *device if `word` is one of the words. NULL without words. */
    int (*parse)(const char *word, nb_device *device);
    /* the backend's entry in the list of nb_feature_at, or NULL */
    const nb_feature *feature;
    /** Estimated seconds for options->images images, including the start of a device. < 0
     * if the backend cannot render the scene; `why` then has the reason in one line. */
    double (*estimate)(const nb_scene *scene, const nb_render_options *options, char *why,
                       size_t why_size);
    nb_status (*open)(const nb_render_options *options, nb_backend_state **state,
                      nb_error *err);
    /** Fill the planes completely. Refuses the same requests as nb_request_check. */
    nb_status (*render)(nb_backend_state *state, const nb_scene *scene,
                        const nb_request *request, const nb_planes *planes, nb_error *err);
    /** Light left out of pixels of the last image; NULL if the backend leaves out none. */
    nb_lack (*lack)(const nb_backend_state *state);
    /** One line for the user: instruction set or device, threads, precision. */
    void (*describe)(const nb_backend_state *state, char *line, size_t size);
    void (*close)(nb_backend_state *state); /* NULL is allowed */
    const nb_backend_device *device; /* NULL: images are in the caller's memory only */
    /** Returns 0 if the device is certainly not in this machine; takes microseconds.
     * NULL: the backend needs no device. */
    int (*present)(void);
} nb_backend;

extern const nb_backend nb_backend_scalar; /* the reference: double precision, readable */

/** All backends, NULL-terminated. */
extern const nb_backend *const nb_backends[];

#endif
