/* SPDX-License-Identifier: MIT */
/** Read an image file of any supported format as floats. */
#ifndef NB_IO_IMAGE_READ_H
#define NB_IO_IMAGE_READ_H

#include "../../nanobragg.h"
#include "../common/meta.h"

#define NB_IMAGE_MAX_PIXELS (INT64_C(1) << 30)

/** The bytes of a file, and the size that the user typed for the file. */
typedef struct nb_image_file {
    const void *data;
    size_t bytes;
    const char *name;
    int fast, slow; /* size in pixels of a headerless file; 0, 0: the image is square */
} nb_image_file;

typedef enum nb_image_format {
    NB_FORMAT_FLOAT = 0, /* floats without a header */
    NB_FORMAT_SMV,
    NB_FORMAT_TIFF,
    NB_FORMAT_PGM,
    NB_FORMAT_CBF,
    NB_FORMAT_HDF5 /* nb_hdf5_read_image reads the file */
} nb_image_format;

/** Find the format from the first bytes. A file of exactly fast*slow floats is always
 * headerless. */
nb_image_format nb_image_format_of(const nb_image_file *file);
const char *nb_image_format_name(nb_image_format format);

/** True if the header of the format `name` (as in nb_image.format) has only the size. */
int nb_image_format_is_plain(const char *name);

/** Formats that begin with a magic number, for messages. */
#define NB_READ_FORMATS "SMV, CBF, TIFF, PGM or HDF5"

/** Read an image into *out, with centre NaN; free pixels and left_out with nb_free. On
 * error *out is zero. Errors: NB_ERR_INPUT, NB_ERR_NOMEM, NB_ERR_UNSUPPORTED. */
nb_status nb_image_parse(const nb_image_file *file, nb_image *out, nb_error *err);

/** Readers of the formats. Each checks the header before it allocates out->pixels. */
nb_status nb_pgm_parse(const nb_image_file *file, nb_image *out, nb_error *err);
nb_status nb_cbf_parse(const nb_image_file *file, nb_image *out, nb_error *err);
nb_status nb_tiff_parse(const nb_image_file *file, nb_image *out, nb_error *err);

/** Allocate out->fast x out->slow pixels, after checks of the number and the memory. */
nb_status nb_image_allocate(const char *name, nb_image *out, nb_error *err);

/* --- The geometry in the "# " lines of a mini-CBF --- */

/** Numbers of the "# " lines. */
typedef struct nb_cbf_header {
    nb_said_geometry said;
    /* 1: the file also has categories of imgCIF, which are not read */
    int full;
    double kappa_deg, chi_deg; /* angles of the axes that do not rotate, or NaN */
} nb_cbf_header;

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out);

/* --- Codes of pixels in binary sections of imgCIF (CBFlib manual, 3.3.2 and 3.3.3) --- */

typedef enum nb_cbf_coding {
    NB_CBF_BYTE_OFFSET,
    NB_CBF_PACKED,
    NB_CBF_PACKED_V2,
    NB_CBF_NONE /* plain pixels */
} nb_cbf_coding;

/** Contents of a section: fast x slow pixels in each of `deep` images. */
typedef struct nb_cbf_pixels {
    const char *name; /* name of the file */
    nb_cbf_coding coding;
    int bits;               /* bits of a pixel: 8, 16, 32 or 64 */
    int is_signed, is_real; /* is_real: IEEE floating point */
    int fast, slow, deep;
    int flat;   /* packed: 1 if only the previous pixel predicts a pixel */
    int sliced; /* packed: 1 if no image predicts the next image */
    const char *data;
    size_t bytes;
} nb_cbf_pixels;

/** Decode a section into to[deep][slow][fast], for any coding but NB_CBF_BYTE_OFFSET.
 * Errors: NB_ERR_INPUT (data cut short or damaged, a pixel not finite), NB_ERR_NOMEM. */
nb_status nb_cbf_decode(const nb_cbf_pixels *section, float *to, nb_error *err);

/* --- SMV images: pixels, and the settings in the header (`-img`, `-mask`) --- */

/** One `KEY=value;` without surrounding blanks. The header owns the strings. */
typedef struct nb_smv_entry {
    const char *key, *value;
} nb_smv_entry;

/** A parsed header, which owns text and entries. */
typedef struct nb_smv_header {
    char *text;
    nb_smv_entry *entries; /* in file order, duplicates kept */
    int count;
    size_t bytes;   /* offset of the first pixel in the file */
    int fast, slow; /* pixels: SIZE1, SIZE2 or DETECTOR_DIMENSIONS; 0 without these */
    char name[256]; /* name of the file, for messages */
} nb_smv_header;

