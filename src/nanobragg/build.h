/* SPDX-License-Identifier: MIT */
/** The version of the library, and the optional parts of this build. */
#ifndef NANOBRAGG_BUILD_H
#define NANOBRAGG_BUILD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NB_VERSION "0.2.0"

/** One optional part of this build. */
typedef struct nb_feature {
    const char *name; /* libtiff, libpng, OpenMP, CUDA, ... */
    int present;
    const char *detail; /* version, or what is off without it */
} nb_feature;
/** Optional parts, `*count` of them; static memory. */
const nb_feature *nb_features(size_t *count);
const char *nb_version(void);

#ifdef __cplusplus
}
#endif
#endif
