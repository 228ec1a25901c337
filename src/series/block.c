/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "record.h"

nb_status nb_block_init(nb_block *b, int per_file, nb_error *err)
{
    b->number = -1;
    b->journal.fd = -1;
    b->offset = nb_alloc((size_t)per_file, sizeof *b->offset, "frames", err);
    b->bytes = nb_alloc((size_t)per_file, sizeof *b->bytes, "frames", err);
    return b->offset && b->bytes ? NB_OK : NB_ERR_NOMEM;
}

void nb_block_free(nb_block *b)
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

nb_status nb_block_write(const nb_block *b, const nb_hdf5_data *what, const char *path,
                         nb_error *err)
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
    m->status = nb_block_write(&m->block, &m->data, m->path, &m->error);
    return NULL;
}

nb_status nb_block_maker_begin(nb_block_maker *m, nb_block *b, const nb_hdf5_data *data,
                               const char *path, nb_error *err)
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
