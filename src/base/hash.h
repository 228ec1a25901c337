/* SPDX-License-Identifier: MIT */
/** A hash of 64 bits: FNV-1a over 64-bit words, with a fold of the high bits. It finds damage; it
 * is not secure against an attacker. */
#ifndef NB_BASE_HASH_H
#define NB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NB_HASH_START 0xcbf29ce484222325u

/** Continue `hash` (NB_HASH_START) with bytes; their number counts too. */
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

/** The same with an array of n, or NULL. */
static inline uint64_t nb_hash_array(uint64_t hash, const void *array, int n, size_t size)
{
    return nb_hash_bytes(hash, array, array ? (size_t)n * size : 0);
}

#endif
