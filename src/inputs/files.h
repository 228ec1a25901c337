/* SPDX-License-Identifier: MIT */
/** The files that a configuration names. */
#ifndef NB_INPUTS_FILES_H
#define NB_INPUTS_FILES_H

#include "../io/image/writer.h"
#include "../nanobragg.h"
#include "../params/config.h"

/** The file name of the cache of structure factors. */
const char *nb_dump_name(const nb_config *cfg);

/** What a file of a single image holds. */
typedef enum nb_output_of {
    NB_OUTPUT_PHOTONS = 0,
    NB_OUTPUT_NOISE,
    NB_OUTPUT_PICTURE
} nb_output_of;

/** A file that a single image writes.  Lists of files, jobs, checks and the report go through the rows; only the cache of
 * structure factors (-dump), whose name has a default, has none. */
typedef struct nb_output {
    const char *flag;
    size_t path; /* of its name in nb_config */
    size_t on; /* of an int that is 0 where it is not written; 0: it is written where it has a name */
    const nb_writer *writer; /* NULL: no image */
    const nb_writer *narrow; /* with -tiffbits 16; NULL: there is no choice */
    nb_output_of of;
    int typed;     /* its bit of nb_config.typed_files; 0: it has no default name */
    int one_panel; /* cannot hold several */
    int of_series; /* a series writes it, too */
    int hidden; /* not in -show_config, which masters of HDF5 keep: their bytes stay those of 0.3.0 */
} nb_output;

/** The row behind `last` (NULL: the first); NULL at the end. */
const nb_output *nb_output_next(const nb_output *last);

/** Its name in a configuration; "": it is not written. */
const char *nb_output_path(const nb_output *output, const nb_config *cfg);

const nb_writer *nb_output_writer(const nb_output *output, const nb_config *cfg);

/* --- What -crystals says: a number of crystals, or a line of flags for each --- */

enum { NB_CRYSTALS_MOST = 1000 };

/** A line is the JSON object of one crystal. */
typedef struct nb_crystal_lines {
    char *text;                   /* owned; the lines, cut by NULs; NULL: none */
    struct nb_crystal_line *line; /* owned, [n] */
    int n;
    char path[NB_PATH_MAX]; /* for messages; "": of the flag itself */
} nb_crystal_lines;

/** Cut `text` (owned afterwards, of `bytes` and a NUL) into lines; blank ones are left out.  Errors: NB_ERR_INPUT (none,
 * more than 1000, a NUL), NB_ERR_NOMEM; the lines are empty then. */
nb_status nb_crystal_lines_cut(char *text, size_t bytes, const char *path,
                               nb_crystal_lines *lines, nb_error *err);
/** The same of what -crystals has: a file, or a list "[{...}, ...]"; of a number, or "", no lines. */
nb_status nb_crystal_lines_read(const char *crystals, nb_crystal_lines *lines,
                                nb_error *err);
const char *nb_crystal_line_text(const nb_crystal_lines *lines, int m);
/** "FILE:LINE" of line m into name, which stays without a file. */
void nb_crystal_lines_name(const nb_crystal_lines *lines, int m, char *name, size_t size);
void nb_crystal_lines_free(nb_crystal_lines *lines); /* zero or cut */

/** Let line m change cfg: its flags are a crystal's.  A file of F in it replaces those of cfg, a matrix its misset.
 * Errors: NB_ERR_INPUT with the line's place. */
nb_status nb_crystal_lines_apply(const nb_crystal_lines *lines, int m, nb_config *cfg,
                                 nb_error *err);

/* --- what -crystals says --- */

typedef enum nb_crystals_kind {
    NB_CRYSTALS_NUMBER,
    NB_CRYSTALS_LIST,
    NB_CRYSTALS_FILE
} nb_crystals_kind;
/** The kind of a text of -crystals; *n: its number (1 for ""), or -1 where it is out of range. */
nb_crystals_kind nb_crystals_kind_of(const char *crystals, int *n);

#endif
