/* SPDX-License-Identifier: MIT */
/** Parameters of a simulation: one table with all facts, and access to nb_config by
 * name. */
#ifndef NANOBRAGG_PARAMS_H
#define NANOBRAGG_PARAMS_H

#include <stddef.h>

#include "config.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Types of the values of parameters, and how they are written. */
typedef enum nb_kind {
    NB_KIND_SWITCH = 0, /* an int: 0 is off.  Written as 1, true, on or 0, false, off */
    /* a switch; "on" stores the number `low` in the int of another row */
    NB_KIND_PRESET,
    NB_KIND_INTEGER,   /* an int or an array of int; with `choices`, only these numbers */
    NB_KIND_NUMBER,    /* a double or an array of double */
    NB_KIND_VECTOR,    /* an nb_opt3, a direction: not 0 0 0 */
    NB_KIND_POINT,     /* an nb_opt3 */
    NB_KIND_POINT_MM,  /* an nb_opt3 that is kept in metres and written in mm */
    NB_KIND_CHOICE,    /* an enumeration */
    NB_KIND_FILE,      /* text: name of a file */
    NB_KIND_TEXT,      /* any text */
    NB_KIND_DEVICE,    /* text: a word of nb_device_word */
    NB_KIND_SEED,      /* an nb_seed */
    NB_KIND_CELL,      /* one to six numbers: edges, angles */
    NB_KIND_MISSET,    /* three angles, or a word with "rand" in it */
    NB_KIND_ROI,       /* four whole numbers: first and last along fast, then slow */
    NB_KIND_DEPTH,     /* a number, or a word with "inf" in it, which stores 0 */
    NB_KIND_PNG_SCALE, /* the word auto, a percentile, or low:high */
    NB_KIND_PNG_RINGS, /* numbers with commas between */
    NB_KIND_NUMBER_OR  /* a double or int, or the word choices[0], which stores -1 */
} nb_kind;

/** Bits of nb_param.flags. The library uses further bits. */
enum {
    NB_PARAM_PIXELS = 1,    /* a new value changes the image */
    NB_PARAM_PNG = 2,       /* a new value changes the PNG file */
    NB_PARAM_TIFF = 4,      /* a new value changes the TIFF file */
    NB_PARAM_ADU = 8,       /* a new value changes the SMV and TIFF files */
    NB_PARAM_HDF5 = 16,     /* a new value changes the HDF5 file */
    NB_PARAM_INPUT = 32,    /* a file that is read */
    NB_PARAM_OUTPUT = 64,   /* a file that is written */
    NB_PARAM_RUNNING = 128, /* belongs to the process, not to an image */
    NB_PARAM_SINGLE = 256,  /* only for a single image; no effect in a series */
    NB_PARAM_SERIES = 512,  /* a field of nb_series; without it, a field of nb_config */
    NB_PARAM_VIEW = 1024,   /* another way to write the field of another row */
    NB_PARAM_INNER = 2048,  /* not on the command line: other parameters set it */
    NB_PARAM_FILLS = 4096,  /* an array; one value sets all elements */
    NB_PARAM_EACH = 8192    /* with FILLS; a command line may also give every element */
};
enum { NB_OPEN_LOW = 1, NB_OPEN_HIGH = 2 }; /* the limit itself is not allowed */

/** All facts of one parameter. */
typedef struct nb_param {
    const char *name;     /* without dash */
    const char *synonyms; /* synonyms with blanks between, or NULL */
    const char *group;    /* heading in the help */
    nb_kind kind;
    unsigned flags;
    size_t offset, size; /* offset and size of the field in its struct, bytes */
    double unset;        /* value of an unset field; texts: "" */
    double low, high;    /* limits of each number */
    unsigned open;
    /* names of the values 0, 1, ..., then NULL; "" if a value cannot be written */
    const char *const *choices;
    /* form of the value in the help; NULL: it follows from kind and choices */
    const char *value;
    const char *unit; /* unit, or NULL */
    /* default in words; NULL: the default is `unset`, or there is no default */
    const char *fallback;
    const char *help;   /* one line, no full stop */
    const char *header; /* key in the headers of our SMV files, or NULL */
    int place;          /* order of the key in the headers */
    unsigned other;     /* offset of another field that sets the same quantity, or 0 */
    void (*after)(void *base); /* called when the value is set, or NULL */
} nb_param;

/** The table of parameters, *count rows (count may be NULL); static memory. */
const nb_param *nb_params(size_t *count);

/** Find the row with this name or synonym. Returns NULL for an unknown name. */
const nb_param *nb_param_find(const char *name);

#define NB_PARAM_WORDS 8 /* limit of the words of a value */

/** Returns the largest number of words of a value; *least (may be NULL) gets the smallest
 * number. */
int nb_param_words(const nb_param *param, int *least);

/** Form of a value ("x y z", "beam | sample"), into text[size]; "" for a switch. */
const char *nb_param_value(const nb_param *param, char *text, size_t size);

/** Default in words, into text[size]; "" if the default is off or there is no default.
 * Returns text. */
const char *nb_param_default(const nb_param *param, char *text, size_t size);

/** Store a value that is given as n words. base is the struct of the field: for a row of
 * the table the nb_config, or the nb_series with NB_PARAM_SERIES. A caller may make rows
 * for another struct. A switch without a word is switched on. On an error nothing is
 * changed. Errors: NB_ERR_INPUT, whose message names parameter, value and limits. */
nb_status nb_param_set(const nb_param *param, void *base, const char *const *words, int n,
                       nb_error *err);

/** Write the value as text for nb_param_set, with `between` between its words; "" if
 * unset. Errors: NB_ERR_INPUT if text[size] is too small. */
nb_status nb_param_get(const nb_param *param, const void *base, const char *between,
                       char *text, size_t size, nb_error *err);

/** Set one parameter of a configuration by its name or a synonym. Blanks separate the
 * words of the text (a file's name is one word). As on the command line, the last of two
 * parameters for one quantity (lambda, energy) is used. Errors: NB_ERR_INPUT. */
nb_status nb_config_set(nb_config *cfg, const char *name, const char *text, nb_error *err);

/** Like nb_config_set, with one number or with n numbers; a switch takes 0 or 1. */
nb_status nb_config_set_number(nb_config *cfg, const char *name, double value,
                               nb_error *err);
nb_status nb_config_set_array(nb_config *cfg, const char *name, const double *values,
                              int n, nb_error *err);

/** Value of one parameter as text for nb_config_set; "" if unset. */
nb_status nb_config_get(const nb_config *cfg, const char *name, char *text, size_t size,
                        nb_error *err);

/** Check every limit and choice, and parameters that contradict each other. nb_sim_create
 * and nb_series_run call it. Errors: NB_ERR_INPUT. */
nb_status nb_config_check(const nb_config *cfg, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
