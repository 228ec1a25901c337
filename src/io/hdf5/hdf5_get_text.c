/* SPDX-License-Identifier: MIT */
/* Texts, vectors and groups of an HDF5 file that is not trusted. */
#include "hdf5_get.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"

/* --- texts of variable length --- */

/* In the file such a text is a length, and a place: the address of a collection and a number in it.
 * libhdf5 1.10 believes the length, so it is not asked for the text.  A conversion that changes
 * nothing gives the sixteen bytes; the collection ("global heap") is read here (HDF5 File Format
 * Specification 3.0, III.E). */
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

/** Contiguous or in the header, in this file, and written. */
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

#else
typedef int nb_hdf5_get_text_is_not_in_this_build;
#endif
