/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "writer.h"

/** FNV-1a's step, on a word instead of a byte. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x100000001b3u;
    return hash ^
           hash >>
               32; /* high bits change low ones; multiplication alone does not do this */
}

uint64_t nb_image_hash(const nb_image_view *image)
{
    const unsigned char *next = image->pixels;
    size_t bytes = (size_t)image->fast * (size_t)image->slow * nb_pixel_bytes(image->type);
    uint64_t hash = 0xcbf29ce484222325u, word;
    hash = mix(hash, (uint64_t)image->type);
    hash = mix(hash, (uint64_t)image->fast);
    hash = mix(hash, (uint64_t)image->slow);
    for (; bytes >= sizeof word; bytes -= sizeof word, next += sizeof word) {
        memcpy(&word, next, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, next, bytes);
    return mix(hash, word);
}

static nb_status write_hash(const nb_image_view *image, const nb_image_meta *meta,
                            nb_outfile *out, nb_error *err)
{
    static const char *const types[] = {"any",   "float32", "uint16",
                                        "uint8", "rgb",     "int32"};
    char line[80];
    int n;
    if (!image->pixels)
        return nb_fail(err, NB_ERR_INTERNAL, "the hash needs all pixels at once");
    n = snprintf(line, sizeof line, "%016" PRIx64 " %s %d %d\n", nb_image_hash(image),
                 types[image->type], image->fast, image->slow);
    (void)meta;
    return nb_outfile_write(out, line, (size_t)n, err);
}

const nb_writer nb_writer_hash = {"hash", "hash",     NB_PIXEL_ANY, NULL,
                                  NULL,   write_hash, NULL};
