/* SPDX-License-Identifier: MIT */
#include "hdf5_get.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../common/declared.h"

#ifdef NB_HAVE_HDF5

/* --- attributes --- */

/** Has the attribute one value of this class? */
static int is_one(hid_t attr, H5T_class_t wanted, size_t most_bytes)
{
    hid_t space = H5Aget_space(attr), type = H5Aget_type(attr);
    int ok = H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == wanted &&
             H5Tget_size(type) > 0 && H5Tget_size(type) <= most_bytes &&
             (wanted != H5T_STRING || H5Tis_variable_str(type) == 0);
    H5Tclose(type);
    H5Sclose(space);
    return ok;
}

int nb_h5_get_integer(const nb_h5_input *in, const char *path, const char *name,
                      hid_t type, void *value)
{
    hid_t attr = H5Aopen_by_name(in->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    int ok = attr >= 0 && is_one(attr, H5T_INTEGER, sizeof(int64_t)) &&
             H5Aread(attr, type, value) >= 0;
    if (attr >= 0)
        H5Aclose(attr);
    return ok;
}

/* --- data sets --- */

static int has_type(nb_h5_set *set, hid_t row)
{
    hid_t type = H5Dget_type(set->id);
    H5T_class_t class = H5Tget_class(type);
    size_t n = set->value_bytes = H5Tget_size(type);
    int ok = row >= 0 ? H5Tequal(type, row) > 0
                      : (class == H5T_INTEGER || class == H5T_FLOAT) &&
                            (n == 1 || n == 2 || n == 4 || n == 8);
    set->is_integer = class == H5T_INTEGER;
    set->is_signed = set->is_integer && H5Tget_sign(type) == H5T_SGN_2;
    H5Tclose(type);
    return ok;
}

/** Fill rank and dims. Sizes that are too large for any image or table are refused. */
static int has_shape(nb_h5_set *set)
{
    enum { MOST = 0x7fffffff };
    hid_t space = H5Dget_space(set->id);
    int rank = set->rank = H5Sget_simple_extent_ndims(space), ok;
    for (int i = 0; i < NB_H5_RANK; i++)
        set->dims[i] = 1;
    ok = rank >= 0 && rank <= NB_H5_RANK &&
         (rank > 0 || H5Sget_simple_extent_npoints(space) == 1) &&
         H5Sget_simple_extent_dims(space, set->dims + NB_H5_RANK - rank, NULL) == rank;
    for (int i = 0; i < NB_H5_RANK; i++)
        ok = ok && set->dims[i] <= MOST;
    H5Sclose(space);
    return ok;
}

/** The file where the set is; a link may have led there. */
static double bytes_of_file(hid_t id)
{
    hid_t file = H5Iget_file_id(id);
    hsize_t bytes = 0;
    if (file < 0)
        return 0;
    if (H5Fget_filesize(file, &bytes) < 0)
        bytes = 0;
    H5Fclose(file);
    return (double)bytes;
}

int nb_h5_set_open(const nb_h5_input *in, const char *path, hid_t row, nb_h5_set *set)
{
    int ok;
    memset(set, 0, sizeof *set);
    set->in = in;
    set->path = path;
    set->creation = -1;
    set->id = H5Dopen2(in->file, path, H5P_DEFAULT);
    if (set->id < 0)
        return 0;
    set->creation = H5Dget_create_plist(set->id);
    set->file_bytes = bytes_of_file(set->id);
    ok = set->creation >= 0 && H5Pget_external_count(set->creation) == 0 &&
         has_type(set, row) &&
         (H5Pget_layout(set->creation) != H5D_VIRTUAL ||
          nb_h5_virtual_is_known(set->creation)) &&
         has_shape(set);
    if (!ok)
        nb_h5_set_close(set);
    return ok;
}

void nb_h5_set_close(nb_h5_set *set)
{
    if (set->creation >= 0)
        H5Pclose(set->creation);
    if (set->id >= 0)
        H5Dclose(set->id);
    set->id = set->creation = -1;
}

nb_h5_box nb_h5_whole(const nb_h5_set *set)
{
    nb_h5_box box = {{0}, {0}};
    memcpy(box.count, set->dims, sizeof box.count);
    return box;
}

int nb_h5_read_directly(const nb_h5_set *set, hid_t id, const nb_h5_box *box,
                        const nb_h5_target *to)
{
    int skip = NB_H5_RANK - set->rank;
    hid_t from = H5Dget_space(id), memory = H5Screate_simple(NB_H5_RANK, to->dims, NULL);
    int ok =
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, to->first, NULL, box->count, NULL) >=
            0 &&
        (set->rank == 0 || H5Sselect_hyperslab(from, H5S_SELECT_SET, box->first + skip,
                                               NULL, box->count + skip, NULL) >= 0) &&
        H5Dread(id, to->type, memory, from, H5P_DEFAULT, to->values) >= 0;
    H5Sclose(memory);
    H5Sclose(from);
    return ok;
}

