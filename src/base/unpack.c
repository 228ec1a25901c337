/* SPDX-License-Identifier: MIT */
#include "unpack.h"

#include <bzlib.h>
#include <string.h>
#include <zlib.h>

#include "error.h"
#include "memory.h"
#include "outfile.h"

/* limit of one step, because zlib and libbz2 count bytes in 32 bits */
enum { STEP_LIMIT = 1 << 30 };

typedef enum { GOES_ON, ENDED, DAMAGED, NO_MEMORY } outcome;

/** The packed bytes that are left, and the memory that is left for unpacked bytes. */
typedef struct flow {
    char *in, *out;
    size_t left, room;
} flow;

typedef enum { PLAIN, GZIP, BZIP2 } packer;
static const char *const names[] = {[GZIP] = "gzip", [BZIP2] = "bzip2"};

typedef union stream {
    z_stream z;
    bz_stream b;
} stream;

static unsigned piece(size_t n)
{
    return n < STEP_LIMIT ? (unsigned)n : STEP_LIMIT;
}

/** Move past the bytes that the library read and wrote. */
static void advance(flow *f, unsigned left, unsigned room)
{
    const size_t used = piece(f->left) - left, made = piece(f->room) - room;
    f->in += used;
    f->left -= used;
    f->out += made;
    f->room -= made;
}

static nb_status open_stream(packer p, stream *s, nb_error *err)
{
    int failed = p == GZIP && inflateInit2(&s->z, 15 + 16) != Z_OK;
    failed |= p == BZIP2 && BZ2_bzDecompressInit(&s->b, 0, 0) != BZ_OK;
    return failed ? nb_fail_memory(err, sizeof *s, "unpacking a file") : NB_OK;
}

static outcome step_gzip(z_stream *z, flow *f)
{
    int result;
    z->next_in = (Bytef *)f->in;
    z->avail_in = piece(f->left);
    z->next_out = (Bytef *)f->out;
    z->avail_out = piece(f->room);
    result = inflate(z, Z_NO_FLUSH);
    advance(f, z->avail_in, z->avail_out);
    return result == Z_STREAM_END                    ? ENDED
           : result == Z_OK || result == Z_BUF_ERROR ? GOES_ON
           : result == Z_MEM_ERROR                   ? NO_MEMORY
                                                     : DAMAGED;
}

static outcome step_bzip2(bz_stream *b, flow *f)
{
    int result;
    b->next_in = f->in;
    b->avail_in = piece(f->left);
    b->next_out = f->out;
    b->avail_out = piece(f->room);
    result = BZ2_bzDecompress(b);
    advance(f, b->avail_in, b->avail_out);
    return result == BZ_STREAM_END  ? ENDED
           : result == BZ_OK        ? GOES_ON
           : result == BZ_MEM_ERROR ? NO_MEMORY
                                    : DAMAGED;
}

static outcome step(packer p, stream *s, flow *f)
{
    if (p == BZIP2)
        return step_bzip2(&s->b, f);
    return p == GZIP ? step_gzip(&s->z, f) : DAMAGED;
}

static void close_stream(packer p, stream *s)
{
    if (p == GZIP)
        inflateEnd(&s->z);
    if (p == BZIP2)
        BZ2_bzDecompressEnd(&s->b);
}

/** A file of numbers may begin with any bytes, so the whole mark is tested. */
static packer packer_of(const char *data, size_t n)
{
    static const char block[] = "\x31\x41\x59\x26\x53\x59",
                      end[] = "\x17\x72\x45\x38\x50\x90";
    const size_t rest = n < 10 ? n - 4 : 6;
    if (n >= 2 && !memcmp(data, "\x1f\x8b\x08", n < 3 ? n : 3))
        return GZIP;
    if (n >= 4 && !memcmp(data, "BZh", 3) && data[3] >= '1' && data[3] <= '9' &&
        (!memcmp(data + 4, block, rest) || !memcmp(data + 4, end, rest)))
        return BZIP2;
    return PLAIN;
}

int nb_is_packed(const char *data, size_t n)
{
    return packer_of(data, n) != PLAIN;
}

/** A growing buffer. */
typedef struct text {
    char *data;
    size_t used, room, limit;
} text;

/** Enlarge the buffer, up to one byte more than the limit and one byte for the NUL. */
static nb_status grow(text *t, size_t least, const char *name, nb_error *err)
{
    size_t room = 2 * t->room > least ? 2 * t->room : least;
    nb_status st;
    if (t->used > t->limit)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0, "larger than %zu bytes unpacked",
                          t->limit);
    room = room < t->limit + 1 ? room : t->limit + 1;
    st = nb_grow(&t->data, t->used, room + 1, 1, "an unpacked file", err);
    if (!st)
        t->room = room;
    return st;
}

/** Unpack one member of the file; f then has the bytes after it. */
static nb_status unpack_member(packer p, flow *f, text *t, const char *name, nb_error *err)
{
    stream s = {0};
    outcome now = GOES_ON;
    nb_status st;
    NB_FORWARD(open_stream(p, &s, err));
    while (!st && now == GOES_ON) {
        if (t->used == t->room && (st = grow(t, 4 * f->left + 4096, name, err)))
            break;
        f->out = t->data + t->used;
        f->room = t->room - t->used;
        now = step(p, &s, f);
        t->used = t->room - f->room;
        if (now == GOES_ON && !f->left && f->room)
            st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "the %s stream is cut short",
                            names[p]);
    }
    close_stream(p, &s);
    if (now == NO_MEMORY)
        st = nb_fail_memory(err, t->room, "unpacking a file");
    if (now == DAMAGED)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "the %s stream is damaged", names[p]);
    return st;
}

nb_status nb_unpack(const char *data, size_t n, const char *name, size_t limit,
                    char **out, size_t *bytes, nb_error *err)
{
    const packer p = packer_of(data, n);
    flow f = {.in = (char *)(uintptr_t)data, .left = n};
    text t = {.limit = limit ? limit : NB_FILE_MAX};
    nb_status st = NB_OK;
    *out = NULL;
    *bytes = 0;
    if (p == PLAIN)
        return NB_OK;
    do
        st = unpack_member(p, &f, &t, name, err);
    while (!st && packer_of(f.in, f.left) == p);
    if (!st && t.used > t.limit)
        st = grow(&t, 0, name, err);
    if (st) {
        nb_free(t.data);
        return st;
    }
    t.data[t.used] = '\0';
    *out = t.data;
    *bytes = t.used;
    return NB_OK;
}

nb_status nb_zlib_pack(const void *data, size_t n, unsigned char **packed, size_t *size,
                       nb_error *err)
{
    uLongf used = compressBound((uLong)n);
    *packed = nb_alloc_raw(used, 1, "packed bytes", err);
    if (!*packed)
        return NB_ERR_NOMEM;
    if (compress2(*packed, &used, data, (uLong)n, 6) != Z_OK) {
        nb_free(*packed);
        *packed = NULL;
        return nb_fail_memory(err, n, "packing bytes");
    }
    *size = used;
    return NB_OK;
}
