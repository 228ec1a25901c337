/* SPDX-License-Identifier: MIT */
/** Paths: the ways in which a renderer can render a scene.  Each renderer lists its own, and a choice
 * is a walk along the list.  A path is a file with its object, and a line in a list. */
#ifndef NB_PLAN_PATH_H
#define NB_PLAN_PATH_H

#include "../base/error.h"
#include "spots.h"

/** What a render works with: of each renderer. */
typedef struct nb_render nb_render;

/** What there is to say of an image. */
typedef struct nb_path_notes {
    const char *why;      /* nb_path_choose's */
    nb_spots_result left; /* what was left out, or why nothing was */
} nb_path_notes;

typedef struct nb_path {
    const char *name; /* a word */
    const char *how; /* for the user, in a few words; NULL: its renderer does not say it */
    /** Whether it renders this scene within the errors of its precision.  If not, *why says so in a
     * few words. */
    int (*applies)(const nb_plan *plan, const char **why);
    /** Seconds of one image, about; also where it does not apply. */
    double (*seconds)(const nb_plan *plan);
    /** Does it leave out steps of such a scene, as far as the tolerance allows?  NULL: it takes every
     * step. */
    int (*skips)(const nb_scene *scene);
    /** Make the tables that run needs; NULL: it needs none.  Not called for an image without pixels. */
    nb_status (*prepare)(nb_render *render, nb_error *err);
    /** Fill the planes whole. */
    nb_status (*run)(nb_render *render, nb_error *err);
    /** What the user is told of the image, a part of a line; NULL: nothing. */
    void (*describe)(const nb_path_notes *notes, char *line, size_t size);
    const struct nb_path_kernel *kernel; /* what run starts, of each renderer; NULL: run knows */
} nb_path;

/** Is the path of this name asked for? */
int nb_path_is_forced(const nb_plan *plan, const char *name);

/** For `applies`. */
static inline int nb_path_refuse(const char **why, const char *reason)
{
    *why = reason;
    return 0;
}

/** The quickest path of plan->paths that applies, the first of equals.  *why: what speaks against the first
 * of the list, "" if it applies. */
const nb_path *nb_path_choose(const nb_plan *plan, const char **why);

/** Seconds of the quickest path of plan->paths that takes every step and applies. */
double nb_path_every_step(const nb_plan *plan);

/** Why the steps that the tolerance allows are not left out, in a few words; NULL: a path of plan->paths
 * leaves them out, or says why not when it renders. */
const char *nb_path_refuses_tolerance(const nb_plan *plan);

#endif
