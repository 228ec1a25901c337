/* SPDX-License-Identifier: MIT */
#include "hdf5_driver.h"

#ifdef NB_HAVE_HDF5
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/error.h"
#include "../../base/fd.h"
#include "../../base/memory.h"

/** What the library's handle of the file points to. */
typedef struct handle {
    H5FD_t public; /* first: the library's own part */
    nb_h5_driver *driver;
    haddr_t eoa, eof; /* of the addresses in use; of the bytes */
} handle;

/** The properties of an access list: where the driver is. */
typedef struct access_info {
    nb_h5_driver *driver;
} access_info;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t list, haddr_t most)
{
    const access_info *info = H5Pget_driver_info(list);
    handle *h = info ? nb_alloc(1, sizeof *h, "HDF5", NULL) : NULL;
    (void)name;
    (void)flags;
    (void)most;
    if (h)
        h->driver = info->driver;
    return (H5FD_t *)h;
}

static herr_t driver_close(H5FD_t *file)
{
    nb_free(file);
    return 0;
}

/** As the library's own driver: the same bytes in the file. */
static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)file)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((handle *)file)->eoa = end;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const handle *)file)->eof;
}

/** Bytes that were not written are zeros. */
static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at,
                          size_t bytes, void *to)
{
    nb_h5_driver *d = ((const handle *)file)->driver;
    size_t n = nb_fd_read(d->out->fd, to, bytes, at);
    (void)type;
    (void)list;
    if (n < bytes && errno && !d->failed)
        d->failed = nb_fail(&d->error, NB_ERR_IO, "cannot read back %.300s: %s",
                            d->out->path, strerror(errno));
    memset((char *)to + n, 0, bytes - n);
    return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t list, haddr_t at,
                           size_t bytes, const void *from)
{
    handle *h = (handle *)file;
    nb_h5_driver *d = h->driver;
    (void)type;
    (void)list;
    if (!d->failed)
        d->failed = nb_outfile_write_at(d->out, from, bytes, at, &d->error);
    if (at + bytes > h->eof)
        h->eof = at + bytes;
    return 0;
}

static herr_t driver_truncate(H5FD_t *file, hid_t list, hbool_t closing)
{
    handle *h = (handle *)file;
    nb_h5_driver *d = h->driver;
    (void)list;
    (void)closing;
    if (!d->failed && h->eof != h->eoa)
        d->failed = nb_outfile_resize(d->out, h->eoa, &d->error);
    h->eof = h->eoa;
    return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 2)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, /* below 1024: not registered with the HDF Group */
#endif
    .name = "nanobragg",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(access_info),
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t nb_h5_driver_create(nb_h5_driver *driver)
{
    const access_info info = {driver};
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), file = -1;
    driver->id = H5FDregister(&driver_class);
    if (driver->id >= 0 && list >= 0 && H5Pset_driver(list, driver->id, &info) >= 0)
        file = H5Fcreate(driver->out->temp, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    if (list >= 0)
        H5Pclose(list);
    if (file < 0 && driver->id >= 0)
        H5FDunregister(driver->id);
    return file;
}

int nb_h5_driver_close(nb_h5_driver *driver, hid_t file)
{
    int ok = H5Fclose(file) >= 0;
    H5FDunregister(driver->id);
    return ok;
}

#else
typedef int nb_hdf5_driver_is_not_in_this_build;
#endif
