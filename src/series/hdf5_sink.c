/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../io/hdf5/hdf5_file.h"
#include "record.h"
#include "sinks.h"
#include "stale.h"

/* Memory for per_file frames. */
static nb_status block_init(nb_block *b, int per_file, nb_error *err)
{
    b->number = -1;
    b->journal.fd = -1;
    b->offset = nb_alloc((size_t)per_file, sizeof *b->offset, "frames", err);
    b->bytes = nb_alloc((size_t)per_file, sizeof *b->bytes, "frames", err);
    return b->offset && b->bytes ? NB_OK : NB_ERR_NOMEM;
}

static void block_free(nb_block *b)
{
    nb_free(b->offset);
    nb_free(b->bytes);
    b->offset = NULL;
    b->bytes = NULL;
}

enum { READERS = 2, AHEAD = 2 + READERS }; /* threads; records in memory */

/** A record that was read back. */
typedef struct record {
    int frame;  /* of the block; -1: not read */
    void *data; /* owned, grows */
    size_t room;
    nb_record_tail tail;
} record;

/** A block that is read back by threads of its own: to read and check a record takes longer than to write
 * it. */
typedef struct reading {
    const nb_block *block;
    int first, frames; /* number of its first frame in the series, number of frames */
    pthread_t threads[READERS];
    int n_threads;        /* 0: next_chunk reads */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t moved;
    record records[AHEAD];
    int next, used;   /* the next frame to read; the first `used` are no longer needed */
    int bad;          /* the first frame that could not be read */
    nb_status status; /* of it */
    nb_error error;
    int stop;
} reading;

/** Read record i, if it has not changed. */
static nb_status read_record(const reading *r, int i, record *to, nb_error *err)
{
    const nb_block *b = r->block;
    nb_status st;
    if (!b->offset[i])
        return nb_fail(err, NB_ERR_INTERNAL, "frame %d of %.200s is missing", i,
                       b->journal.path);
    if (b->bytes[i] > to->room) {
        nb_free(to->data);
        to->room = b->bytes[i];
        if (!(to->data = nb_alloc_raw(to->room, 1, "frame", err))) {
            to->room = 0;
            return NB_ERR_NOMEM;
        }
    }
    st = nb_journal_read(&b->journal, r->first + i, b->offset[i], to->data, b->bytes[i],
                         err);
    if (!st)
        to->tail = nb_record_tail_of(to->data, b->bytes[i]);
    return st;
}

/** Read the next record.  Called and left with the lock held. */
static void read_next(reading *r)
{
    const int i = r->next++;
    record *to = &r->records[i % AHEAD];
    nb_error err = {0};
    nb_status st;
    pthread_mutex_unlock(&r->lock);
    st = read_record(r, i, to, &err);
    pthread_mutex_lock(&r->lock);
    if (!st) {
        to->frame = i;
    } else if (!r->status || i < r->bad) {
        r->bad = i;
        r->status = st;
        r->error = err;
    }
}

static void *read_ahead(void *user)
{
    reading *r = user;
    pthread_mutex_lock(&r->lock);
    while (!r->stop && !r->status && r->next < r->frames) {
        if (r->next < r->used + AHEAD)
            read_next(r);
        else
            pthread_cond_wait(&r->moved, &r->lock);
        pthread_cond_broadcast(&r->moved);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void begin_reading(reading *r)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->moved, NULL);
    for (int i = 0; i < AHEAD; i++)
        r->records[i].frame = -1;
    while (r->n_threads < READERS &&
           !pthread_create(&r->threads[r->n_threads], NULL, read_ahead, r))
        r->n_threads++;
}

static void end_reading(reading *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = 1;
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i], NULL);
    for (int i = 0; i < AHEAD; i++)
        nb_free(r->records[i].data);
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->lock);
}

