/* SPDX-License-Identifier: MIT */
/** A backend turns a scene into a float image.  About six functions each; scalar always exists. */
#ifndef NB_RENDER_BACKEND_H
#define NB_RENDER_BACKEND_H

#include "../nanobragg.h"
#include "../physics/scene.h"

typedef struct nb_render_options {
    int threads; /* 0: all that the machine offers */
    nb_isa isa;  /* AUTO: the widest that this CPU runs */
    nb_precision precision;
    int device_index; /* -1: any */
    nb_hooks hooks;
} nb_render_options;

/** What a backend may take along; opaque to others. */
typedef struct nb_backend_state nb_backend_state;

typedef struct nb_backend {
    const char *name;
    /** Estimated seconds for this scene, or < 0 with the reason why it cannot (why: one line). */
    double (*estimate)(const nb_scene *scene, const nb_render_options *options, char *why,
                       size_t why_size);
    nb_status (*open)(const nb_render_options *options, nb_backend_state **state,
                      nb_error *err);
    /** Fill image[spixels][fpixels] whole (0 where not rendered). */
    nb_status (*render)(nb_backend_state *state, const nb_scene *scene, float *image,
                        nb_error *err);
    /** One line for the user: instruction set or device, threads, precision. */
    void (*describe)(const nb_backend_state *state, char *line, size_t size);
    void (*close)(nb_backend_state *state); /* NULL is fine */
} nb_backend;

extern const nb_backend nb_backend_scalar; /* double precision, the readable truth */
extern const nb_backend nb_backend_cuda; /* cuda/, or a stub that says why it is not there */

#endif
