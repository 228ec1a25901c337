/* SPDX-License-Identifier: MIT */
#include "write.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/hdf5/hdf5_read.h"

enum { LOOK = 1 << 26 /* bytes of a file that are looked at */ };

static nb_status keep(nb_named_files *f, const char *flag, const char *path, nb_error *err)
{
    for (int i = f->named; i-- > 0 && i >= f->named - 8;) /* a file of every line */
        if (strcmp(f->paths[i], path) == 0)
            return NB_OK;
    if ((f->named & (f->named - 1)) == 0) { /* the room is full: it doubles */
        size_t room = f->named ? 2 * (size_t)f->named : 1, own = (size_t)(f->n - f->named);
        char **paths = nb_alloc(room, sizeof *paths, "names of files", err);
        nb_file_use *uses = nb_alloc(own + room, sizeof *uses, "names of files", err);
        if (!paths || !uses) {
            nb_free(paths);
            nb_free(uses);
            return NB_ERR_NOMEM;
        }
        if (f->named)
            memcpy(paths, f->paths, (size_t)f->named * sizeof *paths);
        memcpy(uses, f->uses, (size_t)f->n * sizeof *uses);
        nb_free(f->paths);
        nb_free(f->uses);
        f->paths = paths;
        f->uses = uses;
    }
    if (!(f->paths[f->named] = nb_alloc(strlen(path) + 1, 1, "names of files", err)))
        return NB_ERR_NOMEM;
    strcpy(f->paths[f->named], path);
    f->uses[f->n++] = (nb_file_use){flag, f->paths[f->named++], 0};
    return NB_OK;
}

/** A name in the file `from`, if there is such a file: here, or in the folder of `from`. */
static nb_status add(nb_named_files *f, const nb_file_use *from, const char *name,
                     size_t length, nb_error *err)
{
    const char *slash = strrchr(from->path, '/');
    char path[NB_PATH_MAX], beside[2 * NB_PATH_MAX];
    nb_status st = NB_OK;
    if (length < 1 || length >= NB_PATH_MAX / 2 || memchr(name, '\0', length))
        return NB_OK;
    snprintf(path, sizeof path, "%.*s", (int)length, name);
    if (access(path, F_OK) == 0)
        st = keep(f, from->flag, path, err);
    if (st || !slash || path[0] == '/')
        return st;
    snprintf(beside, sizeof beside, "%.*s%.1000s", (int)(slash + 1 - from->path),
             from->path, path);
    return access(beside, F_OK) == 0 ? keep(f, from->flag, beside, err) : NB_OK;
}

/** The texts of JSON lines that are not keys. */
static nb_status of_jobs(nb_named_files *f, const nb_file_use *from, const char *data,
                         const char *end, nb_error *err)
{
    nb_status st = NB_OK;
    for (const char *p = data; !st && (p = memchr(p, '"', (size_t)(end - p)));) {
        const char *begin = ++p, *after;
        while (p < end && *p != '"')
            p += *p == '\\' && p + 1 < end ? 2 : 1;
        if (p >= end)
            break;
        for (after = p + 1; after < end && *after == ' '; after++) {
        }
        if (after == end || *after != ':')
            st = add(f, from, begin, (size_t)(p - begin), err);
        p++;
    }
    return st;
}

/** "p0/mask_file = a.h5", "mask1_file = a.h5". */
static nb_status of_geom(nb_named_files *f, const nb_file_use *from, const char *data,
                         const char *end, nb_error *err)
{
    nb_status st = NB_OK;
    for (const char *line = data, *next; !st && line < end; line = next + 1) {
        const char *value = line, *stop;
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        while (value < next && *value != '=')
            value++;
        if (value == next || value - line < 5)
            continue;
        for (stop = value; stop > line && stop[-1] == ' '; stop--) {
        }
        if (stop - line < 5 || memcmp(stop - 5, "_file", 5) != 0)
            continue;
        for (value++; value < next && (*value == ' ' || *value == '\t'); value++) {
        }
        for (stop = value; stop < next && !strchr(" \t\r;", *stop); stop++) {
        }
        st = add(f, from, value, (size_t)(stop - value), err);
    }
    return st;
}

/** Names of HDF5 files, as external links and virtual data sets hold them. */
static nb_status of_hdf5(nb_named_files *f, const nb_file_use *from, const char *data,
                         const char *end, nb_error *err)
{
    static const char *const endings[] = {".h5", ".hdf5", ".nxs", ".cxi"};
    nb_status st = NB_OK;
    const char *begin = data;
    for (const char *p = data; !st && p < end; p++) {
        size_t length = (size_t)(p - begin);
        if ((unsigned char)*p >= ' ')
            continue;
        for (int i = 0; !st && *p == '\0' && length > 3 && i < 4; i++) {
            size_t n = strlen(endings[i]);
            if (length > n && memcmp(p - n, endings[i], n) == 0)
                st = add(f, from, begin, length, err);
        }
        begin = p + 1;
    }
    return st;
}

/** last[NB_PATH_MAX]: the HDF5 file before; frames of one file follow one another. */
static nb_status look_into(nb_named_files *f, const nb_file_use *from, char *last,
                           nb_error *err)
{
    char master[NB_PATH_MAX], file[NB_PATH_MAX], *data;
    int frame;
    const int hdf5 = nb_hdf5_frame_of(from->path, master, &frame),
              jobs = !strcmp(from->flag, "-jobs") || !strcmp(from->flag, "-crystals"),
              geom = strcmp(from->flag, "-geom") == 0;
    const nb_file_use at = {from->flag, hdf5 ? file : from->path, 0};
    size_t bytes;
    nb_input in;
    nb_status st = NB_OK;
    if (hdf5) {
        nb_hdf5_set_of(master, file);
        if (strcmp(file, last) == 0)
            return NB_OK;
        memcpy(last, file, sizeof file);
    }
    if (!(hdf5 || jobs || geom) || !nb_is_regular_file(at.path) ||
        nb_input_open(&in, at.path, at.flag, NULL))
        return NB_OK; /* its reader says more */
    bytes = in.bytes < LOOK ? (size_t)in.bytes : LOOK;
    data = bytes > 0 ? nb_alloc_raw(bytes, 1, "names of files", NULL) : NULL;
    if (data && !nb_input_read(&in, 0, data, bytes, NULL))
        st = (hdf5 ? of_hdf5 : jobs ? of_jobs : of_geom)(f, &at, data, data + bytes, err);
    nb_free(data);
    nb_input_close(&in);
    return st;
}

nb_status nb_named_files_find(nb_named_files *f, const nb_file_use *uses, int n,
                              nb_error *err)
{
    char last[NB_PATH_MAX] = "";
    nb_status st = NB_OK;
    memset(f, 0, sizeof *f);
    if (!(f->uses = nb_alloc((size_t)n + 1, sizeof *uses, "names of files", err)))
        return NB_ERR_NOMEM;
    if (n > 0)
        memcpy(f->uses, uses, (size_t)n * sizeof *uses);
    f->n = n;
    for (int i = 0; !st && i < n; i++)
        if (!uses[i].written)
            st = look_into(f, &uses[i], last, err);
    return st;
}

void nb_named_files_free(nb_named_files *f)
{
    for (int i = 0; i < f->named; i++)
        nb_free(f->paths[i]);
    nb_free(f->paths);
    nb_free(f->uses);
    memset(f, 0, sizeof *f);
}
