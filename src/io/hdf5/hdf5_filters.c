/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "../../base/memory.h"
#include "hdf5_filters.h"

#include "hdf5_chunk.h"

#ifdef NB_HAVE_HDF5

#ifdef NB_HAVE_LZ4
#include <lz4.h>

enum { HEAD = 12, LARGEST = 1 << 30 };

static uint64_t big_endian(const unsigned char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x = x << 8 | p[i];
    return x;
}

/** Decompress a chunk (format: hdf5_chunk.c) into out[bytes] through scratch[block], and
 * check every size; 0: it is damaged. */
static int unpack(const unsigned char *p, const unsigned char *end, size_t value,
                  size_t block, unsigned char *scratch, unsigned char *out, size_t bytes)
{
    size_t done = 0, step = 8 * value;
    while (done < bytes / step * step) {
        size_t n = bytes - done < block ? (bytes - done) / step * step : block;
        uint64_t packed = end - p >= 4 ? big_endian(p, 4) : 0;
        if (packed == 0 || packed > (uint64_t)(end - p - 4) ||
            LZ4_decompress_safe((const char *)p + 4, (char *)scratch, (int)packed,
                                (int)n) != (int)n)
            return 0;
        nb_bitunshuffle(scratch, n / value, value, out + done);
        p += 4 + packed;
        done += n;
    }
    if ((size_t)(end - p) != bytes - done)
        return 0;
    memcpy(out + done, p, bytes - done);
    return 1;
}

/** most: largest number of bytes of the chunk. */
static size_t undo(size_t value, size_t most, size_t have, size_t *room, void **buffer)
{
    const unsigned char *in = *buffer;
    uint64_t bytes = have >= HEAD ? big_endian(in, 8) : 0;
    uint64_t block = have >= HEAD ? big_endian(in + 8, 4) : 0;
    unsigned char *out, *scratch;
    int ok;
    if (!value || value > 8 || !bytes || bytes > most || bytes % value || !block ||
        block > LARGEST || block % (8 * value) || bytes / 250 > have)
        return 0;
    out = H5allocate_memory((size_t)bytes, 0);
    scratch = nb_alloc_raw((size_t)(block < bytes ? block : bytes), 1, "bitshuffle", NULL);
    ok = out && scratch &&
         unpack(in + HEAD, in + have, value, (size_t)block, scratch, out, (size_t)bytes);
    nb_free(scratch);
    if (!ok) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = out;
    *room = (size_t)bytes;
    return (size_t)bytes;
}
#endif

/** Called for reading only: written chunks are already filtered. */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[],
                     size_t bytes, size_t *room, void **buffer)
{
#ifdef NB_HAVE_LZ4
    if ((flags & H5Z_FLAG_REVERSE) && n_values >= 5 && values[4] == NB_H5_BITSHUFFLE_LZ4)
        return undo(values[2], n_values == 6 && values[5] < LARGEST ? values[5] : LARGEST,
                    bytes, room, buffer);
#endif
    (void)flags;
    (void)n_values;
    (void)values;
    (void)bytes;
    (void)room;
    (void)buffer;
    return 0; /* failure */
}

#define BITSHUFFLE_TEXT "bitshuffle; see https://github.com/kiyo-masui/bitshuffle"

static const H5Z_class2_t bitshuffle_class = {
    H5Z_CLASS_T_VERS, NB_H5_BITSHUFFLE, 1, 1, BITSHUFFLE_TEXT, NULL, NULL, filter};

#endif

#ifdef NB_HAVE_HDF5

#if defined NB_HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

/* Filter numbers of nanobragg; 256 to 511 are for unpublished filters. */
enum { SIZE_CHECK = 433, INFLATE, UNSHUFFLE, MOST_VALUES = 32, FLETCHER_BYTES = 4 };

/** Check that the filters before gave between values[0] and values[1] bytes. */
static size_t size_check(unsigned flags, size_t n_values, const unsigned values[],
                         size_t bytes, size_t *room, void **buffer)
{
    (void)buffer;
    return (flags & H5Z_FLAG_REVERSE) && n_values == 2 && bytes >= values[0] &&
                   bytes <= values[1] && bytes <= *room
               ? bytes
               : 0;
}

#if defined NB_HAVE_LIBDEFLATE
static size_t inflate_bytes(const void *in, size_t n, void *out, size_t room)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t made = 0;
    if (!d || libdeflate_zlib_decompress(d, in, n, out, room, &made))
        made = 0;
    libdeflate_free_decompressor(d);
    return made;
}
#else
static size_t inflate_bytes(const void *in, size_t n, void *out, size_t room)
{
    uLongf made = (uLongf)room;
    return uncompress(out, &made, in, (uLong)n) == Z_OK ? (size_t)made : 0;
}
#endif

