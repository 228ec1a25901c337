/* SPDX-License-Identifier: MIT */
/** Access to the table of parameters, for the other folders of the library. */
#ifndef NB_PARAMS_PARAMS_H
#define NB_PARAMS_PARAMS_H

#include "../nanobragg.h"
#include "config.h"

#define NB_PARAM_LABEL 64  /* bytes of a name with its dash */
#define NB_PARAM_TEXT 4096 /* bytes that hold every value as text */

/** Bits of nb_param.flags for use inside the library; they tell on what a flag acts. */
enum {
    /* the flag is in a group of the help about crystal or F */
    NB_PARAM_CRYSTAL = 1 << 14,
    NB_PARAM_IMAGE = 1 << 15,    /* acts on all crystals of an image, in any group */
    NB_PARAM_FACTORS = 1 << 16,  /* the flag is in a group about structure factors */
    NB_PARAM_WRITTEN = 1 << 17,  /* the flag is in a group about written files */
    NB_PARAM_VARIES = 1 << 18,   /* a number that -vary takes */
    NB_PARAM_PLACES = 1 << 19,   /* places a detector */
    NB_PARAM_REPLACED = 1 << 20, /* a detector from a file replaces its value */
    NB_PARAM_GEOMETRY = 1 << 21, /* names a file with a detector */
    NB_PARAM_MODEL = 1 << 22,    /* acts on the sum over an atomic model */
    NB_PARAM_ON_F = 1 << 23,     /* acts on any source of structure factors */
    /* after a new value, F of files must be calculated again */
    NB_PARAM_SUM = 1 << 24,
    NB_PARAM_NOISE = 1 << 25 /* adds noise other than counts and an offset */
};

/** A member of nb_config. */
typedef struct nb_member {
    size_t offset, size;
} nb_member;
#define NB_MEMBER(name)                                                                  \
    {                                                                                    \
        offsetof(nb_config, name), sizeof(((nb_config *)0)->name)                        \
    }
/** Return the row of the member, else its first row with NB_PARAM_VIEW, or NULL. */
const nb_param *nb_param_of(nb_member member);
#define NB_ROW(name) nb_param_of((nb_member)NB_MEMBER(name))
/** True if the row writes this member, in any form. */
int nb_param_is(const nb_param *param, nb_member member);
#define NB_IS(param, name) nb_param_is(param, (nb_member)NB_MEMBER(name))
/** The row after `last` (NULL: the first) that has one of the bits; NULL at the end. */
const nb_param *nb_param_next(const nb_param *last, unsigned bits);
/** Return the first row with one of the bits that is set in cfg, or NULL. */
const nb_param *nb_param_first_set(unsigned bits, const nb_config *cfg);
/** True if the row changes how F are made, not how F are looked up. */
int nb_param_makes_factors(const nb_param *param);

extern const char nb_no_text[1]; /* shared by all unset texts */
int nb_param_is_text(const nb_param *param);
/** The text at this offset in a struct. */
nb_text nb_text_at(const void *base, size_t offset);
/** Continue hash h with the values of nb_config (series 0) or nb_series (NB_PARAM_SERIES)
 * in rows that have one of the bits `counts`. */
uint64_t nb_params_hash(uint64_t h, const void *of, unsigned series, unsigned counts);

/** True if the row has the same value in both structs. */
int nb_param_same(const nb_param *param, const void *a, const void *b);
/** Copy the row's value. */
void nb_param_copy(const nb_param *param, void *to, const void *from);
/** A local configuration, dropped at the end of its block: NB_OWN_CONFIG cfg = {0}; */
#define NB_OWN_CONFIG __attribute__((cleanup(nb_config_drop))) nb_config
/** Make n default configurations, for nb_configs_free. Returns NULL with NB_ERR_NOMEM in
 * err if memory is exhausted. */
nb_config *nb_configs_new(size_t n, nb_error *err);
/** Free n configurations and their texts.  NULL is allowed. */
void nb_configs_free(nb_config *all, size_t n);

/** As nb_param_set, but any word is allowed as a device. */
nb_status nb_param_put(const nb_param *param, void *base, const char *const *words, int n,
                       nb_error *err);
/** As nb_param_put, without the effects on other fields (`after`); for headers of
 * files. */
nb_status nb_param_store(const nb_param *param, void *base, const char *const *words,
                         int n, nb_error *err);

/** True if x is the value of an unset element. */
int nb_param_is_unset(const nb_param *param, double x);

