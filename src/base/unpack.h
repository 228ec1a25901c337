/* SPDX-License-Identifier: MIT */
/** Unpacking of gzip and bzip2 files, which are recognized by their first bytes and not
 * by their names; and packing in memory. */
#ifndef NB_BASE_UNPACK_H
#define NB_BASE_UNPACK_H

#include "../nanobragg.h"

enum { NB_PACKED_MARK = 10 }; /* bytes needed to recognize a packed file */

/** True if NB_PACKED_MARK bytes, or a whole file, begin a gzip or bzip2 stream. */
int nb_is_packed(const char *data, size_t n);

/** Unpack bytes into *text (nb_free, with a NUL at the end) and *bytes; *text is NULL if
 * the bytes are not packed. All members of a file are unpacked; bytes after them are
 * ignored. limit: largest number of unpacked bytes; 0: 1 GB. name: for messages. Errors:
 * NB_ERR_INPUT (cut short, damaged, too large), NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_unpack(const char *data, size_t n, const char *name, size_t limit,
                    char **text, size_t *bytes, nb_error *err);

/** Pack bytes as a zlib stream into *packed (nb_free) and *size. Errors: NB_ERR_NOMEM. */
nb_status nb_zlib_pack(const void *data, size_t n, unsigned char **packed, size_t *size,
                       nb_error *err);

#endif
