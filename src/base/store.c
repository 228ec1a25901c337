/* SPDX-License-Identifier: MIT */
#include "store.h"

#include <pthread.h>
#include <string.h>

#include "error.h"
#include "memory.h"

/* Limits of the objects that are held only by the store. */
enum { SPARE_OBJECTS = 48 };
#define SPARE_BYTES ((size_t)256 << 20)

typedef struct entry {
    nb_key key;
    const void *object; /* the store is a holder */
    size_t bytes;
    uint64_t used; /* nb_store.clock at the last use */
} entry;

/** Generation of a file whose name was set again, so that the file is read again. */
typedef struct again {
    uint64_t name, generation;
} again;

struct nb_store {
    pthread_mutex_t lock; /* recursive, because a maker may take other objects */
    entry *entries;       /* owned; [n] of `room` */
    size_t n, room;
    again *files; /* owned; [n_files] */
    size_t n_files;
    uint64_t clock;
};

/* --- keys --- */

/** Add x to both hashes of a key. The multipliers are odd and have mixed bits. */
static void mix(nb_key *key, uint64_t x)
{
    uint64_t a = (key->word[0] ^ x) * 0x9fb21c651e98df25u,
             b = (key->word[1] + x) * 0xc4ceb9fe1a85ec53u;
    key->word[0] = a ^ a >> 29;
    key->word[1] = b ^ b >> 31 ^ a << 7;
}

void nb_key_add(nb_key *key, const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t x;
    mix(key, n);
    for (; n >= sizeof x; n -= sizeof x, p += sizeof x) {
        memcpy(&x, p, sizeof x);
        mix(key, x);
    }
    if (n) {
        x = 0;
        memcpy(&x, p, n);
        mix(key, x);
    }
}

void nb_key_text(nb_key *key, const char *text)
{
    nb_key_add(key, text, strlen(text));
}

void nb_key_number(nb_key *key, double number)
{
    /* every NaN means an unset value, so all NaN get the same hash */
    if (number != number)
        nb_key_add(key, "unset", 5);
    else
        nb_key_add(key, &number, sizeof number);
}

nb_key nb_key_of(const char *kind)
{
    nb_key key = {{0x243f6a8885a308d3u, 0x13198a2e03707344u}};
    nb_key_text(&key, kind);
    return key;
}

int nb_key_equal(const nb_key *a, const nb_key *b)
{
    return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

static uint64_t hash_of(const char *path)
{
    return nb_key_of(path).word[0];
}

static again *find_file(nb_store *s, const char *path)
{
    const uint64_t name = hash_of(path);
    for (size_t i = 0; i < s->n_files; i++)
        if (s->files[i].name == name)
            return &s->files[i];
    return NULL;
}

void nb_key_file(nb_key *key, nb_store *store, const char *path)
{
    const again *file;
    nb_key_text(key, path);
    if (!store || !path[0])
        return;
    pthread_mutex_lock(&store->lock);
    if ((file = find_file(store, path)) && file->generation) /* 0: not set again */
        nb_key_add(key, &file->generation, sizeof file->generation);
    pthread_mutex_unlock(&store->lock);
}

/* --- objects --- */

static void clear(void *object)
{
    nb_store *s = object;
    for (size_t i = 0; i < s->n; i++)
        nb_shared_drop(s->entries[i].object);
    nb_free(s->entries);
    nb_free(s->files);
    pthread_mutex_destroy(&s->lock);
}

nb_store *nb_store_new(nb_error *err)
{
    nb_store *s = nb_shared_new(sizeof *s, clear, "store", err);
    pthread_mutexattr_t kind;
    if (!s)
        return NULL;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&s->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    return s;
}

static entry *find(nb_store *s, const nb_key *key)
{
    for (size_t i = 0; i < s->n; i++)
        if (nb_key_equal(&s->entries[i].key, key))
            return &s->entries[i];
    return NULL;
}

/** Drop the least recently used objects that are held only by the store, down to the
 * limits. */
static void trim(nb_store *s)
{
    for (;;) {
        size_t bytes = 0, spare = 0, oldest = s->n;
        for (size_t i = 0; i < s->n; i++) {
            if (!nb_shared_is_own(s->entries[i].object))
                continue;
            bytes += s->entries[i].bytes;
            spare++;
            if (oldest == s->n || s->entries[i].used < s->entries[oldest].used)
                oldest = i;
        }
        if (spare <= SPARE_OBJECTS && (bytes <= SPARE_BYTES || spare <= 1))
            return;
        nb_shared_drop(s->entries[oldest].object);
        s->entries[oldest] = s->entries[--s->n];
    }
}

/** Hold an object under a new key. */
static nb_status add(nb_store *s, const nb_key *key, void *object, size_t bytes,
                     nb_error *err)
{
    if (s->n == s->room) {
        const size_t room = 2 * s->room + 16;
        if (nb_grow(&s->entries, s->n, room, sizeof *s->entries, "store", err))
            return NB_ERR_NOMEM;
        s->room = room;
    }
    s->entries[s->n++] = (entry){*key, nb_shared_hold(object), bytes, ++s->clock};
    return NB_OK;
}

void *nb_store_find(nb_store *s, const nb_key *key)
{
    void *object = NULL;
    entry *e;
    pthread_mutex_lock(&s->lock);
    if ((e = find(s, key))) {
        e->used = ++s->clock;
        object = nb_shared_hold(e->object);
    }
    pthread_mutex_unlock(&s->lock);
    return object;
}

nb_status nb_store_put(nb_store *s, const nb_key *key, void *object, size_t bytes,
                       nb_error *err)
{
    nb_status st = NB_OK;
    entry *e;
    pthread_mutex_lock(&s->lock);
    if ((e = find(s, key))) {
        nb_shared_drop(e->object);
        *e = (entry){*key, nb_shared_hold(object), bytes, ++s->clock};
    } else {
        st = add(s, key, object, bytes, err);
    }
    trim(s);
    pthread_mutex_unlock(&s->lock);
    return st;
}

nb_status nb_store_take(nb_store *s, const nb_key *key, nb_store_maker make, void *user,
                        void **object, nb_error *err)
{
    size_t bytes = 0;
    nb_status st = NB_OK;
    pthread_mutex_lock(&s->lock);
    if (!(*object = nb_store_find(s, key))) {
        st = make(user, object, &bytes, err);
        NB_TRY(nb_store_put(s, key, *object, bytes, err));
        if (st) {
            nb_shared_drop(*object);
            *object = NULL;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* --- generations --- */

uint64_t nb_store_next(nb_store *s)
{
    uint64_t next;
    pthread_mutex_lock(&s->lock);
    next = ++s->clock;
    pthread_mutex_unlock(&s->lock);
    return next;
}

uint64_t nb_store_retype(nb_store *s, const char *path, uint64_t generation)
{
    uint64_t old = 0;
    again *file;
    pthread_mutex_lock(&s->lock);
    if ((file = find_file(s, path))) {
        old = file->generation;
        file->generation = generation;
    } else if (!nb_grow(&s->files, s->n_files, s->n_files + 1, sizeof *s->files, "store",
                        NULL)) {
        s->files[s->n_files++] = (again){hash_of(path), generation};
    }
    pthread_mutex_unlock(&s->lock);
    return old;
}

/* --- reading through a store --- */

static _Thread_local nb_store *here;

nb_store *nb_store_enter(nb_store *store)
{
    nb_store *before = here;
    here = store;
    return before;
}

void nb_store_leave(nb_store **before)
{
    here = *before;
}

nb_store *nb_store_here(void)
{
    return here;
}
