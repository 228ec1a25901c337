/* SPDX-License-Identifier: MIT */
/** A render on the CPU that watches its own progress, and hands the image over to a device which is quicker.
 *
 * Nothing is timed beforehand: the first rows that are rendered say how long the rest takes, and count where no
 * device is asked.  The calling thread asks, the others go on with rows. */
#ifndef NB_RENDER_HAND_OVER_H
#define NB_RENDER_HAND_OVER_H

#include "choose.h"

typedef struct nb_hand_over {
    const nb_scene *scene;            /* what is rendered */
    const nb_render_options *options; /* as for nb_backend_choose */
    /* nb_backend_quicker, or what stands in for it; NULL: the former */
    const nb_backend *(*ask)(const nb_scene *scene, const nb_render_options *options,
                             double left, double now);
    nb_hooks caller;       /* whom progress is passed to */
    double time, fraction; /* of the last look at the progress, s */
    int looks;             /* one after the other that saw much left */
    int asked;             /* once is enough */
    const nb_backend *to;  /* the device that is quicker; NULL: none so far */
} nb_hand_over;

/** Get ready for a render of this scene; what was asked before stays known. */
void nb_hand_over_begin(nb_hand_over *h, const nb_scene *scene,
                        const nb_render_options *options);

/** Hooks for the CPU's backend: they stop the render with NB_ERR_CANCELLED and h->to set when a device should
 * begin anew.  h must outlive the backend's state. */
nb_hooks nb_hand_over_hooks(nb_hand_over *h);

#endif