/** Contiguous or in the header: all bytes must be present. */
static nb_status read_plain(const nb_h5_set *set, const nb_h5_box *box,
                            const nb_h5_target *to, nb_error *err)
{
    double all = (double)set->dims[0] * (double)set->dims[1] * (double)set->dims[2];
    if ((double)H5Dget_storage_size(set->id) < all * (double)set->value_bytes ||
        set->file_bytes < all * (double)set->value_bytes)
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                          "%s was never written, or is cut short", set->path);
    if (nb_h5_read_directly(set, set->id, box, to))
        return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0, "%s cannot be read: damaged",
                      set->path);
}

nb_status nb_h5_read_box(const nb_h5_set *set, const nb_h5_box *box,
                         const nb_h5_target *to, nb_error *err)
{
    for (int i = 0; i < NB_H5_RANK; i++)
        if (box->first[i] > set->dims[i] || box->count[i] > set->dims[i] - box->first[i])
            return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0,
                              "%s is smaller than another data set requires", set->path);
    switch (H5Pget_layout(set->creation)) {
    case H5D_CHUNKED:
        return nb_h5_read_chunks(set, box, to, err);
    case H5D_VIRTUAL:
        return nb_h5_read_virtual(set, box, to, err);
    default:
        return read_plain(set, box, to, err);
    }
}

nb_status nb_h5_set_read(const nb_h5_set *set, const nb_h5_box *box, hid_t type,
                         size_t type_bytes, void *values, nb_error *err)
{
    nb_h5_target to = {values, type, type_bytes, {0}, {0}};
    memcpy(to.dims, box->count, sizeof to.dims);
    if (!box->count[0] || !box->count[1] || !box->count[2])
        return NB_OK;
    return nb_h5_read_box(set, box, &to, err);
}

nb_status nb_h5_set_doubles(const nb_h5_set *set, double **values, nb_error *err)
{
    nb_h5_box all = nb_h5_whole(set);
    double n = (double)set->dims[0] * (double)set->dims[1] * (double)set->dims[2];
    nb_status st = nb_declared_check(set->in->name, n * sizeof **values, set->file_bytes,
                                     set->in->most_MB, err);
    *values = NULL;
    if (st)
        return st;
    if (n < 1)
        return nb_fail_at(err, NB_ERR_INPUT, set->in->name, 0, "%s is empty", set->path);
    if (!(*values = nb_alloc_raw((size_t)n, sizeof **values, "numbers of HDF5", err)))
        return NB_ERR_NOMEM;
    st = nb_h5_set_read(set, &all, H5T_NATIVE_DOUBLE, sizeof **values, *values, err);
    if (st) {
        nb_free(*values);
        *values = NULL;
    }
    return st;
}

double nb_h5_get_number(const nb_h5_input *in, const char *path, long long at, int width)
{
    nb_h5_box one = {{0, 0, 0}, {1, 1, 1}};
    nb_h5_set set;
    double value = NAN, n;
    if (!nb_h5_set_open(in, path, -1, &set))
        return NAN;
    n = (double)set.dims[0] * (double)set.dims[1] * (double)set.dims[2];
    if ((double)at >= n)
        at = n >= width ? at % width : 0;
    for (int i = NB_H5_RANK - 1; i >= 0 && n > 0; i--) {
        one.first[i] = (hsize_t)at % set.dims[i];
        at /= (long long)set.dims[i];
    }
    if (nb_h5_set_read(&set, &one, H5T_NATIVE_DOUBLE, sizeof value, &value, NULL))
        value = NAN;
    nb_h5_set_close(&set);
    return value;
}

/** Open a one-dimensional set of n numbers or rows. */
static int open_column(const nb_h5_input *in, const char *path, hid_t row, size_t n,
                       nb_h5_set *set)
{
    if (!nb_h5_set_open(in, path, row, set))
        return 0;
    if (set->rank == 1 && set->dims[NB_H5_RANK - 1] == n)
        return 1;
    nb_h5_set_close(set);
    return 0;
}

