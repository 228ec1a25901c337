/* SPDX-License-Identifier: MIT */
/** Paths: the methods by which a renderer can render a scene. Each renderer has a list of paths,
 * and chooses the quickest that applies. A path is one file with one object, and one line of a
 * list. */
#ifndef NB_PLAN_PATH_H
#define NB_PLAN_PATH_H

#include "../base/error.h"
#include "spots.h"

/** The data of a render; each renderer has its own struct. */
typedef struct nb_render nb_render;

/** Facts about an image, for the report. */
typedef struct nb_path_notes {
    const char *why;      /* set by nb_path_choose */
    nb_spots_result left; /* what was left out, or the reason why nothing was */
} nb_path_notes;

typedef struct nb_path {
    const char *name; /* a word */
    const char *how;  /* for the user, in a few words; NULL: not reported */
    /** Can it render this scene within the errors of its precision? If not, *why is the reason in
     * a few words. */
    int (*applies)(const nb_plan *plan, const char **why);
    /** Estimated seconds of one image, also if the path does not apply. */
    double (*seconds)(const nb_plan *plan);
    /** Does it leave out steps of such a scene, as far as the tolerance allows? NULL: it never
     * does. */
    int (*skips)(const nb_scene *scene);
    /** Make the tables that run needs; NULL: it needs none.  Not called for an image without pixels. */
    nb_status (*prepare)(nb_render *render, nb_error *err);
    /** Fill all pixels of the planes. */
    nb_status (*run)(nb_render *render, nb_error *err);
    /** Text about the image for the user, a part of a line; NULL: none. */
    void (*describe)(const nb_path_notes *notes, char *line, size_t size);
    int sums; /* it makes the slopes of a plan with sums; 0: images alone */
    const struct nb_path_kernel *kernel; /* data for run, of each renderer; NULL: none */
} nb_path;

/** Did the user ask for the path of this name? */
int nb_path_is_forced(const nb_plan *plan, const char *name);

/** For `applies`. */
static inline int nb_path_refuse(const char **why, const char *reason)
{
    *why = reason;
    return 0;
}

/** The quickest path of plan->paths that applies, the first of equals. *why: the reason against
 * the first of the list, "" if it applies. */
const nb_path *nb_path_choose(const nb_plan *plan, const char **why);

/** Seconds of the quickest path of plan->paths that takes every step and applies. */
double nb_path_every_step(const nb_plan *plan);

/** The reason why no steps are left out although the tolerance allows it, in a few words. NULL: a
 * path of plan->paths leaves them out, or gives the reason when it renders. */
const char *nb_path_refuses_tolerance(const nb_plan *plan);

#endif
