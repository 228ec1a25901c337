/* SPDX-License-Identifier: MIT */
/** SMV images: the header as a source of settings (`-img`, `-mask`) and the pixels. */
#ifndef NB_IO_SMV_READ_H
#define NB_IO_SMV_READ_H

#include "../../nanobragg.h"

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

#endif
