/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "tiff_open.h"
#include "writer.h"

/* The callbacks keep errno, which libtiff would lose, so that a full disk is reported. */
typedef struct sink {
    nb_tiff_stream stream;
    nb_outfile *out;
    int error; /* errno of the first failure; 0 without a failure */
} sink;

static tmsize_t on_read(thandle_t handle, void *data, tmsize_t bytes)
{
    sink *s = handle;
    const size_t n = nb_fd_read(s->out->fd, data, (size_t)bytes, s->stream.position);
    s->stream.position += n;
    return (tmsize_t)n;
}

static tmsize_t on_write(thandle_t handle, void *data, tmsize_t bytes)
{
    sink *s = handle;
    const size_t n = nb_fd_write(s->out->fd, data, (size_t)bytes, s->stream.position);
    s->stream.position += n;
    if (n == (size_t)bytes)
        return bytes;
    s->error = s->error ? s->error : errno;
    return -1;
}

static toff_t on_size(thandle_t handle)
{
    sink *s = handle;
    struct stat st;
    return fstat(s->out->fd, &st) == 0 ? (toff_t)st.st_size : 0;
}

/** Set the tags: no compression, so that every reader can open the file; no date, so that
 * equal runs give equal files. */
static int set_tags(TIFF *tiff, const nb_image_view *image, const nb_image_meta *meta,
                    uint32_t strip_rows)
{
    int is_float = image->type == NB_PIXEL_F32;
    double per_cm = meta->pixel_mm > 0 ? 10.0 / meta->pixel_mm : 0;
    int ok = NB_TIFF(SetField)(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)image->fast) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)image->slow) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_BITSPERSAMPLE, is_float ? 32 : 16) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_SAMPLEFORMAT,
                               is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_ROWSPERSTRIP, strip_rows) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_SOFTWARE, "nanobragg " NB_VERSION);
    if (ok && per_cm > 0)
        ok = NB_TIFF(SetField)(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_XRESOLUTION, per_cm) &&
             NB_TIFF(SetField)(tiff, TIFFTAG_YRESOLUTION, per_cm);
    if (ok && meta->command_line && meta->command_line[0])
        ok = NB_TIFF(SetField)(tiff, TIFFTAG_IMAGEDESCRIPTION, meta->command_line);
    return ok;
}

static nb_status fail(const sink *s, nb_error *err)
{
    char why[240];
    if (!s->error || strerror_r(s->error, why, sizeof why) != 0)
        snprintf(why, sizeof why, "libtiff: %s",
                 s->stream.message[0] ? s->stream.message : "it failed");
    return nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", s->out->path, why);
}

static nb_status write_strips(TIFF *tiff, const nb_image_view *image, uint32_t strip_rows,
                              sink *s, nb_error *err)
{
    size_t row = (size_t)image->fast * nb_pixel_bytes(image->type);
    void *buffer = image->pixels ? NULL : nb_alloc_raw(strip_rows, row, "TIFF strip", err);
    nb_status st = image->pixels || buffer ? NB_OK : NB_ERR_NOMEM;
    uint32_t strip = 0;
    for (int first = 0; first < image->slow && !st; first += (int)strip_rows) {
        int left = image->slow - first;
        int rows = left < (int)strip_rows ? left : (int)strip_rows;
        tmsize_t bytes = (tmsize_t)((size_t)rows * row);
        const void *from;
        st = nb_image_rows(image, first, rows, buffer, &from, err);
        if (!st && NB_TIFF(WriteEncodedStrip)(tiff, strip++, (void *)(uintptr_t)from,
                                              bytes) != bytes)
            st = fail(s, err);
    }
    nb_free(buffer);
    return st;
}

/** True for a file and for /dev/null. */
static int can_seek(const nb_outfile *out)
{
    struct stat st;
    return out->temp[0] || (fstat(out->fd, &st) == 0 && S_ISCHR(st.st_mode) &&
                            lseek(out->fd, 0, SEEK_CUR) >= 0);
}

static nb_status write_tiff(const nb_image_view *image, const nb_image_meta *meta,
                            nb_outfile *out, nb_error *err)
{
    const size_t strip_bytes = (size_t)1 << 20, classic_limit = 4000000000u;
    size_t row = (size_t)image->fast * nb_pixel_bytes(image->type);
    uint32_t strip_rows = row < strip_bytes ? (uint32_t)(strip_bytes / row) : 1;
    sink s = {{.read = on_read, .write = on_write, .size = on_size}, out, 0};
    nb_status st = nb_tiff_load(err);
    TIFF *tiff;
    if (!st && !can_seek(out))
        st = nb_fail(err, NB_ERR_IO,
                     "%.300s cannot be written as TIFF, which needs a file", out->path);
    if (st)
        return st;
    tiff = nb_tiff_open(out->path, row * (size_t)image->slow > classic_limit ? "w8" : "w",
                        &s.stream);
    if (!tiff)
        return fail(&s, err);
    st = set_tags(tiff, image, meta, strip_rows)
             ? write_strips(tiff, image, strip_rows, &s, err)
             : fail(&s, err);
    if (!st && !NB_TIFF(Flush)(tiff))
        st = fail(&s, err);
    NB_TIFF(Close)(tiff);
    return !st && s.error ? fail(&s, err) : st;
}

static nb_status tiff_ready(const char *flag, nb_error *err)
{
    (void)flag; /* not used, since the message names the library */
    return nb_tiff_load(err);
}

const nb_writer nb_writer_tiff_f32 = {
    .name = "TIFF", .pixel = NB_PIXEL_F32, .write = write_tiff, .ready = tiff_ready};
const nb_writer nb_writer_tiff_u16 = {
    .name = "TIFF", .pixel = NB_PIXEL_U16, .write = write_tiff, .ready = tiff_ready};
const nb_format nb_format_tiff = {.name = "TIFF",
                                  .extensions = ".tif .tiff",
                                  .writer = &nb_writer_tiff_f32,
                                  .narrow = &nb_writer_tiff_u16,
                                  .params = NB_PARAM_TIFF | NB_PARAM_ADU};
