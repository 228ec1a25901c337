/* SPDX-License-Identifier: MIT */
/** Paths: the ways in which a renderer can render a scene.  Each renderer lists its own, and a choice
 * is a walk along the list. */
#ifndef NB_PLAN_PATH_H
#define NB_PLAN_PATH_H

#include "plan.h"

typedef struct nb_path {
    const char *name;
    /** Whether it renders this scene within the errors of its precision.  If not, *why says so in a
     * few words. */
    int (*applies)(const nb_plan *plan, const char **why);
    /** Seconds of one image, about; also where it does not apply. */
    double (*seconds)(const nb_plan *plan);
} nb_path;

/** For `applies`. */
static inline int nb_path_refuse(const char **why, const char *reason)
{
    *why = reason;
    return 0;
}

/** Index of the quickest path that applies, the first of equals; -1: none.  *why: what speaks against
 * the first of the list, "" if it applies. */
int nb_path_choose(const nb_path *paths, int n, const nb_plan *plan, const char **why);

#endif