/** True if the field has another value than `unset`. */
int nb_param_is_set(const nb_param *param, const void *base);

/** True if x is within the limits; false for NaN. */
int nb_param_allows(const nb_param *param, double x);

/** Refuse the value `text` of a number, which is not within the limits (or NaN). */
nb_status nb_param_refuse(const nb_param *param, const char *text, nb_error *err);
/** Refuse a text or number that is not a choice. */
nb_status nb_param_refuse_choice(const nb_param *param, const char *text, nb_error *err);

/** Multiply the widths of -mosaic_aniso or -mosaic_tensor by to/from, rounded to typed
 * numbers if `typed`. Returns 0 if neither is given. */
int nb_mosaic_widen(double to, double from, int typed, nb_config *cfg);

/** Refuse a VECTOR of length 0. */
nb_status nb_param_check_direction(const nb_param *param, const double v[3],
                                   nb_error *err);

/** As nb_param_value, but the form of a device is "word". */
const char *nb_param_form(const nb_param *param, char *text, size_t size);

/** Form of a value of this kind without choices: "x", "file", ... */
const char *nb_param_kind_form(const nb_param *param);

/** True for the name of the row and its synonyms. */
int nb_param_is_named(const nb_param *param, const char *name);
/** The name for messages: with a dash if it is a flag.  Returns text. */
const char *nb_param_label(const nb_param *param, char text[NB_PARAM_LABEL]);

/** Name of value number `value` of a choice, or "". */
const char *nb_param_choice(const char *name, int value);

/** One element of the field of an INTEGER or NUMBER, as a number. */
double nb_param_element(const nb_param *param, const void *base, int i);
void nb_param_put_element(const nb_param *param, void *base, int i, double value);
/** True if the elements are doubles, not ints. */
int nb_param_is_double(const nb_param *param);
/** Number of ints or doubles in the field of a SWITCH, CHOICE, INTEGER or NUMBER. */
int nb_param_elements(const nb_param *param);

/** A number of a configuration; if it is unset, the default of its row or NaN. offset:
 * offset of the number in nb_config. */
double nb_config_value(const nb_config *cfg, size_t offset);
/** A number of a configuration, or `other` if it is unset. */
double nb_config_value_or(const nb_config *cfg, size_t offset, double other);
/** True if the number is set. */
int nb_config_given(const nb_config *cfg, size_t offset);
/* These functions with the name of a member, as in NB_VALUE(cfg, distance_mm). */
#define NB_OFFSET(cfg, member)                                                           \
    ((size_t)((const char *)&(cfg)->member - (const char *)(cfg)))
#define NB_VALUE(cfg, member) nb_config_value(cfg, NB_OFFSET(cfg, member))
#define NB_VALUE_OR(cfg, member, other)                                                  \
    nb_config_value_or(cfg, NB_OFFSET(cfg, member), other)
#define NB_GIVEN(cfg, member) nb_config_given(cfg, NB_OFFSET(cfg, member))

/** A configuration in which the defaults of the rows replace unset members. It is made
 * once from flags and files, and is then only read. */
typedef struct nb_settings {
    nb_config value;
    /* a bit for every 4 bytes of nb_config: 1 if the member is set */
    uint32_t typed[sizeof(nb_config) / 128 + 1];
} nb_settings;

/** Fill *out from typed values and values of files. A default that depends on other
 * members stays unset, as does a member without a default. Returns out. */
const nb_settings *nb_resolve(const nb_config *typed, nb_settings *out);
/** True if the member (or element) is typed or from a file. offset: in nb_config. */
int nb_is_typed(const nb_settings *settings, size_t offset);
/** Set a number as if it were typed. */
void nb_settings_put(nb_settings *settings, size_t offset, double value);
/* nb_is_typed with the name of a member, as in NB_TYPED(settings, distance_mm). */
#define NB_TYPED(settings, member)                                                       \
    nb_is_typed(settings, NB_OFFSET(&(settings)->value, member))
/* Settings of a configuration until the calling function returns (not in loops). */
#define NB_RESOLVED(cfg) nb_resolve((cfg), __builtin_alloca(sizeof(nb_settings)))
#define NB_TYPED_OR(settings, member, other)                                             \
    (NB_TYPED(settings, member) ? (settings)->value.member : (other))

/** Check every field of a configuration, but not pairs of flags that contradict each
 * other, since a header may set both. A device may be any word; nb_device_check checks
 * it. */
