/* SPDX-License-Identifier: MIT */
#include "hdf5_parts.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../common/declared.h"
#include "hdf5_filters.h"

enum {
    RECORD_BYTES =
        16 /* a chunk needs at least this many bytes of description in the file */
};
/* The library finds the true length of a chunk without filters by a walk through all: so many steps
 * take a tenth of a second. */
static const double MOST_STEPS = 3e6;

/** The chunks of a set that a box touches. */
typedef struct chunks {
    hsize_t size[NB_H5_RANK];                     /* values of a chunk */
    hsize_t begin[NB_H5_RANK], count[NB_H5_RANK]; /* in chunks */
    double number, bytes;                         /* how many; of one, decompressed */
    double all;                                   /* chunks of the set */
} chunks;

static int find_chunks(const nb_h5_set *set, const nb_h5_box *box, chunks *c)
{
    int skip = NB_H5_RANK - set->rank;
    hsize_t size[NB_H5_RANK];
    if (set->rank < 1 || H5Pget_chunk(set->creation, NB_H5_RANK, size) != set->rank)
        return 0;
    c->number = c->all = 1;
    c->bytes = (double)set->value_bytes;
    for (int i = 0; i < NB_H5_RANK; i++) {
        hsize_t n = c->size[i] = i < skip ? 1 : size[i - skip];
        if (!n)
            return 0;
        c->begin[i] = box->first[i] / n;
        c->count[i] = (box->first[i] + box->count[i] - 1) / n - c->begin[i] + 1;
        c->number *= (double)c->count[i];
        c->all *= ceil((double)set->dims[i] / (double)n);
        c->bytes *= (double)n;
    }
    return c->bytes <= UINT32_MAX;
}

static const char copy_name[] = "copy";

/** A file without a name on any disk. */
static hid_t memory_file(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;
    H5Pset_fapl_core(access, 1 << 20, 0);
    /* libhdf5 first checks whether the name is an existing file; this one cannot exist */
    file = H5Fcreate("/dev/null/memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

/** An empty set like `set` in the file, with our filters; below 0: an error. */
static hid_t empty_copy(const nb_h5_set *set, const chunks *c, hid_t file,
                        nb_h5_filter_map *map)
{
    const hsize_t any[NB_H5_RANK] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    int skip = NB_H5_RANK - set->rank;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), stored = H5Dget_type(set->id);
    hid_t type = H5Tcopy(stored);
    hid_t space = H5Screate_simple(set->rank, set->dims + skip, any), copy = -1;
    if (H5Pset_chunk(list, set->rank, c->size + skip) >= 0 &&
        nb_h5_put_filters(list, set->creation, (unsigned)c->bytes, map))
        copy = H5Dcreate2(file, copy_name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Tclose(type);
    H5Tclose(stored);
    H5Pclose(list);
    return copy;
}

/** Buffers to copy compressed chunks. */
typedef struct parcel {
    hid_t copy;
    nb_h5_filter_map map;
    void *data; /* of one chunk */
    size_t room;
    double sent; /* bytes of all so far */
} parcel;

static nb_status make_room(parcel *p, hsize_t bytes, nb_error *err)
{
    if (bytes <= p->room)
        return NB_OK;
    nb_free(p->data);
    p->room = 0;
    if (!(p->data = nb_alloc_raw((size_t)bytes, 1, "chunk of HDF5", err)))
        return NB_ERR_NOMEM;
    p->room = (size_t)bytes;
    return NB_OK;
}

/** Chunks without filters and too many to look for the length of each: this one as long as all are
 * said to be, or 0. Two readings into different bytes show how far it goes. The library never reads
 * beyond the end of the file. */
static nb_status get_plain(const nb_h5_set *set, const hsize_t *at, const chunks *c,
                           parcel *p, hsize_t *bytes, nb_error *err)
{
    const size_t n = (size_t)c->bytes, half = (size_t)set->file_bytes + n + 1;
    unsigned char *twice;
    nb_status st = make_room(p, 2 * half, err);
    int good = !st;
    twice = p->data;
    for (int i = 0; i < 2 && good; i++) {
        memset(twice + i * half, i ? 255 : 0, n + 1);
        good = nb_h5_get_plain_chunk(set, at, twice + i * half);
    }
    *bytes =
        good && twice[n - 1] == twice[half + n - 1] && twice[n] != twice[half + n] ? n : 0;
    return st;
}

static nb_status copy_chunk(const nb_h5_set *set, const hsize_t *at, const chunks *c,
                            parcel *p, nb_error *err)
{
    unsigned mask = 0;
    const int plain = c->number * c->all > MOST_STEPS && !nb_h5_has_filters(set);
    hsize_t bytes = plain ? 0 : nb_h5_chunk_bytes(set, at);
    nb_status st;
    if (plain && (st = get_plain(set, at, c, p, &bytes, err)))
        return st;
    if (!bytes || (p->sent += (double)bytes) > set->file_bytes)
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "a part of %s was never written, or is cut short", set->path);
    if (!plain && (st = make_room(p, bytes, err)))
        return st;
    if (!plain)
        bytes = nb_h5_get_chunk(set, at, p->data, p->room, &mask);
    if (bytes && H5Dwrite_chunk(p->copy, H5P_DEFAULT, nb_h5_filter_mask(&p->map, mask),
                                at, (size_t)bytes, p->data) >= 0)
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                      "a part of %s cannot be read: damaged", set->path);
}

