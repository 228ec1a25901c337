/* SPDX-License-Identifier: MIT */

#include "../../base/error.h"
#include "../../base/memory.h"
#include "writer.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

typedef struct sink {
    nb_outfile *out;
    nb_error *err;
    nb_status status;
} sink;

static void on_write(png_structp png, png_bytep data, size_t bytes)
{
    sink *s = png_get_io_ptr(png);
    s->status = nb_outfile_write(s->out, data, bytes, s->err);
    if (s->status)
        png_longjmp(png, 1);
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp message)
{
    sink *s = png_get_error_ptr(png);
    s->status = nb_fail(s->err, NB_ERR_IO, "cannot write %.300s: libpng: %s",
                        s->out->path, message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/** Set the text chunks, without a time, so that equal runs give equal files. */
static void set_text(png_structp png, png_infop info, const nb_image_meta *meta)
{
    png_text text[2];
    memset(text, 0, sizeof text);
    text[0].key = (png_charp) "Software";
    text[0].text = (png_charp) "nanobragg " NB_VERSION;
    text[1].key = (png_charp) "Description";
    text[1].text = (png_charp)meta->command_line;
    /* so that the texts are UTF-8 */
    text[0].compression = text[1].compression = PNG_ITXT_COMPRESSION_NONE;
    text[0].lang = text[1].lang = (png_charp) "";
    png_set_text(png, info, text, meta->command_line && meta->command_line[0] ? 2 : 1);
}

/** Write all rows. May leave by longjmp, so nothing here owns memory. buffer: one row. */
static void write_all(png_structp png, png_infop info, const nb_image_view *image,
                      const nb_image_meta *meta, void *buffer)
{
    sink *out = png_get_io_ptr(png);
    double per_metre = meta->pixel_mm > 0 ? 1000.0 / meta->pixel_mm : 0;
    png_set_IHDR(png, info, (png_uint_32)image->fast, (png_uint_32)image->slow, 8,
                 image->type == NB_PIXEL_RGB ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (per_metre > 0 && per_metre < 2147483647.0)
        png_set_pHYs(png, info, (png_uint_32)(per_metre + 0.5),
                     (png_uint_32)(per_metre + 0.5), PNG_RESOLUTION_METER);
    set_text(png, info, meta);
    png_write_info(png, info);
    for (int s = 0; s < image->slow; s++) {
        const void *row;
        out->status = nb_image_rows(image, s, 1, buffer, &row, out->err);
        if (out->status)
            png_longjmp(png, 1);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
}

static nb_status write_png(const nb_image_view *image, const nb_image_meta *meta,
                           nb_outfile *out, nb_error *err)
{
    sink s = {out, err, NB_OK};
    png_structp png;
    png_infop info;
    void *buffer;
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    info = png ? png_create_info_struct(png) : NULL;
    buffer =
        nb_alloc_raw((size_t)image->fast, nb_pixel_bytes(image->type), "PNG row", NULL);
    if (!info || !buffer) {
        png_destroy_write_struct(&png, &info);
        nb_free(buffer);
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (libpng)");
    }
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &s, on_write, on_flush);
        png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
        write_all(png, info, image, meta, buffer);
    }
    png_destroy_write_struct(&png, &info);
    nb_free(buffer);
    return s.status;
}

const nb_writer nb_writer_png = {.name = "PNG", .pixel = NB_PIXEL_U8, .write = write_png};
const nb_writer nb_writer_png_rgb = {
    .name = "PNG", .pixel = NB_PIXEL_RGB, .write = write_png};
const nb_format nb_format_png = {.name = "PNG",
                                 .extensions = ".png",
                                 .writer = &nb_writer_png,
                                 .params = NB_PARAM_PNG,
                                 .any_panels = 1};
