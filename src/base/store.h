/* SPDX-License-Identifier: MIT */
/** Store of shared objects by key: the bytes of files, and tables made from files.
 * Simulations that share a store read each file once and make each table once. */
#ifndef NB_BASE_STORE_H
#define NB_BASE_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../nanobragg.h"

typedef struct nb_store nb_store; /* Free it with nb_shared_drop; any thread may. */

/** Hash of an object's kind and values, and the generations of its files and arrays. */
typedef struct nb_key {
    uint64_t word[2];
} nb_key;

nb_key nb_key_of(const char *kind);
void nb_key_add(nb_key *key, const void *bytes, size_t n);
void nb_key_text(nb_key *key, const char *text);
void nb_key_number(nb_key *key, double number);
/** Add the name of a file and its generation (nb_store_retype). */
void nb_key_file(nb_key *key, nb_store *store, const char *path);
int nb_key_equal(const nb_key *a, const nb_key *b);

/** A new, empty store; if memory is exhausted, NULL with NB_ERR_NOMEM in err. */
nb_store *nb_store_new(nb_error *err);

/** Make an object (nb_shared_new), *bytes large. The store drops it after an error. */
typedef nb_status (*nb_store_maker)(void *user, void **object, size_t *bytes,
                                    nb_error *err);
/** Find or make the object of this key, and hold it for the caller. Other threads wait. A
 * maker may take other objects. Errors: those of the maker; *object is then NULL. */
nb_status nb_store_take(nb_store *store, const nb_key *key, nb_store_maker make,
                        void *user, void **object, nb_error *err);
/** The object of this key, held for the caller, or NULL. */
void *nb_store_find(nb_store *store, const nb_key *key);
/** Keep this object under the key, in place of an older one. */
nb_status nb_store_put(nb_store *store, const nb_key *key, void *object, size_t bytes,
                       nb_error *err);

/** A new generation: a number that the store has never returned before. */
uint64_t nb_store_next(nb_store *store);
/** Set the generation of a file, so that it is read again. Returns the old generation. */
uint64_t nb_store_retype(nb_store *store, const char *path, uint64_t generation);

/* --- reading through a store --- */

/** Let nb_read_file of this thread use this store (or NULL) until the block ends. */
#define NB_READING(store)                                                                \
    __attribute__((cleanup(nb_store_leave), unused)) nb_store *nb_store_before =         \
        nb_store_enter(store)
nb_store *nb_store_enter(nb_store *store);
void nb_store_leave(nb_store **before);
/** The store of this thread, or NULL. */
nb_store *nb_store_here(void);

/* --- Objects with counted references: the last holder frees them --- */

/** Make a zeroed object with one holder. clear (or NULL) frees memory that the object
 * owns, before the object is freed. `what`: name of the object for the message. If memory
 * is exhausted, returns NULL with NB_ERR_NOMEM in err. */
void *nb_shared_new(size_t bytes, void (*clear)(void *object), const char *what,
                    nb_error *err);

/** Make a copy of `bytes` bytes with one holder. NULL gives NULL, without an error. */
void *nb_shared_copy(const void *from, size_t bytes, const char *what, nb_error *err);

/** Add a holder. Returns object. NULL is allowed. Any thread may call it. */
void *nb_shared_hold(const void *object);

/** True if the caller is the only holder. */
int nb_shared_is_own(const void *object);

/** Remove a holder. NULL is allowed. Any thread may call it. */
void nb_shared_drop(const void *object);

/* A hash of 64 bits: FNV-1a over 64-bit words, with a fold of the high bits. It finds
 * damage; it is not secure against an attacker. */

#define NB_HASH_START 0xcbf29ce484222325u

/** Continue `hash` (at first NB_HASH_START) with bytes and their number. */
static inline uint64_t nb_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *next = data;
    uint64_t word = bytes;
    for (;;) {
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
        if (bytes == 0)
            return hash;
        word = 0;
        if (bytes >= sizeof word) {
            memcpy(&word, next, sizeof word);
            next += sizeof word;
            bytes -= sizeof word;
        } else {
            memcpy(&word, next, bytes);
            bytes = 0;
        }
    }
}

/** Continue `hash` with an array of n items of `size` bytes, or NULL. */
static inline uint64_t nb_hash_array(uint64_t hash, const void *array, int n, size_t size)
{
    return nb_hash_bytes(hash, array, array ? (size_t)n * size : 0);
}

#endif
