/* SPDX-License-Identifier: MIT */
#include "options.h"

#include "../base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int nb_is_stdout(const char *path)
{
    return !strcmp(path, "-");
}

int nb_outputs_to_stdout(const nb_config *cfg)
{
    nb_file_use files[NB_FILES_MAX];
    const int n = nb_config_files(cfg, files);
    for (int i = 0; i < n && files[i].written; i++) /* written files come first */
        if (nb_is_stdout(files[i].path))
            return 1;
    return 0;
}

/** Folder of a path; "." for a plain name. */
static void folder_of(const char *path, char *folder, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;

    if (!slash)
        snprintf(folder, size, ".");
    else
        snprintf(folder, size, "%.*s", length ? (int)length : 1, path);
}

static nb_status cannot_write(const char *path, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_IO, "%.300s cannot be written: %s", path, why);
}

nb_status nb_check_output(const char *path, nb_error *err)
{
    char folder[NB_PATH_MAX];
    struct stat there;

    if (nb_is_stdout(path))
        return fcntl(STDOUT_FILENO, F_GETFD) < 0
                   ? cannot_write("standard output", "it is closed", err)
                   : NB_OK;
    if (!stat(path, &there)) {
        if (S_ISDIR(there.st_mode))
            return cannot_write(path, "it is a folder", err);
        if (!S_ISREG(there.st_mode)) /* a device or a pipe needs no temporary file */
            return access(path, W_OK) ? cannot_write(path, strerror(errno), err) : NB_OK;
    }
    if (!lstat(path, &there) && S_ISLNK(there.st_mode))
        /* not checked, since the writer follows the link to another folder */
        return NB_OK;
    folder_of(path, folder, sizeof folder);
    if (stat(folder, &there))
        return cannot_write(path, "its folder does not exist", err);
    if (!S_ISDIR(there.st_mode))
        return cannot_write(path, "the name of its folder is a file", err);
    if (access(folder, W_OK | X_OK))
        return cannot_write(path, strerror(errno), err);
    return NB_OK;
}

static nb_status check_written(const nb_file_use *files, int n, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < n && files[i].written; i++)
        NB_TRY(nb_check_output(files[i].path, err));
    return st;
}

nb_status nb_check_outputs(const nb_config *cfg, nb_error *err)
{
    nb_file_use files[NB_FILES_MAX];
    return check_written(files, nb_config_files(cfg, files), err);
}

nb_status nb_check_series_outputs(const nb_config *cfg, nb_error *err)
{
    nb_file_use files[NB_FILES_MAX];
    return check_written(files, nb_config_inputs(cfg, files), err);
}
