/* SPDX-License-Identifier: MIT */
/* HDF5 data files. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/hdf5_facts.h"
#include "record.h"
#include "sinks.h"
#include "stale.h"

enum { SUFFIX = 32, DATA_DIGITS = 6 };

nb_status nb_hdf5_sink_stem(const char *master, char stem[NB_PATH_MAX], nb_error *err)
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

void nb_hdf5_sink_data_path(const char *stem, int block, char path[NB_PATH_MAX])
{
    snprintf(path, NB_PATH_MAX, "%.*s_data_%06d.h5", NB_PATH_MAX - SUFFIX, stem,
             block + 1);
}

void nb_hdf5_sink_record_path(const char *stem, int block, char path[NB_PATH_MAX])
{
    snprintf(path, NB_PATH_MAX, "%.*s_data_%06d.h5.resume", NB_PATH_MAX - SUFFIX, stem,
             block + 1);
}

void nb_hdf5_sink_series_path(const char *stem, char path[NB_PATH_MAX])
{
    snprintf(path, NB_PATH_MAX, "%.*s_series.h5.resume", NB_PATH_MAX - SUFFIX, stem);
}

void nb_hdf5_sink_link(void *user, int n, char *name)
{
    const nb_hdf5_sink *s = user;
    const char *slash = strrchr(s->stem, '/');
    nb_hdf5_sink_data_path(slash ? slash + 1 : s->stem, n, name);
}

static int frames_in(const nb_hdf5_sink *s, int block)
{
    int left = s->frames - block * s->per_file;
    return left < s->per_file ? left : s->per_file;
}

static nb_hdf5_data describe(const nb_hdf5_sink *s, int block)
{
    nb_hdf5_data data = {0};
    data.layout = s->layout;
    data.frames = frames_in(s, block);
    data.fingerprint = s->key.fingerprint;
    data.seed = s->key.seed;
    data.per_file = s->key.per_file;
    data.first = block * s->per_file;
    return data;
}

/** Read the tail of a record; 0 if there is none. */
static int read_tail(const nb_hdf5_sink *s, int64_t offset, size_t bytes,
                     nb_record_tail *tail)
{
    return bytes >= sizeof *tail &&
           nb_journal_peek(&s->journal, offset + (int64_t)(bytes - sizeof *tail), tail,
                           sizeof *tail) &&
           nb_record_check(tail, bytes);
}

static void on_found(void *user, int frame, int64_t offset, size_t bytes)
{
    nb_hdf5_sink *s = user;
    nb_record_tail tail = {0};
    int i = frame - s->block * s->per_file;
    if (i < 0 || i >= frames_in(s, s->block) || !read_tail(s, offset, bytes, &tail) ||
        tail.chunk_bytes > nb_hdf5_chunk_bound(&s->layout))
        return;
    s->offset[i] = offset;
    s->bytes[i] = bytes;
    s->inputs[frame] = tail.inputs;
    if (!s->done[frame]) { /* other threads read it while the series runs */
        s->done[frame] = 1;
        if (s->lists)
            s->lists[frame] = tail.list;
        if (s->facts)
            s->facts[frame] = tail.facts;
    }
}

/** Open the journal of a block, on request with the frames of an earlier run. A journal of
 * other flags is from another series whose files this one replaces; otherwise find_finished
 * has refused it. */
static nb_status open_block(nb_hdf5_sink *s, int block, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_journal_key there;
    s->block = block;
    memset(s->offset, 0, (size_t)s->per_file * sizeof *s->offset);
    nb_hdf5_sink_record_path(s->stem, block, path);
    if (s->resume && nb_journal_key_of(path, &there) &&
        !memcmp(&there, &s->key, sizeof there))
        return nb_journal_resume(&s->journal, path, &s->key, on_found, s, err);
    return nb_journal_create(&s->journal, path, &s->key, err);
}

static nb_status fail_other(const char *path, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "-resume: %.300s was made with other flags or files; give the same, or "
        "leave -resume out to start again",
        path);
}

/** The files of an earlier run for a block: the whole data file, or a journal. Files made
 * with other flags are refused, unless this series replaces another one. */
static nb_status find_block(nb_hdf5_sink *s, int block, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_hdf5_data there, data = describe(s, block);
    nb_journal_key key;
    nb_status st;
    nb_hdf5_sink_data_path(s->stem, block, path);
    if (nb_hdf5_verify_data(path, &data, s->lists ? s->lists + data.first : NULL,
                            s->inputs + data.first)) {
        memset(s->done + data.first, 2, (size_t)data.frames);
        nb_hdf5_read_facts(path, data.frames, s->facts + data.first);
        return NB_OK;
    }
    if (s->fresh && nb_hdf5_data_key(path, &there) &&
        there.fingerprint != s->key.fingerprint)
        return fail_other(path, err);
    nb_hdf5_sink_record_path(s->stem, block, path);
    if (!nb_journal_key_of(path, &key))
        return NB_OK;
    if (memcmp(&key, &s->key, sizeof key) != 0)
        return s->fresh ? fail_other(path, err) : NB_OK;
    st = open_block(s, block, err);
    nb_journal_close(&s->journal);
    return st;
}

