/* SPDX-License-Identifier: MIT */
/** Paths: the methods by which a renderer can render a scene. Each renderer has a list of paths,
 * and chooses the quickest that applies. A path is one file with one object, and one line of a
 * list. */
#ifndef NB_PLAN_PATH_H
#define NB_PLAN_PATH_H

#include "../base/error.h"
#include "spots.h"

/** Data of a render. Each renderer defines this struct. */
typedef struct nb_render nb_render;

/** Facts about an image, for the report. */
typedef struct nb_path_notes {
    const char *why; /* set by nb_path_choose */
    /* light that was left out, or the reason why no light was left out */
    nb_spots_result left;
} nb_path_notes;

typedef struct nb_path {
    const char *name; /* one word */
    /* a few words for the report, or NULL if the report does not name the path */
    const char *how;
    /** True if the path can render the scene within the errors of the precision. Else
     * *why is the reason in a few words. */
    int (*applies)(const nb_plan *plan, const char **why);
    /** Estimated seconds of one image, also if the path does not apply. */
    double (*seconds)(const nb_plan *plan);
    /** True if the path leaves out steps of such a scene, within the tolerance. NULL for
     * a path that takes every step. */
    int (*skips)(const nb_scene *scene);
    /** Make the tables for run; or NULL. Not called for an image without pixels. */
    nb_status (*prepare)(nb_render *render, nb_error *err);
    /** Fill all pixels of the planes. */
    nb_status (*run)(nb_render *render, nb_error *err);
    /** Write a part of a line about the image for the user; or NULL. */
    void (*describe)(const nb_path_notes *notes, char *line, size_t size);
    int sums; /* 1: the path also makes slopes (nb_plan.sums); 0: only images */
    const struct nb_path_kernel *kernel; /* data of a renderer for run, or NULL */
} nb_path;

/** True if the user asked for the path of this name. */
int nb_path_is_forced(const nb_plan *plan, const char *name);

/** Set *why and return 0, for `applies`. */
static inline int nb_path_refuse(const char **why, const char *reason)
{
    *why = reason;
    return 0;
}

/** Quickest path of plan->paths that applies, the first in the list if several are
 * equally quick. *why is the reason against the first path of the list, or "" if that
 * path applies. */
const nb_path *nb_path_choose(const nb_plan *plan, const char **why);

/** Seconds of the quickest path of plan->paths that takes every step and applies. */
double nb_path_every_step(const nb_plan *plan);

/** Reason, in a few words, why no steps are left out although the tolerance allows it.
 * NULL if a path of plan->paths leaves steps out, or gives the reason when it renders. */
const char *nb_path_refuses_tolerance(const nb_plan *plan);

#endif
