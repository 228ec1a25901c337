/* SPDX-License-Identifier: MIT */
#include "image_read.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"

/** A stream of bits; the lowest bit of a byte is first. */
typedef struct bits {
    const unsigned char *p, *end;
    uint32_t held; /* bits of a byte that are not yet taken */
    int n;         /* number of bits in held */
} bits;

static bits bits_of(const nb_cbf_pixels *s)
{
    const unsigned char *p = (const unsigned char *)s->data;
    return (bits){p, p + s->bytes, 0, 0};
}

/** Take the next n bits (0 to 65) and keep the lowest 64; 0 if the data end before. */
static int take(bits *b, int n, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < n; i++) {
        if (b->n == 0) {
            if (b->p == b->end)
                return 0;
            b->held = *b->p++;
            b->n = 8;
        }
        if (i < 64)
            *value |= (uint64_t)(b->held & 1) << i;
        b->held >>= 1;
        b->n--;
    }
    return 1;
}

/** Extend the sign of a number of n bits. */
static uint64_t extend(uint64_t value, int n)
{
    return n > 0 && n < 64 && value >> (n - 1) & 1 ? value | ~UINT64_C(0) << n : value;
}

/** Skip four numbers: number of elements, smallest, largest, reserved. The header gives
 * the sizes. */
static int skip_parameters(bits *b)
{
    const size_t bytes = 4 * 8;
    if ((size_t)(b->end - b->p) < bytes)
        return 0;
    b->p += bytes;
    return 1;
}

/** Keep as many of the lowest bits as an element has. */
static uint64_t cut(const nb_cbf_pixels *s, uint64_t value)
{
    return s->bits < 64 ? value & ((UINT64_C(1) << s->bits) - 1) : value;
}

/** Convert the bits of an element to a number; 0 if the number is not finite. */
static int number_of(const nb_cbf_pixels *s, uint64_t element, float *to)
{
    const uint64_t value = s->is_signed ? extend(element, s->bits) : element;
    if (s->is_real && s->bits == 32) {
        const uint32_t word = (uint32_t)element;
        memcpy(to, &word, sizeof word);
    } else if (s->is_real) {
        double real;
        memcpy(&real, &element, sizeof real);
        *to = (float)real;
    } else {
        *to = s->is_signed ? (float)(int64_t)value : (float)value;
    }
    return isfinite(*to);
}

static size_t pixels_of(const nb_cbf_pixels *s)
{
    return (size_t)s->fast * (size_t)s->slow * (size_t)s->deep;
}

static nb_status not_finite(const nb_cbf_pixels *s, size_t i, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, s->name, 0, "pixel %zu is not a finite number",
                      i);
}

static nb_status cut_short(const nb_cbf_pixels *s, size_t i, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, s->name, 0,
                      "the pixels are cut short or damaged: %zu of %zu", i, pixels_of(s));
}

/* --- plain pixels --- */

static nb_status decode_plain(const nb_cbf_pixels *s, float *to, nb_error *err)
{
    const size_t n = pixels_of(s), size = (size_t)s->bits / 8;
    const unsigned char *p = (const unsigned char *)s->data;
    if (s->bytes / size < n)
        return cut_short(s, s->bytes / size, err);
    for (size_t i = 0; i < n; i++, p += size) {
        uint64_t element = 0;
        for (size_t j = 0; j < size; j++)
            element |= (uint64_t)p[j] << (8 * j);
        if (!number_of(s, element, &to[i]))
            return not_finite(s, i, err);
    }
    return NB_OK;
}

/* --- packed pixels: differences from a mean of neighbours, in runs of equal width --- */

enum { MAX_WIDTH = 65 };

/** Add up the decoded neighbours of element n > 0. Returns the number of neighbours: 1,
 * 2, 4 or 8. */