static nb_status next_chunk(void *user, int i, nb_hdf5_packed *chunk, nb_error *err)
{
    reading *r = user;
    const record *here = &r->records[i % AHEAD];
    nb_status st = NB_OK;
    pthread_mutex_lock(&r->lock);
    r->used = i;
    pthread_cond_broadcast(&r->moved);
    while (here->frame != i && !(r->status && r->bad <= i))
        if (r->n_threads)
            pthread_cond_wait(&r->moved, &r->lock);
        else
            read_next(r);
    if (here->frame != i) {
        st = r->status;
        if (err)
            *err = r->error;
    }
    pthread_mutex_unlock(&r->lock);
    *chunk = (nb_hdf5_packed){here->data, (size_t)here->tail.chunk_bytes,
                              here->tail.chunk_hash};
    return st;
}

static nb_status next_list(void *user, int i, nb_reflections *list, nb_error *err)
{
    reading *r = user;
    record *here = r->records; /* all chunks are written */
    nb_status st = read_record(r, i, here, err);
    if (!st)
        *list = nb_record_list(here->data, &here->tail);
    return st;
}

/** Read the tails of the records: numbers of reflections, facts of the images. */
static nb_status gather(const nb_block *b, int frames, int64_t *counts,
                        nb_hdf5_facts *facts, nb_error *err)
{
    nb_record_tail tail;
    for (int i = 0; i < frames; i++) {
        if (!nb_record_peek(&b->journal, b->offset[i], b->bytes[i], &tail))
            return nb_fail(err, NB_ERR_INTERNAL, "frame %d of %.200s is not whole", i,
                           b->journal.path);
        counts[i] = tail.list.count;
        facts[i] = tail.facts;
    }
    return NB_OK;
}

/* Write the first data->frames frames of a block, described by `data`, to `path`; the journal stays. */
static nb_status block_write(const nb_block *b, const nb_hdf5_data *what,
                             const char *path, nb_error *err)
{
    nb_hdf5_data data = *what;
    reading r = {.block = b, .first = data.first, .frames = data.frames};
    const uint64_t *inputs = data.inputs;
    int64_t *counts = nb_alloc((size_t)data.frames, sizeof *counts, "lists", err);
    nb_hdf5_facts *facts = nb_alloc((size_t)data.frames, sizeof *facts, "lists", err);
    nb_status st =
        counts && facts ? gather(b, data.frames, counts, facts, err) : NB_ERR_NOMEM;
    data.reflections = counts;
    data.facts = facts;
    data.inputs = NULL;
    for (int i = 0; i < data.frames; i++) {
        data.bytes += b->bytes[i];
        if (inputs[i])
            data.inputs = inputs;
    }
    if (!st) {
        begin_reading(&r);
        st = nb_hdf5_write_data(path, &data, next_chunk, next_list, &r, err);
        end_reading(&r);
    }
    nb_free(counts);
    nb_free(facts);
    return st;
}

static void *make(void *user)
{
    nb_block_maker *m = user;
    NB_IN_C_LOCALE;
    m->status = block_write(&m->block, &m->data, m->path, &m->error);
    return NULL;
}

/* Wait for the last file, then begin to make this one; *b gets another block's memory, without
 * frames. The journal is removed when the file is there.  Errors: those of the last file. */
static nb_status block_maker_begin(nb_block_maker *m, nb_block *b,
                                   const nb_hdf5_data *data, const char *path,
                                   nb_error *err)
{
    nb_block full = *b;
    nb_status st = nb_block_maker_wait(m, err);
    if (st)
        return st;
    *b = m->block;
    m->block = full;
    m->data = *data;
    memcpy(m->path, path, sizeof m->path);
    m->state = NB_MAKER_THREAD;
    if (pthread_create(&m->thread, NULL, make, m) == 0)
        return NB_OK;
    m->state = NB_MAKER_DONE; /* without a thread */
    make(m);
    return nb_block_maker_wait(m, err);
}

nb_status nb_block_maker_wait(nb_block_maker *m, nb_error *err)
{
    if (m->state == NB_MAKER_IDLE)
        return NB_OK;
    if (m->state == NB_MAKER_THREAD)
        pthread_join(m->thread, NULL);
    m->state = NB_MAKER_IDLE;
    if (m->status) {
        if (err)
            *err = m->error;
        return m->status;
    }
    nb_journal_remove(&m->block.journal);
    m->block.number = -1;
    return NB_OK;
}

/* HDF5 data files. */

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
    data.inputs = s->inputs + data.first;
    return data;
}