static nb_status find_finished(nb_hdf5_sink *s, nb_error *err)
{
    int blocks = (s->frames + s->per_file - 1) / s->per_file;
    nb_status st = NB_OK;
    for (int b = s->part; !st && b < blocks; b += s->parts)
        st = find_block(s, b, err);
    s->block = -1;
    return st;
}

nb_status nb_hdf5_sink_begin(nb_hdf5_sink *s, const nb_series *series,
                             const nb_journal_key *key, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_status st = nb_hdf5_sink_stem(series->hdf5_file, s->stem, err);
    if (st)
        return st;
    nb_hdf5_sink_series_path(s->stem, path);
    s->series.sole = 1;
    st = series->resume ? nb_journal_resume(&s->series, path, key, NULL, NULL, err)
                        : nb_journal_create(&s->series, path, key, err);
    s->fresh = s->series.begun;
    return st;
}

nb_status nb_hdf5_sink_open(nb_hdf5_sink *s, const nb_series *series, int frames,
                            const nb_hdf5_layout *layout, const nb_journal_key *key,
                            nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_status st = nb_hdf5_check(layout, err);
    s->layout = *layout;
    s->key = *key;
    s->frames = frames;
    s->resume = series->resume;
    s->per_file = (int)key->per_file;
    s->block = -1;
    if (st || (st = nb_hdf5_sink_stem(series->hdf5_file, s->stem, err)))
        return st;
    s->offset = nb_alloc((size_t)s->per_file, sizeof *s->offset, "frames", err);
    s->bytes = nb_alloc((size_t)s->per_file, sizeof *s->bytes, "frames", err);
    s->done = nb_alloc((size_t)frames, 1, "frames", err);
    s->inputs = nb_alloc((size_t)frames, sizeof *s->inputs, "frames", err);
    if (layout->reflections &&
        !(s->lists = nb_alloc((size_t)frames, sizeof *s->lists, "frames", err)))
        return NB_ERR_NOMEM;
    if (s->resume)
        s->facts = nb_alloc((size_t)frames, sizeof *s->facts, "frames", err);
    if (!s->offset || !s->bytes || !s->done || !s->inputs || (s->resume && !s->facts))
        return NB_ERR_NOMEM;
    nb_hdf5_sink_data_path(s->stem, 0, path);
    if ((st = nb_hdf5_try_data(path, layout, err)))
        return st;
    return s->resume ? find_finished(s, err) : NB_OK;
}

/** Read frame i of the block into s->chunk, if it has not changed. */
static nb_status read_record(nb_hdf5_sink *s, int i, nb_record_tail *tail, nb_error *err)
{
    nb_status st;
    if (!s->offset[i])
        return nb_fail(err, NB_ERR_INTERNAL, "frame %d of %.200s is missing", i,
                       s->journal.path);
    if (s->bytes[i] > s->room) {
        nb_free(s->chunk);
        s->room = s->bytes[i];
        if (!(s->chunk = nb_alloc_raw(s->room, 1, "frame", err))) {
            s->room = 0;
            return NB_ERR_NOMEM;
        }
    }
    st = nb_journal_read(&s->journal, s->block * s->per_file + i, s->offset[i], s->chunk,
                         s->bytes[i], err);
    if (!st)
        *tail = nb_record_tail_of(s->chunk, s->bytes[i]);
    return st;
}

static nb_status tail_of(const nb_hdf5_sink *s, int i, nb_record_tail *tail, nb_error *err)
{
    if (read_tail(s, s->offset[i], s->bytes[i], tail))
        return NB_OK;
    return nb_fail(err, NB_ERR_INTERNAL, "frame %d of %.200s is not whole", i,
                   s->journal.path);
}

static nb_status next_chunk(void *user, int i, const void **chunk, size_t *bytes,
                            nb_error *err)
{
    nb_hdf5_sink *s = user;
    nb_record_tail tail;
    nb_status st = read_record(s, i, &tail, err);
    *chunk = s->chunk;
    *bytes = st ? 0 : (size_t)tail.chunk_bytes;
    return st;
}

static nb_status next_list(void *user, int i, nb_reflections *list, nb_error *err)
{
    nb_hdf5_sink *s = user;
    nb_record_tail tail;
    nb_status st = read_record(s, i, &tail, err);
    if (!st)
        *list = nb_record_list(s->chunk, &tail);
    return st;
}

/** Read the tails of the block's frames: numbers of reflections, facts of the images. */
static nb_status gather(const nb_hdf5_sink *s, int frames, int64_t *counts,
                        nb_hdf5_facts *facts, nb_error *err)
{
    nb_status st = NB_OK;
    nb_record_tail tail;
    for (int i = 0; !st && i < frames; i++)
        if (!(st = tail_of(s, i, &tail, err))) {
            counts[i] = tail.list.count;
            facts[i] = tail.facts;
        }
    return st;
}