int nb_h5_get_column(const nb_h5_input *in, const char *path, hid_t type,
                     size_t type_bytes, size_t n, void *values)
{
    nb_h5_set set;
    nb_h5_box all;
    int ok = open_column(in, path, -1, n, &set);
    if (!ok)
        return 0;
    all = nb_h5_whole(&set);
    ok = !nb_h5_set_read(&set, &all, type, type_bytes, values, NULL);
    nb_h5_set_close(&set);
    return ok;
}

int nb_h5_get_rows(const nb_h5_input *in, const char *path, hid_t type, size_t type_bytes,
                   size_t n, void **rows)
{
    nb_h5_set set;
    nb_h5_box all;
    int ok = open_column(in, path, type, n, &set);
    *rows = NULL;
    if (!ok)
        return 0;
    all = nb_h5_whole(&set);
    ok = !nb_declared_check(in->name, (double)n * (double)type_bytes, set.file_bytes,
                            in->most_MB, NULL) &&
         (*rows = nb_alloc(n ? n : 1, type_bytes, "rows of HDF5", NULL)) &&
         !nb_h5_set_read(&set, &all, type, type_bytes, *rows, NULL);
    nb_h5_set_close(&set);
    if (!ok) {
        nb_free(*rows);
        *rows = NULL;
    }
    return ok;
}

int nb_h5_has_filters(const nb_h5_set *set)
{
    return H5Pget_nfilters(set->creation) > 0;
}

size_t nb_h5_chunk_bytes(const nb_h5_set *set, const hsize_t *at)
{
    hsize_t bytes = 0;
    haddr_t address = HADDR_UNDEF;
    unsigned mask;
    if (nb_h5_has_filters(set)) /* one lookup in the tree */
        return H5Dget_chunk_storage_size(set->id, at, &bytes) < 0 ? 0 : (size_t)bytes;
    /* a walk through all chunks, but this is the stored length and not that of the layout */
    if (H5Dget_chunk_info_by_coord(set->id, at, &mask, &address, &bytes) < 0 ||
        address == HADDR_UNDEF)
        return 0;
    return (size_t)bytes;
}

size_t nb_h5_get_chunk(const nb_h5_set *set, const hsize_t *at, void *buffer, size_t room,
                       unsigned *mask)
{
    size_t bytes = nb_h5_chunk_bytes(set, at);
    uint32_t left_out = 0;
    if (bytes == 0 || bytes > room ||
        H5Dread_chunk(set->id, H5P_DEFAULT, at, &left_out, buffer) < 0)
        return 0;
    *mask = left_out;
    return bytes;
}

int nb_h5_get_plain_chunk(const nb_h5_set *set, const hsize_t *at, void *buffer)
{
    uint32_t left_out = 0;
    return H5Dread_chunk(set->id, H5P_DEFAULT, at, &left_out, buffer) >= 0;
}

#endif

/* --- Texts, vectors and groups of an HDF5 file that is not trusted --- */

#ifdef NB_HAVE_HDF5

/* --- texts of variable length --- */

/* In the file such a text is a length and a reference: the address of a collection and an index
 * in it. libhdf5 1.10 trusts the length, so the library is not used to read the text. A
 * conversion to the same type gives the sixteen bytes; the collection ("global heap") is read
 * here (HDF5 File Format Specification 3.0, III.E). */
enum { REFERENCE = 16, HEADER = 16, LARGEST_COLLECTION = 1 << 20 };

static herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t *data, size_t n, size_t step,
                         size_t background_step, void *values, void *background,
                         hid_t list)
{
    (void)from;
    (void)to;
    (void)n;
    (void)step;
    (void)background_step;
    (void)values;
    (void)background;
    (void)list;
    if (data->command == H5T_CONV_INIT)
        data->need_bkg = H5T_BKG_NO;
    return 0;
}

static uint64_t little_endian(const unsigned char *p, int n)
{
    uint64_t value = 0;
    while (n-- > 0)
        value = value << 8 | p[n];
    return value;
}

