/* SPDX-License-Identifier: MIT */
/** X-ray sources (`-sourcefile`): one per line, `X Y Z I lambda`. */
#ifndef NB_IO_SOURCES_H
#define NB_IO_SOURCES_H

#include "../../model/beam.h"
#include "../../model/scene_build.h"
#include "../../nanobragg.h"
#include "../../physics/vec3.h"

/** Values for missing columns; the default intensity is 1. */
typedef struct nb_source_defaults {
    double position[3]; /* -10 times the unit beam vector, m */
    double lambda;      /* m */
} nb_source_defaults;

/** Rows in the order of the file; the owner of the struct owns the rows. */
typedef struct nb_source_list {
    nb_source_line *rows;
    int count;
} nb_source_list;

/** Parse n bytes of text. Delimiters: space, tab and , ; : ! ; `#` starts a comment;
 * blank lines, CR LF and a last line without newline are allowed; columns after the fifth
 * are ignored. Free *out with nb_source_list_free; on error it is zero.
 * Errors: NB_ERR_INPUT with the line (not a finite number, no direction, lambda not in
 * 0..1e-6 m, negative intensity, all intensities zero, no source); NB_ERR_NOMEM. */
nb_status nb_sources_parse(const char *data, size_t n, const char *name,
                           const nb_source_defaults *defaults, nb_source_list *out,
                           nb_error *err);
/** Check direction, intensity and wavelength of a row. name, line (or 0): for messages.
 * Errors: NB_ERR_INPUT. */
nb_status nb_source_line_check(const nb_source_line *row, const char *name, long line,
                               nb_error *err);
/** Check that a list has rows and a usable sum of intensities. Errors: NB_ERR_INPUT. */
nb_status nb_source_list_check(const nb_source_list *list, const char *name, long line,
                               nb_error *err);
void nb_source_list_free(nb_source_list *list); /* NULL is allowed */

/** Read a spectrum (`-spectrum FILE`): lines of photon energy (eV, increasing) and
 * photons per eV; `#` begins a comment. Free *points with nb_free. Errors: NB_ERR_NOMEM,
 * NB_ERR_INPUT with the line (not two numbers, an energy that does not increase or is not
 * above 0, a negative density, fewer than two points, no photons). */
nb_status nb_spectrum_parse(const char *data, size_t bytes, const char *name,
                            nb_spectrum_point **points, int *n, nb_error *err);

/* --- Spectra of shots (`-spectra`): one per line, pairs of wavelength and weight --- */

/** Spectrum i is lines[first[i]] to lines[first[i + 1] - 1], as in a source list. */
typedef struct nb_spectra {
    nb_source_line *lines; /* owned */
    size_t *first;         /* owned, [count + 1] */
    int count;
    int more; /* 1: the file has further spectra, which are not read */
} nb_spectra;

/** Parse n bytes of text: each line that is not blank is a spectrum, `wavelength weight`
 * repeated, wavelengths in A. Delimiters: blanks and , ; : ; `#` starts a comment. Every
 * source is at `position` (m). `needed` spectra are read; more are ignored. Free *out
 * with nb_spectra_free; on error it is zero. Errors: NB_ERR_INPUT with the line (not a
 * number, a wavelength without weight, not in 0..10000 A, a negative weight, weights all
 * zero, too few spectra); NB_ERR_NOMEM. */
nb_status nb_spectra_parse(const char *data, size_t n, const char *name, nb_vec3 position,
                           int needed, nb_spectra *out, nb_error *err);

/** A table of wavelengths, A, [columns] for all spectra or [rows][columns], and weights,
 * [rows][columns]. nb_spectra_from_table makes a spectrum of each row, without weights of
 * 0 at its end. Errors name the spectrum, counted from 0. */
typedef struct nb_spectra_table {
    const double *A, *weight;
    size_t rows, columns;
    int one_axis; /* 1: A is [columns] */
} nb_spectra_table;
nb_status nb_spectra_from_table(const nb_spectra_table *table, const char *name,
                                nb_vec3 position, int needed, nb_spectra *out,
                                nb_error *err);

/** Read spectra from an HDF5 file: /entry/instrument/beam/incident_wavelength_1Dspectrum
 * and ..._weights, as in masters of nanobragg, or /wavelength and /weight; A.
 * Errors: as nb_spectra_parse, NB_ERR_UNSUPPORTED. */
nb_status nb_hdf5_read_spectra(const char *path, nb_vec3 position, int needed,
                               nb_spectra *out, nb_error *err);

/** Print a note if each line has only one wavelength, which suggests that all lines are
 * one spectrum. */
void nb_spectra_say_odd(const nb_spectra *spectra, const char *name,
                        const nb_hooks *hooks);
void nb_spectra_free(nb_spectra *spectra); /* NULL is allowed */

/* --- Text files of mosaic blocks (-mosaic_blocks): one rotation per line --- */

/** Blocks of equal weight: each block of a file is copied in proportion to its weight. */
typedef struct nb_blocks {
    nb_mat3 *rotation; /* owned, [n]; in the frame a*, c x a*, c of the crystal */
    int n;
    double angle; /* rad; root mean square of the angles */
} nb_blocks;

/** Parse text: a line has a rotation vector (3 numbers, deg) or a rotation matrix (9, row
 * by row), and a weight if all lines have weights; # starts a comment. wanted: number of
 * blocks; the weight of a line sets the number of copies, rounded. wanted = 0: the
 * smallest number, up to 10000, that gives the exact weights. Free *out (zero on error)
 * with nb_blocks_free. Errors: NB_ERR_INPUT with the line, NB_ERR_NOMEM. */
nb_status nb_blocks_parse(const char *data, size_t bytes, const char *path, int wanted,
                          nb_blocks *out, nb_error *err);
void nb_blocks_free(nb_blocks *blocks);
/** True if m is a rotation matrix to 1e-4. */
int nb_is_rotation(const double m[9]);

/* --- Tables of F against s = sin(theta)/lambda, 4s or Q (`-stol`, `-4stol`, `-Q`), and
 * materials with built-in tables (`-background`) --- */

enum { NB_STOL_MAX = 1000000, NB_STOL_FILE_BYTES = 256 << 20 };

/** A table in the order of the file. */
typedef struct nb_stol_table {
    nb_stol_point *points; /* owned */
    int n;
} nb_stol_table;

/** Parse n bytes. Blanks, tabs or commas separate columns; the first two are used; `#`
 * starts a comment; blank lines, CR LF and a last line without newline are allowed.
 * Column 1 x `factor` is sin(theta)/lambda in 1/A, >= 0 and increasing. Free *out
 * with nb_stol_free; on error it is zero. Errors: NB_ERR_NOMEM, NB_ERR_INPUT with name,
 * line (number not finite, one column, not increasing, no point, above NB_STOL_MAX). */
nb_status nb_stol_parse(const char *data, size_t n, const char *name, double factor,
                        nb_stol_table *out, nb_error *err);
void nb_stol_free(nb_stol_table *table); /* NULL is allowed */

/** A material with a built-in table. */
typedef struct nb_named_material {
    const char *name;
    double density;   /* g/cm3 */
    double mass;      /* mass of a molecule, g/mol */
    const char *text; /* table in the form of nb_stol_parse */
} nb_named_material;

/** Find a material by name, or NULL. */
const nb_named_material *nb_named_material_find(const char *name, size_t length);

#endif
