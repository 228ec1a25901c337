/* SPDX-License-Identifier: MIT */
/** The version of the library, and the optional parts of this build. */
#ifndef NANOBRAGG_BUILD_H
#define NANOBRAGG_BUILD_H

#ifdef __cplusplus
extern "C" {
#endif

#define NB_VERSION "0.5.0-dev"

/** One optional part of this build. */
typedef struct nb_feature {
    const char *name; /* libtiff, libpng, OpenMP, ... */
    int present;
    const char *detail; /* version, or the features that are missing without it */
} nb_feature;
/** Optional part i, NULL after the last; static memory. */
const nb_feature *nb_feature_at(int i);
const char *nb_version(void);

#ifdef __cplusplus
}
#endif
#endif
