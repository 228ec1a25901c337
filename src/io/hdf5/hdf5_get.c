/* SPDX-License-Identifier: MIT */
#include "hdf5_get.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../common/panel_spec.h"
#include "hdf5_chunk.h"

/* --- attributes --- */

/** Read an attribute of exactly n numbers of up to eight bytes (integers = 1: only
 * integers). Returns 0 for a missing attribute or another form. */
static int get_attribute(const nb_h5_input *in, const char *path, const char *name,
                         int integers, int n, hid_t type, void *values)
{
    const hid_t id = H5(Aopen_by_name)(in->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space, stored;
    H5T_class_t class;
    int ok;
    if (id < 0)
        return 0;
    space = H5(Aget_space)(id);
    stored = H5(Aget_type)(id);
    class = H5(Tget_class)(stored);
    ok = H5(Sget_simple_extent_npoints)(space) == n && H5(Tget_size)(stored) <= 8 &&
         (class == H5T_INTEGER || (class == H5T_FLOAT && !integers)) &&
         H5(Aread)(id, type, values) >= 0;
    H5(Tclose)(stored);
    H5(Sclose)(space);
    H5(Aclose)(id);
    return ok;
}

int nb_h5_get_integer(const nb_h5_input *in, const char *path, const char *name,
                      hid_t type, void *value)
{
    return get_attribute(in, path, name, 1, 1, type, value);
}

int nb_h5_get_vector(const nb_h5_input *in, const char *path, const char *name, int n,
                     double *values)
{
    int ok = get_attribute(in, path, name, 0, n, H5T_NATIVE_DOUBLE, values);
    for (int i = 0; ok && i < n; i++)
        ok = isfinite(values[i]);
    return ok;
}

/* --- data sets --- */

static int has_type(nb_h5_set *set, hid_t row)
{
    const hid_t native[] = {H5T_NATIVE_UINT16, H5T_NATIVE_INT16, H5T_NATIVE_UINT32,
                            H5T_NATIVE_INT32, H5T_NATIVE_FLOAT};
    hid_t type = H5(Dget_type)(set->id);
    H5T_class_t class = H5(Tget_class)(type);
    size_t n = set->value_bytes = H5(Tget_size)(type);
    int ok = row >= 0 ? H5(Tequal)(type, row) > 0
                      : (class == H5T_INTEGER || class == H5T_FLOAT) &&
                            (n == 1 || n == 2 || n == 4 || n == 8);
    set->is_native = 0;
    for (size_t i = 0; i < sizeof native / sizeof *native; i++)
        set->is_native |= H5(Tequal)(type, native[i]) > 0;
    set->is_integer = class == H5T_INTEGER;
    set->is_signed = set->is_integer && H5(Tget_sign)(type) == H5T_SGN_2;
    H5(Tclose)(type);
    return ok;
}

/** Fill rank and dims; 0 for sizes that are too large for any image or table. */
static int has_shape(nb_h5_set *set)
{
    enum { LIMIT = 0x7fffffff };
    hid_t space = H5(Dget_space)(set->id);
    int rank = set->rank = H5(Sget_simple_extent_ndims)(space), ok;
    for (int i = 0; i < NB_H5_RANK; i++)
        set->dims[i] = 1;
    ok = rank >= 0 && rank <= NB_H5_RANK &&
         (rank > 0 || H5(Sget_simple_extent_npoints)(space) == 1) &&
         H5(Sget_simple_extent_dims)(space, set->dims + NB_H5_RANK - rank, NULL) == rank;
    for (int i = 0; i < NB_H5_RANK; i++)
        ok = ok && set->dims[i] <= LIMIT;
    H5(Sclose)(space);
    return ok;
}

int nb_h5_set_open(const nb_h5_input *in, const char *path, hid_t row, nb_h5_set *set)
{
    int ok;
    memset(set, 0, sizeof *set);
    set->in = in;
    set->path = path;
    set->row = row;
    set->creation = -1;
    set->id = H5(Dopen2)(in->file, path, H5P_DEFAULT);
    if (set->id < 0)
        return 0;
    set->creation = H5(Dget_create_plist)(set->id);
    ok = set->creation >= 0 && H5(Pget_external_count)(set->creation) == 0 &&
         has_type(set, row) && has_shape(set);
    if (!ok)
        nb_h5_set_close(set);
    return ok;
}

void nb_h5_set_close(nb_h5_set *set)
{
    if (set->creation >= 0)
        H5(Pclose)(set->creation);
    if (set->id >= 0)
        H5(Dclose)(set->id);
    set->id = set->creation = -1;
}

nb_h5_box nb_h5_whole(const nb_h5_set *set)
{
    nb_h5_box box = {{0}, {0}};
    memcpy(box.count, set->dims, sizeof box.count);
    return box;
}

/* --- values that the file lacks --- The library returns fill values for unwritten chunks
 * and for virtual parts whose file is missing. */

static nb_status refuse(const nb_h5_set *set, const char *what, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0, "%s %s", set->path, what);
}

