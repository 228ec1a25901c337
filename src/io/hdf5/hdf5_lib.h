/* SPDX-License-Identifier: MIT */
/** HDF5, loaded at the first use. A direct link would load some thirty libraries at every
 * start of the program, which would take three times as long. Include this file instead
 * of <hdf5.h>; H5(Dread) is the function H5Dread. */
#ifndef NB_IO_HDF5_LIB_H
#define NB_IO_HDF5_LIB_H

#include "../../base/late_library.h"
#include "hdf5_read.h"

#include <hdf5.h>

/* Every function and type that nanobragg uses. */
/* clang-format off */
#define NB_HDF5_FUNCTIONS(X) \
    X(H5Aclose) X(H5Acreate_by_name) X(H5Aopen_by_name) X(H5Aread) X(H5Awrite) \
    X(H5Dclose) X(H5Dcreate2) X(H5Dget_space) X(H5Dset_extent) X(H5Dopen2) X(H5Dread) X(H5Dread_chunk) \
    X(H5Dwrite) X(H5Dwrite_chunk) X(H5Eget_auto2) X(H5Eset_auto2) X(H5Fclose) \
    X(H5Fcreate) X(H5Fflush) X(H5Fopen) X(H5Gclose) X(H5Gcreate2) X(H5Lcreate_external) \
    X(H5Pclose) X(H5Pcreate) X(H5Pset_chunk) X(H5Pset_deflate) X(H5Pset_fill_time) \
    X(H5Pset_fill_value) X(H5Pset_filter) X(H5Pset_obj_track_times) X(H5Pset_shuffle) \
    X(H5Pset_virtual) X(H5Sclose) X(H5Screate) X(H5Screate_simple) \
    X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_ndims) \
    X(H5Sget_simple_extent_npoints) X(H5Sselect_all) X(H5Sselect_hyperslab) X(H5Tclose) \
    X(H5Tcopy) X(H5Tcreate) X(H5Tinsert) X(H5Tset_cset) X(H5Tset_size) \
    X(H5Zfilter_avail) X(H5Zregister) X(H5Zunregister) X(H5Dget_type) X(H5Lexists) \
    X(H5Lget_val) X(H5Lunpack_elink_val) X(H5Tget_class) X(H5open) \
    X(H5allocate_memory) X(H5free_memory) X(H5check_version) \
    X(H5garbage_collect) X(H5Ewalk2) X(H5Aget_space) X(H5Aget_type) \
    X(H5Dget_create_plist) X(H5Dget_storage_size) \
    X(H5Fget_name) X(H5Pget_chunk) \
    X(H5Pget_external_count) X(H5Pget_filter2) X(H5Pget_layout) \
    X(H5Pget_nfilters) X(H5Pget_virtual_count) X(H5Pget_virtual_dsetname) \
    X(H5Pget_virtual_filename) X(H5Pget_virtual_vspace) \
    X(H5Tequal) X(H5Tget_cset) X(H5Tget_size) X(H5Tget_sign) \
    X(H5Tis_variable_str) X(H5Gget_info) X(H5Gopen2) X(H5Lget_name_by_idx) \
    X(H5Dget_chunk_storage_size) X(H5Sget_select_npoints) X(H5Ocopy)
#define NB_HDF5_VARIABLES(X) \
    X(H5E_IO_g) X(H5E_RESOURCE_g) X(H5P_CLS_DATASET_CREATE_ID_g) X(H5T_C_S1_g) \
    X(H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_FLOAT_g) X(H5T_NATIVE_INT16_g) X(H5T_NATIVE_INT32_g) \
    X(H5T_NATIVE_INT64_g) X(H5T_NATIVE_UINT16_g) X(H5T_NATIVE_UINT32_g) \
    X(H5T_NATIVE_UINT64_g)
/* clang-format on */

#define NB_HDF5_NAMES(X) NB_HDF5_FUNCTIONS(X) NB_HDF5_VARIABLES(X)
NB_LATE_LIBRARY_DECLARE(hdf5, NB_HDF5_NAMES)

