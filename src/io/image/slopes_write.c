/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/outfile.h"
#include "../hdf5/hdf5_put.h"

static size_t bytes_of(const nb_slope_file *f)
{
    const size_t number = f->type == NB_REAL_FLOAT32 ? sizeof(float) : sizeof(double);
    return (size_t)f->count * (size_t)f->fast * (size_t)f->slow * number;
}

static int ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0;
}

static void put_plane(nb_h5 *h, const nb_slope_file *f, int i)
{
    const nb_variable *about = &f->about[i];
    const hsize_t dims[2] = {(hsize_t)f->slow, (hsize_t)f->fast};
    const size_t bytes = bytes_of(f) / (size_t)f->count;
    char path[32 + NB_VARIABLE_NAME];
    snprintf(path, sizeof path, "/derivatives/%s", about->name);
    for (char *c = path + strlen("/derivatives/"); *c; c++)
        *c = *c == '/' ? '_' : *c; /* replace "/", which would begin a group */
    nb_h5_array(h, path, f->type == NB_REAL_FLOAT32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
                (const char *)f->planes + (size_t)i * bytes, 2, dims);
    nb_h5_attr_text(h, path, "unit", about->unit);
    nb_h5_attr_array(h, path, "value", H5T_NATIVE_DOUBLE, &about->value, 1);
    nb_h5_attr_text(h, path, "flag", about->flag);
}

static nb_status write_hdf5(const char *path, const nb_slope_file *f, nb_error *err)
{
    const hsize_t dims[2] = {(hsize_t)f->slow, (hsize_t)f->fast};
    const double size = (double)bytes_of(f) + 4.0 * f->fast * f->slow + 65536;
    nb_h5_quiet quiet;
    nb_h5 h;
    nb_status st;
    NB_FORWARD(nb_h5_begin(&quiet, err));
    if ((st = nb_h5_create(&h, path, size, err))) {
        nb_h5_end(&quiet);
        return st;
    }
    nb_h5_group(&h, "/derivatives", "NXcollection");
    for (int i = 0; i < f->count; i++)
        put_plane(&h, f, i);
    nb_h5_array(&h, "/image", H5T_NATIVE_FLOAT, f->image, 2, dims);
    st = nb_h5_finish(&h, NB_OK, err);
    nb_h5_end(&quiet);
    return st;
}

nb_status nb_slopes_write(const char *path, const nb_slope_file *f, nb_error *err)
{
    if (ends_in(path, ".h5") || ends_in(path, ".hdf5") || ends_in(path, ".nxs"))
        return write_hdf5(path, f, err);
    return nb_outfile_put(path, f->planes, bytes_of(f), err);
}