/** Stored bytes of the chunk at these coordinates; 0 if the chunk is missing. */
static size_t chunk_bytes(const nb_h5_set *set, const hsize_t *at)
{
    hsize_t bytes = 0;
    return H5(Dget_chunk_storage_size)(set->id, at, &bytes) < 0 ? 0 : (size_t)bytes;
}

/** Check that every chunk of the box exists. */
static nb_status check_chunks(const nb_h5_set *set, const nb_h5_box *box, nb_error *err)
{
    static const char missing[] =
        "was never written in a part, or its chunks are damaged";
    const int skip = NB_H5_RANK - set->rank;
    hsize_t size[NB_H5_RANK] = {1, 1, 1}, at[NB_H5_RANK], first[NB_H5_RANK];
    if (set->rank < 1 ||
        H5(Pget_chunk)(set->creation, set->rank, size + skip) != set->rank)
        return refuse(set, missing, err);
    for (int i = 0; i < NB_H5_RANK; i++)
        first[i] = box->first[i] / size[i] * size[i];
    for (at[0] = first[0]; at[0] < box->first[0] + box->count[0]; at[0] += size[0])
        for (at[1] = first[1]; at[1] < box->first[1] + box->count[1]; at[1] += size[1])
            for (at[2] = first[2]; at[2] < box->first[2] + box->count[2]; at[2] += size[2])
                if (!chunk_bytes(set, at + skip))
                    return refuse(set, missing, err);
    return NB_OK;
}

enum { NAME = 1024, MAX_DEPTH = 2 };

/** File and data set of mapping i. A relative name starts in the folder of the set's
 * file. */
static int source_names(const nb_h5_set *set, size_t i, char path[2 * NAME],
                        char source[NAME])
{
    char name[NAME], here[NAME], *slash;
    const ssize_t n = H5(Pget_virtual_filename)(set->creation, i, name, NAME),
                  m = H5(Pget_virtual_dsetname)(set->creation, i, source, NAME),
                  k = H5(Fget_name)(set->id, here, NAME);
    if (n <= 0 || n >= NAME || m <= 0 || m >= NAME || k <= 0 || k >= NAME ||
        /* %b stands for the number of a block */
        strchr(name, '%') || strchr(source, '%'))
        return 0;
    slash = strrchr(here, '/');
    if (strcmp(name, ".") == 0)
        snprintf(path, 2 * NAME, "%s", here);
    else
        snprintf(path, 2 * NAME, "%.*s%s",
                 name[0] == '/' || !slash ? 0 : (int)(slash + 1 - here), here, name);
    return 1;
}

/** True if mapping i has a part of the box. */
static int has_part(const nb_h5_set *set, size_t i, const nb_h5_box *box)
{
    const int skip = NB_H5_RANK - set->rank;
    const hid_t space = H5(Pget_virtual_vspace)(set->creation, i);
    const int yes = H5(Sselect_hyperslab)(space, H5S_SELECT_AND, box->first + skip, NULL,
                                          box->count + skip, NULL) >= 0 &&
                    H5(Sget_select_npoints)(space) > 0;
    if (space >= 0)
        H5(Sclose)(space);
    return yes;
}

static nb_status check_sources(const nb_h5_set *set, const nb_h5_box *box, int depth,
                               nb_error *err);