/** Object `number` of the collection bytes[size]; NULL: it is not there. */
static const unsigned char *find_object(const unsigned char *bytes, size_t size,
                                        unsigned number, size_t *length)
{
    size_t at = HEADER;
    while (size - at >= HEADER) {
        unsigned index = (unsigned)little_endian(bytes + at, 2);
        uint64_t used = little_endian(bytes + at + 8, 8);
        if (index == 0 || used > size - at - HEADER)
            return NULL;
        *length = (size_t)used;
        if (index == number)
            return bytes + at + HEADER;
        used = (used + 7) / 8 * 8;
        if (used > size - at - HEADER)
            return NULL;
        at += HEADER + (size_t)used;
    }
    return NULL;
}

static int read_collection(const nb_input *file, const unsigned char reference[REFERENCE],
                           char *text, size_t size)
{
    uint64_t wanted = little_endian(reference, 4), at = little_endian(reference + 4, 8);
    unsigned number = (unsigned)little_endian(reference + 12, 4);
    unsigned char header[HEADER], *bytes;
    const unsigned char *found;
    uint64_t all;
    size_t length = 0;
    int ok = 0;
    if (wanted >= size || nb_input_read(file, at, header, sizeof header, NULL) ||
        memcmp(header, "GCOL\1", 5) != 0)
        return 0;
    all = little_endian(header + 8, 8);
    if (all < HEADER || all > LARGEST_COLLECTION ||
        !(bytes = nb_alloc_raw((size_t)all, 1, "text of HDF5", NULL)))
        return 0;
    if (!nb_input_read(file, at, bytes, (size_t)all, NULL) &&
        (found = find_object(bytes, (size_t)all, number, &length)) && wanted <= length) {
        memcpy(text, found, (size_t)wanted);
        ok = 1;
    }
    nb_free(bytes);
    return ok;
}

/** id: of an attribute or a data set of one such text. */
static int get_variable(hid_t id, int attribute, char *text, size_t size)
{
    unsigned char reference[REFERENCE] = {0};
    hid_t from = H5Tcopy(H5T_C_S1), to = H5Tcreate(H5T_OPAQUE, REFERENCE);
    char name[NB_PATH_MAX];
    hid_t owner = H5Iget_file_id(id);
    nb_input file;
    int ok = owner >= 0 && H5Fget_name(owner, name, sizeof name) > 0;
    H5Tset_size(from, H5T_VARIABLE);
    H5Tset_tag(to, "reference");
    if (ok && H5Tregister(H5T_PERS_SOFT, "nb", from, to, keep_bytes) >= 0) {
        ok = (attribute ? H5Aread(id, to, reference)
                        : H5Dread(id, to, H5S_ALL, H5S_ALL, H5P_DEFAULT, reference)) >= 0;
        H5Tunregister(H5T_PERS_SOFT, "nb", from, to, keep_bytes);
    } else {
        ok = 0;
    }
    H5Tclose(to);
    H5Tclose(from);
    if (owner >= 0)
        H5Fclose(owner);
    if (!ok || nb_input_open(&file, name, "HDF5", NULL))
        return 0;
    ok = read_collection(&file, reference, text, size);
    nb_input_close(&file);
    return ok;
}

static int get_fixed(hid_t id, hid_t stored, int attribute, char *text, size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    int ok;
    H5Tset_size(type, size);
    H5Tset_cset(type, H5Tget_cset(stored));
    ok = (attribute ? H5Aread(id, type, text)
                    : H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text)) >= 0;
    H5Tclose(type);
    return ok;
}

/** One text, stored in one piece. */
static int get_one(hid_t id, int attribute, char *text, size_t size)
{
    hid_t space = attribute ? H5Aget_space(id) : H5Dget_space(id);
    hid_t type = attribute ? H5Aget_type(id) : H5Dget_type(id);
    int ok = H5Sget_simple_extent_npoints(space) == 1 && H5Tget_class(type) == H5T_STRING;
    if (ok && H5Tis_variable_str(type) > 0)
        ok = get_variable(id, attribute, text, size);
    else if (ok)
        ok = H5Tget_size(type) > 0 && H5Tget_size(type) < size &&
             get_fixed(id, type, attribute, text, size);
    H5Tclose(type);
    H5Sclose(space);
    return ok;
}

/** Is it contiguous or in the header, in this file, and written? */
static int is_plain(hid_t set)
{
    hid_t creation = H5Dget_create_plist(set);
    int ok = creation >= 0 && H5Pget_external_count(creation) == 0 &&
             (H5Pget_layout(creation) == H5D_CONTIGUOUS ||
              H5Pget_layout(creation) == H5D_COMPACT) &&
             H5Dget_storage_size(set) > 0;
    if (creation >= 0)
        H5Pclose(creation);
    return ok;
}

