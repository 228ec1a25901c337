/* SPDX-License-Identifier: MIT */
/* Blocks of the format LZ4 (github.com/lz4/lz4, lz4_Block_format.md) from bit planes.  A search among all
 * earlier bytes, as the LZ4 library makes it, takes most of its time where noise has nothing to find.  What
 * repeats in planes are runs of one byte, mostly 0, and the plane before: these alone are looked for, 64
 * bytes at a time. */
#include <string.h>

#include "planes.h"

enum {
    WORDS = NB_PLANES_BYTES / 64,
    SHORTEST = 4,    /* match of the format */
    LAST_MATCH = 12, /* a match begins so many bytes before the end, and ends */
    LAST_BYTES = 5,  /* so many before it */
    COPY = 32        /* literals that are copied at once */
};

typedef struct coder {
    const unsigned char *in;
    size_t n, row, words;
    uint64_t run[WORDS + 2];  /* this byte is the one before */
    uint64_t up[WORDS + 2];   /* this byte is that of the plane before */
    uint64_t from[WORDS + 2]; /* a match begins here */
} coder;

typedef struct match {
    size_t at, length, back;
} match;

/** The longest run of zeros so far. */
typedef struct zeros {
    size_t at, length;
} zeros;

size_t nb_planes_lz4_bound(size_t n)
{
    return n + n / 255 + 16 + COPY;
}

/* ------------------------------------------------------------------ what repeats */

static void compare_some(const coder *c, size_t back, size_t i, size_t end, uint64_t *bits)
{
    for (; i < end; i++)
        bits[i / 64] |= (uint64_t)(c->in[i] == c->in[i - back]) << i % 64;
}

/** Bits of the bytes that equal the one `back` before. */
static void compare(const coder *c, size_t back, const nb_plane_kernels *kernels,
                    uint64_t *bits)
{
    const size_t first = (back + 63) / 64, whole = c->n / 64;
    memset(bits, 0, (c->words + 2) * sizeof *bits);
    if (first >= whole) {
        compare_some(c, back, back, c->n, bits);
        return;
    }
    compare_some(c, back, back, 64 * first, bits);
    kernels->same(c->in + 64 * first, c->in + 64 * first - back, whole - first,
                  bits + first);
    compare_some(c, back, 64 * whole, c->n, bits);
}

/** Bits i .. i + 63 of those from 64 w on. */
static uint64_t bits_from(const uint64_t *bits, size_t w, int i)
{
    return bits[w] >> i | bits[w + 1] << (64 - i);
}

/** Of each bit: it and the three behind it are set. */
static void four_in_a_row(uint64_t *four, const uint64_t *bits, size_t words)
{
    for (size_t w = 0; w < words; w++)
        four[w] = bits[w] & bits_from(bits, w, 1) & bits_from(bits, w, 2) &
                  bits_from(bits, w, 3);
    four[words] = four[words + 1] = 0;
}

/** A match begins where four bytes go on with a run, or where eight that are not all the same are those of
 * the plane before. */
static void find_starts(coder *c)
{
    uint64_t runs[WORDS + 2], ups[WORDS + 2];
    four_in_a_row(runs, c->run, c->words);
    four_in_a_row(ups, c->up, c->words);
    for (size_t w = 0; w < c->words; w++)
        c->from[w] = runs[w] | (ups[w] & bits_from(ups, w, 4) &
                                ~(bits_from(runs, w, 1) & bits_from(runs, w, 4)));
    c->from[c->words] = 0;
}

/** How many bits from i on are those of `value`, which are all equal; some after the end count. */
static size_t length_of(const uint64_t *bits, size_t i, size_t words, uint64_t value)
{
    size_t w = i / 64, shift = i % 64, n = 64;
    uint64_t x = (bits[w] ^ value) >> shift | (bits[w + 1] ^ value) << 1 << (63 - shift);
    while (!x) {
        if (++w >= words)
            return n;
        x = (bits[w] ^ value) >> shift | (bits[w + 1] ^ value) << 1 << (63 - shift);
        n += 64;
    }
    return n - 64 + (size_t)__builtin_ctzll(x);
}

/** The match that begins at i, behind what is coded.  A run of zeros is taken from an earlier one that is no
 * shorter, which has its first byte, too. */
static match match_at(const coder *c, size_t i, size_t coded, zeros *longest)
{
    const size_t up = length_of(c->up, i, c->words, ~(uint64_t)0);
    match m = {i, length_of(c->run, i, c->words, ~(uint64_t)0), 1};
    if (up > m.length) {
        m.length = up;
        m.back = c->row;
    } else if (c->in[i] == 0) {
        const size_t whole = m.length + 1;
        if (i > coded && longest->length >= whole)
            m = (match){i - 1, whole, i - 1 - longest->at};
        if (whole > longest->length)
            *longest = (zeros){i - 1, whole};
    }
    if (m.at + m.length > c->n - LAST_BYTES)
        m.length = c->n - LAST_BYTES - m.at;
    return m;
}

/* ------------------------------------------------------------------ the format */

/** What the four bits of a token do not hold of a length. */
static unsigned char *put_length(unsigned char *out, size_t length)
{
    for (; length >= 15 + 255; length -= 255)
        *out++ = 255;
    *out = (unsigned char)(length - 15);
    return out + (length >= 15);
}

/** A token, and n literals; `room` bytes may be read.  more: of the match behind them. */
static unsigned char *put_literals(unsigned char *out, const unsigned char *from,
                                   size_t n, size_t room, size_t more)
{
    *out++ = (unsigned char)((n < 15 ? n : 15) << 4 | (more < 15 ? more : 15));
    out = put_length(out, n);
    if (n + COPY <= room)
        for (size_t i = 0; i < n; i += COPY)
            memcpy(out + i, from + i, COPY);
    else
        memcpy(out, from, n);
    return out + n;
}

size_t nb_planes_lz4(const unsigned char *in, size_t n, size_t row,
                     const nb_plane_kernels *kernels, unsigned char *out)
{
    coder c;
    unsigned char *to = out;
    size_t coded = 0, i = 0;
    zeros longest = {0, 0};
    c.in = in;
    c.n = n;
    c.row = row;
    c.words = (n + 63) / 64;
    if (n > LAST_MATCH) {
        compare(&c, 1, kernels, c.run);
        compare(&c, row, kernels, c.up);
        find_starts(&c);
    }
    while (n > LAST_MATCH && (i += length_of(c.from, i, c.words, 0)) < n - LAST_MATCH) {
        const match m = match_at(&c, i, coded, &longest);
        const size_t more = m.length - SHORTEST;
        to = put_literals(to, in + coded, m.at - coded, n - coded, more);
        *to++ = (unsigned char)m.back;
        *to++ = (unsigned char)(m.back >> 8);
        to = put_length(to, more);
        i = coded = m.at + m.length;
    }
    to = put_literals(to, in + coded, n - coded, 0, 0);
    return (size_t)(to - out);
}