/** Check that the source of mapping i exists, and the sources of that source. */
static nb_status check_source(const nb_h5_set *set, size_t i, int depth, nb_error *err)
{
    char path[2 * NAME], name[NAME];
    nb_h5_input in = *set->in;
    nb_h5_set source;
    nb_h5_box all;
    int there = 0;
    nb_status st = NB_OK;
    if (!source_names(set, i, path, name))
        return refuse(set, "is virtual, and the names of its sources cannot be read", err);
    in.file = nb_is_regular_file(path) ? H5(Fopen)(path, H5F_ACC_RDONLY, H5P_DEFAULT) : -1;
    if (in.file >= 0 && (there = nb_h5_set_open(&in, name, set->row, &source))) {
        all = nb_h5_whole(&source);
        if (H5(Pget_layout)(source.creation) == H5D_VIRTUAL)
            st = check_sources(&source, &all, depth + 1, err);
        nb_h5_set_close(&source);
    }
    if (in.file >= 0)
        H5(Fclose)(in.file);
    return there
               ? st
               : nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                            "the virtual data set %s: its part %s of %s cannot be opened",
                            set->path, name, path);
}

static nb_status check_sources(const nb_h5_set *set, const nb_h5_box *box, int depth,
                               nb_error *err)
{
    size_t n = 0;
    int parts = 0;
    nb_status st = NB_OK;
    if (depth > MAX_DEPTH)
        return refuse(set, "has more than two levels of virtual sources", err);
    H5(Pget_virtual_count)(set->creation, &n);
    for (size_t i = 0; !st && i < n; i++)
        if (has_part(set, i, box)) {
            parts++;
            st = check_source(set, i, depth, err);
        }
    return st || parts ? st
                       : nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                                    "the virtual data set %s: no file has number %llu",
                                    set->path, (unsigned long long)box->first[0]);
}

static nb_status check_written(const nb_h5_set *set, const nb_h5_box *box, nb_error *err)
{
    const double bytes = (double)set->dims[0] * (double)set->dims[1] *
                         (double)set->dims[2] * (double)set->value_bytes;
    switch (H5(Pget_layout)(set->creation)) {
    case H5D_CHUNKED:
        return check_chunks(set, box, err);
    case H5D_VIRTUAL:
        return check_sources(set, box, 1, err);
    default:
        return (double)H5(Dget_storage_size)(set->id) < bytes
                   ? refuse(set, "was never written", err)
                   : NB_OK;
    }
}

nb_status nb_h5_set_read(const nb_h5_set *set, const nb_h5_box *box, hid_t type,
                         void *values, nb_error *err)
{
    const int skip = NB_H5_RANK - set->rank;
    hid_t from, memory;
    nb_status st;
    int ok;
    if (!box->count[0] || !box->count[1] || !box->count[2])
        return NB_OK;
    NB_FORWARD(check_written(set, box, err));
    from = H5(Dget_space)(set->id);
    memory = H5(Screate_simple)(NB_H5_RANK, box->count, NULL);
    ok = (set->rank == 0 || H5(Sselect_hyperslab)(from, H5S_SELECT_SET, box->first + skip,
                                                  NULL, box->count + skip, NULL) >= 0) &&
         H5(Dread)(set->id, type, memory, from, H5P_DEFAULT, values) >= 0;
    H5(Sclose)(memory);
    H5(Sclose)(from);
    return ok ? NB_OK
              : refuse(set,
                       "cannot be read: damaged, or compressed by a filter that is not "
                       "installed",
                       err);
}

void *nb_h5_set_all(const nb_h5_set *set, hid_t type, size_t bytes, nb_status *st,
                    nb_error *err)
{
    const nb_h5_box all = nb_h5_whole(set);
    const double n = (double)set->dims[0] * (double)set->dims[1] * (double)set->dims[2];
    void *values = NULL;
    *st = NB_OK;
    if (n < 1)
        *st = refuse(set, "is empty", err);
    else if (!(values = nb_alloc_raw((size_t)n, bytes, "numbers of HDF5", err)))
        *st = NB_ERR_NOMEM;
    else if (!(*st = nb_h5_set_read(set, &all, type, values, err)))
        return values;
    nb_free(values);
    return NULL;
}

double nb_h5_get_number(const nb_h5_input *in, const char *path, long long at, int width)
{
    nb_h5_box one = {{0, 0, 0}, {1, 1, 1}};
    nb_h5_set set;
    double value = NAN, n;
    if (!nb_h5_there(in, path) || !nb_h5_set_open(in, path, -1, &set))
        return NAN;
    n = (double)set.dims[0] * (double)set.dims[1] * (double)set.dims[2];
    if (in->several)
        *in->several |= n > width;
    if ((double)at >= n)
        at = n >= width ? at % width : 0;
    for (int i = NB_H5_RANK - 1; i >= 0 && n > 0; i--) {
        one.first[i] = (hsize_t)at % set.dims[i];
        at /= (long long)set.dims[i];
    }
    if (nb_h5_set_read(&set, &one, H5T_NATIVE_DOUBLE, &value, NULL))
        value = NAN;
    nb_h5_set_close(&set);
    return value;
}

