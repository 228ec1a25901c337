/* SPDX-License-Identifier: MIT */
#include "outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "store.h"
#include "memory.h"

/* The identity of a file. For an existing file `name` is 0. Otherwise device and inode are
 * those of the folder, and `name` is a hash of the last part. */
typedef struct identity {
    uint64_t device, inode, name;
} identity;

typedef struct entry {
    identity id;
    int use;    /* index into uses, or -1 - index into families */
    int number; /* in the family */
} entry;

typedef struct lists {
    const nb_file_use *uses;
    const nb_file_family *families;
} lists;

static uint64_t hash_of(const char *text)
{
    return nb_hash_bytes(NB_HASH_START, text, strlen(text)) | 1;
}

/** A file that does not exist yet: its folder and its name. */
static identity of_missing(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[NB_PATH_MAX];
    struct stat st;
    identity id = {UINT64_MAX, UINT64_MAX, hash_of(path)};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (stat(folder, &st) != 0)
        return id; /* no folder: nothing will be written there */
    id.device = st.st_dev;
    id.inode = st.st_ino;
    id.name = hash_of(slash ? slash + 1 : path);
    return id;
}

/** stat; for "file.h5:12", a frame of an input, that of the file. */
static int find(const char *path, int written, struct stat *st)
{
    const char *colon = strrchr(path, ':');
    char name[NB_PATH_MAX];
    if (stat(path, st) == 0)
        return 1;
    if (written || !colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)(colon - path), path);
    return stat(name, st) == 0;
}

/** 0 for a character device, which may be used many times. */
static int identify(const char *path, int written, identity *id)
{
    static const identity standard_output = {UINT64_MAX, 0, 0};
    int is_stdout = written && nb_outfile_is_stdout(path);
    struct stat st;
    if (is_stdout && (fstat(STDOUT_FILENO, &st) != 0 || !S_ISREG(st.st_mode))) {
        *id = standard_output;
        return 1;
    }
    if (!is_stdout && !find(path, written, &st)) {
        *id = of_missing(path);
        return 1;
    }
    *id = (identity){st.st_dev, st.st_ino, 0};
    return !S_ISCHR(st.st_mode);
}

static int is_same(const identity *a, const identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->name == b->name;
}

static int order_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/** Order of the entries: by identity, then as listed, single files before families. */
static int order(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    int o = order_numbers(a->id.device, b->id.device);
    o = o ? o : order_numbers(a->id.inode, b->id.inode);
    o = o ? o : order_numbers(a->id.name, b->id.name);
    o = o ? o : (a->use < 0) - (b->use < 0);
    o = o ? o : abs(a->use) - abs(b->use);
    return o ? o : (a->number > b->number) - (a->number < b->number);
}

static int is_written(const lists *l, const entry *e)
{
    return e->use < 0 ? !l->families[-1 - e->use].is_read : l->uses[e->use].written;
}

static const char *describe(const lists *l, const entry *e, char path[NB_PATH_MAX])
{
    if (e->use >= 0) {
        snprintf(path, NB_PATH_MAX, "%s", l->uses[e->use].path);
        return l->uses[e->use].flag;
    }
    l->families[-1 - e->use].name(l->families[-1 - e->use].user, e->number, path);
    return l->families[-1 - e->use].flag;
}

static nb_status refuse(const lists *l, const entry *a, const entry *b, nb_error *err)
{
    char first[NB_PATH_MAX], second[NB_PATH_MAX];
    const char *flag = describe(l, a, first), *other = describe(l, b, second);
    if (nb_outfile_is_stdout(first) && nb_outfile_is_stdout(second))
        return nb_fail(err, NB_ERR_INPUT,
                       "%s - and %s -: only one file can go to standard output; name a "
                       "file for the other",
                       flag, other);
    return nb_fail(err, NB_ERR_INPUT,
                   "%s %.180s and %s %.180s name the same file; give two names", flag,
                   first, other, second);
}

/** Largest number of checked files of a family: more would take seconds. */
enum { FAMILY_MOST = 1000000 };

static int members(const nb_file_family *f)
{
    return f->count < FAMILY_MOST ? f->count : FAMILY_MOST;
}

/** Are two adjacent entries the same file, one of them written? */
static nb_status search(const lists *l, const entry *e, size_t n, nb_error *err)
{
    for (size_t i = 0, end; i < n; i = end) {
        int written = 0;
        for (end = i; end < n && is_same(&e[i].id, &e[end].id); end++)
            written |= is_written(l, &e[end]);
        if (!written || end - i < 2)
            continue;
        for (size_t j = i + 1; j < end; j++)
            if (is_written(l, &e[i]) || is_written(l, &e[j]))
                return refuse(l, &e[i], &e[j], err);
    }
    return NB_OK;
}

static size_t collect(const lists *l, int n_uses, int n_families, entry *e)
{
    char path[NB_PATH_MAX];
    size_t n = 0;
    for (int i = 0; i < n_uses; i++) {
        e[n] = (entry){{0}, i, 0};
        n += (size_t)identify(l->uses[i].path, l->uses[i].written, &e[n].id);
    }
    for (int f = 0; f < n_families; f++)
        for (int i = 0; i < members(&l->families[f]); i++) {
            l->families[f].name(l->families[f].user, i, path);
            e[n] = (entry){{0}, -1 - f, i};
            n += (size_t)identify(path, !l->families[f].is_read, &e[n].id);
        }
    return n;
}

nb_status nb_refuse_same_files(const nb_file_use *uses, int n_uses,
                               const nb_file_family *families, int n_families,
                               nb_error *err)
{
    const lists l = {uses, families};
    size_t most = (size_t)n_uses + 1; /* one more, so that the next can be written */
    entry *e;
    nb_status st;
    for (int f = 0; f < n_families; f++)
        most += (size_t)members(&families[f]);
    e = nb_alloc(most, sizeof *e, "names of files", err);
    if (!e)
        return NB_ERR_NOMEM;
    most = collect(&l, n_uses, n_families, e);
    qsort(e, most, sizeof *e, order);
    st = search(&l, e, most, err);
    nb_free(e);
    return st;
}