static void on_found(void *user, int frame, int64_t offset, size_t bytes)
{
    nb_hdf5_sink *s = user;
    nb_block *b = &s->block;
    nb_record_tail tail = {0};
    int i = frame - b->number * s->per_file;
    if (i < 0 || i >= frames_in(s, b->number) ||
        !nb_record_peek(&b->journal, offset, bytes, &tail) ||
        tail.chunk_bytes > nb_hdf5_chunk_bound(&s->layout))
        return;
    b->offset[i] = offset;
    b->bytes[i] = bytes;
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
    s->block.number = block;
    memset(s->block.offset, 0, (size_t)s->per_file * sizeof *s->block.offset);
    nb_hdf5_sink_record_path(s->stem, block, path);
    if (s->resume && nb_journal_key_of(path, &there) &&
        !memcmp(&there, &s->key, sizeof there))
        return nb_journal_resume(&s->block.journal, path, &s->key, on_found, s, err);
    return nb_journal_create(&s->block.journal, path, &s->key, err);
}

static nb_status fail_other(const char *path, nb_error *err)
{
    return nb_fail(
        err, NB_ERR_INPUT,
        "-resume: %.300s was made with other flags or files; give the same, or "
        "leave -resume out to start again",
        path);
}

/** After an error the record stays beside a data file that was made whole at the end. */
static void remove_record(const nb_hdf5_sink *s, int block)
{
    char path[NB_PATH_MAX];
    nb_journal_key key;
    nb_hdf5_sink_record_path(s->stem, block, path);
    if (nb_journal_key_of(path, &key) && !memcmp(&key, &s->key, sizeof key))
        (void)unlink(path);
}

/** The files of an earlier run for a block: the whole data file, or a journal. Files made
 * with other flags are refused, unless this series replaces another one. */
