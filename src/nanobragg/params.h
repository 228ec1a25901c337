/* SPDX-License-Identifier: MIT */
/** The parameters of a simulation: one table with all facts of each, and access to nb_config by
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
    NB_KIND_PRESET, /* on: stores `low` in the int of another parameter; off: does nothing */
    NB_KIND_INTEGER,  /* an int, or an array of them; with `choices` only these numbers */
    NB_KIND_NUMBER,   /* a double, or an array of them */
    NB_KIND_VECTOR,   /* an nb_opt3, a direction: not 0 0 0 */
    NB_KIND_POINT,    /* an nb_opt3 */
    NB_KIND_POINT_MM, /* an nb_opt3 that is kept in metres and written in mm */
    NB_KIND_CHOICE,   /* an enumeration */
    NB_KIND_FILE,     /* text: the name of a file */
    NB_KIND_TEXT,     /* any text */
    NB_KIND_DEVICE,   /* text: a word of nb_device_word */
    NB_KIND_SEED,     /* an nb_seed */
    NB_KIND_CELL,     /* one to six numbers: edges, angles */
    NB_KIND_MISSET,   /* three angles, or a word with "rand" in it */
    NB_KIND_ROI,      /* four whole numbers: first and last along fast, then slow */
    NB_KIND_DEPTH,    /* a number, or a word with "inf" in it, which stores 0 */
    NB_KIND_PNG_SCALE, /* auto, a percentile, or low:high */
    NB_KIND_PNG_RINGS, /* numbers with commas between them */
    NB_KIND_NUMBER_OR /* a number, or the word choices[0], which stores -1; a double or an int */
} nb_kind;

/** Bits of nb_param.flags; the library has further ones of its own. */
enum {
    NB_PARAM_PIXELS = 1,    /* another value is another image */
    NB_PARAM_PNG = 2,       /* another value is another PNG file */
    NB_PARAM_TIFF = 4,      /* another value is another TIFF file */
    NB_PARAM_ADU = 8,       /* another value is another SMV or TIFF file */
    NB_PARAM_HDF5 = 16,     /* another value is another HDF5 file */
    NB_PARAM_INPUT = 32,    /* a file that is read */
    NB_PARAM_OUTPUT = 64,   /* a file that is written */
    NB_PARAM_RUNNING = 128, /* of the process, not of one image */
    NB_PARAM_SINGLE = 256,  /* of a single image: does nothing in a series */
    NB_PARAM_SERIES = 512,  /* a field of nb_series; the others are fields of nb_config */
    NB_PARAM_VIEW = 1024,   /* another way to write a field that has a row of its own */
    NB_PARAM_INNER = 2048,  /* not on the command line: other parameters set it */
    NB_PARAM_FILLS = 4096,  /* an array that one value fills */
    NB_PARAM_EACH = 8192 /* and whose numbers a command line may give one by one, too */
};
enum { NB_OPEN_LOW = 1, NB_OPEN_HIGH = 2 }; /* the limit itself is not allowed */

/** All facts of one parameter. */
typedef struct nb_param {
    const char *name;     /* without dash */
    const char *synonyms; /* with blanks between them; NULL: none */
    const char *group;    /* heading in the help */
    nb_kind kind;
    unsigned flags;
    size_t offset, size; /* of the field, bytes */
    double unset;        /* value of the field when it is not set; texts: "" */
    double low, high;    /* limits of each number */
    unsigned open;
    const char *const *choices; /* names by value, from 0 on; "" cannot be written; NULL ends */
    const char *value; /* form of the value in the help; NULL: that of nb_param_value */
    const char *unit;  /* NULL: none */
    const char *fallback; /* default in words; NULL: `unset`, or none */
    const char *help;     /* one line, no full stop */
    const char *header;   /* its key in the headers of our SMV files; NULL: none */
    int place;            /* order of the key */
    unsigned other; /* offset of a field that says the same in another way; 0: none */
    void (*after)(void *base); /* called when it is set; NULL: none */
} nb_param;

/** The table of parameters, *count rows (count may be NULL); static memory. */
const nb_param *nb_params(size_t *count);

/** The row with this name or synonym; NULL: there is none. */
const nb_param *nb_param_find(const char *name);

#define NB_PARAM_WORDS 8 /* no value has more */

/** Number of words of a value: returns the largest number; *least (may be NULL) gets the
 * smallest. */
int nb_param_words(const nb_param *param, int *least);

/** Form of a value ("x y z", "beam | sample"), into text[size]; "" for a switch. Returns text. */
const char *nb_param_value(const nb_param *param, char *text, size_t size);

/** The default in words, into text[size]; "" for off or none. Returns text. */
const char *nb_param_default(const nb_param *param, char *text, size_t size);

/** Store a value that is given as n words. base is the struct that param->offset counts in: of a
 * row of the table the nb_config, or the nb_series with NB_PARAM_SERIES. A caller may have its
 * own rows for its own struct. A switch without a word is switched on. On an error nothing is
 * changed. Errors: NB_ERR_INPUT, whose message names parameter, value and limits. */
nb_status nb_param_set(const nb_param *param, void *base, const char *const *words, int n,
                       nb_error *err);

/** The value as text that nb_param_set takes again; with `between` between its words.  "" when it is
 * unset.  Errors: NB_ERR_INPUT when text[size] is too small. */
nb_status nb_param_get(const nb_param *param, const void *base, const char *between,
                       char *text, size_t size, nb_error *err);

/** Set one parameter of a configuration by its name or a synonym. Words of the text are separated
 * by blanks (a file's name is one word). As on the command line, of two parameters for one
 * quantity (lambda, energy) the last one is used. Errors: NB_ERR_INPUT. */
nb_status nb_config_set(nb_config *cfg, const char *name, const char *text, nb_error *err);

/** The same with a number, or with n of them; a switch takes 0 or 1. */
nb_status nb_config_set_number(nb_config *cfg, const char *name, double value,
                               nb_error *err);
nb_status nb_config_set_array(nb_config *cfg, const char *name, const double *values,
                              int n, nb_error *err);

/** The value of one parameter as text for nb_config_set; "" when it is unset. */
nb_status nb_config_get(const nb_config *cfg, const char *name, char *text, size_t size,
                        nb_error *err);

/** Check every limit and choice, and pairs of parameters that contradict each other. nb_sim_create
 * and nb_series_run call it. Errors: NB_ERR_INPUT. */
nb_status nb_config_check(const nb_config *cfg, nb_error *err);

#ifdef __cplusplus
}
#endif
#endif