#define H5(name) (nb_hdf5()->H5##name##_)
/* Names in macros of <hdf5.h>. */
#define H5check_version (nb_hdf5()->H5check_version_)
#define H5open (nb_hdf5()->H5open_)
#define H5E_IO_g (*nb_hdf5()->H5E_IO_g_)
#define H5E_RESOURCE_g (*nb_hdf5()->H5E_RESOURCE_g_)
#define H5P_CLS_DATASET_CREATE_ID_g (*nb_hdf5()->H5P_CLS_DATASET_CREATE_ID_g_)
#define H5T_C_S1_g (*nb_hdf5()->H5T_C_S1_g_)
#define H5T_NATIVE_DOUBLE_g (*nb_hdf5()->H5T_NATIVE_DOUBLE_g_)
#define H5T_NATIVE_FLOAT_g (*nb_hdf5()->H5T_NATIVE_FLOAT_g_)
#define H5T_NATIVE_INT16_g (*nb_hdf5()->H5T_NATIVE_INT16_g_)
#define H5T_NATIVE_INT32_g (*nb_hdf5()->H5T_NATIVE_INT32_g_)
#define H5T_NATIVE_INT64_g (*nb_hdf5()->H5T_NATIVE_INT64_g_)
#define H5T_NATIVE_UINT16_g (*nb_hdf5()->H5T_NATIVE_UINT16_g_)
#define H5T_NATIVE_UINT32_g (*nb_hdf5()->H5T_NATIVE_UINT32_g_)
#define H5T_NATIVE_UINT64_g (*nb_hdf5()->H5T_NATIVE_UINT64_g_)

/* --- use of the library: one thread at a time, without messages of the library --- */

/** State of the library's error printing before nb_h5_begin, to restore it. */
typedef struct nb_h5_quiet {
    H5E_auto2_t print;
    void *data;
} nb_h5_quiet;

/** Load the library and begin to use it. All calls except nb_hdf5_load must be between
 * nb_h5_begin and (after success) nb_h5_end. Such pairs may be nested. Between the two,
 * other threads wait (the library is rarely built for threads), the library prints
 * nothing, and filter 32008 (bitshuffle, LZ4) is registered for reading; written chunks
 * are already filtered. nb_h5_end removes the filter, since other code may register its
 * own. Errors: NB_ERR_UNSUPPORTED. */
nb_status nb_h5_begin(nb_h5_quiet *quiet, nb_error *err);
void nb_h5_end(const nb_h5_quiet *quiet);
/** Add 1 or -1 to the number of data sets with the filter that stay open after nb_h5_end.
 * The library would lose memory if the filter were removed. */
void nb_h5_use_filter(int more);

/** Reasons of failed calls of the library. */
typedef struct nb_h5_why {
    char text[128];         /* reason of the first failure, or "" */
    int disk, data, memory; /* 1: the disk, data or memory was a reason */
} nb_h5_why;
/** From now on record the reasons of failures in *why instead of printing them. */
void nb_h5_note_why(nb_h5_why *why);

/** An open HDF5 file for reading. */
typedef struct nb_h5_input {
    hid_t file;
    const char *name;       /* owned by the caller */
    nb_h5_remarks *remarks; /* owned by the caller; may be NULL */
    int *several;           /* set to 1 if nb_h5_get_number reads one of several rows; or
                               NULL */
    nb_h5_quiet quiet;
    nb_hdf5_reader *reader; /* keeps the file open; or NULL: nb_h5_stop closes the file */
    nb_h5_why why;
} nb_h5_input;

/** Call nb_h5_begin and open the file; after success call nb_h5_stop. Do not move *in
 * until then. A reader (or NULL) keeps the file open until it opens another. Errors:
 * NB_ERR_INPUT (missing, a pipe, or cannot be opened), NB_ERR_UNSUPPORTED. */
nb_status nb_h5_start(nb_h5_input *in, const char *file, nb_hdf5_reader *reader,
                      nb_error *err);
/** Close the file and call nb_h5_end. Returns st, or instead of NB_OK an earlier failure
 * of disk or memory that looked like a missing entry (NB_ERR_IO, NB_ERR_INPUT). */
nb_status nb_h5_stop(nb_h5_input *in, nb_status st, nb_error *err);

/** Close a file. Returns 0 if memory is exhausted; the filter then stays registered. */
int nb_h5_close_file(hid_t file);

#endif
