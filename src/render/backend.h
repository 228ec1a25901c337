/* SPDX-License-Identifier: MIT */
/** A backend turns a scene into a float image.  About six functions each; scalar always exists. */
#ifndef NB_RENDER_BACKEND_H
#define NB_RENDER_BACKEND_H

#include "../image/photons.h"
#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../plan/plan.h"

struct nb_backend;
struct nb_slope_job;

typedef struct nb_render_options {
    int threads;            /* 0: all that the machine offers */
    nb_isa isa;             /* AUTO: the widest that this CPU runs */
    nb_precision precision; /* for estimates; a request has its own */
    int device_index;       /* -1: any */
    nb_hooks hooks;
    int device_alone; /* nobody else in this process uses the device: close shuts it down */
    int images;       /* how many will be rendered, for the choice of a backend; 0: one */
    nb_tolerance tolerance; /* for estimates; a request has its own */
    /* Called before a device is asked, which may take 0.15 s, so that it is started meanwhile; may be NULL. */
    void (*asking)(void *user, const struct nb_backend *backend);
    void *asking_user;
} nb_render_options;

/** What a word of -device asks of its backend. */
typedef struct nb_device {
    int index; /* -1: any */
    int all;   /* every device of the host, for the frames of a series */
} nb_device;

/** n pixels of a row of a panel, and where the first of them goes in each plane. */
typedef struct nb_span {
    int panel, fast, slow, n;
    size_t at;
} nb_span;

/** What to render.  The region of interest, the mask and single pixels are all spans: request.h makes
 * them. */
typedef struct nb_request {
    const nb_span *spans; /* each behind the one before it in the planes; NULL: the n rows of the
                             scene's region, which has no mask */
    size_t n;
    const struct nb_sums *
        sums; /* sums.h: slopes of the pixels go to its sink, and nothing to the planes; NULL: the image */
    nb_precision precision; /* of the pixels */
    nb_tolerance tolerance; /* what may be left out; a backend may leave out less */
} nb_request;

/** What is rendered: arrays of `pixels` numbers, 0 outside the spans. */
typedef struct nb_planes {
    float *image; /* NULL: stays where the device has it, see nb_backend_device */
    size_t pixels;
} nb_planes;

/** Photons that a pixel may lack, and that as a part of the brightest pixel. */
typedef struct nb_lack {
    double photons, part;
} nb_lack;

/** Where the device's time went, seconds. */
typedef struct nb_device_times {
    double kernels;  /* rendering, by the device's clock */
    double effects;  /* statistics and integers, by the device's clock */
    double download; /* waiting for pixels, summed over threads */
} nb_device_times;

/** What a backend adds whose image is made in memory of its own: render may then be called with
 * planes->image NULL, and leaves the image there. */
typedef struct nb_backend_device {
    /** Start the device, so that the first open waits less; nothing is kept and an error is left
     * for open to report.  From any thread. */
    void (*warm)(int device_index);
    nb_image_device image;
    void (*times)(const nb_backend_state *state, nb_device_times *times);
    int (*count)(void); /* devices of this host */
    /** Does render make the slopes of a job (sums.h), whose sums over pixels are of so many numbers (parameters and
     * knots)?  If not, *why says so in a few words.  NULL: of none. */
    int (*makes_slopes)(const struct nb_slope_job *job, int numbers, const char **why);
} nb_backend_device;

typedef struct nb_backend {
    const char *name;
    /** Words of -device that ask for it, N for a number, NULL-terminated; NULL: none does. */
    const char *const *words;
    /** 1 if word is one of them; *device is filled then.  NULL without words. */
    int (*parse)(const char *word, nb_device *device);
    const nb_feature *feature; /* its line of nb_feature_at, or NULL */
    /** Estimated seconds for options->images of this scene, start-up included, or < 0 with the reason
     * why it cannot (why: one line). */
    double (*estimate)(const nb_scene *scene, const nb_render_options *options, char *why,
                       size_t why_size);
    nb_status (*open)(const nb_render_options *options, nb_backend_state **state,
                      nb_error *err);
    /** Fill the planes whole.  Refuses what nb_request_check does. */
    nb_status (*render)(nb_backend_state *state, const nb_scene *scene,
                        const nb_request *request, const nb_planes *planes, nb_error *err);
    /** What the last image may lack; NULL: nothing. */
    nb_lack (*lack)(const nb_backend_state *state);
    /** One line for the user: instruction set or device, threads, precision. */
    void (*describe)(const nb_backend_state *state, char *line, size_t size);
    void (*close)(nb_backend_state *state); /* NULL is fine */
    const nb_backend_device *device; /* NULL: images are in the caller's memory only */
    /** Whether its device may be in this machine, within microseconds; 0: surely not.  NULL: needs
     * none. */
    int (*present)(void);
} nb_backend;

extern const nb_backend nb_backend_scalar; /* double precision, the readable truth */

/** All backends, NULL-terminated: the one list of them. */
extern const nb_backend *const nb_backends[];

#endif
