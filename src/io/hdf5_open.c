/* SPDX-License-Identifier: MIT */
#include "hdf5_open.h"

#ifdef NB_HAVE_HDF5
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/outfile.h"
#include "hdf5_filters.h"

nb_status nb_h5_begin(nb_h5_quiet *quiet, nb_error *err)
{
    nb_status st = nb_hdf5_load(err);
    if (st)
        return st;
    nb_hdf5_enter();
    H5Eget_auto2(H5E_DEFAULT, &quiet->print, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    nb_h5_filters_begin();
    return NB_OK;
}

void nb_h5_end(const nb_h5_quiet *quiet)
{
    nb_h5_filters_end();
    H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->data);
    nb_hdf5_leave();
}

static nb_status check_place(const char *path, nb_error *err)
{
    if (access(path, F_OK) != 0)
        return nb_fail_at(err, NB_ERR_INPUT, path, 0, "%s", strerror(errno));
    if (!nb_is_regular_file(path))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "HDF5 cannot be read from a pipe; give a file");
    return NB_OK;
}

nb_status nb_h5_apart(const nb_apart_task *task, nb_error *err)
{
    nb_status st = check_place(task->file, err);
    nb_apart a;
    if (st || (st = nb_hdf5_load(err)))
        return st;
#ifdef NB_HDF5_HERE /* a fuzzer looks into the work */
    (void)a;
    return task->work(task->user, err);
#else
    nb_hdf5_enter(); /* the child gets the library as no other thread is using it */
    st = nb_apart_fork(&a, err);
    nb_hdf5_leave();
    if (!st && !a.child)
        nb_apart_serve(&a, task);
    return st ? st : nb_apart_take(&a, task, err);
#endif
}

nb_status nb_h5_open(nb_h5_input *in, const char *path, nb_error *err)
{
    nb_status st;
    memset(in, 0, sizeof *in);
    if ((st = nb_h5_begin(&in->quiet, err)))
        return st;
    in->name = path;
    in->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (in->file >= 0)
        return NB_OK;
    nb_h5_end(&in->quiet);
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "cannot be opened as HDF5: damaged, cut short, or packed (gunzip "
                      "or bunzip2 it)");
}

void nb_h5_close(nb_h5_input *in)
{
    H5Fclose(in->file);
    nb_h5_end(&in->quiet);
}
#else
typedef int nb_h5_open_is_absent; /* a file must not be empty */
#endif
