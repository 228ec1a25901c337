/* SPDX-License-Identifier: MIT */
/* Numbered files. */

#include "../base/error.h"
#include "../base/hash.h"
#include "../base/memory.h"
#include "sinks.h"
#include "stale.h"

enum { FIRST_NUMBER = 1 }; /* as beamlines count */

static nb_status hash_file(const char *path, uint64_t *hash, int64_t *bytes, nb_error *err)
{
    char *data;
    size_t n;
    nb_status st = nb_read_file(path, "-output", SIZE_MAX - 1, &data, &n, err);
    if (st)
        return st;
    *hash = nb_hash_bytes(NB_HASH_START, data, n);
    *bytes = (int64_t)n;
    nb_free(data);
    return NB_OK;
}

/** The record of a finished file. */
typedef struct entry {
    uint64_t hash;
    uint64_t inputs; /* nb_own_inputs of the frame */
    nb_hdf5_facts facts;
} entry;

/** The result of scanning the record. */
typedef struct found_list {
    nb_file_sink *sink;
    int64_t *offset; /* [frames], 0: no record */
} found_list;

static void on_found(void *user, int frame, int64_t offset, size_t bytes)
{
    found_list *list = user;
    if (frame < list->sink->frames && bytes == sizeof(entry))
        list->offset[frame] = offset;
}

/** A frame is finished if its file agrees with the record. */
static void verify(nb_file_sink *s, const int64_t *offset)
{
    char name[NB_PATH_MAX];
    uint64_t hash;
    entry e;
    int64_t bytes;
    for (int k = 0; k < s->frames; k++) {
        s->done[k] = offset[k] > 0 &&
                     !nb_journal_read(&s->record, k, offset[k], &e, sizeof e, NULL) &&
                     !nb_template_name(&s->name, k + FIRST_NUMBER, name, NULL) &&
                     !hash_file(name, &hash, &bytes, NULL) && hash == e.hash;
        if (!s->done[k])
            continue;
        s->facts[k] = e.facts;
        s->inputs[k] = e.inputs;
    }
}

static nb_status open_record(nb_file_sink *s, int resume, const nb_journal_key *key,
                             nb_error *err)
{
    char path[NB_PATH_MAX];
    found_list list = {s, NULL};
    nb_status st = nb_template_record(&s->name, path, err);
    s->record.sole = 1;
    if (st || !resume)
        return st ? st : nb_journal_create(&s->record, path, key, err);
    list.offset = nb_alloc((size_t)s->frames, sizeof *list.offset, "record", err);
    st = list.offset ? nb_journal_resume(&s->record, path, key, on_found, &list, err)
                     : NB_ERR_NOMEM;
    if (!st)
        verify(s, list.offset);
    nb_free(list.offset);
    return st;
}

nb_status nb_file_sink_open(nb_file_sink *s, const nb_series *series, int frames,
                            const nb_journal_key *key, nb_error *err)
{
    nb_status st = nb_template_of(series, &s->name, err);
    if (!st)
        st = nb_writer_ready(s->name.format->writer, "-output", err);
    if (st)
        return st;
    s->frames = frames;
    s->done = nb_alloc((size_t)frames, 1, "frames", err);
    s->inputs = nb_alloc((size_t)frames, sizeof *s->inputs, "frames", err);
    if (series->resume)
        s->facts = nb_alloc((size_t)frames, sizeof *s->facts, "frames", err);
    if (!s->done || !s->inputs || (series->resume && !s->facts))
        return NB_ERR_NOMEM;
    return key ? open_record(s, series->resume, key, err) : NB_OK;
}

nb_status nb_file_sink_make(const nb_file_sink *s, nb_frame *frame, int k, nb_slot *slot,
                            nb_error *err)
{
    char name[NB_PATH_MAX];
    nb_status st = nb_template_name(&s->name, k + FIRST_NUMBER, name, err);
    if (!st)
        st = nb_frame_write(frame, s->name.format, name, err);
    slot->file_clipped = frame->overloads;
    return st ? st : hash_file(name, &slot->file_hash, &slot->file_bytes, err);
}

nb_status nb_file_sink_commit(nb_file_sink *s, const nb_finished *f, nb_error *err)
{
    entry e = {f->file_hash, f->inputs, f->truth.facts};
    nb_journal_data what;
    nb_status st;
    e.facts.clipped = (double)f->file_clipped;
    if (s->done[f->frame])
        return NB_OK;
    if ((st = nb_journal_check(s->record.path, &s->record.owner, err)))
        return st;
    what = nb_journal_data_of(f->frame, &e, sizeof e);
    return nb_journal_append(&s->record, &what, NULL, err);
}

void nb_journal_end(nb_journal *j, nb_end end)
{
    if (end == NB_END_DONE || (end == NB_END_UNUSED && j->begun))
        nb_journal_remove(j);
    else
        nb_journal_close(j);
}

void nb_file_sink_close(nb_file_sink *s, nb_end end)
{
    nb_journal_end(&s->record, end);
    nb_free(s->done);
    nb_free(s->facts);
    nb_free(s->inputs);
    s->done = NULL;
    s->facts = NULL;
    s->inputs = NULL;
}

int nb_file_sink_stale(const nb_file_sink *s, char *first)
{
    if (s->name.is_name || s->name.is_part)
        return 0;
    return nb_stale_count(s->name.before, s->name.digits, s->name.after,
                          s->frames - 1 + FIRST_NUMBER, first);
}

int nb_file_sink_key(const nb_series *series, nb_journal_key *key)
{
    char path[NB_PATH_MAX];
    nb_template t;
    return !nb_template_of(series, &t, NULL) && !nb_template_record(&t, path, NULL) &&
           nb_journal_key_of(path, key);
}
