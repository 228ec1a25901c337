/* SPDX-License-Identifier: MIT */
/* The version and the optional parts of this build. */
#include "../nanobragg.h"
#include "../render/backend.h"

#ifdef NB_HAVE_OPENMP
#define OPENMP_STATE 1, "threads"
#else
#define OPENMP_STATE 0, "one thread only: build with a compiler that has OpenMP"
#endif
#ifdef NB_HAVE_TIFF
#define TIFF_STATE 1, NB_TIFF_VERSION
#else
#define TIFF_STATE 0, "-tifffile is off: install libtiff-dev and rebuild"
#endif
#ifdef NB_HAVE_HDF5
#define HDF5_STATE 1, NB_HDF5_VERSION
#else
#define HDF5_STATE 0, "-hdf5 is off: install libhdf5-dev and rebuild"
#endif
#ifdef NB_HAVE_GEMMI
#define GEMMI_STATE 1, NB_GEMMI_VERSION
#else
#define GEMMI_STATE                                                                      \
    0, "models and reflection files are off: install gemmi-dev or libgemmi-dev and "     \
       "rebuild"
#endif
#ifdef NB_HAVE_FFTW
#define FFTW_STATE 1, NB_FFTW_VERSION
#else
#define FFTW_STATE 0, "-sf_method fft is off: install libfftw3-dev and rebuild"
#endif
#ifdef NB_HAVE_XRAYLIB
#define XRAYLIB_STATE 1, NB_XRAYLIB_VERSION
#else
#define XRAYLIB_STATE 0, "-sensor is off: install libxrl-dev and rebuild"
#endif
#ifdef NB_HAVE_LIBDEFLATE
#define LIBDEFLATE_STATE 1, NB_LIBDEFLATE_VERSION
#else
#define LIBDEFLATE_STATE                                                                 \
    0, "-compress gzip uses zlib, which is slower: install libdeflate-dev and rebuild"
#endif
#ifdef NB_HAVE_BZIP2
#define BZIP2_STATE 1, NB_BZIP2_VERSION
#else
#define BZIP2_STATE 0, ".bz2 files cannot be read: install libbz2-dev and rebuild"
#endif
#ifdef NB_HAVE_LZ4
#define LZ4_STATE 1, NB_LZ4_VERSION
#else
#define LZ4_STATE 0, "-compress bslz4 is off: install liblz4-dev and rebuild"
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
    {"libtiff", TIFF_STATE},
    {"libpng", 1, NB_PNG_VERSION},
    {"cJSON", 1, NB_CJSON_VERSION},
    {"HDF5", HDF5_STATE},
    {"gemmi", GEMMI_STATE},
    {"FFTW", FFTW_STATE},
    {"xraylib", XRAYLIB_STATE},
    {"libdeflate", LIBDEFLATE_STATE},
    {"zlib", 1, NB_ZLIB_VERSION},
    {"bzip2", BZIP2_STATE},
    {"LZ4", LZ4_STATE},
    {"MPI", MPI_STATE},
};
/* clang-format on */

/** Features in the order OpenMP, parts of the backends, libraries. */
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
