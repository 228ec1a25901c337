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

/** A block that is read back, a record at a time. */
typedef struct reading {
    const nb_block *block;
    int first;   /* number of its first frame in the series */
    void *chunk; /* owned; the record, grows */
    size_t room; /* of it */
} reading;

/** Read record i, if it has not changed. */
static nb_status read_record(reading *r, int i, nb_record_tail *tail, nb_error *err)
{
    const nb_block *b = r->block;
    nb_status st;
    if (!b->offset[i])
        return nb_fail(err, NB_ERR_INTERNAL, "frame %d of %.200s is missing", i,
                       b->journal.path);
    if (b->bytes[i] > r->room) {
        nb_free(r->chunk);
        r->room = b->bytes[i];
        if (!(r->chunk = nb_alloc_raw(r->room, 1, "frame", err))) {
            r->room = 0;
            return NB_ERR_NOMEM;
        }
    }
    st = nb_journal_read(&b->journal, r->first + i, b->offset[i], r->chunk, b->bytes[i],
                         err);
    if (!st)
        *tail = nb_record_tail_of(r->chunk, b->bytes[i]);
    return st;
}

static nb_status next_chunk(void *user, int i, nb_hdf5_packed *chunk, nb_error *err)
{
    reading *r = user;
    nb_record_tail tail = {0};
    nb_status st = read_record(r, i, &tail, err);
    chunk->data = r->chunk;
    chunk->bytes = (size_t)tail.chunk_bytes;
    chunk->hash = tail.chunk_hash;
    return st;
}

static nb_status next_list(void *user, int i, nb_reflections *list, nb_error *err)
{
    reading *r = user;
    nb_record_tail tail;
    nb_status st = read_record(r, i, &tail, err);
    if (!st)
        *list = nb_record_list(r->chunk, &tail);
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
    reading r = {b, data.first, NULL, 0};
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
    if (!st)
        st = nb_hdf5_write_data(path, &data, next_chunk, next_list, &r, err);
    nb_free(counts);
    nb_free(facts);
    nb_free(r.chunk);
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
