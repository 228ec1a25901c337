/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/unpack.h"

/* step of asinh(value/unit), which for large values is a relative step */
#define STEP 1e-3
#define SMALLEST 1e-9 /* unit / largest value */
#define MAX_WHOLE 1e9 /* limit of whole numbers that are exact */
/* do not pack all pixels if the text will probably exceed the limit by this factor */
#define TOO_LONG 1.2
/* Pieces spread over an image, packed first to choose differences and test the length. */
enum { PIECES = 16, PIECE = 1 << 14 };

static nb_status to_base64(const unsigned char *data, size_t n, char **text, nb_error *err)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = *text = nb_alloc_raw(n / 3 * 4 + 5, 1, "text of a page", err);
    if (!out)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const unsigned v = (unsigned)data[i] << 16 | (left > 1 ? data[i + 1] << 8 : 0) |
                           (left > 2 ? data[i + 2] : 0);
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = left > 1 ? digits[v >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[v & 63] : '=';
    }
    *out = '\0';
    return NB_OK;
}

static nb_status pack_text(const unsigned char *data, size_t n, char **text, nb_error *err)
{
    unsigned char *packed;
    size_t size;
    nb_status st = nb_zlib_pack(data, n, &packed, &size, err);
    NB_TRY(to_base64(packed, size, text, err));
    nb_free(packed);
    return st;
}

/** Choose step and unit of the numbers. *holes: number of pixels without a value. */
static void choose(const float *pixels, size_t n, nb_packed *out, size_t *holes)
{
    double largest = 0;
    int whole = 1;
    *holes = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = pixels[i];
        if (!isfinite(v)) {
            ++*holes;
            continue;
        }
        largest = fmax(largest, fabs(v));
        whole &= v == floor(v);
    }
    out->step = whole && largest <= MAX_WHOLE ? 0 : STEP;
    out->unit = out->step > 0 ? SMALLEST * largest : 0;
}

/** Map 0, -1, 1, -2 ... to 0, 1, 2, 3 ... */
static uint32_t fold(int32_t q)
{
    return q < 0 ? 2 * (uint32_t)(-(q + 1)) + 1 : 2 * (uint32_t)q;
}

/** Make the numbers of all pixels; a pixel without a value repeats the number before
 * it. */
static uint32_t fill(const float *pixels, size_t n, const nb_packed *how, uint32_t *out)
{
    int32_t before = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = pixels[i];
        int32_t q = before;
        if (isfinite(v))
            q = (int32_t)(how->step > 0 ? nearbyint(asinh(v / how->unit) / how->step) : v);
        out[i] = fold(how->delta ? q - before : q);
        before = q;
        bits |= out[i];
    }
    return bits;
}

static nb_status pack_planes(const uint32_t *q, size_t n, nb_packed *out, nb_error *err)
{
    unsigned char *planes = nb_alloc_large(n * (size_t)out->planes, 1, "page", err);
    nb_status st = planes ? NB_OK : NB_ERR_NOMEM;
    for (int p = 0; !st && p < out->planes; p++)
        for (size_t i = 0; i < n; i++)
            planes[(size_t)p * n + i] = (unsigned char)(q[i] >> 8 * p);
    NB_TRY(pack_text(planes, n * (size_t)out->planes, &out->pixels, err));
    nb_free(planes);
    return st;
}

static int bytes_of(uint32_t bits)
{
    return bits >> 24 ? 4 : bits >> 16 ? 3 : bits >> 8 ? 2 : 1;
}

static size_t take_pieces(const float *pixels, size_t n, float sample[PIECES * PIECE])
{
    if (n <= PIECES * PIECE) {
        memcpy(sample, pixels, n * sizeof *pixels);
        return n;
    }
    for (size_t i = 0; i < PIECES; i++)
        memcpy(sample + i * PIECE, pixels + (n - PIECE) / (PIECES - 1) * i,
               PIECE * sizeof *pixels);
    return PIECES * PIECE;
}

/** Take differences if they shorten the text of the sample. *length: bytes of text. */
static nb_status choose_delta(const float *sample, size_t some, uint32_t *q,
                              nb_packed *out, size_t *length, nb_error *err)
{
    size_t tried[2] = {0, 0};
    nb_status st = NB_OK;
    for (out->delta = 0; out->delta < 2 && !st; out->delta++) {
        out->planes = bytes_of(fill(sample, some, out, q));
        if (!(st = pack_planes(q, some, out, err)))
            tried[out->delta] = strlen(out->pixels);
        nb_free(out->pixels);
        out->pixels = NULL;
    }
    out->delta = tried[1] < tried[0];
    *length = tried[out->delta];
    return st;
}

static nb_status pack_mask(const float *pixels, size_t n, nb_packed *out, nb_error *err)
{
    unsigned char *bits = nb_alloc((n + 7) / 8, 1, "mask of a page", err);
    nb_status st = bits ? NB_OK : NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        if (!isfinite(pixels[i]))
            bits[i / 8] |= (unsigned char)(1 << i % 8);
    NB_TRY(pack_text(bits, (n + 7) / 8, &out->mask, err));
    nb_free(bits);
    return st;
}

/** Pack with the step of *out. If the text is too long and not `last`, pixels is NULL. */
static nb_status pack_all(const float *pixels, size_t n, size_t largest, int last,
                          uint32_t *q, nb_packed *out, nb_error *err)
{
    float *sample = nb_alloc(PIECES * PIECE, sizeof *sample, "page", err);
    size_t some, length;
    nb_status st;
    NB_FORWARD(sample ? NB_OK : NB_ERR_NOMEM);
    some = take_pieces(pixels, n, sample);
    st = choose_delta(sample, some, q, out, &length, err);
    nb_free(sample);
    if (st ||
        (!last && (double)length / (double)some * (double)n > TOO_LONG * (double)largest))
        return st;
    out->planes = bytes_of(fill(pixels, n, out, q));
    st = pack_planes(q, n, out, err);
    if (!st && !last && strlen(out->pixels) > largest) {
        nb_free(out->pixels);
        out->pixels = NULL;
    }
    return st;
}

nb_status nb_pack_pixels(const float *pixels, size_t n, size_t largest, nb_packed *out,
                         nb_error *err)
{
    static const double steps[] = {0.02, 0.05, 0.1, 0.2};
    uint32_t *q;
    size_t holes;
    nb_status st;
    memset(out, 0, sizeof *out);
    choose(pixels, n, out, &holes);
    if (!(q = nb_alloc_large(n, sizeof *q, "page", err)))
        return NB_ERR_NOMEM;
    st = pack_all(pixels, n, largest, 0, q, out, err);
    for (int i = 0; i < 4 && !st && !out->pixels; i++) {
        out->unit = out->unit > 0 ? out->unit : 1;
        out->step = steps[i];
        st = pack_all(pixels, n, largest, i == 3, q, out, err);
    }
    nb_free(q);
    return st || !holes ? st : pack_mask(pixels, n, out, err);
}

void nb_packed_free(nb_packed *packed)
{
    nb_free(packed->pixels);
    nb_free(packed->mask);
    memset(packed, 0, sizeof *packed);
}
