/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* declares on_exit */
#include "hdf5_lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "hdf5_chunk.h"

NB_LATE_LIBRARY_DEFINE(hdf5, NB_HDF5_NAMES, "-hdf5: the HDF5 library", NB_HDF5_SONAME,
                       .package = "libhdf5")

/* --- filter 32008, bitshuffle and LZ4 --- */

/** Decompress a chunk. Only for reading, since written chunks are already filtered. */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[],
                     size_t bytes, size_t *room, void **buffer)
{
    const size_t value = n_values >= 5 ? values[2] : 0,
                 all = nb_bslz4_bytes(*buffer, bytes, value);
    void *out;
    if (!(flags & H5Z_FLAG_REVERSE) || !all || values[4] != NB_H5_BITSHUFFLE_LZ4 ||
        !(out = H5(allocate_memory)(all, 0)))
        return 0;
    if (!nb_bslz4_decode(*buffer, bytes, value, out)) {
        H5(free_memory)(out);
        return 0;
    }
    H5(free_memory)(*buffer);
    *buffer = out;
    *room = all;
    return all;
}

static const H5Z_class2_t bitshuffle_class = {
    H5Z_CLASS_T_VERS,
    NB_H5_BITSHUFFLE,
    1,
    1,
    "bitshuffle; see https://github.com/kiyo-masui/bitshuffle",
    NULL,
    NULL,
    filter};

/* 1: closing of a file failed. The library would use this half closed file when a filter
 * is removed and when the process ends. Guarded by the lock of nb_h5_begin. */
static int half_closed;

/** Exit before the clean-up of the library: HDF5 1.10 crashes on a half closed file. */
static void leave(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    _exit(status);
}

/** Skip the clean-up of the library, which may crash or complain after a failed call. */
static void distrust(void)
{
    static int once; /* guarded by the lock of nb_h5_begin */
    if (!once++)
        on_exit(leave, NULL); /* runs before the earlier registered clean-up */
}

int nb_h5_close_file(hid_t file)
{
    const int ok = H5(Fclose)(file) >= 0;
    if (!ok)
        distrust();
    half_closed |= !ok;
    return ok;
}

static _Thread_local int depth; /* nested calls of nb_h5_begin */
static int users;               /* open data sets with the filter; guarded by the lock */

void nb_h5_use_filter(int more)
{
    users += more;
}

nb_status nb_h5_begin(nb_h5_quiet *quiet, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_hdf5_load(err));
    if (depth++ == 0)
        nb_late_library_enter(&late);
    H5(Eget_auto2)(H5E_DEFAULT, &quiet->print, &quiet->data);
    H5(Eset_auto2)(H5E_DEFAULT, NULL, NULL);
    H5(Zregister)(&bitshuffle_class);
    return NB_OK;
}

void nb_h5_end(const nb_h5_quiet *quiet)
{
    if (!half_closed && !users && depth == 1)
        H5(Zunregister)(NB_H5_BITSHUFFLE);
    H5(Eset_auto2)(H5E_DEFAULT, quiet->print, quiet->data);
    if (--depth == 0)
        nb_late_library_leave(&late);
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

/* --- reading a file --- */

/** Note a reason of a failure. The innermost comes first, often with a system message. */
static herr_t take_reason(unsigned n, const H5E_error2_t *entry, void *user)
{
    static const char words[] = "error message = '";
    nb_h5_why *why = user;
    const char *said = entry->desc ? strstr(entry->desc, words) : NULL;
    (void)n;
    if (!why->text[0] && said)
        snprintf(why->text, sizeof why->text, "%.*s",
                 (int)strcspn(said + strlen(words), "'"), said + strlen(words));
    else if (!why->text[0] && entry->desc)
        snprintf(why->text, sizeof why->text, "HDF5: %s", entry->desc);
    why->data |= entry->maj_num == H5E_IO_g;
    why->disk |= entry->maj_num == H5E_IO_g && entry->desc && strstr(entry->desc, "errno");
    why->memory |= entry->maj_num == H5E_RESOURCE_g;
    return 0;
}

/** Called after each failed call; a missing entry does not count as a fault of disk or
 * memory. */
static herr_t look_why(hid_t stack, void *user)
{
    return H5(Ewalk2)(stack, H5E_WALK_UPWARD, take_reason, user) < 0 ? -1 : 0;
}

void nb_h5_note_why(nb_h5_why *why)
{
    H5(Eset_auto2)(H5E_DEFAULT, look_why, why);
}

/** Use the open file of the reader if it has this name, otherwise open the file. */
static hid_t open_file(const char *name, nb_hdf5_reader *reader)
{
    if (reader && reader->file && strcmp(reader->name, name) == 0)
        return (hid_t)reader->file;
    if (reader && reader->file)
        nb_h5_close_file((hid_t)reader->file);
    if (reader)
        reader->file = 0;
    return H5(Fopen)(name, H5F_ACC_RDONLY, H5P_DEFAULT);
}

nb_status nb_h5_start(nb_h5_input *in, const char *file, nb_hdf5_reader *reader,
                      nb_error *err)
{
    nb_status st = check_place(file, err);
    *in = (nb_h5_input){.name = file, .reader = reader};
    if (st || (st = nb_h5_begin(&in->quiet, err)))
        return st;
    in->file = open_file(file, reader);
    nb_h5_note_why(&in->why);
    if (in->file >= 0)
        return NB_OK;
    distrust();
    nb_h5_end(&in->quiet);
    return nb_fail_at(
        err, NB_ERR_INPUT, file, 0,
        "cannot be opened as HDF5: damaged, cut short, or packed (gunzip or "
        "bunzip2 it)");
}

nb_status nb_h5_stop(nb_h5_input *in, nb_status st, nb_error *err)
{
    nb_hdf5_reader *reader = in->reader;
    if (in->why.disk || in->why.data || in->why.memory)
        distrust();
    if (!st && in->why.disk)
        st = nb_fail_at(err, NB_ERR_IO, in->name, 0, "the disk did not give a part of it");
    else if (!st && (in->why.data || in->why.memory))
        st = nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                        "is damaged%s: a part of it could not be read",
                        in->why.memory ? ", or the memory is full" : "");
    if (reader) {
        reader->file = (int64_t)in->file;
        snprintf(reader->name, sizeof reader->name, "%s", in->name);
    } else {
        nb_h5_close_file(in->file);
    }
    nb_h5_end(&in->quiet);
    return st;
}

void nb_hdf5_reader_free(nb_hdf5_reader *reader)
{
    nb_h5_quiet quiet;
    if (reader && reader->file && !nb_h5_begin(&quiet, NULL)) {
        nb_h5_close_file((hid_t)reader->file);
        nb_h5_end(&quiet);
    }
    nb_free(reader);
}