nb_status nb_config_check_fields(const nb_config *cfg, nb_error *err);
/** Check every field, the pairs, and all other contradictions. */
nb_status nb_config_check_rules(const nb_config *cfg, nb_error *err);
/** True if a file of a model or of reflections is named, other than -hkl. */
int nb_config_has_factor_file(const nb_config *cfg);

/** True if F(000) is given with a constant F, without a list or model. */
int nb_config_has_F000_alone(const nb_config *cfg);

/** True if F must be calculated or changed, not only read from -hkl or the cache. */
int nb_config_makes_factors(const nb_config *cfg);

/** True if flags change the F of -hkl after reading; expand_list alone does not count as
 * a change. */
int nb_list_is_changed(const nb_settings *settings);

/** Refuse flags of structure factors that contradict each other or have no effect. */
nb_status nb_config_check_factors(const nb_config *cfg, nb_error *err);

/** Set the unset rows of -realism in a record, with a note each. */
nb_status nb_realism_apply(nb_config *cfg, const nb_hooks *hooks, nb_error *err);
/** The laws of -vary of -realism, or "". */
const char *nb_realism_vary(const nb_config *cfg);

/** Number of rows NB_PARAM_NOISE that are typed, plus 1 if a panel has a gain or
 * saturation. */
int nb_noise_chain(const nb_settings *settings);
/** Refuse a -saturation above `limit`, the largest value of the file or type that `where`
 * names. */
nb_status nb_saturation_check(const nb_config *cfg, double limit, const char *where,
                              nb_error *err);

/** The words of -footprint. */
typedef struct nb_footprint_words {
    int box;
    double a_mm, b_mm, angle_deg;
} nb_footprint_words;
/** Read the text of nb_config.footprint; "": all 0.  Errors: NB_ERR_INPUT. */
nb_status nb_footprint_read(const char *text, nb_footprint_words *out, nb_error *err);
/** Write the words so that the numbers are read back. Returns text. */
const char *nb_footprint_write(const nb_footprint_words *words, char *text, size_t size);

enum { NB_BEAMSTOP_MAX = 16 };
/** The words of an item of -beamstop. */
typedef struct nb_beamstop_words {
    int bar; /* 1: a bar; 0: a disc */
    double size_mm, angle_deg, transmission;
} nb_beamstop_words;
/** Read the text of nb_config.beamstop; *n gets the number of items. Errors:
 * NB_ERR_INPUT. */
nb_status nb_beamstop_read(const char *text, nb_beamstop_words out[NB_BEAMSTOP_MAX],
                           int *n, nb_error *err);

/** The words of -absorb. */
typedef struct nb_absorb_words {
    int given, box;
    double size_um[3]; /* edges, or only the diameter of a sphere */
} nb_absorb_words;
/** Read the text of nb_config.absorb; "": all 0.  Errors: NB_ERR_INPUT. */
nb_status nb_absorb_read(const char *text, nb_absorb_words *out, nb_error *err);

/** The flag of the table of F of a material, -stol, -4stol or -Q; or NULL. */
const char *nb_config_stol_flag(const nb_config *cfg);

/** Refuse flags that contradict a detector from a file. */
nb_status nb_config_check_geometry(const nb_config *cfg, nb_error *err);
/** The flag that names the file of the detector, without dash; or NULL. */
const char *nb_config_geometry_flag(const nb_config *cfg);

/** Find the detector of nb_config.detector_name and its binning; NULL without a name.
 * Errors: NB_ERR_INPUT (unknown name, or the detector contradicts cfg). */
nb_status nb_detector_named(const nb_config *cfg, const nb_known_detector **out,
                            int *binning, nb_error *err);
/** True if cfg->saturation is the value of the detector that cfg names. */
int nb_detector_says_saturation(const nb_config *cfg);
/** Pixels along fast (0) or slow (1), binned. */
int nb_detector_pixels(const nb_known_detector *d, int axis, int binning);

/** Bits of nb_config.typed_files. */
enum { NB_TYPED_INT = 1, NB_TYPED_NOISE = 2, NB_TYPED_PGM = 4 };

nb_status nb_png_check(const nb_png_options *options, nb_error *err);
/** Refuse the name of a JPEG for a picture. Errors: NB_ERR_INPUT. */
nb_status nb_png_check_name(const char *flag, const char *path, nb_error *err);
nb_status nb_series_check(const nb_series *series, nb_error *err);

#endif
