/* SPDX-License-Identifier: MIT */
/** The formats of numbered files (-output), chosen by the extension of their names. A new format
 * needs a word in NB_FORMATS and a file with its nb_format and its writer; all other code uses
 * this interface. */
#ifndef NB_IO_FORMAT_H
#define NB_IO_FORMAT_H

#include "writer.h"

/* In the order of messages. */
#define NB_FORMATS(X) X(smv) X(cbf) X(tiff) X(png) X(float)

typedef struct nb_format {
    const char *name;        /* as in messages */
    const char *extensions;  /* ".tif .tiff": messages have the first */
    const nb_writer *writer; /* of 8-bit pixels: the picture that -pngfile makes */
    const nb_writer *
        narrow; /* writer for 16 bits a sample (-tiffbits), if there is a choice; else NULL */
    unsigned params; /* bits of nb_param.flags of the values that change its files, besides NB_PARAM_PIXELS */
    nb_header_kind header;
    int any_panels; /* stores all panels of a detector, below each other */
} nb_format;

#define NB_DECLARE_FORMAT(name) extern const nb_format nb_format_##name;
NB_FORMATS(NB_DECLARE_FORMAT)

/** The format of a file of this name; NULL: no format has its extension. */
const nb_format *nb_format_of(const char *path);

/** Its writer; bits: of a sample, where the format has a choice. */
const nb_writer *nb_format_writer(const nb_format *format, int bits);

/** ".img, .cbf, .tif, .png or .bin", cut at size. */
void nb_format_extensions(char *text, size_t size);

#endif
