/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

#include "../base/memory.h"

enum { ALIGN = 16 };

_Static_assert(sizeof(nb_record_tail) + ALIGN <= NB_RECORD_MORE, "room for the tail");

/** Where the list begins. */
static size_t list_at(size_t chunk_bytes)
{
    return (chunk_bytes + ALIGN - 1) / ALIGN * ALIGN;
}

nb_status nb_record_add(nb_slot *slot, const nb_reflections *list, nb_error *err)
{
    size_t at = list_at(slot->chunk_bytes), bytes = list->count * sizeof *list->list;
    size_t all = at + bytes + sizeof(nb_record_tail);
    nb_record_tail tail = {slot->chunk_bytes,
                           nb_hdf5_hash(slot->chunk, slot->chunk_bytes),
                           slot->inputs,
                           {(int64_t)list->count, list->background, list->unassigned},
                           slot->truth.facts};
    char *record = slot->chunk;
    if (all > slot->room) {
        if (!(record = nb_alloc_raw(all, 1, "frame", err)))
            return NB_ERR_NOMEM;
        memcpy(record, slot->chunk, slot->chunk_bytes);
        nb_free(slot->chunk);
        slot->chunk = record;
        slot->room = all;
    }
    memset(record + slot->chunk_bytes, 0, at - slot->chunk_bytes);
    if (bytes)
        memcpy(record + at, list->list, bytes);
    memcpy(record + at + bytes, &tail, sizeof tail);
    slot->chunk_bytes = all;
    slot->hash = nb_journal_data_of(slot->frame, record, all).hash;
    slot->truth.list = tail.list;
    return NB_OK;
}

static int fits(const nb_record_tail *tail, size_t bytes)
{
    return tail->list.count >= 0 && tail->chunk_bytes <= bytes &&
           (uint64_t)tail->list.count <= bytes / sizeof(nb_reflection) &&
           list_at(tail->chunk_bytes) + (size_t)tail->list.count * sizeof(nb_reflection) +
                   sizeof *tail ==
               bytes;
}

int nb_record_peek(const nb_journal *j, int64_t offset, size_t bytes, nb_record_tail *tail)
{
    return bytes >= sizeof *tail &&
           nb_journal_peek(j, offset + (int64_t)(bytes - sizeof *tail), tail,
                           sizeof *tail) &&
           fits(tail, bytes);
}

nb_record_tail nb_record_tail_of(const void *record, size_t bytes)
{
    nb_record_tail tail;
    memcpy(&tail, (const char *)record + bytes - sizeof tail, sizeof tail);
    return tail;
}

nb_reflections nb_record_list(void *record, const nb_record_tail *tail)
{
    nb_reflections list = {0};
    list.list = (void *)((char *)record + list_at(tail->chunk_bytes));
    list.count = (size_t)tail->list.count;
    list.background = tail->list.background;
    list.unassigned = tail->list.unassigned;
    return list;
}