double *nb_h5_get_numbers(const nb_h5_input *in, const char *path, int *rank,
                          hsize_t dims[NB_H5_RANK])
{
    nb_h5_set set;
    double *values;
    nb_status st;
    if (!nb_h5_there(in, path) || !nb_h5_set_open(in, path, -1, &set))
        return NULL;
    values = nb_h5_set_all(&set, H5T_NATIVE_DOUBLE, sizeof *values, &st, NULL);
    *rank = set.rank;
    memcpy(dims, set.dims, sizeof set.dims);
    nb_h5_set_close(&set);
    return values;
}

int nb_h5_get_rows(const nb_h5_input *in, const char *path, const hid_t types[2],
                   size_t bytes, size_t n, void **rows)
{
    nb_h5_set set;
    nb_status st = NB_OK;
    int ok = nb_h5_set_open(in, path, types[0], &set);
    *rows = NULL;
    if (!ok)
        return 0;
    ok = set.rank == 1 && set.dims[NB_H5_RANK - 1] == n;
    if (ok && n > 0)
        *rows = nb_h5_set_all(&set, types[1], bytes, &st, NULL);
    nb_h5_set_close(&set);
    return ok && !st;
}

int nb_h5_has_packed_frames(const nb_h5_set *set)
{
    unsigned flags, values[8];
    size_t n = 8;
    hsize_t size[NB_H5_RANK] = {1, 1, 1};
    return set->is_native && set->rank >= 2 &&
           H5(Pget_layout)(set->creation) == H5D_CHUNKED &&
           H5(Pget_chunk)(set->creation, set->rank, size + NB_H5_RANK - set->rank) ==
               set->rank &&
           size[0] == 1 && size[1] == set->dims[1] && size[2] == set->dims[2] &&
           H5(Pget_nfilters)(set->creation) == 1 &&
           H5(Pget_filter2)(set->creation, 0, &flags, &n, values, 0, NULL, NULL) ==
               NB_H5_BITSHUFFLE &&
           n >= 5 && values[2] == set->value_bytes && values[4] == NB_H5_BITSHUFFLE_LZ4;
}

void *nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, size_t *bytes)
{
    uint32_t left_out = 0;
    void *chunk = NULL;
    if ((*bytes = chunk_bytes(set, at)))
        chunk = nb_alloc_raw(*bytes, 1, "chunk of HDF5", NULL);
    if (chunk && H5(Dread_chunk)(set->id, H5P_DEFAULT, at, &left_out, chunk) >= 0 &&
        !left_out)
        return chunk;
    nb_free(chunk);
    return NULL;
}

/* --- texts --- */

/** Read an attribute or a data set of one text. */
static int read_text(hid_t id, int attribute, hid_t type, void *text)
{
    return (attribute ? H5(Aread)(id, type, text)
                      : H5(Dread)(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text)) >= 0;
}

/** Read one text of fixed or variable length. */
static int get_one(hid_t id, int attribute, char *text, size_t size)
{
    hid_t space = attribute ? H5(Aget_space)(id) : H5(Dget_space)(id);
    hid_t type = attribute ? H5(Aget_type)(id) : H5(Dget_type)(id), fixed;
    char *all = NULL;
    int ok =
        H5(Sget_simple_extent_npoints)(space) == 1 && H5(Tget_class)(type) == H5T_STRING;
    if (ok && H5(Tis_variable_str)(type) > 0) {
        ok = read_text(id, attribute, type, &all) && all && strlen(all) < size;
        if (ok)
            memcpy(text, all, strlen(all));
        H5(free_memory)(all);
    } else if (ok) {
        fixed = H5(Tcopy)(H5T_C_S1);
        H5(Tset_size)(fixed, size);
        H5(Tset_cset)(fixed, H5(Tget_cset)(type));
        ok = H5(Tget_size)(type) > 0 && H5(Tget_size)(type) < size &&
             read_text(id, attribute, fixed, text);
        H5(Tclose)(fixed);
    }
    H5(Tclose)(type);
    H5(Sclose)(space);
    return ok;
}

