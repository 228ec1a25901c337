/* SPDX-License-Identifier: MIT */
/** The files that a configuration names. */
#ifndef NB_INPUTS_FILES_H
#define NB_INPUTS_FILES_H

#include "../io/image/writer.h"
#include "../nanobragg.h"
#include "../params/config.h"

/** File name of the cache of structure factors. */
const char *nb_dump_name(const nb_config *cfg);

/** Contents of a file of a single image. */
typedef enum nb_output_of {
    NB_OUTPUT_PHOTONS = 0,
    NB_OUTPUT_NOISE,
    NB_OUTPUT_PICTURE
} nb_output_of;

/** An output file of a single image.  Lists of files, jobs, checks and the report use
 * these rows.  The cache of F (-dump), whose name has a default, has no row. */
typedef struct nb_output {
    const char *flag;
    size_t path; /* offset of the file's name in nb_config */
    /* offset of the file's switch in nb_config; 0: the name alone switches the file on */
    size_t on;
    const nb_writer *writer; /* writer of the image; NULL if the file is not an image */
    const nb_writer *narrow; /* writer with -tiffbits 16, or NULL */
    nb_output_of of;
    int typed;     /* bit of this file in nb_config.typed_files; 0 without default name */
    int one_panel; /* 1: the file cannot hold several panels */
    int of_series; /* 1: a series also writes the file */
    /* 1: -show_config leaves it out, so that HDF5 masters have the same bytes as in
     * 0.3.0 */
    int hidden;
} nb_output;

/** Row after `last` (NULL: the first row), or NULL at the end. */
const nb_output *nb_output_next(const nb_output *last);

/** Name of the file in a configuration; "" if it is not written. */
const char *nb_output_path(const nb_output *output, const nb_config *cfg);

const nb_writer *nb_output_writer(const nb_output *output, const nb_config *cfg);

/* --- -crystals: a number of crystals, or a line of flags for each crystal --- */

enum { NB_CRYSTALS_MAX = 1000 };

/** A line is the JSON object of one crystal. */
typedef struct nb_crystal_lines {
    char *text;                   /* owned; the lines, ended by NULs, or NULL */
    struct nb_crystal_line *line; /* owned, [n] */
    int n;
    /* file name for messages; "" if the flag contains the lines */
    char path[NB_PATH_MAX];
} nb_crystal_lines;

/** Cut `text` (`bytes` and a NUL), which this function takes, into lines, and skip blank
 * lines. *lines is empty after an error: NB_ERR_INPUT (no line, more than 1000, a NUL),
 * NB_ERR_NOMEM. */
nb_status nb_crystal_lines_cut(char *text, size_t bytes, const char *path,
                               nb_crystal_lines *lines, nb_error *err);
/** Read the lines of -crystals: a file or a list "[{...}, ...]"; a number of crystals has
 * no lines. */
nb_status nb_crystal_lines_read(const char *crystals, nb_crystal_lines *lines,
                                nb_error *err);
const char *nb_crystal_line_text(const nb_crystal_lines *lines, int m);
/** Put "FILE:LINE" of line m into name; without a file, name stays unchanged. */
void nb_crystal_lines_name(const nb_crystal_lines *lines, int m, char *name, size_t size);
void nb_crystal_lines_free(nb_crystal_lines *lines); /* The lines may be all zero. */

/** Apply line m, which may have only flags of a crystal, to cfg. A file of F replaces the
 * files of F in cfg; a matrix replaces the misset. Errors: NB_ERR_INPUT with the place of
 * the line. */
nb_status nb_crystal_lines_apply(const nb_crystal_lines *lines, int m, nb_config *cfg,
                                 nb_error *err);

/* --- kinds of -crystals --- */

typedef enum nb_crystals_kind {
    NB_CRYSTALS_NUMBER,
    NB_CRYSTALS_LIST,
    NB_CRYSTALS_FILE
} nb_crystals_kind;
/** Kind of a text of -crystals; *n: its number (1 for ""), or -1 if out of range. */
nb_crystals_kind nb_crystals_kind_of(const char *crystals, int *n);

#endif
