/* SPDX-License-Identifier: MIT */
/** List of X-ray sources (`-sourcefile`): one per line, `X Y Z I lambda`. */
#ifndef NB_IO_SOURCES_H
#define NB_IO_SOURCES_H

#include "../../model/beam.h"
#include "../../model/scene_build.h"
#include "../../nanobragg.h"
#include "../../physics/vec3.h"

/** The values for missing columns; the intensity is 1. */
typedef struct nb_source_defaults {
    double position[3]; /* -10 times the unit beam vector, m */
    double lambda;      /* m */
} nb_source_defaults;

/** The rows in file order; the owner of the struct owns them. */
typedef struct nb_source_list {
    nb_source_line *rows;
    int count;
} nb_source_list;

/** Parse n bytes of text.  Delimiters: space, tab and , ; : ! ; `#` starts a comment;
 * blank lines, CR LF and a last line without newline are fine; columns after the fifth
 * are ignored. *out is the caller's (nb_source_list_free), zero on error.
 * Errors: NB_ERR_INPUT with the line (not a finite number, no direction, lambda not in
 * 0..1e-6 m, negative intensity, all intensities zero, no source); NB_ERR_NOMEM. */
nb_status nb_sources_parse(const char *data, size_t n, const char *name,
                           const nb_source_defaults *defaults, nb_source_list *out,
                           nb_error *err);
/** Check one row: direction, intensity and wavelength. name, line: for messages (line 0: none).
 * Errors: NB_ERR_INPUT. */
nb_status nb_source_line_check(const nb_source_line *row, const char *name, long line,
                               nb_error *err);
/** Check all rows: there is at least one, and the intensities have a mean. Errors:
 * NB_ERR_INPUT. */
nb_status nb_source_list_check(const nb_source_list *list, const char *name, long line,
                               nb_error *err);
void nb_source_list_free(nb_source_list *list); /* NULL is fine */

/** A spectrum (`-spectrum FILE`): lines of photon energy, eV, increasing, and photons per eV; `#` begins a comment.  Free
 * *points with nb_free.  Errors: NB_ERR_INPUT with the line (not two numbers, an energy that does not increase or is
 * not above 0, a negative density, fewer than two points, no photons), NB_ERR_NOMEM. */
nb_status nb_spectrum_parse(const char *data, size_t bytes, const char *name,
                            nb_spectrum_point **points, int *n, nb_error *err);

/* --- Spectra of shots (`-spectra`): one per line, pairs of wavelength and weight --- */

/** Spectrum i: lines[first[i]] to lines[first[i + 1] - 1], as a source list has them. */
typedef struct nb_spectra {
    nb_source_line *lines; /* owned */
    size_t *first;         /* owned, [count + 1] */
    int count;
    int more; /* the file has more lines */
} nb_spectra;

/** Parse n bytes of text: each line that is not blank is a spectrum, `wavelength weight` repeated,
 * the wavelength in A. Delimiters: blanks and , ; : ; `#` starts a comment. Every source is at
 * `position` (m). At least `needed` spectra are read; more are ignored. *out is the caller's
 * (nb_spectra_free), zero on error. Errors: NB_ERR_INPUT with the line (not a number, a
 * wavelength without weight, not in 0..10000 A, a negative weight, weights all zero, too few
 * spectra); NB_ERR_NOMEM. */
nb_status nb_spectra_parse(const char *data, size_t n, const char *name, nb_vec3 position,
                           int needed, nb_spectra *out, nb_error *err);

/** The same from a table of wavelengths, [columns] for all spectra or [rows][columns], and
 * weights, [rows][columns]; entries of weight 0 at the end of a row are left out. Errors
 * name the spectrum, counted from 0. */
typedef struct nb_spectra_table {
    const double *A, *weight;
    size_t rows, columns;
    int one_axis; /* A is [columns] */
} nb_spectra_table;
nb_status nb_spectra_from_table(const nb_spectra_table *table, const char *name,
                                nb_vec3 position, int needed, nb_spectra *out,
                                nb_error *err);

/** The same from an HDF5 file: /entry/instrument/beam/incident_wavelength_1Dspectrum and
 * ..._weights, as in masters of nanobragg, or /wavelength and /weight; A. most_MB: the
 * memory that a small file may need, 0 for the default (declared.h). Errors: as
 * nb_spectra_parse, NB_ERR_UNSUPPORTED. */
nb_status nb_hdf5_read_spectra(const char *path, double most_MB, nb_vec3 position,
                               int needed, nb_spectra *out, nb_error *err);

/** A note about a file that was read and is a table with a wavelength and a weight a line, of which
 * only the first lines are read. */
void nb_spectra_say_odd(const nb_spectra *spectra, const char *name,
                        const nb_hooks *hooks);
void nb_spectra_free(nb_spectra *spectra); /* NULL is fine */

/* Text files of mosaic blocks (-mosaic_blocks): a rotation and a weight each. */

/** Blocks of equal weight: those of a file, repeated by their weights. */
typedef struct nb_blocks {
    nb_mat3 *rotation; /* owned, [n]; of the axes a*, c x a*, c of the crystal */
    int n;
    double angle; /* rad; root of the mean square of their angles */
} nb_blocks;

/** Parse text: a line has the three numbers of a rotation vector (deg) or the nine of a rotation matrix, row by row, and
 * then a weight if all lines have one; # starts a comment.  wanted: how many blocks there shall be, each line as often as its
 * weight says, to one; 0: the least number, up to 10000, that does it exactly.  Free *out with nb_blocks_free; it is zero after an
 * error.  Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM. */
nb_status nb_blocks_parse(const char *data, size_t bytes, const char *path, int wanted,
                          nb_blocks *out, nb_error *err);
void nb_blocks_free(nb_blocks *blocks);
/** To 1e-4? */
int nb_is_rotation(const double m[9]);

/* Tables of F against sin(theta)/lambda, 4 sin(theta)/lambda or Q (`-stol`, `-4stol`, `-Q`), and the
 * materials whose tables are built in (`-background`). */

enum { NB_STOL_MOST = 1000000, NB_STOL_FILE_BYTES = 256 << 20 };

/** A table in the order of its file. */
typedef struct nb_stol_table {
    nb_stol_point *points; /* owned */
    int n;
} nb_stol_table;

/** Parse n bytes of text.  Two columns, or more, of which two are used, with blanks, tabs or commas
 * between them; `#` starts a comment; blank lines, CR LF and a last line without newline are fine.
 * The first column times `factor` is sin(theta)/lambda in 1/A, >= 0 and increasing.  name: the file, for
 * messages.  *out is the caller's (nb_stol_free), zero on error.  Errors: NB_ERR_INPUT with the line (no
 * finite number, one column, not increasing, no point, more than NB_STOL_MOST); NB_ERR_NOMEM. */
nb_status nb_stol_parse(const char *data, size_t n, const char *name, double factor,
                        nb_stol_table *out, nb_error *err);
void nb_stol_free(nb_stol_table *table); /* NULL is fine */

/** A material with a built-in table. */
typedef struct nb_named_material {
    const char *name;
    double density;   /* g/cm3 */
    double mass;      /* of a molecule, g/mol */
    const char *text; /* its table, as nb_stol_parse reads it */
} nb_named_material;

/** By its name; NULL: there is none. */
const nb_named_material *nb_named_material_find(const char *name, size_t length);

#endif
