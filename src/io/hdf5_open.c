/* SPDX-License-Identifier: MIT */
#include "hdf5_open.h"

#ifdef NB_HAVE_HDF5
#include "../base/error.h"

nb_status nb_h5_open(nb_h5_input *in, const char *path, nb_error *err)
{
    nb_status st = nb_hdf5_load(err);
    if (st)
        return st;
    nb_h5_hush(&in->quiet);
    in->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (in->file >= 0)
        return NB_OK;
    nb_h5_unhush(&in->quiet);
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "cannot be opened as HDF5: damaged or cut short");
}

void nb_h5_close(nb_h5_input *in)
{
    H5Fclose(in->file);
    nb_h5_unhush(&in->quiet);
}
#else
typedef int nb_h5_open_is_absent; /* a file must not be empty */
#endif
