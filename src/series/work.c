/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/memory.h"

/* --- names --- */

enum {
    PER_FILE = 100,
    SUFFIX = 48,      /* limit of the bytes after the stem */
    FIRST_NUMBER = 1, /* number of the first file, as beamlines count */
    LETTERS = 25,     /* number of letters b to z */
    PIECES = LETTERS * 16,
    EARLY = 300 /* seconds until an open data file is closed early */
};

nb_status nb_work_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err)
{
    const char *slash = strrchr(master, '/'), *dot = strrchr(master, '.');
    size_t n = strlen(master);
    if (dot && (!slash || dot > slash + 1) && dot != master)
        n = (size_t)(dot - master);
    if (n > 7 && strncmp(master + n - 7, "_master", 7) == 0)
        n -= 7;
    if (n + SUFFIX >= NB_PATH_MAX)
        return nb_fail(err, NB_ERR_INPUT, "-hdf5 %.60s...: the file name is too long",
                       master);
    memcpy(stem, master, n);
    stem[n] = '\0';
    return NB_OK;
}

void nb_work_data_path(const char *stem, int block, int piece, char path[NB_PATH_MAX])
{
    /* letters of the piece: b to z, zb to zz, zzb ... */
    char letters[PIECES / LETTERS + 2] = "";
    const int z = piece > 0 ? (piece - 1) / LETTERS : 0;
    memset(letters, 'z', (size_t)z);
    if (piece > 0)
        letters[z] = (char)('b' + (piece - 1) % LETTERS);
    snprintf(path, NB_PATH_MAX, "%.*s_data_%06d%s.h5", NB_PATH_MAX - SUFFIX, stem,
             block + 1, letters);
}

nb_status nb_work_begun_path(const nb_series *series, char path[NB_PATH_MAX],
                             nb_error *err)
{
    char stem[NB_PATH_MAX], part[16] = "";
    nb_template t;
    nb_status st;
    if (series->hdf5_file[0]) {
        if (!(st = nb_work_stem(series->hdf5_file, stem, err)))
            snprintf(path, NB_PATH_MAX, "%.*s_series.h5.resume", NB_PATH_MAX - SUFFIX,
                     stem);
        return st;
    }
    NB_FORWARD(nb_template_of(series, &t, err));
    if (t.is_part)
        snprintf(part, sizeof part, "_%d", t.first + 1);
    return snprintf(path, NB_PATH_MAX, "%sseries%s%s.resume", t.before, part, t.after) <
                   NB_PATH_MAX
               ? NB_OK
               : nb_fail(err, NB_ERR_INPUT,
                         "-output %.200s...: the file name is too long", t.before);
}

int nb_work_size(const nb_series *s)
{
    const int frames = nb_series_part(s, NULL);
    const int limit = s->frames_per_file > 0 ? s->frames_per_file : PER_FILE;
    return !s->hdf5_file[0] || frames < 1 ? 1 : frames < limit ? frames : limit;
}

/** Name of numbered file k. */
static void file_path(const nb_work *s, int k, char path[NB_PATH_MAX])
{
    path[0] = '\0';
    (void)nb_template_name(&s->name, k + FIRST_NUMBER, path, NULL);
}

static int has_file(const nb_work *s, int k)
{
    char path[NB_PATH_MAX];
    file_path(s, k, path);
    return nb_is_regular_file(path);
}

/* --- existing files --- */

static int begin_of(const nb_work *s, int block)
{
    return block * s->per_block;
}

static int end_of(const nb_work *s, int block)
{
    const int end = begin_of(s, block) + s->per_block;
    return end < s->frames ? end : s->frames;
}

int nb_work_key(const nb_series *series, nb_series_key *key)
{
    const int count = nb_series_part(series, NULL) / nb_work_size(series) + 1;
    char path[NB_PATH_MAX], stem[NB_PATH_MAX];
    nb_hdf5_data data;
    if (!nb_work_begun_path(series, path, NULL) && nb_begun_key(path, key))
        return 1;
    if (!series->hdf5_file[0] || nb_work_stem(series->hdf5_file, stem, NULL))
        return 0;
    for (int b = 0; b < count; b++) { /* each process begins at another block */
        nb_work_data_path(stem, b, 0, path);
        if (access(path, F_OK) == 0 && nb_hdf5_data_key(path, &data)) {
            *key = data.key;
            return 1;
        }
    }
    return 0;
}