/** Deflate, to between values[0] and values[1] bytes. */
static size_t bounded_inflate(unsigned flags, size_t n_values, const unsigned values[],
                              size_t bytes, size_t *room, void **buffer)
{
    void *out;
    size_t made;
    if (!(flags & H5Z_FLAG_REVERSE) || n_values != 2)
        return 0;
    out = H5allocate_memory(values[1], 0);
    made = out ? inflate_bytes(*buffer, bytes, out, values[1]) : 0;
    if (made < values[0]) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buffer);
    *buffer = out;
    *room = values[1];
    return made;
}
static const H5Z_class2_t inflate_class = {
    H5Z_CLASS_T_VERS, INFLATE, 1, 1, "bounded deflate", NULL, NULL, bounded_inflate};

static const H5Z_class2_t size_check_class = {
    H5Z_CLASS_T_VERS, SIZE_CHECK, 1, 1, "size of a chunk", NULL, NULL, size_check};

static const H5Z_class2_t unshuffle_class = {H5Z_CLASS_T_VERS, UNSHUFFLE, 1,    1,
                                             BITSHUFFLE_TEXT,  NULL,      NULL, filter};

/* A file is half closed: the library would look at it when a filter is taken away.  Under the lock of nb_hdf5_enter. */
static int half_closed;

void nb_h5_filters_begin(void)
{
    H5Zregister(&size_check_class);
    H5Zregister(&inflate_class);
    H5Zregister(&unshuffle_class);
    H5Zregister(&bitshuffle_class);
}

void nb_h5_filters_end(void)
{
    if (!half_closed)
        H5Zunregister(NB_H5_BITSHUFFLE);
}

int nb_h5_close_file(hid_t file)
{
    const int ok = H5Fclose(file) >= 0;
    half_closed |= !ok;
    return ok;
}

/** One filter of a file and its parameters. */
typedef struct set_filter {
    H5Z_filter_t id;
    unsigned flags, values[MOST_VALUES + 1];
    size_t count;
} set_filter;

static int put_check(hid_t list, unsigned least, unsigned most)
{
    const unsigned bounds[2] = {least, most};
    return H5Pset_filter(list, SIZE_CHECK, H5Z_FLAG_MANDATORY, 2, bounds) >= 0;
}

/** Our version of a filter, whose output must be between the bounds; 0: the filter is not
 * supported. */
static int put_one(hid_t list, set_filter *f, unsigned least, unsigned most)
{
    const unsigned bounds[2] = {least, most};
    switch (f->id) {
    case H5Z_FILTER_DEFLATE:
        return H5Pset_filter(list, INFLATE, H5Z_FLAG_MANDATORY, 2, bounds) >= 0;
    case H5Z_FILTER_SHUFFLE:
    case H5Z_FILTER_FLETCHER32:
        break;
    case NB_H5_BITSHUFFLE:
        f->count = f->count < 5 ? f->count : 5;
        f->values[f->count++] = most; /* the parameter of unpack */
        f->id = UNSHUFFLE;
        break;
    default:
        if (f->id <
            H5Z_FILTER_RESERVED) /* other filters are plugins that the user installed */
            return 0;
    }
    return H5Pset_filter(list, f->id, f->flags, f->count, f->values) >= 0;
}

int nb_h5_put_filters(hid_t list, hid_t creation, unsigned chunk_bytes,
                      nb_h5_filter_map *map)
{
    int n = H5Pget_nfilters(creation), put = 1;
    unsigned most = chunk_bytes + NB_H5_MOST_FILTERS * FLETCHER_BYTES;
    if (n < 0 || n > NB_H5_MOST_FILTERS || most < chunk_bytes ||
        !put_check(list, chunk_bytes, chunk_bytes))
        return 0;
    map->count = n;
    for (int i = 0; i < n; i++) {
        set_filter f = {0};
        f.count = MOST_VALUES;
        f.id = H5Pget_filter2(creation, (unsigned)i, &f.flags, &f.count, f.values, 0,
                              NULL, NULL);
        map->at[i] = put++;
        if (f.id < 0 || f.count > MOST_VALUES || !put_one(list, &f, chunk_bytes, most))
            return 0;
        if (f.id ==
            H5Z_FILTER_FLETCHER32) { /* it does not check the length of its checksum */
            if (!put_check(list, FLETCHER_BYTES, most))
                return 0;
            put++;
        }
    }
    return 1;
}

uint32_t nb_h5_filter_mask(const nb_h5_filter_map *map, uint32_t mask)
{
    uint32_t ours = 0;
    for (int i = 0; i < map->count; i++)
        if (mask >> i & 1)
            ours |= UINT32_C(1) << map->at[i];
    return ours;
}

#endif
