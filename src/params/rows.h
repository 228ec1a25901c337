/* SPDX-License-Identifier: MIT */
/** Short names for the rows of the table of parameters. */
#ifndef NB_PARAMS_ROWS_H
#define NB_PARAMS_ROWS_H

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "params.h"

enum {
    PIXELS = NB_PARAM_PIXELS,
    PNG = NB_PARAM_PNG,
    TIFF = NB_PARAM_TIFF,
    ADU = NB_PARAM_ADU,
    HDF5 = NB_PARAM_HDF5,
    INPUT = NB_PARAM_INPUT,
    OUTPUT = NB_PARAM_OUTPUT,
    RUNNING = NB_PARAM_RUNNING,
    SINGLE = NB_PARAM_SINGLE,
    SERIES = NB_PARAM_SERIES,
    VIEW = NB_PARAM_VIEW,
    INNER = NB_PARAM_INNER,
    FILLS = NB_PARAM_FILLS,
    EACH = NB_PARAM_FILLS | NB_PARAM_EACH,
    CRYSTAL = NB_PARAM_CRYSTAL,
    IMAGE = NB_PARAM_IMAGE,
    FACTORS = NB_PARAM_FACTORS,
    WRITTEN = NB_PARAM_WRITTEN,
    VARIES = NB_PARAM_VARIES,
    PLACES = NB_PARAM_PLACES,
    REPLACED = NB_PARAM_REPLACED,
    PLACED = NB_PARAM_PLACES | NB_PARAM_REPLACED,
    GEOMETRY = NB_PARAM_GEOMETRY,
    MODEL = NB_PARAM_MODEL | NB_PARAM_SUM,
    ON_F = NB_PARAM_ON_F,
    SUM = NB_PARAM_SUM,
    NOISE = NB_PARAM_NOISE,
    NONE = 0
};

#define LARGE 1e300
#define ANY .low = -DBL_MAX, .high = DBL_MAX
#define ABOVE(min) .low = min, .high = LARGE, .open = NB_OPEN_LOW
#define AT_LEAST(min) .low = min, .high = LARGE
#define WITHIN(min, max) .low = min, .high = max
#define ABOVE_TO(min, max) .low = min, .high = max, .open = NB_OPEN_LOW
#define BETWEEN(min, max) .low = min, .high = max, .open = NB_OPEN_LOW | NB_OPEN_HIGH
#define COUNTED .low = 1, .high = 1e9
#define DIRECTION .low = -1e100, .high = 1e100

#define IN(type, member)                                                                 \
    .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
/* GROUP: the heading in the help, and the bits of all its rows. */
#define OF_KIND(what, marks) IN_GROUP(GROUP, what, marks)
#define IN_GROUP(...) WITH_GROUP(__VA_ARGS__)
#define WITH_GROUP(heading, bits, what, marks)                                           \
    .group = heading, .kind = NB_KIND_##what, .flags = (marks) | (bits)
#define FIELD(what, marks, member) OF_KIND(what, marks), IN(nb_config, member)
#define OF_SERIES(what, marks, member)                                                   \
    OF_KIND(what, SERIES | marks), IN(nb_series, member)

#define SWITCH(marks, member) FIELD(SWITCH, marks, member)
#define PRESET(member, number) FIELD(PRESET, VIEW, member), .low = number, .high = number
#define NO_FILE(member) FIELD(PRESET, VIEW | SINGLE, member)
#define WHOLE(marks, member) FIELD(INTEGER, marks, member)
#define NUMBER(marks, member) FIELD(NUMBER, marks, member), .unset = NAN
#define NUMBER_FROM(marks, member, start) FIELD(NUMBER, marks, member), .unset = start
#define VECTOR(marks, member) FIELD(VECTOR, PIXELS | marks, member), DIRECTION
#define CHOICE(marks, member, list) FIELD(CHOICE, marks, member), .choices = list
#define LONGEST(bytes) .high = bytes /* limit of the bytes of a text with its NUL */
#define PATH(marks, member) FIELD(FILE, marks, member), LONGEST(NB_PATH_MAX)
#define SEED(member) FIELD(SEED, PIXELS, member)
#define JITTER(member) OF_SERIES(NUMBER, PIXELS, member)
/** A list of choices. */
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
/** The member that holds the same quantity in another form. */
#define OR(member) .other = offsetof(nb_config, member)
#define KEY(number, text) .header = text, .place = number

/* Effects of a set parameter on other fields: `after` of the table, for nb_config. */

void nb_after_pivot_beam(void *config);
void nb_after_pivot_sample(void *config);
void nb_after_custom(void *config);     /* a lab vector selects convention CUSTOM */
void nb_after_lambda(void *config);     /* replaces an energy */
void nb_after_energy(void *config);     /* replaces a wavelength */
void nb_after_polar(void *config);      /* undoes -nopolar */
void nb_after_divergence(void *config); /* sets the vertical divergence too */
void nb_after_divsteps(void *config);
void nb_after_cell(void *config);         /* the cell is typed, not from a file */
void nb_after_crystal_size(void *config); /* sets the volume */
void nb_after_float_file(void *config);   /* a named file is written */
void nb_after_int_file(void *config);
void nb_after_noise_file(void *config);
void nb_after_pgm(void *config);
void nb_after_psf(void *config); /* one enumerator for both spellings */
void nb_after_adc(void *config);
void nb_after_input_pedestal(void *series); /* takes the nb_series */

#endif