nb_status nb_work_open(nb_work *s, const nb_series *series, int room, nb_error *err)
{
    nb_status st = NB_OK;
    s->frames = nb_series_part(series, NULL);
    s->per_block = nb_work_size(series);
    s->count = (s->frames + s->per_block - 1) / s->per_block;
    s->numbered = series->output[0] != 0;
    s->room = room;
    if (s->numbered)
        st = nb_template_of(series, &s->name, err);
    if (!st && s->numbered)
        st = nb_writer_ready(s->name.format->writer, "-output", err);
    if (!st && series->hdf5_file[0])
        st = nb_work_stem(series->hdf5_file, s->stem, err);
    if (st)
        return st;
    s->open = nb_alloc((size_t)room, sizeof *s->open, "blocks", err);
    s->whole = nb_alloc((size_t)s->count, 1, "blocks", err);
    for (int i = 0; s->open && i < room; i++) {
        s->open[i].number = -1;
        s->open[i].claim.fd = -1;
    }
    return s->open && s->whole ? NB_OK : NB_ERR_NOMEM;
}

void nb_work_free(nb_work *s)
{
    for (int i = 0; s->open && i < s->room; i++)
        if (s->open[i].number >= 0)
            (void)nb_block_end(&s->open[i], NULL);
    nb_free(s->open);
    nb_free(s->whole);
    nb_free(s->kept);
    memset(s, 0, sizeof *s);
}

void nb_work_remove_numbered(const nb_work *s)
{
    char path[NB_PATH_MAX];
    for (int k = 0; s->numbered && k < s->frames; k++) {
        file_path(s, k, path);
        (void)unlink(path);
    }
}

/** Remove the data files of a block from this piece on. */
static void remove_pieces(const nb_work *s, int block, int piece)
{
    char path[NB_PATH_MAX];
    do
        nb_work_data_path(s->stem, block, piece++, path);
    while (unlink(path) == 0);
}

void nb_work_remove_data(const nb_work *s)
{
    for (int b = 0; s->stem[0] && b < s->count; b++)
        remove_pieces(s, b, 0);
}

/** Check a data file. there->frames is 0 if the file is damaged or does not begin at
 * frame `first`. */
static nb_status look_at(const nb_work *s, const char *path, int first,
                         nb_hdf5_data *there, nb_error *err)
{
    there->frames = 0;
    if (!nb_hdf5_data_key(path, there))
        return NB_OK; /* a damaged file will be replaced */
    if (memcmp(&there->key, &s->data.key, sizeof there->key) != 0)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-resume: %.300s was made with other flags or files; give the same, or "
            "leave -resume out to start again",
            path);
    if (there->first != first)
        there->frames = 0;
    return NB_OK;
}

/** Add a data file to the list; all[n].first becomes the number of the frame after this
 * file. */
static nb_status add_piece(nb_pieces *p, struct nb_piece piece, int frames, nb_error *err)
{
    if (p->n + 1 >= p->room) {
        if (nb_grow(&p->all, (size_t)p->n, 2 * (size_t)p->n + 16, sizeof *p->all,
                    "data files", err))
            return NB_ERR_NOMEM;
        p->room = 2 * p->n + 16;
    }
    p->all[p->n++] = piece;
    p->all[p->n].first = piece.first + frames;
    return NB_OK;
}

/** Count the frames in closed data files, from the block's first frame on without a gap.
 * *piece: number of the next data file. all (or NULL) gets the files. */
static nb_status find(const nb_work *s, int block, int *frames, int *piece,
                      nb_pieces *all, nb_error *err)
{
    const int first = begin_of(s, block), limit = end_of(s, block) - first;
    char path[NB_PATH_MAX];
    nb_hdf5_data there;
    nb_status st = NB_OK;
    *frames = *piece = 0;
    while (!st && s->stem[0] && *frames < limit && *piece < PIECES) {
        nb_work_data_path(s->stem, block, *piece, path);
        if (access(path, F_OK) != 0)
            break;
        if ((st = look_at(s, path, first + *frames, &there, err)))
            break;
        if (there.frames < 1 || there.frames > limit - *frames)
            break;
        if (all)
            st = add_piece(all, (struct nb_piece){block, *piece, there.first},
                           there.frames, err);
        *frames += there.frames;
        ++*piece;
    }
    return st;
}

