/* SPDX-License-Identifier: MIT */
/* HDF5 files with false values: numbers of points, sizes of chunks, sizes of images, other
 * files. */
#include <unistd.h>

#include "scratch.h"

#ifdef NB_HAVE_HDF5
#include "base/hash.h"
#include "io/hdf5/hdf5_file.h"
#include "io/hdf5/hdf5_lib.h"
#include "io/table/sources.h"
#include "nanobragg.h"

#define IMAGES "/entry/data/data"
#define LISTS "/entry/simulation/reflections"

enum { EDGE = 64, PIXELS = EDGE * EDGE, MANY = 4096 };

/* --- making files --- */

static hid_t create(const char *path)
{
    static const char *const groups[] = {"/entry",
                                         "/entry/data",
                                         "/entry/instrument",
                                         "/entry/instrument/detector",
                                         "/entry/simulation",
                                         LISTS};
    hid_t file;
    assert_int_equal(nb_hdf5_load(NULL), NB_OK);
    file = H5(Fcreate)(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        H5(Gclose)(H5(Gcreate2)(file, groups[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return file;
}

static hid_t put_set(hid_t file, const char *name, hid_t type, int rank,
                     const hsize_t *dims, hid_t list)
{
    hid_t space = H5(Screate_simple)(rank, dims, NULL);
    hid_t set = H5(Dcreate2)(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5(Sclose)(space);
    return set;
}

static void put(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims,
                const void *values)
{
    hid_t set = put_set(file, name, type, rank, dims, H5P_DEFAULT);
    assert_true(H5(Dwrite)(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5(Dclose)(set);
}

static void put_attr(hid_t file, const char *path, const char *name, hid_t type,
                     hsize_t points, const void *values)
{
    hid_t space = H5(Screate_simple)(1, &points, NULL);
    hid_t attr = H5(Acreate_by_name)(file, path, name, type, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attr >= 0 && H5(Awrite)(attr, type, values) >= 0);
    H5(Aclose)(attr);
    H5(Sclose)(space);
}

/** A compressed set of frames of EDGE x EDGE uint16. */
static hid_t create_frames(hid_t file, hsize_t frames, nb_compression compress)
{
    const hsize_t dims[3] = {frames, EDGE, EDGE}, chunk[3] = {1, EDGE, EDGE};
    const unsigned bitshuffle[5] = {0, 4, 2, 0, NB_H5_BITSHUFFLE_LZ4};
    hid_t list = H5(Pcreate)(H5P_DATASET_CREATE), set;
    H5(Pset_chunk)(list, 3, chunk);
    if (compress == NB_COMPRESS_GZIP) {
        H5(Pset_shuffle)(list);
        H5(Pset_deflate)(list, 1);
    } else if (compress == NB_COMPRESS_BSLZ4) {
        H5(Pset_filter)(list, NB_H5_BITSHUFFLE, H5Z_FLAG_OPTIONAL, 5, bitshuffle);
    }
    set = put_set(file, IMAGES, H5T_NATIVE_UINT16, 3, dims, list);
    H5(Pclose)(list);
    return set;
}

/** A frame of edge x edge pixels, compressed; the memory is static. */
static const void *encode(int edge, nb_compression compress, size_t *bytes)
{
    static uint16_t pixels[4 * PIXELS], room[4 * PIXELS];
    static unsigned char chunk[16 * PIXELS];
    nb_hdf5_layout layout = {edge, edge, NB_HDF5_U16, compress, 0, 0};
    for (int i = 0; i < edge * edge; i++)
        pixels[i] = (uint16_t)(i % 251);
    assert_int_equal(nb_hdf5_chunk_encode(&layout, pixels, room, chunk, bytes, NULL),
                     NB_OK);
    return chunk;
}

/** One frame whose chunk holds edge x edge pixels. */
static void put_frame(hid_t file, int edge, nb_compression compress)
{
    const hsize_t at[3] = {0, 0, 0};
    size_t bytes;
    const void *chunk = encode(edge, compress, &bytes);
    nb_h5_quiet quiet;
    hid_t set;
    assert_int_equal(nb_h5_begin(&quiet, NULL), NB_OK);
    set = create_frames(file, 1, compress);
    assert_true(H5(Dwrite_chunk)(set, H5P_DEFAULT, 0, at, bytes, chunk) >= 0);
    H5(Dclose)(set);
    nb_h5_end(&quiet);
}

/** An uncompressed frame of a set that another file can use. */
static void put_plain(const char *path, uint16_t value)
{
    const hsize_t dims[3] = {2, EDGE, EDGE};
    uint16_t pixels[2 * PIXELS];
    hid_t file = create(path);
    for (int i = 0; i < 2 * PIXELS; i++)
        pixels[i] = (uint16_t)(value + i / PIXELS);
    put(file, IMAGES, H5T_NATIVE_UINT16, 3, dims, pixels);
    H5(Fclose)(file);
}

/* --- results --- */

static nb_status read_frame(const char *path, int frame, double most_MB, nb_image *image,
                            nb_error *err)
{
    nb_config cfg;
    char name[600];
    nb_config_defaults(&cfg);
    cfg.max_read_MB = most_MB;
    snprintf(name, sizeof name, "%s:%d", path, frame);
    return nb_image_read(name, 0, 0, &cfg, image, err);
}

static void check_bad_frame(const char *path, int frame, const char *word)
{
    nb_image image;
    nb_error err = {0};
    assert_int_equal(read_frame(path, frame, 0, &image, &err), NB_ERR_INPUT);
    if (!strstr(err.message, word))
        fail_msg("'%s' is not in '%s'", word, err.message);
    assert_null(image.pixels);
}

static void check_bad(const char *path, const char *word)
{
    check_bad_frame(path, 0, word);
}

static void check_read(const char *path, int frame, double first_pixel)
{
    nb_image image;
    nb_error err = {0};
    if (read_frame(path, frame, 0, &image, &err))
        fail_msg("%s", err.message);
    assert_int_equal(image.fast, EDGE);
    assert_int_equal(image.slow, EDGE);
    check_close(image.pixels[0], first_pixel, 0);
    nb_image_free(&image);
}

SCRATCH_TEST(units_of_many_points)
{
    static char text[MANY][15];
    const char *path = scratch_path(*state, "a.h5");
    const hsize_t one = 1;
    const double size = 0.1;
    hid_t file = create(path), type = H5(Tcopy)(H5T_C_S1);
    memset(text, 'm', sizeof text);
    H5(Tset_size)(type, sizeof *text);
    H5(Tset_cset)(type, H5T_CSET_UTF8);
    put_frame(file, EDGE, NB_COMPRESS_NONE);
    put(file, "/entry/instrument/detector/x_pixel_size", H5T_NATIVE_DOUBLE, 1, &one,
        &size);
    put_attr(file, "/entry/instrument/detector/x_pixel_size", "units", type, MANY, text);
    H5(Tclose)(type);
    H5(Fclose)(file);
    check_read(path, 0, 0);
}

SCRATCH_TEST(key_of_many_points)
{
    static const uint64_t many[MANY] = {7};
    const char *path = scratch_path(*state, "a.h5");
    hid_t file = create(path);
    nb_hdf5_data key = {0};
    put_attr(file, "/entry", "fingerprint", H5T_NATIVE_UINT64, MANY, many);
    put_attr(file, "/entry", "seed", H5T_NATIVE_UINT64, 1, many);
    put_attr(file, "/entry", "frames_per_file", H5T_NATIVE_UINT64, 1, many);
    H5(Fclose)(file);
    assert_false(nb_hdf5_data_key(path, &key));
}

/** A data file of one frame whose table is empty, and the hash of that table is not one number. */
SCRATCH_TEST(hash_of_many_points)
{
    static const uint64_t many[MANY] = {NB_HASH_START};
    static const char *const columns[] = {LISTS "/count", LISTS "/first",
                                          LISTS "/background", LISTS "/unassigned",
                                          LISTS "/diffuse"};
    static const int64_t zero = 0, first_image = 1;
    const char *path = scratch_path(*state, "a.h5");
    const hsize_t one = 1, none = 0;
    hid_t file = create(path);
    nb_hdf5_data data = {.layout = {EDGE, EDGE, NB_HDF5_U16, NB_COMPRESS_BSLZ4, 1, 0},
                         .frames = 1};
    nb_hdf5_list list;
    const void *chunk;
    size_t bytes;
    nb_hdf5_facts facts;
    uint64_t hash, inputs;
    const nb_hdf5_found found = {&list, &inputs, &facts};
    put_frame(file, EDGE, NB_COMPRESS_BSLZ4);
    chunk = encode(EDGE, NB_COMPRESS_BSLZ4, &bytes);
    hash = nb_hash_bytes(NB_HASH_START, chunk, bytes);
    put(file, "/entry/data/chunk_hash", H5T_NATIVE_UINT64, 1, &one, &hash);
    put_attr(file, "/entry", "fingerprint", H5T_NATIVE_UINT64, 1, &data.fingerprint);
    put_attr(file, "/entry", "seed", H5T_NATIVE_INT64, 1, &zero);
    put_attr(file, "/entry", "frames_per_file", H5T_NATIVE_INT64, 1, &zero);
    put_attr(file, "/entry/data/data", "image_nr_low", H5T_NATIVE_INT64, 1, &first_image);
    put_attr(file, "/entry/data/data", "image_nr_high", H5T_NATIVE_INT64, 1, &first_image);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        put(file, columns[i], H5T_NATIVE_INT64, 1, &one, &zero);
    H5(Dclose)(put_set(file, LISTS "/table", H5T_NATIVE_DOUBLE, 1, &none, H5P_DEFAULT));
    put_attr(file, LISTS, "hash", H5T_NATIVE_UINT64, MANY, many);
    H5(Fclose)(file);
    assert_false(nb_hdf5_verify_data(path, &data, &found));
}

SCRATCH_TEST(chunks_of_another_size)
{
    const char *path = scratch_path(*state, "a.h5");
    for (int edge = 8; edge <= 2 * EDGE; edge += 8) {
        hid_t file = create(path);
        put_frame(file, edge, NB_COMPRESS_BSLZ4);
        H5(Fclose)(file);
        if (edge == EDGE)
            check_read(path, 0, 0);
        else
            check_bad(path, "cannot be read: damaged");
    }
}

/** The file says that a chunk holds the pixels uncompressed. */
SCRATCH_TEST(filters_left_out)
{
    static const unsigned char pixels[2 * PIXELS] = {7};
    const hsize_t at[3] = {0, 0, 0};
    const char *path = scratch_path(*state, "a.h5");
    for (int gzip = 0; gzip < 2; gzip++) {
        hid_t file = create(path), set;
        nb_h5_quiet quiet;
        assert_int_equal(nb_h5_begin(&quiet, NULL), NB_OK);
        set = create_frames(file, 1, gzip ? NB_COMPRESS_GZIP : NB_COMPRESS_BSLZ4);
        assert_true(H5(Dwrite_chunk)(set, H5P_DEFAULT, gzip ? 3 : 1, at, sizeof pixels,
                                     pixels) >= 0);
        H5(Dclose)(set);
        nb_h5_end(&quiet);
        H5(Fclose)(file);
        check_read(path, 0, 7);
    }
}

SCRATCH_TEST(frames_never_written)
{
    const char *path = scratch_path(*state, "a.h5");
    const hsize_t dims[3] = {1, EDGE, EDGE};
    hid_t file = create(path);
    H5(Dclose)(create_frames(file, 2, NB_COMPRESS_GZIP));
    H5(Fclose)(file);
    check_bad(path, "never written");
    file = create(path);
    H5(Dclose)(put_set(file, IMAGES, H5T_NATIVE_UINT16, 3, dims, H5P_DEFAULT));
    H5(Fclose)(file);
    check_bad(path, "never written");
}

/** A few bytes that declare side x side pixels in a chunk of chunk x chunk. */
static void put_large(const char *path, hsize_t side, hsize_t chunk)
{
    const hsize_t dims[2] = {side, side}, size[2] = {chunk, chunk}, at[2] = {0, 0};
    hid_t file = create(path), list = H5(Pcreate)(H5P_DATASET_CREATE), set;
    size_t bytes;
    const void *data = encode(EDGE, NB_COMPRESS_GZIP, &bytes);
    H5(Pset_chunk)(list, 2, size);
    H5(Pset_shuffle)(list);
    H5(Pset_deflate)(list, 1);
    set = put_set(file, IMAGES, H5T_NATIVE_UINT16, 2, dims, list);
    assert_true(H5(Dwrite_chunk)(set, H5P_DEFAULT, 0, at, bytes, data) >= 0);
    H5(Pclose)(list);
    H5(Dclose)(set);
    H5(Fclose)(file);
}

SCRATCH_TEST(sizes_that_a_small_file_declares)
{
    const char *path = scratch_path(*state, "a.h5");
    nb_image image;
    nb_error err = {0};
    put_large(path, 30000, 30000);
    check_bad(path, "-max_read 3600 ");
    put_large(path, 512, 64); /* the other 63 chunks are not there */
    check_bad(path, "never written");
    put_large(path, 512, 512);
    assert_int_equal(read_frame(path, 0, 1, &image, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-max_read 2 "));
}

SCRATCH_TEST(spectra_that_a_small_file_declares)
{
    const char *path = scratch_path(*state, "a.h5");
    const hsize_t dims[2] = {20000, 10000}, chunk[2] = {1, 10000};
    hid_t file = create(path), list = H5(Pcreate)(H5P_DATASET_CREATE);
    nb_spectra spectra;
    nb_error err = {0};
    H5(Pset_chunk)(list, 2, chunk);
    H5(Pset_deflate)(list, 1);
    H5(Dclose)(put_set(file, "/wavelength", H5T_NATIVE_DOUBLE, 2, dims, list));
    H5(Dclose)(put_set(file, "/weight", H5T_NATIVE_DOUBLE, 2, dims, list));
    H5(Pclose)(list);
    H5(Fclose)(file);
    assert_int_equal(nb_hdf5_read_spectra(path, 0, nb_v3(0, 0, 0), 2, &spectra, &err),
                     NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "-max_read 1600 "));
}

/** Frames first, first + stride, ... of a virtual set are those of the source. */
static void map_frames(hid_t list, hid_t space, hsize_t first, hsize_t stride,
                       const char *source)
{
    const hsize_t dims[3] = {2, EDGE, EDGE}, start[3] = {first, 0, 0};
    const hsize_t step[3] = {stride, 1, 1}, block[3] = {1, EDGE, EDGE};
    const hsize_t count[3] = {2, 1, 1};
    hid_t there = H5(Screate_simple)(3, dims, NULL);
    assert_true(H5(Sselect_hyperslab)(space, H5S_SELECT_SET, start, step, count, block) >=
                0);
    assert_true(H5(Pset_virtual)(list, space, source, IMAGES, there) >= 0);
    H5(Sclose)(there);
}

/** A virtual set of six frames: 0, 2 of one file, 1, 3 of another, 4 and 5 of a third. */
static void put_virtual(const char *path, const char *third)
{
    const hsize_t dims[3] = {6, EDGE, EDGE};
    hid_t file = create(path), list = H5(Pcreate)(H5P_DATASET_CREATE);
    hid_t space = H5(Screate_simple)(3, dims, NULL);
    map_frames(list, space, 0, 2, "first.h5");
    map_frames(list, space, 1, 2, "second.h5");
    map_frames(list, space, 4, 1, third);
    H5(Dclose)
    (H5(Dcreate2)(file, IMAGES, H5T_NATIVE_UINT16, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5(Sclose)(space);
    H5(Pclose)(list);
    H5(Fclose)(file);
}

SCRATCH_TEST(virtual_sets)
{
    char path[600], other[600];
    snprintf(path, sizeof path, "%s", scratch_path(*state, "a.h5"));
    snprintf(other, sizeof other, "%s", scratch_path(*state, "b.h5"));
    put_plain(scratch_path(*state, "first.h5"), 10);
    put_plain(scratch_path(*state, "second.h5"), 20);
    put_plain(scratch_path(*state, "third.h5"), 30);
    put_virtual(path, "third.h5");
    check_read(path, 0, 10);
    check_read(path, 1, 20);
    check_read(path, 2, 11);
    check_read(path, 3, 21);
    put_virtual(other, "a.h5"); /* a virtual set of a virtual one */
    check_read(other, 4, 10);
    check_read(other, 5, 20);
    unlink(scratch_path(*state, "third.h5"));
    check_read(path, 0, 10);
    check_bad_frame(other, 4, "third.h5");
}

SCRATCH_TEST(virtual_sets_without_end)
{
    char path[600];
    const hsize_t dims[3] = {6, EDGE, EDGE};
    hid_t file, list = H5(Pcreate)(H5P_DATASET_CREATE);
    hid_t space = H5(Screate_simple)(3, dims, NULL);
    snprintf(path, sizeof path, "%s", scratch_path(*state, "a.h5"));
    file = create(path);
    map_frames(list, space, 0, 1, ".");
    H5(Dclose)
    (H5(Dcreate2)(file, IMAGES, H5T_NATIVE_UINT16, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5(Sclose)(space);
    H5(Pclose)(list);
    H5(Fclose)(file);
    check_bad(path, "has more than two levels of virtual sources");
}

SCRATCH_TEST(virtual_files_that_are_missing)
{
    const char *path;
    put_plain(scratch_path(*state, "second.h5"), 20);
    path = scratch_path(*state, "a.h5");
    put_virtual(path, "not_there.h5");
    check_bad(path, "first.h5");
    check_read(path, 1, 20);
    check_bad_frame(path, 4, "not_there.h5");
}

#else

UNIT_TEST(no_hdf5)
{
    skip_because("skipped: this build has no HDF5");
}

#endif
