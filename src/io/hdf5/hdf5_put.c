/* SPDX-License-Identifier: MIT */
#include "hdf5_put.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"

nb_status nb_h5_room(const nb_h5 *h, double bytes, nb_error *err)
{
    struct statvfs disk;
    if (fstatvfs(h->out.fd, &disk) ||
        (double)disk.f_bavail * (double)disk.f_frsize >= bytes + (1 << 16))
        return NB_OK;
    return nb_fail(
        err, NB_ERR_IO,
        "cannot write %.300s: %.1f MB are needed, but the disk has only %.1f MB left",
        h->out.path, bytes / 1e6, (double)disk.f_bavail * (double)disk.f_frsize / 1e6);
}

nb_status nb_h5_create_in(nb_h5 *h, nb_outfile *out, double bytes, nb_error *err)
{
    nb_status st;
    memset(h, 0, sizeof *h);
    h->file = -1;
    h->out = *out;
    out->fd = -1;
    out->temp[0] = '\0';
    st = nb_h5_room(h, bytes, err);
    if (!st) {
        nb_h5_note_why(&h->why);
        h->file = H5(Fcreate)(h->out.temp, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        if (h->file < 0)
            st = nb_fail(err, NB_ERR_IO, "cannot create %.200s: %s", h->out.path,
                         h->why.text);
    }
    h->ok = !st;
    if (st)
        nb_outfile_abort(&h->out);
    return st;
}

nb_status nb_h5_create(nb_h5 *h, const char *path, double bytes, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, path, err);
    if (!st && !out.temp[0]) {
        nb_outfile_abort(&out);
        st = nb_fail(err, NB_ERR_IO, "cannot write HDF5 to %.300s: not a regular file",
                     path);
    }
    return st ? st : nb_h5_create_in(h, &out, bytes, err);
}

void nb_h5_give_up(nb_h5 *h)
{
    h->ok = 0;
    (void)!ftruncate(h->out.fd, 0);
}

void nb_h5_tidy(void)
{
    H5(garbage_collect)();
    nb_memory_trim();
}

nb_status nb_h5_close(nb_h5 *h, nb_status st, nb_error *err)
{
    if (st || !h->ok || H5(Fflush)(h->file, H5F_SCOPE_GLOBAL) < 0)
        nb_h5_give_up(h);
    if (!nb_h5_close_file(h->file))
        h->ok = 0;
    if (!st && !h->ok)
        st = nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", h->out.path,
                     h->why.text[0] ? h->why.text : "HDF5 failed (memory full?)");
    H5(Eset_auto2)(H5E_DEFAULT, NULL, NULL);
    nb_h5_tidy();
    return st;
}

nb_status nb_h5_finish(nb_h5 *h, nb_status st, nb_error *err)
{
    st = nb_h5_close(h, st, err);
    NB_TRY(nb_outfile_commit_durably(&h->out, err));
    if (st)
        nb_outfile_abort(&h->out);
    return st;
}

hid_t nb_h5_creation(void)
{
    hid_t list = H5(Pcreate)(H5P_DATASET_CREATE);
    H5(Pset_obj_track_times)(list, 0);
    return list;
}

hid_t nb_h5_pixel_type(nb_hdf5_type type)
{
    return type == NB_HDF5_U16   ? H5T_NATIVE_UINT16
           : type == NB_HDF5_I16 ? H5T_NATIVE_INT16
           : type == NB_HDF5_I32 ? H5T_NATIVE_INT32
                                 : H5T_NATIVE_FLOAT;
}

/** ASCII if possible, because readers in C ask for ASCII, and HDF5 does not convert from
 * UTF-8. */
static H5T_cset_t letters_of(const char *text)
{
    while (*text && (unsigned char)*text < 128)
        text++;
    return *text ? H5T_CSET_UTF8 : H5T_CSET_ASCII;
}

static hid_t text_type(const char *text)
{
    hid_t type = H5(Tcopy)(H5T_C_S1);
    H5(Tset_size)(type, text[0] ? strlen(text) : 1);
    H5(Tset_cset)(type, letters_of(text));
    return type;
}

