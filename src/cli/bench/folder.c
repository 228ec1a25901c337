/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* nftw */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../common.h"
#include "bench.h"

static nb_status fail(nb_error *err, const char *what, const char *path)
{
    return nb_bench_fail(err, NB_ERR_IO, "-outdir: cannot %s %.300s: %s", what, path,
                         strerror(errno));
}

void nb_bench_path(const char *folder, const char *name, char *path)
{
    if (snprintf(path, NB_PATH_MAX, "%s/%s", folder, name) >= NB_PATH_MAX)
        path[NB_PATH_MAX - 1] = 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_tree(const char *path)
{
    if (path[0])
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/** Every folder above the last part of the path. */
static nb_status make_parents(const char *path, nb_error *err)
{
    char above[NB_PATH_MAX];
    snprintf(above, sizeof above, "%s", path);
    for (char *slash = strchr(above + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(above, 0777) && errno != EEXIST)
            return fail(err, "make", above);
        *slash = '/';
    }
    return NB_OK;
}

/** Files of a run are written to memory if there is enough, so that the disk does not
 * change the times. */
static nb_status make_scratch(nb_bench_folder *f, nb_error *err)
{
    const double plenty = 2e9;
    struct statvfs room;
    char whole[NB_PATH_MAX];
    if (!statvfs("/dev/shm", &room) &&
        (double)room.f_bavail * (double)room.f_frsize > plenty) {
        snprintf(f->scratch, sizeof f->scratch, "/dev/shm/nanobragg-bench.XXXXXX");
        if (mkdtemp(f->scratch))
            return NB_OK;
    }
    f->scratch[0] = 0;
    if (!realpath(f->part, whole))
        return fail(err, "use", f->part);
    nb_bench_path(whole, "scratch", f->scratch);
    return mkdir(f->scratch, 0777) ? fail(err, "make", f->scratch) : NB_OK;
}

nb_status nb_bench_folder_open(nb_bench_folder *f, const char *path, nb_error *err)
{
    size_t n = strlen(path);
    struct stat there;
    nb_status st;
    memset(f, 0, sizeof *f);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n > NB_PATH_MAX - 64)
        return nb_cli_fail(err, "-outdir %.60s...: the path is too long", path);
    snprintf(f->path, sizeof f->path, "%.*s", (int)n, path);
    if (!lstat(f->path, &there))
        return nb_cli_fail(
            err, "-outdir %.300s: it exists already; remove it or type another name",
            f->path);
    st = make_parents(f->path, err);
    if (st)
        return st;
    snprintf(f->part, sizeof f->part, "%.*s.%ld.part", NB_PATH_MAX - 64, f->path,
             (long)getpid());
    if (mkdir(f->part, 0777)) {
        st = fail(err, "make", f->part);
        f->part[0] = 0;
        return st;
    }
    st = make_scratch(f, err);
    if (st)
        nb_bench_folder_abort(f);
    return st;
}

nb_status nb_bench_folder_commit(nb_bench_folder *f, nb_error *err)
{
    nb_status st = NB_OK;
    remove_tree(f->scratch);
    f->scratch[0] = 0;
    if (rename(f->part, f->path))
        st = fail(err, "make", f->path);
    if (st)
        nb_bench_folder_abort(f);
    f->part[0] = 0;
    return st;
}

void nb_bench_folder_abort(nb_bench_folder *f)
{
    remove_tree(f->scratch);
    remove_tree(f->part);
    f->scratch[0] = f->part[0] = 0;
}

nb_status nb_bench_scratch(const nb_bench_folder *f, char *path, nb_error *err)
{
    nb_bench_path(f->scratch, "run", path);
    if (!access(path, F_OK))
        remove_tree(path);
    return mkdir(path, 0777) ? fail(err, "make", path) : NB_OK;
}

nb_status nb_bench_write_text(const nb_bench_folder *f, const char *name,
                              const char *text, nb_error *err)
{
    char path[NB_PATH_MAX];
    FILE *file;
    int ok;
    nb_bench_path(f->part, name, path);
    file = fopen(path, "w");
    ok = file && fputs(text, file) >= 0;
    ok = (!file || !fclose(file)) && ok;
    return ok ? NB_OK : fail(err, "write", path);
}
