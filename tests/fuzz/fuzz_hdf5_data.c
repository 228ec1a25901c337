/* SPDX-License-Identifier: MIT */
/* HDF5 data files that -resume finds: key, truth and spots are read, or refused. */
#include <string.h>

#include "../../src/io/hdf5/hdf5_file.h"
#include "hdf5_build.h"

#define LISTS "/entry/simulation/reflections"

enum { FRAMES = 2, EDGE = 8, PIXELS = EDGE * EDGE };

static const nb_hdf5_data wanted = {
    .layout = {EDGE, EDGE, NB_HDF5_U16, NB_COMPRESS_GZIP, 1, 0},
    .key.per_file = 4,
    .frames = 4};

/** Writes the data file of a series. */
static void base(const char *path)
{
    static uint16_t pixels[PIXELS], room[PIXELS];
    static unsigned char packed[8192];
    static const nb_hdf5_frame truth = {.list.count = 1};
    static nb_reflection row;
    const nb_reflections list = {.list = &row, .count = 1};
    nb_hdf5_packed frame = {packed, 0, &truth, &list};
    nb_hdf5_data data = wanted;
    nb_hdf5_writer *writer;
    nb_outfile out;
    nb_error err;
    data.layout.reflections = 1;
    NB_FUZZ_CHECK(nb_outfile_open(&out, path, &err) == NB_OK);
    NB_FUZZ_CHECK(nb_hdf5_data_open(&out, &data, &writer, &err) == NB_OK);
    for (int i = 0; i < FRAMES; i++) {
        NB_FUZZ_CHECK(nb_hdf5_chunk_encode(&data.layout, pixels, room, packed,
                                           &frame.bytes, &err) == NB_OK);
        NB_FUZZ_CHECK(nb_hdf5_data_add(writer, &frame, &err) == NB_OK);
    }
    NB_FUZZ_CHECK(nb_hdf5_data_close(writer, &err) == NB_OK);
}

static const object objects[] = {{"/entry/data/data", NULL},
                                 {"/entry/data/data", "image_nr_low"},
                                 {"/entry/data/data", "image_nr_high"},
                                 {"/entry/data/truth", NULL},
                                 {"/entry", "fingerprint"},
                                 {"/entry", "seed"},
                                 {"/entry", "frames_per_file"},
                                 {LISTS "/table", NULL},
                                 {NULL, NULL}};

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    const char *path = build_hdf5(&b, base, objects);
    nb_hdf5_data key = wanted;
    nb_hdf5_frame truth[FRAMES];
    nb_reflection rows[FRAMES];
    if (!nb_hdf5_data_key(path, &key))
        return 0;
    NB_FUZZ_CHECK(key.first >= 0 && key.frames > 0);
    return !nb_hdf5_read_truth(path, 0, FRAMES, truth, NULL) &&
           !nb_hdf5_read_spots(path, 1, FRAMES, rows, NULL);
}

NB_FUZZ_ENTRY