int nb_h5_get_string(const nb_h5_input *in, const char *path, const char *name,
                     char *text, size_t size)
{
    hid_t id = name ? H5(Aopen_by_name)(in->file, path, name, H5P_DEFAULT, H5P_DEFAULT)
               : nb_h5_there(in, path) ? H5(Dopen2)(in->file, path, H5P_DEFAULT)
                                       : -1;
    int ok = 0;
    memset(text, 0, size);
    if (id >= 0)
        ok = get_one(id, name != NULL, text, size);
    text[ok ? size - 1 : 0] = '\0';
    if (id >= 0 && name)
        H5(Aclose)(id);
    else if (id >= 0)
        H5(Dclose)(id);
    return ok;
}

/* --- groups --- */

nb_status nb_h5_wrong(const nb_h5_input *in, const char *path, const char *what,
                      nb_error *err)
{
    char link[1024] = ""; /* a longer link ends without a zero */
    const char *file, *object;
    unsigned flags;
    nb_h5_set set;
    if (H5(Lget_val)(in->file, path, link, sizeof link, H5P_DEFAULT) >= 0 &&
        H5(Lunpack_elink_val)(link, sizeof link, &flags, &file, &object) >= 0) {
        if (!nb_h5_set_open(in, path, -1, &set))
            return nb_fail_at(
                err, NB_ERR_INPUT, in->name, 0,
                "%s, a link to %.300s, cannot be opened: put that file at its "
                "place",
                path, file);
        nb_h5_set_close(&set);
    }
    return nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "%s: %s", path, what);
}

int nb_h5_there(const nb_h5_input *in, const char *path)
{
    char part[2 * NB_H5_NAME];
    size_t n = strlen(path);
    if (path[0] != '/' || n >= sizeof part)
        return 0;
    for (size_t i = 1; i <= n; i++)
        if (path[i] == '/' || path[i] == '\0') {
            memcpy(part, path, i);
            part[i] = '\0';
            if (i > 1 && H5(Lexists)(in->file, part, H5P_DEFAULT) <= 0)
                return 0;
        }
    return n > 1;
}

int nb_h5_at(const nb_h5_input *in, const char *group, const char *name,
             char path[NB_H5_PATH])
{
    return snprintf(path, NB_H5_PATH, "%s/%s", group, name) < NB_H5_PATH &&
           nb_h5_there(in, path);
}

/** Get the path of child i; 0 if the child has another class. */
static int child_of(const nb_h5_input *in, hid_t group, const char *parent, hsize_t i,
                    const char *nx_class, char path[NB_H5_NAME])
{
    char name[NB_H5_NAME], class[40];
    ssize_t n = H5(Lget_name_by_idx)(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                     sizeof name, H5P_DEFAULT);
    if (n <= 0 || n >= (ssize_t)sizeof name ||
        snprintf(path, NB_H5_NAME, "%s/%s", parent[1] ? parent : "", name) >= NB_H5_NAME)
        return 0;
    return !nx_class || (nb_h5_get_string(in, path, "NX_class", class, sizeof class) &&
                         strcmp(class, nx_class) == 0);
}

nb_status nb_h5_children(const nb_h5_input *in, const char *group, const char *nx_class,
                         int max, char (**paths)[NB_H5_NAME], int *n, nb_error *err)
{
    enum { MAX_LINKS = 20000 };
    hid_t id = !group[1] || nb_h5_there(in, group)
                   ? H5(Gopen2)(in->file, group, H5P_DEFAULT)
                   : -1;
    H5G_info_t info;
    char path[NB_H5_NAME];
    nb_status st = NB_OK;
    *paths = NULL;
    *n = 0;
    if (id < 0)
        return NB_OK;
    if (H5(Gget_info)(id, &info) < 0 || info.nlinks > MAX_LINKS)
        info.nlinks = 0;
    for (hsize_t i = 0; !st && i < info.nlinks; i++) {
        if (!child_of(in, id, group, i, nx_class, path))
            continue;
        if (!*paths &&
            !(*paths = nb_alloc_raw((size_t)max, sizeof **paths, "groups of HDF5", err)))
            st = NB_ERR_NOMEM;
        else if (*n == max)
            st = nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "%s has more than %d %s",
                            group, max, nx_class ? nx_class : "groups");
        else
            memcpy((*paths)[(*n)++], path, sizeof path);
    }
    H5(Gclose)(id);
    if (st) {
        nb_free(*paths);
        *paths = NULL;
        *n = 0;
    }
    return st;
}
