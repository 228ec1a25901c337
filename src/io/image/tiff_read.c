/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "image_read.h"
#include "tiff_open.h"

typedef struct source {
    nb_tiff_stream stream;
    const nb_image_file *file;
} source;

static tmsize_t on_read(thandle_t handle, void *data, tmsize_t bytes)
{
    source *s = handle;
    const toff_t at = s->stream.position;
    size_t left = at < s->file->bytes ? s->file->bytes - (size_t)at : 0;
    size_t n = (size_t)bytes < left ? (size_t)bytes : left;
    memcpy(data, (const char *)s->file->data + (left ? at : 0), n);
    s->stream.position += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t bytes)
{
    (void)handle;
    (void)data;
    (void)bytes;
    return -1;
}

static toff_t on_size(thandle_t handle)
{
    return ((source *)handle)->file->bytes;
}

/** Type of a sample; a missing tag has the default of TIFF. */
typedef struct sample {
    uint16_t bits, format;
} sample;

static float sample_at(const void *row, sample k, size_t i)
{
    int is_signed = k.format == SAMPLEFORMAT_INT;
    if (k.format == SAMPLEFORMAT_IEEEFP)
        return k.bits == 64 ? (float)((const double *)row)[i] : ((const float *)row)[i];
    if (k.bits == 8)
        return is_signed ? ((const int8_t *)row)[i] : ((const uint8_t *)row)[i];
    if (k.bits == 16)
        return is_signed ? ((const int16_t *)row)[i] : ((const uint16_t *)row)[i];
    return is_signed ? (float)((const int32_t *)row)[i]
                     : (float)((const uint32_t *)row)[i];
}

static int is_known(sample k)
{
    if (k.format == SAMPLEFORMAT_IEEEFP)
        return k.bits == 32 || k.bits == 64;
    return (k.format == SAMPLEFORMAT_INT || k.format == SAMPLEFORMAT_UINT) &&
           (k.bits == 8 || k.bits == 16 || k.bits == 32);
}

static nb_status unreadable(const source *s, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, s->file->name, 0, "cannot be read as TIFF: %s",
                      s->stream.message[0] ? s->stream.message : "libtiff failed");
}

static nb_status read_rows(TIFF *tiff, const source *s, sample k, nb_image *out,
                           nb_error *err)
{
    size_t width = (size_t)out->fast;
    void *row;
    int ok = 1;
    if ((size_t)NB_TIFF(ScanlineSize)(tiff) != width * k.bits / 8)
        return unreadable(s, err);
    row = nb_alloc(width, k.bits / 8, "row of a TIFF", err);
    NB_NEED(row);
    for (int y = 0; y < out->slow && ok; y++) {
        ok = NB_TIFF(ReadScanline)(tiff, row, (uint32_t)y, 0) == 1;
        for (size_t i = 0; ok && i < width; i++)
            out->pixels[(size_t)y * width + i] = sample_at(row, k, i);
    }
    nb_free(row);
    return ok ? NB_OK : unreadable(s, err);
}

/** Images of 16 bits come from charge-coupled detectors: 65535 is an overload. */
static nb_counts_of counts_of(sample k)
{
    return (nb_counts_of){.bits = k.format == SAMPLEFORMAT_IEEEFP ? 0 : k.bits,
                          .is_signed = k.format == SAMPLEFORMAT_INT,
                          .least = NAN,
                          .max = NAN,
                          .highest_counts = 1};
}

static nb_status parse(TIFF *tiff, source *s, nb_image *out, nb_error *err)
{
    uint32_t width = 0, height = 0;
    uint16_t channels = 1;
    sample k = {1, SAMPLEFORMAT_UINT};
    nb_counts_of counts;
    nb_status st;
    if (!NB_TIFF(GetField)(tiff, TIFFTAG_IMAGEWIDTH, &width) ||
        !NB_TIFF(GetField)(tiff, TIFFTAG_IMAGELENGTH, &height))
        return unreadable(s, err);
    NB_TIFF(GetFieldDefaulted)(tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
    NB_TIFF(GetFieldDefaulted)(tiff, TIFFTAG_BITSPERSAMPLE, &k.bits);
    NB_TIFF(GetFieldDefaulted)(tiff, TIFFTAG_SAMPLEFORMAT, &k.format);
    if (channels != 1 || !is_known(k) || NB_TIFF(IsTiled)(tiff))
        return nb_fail_at(err, NB_ERR_INPUT, s->file->name, 0,
                          "a TIFF of %d channels of %d bits%s; only one channel of 8, 16 "
                          "or 32 bits or of floats, in strips, can be read",
                          channels, k.bits, NB_TIFF(IsTiled)(tiff) ? " in tiles" : "");
    out->fast = width < 0x7fffffff ? (int)width : 0;
    out->slow = height < 0x7fffffff ? (int)height : 0;
    /* checked before memory is allocated: every supported compression has a ratio below
     * 2000 */
    if ((double)width * height * k.bits / 8 > 2000.0 * (double)s->file->bytes)
        return nb_fail_at(err, NB_ERR_INPUT, s->file->name, 0,
                          "the pixels are cut short: %u x %u cannot come from %zu bytes",
                          (unsigned)width, (unsigned)height, s->file->bytes);
    counts = counts_of(k);
    NB_FORWARD(nb_image_allocate(s->file->name, out, err));
    NB_FORWARD(read_rows(tiff, s, k, out, err));
    return nb_leave_out_marks(out, &counts, err);
}

nb_status nb_tiff_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    source s = {{.read = on_read, .write = on_write, .size = on_size}, file};
    nb_status st;
    TIFF *tiff;
    NB_FORWARD(nb_tiff_load(err));
    tiff = nb_tiff_open(file->name, "rm", &s.stream);
    if (!tiff)
        return unreadable(&s, err);
    st = parse(tiff, &s, out, err);
    NB_TIFF(Close)(tiff);
    return st;
}
