/* SPDX-License-Identifier: MIT */
#include "hdf5_put.h"

#ifdef NB_HAVE_HDF5
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"

enum { WHY = 200 };

static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *why)
{
    (void)n;
    snprintf(why, WHY, "%s", error->desc ? error->desc : "no reason given");
    return 1; /* the innermost entry has the reason, the others name the failing function */
}

nb_status nb_h5_create(nb_h5 *h, const char *path, double bytes, nb_error *err)
{
    struct statvfs disk;
    char why[WHY] = "no reason given";
    nb_status st;
    memset(h, 0, sizeof *h);
    h->file = -1;
    if ((st = nb_outfile_open(&h->out, path, err)))
        return st;
    if (!h->out.temp[0])
        st = nb_fail(err, NB_ERR_IO, "cannot write HDF5 to %.300s: not a regular file",
                     path);
    else if (!fstatvfs(h->out.fd, &disk) &&
             (double)disk.f_bavail * (double)disk.f_frsize < bytes + (1 << 16))
        st = nb_fail(
            err, NB_ERR_IO,
            "cannot write %.300s: %.1f MB are needed, but the disk has only %.1f MB left",
            path, bytes / 1e6, (double)disk.f_bavail * (double)disk.f_frsize / 1e6);
    if (!st) {
        h->driver.out = &h->out;
        h->file = nb_h5_driver_create(&h->driver);
        if (h->file < 0) {
            H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, why);
            st = nb_fail(err, NB_ERR_IO, "cannot create %.200s: HDF5: %s", path, why);
        }
    }
    h->ok = !st;
    if (st)
        nb_outfile_abort(&h->out);
    return st;
}

void nb_h5_give_up(nb_h5 *h)
{
    h->ok = 0;
    (void)!ftruncate(h->out.fd, 0);
}

void nb_h5_tidy(void)
{
    H5garbage_collect();
    nb_memory_trim();
}

/** Close the file, without its name yet. */
static nb_status close_file(nb_h5 *h, nb_status st, nb_error *err)
{
    if (st || !h->ok || H5Fflush(h->file, H5F_SCOPE_GLOBAL) < 0)
        nb_h5_give_up(h);
    if (!nb_h5_driver_close(&h->driver, h->file))
        h->ok = 0;
    if (!st && h->driver.failed) {
        st = h->driver.failed;
        if (err)
            *err = h->driver.error;
    }
    if (!st && !h->ok)
        st = nb_fail(err, NB_ERR_IO,
                     "cannot write %.300s: HDF5 failed (disk or memory full?)",
                     h->out.path);
    nb_h5_tidy();
    return st;
}

nb_status nb_h5_finish(nb_h5 *h, nb_status st, nb_error *err)
{
    st = close_file(h, st, err);
    if (!st)
        st = nb_outfile_commit(&h->out, err);
    if (st)
        nb_outfile_abort(&h->out);
    return st;
}

nb_status nb_h5_discard(nb_h5 *h, nb_status st, nb_error *err)
{
    st = close_file(h, st, err);
    nb_outfile_abort(&h->out);
    return st;
}

hid_t nb_h5_creation(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(list, 0);
    return list;
}

hid_t nb_h5_pixel_type(nb_hdf5_type type)
{
    return type == NB_HDF5_U16   ? H5T_NATIVE_UINT16
           : type == NB_HDF5_I16 ? H5T_NATIVE_INT16
           : type == NB_HDF5_I32 ? H5T_NATIVE_INT32
                                 : H5T_NATIVE_FLOAT;
}

static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text[0] ? strlen(text) : 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