/** The journal's frames become the data file. */
static nb_status assemble(nb_hdf5_sink *s, int frames, nb_error *err)
{
    nb_hdf5_data data = describe(s, s->block);
    char path[NB_PATH_MAX];
    int64_t *counts = nb_alloc((size_t)frames, sizeof *counts, "lists", err);
    nb_hdf5_facts *facts = nb_alloc((size_t)frames, sizeof *facts, "lists", err);
    nb_status st = counts && facts ? gather(s, frames, counts, facts, err) : NB_ERR_NOMEM;
    data.frames = frames;
    data.reflections = counts;
    data.facts = facts;
    for (int i = 0; i < frames; i++) {
        data.bytes += s->bytes[i];
        if (s->inputs[data.first + i])
            data.inputs = s->inputs + data.first;
    }
    nb_hdf5_sink_data_path(s->stem, s->block, path);
    if (!st)
        st = nb_hdf5_write_data(path, &data, next_chunk, next_list, s, err);
    nb_free(counts);
    nb_free(facts);
    return st;
}

void nb_hdf5_sink_recall(const nb_hdf5_sink *s, int k, nb_hdf5_frame *truth)
{
    if (s->lists && s->done[k])
        truth->list = s->lists[k];
    if (s->facts && s->done[k])
        truth->facts = s->facts[k];
}

static void swap_chunks(nb_hdf5_sink *s, nb_slot *slot)
{
    void *chunk = s->chunk;
    size_t room = s->room;
    s->chunk = slot->chunk;
    s->room = slot->room;
    slot->chunk = chunk;
    slot->room = room;
}

nb_status nb_hdf5_sink_commit(nb_hdf5_sink *s, int k, nb_slot *slot, nb_error *err)
{
    int block = k / s->per_file, i = k % s->per_file;
    nb_status st = NB_OK;
    if (s->done[k] == 2) /* its data file is there */
        return NB_OK;
    if (s->block != block)
        st = open_block(s, block, err);
    if (!st && !s->offset[i]) {
        st = nb_journal_append(&s->journal, k, slot->chunk, slot->chunk_bytes,
                               &s->offset[i], err);
        if (st)
            s->offset[i] = 0;
        s->bytes[i] = slot->chunk_bytes;
        s->inputs[k] = slot->inputs;
    }
    if (st || i + 1 < frames_in(s, block))
        return st;
    swap_chunks(s, slot); /* its frame is in the journal: use the memory for reading */
    st = assemble(s, frames_in(s, block), err);
    swap_chunks(s, slot);
    if (!st) {
        nb_journal_remove(&s->journal);
        s->block = -1;
    }
    return st;
}

int nb_hdf5_sink_partial(nb_hdf5_sink *s)
{
    int n = 0;
    while (s->block >= 0 && n < frames_in(s, s->block) && s->offset[n])
        n++;
    return n > 0 && !assemble(s, n, NULL) ? n : 0;
}

int nb_hdf5_sink_stale(const nb_hdf5_sink *s, char *first)
{
    char before[NB_PATH_MAX], other[NB_PATH_MAX];
    int blocks = (s->frames + s->per_file - 1) / s->per_file, files, journals;
    snprintf(before, sizeof before, "%.*s_data_", NB_PATH_MAX - SUFFIX, s->stem);
    files = nb_stale_count(before, DATA_DIGITS, ".h5", blocks, first);
    journals =
        nb_stale_count(before, DATA_DIGITS, ".h5.resume", blocks, files ? other : first);
    return files + journals;
}

void nb_hdf5_sink_close(nb_hdf5_sink *s, nb_end end)
{
    nb_journal_end(&s->journal, end);
    nb_journal_end(&s->series, end);
    nb_free(s->inputs);
    s->inputs = NULL;
    nb_free(s->offset);
    nb_free(s->bytes);
    nb_free(s->chunk);
    nb_free(s->done);
    nb_free(s->lists);
    nb_free(s->facts);
    s->lists = NULL;
    s->facts = NULL;
    s->offset = NULL;
    s->bytes = NULL;
    s->chunk = NULL;
    s->done = NULL;
}

int nb_hdf5_sink_key(const nb_series *series, int frames, nb_journal_key *key)
{
    char stem[NB_PATH_MAX], path[NB_PATH_MAX];
    nb_hdf5_data data = {0};
    if (nb_hdf5_sink_stem(series->hdf5_file, stem, NULL))
        return 0;
    nb_hdf5_sink_series_path(stem, path);
    if (nb_journal_key_of(path, key))
        return 1;
    for (int b = 0; b < frames;
         b++) { /* any block: several processes begin at different blocks */
        nb_hdf5_sink_record_path(stem, b, path);
        if (nb_journal_key_of(path, key))
            return 1;
        nb_hdf5_sink_data_path(stem, b, path);
        if (access(path, F_OK) == 0 && nb_hdf5_data_key(path, &data)) {
            key->fingerprint = data.fingerprint;
            key->seed = data.seed;
            key->per_file = data.per_file;
            return 1;
        }
    }
    return 0;
}