static nb_status copy_chunks(const nb_h5_set *set, const chunks *c, parcel *p,
                             nb_error *err)
{
    int skip = NB_H5_RANK - set->rank;
    nb_status st = NB_OK;
    for (hsize_t i = 0; !st && i < c->count[0]; i++)
        for (hsize_t j = 0; !st && j < c->count[1]; j++)
            for (hsize_t k = 0; !st && k < c->count[2]; k++) {
                hsize_t at[NB_H5_RANK] = {(c->begin[0] + i) * c->size[0],
                                          (c->begin[1] + j) * c->size[1],
                                          (c->begin[2] + k) * c->size[2]};
                st = copy_chunk(set, at + skip, c, p, err);
            }
    nb_free(p->data);
    p->data = NULL;
    return st;
}

static nb_status read_through_copy(const nb_h5_set *set, const chunks *c,
                                   const nb_h5_box *box, const nb_h5_target *to,
                                   nb_error *err)
{
    parcel p = {-1, {0, {0}}, NULL, 0, 0};
    hid_t file = memory_file();
    nb_status st = NB_OK;
    int ok;
    if (file >= 0)
        p.copy = empty_copy(set, c, file, &p.map);
    ok = p.copy >= 0;
    if (ok && !(st = copy_chunks(set, c, &p, err))) {
        H5Dclose(p.copy); /* until then the library keeps wrong masks of filters */
        p.copy = H5Dopen2(file, copy_name, H5P_DEFAULT);
        ok = p.copy >= 0 && nb_h5_read_directly(set, p.copy, box, to);
    }
    if (p.copy >= 0)
        H5Dclose(p.copy);
    if (file >= 0)
        H5Fclose(file);
    if (!st && !ok)
        st = nb_fail_at(
            err, NB_ERR_INPUT, set->in->name, 0,
            "%s cannot be read: damaged, or compressed by a filter that is not installed",
            set->path);
    return st;
}

nb_status nb_h5_read_chunks(const nb_h5_set *set, const nb_h5_box *box,
                            const nb_h5_target *to, nb_error *err)
{
    chunks c;
    nb_status st;
    if (!find_chunks(set, box, &c) || c.number * RECORD_BYTES > set->file_bytes)
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "a part of %s was never written, or its chunks are damaged",
                          set->path);
    if ((st = nb_declared_check(set->in->name, c.bytes, set->file_bytes, set->in->most_MB,
                                err)))
        return st;
    return read_through_copy(set, &c, box, to, err);
}

#else
typedef int nb_hdf5_chunks_are_not_in_this_build;
#endif
