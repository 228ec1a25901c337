/* SPDX-License-Identifier: MIT */
/** HDF5 files made from a fuzzer's bytes. The bytes choose shapes, types, numbers of
 * points, chunks, filters, payloads, links and virtual mappings. libhdf5 writes the file,
 * so it can always be opened, and a byte changes the structure rather than a checksum. */
#ifndef NB_TESTS_FUZZ_HDF5_BUILD_H
#define NB_TESTS_FUZZ_HDF5_BUILD_H

#include "../../src/io/hdf5/hdf5_lib.h"
#include "fuzz.h"

/** Bytes that are not yet taken. take and take_below return 0 after the last byte. */
typedef struct fuzz_bytes {
    const uint8_t *p, *end;
} fuzz_bytes;

unsigned take(fuzz_bytes *b);
unsigned take_below(fuzz_bytes *b, unsigned n); /* takes a number from 0 to n - 1 */

/** A data set, or an attribute of `path`, that the reader uses. */
typedef struct object {
    const char *path, *attr; /* attr NULL: a data set */
} object;

/** Writes a good file at the path; called once. */
typedef void base_file(const char *path);

/** Creates an HDF5 file with groups (the list ends with NULL); end_file closes it. */
hid_t begin_file(const char *path, const char *const *groups);
void end_file(hid_t file);
void put_array(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims,
               const void *values);

/** Writes a good file, then takes a byte for each object (the list ends with a NULL
 * path). A byte of 128 or more removes the object, or replaces it according to further
 * bytes. Returns the path, which the builder owns. */
const char *build_hdf5(fuzz_bytes *b, base_file *base, const object *objects);

#endif
