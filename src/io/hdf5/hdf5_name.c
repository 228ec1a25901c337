/* SPDX-License-Identifier: MIT */
/* Names of HDF5 files, data sets and frames. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/outfile.h"
#include "../image/image_read.h"
#include "hdf5_read.h"

/** True if the first bytes are those of HDF5. A pipe is not tested, because other readers
 * would lose the bytes. A packed file gives 0, since the library cannot read it. */
static int is_hdf5(const char *path)
{
    char first[8];
    nb_image_file file = {first, sizeof first, path, 0, 0};
    int yes, fd = nb_is_regular_file(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    yes = nb_fd_read(fd, first, sizeof first, 0) == sizeof first &&
          nb_image_format_of(&file) == NB_FORMAT_HDF5;
    close(fd);
    return yes;
}

const char *nb_hdf5_set_of(const char *name, char *file)
{
    snprintf(file, NB_PATH_MAX, "%s", name);
    if (is_hdf5(file))
        return NULL;
    for (const char *at = strstr(name, ":/"); at; at = strstr(at + 1, ":/")) {
        if (at - name >= NB_PATH_MAX)
            break;
        file[at - name] = '\0';
        if (is_hdf5(file))
            return at + 1;
        file[at - name] = ':';
    }
    return NULL;
}

/** True for an HDF5 file, or a data set in an HDF5 file. */
static int has_frames(const char *name)
{
    char file[NB_PATH_MAX];
    return is_hdf5(name) || nb_hdf5_set_of(name, file);
}

int nb_hdf5_frame_of(const char *path, char *name, int *frame)
{
    const char *colon = strrchr(path, ':');
    char *end;
    long number;
    *frame = 0;
    snprintf(name, NB_PATH_MAX, "%s", path);
    if (is_hdf5(path))
        return 1;
    if (colon && colon[1] >= '0' && colon[1] <= '9' && colon - path < NB_PATH_MAX) {
        number = strtol(colon + 1, &end, 10);
        name[colon - path] = '\0';
        *frame = (int)number;
        if (!*end && number <= 0x7ffffffe && has_frames(name))
            return 1;
        snprintf(name, NB_PATH_MAX, "%s", path);
    }
    *frame = has_frames(path) ? 0 : -1;
    return *frame == 0;
}
