/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../common/declared.h"
#include "hdf5_filters.h"
#include "hdf5_get.h"

#ifdef NB_HAVE_HDF5

enum {
    RECORD_BYTES =
        16 /* a chunk needs at least this many bytes of description in the file */
};
/* The library finds the true length of a chunk without filters by a walk through all chunks; this
 * number of steps takes a tenth of a second. */
static const double MOST_STEPS = 3e6;

/** The chunks of a set that a box touches. */
typedef struct chunks {
    hsize_t size[NB_H5_RANK];                     /* values of a chunk */
    hsize_t begin[NB_H5_RANK], count[NB_H5_RANK]; /* in chunks */
    double number, bytes; /* number of chunks; bytes of one, decompressed */
    double all;           /* chunks of the set */
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

/** Make an empty set like `set` in the file, with our filters. Below 0: an error. */
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

/** Read a chunk without filters when there are too many to find the length of each: its nominal
 * length, or 0. Two readings over different bytes show its true end. The library never reads
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
        H5Dclose(p.copy); /* older versions of the library keep wrong masks of filters */
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

/* Limits: sources of a box, of a box that is itself a source; mappings of a set; nested virtual
 * sets. */
enum {
    MOST_SOURCES = 1000,
    MOST_NESTED = 64,
    MOST_MAPPINGS = 1000000,
    MOST_DEPTH = 2,
    NAME = 1024
};

/** Positions along one dimension: blocks of `block`, `stride` apart. */
typedef struct pattern {
    hsize_t start, stride, count, block;
} pattern;

/** Positions of all dimensions, 1s before those of a smaller rank. */
typedef struct selection {
    pattern of[NB_H5_RANK];
    int all; /* of a source: the whole set, whose size is not yet known */
} selection;

static int within(hsize_t x)
{
    return x <= 0x7fffffff;
}

static int read_pattern(hid_t space, selection *s)
{
    hsize_t start[NB_H5_RANK] = {0}, stride[NB_H5_RANK] = {1, 1, 1};
    hsize_t count[NB_H5_RANK] = {1, 1, 1}, block[NB_H5_RANK] = {1, 1, 1};
    int rank = H5Sget_simple_extent_ndims(space);
    s->all = H5Sget_select_type(space) == H5S_SEL_ALL;
    if (s->all && rank == 0) {
        memset(s->of, 0, sizeof s->of);
        return 1;
    }
    if (rank < 1 || rank > NB_H5_RANK)
        return 0;
    if (s->all) {
        if (H5Sget_simple_extent_dims(space, block, NULL) != rank)
            return 0;
    } else if (H5Sget_select_type(space) != H5S_SEL_HYPERSLABS ||
               H5Sis_regular_hyperslab(space) <= 0 ||
               H5Sget_regular_hyperslab(space, start, stride, count, block) < 0) {
        return 0;
    }
    for (int i = 0; i < NB_H5_RANK; i++)
        s->of[i] = (pattern){0, 1, 1, 1};
    for (int i = 0; i < rank; i++)
        s->of[NB_H5_RANK - rank + i] = (pattern){start[i], stride[i], count[i], block[i]};
    return 1;
}

/** Merge blocks that touch into one run. Returns 0 if they are unlimited, empty or overlapping. */
static int is_plain(pattern *p)
{
    if (!within(p->start) || !within(p->stride) || !within(p->count) ||
        !within(p->block) || !p->count || !p->block ||
        (p->count > 1 && p->stride < p->block) || !within(p->count * p->block))
        return 0;
    if (p->count == 1 || p->stride == p->block)
        *p = (pattern){p->start, 1, 1, p->count * p->block};
    return 1;
}

/** Mapping i: boxes of equal size in both sets, or along the first dimension regular blocks. */
static int read_mapping(hid_t creation, size_t i, selection *to, selection *from)
{
    hid_t virtual_space = H5Pget_virtual_vspace(creation, i);
    hid_t source_space = H5Pget_virtual_srcspace(creation, i);
    int ok = virtual_space >= 0 && source_space >= 0 && read_pattern(virtual_space, to) &&
             read_pattern(source_space, from);
    for (int d = 0; ok && d < NB_H5_RANK; d++) {
        if (from->all)
            from->of[d] = (pattern){0, 1, 1, to->of[d].count * to->of[d].block};
        ok = is_plain(&to->of[d]) && is_plain(&from->of[d]) &&
             to->of[d].count * to->of[d].block == from->of[d].count * from->of[d].block &&
             (d == 0 || (to->of[d].count == 1 && from->of[d].count == 1));
    }
    if (virtual_space >= 0)
        H5Sclose(virtual_space);
    if (source_space >= 0)
        H5Sclose(source_space);
    return ok;
}

int nb_h5_virtual_is_known(hid_t creation)
{
    size_t n = 0;
    selection to, from;
    if (H5Pget_virtual_count(creation, &n) < 0 || n > MOST_MAPPINGS)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!read_mapping(creation, i, &to, &from))
            return 0;
    return 1;
}

