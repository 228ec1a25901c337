/* SPDX-License-Identifier: MIT */
#include "hdf5_frames.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdint.h>
#include <stdio.h>

static int file_count(const nb_hdf5_master *master)
{
    return (master->frames + master->frames_per_file - 1) / master->frames_per_file;
}

static void link_file(nb_h5 *h, const nb_hdf5_master *master, int number, const char *path)
{
    char name[NB_PATH_MAX];
    master->data_name(master->user, number, name);
    h->ok &= H5Lcreate_external(name, "/entry/data/data", h->file, path, H5P_DEFAULT,
                                H5P_DEFAULT) >= 0;
}

/** A link to each data file.  Not in /entry/data: some readers count the frames of every set there
 * whose name begins with "data". */
static void link_files(nb_h5 *h, const nb_hdf5_master *master)
{
    char path[64];
    nb_h5_group(h, NB_HDF5_LINKS, "NXcollection");
    for (int i = 0; h->ok && i < file_count(master); i++) {
        snprintf(path, sizeof path, NB_HDF5_LINKS "/data_%06d", i + 1);
        link_file(h, master, i, path);
    }
}

/** Frames of a missing data file read as a value that no pixel can have, and not as zeros. */
static int set_fill(hid_t list, nb_hdf5_type type)
{
    const uint16_t u16 = UINT16_MAX;
    const int16_t i16 = INT16_MIN;
    const int32_t i32 = INT32_MIN;
    const float f32 = NAN;
    const void *value = type == NB_HDF5_U16   ? (const void *)&u16
                        : type == NB_HDF5_I16 ? (const void *)&i16
                        : type == NB_HDF5_I32 ? (const void *)&i32
                                              : (const void *)&f32;
    return H5Pset_fill_value(list, nb_h5_pixel_type(type), value) >= 0;
}

/** Map the frames of each file to their place in the whole. */
static int map_files(const nb_hdf5_master *master, hid_t list, hid_t all,
                     const hsize_t dims[3])
{
    char name[NB_PATH_MAX];
    int ok = 1;
    for (int i = 0; ok && i < file_count(master); i++) {
        int first = i * master->frames_per_file, left = master->frames - first;
        int count = left < master->frames_per_file ? left : master->frames_per_file;
        hsize_t at[3] = {(hsize_t)first, 0, 0};
        hsize_t part[3] = {(hsize_t)count, dims[1], dims[2]};
        hid_t source = H5Screate_simple(3, part, NULL);
        master->data_name(master->user, i, name);
        ok = H5Sselect_hyperslab(all, H5S_SELECT_SET, at, NULL, part, NULL) >= 0 &&
             H5Pset_virtual(list, all, name, "/entry/data/data", source) >= 0;
        H5Sclose(source);
    }
    return ok;
}

/** All frames under one name: a virtual data set over the files. */
static void put_virtual(nb_h5 *h, const nb_hdf5_master *master)
{
    const nb_hdf5_layout *l = &master->layout;
    hsize_t dims[3] = {(hsize_t)master->frames, (hsize_t)l->slow, (hsize_t)l->fast};
    hid_t list = nb_h5_creation(), all = H5Screate_simple(3, dims, NULL), set;
    h->ok &= set_fill(list, l->type) && map_files(master, list, all, dims);
    H5Sselect_all(all);
    set = H5Dcreate2(h->file, "/entry/data/data", nb_h5_pixel_type(l->type), all,
                     H5P_DEFAULT, list, H5P_DEFAULT);
    h->ok &= set >= 0;
    if (set >= 0)
        H5Dclose(set);
    H5Sclose(all);
    H5Pclose(list);
    nb_h5_tidy(); /* four copies of the mapping, ten kilobytes a file */
}

void nb_hdf5_put_frames(nb_h5 *h, const nb_hdf5_master *master)
{
    nb_h5_group(h, "/entry/data", "NXdata");
    nb_h5_attr_text(h, "/entry/data", "signal", "data");
    link_files(h, master);
    if (file_count(master) == 1)
        link_file(h, master, 0, "/entry/data/data");
    else
        put_virtual(h, master);
}

#else
typedef int nb_hdf5_frames_are_not_in_this_build;
#endif