/** Write it all; list and space are closed. */
static void put_as(nb_h5 *h, const char *path, hid_t type, hid_t list, hid_t space,
                   const void *values)
{
    hid_t set =
        h->ok ? H5Dcreate2(h->file, path, type, space, H5P_DEFAULT, list, H5P_DEFAULT)
              : -1;
    if (set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        h->ok = 0;
    if (set >= 0 && H5Dclose(set) < 0)
        h->ok = 0;
    H5Pclose(list);
    H5Sclose(space);
}

static void put(nb_h5 *h, const char *path, hid_t type, hid_t space, const void *values)
{
    put_as(h, path, type, nb_h5_creation(), space, values);
}

static void put_attr(nb_h5 *h, const char *path, const char *name, hid_t type,
                     hid_t space, const void *values)
{
    hid_t attr = h->ok ? H5Acreate_by_name(h->file, path, name, type, space, H5P_DEFAULT,
                                           H5P_DEFAULT, H5P_DEFAULT)
                       : -1;
    if (attr < 0 || H5Awrite(attr, type, values) < 0)
        h->ok = 0;
    if (attr >= 0)
        H5Aclose(attr);
    H5Sclose(space);
}

void nb_h5_attr_text(nb_h5 *h, const char *path, const char *name, const char *text)
{
    hid_t type = text_type(text);
    put_attr(h, path, name, type, H5Screate(H5S_SCALAR), text);
    H5Tclose(type);
}

void nb_h5_attr_array(nb_h5 *h, const char *path, const char *name, hid_t type,
                      const void *values, hsize_t count)
{
    put_attr(h, path, name, type, H5Screate_simple(1, &count, NULL), values);
}

void nb_h5_group(nb_h5 *h, const char *path, const char *nx_class)
{
    hid_t group =
        h->ok ? H5Gcreate2(h->file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : -1;
    if (group < 0)
        h->ok = 0;
    else
        H5Gclose(group);
    nb_h5_attr_text(h, path, "NX_class", nx_class);
}

void nb_h5_text(nb_h5 *h, const char *path, const char *text)
{
    hid_t type = text_type(text);
    put(h, path, type, H5Screate(H5S_SCALAR), text);
    H5Tclose(type);
}

/** `count` texts one after the other, each with the size of the longest, and their type.
 * The caller frees both; NULL: no memory. */
static char *texts_in_rows(const char *const *texts, hsize_t count, hid_t *type)
{
    size_t longest = 1, length;
    char *all;
    for (hsize_t i = 0; i < count; i++)
        if ((length = strlen(texts[i])) > longest)
            longest = length;
    all = nb_alloc((size_t)count, longest, "texts", NULL); /* zeros */
    for (hsize_t i = 0; all && i < count; i++)
        memcpy(all + i * longest, texts[i], strlen(texts[i]));
    *type = H5Tcopy(H5T_C_S1);
    H5Tset_size(*type, longest);
    H5Tset_cset(*type, H5T_CSET_UTF8);
    return all;
}

void nb_h5_texts(nb_h5 *h, const char *path, const char *const *texts, hsize_t count)
{
    hid_t type;
    char *all = texts_in_rows(texts, count, &type);
    h->ok &= all != NULL;
    put(h, path, type, H5Screate_simple(1, &count, NULL), all);
    H5Tclose(type);
    nb_free(all);
}

void nb_h5_attr_texts(nb_h5 *h, const char *path, const char *name,
                      const char *const *texts, hsize_t count)
{
    hid_t type;
    char *all = texts_in_rows(texts, count, &type);
    h->ok &= all != NULL;
    nb_h5_attr_array(h, path, name, type, all, count);
    H5Tclose(type);
    nb_free(all);
}

void nb_h5_number(nb_h5 *h, const char *path, double value, const char *units)
{
    put(h, path, H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), &value);
    if (units)
        nb_h5_attr_text(h, path, "units", units);
}

void nb_h5_integer(nb_h5 *h, const char *path, int64_t value)
{
    put(h, path, H5T_NATIVE_INT64, H5Screate(H5S_SCALAR), &value);
}

void nb_h5_array(nb_h5 *h, const char *path, hid_t type, const void *values, int rank,
                 const hsize_t *dims)
{
    put(h, path, type, H5Screate_simple(rank, dims, NULL), values);
}

void nb_h5_packed_array(nb_h5 *h, const char *path, hid_t type, const void *values,
                        const hsize_t dims[2])
{
    enum { CHUNK = 1 << 20, LEVEL = 4 }; /* values */
    const hsize_t rows = dims[1] < CHUNK ? CHUNK / dims[1] : 1;
    const hsize_t chunk[2] = {rows < dims[0] ? rows : dims[0], dims[1]};
    hid_t list = nb_h5_creation();
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0 &&
        (H5Pset_chunk(list, 2, chunk) < 0 || H5Pset_shuffle(list) < 0 ||
         H5Pset_deflate(list, LEVEL) < 0))
        h->ok = 0;
    put_as(h, path, type, list, H5Screate_simple(2, dims, NULL), values);
}

/** Rows first..first+count-1 of an open data set. */
static int put_piece(hid_t set, hid_t space, const nb_h5_stream *s, hsize_t first,
                     hsize_t count, const void *rows)
{
    hsize_t at[3] = {first, 0, 0}, part[3] = {count, s->dims[1], s->dims[2]};
    hid_t memory = H5Screate_simple(s->rank, part, NULL);
    int ok = H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, part, NULL) >= 0 &&
             H5Dwrite(set, s->type, memory, space, H5P_DEFAULT, rows) >= 0;
    H5Sclose(memory);
    return ok;
}

void nb_h5_put_stream(nb_h5 *h, const nb_h5_stream *s)
{
    enum { ROWS = 256 };
    hid_t space = H5Screate_simple(s->rank, s->dims, NULL);
    hid_t list = nb_h5_creation();
    hid_t set =
        h->ok && H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0
            ? H5Dcreate2(h->file, s->path, s->type, space, H5P_DEFAULT, list, H5P_DEFAULT)
            : -1;
    void *rows = nb_alloc_raw(ROWS, s->row_bytes, "rows", NULL);
    h->ok &= set >= 0 && rows != NULL;
    for (hsize_t first = 0; h->ok && first < s->dims[0]; first += ROWS) {
        hsize_t n = s->dims[0] - first < ROWS ? s->dims[0] - first : ROWS;
        h->ok &= !s->rows(s->user, (int)first, (int)n, rows, NULL) &&
                 put_piece(set, space, s, first, n, rows);
    }
    if (set >= 0 && H5Dclose(set) < 0)
        h->ok = 0;
    H5Sclose(space);
    H5Pclose(list);
    nb_free(rows);
    nb_h5_tidy();
}

#else
typedef int nb_h5_is_not_in_this_build;
#endif