/** The index of position `at`, from 0; *there is 0 if it is no position. */
static hsize_t ordinal(const pattern *p, hsize_t at, int *there)
{
    hsize_t from = at - p->start, n = from / p->stride, in = from % p->stride;
    if (p->count == 1) {
        *there = at >= p->start && from < p->block;
        return from;
    }
    *there = at >= p->start && n < p->count && in < p->block;
    return n * p->block + in;
}

static hsize_t position(const pattern *p, hsize_t n)
{
    return p->count == 1 ? p->start + n
                         : p->start + n / p->block * p->stride + n % p->block;
}

/** The part of a frame from a mapping: box->first[0] is the frame in the virtual set, and *source
 * its position in the mapping's own set. 0: no part. */
static int overlap(const selection *to, const selection *from, const nb_h5_box *box,
                   nb_h5_box *part, nb_h5_box *source)
{
    int there;
    hsize_t n = ordinal(&to->of[0], box->first[0], &there);
    if (!there)
        return 0;
    part->first[0] = box->first[0];
    source->first[0] = position(&from->of[0], n);
    part->count[0] = source->count[0] = 1;
    for (int d = 1; d < NB_H5_RANK; d++) {
        hsize_t begin = to->of[d].start, end = begin + to->of[d].block;
        hsize_t first = box->first[d] > begin ? box->first[d] : begin;
        hsize_t last =
            box->first[d] + box->count[d] < end ? box->first[d] + box->count[d] : end;
        if (first >= last)
            return 0;
        part->first[d] = first;
        part->count[d] = source->count[d] = last - first;
        source->first[d] = from->of[d].start + (first - begin);
    }
    return 1;
}

/** "%%" is a percent sign; 0: the name is too long, or has a number per block ("%b"). */
static int plain_name(const char *name, char *out)
{
    size_t n = 0;
    for (const char *p = name; *p; p++) {
        if (*p == '%' && *++p != '%')
            return 0;
        if (n + 1 >= NAME)
            return 0;
        out[n++] = *p;
    }
    out[n] = '\0';
    return n > 0;
}

/** The source file's path: beside the file where the set is. */
static int source_path(hid_t set, const char *name, char *path)
{
    char here[NAME];
    ssize_t n = H5Fget_name(set, here, sizeof here);
    char *slash;
    if (n <= 0 || n >= NAME)
        return 0;
    if (!strcmp(name, "."))
        return snprintf(path, 2 * NAME, "%s", here) > 0;
    slash = strrchr(here, '/');
    if (name[0] == '/' || !slash)
        return snprintf(path, 2 * NAME, "%s", name) > 0;
    slash[1] = '\0';
    return snprintf(path, 2 * NAME, "%s%s", here, name) > 0;
}

/** The source of a mapping's values. */
typedef struct source {
    char path[2 * NAME], set_name[NAME];
    nb_h5_input in;
    nb_h5_set set;
} source;

