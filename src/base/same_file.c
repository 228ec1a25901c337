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

/* The identity of a file. For an existing file `name` is 0. Otherwise device and inode
 * are those of the folder, and `name` is a hash of the last part. */
typedef struct identity {
    uint64_t device, inode, name;
} identity;

typedef struct entry {
    identity id;
    const char *flag, *path; /* path NULL: file `number` of the family */
    const nb_file_family *family;
    int number, written;
    size_t place; /* index in the list */
} entry;

static uint64_t hash_of(const char *text)
{
    return nb_hash_bytes(NB_HASH_START, text, strlen(text)) | 1;
}

/** Identity of a file that does not exist yet: its folder and its name. */
static identity of_missing(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[NB_PATH_MAX];
    struct stat st;
    identity id = {UINT64_MAX, UINT64_MAX, hash_of(path)};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (stat(folder, &st) != 0)
        return id; /* the folder does not exist, so nothing will be written */
    id.device = st.st_dev;
    id.inode = st.st_ino;
    id.name = hash_of(slash ? slash + 1 : path);
    return id;
}

/** stat of a file; for a frame of an input ("file.h5:12"), stat of "file.h5". */
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

/** Set the identity. Returns 0 for a character device, which may be used many times. */
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

/** Order by identity; entries with the same identity keep the order of the list. */
static int order(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    const int o = memcmp(&a->id, &b->id, sizeof a->id);
    return o ? o : (a->place > b->place) - (a->place < b->place);
}

static void describe(const entry *e, char path[NB_PATH_MAX])
{
    if (e->path)
        snprintf(path, NB_PATH_MAX, "%s", e->path);
    else
        e->family->name(e->family->user, e->number, path);
}

static nb_status refuse(const entry *a, const entry *b, nb_error *err)
{
    char first[NB_PATH_MAX], second[NB_PATH_MAX];
    describe(a, first);
    describe(b, second);
    if (nb_outfile_is_stdout(first) && nb_outfile_is_stdout(second))
        return nb_fail(err, NB_ERR_INPUT,
                       "%s - and %s -: only one file can go to standard output; name a "
                       "file for the other",
                       a->flag, b->flag);
    return nb_fail(err, NB_ERR_INPUT,
                   "%s %.180s and %s %.180s name the same file; give two names", a->flag,
                   first, b->flag, second);
}

/** Largest number of checked files of a family: more would take seconds. */
enum { MAX_MEMBERS = 1000000 };

static int members(const nb_file_family *f)
{
    return f->count < MAX_MEMBERS ? f->count : MAX_MEMBERS;
}

/** Refuse two entries of the same file if one is written. */
static nb_status search(const entry *e, size_t n, nb_error *err)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !memcmp(&e[i].id, &e[end].id, sizeof e->id); end++)
            if (e[i].written || e[end].written)
                return refuse(&e[i], &e[end], err);
    }
    return NB_OK;
}

/** Append a file, unless it is a character device. */
static void add(entry *list, size_t *n, const char *path, entry e)
{
    e.place = *n;
    if (identify(path, e.written, &e.id))
        list[(*n)++] = e;
}

nb_status nb_refuse_same_files(const nb_file_use *uses, int n_uses,
                               const nb_file_family *families, int n_families,
                               nb_error *err)
{
    size_t room = (size_t)n_uses, n = 0;
    char path[NB_PATH_MAX];
    entry *e;
    nb_status st;
    for (int f = 0; f < n_families; f++)
        room += (size_t)members(&families[f]);
    e = nb_alloc(room, sizeof *e, "names of files", err);
    if (!e)
        return NB_ERR_NOMEM;
    for (int i = 0; i < n_uses; i++)
        add(e, &n, uses[i].path,
            (entry){
                .flag = uses[i].flag, .path = uses[i].path, .written = uses[i].written});
    for (int k = 0; k < n_families; k++)
        for (int i = 0; i < members(&families[k]); i++) {
            const nb_file_family *f = &families[k];
            f->name(f->user, i, path);
            add(e, &n, path,
                (entry){.flag = f->flag, .family = f, .number = i, .written = !f->is_read});
        }
    qsort(e, n, sizeof *e, order);
    st = search(e, n, err);
    nb_free(e);
    return st;
}
