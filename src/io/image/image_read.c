/* SPDX-License-Identifier: MIT */
#include "image_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"

static int starts(const nb_image_file *file, const char *magic, size_t n)
{
    return file->bytes >= n && memcmp(file->data, magic, n) == 0;
}

/** Number of pixels of the typed size; 0 without a typed size. */
static size_t said_pixels(const nb_image_file *file)
{
    return file->fast > 0 && file->slow > 0 ? (size_t)file->fast * (size_t)file->slow : 0;
}

nb_image_format nb_image_format_of(const nb_image_file *file)
{
    if (said_pixels(file) && file->bytes == said_pixels(file) * sizeof(float))
        return NB_FORMAT_FLOAT;
    if (starts(file, "{\nHEADER_BYT", 12))
        return NB_FORMAT_SMV;
    if (starts(file, "II*", 4) || starts(file, "MM\0*", 4) || starts(file, "II+", 4) ||
        starts(file, "MM\0+", 4))
        return NB_FORMAT_TIFF;
    if (starts(file, "P5", 2) && file->bytes > 2 &&
        strchr(" \t\r\n#", ((const char *)file->data)[2]))
        return NB_FORMAT_PGM;
    if (starts(file, "###CBF", 6))
        return NB_FORMAT_CBF;
    if (starts(file, "\x89HDF\r\n\x1a\n", 8))
        return NB_FORMAT_HDF5;
    return NB_FORMAT_FLOAT;
}

static nb_status float_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    const size_t pixels = file->bytes / sizeof(float), said = said_pixels(file);
    const double side = floor(sqrt((double)pixels) + 0.5);
    nb_status st;
    if (said && said * sizeof(float) != file->bytes)
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "the file has %zu bytes, not the %zu bytes of %d "
                          "x %d floats; type -size fast slow",
                          file->bytes, said * sizeof(float), file->fast, file->slow);
    if (!said && (!pixels || file->bytes % sizeof(float) || side > 32768 ||
                  (size_t)side * (size_t)side != pixels))
        return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                          "not an " NB_READ_FORMATS " image, and its %zu bytes are not a "
                          "square image of floats; type the size of a float image: -size "
                          "fast slow (in Python shape=(slow, fast))",
                          file->bytes);
    out->fast = said ? file->fast : (int)side;
    out->slow = said ? file->slow : (int)side;
    NB_FORWARD(nb_image_allocate(file->name, out, err));
    memcpy(out->pixels, file->data, file->bytes);
    return NB_OK;
}

static nb_status smv_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    nb_smv_header header = {0};
    uint16_t *pixels = NULL;
    nb_status st = nb_smv_parse(file->data, file->bytes, file->name, &header, err);
    NB_TRY(nb_smv_pixels_u16(file->data, file->bytes, &header, &pixels, err));
    out->fast = header.fast;
    out->slow = header.slow;
    NB_TRY(nb_image_allocate(file->name, out, err));
    for (size_t i = 0, n = (size_t)out->fast * (size_t)out->slow; !st && i < n; i++)
        out->pixels[i] = pixels[i];
    nb_free(pixels);
    nb_smv_header_free(&header);
    return st;
}

static nb_status refuse_hdf5(const nb_image_file *file, nb_image *out, nb_error *err)
{
    (void)out;
    return nb_fail_at(err, NB_ERR_INPUT, file->name, 0,
                      "HDF5 cannot be read from a pipe, nor packed by gzip or "
                      "bzip2; give a file");
}

static const struct {
    const char *name;
    int plain; /* 1: the header has only the size */
    nb_status (*parse)(const nb_image_file *file, nb_image *out, nb_error *err);
} formats[] = {[NB_FORMAT_FLOAT] = {"float", 1, float_parse},
               [NB_FORMAT_SMV] = {"SMV", 0, smv_parse},
               [NB_FORMAT_TIFF] = {"TIFF", 1, nb_tiff_parse},
               [NB_FORMAT_PGM] = {"PGM", 1, nb_pgm_parse},
               [NB_FORMAT_CBF] = {"CBF", 0, nb_cbf_parse},
               [NB_FORMAT_HDF5] = {"HDF5", 0, refuse_hdf5}};

const char *nb_image_format_name(nb_image_format format)
{
    return formats[format].name;
}

int nb_image_format_is_plain(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0)
            return formats[i].plain;
    return 0;
}

nb_status nb_image_parse(const nb_image_file *file, nb_image *out, nb_error *err)
{
    nb_image_format format = nb_image_format_of(file);
    nb_status st;
    memset(out, 0, sizeof *out);
    out->centre[0] = out->centre[1] = NAN;
    snprintf(out->format, sizeof out->format, "%s", nb_image_format_name(format));
    st = formats[format].parse(file, out, err);
    if (st) {
        nb_free(out->pixels);
        nb_free(out->left_out);
        memset(out, 0, sizeof *out);
    }
    return st;
}
