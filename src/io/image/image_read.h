/* SPDX-License-Identifier: MIT */
/** Read an image file of any supported format as floats. */
#ifndef NB_IO_IMAGE_READ_H
#define NB_IO_IMAGE_READ_H

#include "../../nanobragg.h"
#include "../common/meta.h"

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

/* mini-CBF: the geometry of its header lines. The pixels: nb_cbf_parse in image_read.h. */

/** Numbers of the "# " lines. */
typedef struct nb_cbf_header {
    nb_said_geometry said;
    int full;                  /* with the categories of imgCIF, which are not read */
    double kappa_deg, chi_deg; /* further angles of the crystal; NaN */
} nb_cbf_header;

void nb_cbf_read_header(const nb_image_file *file, nb_cbf_header *out);

/* --- The codes of pixels in binary sections of imgCIF, beside byte offsets (CBFlib manual, chapters 3.3.1 to 3.3.3) --- */

typedef enum nb_cbf_coding {
    NB_CBF_BYTE_OFFSET,
    NB_CBF_CANONICAL,
    NB_CBF_PACKED,
    NB_CBF_PACKED_V2,
    NB_CBF_NONE /* as they are */
} nb_cbf_coding;

/** What a section holds: fast x slow pixels in each of `deep` images. */
typedef struct nb_cbf_pixels {
    const char *name; /* of the file */
    nb_cbf_coding coding;
    int bits;               /* 8, 16, 32 or 64 */
    int is_signed, is_real; /* IEEE */
    int fast, slow, deep;
    int flat;   /* packed: each pixel is predicted from the one before alone */
    int sliced; /* packed: images are not predicted from each other */
    const char *data;
    size_t bytes;
} nb_cbf_pixels;

/** All pixels but of NB_CBF_BYTE_OFFSET into to[].  Errors: NB_ERR_INPUT (cut short, damaged, a real that is not finite),
 * NB_ERR_NOMEM. */
nb_status nb_cbf_decode(const nb_cbf_pixels *section, float *to, nb_error *err);

/* SMV images: the header as a source of settings (`-img`, `-mask`) and the pixels. */

/** One `KEY=value;`, without surrounding blanks. The strings belong to the header. */
typedef struct nb_smv_entry {
    const char *key, *value;
} nb_smv_entry;

/** A parsed header; it owns text and entries. */
typedef struct nb_smv_header {
    char *text;
    nb_smv_entry *entries; /* in file order, duplicates kept */
    int count;
    size_t bytes;   /* offset of the first pixel in the file */
    int fast, slow; /* pixels: SIZE1, SIZE2 or DETECTOR_DIMENSIONS; 0 when neither */
    char name[256]; /* of the file, for messages */
} nb_smv_header;

/** Parse the header of n bytes of an SMV file.  The file starts with `{`, newline,
 * `HEADER_BYTES=`; records end at `;` or newline; `}` closes the header within
 * HEADER_BYTES. (nanoBragg also wrote 512 there with a longer header: taken when the
 * file's length agrees exactly with pixels behind the brace and its form feed.)
 * *out is the caller's (nb_smv_header_free), zero on error.
 * Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_smv_parse(const void *data, size_t n, const char *name, nb_smv_header *out,
                       nb_error *err);
void nb_smv_header_free(nb_smv_header *header); /* NULL is fine */

/** The value of exactly this key (the last one of duplicates); NULL if it is missing. */
const char *nb_smv_find(const nb_smv_header *header, const char *key);

/** 1: the key's value is the finite number *value; 0: no such key, or an empty value; -1:
 * the value is not a number. */
int nb_smv_number(const nb_smv_header *header, const char *key, double *value);

/** The 16-bit pixels [slow][fast] in this machine's byte order (BYTE_ORDER decides; none
 * means little endian).  data, n: the file that header was parsed from.  *pixels is the
 * caller's (nb_free), NULL on error.  Errors: NB_ERR_INPUT (no size, pixels cut short,
 * unknown BYTE_ORDER, TYPE of another width), NB_ERR_NOMEM. */
