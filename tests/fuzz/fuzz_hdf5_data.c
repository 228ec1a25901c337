/* SPDX-License-Identifier: MIT */
/* Data files and lists of reflections that -resume finds: kept completely, or not kept. */
#include <string.h>

#include "../../src/io/hdf5/hdf5_file.h"
#include "hdf5_build.h"

#define LISTS "/entry/simulation/reflections"

enum { FRAMES = 2, EDGE = 8, PIXELS = EDGE * EDGE };

static nb_status next_frame(void *user, int i, nb_hdf5_packed *chunk, nb_error *err)
{
    static uint16_t pixels[PIXELS], room[PIXELS];
    static unsigned char packed[8192];
    nb_hdf5_data *data = user;
    size_t bytes;
    nb_status st;
    pixels[0] = (uint16_t)i;
    st = nb_hdf5_chunk_encode(&data->layout, pixels, room, packed, &bytes, err);
    *chunk = (nb_hdf5_packed){packed, bytes, nb_hdf5_hash(packed, bytes)};
    return st;
}

static nb_status next_list(void *user, int i, nb_reflections *list, nb_error *err)
{
    static nb_reflection row;
    (void)user;
    (void)err;
    memset(list, 0, sizeof *list);
    row.frame = i;
    list->list = &row;
    list->count = 1;
    return NB_OK;
}

static const nb_hdf5_data wanted = {
    .layout = {EDGE, EDGE, NB_HDF5_U16, NB_COMPRESS_GZIP, 1, 0}, .frames = FRAMES};

/** What a series writes. */
static void base(const char *path)
{
    static const int64_t counts[FRAMES] = {1, 1};
    static const nb_hdf5_facts none[FRAMES];
    static const uint64_t inputs[FRAMES] = {0, 7};
    nb_hdf5_data data = wanted;
    nb_error err;
    data.reflections = counts;
    data.facts = none;
    data.inputs = inputs;
    NB_FUZZ_CHECK(nb_hdf5_write_data(path, &data, next_frame, next_list, &data, &err) ==
                  NB_OK);
}

static const object objects[] = {{"/entry/data/data", NULL},
                                 {"/entry/data/chunk_hash", NULL},
                                 {"/entry/data/statistics", NULL},
                                 {"/entry", "fingerprint"},
                                 {"/entry", "seed"},
                                 {"/entry", "frames_per_file"},
                                 {LISTS, "hash"},
                                 {LISTS "/count", NULL},
                                 {LISTS "/background", NULL},
                                 {LISTS "/unassigned", NULL},
                                 {LISTS "/table", NULL},
                                 {NULL, NULL}};

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    fuzz_bytes b = {data, data + size};
    nb_hdf5_data asked = wanted;
    const char *path;
    nb_hdf5_data key = {0};
    nb_hdf5_list lists[FRAMES];
    nb_hdf5_facts facts[FRAMES];
    uint64_t inputs[FRAMES];
    const nb_hdf5_found found = {lists, inputs, facts};
    asked.layout.reflections = (int)take_below(&b, 2); /* are the lists wanted? */
    path = build_hdf5(&b, base, objects);
    nb_hdf5_data_key(path, &key);
    if (!nb_hdf5_verify_data(path, &asked, &found))
        return 0;
    for (int i = 0; asked.layout.reflections && i < FRAMES; i++)
        NB_FUZZ_CHECK(lists[i].count >= 0);
    return 1;
}

NB_FUZZ_ENTRY
