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

#endif
