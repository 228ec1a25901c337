/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int nb_outputs(const nb_config *cfg, const char **names)
{
    const struct {
        int wanted;
        const char *name;
    } all[] = {
        {cfg->write_float, cfg->float_file},
        {cfg->write_int, cfg->int_file},
        {cfg->write_noise, cfg->noise_file},
        {cfg->write_pgm, cfg->pgm_file},
        {1, cfg->png_file},
        {1, cfg->tiff_file},
        {cfg->truth == NB_TRUTH_SPOTS, cfg->truth_file},
    };
    int n = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].wanted && all[i].name[0])
            names[n++] = all[i].name;
    if (cfg->hkl_file[0]) /* the cache of the structure factors that were read */
        names[n++] = cfg->dump_file[0] ? cfg->dump_file : "Fdump.bin";
    return n;
}

/** The folder part of a path, "." if it has none. */
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
    memset(err, 0, sizeof *err);
    err->code = NB_ERR_IO;
    snprintf(err->message, sizeof err->message, "%.300s cannot be written: %s", path, why);
    return err->code;
}

static nb_status check_output(const char *path, nb_error *err)
{
    char folder[NB_PATH_MAX];
    struct stat there;

    if (!stat(path, &there)) {
        if (S_ISDIR(there.st_mode))
            return cannot_write(path, "it is a folder", err);
        if (!S_ISREG(there.st_mode)) /* a device or a pipe: no file is made beside it */
            return access(path, W_OK) ? cannot_write(path, strerror(errno), err) : NB_OK;
    }
    if (!lstat(path, &there) && S_ISLNK(there.st_mode))
        return NB_OK; /* its folder is elsewhere; the writer follows it */
    folder_of(path, folder, sizeof folder);
    if (stat(folder, &there))
        return cannot_write(path, "its folder does not exist", err);
    if (!S_ISDIR(there.st_mode))
        return cannot_write(path, "what should be its folder is a file", err);
    if (access(folder, W_OK | X_OK))
        return cannot_write(path, strerror(errno), err);
    return NB_OK;
}

nb_status nb_check_outputs(const nb_config *cfg, nb_error *err)
{
    const char *names[NB_OUTPUTS_MAX];
    int n = nb_outputs(cfg, names);
    nb_status status = NB_OK;

    for (int i = 0; i < n && !status; i++)
        status = check_output(names[i], err);
    return status;
}