int nb_h5_get_string(const nb_h5_input *in, const char *path, const char *name,
                     char *text, size_t size)
{
    hid_t id = name ? H5Aopen_by_name(in->file, path, name, H5P_DEFAULT, H5P_DEFAULT)
                    : H5Dopen2(in->file, path, H5P_DEFAULT);
    int ok = 0;
    memset(text, 0, size);
    if (id >= 0 && (name || is_plain(id)))
        ok = get_one(id, name != NULL, text, size);
    text[ok ? size - 1 : 0] = '\0';
    if (id >= 0 && name)
        H5Aclose(id);
    else if (id >= 0)
        H5Dclose(id);
    return ok;
}

/* --- vectors and groups --- */

int nb_h5_get_vector(const nb_h5_input *in, const char *path, const char *name, int n,
                     double *values)
{
    hid_t id = H5Aopen_by_name(in->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space, type;
    H5T_class_t class;
    int ok;
    if (id < 0)
        return 0;
    space = H5Aget_space(id);
    type = H5Aget_type(id);
    class = H5Tget_class(type);
    ok = H5Sget_simple_extent_npoints(space) == n &&
         (class == H5T_FLOAT || class == H5T_INTEGER) && H5Tget_size(type) <= 8 &&
         H5Aread(id, H5T_NATIVE_DOUBLE, values) >= 0;
    for (int i = 0; ok && i < n; i++)
        ok = isfinite(values[i]);
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(id);
    return ok;
}

nb_status nb_h5_wrong(const nb_h5_input *in, const char *path, const char *what,
                      nb_error *err)
{
    char link[1024] = ""; /* what is too long has no zero at its end */
    const char *file, *object;
    unsigned flags;
    nb_h5_set set;
    if (H5Lget_val(in->file, path, link, sizeof link, H5P_DEFAULT) >= 0 &&
        H5Lunpack_elink_val(link, sizeof link, &flags, &file, &object) >= 0) {
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
            if (i > 1 && H5Lexists(in->file, part, H5P_DEFAULT) <= 0)
                return 0;
        }
    return n > 1;
}

/** Child number i, if it has the class; its path. */
static int child_of(const nb_h5_input *in, hid_t group, const char *parent, hsize_t i,
                    const char *nx_class, char path[NB_H5_NAME])
{
    char name[NB_H5_NAME], class[40];
    ssize_t n = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                   sizeof name, H5P_DEFAULT);
    if (n <= 0 || n >= (ssize_t)sizeof name ||
        snprintf(path, NB_H5_NAME, "%s/%s", parent[1] ? parent : "", name) >= NB_H5_NAME)
        return 0;
    return !nx_class || (nb_h5_get_string(in, path, "NX_class", class, sizeof class) &&
                         strcmp(class, nx_class) == 0);
}

nb_status nb_h5_children(const nb_h5_input *in, const char *group, const char *nx_class,
                         int most, char (**paths)[NB_H5_NAME], int *n, nb_error *err)
{
    enum { MOST_LINKS = 20000 };
    hid_t id =
        !group[1] || nb_h5_there(in, group) ? H5Gopen2(in->file, group, H5P_DEFAULT) : -1;
    H5G_info_t info;
    char path[NB_H5_NAME];
    nb_status st = NB_OK;
    *paths = NULL;
    *n = 0;
    if (id < 0)
        return NB_OK;
    if (H5Gget_info(id, &info) < 0 || info.nlinks > MOST_LINKS)
        info.nlinks = 0;
    for (hsize_t i = 0; !st && i < info.nlinks; i++) {
        if (!child_of(in, id, group, i, nx_class, path))
            continue;
        if (!*paths &&
            !(*paths = nb_alloc_raw((size_t)most, sizeof **paths, "groups of HDF5", err)))
            st = NB_ERR_NOMEM;
        else if (*n == most)
            st = nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "%s has more than %d %s",
                            group, most, nx_class ? nx_class : "groups");
        else
            memcpy((*paths)[(*n)++], path, sizeof path);
    }
    H5Gclose(id);
    if (st) {
        nb_free(*paths);
        *paths = NULL;
        *n = 0;
    }
    return st;
}

#endif