static nb_status open_source(const nb_h5_set *set, size_t i, source *s, nb_error *err)
{
    char name[NAME], raw[NAME], raw_set[NAME];
    ssize_t n = H5Pget_virtual_filename(set->creation, i, raw, sizeof raw);
    ssize_t m = H5Pget_virtual_dsetname(set->creation, i, raw_set, sizeof raw_set);
    s->in = *set->in;
    s->in.depth++;
    s->in.name = s->path;
    s->in.file = s->set.id = -1;
    if (n <= 0 || n >= NAME || m <= 0 || m >= NAME || !plain_name(raw, name) ||
        !plain_name(raw_set, s->set_name) || !source_path(set->id, name, s->path))
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "the virtual data set %s: the names of "
                          "its sources cannot be read",
                          set->path);
    if (nb_is_regular_file(s->path))
        s->in.file = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (s->in.file >= 0 && nb_h5_set_open(&s->in, s->set_name, -1, &s->set))
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                      "the virtual data set %s: its part %s of %s cannot be opened",
                      set->path, s->set_name, s->path);
}

static void close_source(source *s)
{
    nb_h5_set_close(&s->set);
    if (s->in.file >= 0)
        H5Fclose(s->in.file);
}

static nb_status read_source(const nb_h5_set *set, size_t i, const nb_h5_box *box,
                             const nb_h5_target *to, nb_error *err)
{
    source *s = nb_alloc(1, sizeof *s, "source of a virtual set", err);
    nb_status st;
    if (!s)
        return NB_ERR_NOMEM;
    st = open_source(set, i, s, err);
    if (!st)
        st = nb_h5_read_box(&s->set, box, to, err);
    close_source(s);
    nb_free(s);
    return st;
}

/** Fill values without a mapping with the set's fill value. */
static nb_status fill(const nb_h5_set *set, const nb_h5_box *box, const nb_h5_target *to,
                      nb_error *err)
{
    unsigned char value[sizeof(double)] = {0};
    unsigned char *values = to->values;
    if (to->type_bytes > sizeof value ||
        H5Pget_fill_value(set->creation, to->type, value) < 0)
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "%s cannot be read: damaged", set->path);
    for (hsize_t i = 0; i < box->count[0]; i++)
        for (hsize_t j = 0; j < box->count[1]; j++)
            for (hsize_t k = 0; k < box->count[2]; k++) {
                size_t row = (to->first[0] + i) * to->dims[1] + to->first[1] + j;
                size_t at = row * to->dims[2] + to->first[2] + k;
                memcpy(values + at * to->type_bytes, value, to->type_bytes);
            }
    return NB_OK;
}

/** Read one frame of the box from every mapping that has a part of it; *sources: number
 * opened so far. */
static nb_status read_frame(const nb_h5_set *set, const nb_h5_box *frame,
                            const nb_h5_target *to, int *sources, nb_error *err)
{
    size_t mappings = 0;
    int before = *sources;
    nb_status st = NB_OK;
    H5Pget_virtual_count(set->creation, &mappings);
    for (size_t i = 0; !st && i < mappings; i++) {
        selection there, from;
        nb_h5_box part, origin;
        nb_h5_target piece = *to;
        if (!read_mapping(set->creation, i, &there, &from) ||
            !overlap(&there, &from, frame, &part, &origin))
            continue;
        for (int d = 0; d < NB_H5_RANK; d++)
            piece.first[d] += part.first[d] - frame->first[d];
        if (++*sources > (set->in->depth ? MOST_NESTED : MOST_SOURCES))
            return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                              "the virtual data set %s has too many parts", set->path);
        st = read_source(set, i, &origin, &piece, err);
    }
    if (!st && *sources == before)
        st = nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                        "the virtual data set %s: no file has number %llu", set->path,
                        (unsigned long long)frame->first[0]);
    return st;
}

nb_status nb_h5_read_virtual(const nb_h5_set *set, const nb_h5_box *box,
                             const nb_h5_target *to, nb_error *err)
{
    nb_h5_box frame = *box;
    nb_h5_target there = *to;
    int sources = 0;
    nb_status st;
    if (set->in->depth >= MOST_DEPTH)
        return nb_fail_at(
            err, NB_ERR_INPUT, set->in->name, 0,
            "the virtual data set %s has more than two levels of virtual sources",
            set->path);
    st = fill(set, box, to, err);
    frame.count[0] = 1;
    for (hsize_t i = 0; !st && i < box->count[0]; i++) {
        frame.first[0] = box->first[0] + i;
        there.first[0] = to->first[0] + i;
        st = read_frame(set, &frame, &there, &sources, err);
    }
    return st;
}

#endif
