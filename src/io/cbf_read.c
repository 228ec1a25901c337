/* SPDX-License-Identifier: MIT */
/* mini-CBF as cbf_write.c and detectors write it: one binary section, byte-offset compressed
 * int32 (CBFlib manual, "x-CBF_BYTE_OFFSET"). */
#include "cbf_read.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/text.h"

static const char section_mark[] = "--CIF-BINARY-FORMAT-SECTION--";
static const char data_mark[] = "\f\x1a\x04\xd5";

/** A piece of the file. */
typedef struct span {
    const char *p, *end;
} span;

/** The first position of the text in the span; NULL: not found. */
static const char *find(span s, const char *text)
{
    size_t n = strlen(text);
    while ((size_t)(s.end - s.p) >= n) {
        const char *at = memchr(s.p, text[0], (size_t)(s.end - s.p) - n + 1);
        if (!at)
            return NULL;
        if (memcmp(at, text, n) == 0)
            return at;
        s.p = at + 1;
    }
    return NULL;
}

/** The line behind the text; empty if the text is not there. */
static span line_behind(span s, const char *text)
{
    span line = {s.end, s.end};
    const char *at = find(s, text), *newline;
    if (!at)
        return line;
    line.p = at + strlen(text);
    newline = memchr(line.p, '\n', (size_t)(s.end - line.p));
    line.end = newline ? newline : s.end;
    return line;
}

/** The number at the start of the line, after blanks and an opening bracket; NaN: none. */
static double number_of(span line)
{
    double value;
    while (line.p < line.end && (nb_text_blank(*line.p) || *line.p == '('))
        line.p++;
    return nb_text_double(line.p, line.end, &value) ? value : NAN;
}

static double number_behind(span s, const char *text)
{
    return number_of(line_behind(s, text));
}

/** Everything before the binary section. */
static span header_of(const nb_image_file *file)
{
    span all = {file->data, (const char *)file->data + file->bytes};
    const char *at = find(all, section_mark);
    all.end = at ? at : all.end;
    return all;
}

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out)
{
    span head = header_of(file), beam = line_behind(head, "# Beam_xy");
    out->pixel_m = number_behind(head, "# Pixel_size");
    out->wavelength_A = number_behind(head, "# Wavelength");
    out->distance_m = number_behind(head, "# Detector_distance");
    out->beam_px[0] = number_of(beam);
    out->beam_px[1] = number_behind(beam, ",");
}

/** The header of the binary section, and its data. */
static nb_status find_section(const nb_image_file *file, span *mime, span *data,
                              nb_error *err)
{
    span head = header_of(file);
    span rest = {head.end, (const char *)file->data + file->bytes};
    const char *at = find(rest, data_mark);
    if (rest.p == rest.end || !at)
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "the CBF has no binary data, or it is cut short");
    *mime = (span){rest.p, at};
    *data = (span){at + sizeof data_mark - 1, rest.end};
    return NB_OK;
}

static int whole(span mime, const char *key)
{
    double x = number_behind(mime, key);
    return x >= 1 && x <= 0x7fffffff && x == floor(x) ? (int)x : 0;
}

/** Is the section of the supported kind, and complete? */
static nb_status check_section(const nb_image_file *file, span mime, span *data,
                               nb_image *out, nb_error *err)
{
    int bytes = whole(mime, "X-Binary-Size:");
    int count = whole(mime, "X-Binary-Number-of-Elements:");
    if (!find(mime, "x-CBF_BYTE_OFFSET") || !find(mime, "\"signed 32-bit integer\"") ||
        find(mime, "BIG_ENDIAN"))
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "this kind of CBF cannot be read: only byte-offset compression "
                          "(x-CBF_BYTE_OFFSET) of signed 32-bit integers");
    out->fast = whole(mime, "X-Binary-Size-Fastest-Dimension:");
    out->slow = whole(mime, "X-Binary-Size-Second-Dimension:");
    if (!out->fast || !out->slow || !bytes ||
        (count && (int64_t)count != (int64_t)out->fast * out->slow))
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "a damaged CBF header: sizes %d x %d, %d elements, %d bytes",
                          out->fast, out->slow, count, bytes);
    if (data->end - data->p < bytes || bytes < (int64_t)out->fast * out->slow)
        return nb_fail_at(
            err, NB_ERR_INPUT, file->name, 0,
            "the pixels are cut short: %d x %d in %d bytes, but only %zu are there",
            out->fast, out->slow, bytes, (size_t)(data->end - data->p));
    data->end = data->p + bytes;
    return NB_OK;
}

static int64_t little_endian(const char *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | (unsigned char)p[i];
    return bytes == 8 ? (int64_t)x
                      : (int64_t)(x ^ UINT64_C(1) << (8 * bytes - 1)) -
                            (INT64_C(1) << (8 * bytes - 1));
}

/** The next difference, in 1, 2, 4 or 8 bytes. The lowest number of a size says that the
 * next size follows. 0: the data end. */
static int next_difference(span *s, int64_t *d)
{
    for (int bytes = 1; bytes <= 8; bytes *= 2) {
        if (s->end - s->p < bytes)
            return 0;
        *d = little_endian(s->p, bytes);
        s->p += bytes;
        if (bytes == 8 || *d != -(INT64_C(1) << (8 * bytes - 1)))
            return 1;
    }
    return 0;
}

static nb_status decompress(const nb_image_file *file, span data, nb_image *out,
                            nb_error *err)
{
    size_t n = (size_t)out->fast * (size_t)out->slow;
    int64_t value = 0, d;
    for (size_t i = 0; i < n; i++) {
        if (!next_difference(&data, &d))
            return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                              "the pixels are cut short: %zu of %zu", i, n);
        if (d > INT64_C(0xffffffff) || d < -INT64_C(0xffffffff) ||
            (value += d) > INT32_MAX || value < INT32_MIN)
            return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                              "pixel %zu does not fit 32 bits: damaged data", i);
        out->pixels[i] = (float)value;
    }
    return NB_OK;
}

nb_status nb_cbf_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    span mime = {0}, data = {0};
    nb_status st = find_section(file, &mime, &data, err);
    if (!st)
        st = check_section(file, mime, &data, out, err);
    if (!st)
        st = nb_image_allocate(file, out, err);
    return st ? st : decompress(file, data, out, err);
}
