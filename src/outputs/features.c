/* SPDX-License-Identifier: MIT */
/* The version and the optional parts of this build. */
#include "../nanobragg.h"
#include "../render/backend.h"

#ifdef NB_HAVE_OPENMP
#define OPENMP_STATE 1, "threads"
#else
#define OPENMP_STATE 0, "one thread only: build with a compiler that has OpenMP"
#endif
#ifdef NB_HAVE_GEMMI
#define GEMMI_STATE 1, NB_GEMMI_VERSION
#else
#define GEMMI_STATE                                                                      \
    0, "models and reflection files are off: install gemmi-dev or libgemmi-dev and "     \
       "rebuild"
#endif
#ifdef NB_HAVE_XRAYLIB
#define XRAYLIB_STATE 1, NB_XRAYLIB_VERSION
#else
#define XRAYLIB_STATE 0, "-sensor is off: install libxrl-dev and rebuild"
#endif
#ifdef NB_HAVE_MPI
#define MPI_STATE 1, NB_MPI_VERSION
#else
#define MPI_STATE 0, "a series under mpirun is off: install libmpich-dev and rebuild"
#endif

const char *nb_version(void)
{
    return NB_VERSION;
}

/* clang-format off */
static const nb_feature features[] = {
    {"OpenMP", OPENMP_STATE},
    {"Random123", 1, NB_RANDOM123_VERSION},
    {"libtiff", 1, NB_TIFF_VERSION},
    {"libpng", 1, NB_PNG_VERSION},
    {"cJSON", 1, NB_CJSON_VERSION},
    {"HDF5", 1, NB_HDF5_VERSION},
    {"gemmi", GEMMI_STATE},
    {"FFTW", 1, NB_FFTW_VERSION},
    {"xraylib", XRAYLIB_STATE},
    {"libdeflate", 1, NB_LIBDEFLATE_VERSION},
    {"zlib", 1, NB_ZLIB_VERSION},
    {"bzip2", 1, NB_BZIP2_VERSION},
    {"LZ4", 1, NB_LZ4_VERSION},
    {"MPI", MPI_STATE},
};
/* clang-format on */

/** Features in this order: OpenMP, parts of the backends, libraries. */
const nb_feature *nb_feature_at(int i)
{
    const int count = sizeof features / sizeof *features;
    if (i <= 0)
        return i ? NULL : features;
    for (const nb_backend *const *b = nb_backends; *b; b++)
        if ((*b)->feature && --i == 0)
            return (*b)->feature;
    return i < count ? &features[i] : NULL;
}
