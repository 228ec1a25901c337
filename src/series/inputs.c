/* SPDX-License-Identifier: MIT */
/* Input files of a single frame, which the series does not have. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/hash.h"
#include "../params/params.h"
#include "fingerprint.h"

enum { BLOCK = 1 << 16 };

/** The name of the file that row i of the table reads for one image; NULL: it reads none. */
static const char *input_at(const nb_config *cfg, size_t i)
{
    const nb_param *row = &nb_params(NULL)[i];
    if (row->kind != NB_KIND_FILE || !(row->flags & NB_PARAM_INPUT) ||
        row->flags & (NB_PARAM_SERIES | NB_PARAM_VIEW))
        return NULL;
    return (const char *)cfg + row->offset;
}

int nb_same_inputs(const nb_config *a, const nb_config *b)
{
    size_t n;
    nb_params(&n);
    for (size_t i = 0; i < n; i++)
        if (input_at(a, i) && strcmp(input_at(a, i), input_at(b, i)) != 0)
            return 0;
    return strcmp(a->background, b->background) == 0 && nb_config_same_factors(a, b);
}

/** Fill block[BLOCK] up to the end of the file; < 0: it cannot be read. */
static ssize_t read_block(int fd, unsigned char *block)
{
    size_t used = 0;
    while (used < BLOCK) {
        ssize_t n = read(fd, block + used, BLOCK - used);
        if (n < 0)
            return n;
        if (n == 0)
            break;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

/** Continue a hash with the contents of a file. A pipe is not read, because it can be read
 * only once. A missing file counts as an empty one; no frame can be made with it. */
static uint64_t hash_file(uint64_t h, const char *path)
{
    unsigned char block[BLOCK];
    struct stat file;
    ssize_t n = BLOCK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return nb_hash_bytes(h, "", 0);
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode))
        n = 0;
    while (n == BLOCK && (n = read_block(fd, block)) > 0)
        h = nb_hash_bytes(h, block, (size_t)n);
    close(fd);
    return h;
}

/** The name of the file of row i that the frame reads and the series does not; NULL: there is none. */
static const char *own_input(const nb_config *cfg, const nb_config *base, size_t i)
{
    const char *mine = input_at(cfg, i);
    int cache_not_read =
        mine == cfg->dump_file && (cfg->hkl_file[0] || nb_config_has_factor_file(cfg));
    return mine && mine[0] && !cache_not_read && strcmp(mine, input_at(base, i)) != 0
               ? mine
               : NULL;
}

int nb_own_input(const nb_config *cfg, const nb_config *base, size_t *i,
                 const char **flag, const char **path)
{
    size_t n;
    const nb_param *rows = nb_params(&n);
    for (; *i < n; ++*i)
        if ((*path = own_input(cfg, base, *i))) {
            *flag = rows[*i].name;
            return 1;
        }
    return 0;
}

uint64_t nb_own_inputs(const nb_config *cfg, const nb_config *base)
{
    const char *flag, *path;
    uint64_t h = 0;
    for (size_t i = 0; nb_own_input(cfg, base, &i, &flag, &path); i++)
        h = hash_file(nb_hash_bytes(h ? h : NB_HASH_START, flag, strlen(flag)), path);
    return h;
}

void nb_own_input_names(const nb_config *cfg, const nb_config *base, char *names,
                        size_t size)
{
    const char *flag, *path;
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; used < size && nb_own_input(cfg, base, &i, &flag, &path); i++)
        used += (size_t)snprintf(names + used, size - used, "%s%.100s", used ? ", " : "",
                                 path);
}