/** Last frame of a block that is missing in an output, or -1. HDF5 has the frames before
 * `first`. */
static int last_lack(const nb_work *s, int block, int first)
{
    int k = end_of(s, block) - 1;
    if (s->stem[0] && first <= k)
        return k;
    while (s->numbered && k >= begin_of(s, block) && has_file(s, k))
        k--;
    return s->numbered && k >= begin_of(s, block) ? k : -1;
}

nb_status nb_work_count(nb_work *s, int *kept, int *frames, nb_error *err)
{
    nb_status st = NB_OK;
    *frames = 0;
    for (int b = 0; !st && b < s->count; b++) {
        const int first = begin_of(s, b), all = end_of(s, b) - first;
        int n = all, piece;
        if (!s->whole[b])
            st = find(s, b, &n, &piece, NULL, err);
        if (!s->stem[0])
            n = all;
        for (int k = 0; s->numbered && k < n; k++)
            if (!has_file(s, first + k))
                n = k;
        s->whole[b] = n == all;
        *frames += n;
        if (kept)
            kept[b] = n;
    }
    return st;
}

void nb_work_notice_longer(const nb_work *s, const nb_hooks *hooks)
{
    static const char text[] =
        "%s and what follows are left from an earlier, longer series; "
        "remove them if you do not need them";
    char path[NB_PATH_MAX];
    if (s->numbered && !s->name.is_name && !s->name.is_part &&
        nb_template_later(&s->name, s->frames - 1 + FIRST_NUMBER, path))
        nb_notice(hooks, text, path);
    nb_work_data_path(s->stem, s->count, 0, path);
    if (s->stem[0] && access(path, F_OK) == 0)
        nb_notice(hooks, text, path);
}

/* --- claims --- */

/** Find block `number` in `open`, or with -1 a free entry. Returns NULL if there is no
 * such entry. */
static nb_block *place_of(nb_work *s, int number)
{
    for (int i = 0; i < s->room; i++)
        if (s->open[i].number == number)
            return &s->open[i];
    return NULL;
}

/** Begin the next data file of a claimed block. */
static nb_status open_file(nb_work *s, nb_block *b, nb_error *err)
{
    nb_hdf5_data data = s->data;
    data.first = b->start;
    data.frames = end_of(s, b->number) - b->start;
    if (b->piece >= PIECES)
        return nb_fail(err, NB_ERR_IO,
                       "%.300s: the frames of one data file are in %d pieces",
                       b->claim.path, PIECES);
    nb_work_data_path(s->stem, b->number, b->piece, b->claim.path);
    /* remove files that follow a damaged file */
    remove_pieces(s, b->number, b->piece + 1);
    b->since = 0;
    return nb_hdf5_data_open(&b->claim, &data, &b->file, err);
}

/** Claim the temporary file of a block; b->claim.fd is -1 if another process has it. */
static nb_status claim_file(nb_work *s, nb_block *b, int block, nb_error *err)
{
    char path[NB_PATH_MAX];
    int no_locks;
    nb_status st;
    if (s->stem[0])
        nb_work_data_path(s->stem, block, 0, path);
    else
        file_path(s, block, path);
    st = nb_outfile_claim(&b->claim, path, &no_locks, err);
    if (no_locks)
        snprintf(s->unlocked, sizeof s->unlocked, "%.*s", NB_PATH_MAX - 1, b->claim.temp);
    return st;
}

/** Claim a block that is not complete, unless another process has it. */
static nb_status claim(nb_work *s, int block, nb_error *err)
{
    nb_block *b = place_of(s, -1);
    int kept, piece;
    nb_status st = find(s, block, &kept, &piece, NULL, err);
    s->whole[block] = !st && last_lack(s, block, begin_of(s, block) + kept) < 0;
    if (st || s->whole[block] || !b || (st = claim_file(s, b, block, err)) ||
        b->claim.fd < 0)
        return st;
    /* count again, now that this process has the claim */
    st = find(s, block, &kept, &piece, NULL, err);
    *b = (nb_block){.number = block,
                    .piece = piece,
                    .first = begin_of(s, block) + kept,
                    .start = begin_of(s, block) + kept,
                    .next = begin_of(s, block) + (s->kept ? s->kept[block] : 0),
                    .claim = b->claim};
    b->last = last_lack(s, block, b->first);
    b->to_hdf5 = s->stem[0] && b->first < end_of(s, block);
    s->whole[block] = !st && b->last < 0;
    if (s->kept && b->last >= 0)
        b->last = end_of(s, block) - 1; /* all frames except those of take_again */
    if (!st && b->to_hdf5)
        st = open_file(s, b, err);
    if (!st && b->last >= 0) {
        s->dealing = b;
        return NB_OK;
    }
    nb_outfile_abort(&b->claim);
    b->number = -1;
    return st;
}

