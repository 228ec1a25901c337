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

enum { FILES = 11, BLOCK = 1 << 16 };

/** The input files of a configuration; "" for a missing one. */
static void list_inputs(const nb_config *cfg, const char *names[FILES])
{
    names[0] = cfg->hkl_file;
    names[1] = cfg->dump_file;
    names[2] = cfg->mat_file;
    names[3] = cfg->source_file;
    names[4] = cfg->mask_file;
    names[5] = cfg->img_file;
    names[6] = cfg->pdb_file;
    names[7] = cfg->cif_file;
    names[8] = cfg->mtz_file;
    names[9] = cfg->fprime_table;
    names[10] = cfg->gainmap_file;
}

int nb_same_inputs(const nb_config *a, const nb_config *b)
{
    const char *of_a[FILES], *of_b[FILES];
    list_inputs(a, of_a);
    list_inputs(b, of_b);
    for (int i = 0; i < FILES; i++)
        if (strcmp(of_a[i], of_b[i]) != 0)
            return 0;
    return nb_config_same_factors(a, b);
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

/** Does only the frame, and not the series, read input i? */
static int is_own(const nb_config *cfg, const char *const mine[FILES],
                  const char *const base[FILES], int i)
{
    int cache_not_read = i == 1 && (cfg->hkl_file[0] || cfg->pdb_file[0] ||
                                    cfg->cif_file[0] || cfg->mtz_file[0]);
    return mine[i][0] && !cache_not_read && strcmp(mine[i], base[i]) != 0;
}

uint64_t nb_own_inputs(const nb_config *cfg, const nb_config *base)
{
    const char *mine[FILES], *of_base[FILES];
    uint64_t h = 0;
    list_inputs(cfg, mine);
    list_inputs(base, of_base);
    for (int i = 0; i < FILES; i++)
        if (is_own(cfg, mine, of_base, i))
            h = hash_file(nb_hash_bytes(h ? h : NB_HASH_START, &i, sizeof i), mine[i]);
    return h;
}

void nb_own_input_names(const nb_config *cfg, const nb_config *base, char *names,
                        size_t size)
{
    const char *mine[FILES], *of_base[FILES];
    size_t used = 0;
    list_inputs(cfg, mine);
    list_inputs(base, of_base);
    names[0] = '\0';
    for (int i = 0; i < FILES && used < size; i++)
        if (is_own(cfg, mine, of_base, i))
            used += (size_t)snprintf(names + used, size - used, "%s%.100s",
                                     used ? ", " : "", mine[i]);
}
