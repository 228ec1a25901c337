/* SPDX-License-Identifier: MIT */
/* Functions of a build without HDF5. */
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "hdf5_file.h"
#include "hdf5_read.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define INSTALL "this build has no HDF5 (install libhdf5-dev and rebuild)"

static nb_status without(const char *path, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_UNSUPPORTED, path, 0, INSTALL);
}

nb_status nb_hdf5_data_open(nb_outfile *out, const nb_hdf5_data *data,
                            nb_hdf5_writer **writer, nb_error *err)
{
    *writer = NULL;
    return nb_fail(err, NB_ERR_UNSUPPORTED, "-hdf5: " INSTALL);
}

nb_status nb_hdf5_data_add(nb_hdf5_writer *writer, const nb_hdf5_packed *frame,
                           nb_error *err)
{
    return without("-hdf5", err);
}

nb_status nb_hdf5_data_close(nb_hdf5_writer *writer, nb_error *err)
{
    return NB_OK;
}

nb_status nb_hdf5_read_truth(const char *path, int first, int count, nb_hdf5_frame *truth,
                             nb_error *err)
{
    return without(path, err);
}

nb_status nb_hdf5_read_geometry(const char *path, int frames, const nb_hdf5_frame *truth,
                                nb_hdf5_geometry *said, int *differ, nb_error *err)
{
    return without(path, err);
}

nb_status nb_hdf5_read_rows(const char *path, int first, int frames, nb_hdf5_frame **rows,
                            nb_error *err)
{
    *rows = NULL;
    return without(path, err);
}

nb_status nb_hdf5_write_master(const char *path, const nb_hdf5_master *master,
                               nb_error *err)
{
    return without(path, err);
}

int nb_hdf5_data_key(const char *path, nb_hdf5_data *key)
{
    return 0;
}

nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err)
{
    return without(path, err);
}

nb_status nb_hdf5_count_frames(const char *path, int *frames, nb_error *err)
{
    *frames = 0;
    return without(path, err);
}

nb_status nb_hdf5_read_image(const nb_hdf5_wanted *wanted, nb_image *out, nb_error *err)
{
    memset(out, 0, sizeof *out);
    return without(wanted->path, err);
}

void nb_hdf5_reader_free(nb_hdf5_reader *reader)
{
    nb_free(reader);
}

nb_status nb_hdf5_read_spectra(const char *path, nb_vec3 position, int needed,
                               nb_spectra *out, nb_error *err)
{
    (void)position, (void)needed;
    memset(out, 0, sizeof *out);
    return without(path, err);
}

nb_status nb_nxmx_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    memset(out, 0, sizeof *out);
    return without(path, err);
}