static nb_status find_block(nb_hdf5_sink *s, int block, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_hdf5_data there, data = describe(s, block);
    nb_hdf5_found found;
    nb_journal_key key;
    nb_status st;
    nb_hdf5_sink_data_path(s->stem, block, path);
    found = (nb_hdf5_found){s->lists ? s->lists + data.first : NULL,
                            s->inputs + data.first, s->facts + data.first};
    if (nb_hdf5_verify_data(path, &data, &found)) {
        memset(s->done + data.first, 2, (size_t)data.frames);
        remove_record(s, block);
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
    nb_journal_close(&s->block.journal);
    return st;
}

static nb_status find_finished(nb_hdf5_sink *s, nb_error *err)
{
    int blocks = (s->frames + s->per_file - 1) / s->per_file;
    nb_status st = NB_OK;
    for (int b = s->part; !st && b < blocks; b += s->parts)
        st = find_block(s, b, err);
    s->block.number = -1;
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
    nb_status st;
    s->layout = *layout;
    s->key = *key;
    s->frames = frames;
    s->resume = series->resume;
    s->per_file = (int)key->per_file;
    if ((st = block_init(&s->block, s->per_file, err)) ||
        (st = block_init(&s->maker.block, s->per_file, err)) ||
        (st = nb_hdf5_sink_stem(series->hdf5_file, s->stem, err)))
        return st;
    s->done = nb_alloc((size_t)frames, 1, "frames", err);
    s->inputs = nb_alloc((size_t)frames, sizeof *s->inputs, "frames", err);
    if (layout->reflections &&
        !(s->lists = nb_alloc((size_t)frames, sizeof *s->lists, "frames", err)))
        return NB_ERR_NOMEM;
    if (s->resume)
        s->facts = nb_alloc((size_t)frames, sizeof *s->facts, "frames", err);
    if (!s->done || !s->inputs || (s->resume && !s->facts))
        return NB_ERR_NOMEM;
    nb_hdf5_sink_series_path(s->stem, path);
    (void)nb_journal_owner_of(path, &s->owner);
    nb_hdf5_sink_data_path(s->stem, 0, path);
    if ((st = nb_hdf5_try_data(path, layout, err)))
        return st;
    return s->resume ? find_finished(s, err) : NB_OK;
}

void nb_hdf5_sink_recall(const nb_hdf5_sink *s, int k, nb_hdf5_frame *truth)
{
    if (s->lists && s->done[k])
        truth->list = s->lists[k];
    if (s->facts && s->done[k])
        truth->facts = s->facts[k];
}

static nb_status check_record(const nb_hdf5_sink *s, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_hdf5_sink_series_path(s->stem, path);
    return s->owner.holder.pid ? nb_journal_check(path, &s->owner, err) : NB_OK;
}

nb_status nb_hdf5_sink_check(const nb_hdf5_sink *s, int frames, nb_error *err)
{
    char path[NB_PATH_MAX];
    nb_hdf5_data there;
    for (int b = 0; b * s->per_file < frames; b++) {
        nb_hdf5_sink_data_path(s->stem, b, path);
        if (access(path, F_OK) != 0 ||
            (nb_hdf5_data_key(path, &there) &&
             (there.fingerprint != s->key.fingerprint || there.seed != s->key.seed)))
            return nb_journal_fail_lost(path, err);
    }
    return check_record(s, err);
}

/** The journal of a whole block becomes its data file. */
static nb_status finish_block(nb_hdf5_sink *s, nb_error *err)
{
    nb_hdf5_data data = describe(s, s->block.number);
    char path[NB_PATH_MAX];
    const nb_status st = check_record(s, err);
    if (st)
        return st;
    nb_hdf5_sink_data_path(s->stem, s->block.number, path);
    return block_maker_begin(&s->maker, &s->block, &data, path, err);
}

nb_status nb_hdf5_sink_commit(nb_hdf5_sink *s, int k, const nb_slot *slot, nb_error *err)
{
    int number = k / s->per_file, i = k % s->per_file;
    nb_block *b = &s->block;
    nb_status st = NB_OK;
    if (s->done[k] == 2) /* its data file is there */
        return NB_OK;
    if (b->number != number)
        st = open_block(s, number, err);
    if (!st && !b->offset[i]) {
        nb_journal_data what = {k, slot->chunk, slot->chunk_bytes, slot->hash};
        st = nb_journal_append(&b->journal, &what, &b->offset[i], err);
        if (st)
            b->offset[i] = 0;
        b->bytes[i] = slot->chunk_bytes;
        s->inputs[k] = slot->inputs;
    }
    return st || i + 1 < frames_in(s, number) ? st : finish_block(s, err);
}

nb_status nb_hdf5_sink_wait(nb_hdf5_sink *s, int *first, nb_error *err)
{
    *first = s->maker.data.first;
    return nb_block_maker_wait(&s->maker, err);
}

int nb_hdf5_sink_partial(const nb_hdf5_sink *s, int *number)
{
    const nb_block *b = s->maker.block.number >= 0 ? &s->maker.block : &s->block;
    char path[NB_PATH_MAX];
    nb_hdf5_data data;
    *number = b->number;
    if (b->number < 0 || check_record(s, NULL))
        return 0;
    data = describe(s, b->number);
    for (data.frames = 0; data.frames < frames_in(s, b->number); data.frames++)
        if (!b->offset[data.frames])
            break;
    nb_hdf5_sink_data_path(s->stem, b->number, path);
    return data.frames > 0 && !block_write(b, &data, path, NULL) ? data.frames : 0;
}

int nb_hdf5_sink_there(const nb_hdf5_sink *s, int frames)
{
    char path[NB_PATH_MAX];
    for (int b = 0; b * s->per_file < frames; b++) {
        nb_hdf5_sink_data_path(s->stem, b, path);
        if (access(path, F_OK) != 0)
            return b * s->per_file;
    }
    return frames;
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
    int first;
    (void)nb_hdf5_sink_wait(s, &first, NULL);
    nb_journal_end(&s->maker.block.journal, end);
    nb_journal_end(&s->block.journal, end);
    nb_journal_end(&s->series, end);
    nb_free(s->inputs);
    s->inputs = NULL;
    block_free(&s->block);
    block_free(&s->maker.block);
    nb_free(s->done);
    nb_free(s->lists);
    nb_free(s->facts);
    s->lists = NULL;
    s->facts = NULL;
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