hid_t nb_h5_new_set(nb_h5 *h, const char *path, hid_t type, hid_t space, hid_t list)
{
    const hid_t set =
        h->ok ? H5(Dcreate2)(h->file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT)
              : -1;
    H5(Sclose)(space);
    H5(Pclose)(list);
    h->ok &= set >= 0;
    return set;
}

void nb_h5_close_set(nb_h5 *h, hid_t set)
{
    if (set >= 0 && H5(Dclose)(set) < 0)
        h->ok = 0;
}

/** Write a whole data set; closes list and space. */
static void put_as(nb_h5 *h, const char *path, hid_t type, hid_t list, hid_t space,
                   const void *values)
{
    const hid_t set = nb_h5_new_set(h, path, type, space, list);
    h->ok = h->ok && H5(Dwrite)(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    nb_h5_close_set(h, set);
}

static void put(nb_h5 *h, const char *path, hid_t type, hid_t space, const void *values)
{
    put_as(h, path, type, nb_h5_creation(), space, values);
}

static void put_attr(nb_h5 *h, const char *path, const char *name, hid_t type,
                     hid_t space, const void *values)
{
    hid_t attr = h->ok ? H5(Acreate_by_name)(h->file, path, name, type, space,
                                             H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                       : -1;
    if (attr < 0 || H5(Awrite)(attr, type, values) < 0)
        h->ok = 0;
    if (attr >= 0)
        H5(Aclose)(attr);
    H5(Sclose)(space);
}

void nb_h5_attr_text(nb_h5 *h, const char *path, const char *name, const char *text)
{
    hid_t type = text_type(text);
    put_attr(h, path, name, type, H5(Screate)(H5S_SCALAR), text);
    H5(Tclose)(type);
}

void nb_h5_attr_array(nb_h5 *h, const char *path, const char *name, hid_t type,
                      const void *values, hsize_t count)
{
    put_attr(h, path, name, type, H5(Screate_simple)(1, &count, NULL), values);
}

void nb_h5_group(nb_h5 *h, const char *path, const char *nx_class)
{
    hid_t group =
        h->ok ? H5(Gcreate2)(h->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    if (group < 0)
        h->ok = 0;
    else
        H5(Gclose)(group);
    nb_h5_attr_text(h, path, "NX_class", nx_class);
}

void nb_h5_text(nb_h5 *h, const char *path, const char *text)
{
    hid_t type = text_type(text);
    put(h, path, type, H5(Screate)(H5S_SCALAR), text);
    H5(Tclose)(type);
}

/** Put `count` texts one after the other, each with the size of the longest, and make the
 * type. The caller frees both; returns NULL if memory is exhausted. */
static char *texts_in_rows(const char *const *texts, hsize_t count, hid_t *type)
{
    size_t longest = 1, length;
    H5T_cset_t letters = H5T_CSET_ASCII;
    char *all;
    for (hsize_t i = 0; i < count; i++) {
        if ((length = strlen(texts[i])) > longest)
            longest = length;
        if (letters_of(texts[i]) == H5T_CSET_UTF8)
            letters = H5T_CSET_UTF8;
    }
    all = nb_alloc((size_t)count, longest, "texts", NULL); /* memory filled with zeros */
    for (hsize_t i = 0; all && i < count; i++)
        memcpy(all + i * longest, texts[i], strlen(texts[i]));
    *type = H5(Tcopy)(H5T_C_S1);
    H5(Tset_size)(*type, longest);
    H5(Tset_cset)(*type, letters);
    return all;
}

void nb_h5_texts(nb_h5 *h, const char *path, const char *const *texts, hsize_t count)
{
    hid_t type;
    char *all = texts_in_rows(texts, count, &type);
    h->ok &= all != NULL;
    put(h, path, type, H5(Screate_simple)(1, &count, NULL), all);
    H5(Tclose)(type);
    nb_free(all);
}

void nb_h5_attr_texts(nb_h5 *h, const char *path, const char *name,
                      const char *const *texts, hsize_t count)
{
    hid_t type;
    char *all = texts_in_rows(texts, count, &type);
    h->ok &= all != NULL;
    nb_h5_attr_array(h, path, name, type, all, count);
    H5(Tclose)(type);
    nb_free(all);
}

void nb_h5_number(nb_h5 *h, const char *path, double value, const char *units)
{
    put(h, path, H5T_NATIVE_DOUBLE, H5(Screate)(H5S_SCALAR), &value);
    if (units)
        nb_h5_attr_text(h, path, "units", units);
}

void nb_h5_integer(nb_h5 *h, const char *path, int64_t value)
{
    put(h, path, H5T_NATIVE_INT64, H5(Screate)(H5S_SCALAR), &value);
}

void nb_h5_array(nb_h5 *h, const char *path, hid_t type, const void *values, int rank,
                 const hsize_t *dims)
{
    put(h, path, type, H5(Screate_simple)(rank, dims, NULL), values);
}

/** Space for n single values, vectors of 2 to 8 numbers, or matrices [3][3]. */
static hid_t rows_space(size_t n, int values)
{
    const hsize_t dims[3] = {n, values == 9 ? 3 : (hsize_t)values, 3};
    return H5(Screate_simple)(values == 9 ? 3 : values > 1 ? 2 : 1, dims, NULL);
}

/** Write one array of nb_h5_members. */
static void put_member(nb_h5 *h, const nb_h5_member *m, const char *first, size_t stride,
                       size_t n)
{
    const size_t bytes = (size_t)m->values * H5(Tget_size)(m->type);
    char *all = nb_alloc(n ? n : 1, bytes, "column of HDF5", NULL);
    h->ok &= all != NULL;
    for (size_t i = 0; all && i < n; i++)
        memcpy(all + i * bytes, first + i * stride + m->offset, bytes);
    put(h, m->path, m->type, rows_space(n, m->values), all);
    nb_free(all);
    if (m->units)
        nb_h5_attr_text(h, m->path, "units", m->units);
}

void nb_h5_members(nb_h5 *h, const nb_h5_member *m, int count, const void *first,
                   size_t stride, size_t n)
{
    for (int i = 0; i < count; i++)
        put_member(h, &m[i], first, stride, n);
}

void nb_h5_member_texts(nb_h5 *h, const char *path, const char *first, size_t stride,
                        size_t n)
{
    const char **texts = nb_alloc(n ? n : 1, sizeof *texts, "texts", NULL);
    h->ok &= texts != NULL;
    for (size_t i = 0; texts && i < n; i++)
        texts[i] = first + i * stride;
    if (texts && n)
        nb_h5_texts(h, path, texts, n);
    nb_free(texts);
}

void nb_h5_pack(nb_h5 *h, hid_t list, int rank, const hsize_t *chunk, unsigned level)
{
    if (H5(Pset_chunk)(list, rank, chunk) < 0 ||
        (H5(Zfilter_avail)(H5Z_FILTER_DEFLATE) > 0 &&
         (H5(Pset_shuffle)(list) < 0 || H5(Pset_deflate)(list, level) < 0)))
        h->ok = 0;
}

void nb_h5_packed_array(nb_h5 *h, const char *path, hid_t type, const void *values,
                        const hsize_t dims[2])
{
    enum { CHUNK = 1 << 20, LEVEL = 4 }; /* values of a chunk; deflate level */
    const hsize_t rows = dims[1] < CHUNK ? CHUNK / dims[1] : 1;
    const hsize_t chunk[2] = {rows < dims[0] ? rows : dims[0], dims[1]};
    hid_t list = nb_h5_creation();
    nb_h5_pack(h, list, 2, chunk, LEVEL);
    put_as(h, path, type, list, H5(Screate_simple)(2, dims, NULL), values);
}

void nb_h5_put_piece(nb_h5 *h, hid_t set, hid_t type, hsize_t first, hsize_t count,
                     const void *rows)
{
    hsize_t at[3] = {first, 0, 0}, part[3];
    hid_t space, memory;
    int rank;
    if (!h->ok || !count)
        return;
    space = H5(Dget_space)(set);
    rank = H5(Sget_simple_extent_dims)(space, part, NULL);
    part[0] = count;
    memory = H5(Screate_simple)(rank, part, NULL);
    h->ok = H5(Sselect_hyperslab)(space, H5S_SELECT_SET, at, NULL, part, NULL) >= 0 &&
            H5(Dwrite)(set, type, memory, space, H5P_DEFAULT, rows) >= 0;
    H5(Sclose)(memory);
    H5(Sclose)(space);
}

static hid_t create_rows(nb_h5 *h, const nb_hdf5_rows *r, int frames)
{
    const hid_t list = nb_h5_creation();
    h->ok = h->ok && H5(Pset_fill_time)(list, H5D_FILL_TIME_NEVER) >= 0;
    return nb_h5_new_set(h, r->path, r->type, rows_space((size_t)frames, r->values), list);
}

static void make_row(const nb_hdf5_rows *r, const nb_hdf5_frame *truth, void *row)
{
    if (r->row)
        r->row(truth, r, row);
    else
        memcpy(row, (const char *)truth + r->offset, (size_t)r->values * 8);
}

void nb_hdf5_put_rows(nb_h5 *h, const nb_hdf5_master *master, const nb_hdf5_rows *r)
{
    enum { ROWS = 256 };
    const size_t bytes = (size_t)r->values * 8;
    hid_t set = create_rows(h, r, master->frames);
    nb_hdf5_frame *truth = nb_alloc_raw(ROWS, sizeof *truth, "truth", NULL);
    char *rows = nb_alloc_raw(ROWS, bytes, "rows", NULL);
    h->ok &= truth && rows;
    for (int first = 0; h->ok && first < master->frames; first += ROWS) {
        int n = master->frames - first < ROWS ? master->frames - first : ROWS;
        h->ok = !master->truth(master->user, first, n, truth, NULL);
        for (int i = 0; h->ok && i < n; i++)
            make_row(r, &truth[i], rows + (size_t)i * bytes);
        nb_h5_put_piece(h, set, r->type, (hsize_t)first, (hsize_t)n, rows);
    }
    nb_h5_close_set(h, set);
    nb_free(truth);
    nb_free(rows);
    nb_h5_tidy();
    if (r->units)
        nb_h5_attr_text(h, r->path, "units", r->units);
}

void nb_hdf5_put_column(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                        size_t offset, const char *units)
{
    nb_hdf5_put_rows(
        h, master, &(nb_hdf5_rows){path, units, H5T_NATIVE_DOUBLE, 1, offset, NULL, NULL});
}

int nb_hdf5_differ(const nb_hdf5_master *master, const nb_hdf5_rows *rows)
{
    const size_t bytes = (size_t)rows->values * 8;
    double first[8] = {0}, row[8] = {0};
    nb_hdf5_frame truth;
    for (int i = 0; i < master->frames; i++) {
        if (master->truth(master->user, i, 1, &truth, NULL))
            return 0;
        make_row(rows, &truth, i ? row : first);
        if (i && memcmp(row, first, bytes) != 0)
            return 1;
    }
    return 0;
}

/** Number of rows of a data file in a virtual set. */
static hsize_t rows_of(const nb_hdf5_master *master, int file, const nb_hdf5_list *lists)
{
    hsize_t n = 0;
    for (int i = master->first_of[file]; i < master->first_of[file + 1]; i++)
        n += lists ? (hsize_t)lists[i].count : 1;
    return n;
}

void nb_hdf5_put_virtual(nb_h5 *h, const nb_hdf5_master *master,
                         const nb_hdf5_virtual *set)
{
    const hid_t all = H5(Screate_simple)(set->rank, set->dims, NULL);
    hsize_t at[3] = {0, 0, 0}, part[3] = {0, set->dims[1], set->dims[2]};
    char name[NB_PATH_MAX];
    for (int file = 0; h->ok && file < master->files; file++, at[0] += part[0]) {
        hid_t source;
        if (!(part[0] = rows_of(master, file, set->lists)))
            continue;
        source = H5(Screate_simple)(set->rank, part, NULL);
        master->data_name(master->user, file, name);
        h->ok = H5(Sselect_hyperslab)(all, H5S_SELECT_SET, at, NULL, part, NULL) >= 0 &&
                H5(Pset_virtual)(set->list, all, name, set->path, source) >= 0;
        H5(Sclose)(source);
    }
    H5(Sselect_all)(all);
    nb_h5_close_set(h, nb_h5_new_set(h, set->path, set->type, all, set->list));
    /* the library has freed four copies of the mapping, ten kilobytes per file */
    nb_h5_tidy();
}