/** Claim the next free block. Look at all blocks again, because a process that died has
 * freed its blocks. */
static nb_status claim_next(nb_work *s, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; !st && !s->dealing && i < s->count; i++) {
        const int block = s->at;
        s->at = (s->at + 1) % s->count;
        if (!s->whole[block] && !place_of(s, block))
            st = claim(s, block, err);
    }
    return st;
}

/** Take a stored frame that only the sum (-sumfile) needs. */
static int take_again(nb_work *s, nb_slot *slot)
{
    while (s->kept && s->again < s->frames) {
        const int k = s->again++, block = k / s->per_block;
        if (block % s->ranks != s->rank || k - begin_of(s, block) >= s->kept[block])
            continue;
        slot->frame = k;
        slot->block = NULL;
        slot->to_hdf5 = slot->to_file = 0;
        return 1;
    }
    return 0;
}

/** Take the next frame of the block s->dealing, if an output lacks it. */
static void deal(nb_work *s, nb_slot *slot)
{
    nb_block *b = s->dealing;
    const int k = b->next++;
    slot->to_hdf5 = b->to_hdf5 && k >= b->first;
    slot->to_file = s->numbered && !has_file(s, k);
    slot->block = b;
    if (slot->to_hdf5 || slot->to_file || s->kept || k == b->last)
        slot->frame = k;
    if (k == b->last)
        s->dealing = NULL;
}

nb_status nb_work_take(nb_work *s, nb_slot *slot, nb_error *err)
{
    nb_status st = NB_OK;
    slot->frame = -1;
    if (take_again(s, slot))
        return NB_OK;
    while (!st && slot->frame < 0) {
        if (!s->dealing)
            st = claim_next(s, err);
        if (st || !s->dealing)
            break;
        deal(s, slot);
    }
    return st;
}

/* --- files --- */

nb_status nb_work_add(nb_work *s, nb_slot *slot, nb_block **full, nb_error *err)
{
    nb_block *b = slot->block;
    const nb_hdf5_packed frame = {slot->chunk, slot->chunk_bytes, &slot->truth,
                                  &slot->list};
    nb_status st = NB_OK;
    *full = NULL;
    if (!b)
        return NB_OK;
    if (slot->to_hdf5 && !b->lost) {
        st = nb_hdf5_data_add(b->file, &frame, err);
        if (!b->since)
            b->since = nb_monotonic_seconds();
        b->written = slot->frame;
        s->writing = b;
    }
    if (!st && slot->frame == b->last) {
        *full = b;
        s->writing = NULL;
    }
    return st;
}

nb_status nb_block_end(nb_block *b, nb_error *err)
{
    nb_status st = nb_hdf5_data_close(b->file, err);
    b->file = NULL;
    nb_outfile_abort(&b->claim);
    return st;
}

nb_status nb_work_end_old(nb_work *s, nb_error *err)
{
    nb_block *b = s->writing;
    nb_status st;
    if (!b || !b->file || !b->since || nb_monotonic_seconds() - b->since < EARLY ||
        s->kept || b->piece + 1 >= PIECES)
        return NB_OK;
    if ((st = nb_block_end(b, err)) || (st = claim_file(s, b, b->number, err)))
        return st;
    b->lost = b->claim.fd < 0; /* 1 if another process was faster */
    b->start = b->written + 1;
    b->piece++;
    return b->lost ? NB_OK : open_file(s, b, err);
}

nb_status nb_work_pieces(const nb_work *s, nb_pieces *p, nb_error *err)
{
    int frames, piece, more = 1;
    nb_status st = NB_OK;
    memset(p, 0, sizeof *p);
    for (int b = 0; !st && more && b < s->count; b++) {
        st = find(s, b, &frames, &piece, p, err);
        more = frames == end_of(s, b) - begin_of(s, b);
    }
    return st;
}

void nb_pieces_free(nb_pieces *p)
{
    nb_free(p->all);
    p->all = NULL;
}
