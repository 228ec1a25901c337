/* SPDX-License-Identifier: MIT */
/** Read an image file of any supported format as floats. */
#ifndef NB_IO_IMAGE_READ_H
#define NB_IO_IMAGE_READ_H

#include "../../nanobragg.h"

#define NB_IMAGE_MOST_PIXELS (INT64_C(1) << 30)

/** The bytes of a file, and the user's values for it. */
typedef struct nb_image_file {
    const void *data;
    size_t bytes;
    const char *name;
    int fast, slow; /* of a headerless file; 0, 0: square */
    double most_MB; /* for nb_declared_check; 0: the default */
} nb_image_file;

typedef enum nb_image_format {
    NB_FORMAT_FLOAT = 0, /* headerless */
    NB_FORMAT_SMV,
    NB_FORMAT_TIFF,
    NB_FORMAT_PGM,
    NB_FORMAT_CBF,
    NB_FORMAT_HDF5 /* read by nb_hdf5_read_image, from the file */
} nb_image_format;

/** The format, from the first bytes. A file of exactly fast*slow floats is always
 * headerless. */
nb_image_format nb_image_format_of(const nb_image_file *file);
const char *nb_image_format_name(nb_image_format format);

/** Does the header of this format have only the size? name: as in nb_image.format. */
int nb_image_format_is_plain(const char *name);

/** The formats with a magic number, for messages. */
#define NB_READ_FORMATS "SMV, CBF, TIFF, PGM or HDF5"

/** Fill fast, slow, pixels (caller's, nb_free) and format of *out, which is zeroed first.
 * Errors: NB_ERR_INPUT, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_image_parse(const nb_image_file *file, nb_image *out, nb_error *err);

/** The readers of the formats; each allocates out->pixels last. */
nb_status nb_pgm_parse(const nb_image_file *file, nb_image *out, nb_error *err);
nb_status nb_cbf_parse(const nb_image_file *file, nb_image *out, nb_error *err);
nb_status nb_tiff_parse(const nb_image_file *file, nb_image *out, nb_error *err);

/** Memory for out->fast x out->slow pixels, after a check of their number and nb_declared_check. */
nb_status nb_image_allocate(const nb_image_file *file, nb_image *out, nb_error *err);

#endif