static int add_neighbours(const nb_cbf_pixels *s, const uint64_t *of, size_t n,
                          uint64_t *sum)
{
    const size_t fast = (size_t)s->fast, image = fast * (size_t)s->slow;
    const size_t x = n % fast, y = n / fast % (size_t)s->slow;
    const int deep = n >= image && !s->sliced;
    int count = 0;
    *sum = 0;
    for (int z = 0; z < (y > 0 && deep ? 2 : 1); z++) {
        const uint64_t *at = of + n - (z ? image : 0);
        if (x > 0 && ++count)
            *sum += z ? at[0] : at[-1];
        if (y > 0 && ++count)
            *sum += at[-(ptrdiff_t)fast];
        if (y > 0 && x + 1 < fast && ++count)
            *sum += at[1 - (ptrdiff_t)fast];
        if (y > 0 && x > 0 && x + 1 < fast && ++count)
            *sum += at[-1 - (ptrdiff_t)fast];
    }
    if (x == 0 && y == 0 && n > 0 && ++count)
        *sum += of[n - image];
    return count;
}

/** Predict element n from the elements before it. */
static uint64_t expected(const nb_cbf_pixels *s, const uint64_t *of, size_t n)
{
    uint64_t sum;
    int count;
    if (n == 0)
        return 0;
    if (s->flat)
        return of[n - 1];
    count = add_neighbours(s, of, n, &sum);
    sum = extend(cut(s, sum), s->bits);
    for (int half = count / 2, more = half; half > 0; half /= 2) {
        sum += half == more ? (uint64_t)more : 0;
        sum = sum >> 1 | (sum & UINT64_C(1) << 63);
    }
    return cut(s, sum);
}

static int width_of(const nb_cbf_pixels *s, unsigned code)
{
    static const int first[8] = {0, 4, 5, 6, 7, 8, 16, MAX_WIDTH};
    static const int second[16] = {0,  3,  4,  5,  6,  7,  8,  9,
                                   10, 11, 12, 13, 14, 15, 16, MAX_WIDTH};
    const int width = s->coding == NB_CBF_PACKED ? first[code] : second[code];
    return width == MAX_WIDTH && !s->flat ? s->bits : width;
}

/** Decode a run of elements from element *at on, and move *at; 0 if the data end. */
static int unpack_run(const nb_cbf_pixels *s, bits *b, uint64_t *of, size_t n, size_t *at)
{
    uint64_t run, code, difference;
    int width;
    if (!take(b, 3, &run) || !take(b, s->coding == NB_CBF_PACKED ? 3 : 4, &code))
        return 0;
    width = width_of(s, (unsigned)code);
    for (size_t i = (size_t)1 << run; i > 0 && *at < n; i--, ++*at) {
        if (!take(b, width, &difference))
            return 0;
        of[*at] = cut(s, expected(s, of, *at) + extend(difference, width));
    }
    return 1;
}

static nb_status decode_packed(const nb_cbf_pixels *s, float *to, nb_error *err)
{
    const size_t n = pixels_of(s);
    uint64_t *of;
    bits b = bits_of(s);
    size_t at = 0;
    nb_status st = NB_OK;
    if (s->fast < 2)
        return nb_fail_at(err, NB_ERR_INPUT, s->name, 0,
                          "packed pixels of a single column cannot be read");
    if (!(of = nb_alloc_raw(n, sizeof *of, "pixels", err)))
        return NB_ERR_NOMEM;
    if (!skip_parameters(&b))
        st = cut_short(s, 0, err);
    while (!st && at < n)
        if (!unpack_run(s, &b, of, n, &at))
            st = cut_short(s, at, err);
    for (size_t i = 0; !st && i < n; i++)
        if (!number_of(s, of[i], &to[i]))
            st = not_finite(s, i, err);
    nb_free(of);
    return st;
}

nb_status nb_cbf_decode(const nb_cbf_pixels *s, float *to, nb_error *err)
{
    return s->coding == NB_CBF_NONE ? decode_plain(s, to, err) : decode_packed(s, to, err);
}