/** Parse the header of n bytes of an SMV file. The file starts with `{`, newline,
 * `HEADER_BYTES=`; records end at `;` or newline; `}` closes the header within
 * HEADER_BYTES. Files of nanoBragg may have a longer header with HEADER_BYTES=512: it is
 * accepted if the pixels after `}` and a form feed end exactly at the end of the file.
 * Free *out with nb_smv_header_free; on error *out is zero.
 * Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_smv_parse(const void *data, size_t n, const char *name, nb_smv_header *out,
                       nb_error *err);
void nb_smv_header_free(nb_smv_header *header); /* NULL is allowed */

/** Value of exactly this key (the last of duplicates), or NULL if the key is missing. */
const char *nb_smv_find(const nb_smv_header *header, const char *key);

/** Read the value of a key as a finite number. Returns 1; 0 if the key is missing or the
 * value is empty; -1 if the value is not a number. */
int nb_smv_number(const nb_smv_header *header, const char *key, double *value);

/** Read the 16-bit pixels [slow][fast] into native byte order. BYTE_ORDER gives the order
 * of the file; little endian without it. data, n: the file of this header. Free *pixels
 * with nb_free; on error it is NULL. Errors: NB_ERR_INPUT (no size, pixels cut short,
 * unknown BYTE_ORDER, a TYPE that is not 16 bits wide), NB_ERR_NOMEM. */
nb_status nb_smv_pixels_u16(const void *data, size_t n, const nb_smv_header *header,
                            uint16_t **pixels, nb_error *err);

/** Fill the unset fields of cfg from the header: from the NANOBRAGG_* keys (below) if
 * NANOBRAGG_CONVENTION is present, else from keys of every SMV file: PIXEL_SIZE, SIZE1,
 * SIZE2, DISTANCE, CLOSE_DISTANCE, WAVELENGTH, BEAM_CENTER_X and _Y (as Xbeam, Ybeam),
 * ORGX, ORGY or XDS_ORGX, XDS_ORGY, PHI or OSC_START, OSC_RANGE (0 means a still; below 0
 * reverses the spindle), TWOTHETA (also for CLOSE_DISTANCE). A field also counts as set
 * if its group (nb_smv_group) has a typed value, such as energy for wavelength. Errors:
 * NB_ERR_INPUT with file, key and value; cfg may then be half filled. */
nb_status nb_smv_apply_header(const nb_smv_header *header, nb_config *cfg, nb_error *err);

/* --- The NANOBRAGG_* keys of SMV headers --- The keys hold the typed geometry with all
 * digits of a double, so that `-img` restores it exactly. nb_param.header is the key of a
 * parameter without the prefix. */

#define NB_SMV_PREFIX "NANOBRAGG_"
/* if this key is present, the NANOBRAGG_* keys replace the documented keys */
#define NB_SMV_MARK "NANOBRAGG_CONVENTION"

/** Groups of parameters that set the same quantity. If one parameter of a group is typed,
 * nb_smv_apply_header ignores the values of the whole group in the header. */
typedef enum nb_smv_group {
    NB_SMV_ALONE = 0, /* a parameter that is in no group */
    NB_SMV_DISTANCES, /* distance, close_distance */
    NB_SMV_BEAM,      /* lambda, energy */
    NB_SMV_STEPS,     /* phistep, phisteps */
    NB_SMV_FAST,      /* detpixels, detsize along fast */
    NB_SMV_SLOW,
    NB_SMV_GROUPS
} nb_smv_group;

/** Return the parameter whose key follows that of `last` (NULL: the first), or NULL. */
const nb_param *nb_smv_next(const nb_param *last);

/** Set typed[group] to 1 if cfg sets a member of the group; typed[NB_SMV_ALONE] is 0. */
void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS]);

/** Call emit for NB_SMV_MARK and for each key whose field of cfg is set, in file order.
 * The strings are valid only during the call. */
void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user);

/* --- Marks: values of an integer file for pixels that hold no counts --- */

/** Integer type of a file, and the limits of the values. */
typedef struct nb_counts_of {
    int bits; /* bits of an integer, or 0 for floats (without marks) */
    int is_signed;
    double least, max;  /* trusted range; NaN if the file has no such limit */
    int highest_counts; /* 1: the largest 16-bit number is an overload, not a mark */
} nb_counts_of;

/** Leave out pixels with marks. Signed: -1 and -2 are marks if they are below the trusted
 * range, or, without a lower limit, if no pixel is below -2. Unsigned: the largest number
 * of 16 or 32 bits is a mark if it is above the trusted range. Errors: NB_ERR_NOMEM. */
nb_status nb_leave_out_marks(nb_image *image, const nb_counts_of *counts, nb_error *err);

/** Return image->left_out; if it is NULL, allocate it with all pixels used. Returns NULL
 * if memory is exhausted. */
uint8_t *nb_left_out_of(nb_image *image, nb_error *err);

/** Append the numbers of left-out pixels for each reason to text[size]: "3 by the pixel
 * mask of B, 2 hold -1 or -2 in B". whose: name of the image, "B" or "the file". */
void nb_left_out_words(const int64_t counts[NB_LEFT_KINDS], const char *whose, char *text,
                       size_t size);

#endif