nb_status nb_smv_pixels_u16(const void *data, size_t n, const nb_smv_header *header,
                            uint16_t **pixels, nb_error *err);

/** Fill the fields of cfg that are still unset from the header: from our own NANOBRAGG_*
 * keys (below) when NANOBRAGG_CONVENTION is there, else from the keys that every SMV
 * file may have: PIXEL_SIZE, SIZE1, SIZE2, DISTANCE, CLOSE_DISTANCE, WAVELENGTH,
 * BEAM_CENTER_X and _Y (as Xbeam, Ybeam), ORGX, ORGY or XDS_ORGX, XDS_ORGY, PHI or
 * OSC_START, OSC_RANGE (0: a still; below 0: the spindle is reversed), TWOTHETA (also the two-theta of CLOSE_DISTANCE). A value that the user
 * typed in another form counts as set: both distances, wavelength and energy, detpixels and
 * detsize of one axis, phistep and phisteps. Errors: NB_ERR_INPUT that names file, key and
 * value; cfg may be half filled then. */
nb_status nb_smv_apply_header(const nb_smv_header *header, nb_config *cfg, nb_error *err);

/* --- The NANOBRAGG_* keys of our SMV headers ---
 * The geometry as it was typed, with as many digits as a double needs, so that `-img`
 * restores it exactly. The table of parameters says which parameters have a key. */

#define NB_SMV_PREFIX "NANOBRAGG_"
#define NB_SMV_MARK                                                                      \
    "NANOBRAGG_CONVENTION" /* if this key is present, these keys replace the documented ones */

/** Groups of parameters for one quantity: if one of them is typed, the header's values of the
 * whole group are not used. */
typedef enum nb_smv_group {
    NB_SMV_ALONE = 0,
    NB_SMV_DISTANCES, /* distance, close_distance */
    NB_SMV_BEAM,      /* lambda, energy */
    NB_SMV_STEPS,     /* phistep, phisteps */
    NB_SMV_FAST,      /* detpixels, detsize along fast */
    NB_SMV_SLOW,
    NB_SMV_GROUPS
} nb_smv_group;

/** The parameter whose key follows that of `last` (NULL: the first); NULL at the end. */
const nb_param *nb_smv_next(const nb_param *last);

/** Groups that have a member set in cfg: typed[group] is 0 or 1; typed[NB_SMV_ALONE] is 0. */
void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS]);

/** Pass every key whose field is set (and always the mark) to emit, in the table's order.
 * The strings are valid only during the call. */
void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user);

/* --- Pixels of an image file that hold no counts --- */

/** The integer type of a file, and the limits of its values. */
typedef struct nb_counts_of {
    int bits; /* of an integer; 0: floats, which mark nothing */
    int is_signed;
    double least, most; /* the trusted range; NaN: the file has no such limit */
    int highest_counts; /* the largest 16-bit number is an overload and no mark */
} nb_counts_of;

/** Add the file's marks to those in image->left_out: -1 and -2 of signed integers below the
 * trusted range (without a lower limit: unless the image has pixels below -2), and the largest
 * number of 16 and 32 unsigned bits above it. Errors: NB_ERR_NOMEM. */
nb_status nb_leave_out_marks(nb_image *image, const nb_counts_of *counts, nb_error *err);

/** Returns image->left_out; makes it if there is none, with all pixels used. NULL: memory is
 * exhausted. */
uint8_t *nb_left_out_of(nb_image *image, nb_error *err);

/** Append to text[size] how many pixels are left out for which reason: "3 by the pixel mask of B, 2 hold -1
 * or -2 in B".  whose: "the file", "A". */
void nb_left_out_words(const int64_t counts[NB_LEFT_KINDS], const char *whose, char *text,
                       size_t size);

#endif
