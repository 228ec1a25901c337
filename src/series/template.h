/* SPDX-License-Identifier: MIT */
/** Numbered file names: -output 'img_%05d.cbf'. */
#ifndef NB_SERIES_TEMPLATE_H
#define NB_SERIES_TEMPLATE_H

#include "../io/image/writer.h"
#include "../nanobragg.h"

typedef struct nb_template {
    char before[NB_PATH_MAX], after[NB_PATH_MAX];
    int digits;  /* at least so many, zeros in front */
    int is_name; /* one file, without number: before and after are its name */
    int first;   /* added to numbers: frame 0 of a part of a series has this one */
    int is_part; /* other runs write files of the same template */
    const nb_format *format;
} nb_template;

/** How many frames a run makes; *first: the number of its first one in the whole series, from 0.  Those of
 * -only_frame, or all.  Returns 0 if they are not in the series. */
int nb_series_part(const nb_series *series, int *first);
/** Errors: NB_ERR_INPUT, also of a part without -seed. */
nb_status nb_series_check_part(const nb_config *cfg, const nb_series *series,
                               nb_error *err);

/** Read a template with one %d or %0Nd (%% is a percent sign). NB_ERR_INPUT if there is
 * none, another conversion, or an unknown extension. */
nb_status nb_template_parse(const char *text, nb_template *out, nb_error *err);

/** The template of series->output, with the numbers of its part.  A series of one frame may leave the number out:
 * the file then has just that name. */
nb_status nb_template_of(const nb_series *series, nb_template *out, nb_error *err);

/** The same for another flag, whose files need no format. */
nb_status nb_template_read(const char *text, const char *flag, nb_template *out,
                           nb_error *err);

/** The file name of a number, to which t->first is added, into name[NB_PATH_MAX].  NB_ERR_INPUT when it is too long. */
nb_status nb_template_name(const nb_template *t, int number, char *name, nb_error *err);

/** The name of the first file that exists behind this number, within a thousand; 0: there is none. */
int nb_template_later(const nb_template *t, int number, char *name);

/** The name of the record of finished frames: the number replaced by "series", of a part "series_" and its first number, and ".resume". */
nb_status nb_template_record(const nb_template *t, char *name, nb_error *err);

#endif
